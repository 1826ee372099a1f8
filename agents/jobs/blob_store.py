"""The blob store: texts by their digest, as plain files in the data folder."""

import asyncio
import contextlib
import os
import re
import tempfile
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path

from agents.contracts.frozen import digest
from agents.core.errors import SourceError

_NAME = re.compile(r"[0-9a-f]{8,64}")
_HASH = re.compile(r'\\*"text_hash\\*": ?\\*"([0-9a-f]{8,64})')


def hashes_in(record: str) -> set[str]:
    """Name the stored texts that a record, JSON or JSON inside JSON, refers to."""
    return set(_HASH.findall(record))


class BlobStore:
    """Texts in a folder. Every file appears whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    async def put(self, text: str) -> str:
        name = digest(text)
        path = self._text_path(name)
        try:
            os.utime(path)  # in use again: not to be swept as something that nobody has read for long
        except FileNotFoundError:
            await asyncio.to_thread(_write, path, text)
        return name

    async def get(self, text_hash: str) -> str:
        """Return a stored text; a `SourceError` where there is none."""
        try:
            # Bytes, not text mode: line ends must come back as they were, since spans count characters.
            body = await asyncio.to_thread(self._text_path(text_hash).read_bytes)
        except OSError as error:
            raise SourceError(text_hash, "its stored copy is gone") from error
        return body.decode("utf-8", "surrogatepass")

    async def drop(self, text_hash: str) -> bool:
        """Delete a text that nothing needs any more; False where there is none, or others share it."""
        try:
            await asyncio.to_thread(self._text_path(text_hash).unlink)
        except OSError:
            return False
        return True

    async def sweep(self, in_use: Callable[[], Awaitable[set[str]]], before: datetime) -> int:
        """Delete the texts that nobody uses, of those last put before a time; says how many there were.

        A text is put a moment before its use is written down, so younger ones stay.
        """
        return await asyncio.to_thread(_swept, self.folder, await in_use(), before.timestamp())

    def _text_path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise SourceError(name, "that is no name of a stored text")
        return self.folder / "texts" / name[:2] / f"{name}.txt"


def _swept(folder: Path, in_use: set[str], before: float) -> int:
    gone = 0
    for path in folder.glob("texts/??/*.txt"):
        with contextlib.suppress(FileNotFoundError):  # another process may be sweeping too
            if path.stem not in in_use and path.stat().st_mtime < before:
                path.unlink()
                gone += 1
    return gone


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".part-")
    with os.fdopen(handle, "wb") as file:
        file.write(text.encode("utf-8", "surrogatepass"))
    Path(name).replace(path)
