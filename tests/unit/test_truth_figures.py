"""Numbers, units and dates as sentences write them."""

import pytest

from agents.verify.dates import dates
from agents.verify.figures import figures


def first(text, language="en"):
    return figures(text, language)[0]


@pytest.mark.parametrize(
    ("text", "language", "low", "unit"),
    [
        ("1,240 people came", "en", 1240, ""),
        ("1.234,5 Hektar", "de", 1234.5, "ha"),
        ("12 000 habitants", "fr", 12000, ""),
        ("EUR 4.87 million", "en", 4_870_000, "eur"),
        ("£5bn in all", "en", 5e9, "gbp"),
        ("3,5 millions d'euros", "fr", 3_500_000, "eur"),
        ("a mean of −4.2 degrees", "en", -4.2, "degree"),
        ("zweihundertfünfundvierzig Tage", "de", 245, "d"),
        ("quatre-vingt-dix-sept jours", "fr", 97, "d"),
        ("dos mil trescientos cuarenta y cinco personas", "es", 2345, ""),
        ("two hundred and forty-five days", "en", 245, "d"),
        ("共有12万人", "zh", 120_000, ""),
        ("١٢ يوما", "ar", 12, ""),
        ("٪ ３８％", "zh", 38, "%"),
        ("two thirds of them", "en", 66.67, "%"),
    ],
)
def test_a_number_is_read_in_the_spelling_of_its_language(text, language, low, unit):
    figure = first(text, language)

    assert (round(figure.low, 2), figure.unit) == (low, unit)


def test_a_range_has_two_ends_and_a_code_is_no_number():
    figure = first("14-20% moisture")

    assert (figure.low, figure.high, figure.unit) == (14, 20, "%")
    assert figures("CO2 and A320") == ()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2.9 gigawatt hours", "2,900 megawatt hours", True),
        ("2.9 gigawatt hours", "2.9 megawatt hours", False),
        ("90 minutes", "1.5 hours", True),
        ("twelve days", "12 days", True),
        ("18 centimetres", "18 inches", False),
        ("the third turbine", "three turbines", False),
    ],
)
def test_two_numbers_are_equal_when_they_measure_the_same(one, other, same):
    assert first(one).equals(first(other)) == same


def test_bounds_hold_for_what_they_allow_and_not_for_what_they_hardly_tell():
    assert first("more than 400 people").allows(first("412 people"))
    assert not first("fewer than 400 people").allows(first("412 people"))
    assert not first("more than 10 people").allows(first("412 people"))


@pytest.mark.parametrize(
    ("text", "language", "read"),
    [
        ("on 7 June 2010", "en", (2010, 2010, 6, 7)),
        ("June 7, 2010", "en", (2010, 2010, 6, 7)),
        ("am 3. Mai 2021", "de", (2021, 2021, 5, 3)),
        ("le 1er mars 2023", "fr", (2023, 2023, 3, 1)),
        ("el 3 de mayo de 2021", "es", (2021, 2021, 5, 3)),
        ("2023年3月3日", "zh", (2023, 2023, 3, 3)),
        ("in the 1950s", "en", (1950, 1959, None, None)),
        ("im 19. Jahrhundert", "de", (1800, 1900, None, None)),
        ("el siglo XIX", "es", (1800, 1900, None, None)),
        ("in 2022/23", "en", (2022, 2023, None, None)),
        ("in 300 BC", "en", (-300, -300, None, None)),
    ],
)
def test_a_date_is_read_in_the_order_of_its_language(text, language, read):
    (when,) = dates(text, language)

    assert (when.first, when.last, when.month, when.day) == read


def test_a_count_of_people_is_not_a_year():
    assert not dates("1920 people came")
