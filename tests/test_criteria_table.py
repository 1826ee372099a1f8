"""docs/criteria.md and criteria-chat.md: every criterion has a test, and every test that it names exists.

docs/tags.md: every tag stands there, with who raises it.
"""

import re

import pytest

from agents.report.wording import wording
from tests.conftest import ROOT

ROW = re.compile(r"^\| (?P<name>(?:S\d [\w.-]+|C\d\d)) \| .+ \| (?P<tests>`.+`) \|$", re.MULTILINE)
ROWS = {
    found["name"]: re.findall(r"`([^`]+)`", found["tests"])
    for found in ROW.finditer((ROOT / "docs" / "criteria.md").read_text("utf-8"))
}
WANTED = (
    *(f"S0 AC-{n}" for n in range(1, 8)),
    *(f"S0 FR-{n}" for n in range(1, 6)),
    *(f"S1 15-{n}" for n in range(1, 5)),
    *(f"S1 15.1-{n}" for n in range(1, 8)),
    *(f"S2 FR-{n:02}" for n in range(1, 13)),
    *(f"S2 NFR-{n:02}" for n in range(1, 8)),
    *("C09", "C15", "C34", "C35", "C36", "C42"),
)


@pytest.mark.parametrize("name", WANTED)
def test_every_criterion_has_a_test(name):
    assert ROWS.get(name)


FAULTS = re.findall(r"`(tests/[^`]+)`", (ROOT / "docs" / "criteria-chat.md").read_text("utf-8"))


@pytest.mark.parametrize("named", sorted({test for tests in (*ROWS.values(), FAULTS) for test in tests}))
def test_every_test_of_the_table_exists(named):
    path, _, function = named.removeprefix("tests/").partition("::")
    text = (ROOT / "tests" / path).read_text("utf-8")
    assert re.search(rf"^(?:async )?def {re.escape(function)}\(", text, re.MULTILINE)


def test_the_table_of_tags_holds_the_closed_list_and_says_which_code_raises_each():
    table = (ROOT / "docs" / "tags.md").read_text("utf-8")
    told = dict(re.findall(r"^\| `(#\w+)` \| .+ \| ([^|]+) \|$", table, re.MULTILINE))
    raising = {"the run": "research/pipeline.py", "the report": "report/document.py"}
    raised = {
        who: re.findall(r'"(#[A-Z_]+)": ', (ROOT / "agents" / path).read_text("utf-8")) for who, path in raising.items()
    }
    assert told == {tag: ", ".join(who for who in raising if tag in raised[who]) for tag in wording("en").tags}
    assert all(told.values())
