"""What outlives a job: texts by their digest, reports by job, as plain files in the data folder."""

import asyncio
import os
import re
import tempfile
from pathlib import Path

from pydantic import ValidationError

from agents.contracts.base import digest
from agents.contracts.report import ReportDocument
from agents.errors import SourceError

_NAME = re.compile(r"[0-9a-f]{8,64}")


class Shelf:
    """Texts and reports in a folder. Every file appears whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    async def put(self, text: str) -> str:
        """Keep a text and return its digest."""
        name = digest(text)
        path = self._text_path(name)
        if not path.exists():
            await asyncio.to_thread(_write, path, text)
        return name

    async def get(self, text_hash: str) -> str:
        """Return a kept text.

        Raises:
            SourceError: no such text is kept.
        """
        path = self._text_path(text_hash)
        try:
            return await asyncio.to_thread(_read, path)
        except OSError as error:
            raise SourceError(text_hash, "its stored copy is gone") from error

    async def keep_report(self, document: ReportDocument) -> Path:
        """Keep a report; a later one of the same job takes its place."""
        path = self._report_path(document.job_id)
        await asyncio.to_thread(_write, path, document.model_dump_json(indent=1))
        return path

    async def report(self, job_id: str) -> ReportDocument | None:
        """Return a kept report; None when there is none that can be read."""
        if not _NAME.fullmatch(job_id):
            return None
        try:
            return ReportDocument.model_validate_json(await asyncio.to_thread(_read, self._report_path(job_id)))
        except (OSError, ValidationError):
            return None

    def _text_path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise SourceError(name, "that is no name of a stored text")
        return self.folder / "texts" / name[:2] / f"{name}.txt"

    def _report_path(self, job_id: str) -> Path:
        return self.folder / "reports" / f"{job_id}.json"


def _read(path: Path) -> str:
    # Bytes, not text mode: line ends must come back as they were, since spans count characters.
    return path.read_bytes().decode("utf-8", "surrogatepass")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".part-")
    with os.fdopen(handle, "wb") as file:
        file.write(text.encode("utf-8", "surrogatepass"))
    Path(name).replace(path)
