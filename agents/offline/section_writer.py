"""Sections and leads without a language model: quotations in an order that a reader can follow, each with its marks."""

import re
from collections.abc import Sequence
from dataclasses import replace

from agents.contracts.finding import LeadInput, Section, SectionInput
from agents.offline import cues
from agents.offline.composing import Unit, agreement, alike, clashes, first_words, short_source, told, units
from agents.offline.figure_rows import quantities
from agents.offline.ranking import asks_for_grounds, gives_grounds
from agents.offline.steps import is_topic, standing, subjects, title_of
from agents.offline.table_writer import is_row, written
from agents.offline.terms import distinct, terms

MOST_UNITS = 10
"""Quotations of one section, at most: a reader wants an answer, not all that was found."""
FEWEST_UNITS = 1
WORTH_SHOWING = 0.6
"""Share of the best score that a further quotation must reach."""
PER_PARAGRAPH = 3
_TRUST = 0.1
"""What a quotation is worth because it was chosen where it stands: its heading and neighbours are not seen here."""
_FEW = 6
"""So few quotations are all shown."""
_SHORT_TITLE = 3
_ELSEWHERE = 0.5
"""What a quotation is worth that has no word of a short title, where others have."""
_FEWEST_GROUNDS, _MOST_GROUNDS = 2, 6
_NAMES_FIGURE = 0.4
"""What it is worth to a ground that it names one of the figures it explains."""
_VERY_FEW = 2
"""So few quotations that use a name all stay, where no document is named for one."""
_AS_WELL = 0.9
"""Share of the best score, among those that use a name, that a quotation must reach to stay beside it."""
_ENTITY = re.compile(r"^[^:?]{2,60}:\s+([^?.]{2,60})\??$")
_LEADS = 3
_MOST_TABLES = 2


def write_section(given: SectionInput) -> Section:
    """Write one section out of its facts."""
    found = units(given.facts, given.questions, given.objective)
    copied = _copied(given)
    if not found:
        return Section(markdown="\n\n".join(copied) or first_words(given.facts[0]))
    own = about(_own(found, given), _asked(given))
    explains = bool(given.siblings) and any(asks_for_grounds(question) for question in given.questions)
    kept = (explains and _explaining(found, given.questions)) or _worth_showing(own)
    latest = any(cues.LATEST.search(question) for question in (*given.questions, given.query))
    if latest:
        kept.sort(key=lambda unit: unit.published, reverse=True)
    paragraphs = [table] if (table := _table(given, kept)) else []
    told_units: list[Unit] = []
    for clash in clashes(kept):
        if not explains or clash.replaced:
            paragraphs.append(told(clash, given.language))
            told_units += clash.units
    rest = [unit for unit in kept if unit not in told_units]
    prose = _paragraphs(rest, given.language, given.questions)
    opening = not paragraphs or bool(
        rest and told_units and rest[0].score > max(unit.score for unit in told_units) * 1.15
    )
    ordered = [*prose[:1], *paragraphs, *prose[1:]] if opening else [*paragraphs, *prose]
    return Section(markdown="\n\n".join((*ordered, *copied)))


def _asked(given: SectionInput) -> str:
    """What its documents must be about: the further step that it is, else what the whole report was asked."""
    first = given.questions[0] if given.questions else given.title
    return first if is_topic(first) else given.query


def about(found: Sequence[Unit], question: str) -> list[Unit]:
    """Where one fact is asked for, keep what is about the names of the question.

    Documents named for a name come first; a name that has none keeps the quotations that use it and answer about as well
    as the best of them. What gives another figure than a kept one stays in any case.
    """
    names = subjects(question)
    if not names:
        return list(found)
    ranks = [standing(question, title_of(unit.first.source), unit.text) for unit in found]
    own = [frozenset(distinct(title_of(unit.first.source, bare=True))) for unit in found]
    titles = {title for title, rank in zip(own, ranks, strict=True) if rank == "titled"}
    if not titles and len(found) <= _VERY_FEW:
        return [unit for unit, rank in zip(found, ranks, strict=True) if rank == "named"] or list(found[:1])
    kept = [
        unit
        for unit, rank, title in zip(found, ranks, own, strict=True)
        # Of `Flute Sonata` and `Flute Sonata in C major` the question means the longer one.
        if rank == "titled" and not any(title < other for other in titles)
    ]
    for name in names:
        if not any(name <= title or title <= name for title in titles):
            using = [unit for unit, rank in zip(found, ranks, strict=True) if rank == "named" and name <= unit.terms]
            kept += [unit for unit in using if unit.score >= _AS_WELL * using[0].score]
    kept += [unit for clash in clashes(found) if any(unit in kept for unit in clash.units) for unit in clash.units]
    sources = {unit.first.source_number for unit in kept}
    return [unit for unit in found if unit.first.source_number in sources] or list(found[:1])


