"""The chat's history in one SQLite file: Chainlit's data layer, with what the stock one loses on SQLite put right.

Chainlit 2.12 writes every change as a task of its own, in no order; stores lists and dicts that SQLite cannot bind; and
loads every step of every thread for each page of the side bar. Each method here mends one of these.
"""

import asyncio
import json
import logging
import re
import sqlite3
import urllib.parse
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from chainlit.data.sql_alchemy import SQLAlchemyDataLayer
from chainlit.data.storage_clients.base import BaseStorageClient
from chainlit.element import Element, ElementDict
from chainlit.step import StepDict
from chainlit.types import PageInfo, PaginatedResponse, Pagination, ThreadDict, ThreadFilter
from pydantic import BaseModel, ValidationError

from agents.chat.state import ChatState

log = logging.getLogger(__name__)

THREAD_NAME = 80  # characters of a thread's name in the side bar; Chainlit would take the whole first message

Row = dict[str, Any]  # one row as the database gives it
K = TypeVar("K", bound=BaseModel)

_LISTED = """
WITH used AS (
  SELECT t.*, COALESCE((SELECT MAX("createdAt") FROM steps s WHERE s."threadId" = t.id), t."createdAt") AS updated
  FROM threads t WHERE t."userId" = :user AND (lower(t.name) LIKE :like ESCAPE '\\' OR :like = '%%' OR EXISTS(
    SELECT 1 FROM steps s WHERE s."threadId" = t.id AND lower(s.output) LIKE :like ESCAPE '\\')))
SELECT id, name, updated AS "createdAt", "userId", "userIdentifier", tags, metadata FROM used
WHERE :after IS NULL OR (updated, id) < (SELECT updated, id FROM used WHERE id = :after)
ORDER BY updated DESC, id DESC LIMIT :most
"""
_NAMES = """
SELECT name FROM threads WHERE id != :id AND (name = :name OR name LIKE :more)
AND "userId" IS COALESCE(:user, (SELECT "userId" FROM threads WHERE id = :id))
"""
_OWNER = """
SELECT e."objectKey" AS key, e.name, t."userIdentifier" AS owner
FROM elements e JOIN threads t ON t.id = e."threadId" WHERE e.id = :id
"""


def _decoded(row: Row, **defaults: Any) -> Row:
    """Read the columns of a row that hold JSON; these stand for what is empty."""
    return row | {name: json.loads(row[name]) if row.get(name) else default for name, default in defaults.items()}


