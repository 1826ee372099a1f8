"""Case C40: a report is in the language of its question, or the one wished for; where none can be, in English, never a neighbour's."""

import json
from pathlib import Path

import pytest

from agents.contracts.contract import Brief, Query
from agents.contracts.plan import Leaf, Node, Plan
from agents.report.wording import languages, report_language
from agents.research.planning.freeze_contract import IN_ENGLISH, Means, make_contract

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data/C40/questions.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["lang"])
def test_the_case_is_written_as_it_asks(row):
    base = row["lang"].partition("-")[0]
    written = report_language(row["question"])
    assert written == (base if base in languages() else "en")


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("What books were written in German?", "en"),
        ("In French, what does chien mean?", "en"),
        ("Which laws report in Spanish newspapers?", "en"),
        ("Who won? in German please", "de"),
        ("Wer gewann die Wahl von 1998? Auf Englisch bitte.", "en"),
        ("Qui a gagné ? Réponds en allemand, s'il te plaît.", "de"),
        ("¿Quién ganó la copa de 1998? Responde en inglés.", "en"),
        ("Please write the report in French. How many days was the ferry closed?", "fr"),
        ("Schreibe auf Deutsch: who won the world cup in 1998?", "de"),
        ("Please answer in Vietnamese. Who won the world cup in 1998?", "en"),
        # Neighbours of languages that reports are written in.
        ("Koliko je dana trajekt bio zatvoren zbog leda?", "en"),
        ("Is rooi vleis sleg vir die gesondheid?", "en"),
        ("Cantos días estivo pechado o ferri por mor do xeo?", "en"),
        ("Hversu marga daga var ferjan lokuð vegna íss?", "en"),
        ("Kuinka usein Orvanen lautta suljettiin jään vuoksi talvella 2020?", "en"),
    ],
)
def test_a_wish_wins_and_a_neighbour_is_never_written_in_its_place(question, language):
    assert report_language(question) == language


@pytest.mark.parametrize(("question", "said"), [(ROWS[1]["question"], True), (ROWS[0]["question"], False)])
def test_a_report_in_english_to_a_question_in_another_language_says_so_in_one_line(question, said):
    query = Query(text=question, feasible=True, reason="narrow", depth_estimate=1)
    brief = Brief(question=question, queries=(query,), language=report_language(question), today="2026-11-29")
    leaf = Leaf(title="l", objective="o", questions=("q",), searches=("s",))
    plan = Plan(query=question, root=Node(title="r", objective="o", children=(leaf,)))
    contract = make_contract(brief, (plan,), Means())
    assert (IN_ENGLISH in contract.plans[0].assumptions) == said
