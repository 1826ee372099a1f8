"""All roles, in one list: what is bound to models, checked against the prompts, and offered for a choice of model.

The manager is the only one that talks to the user; each of the others returns a contract that code acts on.
"""

import re
from dataclasses import replace
from typing import TypeVar

from agents.contracts.body import Body
from agents.contracts.contract import Query, ScopingInput, ScopingTurn, UnheardTurn
from agents.contracts.fact import Extraction, ExtractionInput
from agents.contracts.finding import Frame, FrameInput, LeadInput, NumberedFact, Section, SectionInput
from agents.contracts.frozen import Frozen
from agents.contracts.plan import PlanningInput, PlanTree, ReflectionInput, ReflectionResponse
from agents.contracts.response import FlatPlan, FlatPlanInput
from agents.contracts.sources import ScoutInput, ScoutJudgement
from agents.contracts.verification import (
    Challenge,
    ChallengeInput,
    JudgeInput,
    Judgement,
    StanceInput,
    Stances,
    Verified,
    VerifyInput,
)
from agents.core.errors import Reject
from agents.core.role import Role
from agents.nlp.tokens import without_strange_years
from agents.offline.manager import scope
from agents.offline.questions import asks_for_facts, parts_of, points
from agents.offline.terms import names
from agents.report.carriers import Carrier, Carriers
from agents.report.parse_body import parse

In = TypeVar("In", bound=Frozen)
Out = TypeVar("Out", bound=Frozen)

MAX_OPEN_QUESTIONS = 2
"""Questions to the user at a time (specification, section 3)."""
MAX_QUERIES = 6
"""Queries of one brief; more are several briefs."""
LONGEST_QUESTION = 500
"""Characters up to which a message may be a query as it stands."""


_FIELD = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")
_FIGURE = re.compile(r"\d+")
"""The name of a field of an answer."""
_SENTENCE = re.compile(r"[^.!?]+[.!?]*")
SEARCHED = frozenset({"heading", "title", "questions", "search_terms", "query", "queries", "new_queries"})
"""Fields of answers that will be searched for."""


def only_given_years(given: In, answer: Out) -> Out:
    """Take out of what will be searched the years that neither the input nor today gives."""
    known = {"survey", "today"} & set(type(given).model_fields)
    clean = without_strange_years(given.model_dump_json(exclude=known), getattr(given, "today", ""))

    def cleaned(value: object, searched: bool = False) -> object:
        match value:
            case str():
                return clean(value) if searched else value
            case dict():
                return {name: cleaned(one, name in SEARCHED) for name, one in value.items()}
            case list() | tuple():
                texts = searched and all(isinstance(one, str) for one in value)
                return list(dict.fromkeys(map(clean, value))) if texts else [cleaned(one) for one in value]
        return value

    return type(answer).model_validate(cleaned(answer.model_dump()))


def infeasible_offers_a_way(given: ScopingInput, turn: ScopingTurn) -> None:
    """Refuse a 'no' without narrower questions to choose from."""
    for query in turn.queries:
        if not query.feasible and len(query.suggested_split) < 2:
            raise Reject(
                f"Query {query.text!r} is not feasible: offer at least two narrower questions in `suggested_split`."
            )


def _tells(reply: str, given: ScopingInput, queries: tuple[Query, ...]) -> bool:
    """Tell a reply that names somebody or a figure of which nobody has asked: it answers, and no source says so."""
    known = " ".join((given.message, *(query.text for query in queries))).casefold()
    return any(one.casefold() not in known for one in (*names(reply), *_FIGURE.findall(reply)))


