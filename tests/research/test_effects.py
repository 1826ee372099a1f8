"""What is typed must also matter: insights, task specs, priorities, guidance and failed searches, each by what it changes."""

import pytest

from agents.contracts.contract import Caps, ScopingTurn
from agents.contracts.fact import Extraction, PointedFact
from agents.contracts.plan import PlannedLeaf, PlanTree, ReflectionResponse
from agents.contracts.report import Actual
from agents.core.events import JobChanged
from agents.jobs.changes import reach_of
from agents.report.document import build
from agents.research.loop.loop_decision import LoopSettings
from agents.research.pipeline import Means
from agents.research.planning.freeze_contract import CapOverrides
from agents.research.scoping.turn import ScopingState, take_turn
from tests.research.test_steering import until
from tests.scripted_model import ScriptedModel
from tests.scripted_search import ScriptedSearcher
from tests.scripts import BRIEF, FLAT, QUERY, ROLES, WORLD, Worker, change, leaf, tree, working_model

LIMIT = "This count leaves out the nights, which nobody watched."
LINKED = "https://c.example/passengers"
POINTS = {
    "https://a.example/closures": (
        "Closures by winter",
        f"The Orvane ferry line was closed on 12 days in the winter of 2022/23. {LIMIT} "
        f"On how many days the Orvane ferry was closed in other winters is told at {LINKED}.",
    ),
    LINKED: ("The book of the line", "The Orvane ferry line was closed on 41 days in the winter of 2020/21."),
}
ONE = tree(
    leaf("Closures and their cost", "On how many days was the Orvane ferry line closed in winter?", priority="high")
)
ASKED = "Which nights was the ferry closed?"
SPLIT = (
    "How often were the ferries of Orvane closed?",
    "How often were those of Brindle closed?",
    "What did they cost?",
)


class Reader(Worker):
    """Reads like the worker, and notes a limit and a question of the source; reflects as it is told."""

    def __init__(self, plan=ONE, reflection=None):
        super().__init__()
        self.plan, self.reflection, self.seen = plan, reflection, []

    def __call__(self, request):
        given = request.given
        self.seen.append(given)
        kind = type(given).__name__
        if kind == "PlanningInput":
            return self.plan
        if kind == "ExtractionInput":
            sentences = [one for source in given.sources for one in source.sentences]
            limits = tuple(one.number for one in sentences if one.text.startswith("This count"))
            # What the report says itself is no open question: the limit is told of, and no fact.
            facts = tuple(
                PointedFact(sentences=(one.number,), question=1, sure=0.4, statement=one.text)
                for one in sentences
                if one.number not in limits
            )
            return Extraction(facts=facts, limitations=limits, follow_up_questions=(ASKED,))
        if kind == "ReflectionInput" and self.reflection is not None:
            return self.reflection
        return super().__call__(request)

    def of(self, kind):
        return [one for one in self.seen if type(one).__name__ == kind]


MORE = ReflectionResponse(
    sufficient=False, confidence=0.4, gaps=("other winters",), new_queries=("Orvane ferry other winters",)
)


def model_of(reader):
    return ScriptedModel(by_role=dict.fromkeys(ROLES, reader))


def only_first(pages=POINTS):
    """A world whose second page no search finds."""

    class Hidden(ScriptedSearcher):
        async def search(self, query, deadline_s=None):
            found = await super().search(query, deadline_s)
            return found.model_copy(update={"hits": tuple(hit for hit in found.hits if hit.url != LINKED)})

    return Hidden(pages)


async def test_limits_and_questions_of_sources_reach_the_reflection_and_the_open_questions(bench):
    reader = Reader(reflection=MORE)
    work = bench(model=model_of(reader), searcher=only_first())
    outcome = await work.run()
    (first, *_) = reader.of("ReflectionInput")
    assert LIMIT in first.raised
    assert any(line.startswith(ASKED) for line in first.raised)
    assert any(line.startswith(LINKED) for line in first.linked)
    document = build("a" * 32, outcome, Actual(), engine="scripted", reasons=True)
    assert any(LIMIT in line for line in document.limitations)
    assert any(ASKED in line for line in document.limitations)


