"""What a reader meets around the text of a report, the same in every format: title, grade, figures, references.

Claims, gates and sentence checks as the reader meets them.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from agents.contracts.body import (
    Block,
    Body,
    Heading,
    Inline,
    Line,
    LineBreak,
    Paragraph,
    Place,
    Quotation,
    ReferenceList,
    Sentence,
    Table,
    Words,
    plain,
)
from agents.contracts.report import Grade, ReportDocument, tally
from agents.contracts.sources import SourceCard
from agents.contracts.verification import (
    CONFIDENCE_GATE,
    EVIDENCE_GATE,
    RATIO_GATE,
    Claim,
    Evidence,
    SentenceCheck,
    Truth,
)
from agents.report.composer import paragraph
from agents.report.escaping import cleaned, escape_text, is_safe, plain_text
from agents.report.methodology import duration, money, table
from agents.report.parse_body import parse
from agents.report.references import Citations, Part, about, first_citations, quote_address, quote_name, shortened
from agents.report.wording import Wording, direction, wording
from agents.report.write_markdown import document_markdown

Way = Literal["ltr", "rtl"]
_NARROW = 90
"""Characters of a table's longest cells that stand side by side on a page."""
_WIDE = 100
"""Characters of a table's line over the whole width of a page."""
_LEAST = 9.0
_SHOWN_ADDRESS = 160
_UNPRINTABLE = re.compile("[\\ud800-\\udfff\\ufffe\\uffff\\ufdd0-\\ufdef]")


@dataclass(frozen=True)
class View:
    """A whole report, ready to be set."""

    title: str
    question: str
    grade: Grade
    grade_label: str
    reasons: tuple[str, ...]
    figures: str
    language: str
    way: Way
    date: str
    """Day on which it was written, as far as the document tells: the latest on which a source was read, else on which the
    job began; may be empty."""
    day: tuple[int, int, int] | None
    """The same as year, month and day."""
    job_id: str
    body: Body
    """With the references in the place of their list, each with its quotes below it."""
    citations: Citations
    words: Wording

    def parts(self, sentences: Sequence[Sentence]) -> Iterator[Part]:
        """Walk over a line: words, citations, and what a check found."""
        return self.citations.parts(sentences, self.words)


def view(document: ReportDocument) -> View:
    """Read a report document, of this program or read back from JSON."""
    words = wording(document.language)
    way: Way = "rtl" if direction(document.language) == "rtl" else "ltr"
    body = body_of(document)
    date = max((reference.accessed[:10] for reference in document.references if reference.accessed), default="")
    date = date or (document.methodology.actual.started_at or "")[:10]
    day = re.fullmatch(r"(\d{4})-(\d{2})-(\d{2})", date)
    return View(
        title=line_of(document.title),
        question=line_of(document.question),
        grade=document.grade,
        grade_label=words.grades[document.grade],
        reasons=tuple(map(line_of, document.grade_reasons)),
        figures=_figures(document, words),
        language=document.language,
        way=way,
        date=date,
        day=(int(day[1]), int(day[2]), int(day[3])) if day else None,
        job_id=document.job_id,
        body=Body(blocks=tuple(chain.from_iterable(
            _references(document, body, words) if isinstance(block, ReferenceList) else (block,) for block in body.blocks
        ))),
        citations=Citations(document.references),
        words=words,
    )  # fmt: skip


def _references(document: ReportDocument, body: Body, words: Wording) -> Iterator[Block]:
    """Write each source with the words that are quoted of it, which lead to where they stand and back to the text."""
    back = first_citations(body, document.references)
    for one in document.references:
        address = one.url.strip() if is_safe(one.url) else ""
        shown = address if len(address) <= _SHOWN_ADDRESS else address[:_SHOWN_ADDRESS] + "…"
        sample = f" {words.sample}" if one.kind == "sample" else ""
        told = "".join(f", {line_of(part)}" for part in about(one, words))
        line: list[Inline] = [Place(name=f"r{one.n}"), Words(text=f"{one.n}. ", style=("bold",))]
        line += [Words(text=line_of(one.title) + sample, style=("bold",), address=address), Words(text=told)]
        yield _line((*line, *((LineBreak(), Words(text=shown, address=address)) if address else ())))
        for quote in one.quotes:
            name, opens = quote_name(one, quote), quote_address(one, quote)
            page = "" if quote.page is None else f" ({words.page.format(page=quote.page)})"
            links = [Words(text="↑", address=f"#{back[name]}")] if name in back else []
            links += [Words(text=words.open_source, address=opens)] if opens else []
            spaced = chain.from_iterable((Words(text="  "), link) for link in links)
            yield Quotation(blocks=(_line((Place(name=name), Words(text=line_of(quote.text) + page), *spaced)),))


