"""Rows of the job ledger, page by page, and their deletion in one transaction."""

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from agents.api.ledger import Entry


@dataclass(frozen=True)
class Row:
    """A job of the ledger, as far as lists need it."""

    id: str
    created: str
    status: str


async def rows_of(path: Path, owner: str) -> list[Row]:
    """List the jobs of an owner, newest first."""

    def read() -> list[Row]:
        with closing(sqlite3.connect(path, timeout=10)) as db:
            found = db.execute(
                "SELECT id, created, status FROM dossier_jobs WHERE owner = ? ORDER BY created DESC, rowid DESC",
                (owner,),
            )
            return [Row(*row) for row in found]

    return await asyncio.to_thread(read)


async def entries(path: Path, ids: Sequence[str]) -> dict[str, Entry]:
    """Read some entries; one that can't be read is left out."""

    def read() -> list[str]:
        marks = ",".join("?" * len(ids))
        with closing(sqlite3.connect(path, timeout=10)) as db:
            found = db.execute(f"SELECT entry FROM dossier_jobs WHERE id IN ({marks})", tuple(ids))
            return [text for (text,) in found]

    kept: dict[str, Entry] = {}
    for text in await asyncio.to_thread(read) if ids else ():
        try:
            entry = Entry.model_validate_json(text)
        except ValidationError:
            continue
        kept[entry.id] = entry
    return kept


async def delete(path: Path, owner: str, ids: Sequence[str]) -> int:
    """Delete jobs with all rows that hang on them, all or none; tells how many jobs went."""

    def work() -> int:
        with closing(sqlite3.connect(path, timeout=10)) as db, db:
            linked = [
                name
                for (name,) in db.execute(
                    "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'research_%'"
                )
                if any(column[1] == "job_id" for column in db.execute(f"PRAGMA table_info({name})"))
            ]
            gone = 0
            for job_id in ids:
                found = db.execute("DELETE FROM dossier_jobs WHERE id = ? AND owner = ?", (job_id, owner)).rowcount
                gone += found
                for table in linked if found else ():
                    db.execute(f"DELETE FROM {table} WHERE job_id = ?", (job_id,))
            return gone

    return await asyncio.to_thread(work)
