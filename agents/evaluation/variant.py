"""Switching parts of a run off, or its limits up and down, to see what each buys and what it costs."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType

from agents.contracts.fact import Fact
from agents.contracts.frozen import Mode
from agents.contracts.report import ReportSentence
from agents.contracts.sources import Hit, SourceCard
from agents.contracts.verification import SentenceCheck
from agents.core.errors import BadRequest
from agents.core.port import Ctx
from agents.core.settings import Settings
from agents.research.run_context import RunContext
from agents.research.writing import truthful
from agents.search import index
from agents.search.index import Passage

PARTS = ("challenge", "verification", "novelty", "rerank", "meaning")
"""What `--without` can name."""
STANDARD_ROUNDS = 3
"""Rounds that the standard mode allows; more of them need the deep one."""


async def _unverified(
    ctx: Ctx,
    context: RunContext,
    sentences: tuple[ReportSentence, ...],
    facts: Mapping[str, Fact],
    cards: Mapping[str, SourceCard],
    language: str,
    *,
    ask_model: bool,
) -> tuple[SentenceCheck, ...]:
    return ()


def _as_found(text: str, found: Sequence[Hit]) -> list[Hit]:
    return list(found)


def _by_words(text: str, passages: Sequence[Passage]) -> list[Passage]:
    return list(passages)


_SWAPS: dict[str, tuple[ModuleType, str, object]] = {
    "verification": (truthful, "verify", _unverified),
    "rerank": (index, "reranked", _as_found),
    "meaning": (index, "by_meaning", _by_words),
}
"""Parts that no setting switches: where they are called, and what is called instead."""


@dataclass(frozen=True)
class Variant:
    """One way to run: what is left out, and limits other than the usual ones."""

    without: frozenset[str] = frozenset()
    rounds: int | None = None
    searches: int | None = None
    limit: int | None = None
    """Rows looked at, from the first; None is all."""

    @property
    def challenge(self) -> bool:
        """Whether counter-evidence is searched for."""
        return "challenge" not in self.without

    @property
    def mode(self) -> Mode:
        """The mode that allows the rounds wanted."""
        return "deep" if self.rounds is not None and self.rounds > STANDARD_ROUNDS else "standard"

    def settings(self, settings: Settings) -> Settings:
        """Apply to settings what settings can express."""
        update: dict[str, object] = {}
        if "novelty" in self.without:
            update["enable_early_termination"] = False
        if self.rounds is not None:
            update["max_iters"] = self.rounds
        if self.searches is not None:
            # Past the bound of the setting on purpose: the larger limits are what the bound is measured against.
            update["max_react_tool_calls"] = self.searches
        return settings.model_copy(update=update)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Take out what no setting switches, for as long as the context lasts."""
        swaps = [_SWAPS[part] for part in sorted(self.without) if part in _SWAPS]
        kept = [(module, name, getattr(module, name)) for module, name, _ in swaps]
        try:
            for module, name, instead in swaps:
                setattr(module, name, instead)
            yield
        finally:
            for module, name, before in kept:
                setattr(module, name, before)


def variant(without: str = "", limits: str = "", limit: int | None = None) -> Variant:
    """Read what the command line says.

    Raises:
        BadRequest: a part is unknown, or a figure cannot be used.
    """
    parts = frozenset(part.strip() for part in without.split(",") if part.strip())
    if unknown := sorted(parts - set(PARTS)):
        raise BadRequest(f"There is no part {unknown[0]!r} to leave out; these are: {', '.join(PARTS)}.")
    rounds: int | None = None
    searches: int | None = None
    if limits:
        first, _, second = limits.partition("/")
        if not (first.isdecimal() and second.isdecimal() and int(first) and int(second)):
            raise BadRequest(f"{limits!r} says no limits; give rounds and searches of a leaf, as in 3/5.")
        rounds, searches = int(first), int(second)
    if limit is not None and limit < 1:
        raise BadRequest("The limit must be 1 row or more.")
    return Variant(parts, rounds, searches, limit)
