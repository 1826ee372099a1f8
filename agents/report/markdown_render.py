"""The document as Markdown with links: every citation opens the very quote that carries its sentence."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import quote as percent_encoded

from agents.contracts.report import Quote, Reference, ReportDocument, ReportSentence
from agents.report.escaping import escape_text, is_safe, link
from agents.report.texts import Wording, wording

Linker = Callable[[Reference, Quote], str]
"""Gives the address of a quote in its source; empty where there is none."""

MAX_EXACT = 80
"""Characters up to which a text fragment holds the whole quote; a longer one is given by its ends."""

_ENDS = 5  # words at each end of a long quote
_END_CHARACTERS = 12  # the same where a script has no spaces
_SHOWN = 220  # characters of a quote shown in the reference list; the document holds all of it


@dataclass(frozen=True)
class Located:
    """A sentence in the document's Markdown: where it begins, and where its citations begin and end."""

    sentence: ReportSentence
    start: int
    end: int
    """Where its citations begin."""
    marks_end: int


def locate(document: ReportDocument) -> Iterator[Located]:
    """Find each sentence in the Markdown, in order; one that cannot be found (foreign documents) is left out."""
    at = 0
    for sentence in document.sentences:
        marks = "".join(f"[{number}]" for number in sentence.citations)
        # In a table row the citations may stand in a cell behind the words they carry.
        pattern = re.escape(sentence.text) + ("[ |]*" + re.escape(marks) if marks else "")
        if match := re.compile(pattern).search(document.markdown, at):
            at = match.end()
            yield Located(sentence, match.start(), match.end() - len(marks), at)


def carrying(document: ReportDocument, sentence: ReportSentence, number: int) -> tuple[Reference, tuple[Quote, ...]]:
    """Give a cited reference and those of its quotes that carry this sentence."""
    reference = document.references[number - 1]
    own = tuple(quote for quote in reference.quotes if quote.fact_id in sentence.facts)
    return reference, own or reference.quotes[:1]


def linked_markdown(document: ReportDocument, link: Linker) -> str:
    r"""Write the document's Markdown with each `[n]` as a link `[\[n\]](address)` to the quote of its sentence.

    Args:
        document: a valid report document.
        link: gives the address of a quote; where it gives none, the number stays plain text.
    """
    out, last = [], 0
    for found in locate(document):
        out.append(document.markdown[last : found.end])
        for number in found.sentence.citations:
            reference, quotes = carrying(document, found.sentence, number)
            out.append(_linked(rf"\[{number}\]", link(reference, quotes[0]) if quotes else ""))
        last = found.marks_end
    words = wording(document.language)
    rest = document.markdown[last:]
    own = references_markdown(document.references, words)
    return "".join(out) + rest.replace(own, references_markdown(document.references, words, link), 1)


def _linked(text: str, address: str) -> str:
    return link(text, address) if address else text


def quote_address(reference: Reference, quote: Quote) -> str:
    """Give the address that opens a web page at the quoted words, by a text fragment, and a PDF file at their page.

    Empty for what is not on the web.

    Documents of a library open through a route of the caller, which knows who may read them.
    """
    url = reference.url.strip()
    if not is_safe(url) or not url.lower().startswith("http"):
        return ""
    if quote.page is not None:
        return f"{url.partition('#')[0]}#page={quote.page}"
    words = quote.text.split()
    text = " ".join(words)
    if len(text) <= MAX_EXACT and "\n" not in quote.text.strip():
        directive = _fragment(text)
    elif len(words) > 2 * _ENDS:
        directive = f"{_fragment(' '.join(words[:_ENDS]))},{_fragment(' '.join(words[-_ENDS:]))}"
    elif len(words) > 1 and len(text) <= 2 * MAX_EXACT:
        directive = f"{_fragment(words[0])},{_fragment(words[-1])}"
    else:
        directive = f"{_fragment(text[:_END_CHARACTERS])},{_fragment(text[-_END_CHARACTERS:])}"
    return f"{url}{'' if '#' in url else '#'}:~:text={directive}"


def _fragment(text: str) -> str:
    # A hyphen would be read as part of the syntax of the fragment.
    return percent_encoded(text, safe="").replace("-", "%2D")


def references_markdown(references: tuple[Reference, ...], words: Wording, link: Linker = quote_address) -> str:
    """Write the reference list: title, author, site, date, and the quoted words as links to where they stand."""
    return "\n".join(f"{reference.n}. {_entry(reference, words, link)}" for reference in references)


def _entry(reference: Reference, words: Wording, link_to: Linker) -> str:
    title = escape_text(reference.title)
    address = reference.url if is_safe(reference.url) else ""
    if not address and reference.quotes:
        address = link_to(reference, reference.quotes[0])
    head = _linked(title, address)
    if reference.kind == "sample":
        head += f" {words.sample}"
    author, site = reference.author or "", reference.site or ""
    # A publisher that is named as part of the author is not named twice.
    known = (author, site if site not in author else "", reference.published)
    about = [escape_text(part) for part in known if part]
    if reference.accessed:
        about.append(words.read.format(date=reference.accessed[:10]))
    about += [escape_text(note) for note in reference.notes]
    opening, closing = words.quotes
    quoted = " · ".join(
        _linked(f"{opening}{escape_text(_shortened(quote.text))}{closing}", link_to(reference, quote))
        + (f" ({escape_text(words.page.format(page=quote.page))})" if quote.page is not None else "")
        for quote in reference.quotes
    )
    return ", ".join([head, *about]) + (f": {quoted}" if quoted else "")


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    if len(line) <= _SHOWN:
        return line
    return re.sub(r"\s+\S*$", "", line[:_SHOWN]) + " …"
