"""Follow-up questions: answered from a finished report's own facts, with its own numbers, or said to need new research."""

from typing import Protocol

from agents.contracts.body import Sentence
from agents.contracts.finding import NumberedFact, SectionInput
from agents.contracts.frozen import Frozen, QueryType
from agents.contracts.report import Quote, Reference
from agents.core.budget import Deadline
from agents.core.errors import BadOutput, ModelError
from agents.nlp.tokens import content_words
from agents.offline.questions import parts_of
from agents.report.carriers import Carrier, Carriers
from agents.report.escaping import settled
from agents.report.parse_body import parse
from agents.report.write_markdown import by_number, markdown_of
from agents.research.reading.answering import speaks_of
from agents.research.run_context import RunContext
from agents.research.scoping.turn import checked
from agents.research.writing.verify_report import quotes_alone
from agents.roles import SECTION_WRITER
from agents.verify.checks import carried

MAX_FACTS = 16
ENOUGH = 0.5
"""Share of a question's telling words that the best fact must hold for the report to know the answer; and of those among
them that the report's own question lacks, since a fact about the same subject alone answers nothing new."""


class Quoting(Protocol):
    """What an answer rests on: a report, or what is known from earlier ones."""

    @property
    def references(self) -> tuple[Reference, ...]: ...
    @property
    def question(self) -> str: ...
    @property
    def language(self) -> str: ...
    @property
    def query_type(self) -> QueryType: ...


class FollowUpAnswer(Frozen):
    """An answer out of a report, or the news that it holds none."""

    markdown: str
    """Cites the report's own references, `[2]`; empty when nothing in it answers."""
    facts: tuple[str, ...] = ()
    """Ids of the facts behind the answer."""
    enough: bool
    """False: this needs new research."""


async def follow_up(context: RunContext, document: Quoting, question: str) -> FollowUpAnswer:
    """Answer `question` from the quotes of `document` alone.

    Raises:
        BadRequest: the question is empty or far too long.
    """
    text = checked(question)
    known = _near(document, text)
    if not known:
        return FollowUpAnswer(markdown="", enough=False)
    facts = tuple(
        NumberedFact(
            number=number, statement=" ".join(quote.text.split()), quote=quote.text, source=reference.title,
            source_number=reference.n, published=reference.published, topic=text,
        )
        for number, (reference, quote) in enumerate(known, start=1)
    )  # fmt: skip
    given = SectionInput(
        query=document.question or text, title=text[:120], objective=text, questions=(text,), facts=facts,
        language=document.language, query_type=document.query_type, today=context.today,
    )  # fmt: skip
    try:
        written = (await context.ask(SECTION_WRITER, given, Deadline())).output.markdown
    except (BadOutput, ModelError):
        # The words themselves are an answer too.
        written = "\n\n".join(f"“{fact.statement}”[f{fact.number}]" for fact in facts[:4])
    return _numbered(written, known, document.language)


def _near(document: Quoting, question: str) -> list[tuple[Reference, Quote]]:
    """Choose the quotes that share most telling words with the question; none when the best shares too few."""
    wanted = frozenset(content_words(question))
    if not wanted:
        return []
    new = wanted - frozenset(content_words(document.question))
    differ = [part for part in parts_of(question) if part.kind == "differ"]  # its answer shares no word with it
    scored = [
        (1.0 if tells else len(wanted & held) / len(wanted), reference, quote)
        for reference in document.references
        for quote in reference.quotes
        for held in [frozenset(content_words(f"{quote.text} {reference.title}"))]
        if (tells := any(speaks_of(part, quote.text) for part in differ)) or len(new & held) >= ENOUGH * len(new)
    ]
    scored.sort(key=lambda one: (-one[0], one[1].n, one[2].start))
    if not scored or scored[0][0] < ENOUGH:
        return []
    least = scored[0][0] / 2
    return [(reference, quote) for share, reference, quote in scored[:MAX_FACTS] if share >= least]


def _numbered(written: str, known: list[tuple[Reference, Quote]], language: str) -> FollowUpAnswer:
    """Keep the sentences that their quotes carry, and turn fact marks into the report's reference numbers."""
    places = {quote.fact_id: (reference, quote) for reference, quote in known}
    short = language.split("-")[0]
    numbers = {str(number): quote.fact_id for number, (_, quote) in enumerate(known, start=1)}
    body = parse(written, numbers, addresses=())
    shown = (Carrier(one.fact_id, one.text, one.text, of.source_id, of.title) for of, one in known)
    body = Carriers(shown, language).settle(body)
    body = settled(body, level=None, source_of=lambda fact: places[fact][0].source_id if fact in places else None)

    def numbered(sentence: Sentence) -> Sentence | None:
        held = [places[fact] for fact in sentence.facts]
        quotes = [quote.text for _, quote in held]
        good = {"supported", "partly"}
        if held and not (
            quotes_alone(sentence.text, quotes, language=short)
            or carried(sentence.text, quotes, language=short).verdict in good
        ):
            return None
        return sentence.model_copy(update={"citations": tuple(dict.fromkeys(reference.n for reference, _ in held))})

    body = body.changed(numbered)
    used = body.facts()
    return FollowUpAnswer(markdown=markdown_of(body, by_number) if used else "", facts=used, enough=bool(used))
