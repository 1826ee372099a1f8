"""Files made to harm whoever opens them: in a folder of documents and as uploads, each costs a line and nothing else."""

import functools
import io
import os
import resource
import time
import zipfile

import pytest

from agents.contracts.sources import SearchQuery
from agents.search.library import Library
from agents.search.uploads import Files, UploadedFile, take
from agents.web.reader import MAX_MARKUP
from tests.research.conftest import MemoryTexts

HONEST = "# Herons\n\nThe grey heron nests in May and eats fish in the shallow water of the bay.\n"
SECRET = "The grey heron nests in May in the secret garden outside of the folder.\n"
LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a0 "ha">'
    + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    + '<!ENTITY out SYSTEM "file:///etc/passwd">]><w:document xmlns:w="x"><w:body><w:p>&a9;&out;</w:p></w:body></w:document>'
)


def archive(**entries):
    """A zip file; an underscore stands for a slash, a double one for a dot."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as zipped:
        for name, content in entries.items():
            zipped.writestr(name.replace("__", ".").replace("_", "/"), content)
    return out.getvalue()


PAGES = b"1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[2 0 R]/Count 99999999>>endobj"
HOSTILE = {
    "laughs.docx": lambda: archive(word_document__xml=LAUGHS),
    "bomb.docx": lambda: archive(word_document__xml=b"<w>" + b" " * 80_000_000),
    "bomb.xlsx": lambda: archive(
        xl_workbook__xml=b"<w>" + b" " * 40_000_000, xl_worksheets_sheet1__xml=b" " * 40_000_000
    ),
    "climbs.docx": lambda: archive(**{".._.._.._etc_cron": "x", "word_document__xml": LAUGHS}),
    "program.md": lambda: b"\x7fELF" + bytes(range(256)) * 40,
    "page.pdf": lambda: b"%PDF-1.7\n" + PAGES,
    "macros.docm": lambda: archive(word_document__xml="<w/>", word_vbaProject__bin=b"Auto_Open"),
}
"""How each is made. The bombs unpack to a third more than is read of an archive, the second in two parts."""


@functools.cache
def made(name):
    return HOSTILE[name]()


@pytest.fixture
def folder(tmp_path):
    inside, outside = tmp_path / "docs", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "secret.md").write_text(SECRET)
    (inside / "honest.md").write_text(HONEST)
    for name in HOSTILE:
        (inside / name).write_bytes(made(name))
    (inside / "link.md").symlink_to(outside / "secret.md")
    (inside / "way_out").symlink_to(outside)
    (inside / "round").symlink_to(inside)
    os.mkfifo(inside / "pipe.md")
    (inside / "device.md").symlink_to("/dev/zero")
    return inside


async def test_a_folder_of_traps_is_searched_for_what_is_honest_in_it(folder, tmp_path):
    library = Library([folder], tmp_path / "data" / "index.sqlite3", rescan_s=0)
    began = time.monotonic()

    found = await library.search(SearchQuery(text="When does the grey heron nest?"))

    library.close()
    assert [hit.url.rpartition("/")[2] for hit in found.hits] == ["honest.md"]
    assert "secret" not in found.model_dump_json() and "root:" not in found.model_dump_json()
    assert time.monotonic() - began < 60
    assert {one.url.rpartition("/")[2] for one in library.skipped} >= {"laughs.docx", "bomb.docx", "page.pdf"}


async def test_of_an_endless_text_the_beginning_is_read_and_costs_a_bounded_memory():
    texts, before = MemoryTexts(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    taken = await take([UploadedFile(name="endless.txt", body=b"a" * 20_000_000)], (), texts, "2026-11-27T10:00:00Z")
    await Files(taken.files, texts).search(SearchQuery(text="When do herons nest?"))

    (file,) = taken.files
    assert file.gaps == ("it is very long; only its beginning was read",)
    assert {len(text) for text in texts.texts.values()} == {MAX_MARKUP}
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 250_000


@pytest.mark.parametrize("name", HOSTILE)
async def test_an_upload_that_is_a_trap_is_refused_by_name(name):
    taken = await take([UploadedFile(name=f"../../{name}", body=made(name))], (), MemoryTexts(), "2026-11-27T10:00:00Z")

    assert not taken.files
    assert taken.refused and name in taken.refused[0].notice and ".." not in taken.refused[0].notice
