"""The live tree, folded from events."""

from pathlib import Path
from typing import get_args

import pytest

from agents.api.tree import Tree
from agents.contracts.frozen import Said
from agents.contracts.plan import LoopDecision, RoundRecord
from agents.contracts.report import Stage
from agents.contracts.sources import SourceCard
from agents.core.budget import Usage
from agents.core.events import (
    JobChanged,
    NodeChanged,
    NodeState,
    Noted,
    Numbered,
    ReportWritten,
    RoleAsked,
    RoundEnded,
    SearchDone,
    SectionWritten,
    SourceRead,
    SourceRejected,
)
from agents.jobs.changes import CHANGE, GUIDANCE


def numbered(*timed):
    return [Numbered(seq=n, seconds=at, key=f"k{n}", event=event) for n, (at, event) in enumerate(timed, start=1)]


def node(path, state, *, role="leaf", title="", doing=""):
    parent = path.rsplit("/", 1)[0]
    return NodeChanged(node=path, parent=parent, role=role, title=title or path, state=state, doing=doing)


def card(name):
    return SourceCard(id=f"s{name}", url=f"https://{name}.example/", title=name, kind="web", text_hash="0" * 16)


def asked(path, tokens, cost=0.01):
    usage = Usage(calls=1, tokens_in=tokens, cost_usd=cost)
    return RoleAsked(node=path, role="extractor", prompt="extractor@1", model="m", usage=usage)


def round_of(topic):
    decision = LoopDecision(
        iteration=1, summary="s", gaps=(), shouldContinue=topic is not None, nextSearchTopic=topic, urlToSearch=None,
        timeRemainingMinutes=None,
    )  # fmt: skip
    return RoundRecord(node="job/0", round=1, decision=decision, reason="r", delta="d", confidence=0.5, coverage=0.4)


START = (0.0, JobChanged(status="running", stage="planning"))
ROOT = (0.1, node("job/0", "queued", role="query", title="Why?"))


def test_a_node_counts_its_own_and_everything_above_it_counts_too():
    tree = Tree(
        numbered(
            START,
            ROOT,
            (0.2, node("job/0/0", "queued")),
            (1.0, node("job/0/0", "searching")),
            (2.0, SourceRead(node="job/0/0", source=card("a"), facts=3)),
            (2.0, asked("job/0/0", 500)),
            (3.0, node("job/0/0", "done")),
        )
    )
    leaf, root = tree.node("job/0/0"), tree.node("job/0")
    assert (leaf.sources, leaf.facts, leaf.tokens, leaf.cost_usd, leaf.seconds) == (1, 3, 500, 0.01, 2.0)
    assert (root.sources, root.facts, root.tokens, root.cost_usd) == (1, 3, 500, 0.01)


def test_a_source_that_two_branches_read_is_one_source_above_them():
    tree = Tree(
        numbered(
            START,
            ROOT,
            (0.2, node("job/0/0", "reading")),
            (0.2, node("job/0/1", "reading")),
            (1.0, SourceRead(node="job/0/0", source=card("a"), facts=1)),
            (1.1, SourceRead(node="job/0/1", source=card("a"), facts=2)),
        )
    )
    assert tree.node("job/0").sources == 1
    assert tree.spent().sources == 1
    assert tree.node("job/0").facts == 3


def test_an_unknown_cost_is_unknown_and_not_zero():
    tree = Tree(numbered(START, ROOT, (0.2, node("job/0/0", "reading")), (1.0, asked("job/0/0", 10, cost=None))))
    assert tree.node("job/0").cost_usd is None
    assert tree.spent().cost_usd is None


def test_what_belongs_to_no_branch_counts_for_the_run_alone():
    tree = Tree(numbered(START, ROOT, (1.0, asked("job/draft-0/plan", 70))))
    assert tree.spent().tokens == 70
    assert tree.node("job/0").tokens == 0


def test_the_only_query_has_no_number_and_its_branches_count_from_one():
    tree = Tree(numbered(START, ROOT, (0.2, node("job/0/0", "queued")), (0.2, node("job/0/1/0", "queued"))))
    assert [tree.node(path).n for path in ("job/0", "job/0/0", "job/0/1/0")] == ["", "1", "2.1"]


def test_several_queries_are_numbered_themselves():
    tree = Tree(numbered(START, ROOT, (0.1, node("job/1", "queued", role="query")), (0.2, node("job/1/0", "queued"))))
    assert [tree.node(path).n for path in ("job/0", "job/1", "job/1/0")] == ["1", "2", "2.1"]


