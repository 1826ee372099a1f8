"""The forms in which a report can be taken away, for the routes and the command line alike."""

from collections.abc import Callable
from dataclasses import dataclass

from agents.contracts.report import ReportDocument
from agents.report.bibliography import to_bibtex, to_csl, to_ris
from agents.report.html_export import to_html
from agents.report.view import to_markdown


@dataclass(frozen=True)
class Form:
    """One form: its media type, and what writes it. Writing may take seconds: not for the event loop."""

    mime: str
    write: Callable[[ReportDocument], bytes]


def _text(write: Callable[[ReportDocument], str]) -> Callable[[ReportDocument], bytes]:
    return lambda document: write(document).encode("utf-8", "replace")


def _pdf(document: ReportDocument) -> bytes:
    # The typesetter and the writer of Word files take long to import, and most reports are read on a screen.
    from agents.report.pdf_export import to_pdf

    return to_pdf(document)


def _docx(document: ReportDocument) -> bytes:
    from agents.report.docx_export import to_docx

    return to_docx(document)


WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
FORMS = {
    "md": Form("text/markdown", _text(to_markdown)),
    "html": Form("text/html", _text(to_html)),
    "json": Form("application/json", _text(lambda document: document.model_dump_json(indent=1))),
    "pdf": Form("application/pdf", _pdf),
    "docx": Form(WORD, _docx),
    "bib": Form("application/x-bibtex", _text(to_bibtex)),
    "ris": Form("application/x-research-info-systems", _text(to_ris)),
    "csl": Form("application/vnd.citationstyles.csl+json", _text(to_csl)),
}
"""By the ending of the file."""
