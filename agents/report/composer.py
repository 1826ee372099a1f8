"""The body of a report while it is put together: blocks with numbers, and every sentence with what carries it."""

import re
from collections.abc import Iterable, Iterator

from agents.contracts.report import ReportSentence, SentenceVerdict
from agents.contracts.verification import SentenceCheck
from agents.report.blocks import Block, Heading, Listing, Paragraph, Quotation, Table, Verbatim, parse, render
from agents.report.escaping import escape_text
from agents.report.inline import mended_line
from agents.report.mending import mend
from agents.report.numbering import Numbering
from agents.report.person_names import states_no_fact
from agents.report.report_sentences import Placed, placed

MAX_LEVEL = 5
UNVERIFIED = " `#UNVERIFIED`"
"""Stands behind a sentence that its own quotes do not carry."""
_FACT = re.compile(r"\s*\[#f[0-9a-f]+\]")


class Composer:
    """Takes mended prose in reading order; numbers are given as they are met."""

    def __init__(
        self,
        numbering: Numbering,
        language: str,
        addresses: tuple[str, ...] = (),
        checks: Iterable[SentenceCheck] = (),
    ) -> None:
        self.numbering = numbering
        checks = tuple(checks)
        self._checks = {(check.text, check.facts): check for check in checks if check.replaced_by is None}
        # A sentence that was put right or struck is looked up by the facts that it cited when it was checked.
        self._mends = {check.text: check for check in checks if check.replaced_by is not None}
        self.sentences: list[ReportSentence] = []
        self._blocks: list[Block] = []
        self._language = language
        self._addresses = addresses
        self._said: set[str] = set()  # sentences of sections so far, for leaving out what would be said twice
        self._mended: dict[tuple[str, int | None], str] = {}  # each part is looked at before it is written

    @property
    def markdown(self) -> str:
        """Give the text so far."""
        return render(self._blocks)

    @property
    def size(self) -> int:
        """Blocks so far; to be compared before and after a part."""
        return len(self._blocks)

    def take_back_heading(self, size: int) -> None:
        """Drop a heading that nothing followed: the text stood `size` blocks long before it."""
        if len(self._blocks) == size + 1 and isinstance(self._blocks[-1], Heading):
            self._blocks.pop()

    def heading(self, level: int, title: str) -> None:
        """Put a heading; it is no sentence and cites nothing."""
        if text := heading_text(title):
            self._blocks.append(Heading(min(level, MAX_LEVEL), text))

    def mended(self, markdown: str, level: int | None) -> str:
        """Mend prose against the facts and addresses of this report."""
        key = (markdown, level)
        if key not in self._mended:
            of = self.numbering.source_of
            self._mended[key] = mend(markdown, level=level, addresses=self._addresses, source_of=of)
        return self._mended[key]

    def prose(self, markdown: str, *, level: int | None = None, once: bool = False) -> None:
        """Put prose that cites facts; headings inside begin at `level`, None drops them.

        Args:
            markdown: the prose, mended here.
            level: of its highest heading.
            once: leave out sentences that an earlier section already says word for word.
        """
        blocks = parse(self.mended(markdown, level))
        if once:
            blocks = tuple(_with_content(kept for block in blocks if (kept := self._unsaid(block)) is not None))
        self._blocks.extend(self._numbered(block) for block in blocks)

    def _unsaid(self, block: Block) -> Block | None:
        """Take out of a paragraph or list what was already said, and the transitions that leaned on it."""
        match block:
            case Paragraph(lines):
                left = tuple(line for line in map(self._unsaid_line, lines) if line)
                return Paragraph(left) if left else None
            case Listing(items, ordered, start):
                left = tuple(item for item in map(self._unsaid_line, items) if item)
                return Listing(left, ordered, start) if left else None
            case _:
                return block

    def _unsaid_line(self, line: str) -> str:
        kept: list[str] = []
        dropped = False
        for part in placed(line):
            mend_ = self._mends.get(part.text)
            # A sentence that was put right says what its source says: perhaps that stands here already.
            said = mend_.replaced_by if mend_ is not None and mend_.replaced_by else part.text
            key = " ".join(said.split()).casefold()
            if part.facts and key in self._said:
                dropped = True
                continue
            if dropped and not part.facts and states_no_fact(part.text, self._language):
                continue
            dropped = False
            if part.facts:
                self._said.add(key)
            kept.append(part.text + "".join(f"[#{fact}]" for fact in part.facts) + part.gap)
        return "".join(kept).strip()

    def own(self, *blocks: Block) -> None:
        """Put what code says about the research itself: exempt from citing, its Markdown taken as it is."""
        for block in blocks:
            self._blocks.append(block)
            texts = block.lines if isinstance(block, Paragraph) else block.items if isinstance(block, Listing) else ()
            self.sentences.extend(ReportSentence(text=part.text) for text in texts for part in placed(text))

    def _numbered(self, block: Block) -> Block:
        match block:
            case Paragraph(lines):
                return Paragraph(tuple(self._line(line) for line in lines))
            case Listing(items, ordered, start):
                return Listing(tuple(self._line(item) for item in items), ordered, start)
            case Quotation(paragraphs):
                return Quotation(tuple(self._line(text, whole=True) for text in paragraphs))
            case Table(header, align, rows):
                return Table(header, align, tuple(self._row(row) for row in rows))
            case Heading() | Verbatim():
                return block

    def _line(self, line: str, *, whole: bool = False) -> str:
        return "".join(self._sentence(part) + part.gap for part in placed(line, whole=whole)).strip()

    def _sentence(self, part: Placed, *, label: bool = False) -> str:
        if not part.text:
            return ""
        mend_ = self._mends.get(part.text)
        if mend_ is not None and not mend_.replaced_by:
            return ""
        if mend_ is not None and mend_.replaced_by:
            part = Placed(escape_text(mend_.replaced_by), mend_.facts, part.gap)
        numbers, facts = self.numbering.cite(part.facts)
        if numbers or any(letter.isalnum() for letter in part.text):
            exempt = label or states_no_fact(part.text, self._language)
            verdict: SentenceVerdict | None = "unchecked" if numbers else None if exempt else "uncited"
            if mend_ is not None:
                verdict = mend_.verdict
            elif verdict is not None and (check := self._checks.get((part.text, facts))):
                verdict = check.verdict
            self.sentences.append(ReportSentence(text=part.text, citations=numbers, facts=facts, verdict=verdict))
        mark = UNVERIFIED if numbers and self.sentences[-1].verdict in {"unsupported", "contradicted"} else ""
        return part.text + "".join(f"[{number}]" for number in numbers) + mark

    def _row(self, row: tuple[str, ...]) -> tuple[str, ...]:
        """Number a table row: one sentence where one citation stands at its end, or none at all; else one a cell.

        A citation behind the last words, or alone in a cell behind them, carries the row, as one behind a sentence
        carries the sentence. Where cells cite for themselves, the first is the label of the row if it cites nothing.
        """
        parts = [(placed(cell, whole=True) or (Placed("", (), ""),))[0] for cell in row]
        filled = [number for number, part in enumerate(parts) if part.text]
        if not filled:
            return ("",) * len(row)
        last = filled[-1]
        citing = [number for number, part in enumerate(parts) if part.facts]
        texts = [part.text for part in parts]
        if not citing or (len(citing) == 1 and citing[0] >= last):
            at = citing[0] if citing else last
            # Empty cells stand between bars as well, so the text is what the Markdown says from the first word on.
            whole = Placed(" | ".join(texts[filled[0] : last + 1]), parts[at].facts, "")
            texts[at] += self._sentence(whole).removeprefix(whole.text)
            return tuple(texts)
        for number in (number for number in citing if not texts[number]):
            # A cell that holds nothing but citations carries the words before it.
            left = max((other for other in filled if other < number), default=filled[0])
            parts[left] = Placed(texts[left], parts[left].facts + parts[number].facts, "")
        return tuple(self._sentence(part, label=number == filled[0]) for number, part in enumerate(parts))


def _with_content(blocks: Iterable[Block]) -> Iterator[Block]:
    """Leave out headings that nothing of their own follows."""
    waiting: list[Heading] = []
    for block in blocks:
        if isinstance(block, Heading):
            waiting = [above for above in waiting if above.level < block.level] + [block]
        else:
            yield from waiting
            waiting = []
            yield block


def heading_text(title: str) -> str:
    """Mend a title for a heading: one line, no citation, no link, no closing full stop."""
    text = mended_line(_FACT.sub("", " ".join(title.split())), ())
    text = text.lstrip("# ").rstrip("# ")
    return text.rstrip("\\").removesuffix(".") if not text.endswith("..") else text
