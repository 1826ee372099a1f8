"""PDF and Word files in a folder: read with their pages, or named with the reason why not."""

import io
import json
import shutil
from pathlib import Path

import docx
import pytest

from agents.contracts.sources import SearchQuery, SourceCard
from agents.search.library import LATER, Library
from agents.web import office_text as office
from agents.web import pdf_text as pdf
from tests.make_sample_documents import LIBRARY, heat_file, pdf_file

ROOT = Path(__file__).parent.parent.parent
CASES = ROOT / "tests" / "data" / "cases"
PAGES = (
    ("The dredger", ["The dredger took 412 tonnes of silt from the basin in 2021.", "The work lasted nine weeks."]),
    ("The pump", ["A new pump was fitted in 2022.", "It lifts 90 litres of water in a second."]),
)


def word_file(*paragraphs, **facts):
    written = docx.Document()
    for name, value in facts.items():
        setattr(written.core_properties, name, value)
    for paragraph in paragraphs:
        written.add_paragraph(paragraph)
    out = io.BytesIO()
    written.save(out)
    return out.getvalue()


@pytest.fixture
def open_library(tmp_path):
    opened = []

    def build(files, **settings):
        root = tmp_path / "docs"
        root.mkdir()
        for name, content in files.items():
            if isinstance(content, Path):
                shutil.copy(content, root / name)
            else:
                (root / name).write_bytes(content)
        library = Library([root], tmp_path / "index.sqlite3", rescan_s=0, **settings)
        opened.append(library)
        return library

    yield build
    for library in opened:
        library.close()


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    library = Library([LIBRARY], tmp_path_factory.mktemp("sample") / "index.sqlite3", kind="sample")
    yield library
    library.close()


async def test_a_pdf_file_is_found_and_each_quote_knows_its_page(open_library):
    library = open_library({"basin.pdf": pdf_file(PAGES, title="Works in the basin", author="Port Office")})

    result = await library.search(SearchQuery(text="How much water does the pump lift?"))
    source = await library.read(result.hits[0].url)
    card = SourceCard.of(source)

    assert (source.title, source.author) == ("Works in the basin", "Port Office")
    assert card.page_of(source.text.index("412 tonnes")) == 1
    assert card.page_of(source.text.index("90 litres")) == 2
    assert card.page_of(len(source.text) - 1) == 2


async def test_a_word_file_is_found_with_title_and_author(open_library):
    body = word_file(
        "The keeper counted 31 seals in May.", "The count was done by boat.", title="Seals", author="A. Lund"
    )
    library = open_library({"seals.docx": body})

    result = await library.search(SearchQuery(text="How many seals were counted?"))
    source = await library.read(result.hits[0].url)

    assert "31 seals" in source.text
    assert (source.title, source.author, source.pages) == ("Seals", "A. Lund", ())


async def test_scans_locked_and_broken_files_are_skipped_and_named_with_the_reason(open_library):
    library = open_library(
        {
            "scan.pdf": CASES / "C29" / "scanned.pdf",
            "locked.pdf": CASES / "C29" / "user_password_aes256.pdf",
            "cut.pdf": b"%PDF-1.7\n1 0 obj",
            "page.pdf": b"<html><p>The heron nests in May, and the lamp burns.</p></html>",
            "locked.docx": b"\xd0\xcf\x11\xe0" + bytes(600),
            "cut.docx": word_file("A text that is long enough.")[:400],
            "note.docx": b"a note",
            "good.docx": word_file("The lamp burns all night."),
        }
    )

    await library.survey()

    reasons = {one.url.rpartition("/")[2]: one.reason for one in library.skipped}
    assert reasons == {
        "scan.pdf": pdf.SCAN,
        "locked.pdf": pdf.LOCKED,
        "cut.pdf": pdf.BROKEN,
        "locked.docx": "it is an old or locked office file, which is not read",
        "cut.docx": office.BROKEN,
    }
    assert (await library.survey()).total == 3, "a page and a note are read as what they are, whatever their names"
    assert {one.url for one in library.unread} == {one.url for one in library.skipped}


async def test_a_file_with_a_scanned_page_is_read_and_the_page_named(open_library):
    library = open_library({"mixed.pdf": CASES / "C29" / "mixed_page2_scanned.pdf"})

    (note,) = (await library.survey()).documents
    (hit,) = (await library.search(SearchQuery(text=" ".join((note.title, *note.themes))))).hits

    assert "some pages could not be read (2 / 2)" in (await library.read(hit.url)).tags


async def test_a_skipped_file_is_not_read_again_until_it_changes(open_library, tmp_path):
    library = open_library({"scan.pdf": CASES / "C29" / "scanned.pdf"})
    await library.survey()

    (tmp_path / "docs" / "scan.pdf").write_bytes(pdf_file(PAGES))
    await library.survey()

    assert library.skipped == ()


async def test_files_for_which_the_time_of_one_look_is_up_are_left_for_the_next(open_library, monkeypatch):
    monkeypatch.setattr("agents.search.library.SCAN_S", -1)
    library = open_library({"a.pdf": pdf_file(PAGES), "b.txt": b"The lamp burns all night."})

    await library.survey()

    assert [(one.url, one.reason) for one in library.skipped] == [
        ("library:/docs/a.pdf", LATER),
        ("library:/docs/b.txt", LATER),
    ]
    assert (await library.survey()).total == 0


TRUTH = json.loads((ROOT / "tests" / "data" / "sample_truth.json").read_text("utf-8"))
OFFICE_FACTS = [fact for fact in TRUTH["facts"] if fact["file"].endswith((".pdf", ".docx"))]


def test_the_sample_files_are_those_that_the_script_writes():
    written = {path.name: path.read_bytes() for path in LIBRARY.iterdir() if path.suffix in {".pdf", ".docx"}}

    assert written["smi-temperature-note-2025.pdf"] == heat_file()
    assert len(written) == 2


@pytest.mark.parametrize("fact", OFFICE_FACTS, ids=lambda fact: fact["quote"][:30])
async def test_the_sample_pdf_and_word_file_say_what_they_are_known_to_say(sample, fact):
    source = await sample.read(f"library:/library/{fact['file']}")

    assert fact["quote"] in source.text
    assert "Invented sample document" in source.text
    assert SourceCard.of(source).page_of(source.text.index(fact["quote"])) == fact.get("page")
