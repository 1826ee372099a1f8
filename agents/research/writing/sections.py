"""Sections: a leaf's prose over its facts, written beside the reflection on all that the round found.

What code can tell of the plan's claims from the facts at hand is told to the writer, so that a section is seldom
written twice: only where the search for counter-evidence moves a verdict afterwards.

Writing: facts under numbers for the writer, the writer's numbers back to fact ids.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from agents.contracts.fact import Fact
from agents.contracts.finding import Finding, NumberedFact, Section, SectionInput, cited_facts
from agents.contracts.frozen import Frozen, Said
from agents.contracts.sources import SourceCard
from agents.core.budget import Deadline
from agents.core.errors import StepFailed
from agents.core.events import SectionDraft, SectionWritten
from agents.core.port import Ctx, computed
from agents.core.role import RoleAnswer
from agents.nlp.tokens import language_of
from agents.offline.questions import asks_for_facts, each_name, parts_of
from agents.report.carriers import Carrier, Carriers
from agents.report.parse_body import parse
from agents.report.write_markdown import markdown_of
from agents.research.reading.answering import answer_of, answers, has_kind, told_by
from agents.research.reading.leaf import SHORTENED, graded, kept, spent, stopped_with
from agents.research.reading.searching import LeafGiven, sub_questions, teller
from agents.research.reading.shortlisting import turns
from agents.research.run_context import MAX_FACTS, RunContext
from agents.research.steering import CUT, STOPPED
from agents.roles import SECTION_WRITER


class Numbering:
    """Facts of one writing task, under the numbers that its writer sees."""

    def __init__(self, facts: tuple[Fact, ...], sources: tuple[SourceCard, ...], language: str = "en") -> None:
        self.facts = facts
        cards = {card.id: card for card in sources}
        self._carriers = Carriers(
            (Carrier(one.id, one.statement, one.quote, one.source_id, cards[one.source_id].title) for one in facts),
            language,
        )
        order = {source_id: n for n, source_id in enumerate(dict.fromkeys(f.source_id for f in facts), start=1)}
        self.numbered = tuple(
            NumberedFact(
                number=number, statement=fact.statement, quote=fact.quote, source=_label(card),
                source_number=order[card.id], published=card.published, topic=fact.topic, heading=fact.heading,
            )
            for number, fact in enumerate(facts, start=1)
            for card in (cards[fact.source_id],)
        )  # fmt: skip
        self._number_of = {fact.id: number for number, fact in enumerate(facts, start=1)}

    def numbers(self, facts: Iterable[str]) -> tuple[int, ...]:
        """Give the numbers of facts; of those that are not shown, none."""
        return tuple(self._number_of[fact] for fact in facts if fact in self._number_of)

    def marks(self) -> dict[str, str]:
        """Give the ids of facts by the numbers that their writer sees."""
        return {str(number): fact_id for fact_id, number in self._number_of.items()}

    def carries(self, sentence: str, cited: Sequence[str]) -> bool:
        """Tell whether the facts that a sentence cites carry it, one alone or all together."""
        return self._carriers.carry(sentence, cited)

    def to_ids(self, markdown: str, asked: Iterable[str] = ()) -> str:
        """Turn the writer's `[f3]` into `[#id]`: of the facts that carry the sentence; numbers that do not exist go.

        The line that the prompt sets above a source's facts, and what was `asked`, go where a small model has copied them.
        """
        for shown in self.numbered:
            line = f"Source: {shown.source}"
            markdown = markdown.replace(f"{line}, {shown.published}", "").replace(line, "")
        return markdown_of(self._carriers.settle(parse(markdown, self.marks()), asked))

    def to_numbers(self, markdown: str) -> str:
        """Turn `[#id]` into `[f3]` for a writer that reads earlier prose; ids outside this numbering go."""
        return markdown_of(
            parse(markdown, self._number_of.keys()),
            lambda sentence: "".join(f"[f{self._number_of[fact]}]" for fact in sentence.facts),
        )


def _label(card: SourceCard) -> str:
    return card.title if not card.site else f"{card.title} ({card.site})"


def spread(facts: tuple[Fact, ...], limit: int = MAX_FACTS) -> tuple[Fact, ...]:
    """Choose the facts that a writer is shown: most certain first, taking turns over sources; in reading order."""
    if len(facts) <= limit:
        return facts
    surest = sorted(facts, key=lambda fact: -fact.confidence)
    chosen = {fact.id for fact in turns(surest, lambda fact: fact.source_id)[:limit]}
    return tuple(fact for fact in facts if fact.id in chosen)


def prose_of(finding: Finding) -> str:
    """All prose of a finding and below, in reading order."""
    return "\n\n".join(part.markdown for part in finding.walk() if part.markdown)


def facts_behind(findings: tuple[Finding, ...], limit: int = MAX_FACTS) -> tuple[Fact, ...]:
    """Choose the facts for whoever writes over `findings`: those that their prose cites, then others, each once."""
    facts = {fact.id: fact for finding in findings for fact in finding.all_facts()}
    cited = dict.fromkeys(mark for finding in findings for mark in cited_facts(prose_of(finding)))
    first = tuple(facts[mark] for mark in cited if mark in facts)
    return spread(first, limit) if first else spread(tuple(facts.values()), limit)


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


async def run_section(context: RunContext, ctx: Ctx, given: SectionGiven) -> Finding:
    """Write the section of one leaf."""
    found, started = given.finding, ctx.elapsed
    tell = teller(ctx, "leaf", found.title, found.path)

    if found.status in {"empty", "failed"}:  # as the others it was told when it was read
        tell("writing", kept(found.facts, found.sources))
    written = await write_section(
        ctx, context, "0", given, ctx.last_deadline,
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
            status, note = "partial", note or Said(SHORTENED if failure.type in CUT else by_code)
        if failure.type not in CUT:
            problems = (*problems, failure.problem())
    tell(status, note or kept(found.facts, found.sources, "kept"))
    cost = spent(ctx, started)
    known = found.cost_usd is not None and cost["cost_usd"] is not None
    dollars = (found.cost_usd or 0.0) + (cost["cost_usd"] or 0.0)
    update: dict[str, object] = {
        "status": status, "note": note, "ended": ended, "markdown": written.markdown, "verdicts": given.verdicts,
        "engine_note": found.engine_note or written.stood_in, "problems": problems,
        "seconds": (found.seconds or 0.0) + cost["seconds"], "tokens": found.tokens + cost["tokens"],
        "cost_usd": dollars if known else None,
    }  # fmt: skip
    return found.model_copy(update=update)


_GOES_ON = re.compile(r"[.!?]\S*\s+(?=\S)|[。！？](?=.)|[|\n]", re.DOTALL)
"""Where a sentence may have ended: what is written next has begun."""


class Draft:
    """A section while it is written: each whole sentence is held against the facts that it cites before it is shown."""

    def __init__(self, show: Callable[[int, str], None], numbering: Numbering) -> None:
        self._show, self._numbering = show, numbering
        self._text, self._at, self._seen = "", 0, 0

    async def take(self, piece: str) -> None:
        """Take the next piece of the text."""
        self._text += piece
        ends = [found.end() for found in _GOES_ON.finditer(self._text, self._at)]
        if not ends:
            return
        self._at = ends[-1]
        for sentence in parse(self._text, self._numbering.marks()).sentences()[self._seen : -1]:
            self._seen += 1
            if await computed(self._numbering.carries, sentence.text, sentence.facts):
                self._show(self._seen, sentence.text)


async def write_section(
    ctx: Ctx, context: RunContext, key: str, section: SectionGiven, deadline: Deadline,
    told: Callable[[str], SectionDraft] | None = None,
) -> Written:  # fmt: skip
    """Have a section written over facts; where that fails, the reader gets the words that were found.

    With `told`, each sentence that holds is told of when it is written.
    """
    facts, sources = section.finding.facts, section.finding.sources
    leaf, setting = section.leaf.leaf, section.leaf.setting
    numbering = Numbering(spread(facts, context.context_results), sources, setting.language)
    given = SectionInput(
        query=setting.query, title=leaf.title, objective=leaf.objective, questions=sub_questions(leaf),
        facts=numbering.numbered, siblings=section.leaf.siblings, verdicts=section.verdicts,
        language=setting.language, query_type=setting.query_type, today=setting.today,
    )  # fmt: skip
    if context.models[SECTION_WRITER.name].reasons and _is_said_by(given, facts):
        return Written(_with_mark(facts[0]))
    draft = None
    if told is not None:
        draft = Draft(lambda number, sentence: ctx.emit(f"draft:{key}:{number}", told(sentence)), numbering)
    try:
        asked = await ctx.call(
            "section", key, context.ask, SECTION_WRITER, given, deadline, None, draft and draft.take,
            gives=RoleAnswer[Section],
        )  # fmt: skip
    except StepFailed as failure:
        # Its quotes, so that nothing is lost.
        quotes = (f"“{' '.join(fact.quote.split())}” [#{fact.id}]" for fact in spread(facts, 12))
        return Written("\n\n".join(quotes), failure=failure)
    markdown = numbering.to_ids(asked.output.markdown, (given.title, given.objective, *given.questions))
    return Written(_with_answers(markdown, given.questions, facts, sources), asked.stood_in)


def _is_said_by(given: SectionInput, facts: Sequence[Fact]) -> bool:
    """Tell a lookup that found one fact, in the report's language: a writer could only say it again."""
    return (
        len(facts) == 1
        and not given.verdicts
        and all(map(asks_for_facts, given.questions))
        and language_of(facts[0].statement) == given.language.split("-")[0]
    )


