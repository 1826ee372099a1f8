"""What numerals are worth: digits of every script and grouping, scale words, Chinese numerals, number words.

Figures in sentences: one reading for every spelling of a number, with its unit, bound and rate.

Digits of any script, grouped in any way (2,000, 2.000, 2 000, 12,34,567), scaled (0.5 billion, 352万, 3 lakh), number
words, Chinese numerals, percentages, ranges, ordinals and fractions. Dates are read by `agents.verify.dates` and left out.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal, NamedTuple

from text_to_num import find_numbers

from agents.nlp import lang
from agents.nlp.tokens import NUMBER_WORDS, ascii_digits, stop_words
from agents.verify.dates import dates

SPACE = "\u00a0\u202f\u2009 "
"""Character class of the spaces that group digits."""
_COMMA_IS_DECIMAL = frozenset("el id vi ro hu cs fi de fr es it pt nl da sv nb ru uk pl tr".split())
HAN_DIGITS = {sign: at for at, sign in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2, "兩": 2}
_HAN_PLACES = {"十": 10, "百": 100, "千": 1000}
_HAN_SCALES = {"万": 10**4, "萬": 10**4, "만": 10**4, "亿": 10**8, "億": 10**8, "억": 10**8, "兆": 10**12, "조": 10**12}
_HAN_COUNTERS = "个個人天日年月名位次座项項条條所家只隻艘篇岁歳回件本枚時时种種倍度分%％"
HAN = re.compile(
    rf"(?P<share>百分之)?(?P<han>[{''.join(HAN_DIGITS)}十百千][{''.join((*HAN_DIGITS, *_HAN_PLACES, *_HAN_SCALES))}]+"
    rf"|[{''.join(HAN_DIGITS)}十百千](?=[{_HAN_COUNTERS}]))"
)
_SCALED = re.compile(rf"\s?(?P<scale>[{''.join(_HAN_SCALES)}])(?P<rest>\d[\d.,]*)?")
_SCALE = re.compile(rf"[{SPACE}-]?(?P<scale>[^\W\d_]+(?:[\u0900-\u0963\u0e31-\u0e4e][^\W\d_]*)*)\.?")


def readings(written: str, language: str) -> tuple[float, ...]:
    """Give the values that digits with their marks may have, the likelier one first."""
    plain = re.sub(rf"[{SPACE}'’]", "", written)
    marks = re.findall(r"[.,]", plain)
    if not marks:
        return (float(plain),)
    as_grouped = float(re.sub(r"[.,]", "", plain))
    last = max(plain.rfind("."), plain.rfind(","))
    as_decimal = float(re.sub(r"[.,]", "", plain[:last]) + "." + (plain[last + 1 :] or "0"))
    if re.fullmatch(r"\d{1,2}(?:,\d{2})+,\d{3}", plain):
        return (as_grouped,)  # 12,34,567 in India
    if len(set(marks)) > 1 or not re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", plain):
        return (as_decimal,)
    if len(marks) > 1 or as_decimal < 1:
        return (as_grouped,) if len(marks) > 1 else (as_decimal,)
    native = "." if language in _COMMA_IS_DECIMAL else ","
    return (as_grouped, as_decimal) if marks[0] == native else (as_decimal, as_grouped)


def scaled(text: str, end: int, language: str, *, is_money: bool) -> tuple[float, int, float]:
    """Read `million`, `crore` or 万 behind a number: the factor, where it ends, and what is added (3亿5000万)."""
    if han := _SCALED.match(text, end):
        factor, end, rest = float(_HAN_SCALES[han["scale"]]), han.end("scale"), 0.0
        if han["rest"]:
            small, after, more = scaled(text, han.end(), language, is_money=False)
            rest, end = readings(han["rest"], language)[0] * small + more, after
        return factor, end, rest
    word = _SCALE.match(text, end)
    if word is None:
        return 1.0, end, 0.0
    low = word["scale"].casefold()
    for table in (lang.table("scales", language), lang.table("scales", "en"), lang.table("scales", "common")):
        if low in table and (len(low) > 1 or is_money):
            return float(table[low]), word.end("scale"), 0.0
    return 1.0, end, 0.0


def han_value(numeral: str) -> float:
    """Give the value of a Chinese numeral, written by places (三百五十二万) or digit by digit (二〇二三)."""
    if not set(numeral) & {*_HAN_PLACES, *_HAN_SCALES}:
        return float("".join(str(HAN_DIGITS[sign]) for sign in numeral))  # 二〇二三
    total = part = digit = 0
    for sign in numeral:
        if sign in HAN_DIGITS:
            digit = HAN_DIGITS[sign]
        elif sign in _HAN_PLACES:
            part, digit = part + max(digit, 1) * _HAN_PLACES[sign], 0
        else:
            total, part, digit = total + max(part + digit, 1) * _HAN_SCALES[sign], 0, 0
    return float(total + part + digit)


class Spoken(NamedTuple):
    """A number written as words: its value and the words that it takes."""

    value: float
    ordinal: bool
    first: int
    end: int


class _Token:
    """A word as the reader of number words takes it."""

    def __init__(self, written: str) -> None:
        self.written = written

    def text(self) -> str:
        return self.written

    def nt_separated(self, previous: "_Token") -> bool:
        return False

    def not_a_number_part(self) -> bool:
        return False


def spoken(words: Sequence[str], language: str) -> Iterator[Spoken]:
    """Read the numbers among words, by the rules of the language, or of English where it is not known."""
    known = language if language in NUMBER_WORDS else "en"
    for one in find_numbers([_Token("-" if word in "-‐–" else word) for word in words], known, 0.0):
        yield Spoken(float(one.value), bool(one.is_ordinal), one.start, one.end)


def counted(word: str, language: str) -> int:
    """Give the value of a word for a small number, as in `two thirds`; 1 for any other."""
    found = next(spoken([word], language), None) if word else None
    return int(found.value) if found and not found.ordinal and found.value < 10 else 1


Kind = Literal["amount", "ordinal", "fraction"]
Bound = Literal["", "least", "most"]
Role = Literal["", "from", "to", "by"]

_NUMBER = rf"\d{{1,3}}(?:[{SPACE}'’]\d{{3}})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)*"
_DIGITS = re.compile(
    rf"(?P<money>[€$£¥₹]|\b(?:EUR|USD|GBP|CHF|JPY|INR|Rs\.?|US\$)\s?)?\s?(?P<sign>(?<![\w)])[-−+±~≈<>≤≥](?=[\d.,€$£]))?\s?"
    rf"(?P<number>(?<![A-Za-zÀ-ɏ_\d.,])(?:{_NUMBER}))"
)
_RANGE = re.compile(
    rf"(?:\s?[-–—~]\s?|\s(?P<word>to|and|bis|und|à|et|a|y|or|oder|ou|o)\s)(?P<high>{_NUMBER})(?![\w])", re.IGNORECASE
)
_RANGE_OPENS = re.compile(r"(?:\bfrom|\bbetween|\bzwischen|\bvon|\bde|\bentre|\bdel?)\s*$", re.IGNORECASE)
_RANGE_LINKS = frozenset("and bis und à et a y".split())
_ORDINAL_END = re.compile(r"(?:st|nd|rd|th|ère|er|re|nde|e|ème|º|ª|\.º)(?!\w)|\.(?=\s[a-zà-ü])", re.IGNORECASE)
_CODE = re.compile(r"[A-Za-zÀ-ɏ]\d|[A-Za-zÀ-ɏ]{1,2}[-/]\d")
_UNIT = re.compile(
    rf"[{SPACE}-]{{0,2}}(?:d['’]|de\s)?(?P<unit>[%‰]|°\s?[CF]?|[€$£¥₹]|[^\W\d_]+[²³2]?(?:/[^\W\d_]+)?)(?!['’])"
)
_WORD = re.compile(r"[^\W\d_]+")
_AFTER = re.compile(r"[\s-]+([^\W\d_]+(?:['’-][^\W\d_]+)*)")
_PER = re.compile(
    r"(?:[\s-]+[^\W\d_]+){0,3}?\s*(?:/\s?|\b(?:per|an?|each|every|pro|je|par|por|al?)\s)(?P<time>[^\W\d_]+)", re.I
)
_CLOCK = re.compile(
    r"(?<![\w.:])(?P<hour>[0-2]?\d)(?:(?:[:.](?P<minute>[0-5]\d))?\s?(?P<half>[ap])\.?\s?m\b\.?|:(?P<minute2>[0-5]\d)(?![\d:]))",
    re.IGNORECASE,
)
_IS_PART = re.compile(r"\s+(?:of|der|des|von|de|del|des|du)\b", re.IGNORECASE)
_ROLE_SIGNS = re.compile(r"(?P<to>[到至为為]\s*$)|(?P<by>[增减減升降涨漲跌加少]了\s*$)")
_LONGEST = 24  # signs; what is longer is an identifier
_LOOSE = 5  # "more than 100" says too little of 600
_LOOK_BACK = 24  # characters before a number that are searched for "more than" and the like


class _Unit(NamedTuple):
    dimension: str
    factor: float
    name: str


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
            return units()[self.unit].dimension
        return "people" if any(lang.cue("people").fullmatch(noun) for noun in self.nouns) else ""

    @property
    def base(self) -> float:
        """Value in the base unit of its dimension."""
        if self.unit == "fahrenheit":
            return (self.low - 32) / 1.8
        return self.low * (units()[self.unit].factor if self.unit else 1)

    @property
    def is_range(self) -> bool:
        """Whether it has two ends."""
        return self.low != self.high

    @property
    def values(self) -> tuple[float, ...]:
        """All readings of the signs."""
        return (self.low, *self.others)

    def equals(self, other: "Figure") -> bool:
        """Tell whether both are the same number in the same or a convertible unit, or one gives no unit."""
        if (self.kind == "ordinal") != (other.kind == "ordinal"):
            return False
        if self.unit and other.unit and self.unit != other.unit:
            rounded = 0.5 if self.dimension == "degree" else 0.0
            same = math.isclose(self.base, other.base, rel_tol=0.006, abs_tol=rounded)
            return self.dimension == other.dimension and same and not self.is_range and not other.is_range
        return any(math.isclose(a, b, rel_tol=1e-9) for a in self.values for b in other.values) and math.isclose(
            self.high - self.low, other.high - other.low, rel_tol=1e-6, abs_tol=1e-9
        )

    def rounds(self, other: "Figure") -> bool:
        """Tell whether this is a coarser way to write `other`: 59 for 58.6, about 1,200 for 1,240."""
        if not same_slot(self, other) or self.low == 0 or self.is_range or other.is_range:
            return False
        mine, yours = (self.base, other.base) if self.unit and other.unit else (self.low, other.low)
        if self.about:
            return abs(mine - yours) <= 0.05 * abs(mine)
        return yours != int(yours) and abs(self.low) >= 10 and round(yours) == mine

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
    nouns, others = ({noun[:6] for noun in figure.nouns} for figure in (one, other))
    return not nouns or not others or one.nouns[0][:5] == other.nouns[0][:5] or bool(nouns & others)


@cache
def units() -> dict[str, _Unit]:
    """Give every form of a unit with what it measures, its size in the dimension's base, and its name."""
    found: dict[str, _Unit] = {}
    for name, dimension, factor, *forms in lang.rows("units"):
        unit = _Unit(dimension, float(factor), name)
        for form in (name, *forms):
            found.setdefault(form, unit)
            for ending in ("s", "es", "e", "n", "en") if len(form) > 2 and form.isalpha() else ():
                found.setdefault(form + ending, unit)
    return found


