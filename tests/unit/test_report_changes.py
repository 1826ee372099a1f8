"""Changes after the authorization in the report: in its JSON, its Methodology, every language and export."""

import json

import pytest

from agents.contracts.contract import Change, Narrowing
from agents.contracts.report import ReportDocument
from agents.report.html_export import to_html
from agents.report.wording import RIGHT_TO_LEFT, languages, wording
from tests.unit.report_world import CLOSURES, ROADS, TOP, A, B, contract, document

LIMITS = Narrowing(exclude_domains=("bad.example",), date_from="2019-01-01", seconds=120)
CHANGES = (
    Change(number=1, seconds=65.4, kind="limits", words="without bad.example", limits=LIMITS),
    Change(number=2, seconds=70, kind="stop", node="j/0/0", title="1 “Closures”", words="branch 1 was stopped"),
    Change(number=3, seconds=80, kind="drop", node="j/0/1/1", title="2.2 “Roads”", words="branch 2.2 was dropped"),
    Change(number=4, seconds=90, kind="retry", node="j/0/1/0", title="2.1 “Freight”", words="2.1 is tried again"),
    Change(number=5, seconds=99, kind="guidance", words="prefer <b>audits</b> [1]"),
)
STOPPED = CLOSURES.model_copy(update={"status": "stopped", "ended": "stopped", "note": "you stopped it"})
DROPPED = ROADS.model_copy(
    update={"status": "stopped", "ended": "dropped", "note": "you dropped it", "facts": (), "sources": ()}
)


def changed(language="en", changes=CHANGES, children=None):
    other = TOP.children[1]
    others = other.model_copy(update={"children": (other.children[0], DROPPED), "markdown": ""})
    top = TOP.model_copy(update={"children": children or (STOPPED, others)})
    return document(contract=contract(language=language), findings=(top,), changes=changes)


def test_each_change_stands_in_the_json_with_number_time_words_and_what_it_did():
    found = json.loads(changed().model_dump_json())["changes"]
    assert [(one["number"], one["seconds"], one["kind"]) for one in found] == [
        (1, 65.4, "limits"), (2, 70.0, "stop"), (3, 80.0, "drop"), (4, 90.0, "retry"), (5, 99.0, "guidance"),
    ]  # fmt: skip
    assert found[0]["words"] == "without bad.example"
    assert found[0]["effect"] == (
        "Nothing of bad.example was searched or read. Only documents since 2019-01-01 were used. "
        "This held from then on; what had been read before stayed. The time was shortened to 2 min in all."
    )
    assert found[1]["effect"] == "Branch 1 “Closures” was stopped. What it had found was kept (facts: 3)."
    assert found[2]["effect"] == "Branch 2.2 “Roads” was dropped; what it had found is left out."
    assert found[3]["effect"] == "Branch 2.1 “Freight” was to be tried again, but that came too late."


def test_methodology_lists_them_and_limitations_tell_stopped_from_dropped():
    text = changed().markdown
    methodology, limitations = text.split("## Methodology")[1].split("## Limitations")
    assert "Changes after authorization:" in methodology
    assert "- Change 1, at 1:05: Nothing of bad.example" in methodology
    assert "- Closures: stopped by you before it was done; what it had found is used." in limitations
    assert "- Roads: dropped by you; what it had found is left out." in limitations
    assert "you stopped it" not in text


def test_what_a_stopped_branch_had_found_is_cited_and_what_a_dropped_one_had_found_is_not():
    report = changed()
    cited = {one.source_id for one in report.references}
    assert cited == {A.id, B.id}
    assert report.grade == "partial"


def test_a_branch_that_was_tried_again_says_so():
    again = CLOSURES.model_copy(update={"path": "j/0/0+2", "tries": 2})
    retried = CHANGES[3].model_copy(update={"node": "j/0/0", "title": "1 “Closures”"})
    assert changed(changes=(retried,), children=(again,)).changes[0].effect == "Branch 1 “Closures” was tried again."


def test_what_the_user_wrote_is_shown_as_words_and_never_as_markup():
    report = changed()
    html = to_html(report)
    assert "<b>audits</b>" not in html
    assert "prefer" in html
    assert report.changes[4].words == "prefer <b>audits</b> [1]"
    assert not any("prefer" in sentence.text for sentence in report.sentences)


@pytest.mark.parametrize("language", languages())
def test_each_language_of_the_report_has_its_own_words_for_changes(language):
    assert wording(language).language == language
    said, english = wording(language).changes, wording("en").changes
    for name in english.texts:
        text, other = getattr(said, name), getattr(english, name)
        assert language == "en" or text != other
        for mark in ("title", "value", "start", "end", "facts", "words", "number", "time", "text"):
            assert (f"{{{mark}}}" in text) == (f"{{{mark}}}" in other), (name, mark)
    report = changed(language)
    assert said.lead in report.markdown
    assert said.dropped_note in report.markdown
    html = to_html(report)
    assert said.lead in html
    assert ('dir="rtl"' in html) == (language in RIGHT_TO_LEFT)


def test_a_report_without_changes_says_nothing_of_them_and_an_older_one_is_still_read():
    report = document()
    assert "Changes after authorization" not in report.markdown
    older = json.loads(report.model_dump_json())
    del older["changes"]
    assert ReportDocument.model_validate(older) == report
