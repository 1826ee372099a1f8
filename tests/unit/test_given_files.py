"""Files that a user gives: what is taken, what is refused in which words, and how they are searched."""

from pathlib import Path

import pytest

from agents.contracts.sources import OwnFile, SearchQuery
from agents.core.errors import SearchError, SourceError
from agents.jobs.blob_store import BlobStore
from agents.search.searcher import FILES_NAME, SAMPLE_NAME
from agents.search.uploads import (
    AT_ONCE,
    MAX_BYTES,
    MAX_FILES,
    NAME_LENGTH,
    SearchScope,
    UploadedFile,
    plain_name,
    take,
)
from tests.scripted_search import ScriptedSearcher
from tests.scripts import WORLD

DATA = Path(__file__).parents[1] / "data" / "cases"
SAMPLES = Path(__file__).parents[2] / "examples" / "library"
NOW = "2026-11-27T10:00:00+00:00"
CLOSURES = b"# Closures of the Orvane ferry\n\nThe Orvane ferry was closed on 17 days in the winter of 2024/25."


@pytest.fixture
def blobs(tmp_path):
    return BlobStore(tmp_path)


async def taken(blobs, *files, known=()):
    return await take([UploadedFile(name, body) for name, body in files], known, blobs, NOW)


def case(name):
    return DATA / name


async def test_every_kind_that_is_read_becomes_a_document_with_its_text_on_the_shelf(blobs):
    files = [
        (name, (SAMPLES / name).read_bytes())
        for name in (
            "smi-temperature-note-2025.pdf",
            "lanvik-household-survey-2024.docx",
            "lanvik-survival-study-2022.html",
            "cost-audit-2021.md",
        )
    ]

    got = await taken(blobs, *files, ("plain.txt", b"The ferry was closed on 17 days.\n"))

    assert got.refused == ()
    assert [file.name for file in got.files] == [*(name for name, _ in files), "plain.txt"]
    assert {file.card.kind for file in got.files} == {"upload"}
    assert len(got.files[0].card.pages) == 2
    for file in got.files:
        assert await blobs.get(file.card.text_hash)


@pytest.mark.parametrize(
    ("name", "body", "why"),
    [
        ("nothing.txt", b"", "it is empty"),
        ("blank.md", b" \n\n ", "text"),
        ("huge.txt", b"a" * (MAX_BYTES + 1), "too large (> 25 MB)"),
        ("picture.pdf", b"\x89PNG\r\n\x1a\n" + bytes(64), "a picture"),
        ("old.doc", b"\xd0\xcf\x11\xe0" + bytes(600), "office file"),
        ("noise.txt", bytes(range(256)) * 20, "not a text"),
        ("scan.pdf", case("C29/scanned.pdf"), "scan without text"),
        ("locked.pdf", case("C29/user_password_aes256.pdf"), "locked with a password"),
        ("cut.pdf", case("C28/truncated.pdf"), "broken"),
    ],
)
async def test_what_can_not_be_read_is_refused_by_name_with_its_reason(blobs, name, body, why):
    got = await taken(blobs, (name, body if isinstance(body, bytes) else body.read_bytes()))

    assert got.files == ()
    (said,) = (one.notice for one in got.refused)
    assert said.startswith(f"“{name}” was not added: ")
    assert why in said


async def test_an_archive_under_the_name_of_a_pdf_is_an_archive(blobs, tmp_path):
    import zipfile

    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.txt", "words")

    got = await taken(blobs, ("minutes.pdf", (tmp_path / "a.zip").read_bytes()))

    assert tuple(one.notice for one in got.refused) == (
        "“minutes.pdf” was not added: it is an archive, not a document.",
    )


async def test_a_file_is_what_its_bytes_are_whatever_it_is_called(blobs):
    got = await taken(blobs, ("notes.txt", (SAMPLES / "smi-temperature-note-2025.pdf").read_bytes()))

    assert len(got.files[0].card.pages) == 2


async def test_pages_that_could_not_be_read_are_told(blobs):
    got = await taken(blobs, ("mixed.pdf", case("C29/mixed_page2_scanned.pdf").read_bytes()))

    assert got.files[0].gaps == ("some pages could not be read (2 / 2)",)


async def test_the_same_words_are_taken_once_and_the_same_name_is_told_apart(blobs):
    first = await taken(blobs, ("a.md", CLOSURES), ("b.md", CLOSURES))
    second = await taken(blobs, ("c.md", CLOSURES), ("a.md", CLOSURES + b" It ran again in March."), known=first.files)

    assert [file.name for file in first.files] == ["a.md"]
    assert "says the same as “a.md”" in first.refused[0].notice
    assert "says the same as “a.md”" in second.refused[0].notice
    assert [file.name for file in second.files] == ["a (2).md"]


