"""What a fact says to a claim."""

import pytest

from agents.verify.checks import stance


@pytest.mark.parametrize(
    ("claim", "fact", "expected"),
    [
        ("The line was closed on 12 days.", "The line was closed on twelve days in 2023.", "supports"),
        ("The line was closed on 12 days.", "The line was closed on 41 days.", "contradicts"),
        ("The rule lowers emissions.", "The rule does not lower emissions.", "contradicts"),
        ("The rule lowers emissions.", "The rule may lower emissions.", "qualifies"),
        ("The rule lowers emissions.", "One more winter is needed before the rule's effect on emissions can be told.", "qualifies"),
        ("The rule lowers emissions.", "The museum opened in May.", "unrelated"),
        ("Planting the bay cost EUR 2.4 million.", "Planting the bay cost EUR 61,000 per hectare.", "unrelated"),
        ("Planting the bay cost EUR 61,000 per hectare.", "Planting the bay cost EUR 2.4 million.", "unrelated"),
        ("Planting the bay cost EUR 61,000 per hectare.", "Planting the bay cost EUR 83,000 a hectare.", "contradicts"),
        ("All sites failed.", "Two of the three sites failed.", "contradicts"),
    ],
)  # fmt: skip
def test_a_stance_is_judged_from_the_words(claim, fact, expected):
    assert stance(claim, fact).stance == expected


@pytest.mark.parametrize(
    "fact",
    [
        "No evidence shows that vitamin C cures colds.",
        "There is no evidence that vitamin C cures colds.",
        "It is unclear whether vitamin C cures colds.",
        "No study has shown that vitamin C cures colds.",
    ],
)
def test_a_lack_of_evidence_supports_nothing(fact):
    assert stance("Vitamin C cures colds.", fact).stance in {"qualifies", "contradicts"}


@pytest.mark.parametrize(
    ("claim", "fact", "language"),
    [
        ("The Halden plant closed in 2012.", "The Moss plant closed in 2012.", "en"),
        ("The Halden plant employs 400 people.", "The Moss plant employs 900 people.", "en"),
        ("Exports of salmon increased in 2020.", "Imports of salmon increased in 2020.", "en"),
        ("Exports of salmon increased in 2020.", "Exports of salmon decreased in 2018.", "en"),
        ("Revenue rose in the first quarter.", "Revenue rose in the second quarter.", "en"),
        ("The drug was approved in Europe.", "The drug was approved in the United States.", "en"),
        ("The mayor of Oslo resigned in May.", "The mayor of Bergen resigned in June.", "en"),
        ("Die Ausfuhr stieg 2020 um 4 Prozent.", "Die Einfuhr stieg 2020 um 9 Prozent.", "de"),
        ("Das Mittel wurde in Norwegen zugelassen.", "Das Mittel wurde in Schweden zugelassen.", "de"),
        ("Les exportations ont augmenté en 2020.", "Les exportations ont diminué en 2018.", "fr"),
        ("La planta de Lugo cerró en 2012.", "La planta de Vigo cerró en 2014.", "es"),
        ("Цены выросли в 2015 году.", "Цены снизились в 2011 году.", "ru"),
        ("出口在2015年增长。", "进口在2015年增长。", "zh"),
        ("Норвегия продала 40 судов.", "Швеция продала 90 судов.", "ru"),
    ],
)
def test_what_is_said_of_another_subject_place_or_time_speaks_neither_for_nor_against(claim, fact, language):
    assert stance(claim, fact, language=language).stance == "unrelated"


@pytest.mark.parametrize(
    ("claim", "fact", "language"),
    [
        ("The Halden plant closed in 2012.", "The Halden plant closed in 2014.", "en"),
        ("She was head of Sarn Kraft.", "She was head of Telmar Kraft.", "en"),
        ("The plant is in Norway.", "The plant is in Sweden.", "en"),
        ("The tower was designed by Anna Berg.", "The tower was designed by Karl Lund.", "en"),
        ("All farmers received the grant.", "Some farmers received the grant.", "en"),
        ("Halden employs 400 people.", "It employs 900 people.", "en"),
        ("Exports rose in 2020.", "Exports fell in 2020.", "en"),
        ("Все фермеры получили субсидию.", "Некоторые фермеры получили субсидию.", "ru"),
        ("ارتفع السعر.", "انخفض السعر.", "ar"),
        ("Le maire soutient le projet.", "Le maire s'oppose au projet.", "fr"),
        ("El alcalde apoya el proyecto.", "El alcalde se opone al proyecto.", "es"),
        (
            "Unemployment was higher in Norway than in Sweden.",
            "Unemployment was higher in Sweden than in Norway.",
            "en",
        ),
        ("出口增长了4%。", "出口下降了4%。", "zh"),
        ("所有农民都获得了补贴。", "部分农民获得了补贴。", "zh"),
        ("工厂于2012年关闭。", "工厂于2012年开业。", "zh"),
        ("輸出は4%増加した。", "輸出は4%減少した。", "ja"),
        ("議会は計画に賛成した。", "議会は計画に反対した。", "ja"),
        ("수출이 4% 증가했다.", "수출이 4% 감소했다.", "ko"),
    ],
)
def test_another_thing_said_of_the_same_contradicts(claim, fact, language):
    assert stance(claim, fact, language=language).stance == "contradicts"


def test_nothing_to_compare_is_unrelated():
    assert stance("The line was closed.", "").stance == "unrelated"


def test_rows_of_one_table_about_different_things_do_not_contradict_each_other():
    rows = [f"Line: N{n}; Length, km: {n}.2; Stops: 2{n}; Cost per year, euros: {n}90,000." for n in (1, 2)]
    corrected = rows[0].replace("190,000", "240,000")

    assert stance(rows[0], rows[1], context=("Night buses",)).stance == "unrelated"
    assert stance(rows[0], corrected, context=("Night buses",)).stance == "contradicts"


def test_a_sentence_beside_it_makes_no_contradiction_of_what_is_said_of_another_year():
    claim = "In 2019 the measured carbon intensity of the Kelwick programme was 482 grams per unit."
    other = "In 2023 the measured carbon intensity of the Kelwick programme was 158 grams per unit."
    beside = "Interviews suggest that records matter more for the Kelwick programme than headlines do."

    assert stance(claim, other).stance == "unrelated"
    assert stance(claim, f"{beside} {other}").stance == "unrelated"
    assert stance(claim, f"{beside} {other.replace('2023', '2019')}").stance == "contradicts"
