"""Files that a user gives in the chat: what they are is told by their bytes, and why one is not taken is said."""

import asyncio
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import quote

from agents.contracts.source import OwnFile, Source, SourceCard
from agents.core.errors import SourceError
from agents.search.searcher import Texts
from agents.web.reader import read_document

MAX_BYTES = 25_000_000
"""Bytes of one file, at most."""
AT_ONCE = 10
"""Files of one message, at most."""
MAX_FILES = 40
"""Files of one chat, at most."""
FILE_S = 30.0
"""Seconds for taking the text out of one file."""
SCHEME = "upload:/"
"""How addresses of given files begin."""
NAME_LENGTH = 120

_PATH = re.compile(r"[/\\]")


@dataclass(frozen=True)
class Given:
    """One file as it came."""

    name: str
    """As the browser calls it: anything at all."""
    body: bytes


@dataclass(frozen=True)
class Taken:
    """What came of some files."""

    files: tuple[OwnFile, ...] = ()
    """Those that can be searched now."""
    refused: tuple[str, ...] = ()
    """One sentence for each of the others."""

    def __bool__(self) -> bool:
        return bool(self.files or self.refused)


async def take(given: Sequence[Given], known: Sequence[OwnFile], texts: Texts, now: str) -> Taken:
    """Read files and keep their texts.

    Args:
        given: in the order they came.
        known: files that the chat has already: the same one is not taken twice.
        texts: where the texts are kept.
        now: ISO date and time, UTC.
    """
    room = max(0, MAX_FILES - len(known))
    taking, beyond = given[: min(AT_ONCE, room)], len(given[min(AT_ONCE, room) :])
    read = await asyncio.gather(*(_read(one, texts, now) for one in taking))
    files: list[OwnFile] = []
    refused: list[str] = []
    for one, outcome in zip(taking, read, strict=True):
        if isinstance(outcome, str):
            refused.append(f"“{plain_name(one.name)}” was not added: {outcome}.")
            continue
        twin = next((file for file in (*known, *files) if file.card.text_hash == outcome.card.text_hash), None)
        if twin is not None:
            refused.append(f"“{outcome.name}” was not added: it says the same as “{twin.name}”, which is here already.")
            continue
        files.append(_told_apart(outcome, (*known, *files)))
    if beyond:
        bound = f"a chat holds up to {MAX_FILES}" if room < AT_ONCE else f"one message brings up to {AT_ONCE}"
        refused.append(f"{beyond} {'file was' if beyond == 1 else 'files were'} not added: {bound}.")
    return Taken(tuple(files), tuple(refused))


async def _read(given: Given, texts: Texts, now: str) -> OwnFile | str:
    """Read one file; or say why it is none of ours."""
    if not given.body:
        return "it is empty"
    if len(given.body) > MAX_BYTES:
        return f"it is larger than {MAX_BYTES // 1_000_000} MB"
    name = plain_name(given.name)
    # By its content, so that the same file is the same source wherever it is given; the name is for people.
    url = f"{SCHEME}{sha256(given.body).hexdigest()[:16]}/{quote(name)}"
    try:
        document = await read_document(given.body, "", url, FILE_S)
    except SourceError as error:
        return error.reason
    text_hash = await texts.put(document.text)
    card = SourceCard(
        id=Source.id_of(url),
        url=url,
        title=document.title,
        kind="upload",
        author=document.author,
        site=document.site,
        published=document.published,
        retrieved=now,
        text_hash=text_hash,
        language=document.language,
        pages=document.page_starts,
    )
    return OwnFile(name=name, card=card, gaps=document.gaps)


def plain_name(name: str) -> str:
    """Make a name of a file of what a browser gives: no folders, nothing that can't be seen, and no endless ones."""
    last = _PATH.split(unicodedata.normalize("NFC", name))[-1]
    shown = "".join(" " if letter.isspace() else letter for letter in last)
    shown = "".join(letter for letter in shown if not unicodedata.category(letter).startswith("C"))
    shown = " ".join(shown.split()) or "file"
    if len(shown) <= NAME_LENGTH:
        return shown
    stem, dot, ending = shown.rpartition(".")
    if not dot or len(ending) > 10:
        return f"{shown[: NAME_LENGTH - 1]}…"
    return f"{stem[: NAME_LENGTH - len(ending) - 2]}….{ending}"


def _told_apart(file: OwnFile, others: Sequence[OwnFile]) -> OwnFile:
    """Give a file a name that no other one of the chat has."""
    names = {other.name for other in others}
    stem, dot, ending = file.name.rpartition(".")
    name, number = file.name, 1
    while name in names:
        number += 1
        name = f"{stem} ({number}).{ending}" if dot and stem else f"{file.name} ({number})"
    return file if name == file.name else file.model_copy(update={"name": name})