@cache
def _long_units() -> tuple[tuple[re.Pattern[str], str], ...]:
    table = lang.table("long_units", "common")
    return tuple((re.compile(rf"(?:{pattern})(?!\w)"), name) for name, pattern in table.items())


@lru_cache(maxsize=4_096)
def figures(text: str, language: str = "en", without_dates: bool = True) -> tuple[Figure, ...]:
    """Read the numbers of `text` in order; those of dates and years are left out unless they are wanted too."""
    plain = ascii_digits(text)
    taken = [(when.start, when.end) for when in dates(text, language)] if without_dates else []
    found: list[Figure] = []
    for reader in (_clocks, _written_in_digits, _written_in_han, _fractions, _written_in_words):
        for figure in reader(plain, taken, language):
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
        value, shown = float(60 * hour + minute), match.group().strip()
        yield Figure(
            value, value, (), "clock", (), "amount", "", False, "", "", False, shown, match.start(), match.end()
        )


def _written_in_digits(text: str, taken: Sequence[tuple[int, int]], language: str) -> Iterator[Figure]:
    position = 0
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
    if len(written) > _LONGEST or (text[end : end + 1].isalpha() and _CODE.match(text, end)):
        return None  # a code, not an amount
    likely = readings(written, language)
    mark = _ORDINAL_END.match(text, end)
    if mark and written.isdigit() and (mark[0] != "." or language == "de"):
        return _figure(text, start, mark.end(), likely[:1], "", "ordinal", language)
    span, width = _RANGE.match(text, end), 0.0
    if span and _is_range(text, start, span):
        width, end = readings(span["high"], language)[0] - likely[0], span.end()
        likely = likely[:1]
    factor, end, rest = scaled(text, end, language, is_money=bool(match["money"]))
    sign = -1 if match["sign"] in {"-", "−"} else 1
    unit, end = _unit(text, end, match["money"] or "")
    values = tuple(sign * (value * factor + rest) for value in likely)
    return _figure(text, start, end, values, unit, "amount", language, match["sign"] or "", width * factor)


