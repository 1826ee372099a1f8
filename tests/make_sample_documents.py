"""Write the PDF and the Word file of the sample library: `python -m tests.make_sample_documents`.

Run again, it writes the same bytes. Everything in these documents is invented, and they say so.
"""

import io
import zipfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from textwrap import wrap

import docx

LIBRARY = Path(__file__).resolve().parent.parent / "examples" / "library"

Page = tuple[str, Sequence[str]]
"""A heading and paragraphs."""

HEAT = (
    (
        "Warm summers and eelgrass in Tolven Bay: temperature loggers 2018-2024",
        [
            "Skarholm Marine Institute, Technical Note 31, 18 March 2025. Author: Ingrid Falsen.",
            "Invented sample document. The institute, the bay and all measurements are fictitious.",
            "Since May 2018 the Skarholm Marine Institute has kept 14 temperature loggers in the eelgrass of Tolven Bay. "
            "Each logger hangs 30 centimetres above the sea bed and records the water temperature every 20 minutes. "
            "This note reports the summers of 2018 to 2024, June to August.",
            "At Inner Harbour Flats the water was warmer than 22 degrees Celsius on 3 days in the summer of 2018 and on "
            "19 days in the summer of 2022. At Kell Point, which exchanges its water with the open sea, the limit of 22 "
            "degrees was passed on 2 days in the summer of 2022.",
            "The highest temperature of the whole series, 24.6 degrees Celsius, was measured at Inner Harbour Flats on "
            "12 August 2022. The mean summer temperature of all 14 loggers rose from 16.8 degrees in 2018 to 17.5 "
            "degrees in 2024, but single years differ by more than this rise.",
        ],
    ),
    (
        "What the warm summer of 2022 did to the shoots",
        [
            "Divers counted shoots in 60 fixed frames in June and again in September 2022. Shoot density fell by 31 % "
            "between June and September 2022 at Inner Harbour Flats, and by 6 % at Kell Point.",
            "By September 2023 the frames at Inner Harbour Flats had regained about half of the lost shoots. Planted and "
            "natural eelgrass did not differ in their loss: 30 % of the planted and 32 % of the natural shoots were "
            "gone.",
            "We cannot separate heat from murky water. Inner Harbour Flats is both the warmest and the least clear site, "
            "and no frame stood in warm and clear water. Shading, not heat, may have done part of the damage.",
            "Recommendation: no new planting at Inner Harbour Flats before a logger series of ten years exists, and "
            "shoots from Brae Sound, which grow in warmer water, should be tried on 0.2 hectares first.",
        ],
    ),
)

SURVEY_TITLE = "What the households of Tolven Municipality think of the eelgrass plantings: survey of 2024"
SURVEY = (
    "In May 2024 the University of Lanvik sent a questionnaire to 1,206 households of Tolven Municipality, drawn at random "
    "from the address register. 487 households answered, a response rate of 40 %.",
    "64 % of the households that answered supported further eelgrass planting in Tolven Bay, 18 % were against it and 18 % "
    "had no opinion. Among households that own a boat, support was 51 %.",
    "The households were willing to pay EUR 34 per year on average for further planting, asked as an addition to the "
    "municipal harbour fee. Half of them named EUR 20 or less, so that a few high answers raise the mean.",
    "Asked what they knew, 72 % of the households could name a purpose of the meadows, but only 9 % had heard of the "
    "carbon figures. Clear water was named most often, by 58 %.",
)
SURVEY_ROWS = (
    ("Reason against planting", "Share of opponents"),
    ("Too expensive", "46 %"),
    ("Limits on anchoring", "31 %"),
    ("Doubts that it works", "23 %"),
)
SURVEY_LIMITS = (
    "People who answer a letter about the bay care about the bay: the survey probably overstates support. It asked what "
    "households would pay, not what they have paid, and such answers run high."
)


