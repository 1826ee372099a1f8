"""Folders of documents as a search provider: what is found, what is refused, and what changes."""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

import pytest

from agents.contracts.frozen import digest
from agents.contracts.sources import SearchQuery, Source
from agents.core.errors import ConfigError, SearchError, SourceError
from agents.search.library import A_LINK, OTHER_KIND, OTHER_OFFICE, Library
from agents.web.decoding import NOT_TEXT
from agents.web.walls import EMPTY as NO_TEXT
from tests.scripted_search import ScriptedSearcher

ROOT = Path(__file__).parent.parent.parent
HERON = "# Herons\n\nThe grey heron nests in May. It eats fish. It stands still for hours.\n"
BARGE = (
    "---\ntitle: Barges\ndate: 2021-05-03\npublisher: River Office\n---\n"
    "A steel barge carries gravel. It needs a new pump.\n"
)
LONG = " ".join(f"The count at post {n} was {n * 7} birds on a day with {n % 5} hours of rain." for n in range(60))


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


@pytest.fixture
def open_library(tmp_path):
    opened = []

    def build(files=None, *more, folder="docs", **settings):
        root = write(tmp_path / folder, files or {})
        root.mkdir(exist_ok=True)
        library = Library([root, *more], tmp_path / "data" / "index.sqlite3", rescan_s=0, **settings)
        opened.append(library)
        return library

    yield build
    for library in opened:
        library.close()


async def found(library, text, **query):
    result = await library.search(SearchQuery(text=text, **query))
    return [unquote(hit.url).removeprefix("library:/docs/") for hit in result.hits]


async def test_a_question_finds_the_document_and_its_passage(open_library):
    library = open_library({"a.md": HERON, "deep/b.md": BARGE})

    result = await library.search(SearchQuery(text="Which birds of the heron family nested?"))

    assert [hit.url for hit in result.hits] == ["library:/docs/a.md"]
    assert "grey heron nests" in result.hits[0].snippet
    assert (result.hits[0].title, result.hits[0].provider) == ("Herons", "library")


async def test_a_document_is_found_once_with_its_best_passage(open_library):
    text = (
        "\n\n".join(f"Filler number {n} says little. It goes on." for n in range(30))
        + "\n\nThe otter eats an eel. Otter, otter."
    )
    library = open_library({"a.txt": text})

    result = await library.search(SearchQuery(text="otter number"))

    assert len(result.hits) == 1
    assert "otter" in result.hits[0].snippet.lower()


async def test_a_source_carries_its_text_and_what_is_known_of_it(open_library, monkeypatch):
    monkeypatch.setattr("agents.search.library.now", lambda: "2025-01-01T00:00:00+00:00")
    library = open_library({"deep/b.md": BARGE}, kind="sample")

    source = await library.read("library:/docs/deep/b.md")

    assert source.text == "A steel barge carries gravel. It needs a new pump."
    assert source.text_hash == digest(source.text)
    assert (source.id, source.kind) == (Source.id_of(source.url), "sample")
    assert (source.title, source.site, source.published) == ("Barges", "River Office", "2021-05-03")
    assert source.retrieved == "2025-01-01T00:00:00+00:00"


@pytest.mark.parametrize(
    "address",
    [
        "library:/docs/../secret.md",
        "library:/docs/%2e%2e/secret.md",
        "library:/docs/x.md",
        "file:///etc/passwd",
        "/etc/passwd",
        " ",
        "library:/docs/.hidden.md",
        "library:/docs/link.md",
    ],
)
async def test_only_addresses_of_the_index_can_be_read(open_library, tmp_path, address):
    write(tmp_path, {"secret.md": HERON, "docs/.hidden.md": HERON, "docs/a.md": BARGE})
    (tmp_path / "docs" / "link.md").symlink_to(tmp_path / "secret.md")
    library = open_library()

    with pytest.raises(SourceError, match="no such document"):
        await library.read(address)


async def test_files_that_are_not_used_are_named_with_the_reason(open_library, tmp_path):
    write(tmp_path, {"outside/x.md": HERON})
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "out").symlink_to(tmp_path / "outside")
    library = open_library(
        {
            "a.md": HERON,
            "w.doc": b"\xd0\xcf\x11\xe0",
            "p.png": b"\x89PNG",
            "fake.md": b"\x00\x01\x02" * 50,
            "empty.txt": " \n",
            "big.txt": b"x" * 50_000_001,
            ".git/config.md": HERON,
        }
    )

    await library.survey()

    reasons = {one.url.rpartition("/")[2]: one.reason for one in library.skipped}
    assert reasons == {
        "w.doc": OTHER_OFFICE, "p.png": OTHER_KIND, "fake.md": NOT_TEXT, "empty.txt": NO_TEXT,
        "big.txt": "it is too large (> 50 MB)", "out": A_LINK,
    }  # fmt: skip


