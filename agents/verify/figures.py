"""Figures in sentences: one reading for every spelling of a number, with its unit, bound and rate.

Digits of any script, grouped in any way (2,000, 2.000, 2 000, 12,34,567), scaled (0.5 billion, 352万, half a million), with
powers of ten, number words, Chinese numerals, percentages, ranges, ordinals and fractions. Dates are read by
`agents.verify.dates` and left out.
"""

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from agents.nlp import lang
from agents.nlp.tokens import ascii_digits, stem, stop_words
from agents.verify.dates import dates
from agents.verify.numerals import (
    HAN,
    SPACE,
    counted,
    han_value,
    long_units,
    raised,
    readings,
    scale_words,
    scaled,
    small_number,
    spoken,
    units,
)  # fmt: skip

Kind = Literal["amount", "ordinal", "fraction"]
Bound = Literal["", "least", "most"]
Role = Literal["", "from", "to", "by"]

_NUMBER = rf"\d{{1,3}}(?:[{SPACE}'’]\d{{3}})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)*"
_DIGITS = re.compile(
    rf"(?P<money>[€$£¥₹]|\b(?:EUR|USD|GBP|CHF|JPY|INR|Rs\.?|US\$|yüzde|Yüzde)\s?|ร้อยละ\s?|(?<!\d)(?<!\d\s)%(?=\d))?\s?(?P<sign>(?<![\w)])(?:(?:\+/[-−]|[-−+±~≈<>≤≥])(?=[\d.,€$£])|±(?=\s))|(?<!\d\s)\b(?:minus|moins)(?=\s\d))?\s?"
    rf"(?P<number>(?<![A-Za-zÀ-ɏ_\d.,])(?:{_NUMBER})|(?<!\w)[¼-¾⅐-⅞](?=\s))"
)
_RANGE = re.compile(
    rf"(?:[^\S\n]?[-–—~]\s?|\s(?P<word>to|and|bis|und|à|et|a|y|or|oder|ou|o)\s)(?P<high>{_NUMBER})(?![\w])",
    re.IGNORECASE,
)
_RANGE_OPENS = re.compile(r"(?:\bfrom|\bbetween|\bzwischen|\bvon|\bde|\bentre|\bdel?)\s*$", re.IGNORECASE)
_RANGE_LINKS = frozenset("and bis und à et a y".split())
_ORDINAL_END = re.compile(r"(?:st|nd|rd|th|ère|er|re|nde|e|ème|º|ª|\.º)(?!\w)|\.(?=\s[a-zà-ü])", re.IGNORECASE)
_VULGAR = re.compile(r"\s?([¼-¾⅐-⅞])|\s(\d)\u2044(\d{1,2})(?!\d)")
_UNIT = re.compile(
    rf"[{SPACE}-]{{0,2}}(?:d['’]|de\s)?(?P<unit>[%‰]|°\s?[CF]?|[€$£¥₹]|[^\W\d_]+[²³2]?(?:/[^\W\d_]+)?)(?!['’])"
)
_AFTER = re.compile(r"[\s-]+([^\W\d_]+(?:['’-][^\W\d_]+)*)")
_PER = re.compile(
    r"(?:(?:[\s-]+[^\W\d_]+){0,3}?\s*(?:/\s?|\b(?:per|each|every|pro|je|par|por|al)\s)|(?:[\s-]+[^\W\d_]+)?\s+an?\s)"
    r"(?P<thing>[^\W\d_]+(?:\s(?:metre|meter|m[eè]tre|metro)s?\b)?)",
    re.I,
)
_CLOCK = re.compile(
    r"(?<![\w.:])(?P<hour>[0-2]?\d)(?:(?:[:.](?P<minute>[0-5]\d))?\s?(?P<half>[ap])\.?\s?m\b\.?|:(?P<minute2>[0-5]\d)(?![\d:]))",
    re.IGNORECASE,
)
_IS_PART = re.compile(r"\s+(?:of|der|des|von|de|del|des|du)\b", re.IGNORECASE)
_ROLE_SIGNS = re.compile(r"(?P<to>[到至为為]\s*$)|(?P<by>[增减減升降涨漲跌加少]了\s*$)")
_HIGH_POINT = re.compile(r"(?<=\d)·(?=\d)(?!10[\^⁰-⁹⁻])")  # of a decimal, as British journals set it
_LISTED = re.compile(
    r"\d+(?:-\d+){2,}|\b[A-Z]{1,6}\d*-\d+(?![\d.,]*\s?%)"
)  # an ISBN, a telephone number, COVID-19: no amounts
_VERSION = re.compile(r"(?:\b(?:version|release|v)\.?|\b[A-Z][a-z]+)\s$|\bv$")
_VERSIONED = re.compile(r"(?!\d{1,3}(?:\.\d{3})+$)(?:\d+\.\d+0|\d+(?:\.\d+){2,})")  # 3.10 is not 3.1 there
_LOOSE = 5  # "more than 100" says too little of 600
_LOOK_BACK = 24  # characters before a number that are searched for "more than" and the like


