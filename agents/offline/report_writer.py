"""Sections, leads and the frame of a report without a language model: quotations with their marks, in a readable order."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agents.contracts.finding import AnsweredBy, Frame, FrameInput, LeadInput, NumberedFact, Section, SectionInput
from agents.nlp.lang import spans
from agents.offline.planner import TITLE_LENGTH, label
from agents.offline.questions import ASIDE, about, is_called, is_topic, names_held, questions, stems_of
from agents.offline.ranking import OF_THE_BEST, Ranking, bare, is_order, leans
from agents.offline.terms import differ, listed, repeats, say

LONGEST_QUOTE = 420
"""Characters of one quotation; longer ones end with an earlier sentence."""
MOST_MARKS, MOST_UNITS, PER_PARAGRAPH, MOST_OPEN = 3, 10, 3, 6
"""Marks of a quotation, quotations of a section and of a paragraph, and questions that stay open, at most."""
_LEADS = 3
"""Quotations of a lead, and of a summary that has one question to answer; with more questions each gets one less."""
_VERY_FEW = 2
"""So few quotations that use a name all stay, where no document is named for one."""
_AS_WELL = 0.9
"""Share of the best score, among those that use a name, that a quotation must reach to stay beside it."""
_MARK = re.compile(r"\[f(\d+)\]")
_MARK_LIKE = re.compile(r"\[#?[fF]\s?[0-9a-f]+|\[\s*f\d")
_SITE = re.compile(r"\s*\(([^()]{2,80})\)\s*$")
_THIS_FIGURE = re.compile(r"\b(?:this figure|these figures|this number|our figures?)\b", re.IGNORECASE)


@dataclass(frozen=True)
class MergedQuotation:
    """One quotation, with the facts of all sources that say the same."""

    text: str
    facts: tuple[NumberedFact, ...]
    score: float = 0.0
    question: int = 0
    """Place of the question that it was read for."""

    @property
    def numbers(self) -> frozenset[int]:
        """Numbers of its facts."""
        return frozenset(fact.number for fact in self.facts)

    @property
    def sources(self) -> dict[int, int]:
        """Its sources, each with the first of its facts."""
        return {fact.source_number: fact.number for fact in reversed(self.facts)}

    @property
    def marks(self) -> str:
        """Its marks, one per source."""
        return "".join(f"[f{number}]" for number in sorted(self.sources.values())[:MOST_MARKS])

    @property
    def first(self) -> NumberedFact:
        """The fact whose words are shown."""
        return self.facts[0]

    def told(self, language: str) -> str:
        """Its words in quotation marks, with their marks behind them, and how many sources agree where several do."""
        straight = re.search("[“”]", self.text) and '"' not in self.text
        quoted = f'"{self.text}"{self.marks}' if straight else f"“{self.text}”{self.marks}"
        n = len(self.sources)
        return quoted if n == 1 else f"{quoted} {say(language, 'agree_2' if n == 2 else 'agree_n', n=n)}"


Clash = tuple[MergedQuotation, MergedQuotation]
"""Quotations of two sources that give different figures for the same thing."""


def _title(fact: NumberedFact) -> str:
    return _SITE.sub("", fact.source)


def short_source(fact: NumberedFact) -> str:
    """Name a source briefly: who published it, else its title."""
    site = _SITE.search(fact.source)
    if site and not re.fullmatch(r"[a-z0-9_-]+", site[1]):  # a folder, not a publisher
        return site[1].strip()
    return re.split(r"\s[|–—-]\s|: ", _title(fact))[0].strip(" ,")


def units(facts: Sequence[NumberedFact], questions: Sequence[str], objective: str) -> list[MergedQuotation]:
    """Make units of facts: orders left out, long quotations shortened, what several sources say merged; best first."""
    usable = [fact for fact in facts if _is_usable(fact)] or [facts[0]]
    texts = [_shortened(bare(fact.quote.replace("|", "/"))) for fact in usable]
    # What their heading asks words need not repeat.
    ranking = Ranking([f"{fact.heading} {text}".strip() for fact, text in zip(usable, texts, strict=True)])
    wanted = [ranking.wanted(question) for question in (questions or (objective,))]
    merged: list[MergedQuotation] = []
    for at, fact in enumerate(usable):
        scores = [ranking.score(at, one) for one in wanted]
        best = scores.index(max(scores))
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


def clashes(found: Sequence[MergedQuotation]) -> list[Clash]:
    """Find disagreements between sources, the most relevant first; each unit is in one at most."""
    result: list[Clash] = []
    free = list(found)
    while free:
        one = free.pop(0)
        others = (unit for unit in free if unit.first.source_number != one.first.source_number)
        if other := next((unit for unit in others if differ(one.text, unit.text)), None):
            result.append((one, other))
            free.remove(other)
    return result


def set_beside(clash: Clash, language: str) -> str:
    """Set the sides of a disagreement beside each other, each with source and year."""
    said: dict[str, str] = {}
    for name, unit in zip(("one", "other"), clash, strict=True):
        year, source = (unit.first.published or "")[:4], short_source(unit.first)
        # Within a longer sentence a quotation has no full stop.
        said |= {name: re.sub(r"[.。]$", "", unit.text), f"{name}_mark": unit.marks}
        said[f"{name}_source"] = f"{source}, {year}" if year and year not in source else source
    return say(language, "differ", **said)


def write_section(given: SectionInput) -> Section:
    """Write one section out of its facts."""
    steps = dict.fromkeys(fact.topic for fact in given.facts if is_topic(fact.topic))
    asked = tuple(dict.fromkeys((*given.questions, *steps)))
    found = units(given.facts, asked, given.objective)
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
    rest = [unit for unit in kept if not any(unit in clash for clash in disputes)]
    sides = [set_beside(clash, given.language) for clash in disputes]
    return Section(markdown="\n\n".join((*sides, *_paragraphs(rest, given.language))))


def write_lead(given: LeadInput) -> Section:
    """Open a branch with the most telling quotation of each of its sections."""
    found = units(given.facts, (given.objective,), given.query)
    cited = [{int(number) for number in _MARK.findall(section)} for section in given.sections]
    best = dict.fromkeys(next((unit for unit in found if unit.numbers & one), None) for one in cited)
    chosen = [unit for unit in best if unit][:_LEADS] or found[:1]
    return Section(markdown=" ".join(unit.told(given.language) for unit in chosen))


def _about(found: Sequence[MergedQuotation], question: str) -> list[MergedQuotation]:
    """Where one fact is asked for, keep what is about the names of the question; else what is not weak beside the best.

    Documents named for a name come first; a name that has none keeps the quotations that use it and answer about as well
    as the best of them. What gives another figure than a kept one stays in any case.
    """
    subject = about(question)
    if subject is None:
        best = {unit.question: unit.score for unit in reversed(found)}  # best first
        return _with_other_sides(found, [one for one in found if one.score >= OF_THE_BEST * best[one.question]])
    own = {unit: stems_of(ASIDE.sub("", _title(unit.first))) for unit in found}
    titles = {own[unit] for unit in found if is_called(subject, _title(unit.first))}
    if not titles and len(found) <= _VERY_FEW:
        named = [unit for unit in found if names_held(subject, stems_of(f"{_title(unit.first)} {unit.text}"))]
        return named or list(found[:1])
    # Of `Flute Sonata` and `Flute Sonata in C major` the question means the longer one.
    kept = [unit for unit in found if own[unit] in titles and not any(own[unit] < other for other in titles)]
    for name in subject.names:
        if not any(name <= title or title <= name for title in titles):
            using = [unit for unit in found if own[unit] not in titles and name <= stems_of(unit.text)]
            kept += [unit for unit in using if unit.score >= _AS_WELL * using[0].score]
    kept = _with_other_sides(found, kept)
    sources = {unit.first.source_number for unit in kept}
    return [unit for unit in found if unit.first.source_number in sources] or list(found[:1])


def _with_other_sides(found: Sequence[MergedQuotation], kept: Sequence[MergedQuotation]) -> list[MergedQuotation]:
    sides = [unit for clash in clashes(found) if any(unit in kept for unit in clash) for unit in clash]
    return [unit for unit in found if unit in kept or unit in sides]


def _paragraphs(found: Sequence[MergedQuotation], language: str) -> list[str]:
    """Quote one unit after the other, by question, then by source; a source that changes is named."""
    sources = [unit.first.source_number for unit in found]
    order = sorted(found, key=lambda unit: (unit.question, sources.index(unit.first.source_number)))
    paragraphs: list[list[str]] = []
    before: MergedQuotation | None = None
    for unit in order:
        if before is None or before.question != unit.question or len(paragraphs[-1]) == PER_PARAGRAPH:
            paragraphs.append([])
        changed = before and len(unit.sources) == 1 and before.first.source_number != unit.first.source_number
        lead = f"{short_source(unit.first)}: " if changed and paragraphs[-1] else ""
        paragraphs[-1].append(f"{lead}{unit.told(language)}")
        before = unit
    return [" ".join(sentences) for sentences in paragraphs]


def frame(given: FrameInput) -> Frame:
    """Write what stands around the sections: each part is answered in turn by the quotations that were found to answer it.

    What nothing answers is said by the report, in a line of its own.
    """
    asked = given.parts or tuple(AnsweredBy(part=text) for text in given.queries or (given.question,))
    found = units(given.facts, tuple(one.part for one in asked), given.question)
    disputes = {unit: clash for clash in clashes(found) for unit in clash}
    sentences: dict[str, None] = {}
    used: set[int] = set()
    for part in asked:
        answering = [unit for number in part.facts for unit in found if number in unit.numbers]
        answering.sort(key=lambda unit: (_points_away(unit.text), unit not in disputes))
        for unit in list(dict.fromkeys(answering))[: _LEADS if len(asked) == 1 else _LEADS - 1]:
            told = disputes.get(unit, (unit,))
            used.update(number for one in told for number in one.numbers)
            sentences[set_beside(disputes[unit], given.language) if unit in disputes else unit.told(given.language)] = (
                None
            )
    others = [one for one in dict.fromkeys(disputes.values()) if not used & (one[0].numbers | one[1].numbers)]
    return Frame(
        title=title(given.question),
        summary=" ".join(sentences) or found[0].told(given.language),
        insight="\n\n".join(set_beside(clash, given.language) for clash in others),
        conclusion="",
        open_questions=tuple(dict.fromkeys(text.strip() for text in given.missing if text.strip()))[:MOST_OPEN],
    )


def _points_away(text: str) -> bool:
    """Tell words that point at what is not quoted with them, and rows of a table: neither opens a summary."""
    return leans(text) or bool(_THIS_FIGURE.search(text)) or (text.count(": ") > 2 and text.count("; ") > 1)


def title(question: str) -> str:
    """Make a title of a question: its first part, without the mark; a very long one ends where its words do."""
    text = re.sub(r"\s+", " ", question).strip()
    if len(text) > TITLE_LENGTH and (found := questions(text)):
        text = found[0].parts[0]
    return label(text).rstrip("?.!？。！:;, ").lstrip("¿¡ ") or question
