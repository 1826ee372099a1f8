"""What closes a run: the claims of its queries challenged, and the frame around its sections.

Both need what was read, not what is written of it. So they begin when the last round of a single query is known to be the
last, beside its sections; else when all branches have ended.

And which questions of the contract have an answer that holds: by the words of facts, whatever anybody says of them.
"""

from collections.abc import Hashable, Sequence

from agents.contracts.contract import Brief, Contract
from agents.contracts.finding import AnsweredBy, Finding, Frame, FrameInput, Problem, QuestionAnswer
from agents.contracts.frozen import Frozen
from agents.contracts.plan import ReflectionInput, ReflectionResponse
from agents.core.errors import StepFailed
from agents.core.events import JobChanged
from agents.core.port import Ctx, computed, together
from agents.core.time_policy import FRAME_SHARE, REFLECTION_SHARE
from agents.offline.questions import Question, asks_for_facts, parts_of, plain_words, points, read_alone
from agents.offline.terms import listed
from agents.research.challenge.challenge import Challenged, ChallengeGiven, not_checked
from agents.research.loop.after_reading import MOVED, at_hand, verdict_line
from agents.research.loop.loop_decision import parts_in, sources_of
from agents.research.reading.answering import Told, absent_words, answer_of, told_by
from agents.research.reading.searching import ClosingTask, Setting
from agents.research.run_context import RunContext, asked
from agents.research.writing.sections import Numbering, facts_behind, prose_of
from agents.roles import FRAME_WRITER, REFLECTOR
from agents.search.searcher import CircuitBreaker

MOST_ANSWERING = 2
"""Facts for each answered part of the question that the last writer is shown in any case: the answer, and the step before."""
SHORT_SECTION, SHORT_LOOKUP = 80, 160
"""Words up to which the only section of a report is its summary: nobody is asked to say the same again."""


class Closed(Frozen):
    """What stands around the sections, and the verdicts on what they rest on."""

    challenged: tuple[Challenged, ...]
    frame: Frame | None
    problems: tuple[Problem, ...] = ()
    told: tuple[str, ...] = ()
    """Claims with the verdicts that the writers were told of."""


class RootFinding(Finding):
    """What a query came to, and what was closed beside its last sections."""

    closed: Closed | None = None


class EndGiven(Frozen):
    """The end of a round of the root: what it has read, before its sections are written."""

    finding: Finding
    setting: Setting
    task: ClosingTask
    asking: ReflectionInput | None
    """None where no further round is possible, so that nobody needs to be asked."""
    again: tuple[str, ...] = ()
    """What the user wanted tried again until then."""


class RoundEnd(Frozen):
    """What the reflection says; and where it wants nothing more, the closing."""

    reflection: ReflectionResponse | None = None
    problems: tuple[Problem, ...] = ()
    closed: Closed | None = None


async def run_end(context: RunContext, ctx: Ctx, given: EndGiven) -> RoundEnd:
    """Reflect on a round; where that asks for nothing more, close the run while the last sections are written."""
    reflection, problems = await reflect(ctx, context, given.asking, "0")
    goes_on = reflection is not None and not reflection.sufficient and bool(reflection.gaps)
    # Over what the user dropped nothing is closed: that is left out only when all branches have ended.
    if goes_on or ctx.dropped or ctx.again != given.again:
        return RoundEnd(reflection=reflection, problems=problems)
    closed = await close(ctx, context, given.task, (given.finding,), (given.setting,))
    return RoundEnd(reflection=reflection, problems=problems, closed=closed)


async def reflect(
    ctx: Ctx, context: RunContext, given: ReflectionInput | None, key: str
) -> tuple[ReflectionResponse | None, tuple[Problem, ...]]:
    """Ask the reflector; a failure ends the loop and loses nothing."""
    if given is None:
        return None, ()
    answer, problems = await asked(ctx, context, REFLECTOR, given, ctx.part(REFLECTION_SHARE), "reflector", key)
    return (None if answer is None else answer.output), problems


