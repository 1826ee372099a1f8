"""Citation marks are checked on the way in: behind a sentence stand the facts that carry it, and no others."""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import combinations
from typing import NamedTuple

from agents.contracts.body import Block, Body, Heading, Paragraph, Sentence, Table, Words, as_sentence, row_citation
from agents.nlp.tokens import content_words
from agents.report.escaping import MAX_CITATIONS
from agents.report.wording import states_no_fact
from agents.verify.checks import carried, misplaced, mixes

NEAR = 6
"""Facts that share most words with a sentence, which are tried where those that it cites don't carry it."""
NEAREST = 3
"""Of a sentence that cites nothing, facts of which two may carry it together."""
FEWEST_WORDS = 3
"""Telling words below which a sentence is a transition and gets no mark that its writer didn't give it."""


class Carrier(NamedTuple):
    """A fact as far as it may carry a sentence."""

    id: str
    statement: str
    quote: str
    source: str
    """Of several facts of one source a sentence cites one."""
    title: str = ""


def _bare(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".:?! ")


def _announces(block: Block) -> bool:
    sentences = block.sentences if isinstance(block, Paragraph) else ()
    return len(sentences) == 1 and not sentences[0].facts and sentences[0].text.rstrip("* ").endswith((":", "："))


def _is_prose(block: Block, following: Block) -> bool:
    """Tell a paragraph behind a line that is no heading of its own: what such a line announces is a list or a table."""
    inline = block.sentences[0].inline if isinstance(block, Paragraph) else ()
    styled = any(isinstance(one, Words) and one.style for one in inline)
    return _announces(following) or (isinstance(following, Paragraph) and not styled)


def without_announcements(whole: Iterable[Block | None]) -> tuple[Block, ...]:
    """Leave out what only announces something that was left out (None), or never written."""
    blocks: list[Block] = []
    gone = True
    for block in reversed([*whole]):
        announces_nothing = block is not None and _announces(block) and (gone or _is_prose(block, blocks[0]))
        if block is not None and not announces_nothing:
            blocks.insert(0, block)
        gone = block is None or announces_nothing or isinstance(block, Heading)
    return tuple(blocks)


class Carriers:
    """Finds the facts that carry a sentence, among those that its writer was shown."""

    def __init__(self, facts: Iterable[Carrier], language: str) -> None:
        self._facts = {fact.id: fact for fact in facts}
        self._language = language.split("-")[0]
        self._words = {
            fact.id: frozenset(content_words(f"{fact.quote} {fact.statement}")) for fact in self._facts.values()
        }

    def settle(self, body: Body, asked: Iterable[str] = ()) -> Body:
        """Put the marks of a text right, and leave out what no source carries or what was said before; idempotent.

        Nothing stands uncited that a source should carry (specification, section 8). Of a table whole rows are left out:
        cells that name a row cite nothing. Small models put what was `asked` down again.
        """
        said = {_bare(one) for one in asked}

        def settled(one: Sentence, *, in_table: bool, told: list[Sentence]) -> Sentence | None:
            facts = self.of(one.text, one.facts)
            unsaid = one.text.rstrip().endswith(("?", "？", "("))  # or was cut where a bracket opens
            stands = facts or states_no_fact(one.text, self._language)
            if not in_table and (
                unsaid or _bare(one.text) in said or not stands or self._is_misplaced(one, facts, told)
            ):
                return None
            said.add(_bare(one.text))
            told.append(one := one.model_copy(update={"facts": facts}))
            return one

        each = (
            Body(blocks=(block,)).changed(partial(settled, in_table=isinstance(block, Table), told=[]))
            for block in body.blocks
        )
        whole = (
            self._rows(left) if isinstance(left, Table) else left for one in each for left in one.blocks or (None,)
        )
        return Body(blocks=without_announcements(whole))

    def _is_misplaced(self, one: Sentence, facts: Sequence[str], told: Sequence[Sentence]) -> bool:
        """Tell a sentence that goes on about what stands before it, by the words of a source on something else."""
        held = [self._facts[fact] for fact in facts if fact in self._facts]
        before = told[-1] if told else None
        if before is None or not held or not before.facts:
            return False
        same = {fact.source for fact in held} & {
            self._facts[fact].source for fact in before.facts if fact in self._facts
        }
        sources = [(f"{fact.quote} {fact.statement}", fact.title) for fact in held]
        return not same and misplaced(one.text, before.text, sources, language=self._language)

    def _rows(self, table: Table) -> Table | None:
        """Leave the rows that cite something, or that a fact carries as a whole; None where none is left."""
        rows = []
        for row in table.rows:
            at = row_citation(row)
            if at is not None and not row[at].facts:
                facts = self.of(as_sentence(row, at).text, ())
                row = (*row[:at], row[at].model_copy(update={"facts": facts}), *row[at + 1 :]) if facts else ()
            rows += [row] if row else []
        return table.model_copy(update={"rows": tuple(rows)}) if rows else None

    def carry(self, sentence: str, facts: Sequence[str]) -> bool:
        """Tell whether one of some facts carries a sentence, or all of them together."""
        return any(self._carry(sentence, fact) for fact in facts) or (len(facts) > 1 and self._carry(sentence, *facts))

    def of(self, sentence: str, cited: Sequence[str]) -> tuple[str, ...]:
        """Give the facts that carry a sentence: of those cited, else of the others; what was cited where none does."""
        known = [fact for fact in cited if fact in self._facts]
        good = self._of_each_source(sentence, known)
        if not good and not (len(known) > 1 and self._carry(sentence, *known)):
            words = frozenset(content_words(sentence))
            shared = sorted(self._words, key=lambda fact: -len(words & self._words[fact]))[:NEAR]
            near = [fact for fact in shared if 2 * len(words & self._words[fact]) >= len(words)]
            if len(words) >= FEWEST_WORDS:
                good = self._of_each_source(sentence, [fact for fact in near if fact not in known])
            if len(words) >= FEWEST_WORDS and not (good or known):
                pairs = combinations(sorted(shared[:NEAREST], key=[*self._facts].index), 2)
                good = list(next((pair for pair in pairs if self._carry(sentence, *pair)), ()))
        of_sources: dict[str, str] = {}
        for fact in good or known:
            of_sources.setdefault(self._facts[fact].source, fact)
        return tuple(of_sources.values())[:MAX_CITATIONS]

    def _of_each_source(self, sentence: str, facts: Sequence[str]) -> list[str]:
        """Give the first fact of each source that carries a sentence, until there are enough to cite."""
        found: dict[str, str] = {}
        for fact in facts:
            source = self._facts[fact].source
            if len(found) < MAX_CITATIONS and source not in found and self._carry(sentence, fact):
                found[source] = fact
        return list(found.values())

    def _carry(self, sentence: str, *facts: str) -> bool:
        held = [self._facts[fact] for fact in facts]
        quotes, titles = [fact.quote for fact in held], [fact.title for fact in held if fact.title]
        if carried(sentence, quotes, language=self._language, context=titles).verdict != "supported":
            return False
        return len(held) < 2 or not mixes(
            sentence, [(fact.quote, fact.title) for fact in held], language=self._language
        )