async def test_changed_files_are_read_again_and_removed_ones_vanish(open_library, tmp_path):
    library = open_library({"a.md": HERON, "b.md": BARGE})
    assert await found(library, "heron") == ["a.md"]

    (tmp_path / "docs" / "a.md").write_text("The kestrel hovers above the field.", "utf-8")
    (tmp_path / "docs" / "b.md").unlink()

    assert await found(library, "heron barge") == []
    assert await found(library, "kestrel") == ["a.md"]


async def test_an_unchanged_file_is_not_read_again(open_library, tmp_path):
    library = open_library({"a.md": HERON})
    await library.survey()
    path = tmp_path / "docs" / "a.md"
    facts = path.stat()
    path.write_text(HERON.replace("heron", "crane"), "utf-8")
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))

    assert await found(library, "heron") == ["a.md"]


async def test_a_damaged_index_is_built_anew(open_library, tmp_path):
    write(tmp_path, {"data/index.sqlite3": b"not a database" * 100})

    assert await found(open_library({"a.md": HERON}), "heron") == ["a.md"]


@pytest.mark.parametrize(
    "text", ['heron" OR "x', "heron*", "NEAR(heron, 2)", "title: heron", "(heron", "heron -nests", "'; drop table x"]
)
async def test_nothing_in_a_question_is_an_operator(open_library, text):
    library = open_library({"a.md": HERON})

    assert await found(library, text) in (["a.md"], [])
    assert await found(library, "heron") == ["a.md"]


async def test_words_of_chinese_and_japanese_are_found(open_library):
    library = open_library({"zh.md": "这种材料的密度很高。", "ja.md": "夜行列車は毎日走る。", "a.md": HERON})

    assert await found(library, "密度是多少") == ["zh.md"]
    assert await found(library, "夜行列車はいつ走りますか") == ["ja.md"]
    assert await found(library, "夜") == ["ja.md"]


async def test_accents_do_not_matter_to_the_index(open_library):
    assert await found(open_library({"a.md": "Le café fermé."}), "cafe") == ["a.md"]


async def test_dates_narrow_a_search_where_a_document_has_one(open_library):
    library = open_library({"b.md": BARGE, "c.md": "A barge without a date."})

    assert await found(library, "barge", date_from="2022") == ["c.md"]
    assert await found(library, "barge", date_to="2021-05-02") == ["c.md"]
    assert sorted(await found(library, "barge", date_from="2021", date_to="2021-05")) == ["b.md", "c.md"]


async def test_of_files_with_the_same_words_one_is_found_and_each_can_be_read(open_library):
    library = open_library({"a.txt": LONG, "b/a.md": f"---\nauthor: Ann Lee\ndate: 2020-01-01\n---\n**{LONG}**"})

    assert await found(library, "count at post") == ["b/a.md"]
    assert (await library.survey()).total == 1
    assert (await library.read("library:/docs/a.txt")).url == "library:/docs/a.txt"
    assert (await library.read("library:/docs/b/a.md")).url == "library:/docs/b/a.md"


async def test_a_copy_comes_back_when_the_other_is_removed(open_library, tmp_path):
    library = open_library({"a.txt": LONG, "b.txt": LONG})
    await library.survey()

    (tmp_path / "docs" / (await found(library, "count"))[0]).unlink()

    assert len(await found(library, "count")) == 1


async def test_folders_of_one_name_get_names_of_their_own(open_library, tmp_path):
    other = write(tmp_path / "other" / "docs", {"a b.md": BARGE})
    library = open_library({"a.md": HERON}, other)

    result = await library.search(SearchQuery(text="steel barge"))

    assert result.hits[0].url == "library:/docs-2/a%20b.md"


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(ConfigError, match="nowhere"):
        Library([tmp_path / "nowhere"], tmp_path / "index.sqlite3")


async def test_a_folder_that_vanished_is_a_failure_and_forgets_nothing(open_library, tmp_path):
    library = open_library({"a.md": HERON})
    await library.survey()
    (tmp_path / "docs").rename(tmp_path / "away")

    with pytest.raises(SearchError):
        await library.search(SearchQuery(text="heron"))

    (tmp_path / "away").rename(tmp_path / "docs")
    assert await found(library, "heron") == ["a.md"]


