"""Who counts as a witness of its own."""

import html
import json
import re
from pathlib import Path

from agents.verify.confidence import Witness, origins

CASE = Path(__file__).parents[1] / "data" / "cases" / "C17"
LONG = " ".join(f"word{at} and word{at + 1} met at place{at}" for at in range(30))


def witness(path: Path) -> Witness:
    page = path.read_text("utf-8")
    body = page.partition("<body>")[2]
    host = re.search(r'canonical" href="https://([^/"]+)([^"]*)', page)
    return Witness(
        id=path.name,
        domain=".".join(host[1].split(".")[-2:]),
        text=" ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split()),
        title=re.search(r"<title>(.*?)</title>", page)[1],
        url=host[1] + host[2],
    )


def test_one_agency_story_on_four_pages_is_one_witness():
    expected = json.loads((CASE / "expected.json").read_text("utf-8"))

    found = origins([witness(path) for path in sorted(CASE.glob("*.html"))])

    assert sorted(map(list, found)) == sorted(expected["groups"])
    assert len(found) == expected["independent_sources"]


def test_two_pages_of_one_domain_are_one_witness():
    assert len(origins([Witness("a", "x.example", "One text."), Witness("b", "X.example", "Quite another.")])) == 1


def test_a_text_without_its_last_sentences_is_a_copy_and_another_report_is_none():
    cut = Witness("b", "b.example", LONG[: len(LONG) * 3 // 4], title="word1 met")
    other = Witness("c", "c.example", " ".join(reversed(LONG.split())))

    assert len(origins([Witness("a", "a.example", LONG), cut, other])) == 2


def test_the_very_same_words_as_evidence_are_one_statement_told_twice():
    words = "We have had winters with no closure but never so few days in all"
    one = Witness("a", "a.example", "Text of a.", quote=words)
    two = Witness("b", "b.example", "Text of b.", quote=f"“{words},” said the master.")

    assert len(origins([one, two])) == 1


def test_nobody_is_no_witness():
    assert len(origins([])) == 0
