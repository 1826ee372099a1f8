"""The searches of a leaf: planned texts side by side, other words where little is found, hits fused.

Other wordings of a search that found too little: only words, no synonyms, and the same ones every time.

What the branches of a run are given: an executor or a leaf of the plan, in its setting.
"""

import re
import unicodedata
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from agents.contracts.fact import Fact
from agents.contracts.finding import SearchRecord
from agents.contracts.frozen import Frozen, QueryType, Text
from agents.contracts.plan import Leaf, Node, RetryEntry
from agents.contracts.sources import Hit, SearchQuery, SourceCard
from agents.core.budget import Deadline
from agents.core.errors import StepFailed
from agents.core.events import Noted, SearchDone
from agents.core.port import Ctx
from agents.nlp import lang
from agents.nlp.tokens import TOKEN, language_of, stem, stop_words
from agents.research.loop.loop_decision import LoopSettings
from agents.research.loop.retry_tracking import MAX_ATTEMPTS
from agents.research.loop.topics import pole_words, word_key
from agents.research.run_context import Desk, Searched
from agents.research.steering import CUT
from agents.search.scope_filter import fuse

ATTEMPTS = 3
"""Reformulations that there are: telling words, broader, another angle."""

_LONGEST = 2_000  # characters of a query that are looked at
_MOST = 12  # words of a reformulation: search engines drop what is longer
_CORE = 3  # words that name the subject
_OPERATORS = re.compile(r"(?<!\S)(?:-?(?:site|intitle|inurl|filetype|ext|before|after):\S+|OR\b|AND\b|NOT\b)")
_QUOTES = re.compile('["“”„«»「」『』]')
_ASIDE = frozenset("according regarding concerning find laut selon según secondo segundo volgens enligt".split())
_HAN_PARTS = re.compile(
    f"[{''.join(sorted(lang.words('particles', 'zh')))}是和与與在]"
    "|什么|什麼|多少|如何|怎么|怎麼|为何|哪些|关于|關於|以及|何[年月日人時]"
)
_UNIT = re.compile("[年月日](?=.)|[年月日号號]$")
_KANA = re.compile("[\u3041-\u309f]+")


def reformulate(query: str, attempt: int, known_terms: Sequence[str] = (), earlier: Iterable[str] = ()) -> str | None:
    """Word a search anew.

    Args:
        query: the search as it was first made.
        attempt: 1 for its telling words only, 2 for a broader search, 3 for another angle.
        known_terms: telling words and phrases of what is known so far, most telling first; they give the other angle.
        earlier: further searches that were made and must not be made again.

    Returns:
        A search that differs from the query, from what the lower attempts gave and from `earlier` by more than case
        and spaces; None when this attempt has no such wording, though a higher one may.

    Raises:
        ValueError: the attempt is below 1.
    """
    if attempt < 1:
        raise ValueError(f"attempts count from 1; got {attempt}")
    made = {_same(text) for text in (query, *earlier)}
    found: str | None = None
    for number in range(1, min(attempt, ATTEMPTS) + 1):
        found = next((text for text in _wordings(query, number, known_terms) if text and _same(text) not in made), None)
        if found:
            made.add(_same(found))
    return found if attempt <= ATTEMPTS else None