async def close(
    ctx: Ctx, context: RunContext, task: ClosingTask, findings: tuple[Finding, ...], settings: tuple[Setting, ...]
) -> Closed:
    """Challenge the claims and write the frame, side by side: nothing that is said to the run from now on reaches them.

    The writer is told what code makes of the claims by the facts at hand. The run is at the earlier of the two while both last.
    """
    if any(one.all_facts() for one in findings):
        ctx.emit("stage:challenging", JobChanged(status="running", stage="challenging"))
    pairs = zip(settings, findings, strict=True)
    known = [claim for setting, one in pairs for claim in await computed(at_hand, setting, one)]
    told = tuple(map(verdict_line, known))
    challenged, (frame, problems) = await together(
        challenge_all(ctx, findings, settings, task),
        write_frame(ctx, context, task.contract, (findings, ()), told, is_degraded(findings), key="0"),
    )
    return Closed(challenged=challenged, frame=frame, problems=problems, told=told)


async def challenge_all(
    ctx: Ctx, findings: tuple[Finding, ...], settings: tuple[Setting, ...], task: ClosingTask
) -> tuple[Challenged, ...]:
    """Challenge the claims of every query, side by side; one that fails leaves its claims unchecked."""
    items = [
        (
            f"challenge-{number}",
            ChallengeGiven(finding=finding, setting=setting, search=task.challenge, wanted=task.wanted),
        )
        for number, (finding, setting) in enumerate(zip(findings, settings, strict=True))
    ]
    results = await ctx.children("challenge", items, gives=Challenged)
    ctx.emit("stage:composing", JobChanged(status="running", stage="composing"))
    return tuple(
        not_checked(given, f"{ctx.path}/{key}", result) if isinstance(result, StepFailed) else result
        for (key, given), result in zip(items, results, strict=True)
    )


def surprises(challenged: tuple[Challenged, ...], told: Sequence[str]) -> bool:
    """Tell whether the challenge moved a verdict that no writer was told of."""
    return any(
        done.claim.verdict in MOVED and verdict_line(done.claim) not in told
        for one in challenged
        for done in one.claims
    )


async def write_frame(
    ctx: Ctx, context: RunContext, contract: Contract, held: tuple[tuple[Finding, ...], tuple[Finding, ...]],
    claims: tuple[str, ...], degraded: bool, *, key: str,
) -> tuple[Frame | None, tuple[Problem, ...]]:  # fmt: skip
    """Have the last synthesizer write around the sections; a report is made without it when it fails."""
    findings, counter = held
    if (alone := only_section(findings, contract.brief)) is not None:
        return alone, ()
    parts = _parts(findings)
    facts = facts_behind(tuple(parts), context.context_results)
    if not facts:
        return None, ()
    # What speaks against a claim is shown to the last writer too, although no section cites it yet.
    against = tuple(fact for finding in counter for fact in finding.facts)
    # So are the facts that answer a part of the question, wherever they were found.
    parts_asked = [one for one in answers_of(contract, findings) if one.asked]
    answering = {fact for one in parts_asked if one.status == "answered" for fact in one.facts[:MOST_ANSWERING]}
    found = tuple(fact for finding in findings for fact in finding.all_facts() if fact.id in answering)
    facts = tuple({fact.id: fact for fact in (*facts, *found, *against)}.values())
    numbering = Numbering(facts, sources_of((*findings, *counter)))
    brief = contract.brief
    given = FrameInput(
        question=brief.question, queries=tuple(query.text for query in brief.queries),
        titles=tuple(part.title for part in parts), facts=numbering.numbered,
        sections=tuple(numbering.to_numbers(prose) for part in parts if (prose := prose_of(part))),
        parts=tuple(AnsweredBy(part=one.question, facts=numbering.numbers(one.facts)) for one in parts_asked),
        missing=tuple(f"{part.title}: {part.note}" for part in parts_in(findings) if not part.children and part.status != "done"),
        language=brief.language, query_type=brief.query_type, degraded=degraded, claims=claims, today=brief.today,
    )  # fmt: skip
    answer, problems = await asked(ctx, context, FRAME_WRITER, given, ctx.writing(FRAME_SHARE), "frame", key)
    if answer is None:
        return None, problems
    texts = answer.output.model_dump(include={"summary", "insight", "conclusion"})
    return answer.output.model_copy(update={name: numbering.to_ids(text) for name, text in texts.items()}), problems


