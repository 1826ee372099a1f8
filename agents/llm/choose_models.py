"""A model, and those that answer in its place when its provider is down, out of quota, or declines.

Each model is asked once for one reply, in order: there is no way back, so there is no loop. A model that failed is
left alone for a while, so that not every call finds out for itself. An answer that came is never asked for again here:
whether it is usable is the role engine's affair.

From what the operator set to models: which one each role is bound to, which stand in for it, and how fast.

Nothing that stays on the user's own machines is ever sent elsewhere because a model failed: a model there is followed
by others there only. Without a list from the operator, a provider that was named is followed by those whose keys are
set, and only where both are asked under their usual addresses.
"""

import asyncio
import ipaddress
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from urllib.parse import urlsplit

from agents.contracts.frozen import Frozen
from agents.core import settings as env
from agents.core.budget import NOTHING, Spent, spent_by
from agents.core.errors import ConfigError, ModelError, ModelFault
from agents.core.prompts import PromptBook
from agents.core.role import Model, OnText, Reply, Request
from agents.core.transport import ATTEMPTS
from agents.llm.capabilities import KeptWays
from agents.llm.chat_completions import listed_price
from agents.llm.litellm_model import LiteLLMModel
from agents.llm.model_names import IS_SERVER, full_name, models_at, ollama_at, slots_at
from agents.llm.pacing import Pacing
from agents.llm.providers import PROVIDERS, at_home, key_variable
from agents.offline import OfflineModel

REST_S: dict[ModelFault, float] = {
    "key": 600.0, "quota": 600.0, "unknown_model": 600.0, "connection": 60.0, "server": 60.0, "timeout": 60.0, "rate": 30.0
}  # fmt: skip
"""Seconds for which a model is left alone after a fault; the other faults are about one request only."""

FAIR_TIME_S = 20.0  # A model that had less time than this and did not answer in it is not said to be slow

SHARE_WITH_OTHERS = 0.6  # part of the time left that a model may take while others could still be asked


class Ward:
    """Which models failed lately: shared by all roles, so that each failure is met once."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._failed: dict[str, tuple[float, ModelError]] = {}

    def put(self, model: str, error: ModelError) -> None:
        """Leave a model alone for as long as its fault deserves."""
        if error.fault in REST_S:
            self._failed[model] = (self.clock(), error)

    def release(self, model: str, asked_at: float) -> None:
        """Ask a model again that has answered; a call from before its failure says nothing of what came after it."""
        if model in self._failed and self._failed[model][0] <= asked_at:
            del self._failed[model]

    def resting(self, model: str) -> ModelError | None:
        """Give why a model is left alone; None when it may be asked."""
        since, error = self._failed.get(model, (0.0, None))
        return error if error and since + REST_S[error.fault] > self.clock() else None


class WithFallbacks:
    """A model that others stand in for: the one that is bound comes first, then the others in order."""

    def __init__(self, models: Sequence[Model], ward: Ward) -> None:
        self.models = tuple(models)
        self.name = models[0].name
        self.reasons = models[0].reasons
        self._ward = ward

    async def reply(self, request: Request, on_text: OnText | None = None) -> Reply:
        """Have the first model answer that can; else raise what the bound one said, since that is what can be mended."""
        loop = asyncio.get_running_loop()
        ends_at = None if request.deadline_s is None else loop.time() + request.deadline_s
        first: ModelError | None = self._ward.resting(self.name)
        lost = NOTHING
        awake = [model for model in self.models if self._ward.resting(model.name) is None] or [self.models[0]]
        for at, model in enumerate(awake):
            left = None if ends_at is None else max(0.0, ends_at - loop.time())
            if left is not None and at + 1 < len(awake):
                left *= SHARE_WITH_OTHERS
            asked_at = self._ward.clock()
            try:  # a second model does not write over the first one's words
                reply = await model.reply(replace(request, deadline_s=left), None if at else on_text)
            except ModelError as error:
                first, lost = first or error, lost + spent_by(error)
                if error.fault != "timeout" or left is None or left >= FAIR_TIME_S:
                    self._ward.put(model.name, error)
                if left == 0.0:
                    break  # no time for any other either
                continue
            self._ward.release(model.name, asked_at)
            if model is self.models[0]:
                return reply
            usage = lost + reply.usage
            return replace(reply, usage=usage, stood_in_for=self.name, because=first.notice if first else "")
        assert first is not None
        first.spent = Spent(role=request.role, model=self.name, usage=lost)
        raise first


_KEYED = frozenset(model.partition("/")[0] for _, model in env.KEY_NAMES)
"""Providers that answer nobody without a key."""
_INSIDE = (".local", ".internal", ".lan", ".home.arpa", ".localhost")


class _SchemaNote(Frozen):
    text: str


@dataclass(frozen=True)
class Choice:
    """A model as it was named, and what follows from its name."""

    name: str
    provider: str
    base: str  # the address that the user set for it; empty for the provider's own
    key_variable: str

    @property
    def own_server(self) -> bool:
        """It runs on the user's machines, or at an address that the user set: its texts are not for anybody else."""
        return self.provider in PROVIDERS.local or bool(self.base)

    @property
    def stays_here(self) -> bool:
        """It surely runs on this machine or in its network."""
        if self.base:
            return _is_inside(urlsplit(self.base).hostname or "")
        return self.provider in PROVIDERS.local

    @property
    def free(self) -> bool:
        """Nothing is paid for it: it runs on this computer, and no list has a price for its name."""
        return at_home(self.provider, self.base) and not (listed_price(self.name) or {}).get("input_cost_per_token")

    @property
    def usable(self) -> bool:
        """It could be asked: it has a key, runs where none is needed, or is signed in to by the machine."""
        return env.has_key(self.key_variable) or self.own_server or self.provider in PROVIDERS.signed_in


