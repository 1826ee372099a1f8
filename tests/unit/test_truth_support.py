"""Whether quotes carry a sentence, and what is said when they do not."""

import json
from functools import cache
from pathlib import Path

import pytest

from agents.verify.checks import carried

DATA = Path(__file__).parents[1] / "data"
SOURCE = (DATA / "cases" / "C22" / "source.txt").read_text("utf-8")
CLAIMS = [json.loads(line) for line in (DATA / "cases" / "C22" / "claims.jsonl").read_text("utf-8").splitlines()]
MEANING_KEPT = {"none", "same"}


@cache
def changes():
    """Rows of machine-changed and untouched sentences with their verdicts."""
    rows = [json.loads(line) for line in (DATA / "support_changes.jsonl").read_text("utf-8").splitlines()]
    return [(row, carried(row["sentence"], [row["quote"]]).verdict) for row in rows]


@pytest.mark.parametrize("claim", [pytest.param(claim, id=claim["claim"]) for claim in CLAIMS])
def test_a_real_source_carries_only_what_it_says(claim):
    expected = "unsupported" if claim["verdict"] == "not_in_source" else claim["verdict"]

    assert carried(claim["claim"], [SOURCE]).verdict == expected


@pytest.mark.parametrize("half", ["a", "b"])
def test_machine_changed_sentences_are_caught(half):
    # Claims of the quiz are left out: they are refused changed or not, and prove nothing here.
    judged = [
        verdict != "supported"
        for row, verdict in changes()
        if row["half"] == half and row["change"] not in MEANING_KEPT and row["source"] != "fm2_claim"
    ]

    assert len(judged) > 200
    assert sum(judged) / len(judged) >= 0.95


def test_untouched_sentences_raise_no_alarm():
    judged = [
        verdict != "supported"
        for row, verdict in changes()
        if row["change"] in MEANING_KEPT and row["source"] != "fm2_claim"
    ]

    assert len(judged) > 200
    assert sum(judged) / len(judged) <= 0.03


@pytest.mark.parametrize(
    ("sentence", "quote", "verdict", "said"),
    [
        ("The line was closed for 13 days.", "The line was closed for 12 days.", "contradicted",
         "The sentence says 13 days, the source says 12 days."),
        ("The line was not closed in 2021.", "The line was closed in 2021.", "contradicted",
         "The sentence denies what the source affirms (closed)."),
        ("The drug reduces pain.", "The drug may reduce pain in adults.", "partly",
         "The source says it with a reservation (may) that the sentence leaves out."),
        ("Brand leads the board.", "Ilse Ohm leads the board of the port.", "contradicted",
         "The sentence says Brand, the source says Ilse Ohm."),
        ("The line to Brindle was closed for 12 days.", "The line was closed for 12 days.", "unsupported",
         "Brindle is not named in the quotes."),
        ("Costs fell by 12%.", "Costs rose by 12%.", "contradicted", "The sentence says fell, the source says rose."),
        ("Chile beat Norway in 1998.", "Norway beat Chile in 1998.", "contradicted",
         "The sentence has Chile and Norway the other way round than the source."),
        ("Sales doubled from 2019 to 2021.", "Sales rose from 2.1 million euros in 2019 to 4.3 million euros in 2021.",
         "supported", "doubled follows from 2.1 million euros, 4.3 million euros."),
        ("All sites failed.", "Most sites failed.", "contradicted", "The sentence says all, the source says most."),
    ],
)  # fmt: skip
def test_the_reason_is_a_sentence_a_reader_understands(sentence, quote, verdict, said):
    judged = carried(sentence, [quote])

    assert (judged.verdict, judged.reasons[0]) == (verdict, said)


@pytest.mark.parametrize(
    ("language", "true", "false", "quote"),
    [
        ("de", "Die Linie war zwölf Tage gesperrt.", "Die Linie war 13 Tage gesperrt.", "Die Linie war 12 Tage gesperrt."),
        ("de", "Die Kosten sanken auf 24 Cent.", "Die Kosten stiegen auf 24 Cent.", "Die Kosten sanken von 31 auf 24 Cent."),
        ("fr", "La ligne a été fermée douze jours.", "La ligne n'a pas été fermée.", "La ligne a été fermée 12 jours."),
        ("es", "Los costes subieron un 12 %.", "Los costes bajaron un 12 %.", "Los costes subieron un 12 por ciento."),
        ("zh", "该线路关闭了12天。", "该线路关闭了13天。", "据报道，该线路在2023年关闭了12天。"),
    ],
)  # fmt: skip
def test_other_languages_are_held_to_the_same(language, true, false, quote):
    assert carried(true, [quote], language=language).verdict == "supported"
    assert carried(false, [quote], language=language).verdict == "contradicted"


def test_a_verbatim_quotation_with_a_connective_is_supported_and_an_invented_one_is_not():
    quote = "The ferry line was closed on twelve days in the winter of 2022/23, the board said."

    assert carried("In short, “closed on twelve days in the winter of 2022/23” [3].", [quote]).verdict == "supported"
    assert carried("In short, “closed on twelve days in that very cold winter” [3].", [quote]).verdict == "unsupported"


def test_several_quotes_carry_a_sentence_together():
    quotes = ["The plant has three turbines.", "The plant delivered 2.9 gigawatt hours in 2022."]

    assert (
        carried("The plant has three turbines and delivered 2.9 gigawatt hours in 2022.", quotes).verdict == "supported"
    )


def test_a_title_says_whom_a_pronoun_means():
    quote = "It has three turbines of 0.4 megawatts each."

    assert carried("Sarn Kraft has three turbines.", [quote]).verdict == "partly"
    assert carried("Sarn Kraft has three turbines.", [quote], context=["Sarn Kraft: our plant"]).verdict == "supported"


@pytest.mark.parametrize("quotes", [[], [""], ["  "]])
def test_without_a_quote_nothing_is_supported(quotes):
    assert carried("The line was closed.", quotes).verdict == "unsupported"


def test_a_sentence_is_carried_by_itself():
    for claim in CLAIMS:
        assert carried(claim["claim"], [claim["claim"]]).verdict == "supported"
