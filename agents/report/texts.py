"""What the report says in its own voice, in eleven languages: frozen values, one per language."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from agents.contracts.report import Grade, SentenceVerdict

RIGHT_TO_LEFT = frozenset({"ar", "fa", "he", "ur", "ps", "yi", "dv", "ckb"})
"""Languages that are written from right to left."""


@dataclass(frozen=True)
class Wording:
    """Headings, labels and whole sentences. `{…}` are the places that are filled in; labels avoid plurals."""

    language: str
    insight: str
    conclusion: str
    references: str
    claims: str
    methodology: str
    limitations: str
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

    statuses: Mapping[str, str]
    """What a node's status means in one clause, for partial, failed, stopped, empty."""
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
    figures: Mapping[str, str]
    """Labels of time, searches, sources, rejected, empty, rounds, calls, tokens, cost."""
    unknown: str
    tags: Mapping[str, str]
    """One plain sentence for each response-awareness tag."""

    grades: Mapping[Grade, str]
    verdicts: Mapping[SentenceVerdict, str]
    """Short marks behind a sentence, for those verdicts that a reader must see."""
    question: str
    quoted_words: str
    open_source: str
    back: str
    source: str
    stored_copy: str
    no_glyph: str
    """What a PDF file says of characters that no font of ours holds: `{letters}`."""

    @property
    def direction(self) -> str:
        """Give `rtl` or `ltr`."""
        return "rtl" if self.language in RIGHT_TO_LEFT else "ltr"


def base_language(tag: str) -> str:
    """Give the language of a BCP 47 tag without region and script, in lower case; `en` for an empty one."""
    return tag.strip().replace("_", "-").casefold().split("-")[0] or "en"


def direction(tag: str) -> str:
    """Give `rtl` or `ltr` for a BCP 47 tag, whether or not there is a wording in that language."""
    return "rtl" if base_language(tag) in RIGHT_TO_LEFT else "ltr"


def wording(language: str) -> Wording:
    """Give the wording for a BCP 47 tag: its base language, else English."""
    known = _all()
    return known.get(base_language(language), known["en"])


@cache
def _all() -> Mapping[str, Wording]:
    # The languages need the class above, so they are read when first asked for.
    from agents.report import wording_asia, wording_north, wording_south

    found = (*wording_north.LANGUAGES, *wording_south.LANGUAGES, *wording_asia.LANGUAGES)
    return {words.language: words for words in found}
