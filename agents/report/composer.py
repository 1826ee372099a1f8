"""The body of a report while it is put together: checked sentences in reading order, their sources numbered by first use.

Code's own words about the research are written here as blocks too.
"""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import chain

from agents.contracts import body as b
from agents.contracts.fact import Fact
from agents.contracts.finding import Finding
from agents.contracts.report import Quote, Reference
from agents.contracts.sources import SourceCard
from agents.contracts.verification import SentenceCheck
from agents.nlp.tokens import content_words
from agents.report.carriers import without_announcements
from agents.report.cut_sentences import Glyph, sentences
from agents.report.escaping import capped, settled
from agents.report.parse_body import parse
from agents.report.references import reference_of
from agents.report.wording import states_no_fact

MAX_LEVEL = 5
DOUBTFUL = ("partly", "unsupported", "contradicted")
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_WORD = re.compile(r"\w+")
_NAMED_FIRST = re.compile(r"^[^“”\"]{1,80}: (?=[“\"])")
"""Who says it, in front of a quotation: the same words are the same sentence without it."""


class Composer:
    """Takes prose in reading order; numbers are given as they are met. Prose may use the words `asked` without citing."""

    def __init__(
        self,
        findings: Iterable[Finding],
        language: str,
        asked: Iterable[str] = (),
        checks: Iterable[SentenceCheck] = (),
    ) -> None:
        held, checks = tuple(findings), tuple(checks)
        self.cards: dict[str, SourceCard] = {card.id: card for top in held for card in top.all_sources()}
        self.facts: dict[str, Fact] = {}
        for fact in (fact for top in held for fact in top.all_facts()):
            self.facts.setdefault(fact.id, fact)
        self.blocks: list[b.Block] = []
        self._language = language
        self._addresses = tuple(card.url for card in self.cards.values())
        self._checks = {(check.text, check.facts): check for check in checks if check.replaced_by is None}
        # A sentence that was put right or struck is looked up by the facts that it cited when it was checked.
        self._mends = {check.text: check for check in checks if check.replaced_by is not None}
        text = " ".join((*asked, *(f"{one.statement} {one.quote} {one.topic}" for one in self.facts.values())))
        self._known, self._figures = frozenset(content_words(text)), frozenset(_FIGURE.findall(text))
        self._cited: dict[str, dict[str, None]] = {}  # source id → fact ids, both in order of first use
        self._said: list[str] = []  # the words of sentences so far, for leaving out what is said twice
        self._dropped = False  # whether the sentence before was left out, and with it what leans on it

    # ---- sources

    def source_of(self, fact_id: str) -> str | None:
        """Name the source of a fact; None where the fact or its source does not exist."""
        fact = self.facts.get(fact_id)
        return fact.source_id if fact and fact.source_id in self.cards else None

    def cited(self, sentence: b.Sentence) -> b.Sentence:
        """Number a sentence: at most three sources, ascending, each once, and the facts that they stand for."""
        facts = capped(sentence.facts, self.source_of)
        for fact_id in facts:
            self._cited.setdefault(self.facts[fact_id].source_id, {})[fact_id] = None
        order = list(self._cited)
        numbers = sorted({order.index(self.facts[fact_id].source_id) + 1 for fact_id in facts})
        return sentence.model_copy(update={"facts": facts, "citations": tuple(numbers)})

    def references(self, told: Callable[[str], str]) -> tuple[Reference, ...]:
        """Give the reference list: exactly what was cited, with every quote that a sentence rests on, each once."""
        found = []
        for n, (source_id, fact_ids) in enumerate(self._cited.items(), 1):
            card, facts = self.cards[source_id], [self.facts[one] for one in fact_ids]
            quotes = tuple(
                Quote(text=one.quote, start=one.start, end=one.end, fact_id=one.id, page=card.page_of(one.start))
                for one in facts
            )
            known_since = min(filter(None, (one.known_since for one in facts)), default="")
            found.append(reference_of(card, n, quotes, told).model_copy(update={"known_since": known_since}))
        return tuple(found)

    # ---- the text

    def heading(self, level: int, title: str) -> None:
        """Put a heading, but not the same twice in a row; it is no sentence and cites nothing."""
        line, last = title_line(title), self.blocks[-1] if self.blocks else None
        if line and not (isinstance(last, b.Heading) and last.inline == line):
            self.blocks.append(b.Heading(level=min(level, MAX_LEVEL), inline=line))

    def read(self, prose: str | b.Body, level: int | None) -> b.Body:
        """Read prose against the facts and addresses of this report."""
        body = parse(prose, self.facts.keys(), addresses=self._addresses) if isinstance(prose, str) else prose
        return settled(body, level=level, source_of=self.source_of)

    def prose(self, prose: str | b.Body, *, level: int | None = None) -> None:
        """Put prose that cites facts, without what stands above in the same words; headings begin at `level`, None drops them."""
        self._dropped = False
        put = (
            b.Body(blocks=(block,)).changed(lambda one, of=block: self._put(one, of))  # type: ignore[misc]
            for block in self.read(prose, level).blocks
        )
        whole = (block for one in put for block in one.blocks or (None,))
        self.blocks += map(_labelled, without_announcements(whole))

    def own(self, *blocks: b.Block) -> None:
        """Put what code says about the research itself: exempt from citing."""
        self.blocks += blocks

    def body(self) -> b.Body:
        """Give what was put, without headings that nothing of their own follows."""
        out: list[b.Block] = []
        waiting: list[b.Heading] = []
        for block in self.blocks:
            if isinstance(block, b.Heading):
                waiting = [above for above in waiting if above.level < block.level] + [block]
            else:
                out += [*waiting, block]
                waiting = []
        return b.Body(blocks=tuple(out))

    def _put(self, sentence: b.Sentence, block: b.Block) -> b.Sentence | None:
        """Number a sentence and give it its verdict; None where it was struck, is said already, or states nothing."""
        mend = self._mends.get(sentence.text)
        if mend is not None:
            if not mend.replaced_by:
                return None
            words = (b.Words(text=mend.replaced_by),)
            sentence = sentence.model_copy(update={"inline": words, "facts": mend.facts})
        exempt = not sentence.facts and states_no_fact(sentence.text, self._language)
        if self._is_said(sentence, exempt):
            return None
        new = self.cited(sentence)
        if mend is None and not new.citations:
            if states_no_fact(new.text, self._language):
                return new.model_copy(update={"verdict": None})
            # A cell is cited by its row, and may be a label.
            if not isinstance(block, b.Table) and self.is_foreign(new.text):
                return None
        # Facts that other sources say in the same words may have come to it since it was checked.
        same = (one for (text, facts), one in self._checks.items() if text == new.text and set(facts) & set(new.facts))
        check = mend or self._checks.get((new.text, new.facts)) or next(same, None)
        verdict: b.SentenceVerdict = check.verdict if check else "unchecked" if new.citations else "uncited"
        why = check.reason if check and verdict in DOUBTFUL else ""
        return new.model_copy(update={"verdict": verdict, "why": why})

    def _is_said(self, sentence: b.Sentence, exempt: bool) -> bool:
        """Tell what was said above in the same words, and the transitions that leaned on it."""
        if not sentence.facts:
            self._dropped = self._dropped and exempt
        else:
            words = _WORD.findall(_NAMED_FIRST.sub("", " ".join(sentence.text.split())).casefold())
            spoken = f" {' '.join(words)} "
            # Several words that stand within a longer quotation above are said, too.
            self._dropped = any(spoken == one or (len(words) > 4 and spoken in one) for one in self._said)
            self._said.append(spoken)
        return self._dropped

    def is_foreign(self, text: str) -> bool:
        """Tell words without a citation that speak of something else than question and facts, or in other figures.

        They are what a page may have made a model say; honest transitions and questions use words of the matter.
        """
        words = frozenset(content_words(text))
        return 2 * len(words - self._known) > len(words) or not self._figures.issuperset(_FIGURE.findall(text))