def _wordings(query: str, attempt: int, known_terms: Sequence[str]) -> Iterator[str]:
    """Give what an attempt may search for, best first."""
    terms = _telling(query)
    plain = [term for term in terms if not any(char.isnumeric() for char in term)] or terms
    language = language_of(query[:_LONGEST])
    narrow = {term for term in plain if word_key(term.casefold(), language) in pole_words(language)}
    if attempt == 1:
        yield " ".join(terms[:_MOST])
    elif attempt == 2:
        yield from (" ".join(kept[:_MOST]) for kept in _broader(plain, narrow))
    else:
        yield from _angles(plain, narrow, known_terms)
        yield from (" ".join(plain[-kept:]) for kept in (len(plain) // 2, 1) if kept)


def _telling(query: str) -> list[str]:
    """Give the words that carry meaning as they are written, each once; no quotes, no operators."""
    text = _QUOTES.sub(" ", _OPERATORS.sub(" ", unicodedata.normalize("NFKC", query[:_LONGEST])))
    language = language_of(text)
    stop = stop_words(language)
    found: dict[str, str] = {}
    counted = False
    for match in TOKEN.finditer(text):
        parts = _nouns(match[0], language, counted) if match.lastgroup == "run" else [match[0]]
        counted = match[0].isnumeric()
        for part in parts:
            low = part.casefold()
            if (low not in stop and low not in _ASIDE) or (len(part) > 1 and part.isupper() and not text.isupper()):
                found.setdefault(stem(low), part)
    return list(found.values())


def _nouns(run: str, language: str, counted: bool) -> list[str]:
    """Cut a run of a script without spaces where particles stand; `counted` when a number stands before it."""
    if counted:
        run = _UNIT.sub("", run, count=1) if run[0] in "年月日号號" else run
    if language in {"ja", "zh"} or _KANA.search(run):
        run = _KANA.sub(
            lambda kana: " " if kana[0] in lang.words("particles", "ja") or len(kana[0]) > 2 else kana[0], run
        )
        run = _HAN_PARTS.sub(" ", run)
    return run.split()


def _broader(plain: list[str], narrow: Container[str]) -> Iterator[list[str]]:
    """Drop what narrows a search: numbers and years are gone already; then modifiers, then what stands last."""
    head = [term for term in plain if term not in narrow]
    for terms in (head, plain):
        kept = max(_CORE - 1, -(-2 * len(terms) // 3))
        if kept < len(terms):
            yield terms[:kept]
    yield from (terms for terms in (head, plain) if terms)
    if len(plain) > 1:
        yield plain[:-1]


def _angles(plain: list[str], narrow: Container[str], known_terms: Sequence[str]) -> Iterator[str]:
    """Put what is known beside what the query is about: its names first, then the words that open it."""
    names = [term for term in plain if term[:1].isupper() or term.casefold() in lang.words("places", "common")]
    head = [term for term in plain if term not in names and term not in narrow]
    chosen = (names + head or plain)[:_CORE]
    core = [term for term in plain if term in chosen]
    held = {stem(word.casefold()) for word in plain}
    fresh = [term for term in (" ".join(one.split()) for one in known_terms) if term and not _held(term, held)]
    if not core:
        return
    for several in (2, 1):
        if len(fresh) >= several:
            yield " ".join((*core, *fresh[:several]))
    yield from (" ".join((*core, term)) for term in fresh[1:])


def _held(term: str, held: set[str]) -> bool:
    return all(stem(match[0].casefold()) in held for match in TOKEN.finditer(term))


def _same(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def sub_question(leaf: Leaf) -> str:
    """Name what a leaf's failed searches are counted under."""
    return leaf.questions[0] if leaf.questions else leaf.objective


class Setting(Frozen):
    """What every branch of one query shares."""

    query: Text
    language: Text = "en"
    query_type: QueryType = "other"
    today: str = ""
    domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()
    date_from: str | None = None
    date_to: str | None = None
    loop: LoopSettings = LoopSettings()


class LeafGiven(Frozen):
    """One leaf of the plan or of a later round, in its setting."""

    leaf: Leaf
    setting: Setting
    parent: str
    siblings: tuple[str, ...] = ()
    """Titles of the sections beside this one."""
    tried: tuple[RetryEntry, ...] = ()
    """What failed when it was tried before; counts on here."""
    known: tuple[Fact, ...] = ()
    """Facts of an earlier report that speak of its questions."""
    known_sources: tuple[SourceCard, ...] = ()

    @property
    def failures(self) -> int:
        """Searches for its sub-question that failed in earlier tries."""
        return sum(
            entry.attempts
            for entry in self.tried
            if entry.key == sub_question(self.leaf) and entry.status != "complete"
        )


class NodeGiven(Frozen):
    """One executor of the plan, in its setting."""

    node: Node
    setting: Setting
    parent: str
    role: Literal["query", "node"] = "node"
    """`query` for the root executor of a query."""
    lead: bool = True
    """False where a synthesizer above writes over these results anyway."""
    title: Text
    siblings: tuple[str, ...] = ()
    tried: tuple[RetryEntry, ...] = ()
    """What failed below it when it was tried before; counts on here."""


HITS_PER_SEARCH = 8
ENOUGH_HITS = 3
"""Fewer distinct hits than this are searched for again in other words (specification, section 11)."""


class Found(NamedTuple):
    """What a leaf's searches came to."""

    hits: Sequence[Hit] = ()
    records: tuple[SearchRecord, ...] = ()
    attempts: tuple[RetryEntry, ...] = ()
    cut: frozenset[str] = frozenset()
    """Ways in which the user cut searches off; those are no failures."""


async def search_for(ctx: Ctx, desk: Desk, given: LeafGiven, deadline: Deadline) -> Found:
    """Search with the planned texts side by side; too little found is searched again in other words (tier 2)."""
    leaf = given.leaf
    at_most = min(leaf.budget.searches, given.setting.loop.searches_per_leaf)
    texts = list(leaf.searches[:at_most])
    lists: list[tuple[Hit, ...]] = []
    records: list[SearchRecord] = []
    cut: set[str] = set()
    before = given.failures
    if before and (wording := reformulate(texts[0], before, earlier=texts)):
        texts = [wording, *texts[1:]]  # a further try uses other words
    texts = texts[: max(0, MAX_ATTEMPTS - before)] if before else texts

    async def make(batch: list[str], first: int) -> None:
        results = await ctx.fan(
            "search",
            desk.search,
            [(f"q{first + n}", _query(given.setting, text), deadline) for n, text in enumerate(batch)],
            gives=Searched,
            pool="web",
        )
        for number, (text, result) in enumerate(zip(batch, results, strict=True), start=first):
            if isinstance(result, StepFailed) and result.type in CUT:
                cut.add(result.type)
            elif isinstance(result, StepFailed):
                ctx.emit(
                    f"failed:q{number}", SearchDone(node=ctx.path, text=text, provider="", hits=0, failed=result.notice)
                )
                records.append(SearchRecord(text=text, provider="", hits=0, failed=result.notice))
            else:
                lists.append(result.result.hits)
                found = result.result
                records.append(
                    SearchRecord(text=text, provider=found.provider, hits=len(found.hits), failures=found.failures)
                )

    await make(texts, 0)
    attempt = 1 + before
    while texts and len(texts) < given.setting.loop.searches_per_leaf and attempt < MAX_ATTEMPTS and not cut:
        if len({hit.url for hits in lists for hit in hits}) >= ENOUGH_HITS or ctx.finishing or ctx.collecting_left == 0:
            break
        wording = reformulate(texts[0], attempt, earlier=texts)
        attempt += 1
        if wording is None:
            continue
        ctx.emit(f"again:{attempt}", Noted(node=ctx.path, text=f"Little found; searching again as “{wording}”."))
        await make([wording], len(texts))
        texts.append(wording)
    failed = before + sum(1 for record in records if record.failed)
    answered = any(not record.failed for record in records)
    entries: tuple[RetryEntry, ...] = ()
    if failed:
        status: Literal["pending", "complete", "exhausted"] = (
            "complete" if answered else "exhausted" if failed >= MAX_ATTEMPTS else "pending"
        )
        entries = (RetryEntry(key=sub_question(leaf), attempts=failed, status=status),)
    if records and not any(record.failed or record.hits for record in records):
        ctx.emit("none", Noted(node=ctx.path, text=f"No document matches “{texts[0]}”."))
    return Found(fuse(lists), tuple(records), entries, frozenset(cut))


def attempt_number(attempts: tuple[RetryEntry, ...], leaf: Leaf) -> int:
    """Number the attempt that a leaf's searches came to."""
    failed = sum(entry.attempts for entry in attempts if entry.key == sub_question(leaf))
    return min(failed + 1, MAX_ATTEMPTS)


def _query(setting: Setting, text: str) -> SearchQuery:
    return SearchQuery(
        text=text,
        max_results=HITS_PER_SEARCH,
        include_domains=setting.domains,
        exclude_domains=setting.exclude_domains,
        date_from=setting.date_from,
        date_to=setting.date_to,
    )