def _is_range(text: str, start: int, span: re.Match[str]) -> bool:
    word = (span["word"] or "").casefold()
    if not word:
        return True
    return word in _RANGE_LINKS and bool(_RANGE_OPENS.search(text[max(0, start - _LOOK_BACK) : start]))


def _unit(text: str, end: int, money: str) -> tuple[str, int]:
    if known := units().get(money.strip().rstrip(".").casefold()):
        return known.name, end
    ahead = text[end : end + 40]
    gap = len(ahead) - len(ahead.lstrip(f"{SPACE}-"))
    for pattern, name in _long_units():
        if match := pattern.match(ahead.casefold(), gap):
            return name, end + match.end()
    short = _UNIT.match(text, end)
    if short is None:
        return "", end
    word = short["unit"].casefold().replace("²", "2").replace("³", "3").replace(" ", "")
    entry = units().get(word)
    if entry and (len(word) > 1 or not word.isalpha() or short["unit"].islower()):
        return entry.name, short.end()
    return "", end


def _written_in_han(text: str, taken: Sequence[tuple[int, int]], language: str) -> Iterator[Figure]:
    """Read Chinese and Japanese numerals; a single one only where it counts something."""
    for match in HAN.finditer(text):
        if not _is_free(match.start(), match.end(), taken) or not set(match["han"]) & {*HAN_DIGITS, *"十百千"}:
            continue
        if text[match.start() - 1 : match.start()].isdigit():
            continue
        kind: Kind = "ordinal" if text[match.start() - 1 : match.start()] == "第" else "amount"
        unit, end = ("%", match.end()) if match["share"] else _unit(text, match.end(), "")
        yield _figure(text, match.start(), end, (han_value(match["han"]),), unit, kind, language)


