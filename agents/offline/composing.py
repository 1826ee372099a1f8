"""What sections, leads and frames are made of: quotations with their marks, merged where sources say the same."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from agents.contracts.finding import NumberedFact
from agents.nlp.sentence_split import spans
from agents.offline import texts as wording
from agents.offline.figure_rows import differ, quantities, replaces, span_of_years, subject_terms
from agents.offline.ranking import Ranking
from agents.offline.shape import at_sentence_end, bare, cells, is_order
from agents.offline.table_writer import is_row
from agents.offline.terms import distinct

MOST_MARKS = 3
LONGEST_QUOTE = 420
"""Characters of one quotation; longer ones end with an earlier sentence."""
_SAME = 0.8
"""Share of common words from which two quotations say the same; their numbers must be the same too."""
_MARK_LIKE = re.compile(r"\[#?[fF]\s?[0-9a-f]+|\[\s*f\d")
_SITE = re.compile(r"\(([^()]{2,80})\)\s*$")


@dataclass(frozen=True)
class Unit:
    """One quotation, with the facts of all sources that say the same."""

    text: str
    facts: tuple[NumberedFact, ...]
    score: float = 0.0
    question: int = 0
    terms: frozenset[str] = field(default=frozenset())

    @property
    def marks(self) -> str:
        """Its marks, one per source, three at most."""
        by_source = {fact.source_number: fact.number for fact in reversed(self.facts)}
        return "".join(f"[f{number}]" for number in sorted(by_source.values())[:MOST_MARKS])

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
    if site and (re.fullmatch(r"[a-z0-9_.-]+", site.group(1)) and "." not in site.group(1)):
        return re.split(r"\s[|–—-]\s|: ", fact.source[: site.start()])[0].strip(" ,") or site.group(1)
    return site.group(1).strip() if site else re.split(r"\s[|–—-]\s|: ", fact.source)[0].strip()


def dated_source(fact: NumberedFact) -> str:
    """Name a source briefly, with its year."""
    year = (fact.published or "")[:4]
    name = short_source(fact)
    return f"{name}, {year}" if year and year not in name else name


def units(facts: Sequence[NumberedFact], questions: Sequence[str], objective: str) -> list[Unit]:
    """Make units of facts: orders left out, long quotations shortened, what several sources say merged; best first."""
    usable = [
        fact
        for fact in facts
        if not is_row(fact)
        and not cells(fact.quote)
        and not is_order(fact.quote)
        and not _MARK_LIKE.search(fact.quote)
        and bare(fact.quote)
    ]
    texts = [shortened(bare(fact.quote)) for fact in usable]
    if not usable:
        return []
    ranking = Ranking(texts)
    wanted = [ranking.wanted(question, objective) for question in (questions or (objective,))]
    merged: list[Unit] = []
    for at, fact in enumerate(usable):
        scores = [ranking.score(at, one) for one in wanted]
        best = max(range(len(scores)), key=lambda number: (scores[number], -number))
        asked = next((number for number, text in enumerate(questions) if text == fact.topic), best)
        unit = Unit(texts[at], (fact,), scores[best], asked, frozenset(distinct(texts[at])))
        twin = next((number for number, other in enumerate(merged) if says_the_same(unit, other)), None)
        if twin is None:
            merged.append(unit)
        else:
            merged[twin] = _joined(merged[twin], unit)
    return sorted(merged, key=lambda unit: (-unit.score, unit.first.number))


def _joined(one: Unit, other: Unit) -> Unit:
    """Join units that say the same; the shorter words are shown."""
    shown, second = (one, other) if len(one.text) <= len(other.text) else (other, one)
    return Unit(shown.text, (*shown.facts, *second.facts), max(one.score, other.score), one.question, shown.terms)


def says_the_same(one: Unit, other: Unit) -> bool:
    """Tell whether two quotations say the same: the same telling words, the same numbers, the same years."""
    few = min(len(one.terms), len(other.terms))
    if few < 3 or len(one.terms & other.terms) / few < _SAME:
        return False
    mine, yours = ({(item.value, item.unit) for item in quantities(text)} for text in (one.text, other.text))
    small, large = sorted((mine, yours), key=len)
    return small <= large and (bool(small) or not large) and _years(one.text, other.text)


def _years(one: str, other: str) -> bool:
    first, second = span_of_years(one), span_of_years(other)
    return first is None or second is None or first == second


def shortened(text: str) -> str:
    """Cut a long quotation at the end of a sentence; never within one."""
    if len(text) <= LONGEST_QUOTE:
        return text
    end = 0
    for span in spans(text):
        if span.end > LONGEST_QUOTE and end:
            break
        end = span.end
    return text[:end]


@dataclass(frozen=True)
class Clash:
    """Units that give different figures for the same thing."""

    units: tuple[Unit, ...]
    replaced: bool = False
    """The last one says that the first no longer holds."""


def clashes(found: Sequence[Unit]) -> list[Clash]:
    """Find disagreements between sources, the most relevant first; each unit is in one at most."""
    result = _replaced(found)
    taken = {unit.first.number for clash in result for unit in clash.units}
    for at, one in enumerate(found):
        if one.first.number in taken:
            continue
        group = [one]
        for other in found[at + 1 :]:
            known = {unit.first.source_number for unit in group}
            if (
                other.first.number not in taken
                and other.first.source_number not in known
                and differ(one.text, other.text)
            ):
                group.append(other)
        if len(group) > 1:
            taken |= {unit.first.number for unit in group}
            result.append(Clash(tuple(group[:4])))
    return result


def _replaced(found: Sequence[Unit]) -> list[Clash]:
    """Find figures that a later source withdraws, each with the figure that it puts in their place."""
    result: list[Clash] = []
    for notice in found:
        old = [
            unit
            for unit in found
            if _other(notice, unit) and unit.published < notice.published and replaces(notice.text, unit.text)
        ]
        if not old or any(notice in clash.units or old[0] in clash.units for clash in result):
            continue
        own = (unit for unit in found if not _other(notice, unit) and differ(unit.text, old[0].text))
        result.append(Clash((old[0], next(own, notice), *old[1:]), replaced=True))
    return result


def _other(one: Unit, other: Unit) -> bool:
    return one.first.source_number != other.first.source_number


def told(clash: Clash, language: str) -> str:
    """Tell a disagreement, both sides with source and year."""
    parts = [
        {"text": at_sentence_end(unit.text), "source": dated_source(unit.first), "mark": unit.marks}
        for unit in clash.units
    ]
    one, other = parts[0], parts[1]
    text = wording.say(
        language,
        "older" if clash.replaced else "differ",
        one=one["text"],
        one_source=one["source"],
        one_mark=one["mark"],
        other=other["text"],
        other_source=other["source"],
        other_mark=other["mark"],
    )
    for more in parts[2:] if not clash.replaced else ():
        text += " " + wording.say(
            language, "differ_third", one=more["text"], one_source=more["source"], one_mark=more["mark"]
        )
    return text


def agreement(unit: Unit, language: str) -> str:
    """Say how many sources agree; empty when it is one."""
    if unit.sources < 2:
        return ""
    name = f"agree_{unit.sources}" if unit.sources <= MOST_MARKS else "agree_n"
    return wording.say(language, name, n=unit.sources)


def alike(one: Unit, other: Unit) -> float:
    """Say how much two units are about the same thing."""
    mine, yours = frozenset(subject_terms(one.text)), frozenset(subject_terms(other.text))
    few = min(len(mine), len(yours))
    return len(mine & yours) / few if few else 0.0