class History(SQLAlchemyDataLayer):  # type: ignore[misc]  # Chainlit is untyped to us
    """Threads, messages and elements of the chat, and how each talk stands."""

    storage_provider: "Uploads"

    def __init__(self, path: Path, uploads: "Uploads") -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        super().__init__(f"sqlite+aiosqlite:///{path}", storage_provider=uploads)
        self._write = asyncio.Lock()
        self._deleted: set[str] = set()
        self.on_deleted: Callable[[str, str, set[str]], Awaitable[None]] | None = None
        """Told of a chat that was deleted: its id, whose it was, and the texts of files that it named."""

        self._thread = ThreadPoolExecutor(1, "chat-history")  # which alone uses the connection
        self._db = sqlite3.connect(path, timeout=10.0, check_same_thread=False)
        self._db.row_factory = sqlite3.Row
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL"):
            self._db.execute(f"PRAGMA {pragma}")
        self._db.executescript(Path(__file__).with_name("history.sql").read_text("utf-8"))

    # ---- writing, in order

    async def create_step(self, step_dict: StepDict) -> None:
        """Keep a step; versions of one are written in the order in which they came."""
        async with self._write:
            if step_dict["threadId"] not in self._deleted:
                await super().create_step(step_dict)

    async def update_step(self, step_dict: StepDict) -> None:
        await self.create_step(step_dict)

    async def create_element(self, element: Element) -> None:
        """Keep an element; never by fetching an address, which the stock layer would do from the server."""
        fetched = element.url and not element.path and not element.content
        async with self._write:  # one file in memory at a time, however many a message brings
            if not fetched and element.thread_id not in self._deleted:
                await super().create_element(element)

    async def execute_sql(self, query: str, parameters: dict[str, Any]) -> Any:
        """Run a statement, which goes to its thread and back once; the stock layer goes six times for each of them.

        Lists and dicts are stored as JSON, which SQLite cannot bind by itself. What can't be run is logged, and gives None.
        """
        bound = {name: json.dumps(one) if isinstance(one, (list, dict)) else one for name, one in parameters.items()}
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._ran, query, bound)
        except sqlite3.Error as error:
            log.warning("the chat's history could not be read or written: %s", error)
            return None

    def _ran(self, query: str, bound: dict[str, Any]) -> Any:
        with self._db as db:
            cursor = db.execute(query, bound)
            return cursor.rowcount if cursor.description is None else self.clean_result(list(map(dict, cursor)))

    async def update_thread(
        self, thread_id: str, name: str | None = None, user_id: str | None = None, **more: Any
    ) -> None:
        """Keep a thread, its name cut to what the side bar shows; one that was deleted does not come back."""
        if thread_id in self._deleted:
            return
        # A chat that begins with a file has no words to be named by: it is named by the file (see `Chat.message`).
        short = (re.sub(r"\s+", " ", name).strip()[:THREAD_NAME] if name else "") or None
        if short is not None:
            short = await self._told_apart(thread_id, short, user_id)
        await super().update_thread(thread_id, name=short, user_id=user_id, **more)

    async def _told_apart(self, thread_id: str, name: str, user_id: str | None) -> str:
        """Number a name that another chat of the user has: the same question asked twice is two lines in the side bar."""
        taken = await self.execute_sql(_NAMES, {"id": thread_id, "name": name, "more": f"{name} (%", "user": user_id})
        names = {row["name"] for row in taken or []}
        if name not in names:
            return name
        return next(one for number in range(2, len(names) + 3) if (one := f"{name} ({number})") not in names)

    async def thread_name(self, thread_id: str) -> str:
        """Return the name of a thread; empty when it has none yet."""
        return (await self._row("SELECT name FROM threads WHERE id = :id", id=thread_id)).get("name") or ""

    async def _row(self, query: str, **values: Any) -> Row:
        """Give the one row that is asked for; an empty one where there is none."""
        return dict(next(iter(await self.execute_sql(query, values) or []), {}))

    async def delete_thread(self, thread_id: str) -> None:
        """Forget a thread and how its talk stood; reports of its runs stay in the blob store.

        An open page, or a run that goes on, would else write it anew: Chainlit makes a thread of whatever is written.
        """
        self._deleted.add(thread_id)
        thread = await self._row("SELECT * FROM threads WHERE id = :id", id=thread_id)
        texts = (await self.kept(ChatState, thread_id)).texts
        await super().delete_thread(thread_id)
        await self.execute_sql("DELETE FROM dossier_kept WHERE key = :id", {"id": thread_id})
        if self.on_deleted is not None:
            await self.on_deleted(thread_id, thread.get("userIdentifier") or "", texts)

    async def holds(self, step_id: str) -> bool:
        """Tell whether a message is kept."""
        return bool(await self._row("SELECT id FROM steps WHERE id = :id", id=step_id))

    async def put_props(self, element_id: str, props: Row) -> None:
        """Put other props in the place of those of a kept element."""
        query = "UPDATE elements SET props = :props WHERE id = :id"
        await self.execute_sql(query, {"id": element_id, "props": json.dumps(props)})

    # ---- how a talk stands, by the id of its thread, and what a user set, by the user's name

    async def kept(self, kind: type[K], key: str) -> K:
        """Return what was kept; what never was, or can't be read any more, is as if it began."""
        query = "SELECT value FROM dossier_kept WHERE kind = :kind AND key = :key"
        written = (await self._row(query, kind=kind.__name__, key=key)).get("value", "{}")
        try:
            return kind.model_validate_json(written)
        except ValidationError as error:
            log.warning("a kept %s can't be read and begins anew: %s", kind.__name__, error)
            return kind()

    async def keep(self, key: str, value: BaseModel) -> None:
        """Keep something; the talk of a deleted thread does not come back."""
        if key not in self._deleted:
            kept = {"kind": type(value).__name__, "key": key, "value": value.model_dump_json()}
            await self.execute_sql("INSERT OR REPLACE INTO dossier_kept VALUES (:kind, :key, :value)", kept)

    # ---- reading

    async def get_thread(self, thread_id: str) -> ThreadDict | None:
        """Return a thread with its steps and elements, JSON columns decoded."""
        thread: Any = await self._row("SELECT * FROM threads WHERE id = :id", id=thread_id)
        if not thread:
            return None
        thread = _decoded(thread, metadata={}, tags=None)
        of_thread = 'SELECT * FROM {} WHERE "threadId" = :id ORDER BY {}'
        steps = await self.execute_sql(of_thread.format("steps", '"createdAt", rowid'), {"id": thread_id}) or []
        elements = await self.execute_sql(of_thread.format("elements", "rowid"), {"id": thread_id}) or []
        thread["steps"] = [_step(dict(row)) for row in steps]
        thread["elements"] = [await self._element(dict(row)) for row in elements]
        return thread

    async def _element(self, row: Row) -> ElementDict:
        row = _decoded(row, props={}, playerConfig=None)
        if row.get("objectKey"):
            row["url"] = await self.storage_provider.get_read_url(row["objectKey"])
        return row

    async def get_element(self, thread_id: str, element_id: str) -> ElementDict | None:
        row = await self._row('SELECT * FROM elements WHERE id = :e AND "threadId" = :t', e=element_id, t=thread_id)
        return await self._element(row) if row else None

    async def element_owner(self, element_id: str) -> Row:
        """Say where a kept file lies and whose it is: key, name, owner."""
        return await self._row(_OWNER, id=element_id)

    async def list_threads(self, pagination: Pagination, filters: ThreadFilter) -> PaginatedResponse[ThreadDict]:
        """List a user's threads, last used first; searches names and messages."""
        wanted = re.sub(r"([\\%_])", r"\\\1", (filters.search or "").lower())
        values = {
            "user": filters.userId,
            "like": f"%{wanted}%",
            "after": pagination.cursor,
            "most": pagination.first + 1,
        }
        rows = await self.execute_sql(_LISTED, values) or []
        page = [
            _decoded(row, metadata={}, tags=None) | {"steps": [], "elements": []} for row in rows[: pagination.first]
        ]
        start, end = (page[0]["id"], page[-1]["id"]) if page else (None, None)
        info = PageInfo(hasNextPage=len(rows) > pagination.first, startCursor=start, endCursor=end)
        return PaginatedResponse(pageInfo=info, data=page)


