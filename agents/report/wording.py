"""What a report says in its own voice: one file a language under `locales/`, read once and held against this shape."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

from agents.contracts.body import SentenceVerdict
from agents.contracts.frozen import Frozen
from agents.contracts.report import Grade
from agents.contracts.verification import Verdict

LOCALES = Path(__file__).with_name("locales")
RIGHT_TO_LEFT = frozenset({"ar", "fa", "he", "ur", "ps", "yi", "dv", "ckb"})
"""Languages that are written from right to left."""
_MAX_TRANSITION = 120  # a longer sentence that ends with a colon states something by itself
_FIGURE = re.compile(r"\d")


class LedgerWording(Frozen):
    """Words around the claims and the checks of sentences; `{n}` of `{m}`."""

    claim: str
    verdict: str
    sure: str
    pro: str
    against: str
    counter: str
    nothing: str
    found: str
    not_searched: str
    unchecked: str
    unverified: str
    one_unverified: str
    confidence: str
    """`{value}`"""
    sentences: str
    """`{n}`, `{m}`, `{ratio}`"""
    mended: str


class ChangeWording(Frozen):
    """What changes after the authorization did: whole sentences; labels avoid plurals."""

    lead: str
    line: str
    """One change: `{number}`, `{time}`, `{text}`."""
    domains: str
    exclude: str
    since: str
    until: str
    between: str
    """Dates: `{start}`, `{end}`."""
    total: str
    """`{value}`: the time in all."""
    from_then_on: str
    finish: str
    finish_branch: str
    stop: str
    kept: str
    """`{facts}`"""
    drop: str
    retry: str
    too_late: str
    """`{title}`"""
    guidance: str
    """`{words}`, quoted."""
    restart: str
    stopped_note: str
    """What is missing of a branch that was stopped, in one clause."""
    dropped_note: str


class EarlierWording(Frozen):
    """What has changed since an earlier report."""

    refreshed: str
    """Heading of a report that was run anew: `{date}`."""
    continued: str
    """Heading of one that goes on from another: `{date}`."""
    claim_moved: str
    """`{claim}`, `{before}`, `{after}`"""
    claim_new: str
    """`{claim}`, `{after}`"""
    words_gone: str
    """`{words}`, quoted."""
    new_sources: str
    """`{count}`, `{titles}`"""
    changed_sources: str
    missing_sources: str
    nothing: str


class MemoryWording(Frozen):
    """What the knowledge base did for a run."""

    since: str
    """`{date}`: behind a source that was known before."""
    reused: str
    """`{facts}`, `{sources}`, `{date}`"""
    contradicted: str
    """`{new}`, `{new_title}`, `{old}`, `{old_title}`, `{date}`"""
    fault: str
    """`{reason}`"""


class Wording(Frozen):
    """Headings, labels and whole sentences. `{…}` are the places that are filled in; labels avoid plurals."""

    language: str
    insight: str
    conclusion: str
    references: str
    claims: str
    methodology: str
    limitations: str
    contents: str
    """Heading of a table of contents."""
    sample: str
    """Behind the title of an invented document."""
    read: str
    """When a source was read: `{date}`."""
    page: str
    """Where in a source a quote stands: `{page}`."""
    quotes: tuple[str, str]
    """Opening and closing quotation mark."""
    nothing: str
    nothing_tried: str
    nothing_searched: str
    nothing_read: str
    nothing_next: str
    section_empty: str
    section_missing: str
    """`{note}`"""
    part: str
    """A reason: `{title}`, `{note}`."""
    seed: str
    """`{url}`"""
    step: str
    """`{message}`"""
    unchecked: str
    engine_model: str
    """`{engine}`"""
    engine_none: str
    stood_in: str
    """`{model}`, `{bound}`, `{count}`, `{reason}`"""
    searched_with: str
    """`{providers}`"""
    no_search: str
    hits: str
    """`{count}`"""
    search_failed: str
    """`{reason}`"""
    rejected: str
    assumptions: str
    scope: str
    sample_note: str
    degraded: str
    figure: str
    forecast: str
    actual: str
    unknown: str
    question: str
    quoted_words: str
    open_source: str
    back: str
    source: str
    stored_copy: str
    no_glyph: str
    """What a PDF file says of characters that no font of ours holds: `{letters}`."""
    no_fact: tuple[str, ...] = ()
    """Patterns of sentences that state no fact: transitions, and statements about the research itself."""
    statuses: Mapping[str, str]
    """What a node's status means in one clause, for partial, failed, stopped, empty."""
    figures: Mapping[str, str]
    """Labels of time, searches, sources, rejected, empty, rounds, calls, tokens, cost."""
    tags: Mapping[str, str]
    """One plain sentence for each response-awareness tag."""
    grades: Mapping[Grade, str]
    verdicts: Mapping[SentenceVerdict, str]
    """Short marks behind a sentence, for those verdicts that a reader must see."""
    claim_verdicts: Mapping[Verdict, str]
    ledger: LedgerWording
    changes: ChangeWording
    earlier: EarlierWording
    memory: MemoryWording
    reasons: Mapping[str, str]
    """Why a document was not used, or not wholly, by what the program says in English."""

    def reason(self, said: str) -> str:
        """Say why a document was not used: a phrase of the list, and behind it, in brackets, what is particular to it."""
        if said in self.reasons:
            return self.reasons[said]
        phrase, *details = said.split(" (")
        told = (f" ({self.reasons.get(one.removesuffix(')'), one.removesuffix(')'))})" for one in details)
        return self.reasons.get(phrase, phrase) + "".join(told)

    @property
    def direction(self) -> str:
        return direction(self.language)