def only_section(findings: tuple[Finding, ...], brief: Brief) -> Frame | None:
    """Make the frame of a report that is one short section; None for any other."""
    written = [part for part in parts_in(findings) if part.markdown]
    most = SHORT_LOOKUP if asks_for_facts(brief.question) else SHORT_SECTION
    if len(written) != 1 or len(written[0].markdown.split()) > most:
        return None
    title = brief.queries[0].text if len(brief.queries) == 1 else brief.question
    return Frame(title=title.rstrip(" ?？"), summary=written[0].markdown, insight="", conclusion="", open_questions=())


def _parts(findings: tuple[Finding, ...]) -> list[Finding]:
    """The main branches that have something to say: a query's branches, or the queries when there are several."""
    branches = findings if len(findings) > 1 else tuple(child for finding in findings for child in finding.children)
    return [branch for branch in branches if prose_of(branch)] or [branch for branch in branches if branch.all_facts()]


def is_degraded(findings: tuple[Finding, ...]) -> bool:
    """Tell whether searching was limited: a provider stepped in for another, or too many searches failed."""
    breaker = CircuitBreaker(rest_s=0.0)
    for record in (record for part in parts_in(findings) for record in part.searches):
        if record.failed:
            breaker.failed(record.failed)
        else:
            breaker.succeeded()
        if breaker.is_open or (record.failures and not record.failed):
            return True
    return False


def answers_of(contract: Contract, findings: tuple[Finding, ...]) -> tuple[QuestionAnswer, ...]:
    """Say of each question of the contract, and of each leaf of its plans, how far it is answered.

    What a plan asks beyond the user's words is not incomplete for a word of the plan's own: it is answered, or not at all.
    """
    found: dict[Hashable, QuestionAnswer] = {}
    for plan, finding in zip(contract.plans, findings, strict=True):
        rows = told_by(finding.all_facts(), finding.all_sources())
        # Background is no part of the answer.
        leaves = [leaf for leaf in plan.root.leaves() if not leaf.discovery and leaf.priority != "low"]
        planned = [(text, leaf.title) for leaf in leaves for text in (leaf.spec or leaf).questions]
        as_planned = (
            _as_planned(part, [one for text, _ in planned for one in parts_of(text)]) for part in parts_of(plan.query)
        )
        asked_for = [(read_alone(part), part, "") for part in as_planned]
        for question, title in planned:
            parts = parts_of(question)
            asked_for += [(question if len(parts) == 1 else read_alone(one), one, title) for one in parts]
        for text, part, section in asked_for:
            _add(found, text, part, rows, section)
    return tuple(one for one in found.values() if one.asked or one.status != "partly")


def _as_planned(part: Question, planned: list[Question]) -> Question:
    """Give a part that only points as the plan words it: `Who used them?` as `Who used the night buses?`."""
    said = set(plain_words(listed("pointing").sub("", part.text)))
    named = (one for one in planned if points(part.text) and said <= set(plain_words(one.text)))
    return next(named, part)


def _add(found: dict[Hashable, QuestionAnswer], text: str, part: Question, rows: list[Told], section: str) -> None:
    """Note a part once, whoever asks it in which words; in a leaf's where one does, since its section can say so."""
    key = (part.kind, frozenset(part.names), part.matter) if part.matter else text
    said = part.text.strip(" ?？.,").casefold()
    if not part.shown and any(one.question.casefold().startswith(said) for one in found.values()):
        return  # a part that only points, and stands by itself in a plan: it is there with the names it points at
    before = found.get(key)
    if before is None or (not before.section and section):
        status, good = answer_of(part, rows)
        nearest = status == "partly" and any(row.by_meaning for row in good)
        asked = not section or before is not None
        lacks = absent_words(part, rows) if status == "partly" and not nearest else ()
        facts = tuple(dict.fromkeys(row.fact for row in good))
        found[key] = QuestionAnswer(
            question=text, status=status, facts=facts, section=section, asked=asked, absent=lacks, by_meaning=nearest
        )
