"""The frame of a report without a language model: title, a summary of quotations, what stands out."""

import re
from collections.abc import Sequence

from agents.contracts.finding import Frame, FrameInput, NumberedFact
from agents.offline import cues
from agents.offline import texts as wording
from agents.offline.composing import Clash, Unit, agreement, clashes, dated_source, first_words, told, units
from agents.offline.figure_rows import quantities
from agents.offline.question_parts import questions, tidy
from agents.offline.ranking import Ranking
from agents.offline.shape import at_sentence_end, leans
from agents.offline.steps import one_point
from agents.offline.terms import distinct

TITLE_LENGTH = 90
MOST_SENTENCES = 4
"""Quotations of the summary."""
MOST_OPEN = 6
_AS_TELLING = 0.7
"""Share of the best score that a quotation needs to fill up a short summary."""
_APART = 2.0
"""How many times as large or small as all others a figure must be to stand apart."""
_MARK = re.compile(r"\[f(\d+)\]")
_EXPLAINS = re.compile(
    r"\b(?:left out|leaves? out|exclud\w+|includ\w+|because|divides?|denominator|subtract\w*|baseline|differ(?:s|"
    r"ed|ence)?|depends? on|definition|counted as|"
    r"no contradiction|ausgelassen|weil|unterschied\w*|exclu\w+|parce que|porque|excluy\w+)\b",
    re.IGNORECASE,
)


def frame(given: FrameInput) -> Frame:
    """Write what stands around the sections."""
    asked = tuple(clause.text for question in questions(given.question, given.language) for clause in question.clauses)
    facts = _shown(given)
    found = units(facts, given.queries or (given.question,), given.question)
    whole = units(facts, asked or (given.question,), given.question)
    if not found:
        summary = first_words(given.facts[0])
        return Frame(
            title=title(given.question), summary=summary, insight="", conclusion="", open_questions=_open(given, found)
        )
    disputes = clashes(whole)
    chosen, dispute = _chosen(given, found, disputes)
    parts = [told(dispute, given.language)] if dispute else []
    known = {number for unit in (*chosen, *(dispute.units if dispute else ())) for number in _numbers(unit)}
    reason = _explanation(whole, (dispute,), known) if dispute else None
    if reason:
        parts.append(reason.quoted())
        chosen = chosen[: MOST_SENTENCES - 3]
    parts += [_with_agreement(unit, given.language) for unit in chosen]
    if given.degraded:
        parts.append(wording.say(given.language, "degraded"))
    return Frame(
        title=title(given.question),
        summary=" ".join(parts),
        insight=_insight(given, whole, disputes, dispute, [*chosen, *([reason] if reason else [])]),
        conclusion="",
        open_questions=_open(given, found),
    )


def _shown(given: FrameInput) -> tuple[NumberedFact, ...]:
    """Where one fact is asked for, the summary stays with what the sections show."""
    cited = {int(number) for section in given.sections for number in _MARK.findall(section)}
    if not cited or not all(one_point(query) for query in (given.queries or (given.question,))):
        return given.facts
    return tuple(fact for fact in given.facts if fact.number in cited) or given.facts


def title(question: str) -> str:
    """Make a title of a question: its first clause, without the mark, 90 characters at most."""
    text = re.sub(r"\s+", " ", question).strip()
    head, colon, _ = text.partition(": ")
    if colon and len(head.split()) >= 2 and len(head) <= TITLE_LENGTH and "?" not in head:
        return head
    parsed = questions(text)
    if len(text) > TITLE_LENGTH and parsed:
        text = tidy(parsed[0].clauses[0].text)
    text = text.rstrip("?.!？。！؟:;, ").lstrip("¿¡ ")
    if len(text) > TITLE_LENGTH:
        text = text[:TITLE_LENGTH] if cues.SPACELESS.search(text) else text[:TITLE_LENGTH].rsplit(" ", 1)[0]
    return text.rstrip(" ,;:") or question[:TITLE_LENGTH]


def _chosen(given: FrameInput, found: Sequence[Unit], disputes: Sequence[Clash]) -> tuple[list[Unit], Clash | None]:
    """Choose the best quotation of each section, and the dispute that the best one is part of."""
    dispute = next(
        (clash for clash in disputes if not clash.replaced and any(_is(unit, found[:3]) for unit in clash.units)), None
    )
    dispute = Clash(dispute.units[:2], dispute.replaced) if dispute else None
    used = {fact.number for unit in (dispute.units if dispute else ()) for fact in unit.facts}
    outdated = {fact.number for clash in disputes if clash.replaced for fact in clash.units[0].facts}
    chosen: list[Unit] = []
    ranking = Ranking([unit.text for unit in found])
    for heading, section in zip(given.titles, given.sections, strict=False):
        cited = {int(number) for number in _MARK.findall(section)}
        wanted = ranking.wanted(heading, given.question)
        open_ones = [
            (ranking.score(at, wanted), -at)
            for at, unit in enumerate(found)
            if unit not in chosen and _numbers(unit) & cited and not _numbers(unit) & (used | outdated)
        ]
        best = found[-max(open_ones)[1]] if open_ones else None
        # A section whose figures are told as a dispute already has its say.
        if best and len(chosen) < MOST_SENTENCES - (1 if dispute else 0) and not used & cited:
            chosen.append(best)
    for unit in found:
        if len(chosen) + (2 if dispute else 0) >= 3:
            break
        if (
            unit not in chosen
            and not {fact.number for fact in unit.facts} & (used | outdated)
            and unit.score >= _AS_TELLING * found[0].score
        ):
            chosen.append(unit)
    return chosen or ([] if dispute else [found[0]]), dispute


