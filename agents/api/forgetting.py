"""Texts of files that users gave: dropped once no report needs them, no run may read them, and no chat names them."""

import asyncio
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from agents.api.lookup import sources_of
from agents.contracts.job import OVER
from agents.jobs.job import Job
from agents.jobs.runtime import JobRuntime


def given_to(jobs: Iterable[Job]) -> set[str]:
    """Name the texts of users' files that jobs were given."""
    contracts = (job.commission.contract for job in jobs)
    return {file.card.text_hash for contract in contracts if contract for file in contract.brief.files}


async def forget_texts(jobs: JobRuntime, chats: Path, hashes: Iterable[str]) -> tuple[str, ...]:
    """Drop those of these texts that nothing needs any more; names them.

    A text is needed by a report that quotes it, by a run that is not over, and by a chat that still names the file.

    Args:
        jobs: all jobs.
        chats: the file of the chats.
        hashes: names of texts.
    """
    dropped = []
    for name in sorted(set(hashes)):
        if not await _needed(jobs, chats, name) and await jobs.blobs.drop(name):
            dropped.append(name)
    return tuple(dropped)


async def _needed(jobs: JobRuntime, chats: Path, name: str) -> bool:
    if await asyncio.to_thread(_named_in_a_chat, chats, name):
        return True
    for job in await jobs.given_texts(name):
        if job.status not in OVER:
            return True
        sources = {card.id for card in sources_of(job).values() if card.text_hash == name}
        document = await jobs.blobs.report(job.id) if sources else None
        if document is not None and any(one.source_id in sources for one in document.references):
            return True
    return False


def _named_in_a_chat(chats: Path, name: str) -> bool:
    if not chats.exists():
        return False
    with closing(sqlite3.connect(chats, timeout=10)) as db:
        has_talks = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'dossier_talks'").fetchone()
        found = db.execute("SELECT 1 FROM dossier_talks WHERE talk LIKE ?", (f"%{name}%",)) if has_talks else None
        return found is not None and found.fetchone() is not None
