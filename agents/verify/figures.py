"""Numbers in sentences: amounts with units, percentages, ranges, ordinals, fractions, number words, any script.

Dates and years are read by `agents.verify.dates`, which takes its part of the text first.
"""

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from agents.nlp.tokens import stop_words
from agents.verify import numerals
from agents.verify.dates import dates

Kind = Literal["amount", "ordinal", "fraction"]
Bound = Literal["", "least", "most"]
Role = Literal["", "from", "to", "by"]

_NUMBER = r"\d{1,3}(?:[ \u2009'’]\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)*"
_TOKEN = re.compile(
    rf"(?P<before>[€$£¥₹]|\b(?:EUR|USD|GBP|CHF|JPY|US\$)\s?)?\s?(?P<sign>(?<![\w)])[-−+±~≈<>≤≥](?=[\d.,€$£]))?\s?"
    rf"(?P<number>(?<![A-Za-zÀ-ɏ_\d.,])(?:{_NUMBER}))"
    r"|(?P<word>[^\W\d_]+(?:-[^\W\d_]+)*)"
)
_RANGE = re.compile(
    rf"(?:\s?[-–—~]\s?|\s(?:to|and|bis|und|à|et|a|y|or|oder|ou|o)\s)(?P<high>{_NUMBER})(?![\w])", re.IGNORECASE
)
_RANGE_OPENS = re.compile(r"(?:\bfrom|\bbetween|\bzwischen|\bvon|\bde|\bentre|\bdel?)\s*$", re.IGNORECASE)
_ORDINAL_END = re.compile(r"(?:st|nd|rd|th|ère|er|re|nde|e|ème|º|ª|\.º)(?!\w)|\.(?=\s[a-zà-ü])", re.IGNORECASE)
_SCALE = re.compile(r"\s?(?P<scale>[^\W\d_]+)")
_UNIT = re.compile(
    r"[\s\u2009-]{0,2}(?:d['’]|de\s)?(?P<unit>%|‰|°\s?[CF]?|[€$£¥₹]|[^\W\d_]+[²³2]?(?:/[^\W\d_]+)?)(?!['’])"
)
_WORDS_AFTER = re.compile(r"[\s-]+([^\W\d_]+(?:['’-][^\W\d_]+)*)")
_ABOUT = re.compile(
    r"\b(?:about|around|roughly|approximately|nearly|almost|some|circa|ca\.?|close to|just (?:over|under)|rund|etwa|"
    r"ungefähr|knapp|fast|gut|environ|près de|presque|quelque|cerca de|unos|unas|aproximadamente|casi|alrededor de)\s*$",
    re.IGNORECASE,
)
_LEAST = re.compile(
    r"\b(?:more than|over|above|at least|no (?:less|fewer) than|in excess of|exceed(?:s|ed|ing)?|mehr als|über|"
    r"mindestens|plus de|au moins|más de|al menos|por lo menos)\s*$",
    re.IGNORECASE,
)
_MOST = re.compile(
    r"\b(?:less than|fewer than|under|below|at most|no more than|up to|weniger als|unter|höchstens|bis zu|moins de|"
    r"au plus|jusqu['’]à|menos de|como máximo|hasta)\s*$",
    re.IGNORECASE,
)
_FROM = re.compile(
    r"\b(?:from|against|compared (?:with|to)|instead of|von|gegenüber|statt|contre|desde|frente a)\s*$", re.I
)
_BY = re.compile(r"\b(?:by|um)\s*$|[增减減升降涨漲跌加少]了\s*$", re.IGNORECASE)
_PER = re.compile(
    r"(?:[\s-]+[^\W\d_]+){0,3}?\s*(?:/\s?|\b(?:per|an?|each|every|pro|je|par|por|al?)\s)(?P<time>[^\W\d_]+)",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    r"(?<![\w.:])(?P<hour>[0-2]?\d)(?:(?:[:.](?P<minute>[0-5]\d))?\s?(?P<half>[ap])\.?\s?m\b\.?|:(?P<minute2>[0-5]\d)(?![\d:]))",
    re.IGNORECASE,
)
_TO = re.compile(r"\b(?:to|auf|à|until|bis|hasta|a)\s*$|[到至为為]\s*$", re.IGNORECASE)
_LONGEST = 24  # signs; what is longer is an identifier
_LOOSE = 5  # "more than 100" says too little of 600
_LOOK_BACK = 24  # characters before a number that are searched for "more than" and the like
_PEOPLE = re.compile(
    r"(?:people|persons?|residents?|inhabitants?|respondents?|participants?|patients?|men|women|workers?|volunteers?|"
    r"members?|citizens?|households?|personen|menschen|einwohner\w*|befragten?|teilnehm\w+|personnes?|habitants?|"
    r"personas|habitantes|encuestados|participantes)"
)