async def test_too_many_are_refused_with_the_bound(blobs):
    many = [(f"{n}.txt", b"The ferry was closed on %d days." % n) for n in range(AT_ONCE + 2)]
    got = await taken(blobs, *many)
    assert len(got.files) == AT_ONCE
    assert tuple(one.notice for one in got.refused) == (f"2 files were not added: one message brings up to {AT_ONCE}.",)

    full = [OwnFile(name=f"{n}", card=got.files[0].card) for n in range(MAX_FILES)]
    assert tuple(one.notice for one in (await taken(blobs, ("x.txt", b"More."), known=full)).refused) == (
        f"1 file was not added: a chat holds up to {MAX_FILES}.",
    )


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\minutes.pdf", "minutes.pdf"),
        ("min\u202eutes\x00\u200b.pdf", "minutes.pdf"),
        ("  a \n b.md ", "a b.md"),
        ("", "file"),
        ("…/", "file"),
        ("протокол.pdf", "протокол.pdf"),
        (".hidden", ".hidden"),
    ],
)
def test_a_name_holds_nothing_but_a_name(given, shown):
    assert plain_name(given) == shown


def test_an_endless_name_keeps_its_ending():
    shown = plain_name("x" * 500 + ".docx")
    assert len(shown) <= NAME_LENGTH
    assert shown.endswith("….docx")


async def test_files_are_searched_beside_the_rest_and_read_from_the_shelf(blobs):
    files = (await taken(blobs, ("a.md", CLOSURES))).files
    searcher = SearchScope(ScriptedSearcher(WORLD), blobs).of(files, ())

    found = await searcher.search(SearchQuery(text="days on which the Orvane ferry was closed"))

    assert found.hits[0].url.startswith(("upload:/", "https://a.example"))
    assert {hit.url.partition(":")[0] for hit in found.hits} == {"upload", "https"}
    assert FILES_NAME in found.provider
    source = await searcher.read(files[0].card.url)
    assert "17 days" in source.text
    assert source.kind == "upload"
    assert (await searcher.survey("Orvane ferry")).total == 1 + len(WORLD)


async def test_the_invented_sample_steps_aside_for_own_files(blobs):
    files = (await taken(blobs, ("a.md", CLOSURES))).files
    sample = ScriptedSearcher(WORLD, name=SAMPLE_NAME)
    searcher = SearchScope(sample, blobs).of(files, ())

    found = await searcher.search(SearchQuery(text="Orvane ferry passengers closed"))

    assert [hit.url for hit in found.hits] == [files[0].card.url]
    assert sample.asked == []
    with pytest.raises(SourceError):
        await searcher.read("https://a.example/closures")


async def test_a_search_that_fails_beside_files_that_answer_is_no_failure(blobs):
    files = (await taken(blobs, ("a.md", CLOSURES))).files
    searcher = SearchScope(ScriptedSearcher(WORLD, fail={"Orvane ferry", "zebras"}), blobs).of(files, ())

    assert len((await searcher.search(SearchQuery(text="Orvane ferry"))).hits) == 1
    with pytest.raises(SearchError):
        await searcher.search(SearchQuery(text="zebras"))


async def test_files_of_one_chat_are_no_documents_of_another(blobs):
    mine = (await taken(blobs, ("a.md", CLOSURES))).files
    theirs = (await taken(blobs, ("b.md", b"The Orvane ferry was sold in 2025."))).files
    searching = SearchScope(ScriptedSearcher(WORLD, name=SAMPLE_NAME), blobs)

    found = await searching.of(theirs, ()).search(SearchQuery(text="Orvane ferry"))

    assert [hit.url for hit in found.hits] == [theirs[0].card.url]
    with pytest.raises(SourceError):
        await searching.of(theirs, ()).read(mine[0].card.url)


async def test_a_file_whose_text_is_gone_does_not_take_the_others_with_it(blobs):
    files = (await taken(blobs, ("a.md", CLOSURES), ("b.md", b"The Orvane ferry was sold in 2025."))).files
    assert await blobs.drop(files[0].card.text_hash)
    searcher = SearchScope(ScriptedSearcher(WORLD, name=SAMPLE_NAME), blobs).of(files, ())

    found = await searcher.search(SearchQuery(text="Orvane ferry"))

    assert [hit.url for hit in found.hits] == [files[1].card.url]
