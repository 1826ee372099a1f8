"""What cannot be constructed: the walls of the house."""

import pytest
from pydantic import ValidationError

from agents.contracts.contract import Brief, Caps, Contract, Forecast, Query
from agents.contracts.fact import Fact, Insights
from agents.contracts.finding import Finding
from agents.contracts.frozen import digest
from agents.contracts.plan import Leaf, LoopDecision, Node, Plan, TaskSpec
from agents.contracts.report import BoundContract, Quote, Reference, ReportDocument, ReportSentence
from agents.contracts.sources import Source, SourceCard

LEAF = Leaf(title="Leaf", objective="Know it", questions=("What is it?",), searches=("it",))
CARD = SourceCard(id="s1", url="https://a.example/", title="A", kind="web", text_hash="00")
FACT = Fact(id="f0a", source_id="s1", statement="It is.", quote="It is.", start=0, end=6, confidence=0.9)


def chain(depth):
    node = Node(title="bottom", objective="o", children=(LEAF,))
    for number in range(depth - 1):
        node = Node(title=f"up {number}", objective="o", children=(node, LEAF))
    return node


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_plan_of_up_to_three_executors_in_a_row_is_feasible(depth):
    assert Plan(query="q", root=chain(depth)).root.depth() == depth


@pytest.mark.parametrize("depth", [4, 5, 8])
def test_a_deeper_plan_cannot_be_constructed(depth):
    with pytest.raises(ValidationError, match=f"{depth} executors deep; at most 3"):
        Plan(query="q", root=chain(depth))


def test_a_deeper_plan_cannot_be_read_from_json_either():
    text = Plan.model_construct(query="q", root=chain(4), claims=(), assumptions=()).model_dump_json()
    with pytest.raises(ValidationError, match="4 executors deep"):
        Plan.model_validate_json(text)


def test_a_leaf_without_questions_cannot_be_constructed():
    with pytest.raises(ValidationError, match="asks nothing"):
        Leaf(title="L", objective="o", questions=(), searches=("s",))


def test_a_leaf_with_a_task_spec_needs_no_questions_of_its_own():
    assert Leaf(title="L", objective="o", questions=(), searches=("s",), spec=TaskSpec(questions=("Why?",))).spec


def test_a_leaf_with_nothing_to_search_or_read_cannot_be_constructed():
    with pytest.raises(ValidationError, match="neither a search objective nor named sources"):
        Leaf(title="L", objective="o", questions=("q",))


def test_a_leaf_with_named_sources_needs_no_search():
    assert Leaf(title="L", objective="o", questions=("q",), sources=("https://a.example/",))


def test_a_finding_cannot_cite_a_fact_it_does_not_hold():
    with pytest.raises(ValidationError, match="cites facts that it does not hold"):
        Finding(
            path="job/0", title="t", role="leaf", status="done", markdown="It is.[#f0b]", facts=(FACT,), sources=(CARD,)
        )


def test_a_finding_cannot_hold_a_fact_of_an_unknown_source():
    with pytest.raises(ValidationError, match="facts of sources that it does not hold"):
        Finding(path="job/0", title="t", role="leaf", status="done", markdown="It is.[#f0a]", facts=(FACT,))


def test_a_finding_may_cite_what_its_children_hold():
    child = Finding(path="job/0/0", title="t", role="leaf", status="done", facts=(FACT,), sources=(CARD,))
    assert Finding(path="job/0", title="t", role="node", status="done", markdown="It is.[#f0a]", children=(child,))


def test_a_fact_whose_span_does_not_fit_its_quote_cannot_be_constructed():
    with pytest.raises(ValidationError, match="not as long as the quote"):
        Fact(id="f1", source_id="s1", statement="s", quote="It is.", start=0, end=5, confidence=1)


def test_a_source_is_held_to_the_hash_of_its_text():
    with pytest.raises(ValidationError, match="not the digest"):
        Source(id="s1", url="u", title="t", kind="web", text="abc", text_hash=digest("abd"))


def test_insights_without_a_trigger_cannot_be_constructed():
    with pytest.raises(ValidationError):
        Insights(triggers=())


