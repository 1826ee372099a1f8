"""What sections and summaries are made of: quotations with their marks, merged where sources say the same."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agents.contracts.finding import NumberedFact
from agents.nlp.sentence_split import spans
from agents.offline.contradictions import differ, quantities
from agents.offline.ranking import Ranking, at_sentence_end, bare, cells, is_order
from agents.offline.terms import distinct, say, span_of_years

MOST_MARKS = 3
LONGEST_QUOTE = 420
"""Characters of one quotation; longer ones end with an earlier sentence."""
_SAME = 0.8
"""Share of common words from which two quotations say the same; their numbers must be the same too."""
_MARK_LIKE = re.compile(r"\[#?[fF]\s?[0-9a-f]+|\[\s*f\d")
_SITE = re.compile(r"\(([^()]{2,80})\)\s*$")


@dataclass(frozen=True)
class MergedQuotation:
    """One quotation, with the facts of all sources that say the same."""

    text: str
    facts: tuple[NumberedFact, ...]
    score: float = 0.0
    question: int = 0
    """Place of the question that it was read for."""
    terms: frozenset[str] = frozenset()

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

    @property
    def published(self) -> str:
        """ISO date of its newest source, empty when none is dated."""
        return max((fact.published or "" for fact in self.facts), default="")

    def quoted(self) -> str:
        """The words in quotation marks, with their marks behind them."""
        return f"{in_quotes(self.text)}{self.marks}"


def in_quotes(text: str) -> str:
    """Set words in quotation marks; in straight ones where they hold curly ones themselves."""
    return f'"{text}"' if re.search("[“”]", text) and '"' not in text else f"“{text}”"


def first_words(fact: NumberedFact) -> str:
    """Quote one fact as it is: for the rare case that nothing else can be said."""
    return f"{in_quotes(' '.join(fact.quote.replace('|', '/').split()))}[f{fact.number}]"


def short_source(fact: NumberedFact) -> str:
    """Name a source briefly: who published it, else its title."""
    site = _SITE.search(fact.source)
    title = re.split(r"\s[|–—-]\s|: ", fact.source[: site.start()] if site else fact.source)[0].strip(" ,")
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
    ranking = Ranking(texts)
    wanted = [ranking.wanted(question, objective) for question in (questions or (objective,))]
    merged: list[MergedQuotation] = []
    for at, fact in enumerate(usable):
        scores = [ranking.score(at, one) for one in wanted]
        best = max(range(len(scores)), key=lambda number: (scores[number], -number))
        asked = next((number for number, text in enumerate(questions) if text == fact.topic), best)
        unit = MergedQuotation(texts[at], (fact,), scores[best], asked, frozenset(distinct(texts[at])))
        same = next((number for number, other in enumerate(merged) if _say_the_same(unit, other)), None)
        if same is None:
            merged.append(unit)
        else:
            one, other = sorted((merged[same], unit), key=lambda unit: len(unit.text))
            score = max(one.score, other.score)
            merged[same] = replace(one, facts=(*one.facts, *other.facts), score=score, question=merged[same].question)
    return sorted(merged, key=lambda unit: (-unit.score, unit.first.number))


def _is_usable(fact: NumberedFact) -> bool:
    unusable = cells(fact.quote) or is_order(fact.quote) or _MARK_LIKE.search(fact.quote)
    return not unusable and bool(bare(fact.quote))


def _say_the_same(one: MergedQuotation, other: MergedQuotation) -> bool:
    """Tell whether two quotations say the same: the same telling words, the same numbers, the same years."""
    few = min(len(one.terms), len(other.terms))
    if few < 3 or len(one.terms & other.terms) / few < _SAME:
        return False
    mine, yours = ({(item.value, item.unit) for item in quantities(text)} for text in (one.text, other.text))
    small, large = sorted((mine, yours), key=len)
    first, second = span_of_years(one.text), span_of_years(other.text)
    same_years = first is None or second is None or first == second
    return small <= large and (bool(small) or not large) and same_years


def _shortened(text: str) -> str:
    """Cut a long quotation at the end of a sentence; never within one."""
    if len(text) <= LONGEST_QUOTE:
        return text
    ends = [span.end for span in spans(text)]
    return text[: max((end for end in ends if end <= LONGEST_QUOTE), default=ends[0])]


@dataclass(frozen=True)
class Clash:
    """Units that give different figures for the same thing."""

    units: tuple[MergedQuotation, ...]

    @property
    def numbers(self) -> frozenset[int]:
        """Numbers of all its facts."""
        return frozenset(number for unit in self.units for number in unit.numbers)


def clashes(found: Sequence[MergedQuotation]) -> list[Clash]:
    """Find disagreements between sources, the most relevant first; each unit is in one at most."""
    result: list[Clash] = []
    taken: set[int] = set()
    for at, one in enumerate(found):
        if one.first.number in taken:
            continue
        group = [one]
        for other in found[at + 1 :]:
            known = {unit.first.source_number for unit in group}
            open_yet = other.first.number not in taken and other.first.source_number not in known
            if open_yet and differ(one.text, other.text):
                group.append(other)
        if len(group) > 1:
            taken |= {unit.first.number for unit in group}
            result.append(Clash(tuple(group[:4])))
    return result


def told(clash: Clash, language: str) -> str:
    """Set the sides of a disagreement beside each other, each with source and year."""
    texts = [at_sentence_end(unit.text) for unit in clash.units]
    sources = [dated_source(unit.first) for unit in clash.units]
    marks = [unit.marks for unit in clash.units]
    sentences = [
        say(
            language,
            "differ",
            one=texts[0],
            one_source=sources[0],
            one_mark=marks[0],
            other=texts[1],
            other_source=sources[1],
            other_mark=marks[1],
        )
    ]
    for text, source, mark in zip(texts[2:], sources[2:], marks[2:], strict=True):
        sentences.append(f"“{text}” ({source}){mark}.")
    return " ".join(sentences)


def agreement(unit: MergedQuotation, language: str) -> str:
    """Say how many sources agree; empty when it is one."""
    if unit.sources < 2:
        return ""
    return say(language, "agree_2" if unit.sources == 2 else "agree_n", n=unit.sources)