@dataclass(frozen=True)
class Figure:
    """A number with what it counts."""

    low: float
    high: float
    """Equal to `low` but in a range."""
    others: tuple[float, ...]
    """Other values that the same signs have in another country's spelling: 1.234 is 1234 in Germany."""
    unit: str
    """Name of a unit; empty for a bare count."""
    nouns: tuple[str, ...]
    """Casefolded words that follow, at most three; they say what is counted."""
    kind: Kind
    bound: Bound
    about: bool
    role: Role
    """Whether a change is told from this value, to it, or by so much."""
    per: str
    """What it is told for one of: `year` for 4 tonnes a year, `hectare` for 61,000 euros per hectare; empty for a whole."""
    weak: bool
    """A word for one, which is an article as often."""
    shown: str
    start: int
    end: int

    @property
    def dimension(self) -> str:
        """What the unit measures; `people` for counts of persons; empty when unknown."""
        if self.unit:
            return units()[self.unit].dimension
        return "people" if any(lang.cue("people").fullmatch(noun) for noun in self.nouns) else ""

    @property
    def measure(self) -> str:
        """Its unit, else what it counts; may be empty."""
        return self.unit or next(iter(self.nouns), "").rstrip("s")

    @property
    def base(self) -> float:
        """Value in the base unit of its dimension."""
        if self.unit == "fahrenheit":
            return (self.low - 32) / 1.8
        return self.low * (units()[self.unit].factor if self.unit else 1)

    def equals(self, other: "Figure") -> bool:
        """Tell whether both are the same number in the same or a convertible unit, or one gives no unit.

        What counts things is no share: 73 boats are not 73 % of them.
        """
        counts = (not one.unit and one.nouns and two.unit == "%" for one, two in ((self, other), (other, self)))
        if (self.kind == "ordinal") != (other.kind == "ordinal") or any(counts):
            return False
        if self.unit and other.unit and self.unit != other.unit:
            rounded = 0.5 if self.dimension == "degree" else 0.0
            same = math.isclose(self.base, other.base, rel_tol=0.006, abs_tol=rounded)
            return same and self.dimension == other.dimension and self.low == self.high and other.low == other.high
        mine, theirs = (self.low, *self.others), (other.low, *other.others)
        return any(math.isclose(a, b, rel_tol=1e-9) for a in mine for b in theirs) and math.isclose(
            self.high - self.low, other.high - other.low, rel_tol=1e-6, abs_tol=1e-9
        )

    def rounds(self, other: "Figure") -> bool:
        """Tell whether this is a coarser way to write `other`: 59 for 58.6, about 1,200 for 1,240."""
        if not same_slot(self, other) or self.low == 0 or self.low != self.high or other.low != other.high:
            return False
        mine, yours = (self.base, other.base) if self.unit and other.unit else (self.low, other.low)
        if self.about:
            return abs(mine - yours) <= 0.05 * abs(mine)
        return yours != int(yours) and abs(self.low) >= 10 and round(yours) == mine

    def allows(self, other: "Figure") -> bool:
        """Tell whether "more than" or "at most" this number holds for `other`."""
        if not self.bound or not same_slot(self, other):
            return False
        if other.bound and other.bound != self.bound:
            return False
        small, large = sorted((abs(self.base), abs(other.base)))
        if large > _LOOSE * small:
            return False  # true, and misleading
        return other.base >= self.base if self.bound == "least" else other.base <= self.base