def _fractions(text: str, taken: Sequence[tuple[int, int]], language: str) -> Iterator[Figure]:
    """Read `half of`, `two thirds`, `ein Drittel` as shares of a hundred; a third turbine is none."""
    table = lang.table("fractions", language)
    if not table:
        return
    before = ""
    for match in re.finditer(r"[^\W\d_]+", text):
        word, count = match[0].casefold(), counted(before, language)
        if word in table and (
            word in lang.words("halves") or _IS_PART.match(text, match.end()) or (count > 1 and word.endswith("s"))
        ):
            start = match.start() if count == 1 else text.casefold().rfind(before, 0, match.start())
            value = 100 * count * float(table[word])
            if _is_free(start, match.end(), taken):
                yield _figure(text, start, match.end(), (value,), "%", "fraction", language)
        before = word


def _written_in_words(text: str, taken: Sequence[tuple[int, int]], language: str) -> Iterator[Figure]:
    """Read numbers that are written as words, by text2num; `a dozen` and numerals of kings beside them."""
    matches = list(re.finditer(r"[^\W_]+|[^\w\s]", text))
    words = [match[0] if _is_free(match.start(), match.end(), taken) else "," for match in matches]
    known = language if language in NUMBER_WORDS else "en"
    ones = lang.words("ones", known)
    dozens = lang.table("dozens", known)
    for at, word in enumerate(words):
        if word.casefold() in dozens:
            count = counted(words[at - 1].casefold(), known) if at else 1
            start = at - 1 if count > 1 else at
            value = count * float(dozens[word.casefold()])
            words[start] = words[at] = ","
            yield _figure(text, matches[start].start(), matches[at].end(), (value,), "", "amount", language)
    for one in spoken(words, known):
        first, last = matches[one.first], matches[one.end - 1]
        written = text[first.start() : last.end()]
        if any(sign.isdigit() for sign in written):
            continue
        start, end = first.start(), last.end()
        value = one.value
        if not one.ordinal and value < 1_000:  # `three lakh`: a scale that the reader of words does not know
            factor, end, _ = scaled(text, end, language, is_money=False)
            value *= factor
        unit, end = ("", end) if one.ordinal else _unit(text, end, "")
        weak = written.casefold() in ones and not unit
        kind: Kind = "ordinal" if one.ordinal else "amount"
        yield _figure(text, start, end, (value,), unit, kind, language, weak=weak)