async def test_a_source_that_another_points_at_for_the_question_is_read_in_the_next_round(bench):
    work = bench(model=model_of(Reader(reflection=MORE)), searcher=only_first())
    outcome = await work.run()
    decisions = [record.decision for part in outcome.findings[0].walk() for record in part.rounds]
    assert decisions[0].urlToSearch == LINKED
    assert LINKED in {card.url for card in outcome.findings[0].all_sources()}


async def test_a_source_on_a_site_that_the_contract_leaves_out_is_not_followed(bench):
    reader = Reader(reflection=MORE)
    work = bench(model=model_of(reader), searcher=only_first())
    outcome = await work.run(BRIEF.model_copy(update={"exclude_domains": ("c.example",)}))
    decisions = [record.decision for part in outcome.findings[0].walk() for record in part.rounds]
    assert decisions[0].urlToSearch is None
    assert reader.of("ReflectionInput")[0].linked == ()


async def test_a_source_that_points_elsewhere_is_not_followed(bench):
    away = {"https://a.example/closures": ("Closures by winter", POINTS["https://a.example/closures"][1].replace(
        "On how many days the Orvane ferry was closed in other winters is told at", "Cake recipes are sold cheaply by"))}  # fmt: skip
    work = bench(model=model_of(Reader(reflection=MORE)), searcher=only_first({**away, LINKED: POINTS[LINKED]}))
    outcome = await work.run()
    decisions = [record.decision for part in outcome.findings[0].walk() for record in part.rounds]
    assert decisions[0].urlToSearch is None


async def test_searches_that_found_next_to_nothing_are_told_to_the_reflection(bench):
    reader = Reader(reflection=MORE)
    await bench(model=model_of(reader), searcher=only_first()).run()
    (first, *_) = reader.of("ReflectionInput")
    assert f"{ONE.leaves[0].questions[0]} (attempt 1 of 3)" in first.failed_queries


async def test_a_round_says_what_was_learned_and_a_round_nobody_reflected_on_says_what_is_lacking(bench):
    work = bench(means=Means(limits=CapOverrides(rounds=1)), searcher=ScriptedSearcher(dict(list(WORLD.items())[:1])))
    outcome = await work.run()
    records = [record for part in outcome.findings[0].walk() for record in part.rounds]
    assert "days" in records[0].decision.summary
    assert records[-1].decision.gaps


SPEC = PlannedLeaf(
    heading="", title="Closures and their cost", questions=("On how many days was the Orvane ferry line closed in winter?",),
    search_terms=(), priority="low", discovery=False, expected_format="a number of days with its winter",
    acceptance_criteria=("counted, not estimated",),
)  # fmt: skip


async def test_what_the_planner_says_of_answers_reaches_the_extractor_word_for_word(bench):
    reader = Reader(plan=PlanTree(leaves=(SPEC,), claims=()))
    await bench(model=model_of(reader), searcher=only_first()).run()
    (given, *_) = reader.of("ExtractionInput")
    assert given.expected_format == SPEC.expected_format
    assert given.acceptance_criteria == SPEC.acceptance_criteria
    assert not given.rubric


async def test_without_it_the_executor_composes_a_rubric(bench):
    reader = Reader()
    await bench(model=model_of(reader), searcher=only_first()).run()
    (given, *_) = reader.of("ExtractionInput")
    assert given.rubric.startswith("Scope:")


async def test_what_matters_most_is_worked_on_first_where_places_are_short(bench):
    plan = tree(
        leaf("Passengers", "How many passengers did the Orvane ferry carry?", priority="low"),
        leaf("Costs", "What did the Orvane winter service cost?"),
        leaf("Closures", "On how many days was the Orvane ferry line closed in winter?", priority="high"),
    )
    searcher = ScriptedSearcher(WORLD)
    work = bench(model=working_model({}, planner=lambda request: plan), searcher=searcher,
                 means=Means(loop=LoopSettings(side_by_side=1)))  # fmt: skip
    outcome = await work.run()
    begun = [one.event for one in work.last.events if one.event.kind == "node" and one.event.state == "searching"]
    assert next(one.title for one in begun if one.role == "leaf") == "Closures"
    assert [part.title for part in outcome.findings[0].children][:3] == ["Passengers", "Costs", "Closures"]


