"""Dates, years, decades and centuries in sentences, as ranges of years with a month and a day where they are given."""

import re
from dataclasses import dataclass
from functools import cache, lru_cache

from babel import Locale, UnknownLocaleError

from agents.nlp import lang
from agents.nlp.tokens import ascii_digits

_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th|er|º|\.)?"
_YEAR = r"(?P<year>\d{4})"
_ERA = re.compile(r"\s?(?:BCE?|B\.C\.|v\. ?Chr\.|av\. ?J\.-C\.|a\. ?C\.)")
_ROMAN = {"I": 1, "V": 5, "X": 10}


@dataclass(frozen=True)
class When:
    """A time that a sentence names."""

    first: int | None
    last: int | None
    """First and last year, both included; negative before our era; None when only a day or month is named."""
    month: int | None
    day: int | None
    shown: str
    start: int
    end: int
    swapped: bool = False
    """Whether day and month may be the other way round, as in 03/04/2023."""

    @property
    def years(self) -> bool:
        """Whether it names a year or a longer time."""
        return self.first is not None

    def same_day(self, other: "When") -> bool:
        """Tell whether month and day, as far as this one names them, are those of `other`."""
        if self.month is None:
            return True
        plain = self.month == other.month and self.day in {None, other.day}
        turned = (self.swapped or other.swapped) and self.month == other.day and self.day == other.month
        return plain or turned

    def same_year(self, other: "When") -> bool:
        """Tell whether the years of `other` lie in those of this one: the 1950s hold 1954, not the reverse."""
        if self.first is None or self.last is None:
            return True
        if other.first is None or other.last is None:
            return False
        return self.first <= other.first and other.last <= self.last


@lru_cache(maxsize=4_096)
def dates(text: str, language: str = "en") -> tuple[When, ...]:
    """Read the times that `text` names, in order."""
    text = ascii_digits(text)
    found: list[When] = []
    taken = [False] * len(text)
    # Without a digit there are but centuries in Roman numerals and names of months.
    for form in _forms(language) if re.search(r"\d", text) else _forms(language)[-3:]:
        for match in form.finditer(text):
            if any(taken[match.start() : match.end()]):
                continue
            when = _when(text, match, language)
            if when is None:
                continue
            taken[when.start : when.end] = [True] * (when.end - when.start)
            found.append(when)
    return tuple(sorted(found, key=lambda one: one.start))


@cache
def months(language: str) -> dict[str, int]:
    """Give the names and abbreviations of the months, casefolded: of a language and of the four that sources quote most."""
    found = {"sept": 9, "setiembre": 9}
    for one in dict.fromkeys((language, "en", "de", "fr", "es")):
        try:
            known = Locale(one).months
        except (UnknownLocaleError, ValueError):
            continue
        for form, width in (("format", "wide"), ("stand-alone", "wide"), ("format", "abbreviated")):
            names = {str(name).casefold().rstrip("."): at for at, name in known[form][width].items()}
            found |= {name: at for name, at in names.items() if len(name) > 2 and name.isalpha() and name not in found}
    return found


@cache
def _forms(language: str) -> tuple[re.Pattern[str], ...]:
    month = "|".join(sorted(map(re.escape, months(language)), key=len, reverse=True))
    forms = (
        r"\b(?P<year>\d{4})-(?P<month>[01]\d)-(?P<day>[0-3]\d)\b",
        r"(?P<year>\d{4})年(?:(?P<month>\d{1,2})月(?:(?P<day>\d{1,2})日)?)?",
        r"(?P<year>\d{4})년(?:\s?(?P<month>\d{1,2})월(?:\s?(?P<day>\d{1,2})일)?)?",
        rf"\b{_DAY}\s+(?:of\s+|de\s+)?(?P<name>{month})\.?,?\s+(?:de\s+|del\s+)?{_YEAR}\b",
        rf"\b(?P<name>{month})\.?\s+(?P<day>[0-3]?\d)(?:st|nd|rd|th)?\s?,?\s+{_YEAR}\b",
        rf"\b(?P<name>{month})\.?,?\s+(?:of\s+|de\s+|del\s+)?{_YEAR}\b",
        rf"\b{_DAY}\s+(?:of\s+|de\s+)?(?P<name>{month})\b",
        rf"\b(?P<name>{month})\.?\s+(?P<day>[0-3]?\d)(?:st|nd|rd|th)?\b(?![.,]?\d|\s?%)",
        r"\b(?P<one>[0-3]?\d)\.\s?(?P<month>[01]?\d)\.\s?(?P<year>\d{4})\b",
        r"\b(?P<one>[0-3]?\d)/(?P<other>[0-3]?\d)/(?P<year>\d{4})\b",
        r"\b(?P<year>1[0-9]\d{2}|20\d{2})(?:\s?[-–/]\s?(?P<until>\d{4}|\d{2}))\b(?![-–/]\d)",
        r"(?<![\w.,])(?P<decade>\d{3}0)(?:['’]?s|er(?:n|\b))(?!\w)|\b(?:années|años|los)\s(?P<decade2>\d{3}0)\b",
        r"\b(?P<century>\d{1,2})(?:st|nd|rd|th|\.|e|ème|º|°)[\s-](?:century|centuries|jahrhunderts?|siècle|secolo|século)\b",
        r"\b(?:(?:siglo|século)\s(?P<roman>[IVX]+)|(?P<roman2>[IVX]+)(?:e|ème|er|st|nd|rd|th|\.)?[\s-]"
        r"(?:century|centuries|jahrhunderts?|siècle|secolo))\b",
        r"(?<![\w.,/€$£-])(?P<year>1[0-9]\d{2}|20\d{2}|[1-9]\d{0,2}(?=\s(?:AD|BC|BCE|CE)\b))(?![\w%€$£]|[.,]\d|\s?(?:%|per ?cent))",
        rf"\b(?:in|since|until|by|of|early|late|mid|during|last|this|before|after|from|to|im|seit|en|depuis|desde|"
        rf"jusqu['’]en|hasta|bis|ab|anfang|ende|mitte|and|und|et|y|through)[\s-](?P<name>{month})\b(?!\s\w+\s(?:be|have))",
    )
    return tuple(re.compile(form, re.IGNORECASE) for form in forms)


