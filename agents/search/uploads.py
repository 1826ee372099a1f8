"""Files that a user gives in the chat: read by what their bytes are, and searched beside everything else."""

import asyncio
import logging
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import PurePosixPath
from typing import TypeVar
from urllib.parse import quote

from agents.contracts.frozen import Said
from agents.contracts.sources import OwnFile, Place, Source, SourceCard
from agents.core.errors import BadRequest, SourceError
from agents.search.chain import Chain
from agents.search.index import FileOutcome, Index
from agents.search.library import IndexedDocuments
from agents.search.pages import source_of
from agents.search.searcher import FILES_NAME, SAMPLE_NAME, Searcher, Texts
from agents.web.read_page import read_document

log = logging.getLogger(__name__)

MAX_BYTES = 25_000_000  # bytes of one file, at most
AT_ONCE = 10  # files of one message, at most
MAX_FILES = 40  # files of one chat, at most
FILE_S = 30.0  # seconds for taking the text out of one file
SCHEME = "upload:/"  # how addresses of given files begin
NAME_LENGTH = 120
_T = TypeVar("_T")
MAX_INDEXES = 8  # sets of files whose index stays in memory, last used last


@dataclass(frozen=True)
class UploadedFile:
    """One file as it came."""

    name: str
    """As the browser calls it: anything at all."""
    body: bytes


@dataclass(frozen=True)
class UploadResult:
    """What came of some files."""

    files: tuple[OwnFile, ...] = ()
    """Those that can be searched now."""
    refused: tuple[BadRequest, ...] = ()
    """Why each of the others is none of them."""

    def __bool__(self) -> bool:
        return bool(self.files or self.refused)


async def take(given: Sequence[UploadedFile], known: Sequence[OwnFile], texts: Texts, now: str) -> UploadResult:
    """Read files and keep their texts."""
    room = min(AT_ONCE, max(0, MAX_FILES - len(known)))
    files: list[OwnFile] = []
    refused: list[BadRequest] = []
    for outcome in await asyncio.gather(*(_read(one, texts, now) for one in given[:room])):
        here = (*known, *files)
        if isinstance(outcome, BadRequest):
            refused.append(outcome)
        elif twin := next((file for file in here if file.card.text_hash == outcome.card.text_hash), None):
            same = "“{name}” was not added: it says the same as “{twin}”, which is here already."
            refused.append(BadRequest(same, name=outcome.name, twin=twin.name))
        else:
            files.append(_told_apart(outcome, here))
    if beyond := len(given[room:]):
        form, most = "{n} {n:file was|files were} not added: one message brings up to {most}.", AT_ONCE
        if room < AT_ONCE:
            form, most = "{n} {n:file was|files were} not added: a chat holds up to {most}.", MAX_FILES
        refused.append(BadRequest(form, n=beyond, most=most))
    return UploadResult(tuple(files), tuple(refused))


async def _read(given: UploadedFile, texts: Texts, now: str) -> OwnFile | BadRequest:
    """Read one file; or say why it is none of ours."""
    name, why = plain_name(given.name), "" if given.body else "it is empty"
    if len(given.body) > MAX_BYTES:
        why = Said("it is too large (> {size})", size=f"{MAX_BYTES // 1_000_000} MB")
    # By its content, so that the same file is the same source wherever it is given; the name is for people.
    url = f"{SCHEME}{sha256(given.body).hexdigest()[:16]}/{quote(name)}"
    try:
        if why:
            raise SourceError(url, why)
        document = await read_document(given.body, "", url, FILE_S)
    except SourceError as error:
        return BadRequest("“{name}” was not added: {why}.", name=name, why=error.reason)
    await texts.put(document.text)
    card = SourceCard.of(source_of(url, document, now, kind="upload"))
    return OwnFile(name=name, card=card, gaps=document.gaps)


def plain_name(name: str) -> str:
    """Make a name of a file of what a browser gives: no folders, nothing that can't be seen, and no endless ones."""
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    words = ("".join(one for one in word if unicodedata.category(one)[0] != "C") for word in last.split())
    shown = " ".join(filter(None, words)) or "file"
    if len(shown) <= NAME_LENGTH:
        return shown
    path = PurePosixPath(shown)
    return f"{path.stem[: NAME_LENGTH - 11]}…{path.suffix[:10]}"


def _told_apart(file: OwnFile, others: Sequence[OwnFile]) -> OwnFile:
    """Give a file a name that no other one of the chat has."""
    taken, path = {other.name for other in others}, PurePosixPath(file.name)
    names = (file.name, *(f"{path.stem} ({number}){path.suffix}" for number in range(2, len(taken) + 2)))
    return file.model_copy(update={"name": next(name for name in names if name not in taken)})


class Files(IndexedDocuments):
    """The files of one chat, indexed in memory when first asked for: their texts lie in the blob store."""

    name = FILES_NAME

    def __init__(self, files: Sequence[OwnFile], texts: Texts) -> None:
        self._by_url = {file.card.url: file for file in files}
        self._texts = texts
        self._index: Index | None = None
        self._lock = asyncio.Lock()  # one index, asked by one thread at a time

    async def read(self, url: str, deadline_s: float | None = None, known: Source | None = None) -> Source:
        """Give a file's document."""
        file = self._by_url.get(url)
        if file is None:
            raise SourceError(url, "it is none of the files of this chat")
        card = file.card.model_copy(update={"tags": tuple(dict.fromkeys((*file.card.tags, *file.gaps)))})
        return Source(text=await self._texts.get(card.text_hash), **card.model_dump())

    async def _work(self, ask: Callable[[Index], _T], deadline_s: float | None) -> _T:
        async with self._lock:
            return await asyncio.to_thread(ask, await self._indexed())

    async def _indexed(self) -> Index:
        if self._index is None:
            entries = []
            for url in self._by_url:
                try:
                    entries.append(FileOutcome(url, "", await self.read(url)))
                except SourceError as error:
                    log.warning("a file of a chat can't be searched any more: %s", error)
            index = Index(None)
            await asyncio.to_thread(index.change, (), entries)
            self._index = index
        return self._index


class SearchScope:
    """Narrows what a server can search to what one research may, and puts the user's own files beside it."""

    def __init__(self, base: Searcher, texts: Texts) -> None:
        sample, own = (base, None) if base.name == SAMPLE_NAME else (None, base)
        self._base = base if isinstance(base, Chain) else Chain((), None, own, sample=sample)
        self.places: tuple[Place, ...] = self._base.places
        """Where the server can search."""
        self._files_of = lru_cache(MAX_INDEXES)(lambda files: Files(files, texts))

    def of(self, files: Sequence[OwnFile], places: Sequence[Place], searched: Sequence[str] = ()) -> Chain:
        """Give the searcher of one research."""
        return self._base.scoped(places, searched, self._files_of(tuple(files)) if files else None)
