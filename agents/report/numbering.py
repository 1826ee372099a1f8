"""From facts to source numbers: each source once, in order of first use over the whole text."""

from collections.abc import Iterable, Sequence

from agents.contracts.fact import Fact
from agents.contracts.finding import Finding
from agents.contracts.report import Quote, Reference
from agents.contracts.source import SourceCard
from agents.report.report_sentences import capped


class Numbering:
    """Hands out numbers while the text is written, and gives the list of what was cited at its end."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.facts: dict[str, Fact] = {}
        self._cards: dict[str, SourceCard] = {}
        for finding in findings:
            for card in finding.all_sources():
                self._cards.setdefault(card.id, card)
            for fact in finding.all_facts():
                self.facts.setdefault(fact.id, fact)
        self._cited: dict[str, dict[str, None]] = {}  # source id → fact ids, both in order of first use

    def source_of(self, fact_id: str) -> str | None:
        """Name the source of a fact; None where the fact or its source does not exist."""
        fact = self.facts.get(fact_id)
        return fact.source_id if fact and fact.source_id in self._cards else None

    def cite(self, fact_ids: Sequence[str]) -> tuple[tuple[int, ...], tuple[str, ...]]:
        """Cite facts behind one sentence.

        Returns:
            At most three source numbers, ascending, each once; and the facts that they stand for.
        """
        facts = capped(fact_ids, self.source_of)
        for fact_id in facts:
            self._cited.setdefault(self.facts[fact_id].source_id, {})[fact_id] = None
        order = list(self._cited)
        return tuple(sorted({order.index(self.facts[fact_id].source_id) + 1 for fact_id in facts})), facts

    def references(self) -> tuple[Reference, ...]:
        """Give the reference list: exactly what was cited, with every quote that a sentence rests on."""
        return tuple(
            self._reference(n, source_id, facts) for n, (source_id, facts) in enumerate(self._cited.items(), 1)
        )

    def _reference(self, n: int, source_id: str, fact_ids: Iterable[str]) -> Reference:
        card = self._cards[source_id]
        facts = [self.facts[fact_id] for fact_id in fact_ids]
        return Reference(
            n=n,
            source_id=source_id,
            url=card.url,
            title=card.title,
            author=card.author,
            site=card.site,
            published=card.published,
            accessed=card.retrieved,
            kind=card.kind,
            notes=card.tags,
            quotes=tuple(
                Quote(
                    text=fact.quote,
                    start=fact.start,
                    end=fact.end,
                    fact_id=fact.id,
                    page=card.page_of(fact.start),
                )
                for fact in facts
            ),
        )