async def test_no_more_branches_of_a_round_run_at_once_than_are_allowed(bench):
    work = bench(means=Means(loop=LoopSettings(side_by_side=2)))
    await work.run()
    at_work, most = set(), 0
    for numbered in work.last.events:
        event = numbered.event
        if event.kind == "node" and event.role == "leaf" and event.node.startswith("job/0/"):
            if event.state == "searching":
                at_work.add(event.node)
            elif event.state in {"writing", "done", "partial", "empty"}:  # read; its section waits for the others
                at_work.discard(event.node)
            most = max(most, len(at_work))
    assert most == 2


async def test_guidance_given_in_mid_run_reaches_readers_and_writers_of_what_is_still_to_come(bench):
    words = "Only winters since 2020."
    reader = Reader()
    work = bench(model=model_of(reader), searcher=only_first())

    class Told(ScriptedModel):
        async def reply(self, request, on_text=None):
            if type(request.given).__name__ == "ExtractionInput":
                change(work.last, "guidance", words=words)
            return await super().reply(request, on_text)

    work.model = Told(by_role=dict.fromkeys(ROLES, reader))
    await work.run()
    assert reader.of("SectionInput")[0].guidance == (words,)
    # The only section is the summary: no frame is written that could be told of it as well.
    assert not reader.of("FrameInput")


async def test_the_acknowledgement_says_what_guidance_still_reaches(bench):
    reaches = []
    work = bench()

    class Asked(ScriptedModel):
        async def reply(self, request, on_text=None):
            reaches.append((type(request.given).__name__, reach_of(work.last.events, rounds=3)))
            return await super().reply(request, on_text)

    work.model = Asked(by_role=dict.fromkeys(ROLES, Worker()))
    await work.run()
    reading = next(reach for kind, reach in reaches if kind == "ExtractionInput")
    assert (reading.branches, reading.round, reading.summary) == (3, 2, True)
    framing = next(reach for kind, reach in reaches if kind == "FrameInput")
    # Whoever writes it was told already what to heed.
    assert (framing.branches, framing.round, framing.summary) == (0, None, False)


def stages_of(run):
    return [one.event.stage for one in run.events if isinstance(one.event, JobChanged)]


@pytest.mark.parametrize("plan", [FLAT, ONE])
async def test_the_run_is_composing_once_its_claims_are_challenged_and_passes_each_stage_once(bench, plan):
    framing = []

    class Slow(ScriptedModel):
        async def reply(self, request, on_text=None):
            if type(request.given).__name__ == "FrameInput":
                await until(lambda: stages_of(work.last)[-1] != "challenging")
                framing.append(stages_of(work.last)[-1])
            return await super().reply(request, on_text)

    work = bench(Slow(by_role=dict.fromkeys(ROLES, Worker({QUERY.text: plan.model_copy(update={"claims": ()})}))))
    await work.run()
    assert framing == ["composing"] * (plan is FLAT)  # the only section of a report is its summary
    assert stages_of(work.last) == ["planning", "collecting", "challenging", "composing", "judging"]


async def test_what_the_challenge_moves_is_reworked_before_it_is_judged(bench):
    moves = "https://z.example/ice"

    class Late(ScriptedSearcher):
        async def search(self, query, deadline_s=None):
            found = await super().search(query, deadline_s)
            against = query.text.startswith("not ")
            return (
                found
                if against
                else found.model_copy(update={"hits": tuple(one for one in found.hits if one.url != moves)})
            )

    closed = "The Orvane ferry line was closed on 12 days in the winter of 2022/23."
    plan = FLAT.model_copy(update={"claims": (closed,)})
    work = bench(working_model({QUERY.text: plan}), searcher=Late(WORLD | {moves: ("Ice", closed.replace("12", "40"))}))
    await work.run()
    assert stages_of(work.last)[2:] == ["challenging", "composing", "reworking", "judging"]


async def test_a_part_that_was_agreed_and_that_no_leaf_asks_about_is_lacking_until_it_is_covered(bench):
    agreed = QUERY.model_copy(update={"sub_topics": ("ferry closures in winter", "volcanic eruptions nearby")})
    reader = Reader(reflection=MORE)
    work = bench(model=model_of(reader), searcher=only_first())
    await work.run(BRIEF.model_copy(update={"queries": (agreed,)}))
    (planning,) = reader.of("PlanningInput")
    assert planning.sub_topics == agreed.sub_topics
    (lacking, *_) = (given.missing for given in reader.of("ReflectionInput"))
    assert [line for line in lacking if "theme" in line] == ["The theme “volcanic eruptions nearby” is not covered."]


