"""What numerals are worth: digits of every script and grouping, scale words, Chinese numerals, number words."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from text_to_num import find_numbers

from agents.nlp import lang
from agents.nlp.tokens import NUMBER_WORDS

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
    word = re.compile(rf"[{SPACE}-]?(?P<scale>[^\W\d_]+(?:[\u0900-\u0963\u0e31-\u0e4e][^\W\d_]*)*)\.?").match(text, end)
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
