"""Model servers on this machine: Ollama, LM Studio, llama.cpp and vLLM at their usual ports. Found, never used unasked.

All of them speak the OpenAI format below `/v1`. Only loopback is asked, and only which models are served.
"""

import http.client
import json
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from urllib.parse import urlsplit

PORTS = ((11434, "Ollama"), (1234, "LM Studio"), (8080, "llama.cpp"), (8000, "vLLM"))
"""Where each listens unless it is told otherwise."""
PATIENCE_S = 0.3
"""Seconds that a server on this machine gets to say which models it has."""


@dataclass(frozen=True)
class LocalServer:
    """A model server that answers on this machine."""

    kind: str
    address: str
    """Base address of its OpenAI-compatible routes, what DOSSIER_MODEL takes."""
    models: tuple[str, ...]

    @property
    def line(self) -> str:
        """Say what it is and how it is chosen."""
        return (
            f"{self.kind} at {self.address} serves {', '.join(self.models[:3])}: DOSSIER_MODEL={self.address} uses it."
        )


def find_servers(ports: Iterable[tuple[int, str]] = PORTS, *, besides: int = 0) -> tuple[LocalServer, ...]:
    """Look for model servers on loopback, all ports at once.

    Args:
        ports: where to look, and what usually listens there.
        besides: our own port, which is left out.
    """
    wanted = [(port, kind) for port, kind in ports if port != besides]
    with ThreadPoolExecutor(max_workers=max(1, len(wanted))) as pool:
        served = pool.map(lambda one: models_at(f"http://127.0.0.1:{one[0]}/v1", patience_s=PATIENCE_S), wanted)
    return tuple(
        LocalServer(kind, f"http://127.0.0.1:{port}/v1", models)
        for (port, kind), models in zip(wanted, served, strict=True)
        if models
    )


def models_at(address: str, *, patience_s: float = 5.0) -> tuple[str, ...]:
    """Ask an OpenAI-compatible server which models it serves; empty when it does not say."""
    parts = urlsplit(address)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=patience_s)
    try:
        connection.request("GET", f"{parts.path.rstrip('/')}/models", headers={"Accept": "application/json"})
        answer = connection.getresponse()
        listed = json.loads(answer.read(1_000_000)) if answer.status == http.client.OK else {}
        rows = listed.get("data", []) if isinstance(listed, dict) else []
        return tuple(str(row["id"]) for row in rows if isinstance(row, dict) and row.get("id"))
    except (OSError, http.client.HTTPException, ValueError):
        return ()
    finally:
        connection.close()