def base_language(tag: str) -> str:
    """Give the language of a BCP 47 tag without region and script, in lower case; `en` for an empty one."""
    return tag.strip().replace("_", "-").casefold().split("-")[0] or "en"


def direction(tag: str) -> str:
    """Give `rtl` or `ltr` for a BCP 47 tag, whether or not there is a wording in that language."""
    return "rtl" if base_language(tag) in RIGHT_TO_LEFT else "ltr"


def languages() -> tuple[str, ...]:
    """List the languages that have a file."""
    return tuple(sorted(path.stem for path in LOCALES.glob("*.toml")))


def wording(language: str) -> Wording:
    """Give the wording for a BCP 47 tag: its base language, else English."""
    base = base_language(language)
    return _read(base if base in languages() else "en")


@cache
def _read(language: str) -> Wording:
    """Read one file; a key that is missing in it is taken from the English one, an unknown key is an error."""
    own, english = _table(language), _table("en")
    merged = {
        key: {**value, **_part(own, key)} if isinstance(value, dict) else own.get(key, value)
        for key, value in english.items()
        if key != "no_fact"
    }
    unknown = {key: own[key] for key in own.keys() - english.keys()}
    return Wording.model_validate({**merged, **unknown, "language": language, "no_fact": own.get("no_fact", [])})


def _part(table: Mapping[str, object], key: str) -> dict[str, object]:
    part = table.get(key, {})
    return part if isinstance(part, dict) else {}


def _table(language: str) -> dict[str, object]:
    return tomllib.loads((LOCALES / f"{language}.toml").read_text("utf-8"))


def states_no_fact(sentence: str, language: str) -> bool:
    """Tell whether the closed list exempts a sentence from carrying a citation.

    English patterns hold beside those of the report's own language, since models fall back to English. A sentence with
    a figure is never exempt as a transition.
    """
    text = " ".join(sentence.replace("’", "'").split())
    if not any(letter.isalnum() for letter in text):
        return True
    if text.endswith((":", "：")) and len(text) <= _MAX_TRANSITION and not _FIGURE.search(text):
        return True
    text = text.rstrip(".:!… ")
    return any(pattern.fullmatch(text) for pattern in _patterns(base_language(language)))


@lru_cache(maxsize=16)
def _patterns(base: str) -> tuple[re.Pattern[str], ...]:
    own = wording(base).no_fact if base != "en" else ()
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in (*own, *wording("en").no_fact))
