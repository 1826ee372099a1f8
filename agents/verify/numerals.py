"""What numerals are worth: digits of every script and grouping, scale words, Chinese numerals, number words."""

import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from text_to_num import find_numbers

from agents.nlp import lang
from agents.nlp.tokens import LETTERED, MARKS

SPACE = "\u00a0\u202f\u2009 "
"""Character class of the spaces that group digits."""
_COMMA_IS_DECIMAL = frozenset("el id vi ro hu cs fi de fr es it pt nl da sv nb ru uk pl tr".split())
_COUNTING = "〇一二三四五六七八九两兩十百千"
_FORMAL = "零壹贰叁肆伍陆柒捌玖貳弐參参陸壱拾佰仟"
"""Digits as cheques and contracts have them, which nobody can alter; they count nothing by themselves."""
_HAN_SCALES = "万萬만亿億억兆조"
_HAN_COUNTERS = "个個人天日年月名位次座项項条條所家只隻艘篇岁歳回件本枚時时種种倍度分割%％"
HAN = re.compile(
    rf"(?:(?P<whole>[{_COUNTING}]{{1,4}})分[之の])?"
    rf"(?P<han>[{_COUNTING}{_FORMAL}][{_COUNTING}{_FORMAL}{_HAN_SCALES}]+"
    rf"|[{_COUNTING}](?=[{_HAN_COUNTERS}]|成(?![为為员員功立本果年熟长長就]))|(?<=分[之の])[{_COUNTING}])"
    rf"(?:[点點](?P<point>[{_COUNTING[:10]}]+)(?![十分]))?"
)
_NOT_IN_UNICODE = {"两": 2, "십": 10, "백": 100, "천": 1000, "만": 10**4, "억": 10**8, "조": 10**12}
_SCALED = re.compile(
    rf"\s?(?P<scale>[十百千십백천]?[{_HAN_SCALES}]|[百千백천])(?:\s(?=\d+[백천만]))?(?P<rest>\d[\d.,]*)?"
)
_ABBREVIATED = 5  # letters; shorter words of scale may have a full stop of their own
_SCALE = re.compile(rf"[{SPACE}-]?(?P<scale>(?:[^\W\d_]|[{MARKS}\u0e31-\u0e4e])+)\.?")


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


_POWER = re.compile(
    r"(?:\s?[×x·*]\s?10)?(?:\^(?P<by>[-−+]?\d{1,2})|(?P<signs>[⁻⁺]?[⁰¹²³⁴-⁹]{1,2})|(?<=[×x·*]\s10|.[×x·*]10)(?P<flat>[-−]\d{1,2}))(?!\w)|e(?P<e>[-−+]?\d{1,2})(?!\w)",
    re.IGNORECASE,
)
"""The power of ten behind a number: 3.2 × 10⁵, 3.2e5; with nothing between, that of the number itself: 10⁶."""


def raised(text: str, end: int, written: str, values: tuple[float, ...]) -> tuple[tuple[float, ...], int]:
    """Multiply a number by the power of ten behind it, and give where that ends; a mark of a note is none."""
    power = _POWER.match(text, end)
    if not power or not (power["e"] or "10" in power[0] or written == "10"):
        return values, end
    size = int(
        unicodedata.normalize("NFKC", power["by"] or power["signs"] or power["flat"] or power["e"]).replace("−", "-")
    )
    is_times = bool(power["e"]) or "10" in power[0]
    return tuple((value if is_times else 1) * 10.0**size for value in values), power.end()


