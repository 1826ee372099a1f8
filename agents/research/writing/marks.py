"""Citation marks are checked on the way in: behind a sentence stand the facts that carry it, and no others."""

from collections.abc import Mapping, Sequence

from agents.contracts.body import Body
from agents.contracts.fact import Fact
from agents.contracts.source import SourceCard
from agents.nlp.tokens import content_words
from agents.verify.checks import carried

MAX_CITATIONS = 3
"""Sources behind one sentence, at most (specification, section 8)."""
NEAR = 6
"""Facts that share most words with a sentence, which are tried where those that it cites don't carry it."""
FEWEST_WORDS = 3
"""Telling words below which a sentence is a transition and gets no mark that its writer didn't give it."""


class Carriers:
    """Finds the facts that carry a sentence, among those that its writer was shown."""

    def __init__(self, facts: Sequence[Fact], cards: Mapping[str, SourceCard], language: str) -> None:
        self._facts = {fact.id: fact for fact in facts}
        self._cards, self._language = cards, language.split("-")[0]
        self._words = {fact.id: frozenset(content_words(f"{fact.quote} {fact.statement}")) for fact in facts}

    def settle(self, body: Body) -> Body:
        """Put the marks of a text right; idempotent."""
        return body.changed(lambda one: one.model_copy(update={"facts": self.of(one.text, one.facts)}))

    def of(self, sentence: str, cited: Sequence[str]) -> tuple[str, ...]:
        """Give the facts that carry a sentence: of those cited, else of the others; what was cited where none does."""
        known = [fact for fact in cited if fact in self._facts]
        if good := [fact for fact in known if self._carry(sentence, fact)]:
            return self._one_a_source(good)
        if len(known) > 1 and self._carry(sentence, *known):
            return self._one_a_source(known)
        words = frozenset(content_words(sentence))
        if len(words) >= FEWEST_WORDS:
            shared = sorted(((len(words & held), fact) for fact, held in self._words.items()), reverse=True)
            near = [fact for count, fact in shared[:NEAR] if 2 * count >= len(words) and fact not in known]
            if good := [fact for fact in near if self._carry(sentence, fact)]:
                return self._one_a_source(good)
        return self._one_a_source(known)

    def _carry(self, sentence: str, *facts: str) -> bool:
        held = [self._facts[fact] for fact in facts]
        titles = [self._cards[fact.source_id].title for fact in held if fact.source_id in self._cards]
        quotes = [fact.quote for fact in held]
        return carried(sentence, quotes, language=self._language, context=titles).verdict == "supported"

    def _one_a_source(self, facts: Sequence[str]) -> tuple[str, ...]:
        kept: dict[str, str] = {}
        for fact in facts:
            kept.setdefault(self._facts[fact].source_id, fact)
        return tuple(kept.values())[:MAX_CITATIONS]
