"""Every count on a screen or in a file equals the list behind it, over whole reports with any verdicts."""

import re
from io import BytesIO

import pytest
from docx import Document
from hypothesis import given
from hypothesis import strategies as st
from pypdf import PdfReader

from agents.api.reports import fragment
from agents.contracts.plan import Leaf, Node, Plan
from agents.contracts.report import Actual, ReportDocument, StandIn, tally
from agents.contracts.verification import Claim, Evidence, SentenceCheck, Truth
from agents.core.role import shown_name
from agents.report.docx_export import to_docx
from agents.report.html_export import to_html
from agents.report.methodology import claims_table
from agents.report.pdf_export import to_pdf
from agents.report.view import column_shares, to_markdown
from agents.report.wording import wording
from agents.research.writing.truthful import answers_of
from agents.team import EngineNames, wrote
from tests.unit.report_world import CLOSURES, contract, document

VERDICTS = ("supported", "partly", "unsupported", "contradicted", "uncited", "unchecked", "no_fact")
STANCES = ("supports", "contradicts", "qualifies", "unrelated")


def with_verdicts(report: ReportDocument, verdicts: list[str]) -> ReportDocument:
    """The same report, its sentences judged otherwise, in the text and in the list."""
    data = report.model_dump()
    for sentence, verdict in zip(data["sentences"], verdicts, strict=False):
        sentence["verdict"] = verdict
    return ReportDocument.model_validate(data)


@given(st.lists(st.sampled_from(VERDICTS), min_size=12, max_size=12))
def test_the_head_counts_what_is_listed(verdicts: list[str]) -> None:
    report = with_verdicts(document(), verdicts)
    counts = fragment(report)["counts"]
    assert counts["sentences"] == len(report.sentences)
    assert counts["cited"] == sum(bool(one.citations) for one in report.sentences)
    assert counts["sources"] == len(report.references)
    assert (counts["verified"], counts["judged"]) == tally(one.verdict for one in report.sentences)
    assert counts["verified"] <= counts["judged"] <= counts["sentences"]


@given(st.lists(st.tuples(st.sampled_from(STANCES), st.sampled_from(("a", "b", "c"))), max_size=9))
def test_a_claims_row_counts_each_quote_once_as_it_is_listed(given_: list[tuple[str, str]]) -> None:
    evidence = tuple(
        Evidence(fact_id=f"f{n}", source_id="s1", domain="a.org", stance=stance, strength=0.9, quote=quote)
        for n, (stance, quote) in enumerate(given_)
    )
    claim = Claim(id="c1", text="It holds.", verdict="contested", evidence=evidence)
    row = claims_table((claim,), (), wording("en")).rows[0]
    shown = ["".join(part.text for part in cell.inline) for cell in row]
    for cell, stances in ((shown[3], {"supports"}), (shown[4], {"contradicts", "qualifies"})):
        quotes = {quote for stance, quote in given_ if stance in stances}
        assert cell.startswith(f"{len(quotes)}:" if quotes else "–")


def test_the_sentence_of_the_methodology_counts_as_the_head_does() -> None:
    report = document()
    verified, judged = tally(one.verdict for one in report.sentences)
    found = re.search(r"(\d+) of (\d+) statements? (?:was|were) verified", report.markdown)
    assert (found is None and not judged) or (int(found[1]), int(found[2])) == (verified, judged)


def test_a_report_names_who_really_answered() -> None:
    bound = EngineNames(names=("openai//models/qwen.gguf",), reasons=True)
    stood_in = StandIn(model="offline engine", stood_in_for="openai//models/qwen.gguf", answers=4)
    assert wrote(bound, Actual(tokens_out=90)) == "qwen"
    assert wrote(bound, Actual(tokens_out=90, stand_ins=(stood_in,))) == "qwen"
    assert wrote(bound, Actual(stand_ins=(stood_in,))) == "offline engine"


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("openai/gpt-x", "gpt-x"),
        ("openai//srv/models/qwen.gguf", "qwen"),
        ("openrouter/some/one-70b", "one-70b"),
        ("offline engine", "offline engine"),
    ],
)
def test_a_model_is_named_without_provider_and_folder(model: str, name: str) -> None:
    assert shown_name(model) == name


def test_a_part_that_stands_in_plan_and_question_is_listed_once() -> None:
    whole = "What became of the meadows of Tolven Bay, and which differences in counting explain the figures?"
    leaf = Leaf(
        title="l", objective="o", questions=("Which differences in counting explain the figures?",), searches=("s",)
    )
    plan = Plan(query=whole, root=Node(title="r", objective="o", children=(leaf,)))
    bound = contract().model_copy(update={"plans": (plan,)})
    listed = [one.question for one in answers_of(bound, (CLOSURES,))]
    assert sum(one.startswith("Which differences") for one in listed) == 1


def test_a_part_that_only_points_is_listed_as_the_plan_words_it() -> None:
    leaf = Leaf(title="l", objective="o", questions=("Who used the ferry line?",), searches=("s",))
    plan = Plan(
        query="Was the ferry line closed, and who used it?", root=Node(title="r", objective="o", children=(leaf,))
    )
    bound = contract().model_copy(update={"plans": (plan,)})
    listed = [one.question for one in answers_of(bound, (CLOSURES,))]
    assert listed == ["Was the ferry line closed?", "Who used the ferry line?"]


def test_a_word_that_only_the_plan_uses_makes_no_question_incomplete_and_one_of_the_user_does() -> None:
    def told(query: str) -> dict[str, str]:
        leaf = Leaf(
            title="l", objective="o", questions=("How often was the ferry line closed in 2023?",), searches=("s",)
        )
        plan = Plan(query=query, root=Node(title="r", objective="o", children=(leaf,)))
        bound = contract().model_copy(update={"plans": (plan,)})
        return {one.question: one.status for one in answers_of(bound, (CLOSURES,))}

    own = "On how many days was the line closed in the winter of 2022/23?"
    assert told(own) == {own: "answered"}
    assert told("How often was the ferry line closed in 2023?") == {
        "How often was the ferry line closed in 2023?": "partly"
    }


def test_no_word_of_a_table_runs_into_the_next_column() -> None:
    evidence = (Evidence(fact_id="f1", source_id="s1", domain="a.org", stance="supports", strength=0.9, quote="q"),)
    long = "Between January 2020 and December 2024 the programme planted 44.6 hectares of eelgrass in Tolven Bay. " * 2
    claim = Claim(id="c1", text=long, verdict="supported", confidence=0.8, evidence=evidence)
    shares = column_shares(claims_table((claim,), (), wording("en")))
    assert sum(shares) == pytest.approx(1)
    assert shares[1] * 100 >= len("supported") + 2
    assert shares[2] * 100 >= len("Confidence") + 2


def test_a_sentence_that_is_qualified_says_by_what_in_every_form() -> None:
    why = "The source says it with a reservation (may) that the sentence leaves out."
    (first, *_) = (one for one in document().sentences if one.citations)
    check = SentenceCheck(text=first.text, facts=first.facts, verdict="partly", reason=why)
    report = document(truth=Truth(checks=(check,)))
    said = f"qualified: {why.rstrip('.')}"
    assert said in to_html(report)
    assert f".[1] *({said})*" in to_markdown(report)
    assert said in " ".join("".join(page.extract_text() for page in PdfReader(BytesIO(to_pdf(report))).pages).split())
    assert said in "\n".join(part.text for part in Document(BytesIO(to_docx(report))).paragraphs)
    assert f'data-verdict="partly" title="{why}"' in str(fragment(report)["html"])
    assert next(one for one in report.sentences if one.text == first.text).why == why
