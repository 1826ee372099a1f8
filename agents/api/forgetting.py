"""Texts of files that users gave: dropped once no report needs them, no run may read them, and no chat names them."""

import asyncio
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from agents.api.ledger import Entry, Ledger
from agents.jobs.blob_store import Shelf


def given_to(entries: Iterable[Entry]) -> set[str]:
    """Name the texts of users' files that jobs were given."""
    return {file.card.text_hash for one in entries if one.contract for file in one.contract.brief.files}


async def forget_texts(ledger: Ledger, shelf: Shelf, hashes: Iterable[str]) -> tuple[str, ...]:
    """Drop those of these texts that nothing needs any more; names them.

    A text is needed by a report that quotes it, by a run that is not over, and by a chat that still names the file.
    """
    dropped = []
    for name in sorted(set(hashes)):
        if not await _needed(ledger, shelf, name) and await shelf.drop(name):
            dropped.append(name)
    return tuple(dropped)


async def _needed(ledger: Ledger, shelf: Shelf, name: str) -> bool:
    if await asyncio.to_thread(_named_in_a_chat, ledger.path, name):
        return True
    for entry in await ledger.mentioning(name):
        if not entry.over:
            return True
        sources = {card.id for card in entry.sources if card.text_hash == name}
        document = await shelf.report(entry.id) if sources else None
        if document is not None and any(one.source_id in sources for one in document.references):
            return True
    return False


def _named_in_a_chat(path: Path, name: str) -> bool:
    with closing(sqlite3.connect(path, timeout=10)) as db:
        has_talks = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'dossier_talks'").fetchone()
        found = db.execute("SELECT 1 FROM dossier_talks WHERE talk LIKE ?", (f"%{name}%",)) if has_talks else None
        return found is not None and found.fetchone() is not None
