"""The evaluation harness: exact outputs, figures that can be computed by hand, faults that are counted."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agents.cli.main import app
from agents.core.errors import BadRequest
from agents.core.settings import load as load_settings
from agents.research.writing import truthful
from agents.search import index
from tests.eval.citation_sets import of_document, over, researched, taken_from
from tests.eval.labelled_sets import Variant, accuracy, auc, balanced_accuracy, load, macro_f1, variant

DATA = Path(__file__).resolve().parent.parent / "data" / "evaluation"
SUMMARIES = {
    "findcite": ["n", "all_gold_read", "cited_precision", "cited_recall", "answer_found"],
    "stance": ["n", "accuracy", "macro_f1"],
    "support": ["n", "balanced_accuracy", "auc"],
    "scoping": ["n", "accuracy", "macro_f1"],
    "citations": ["n", "unknown", "uncited", "duplicates"],
    "grades": [
        "n",
        "answerable",
        "complete",
        "complete_is_right",
        "complete_without_what_is_needed",
        "complete_of_those_that_hold_the_answer",
        "nothing_found_of_unanswerable",
    ],
}


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOSSIER_MODEL", "offline")
    monkeypatch.setenv("DOSSIER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("RETRIEVER", "library")


def evaluated(tmp_path: Path, name: str, file: str, *more: str) -> dict[str, Any]:
    """Run the command; what it wrote."""
    out = tmp_path / "out.json"

    result = CliRunner().invoke(app, ["eval", name, "--data", str(DATA / file), "--json", str(out), *more])

    assert result.exit_code == 0, result.output
    written: dict[str, Any] = json.loads(out.read_text("utf-8"))
    assert list(written) == ["rows", "summary"]
    assert list(written["summary"]) == SUMMARIES[name]
    assert written["summary"]["n"] == len(written["rows"])
    return written


def test_a_question_of_two_steps_is_found_and_cited(tmp_path: Path) -> None:
    written = evaluated(tmp_path, "findcite", "harbour_questions.jsonl")

    two_steps, lookup = written["rows"]
    assert two_steps["all_gold_read"] and two_steps["answer_found"]
    assert set(two_steps["cited"]) >= {"d1", "d2"}
    assert lookup["answer_found"], "an alias of the answer counts"
    assert lookup["cited"] == ["d3"]
    assert written["summary"]["all_gold_read"] == 1.0


def test_a_grade_is_held_against_what_the_documents_can_answer(tmp_path: Path) -> None:
    written = evaluated(tmp_path, "grades", "harbour_questions.jsonl")

    assert [(row["grade"], row["right"]) for row in written["rows"]] == [("complete", True), ("complete", True)]
    assert written["summary"]["complete_is_right"] == 1.0


def test_a_question_loses_all_that_it_needs_or_what_holds_its_answer() -> None:
    row = {"gold": ["a", "b"], "answer": "Quellmoor", "type": "bridge"}
    texts = {"a": "The tower was built by Tesk.", "b": "Tesk was born in Quellmoor."}

    assert taken_from(row, texts, whole=True) == ("a", "b")
    assert taken_from(row, texts, whole=False) == ("b",)


def test_a_folder_of_pairs_and_a_corpus_name_the_same_questions(tmp_path: Path) -> None:
    by_folder = evaluated(tmp_path, "findcite", "", "--limit", "1")
    by_corpus = evaluated(tmp_path, "findcite", "harbour_corpus.jsonl", "--limit", "1")

    assert [row["id"] for row in by_folder["rows"]] == [row["id"] for row in by_corpus["rows"]] == ["q1"]


def test_a_claim_that_its_evidence_does_not_carry_counts_as_refuted(tmp_path: Path) -> None:
    written = evaluated(tmp_path, "stance", "claims.jsonl")

    assert [(row["given"], row["decided"]) for row in written["rows"]] == [
        ("SUPPORTS", True),
        ("REFUTES", True),
        ("REFUTES", False),
    ]
    assert written["summary"] == {"n": 3, "accuracy": 0.6667, "macro_f1": 0.6667}


def test_support_is_measured_both_ways(tmp_path: Path) -> None:
    assert evaluated(tmp_path, "support", "support.jsonl")["summary"] == {"n": 2, "balanced_accuracy": 1.0, "auc": 1.0}


@pytest.mark.parametrize(("file", "labels"), [("tasks.jsonl", ["clear", "vague"]), ("topics.jsonl", ["vague"])])
def test_the_manager_asks_about_what_is_vague_and_leaves_what_is_clear(
    tmp_path: Path, file: str, labels: list[str]
) -> None:
    written = evaluated(tmp_path, "scoping", file)

    assert [row["given"] for row in written["rows"]] == labels
    assert written["summary"]["accuracy"] == 1.0


def test_faults_of_form_are_counted_by_report(tmp_path: Path) -> None:
    written = evaluated(tmp_path, "citations", "reports.jsonl")

    assert [[row[fault] for fault in ("unknown", "uncited", "duplicates")] for row in written["rows"]] == [
        [0, 0, 0],
        [1, 2, 1],
        [0, 2, 0],
    ]
    assert written["summary"] == {"n": 3, "unknown": 1, "uncited": 2, "duplicates": 1}


def test_our_own_reports_have_no_fault_of_form(tmp_path: Path) -> None:
    written = evaluated(tmp_path, "citations", "harbour_questions.jsonl")

    assert written["summary"] == {"n": 2, "unknown": 0, "uncited": 0, "duplicates": 0}
    assert all(row["listed"] for row in written["rows"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["spelling", "--data", str(DATA)], "There is no set 'spelling'; these are: findcite, stance"),
        (["stance", "--data", "nowhere.jsonl"], "There is no file or folder nowhere.jsonl."),
        (["stance", "--data", str(DATA / "support.jsonl")], "has no 'text': it is not of this set."),
        (["findcite", "--data", str(DATA / "claims.jsonl")], "has no 'question'"),
        (["scoping", "--data", str(DATA / "claims.jsonl")], "holds neither tasks"),
        (["stance", "--data", str(DATA / "claims.jsonl"), "--without", "luck"], "There is no part 'luck'"),
        (["stance", "--data", str(DATA / "claims.jsonl"), "--limits", "3"], "'3' says no limits"),
        (["stance", "--data", str(DATA / "claims.jsonl"), "--limit", "0"], "The limit must be 1 row or more."),
        (["stance", "--data", str(DATA / "claims.jsonl"), "--json", "nowhere/out.json"], "can't be written"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_one_sentence(arguments: list[str], said: str) -> None:
    result = CliRunner().invoke(app, ["eval", *arguments])

    assert result.exit_code == 2
    assert said in result.output
    assert len(result.output.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "said"), [("not json\n", "not a file of JSON lines"), ("[1]\n", "line 1 is no object"), ("\n", "no rows")]
)
def test_a_broken_file_is_named(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(text, "utf-8")

    with pytest.raises(BadRequest, match=said):
        load(file, ())


def test_parts_are_taken_out_and_put_back() -> None:
    verify, reranked = truthful.verify, index.reranked

    with variant("verification, rerank").applied():
        assert truthful.verify is not verify
        assert index.reranked is not reranked

    assert truthful.verify is verify
    assert index.reranked is reranked


def test_limits_and_parts_reach_the_settings() -> None:
    changed = variant("novelty", "6/10")

    assert not changed.settings(load_settings()).enable_early_termination
    assert (changed.mode, changed.challenge) == ("deep", True)
    assert (changed.settings(load_settings()).max_iters, changed.settings(load_settings()).max_react_tool_calls) == (
        6,
        10,
    )


async def test_a_run_without_a_part_has_nothing_of_it() -> None:
    corpus = load(DATA / "harbour_corpus.jsonl", ("doc_id",))
    without = Variant(frozenset({"challenge", "verification"}))

    async with over(load_settings(), corpus) as team:
        (answer,) = await researched(team, ["In which year was the Bellin Lighthouse first lit?"], without)

    assert answer.report is not None
    assert answer.report.verifiable_ratio is None
    assert not any(claim.counter_search.queries for claim in answer.report.claims)
    assert of_document(answer.report)["unknown"] == 0


def test_the_figures_are_those_of_the_textbook() -> None:
    told = [("a", "a"), ("a", "b"), ("b", "b"), ("b", "none")]
    scored = [(True, 0.9), (True, 0.4), (False, 0.4), (False, 0.1)]

    assert accuracy(told) == 0.5
    assert macro_f1(told) == 0.5833
    assert balanced_accuracy(scored, 0.5) == 0.75
    assert auc(scored) == 0.875
    assert accuracy([]) == macro_f1([]) == auc([]) == balanced_accuracy([], 0.5) == 0.0
