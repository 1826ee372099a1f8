"""Years in texts, and taking out those that come from nowhere: a model's training year has no place in a search."""

import re
from collections.abc import Iterable

FRESH = 10
"""Years back from today in which a year that nobody gave is taken for the model's idea of now."""

_YEAR = re.compile(r"(?<![\d.,])(?:19|20|21)\d\d(?![\d]|[.,]\d)")
_SPAN = re.compile(r"(?<!\d)((?:19|20|21)\d\d)\s*(?:[-–—/]|\w{1,5})\s*((?:19|20|21)\d\d)(?!\d)")
_STAMP = re.compile(
    r"\s*[(\[]?(?:(?<!\w)(?:in|of|as of|since|from|for|by|until|during|after|before|im jahr|stand|seit|von|bis|en|de|"
    r"depuis|desde|nel|del|em|desde|sinds|van|sedan|från)\s+)?(?<![\w.,:/#])(?P<stamp>(?:19|20|21)\d\d(?:[-–/]\d{1,4}){0,2})"
    r"(?![A-Za-z\d_]|[.,]\d)年?[)\]]?",
    re.IGNORECASE,
)
_NAMED_SO = re.compile(r"(?:iso|iec|din|en|rfc|ieee|covid|no\.?|nr\.?|#)[\s:-]*$", re.IGNORECASE)


def years_in(text: str) -> frozenset[int]:
    """Give the years that a text names."""
    return frozenset(int(found) for found in _YEAR.findall(text))


def given_years(text: str, today: str) -> frozenset[int]:
    """Give the years that a text and today give: named ones, those of a span, and today's with its neighbours."""
    spans = (range(int(first), int(last) + 1) for first, last in _SPAN.findall(text))
    now = years_in(today[:4])
    near = (year + step for year in now for step in (-1, 0, 1))
    return frozenset((*years_in(text), *(year for span in spans for year in span), *near))


def without_stray_years(text: str, allowed: Iterable[int], today: str) -> str:
    """Take recent years out of a search text that nobody gave.

    Args:
        text: what is searched for.
        allowed: years that may stand.
        today: ISO date; without one nothing is taken out.
    """
    if not (now := years_in(today[:4])):
        return text
    newest, known = max(now), frozenset(allowed)

    def judged(match: re.Match[str]) -> str:
        years = years_in(match["stamp"])
        stray = {year for year in years if newest - FRESH <= year <= newest and year not in known}
        if not stray or _NAMED_SO.search(text[: match.start("stamp")]):
            return match[0]
        return " "

    kept = re.sub(r"\s{2,}", " ", _STAMP.sub(judged, text)).strip(" ,;:-–")
    return re.sub(r"\s+(?=[?!.,])", "", kept) if kept else text


class Calendar:
    """The years that a question and the date of today give, and no others.

    Args:
        given: all that the question says, in any form.
        today: ISO date; without one every year may stand.
    """

    def __init__(self, given: str, today: str) -> None:
        self._allowed, self._today = given_years(given, today), today

    def clean(self, text: str) -> str:
        """Take out of one text the recent years that nobody gave."""
        return without_stray_years(text, self._allowed, self._today)

    def clean_all(self, texts: Iterable[str]) -> tuple[str, ...]:
        """The same for several; those that become one are one."""
        return tuple(dict.fromkeys(self.clean(text) for text in texts))
