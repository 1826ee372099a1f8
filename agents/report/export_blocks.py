"""What a report is made of once it is read: blocks, and the pieces of a line."""

from dataclasses import dataclass
from typing import Literal

Way = Literal["ltr", "rtl"]
Align = Literal["", "left", "center", "right"]


@dataclass(frozen=True)
class Words:
    """A stretch of text in one style."""

    text: str
    bold: bool = False
    italic: bool = False
    code: bool = False
    struck: bool = False
    address: str = ""
    """Where it links to; empty for none. Only `http`, `https` and `mailto`."""
    kind: Literal["words"] = "words"


@dataclass(frozen=True)
class Break:
    """A line that the writer broke on purpose."""

    kind: Literal["break"] = "break"


@dataclass(frozen=True)
class Formula:
    """A formula in LaTeX."""

    tex: str
    display: bool
    kind: Literal["formula"] = "formula"


@dataclass(frozen=True)
class Cite:
    """The number of a reference, behind the sentence that it carries."""

    number: int
    place: str
    """Name of the quote, or of the reference, that it opens."""
    own: str
    """Its own name, by which the quote finds back."""
    title: str
    kind: Literal["cite"] = "cite"


@dataclass(frozen=True)
class Mark:
    """What a check found about the sentence before it."""

    verdict: str
    text: str
    kind: Literal["mark"] = "mark"


Inline = Words | Break | Formula | Cite | Mark
Line = tuple[Inline, ...]


@dataclass(frozen=True)
class Heading:
    """A heading; the highest level is 1, and no level is left out on the way down."""

    level: int
    line: Line
    way: Way = "ltr"
    kind: Literal["heading"] = "heading"


@dataclass(frozen=True)
class Paragraph:
    """A paragraph."""

    line: Line
    way: Way = "ltr"
    kind: Literal["paragraph"] = "paragraph"


@dataclass(frozen=True)
class Listing:
    """A list; each item is made of blocks."""

    items: "tuple[tuple[Block, ...], ...]"
    ordered: bool = False
    start: int = 1
    kind: Literal["listing"] = "listing"


@dataclass(frozen=True)
class Table:
    """A table whose rows are all as long as its header."""

    header: tuple[Line, ...]
    align: tuple[Align, ...]
    rows: tuple[tuple[Line, ...], ...]
    kind: Literal["table"] = "table"


@dataclass(frozen=True)
class Quotation:
    """A block quote."""

    blocks: "tuple[Block, ...]"
    kind: Literal["quotation"] = "quotation"


@dataclass(frozen=True)
class Code:
    """Text that is taken as it is."""

    text: str
    kind: Literal["code"] = "code"


@dataclass(frozen=True)
class References:
    """The place of the reference list."""

    kind: Literal["references"] = "references"


Block = Heading | Paragraph | Listing | Table | Quotation | Code | References
