"""Sections and leads without a language model: quotations in an order that a reader can follow, each with its marks.

The frame of a report without a language model: title, a summary that takes the parts in order, what stands out.

What sections and summaries are made of: quotations with their marks, merged where sources say the same.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agents.contracts.finding import AnsweredBy, Frame, FrameInput, LeadInput, NumberedFact, Section, SectionInput
from agents.nlp.lang import spans
from agents.offline.planner import TITLE_LENGTH, label
from agents.offline.questions import (
    ASIDE,
    LOOKUPS,
    about,
    is_called,
    is_linked,
    is_topic,
    names_held,
    parts_of,
    questions,
    stems_of,
)
from agents.offline.ranking import OF_THE_BEST, Ranking, bare, is_order, leans
from agents.offline.terms import differ, listed, repeats, say

MOST_MARKS = 3
LONGEST_QUOTE = 420
"""Characters of one quotation; longer ones end with an earlier sentence."""
_MARK_LIKE = re.compile(r"\[#?[fF]\s?[0-9a-f]+|\[\s*f\d")
_SITE = re.compile(r"\s*\(([^()]{2,80})\)\s*$")


@dataclass(frozen=True)
class MergedQuotation:
    """One quotation, with the facts of all sources that say the same."""

    text: str
    facts: tuple[NumberedFact, ...]
    score: float = 0.0
    question: int = 0
    """Place of the question that it was read for."""

    @property
    def marks(self) -> str:
        """Its marks, one per source, three at most."""
        by_source = {fact.source_number: fact.number for fact in reversed(self.facts)}
        return "".join(f"[f{number}]" for number in sorted(by_source.values())[:MOST_MARKS])

    @property
    def numbers(self) -> frozenset[int]:
        """Numbers of its facts."""
        return frozenset(fact.number for fact in self.facts)

    @property
    def sources(self) -> int:
        """How many sources say it."""
        return len({fact.source_number for fact in self.facts})

    @property
    def first(self) -> NumberedFact:
        """The fact whose words are shown."""
        return self.facts[0]

    def quoted(self) -> str:
        """The words in quotation marks, with their marks behind them."""
        return f"{in_quotes(self.text)}{self.marks}"


def in_quotes(text: str) -> str:
    """Set words in quotation marks; in straight ones where they hold curly ones themselves."""
    return f'"{text}"' if re.search("[“”]", text) and '"' not in text else f"“{text}”"


def first_words(fact: NumberedFact) -> str:
    """Quote one fact as it is: for the rare case that nothing else can be said."""
    return f"{in_quotes(' '.join(fact.quote.replace('|', '/').split()))}[f{fact.number}]"


def _title(fact: NumberedFact) -> str:
    return _SITE.sub("", fact.source)


def short_source(fact: NumberedFact) -> str:
    """Name a source briefly: who published it, else its title."""
    site = _SITE.search(fact.source)
    title = re.split(r"\s[|–—-]\s|: ", _title(fact))[0].strip(" ,")
    if site and re.fullmatch(r"[a-z0-9_-]+", site[1]):  # a folder, not a publisher
        return title or site[1]
    return site[1].strip() if site else title


def dated_source(fact: NumberedFact) -> str:
    """Name a source briefly, with its year."""
    year, name = (fact.published or "")[:4], short_source(fact)
    return f"{name}, {year}" if year and year not in name else name


def units(facts: Sequence[NumberedFact], questions: Sequence[str], objective: str) -> list[MergedQuotation]:
    """Make units of facts: orders left out, long quotations shortened, what several sources say merged; best first."""
    usable = [fact for fact in facts if _is_usable(fact)]
    texts = [_shortened(bare(fact.quote)) for fact in usable]
    # What their heading asks words need not repeat.
    ranking = Ranking([f"{fact.heading} {text}".strip() for fact, text in zip(usable, texts, strict=True)])
    wanted = [ranking.wanted(question, objective) for question in (questions or (objective,))]
    merged: list[MergedQuotation] = []
    for at, fact in enumerate(usable):
        scores = [ranking.score(at, one) for one in wanted]
        best = max(range(len(scores)), key=lambda number: (scores[number], -number))
        asked = next((number for number, text in enumerate(questions) if text == fact.topic), best)
        unit = MergedQuotation(texts[at], (fact,), scores[best], asked)
        same = next((number for number, other in enumerate(merged) if _say_the_same(unit, other)), None)
        if same is None:
            merged.append(unit)
        else:
            one, other = sorted((merged[same], unit), key=lambda unit: len(unit.text))
            if one.text in other.text:  # all of it, once
                one, other = other, one
            score = max(one.score, other.score)
            merged[same] = replace(one, facts=(*one.facts, *other.facts), score=score, question=merged[same].question)
    return sorted(merged, key=lambda unit: (-unit.score, unit.first.number))


def _is_usable(fact: NumberedFact) -> bool:
    unusable = " | " in fact.quote or is_order(fact.quote) or _MARK_LIKE.search(fact.quote)
    return not unusable and bool(bare(fact.quote))


def _say_the_same(one: MergedQuotation, other: MergedQuotation) -> bool:
    within = one.text in other.text or other.text in one.text
    return (within and one.first.source_number == other.first.source_number) or repeats(one.text, other.text)


def _shortened(text: str) -> str:
    """Cut a long quotation at the end of a sentence; never within one."""
    if len(text) <= LONGEST_QUOTE:
        return text
    ends = [span.end for span in spans(text)]
    return text[: max((end for end in ends if end <= LONGEST_QUOTE), default=ends[0])]


Clash = tuple[MergedQuotation, ...]
"""Quotations of several sources that give different figures for the same thing; four at most."""


def clashes(found: Sequence[MergedQuotation]) -> list[Clash]:
    """Find disagreements between sources, the most relevant first; each unit is in one at most."""
    result: list[Clash] = []
    taken: set[MergedQuotation] = set()
    for at, one in enumerate(found):
        group = [one] if one not in taken else []
        for other in found[at + 1 :] if group else ():
            known = {unit.first.source_number for unit in group}
            if other not in taken and other.first.source_number not in known and differ(one.text, other.text):
                group.append(other)
        if len(group) > 1:
            taken |= {*group}
            result.append(tuple(group[:4]))
    return result


def _numbers(clash: Clash) -> frozenset[int]:
    return frozenset(number for unit in clash for number in unit.numbers)


def told(clash: Clash, language: str) -> str:
    """Set the sides of a disagreement beside each other, each with source and year."""
    # Within a longer sentence a quotation has no full stop.
    sides = [(re.sub(r"[.。]$", "", unit.text), dated_source(unit.first), unit.marks) for unit in clash]
    (one, one_source, one_mark), (other, other_source, other_mark), *more = sides
    both = say(
        language, "differ", one=one, one_source=one_source, one_mark=one_mark,
        other=other, other_source=other_source, other_mark=other_mark,
    )  # fmt: skip
    return " ".join((both, *(f"“{text}” ({source}){mark}." for text, source, mark in more)))


def agreement(unit: MergedQuotation, language: str) -> str:
    """Say how many sources agree; empty when it is one."""
    if unit.sources < 2:
        return ""
    return say(language, "agree_2" if unit.sources == 2 else "agree_n", n=unit.sources)


CLEARLY_BETTER = 1.15
"""Times the score of what is disputed from which on another quotation comes before it."""
MOST_UNITS = 10
"""Quotations of one section, at most: a reader wants an answer, not all that was found."""
PER_PARAGRAPH = 3
_VERY_FEW = 2
"""So few quotations that use a name all stay, where no document is named for one."""
_AS_WELL = 0.9
"""Share of the best score, among those that use a name, that a quotation must reach to stay beside it."""
_LEADS = 3
_MARK = re.compile(r"\[f(\d+)\]")


def write_section(given: SectionInput) -> Section:
    """Write one section out of its facts."""
    steps = dict.fromkeys(fact.topic for fact in given.facts if is_topic(fact.topic))
    asked = tuple(dict.fromkeys((*given.questions, *steps)))
    found = units(given.facts, asked, given.objective)
    if not found:
        return Section(markdown=first_words(given.facts[0]))
    # The documents of a further step must be about that, all others about what the whole report was asked.
    groups = {question: [unit for unit in found if asked[unit.question] == question] for question in steps}
    others = [unit for unit in found if not asked or asked[unit.question] not in steps]
    kept = [
        unit for question, group in {given.query: others, **groups}.items() if group for unit in _about(group, question)
    ]
    kept = kept[:MOST_UNITS]
    if any(listed("latest").search(question) for question in (*given.questions, given.query)):
        kept.sort(key=lambda unit: max(fact.published or "" for fact in unit.facts), reverse=True)  # newest first
    disputes = clashes(kept)
    disputed = [unit for clash in disputes for unit in clash]
    paragraphs = _paragraphs([unit for unit in kept if unit not in disputed], given.language)
    sides = [told(clash, given.language) for clash in disputes]
    rest = [unit.score for unit in kept if unit not in disputed]
    # A quotation that answers clearly better than what is disputed opens the section.
    opens = bool(rest) and (not disputed or rest[0] > CLEARLY_BETTER * max(unit.score for unit in disputed))
    ordered = [*paragraphs[:1], *sides, *paragraphs[1:]] if opens else [*sides, *paragraphs]
    return Section(markdown="\n\n".join(ordered))


def write_lead(given: LeadInput) -> Section:
    """Open a branch with the most telling quotation of each of its sections."""
    found = units(given.facts, (given.objective,), given.query)
    if not found:
        return Section(markdown=first_words(given.facts[0]))
    chosen: list[MergedQuotation] = []
    for section in given.sections:
        cited = set(map(int, _MARK.findall(section)))
        best = next((unit for unit in found if unit not in chosen and unit.numbers & cited), None)
        if best and len(chosen) < _LEADS:
            chosen.append(best)
    return Section(markdown=" ".join(unit.quoted() for unit in chosen or found[:1]))


def _telling(found: Sequence[MergedQuotation]) -> list[MergedQuotation]:
    """Leave out what is weak beside the best for the same question, but for the other side of a disagreement."""
    best = {unit.question: unit.score for unit in reversed(found)}  # best first
    kept = [unit for unit in found if unit.score >= OF_THE_BEST * best[unit.question]]
    sides = {unit for clash in clashes(found) if any(unit in kept for unit in clash) for unit in clash}
    return [unit for unit in found if unit in kept or unit in sides]


def _about(found: Sequence[MergedQuotation], question: str) -> list[MergedQuotation]:
    """Where one fact is asked for, keep what is about the names of the question.

    Documents named for a name come first; a name that has none keeps the quotations that use it and answer about as well
    as the best of them. What gives another figure than a kept one stays in any case.
    """
    subject = about(question)
    if subject is None:
        return _telling(found)
    own = {unit: stems_of(ASIDE.sub("", _title(unit.first))) for unit in found}
    titles = {own[unit] for unit in found if is_called(subject, _title(unit.first))}
    named = [
        unit for unit in found
        if own[unit] not in titles and names_held(subject, stems_of(f"{_title(unit.first)} {unit.text}"))
    ]  # fmt: skip
    if not titles and len(found) <= _VERY_FEW:
        return named or list(found[:1])
    # Of `Flute Sonata` and `Flute Sonata in C major` the question means the longer one.
    kept = [unit for unit in found if own[unit] in titles and not any(own[unit] < other for other in titles)]
    for name in subject.names:
        if not any(name <= title or title <= name for title in titles):
            using = [unit for unit in named if name <= stems_of(unit.text)]
            kept += [unit for unit in using if unit.score >= _AS_WELL * using[0].score]
    kept += [unit for clash in clashes(found) if any(unit in kept for unit in clash) for unit in clash]
    sources = {unit.first.source_number for unit in kept}
    return [unit for unit in found if unit.first.source_number in sources] or list(found[:1])


def _paragraphs(found: Sequence[MergedQuotation], language: str) -> list[str]:
    """Quote one unit after the other, by question, then by source; a source that changes is named."""
    paragraphs: list[str] = []
    for number in sorted({unit.question for unit in found}):
        group = [unit for unit in found if unit.question == number]
        order = {unit.first.source_number: at for at, unit in reversed([*enumerate(group)])}
        group.sort(key=lambda unit: order[unit.first.source_number])
        for at in range(0, len(group), PER_PARAGRAPH):
            sentences: list[str] = []
            before = 0
            for unit in group[at : at + PER_PARAGRAPH]:
                named = before and unit.sources == 1 and unit.first.source_number != before
                sentences.append(f"{short_source(unit.first)}: {unit.quoted()}" if named else unit.quoted())
                sentences += filter(None, [agreement(unit, language)])
                before = unit.first.source_number
            paragraphs.append(" ".join(sentences))
    return paragraphs


MOST_OPEN = 6
_AS_TELLING = 0.7
"""Share of the best score that a further quotation needs."""
_THIS_FIGURE = re.compile(r"\b(?:this figure|these figures|this number|our figures?)\b", re.IGNORECASE)
_LONGEST_PART = 2
"""Quotations that a part of the question gets in the summary; three where it is the only one."""


def frame(given: FrameInput) -> Frame:
    """Write what stands around the sections: each part is answered in turn by what explains best.

    What nothing answers is said by the report, in a line of its own.
    """
    asked = given.parts or tuple(AnsweredBy(part=text) for text in given.queries or (given.question,))
    found = units(given.facts, tuple(one.part for one in asked), given.question)
    disputes = clashes(found)
    sentences: list[str] = []
    used: set[int] = set()
    for one in asked if found else ():
        if one.facts:
            sentences += _summed_up(one, given, found, disputes, used, alone=len(asked) == 1)
    if not used:
        used |= found[0].numbers if found else set()
        sentences.insert(0, found[0].quoted() if found else first_words(given.facts[0]))
    return Frame(
        title=title(given.question),
        summary=" ".join(sentences),
        insight="\n\n".join(told(clash, given.language) for clash in disputes if not _numbers(clash) & used),
        conclusion="",
        open_questions=tuple(dict.fromkeys(text.strip() for text in given.missing if text.strip()))[:MOST_OPEN],
    )


def _summed_up(
    asked: AnsweredBy,
    given: FrameInput,
    found: Sequence[MergedQuotation],
    disputes: Sequence[Clash],
    used: set[int],
    *,
    alone: bool,
) -> list[str]:
    """Answer one part by what explains best; both sides where the sources differ."""
    ranking = Ranking([f"{unit.first.heading} {unit.text}".strip() for unit in found])
    wanted = ranking.wanted(asked.part, given.question, given.language)
    scores = {unit: ranking.score(at, wanted) for at, unit in enumerate(found)}
    open_ones = [unit for unit in found if scores[unit] > 0 and not unit.numbers & used]
    open_ones.sort(key=lambda unit: -scores[unit] + 0.3 * _points_away(unit.text))
    answering = [unit for number in asked.facts for unit in found if number in unit.numbers]
    parts = parts_of(asked.part)
    plain = not is_linked(asked.part) and all(part.kind in LOOKUPS or not part.names for part in parts)
    if plain:
        disputed = frozenset[int]().union(*map(_numbers, disputes))
        answering.sort(key=lambda unit: (_points_away(unit.text), not unit.numbers & disputed))
    # Words do not tell what is a step away: it stands behind the step that leads there.
    steps = answering[: 1 if plain else 2][::-1]
    telling = (unit for unit in open_ones if scores[unit] >= _AS_TELLING * scores[open_ones[0]])
    chosen = list(dict.fromkeys((*steps, *telling)))[: 3 if alone else _LONGEST_PART]
    sentences: list[str] = []
    for unit in chosen:
        dispute = next((one for one in disputes if unit.numbers & _numbers(one)), None)
        if unit.numbers & used:
            continue
        if dispute and not _numbers(dispute) & used:
            dispute = dispute[:2]
            used |= _numbers(dispute)
            sentences.append(told(dispute, given.language))
        else:
            used |= unit.numbers
            sentences.append(f"{unit.quoted()} {agreement(unit, given.language)}".strip())
    return sentences


def _points_away(text: str) -> bool:
    """Tell words that point at what is not quoted with them, and rows of a table: neither opens a summary."""
    return leans(text) or bool(_THIS_FIGURE.search(text)) or (text.count(": ") > 2 and text.count("; ") > 1)


def title(question: str) -> str:
    """Make a title of a question: its first part, without the mark; a very long one ends where its words do."""
    text = re.sub(r"\s+", " ", question).strip()
    if len(text) > TITLE_LENGTH and (found := questions(text)):
        text = found[0].parts[0]
    return label(text).rstrip("?.!？。！:;, ").lstrip("¿¡ ") or question
