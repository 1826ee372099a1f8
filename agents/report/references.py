"""References: numbers by first use, the list at the end, and the address at which a quote opens in its source."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote as percent_encoded
from urllib.parse import unquote

from agents.contracts.body import Body, Inline, Line, LineBreak, Listing, Paragraph, Place, Sentence, Words
from agents.contracts.report import Quote, Reference
from agents.contracts.sources import SourceCard
from agents.report.escaping import is_route, is_safe
from agents.report.wording import Wording

Linker = Callable[[Reference, Quote], str]
"""Gives the address of a quote in its source; empty where there is none."""
MAX_EXACT = 80
"""Characters up to which a text fragment holds the whole quote; a longer one is given by its ends."""
_ENDS = 5  # words at each end of a long quote
_END_CHARACTERS = 12  # the same where a script has no spaces
_SHOWN = 220  # characters of a quote shown in the reference list; the document holds all of it


def reference_of(card: SourceCard, n: int, quotes: tuple[Quote, ...], told: Callable[[str], str] = str) -> Reference:
    """Describe a source as an entry of the reference list."""
    return Reference(
        n=n, source_id=card.id, url=card.url, title=card.title, author=card.author, site=card.site,
        published=card.published, accessed=card.retrieved, kind=card.kind, language=card.language,
        notes=tuple(map(told, card.tags)), quotes=quotes,
    )  # fmt: skip


# ---- where a citation leads


@dataclass(frozen=True)
class Cite:
    """A number behind a sentence: the reference, the quotes that carry the sentence, and names of places in a file."""

    reference: Reference
    quotes: tuple[Quote, ...]
    own: str
    """Its own name, by which the quote finds back."""

    @property
    def place(self) -> str:
        """Name of the quote, or of the reference, that it opens."""
        return quote_name(self.reference, self.quotes[0]) if self.quotes else f"r{self.reference.n}"


@dataclass(frozen=True)
class Mark:
    """What a check found of the sentence before it, for those verdicts that a reader must see."""

    verdict: str
    text: str


Part = Inline | Cite | Mark
"""What a line of a file is made of."""


def quote_name(reference: Reference, quote: Quote) -> str:
    """Name the place of a quote in a file, as Word allows it: letters, figures and underscores."""
    return f"q{reference.n}_{reference.quotes.index(quote) + 1}"


def marked(sentence: Sentence, words: Wording) -> str:
    """Say what a check found of a sentence, and why; empty for those verdicts that need no word."""
    mark = words.verdicts.get(sentence.verdict or "", "")
    return f"{mark}: {sentence.why.rstrip('.。')}" if mark and sentence.why else mark


class Citations:
    """Gives the citations of sentences that are visited in reading order."""

    def __init__(self, references: Sequence[Reference]) -> None:
        self.references = references
        self.count = 0

    def of(self, sentence: Sentence) -> Iterator[Cite]:
        for number in sentence.citations:
            reference = self.references[number - 1]
            own = tuple(quote for quote in reference.quotes if quote.fact_id in sentence.facts)
            yield Cite(reference, own or reference.quotes[:1], f"c{self.count}")
            self.count += 1

    def parts(self, sentences: Sequence[Sentence], words: Wording) -> Iterator[Part]:
        """Walk over the sentences of a line: their words, citations and marks, and what parts them."""
        for number, one in enumerate(sentences):
            yield from one.inline
            yield from self.of(one)
            if mark := marked(one, words):
                yield Mark(one.verdict or "", mark)
            if number + 1 < len(sentences) and one.gap:
                yield LineBreak() if one.gap == "\n" else Words(text=" ")


def first_citations(body: Body, references: Sequence[Reference]) -> dict[str, str]:
    """Name, for each quote that a citation opens, the first citation that rests on it."""
    citations = Citations(references)
    back: dict[str, str] = {}
    for sentence in body.sentences():
        for cite in citations.of(sentence):
            for quote in cite.quotes:
                back.setdefault(quote_name(cite.reference, quote), cite.own)
    return back


def quote_address(reference: Reference, quote: Quote) -> str:
    """Give the address that opens a web page at the quoted words, by a text fragment, and a PDF file at their page.

    Empty for what is not on the web. Documents of a library open through a route of the caller, which knows who may
    read them.
    """
    url = reference.url.strip()
    if not is_safe(url) or not url.lower().startswith("http"):
        return ""
    if quote.page is not None:
        return f"{url.partition('#')[0]}#page={quote.page}"
    words = quote.text.split()
    text = " ".join(words)
    if len(text) <= MAX_EXACT and "\n" not in quote.text.strip():
        ends = [text]
    elif len(words) > 1:
        most = _ENDS if len(words) > 2 * _ENDS else 1
        ends = [" ".join(words[:most]), " ".join(words[-most:])]
    else:
        ends = [text[:_END_CHARACTERS], text[-_END_CHARACTERS:]]
    return f"{url}{'' if '#' in url else '#'}:~:text={','.join(map(_fragment, ends))}"


def _fragment(text: str) -> str:
    # A hyphen would be read as part of the syntax of the fragment.
    return percent_encoded(text, safe="").replace("-", "%2D")


# ---- the list


def about(reference: Reference, words: Wording) -> tuple[str, ...]:
    """Say of a source who wrote it, where it stands, when it was published and read, and what was not read of it."""
    author, site = reference.author or "", reference.site or ""
    # A publisher that is named as part of the author is not named twice.
    file = unquote(reference.url.rpartition("/")[2]) if reference.kind == "upload" else ""
    file = file if file != reference.title else ""
    known = [part for part in (author, site if site not in author else "", file, reference.published) if part]
    if reference.accessed:
        known.append(words.read.format(date=reference.accessed[:10]))
    if reference.known_since:
        known.append(words.memory.since.format(date=reference.known_since))
    return tuple(" ".join(part.split()) for part in (*known, *reference.notes))


def reference_list(
    references: Sequence[Reference], words: Wording, link: Linker = quote_address, back: Mapping[str, str] | None = None
) -> Listing:
    """Write the reference list: title, author, site, date, and the quoted words as links to where they stand.

    With the ways `back` (`first_citations`) it is that of a file: whole quotes on lines of their own, which citations lead to.
    """
    items = ((Paragraph(sentences=(Sentence(inline=_entry(one, words, link, back)),)),) for one in references)
    return Listing(items=tuple(items), ordered=True)


def _entry(reference: Reference, words: Wording, link: Linker, back: Mapping[str, str] | None) -> Line:
    address = reference.url.strip() if is_safe(reference.url) else ""
    title = linked(
        " ".join(reference.title.split()), address or next((link(reference, one) for one in reference.quotes), "")
    )
    sample = f" {words.sample}" if reference.kind == "sample" else ""
    told = Words(
        text=", ".join([sample, *about(reference, words)]) + (": " if reference.quotes and back is None else "")
    )
    line: list[Inline] = [title, told]
    if back is not None:
        line = [Place(name=f"r{reference.n}"), title, told]
        line += [LineBreak(), linked(shortened(address), address)] if address else []
    for number, quote in enumerate(reference.quotes):
        name, shown = quote_name(reference, quote), quote.text if back is not None else shortened(quote.text)
        line += [LineBreak(), Place(name=name)] if back is not None else [Words(text=" · ")] if number else []
        line.append(linked(words.quoted(shown), link(reference, quote)))
        line += [Words(text=f" ({words.page.format(page=quote.page)})")] if quote.page is not None else []
        line += [Words(text="  "), linked("↑", f"#{back[name]}")] if back and name in back else []
    return tuple(line)


def linked(text: str, address: str) -> Words:
    """Give words that lead to an address, where it may be a link at all."""
    return Words(text=text, address=address.strip() if is_safe(address) or is_route(address) else "")


def shortened(text: str) -> str:
    """Give the beginning of a long quote, cut between words."""
    line = " ".join(text.split())
    if len(line) <= _SHOWN:
        return line
    return re.sub(r"\s+\S*$", "", line[:_SHOWN]) + " …"
