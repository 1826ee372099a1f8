"""Verification of every factual sentence: figures, names and negations by code first, then by the verifier; then repair.

A check annotates. It can change or strike a sentence, and never lose a report.
"""

import re
from collections.abc import Mapping, Sequence

from agents.contracts.body import SentenceVerdict
from agents.contracts.fact import Fact
from agents.contracts.finding import Finding
from agents.contracts.frozen import Frozen
from agents.contracts.report import ReportDocument, ReportSentence
from agents.contracts.sources import SourceCard
from agents.contracts.verification import SentenceCheck, SentenceNote, Verified, VerifyInput
from agents.core.errors import StepFailed
from agents.core.port import Ctx, computed
from agents.core.role import RoleAnswer
from agents.nlp.tokens import content_words
from agents.research.run_context import RunContext
from agents.roles import VERIFIER
from agents.verify.checks import carried, mixes, names_in
from agents.verify.distortions import doubts
from agents.verify.negation import denies
from agents.verify.parsed_text import reason as reason_of
from agents.verify.quotes import speaks_for_itself

_FIGURES = re.compile(r"\d+")
_QUOTED = re.compile(r"“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»")
JOINING_WORDS = 5
"""Telling words outside the quotation marks, at most, for a sentence to be no more than its quotations."""

BATCH = 12
"""Sentences of one call to the verifier."""
SURE = 0.8
"""Score from which code's `supported` needs no second opinion."""


class Checks(Frozen):
    """Verdicts on sentences, in the order of the body."""

    checks: tuple[SentenceCheck, ...] = ()
    unsure: tuple[int, ...] = ()
    """Places of those that code could not decide."""


def check_all(
    sentences: Sequence[ReportSentence], facts: Mapping[str, Fact], cards: Mapping[str, SourceCard], language: str
) -> Checks:
    """Check every sentence that states a fact by code alone; pure.

    Who said it (of the sources in `cards`) may be named without standing in the quote.
    """
    checks: list[SentenceCheck] = []
    unsure: list[int] = []
    for sentence in (one for one in sentences if one.verdict is not None):
        held = [facts[fact] for fact in sentence.facts if fact in facts]
        verdict, reason, sure = _verdict(sentence.text, held, cards, language.split("-")[0])
        if not sure:
            unsure.append(len(checks))
        checks.append(SentenceCheck(text=sentence.text, facts=sentence.facts, verdict=verdict, reason=reason))
    return Checks(checks=tuple(checks), unsure=tuple(unsure))


def _verdict(
    text: str, held: Sequence[Fact], cards: Mapping[str, SourceCard], language: str
) -> tuple[SentenceVerdict, str, bool]:
    """Hold one sentence against its facts: the verdict, its reason, and whether code is sure of it."""
    if not held:
        return "uncited", "no citation", True
    behind = [cards[fact.source_id] for fact in held if fact.source_id in cards]
    words = unattributed(text, behind)
    told_by = [name for card in behind for name in (card.site, card.author, card.title) if name]
    quotes = [fact.quote for fact in held]
    if quotes_alone(words, quotes, told_by, language):
        return "supported", "quoted word for word", True
    found = carried(words, [*quotes, *named(behind)], language=language, context=[card.title for card in behind])
    if found.verdict == "supported" and len(held) > 1 and _mixed(words, held, cards, language):
        return "unsupported", reason_of("mixed", language), True
    sure = found.binding or (found.verdict == "supported" and found.score >= SURE)
    return found.verdict, found.reasons[0] if found.reasons else "", sure


def _mixed(sentence: str, held: Sequence[Fact], cards: Mapping[str, SourceCard], language: str) -> bool:
    """Tell a sentence that no fact carries alone, and that gives to one thing what is said of another."""
    rows = [(fact.quote, cards[fact.source_id].title if fact.source_id in cards else "") for fact in held]
    alone = (carried(sentence, [quote], language=language, context=[title]).verdict for quote, title in rows)
    return "supported" not in alone and mixes(sentence, rows, language=language)


def unattributed(sentence: str, cards: Sequence[SourceCard]) -> str:
    """Take out who said it: `Publisher: …` in front and `(Publisher, 2022)` behind are true by the reference itself."""
    for card in cards:
        for name in filter(None, (card.site, card.author, card.title)):
            year = (card.published or "")[:4]
            sentence = sentence.replace(f" ({name}, {year})", "").replace(f" ({name})", "")
            sentence = sentence.removeprefix(f"{name}: ")
    return sentence


