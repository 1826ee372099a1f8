"""Folders of documents as a search provider, indexed on disk and kept up to date; files are read a few at a time."""

import asyncio
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from agents.contracts.frozen import Said
from agents.contracts.sources import CorpusSurvey, RejectedSource, SearchQuery, SearchResult, Source, SourceKind
from agents.core.errors import ConfigError, SearchError, SourceError
from agents.search.index import FileOutcome, Index
from agents.search.pages import now, source_of
from agents.search.searcher import LIBRARY_NAME
from agents.search.telling_terms import widespread
from agents.web.decoding import Document, is_pdf, is_zip
from agents.web.read_page import read_document
from agents.web.reader_pool import AT_ONCE

MAX_BYTES = 50_000_000  # larger files are skipped and named
HERE_BYTES = 10_000_000  # up to which a plain file is read in this process, and not in one of its own
FILE_S = 15.0  # seconds for one file; one that takes longer is skipped and named
SCAN_S = 60.0
"""Seconds of one look at the folders after which no further file is begun; what is left is read at the next look."""

READ = {".pdf", ".docx", ".docm", ".dotx", ".xlsx", ".xlsm", ".pptx", ".odt", ".ods", ".odp", ".epub", ".rtf"}
"""Endings of the files that are read apart from the program, within bounds of size and time."""

UNREAD = {".doc", ".dot", ".pages", ".xls", ".ppt", ".numbers", ".key"}
"""Endings of office files that are not read; they are named, with a way out."""

OTHER_OFFICE = (
    "office files of this kind are not read; saved as PDF or in a newer format (.docx, .xlsx, .pptx) it would be"
)
LATER = "it has not been read yet: there are many files, and the next look goes on with it"
OTHER_KIND = "files of this kind are not read"
UNREADABLE = "it cannot be opened"
A_LINK = "it is a link, and links out of the folder are not followed"
UNKNOWN = "there is no such document in the library"

RESCAN_S = 5.0  # seconds for which the folders are taken to be unchanged
SCHEME = "library:/"

_CORPUS_THEMES = 20
_TEXTS = {".md", ".markdown", ".txt", ".text", ".html", ".htm", ".csv", ".tsv", ".eml", ".mht", ".mhtml"}

_T = TypeVar("_T")


class IndexedDocuments:
    """Documents that are searched by their index, whichever way that is kept."""

    name: str

    async def search(self, query: SearchQuery, deadline_s: float | None = None) -> SearchResult:
        """Find documents by the words of the query. Its domains do not apply; dates do, where a document has one."""
        return await self._work(lambda index: index.search(query, self.name), deadline_s)

    async def survey(self, question: str = "", limit: int = 24) -> CorpusSurvey:
        """Tell what the documents that match `question`, or all of them, talk about."""
        return await self._work(lambda index: survey_of(index, question.strip(), limit), None)

    async def _work(self, ask: Callable[[Index], _T], deadline_s: float | None) -> _T:
        """Ask the up-to-date index, in a thread."""
        raise NotImplementedError


class Library(IndexedDocuments):
    """Documents in folders, searched by words. Files are read again when they change; the index is a cache.

    Addresses are `library:/<folder name>/<path>`, percent-encoded; only addresses in the index can be read. Of documents
    with the same words one is found. A folder that is missing is a `ConfigError`.
    """

    def __init__(
        self,
        folders: Sequence[Path],
        index_path: Path,
        *,
        kind: SourceKind = "library",
        name: str = LIBRARY_NAME,
        rescan_s: float = RESCAN_S,
    ) -> None:
        self.name, self.kind = name, kind
        self.skipped: tuple[RejectedSource, ...] = ()
        """Files that are not used, each with the reason, as of the last look at the folders."""
        self._roots = _named(folders)
        self._index_path, self._rescan_s = index_path, rescan_s
        self._lock = threading.Lock()  # of threads: the work is done in whichever is free
        self._index: Index | None = None
        self._seen_at: float | None = None

    @property
    def unread(self) -> tuple[RejectedSource, ...]:
        """Of the skipped files, those of a kind that is read: a report names them, pictures and links it does not."""
        return tuple(one for one in self.skipped if one.reason not in (OTHER_KIND, A_LINK, OTHER_OFFICE))

    async def read(self, url: str, deadline_s: float | None = None, known: Source | None = None) -> Source:
        """Give the document at an address of the library."""
        try:
            source = await self._work(lambda index: index.document(url), deadline_s)
        except SearchError as error:
            raise SourceError(url, "the library could not be read") from error
        if source is None:
            raise SourceError(url, UNKNOWN)
        return source.model_copy(update={"kind": self.kind, "retrieved": now()})

    def close(self) -> None:
        with self._lock:
            if self._index is not None:
                self._index.close()
            self._index = None

    async def _work(self, ask: Callable[[Index], _T], deadline_s: float | None) -> _T:
        try:
            async with asyncio.timeout(deadline_s):
                return await asyncio.to_thread(self._ask, ask)
        except TimeoutError as error:
            raise SearchError(f"{self.name}: no answer within {deadline_s:g} s", provider=self.name) from error
        except (sqlite3.Error, OSError) as error:
            raise SearchError(f"{self.name}: {error}", provider=self.name) from error

    def _ask(self, ask: Callable[[Index], _T]) -> _T:
        with self._lock:
            if self._index is None:
                self._index = Index(self._index_path)
            if self._seen_at is None or time.monotonic() - self._seen_at >= self._rescan_s:
                self._update(self._index)
                self._seen_at = time.monotonic()
            return ask(self._index)

    def _update(self, index: Index) -> None:
        known = index.stamps()
        present = {one.url: one for name, root in self._roots for one in _files(name, root)}
        gone = [url for url in known if url not in present]
        fresh = [one for url, one in present.items() if known.get(url) != one.stamp]
        later: list[str] = []
        if gone or fresh:
            index.change([*gone, *(one.url for one in fresh)], _entries(fresh, time.monotonic() + SCAN_S, later))
        skipped = sorted([*index.skipped(), *((url, LATER) for url in later)])
        self.skipped = tuple(RejectedSource(url=url, reason=reason) for url, reason in skipped)