def _figure(
    text: str, start: int, end: int, values: tuple[float, ...], unit: str, kind: Kind, language: str, sign: str = "",
    width: float = 0.0, *, weak: bool = False,
) -> Figure:  # fmt: skip
    before = text[max(0, start - _LOOK_BACK) : start]
    bound: Bound = "least" if _ends_with("least", before) or sign in {">", "≥"} else ""
    bound = "most" if _ends_with("most", before) or sign in {"<", "≤"} else bound
    nouns: list[str] = []
    at, stops = end, stop_words(language)
    while len(nouns) < 3 and (word := _AFTER.match(text, at)) and word[1].casefold() not in stops:
        nouns.append(word[1].casefold())
        at = word.end()
    shown = " ".join(text[start:end].split())
    if not unit and kind == "amount":
        shown = " ".join((shown, *nouns[:1]))
    rate = _PER.match(text, end)
    time = units().get(rate["time"].casefold()) if rate else None
    per = time.name if time and time.dimension in {"time", "span"} else ""
    about = _ends_with("about", before) or sign in {"~", "≈", "±"}
    low, high = values[0], values[0] + (math.copysign(width, values[0]) if width else 0.0)
    role = _role(before)
    return Figure(low, high, values[1:], unit, tuple(nouns), kind, bound, about, role, per, weak, shown, start, end)


@cache
def _ending(key: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{lang.alternatives(key)})\s*$", re.IGNORECASE)


def _ends_with(key: str, before: str) -> bool:
    return bool(_ending(key).search(before))


def _role(before: str) -> Role:
    """Tell whether the words in front of a number make it the start, the end or the size of a change."""
    signs = _ROLE_SIGNS.search(before)
    if _ends_with("from", before):
        return "from"
    if _ends_with("to", before) or (signs and signs["to"]):
        return "to"
    return "by" if _ends_with("by", before) or signs else ""