def _line(line: Line) -> Paragraph:
    return Paragraph(sentences=(Sentence(inline=line),))


def body_of(document: ReportDocument) -> Body:
    """Give the text of a report as a tree; that of a report of an earlier version is read from its Markdown."""
    if document.body.blocks:
        return document.body
    verdicts = {" ".join(plain_text(one.text).split()): one.verdict for one in document.sentences}
    facts = {" ".join(plain_text(one.text).split()): one.facts for one in document.sentences}
    numbers = {str(one.n): str(one.n) for one in document.references}
    body = parse(document.markdown, numbers).changed(
        lambda one: one.model_copy(
            update={
                "citations": tuple(map(int, one.facts)),
                "facts": facts.get(" ".join(one.text.split()), ()),
                "verdict": verdicts.get(" ".join(one.text.split())),
            }
        )
    )
    if not document.references:
        return body
    heading = Heading(level=2, inline=(Words(text=wording(document.language).references),))
    return Body(blocks=(*body.blocks, heading, ReferenceList()))


def starts_at_place(block: Paragraph) -> bool:
    """Tell the line of a source in the list of references."""
    return bool(block.sentences and block.sentences[0].inline[:1] and isinstance(block.sentences[0].inline[0], Place))


def column_shares(table: Table) -> tuple[float, ...]:
    """Give each column the share of the width that its words need; empty for a table that is narrow anyway."""
    texts = list(
        zip([plain(cell) for cell in table.header], *([cell.text for cell in row] for row in table.rows), strict=True)
    )
    columns = [[len(text) for text in column] for column in texts]
    if sum(map(max, columns)) <= _NARROW:
        return ()
    # Long cells wrap: their need grows with the root of their length, and no column is squeezed.
    needs = [max(_LEAST, sum(column) / len(column), max(column) ** 0.5 * 3) ** 0.75 for column in columns]
    shares = [need / sum(needs) for need in needs]
    # No word runs into the next column, where all their longest words fit side by side.
    least = [(4 + max(len(word) for text in column for word in (text or "–").split())) / _WIDE for column in texts]
    short = {at: word for at, (word, share) in enumerate(zip(least, shares, strict=True)) if share < word}
    left, spread = 1 - sum(short.values()), sum(share for at, share in enumerate(shares) if at not in short)
    if left <= 0 or not spread:
        return tuple(shares)
    return tuple(short.get(at, share * left / spread) for at, share in enumerate(shares))


def printable(text: str) -> str:
    """Drop what no file format of ours can hold: control characters, lone surrogates, non-characters."""
    return _UNPRINTABLE.sub("", cleaned(text))


def line_of(text: str) -> str:
    """Write a text on one line."""
    return " ".join(printable(text).split())


def way_of(text: str | Line, otherwise: Way = "ltr") -> Way:
    """Give the direction of the first letter that has one."""
    for char in text if isinstance(text, str) else plain(text):
        kind = unicodedata.bidirectional(char)
        if kind in {"R", "AL"}:
            return "rtl"
        if kind == "L":
            return "ltr"
    return otherwise


def _figures(document: ReportDocument, words: Wording) -> str:
    actual = document.methodology.actual
    shown = [f"{words.figures['sources']}: {document.methodology.sources_read}"]
    if actual.seconds is not None:
        shown.append(f"{words.figures['time']}: {duration(actual.seconds)}")
    cost = words.unknown if actual.cost_usd is None else money(actual.cost_usd)
    return " · ".join([*shown, f"{words.figures['cost']}: {cost}"])


def to_markdown(document: ReportDocument) -> str:
    """Write a report as a Markdown file: title, question, date and grade above the text."""
    seen = view(document)
    line = [f"**{escape_text(seen.words.question)}:** {escape_text(seen.question)}"]
    line.append(" · ".join(part for part in (seen.date, seen.grade_label, escape_text(seen.figures)) if part))
    text = document_markdown(body_of(document), document.references, seen.words, marks=True)
    return "\n\n".join([f"# {escape_text(seen.title)}", *line, text]) + "\n"


