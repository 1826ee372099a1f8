"""A document as it was read from bytes, whatever the bytes were: text, what it says about itself, what is missing."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Document:
    """A document as text, with what it says about itself."""

    title: str
    text: str
    """Readable text: paragraphs and headings parted by blank lines, items as `- …`, table rows as `a | b | c`."""
    author: str | None = None
    site: str | None = None
    published: str | None = None
    """ISO date, as precise as the document says."""
    language: str | None = None
    """ISO 639-1 code."""
    pages: tuple[tuple[int, int], ...] = ()
    """Where each page stands in the text, as start and end, in order; a page that could not be read is empty. Nothing
    for documents without pages."""
    canonical: str | None = None
    """The address that the document gives for itself, absolute."""
    links: tuple[tuple[str, str], ...] = ()
    """Address and label of each link of its text to a page of the same site."""
    gaps: tuple[str, ...] = ()
    """What of it was not read, for the reader of the report: `page 2 of 2 could not be read`. Empty when all was."""

    @property
    def page_starts(self) -> tuple[int, ...]:
        """Where each page begins in the text."""
        return tuple(start for start, _ in self.pages)

    def page_of(self, start: int) -> int | None:
        """Give the number of the page, counted from 1, on which the character at `start` stands; None without pages."""
        number = None
        for at, (first, _) in enumerate(self.pages, start=1):
            if first <= start:
                number = at if self.pages[at - 1][1] > first or number is None else number
        return number