def settled(given: ScopingInput, turn: ScopingTurn) -> ScopingTurn:
    """Merge what is said twice, leave out what is too much, and say by code whether anything is open.

    A first message is one query where it asks for a few facts, or a part of it can't be read alone: `…, and what do they cost?`
    Of what asks for facts no part is left out.
    """
    distinct = {query.text.casefold(): query for query in reversed(turn.queries)}
    queries = tuple([*distinct.values()][::-1][:MAX_QUERIES])
    short = len(given.message) <= LONGEST_QUESTION and not given.agreed
    asked_whole = asks_for_facts(given.message) or any(points(query.text) for query in queries)
    parts = sum(len(parts_of(query.text)) for query in queries)
    lacks = asks_for_facts(given.message) and parts < len(parts_of(given.message))
    if short and queries and (lacks or len(queries) > 1) and asked_whole:
        deepest = max(queries, key=lambda query: (not query.feasible, query.depth_estimate))
        queries = (deepest.model_copy(update={"text": given.message}),)
    open_questions = tuple(question for question in turn.open_questions if question.strip())[:MAX_OPEN_QUESTIONS]
    feasible = bool(queries) and all(query.feasible for query in queries)
    reply = turn.reply
    answers = feasible and not open_questions and asks_for_facts(given.message) and _tells(reply, given, queries)
    if answers or _FIELD.search(reply):
        by_code = scope(given)
        same = {query.feasible for query in by_code.queries} == {query.feasible for query in queries}
        reply = (
            by_code.reply.split("\n\n")[0]
            if same
            else " ".join(one for one in _SENTENCE.findall(reply) if not _FIELD.search(one)) or reply
        )
    return turn.model_copy(
        update={
            "reply": reply, "queries": queries, "open_questions": open_questions,
            "ready": turn.ready and feasible and not open_questions,
        }
    )  # fmt: skip


MANAGER = Role(
    name="manager", takes=ScopingInput, gives=ScopingTurn, checks=(infeasible_offers_a_way,), mend=settled,
    max_output_tokens=1500,
)  # fmt: skip
"""One scoping turn: the user's message and the talk so far in, the reply and the queries with verdicts out."""


UNHEARD_MANAGER = replace(MANAGER, gives=UnheardTurn)
"""The manager where the question came without a talk: the verdicts alone."""


PLANNER = Role(
    name="planner", takes=PlanningInput, gives=PlanTree, mend=only_given_years, max_output_tokens=1500,
    listed="leaves", partial=True,
)  # fmt: skip
"""One query in, the leaves of its whole tree and its claims out. What exceeds the bounds is trimmed by code."""


FLAT_MIN_QUERIES, FLAT_MAX_QUERIES = 3, 6
"""Queries of a flat plan (specification, section 4)."""


def enough_queries(given: FlatPlanInput, plan: FlatPlan) -> None:
    """Refuse too few queries, unless fewer may be searched anyway, or the task was planned by its own parts."""
    wanted = min(FLAT_MIN_QUERIES, given.max_queries)
    distinct = {query.query.casefold() for query in plan.queries}
    if plan.feasible and plan.leaves is None and len(distinct) < wanted:
        raise Reject(f"Give {FLAT_MIN_QUERIES} to {FLAT_MAX_QUERIES} different queries; you gave {len(distinct)}.")


def infeasible_task_offers_a_way(given: FlatPlanInput, plan: FlatPlan) -> None:
    """Refuse a 'no' without reasons and narrower tasks to choose from."""
    if not plan.feasible and (not plan.reasons or len(plan.suggested_splits) < 2):
        raise Reject("`feasible` is false: give at least one reason and at least two narrower tasks.")


FLAT_PLANNER = Role(
    name="planner", prompt="plan_flat", takes=FlatPlanInput, gives=FlatPlan,
    checks=(enough_queries, infeasible_task_offers_a_way), mend=only_given_years, max_output_tokens=1200,
    listed="queries",
)  # fmt: skip
"""A task in; its tier, and what to search for and why out. What is more than six is left out by code."""


def judges_what_it_was_shown(given: ScoutInput, judgement: ScoutJudgement) -> None:
    """Refuse a judgement of nothing that was shown; candidates that are left out are judged by code."""
    shown = {candidate.number for candidate in given.candidates}
    if not shown.intersection(one.number for one in judgement.candidates):
        raise Reject(f"Judge every candidate by its number, 1 to {len(shown)}; you judged none of them.")


SCOUT = Role(
    name="scout", takes=ScoutInput, gives=ScoutJudgement, checks=(judges_what_it_was_shown,), max_output_tokens=1200,
    listed="candidates", partial=True,
)  # fmt: skip
"""Numbered candidates in; authority, theme, perspective, answered questions and rationale of each out."""


EXTRACTOR = Role(
    name="extractor", takes=ExtractionInput, gives=Extraction, max_output_tokens=700, may_shrink=True, listed="facts",
    partial=True,
)  # fmt: skip
"""Numbered sentences in, numbers out: quotes are verbatim by construction. Code drops numbers that do not exist."""


MAX_NEW_QUERIES = 4