def same_slot(one: Figure, other: Figure) -> bool:
    """Tell whether two figures count the same kind of thing: what one hectare costs is no sum of all that was paid."""
    if one.per != other.per:
        return False
    if one.kind == "ordinal" or other.kind == "ordinal":
        return one.kind == other.kind
    if one.dimension or other.dimension:
        return one.dimension == other.dimension
    nouns, others = ({noun[:6] for noun in figure.nouns} for figure in (one, other))
    return not nouns or not others or one.nouns[0][:5] == other.nouns[0][:5] or bool(nouns & others)


@lru_cache(maxsize=4_096)
def figures(text: str, language: str = "en", without_dates: bool = True) -> tuple[Figure, ...]:
    """Read the numbers of `text` in order; those of dates and years are left out unless they are wanted too."""
    plain = _HIGH_POINT.sub(".", ascii_digits(text))
    taken = [(when.start, when.end) for when in dates(text, language)] if without_dates else []
    found: list[Figure] = []
    for reader in _READERS:
        for figure in reader(plain, taken, language):
            if _is_free(figure.start, figure.end, taken):
                found.append(figure)
                taken.append((figure.start, figure.end))
    return tuple(sorted(found, key=lambda one: one.start))


def _is_free(start: int, end: int, taken: Iterable[tuple[int, int]]) -> bool:
    return not any(first < end and start < last for first, last in taken)


def _clocks(text: str, taken: Sequence[tuple[int, int]], language: str) -> Iterator[Figure]:
    """Read times of the day as minutes since midnight."""
    for match in _CLOCK.finditer(text):
        hour, minute = int(match["hour"]), int(match["minute"] or match["minute2"] or 0)
        if match["half"]:
            hour = hour % 12 + (12 if match["half"] in "pP" else 0)
        yield _figure(text, *match.span(), (float(60 * hour + minute),), "clock", "amount", language)


def _written_in_digits(text: str, taken: Sequence[tuple[int, int]], language: str) -> Iterator[Figure]:
    position = 0
    taken = [*taken, *(match.span() for match in _LISTED.finditer(text))]
    while match := _DIGITS.search(text, position):
        position = match.end()
        if not _is_free(match.start("number"), match.end(), taken):
            continue
        if figure := _from_digits(text, match, language):
            yield figure
            position = max(position, figure.end)