def claims_table(claims: Iterable[Claim], cards: Mapping[str, SourceCard], words: Wording) -> Table:
    """Put the ledger into a table: statement, verdict, confidence, who speaks for and against, the counter-search."""
    said = words.ledger
    head = (said.claim, said.verdict, said.sure, said.pro, said.against, said.counter)
    rows = []
    for claim in claims:
        against, pro = claim.said("contradicts", "qualifies"), claim.said("supports")
        counter = claim.counter_search
        searched = said.found if counter.found else said.nothing if counter.was_made else said.not_searched
        rows.append(
            (
                claim.text,
                words.claim_verdicts[claim.verdict],
                "–" if claim.confidence is None else f"{claim.confidence:.2f}",
                _who(pro, cards),
                _who(against, cards) + _said(against, words),
                searched.format(n=counter.found),
            )
        )
    return table(head, ("", "", "right", "", "", ""), rows)


def _who(evidence: Sequence[Evidence], cards: Mapping[str, SourceCard]) -> str:
    if not evidence:
        return "–"
    names = dict.fromkeys(
        (cards[one.source_id].site or cards[one.source_id].title) if one.source_id in cards else one.domain
        for one in evidence
    )
    shown = ", ".join(list(names)[:3])
    return f"{len(evidence)}: {shown}" + (" …" if len(names) > 3 else "")


def _said(evidence: Sequence[Evidence], words: Wording) -> str:
    """Quote what speaks against a claim or qualifies it: a reader must see by what."""
    opening, closing = words.quotes
    return f": {opening}{shortened(evidence[0].quote)}{closing}" if evidence and evidence[0].quote else ""


def unverified(truth: Truth) -> tuple[SentenceCheck, ...]:
    """List the sentences that stand in the report although nothing carries them."""
    return tuple(
        check
        for check in truth.checks
        if check.verdict in {"unsupported", "contradicted"} and check.replaced_by is None
    )


def truth_reasons(truth: Truth, words: Wording) -> tuple[str, ...]:
    """Say what keeps a report from being complete: claims nobody checked, sentences nothing carries, failed gates."""
    said = words.ledger
    found = []
    open_ = sum(1 for claim in truth.claims if claim.verdict == "not_checked")
    if open_:
        found.append(said.unchecked.format(n=open_, m=len(truth.claims)))
    if short := len(unverified(truth)):
        found.append(said.one_unverified if short == 1 else said.unverified.format(n=short))
    return (*found, *gate_reasons(truth, words))


def gate_reasons(truth: Truth, words: Wording) -> tuple[str, ...]:
    """Say which figures of the whole report fall short."""
    said, found = words.ledger, []
    for gate in truth.gates:
        if gate.name == CONFIDENCE_GATE and not gate.passed and gate.reached is not None:
            found.append(f"{said.confidence.format(value=round(gate.reached)).rstrip('.。')} (< {gate.wanted:g}).")
        elif gate.name == RATIO_GATE and not gate.passed and gate.reached is not None and not unverified(truth):
            stating = [check for check in truth.checks if check.replaced_by != "" and check.verdict != "no_fact"]
            supported = sum(check.verdict == "supported" for check in stating)
            found.append(said.sentences.format(n=supported, m=len(stating), ratio=f"{gate.reached:.2f}"))
    return tuple(found)


def weak_claims(truth: Truth, words: Wording) -> tuple[str, ...]:
    """Say how many claims rest on less than was asked for; what each rests on, the table of the claims says."""
    gate = next((gate for gate in truth.gates if gate.name == EVIDENCE_GATE and not gate.passed), None)
    short = int(gate.wanted - (gate.reached or 0)) if gate else 0
    return (words.ledger.weak.format(n=short, m=len(truth.claims)),) if short else ()


def truth_lines(truth: Truth, verdicts: Iterable[str | None], words: Wording) -> tuple[Block, ...]:
    """Say in Methodology what was checked and what came of it, as the report's head counts it; empty when nothing was."""
    said, (good, judged) = words.ledger, tally(verdicts)
    if not judged:
        return ()
    lines = [said.sentences.format(n=good, m=judged, ratio=f"{good / judged:.2f}")]
    mended = sum(1 for check in truth.checks if check.replaced_by)
    struck = sum(1 for check in truth.checks if check.replaced_by == "")
    if mended or struck:
        lines.append(said.mended.format(n=mended, m=struck))
    if truth.confidence is not None:
        lines.append(said.confidence.format(value=f"{truth.confidence:.0f}"))
    return (paragraph(" ".join(lines)),)
