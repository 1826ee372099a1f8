"""The searches of a leaf: planned texts side by side, other words where little is found, hits fused.

Other wordings of a search that found too little: only words, no synonyms, and the same ones every time.

What the branches of a run are given: an executor or a leaf of the plan, in its setting.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

from agents.contracts.contract import Brief, Contract
from agents.contracts.fact import Fact
from agents.contracts.finding import SearchRecord
from agents.contracts.frozen import Frozen, QueryType, Text
from agents.contracts.plan import MAX_ATTEMPTS, Leaf, Node, PlannedClaim, RetryEntry, RetryStatus
from agents.contracts.sources import Hit, SearchQuery, SourceCard, SourceLimits
from agents.core.budget import Deadline
from agents.core.errors import StepFailed
from agents.core.events import NodeChanged, Noted, SearchDone
from agents.core.port import Ctx
from agents.nlp import lang
from agents.nlp.tokens import TOKEN, language_of, stem, stop_words
from agents.offline.questions import is_topic
from agents.research.challenge.claim_ledger import Thresholds
from agents.research.loop.loop_decision import LoopSettings, topic_of
from agents.research.run_context import RunContext, Searched
from agents.research.steering import CUT
from agents.search.scope_filter import fuse

_LONGEST = 2_000  # characters of a query that are looked at
_MOST = 12  # words of a reformulation: search engines drop what is longer
_OPERATORS = re.compile(r"(?<!\S)(?:-?(?:site|intitle|inurl|filetype|ext|before|after):\S+|OR\b|AND\b|NOT\b)")
_QUOTES = re.compile('["“”„«»「」『』]')
_SMALL_SIGNS = {
    *lang.words("particles", "ja"),
    *lang.words("particles", "zh"),
    *(word for word in lang.words("stop", "zh") if len(word) > 1),
}
_BETWEEN_NOUNS = re.compile("|".join(sorted(_SMALL_SIGNS, key=lambda sign: (-len(sign), sign))))
"""Small words of scripts without spaces."""


def reformulate(query: str, attempt: int, earlier: Iterable[str] = ()) -> str | None:
    """Word a search anew: 1 leaves its telling words only, 2 is broader, without numbers and what stands last.

    What comes differs from the query, from what the lower attempt gave and from `earlier` by more than case and spaces;
    None when this attempt has no such wording, though a higher one may.
    """
    terms = _telling(query)
    plain = [term for term in terms if not any(char.isnumeric() for char in term)] or terms
    wordings = ((terms,), (plain[: max(2, -(-2 * len(plain) // 3))], plain, plain[:-1]))
    made, found = {_same(text) for text in (query, *earlier)}, None
    for chosen in wordings[:attempt]:
        texts = (" ".join(words[:_MOST]) for words in chosen)
        found = next((text for text in texts if text and _same(text) not in made), None)
        made.add(_same(found or ""))
    return found if attempt <= len(wordings) else None


def _telling(query: str) -> list[str]:
    """Give the words that carry meaning as they are written, each once; no quotes, no operators."""
    text = _QUOTES.sub(" ", _OPERATORS.sub(" ", unicodedata.normalize("NFKC", query[:_LONGEST])))
    stop = stop_words(language_of(text))
    found: dict[str, str] = {}
    for match in TOKEN.finditer(text):
        for part in _BETWEEN_NOUNS.split(match[0]) if match.lastgroup == "run" else [match[0]]:
            low = part.casefold()
            if part and (low not in stop or (len(part) > 1 and part.isupper() and not text.isupper())):
                found.setdefault(stem(low), part)
    return list(found.values())


def _same(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def sub_questions(leaf: Leaf) -> tuple[str, ...]:
    """Give the questions that a leaf has to answer."""
    return leaf.spec.questions if leaf.spec else leaf.questions or (leaf.objective,)


class Setting(SourceLimits):
    """What every branch of one query shares."""

    query: Text
    language: Text = "en"
    query_type: QueryType = "other"
    today: str = ""
    loop: LoopSettings = LoopSettings()
    claims: tuple[PlannedClaim, ...] = ()
    """The plan's claims, which sections are written to agree with as far as code can tell."""

    @classmethod
    def of(cls, query: str, brief: Brief) -> "Setting":
        """Give the setting of a query that is still being planned."""
        shared = cls.model_fields.keys() & type(brief).model_fields.keys()
        return cls(query=query, **{name: getattr(brief, name) for name in shared})


class LeafGiven(Frozen):
    """One leaf of the plan or of a later round, in its setting."""

    leaf: Leaf
    setting: Setting
    siblings: tuple[str, ...] = ()
    """Titles of the sections beside this one."""
    beside: tuple[str, ...] = ()
    """Questions of the leaves beside this one: a page is read once, for all of them."""
    tried: tuple[RetryEntry, ...] = ()
    """What failed when it was tried before; counts on here."""
    known: tuple[Fact, ...] = ()
    """Facts of an earlier report that speak of its questions."""
    known_sources: tuple[SourceCard, ...] = ()
    found: tuple[str, ...] = ()
    """What is known of its questions already; readers are told."""

    @property
    def title(self) -> str:
        return self.leaf.title

    @property
    def role(self) -> Literal["leaf"]:
        return "leaf"

    @property
    def failures(self) -> int:
        """Searches for its sub-question that failed in earlier tries."""
        key = topic_of(self.leaf)
        return sum(entry.attempts for entry in self.tried if entry.key == key and entry.status != "complete")


class ClosingTask(Frozen):
    """What the root of a single query needs to close the run beside its last sections."""

    contract: Contract
    challenge: bool
    """Whether what speaks against the claims is searched for."""
    wanted: Thresholds