@cache
def _not_a_year() -> re.Pattern[str]:
    """What is counted right behind four digits, at most one word away: `2000 metres`, `1500 older people`."""
    words = rf"(?!(?:{lang.alternatives('year_goes_on')})\b)(?:[^\W\d_]+\s)?(?:{lang.alternatives('counted')})\b"
    return re.compile(rf"\s{words}", re.IGNORECASE)


def missing(mine: When, theirs: tuple[When, ...]) -> bool:
    """Tell whether a time of a sentence is in none of the source's: as a whole, or year and day each somewhere."""
    if any(mine.same_year(one) and mine.same_day(one) for one in theirs):
        return False
    year = not mine.years or any(mine.same_year(one) for one in theirs)
    day = mine.month is None or any(mine.same_day(one) and not (mine.years and one.years) for one in theirs)
    if mine.years and not year and mine.last != mine.first:
        # A span may be told as its two ends.
        ends = {one.first for one in theirs} | {one.last for one in theirs}
        year = {mine.first, mine.last} <= ends
    return not (year and day)


def _when(text: str, match: re.Match[str], language: str) -> When | None:
    got = {name: value for name, value in match.groupdict().items() if value}
    start, end = match.span()
    if "name" in got and not (got.keys() & {"day", "year"}):
        start = match.start("name")
        if got["name"].casefold() in {"mar", "may", "mars", "march", "sep", "dec"} and not got["name"][:1].isupper():
            return None
    first, last = _years(text, got, end)
    if got.keys() == {"year"} and _not_a_year().match(text, end):
        return None
    month = months(language).get(got["name"].casefold().rstrip(".")) if "name" in got else _int(got.get("month"))
    day = _int(got.get("day"))
    swapped = False
    if "one" in got and "other" in got:
        one, other = _int(got["one"]) or 0, _int(got["other"]) or 0
        day, month = (other, one) if language == "en" and one <= 12 else (one, other)
        swapped = one <= 12 and other <= 12
    elif "one" in got:
        day = _int(got["one"])
    if (month is not None and not 1 <= month <= 12) or (day is not None and not 1 <= day <= 31):
        return None
    if era := _ERA.match(text, end):
        end = era.end()
    return When(first, last, month, day, " ".join(text[start:end].split()), start, end, swapped)


def _years(text: str, got: dict[str, str], end: int) -> tuple[int | None, int | None]:
    if "decade" in got or "decade2" in got:
        first = _int(got.get("decade") or got.get("decade2")) or 0
        return first, first + (99 if first % 100 == 0 and first < 2000 else 9)
    if "century" in got or "roman" in got or "roman2" in got:
        number = _int(got.get("century")) or _roman(got.get("roman") or got.get("roman2") or "")
        return 100 * (number - 1), 100 * number
    year = _int(got.get("year"))
    if year is None:
        return None, None
    if "until" in got:
        until = _int(got["until"]) or 0
        until += year // 100 * 100 if until < 100 else 0
        return (year, until) if year < until else (year, year)
    return (-year, -year) if _ERA.match(text, end) else (year, year)


def _int(digits: str | None) -> int | None:
    return int(digits) if digits else None


def _roman(letters: str) -> int:
    values = [_ROMAN[letter] for letter in letters.upper()]
    return sum(-one if any(later > one for later in values[at + 1 : at + 2]) else one for at, one in enumerate(values))