def _from_digits(text: str, match: re.Match[str], language: str) -> Figure | None:
    written, end = match["number"], match.end()
    start = match.start() + len(match[0]) - len(match[0].lstrip())
    if not written[0].isdigit():
        return _figure(text, start, end, (100 * unicodedata.numeric(written),), "%", "fraction", language)
    likely, powered = raised(text, end, written, readings(written, language)[:1])
    sign = -1 if (match["sign"] or "").casefold() in {"-", "−", "minus", "moins"} else 1
    if powered > end:
        unit, end = _unit(text, powered, match["money"] or "")
        return _figure(text, start, end, (sign * likely[0],), unit, "amount", language, match["sign"] or "")
    likely = readings(written, language)
    if vulgar := _VULGAR.match(text, end):
        part = unicodedata.numeric(vulgar[1]) if vulgar[1] else int(vulgar[2]) / max(1, int(vulgar[3]))
        likely, end = (likely[0] + part,), vulgar.end()
    named = _VERSION.search(text[max(0, start - _LOOK_BACK) : start]) if _VERSIONED.fullmatch(written) else None
    if (
        named
        and named[0].strip().casefold() not in stop_words(language)
        and _unit(text, end, match["money"] or "") == ("", end)
    ):
        parts = sum(int(one) / 1000**at for at, one in enumerate(written.split(".")))
        return _figure(text, start, end, (parts,), "", "ordinal", language)
    mark = _ORDINAL_END.match(text, end)
    if mark and written.isdigit() and (mark[0] != "." or language == "de"):
        return _figure(text, start, mark.end(), likely[:1], "", "ordinal", language)
    span, width = _RANGE.match(text, end), 0.0
    if span and _is_range(text, start, span):
        width, end = readings(span["high"], language)[0] - likely[0], span.end()
        likely = likely[:1]
    factor, end, rest = scaled(text, end, language, is_money=bool(match["money"]))
    unit, end = _unit(text, end, match["money"] or "")
    values = tuple(sign * (value * factor + rest) for value in likely)
    return _figure(text, start, end, values, unit, "amount", language, match["sign"] or "", width * factor)


def _is_range(text: str, start: int, span: re.Match[str]) -> bool:
    word = (span["word"] or "").casefold()
    opened = _RANGE_OPENS.search(text[max(0, start - _LOOK_BACK) : start])
    if not word or (word in {"to", "bis", "à"} and not opened):
        return True  # `from 5 to 10` may tell a change, `5 to 10 days` does not
    return word in _RANGE_LINKS and bool(opened)


def _unit(text: str, end: int, money: str) -> tuple[str, int]:
    if known := units().get(money.strip().rstrip(".").casefold()):
        return known.name, end
    ahead = text[end : end + 40]
    gap = len(ahead) - len(ahead.lstrip(f"{SPACE}-"))
    for pattern, name in long_units():
        if match := pattern.match(ahead.casefold(), gap):
            return name, end + match.end()
    short = _UNIT.match(text, end)
    if short is None:
        return "", end
    word = short["unit"].casefold().replace("²", "2").replace("³", "3").replace(" ", "")
    if word[0] > "\u2e7f":  # 352万元左右: no space parts it from what follows
        ahead = next((word[:size] for size in (2, 1) if word[:size] in units()), "")
        return (units()[ahead].name, short.start("unit") + len(ahead)) if ahead else ("", end)
    entry = units().get(short["unit"]) or units().get(word)  # Gb is not GB
    if entry and (len(word) > 1 or not word.isalpha() or short["unit"].islower()):
        return entry.name, short.end()
    return "", end


def _written_in_han(text: str, taken: Sequence[tuple[int, int]], language: str) -> Iterator[Figure]:
    """Read Chinese and Japanese numerals; a single one only where it counts something."""
    for match in HAN.finditer(text):
        before = text[match.start() - 1 : match.start()]
        if before.isdigit():
            continue
        kind: Kind = "ordinal" if before == "第" else "amount"
        point = match["point"] or ""
        value = han_value(match["han"]) + (han_value(point) / 10 ** len(point) if point else 0)
        unit, end = _unit(text, match.end(), "")
        if match["whole"]:  # 百分之三十, 三分之一
            value, unit, end = 100 * value / (han_value(match["whole"]) or 100), "%", match.end()
        yield _figure(text, match.start(), end, (value,), unit, kind, language)