async def test_many_questions_at_once_are_answered(open_library):
    library = open_library({"a.md": HERON, "b.md": BARGE})

    answers = await asyncio.gather(*(found(library, text) for text in ["heron", "barge"] * 10))

    assert answers == [["a.md"], ["b.md"]] * 10


async def test_a_survey_tells_what_the_documents_talk_about(open_library):
    library = open_library(
        {"a.md": HERON * 2, "b.md": BARGE, "c.md": "Der Reiher steht im Wasser und wartet auf Fische."}
    )

    everything = await library.survey()
    asked = await library.survey("Where does the grey heron nest?")

    assert (everything.total, everything.matching) == (3, 3)
    assert {one.language for one in everything.documents} == {"en", "de"}
    assert [note.title for note in asked.documents] == ["Herons"]
    assert (asked.total, asked.matching, asked.web) == (3, 1, False)
    assert asked.documents[0].themes[0] == "Herons"


async def test_a_survey_of_strange_words_matches_nothing(open_library):
    survey = await open_library({"a.md": HERON}).survey("zebra crossing in Lima")

    assert (survey.matching, survey.documents) == (0, ())


async def test_legacy_encodings_and_pages_are_read(open_library):
    head = "<head><meta charset='windows-1251'><title>Лёд</title></head>"
    html = f"<html>{head}<body><article><p>Паром не ходил двенадцать дней зимой.</p></article></body></html>"
    library = open_library({"a.html": html.encode("cp1251")})

    assert "двенадцать дней" in (await library.read("library:/docs/a.html")).text


@pytest.mark.parametrize("folder", ["tests/data/library_two", "examples/library"])
async def test_the_sample_documents_can_all_be_read(folder, tmp_path):
    if not (ROOT / folder).is_dir():
        pytest.skip("no samples here")
    library = Library([ROOT / folder], tmp_path / "index.sqlite3", kind="sample")

    survey = await library.survey(limit=100)

    assert survey.total == len(survey.documents) > 0
    for note in survey.documents:
        hits = (await library.search(SearchQuery(text=note.title, max_results=3))).hits
        source = await library.read(next(hit.url for hit in hits if hit.title == note.title))
        assert source.text
        assert "cookie" not in source.text.lower()
    library.close()


async def test_a_scripted_searcher_finds_remembers_and_fails_as_told():
    searcher = ScriptedSearcher(
        {"https://a.example/": ("Herons", "The grey heron nests."), "https://b.example/": ("Barges", "Steel barges.")},
        fail=["storm", "https://b.example/"],
    )

    result = await searcher.search(SearchQuery(text="a heron's nest"))

    assert [hit.url for hit in result.hits] == ["https://a.example/"]
    assert [query.text for query in searcher.asked] == ["a heron's nest"]
    assert (await searcher.read("https://a.example/")).text == "The grey heron nests."
    assert (await searcher.survey("grey heron")).matching == 1
    with pytest.raises(SearchError):
        await searcher.search(SearchQuery(text="storm"))
    for address in ("https://b.example/", "https://c.example/"):
        with pytest.raises(SourceError):
            await searcher.read(address)


async def test_of_documents_that_share_a_word_with_a_search_the_one_that_means_the_same_comes_first(open_library):
    library = open_library(
        {
            "a.md": "# Notes on Telmar\n\nThe physician of Telmar cured the ill without charge. She never sent a bill.\n",
            "b.md": "# Notes on Telmar\n\nThe railway of Telmar carried timber to the coast. It never ran at night.\n",
        }
    )

    assert (await found(library, "doctors and medicine in Telmar"))[0] == "a.md"
    assert (await found(library, "trains and freight in Telmar"))[0] == "b.md"


async def test_what_only_means_something_alike_and_shares_no_word_is_not_found(open_library):
    library = open_library({"a.md": HERON, "b.md": BARGE})

    assert await found(library, "ornithology waterfowl") == []


async def test_of_many_documents_one_that_answers_in_other_words_is_put_before_those_that_share_its_own(open_library):
    files = {f"choir{n}.md": f"The music of choir {n} was made for the hall.\n" for n in range(7)}
    files |= {
        f"hall{n}.md": f"Hall {n} is of wood" + ", of stone and of glass" * 9 + (", for music.\n" if n < 4 else ".\n")
        for n in range(20)
    }
    files["rules.md"] = "In this house no music may be made by anybody between one and three, nor after ten at night.\n"

    names = await found(open_library(files), "When may no music be made?", max_results=3)

    assert names[0] == "rules.md"
