"""Writing: facts under numbers for the writer, the writer's numbers back to fact ids."""

from agents.contracts.fact import Fact
from agents.contracts.finding import Finding, NumberedFact, cited_facts
from agents.contracts.source import SourceCard
from agents.report.parse_body import parse
from agents.report.write_markdown import markdown_of
from agents.research.writing.marks import Carriers

MAX_FACTS = 40
"""Facts in one writing prompt: the most certain, spread over sources."""


class Numbering:
    """Facts of one writing task, under the numbers that its writer sees."""

    def __init__(self, facts: tuple[Fact, ...], sources: tuple[SourceCard, ...], language: str = "en") -> None:
        self.facts = facts
        cards = {card.id: card for card in sources}
        self._carriers = Carriers(facts, cards, language)
        order = {source_id: n for n, source_id in enumerate(dict.fromkeys(f.source_id for f in facts), start=1)}
        self.numbered = tuple(
            NumberedFact(
                number=number,
                statement=fact.statement,
                quote=fact.quote,
                source=_label(cards[fact.source_id]),
                source_number=order[fact.source_id],
                published=cards[fact.source_id].published,
                topic=fact.topic,
            )
            for number, fact in enumerate(facts, start=1)
        )
        self._number_of = {fact.id: number for number, fact in enumerate(facts, start=1)}

    def to_ids(self, markdown: str) -> str:
        """Turn the writer's `[f3]` into `[#id]`: of the facts that carry the sentence; numbers that do not exist go."""
        body = parse(markdown, {str(number): fact_id for fact_id, number in self._number_of.items()})
        return markdown_of(self._carriers.settle(body))

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
    by_source: dict[str, list[Fact]] = {}
    for fact in sorted(facts, key=lambda fact: -fact.confidence):
        by_source.setdefault(fact.source_id, []).append(fact)
    chosen: list[Fact] = []
    while len(chosen) < limit:
        for queue in by_source.values():
            if queue and len(chosen) < limit:
                chosen.append(queue.pop(0))
    kept = {fact.id for fact in chosen}
    return tuple(fact for fact in facts if fact.id in kept)


def plain_section(facts: tuple[Fact, ...]) -> str:
    """Write a section without a model, from what was read: used when the writer failed, so that nothing is lost."""
    quotes = (f"“{' '.join(fact.quote.split())}” [#{fact.id}]" for fact in spread(facts, 12))
    return "\n\n".join(quotes)


def prose_of(finding: Finding) -> str:
    """All prose of a finding and below, in reading order."""
    return "\n\n".join(part.markdown for part in finding.walk() if part.markdown)


def facts_behind(findings: tuple[Finding, ...], limit: int = MAX_FACTS) -> tuple[Fact, ...]:
    """Choose the facts for whoever writes over `findings`: those that their prose cites, then others, each once."""
    facts = {fact.id: fact for finding in findings for fact in finding.all_facts()}
    cited = dict.fromkeys(mark for finding in findings for mark in cited_facts(prose_of(finding)))
    first = tuple(facts[mark] for mark in cited if mark in facts)
    return spread(first, limit) if first else spread(tuple(facts.values()), limit)


def sources_behind(findings: tuple[Finding, ...]) -> tuple[SourceCard, ...]:
    """List the sources of `findings`, each once."""
    return tuple({card.id: card for finding in findings for card in finding.all_sources()}.values())
