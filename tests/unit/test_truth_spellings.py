"""One figure in many spellings is one figure; another figure stays another, in every script."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.verify.checks import carried, stance
from agents.verify.figures import figures
from agents.verify.quotes import find_quote


def same_figure(one, other):
    """Tell whether two texts give the same figures, in whatever spelling."""
    mine, theirs = (figures(text, "en", without_dates=False) for text in (one, other))
    return bool(mine) and len(mine) == len(theirs) and all(
        a.equals(b) and bool(a.unit) == bool(b.unit) for a, b in zip(mine, theirs, strict=True)
    )  # fmt: skip


SAME = [
    ("5%", "5 per cent"), ("5 %", "5 percent"), ("2,000", "2000"), ("2.000", "2000"), ("2 000", "2000"), ("2’000", "2000"),
    ("0.5 billion", "500 million"), ("3 lakh", "300,000"), ("5 crore", "50 million"), ("12,34,567", "1,234,567"),
    ("२,००० लोग", "2,000 people"), ("१२ लाख", "1.2 million"), ("٢٠٠٠", "2000"), ("١٢٫٥", "12.5"), ("١٬٢٠٠", "1200"),
    ("๒๐๐๐ คน", "2000"), ("5 ล้าน", "5,000,000"), ("３８％", "38 %"), ("352万", "三百五十二万"), ("3亿5000万", "350 million"),
    ("二〇二三", "2023"), ("百分之三十", "30%"), ("3 млн", "3 million"), ("twelve", "12"), ("two dozen", "24"),
    ("two hundred and forty-five", "245"), ("3 million", "3,000,000"),
]  # fmt: skip
OTHER = [
    ("三百五十二万", "三百五十三万"), ("352万", "352亿"), ("2,000", "2.5"), ("5%", "5"), ("5%", "5 percentage points"), ("−12.5", "12.5"),
    ("13.1 dB", "3.1 dB"), ("3 lakh", "3 crore"), ("१२ लाख", "१३ लाख"), ("٢٠٠٠", "٢٠٠١"), ("5 ล้าน", "5 แสน"), ("0.5 billion", "0.5 million"),
    ("2,000", "20,00"), ("18 centimetres", "18 inches"), ("twelve", "twenty"),
]  # fmt: skip
ZEROS = [0x0660, 0x06F0, 0x0966, 0x09E6, 0x0E50, 0x1040, 0xFF10]
"""Code points of nought in Arabic, Persian, Hindi, Bengali, Thai, Burmese and full-width figures."""


@pytest.mark.parametrize(("one", "other"), SAME)
def test_one_figure_in_two_spellings_is_the_same(one, other):
    assert same_figure(one, other)
    assert same_figure(other, one)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_two_figures_stay_two(one, other):
    assert not same_figure(one, other)
    assert not same_figure(other, one)


def han(number: int) -> str:
    """Write a number below 100,000,000 in Chinese."""
    digits = "零一二三四五六七八九"
    if number >= 10_000:
        high, low = divmod(number, 10_000)
        return han(high) + "万" + (("零" if low < 1_000 else "") + han(low) if low else "")
    written, gap = "", False
    for size, sign in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit, number = divmod(number, size)
        if digit:
            written += ("零" if gap and written else "") + digits[digit] + sign
            gap = False
        else:
            gap = True
    return written


@given(st.integers(10, 9_999_999), st.sampled_from(ZEROS))
def test_digits_of_every_script_have_one_value(number, zero):
    written = "".join(chr(zero + int(digit)) for digit in str(number))

    assert same_figure(written, str(number))
    assert not same_figure(written, str(number + 1))


@given(st.integers(1_000, 99_999_999), st.sampled_from([",", " ", "\u00a0", "\u202f", "’"]))
def test_grouped_digits_are_the_plain_ones(number, mark):
    assert same_figure(f"{number:,}".replace(",", mark), str(number))


@given(st.integers(11, 99_999_999))
def test_chinese_numerals_are_the_digits(number):
    assert same_figure(han(number), str(number))
    assert not same_figure(han(number), str(number + 1))


@given(st.integers(1, 999), st.integers(1, 9))
def test_a_scaled_figure_is_the_figure_in_full(whole, tenth):
    assert same_figure(f"{whole}.{tenth} million", str(whole * 10**6 + tenth * 10**5))
    assert same_figure(f"{whole}.{tenth} million", f"{whole * 1000 + tenth * 100} thousand")
    assert not same_figure(f"{whole}.{tenth} million", f"{whole}.{tenth} billion")


@pytest.mark.parametrize(
    ("quote", "source", "stands"),
    [
        ("There were 2000 people in the hall", "There were 2,000 people in the hall.", True),
        ("There were 2001 people in the hall", "There were 2,000 people in the hall.", False),
        ("It rose by 5% in the year", "It rose by 5 per cent in the year.", True),
        ("It costs 500 million euros today", "It costs 0.5 billion euros today.", True),
        ("共有352万人参加", "本次调查共有三百五十二万人参加。", True),
        ("共有353万人参加", "本次调查共有三百五十二万人参加。", False),
        ("water is H2O in the lab", "water is H₂O in the lab", True),
        ("an area of 12 km2 was burnt", "an area of 12 km² was burnt", True),
        ("value is 102 in all of", "value is 10² in all of", False),
        (
            "The line was closed on 12 days.",
            "The line was closed on\n\nAnnual report of the board 14\n\n12 days.",
            True,
        ),
        ("The rule was changed in 2021 by them", "The rule was\n\nnot yet\n\nchanged in 2021 by them", False),
    ],
)
def test_a_quote_may_spell_its_figures_in_another_way_and_may_not_change_them(quote, source, stands):
    assert bool(find_quote(quote, source)) is stands


@pytest.mark.parametrize(
    ("quote", "source"),
    [
        ("The level was 3.1 dB on average", "The level was 13.1 dB on average"),
        ("3.1 dB on average that day", "It was 13.1 dB on average that day"),
        ("safe for children under five", "It is unsafe for children under five"),
        ("12.5 degrees on that day", "It was −12.5 degrees on that day."),
        ("significant effect on mortality", "There was not a significant effect on mortality"),
        ("significant effect on mortality was found", "No significant effect on mortality was found"),
        ("Das Mittel wirkt bei Kindern", "Das Mittel wirkt bei Kindern nicht."),
        ("significante sur la mortalité", "Il n'y a pas de différence significante sur la mortalité"),
        ("开放该桥的计划", "未开放该桥的计划"),
    ],
)
def test_a_quote_is_cut_at_words_and_loses_neither_sign_nor_negation(quote, source):
    assert find_quote(quote, source) is None


def test_a_negation_of_another_clause_is_no_hindrance():
    assert find_quote("the bridge was safe and sound", "It was not cheap, but the bridge was safe and sound.")
    assert find_quote("the bridge was safe and sound", "Not only that: the bridge was safe and sound.")


@pytest.mark.parametrize(
    ("language", "sentence", "same", "other"),
    [
        ("zh", "该计划花费352万元。", "该计划花费三百五十二万元。", "该计划花费三百五十三万元。"),
        ("ja", "参加者は352万人だった。", "参加者は三百五十二万人だった。", "参加者は三百五十三万人だった。"),
        ("ko", "참가자는 352만 명이었다.", "참가자는 3,520,000명이었다.", "참가자는 3,530,000명이었다."),
        ("hi", "बजट में १२ लाख रुपये थे।", "बजट में 12,00,000 रुपये थे।", "बजट में 13,00,000 रुपये थे।"),
        ("ar", "بلغ عدد السكان ٢٬٠٠٠ نسمة.", "بلغ عدد السكان 2000 نسمة.", "بلغ عدد السكان 2001 نسمة."),
        ("fa", "جمعیت شهر ۲۰۰۰ نفر بود.", "جمعیت شهر 2,000 نفر بود.", "جمعیت شهر 2,100 نفر بود."),
        ("bn", "জনসংখ্যা ছিল ২০০০ জন।", "জনসংখ্যা ছিল 2000 জন।", "জনসংখ্যা ছিল 2001 জন।"),
        ("ta", "மக்கள் தொகை ௨௦௦௦ பேர்.", "மக்கள் தொகை 2000 பேர்.", "மக்கள் தொகை 2001 பேர்."),
        ("th", "มีผู้เข้าร่วม ๒๐๐๐ คน", "มีผู้เข้าร่วม 2,000 คน", "มีผู้เข้าร่วม 2,001 คน"),
        (
            "ru",
            "Население составило 2 тыс. человек.",
            "Население составило 2000 человек.",
            "Население составило 2100 человек.",
        ),
        ("he", "הגיעו 2,000 איש.", "הגיעו 2000 איש.", "הגיעו 2001 איש."),
        ("el", "Ήρθαν 2.000 άτομα.", "Ήρθαν 2000 άτομα.", "Ήρθαν 2001 άτομα."),
        ("de", "Es kamen 2.000 Menschen.", "Es kamen 2000 Menschen.", "Es kamen 2001 Menschen."),
        ("en", "It rose by 5%.", "It rose by 5 per cent.", "It rose by 6 per cent."),
        ("en", "It cost 0.5 billion euros.", "It cost 500 million euros.", "It cost 50 million euros."),
    ],
)
def test_support_and_stance_know_a_figure_in_another_spelling_and_no_other_figure(language, sentence, same, other):
    assert carried(sentence, [same], language=language).verdict == "supported"
    assert carried(sentence, [other], language=language).verdict != "supported"
    assert stance(sentence, same, language=language).stance == "supports"
    assert stance(sentence, other, language=language).stance != "supports"
