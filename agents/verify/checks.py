"""The checks that need no model, for every other room: what is carried, quoted, equal, named.

Texts go in, plain values come out; languages are ISO 639-1 codes.

    carried("The line was closed for 12 days.", ["It was closed for twelve days."]).verdict
    find_quote("closed for 12 days", page)      the place in the page, or None
    stance("All sites failed.", "Two of the three sites failed.").stance
    same_figure("0.5 billion", "500 million")   True
"""

from agents.nlp.tokens import language_of
from agents.verify.figures import figures
from agents.verify.framing import doubts
from agents.verify.names import names
from agents.verify.parsed_text import read
from agents.verify.polarity import denies
from agents.verify.quoting import Place, find_quote, speaks_for_itself
from agents.verify.stance_check import Judged, leans, stance
from agents.verify.support_check import SUPPORTED, Support, carried

__all__ = [
    "SUPPORTED",
    "Judged",
    "Place",
    "Support",
    "carried",
    "denies",
    "doubts",
    "find_quote",
    "leans",
    "names_in",
    "same_figure",
    "speaks_for_itself",
    "stance",
    "subject_terms",
]


def same_figure(one: str, other: str, *, language: str = "en") -> bool:
    """Tell whether two texts give the same figures, in whatever spelling; False when either gives none."""
    mine, theirs = figures(one, language), figures(other, language)
    return bool(mine) and len(mine) == len(theirs) and all(a.equals(b) for a, b in zip(mine, theirs, strict=True))


def names_in(text: str, language: str | None = None) -> frozenset[str]:
    """Give the casefolded words of the names in `text`, as far as capitals and abbreviations tell."""
    found = names(text, language or language_of(text))
    return frozenset(word for name in found if name.sure for word in name.words)


def subject_terms(text: str, language: str | None = None) -> frozenset[str]:
    """Give what `text` speaks of: the roots of its content words, names included, without figures and dates.

    Two texts about one subject share most of these; compare the sets, the roots are no words to show.
    """
    units = read(text, language or language_of(text)).units
    return frozenset(one for unit in units for one in unit.content_roots)