class _File:
    """One file of a folder as it was found."""

    def __init__(self, path: Path, url: str, facts: os.stat_result) -> None:
        self.path, self.url, self.facts = path, url, facts
        self.stamp = f"{facts.st_mtime_ns}:{facts.st_size}"
        self.suffix = path.suffix.lower()
        self.apart = self.suffix in READ or facts.st_size > HERE_BYTES

    async def read(self) -> FileOutcome:
        """Give its document, or the reason why it is none; what it is its bytes say."""
        try:
            raw = await asyncio.to_thread(self._bytes)
            if self.apart or is_pdf(raw) or is_zip(raw):
                document = await read_document(raw, "", self.url, FILE_S)
            else:
                document = await asyncio.to_thread(_read_plain, raw, self.url)
        except OSError:
            return FileOutcome(self.url, self.stamp, reason=Said(UNREADABLE))
        except SourceError as error:
            return FileOutcome(self.url, self.stamp, reason=error.reason)
        return FileOutcome(self.url, self.stamp, source_of(self.url, document, None, kind="library"))

    def _bytes(self) -> bytes:
        """Read it, unless it is none that is read, or has become a link or a pipe since it was listed."""
        if stat.S_ISLNK(self.facts.st_mode):
            raise SourceError(self.url, A_LINK)
        if self.suffix in UNREAD:
            raise SourceError(self.url, OTHER_OFFICE)
        if not stat.S_ISREG(self.facts.st_mode) or self.suffix not in _TEXTS | READ:
            raise SourceError(self.url, OTHER_KIND)
        flags = sum(getattr(os, name, 0) for name in ("O_RDONLY", "O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
        with os.fdopen(os.open(self.path, flags), "rb") as file:
            raw = file.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise SourceError(self.url, Said("it is too large (> {size})", size=f"{MAX_BYTES // 1_000_000} MB"))
        return raw


def _entries(files: Sequence[_File], ends_at: float, later: list[str]) -> Iterator[FileOutcome]:
    """Read files a few at a time, those that are read apart last. For a thread that runs no event loop."""

    async def side_by_side(batch: Sequence[_File]) -> list[FileOutcome]:
        return await asyncio.gather(*(one.read() for one in batch))

    left = iter(sorted(files, key=lambda one: one.apart))
    while batch := tuple(islice(left, AT_ONCE)):
        if time.monotonic() > ends_at:
            later += [one.url for one in (*batch, *left)]
            return
        yield from asyncio.run(side_by_side(batch))


def _named(folders: Sequence[Path]) -> tuple[tuple[str, Path], ...]:
    """Give each folder a name of its own, and make sure that it is there."""
    named: dict[str, Path] = {}
    for folder in folders:
        if not folder.is_dir():
            raise ConfigError(f"The document folder {folder} does not exist, or is not a folder.")
        root = folder.resolve()
        if root not in named.values():
            names = (root.name or "files", *(f"{root.name}-{number}" for number in range(2, len(named) + 2)))
            named[next(name for name in names if name not in named)] = root
    return tuple(named.items())


def _files(folder: str, root: Path) -> Iterator[_File]:
    """Walk a folder in the order of names; hidden files and folders are left out, links are not followed."""

    def on_error(error: OSError) -> None:
        # Subfolders that cannot be opened are passed over, the folder itself is not: its documents would all vanish.
        if error.filename is None or Path(error.filename) == root:
            raise error

    for parent, folders, files in os.walk(root, onerror=on_error):
        inner = sorted(one for one in folders if not one.startswith("."))
        links = [one for one in inner if (Path(parent) / one).is_symlink()]
        folders[:] = [one for one in inner if one not in links]
        for one in (*links, *sorted(files)):
            path = Path(parent) / one
            if one.startswith("."):
                continue
            try:
                facts = path.lstat()
            except OSError:  # gone since the folder was listed
                continue
            # By bytes: a name need not be valid UTF-8.
            address = quote(os.fsencode(folder)) + "/" + quote(os.fsencode(path.relative_to(root).as_posix()))
            yield _File(path, SCHEME + address, facts)


def _read_plain(raw: bytes, url: str) -> Document:
    from agents.web.reader import read_here  # the parsers behind it are not needed where only the web is searched

    return read_here(raw, "", url)


def survey_of(index: Index, question: str, limit: int) -> CorpusSurvey:
    """Tell what the documents that match `question` (all of them when it is empty) talk about; lists at most `limit`."""
    notes = index.notes()
    found = matching = tuple(notes)
    if question:
        matching = index.matching(question)
        found = tuple(one.url for one in index.search(SearchQuery(text=question, max_results=limit), "").hits)
    return CorpusSurvey(
        documents=tuple(notes[url] for url in found[:limit]), total=len(notes), matching=len(matching),
        themes=widespread(list(index.phrases(matching).values()), _CORPUS_THEMES),
    )  # fmt: skip


def together(own: CorpusSurvey, other: CorpusSurvey, limit: int) -> CorpusSurvey:
    """Make one survey of two, lists at most `limit` documents."""
    return CorpusSurvey(
        documents=(*own.documents, *other.documents)[:limit],
        total=own.total + other.total,
        matching=own.matching + other.matching,
        themes=tuple(dict.fromkeys((*own.themes, *other.themes))),
        web=own.web or other.web,
    )
