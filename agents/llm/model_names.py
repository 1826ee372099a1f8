"""Names of models as people write them: read once at start, and refused in one line with a likely fix.

Model servers on this machine: Ollama, LM Studio, llama.cpp and vLLM at their usual ports. Found, never used unasked.

All of them speak the OpenAI format below `/v1`. Only loopback is asked, and only which models are served.
"""

import re
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache

import httpx2

from agents.core.errors import ConfigError
from agents.core.settings import BESIDE, OFFLINE
from agents.llm.chat_completions import bearer, way_to
from agents.llm.providers import PROVIDERS


def full_name(written: str, *, variable: str, openai_base: str = "") -> str:
    """Give a model's name, as the operator wrote it into `variable`, as `provider/model`.

    With the address of an OpenAI-compatible server, names without a known provider are asked for there, whole as they
    are. A `ConfigError` where it can't be meant so: it names variable, value and a likely fix.
    """
    name = written.strip(BESIDE)
    if not name:
        raise ConfigError(f"{variable} is empty. Name a model as `provider/model`, or take the line away.")
    if name == OFFLINE:
        return name
    provider, slash, rest = name.partition("/")
    if slash and (not provider or not rest.strip("/")):
        raise ConfigError(f"{variable}: {name!r} names no model. Write it as `provider/model`.")
    if any(sign.isspace() for sign in name):
        raise ConfigError(f"{variable}: {name!r} holds a space. Write it as `provider/model`.")
    if not slash:
        if openai_base:
            return f"openai/{name}"
        if ":" in name:
            raise ConfigError(f"{variable}: {name!r} has no provider in front. Did you mean ollama/{name}?")
        maker = next(
            (one for family, one in PROVIDERS.families.items() if name.casefold().startswith(family)), "openai"
        )
        return f"{maker}/{name}"
    if provider.casefold() in PROVIDERS.known:
        provider = provider.casefold()
        second, more, _ = rest.partition("/")
        makes_its_own = provider in PROVIDERS.makers and not (provider == "openai" and openai_base)
        if makes_its_own and more and second in PROVIDERS.known:
            raise ConfigError(
                f"{variable}: {name!r} has two providers in front. Did you mean {rest} or {provider}/{rest.partition('/')[2]}?"
            )
        if provider == "openrouter" and "/" not in rest:
            return f"openrouter/openrouter/{rest}"  # OpenRouter's own models carry its name twice, `auto` the first of them
        return f"{provider}/{rest}"
    if openai_base:
        return f"openai/{name}"
    raise ConfigError(
        f"{variable}: {name!r} begins with no provider that is known. Did you mean openrouter/{name}? "
        "For a server of your own, set OPENAI_API_BASE."
    )


PORTS = ((11434, "Ollama"), (1234, "LM Studio"), (8080, "llama.cpp"), (8000, "vLLM"))
"""Where each listens unless it is told otherwise."""
_MUTE = re.compile(r"embed|rerank|whisper|\b(?:bge|gte|e5|tts|clip)\b", re.IGNORECASE)
"""Models that write no answers, which some servers list before those that do."""
IS_SERVER = re.compile(r"https?://|(?:localhost|\d+(?:\.\d+){3}|\[[\da-f:.]+\]):\d+", re.IGNORECASE)
"""The address of a server in the place of a model's name."""
PATIENCE_S = 0.3  # seconds that a server on this machine gets to say which models it has


@dataclass(frozen=True)
class LocalServer:
    """A model server that answers on this machine."""

    kind: str
    address: str  # base address of its OpenAI-compatible routes, what DOSSIER_MODEL takes
    models: tuple[str, ...]

    @property
    def line(self) -> str:
        models = ", ".join(self.models[:3])
        return f"{self.kind} at {self.address} serves {models}: DOSSIER_MODEL={self.address} uses it."


def find_servers(ports: Iterable[tuple[int, str]] = PORTS, *, besides: int = 0) -> tuple[LocalServer, ...]:
    """Look for model servers on loopback, all ports at once `besides` our own."""
    wanted = [(port, kind) for port, kind in ports if port != besides]
    with ThreadPoolExecutor(max_workers=max(1, len(wanted))) as pool:
        served = pool.map(lambda one: models_at(f"http://127.0.0.1:{one[0]}/v1", patience_s=PATIENCE_S), wanted)
    return tuple(
        LocalServer(kind, f"http://127.0.0.1:{port}/v1", models)
        for (port, kind), models in zip(wanted, served, strict=True)
        if models
    )


def models_at(address: str, *, patience_s: float = 5.0, key: str = "") -> tuple[str, ...]:
    """Ask an OpenAI-compatible server which models it serves, those that answer first; empty when it does not say."""
    said = _asked(f"{address}/models", patience_s, key)
    rows = said.get("data") or said.get("models")
    rows = rows if isinstance(rows, list) else []
    names = [str(row["id"]) for row in rows if isinstance(row, dict) and row.get("id")]
    return tuple(sorted(names, key=lambda name: bool(_MUTE.search(name))))


def ollama_at(address: str) -> str:
    """Give the address of Ollama's own routes where it is Ollama that serves `address`; empty where it is not.

    Only those routes take the size of the window: on the others Ollama cuts off what is longer, and says nothing.
    """
    base = address.removesuffix("/v1")
    return base if "version" in _asked(f"{base}/api/version", PATIENCE_S * 5) else ""


@lru_cache
def slots_at(address: str) -> int | None:
    """Ask a llama.cpp server how many calls it works on at once; None of any other, which does not say."""
    slots = _asked(f"{address.removesuffix('/v1')}/props", PATIENCE_S).get("total_slots")
    return slots if isinstance(slots, int) and slots > 0 else None


def _asked(address: str, patience_s: float, key: str = "") -> dict[str, object]:
    """Give the JSON object that a server answers with, a list as its `data`; empty when it answers with anything else."""
    try:
        answer = httpx2.get(address, headers=bearer(key), timeout=patience_s, **way_to(address))
        found = answer.json() if answer.status_code == 200 else {}
    except (OSError, httpx2.HTTPError, httpx2.InvalidURL, ValueError):
        return {}
    return {"data": found} if isinstance(found, list) else found if isinstance(found, dict) else {}
