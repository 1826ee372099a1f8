"""The frame of a report without a language model: title, a summary that takes the parts in order, what stands out."""

import re
from collections.abc import Sequence

from agents.contracts.finding import Frame, FrameInput, NumberedFact, PartAnswer
from agents.offline.questions import questions, tidy
from agents.offline.quotes import Clash, Unit, agreement, clashes, first_words, told, units
from agents.offline.ranking import Ranking, answers
from agents.offline.sentences import leans
from agents.offline.single_fact import is_linked, is_single_fact, title_of
from agents.offline.tables import is_row
from agents.offline.terms import distinct
from agents.offline.words import SPACELESS, say

TITLE_LENGTH = 90
MOST_OPEN = 6
_LONGEST_PART = 2
"""Quotations that a part of the question gets in the summary; three where it is the only one."""
_AS_TELLING = 0.7
"""Share of the best score that a further quotation needs."""
_MARK = re.compile(r"\[f(\d+)\]")
_THIS_FIGURE = re.compile(r"\b(?:this figure|these figures|this number|our figures?)\b", re.IGNORECASE)


def frame(given: FrameInput) -> Frame:
    """Write what stands around the sections."""
    parts = _parts(given)
    found = units(_shown(given), parts, given.question)
    whole = units(given.facts, parts, given.question)
    told_parts = tuple(
        PartAnswer(question=part, status=answers(part, _quotes(given), given.question)) for part in parts
    )
    if not found:
        return Frame(
            title=title(given.question),
            summary=first_words(given.facts[0]),
            insight="",
            conclusion="",
            open_questions=_open(given, told_parts),
            answers=told_parts,
        )
    disputes = clashes(whole)
    sentences: list[str] = []
    used: set[int] = set()
    for part in told_parts:
        if part.status == "not_found" and not is_linked(part.question):  # what is a step away, words do not tell
            sentences.append(say(given.language, "not_found", question=part.question))
        if part.status != "not_found" or len(parts) == 1:
            sentences += _summed_up(part.question, given, found, disputes, used, alone=len(parts) == 1)
    if not used:
        used |= found[0].numbers
        sentences.insert(0, found[0].quoted())
    if given.degraded:
        sentences.append(say(given.language, "degraded"))
    return Frame(
        title=title(given.question),
        summary=" ".join(sentences),
        insight="\n\n".join(told(clash, given.language) for clash in disputes if not clash.numbers & used),
        conclusion="",
        open_questions=_open(given, told_parts),
        answers=told_parts,
    )


def _parts(given: FrameInput) -> tuple[str, ...]:
    """What was asked, part by part, in order."""
    asked = given.queries or (given.question,)
    parts = (part for query in asked for question in questions(query, given.language) for part in question.parts)
    return tuple(dict.fromkeys(parts)) or asked


def _quotes(given: FrameInput) -> list[tuple[str, str]]:
    return [(title_of(fact.source), fact.statement if is_row(fact) else fact.quote) for fact in given.facts]


def _shown(given: FrameInput) -> tuple[NumberedFact, ...]:
    """Where one fact is asked for, the summary stays with what the sections show."""
    cited = {int(number) for section in given.sections for number in _MARK.findall(section)}
    if not cited or not all(is_single_fact(query) for query in (given.queries or (given.question,))):
        return given.facts
    return tuple(fact for fact in given.facts if fact.number in cited) or given.facts


def title(question: str) -> str:
    """Make a title of a question: its first part, without the mark; cut at a word where it is very long."""
    text = re.sub(r"\s+", " ", question).strip()
    found = questions(text)
    if len(text) > TITLE_LENGTH and found:
        text = found[0].parts[0]
    text = text.rstrip("?.!？。！:;, ").lstrip("¿¡ ")
    if len(text) > TITLE_LENGTH:
        text = text[:TITLE_LENGTH] if SPACELESS.search(text) else text[:TITLE_LENGTH].rsplit(" ", 1)[0]
    return text.rstrip(" ,;:") or question[:TITLE_LENGTH]


def _summed_up(
    part: str, given: FrameInput, found: Sequence[Unit], disputes: Sequence[Clash], used: set[int], *, alone: bool
) -> list[str]:
    """Answer one part by what explains best; both sides where the sources differ."""
    ranking = Ranking([unit.text for unit in found])
    wanted = ranking.wanted(part, given.question, given.language)
    outdated = {number for clash in disputes if clash.replaced for number in clash.units[0].numbers}
    scores = {unit: ranking.score(at, wanted) for at, unit in enumerate(found)}
    open_ones = [unit for unit in found if scores[unit] > 0 and not unit.numbers & (used | outdated)]
    open_ones.sort(key=lambda unit: -scores[unit] + 0.3 * _points_away(unit.text))
    if not open_ones:
        return []
    best = open_ones[0]
    sentences: list[str] = []
    dispute = next((c for c in disputes if not c.replaced and best.numbers & c.numbers and not c.numbers & used), None)
    if dispute:
        dispute = Clash(dispute.units[:2])
        used |= dispute.numbers
        sentences.append(told(dispute, given.language))
    for unit in open_ones[: 3 if alone else _LONGEST_PART]:
        if not unit.numbers & used and (unit is best or scores[unit] >= _AS_TELLING * scores[best]):
            used |= unit.numbers
            sentences.append(f"{unit.quoted()} {agreement(unit, given.language)}".strip())
    return sentences


def _points_away(text: str) -> bool:
    """Tell words that point at what is not quoted with them."""
    return leans(text) or bool(_THIS_FIGURE.search(text))


def _open(given: FrameInput, parts: Sequence[PartAnswer]) -> tuple[str, ...]:
    """List what stays open: what is missing, and parts that no fact answers."""
    lacking = [text.strip() for text in given.missing if text.strip()]
    lacking += [
        say(given.language, "not_found", question=tidy(part.question))
        for part in parts
        if part.status == "not_found" and distinct(part.question)
    ]
    return tuple(dict.fromkeys(lacking))[:MOST_OPEN]