def _labelled(block: b.Block) -> b.Block:
    """Exempt the first words of a table row whose cells cite for themselves: they name the row and state nothing."""
    if not isinstance(block, b.Table):
        return block
    rows = []
    for row in block.rows:
        first = next((at for at, cell in enumerate(row) if cell.inline), None)
        if b.row_citation(row) is None and first is not None and not row[first].citations:
            row = (*row[:first], row[first].model_copy(update={"verdict": None}), *row[first + 1 :])
        rows.append(row)
    return block.model_copy(update={"rows": tuple(rows)})


def title_line(title: str) -> b.Line:
    """Read a title for a heading: one line, no citation, no link, no closing full stop."""
    text = re.sub(r"(?<!\.)\.$", "", " ".join(title.split()).strip("# "))
    lines = ((b.Words(text=" "), *one.inline) for one in parse(text, (), addresses=()).sentences())
    return tuple(chain.from_iterable(lines))[1:]


# ---- what code says


@lru_cache(maxsize=2048)  # a report is put together as it is checked, as it is shown, and as it is handed over
def paragraph(said: str | b.Line) -> b.Paragraph:
    """Write what code says as a paragraph; plain text is cut into sentences."""
    if isinstance(said, str):
        return b.Paragraph(sentences=sentences([Glyph(char) for char in said]))
    return b.Paragraph(sentences=(b.Sentence(inline=said),))


def text_line(text: str) -> b.Line:
    """Write a text as a line of its own; an empty one is none."""
    line = " ".join(text.split())
    return (b.Words(text=line),) if line else ()


def introduced(lead: str, items: Iterable[str | b.Line]) -> tuple[b.Block, ...]:
    """Put a line above a list; a single item joins the line, since a list of one is none."""
    lines: Iterable[tuple[b.Inline, ...]] = (text_line(item) if isinstance(item, str) else item for item in items)
    found = tuple(dict.fromkeys(filter(None, lines)))
    if not found:
        return ()
    if len(found) == 1:
        return (paragraph((b.Words(text=f"{lead} "), *found[0]) if lead else found[0]),)
    return (*((paragraph(lead),) if lead else ()), b.Listing(items=tuple((paragraph(item),) for item in found)))


def table(header: Iterable[str], align: tuple[b.Align, ...], rows: Iterable[Iterable[str]]) -> b.Table:
    """Write figures and words of our own as a table."""
    return b.Table(
        header=tuple(map(text_line, header)),
        align=align,
        rows=tuple(tuple(b.Sentence(inline=text_line(cell)) for cell in row) for row in rows),
    )
