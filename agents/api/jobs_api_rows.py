"""Rows of the job ledger, page by page, and their deletion in one transaction."""

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PLACES = {
    "title": "title",
    "status": "status",
    "stage": "tree.stage",
    "grade": "grade",
    "created": "created",
    "seconds": "tree.seconds",
    "tokens": "tree.usage.tokens",
    "cost_usd": "tree.usage.cost_usd",
    "note": "note",
}
"""Fields of a list's row, and where an entry holds them."""


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


async def described(path: Path, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Describe some jobs for a list; trees and sources, which are most of an entry, are not read."""
    fields = ", ".join(f"json_extract(entry, '$.{place}')" for place in _PLACES.values())

    def read() -> dict[str, dict[str, Any]]:
        marks = ",".join("?" * len(ids))
        with closing(sqlite3.connect(path, timeout=10)) as db:
            found = db.execute(f"SELECT id, {fields} FROM dossier_jobs WHERE id IN ({marks})", tuple(ids))
            return {job_id: {"job_id": job_id, **dict(zip(_PLACES, rest, strict=True))} for job_id, *rest in found}

    told = await asyncio.to_thread(read) if ids else {}
    for row in told.values():
        row["stage"], row["seconds"] = row["stage"] or "completed", row["seconds"] or 0.0
    return told


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