@dataclass(frozen=True)
class Figure:
    """A number with what it counts."""

    low: float
    high: float
    """Equal to `low` but in a range."""
    others: tuple[float, ...]
    """Other values that the same signs have in another country's spelling: 1.234 is 1234 in Germany."""
    unit: str
    """Name in `numerals.UNITS`; empty for a bare count."""
    nouns: tuple[str, ...]
    """Casefolded words that follow, at most three; they say what is counted."""
    kind: Kind
    bound: Bound
    about: bool
    role: Role
    """Whether a change is told from this value, to it, or by so much."""
    per: str
    """Unit of time that it is a rate of: `year` for 4 tonnes a year; empty when it is none."""
    weak: bool
    """A word for one, which is an article as often."""
    shown: str
    start: int
    end: int

    @property
    def dimension(self) -> str:
        """What the unit measures; `people` for counts of persons; empty when unknown."""
        if self.unit:
            return numerals.UNITS[self.unit][0]
        return "people" if any(_PEOPLE.fullmatch(noun) for noun in self.nouns) else ""

    @property
    def base(self) -> float:
        """Value in the base unit of its dimension."""
        if self.unit == "fahrenheit":
            return (self.low - 32) / 1.8
        return self.low * (numerals.UNITS[self.unit][1] if self.unit else 1)

    @property
    def is_range(self) -> bool:
        """Whether it has two ends."""
        return self.low != self.high

    def equals(self, other: "Figure") -> bool:
        """Tell whether both are the same number in the same or a convertible unit, or one gives no unit."""
        if (self.kind == "ordinal") != (other.kind == "ordinal"):
            return False
        if self.unit and other.unit and self.unit != other.unit:
            mine, yours = self.dimension, other.dimension
            rounded = 0.5 if mine == "degree" else 0.0
            same = math.isclose(self.base, other.base, rel_tol=0.006, abs_tol=rounded)
            return mine == yours and same and not self.is_range and not other.is_range
        return any(math.isclose(a, b, rel_tol=1e-9) for a in self.values() for b in other.values()) and math.isclose(
            self.high - self.low, other.high - other.low, rel_tol=1e-6, abs_tol=1e-9
        )

    def values(self) -> tuple[float, ...]:
        """All readings of the signs."""
        return (self.low, *self.others)

    def rounds(self, other: "Figure") -> bool:
        """Tell whether this is a coarser way to write `other`: 59 for 58.6, about 1,200 for 1,240."""
        if not same_slot(self, other) or self.low == 0 or self.low != self.high or other.low != other.high:
            return False
        mine, yours = (self.base, other.base) if self.unit and other.unit else (self.low, other.low)
        gap = abs(mine - yours) / abs(mine)
        if self.about:
            return gap <= 0.05
        digits = len(str(int(abs(self.low))))
        return yours != int(yours) and digits >= 2 and round(yours) == mine

    def allows(self, other: "Figure") -> bool:
        """Tell whether "more than" or "at most" this number holds for `other`."""
        if not self.bound or not same_slot(self, other) or self.kind != other.kind:
            return False
        if other.bound and other.bound != self.bound:
            return False
        small, large = sorted((abs(self.base), abs(other.base)))
        if large > _LOOSE * small:
            return False  # true, and misleading
        return other.base >= self.base if self.bound == "least" else other.base <= self.base


def same_slot(one: Figure, other: Figure) -> bool:
    """Tell whether two figures count the same kind of thing."""
    if one.kind == "ordinal" or other.kind == "ordinal":
        return one.kind == other.kind
    if one.dimension or other.dimension:
        return one.dimension == other.dimension
    return (
        not one.nouns
        or not other.nouns
        or one.nouns[0][:5] == other.nouns[0][:5]
        or bool({noun[:6] for noun in one.nouns} & {noun[:6] for noun in other.nouns})
    )


@lru_cache(maxsize=4_096)
def figures(text: str, language: str = "en") -> tuple[Figure, ...]:
    """Read the numbers of `text` in order; those of dates and years are left out."""
    taken = [(when.start, when.end) for when in dates(text, language)]
    found = [_clock(match) for match in _CLOCK.finditer(text)]
    taken += [(one.start, one.end) for one in found]
    position = 0
    while match := _TOKEN.search(text, position):
        position = match.end()
        number_at = match.start("number") if match["number"] else match.start()
        if span := next((span for span in taken if span[0] <= number_at < span[1]), None):
            position = max(position, span[1])
            continue
        figure = _digits(text, match, language) if match["number"] else _words(text, match, language)
        if figure:
            found.append(figure)
            position = max(position, figure.end)
    return tuple(sorted(found, key=lambda one: one.start))