def quotes_alone(sentence: str, quotes: Sequence[str], attributions: Sequence[str] = (), language: str = "en") -> bool:
    """Tell whether a sentence is nothing but verbatim quotations and the few words that join them.

    Joining words may give the `attributions`, names and titles of the sources; in German every noun looks like a name
    elsewhere.
    """
    spoken = ["".join(groups).rstrip(" .") for groups in _QUOTED.findall(sentence)]
    if not spoken or not all(any(speaks_for_itself(part, quote) for quote in quotes) for part in spoken):
        return False
    rest = _QUOTED.sub(" ", sentence)
    known = {word for text in (*quotes, *attributions) for word in re.findall(r"[^\W_]+", text.casefold())}
    if denies(rest) or doubts(rest) or names_in(rest, language) - known:
        return False  # what is said about the quotation is a statement of its own
    return not _FIGURES.search(rest) and len(content_words(rest)) <= JOINING_WORDS


def named(cards: Sequence[SourceCard]) -> list[str]:
    """Names that a sentence may attribute its words to; without figures, which only a quote can carry."""
    names = dict.fromkeys(name for card in cards for name in (card.site, card.author) if name)
    return [text for name in names if (text := _FIGURES.sub(" ", name).strip())]


async def verify(
    ctx: Ctx, context: RunContext, draft: ReportDocument, findings: Sequence[Finding],
    known: Sequence[SentenceCheck] = (), *, ask_model: bool,
) -> Checks:  # fmt: skip
    """Check the body of a report as far as it is not `known`, and repair what its own facts allow.

    Raises:
        StepFailed: not even the check by code could be made; the report then stands unchecked.
    """
    facts = {fact.id: fact for finding in findings for fact in finding.all_facts()}
    cards = {card.id: card for finding in findings for card in finding.all_sources()}
    language = draft.language
    mended = {check.text: check for check in known if check.replaced_by is not None}
    # In a whole report a sentence may rest on another source than in its section, where that one says the same earlier.
    before = {(check.text, check.facts): check for check in known}
    new = tuple(one for one in draft.sentences if one.text not in mended and (one.text, one.facts) not in before)
    found = await ctx.call(
        "check", "code", computed, check_all, new, facts, cards, language, gives=Checks, pool="local"
    )
    checks = list(found.checks)
    if ask_model and found.unsure:
        await _second_opinion(ctx, context, checks, found.unsure, facts, language)
    every = mended | {check.text: repaired(check, facts, language) for check in checks}
    done = (every.get(one.text) or before.get((one.text, one.facts)) for one in draft.sentences)
    return Checks(checks=tuple(filter(None, done)))


async def _second_opinion(
    ctx: Ctx, context: RunContext, checks: list[SentenceCheck], unsure: tuple[int, ...], facts: Mapping[str, Fact],
    language: str,
) -> None:  # fmt: skip
    """Ask the verifier about what code could not decide; where it fails, code's verdict stands."""
    batches = [unsure[at : at + BATCH] for at in range(0, len(unsure), BATCH)]
    items = []
    for key, batch in enumerate(batches):
        notes = (
            SentenceNote(
                number=number, text=one.text, quotes=tuple(facts[fact].quote for fact in one.facts if fact in facts)
            )
            for number, one in enumerate((checks[place] for place in batch), start=1)
        )
        items.append((str(key), VERIFIER, VerifyInput(sentences=tuple(notes), language=language), ctx.last_deadline))
    answers = await ctx.fan("verifier", context.ask, items, gives=RoleAnswer[Verified])
    for batch, answer in zip(batches, answers, strict=True):
        for row in () if isinstance(answer, StepFailed) else answer.output.rows:
            if 1 <= row.number <= len(batch):
                place = batch[row.number - 1]
                checks[place] = checks[place].model_copy(update={"verdict": row.verdict})


def repaired(check: SentenceCheck, facts: Mapping[str, Fact], language: str) -> SentenceCheck:
    """Put the statements of its facts in the place of a sentence that its quotes do not carry, where they carry those.

    What is contradicted and can't be mended is struck; what is unsupported stays, with a mark the reader sees.
    """
    if check.verdict not in {"unsupported", "contradicted"}:
        return check
    said: dict[str, str] = {}
    for fact in (facts[one] for one in check.facts if one in facts):
        statement = " ".join(fact.statement.split())
        if carried(statement, [fact.quote], language=language.split("-")[0]).verdict == "supported":
            said.setdefault(statement, fact.id)
    if said:
        update = {"replaced_by": " ".join(said), "facts": tuple(said.values()), "verdict": "supported"}
        return check.model_copy(update={**update, "reason": f"put right from its source: {check.reason}"})
    return check.model_copy(update={"replaced_by": ""}) if check.verdict == "contradicted" else check