@dataclass(frozen=True)
class Order:
    """The models of one role: the one it is bound to, and those that stand in, in order."""

    first: Choice
    others: tuple[Choice, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    """Models that were named as stand-ins and are not used as such, each with why."""


def choice_of(written: str, openai_base: str = "", variable: str = "DOSSIER_MODEL") -> Choice:
    """Read a model's name as the operator wrote it into `variable`.

    A `ConfigError` where it can't be meant so, or no model server answers at the address that it is.
    """
    if IS_SERVER.match(address := written.strip(env.BESIDE)):
        name, base = served_at(env.address_of(address), variable)
        return Choice(name, name.partition("/")[0], base, "OPENAI_API_KEY")
    name = full_name(written, variable=variable, openai_base=openai_base)
    provider = name.partition("/")[0]
    base = env.own_address(provider)
    return Choice(name, provider, (openai_base or base) if provider == "openai" else base, key_variable(name))


@lru_cache
def served_at(address: str, variable: str) -> tuple[str, str]:
    """Name the model that a server of one's own serves, the first it lists; and give the address to ask it at."""
    key = env.key_of("OPENAI_API_KEY")
    below = (address, f"{address}/v1") if not urlsplit(address).path else (address,)
    base, models = next(((one, found) for one in below if (found := models_at(one, key=key))), (address, ()))
    if not models:
        raise ConfigError(
            f"{variable}: no model server answers at {address}. Is it running, does the address end in /v1, and if it wants "
            "a key, is that in OPENAI_API_KEY?"
        )
    own = ollama_at(base)
    return (f"ollama_chat/{models[0]}", own) if own else (f"openai/{models[0]}", base)


def order_for(written: str, settings: env.Settings, variable: str = "DOSSIER_MODEL") -> Order:
    """Say which models stand in for one, and which that were named do not."""
    first = choice_of(written, settings.api_base, variable)
    if first.name == env.OFFLINE or settings.fallbacks == (env.NO_FALLBACKS,):
        return Order(first)
    others: list[Choice] = []
    left: list[tuple[str, str]] = []
    for written_one in dict.fromkeys(one for one in settings.fallbacks or _by_keys(first) if one != env.NO_FALLBACKS):
        other = choice_of(written_one, settings.api_base, "DOSSIER_FALLBACKS")
        if other.name in (first.name, env.OFFLINE):
            continue
        same_server = bool(first.base) and other.base == first.base
        if first.own_server and not other.stays_here and not same_server:
            left.append((other.name, f"{first.name} runs on your own machines, and this one does not"))
        elif not other.usable:
            left.append((other.name, f"{other.key_variable} is not set"))
        else:
            others.append(other)
    return Order(first, tuple(others), tuple(left))


def _by_keys(first: Choice) -> tuple[str, ...]:
    """Name a model for each key that is set, where the first one is of a known provider at its usual address."""
    if first.own_server or first.provider not in _KEYED:
        return ()
    found = (choice_of(model) for variable, model in env.KEY_NAMES if env.has_key(variable))
    return tuple(one.name for one in found if one.provider != first.provider and not one.own_server)


def _is_inside(host: str) -> bool:
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return "." not in host or host.endswith(_INSIDE)


def orders(roles: Iterable[str], settings: env.Settings) -> dict[str, Order]:
    """Say for each role which model it is bound to, and which stand in; a `ConfigError` where a name can't be meant so."""
    variables = {role: "DOSSIER_MODELS" if role in settings.models else "DOSSIER_MODEL" for role in roles}
    return {role: order_for(settings.model_for(role), settings, variable) for role, variable in variables.items()}


def bind(
    roles: Iterable[str], settings: env.Settings, prompts: PromptBook, pacing: Pacing, *, also: Iterable[str] = (),
    retries: int = ATTEMPTS,
) -> tuple[dict[str, Model], dict[str, Model]]:  # fmt: skip
    """Make the models of all roles; roles with the same model share it, and what is known of its health.

    Gives the models of the roles; and all that were made, those included that a user may choose (`also`), by their names.
    """
    form = prompts["answer_format"]

    def schema_note(schema: str) -> str:
        return f"{form.system}\n{form.render(_SchemaNote(text=schema))}"

    ward, kept = Ward(), KeptWays(settings.data_dir / "model-ways.json")

    @cache
    def single(choice: Choice) -> Model:
        if choice.name == env.OFFLINE:
            return OfflineModel()
        slots = slots_at(choice.base) if choice.base and choice.stays_here else None
        return LiteLLMModel(
            choice.name, api_base=choice.base or None, schema_note=schema_note, retries=retries,
            needs_key=choice.provider in _KEYED and not choice.own_server, free=choice.free,
            gate=pacing.gate(choice.provider, own_server=choice.own_server, slots=slots),
            callbacks=settings.litellm_callbacks, kept=kept,
        )  # fmt: skip

    chains: dict[str, Model] = {}

    def chain(order: Order) -> Model:
        name = order.first.name
        if name not in chains:
            models = [single(one) for one in (order.first, *order.others)]
            chains[name] = WithFallbacks(models, ward) if len(models) > 1 else models[0]
        return chains[name]

    bound = {role: chain(order) for role, order in orders(roles, settings).items()}
    for name in also:
        chain(order_for(name, settings))
    return bound, chains


def parts_of(model: Model) -> tuple[Model, ...]:
    """Give the single models that a bound one is made of."""
    return model.models if isinstance(model, WithFallbacks) else (model,)