def few_next_queries(given: ReflectionInput, reflection: ReflectionResponse) -> ReflectionResponse:
    """Clean what is looked for next, and leave out a flood of it."""
    cleaned = only_given_years(given, reflection)
    return cleaned.model_copy(update={"new_queries": cleaned.new_queries[:MAX_NEW_QUERIES]})


REFLECTOR = Role(
    name="reflector", takes=ReflectionInput, gives=ReflectionResponse, mend=few_next_queries, max_output_tokens=600,
)  # fmt: skip
"""How a node stands after a round in, gaps and next queries out."""


CHALLENGER = Role(
    name="challenger", takes=ChallengeInput, gives=Challenge, mend=only_given_years, max_output_tokens=700,
    listed="attacks", partial=True,
)  # fmt: skip
"""The claims of one query in, searches for counter-evidence out."""


STANCE_JUDGE = Role(
    name="verifier", prompt="verifier_stance", takes=StanceInput, gives=Stances, max_output_tokens=500, listed="rows",
    partial=True,
)  # fmt: skip
"""Claims with words that code can't place in, one word each out."""

VERIFIER = Role(
    name="verifier", prompt="verifier_support", takes=VerifyInput, gives=Verified, max_output_tokens=400,
    listed="rows", partial=True,
)  # fmt: skip
"""Sentences with their quotes in, what the quotes do for each out. Asked only where code cannot tell."""


def changes_have_reasons(given: JudgeInput, judgement: Judgement) -> None:
    """Refuse a request for changes that names none."""
    if judgement.verdict == "request_changes" and not any(reason.strip() for reason in judgement.reasons):
        raise Reject("You request changes but give no reason. Name what has to change.")


JUDGE = Role(name="judge", takes=JudgeInput, gives=Judgement, checks=(changes_have_reasons,), max_output_tokens=800)
"""Summary, claims and shortfalls in, a verdict with reasons out."""


Writing = SectionInput | LeadInput | FrameInput


def cites_its_facts(given: Writing, written: Section | Frame) -> None:
    """Refuse prose, or a summary, without a single usable citation, counting those that code can put in by itself."""
    markdown = written.summary if isinstance(written, Frame) else written.markdown
    if not (_read(markdown, given.facts).facts() or _carried(markdown, given).facts()):
        raise Reject("No sentence cites a fact that exists. Put `[f1]` (the number of the fact) behind each sentence.")


def _read(markdown: str, facts: tuple[NumberedFact, ...]) -> Body:
    return parse(markdown, {str(fact.number): str(fact.number) for fact in facts})


def _carried(markdown: str, given: Writing) -> Body:
    """Leave the sentences that facts carry, with their marks: small models forget them, and code puts them in afterwards."""
    shown = (Carrier(str(fact.number), fact.statement, fact.quote, fact.source, fact.source) for fact in given.facts)
    asked = (given.title, given.objective, *given.questions) if isinstance(given, SectionInput) else ()
    return Carriers(shown, given.language).settle(_read(markdown, given.facts), asked)


SECTION_WRITER = Role(
    name="synthesizer", prompt="synthesizer_section", takes=SectionInput, gives=Section, checks=(cites_its_facts,),
    max_output_tokens=450, may_shrink=True, prose="markdown",
)  # fmt: skip
"""A leaf's facts in, its section of the report out."""

LEAD_WRITER = Role(
    name="synthesizer", prompt="synthesizer_lead", takes=LeadInput, gives=Section, checks=(cites_its_facts,),
    max_output_tokens=400, may_shrink=True, prose="markdown",
)  # fmt: skip
"""More than two results of an inner executor in, the words that open their branch out."""

FRAME_WRITER = Role(
    name="synthesizer", prompt="synthesizer_frame", takes=FrameInput, gives=Frame, checks=(cites_its_facts,),
    max_output_tokens=1200, may_shrink=True,
)  # fmt: skip
"""All sections in; title, summary, insight across them and conclusion out."""


ROLES: tuple[Role[Frozen, Frozen], ...] = (  # type: ignore[assignment]  # a role's contracts are its own affair
    MANAGER,
    PLANNER,
    FLAT_PLANNER,
    SCOUT,
    EXTRACTOR,
    REFLECTOR,
    CHALLENGER,
    STANCE_JUDGE,
    VERIFIER,
    JUDGE,
    SECTION_WRITER,
    LEAD_WRITER,
    FRAME_WRITER,
)