async def test_readers_of_a_later_round_are_told_what_is_known_and_hold_it_against_what_they_read(bench):
    reader = Reader(reflection=MORE)
    await bench(model=model_of(reader), searcher=only_first()).run()
    first, *later = reader.of("ExtractionInput")
    assert "Known:" not in first.rubric
    assert any("Known: The Orvane ferry line was closed on 12 days" in given.rubric for given in later)


async def test_readers_of_a_sweep_are_told_so_and_what_they_note_reaches_the_open_questions(bench):
    sweep = leaf("Sources", "Which records of the Orvane ferry winter closures exist?", discovery=True).model_copy(
        update={"acceptance_criteria": SPEC.acceptance_criteria}
    )
    passengers = leaf("Passengers", "How many passengers did the Orvane ferry carry?")
    reader = Reader(plan=tree(sweep, passengers), reflection=MORE)
    outcome = await bench(model=model_of(reader), searcher=only_first()).run()
    assert {given.discovery_intense for given in reader.of("ExtractionInput")} == {True, False}
    assert reader.of("ScoutInput")[0].acceptance_criteria == SPEC.acceptance_criteria
    (swept,) = (part for part in outcome.findings[0].walk() if part.shortlist)
    assert swept.insights[0].triggers[-1] == "discovery_intense"
    document = build("a" * 32, outcome, Actual(), engine="scripted", reasons=True)
    assert any(ASKED in line for line in document.limitations)
    assert any(line.startswith(ASKED) for line in reader.of("ReflectionInput")[0].raised)


async def test_what_a_sweep_chose_is_shown_with_its_tags_and_why(bench):
    sweep = tree(
        leaf("Sources", "Which records of the Orvane ferry winter closures exist?", discovery=True), *ONE.leaves
    )
    outcome = await bench(working_model({QUERY.text: sweep})).run()
    document = build("a" * 32, outcome, Actual(), engine="scripted", reasons=True)
    made = document.markdown.partition("## Methodology")[2]
    told = made.partition("Chosen for reading, and why:")[2].partition("\n\n##")[0]
    assert "primary source; Closures by winter · board; It counted the days itself." in told
    assert "primary sources: " in told
    assert "questions answered: 1/1" in told
    assert document.rounds_log[0].phase == "Collect"


@pytest.mark.parametrize(
    ("said", "limits"),
    [
        ("Only the ferries of Orvane, since 2015.", ("Only the ferries of Orvane, since 2015",)),
        ("Without Norway", ("Without Norway",)),
        *(
            (said, ())
            for said in ("Yes please", "sounds good, go on", "No idea, you choose", "Das zweite, bitte", "OK")
        ),
    ],
)
async def test_what_a_user_answers_to_a_broad_question_is_a_limit_that_the_planner_and_the_report_are_told(
    bench, said, limits
):
    broad = QUERY.model_copy(update={"text": "Everything about ferries?", "feasible": False, "suggested_split": SPLIT})
    narrow = QUERY.model_copy(update={"text": "How often were the ferries of Orvane closed?"})
    turns = [
        ScopingTurn(reply="Which?", queries=(query,), open_questions=(), query_type="other", tier="standard", language="en")
        for query in (broad, narrow, narrow)
    ]  # fmt: skip
    work = bench(model=working_model(manager=list(turns)))
    work.handlers()

    scope = ScopingState()
    for message in (broad.text, said, "Fine"):
        scope, _ = await take_turn(work.context, scope, message, max_depth=3, max_leaves=12, on_text=ignored)

    assert scope.queries[0].scope_limits == limits
    outcome = await work.run(BRIEF.model_copy(update={"queries": scope.queries}))
    written = build("j", outcome, Actual(), engine="scripted", reasons=True).markdown
    assert (said.strip(".") in written) is bool(limits)
    assert [one.given.scope_limits for one in work.model.asked if one.role == "planner"] == [limits]


async def ignored(_: str) -> None:
    """Take what is streamed."""


async def test_a_leaf_that_finds_all_sources_reserved_begins_when_those_beside_it_give_some_back(bench):
    caps = Caps(rounds=3, searches=10, sources=7)
    outcome = await bench(caps=caps).run()
    assert [(part.title, part.status) for part in outcome.findings[0].children] == [
        ("Closures", "done"),
        ("Costs", "done"),
        ("Passengers", "done"),
    ]