def _parts_of_scales(text: str, taken: Sequence[tuple[int, int]], language: str) -> Iterator[Figure]:
    """Read `half a million`, `half a dozen`, `two and a half million`, and `two and a half hours`."""
    for match in _of_a_scale().finditer(text):
        whole = (match["whole"] or "").casefold()
        count = small_number(whole, language)
        whole = whole if count else ""
        start = match.start() if whole or not match["whole"] else match.start("part")
        value = count + float(lang.table("parts", "common")[match["part"].casefold()])
        scale, end = (match["scale"] or "").casefold(), match.end()
        tables = (lang.table("dozens", language), *scale_words(language))
        size = next((one[scale] for one in tables if len(scale) > 2 and scale in one), 0.0)
        unit, end = _unit(text, end, "") if size else _unit(text, match.start("scale") - 1 if scale else end, "")
        if size or unit or (whole and value % 1) or value > 1:
            yield _figure(text, start, end, (value * (size or 1),), unit, "amount", language)


@cache
def _of_a_scale() -> re.Pattern[str]:
    parts, one = "|".join(lang.table("parts", "common")), r"(?:(?:an?|eine?[rnsm]?|un[ea]?)[\s-])?"
    return re.compile(
        rf"(?:\b(?P<whole>\w+)[\s-](?:and|und|et|y|e)[\s-])?{one}\b(?P<part>{parts})\b"
        rf"(?:(?:[\s-](?:of|de|di))?[\s-]{one}(?P<scale>[^\W\d_]+))?",
        re.IGNORECASE,
    )


_SHARE = re.compile(
    r"\b(?P<part>\w+)\s(?:in(?:\severy)?|out\sof(?:\severy)?|de\scada|ogni)\s(?P<whole>\w+)\b(?!\s(?:\w+\s)?(?:days?|weeks?|months?|years?|hours?|minutes?)\b)"
    r"|(?<![\d/.,])(?<!\d\s)(?P<part2>\d)(?:\u2044|/(?=\d+\s(?:of|der|des|de|di|du)\b))(?P<whole2>\d{1,2})(?!\d)",
    re.IGNORECASE,
)
_FOLD = re.compile(r"\b(?P<word>[^\W\d_]{3,9}?)-?(?:fold|fach\w{0,2})\b", re.IGNORECASE)


def _one_in_so_many(text: str, taken: Sequence[tuple[int, int]], language: str) -> Iterator[Figure]:
    """Read `1 in 5`, `three out of four` and `2/3 of` as shares of a hundred."""
    for match in _SHARE.finditer(text):
        written = (match["part"] or match["part2"], match["whole"] or match["whole2"])
        part, whole = (small_number(one, language) for one in written)
        if 0 < part < whole <= 1_000:
            yield _figure(text, match.start(), match.end(), (100 * part / whole,), "%", "fraction", language)


def _folds(text: str, taken: Sequence[tuple[int, int]], language: str) -> Iterator[Figure]:
    """Read `twofold` as two times."""
    for match in _FOLD.finditer(text):
        if value := small_number(match["word"].casefold(), language):
            yield _figure(text, match.start(), match.end(), (value,), "", "amount", language)


def _fractions(text: str, taken: Sequence[tuple[int, int]], language: str) -> Iterator[Figure]:
    """Read `half of`, `two thirds`, `ein Drittel` as shares of a hundred; a third turbine is none."""
    table, before = lang.table("fractions", language), ""
    for match in re.finditer(r"[^\W\d_]+", text):
        word, count = match[0].casefold(), counted(before, language)
        if word in table and (
            word in lang.words("halves") or _IS_PART.match(text, match.end()) or (count > 1 and word.endswith("s"))
        ):
            is_counted = count > 1 or before in lang.words("ones", language)
            start = text.casefold().rfind(before, 0, match.start()) if is_counted else match.start()
            yield _figure(text, start, match.end(), (100 * count * float(table[word]),), "%", "fraction", language)
        before = word


