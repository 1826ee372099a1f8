"""The text of a report as a tree: blocks hold sentences, a sentence holds runs of text and the ids of what it cites."""

from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import Field

from agents.contracts.frozen import Frozen, Text

SentenceVerdict = Literal["supported", "partly", "unsupported", "contradicted", "uncited", "unchecked", "no_fact"]
Style = Literal["bold", "italic", "code", "struck", "sup", "sub"]
Align = Literal["", "left", "center", "right"]


class Words(Frozen):
    """A stretch of text in one style."""

    kind: Literal["words"] = "words"
    text: str
    style: tuple[Style, ...] = ()
    address: str = ""
    """Where it links to; empty for none."""


class LineBreak(Frozen):
    """A line that the writer broke on purpose."""

    kind: Literal["break"] = "break"


class Formula(Frozen):
    """A formula in LaTeX, in running text."""

    kind: Literal["formula"] = "formula"
    tex: Text
    display: bool = False
    """Whether it stands on a line of its own there."""


class Place(Frozen):
    """A place in a file that links of the same file lead to, by `#name`; it shows nothing."""

    kind: Literal["place"] = "place"
    name: Text


Inline = Annotated[Words | LineBreak | Formula | Place, Field(discriminator="kind")]
Line = tuple[Inline, ...]


def plain(line: Line) -> str:
    """Write runs as plain text."""
    shown = {"break": " ", "place": ""}
    return "".join(
        part.text if isinstance(part, Words) else f"${part.tex}$" if isinstance(part, Formula) else shown[part.kind]
        for part in line
    )


class Sentence(Frozen):
    """One sentence, with what carries it."""

    inline: Line
    facts: tuple[str, ...] = ()
    """Ids of the facts that it cites, each once, in order."""
    citations: tuple[int, ...] = ()
    """Numbers of the references that it cites, once the report is numbered."""
    verdict: SentenceVerdict | None = None
    why: str = ""
    """What a check found against it, in the report's language; empty where its sources carry it."""
    gap: Literal["", " ", "\n"] = " "
    """What parts it from the next sentence: a space, nothing in scripts without spaces, or a line break."""

    @property
    def text(self) -> str:
        """What it says, without any markup."""
        return plain(self.inline)


class Heading(Frozen):
    """A heading of level 1 to 6; it states nothing and cites nothing."""

    kind: Literal["heading"] = "heading"
    level: int = Field(ge=1, le=6)
    inline: Line


class Paragraph(Frozen):
    """A paragraph."""

    kind: Literal["paragraph"] = "paragraph"
    sentences: tuple[Sentence, ...]


class Listing(Frozen):
    """A list; each item is made of blocks, so that lists nest."""

    kind: Literal["listing"] = "listing"
    items: tuple[tuple["Block", ...], ...]
    ordered: bool = False
    start: int = 1


class Table(Frozen):
    """A table whose rows are all as long as its header. A cell is one sentence."""

    kind: Literal["table"] = "table"
    header: tuple[Line, ...]
    align: tuple[Align, ...]
    rows: tuple[tuple[Sentence, ...], ...]


class Quotation(Frozen):
    """A block quote; each of its paragraphs is one sentence."""

    kind: Literal["quotation"] = "quotation"
    blocks: tuple["Block", ...]


class Code(Frozen):
    """Text that is taken as it is."""

    kind: Literal["code"] = "code"
    text: str
    language: str = ""


class ReferenceList(Frozen):
    """The place of the reference list."""

    kind: Literal["references"] = "references"


Block = Annotated[Heading | Paragraph | Listing | Table | Quotation | Code | ReferenceList, Field(discriminator="kind")]
Change = Callable[[Sentence], Sentence | None]
"""Gives a sentence in the place of another; None strikes it."""


class Body(Frozen):
    """Blocks in reading order."""

    blocks: tuple[Block, ...] = ()

    def sentences(self) -> tuple[Sentence, ...]:
        """List the sentences in reading order. A table row with one citation, at its end, is one sentence."""
        found: list[Sentence] = []

        def take(sentence: Sentence) -> Sentence:
            found.append(sentence)
            return sentence

        self.changed(take)
        return tuple(found)

    def facts(self) -> tuple[str, ...]:
        """List the ids of the facts that are cited, each once, in order of first use."""
        return tuple(dict.fromkeys(fact for sentence in self.sentences() for fact in sentence.facts))

    def changed(self, change: Change) -> "Body":
        """Put every sentence through `change`, in reading order; a block that nothing is left of goes."""
        return Body(blocks=_changed(self.blocks, change))


def row_citation(row: tuple[Sentence, ...]) -> int | None:
    """Find the cell whose citations carry a whole row: the only one that cites, at its end; None where cells differ.

    A row that cites nothing is one sentence too; its last cell with text stands for it.
    """
    last = max((at for at, cell in enumerate(row) if cell.inline), default=0)
    citing = [at for at, cell in enumerate(row) if cell.facts or cell.citations]
    if not citing:
        return last
    return citing[0] if len(citing) == 1 and citing[0] >= last else None


def as_sentence(row: tuple[Sentence, ...], at: int) -> Sentence:
    """Read a row as one sentence; the cell at `at` holds what carries it."""
    line: list[Inline] = []
    for cell in row:
        if cell.inline:
            line += [*([Words(text=" | ")] if line else []), *cell.inline]
    return row[at].model_copy(update={"inline": tuple(line)})


def _changed(blocks: tuple[Block, ...], change: Change) -> tuple[Block, ...]:
    out: list[Block] = []
    for block in blocks:
        match block:
            case Paragraph(sentences=sentences):
                kept = tuple(one for one in map(change, sentences) if one is not None)
                out += [Paragraph(sentences=kept)] if kept else []
            case Listing(items=items):
                left = tuple(filter(None, (_changed(item, change) for item in items)))
                out += [block.model_copy(update={"items": left})] if left else []
            case Table(rows=rows):
                some = tuple(filter(None, (_row(row, change) for row in rows)))
                out += [block.model_copy(update={"rows": some})] if some or not rows else []
            case Quotation(blocks=inside):
                within = _changed(inside, change)
                out += [Quotation(blocks=within)] if within else []
            case _:
                out.append(block)
    return tuple(out)


def _row(row: tuple[Sentence, ...], change: Change) -> tuple[Sentence, ...]:
    """Change a row; empty where it is struck. Other words in the place of a whole row fill its first cell."""
    at = row_citation(row)
    if at is None:
        empty = Sentence(inline=())
        return tuple((change(cell) or empty) if cell.inline else cell for cell in row)
    whole = as_sentence(row, at)
    new = change(whole)
    if new is None:
        return ()
    if new.inline != whole.inline:
        return (new, *(Sentence(inline=()) for _ in row[1:]))
    return (*row[:at], new.model_copy(update={"inline": row[at].inline}), *row[at + 1 :])


Listing.model_rebuild()
Quotation.model_rebuild()
Body.model_rebuild()