def _copied(given: SectionInput) -> list[str]:
    """Tables of the sources, rows as they stand there, each under the name of its source."""
    rows = [fact for fact in given.facts if is_row(fact)]
    asked = frozenset(term for question in given.questions for term in distinct(question))
    return [f"{short_source(fact)}:\n\n{table}" for fact, table in written(rows, _apart(given), asked)[:_MOST_TABLES]]


def write_lead(given: LeadInput) -> Section:
    """Open a branch with the most telling quotation of each of its sections."""
    found = units(given.facts, (given.objective,), given.query)
    if not found:
        return Section(markdown=first_words(given.facts[0]))
    chosen: list[Unit] = []
    for section in given.sections:
        cited = {int(number) for number in re.findall(r"\[f(\d+)\]", section)}
        best = next(
            (unit for unit in found if unit not in chosen and any(fact.number in cited for fact in unit.facts)), None
        )
        if best and len(chosen) < _LEADS:
            chosen.append(best)
    sentences = [unit.quoted() for unit in chosen or found[:1]]
    return Section(markdown=" ".join(sentences))


def _own(found: Sequence[Unit], given: SectionInput) -> list[Unit]:
    """Leave to the sections beside this one what is about them: what has the words that set them apart."""
    mine = _apart(given)
    theirs = frozenset(term for title in given.siblings for term in distinct(title)) - frozenset(distinct(given.title))
    own = [unit for unit in found if not theirs & unit.terms or mine & unit.terms]
    if len(mine) <= _SHORT_TITLE and any(mine & unit.terms for unit in own):
        own = [unit if mine & unit.terms else replace(unit, score=_ELSEWHERE * unit.score) for unit in own]
        own.sort(key=lambda unit: (-unit.score, unit.first.number))
    return own if own and own[0].score >= WORTH_SHOWING * found[0].score else list(found)


def _explaining(found: Sequence[Unit], questions: Sequence[str]) -> list[Unit]:
    """Leave bare figures to the section that gives them, where enough remains that says how they came about."""
    figures = {unit.first.number for clash in clashes(found) if not clash.replaced for unit in clash.units}
    grounds = [
        unit
        for unit in found
        if unit.first.number not in figures and any(gives_grounds(unit.text, question) for question in questions)
    ]
    disputed = [unit for clash in clashes(found) if not clash.replaced for unit in clash.units]
    topic = frozenset(term for unit in disputed for term in unit.terms)
    values = {quantity.value for unit in disputed for quantity in quantities(unit.text)}

    def worth(unit: Unit) -> float:
        """Grounds that name the disputed figures, or speak of the same thing, explain them best."""
        named = bool(values & {quantity.value for quantity in quantities(unit.text)})
        return unit.score + _NAMES_FIGURE * named + len(topic & unit.terms) / max(1, len(unit.terms))

    best = max(map(worth, grounds), default=0.0)
    grounds = sorted((unit for unit in grounds if worth(unit) >= WORTH_SHOWING * best), key=worth, reverse=True)
    return grounds[:_MOST_GROUNDS] if len(grounds) >= _FEWEST_GROUNDS else []


def _apart(given: SectionInput) -> frozenset[str]:
    """Words of the title that no section beside this one has; none where there is no other section."""
    others = frozenset(term for title in given.siblings for term in distinct(title))
    return frozenset(distinct(given.title)) - others if given.siblings else frozenset()