def test_rows_stand_in_reading_order_and_tops_have_no_parent():
    paths = [f"job/0/{number}" for number in (10, 9, 2)]
    tree = Tree(numbered(START, ROOT, *((0.2, node(path, "queued")) for path in paths)))
    view = tree.view()
    assert [row.id for row in view.nodes] == ["job/0", "job/0/2", "job/0/9", "job/0/10"]
    assert [row.parent for row in view.nodes] == ["", "job/0", "job/0", "job/0"]


def test_time_runs_on_for_what_is_at_work_and_stands_for_what_is_over():
    tree = Tree(
        numbered(
            START,
            ROOT,
            (1.0, node("job/0/0", "reading")),
            (1.0, node("job/0/1", "reading")),
            (2.0, node("job/0/1", "done")),
        )
    )
    rows = {row.id: row.seconds for row in tree.view(at=5.0).nodes}
    assert rows["job/0/0"] == 4.0
    assert rows["job/0/1"] == 1.0
    assert rows["job/0"] == 0.0


def test_what_was_at_work_when_the_run_was_stopped_is_stopped():
    tree = Tree(
        numbered(
            START,
            ROOT,
            (1.0, node("job/0/0", "reading")),
            (1.0, node("job/0/1", "done")),
            (2.0, JobChanged(status="cancelled", stage="collecting", note="Stopped.")),
        )
    )
    states = {row.id: row.state for row in tree.view(at=99.0).nodes}
    assert states == {"job/0": "stopped", "job/0/0": "stopped", "job/0/1": "done"}
    assert tree.view(at=99.0).seconds == 2.0
    assert tree.view().note == "Stopped."


def test_taking_an_event_says_which_rows_it_changed():
    tree = Tree(numbered(START, ROOT, (0.2, node("job/0/0", "reading"))))
    read = Numbered(seq=4, seconds=1.0, key="k4", event=SourceRead(node="job/0/0", source=card("a"), facts=1))
    assert tree.take(read) == ("job/0/0", "job/0")
    ended = Numbered(seq=5, seconds=2.0, key="k5", event=JobChanged(status="failed", stage="collecting", note="No."))
    assert set(tree.take(ended)) == {"job/0/0", "job/0"}


def test_every_event_a_reader_should_hear_of_is_in_the_feed():
    tree = Tree(
        numbered(
            START,
            ROOT,
            (0.2, node("job/0/0", "searching", title="Costs", doing="what it cost")),
            (0.3, SearchDone(node="job/0/0", text="cost", provider="p", hits=1)),
            (0.4, SearchDone(node="job/0/0", text="price", provider="p", hits=0, failed="no answer")),
            (0.5, SourceRead(node="job/0/0", source=card("a"), facts=1)),
            (0.6, SourceRejected(node="job/0/0", url="https://b.example/", reason="it holds no text")),
            (0.7, asked("job/0/0", 1)),
            (0.8, SectionWritten(node="job/0/0", title="Costs", words=40)),
            (0.9, Noted(text="Search is limited.")),
            (1.0, ReportWritten(grade="nothing_found", title="T", references=0)),
            (1.1, JobChanged(status="done", stage="completed")),
        )
    )
    assert [line.said for line in tree.view().feed] == [
        "Planning.",
        "Searching for 1 “Costs”: what it cost.",
        "Searched for 1 “Costs”: 1 document.",
        "A search for 1 “Costs” failed: no answer.",
        "Read “a”: 1 fact.",
        "Left out https://b.example/: it holds no text.",
        "Wrote “Costs”, 40 words.",
        "Search is limited.",
        "Report saved, 0 references.",
        "Done.",
    ]
    assert tree.view().now == "Done."
    assert tree.view().usage.searches == 2