def _is(unit: Unit, others: Sequence[Unit]) -> bool:
    numbers = {fact.number for fact in unit.facts}
    return any(numbers & {fact.number for fact in other.facts} for other in others)


def _with_agreement(unit: Unit, language: str) -> str:
    agreed = agreement(unit, language)
    return f"{unit.quoted()} {agreed}".strip()


def _insight(
    given: FrameInput,
    whole: Sequence[Unit],
    disputes: Sequence[Clash],
    told_already: Clash | None,
    chosen: Sequence[Unit],
) -> str:
    """Tell what only shows across the sections: further disputes, what explains them, outliers."""
    language = given.language
    known = {fact.number for unit in (told_already.units if told_already else ()) for fact in unit.facts}
    known |= {fact.number for unit in chosen for fact in unit.facts}
    paragraphs: list[str] = []
    others = [
        clash for clash in disputes if not any(fact.number in known for unit in clash.units for fact in unit.facts)
    ]
    paragraphs += [told(clash, language) for clash in others[:2]]
    for clash in others[:2]:
        known |= {fact.number for unit in clash.units for fact in unit.facts}
    if others and (reason := _explanation(whole, others, known)):
        paragraphs.append(wording.say(language, "why_differ", one=at_sentence_end(reason.text), one_mark=reason.marks))
        known |= {fact.number for fact in reason.facts}
    agreeing = next((unit for unit in whole if unit.sources > 1 and not _numbers(unit) & known), None)
    if agreeing:
        paragraphs.append(
            wording.say(language, "insight_agree", one=at_sentence_end(agreeing.text), marks=agreeing.marks)
        )
    if apart := _outlier(whole, known):
        text = at_sentence_end(apart.text)
        paragraphs.append(
            wording.say(language, "outlier", one=text, one_source=dated_source(apart.first), one_mark=apart.marks)
        )
    return "\n\n".join(paragraphs)


def _numbers(unit: Unit) -> set[int]:
    return {fact.number for fact in unit.facts}


def _explanation(whole: Sequence[Unit], disputes: Sequence[Clash], known: set[int]) -> Unit | None:
    """Find the quotation that says most plainly why two figures differ: about the same thing, and explaining it."""
    topic = frozenset(term for unit in disputes[0].units for term in unit.terms)
    figures = {quantity.value for unit in disputes[0].units for quantity in quantities(unit.text)}
    ranked: list[tuple[float, int, Unit]] = []
    for unit in whole:
        if _numbers(unit) & known or not _EXPLAINS.search(unit.text):
            continue
        shared = len(topic & unit.terms) / max(1, len(unit.terms))
        named = len(figures & {quantity.value for quantity in quantities(unit.text)})
        if shared >= 0.3 or (named >= 1 and shared >= 0.15):
            ranked.append((-(shared + 0.4 * named - 0.6 * _leans(unit.text)), unit.first.number, unit))
    return min(ranked)[2] if ranked else None


def _leans(text: str) -> bool:
    """Tell words that point at what is not quoted with them."""
    return leans(text) or bool(
        re.search(r"\b(?:this figure|these figures|this number|our figures?)\b", text, re.IGNORECASE)
    )


def _outlier(whole: Sequence[Unit], known: set[int]) -> Unit | None:
    """Find a figure that is far from three others in the same unit for the same thing."""
    for unit in whole:
        if _numbers(unit) & known or len(mine := quantities(unit.text)) != 1 or not mine[0].unit:
            continue
        others = [
            quantity.value
            for other in whole
            if other is not unit
            and len(other.terms & unit.terms) >= 0.6 * max(1, min(len(other.terms), len(unit.terms)))
            for quantity in quantities(other.text)
            if quantity.unit == mine[0].unit
        ]
        value = mine[0].value
        if len(others) >= 3 and (value > _APART * max(others) or value * _APART < min(others)):
            return unit
    return None


def _open(given: FrameInput, found: Sequence[Unit]) -> tuple[str, ...]:
    """List what stays open: what is missing, and queries that no fact answers."""
    open_ones = [text.strip() for text in given.missing if text.strip()]
    ranking = Ranking([unit.text for unit in found])
    for query in given.queries:
        for question in questions(query, given.language):
            for clause in question.clauses:
                wanted = ranking.wanted(clause.text, query, given.language)
                if not any(ranking.score(at, wanted) > 0.25 for at in range(len(found))) and distinct(clause.text):
                    open_ones.append(wording.say(given.language, "unanswered", question=tidy(clause.text)))
    return tuple(dict.fromkeys(open_ones))[:MOST_OPEN]
