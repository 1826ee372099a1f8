"""Sections: a leaf's prose over its facts, written beside the reflection on all that the round found.

What code can tell of the plan's claims from the facts at hand is told to the writer, so that a section is seldom
written twice: only where the search for counter-evidence moves a verdict afterwards.
"""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from agents.contracts.fact import Fact
from agents.contracts.finding import Finding, NumberedFact, Section, SectionInput
from agents.contracts.frozen import Frozen
from agents.contracts.sources import SourceCard
from agents.core.budget import Deadline
from agents.core.errors import StepFailed
from agents.core.events import SectionDraft, SectionWritten
from agents.core.port import Ctx, Handler
from agents.core.role import RoleAnswer
from agents.report.parse_body import parse
from agents.research.reading.leaf import SHORTENED, graded, kept, spent, stopped_with, sub_questions
from agents.research.reading.searching import LeafGiven, teller
from agents.research.run_context import RunContext
from agents.research.steering import CUT, STOPPED
from agents.research.writing.writer_input import Numbering, plain_section, spread
from agents.roles import SECTION_WRITER


class SectionGiven(Frozen):
    """A leaf that was read, and what code says of the claims that its facts touch."""

    leaf: LeafGiven
    finding: Finding
    verdicts: tuple[str, ...] = ()


class Written(NamedTuple):
    """A section, or what stands in its place."""

    markdown: str
    stood_in: str = ""
    failure: StepFailed | None = None
    """Why its quotes are listed in the place of prose."""


def section_handler(context: RunContext) -> Handler:
    """Write the section of one leaf."""

    async def run(ctx: Ctx, given: SectionGiven) -> Finding:
        found, started = given.finding, ctx.elapsed

        tell = teller(ctx, given.leaf.parent, "leaf", found.title, found.path)

        if found.status in {"empty", "failed"}:  # as the others it was told when it was read
            tell("writing", kept(found.facts, found.sources, "from"))
        written = await write_section(
            ctx, context, "0", partial(_put, given.leaf, given.verdicts), found.facts, found.sources, ctx.last_deadline,
            given.leaf.setting.language,
            lambda sentence: SectionDraft(node=found.path, title=found.title, text=sentence),
        )  # fmt: skip
        ctx.emit("section", SectionWritten(node=found.path, title=found.title, words=len(written.markdown.split())))
        status, note, ended, problems = found.status, found.note, found.ended, found.problems
        if status in {"empty", "failed"}:  # what it read said nothing, but what was read beside it did
            broken = [problem for problem in problems if problem.type != "SearchError"]
            tried = len(found.sources) + len(found.rejected) + len(broken)
            status, note = graded(found.searches, found.rejected, broken, tried, found_any=True)
        if (failure := written.failure) is not None:
            if failure.type == STOPPED:
                status, note, ended = "stopped", stopped_with(found.facts, found.sources), "stopped"
            elif status != "stopped":
                by_code = "the section could not be written; its quotes are listed"
                status, note = "partial", note or (SHORTENED if failure.type in CUT else by_code)
            if failure.type not in CUT:
                problems = (*problems, failure.problem())
        tell(status, note or kept(found.facts, found.sources, "kept"))
        cost = spent(ctx, started)
        known = found.cost_usd is not None and cost["cost_usd"] is not None
        dollars = (found.cost_usd or 0.0) + (cost["cost_usd"] or 0.0)
        return found.model_copy(
            update={
                "status": status,
                "note": note,
                "ended": ended,
                "markdown": written.markdown,
                "verdicts": given.verdicts,
                "engine_note": found.engine_note or written.stood_in,
                "problems": problems,
                "seconds": (found.seconds or 0.0) + cost["seconds"],
                "tokens": found.tokens + cost["tokens"],
                "cost_usd": dollars if known else None,
            }
        )

    return Handler(run=run, takes=SectionGiven, gives=Finding)


class Draft:
    """A section while it is written: each whole sentence is held against the facts that it cites before it is shown."""

    def __init__(self, show: Callable[[int, str], None], numbering: Numbering) -> None:
        self._show, self._numbering = show, numbering
        self._text, self._seen = "", 0

    async def take(self, piece: str) -> None:
        """Take the next piece of the text."""
        self._text += piece
        if not any(sign in piece for sign in ".!?。！？|\n"):
            return
        done = parse(self._text, self._numbering.marks()).sentences()[self._seen : -1]
        for sentence in done:
            self._seen += 1
            cited = sentence.facts
            holds = bool(cited) and await asyncio.to_thread(self._numbering.carries, sentence.text, cited)
            if holds:
                self._show(self._seen, sentence.text)


async def write_section(
    ctx: Ctx,
    context: RunContext,
    key: str,
    put: Callable[[tuple[NumberedFact, ...]], SectionInput],
    facts: Sequence[Fact],
    sources: Sequence[SourceCard],
    deadline: Deadline,
    language: str,
    told: Callable[[str], SectionDraft] | None = None,
) -> Written:
    """Have a section written over facts; where that fails, the reader gets the words that were found.

    With `told`, each sentence that holds is told of when it is written.
    """
    numbering = Numbering(spread(tuple(facts), context.context_results), tuple(sources), language)
    given = put(numbering.numbered)
    draft = (
        Draft(lambda number, sentence: ctx.emit(f"draft:{key}:{number}", told(sentence)), numbering) if told else None
    )
    try:
        asked = await ctx.call(
            "section", key, context.ask, SECTION_WRITER, given, deadline, None, draft and draft.take,
            gives=RoleAnswer[Section],
        )  # fmt: skip
    except StepFailed as failure:
        return Written(plain_section(tuple(facts)), failure=failure)
    return Written(numbering.to_ids(asked.output.markdown), asked.stood_in)


def _put(given: LeafGiven, verdicts: tuple[str, ...], facts: tuple[NumberedFact, ...]) -> SectionInput:
    leaf, setting = given.leaf, given.setting
    return SectionInput(
        query=setting.query,
        title=leaf.title,
        objective=leaf.objective,
        questions=sub_questions(leaf),
        facts=facts,
        siblings=given.siblings,
        verdicts=verdicts,
        language=setting.language,
        query_type=setting.query_type,
        today=setting.today,
    )