def _worth_showing(found: Sequence[Unit]) -> list[Unit]:
    """Keep the best, and of the others what comes near to them; sources take turns where they compete."""
    if len(found) <= _FEW:
        return list(found)
    best = found[0].score
    kept = [
        unit
        for at, unit in enumerate(found)
        if at < FEWEST_UNITS or unit.score + _TRUST >= WORTH_SHOWING * best or unit.sources > 1
    ]
    return kept[:MOST_UNITS]


def _paragraphs(found: Sequence[Unit], language: str, questions: Sequence[str]) -> list[str]:
    """Set units in paragraphs: by question, then by what they are about; a source that changes is named."""
    paragraphs: list[str] = []
    for number in sorted({unit.question for unit in found}):
        group = _by_likeness([unit for unit in found if unit.question == number])
        for at in range(0, len(group), PER_PARAGRAPH):
            part = group[at : at + PER_PARAGRAPH]
            if len(group) - at - PER_PARAGRAPH == 1:
                part = group[at:]
            paragraphs.append(_paragraph(part, language))
            if len(part) > PER_PARAGRAPH:
                break
    return paragraphs


def _by_likeness(group: list[Unit]) -> list[Unit]:
    """Order units so that neighbours are about the same thing, the best first."""
    left = list(group)
    ordered: list[Unit] = []
    while left:
        follow = left[0] if not ordered else max(left, key=lambda unit: (_nearness(ordered[-1], unit), unit.score))
        ordered.append(follow)
        left.remove(follow)
    return ordered


def _nearness(before: Unit, unit: Unit) -> float:
    same = 0.15 if before.first.source_number == unit.first.source_number else 0.0
    return round(alike(before, unit) + same + unit.score, 6)


def _paragraph(group: Sequence[Unit], language: str) -> str:
    sentences: list[str] = []
    before = 0
    for unit in group:
        named = unit.sources == 1 and unit.first.source_number != before
        lead = f"{short_source(unit.first)}: " if named and before else ""
        sentences.append(f"{lead}{unit.quoted()}")
        if agreed := agreement(unit, language):
            sentences.append(agreed)
        before = unit.first.source_number
    return " ".join(sentences)


# ---- tables


def _table(given: SectionInput, found: Sequence[Unit]) -> str:
    """Compare entities by their figures in several sources; empty unless two entities have two figures each."""
    entities = [match.group(1).strip() for question in given.questions if (match := _ENTITY.match(question))]
    if len(entities) < 2:
        return ""
    columns: dict[str, dict[str, tuple[str, str]]] = {}
    for unit in found:
        for entity in entities:
            if figure := _figure_of(entity, unit.text):
                columns.setdefault(f"{_column(unit)}", {}).setdefault(entity, (figure, unit.marks))
    full = {name: cells for name, cells in columns.items() if len(cells) >= 2}
    rows = [entity for entity in entities if sum(entity in cells for cells in full.values()) >= 2]
    if len(full) < 2 or len(rows) < 2:
        return ""
    head = f"| {given.title} | {' | '.join(full)} |"
    lines = [head, "|" + " --- |" * (len(full) + 1)]
    for entity in rows:
        cells = [f"{cells[entity][0]}{cells[entity][1]}" if entity in cells else "" for cells in full.values()]
        lines.append(f"| {entity[:1].upper()}{entity[1:]} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _column(unit: Unit) -> str:
    year = (unit.first.published or "")[:4]
    return (
        f"{short_source(unit.first)}, {year}".replace("|", "/") if year else short_source(unit.first).replace("|", "/")
    )


def _figure_of(entity: str, text: str) -> str:
    """Find the one figure that a sentence gives for an entity (`36 % of single shoots`); empty where it is unsure."""
    wanted = terms(entity)
    for quantity in quantities(text):
        if quantity.unit != "%":
            continue
        after = text.split(quantity.shown, 1)[1][:40]
        near = re.match(r"\s*(?:of )?(?:the |all )?((?:[\w-]+\s?){1,3})", after)
        if near and wanted and set(wanted) <= set(terms(near.group(1))):
            return quantity.shown
    return ""
