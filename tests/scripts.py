"""A scripted model that does every role's work sensibly, and a small scripted world, for whole runs in milliseconds."""

from agents.contracts.contract import Brief, Command, Query, ScopingInput, ScopingTurn
from agents.contracts.fact import Extraction, ExtractionInput, PointedFact
from agents.contracts.finding import Frame, FrameInput, LeadInput, Section, SectionInput
from agents.contracts.plan import Leaf, PlannedLeaf, PlanningInput, PlanTree, ReflectionInput, ReflectionResponse
from agents.contracts.sources import Judged, ScoutInput, ScoutJudgement
from agents.contracts.verification import Attack, Challenge, ChallengeInput, JudgeInput, StanceInput, VerifyInput
from agents.core.role import Request
from agents.jobs.changes import allowed, applied
from agents.offline.judgements import judge, judge_stances, verify
from agents.research.reading.hold_extraction import SourceGiven
from agents.research.reading.searching import LeafGiven, Setting
from tests.scripted_model import ScriptedModel
from tests.scripted_search import ScriptedSearcher

WORLD = {
    "https://a.example/closures": (
        "Closures by winter",
        "The Orvane ferry line was closed on 12 days in the winter of 2022/23. In 2020/21 it was closed on 41 days. "
        "The board closes the line when the ice is thicker than 18 centimetres.",
    ),
    "https://b.example/costs": (
        "Costs of the winter service",
        "The winter service of the Orvane ferry cost 3.1 million crowns in 2023. Most of it was fuel for the ice breaker.",
    ),
    "https://c.example/passengers": (
        "Passengers",
        "The Orvane ferry carried 212,000 passengers in 2023. That was a third more than in 2021.",
    ),
}

QUERY = Query(
    text="How often was the Orvane ferry closed, and what did it cost?", feasible=True, reason="small", depth_estimate=1
)
BRIEF = Brief(question=QUERY.text, queries=(QUERY,), today="2026-11-27")


def leaf(title, *questions, heading="", priority="normal", discovery=False):
    return PlannedLeaf(
        heading=heading, title=title, questions=questions, search_terms=(), priority=priority, discovery=discovery
    )


def to_read(url, *questions):
    """Give what a leaf with these questions has read of one page."""
    asked = Leaf(title="Reading", objective=questions[0], questions=questions, sources=("https://b.example/",))
    return SourceGiven(urls=(url,), of=LeafGiven(leaf=asked, setting=Setting(query=questions[0], today="2026-11-28")))


def under(heading, *leaves):
    """Put leaves one level down."""
    return tuple(
        one.model_copy(update={"heading": " > ".join(filter(None, (heading, one.heading)))}) for one in _flat(leaves)
    )


def tree(*leaves, claims=()):
    return PlanTree(leaves=_flat(leaves), claims=claims)


def _flat(leaves):
    return tuple(one for some in leaves for one in (some if isinstance(some, tuple) else (some,)))


FLAT = tree(
    leaf("Closures", "On how many days was the Orvane ferry line closed in winter?"),
    leaf("Costs", "What did the Orvane winter service cost?"),
    leaf("Passengers", "How many passengers did the Orvane ferry carry?"),
    claims=("The Orvane line was closed on fewer than 10 days in 2022/23.",),
)


class Worker:
    """Answers each role from what it is given: extracts every sentence, writes every fact."""

    def __init__(self, plans=None):
        self.plans = plans or {}

    def __call__(self, request: Request):
        given = request.given
        match given:
            case ScopingInput():
                query = QUERY.model_copy(update={"text": given.message})
                return ScopingTurn(
                    reply="That is small enough as it is.", queries=(query,), open_questions=(), query_type="statistics",
                    tier="standard", language="en", ready=True,
                )  # fmt: skip
            case PlanningInput():
                return self.plans.get(given.query, FLAT)
            case ExtractionInput():
                facts = tuple(
                    PointedFact(sentences=(s.number,), question=1, sure=0.9, statement=s.text)
                    for one in given.sources
                    for s in one.sentences
                )
                return Extraction(facts=facts)
            case ScoutInput():
                everything = tuple(range(1, len(given.questions) + 1))
                return ScoutJudgement(
                    candidates=tuple(
                        Judged(
                            number=candidate.number, authority="primary", theme=candidate.title, perspective="board",
                            answers=everything, rationale="It counted the days itself.",
                        )
                        for candidate in given.candidates
                    )
                )  # fmt: skip
            case SectionInput() | LeadInput():
                return Section(markdown=" ".join(f"{f.statement}[f{f.number}]" for f in given.facts[:6]))
            case ChallengeInput():
                return Challenge(
                    attacks=tuple(Attack(claim_number=c.number, queries=(f"not {c.text}",)) for c in given.claims)
                )
            case StanceInput() | VerifyInput() | JudgeInput():
                return {StanceInput: judge_stances, VerifyInput: verify, JudgeInput: judge}[type(given)](given)
            case ReflectionInput():
                return ReflectionResponse(sufficient=True, confidence=0.9, gaps=(), new_queries=())
            case FrameInput():
                first = given.facts[0]
                return Frame(
                    title="Ferry winters", summary=f"{first.statement}[f{first.number}]", insight="", conclusion="",
                    open_questions=(),
                )  # fmt: skip
        raise AssertionError(f"unexpected input {type(given).__name__}")


ROLES = ("manager", "planner", "scout", "extractor", "reflector", "challenger", "verifier", "judge", "synthesizer")


def working_model(plans=None, **by_role):
    worker = Worker(plans)
    return ScriptedModel(by_role={**dict.fromkeys(ROLES, worker), **by_role})


def world(**kwargs):
    return ScriptedSearcher(WORLD, **kwargs)


def change(run, kind, node="", **given):
    """Say something to a run from outside, as the service of jobs does."""
    told = run.steering.take(allowed(Command(kind=kind, node=node, **given), run, BRIEF), run.now())
    applied(told, run)
    return told