def test_every_line_of_the_feed_has_a_sentence_in_the_other_languages_of_the_page():
    states = get_args(NodeState)
    notes = (
        Noted(text=Said("Change {n} to the contract: {words}.", n=1, words="10 minutes"), tag=CHANGE),
        Noted(text=Said("Your note “{words}”. {applies}", words="heed costs", applies="It applies."), tag=GUIDANCE),
        asked("job/0/0", 1).model_copy(update={"stood_in_for": "a", "stood_in": "It was slow."}).note(),
    )
    tree = Tree(
        numbered(
            *((0.1, JobChanged(status="running", stage=stage)) for stage in get_args(Stage)),
            *((0.2, node("job/0/0", state, title="Costs", doing="what it cost")) for state in states),
            *((0.3, SearchDone(node="job/0/0", text="cost", provider="p", hits=hits)) for hits in (1, 2)),
            (0.4, SearchDone(node="job/0/0", text="price", provider="p", hits=0, failed="no answer")),
            *((0.5, SourceRead(node="job/0/0", source=card("a"), facts=facts)) for facts in (1, 2)),
            (0.6, SourceRejected(node="job/0/0", url="https://b.example/", reason="it holds no text")),
            (0.8, SectionWritten(node="job/0/0", title="Costs", words=40)),
            *((0.9, note) for note in notes),
            *((0.9, RoundEnded(node="job/0", record=round_of(topic))) for topic in ("What of gulls?", None)),
            (1.0, ReportWritten(grade="nothing_found", title="T", references=0)),
        )
    )
    words = Path("public/words.js").read_text("utf-8")
    feed = tree.view().feed

    assert len(feed) == len(get_args(Stage)) + len(states) - 1 + 13
    assert {line.said.form for line in feed if f"'{line.said.form}'" not in words} == set()
    told = [line.said for line in feed if line.said.startswith("Round")]
    assert told == [
        "Round 1: 40 % of what is asked is answered by enough sources; now What of gulls.",
        "Round 1: 40 % of what is asked is answered by enough sources; it was the last.",
    ]


def test_the_feed_does_not_grow_for_ever():
    notes = [(float(n), Noted(text=f"note {n}")) for n in range(1, 100)]
    feed = Tree(numbered(START, *notes)).view().feed
    assert len(feed) == 40
    assert feed[-1].said == "note 99"


def test_folding_in_two_parts_is_folding_at_once():
    events = numbered(
        START,
        ROOT,
        (0.2, node("job/0/0", "searching")),
        (1.0, SourceRead(node="job/0/0", source=card("a"), facts=2)),
        (2.0, node("job/0/0", "done")),
        (2.1, JobChanged(status="done", stage="completed")),
    )
    parts = Tree(events[:3])
    for event in events[3:]:
        parts.take(event)
    assert parts.view() == Tree(events).view()


@pytest.mark.parametrize(
    ("status", "state", "grade", "ending"),
    [
        ("done", "done", "complete", "complete"),
        ("done", "failed", "complete", "partial"),
        ("done", "done", "partial", "partial"),
        ("done", "empty", "nothing_found", "nothing_found"),
        ("cancelled", "done", None, "stopped"),
        ("failed", "done", None, "failed"),
        ("running", "done", None, ""),
    ],
)
def test_how_a_run_ended_is_said_once_and_never_better_than_its_report(status, state, grade, ending):
    written = [(2.0, ReportWritten(grade=grade, title="T", references=1))] if grade else []
    end = (3.0, JobChanged(status=status, stage="completed" if grade else "collecting"))
    view = Tree(numbered(START, ROOT, (1.0, node("job/0/0", state)), *written, end)).view()

    assert (view.ending, view.kept) == (ending, False)


def test_what_was_found_and_not_written_is_kept_and_what_was_only_read_is_not():
    def kept(facts, *written):
        read = (1.0, SourceRead(node="job/0/0", source=card("a"), facts=facts))
        return Tree(numbered(START, ROOT, (0.5, node("job/0/0", "reading")), read, *written)).view().kept

    assert (kept(2), kept(0)) == (True, False)
    assert not kept(2, (2.0, ReportWritten(grade="partial", title="T", references=1)))


def test_what_limited_a_run_stays_on_its_card_in_the_words_of_the_report():
    written = ReportWritten(grade="partial", title="T", references=1, limited="Search was limited (x).")
    over = JobChanged(status="done", stage="completed")
    assert Tree(numbered(START, ROOT, (2.0, written), (3.0, over))).view().limited == "Search was limited (x)."


def test_a_part_whose_question_the_report_leaves_open_is_not_done():
    tree = Tree(
        numbered(
            START,
            ROOT,
            (1.0, node("job/0/0", "done", title="Costs", doing="kept 5 facts")),
            (1.0, node("job/0/1", "done", title="Uses")),
        )
    )
    written = ReportWritten(grade="partial", title="T", references=2, unanswered=("Costs",))

    changed = tree.take(Numbered(seq=9, seconds=2.0, key="k9", event=written))

    assert "job/0/0" in changed, "who watches is told of the row"
    assert {row.title: (row.state, row.said) for row in tree.view().leaves} == {
        "Costs": ("partial", "kept 5 facts"),
        "Uses": ("done", ""),
    }
