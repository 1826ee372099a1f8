"""Three hundred pairs of figures in ten scripts: the same in another spelling is the same, and another one is another."""

import random
from collections.abc import Callable, Iterator

import pytest

from agents.verify.figures import figures


def digits(zero: str) -> Callable[[str], str]:
    """Write digits in those of a script, given by its zero."""
    return lambda written: "".join(
        chr(ord(zero) + int(sign)) if sign.isascii() and sign.isdigit() else sign for sign in written
    )


def han(number: int) -> str:
    """Write a number below 10,000 in Chinese."""
    signs, out, gap = "零一二三四五六七八九", "", False
    for place, unit in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // place % 10
        if digit:
            out += ("零" if gap else "") + signs[digit] + unit
        gap = bool(out) and not digit
    return out


def indian(number: int) -> str:
    """Group as in India: 12,34,567."""
    text = str(number)
    head, tail = text[:-3], text[-3:]
    pairs = [head[max(0, at - 2) : at] for at in range(len(head), 0, -2)][::-1]
    return ",".join((*pairs, tail)) if pairs else tail


Spelling = Callable[[int], str]
plain: Spelling = str
commas: Spelling = "{:,}".format
WAYS: dict[str, tuple[str, str, tuple[Spelling, ...]]] = {
    "Latin, English": ("en", "It rose to {} people that year.", (plain, commas, lambda n: commas(n).replace(",", "\u202f"))),
    "Latin, German": ("de", "Es stieg auf {} Menschen an.", (plain, lambda n: commas(n).replace(",", "."), lambda n: commas(n).replace(",", " "))),
    "Latin, French": ("fr", "Le total est de {} habitants.", (plain, lambda n: commas(n).replace(",", "\u00a0"), lambda n: commas(n).replace(",", "\u202f"))),
    "Arabic": ("ar", "بلغ العدد {} نسمة.", (lambda n: digits("٠")(str(n)), lambda n: digits("٠")(commas(n).replace(",", "٬")), plain)),
    "Persian": ("fa", "تعداد {} نفر است.", (lambda n: digits("۰")(str(n)), lambda n: digits("۰")(commas(n).replace(",", "٬")), commas)),
    "Devanagari": ("hi", "कुल {} लोग आए।", (lambda n: digits("०")(str(n)), lambda n: digits("०")(indian(n)), indian)),
    "Bengali": ("bn", "মোট {} জন এসেছে।", (lambda n: digits("০")(str(n)), lambda n: digits("০")(indian(n)), plain)),
    "Thai": ("th", "มีจำนวน {} คน", (lambda n: digits("๐")(str(n)), lambda n: digits("๐")(commas(n)), commas)),
    "Chinese": ("zh", "共有{}人。", (lambda n: han(n), plain, commas)),
    "Full width": ("ja", "合計{}人です。", (lambda n: digits("０")(str(n)), lambda n: digits("０")(commas(n)).replace(",", "，"), plain)),
}  # fmt: skip


def agree(one: str, two: str, language: str) -> bool:
    """Tell whether two sentences give the same figures, and any at all."""
    mine, yours = figures(one, language), figures(two, language)
    return bool(mine) and len(mine) == len(yours) and all(a.equals(b) for a, b in zip(mine, yours, strict=True))


def pairs() -> Iterator[tuple[str, str, str, str, bool]]:
    chance = random.Random(16)
    for name, (language, frame, spellings) in WAYS.items():
        for at in range(30):
            number = chance.randrange(2_100, 9_999) if name == "Chinese" else chance.randrange(2_100, 9_999_999)
            same = at % 2 == 0
            other = number if same else number + chance.choice((1, 10, 100, -1, -10, 1000))
            if name == "Chinese" and not 1_000 <= other < 10_000:
                other = number - 1
            one, two = chance.sample(spellings, 2)
            yield name, language, frame.format(one(number)), frame.format(two(other)), same


def test_there_are_three_hundred() -> None:
    assert len(list(pairs())) == 300


@pytest.mark.parametrize("name", WAYS)
def test_a_figure_in_another_spelling_is_the_same_and_another_figure_is_not(name: str) -> None:
    wrong = [
        (one, two, [figure.values for sentence in (one, two) for figure in figures(sentence, language)])
        for script, language, one, two, same in pairs()
        if script == name and (agree(one, two, language) is not same or not figures(one, language))
    ]
    assert not wrong


@pytest.mark.parametrize(
    ("one", "two", "language", "same"),
    [
        ("It is 5 % of all.", "It is 5% of all.", "en", True),
        ("It is 5 percent of all.", "It is 5 per cent of all.", "en", True),
        ("It is 5 percent of all.", "It is 5% of all.", "en", True),
        ("It cost 0.5 billion crowns.", "It cost 500 million crowns.", "en", True),
        ("It cost 0.5 billion crowns.", "It cost 50 million crowns.", "en", False),
        ("Es kostete 1,5 Millionen Kronen.", "Es kostete 1.500.000 Kronen.", "de", True),
        ("Three lakh people came.", "300,000 people came.", "en", True),
        ("It cost 2.5 crore rupees.", "It cost 25,000,000 rupees.", "en", True),
        ("共有352万人。", "共有3,520,000人。", "zh", True),
        ("共有三百五十二万人。", "共有352万人。", "zh", True),
        ("共有三百五十二万人。", "共有三百五十三万人。", "zh", False),
        ("共有3亿人。", "共有300,000,000人。", "zh", True),
        ("It holds 10⁶ litres.", "It holds 106 litres.", "en", False),
        ("It fell to −12.5 degrees.", "It fell to 12.5 degrees.", "en", False),
        ("It gained 13.1 dB.", "It gained 3.1 dB.", "en", False),
    ],
)
def test_scales_shares_and_signs(one: str, two: str, language: str, same: bool) -> None:
    assert agree(one, two, language) is same
    assert figures(one, language)