def _with_mark(fact: Fact) -> str:
    return f"{' '.join(fact.statement.split())} [#{fact.id}]"


def _with_answers(markdown: str, questions: Sequence[str], facts: Sequence[Fact], sources: Sequence[SourceCard]) -> str:
    """Add what answers a question, about each of the things it asks about, where the writer left it out."""
    cited, rows = set(cited_facts(markdown)), told_by(facts, sources)
    known = {fact.id: fact for fact in facts}
    sentences, added = parse(markdown, known.keys()).sentences(), set[str]()
    for part in (one for text in questions for whole in parts_of(text) for one in each_name(whole)):
        status, good = answer_of(part, rows)
        alone = {row.fact for row in good if answers(part, row.quote, row.title, row.head, above=row.above)}
        # Of several steps the last one answers: it may not be missing, nor that which leads to it. Of what answers in
        # part, it is the one that says most of what is asked.
        steps = [row.fact for row in good[: 2 if status == "answered" and not alone else 1]]
        # A fact is cited for other things too: when a band was formed is not told by a sentence on who did it.
        told = {fact for one in sentences if has_kind(part, one.text) for fact in one.facts} | added
        if steps and asks_for_facts(part.text) and not told & (alone or {steps[0]}):
            for fact in (one for one in reversed(steps) if one not in cited or one == steps[0]):
                markdown = f"{markdown}\n\n{_with_mark(known[fact])}".strip()
                cited.add(fact)
                added.add(fact)
    return markdown
