"""Files on their way into the chat: bounded before they are read, kept even when empty, and never shown as a page.

Chainlit reads a whole upload before it looks at its size, fails on an empty one, and gives HTML back as HTML.
"""

import mimetypes
import uuid
from typing import Any

import chainlit.server as chainlit_server
from chainlit.element import Element
from chainlit.session import WebsocketSession
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agents.search.uploads import MAX_BYTES

UPLOADS = "/project/file"
FRAMING = 100_000
"""Bytes of a request beside the file itself, at most."""
_SANDBOX = "sandbox; default-src 'none'"
TOO_LARGE = f"Files may have up to {MAX_BYTES // 1_000_000} MB."


class UploadBounds:
    """Refuses uploads that are too large while they come, and gives files back as downloads."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it with 413."""
        if scope["type"] != "http" or not scope["path"].startswith(UPLOADS):
            await self.app(scope, receive, send)
            return
        said = Headers(scope=scope).get("content-length", "")
        if said.isdecimal() and int(said) > MAX_BYTES + FRAMING:
            await JSONResponse({"detail": TOO_LARGE}, 413)(scope, receive, send)
            return
        read = 0

        async def bounded() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            # A body that says no length, or a wrong one, ends here as if the browser had gone.
            return {"type": "http.disconnect"} if read > MAX_BYTES + FRAMING else message

        async def harmless(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["content-security-policy"] = _SANDBOX
                headers["x-content-type-options"] = "nosniff"
            await send(message)

        await self.app(scope, bounded, harmless)


def take_uploads() -> None:
    """Teach Chainlit's sessions to keep empty files, so that the chat can say that they are; once."""
    if getattr(WebsocketSession, "dossier_uploads", False):
        return
    WebsocketSession.dossier_uploads = True
    persist = WebsocketSession.persist_file

    async def persist_file(
        self: WebsocketSession, name: str, mime: str, path: str | None = None, content: bytes | str | None = None
    ) -> dict[str, Any]:
        if path or content:
            kept: dict[str, Any] = await persist(self, name, mime, path, content)
            return kept
        self.files_dir.mkdir(exist_ok=True)
        file_id = str(uuid.uuid4())
        place = (self.files_dir / file_id).with_suffix(mimetypes.guess_extension(mime) or "")
        place.touch()
        self.files[file_id] = {"id": file_id, "path": place, "name": name, "type": mime, "size": 0}
        return {"id": file_id}

    WebsocketSession.persist_file = persist_file
    # What a file is, its bytes tell when it is read; the browser's word for it counts for nothing.
    chainlit_server.validate_file_mime_type = lambda file, spec: None
    # A file that was dropped is shown by its name: a viewer of its pages would push the talk off the screen.
    Element.infer_type_from_mime = classmethod(lambda cls, mime_type: "file")