def _written_in_words(text: str, taken: Sequence[tuple[int, int]], language: str) -> Iterator[Figure]:
    """Read numbers that are written as words, by text2num; `a dozen` and numerals of kings beside them."""
    matches = list(re.finditer(r"[^\W_]+|[^\w\s]", text))
    covered = {at for start, end in taken for at in range(start, end)}
    words = ["," if match.start() in covered else match[0] for match in matches]
    ones, dozens = lang.words("ones", language), lang.table("dozens", language)
    for at, word in enumerate(words):
        if word.casefold() in dozens:
            count = counted(words[at - 1].casefold(), language) if at else 1
            start, value = at - 1 if count > 1 else at, count * float(dozens[word.casefold()])
            words[start] = words[at] = ","
            yield _figure(text, matches[start].start(), matches[at].end(), (value,), "", "amount", language)
    before: Figure | None = None
    for value, is_ordinal, first, last in spoken(words, language):
        start, end = matches[first].start(), matches[last - 1].end()
        written = text[start:end]
        value *= -1 if first and words[first - 1].casefold() in {"minus", "moins"} else 1
        if any(map(str.isdigit, written)) or (before and start < before.end):  # the cent of pour cent
            continue
        if not is_ordinal and value < 1_000:  # `three lakh`: a scale that the reader of words does not know
            factor, end, _ = scaled(text, end, language, is_money=False)
            value *= factor
        unit, end = ("", end) if is_ordinal else _unit(text, end, "")
        weak = written.casefold() in ones and not unit
        kind: Kind = "ordinal" if is_ordinal else "amount"
        figure = _figure(text, start, end, (value,), unit, kind, language, weak=weak)
        is_low = before and not (before.unit or before.role) and before.kind == kind and before.low < value
        if before and is_low and _TO.fullmatch(text[before.end : start]):  # `six to eleven years`
            figure = _figure(text, before.start, end, (before.low,), unit, kind, language, width=value - before.low)
        elif before:
            yield before
        before = figure
    if before:
        yield before


_TO = re.compile(r"\s(?:to|bis|à)\s")


def _figure(
    text: str, start: int, end: int, values: tuple[float, ...], unit: str, kind: Kind, language: str, sign: str = "",
    width: float = 0.0, *, weak: bool = False,
) -> Figure:  # fmt: skip
    before = text[max(0, start - _LOOK_BACK) : start]
    bound: Bound = "least" if ends_with("least", before) or sign in {">", "≥"} else ""
    bound = "most" if ends_with("most", before) or sign in {"<", "≤"} else bound
    nouns: list[str] = []
    at, stops = end, stop_words(language)
    while len(nouns) < 3 and (word := _AFTER.match(text, at)) and word[1].casefold() not in stops:
        nouns.append(word[1].casefold())
        at = word.end()
    shown = " ".join(text[start:end].split())
    if not unit and kind == "amount":
        shown = " ".join((shown, *nouns[:1]))
    rate = _PER.match(text, end)
    thing = rate["thing"].casefold() if rate else ""
    per = "" if thing in stops else known.name if (known := units().get(thing)) else stem(thing)
    about = ends_with("about", before) or sign in {"~", "≈", "±"}
    low, high = values[0], values[0] + (math.copysign(width, values[0]) if width else 0.0)
    role = _role(before)
    return Figure(low, high, values[1:], unit, tuple(nouns), kind, bound, about, role, per, weak, shown, start, end)


@lru_cache(maxsize=16_384)
def ends_with(key: str, before: str) -> bool:
    """Tell whether words end with one of a list: `more than` before a number."""
    return bool(re.search(rf"\b(?:{lang.alternatives(key)})\s*$", before, re.IGNORECASE))


def _role(before: str) -> Role:
    """Tell whether the words in front of a number make it the start, the end or the size of a change."""
    signs = _ROLE_SIGNS.search(before)
    if ends_with("from", before):
        return "from"
    if ends_with("to", before) or (signs and signs["to"]):
        return "to"
    return "by" if ends_with("by", before) or signs else ""


_READERS = (
    _clocks, _one_in_so_many, _parts_of_scales, _written_in_digits, _written_in_han, _fractions, _folds, _written_in_words,
)  # fmt: skip