def pdf_file(pages: Sequence[Page], *, title: str = "", author: str = "", created: str = "") -> bytes:
    """Write a PDF file, one page for each heading with its paragraphs; Latin letters only.

    Args:
        pages: heading and paragraphs of each page; a page holds some 50 lines.
        title: written into the file's facts.
        author: the same.
        created: the same, `YYYYMMDD`.
    """
    objects: list[bytes] = [
        b"",
        b"",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    kids: list[int] = []
    for heading, paragraphs in pages:
        content = _content(heading, paragraphs)
        objects.append(b"<< /Length %d >>\nstream\n%b\nendstream" % (len(content), content))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % len(objects)
        )
        kids.append(len(objects))
    objects[0] = b"<< /Type /Catalog /Pages 2 0 R >>"
    objects[1] = b"<< /Type /Pages /Kids [%b] /Count %d >>" % (b" ".join(b"%d 0 R" % one for one in kids), len(kids))
    facts = [(b"Title", title), (b"Author", author), (b"CreationDate", f"D:{created}" if created else "")]
    objects.append(b"<< %b >>" % b" ".join(b"/%b (%b)" % (name, _escaped(text)) for name, text in facts if text))
    return _assembled(objects)


def _content(heading: str, paragraphs: Sequence[str]) -> bytes:
    parts = [b"BT"]
    y = 780
    for size, width, text in ((16, 56, heading), *((11, 84, paragraph) for paragraph in paragraphs)):
        for line in wrap(text, width):
            parts.append(b"/F1 %d Tf 1 0 0 1 64 %d Tm (%b) Tj" % (size, y, _escaped(line)))
            y -= size + 5
        y -= 12
    return b"\n".join([*parts, b"ET"])


def _escaped(text: str) -> bytes:
    return text.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


def _assembled(objects: Sequence[bytes]) -> bytes:
    out = io.BytesIO(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    out.seek(0, io.SEEK_END)
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%b\nendobj\n" % (number, body))
    table = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.write(b"".join(b"%010d 00000 n \n" % place for place in places))
    out.write(
        b"trailer\n<< /Size %d /Root 1 0 R /Info %d 0 R >>\nstartxref\n%d\n%%%%EOF\n"
        % (len(objects) + 1, len(objects), table)
    )
    return out.getvalue()


def heat_file() -> bytes:
    """Write the PDF file of the sample library."""
    return pdf_file(HEAT, title=HEAT[0][0], author="Ingrid Falsen, Skarholm Marine Institute", created="20250318")


def survey_file() -> bytes:
    """Write the Word file of the sample library."""
    written = docx.Document()
    facts = written.core_properties
    facts.title, facts.author, facts.language = SURVEY_TITLE, "Sunniva Haug, University of Lanvik", "en"
    facts.created = facts.modified = datetime(2024, 10, 3, tzinfo=UTC)
    facts.comments = "Invented sample document"
    written.add_heading(SURVEY_TITLE, 0)
    written.add_paragraph(
        "University of Lanvik, Department of Social Geography, 3 October 2024. Invented sample document: the university, the "
        "municipality and all answers are fictitious."
    )
    written.add_heading("Results", 1)
    for paragraph in SURVEY:
        written.add_paragraph(paragraph)
    table = written.add_table(rows=0, cols=2)
    for row in SURVEY_ROWS:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text
    written.add_heading("Limits", 1)
    written.add_paragraph(SURVEY_LIMITS)
    out = io.BytesIO()
    written.save(out)
    return _with_fixed_times(out.getvalue())


def _with_fixed_times(body: bytes) -> bytes:
    """Pack an archive again, so that it does not hold the time at which it was made."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(body)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.infolist():
            new.writestr(zipfile.ZipInfo(part.filename, (1980, 1, 1, 0, 0, 0)), old.read(part), zipfile.ZIP_DEFLATED)
    return out.getvalue()


def main() -> None:
    """Write both files."""
    (LIBRARY / "smi-temperature-note-2025.pdf").write_bytes(heat_file())
    (LIBRARY / "lanvik-household-survey-2024.docx").write_bytes(survey_file())


if __name__ == "__main__":
    main()