def _clock(match: re.Match[str]) -> Figure:
    """Read a time of the day as minutes since midnight."""
    hour, minute = int(match["hour"]), int(match["minute"] or match["minute2"] or 0)
    if match["half"]:
        hour = hour % 12 + (12 if match["half"] in "pP" else 0)
    value = float(60 * hour + minute)
    return Figure(
        value,
        value,
        (),
        "clock",
        (),
        "amount",
        "",
        False,
        "",
        "",
        False,
        match.group().strip(),
        match.start(),
        match.end(),
    )


def _digits(text: str, match: re.Match[str], language: str) -> Figure | None:
    written = match["number"]
    end = match.end()
    if len(written) > _LONGEST:
        return None
    if text[end : end + 1].isalpha() and re.match(r"[^\W\d_]\d|[^\W\d_]{1,2}[-/]\d", text[end:]):
        return None  # a code, not an amount
    readings = _readings(written, language)
    low = readings[0]
    high = low
    mark = _ORDINAL_END.match(text, end)
    if mark and written.isdigit() and (mark[0] != "." or language == "de"):
        return _made(text, match.start(), mark.end(), low, low, (), "", "ordinal", language)
    if (span := _RANGE.match(text, end)) and _is_range(text, match.start(), span):
        high = _readings(span["high"], language)[0]
        readings, end = (low,), span.end()
    factor, end = _scaled(text, end, language, bool(match["before"]))
    if match["sign"] in {"-", "−"}:
        readings = tuple(-value for value in readings)
        low, high = -low, -high
    unit, end = _unit(text, end, match["before"] or "")
    others = tuple(value * factor for value in readings[1:])
    return _made(text, match.start(), end, low * factor, high * factor, others, unit, "amount", language, match["sign"])


def _is_range(text: str, start: int, span: re.Match[str]) -> bool:
    if span[0].strip()[:1] in "-–—~":
        return True
    return bool(_RANGE_OPENS.search(text[max(0, start - _LOOK_BACK) : start])) and not span[
        0
    ].strip().lower().startswith(("to", "auf", "or", "oder", "ou ", "o "))


def _readings(written: str, language: str) -> tuple[float, ...]:
    plain = "".join(str(unicodedata.digit(sign)) if sign.isdigit() else sign for sign in written)
    plain = re.sub(r"[ \u00a0\u202f\u2009'’]", "", plain)
    marks = re.findall(r"[.,]", plain)
    if not marks:
        return (float(plain),)
    last = max(plain.rfind("."), plain.rfind(","))
    as_decimal = float(re.sub(r"[.,]", "", plain[:last]) + "." + (plain[last + 1 :] or "0"))
    as_grouped = float(re.sub(r"[.,]", "", plain))
    grouped = re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", plain) and len(set(marks)) == 1
    if not grouped:
        return (as_decimal,)
    if len(marks) > 1:
        return (as_grouped,)
    native = "," if language in {"en", "zh", "ja", "ko", "he"} else "."
    return (as_grouped, as_decimal) if marks[0] == native else (as_decimal, as_grouped)


def _scaled(text: str, end: int, language: str, is_money: bool) -> tuple[float, int]:
    scale = _SCALE.match(text, end)
    if scale is None:
        return 1.0, end
    word = scale["scale"].casefold()
    size = numerals.MULTIPLIERS.get(language, {}).get(word) or numerals.MULTIPLIERS["en"].get(word)
    if size and not (language == "fr" and word in {"cent", "cents"}) and word != "hundred":
        return float(size), scale.end()
    if word[0] in "万萬億亿兆만억":
        return float(numerals.SHORT_SCALES[word[0]]), scale.start("scale") + 1
    if word in numerals.SHORT_SCALES and (len(word) > 1 or is_money):
        return float(numerals.SHORT_SCALES[word]), scale.end()
    return 1.0, end


def _unit(text: str, end: int, before: str) -> tuple[str, int]:
    ahead = text[end : end + 40]
    if money := numerals.UNITS.get(before.strip().casefold()):
        return money[2], end
    gap = len(ahead) - len(ahead.lstrip(" \u00a0\u2009-"))
    name, length = numerals.long_unit(ahead[gap:].casefold())
    if name:
        return name, end + gap + length
    match = _UNIT.match(text, end)
    if match is None:
        return "", end
    word = match["unit"].casefold().replace("²", "2").replace("³", "3").replace(" ", "")
    entry = numerals.UNITS.get(word)
    if entry and (len(word) > 1 or not word.isalpha() or match["unit"].islower()):
        return entry[2], match.end()
    return "", end


