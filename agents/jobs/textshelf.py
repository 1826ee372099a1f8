"""Texts and reports in the database: for several machines, which share no folder."""

from pathlib import Path

import sqlalchemy as sa

from agents.contracts.base import digest
from agents.contracts.report import ReportDocument
from agents.errors import SourceError
from agents.jobs import tables
from agents.jobs.shelf import Shelf
from agents.jobs.store import Store


class DatabaseShelf(Shelf):
    """The shelf of jobs that run on more than one machine. Reports are kept with all else that a job came to."""

    def __init__(self, folder: Path, store: Store) -> None:
        super().__init__(folder)
        self.store = store

    async def put(self, text: str) -> str:
        name = digest(text)
        row = {"hash": name, "body": text.encode("utf-8", "surrogatepass")}
        async with self.store.database.begin() as connection:
            await connection.execute(self.store.insert(tables.texts), [row])
        return name

    async def get(self, text_hash: str) -> str:
        query = sa.select(tables.texts.c.body).where(tables.texts.c.hash == text_hash)
        async with self.store.database.reading() as connection:
            body = (await connection.execute(query)).scalar_one_or_none()
        if body is None:
            raise SourceError(text_hash, "its stored copy is gone")
        return bytes(body).decode("utf-8", "surrogatepass")

    async def keep_report(self, document: ReportDocument) -> Path:
        return self.folder

    async def report(self, job_id: str) -> ReportDocument | None:
        return await self.store.report(job_id)