class NodeGiven(Frozen):
    """One executor of the plan, in its setting."""

    node: Node
    setting: Setting
    role: Literal["query", "node"] = "node"
    """`query` for the root executor of a query."""
    lead: bool = True
    """False where a synthesizer above writes over these results anyway."""
    title: Text
    tried: tuple[RetryEntry, ...] = ()
    """What failed below it when it was tried before; counts on here."""
    closing: ClosingTask | None = None
    """None for all but the root of a single query."""


ENOUGH_HITS = 3
"""Fewer distinct hits than this are searched for again in other words (specification, section 11)."""


Tell = Callable[..., None]
"""Tell a state of a branch and what is done now and why; under a key of its own where a state comes more than once."""


def teller(ctx: Ctx, role: str, title: str, path: str = "", parent: str = "") -> Tell:
    """Make what tells the states of one branch, by default of the one that runs and below the one above it."""
    node = path or ctx.path
    above = parent or node.rpartition("/")[0]

    def tell(state: str, doing: str, key: str = "") -> None:
        told = {"node": node, "parent": above, "role": role, "title": title, "state": state}
        ctx.emit(f"state:{key or state}", NodeChanged.model_validate({**told, "doing": doing}))

    return tell


class Searches(NamedTuple):
    """What several searches came to."""

    records: tuple[SearchRecord, ...] = ()
    lists: tuple[tuple[Hit, ...], ...] = ()
    """Hits of those that answered, best first."""
    cut: frozenset[str] = frozenset()
    """Ways in which the user cut searches off; those are no failures."""
    attempts: tuple[RetryEntry, ...] = ()

    @property
    def hits(self) -> Sequence[Hit]:
        """All hits, fused."""
        return fuse(self.lists)

    @property
    def failed(self) -> int:
        return sum(1 for record in self.records if record.failed)


async def search_all(
    ctx: Ctx, context: RunContext, setting: Setting, texts: Sequence[str], deadline: Deadline, first: int = 0
) -> Searches:
    """Search with all texts side by side; `first` numbers the first of them in its branch."""
    items = [(f"q{first + at}", query_of(setting, text), deadline) for at, text in enumerate(texts)]
    results = await ctx.fan("search", context.search, items, gives=Searched, pool="web")
    records: list[SearchRecord] = []
    for number, (text, one) in enumerate(zip(texts, results, strict=True), start=first):
        if isinstance(one, Searched):
            provider, hits, failures = one.result.provider, len(one.result.hits), one.result.failures
            records.append(SearchRecord(text=text, provider=provider, hits=hits, failures=failures))
        elif one.type not in CUT:
            ctx.emit(f"failed:q{number}", SearchDone(node=ctx.path, text=text, provider="", hits=0, failed=one.notice))
            records.append(SearchRecord(text=text, provider="", hits=0, failed=one.notice))
    cut = frozenset(one.type for one in results if isinstance(one, StepFailed)) & CUT
    return Searches(tuple(records), tuple(one.result.hits for one in results if isinstance(one, Searched)), cut)


def first_texts(leaf: Leaf, loop: LoopSettings) -> tuple[str, ...]:
    """Give what a leaf searches for first, all at once."""
    wanted = min(leaf.budget.searches, leaf.spec.budget.searches) if leaf.spec else leaf.budget.searches
    return leaf.searches[: min(wanted, loop.searches_per_leaf)]


async def search_for(ctx: Ctx, context: RunContext, given: LeafGiven, deadline: Deadline) -> Searches:
    """Search with the planned texts side by side; too little found is searched again in other words (tier 2).

    A sub-question is given up after three failures. No more than may still fail are begun at once, so that those side by
    side count like those one after the other.
    """
    leaf, before, most = given.leaf, given.failures, given.setting.loop.searches_per_leaf
    query = given.setting.query
    texts = list(first_texts(leaf, given.setting.loop))
    if before and (wording := reformulate(texts[0], before, earlier=texts)):
        texts[0] = wording  # a further try uses other words
    made, waiting, attempt = Searches(), texts, 1 + before
    while waiting and not made.cut and before + made.failed < MAX_ATTEMPTS:
        may_fail = MAX_ATTEMPTS - before - made.failed
        batch, waiting = waiting[:may_fail], waiting[may_fail:]
        more = await search_all(ctx, context, given.setting, batch, deadline, len(made.records))
        made = Searches(made.records + more.records, made.lists + more.lists, made.cut | more.cut)
        enough = len({hit.url for hits in made.lists for hit in hits}) >= ENOUGH_HITS
        if enough or waiting or ctx.finishing or ctx.collecting_left == 0:
            continue
        asked = [record.text for record in made.records]
        while not waiting and attempt < MAX_ATTEMPTS and len(asked) < most:
            # A part whose own words stand nowhere is looked for with all that was asked.
            whole = "" if made.failed or any(made.lists) or is_topic(texts[0]) or query in asked else query
            wording, attempt = whole or reformulate(texts[0], attempt, earlier=asked), attempt + 1
            waiting = [wording] if wording else []
        if waiting:
            text = f"Little found; searching again as “{waiting[0]}”."
            ctx.emit(f"again:{attempt}", Noted(node=ctx.path, text=text))
    if made.records and not any(record.failed or record.hits for record in made.records):
        ctx.emit("none", Noted(node=ctx.path, text=f"No document matches “{texts[0]}”."))
    if not (failed := before + made.failed):
        return made
    answered = made.failed < len(made.records)
    status: RetryStatus = "complete" if answered else "exhausted" if failed >= MAX_ATTEMPTS else "pending"
    return made._replace(attempts=(RetryEntry(key=topic_of(leaf), attempts=failed, status=status),))


def query_of(setting: Setting, text: str) -> SearchQuery:
    """Put one search of a query together."""
    return SearchQuery(text=text, **setting.model_dump(include=set(SourceLimits.model_fields)))