def _words(text: str, match: re.Match[str], language: str) -> Figure | None:
    first = match["word"].casefold()
    ahead = [(first, match.start(), match.end())]
    if "-" in first:
        ahead = _pieces(match["word"], match.start())
        first = ahead[0][0]
    known = numerals.VALUES.get(language, numerals.VALUES["en"])
    multipliers = numerals.MULTIPLIERS.get(language, numerals.MULTIPLIERS["en"])
    ordinals = numerals.ORDINALS.get(language, {})
    if fraction := _fraction(text, match, language):
        return fraction
    if first in ordinals:
        return _made(text, match.start(), ahead[0][2], ordinals[first], ordinals[first], (), "", "ordinal", language)
    starts = first in known or first in multipliers or (language == "de" and numerals.german(first) is not None)
    if not starts:
        return None
    for more in re.finditer(r"\s*[\s-]([^\W\d_]+)", text[match.end() : match.end() + 60]):
        begin = match.end() + more.start(1)
        if more.start() + match.end() != ahead[-1][2]:
            break
        ahead.append((more[1].casefold(), begin, begin + len(more[1])))
    value, count = numerals.compose([word for word, _, _ in ahead], language)
    if not count or (count < len(ahead) and ahead[count][0] in numerals.FRACTIONS.get(language, {})):
        return None  # two thirds
    end = ahead[count - 1][2]
    unit, end = _unit(text, end, "")
    weak = first in numerals.WEAK and count == 1 and not unit
    return _made(text, match.start(), end, value, value, (), unit, "amount", language, weak=weak)


def _pieces(word: str, start: int) -> list[tuple[str, int, int]]:
    return [(piece[0].casefold(), start + piece.start(), start + piece.end()) for piece in re.finditer(r"[^-]+", word)]


def _fraction(text: str, match: re.Match[str], language: str) -> Figure | None:
    """Read `half of`, `two thirds`, `ein Drittel`; a third turbine is none."""
    table = numerals.FRACTIONS.get(language, {})
    word = match["word"].casefold()
    head, _, tail = word.partition("-")
    after = text[match.end() : match.end() + 12]
    if tail in table and head in numerals.VALUES.get(language, {}):
        share = numerals.VALUES[language][head] * table[tail]
    elif word in table and (word in {"half", "hälfte", "moitié", "mitad", "drittel", "viertel"} or _is_part(after)):
        before = re.search(r"([^\W\d_]+)\s*$", text[: match.start()])
        count = numerals.VALUES.get(language, {}).get(before[1].casefold() if before else "", 1)
        share = count * table[word]
    else:
        return None
    return _made(text, match.start(), match.end(), 100 * share, 100 * share, (), "%", "fraction", language)


def _is_part(after: str) -> bool:
    return bool(re.match(r"\s+(?:of|der|des|von|de|del|des|du)\b", after, re.IGNORECASE))


def _made(
    text: str, start: int, end: int, low: float, high: float, others: Sequence[float], unit: str, kind: Kind,
    language: str, sign: str | None = None, *, weak: bool = False,
) -> Figure:  # fmt: skip
    before = text[max(0, start - _LOOK_BACK) : start]
    bound: Bound = "least" if _LEAST.search(before) or sign in {">", "≥"} else ""
    bound = "most" if _MOST.search(before) or sign in {"<", "≤"} else bound
    nouns: list[str] = []
    at = end
    stops = stop_words(language)
    while len(nouns) < 3 and (word := _WORDS_AFTER.match(text, at)) and word[1].casefold() not in stops:
        nouns.append(word[1].casefold())
        at = word.end()
    shown = " ".join(text[start:end].split())
    if not unit and kind == "amount":
        unit, words = _later_unit(nouns)
        shown = " ".join((shown, *nouns[: words or 1]))
    role = _role(before)
    rate = _PER.match(text, end)
    time = numerals.UNITS.get(rate["time"].casefold()) if rate else None
    per = time[2] if time and time[0] in {"time", "span"} else ""
    about = bool(_ABOUT.search(before)) or sign in {"~", "≈", "±"}
    return Figure(low, high, tuple(others), unit, tuple(nouns), kind, bound, about, role, per, weak, shown, start, end)


def _role(before: str) -> Role:
    """Tell whether the words in front of a number make it the start, the end or the size of a change."""
    if _FROM.search(before):
        return "from"
    if _TO.search(before):
        return "to"
    return "by" if _BY.search(before) else ""


def _later_unit(nouns: Sequence[str]) -> tuple[str, int]:
    """`12 consecutive days` counts days: the unit and its place; only measures of time, and whole words, to be safe."""
    for at, noun in enumerate(nouns[:2], 1):
        entry = numerals.UNITS.get(noun)
        if entry and len(noun) > 2 and entry[0] in {"time", "span"}:
            return entry[2], at
    return "", 0
