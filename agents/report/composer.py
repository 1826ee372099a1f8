"""The body of a report while it is put together: numbered, checked sentences in reading order."""

import re
from collections.abc import Iterable

from agents.contracts.body import (
    Block,
    Body,
    Heading,
    Inline,
    LineBreak,
    Paragraph,
    Sentence,
    SentenceVerdict,
    Table,
    Words,
    row_citation,
)
from agents.contracts.verification import SentenceCheck
from agents.nlp.tokens import content_words
from agents.report.cut_sentences import Glyph, joined, sentences
from agents.report.escaping import settled
from agents.report.parse_body import parse
from agents.report.references import SourceNumbers
from agents.report.wording import states_no_fact

MAX_LEVEL = 5
DOUBTFUL = ("partly", "unsupported", "contradicted")
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_NAMED_FIRST = re.compile(r"^[^“”\"]{1,80}: (?=[“\"])")
"""Who says it, in front of a quotation: the same words are the same sentence without it."""


class Composer:
    """Takes prose in reading order; numbers are given as they are met."""

    def __init__(
        self,
        numbering: SourceNumbers,
        language: str,
        addresses: tuple[str, ...] = (),
        checks: Iterable[SentenceCheck] = (),
        asked: Iterable[str] = (),
    ) -> None:
        self.numbering = numbering
        checks = tuple(checks)
        self._checks = {(check.text, check.facts): check for check in checks if check.replaced_by is None}
        # A sentence that was put right or struck is looked up by the facts that it cited when it was checked.
        self._mends = {check.text: check for check in checks if check.replaced_by is not None}
        self.blocks: list[Block] = []
        told = [f"{fact.statement} {fact.quote} {fact.topic}" for fact in numbering.facts.values()]
        text = " ".join((*asked, *told))
        self._known, self._figures = frozenset(content_words(text)), frozenset(_FIGURE.findall(text))
        self._in_table = False  # a cell is cited by its row, and may be a label
        self._language = language
        self._addresses = addresses
        self._said: set[str] = set()  # sentences of sections so far, for leaving out what would be said twice
        self._read: dict[tuple[str | Body, int | None], Body] = {}  # each part is looked at before it is written

    def heading(self, level: int, title: str) -> None:
        """Put a heading; it is no sentence and cites nothing."""
        if line := title_line(title):
            self.blocks.append(Heading(level=min(level, MAX_LEVEL), inline=line))

    def read(self, prose: str | Body, level: int | None) -> Body:
        """Read prose against the facts and addresses of this report."""
        key = (prose, level)
        if key not in self._read:
            body = (
                parse(prose, self.numbering.facts.keys(), addresses=self._addresses)
                if isinstance(prose, str)
                else prose
            )
            self._read[key] = settled(body, level=level, source_of=self.numbering.source_of)
        return self._read[key]

    def prose(self, prose: str | Body, *, level: int | None = None, once: bool = False) -> None:
        """Put prose that cites facts; headings inside begin at `level`, None drops them.

        Args:
            prose: as a writer wrote it, or as code put it together.
            level: of its highest heading.
            once: leave out sentences that stand above word for word, in the summary or an earlier section.
        """
        body = self.read(prose, level)
        if once:
            body = self._unsaid(body)
        for block in body.blocks:
            self._in_table = isinstance(block, Table)
            self.blocks.extend(map(_labelled, Body(blocks=(block,)).changed(self._numbered).blocks))

    def own(self, *blocks: Block) -> None:
        """Put what code says about the research itself: exempt from citing."""
        self.blocks += blocks

    def body(self) -> Body:
        """Give what was put, without headings that nothing of their own follows."""
        out: list[Block] = []
        waiting: list[Heading] = []
        for block in self.blocks:
            if isinstance(block, Heading):
                waiting = [above for above in waiting if above.level < block.level] + [block]
            else:
                out += [*waiting, block]
                waiting = []
        return Body(blocks=tuple(out))

    def _unsaid(self, body: Body) -> Body:
        """Take out what was already said, and the transitions that leaned on it."""
        dropped = False

        def unsaid(sentence: Sentence) -> Sentence | None:
            nonlocal dropped
            mend = self._mends.get(sentence.text)
            # A sentence that was put right says what its source says: perhaps that stands here already.
            said = mend.replaced_by if mend is not None and mend.replaced_by else sentence.text
            key = _NAMED_FIRST.sub("", " ".join(said.split())).casefold()
            if sentence.facts and key in self._said:
                dropped = True
                return None
            if dropped and not sentence.facts and states_no_fact(sentence.text, self._language):
                return None
            dropped = False
            if sentence.facts:
                self._said.add(key)
            return sentence

        return body.changed(unsaid)

    def _numbered(self, sentence: Sentence) -> Sentence | None:
        mend = self._mends.get(sentence.text)
        if mend is not None:
            if not mend.replaced_by:
                return None
            words = (Words(text=mend.replaced_by),)
            sentence = sentence.model_copy(update={"inline": words, "facts": mend.facts})
        new = self.numbering.cited(sentence)
        sure = mend is not None or bool(new.citations)
        if not sure and states_no_fact(new.text, self._language):
            return new.model_copy(update={"verdict": None})
        if not sure and not self._in_table and self.is_foreign(new.text):
            return None
        check = mend or self._checks.get((new.text, new.facts))
        verdict: SentenceVerdict = check.verdict if check else "unchecked" if new.citations else "uncited"
        why = check.reason if check and verdict in DOUBTFUL else ""
        return new.model_copy(update={"verdict": verdict, "why": why})

    def is_foreign(self, text: str) -> bool:
        """Tell words without a citation that speak of something else than question and facts, or in other figures.

        They are what a page may have made a model say; honest transitions and questions use words of the matter.
        """
        words = frozenset(content_words(text))
        return 2 * len(words - self._known) > len(words) or not self._figures.issuperset(_FIGURE.findall(text))


def _labelled(block: Block) -> Block:
    """Exempt the first words of a table row whose cells cite for themselves: they name the row and state nothing."""
    if not isinstance(block, Table):
        return block
    rows = []
    for row in block.rows:
        first = next((at for at, cell in enumerate(row) if cell.inline), None)
        if row_citation(row) is None and first is not None and not row[first].citations:
            row = (*row[:first], row[first].model_copy(update={"verdict": None}), *row[first + 1 :])
        rows.append(row)
    return block.model_copy(update={"rows": tuple(rows)})


def title_line(title: str) -> tuple[Inline, ...]:
    """Read a title for a heading: one line, no citation, no link, no closing full stop."""
    body = parse(" ".join(title.split()).lstrip("# ").rstrip("# "), (), addresses=())
    parts: list[tuple[tuple[Inline, ...], str]] = []
    for block in body.blocks:
        if isinstance(block, Heading):
            parts.append((block.inline, " "))
    parts += [(one.inline, " ") for one in body.sentences()]
    line = [Words(text=" ") if isinstance(part, LineBreak) else part for part in joined(parts)]
    last = line[-1] if line else None
    if isinstance(last, Words) and last.text.endswith(".") and not last.text.endswith(".."):
        line[-1] = last.model_copy(update={"text": last.text.removesuffix(".")})
    return tuple(line)


def paragraph(*parts: str | Inline) -> Paragraph:
    """Write what code says as a paragraph; plain text is cut into sentences."""
    if all(isinstance(part, str) for part in parts):
        return Paragraph(sentences=sentences([Glyph(char) for part in parts for char in str(part)], ()))
    line = tuple(Words(text=part) if isinstance(part, str) else part for part in parts)
    return Paragraph(sentences=(Sentence(inline=line),))
