"""The blob store: texts by their digest and reports by job, as plain files in the data folder."""

import asyncio
import contextlib
import os
import re
import tempfile
from collections.abc import Awaitable, Callable, Collection
from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from agents.contracts.frozen import digest
from agents.contracts.report import ReportDocument
from agents.core.errors import SourceError

_NAME = re.compile(r"[0-9a-f]{8,64}")
_HASH = re.compile(r'\\*"text_hash\\*": ?\\*"([0-9a-f]{8,64})')


def hashes_in(record: str) -> set[str]:
    """Name the stored texts that a record, JSON or JSON inside JSON, refers to."""
    return set(_HASH.findall(record))


class BlobStore:
    """Texts and reports in a folder. Every file appears whole or not at all."""

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
        path = self._text_path(text_hash)
        try:
            return await asyncio.to_thread(_read, path)
        except OSError as error:
            raise SourceError(text_hash, "its stored copy is gone") from error

    async def drop(self, text_hash: str) -> bool:
        """Delete a text that nothing needs any more; False where there is none, or others share it."""
        path = self._text_path(text_hash)
        try:
            await asyncio.to_thread(path.unlink)
        except OSError:
            return False
        return True

    async def save_report(self, document: ReportDocument) -> Path:
        """Store a report; a later one of the same job takes its place."""
        path = self._report_path(document.job_id)
        await asyncio.to_thread(_write, path, document.model_dump_json(indent=1))
        return path

    async def report(self, job_id: str) -> ReportDocument | None:
        """Return a stored report; None when there is none that can be read."""
        if not _NAME.fullmatch(job_id):
            return None
        try:
            return ReportDocument.model_validate_json(await asyncio.to_thread(_read, self._report_path(job_id)))
        except (OSError, ValidationError):
            return None

    async def forget_report(self, job_id: str) -> None:
        if _NAME.fullmatch(job_id):
            await asyncio.to_thread(self._report_path(job_id).unlink, missing_ok=True)

    async def reports(self, before: datetime) -> list[str]:
        """Name the jobs whose reports were last written before a time."""
        return [path.stem for path in await asyncio.to_thread(_old, self.folder / "reports", "*.json", before)]

    async def quoted_in(self, job_ids: Collection[str]) -> set[str]:
        """Name the texts that the reports of some jobs quote."""
        paths = [self._report_path(job_id) for job_id in job_ids]
        return await asyncio.to_thread(lambda: {name for path in paths for name in hashes_in(_read(path))})

    async def sweep(self, in_use: Callable[[Collection[str]], Awaitable[set[str]]], before: datetime) -> int:
        """Delete the texts that nobody uses, of those last put before a time; says how many there were.

        A text is put a moment before its use is written down, so younger ones stay.
        """
        gone = 0
        for folder in await asyncio.to_thread(lambda: sorted((self.folder / "texts").glob("??"))):
            old = {path.stem: path for path in await asyncio.to_thread(_old, folder, "*.txt", before)}
            for name in old.keys() - await in_use(old) if old else ():
                await asyncio.to_thread(old[name].unlink, missing_ok=True)
                gone += 1
        return gone

    def _text_path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise SourceError(name, "that is no name of a stored text")
        return self.folder / "texts" / name[:2] / f"{name}.txt"

    def _report_path(self, job_id: str) -> Path:
        return self.folder / "reports" / f"{job_id}.json"


def _old(folder: Path, pattern: str, before: datetime) -> list[Path]:
    found = []
    for path in folder.glob(pattern):
        with contextlib.suppress(FileNotFoundError):  # another process may be sweeping too
            if path.stat().st_mtime < before.timestamp():
                found.append(path)
    return found


def _read(path: Path) -> str:
    # Bytes, not text mode: line ends must come back as they were, since spans count characters.
    return path.read_bytes().decode("utf-8", "surrogatepass")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".part-")
    with os.fdopen(handle, "wb") as file:
        file.write(text.encode("utf-8", "surrogatepass"))
    Path(name).replace(path)
