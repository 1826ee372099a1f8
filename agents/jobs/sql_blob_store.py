"""Texts and reports in the database: for several machines, which share no folder."""

from collections.abc import Awaitable, Callable, Collection
from datetime import datetime
from pathlib import Path

import sqlalchemy as sa

from agents.contracts.frozen import digest
from agents.contracts.report import ReportDocument
from agents.core.errors import SourceError
from agents.jobs import schema as tables
from agents.jobs.blob_store import BlobStore
from agents.jobs.store import Store, now


class DatabaseBlobStore(BlobStore):
    """The blob store of jobs that run on more than one machine; reports are in the job store."""

    def __init__(self, folder: Path, store: Store) -> None:
        super().__init__(folder)
        self.store = store

    async def put(self, text: str) -> str:
        name = digest(text)
        row = {"hash": name, "body": text.encode("utf-8", "surrogatepass"), "at": now()}
        query = self.store.bare_insert(tables.texts)
        again = query.on_conflict_do_update(index_elements=["hash"], set_={"at": query.excluded["at"]})
        async with self.store.database.begin() as connection:
            await connection.execute(again, [row])
        return name

    async def get(self, text_hash: str) -> str:
        query = sa.select(tables.texts.c.body).where(tables.texts.c.hash == text_hash)
        async with self.store.database.reading() as connection:
            body = (await connection.execute(query)).scalar_one_or_none()
        if body is None:
            raise SourceError(text_hash, "its stored copy is gone")
        return bytes(body).decode("utf-8", "surrogatepass")

    async def drop(self, text_hash: str) -> bool:
        # Other machines share these texts, and their chats are not known here.
        return False

    async def save_report(self, document: ReportDocument) -> Path:
        return self.folder

    async def forget_report(self, job_id: str) -> None:
        """Nothing to do: it goes with its job."""

    async def reports(self, before: datetime) -> list[str]:
        return []

    async def quoted_in(self, job_ids: Collection[str]) -> set[str]:
        return set()

    async def sweep(self, in_use: Callable[[Collection[str]], Awaitable[set[str]]], before: datetime) -> int:
        texts, uses = tables.texts, tables.text_uses
        old = texts.c.at.is_(None) | (texts.c.at < before)
        unused = ~sa.exists().where(uses.c.hash == texts.c.hash)
        async with self.store.database.begin() as connection:
            done = await connection.execute(sa.delete(texts).where(old, unused))
        return int(done.rowcount)

    async def report(self, job_id: str) -> ReportDocument | None:
        return await self.store.report(job_id)
