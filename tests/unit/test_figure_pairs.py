"""Three hundred pairs of figures in ten scripts: the same in another spelling is the same, and another one is another."""

import random
from collections.abc import Callable, Iterator

import pytest

from agents.verify.dates import dates
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


NEIGHBOURS = [
    ("73 % of the boats sank.", "73 boats sank.", "en", False),
    ("Рост на 7,5 %.", "Рост на 7,5 п. п.", "ru", False),
    ("Частка 7,5 відсотка.", "Частка 7,5 %.", "uk", True),
    ("Yüzde 7,5 arttı.", "%7,5 arttı.", "tr", True),
    ("Yüzde 7,5 arttı.", "7,5 kişi arttı.", "tr", False),
    ("ร้อยละ 7.5 ของเรือ", "7.5% ของเรือ", "th", True),
    ("7,5 v. H. der Boote", "7,5 % der Boote", "de", True),
    ("4,75 εκατ. ευρώ", "4.750.000 ευρώ", "el", True),
    ("4,75 εκατ. ευρώ", "4,75 δισ. ευρώ", "el", False),
    ("মোট ২৫% মানুষ।", "মোট 25 % মানুষ।", "bn", True),
    ("বাজেট ৩ লক্ষ টাকা।", "বাজেট 3,00,000 টাকা।", "bn", True),
    ("বাজেট ৫ কোটি টাকা।", "বাজেট 5,00,00,000 টাকা।", "bn", True),
    ("বাজেট ৫ কোটি টাকা।", "বাজেট ৫ লক্ষ টাকা।", "bn", False),
    ("ประชากร ๖๙ ล้านคน", "ประชากร 69,000,000 คน", "th", True),
    ("ราคา ๒.๕ หมื่นบาท", "ราคา 25,000 บาท", "th", True),
    ("เพิ่มขึ้น ๑๒ เปอร์เซ็นต์", "เพิ่มขึ้น 12%", "th", True),
    ("共计壹佰贰拾叁元。", "共计123元。", "zh", True),
    ("共计壹佰贰拾叁元。", "共计132元。", "zh", False),
    ("金额为伍仟万元。", "金额为5000万元。", "zh", True),
    ("金額は壱万円です。", "金額は10,000円です。", "ja", True),
    ("参加者は一〇五人でした。", "参加者は105人でした。", "ja", True),
    ("二〇二三人参加。", "2023人参加。", "zh", True),
    ("参加者は三〇〇人でした。", "参加者は30人でした。", "ja", False),
    ("占三分之一。", "占四分之一。", "zh", False),
    ("增长了百分之十二点五。", "增长了12.5%。", "zh", True),
    ("约有两千人。", "约有2000人。", "zh", True),
    ("约有1.5亿人。", "约有1亿5000万人。", "zh", True),
    ("बजट 12,34,567 रुपये था।", "बजट 1234567 रुपये था।", "hi", True),
    ("बजट 2.5 करोड़ रुपये था।", "बजट 25 मिलियन रुपये था।", "hi", True),
    ("It cost 12,34,567 rupees.", "It cost 1,234,567 rupees.", "en", True),
    ("Es kostet 1’234.50 Franken.", "Es kostet 1234.50 Franken.", "de", True),
    ("Es kostet 1'234.50 Franken.", "Es kostet 1.234,50 Franken.", "de", True),
    ("Es kostet 1’234.50 Franken.", "Es kostet 1’234.05 Franken.", "de", False),
    ("Half a million people came.", "500,000 people came.", "en", True),
    ("Half a million people came.", "5,000,000 people came.", "en", False),
    ("A quarter of a million people came.", "250,000 people came.", "en", True),
    ("One and a half million people came.", "1.5 million people came.", "en", True),
    ("A dozen boats sank.", "12 boats sank.", "en", True),
    ("Half a dozen boats sank.", "6 boats sank.", "en", True),
    ("A dozen boats sank.", "10 boats sank.", "en", False),
    ("Eine halbe Million Menschen kam.", "500.000 Menschen kamen.", "de", True),
    ("Anderthalb Millionen Menschen kamen.", "1,5 Millionen Menschen kamen.", "de", True),
    ("Un demi-million de personnes.", "500 000 personnes.", "fr", True),
    ("Medio millón de personas.", "500.000 personas.", "es", True),
    ("Mezzo milione di persone.", "500.000 persone.", "it", True),
    ("It took 5–10 days.", "It took 5-10 days.", "en", True),
    ("It took 5–10 days.", "It took 5 to 10 days.", "en", True),
    ("It took between 5 and 10 days.", "It took 5–10 days.", "en", True),
    ("It took 5–10 days.", "It took 5–12 days.", "en", False),
    ("It took 5–10 days.", "It took 510 days.", "en", False),
    ("The error is ±5 mm.", "The error is +/- 5 mm.", "en", True),
    ("It was −5 °C cold.", "It was -5 °C cold.", "en", True),
    ("It was minus 5 degrees Celsius.", "It was −5 °C.", "en", True),
    ("It was −5 °C cold.", "It was 5 °C cold.", "en", False),
    ("The share is 5 ‰.", "The share is 0.5 %.", "en", True),
    ("The share is 5 ‰.", "The share is 5 %.", "en", False),
    ("The share is 5 per mille.", "The share is 5 ‰.", "en", True),
    ("It holds 400 ppm of it.", "It holds 0.04 % of it.", "en", True),
    ("It holds 400 ppm of it.", "It holds 400 ppb of it.", "en", False),
    ("The count was 3.2e5 cells.", "The count was 320,000 cells.", "en", True),
    ("The count was 3.2 × 10^5 cells.", "The count was 320,000 cells.", "en", True),
    ("The count was 3.2×10⁵ cells.", "The count was 320,000 cells.", "en", True),
    ("The count was 3.2e5 cells.", "The count was 3.2e6 cells.", "en", False),
    ("The count was 10⁶ cells.", "The count was one million cells.", "en", True),
    ("The size is 2.5 × 10⁻³ m.", "The size is 2.5 mm.", "en", True),
    ("It was 20 °C warm.", "It was 20 °F warm.", "en", False),
    ("It was 20 °C warm.", "It was 68 °F warm.", "en", True),
    ("It was 20 °C warm.", "It was 20 degrees Celsius warm.", "en", True),
    ("It was 1 in 5 of them.", "It was 20 % of them.", "en", True),
    ("One in five people left.", "20 % of people left.", "en", True),
    ("One in five people left.", "One in six people left.", "en", False),
    ("Three out of four people left.", "75 % of people left.", "en", True),
    ("It is two-thirds of them.", "It is 2/3 of them.", "en", True),
    ("Output rose twofold.", "Output rose 2 times.", "en", True),
    ("Output rose tenfold.", "Output rose 10-fold.", "en", True),
    ("Output rose threefold.", "Output rose 2 times.", "en", False),
    ("It weighs 2.5 kg.", "It weighs 2,500 g.", "en", True),
    ("It cost $5m.", "It cost 5 million dollars.", "en", True),
    ("It cost €1.2bn.", "It cost 1.2 billion euros.", "en", True),
    ("It cost €1.2bn.", "It cost 1.2 million euros.", "en", False),
    ("It lasted 1½ hours.", "It lasted 1.5 hours.", "en", True),
    ("It lasted 2 ¾ hours.", "It lasted 2.75 hours.", "en", True),
    ("It lasted 1½ hours.", "It lasted 11/2 hours.", "en", False),
    ("Custou 2.500.000 reais.", "Custou 2,5 milhões de reais.", "pt", True),
    ("예산은 3억 5천만 원이다.", "예산은 350,000,000원이다.", "ko", True),
    ("예산은 5천만 원이다.", "예산은 5백만 원이다.", "ko", False),
    ("2⁄5 of the houses", "two fifths of the houses", "en", True),
    ("It took 5 1⁄2 years.", "It took five and a half years.", "en", True),
    ("seventeen and a half miles", "17.5 miles", "en", True),
    ("2⁄5 of it", "25 of it", "en", False),
    ("3.1×10−3 m", "0.0031 m", "en", True),
    ("3.1×10−3 m", "3.1×10−5 m", "en", False),
    ("minus five degrees", "−5 degrees", "en", True),
    ("minus five degrees", "five degrees", "en", False),
    ("83 M€", "83 millions d’euros", "fr", True),
    ("83 M€", "83 Md€", "fr", False),
    ("2,5 mia. kroner", "2,5 milliarder kroner", "da", True),
    ("1,5 millioner kroner", "1 500 000 kroner", "nb", True),
    ("۵ لاکھ لوگ", "500,000 لوگ", "ur", True),
    ("12.4 %", "12.4 pp", "en", False),
    ("8천3백만 원", "83,000,000원", "ko", True),
    ("8천3백만 원", "8천3백 원", "ko", False),
    ("12만 3천 명", "123,000명", "ko", True),
]  # fmt: skip
"""Scales of India and Bengal, Thai without spaces, numerals of cheques, half a million, ranges, powers, shares, folds."""


@pytest.mark.parametrize(("one", "two", "language", "same"), NEIGHBOURS)
def test_a_figure_said_in_another_way_is_the_same_and_another_is_another(
    one: str, two: str, language: str, same: bool
) -> None:
    assert figures(one, language) and figures(two, language)
    assert agree(one, two, language) is same


@pytest.mark.parametrize(
    ("one", "two", "language", "same"),
    [
        ("in the XIX century", "in the 19th century", "en", True),
        ("im XIX. Jahrhundert", "im 19. Jahrhundert", "de", True),
        ("au XIXe siècle", "au 19e siècle", "fr", True),
        ("nel XIX secolo", "nel 19º secolo", "it", True),
        ("el siglo XIX", "el siglo XX", "es", False),
        ("in the XIXth century", "in the 20th century", "en", False),
    ],
)
def test_a_century_may_be_counted_in_roman_numerals(one: str, two: str, language: str, same: bool) -> None:
    (mine,), (yours,) = dates(one, language), dates(two, language)

    assert mine.same_year(yours) is same