def scaled(text: str, end: int, language: str, *, is_money: bool) -> tuple[float, int, float]:
    """Read `million`, `crore` or 万 behind a number: the factor, where it ends, and what is added (3亿5000万)."""
    if han := _SCALED.match(text, end):
        factor, end, rest = (float(math.prod(map(_worth, han["scale"]))), han.end("scale"), 0.0)
        if han["rest"]:
            small, after, more = scaled(text, han.end(), language, is_money=False)
            rest, end = readings(han["rest"], language)[0] * small + more, after
            factor *= 10_000 ** int(math.log(small, 10_000)) if factor < 10_000 else 1  # both of 8천3백만
        return factor, end, rest
    word = _SCALE.match(text, end)
    if word is None:
        return 1.0, end, 0.0
    low = word["scale"].casefold()
    for known in scale_words(language):
        if low in known and (len(low) > 1 or is_money or text[word.end() : word.end() + 1] in {*"€$£¥₹"}):
            return known[low], word.end() if len(low) < _ABBREVIATED else word.end("scale"), 0.0  # 2,5 Mio. Euro
        # Thai and its relatives write on without a space: ล้านคน.
        ahead = next((one for one in known if not one.isascii() and low.startswith(one)), "")
        if ahead and re.match(f"[{LETTERED}]", ahead):
            return known[ahead], word.start("scale") + len(ahead), 0.0
    return 1.0, end, 0.0


@cache
def scale_words(language: str) -> tuple[dict[str, float], ...]:
    """Give the words that multiply a number: of a language, of English, and of all."""
    tables = (lang.table("scales", one) for one in (language, "en", "common"))
    return tuple({name: float(value) for name, value in table.items()} for table in tables)


@cache
def _worth(sign: str) -> float:
    return float(_NOT_IN_UNICODE.get(sign) or unicodedata.numeric(sign))


def han_value(numeral: str) -> float:
    """Give the value of a Chinese numeral, written by places (三百五十二万) or digit by digit (二〇二三)."""
    if all(_worth(sign) < 10 for sign in numeral):
        return float("".join(f"{_worth(sign):.0f}" for sign in numeral))
    total = part = digit = 0.0
    for sign in numeral:
        value = _worth(sign)
        if value < 10:
            digit = value
        elif value < 10_000:
            part, digit = part + max(digit, 1) * value, 0
        else:
            total, part, digit = total + max(part + digit, 1) * value, 0, 0
    return total + part + digit


NUMBER_WORDS = ("en", "de", "fr", "es", "it", "pt", "nl", "da")
"""Languages whose number words are known."""


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


def spoken(words: Sequence[str], language: str) -> Iterator[tuple[float, bool, int, int]]:
    """Read the numbers among words, by the rules of the language, or of English where it is not known.

    Yields:
        Its value, whether it is an ordinal, the place of its first word, and the one past its last.
    """
    known = language if language in NUMBER_WORDS else "en"
    for one in find_numbers([_Token("-" if word in "-‐–" else word) for word in words], known, 0.0):
        yield float(one.value), bool(one.is_ordinal), one.start, one.end


def counted(word: str, language: str) -> int:
    """Give the value of a word for a small number, as in `two thirds`; 1 for any other."""
    value = 0.0 if word.isdecimal() else small_number(word, language)
    return int(value) if 0 < value < 10 else 1


@lru_cache(maxsize=8_192)
def small_number(written: str, language: str) -> float:
    """Give the value of a number in digits or words; 0 for any other word."""
    if written.isdecimal():
        return float(written)
    return next((value for value, is_ordinal, *_ in spoken([written], language) if not is_ordinal), 0.0)


_PREFIXES = {"n": 1e-9, "µ": 1e-6, "m": 1e-3, "c": 0.01, "d": 0.1, "h": 100.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


class _Unit(NamedTuple):
    dimension: str
    factor: float
    name: str


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
    for name, dimension, factor, *prefixes in lang.rows("si"):
        for prefix in prefixes:
            unit = _Unit(dimension, float(factor) * _PREFIXES[prefix], prefix + name)
            known = found.get(unit.name.casefold())
            if known is None or not math.isclose(known.factor, unit.factor):  # mW is not MW
                found |= {unit.name: unit, unit.name.replace("µ", "\u03bc"): unit}
    return found


@cache
def long_units() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Give the patterns of units of several words, each with the name of its unit."""
    table = lang.table("long_units", "common")
    return tuple((re.compile(rf"(?:{pattern})(?!\w)"), name) for name, pattern in table.items())