def _step(row: Row) -> StepDict:
    row = _decoded(row, metadata={}, generation=None, tags=None, modes=None)
    for name in ("waitForAnswer", "isError", "defaultOpen", "autoCollapse"):
        row[name] = bool(row.get(name))
    # What was being streamed when the process ended is not streaming any more.
    row["streaming"] = False
    if row.get("showInput") in (None, "false", ""):
        row["showInput"] = False
    return {name: value for name, value in row.items() if value is not None or name == "parentId"}


class Uploads(BaseStorageClient):  # type: ignore[misc]
    """Files of elements in a folder. A key is `user/element/name`; the name is the uploader's, never part of a path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)

    @staticmethod
    def _parts(object_key: str) -> tuple[str, str]:
        parts = object_key.split("/", 2)
        element = re.sub(r"[^0-9a-zA-Z-]", "_", parts[1] if len(parts) > 1 else parts[0])
        return element, parts[2] if len(parts) > 2 else "file"

    def path(self, object_key: str) -> Path:
        """Say where the file of a key lies."""
        return self.folder / self._parts(object_key)[0]

    async def upload_file(self, object_key: str, data: bytes | str, **about: Any) -> dict[str, Any]:
        """Keep a file."""
        raw = data.encode() if isinstance(data, str) else data
        await asyncio.to_thread(self.path(object_key).write_bytes, raw)
        return {"object_key": object_key, "url": await self.get_read_url(object_key)}

    async def get_read_url(self, object_key: str) -> str:
        """Say the address of a kept file: our own route, which checks the owner."""
        element, name = self._parts(object_key)
        return f"/files/{element}/{urllib.parse.quote(name, safe='')}"

    async def delete_file(self, object_key: str) -> bool:
        """Forget a file."""
        await asyncio.to_thread(self.path(object_key).unlink, missing_ok=True)
        return True

    async def close(self) -> None:
        """Nothing is held open."""