def report(**changes):
    base = {
        "job_id": "j",
        "grade": "complete",
        "title": "T",
        "language": "en",
        "question": "q",
        "query_type": "other",
        "markdown": "It is. [1]",
        "sentences": (ReportSentence(text="It is.", citations=(1,), facts=("f0a",)),),
        "references": (
            Reference(
                n=1, source_id="s1", url="u", title="A", quotes=(Quote(text="It is.", start=0, end=6, fact_id="f0a"),)
            ),
        ),
        "contract": BoundContract(hash="h", question="q", queries=("q",)),
    }
    return ReportDocument(**{**base, **changes})


def test_a_report_whose_citations_and_references_agree_stands():
    assert report().references[0].n == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sentences": (ReportSentence(text="It is.", citations=(2,)),)}, "references that do not exist"),
        ({"sentences": ()}, "entries that nothing cites"),
        ({"sentences": (ReportSentence(text="It is.", citations=(1,), facts=("f0b",)),)}, "no reference quotes"),
        ({"grade": "nothing_found"}, "found nothing cites nothing"),
    ],
)
def test_a_report_whose_citations_and_references_differ_cannot_be_constructed(changes, message):
    with pytest.raises(ValidationError, match=message):
        report(**changes)


def test_a_query_deeper_than_three_is_never_feasible():
    with pytest.raises(ValidationError, match="not feasible"):
        Query(text="q", feasible=True, reason="r", depth_estimate=4)


def contract(queries=None, plans=None):
    query = Query(text="q", feasible=True, reason="r", depth_estimate=1)
    return Contract(
        brief=Brief(question="q", queries=queries or (query,), today="2026-11-27"),
        plans=plans or (Plan(query="q", root=chain(1)),),
        caps=Caps(rounds=3, searches=10, sources=15),
        forecast=Forecast(lines=()),
    )


def test_a_contract_cannot_hold_an_infeasible_query():
    bad = Query(text="everything", feasible=False, reason="too broad", depth_estimate=5)
    with pytest.raises(ValidationError, match="infeasible"):
        contract(queries=(bad,))


def test_a_contract_needs_a_plan_for_every_query():
    plan = Plan(query="q", root=chain(1))
    with pytest.raises(ValidationError, match="as many plans"):
        contract(plans=(plan, plan))


def test_the_hash_names_what_is_bound_and_not_the_forecast():
    one = contract()
    other = one.model_copy(update={"forecast": Forecast(lines=()), "models": ("another",)})
    changed = one.model_copy(update={"caps": one.caps.model_copy(update={"minutes": 9.0})})
    assert one.hash == other.hash != changed.hash


def test_a_loop_decision_has_all_its_keys_even_when_unused():
    decision = LoopDecision(
        iteration=1, summary="", gaps=(), shouldContinue=False, nextSearchTopic=None, urlToSearch=None,
        timeRemainingMinutes=None,
    )  # fmt: skip
    assert list(decision.model_dump(mode="json")) == [
        "iteration", "summary", "gaps", "shouldContinue", "nextSearchTopic", "urlToSearch", "timeRemainingMinutes",
    ]  # fmt: skip


def test_contracts_are_frozen_and_closed():
    with pytest.raises(ValidationError):
        LEAF.title = "other"
    with pytest.raises(ValidationError, match="Extra inputs"):
        Leaf(title="L", objective="o", questions=("q",), searches=("s",), depth=9)


@pytest.mark.parametrize(("given", "taken"), [(0.7, 0.7), (7, 0.7), (85, 0.85), (1.0, 1.0), (1, 0.1), (0, 0.0)])
def test_a_models_seven_of_ten_is_brought_to_the_scale_that_was_asked_for(given, taken):
    from agents.contracts.fact import PointedFact

    assert PointedFact(sentences=(1,), question=1, sure=given).sure == taken


@pytest.mark.parametrize("given", [-1, 101, 1000])
def test_a_figure_off_every_scale_is_refused(given):
    from agents.contracts.fact import PointedFact

    with pytest.raises(ValidationError):
        PointedFact(sentences=(1,), question=1, sure=given)
