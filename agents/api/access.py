"""What every request passes before a route or Chainlit sees it.

What a browser may do with the server: own origin only, own assets only. Chainlit checks no origin on its socket, sends no
security headers, and its page links to fonts and styles elsewhere.

Files on their way into the chat: bounded before they are read, kept even when empty, and never shown as a page. Chainlit
reads a whole upload before it looks at its size, fails on an empty one, and gives HTML back as HTML.
"""

import os
import re
from collections.abc import Callable
from urllib.parse import urlsplit

import chainlit.server as chainlit_server
from chainlit.auth import create_jwt, get_token_from_cookies, set_auth_cookie
from chainlit.chat_context import chat_contexts
from chainlit.element import Element
from chainlit.session import WebsocketSession, ws_sessions_id
from chainlit.user import User
from fastapi import HTTPException, Request, Response
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agents.api.app_state import cost_of
from agents.api.error_responses import ApiError, as_api_error
from agents.api.serve import LOCAL, on_loopback
from agents.core.errors import TooMany
from agents.core.transport import LOOPBACK
from agents.search.uploads import MAX_BYTES


def answering(send: Send, change: Callable[[MutableHeaders], None]) -> Send:
    """Send an answer on, its headers changed."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            change(MutableHeaders(scope=message))
        await send(message)

    return sending


UPLOADS, IMPORT = "/project/file", "/memory/import"
FRAMING = 100_000  # bytes of a request beside the file itself, at most
MAX_BODY = 1_000_000  # bytes of the body of any other request: read before it is known who asks
TOO_LARGE = f"Files may have up to {MAX_BYTES // 1_000_000} MB."
MOST_HELD = 2_000_000_000
"""Bytes of files that lie on the disk for the open pages of one user, at most; each page's go an hour after it closed."""
TOO_MANY = "Too many files lie here already. Close other chats, or try again in an hour."
TOO_LONG = f"The body is longer than {MAX_BODY:,} bytes. Put long texts into your library."


CSP = (
    # unsafe-eval: Chainlit compiles custom elements in the browser; unsafe-inline: its page sets its theme in a script.
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; frame-src 'self' blob:; "
    "worker-src 'self' blob:; frame-ancestors 'none'; object-src 'none'; base-uri 'self'; form-action 'self'"
)
"""Nothing is loaded from, or sent to, anywhere else: text out of a web page cannot leak through an image's address."""
_SANDBOX = "sandbox; default-src 'none'"  # what is uploaded is given back as a harmless download
_HEADERS = {
    "content-security-policy": CSP, "x-content-type-options": "nosniff", "referrer-policy": "same-origin",
    "x-frame-options": "DENY", "cross-origin-opener-policy": "same-origin",
}  # fmt: skip
_OUTSIDE = re.compile(
    r'<(?:link|script)\b[^>]*(?:href|src)="(?:https?:)?//[^>]*>(?:\s*</script>)?|<meta property="og:(?:image|url)"[^>]*>'
)
"""Everything in a page that a browser would load from elsewhere."""


class Gate:
    """Stands before everything else.

    It refuses requests that a foreign page makes a browser send, sockets included; an address that asks too much, before
    anything looks at who it is, so that guessing keys is slow; and bodies that are too large, before and while they are
    read. It adds the headers, and logs the local user in with the page itself: Chainlit's own way asks first, is refused,
    goes to the log-in page and comes back to an empty chat, and the address of a chat that is opened in another browser
    would be lost on the way.
    """

    def __init__(self, app: ASGIApp, host: str, port: int) -> None:
        self.app, self.loopback = app, on_loopback(host)
        names = ("localhost", "127.0.0.1", "[::1]") if self.loopback else (host,)
        self.origins = frozenset(f"http://{name}:{port}" for name in names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in {"http", "websocket"}:
            await self.app(scope, receive, send)
            return
        foreign = self._foreign(Headers(scope=scope))
        if scope["type"] == "websocket":
            # A socket that was not accepted is closed: the server answers 403.
            closed = {"type": "websocket.close", "code": 1008, "reason": foreign}
            await (send(closed) if foreign else self.app(scope, receive, send))
            return
        request, read, made = Request(scope), 0, Response()
        page = scope["method"] == "GET" and "text/html" in request.headers.get("accept", "")
        upload = scope["path"].startswith(UPLOADS)
        most, why = (MAX_BYTES + FRAMING, TOO_LARGE) if upload or scope["path"] == IMPORT else (MAX_BODY, TOO_LONG)

        async def bounded() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > most:
                raise HTTPException(413, why)
            return message

        def complete(headers: MutableHeaders) -> None:
            if upload:
                headers["content-security-policy"] = _SANDBOX
            for cookie in made.headers.getlist("set-cookie"):
                headers.append("set-cookie", cookie)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)

        said = request.headers.get("content-length", "")
        answer: ASGIApp = self.app
        if foreign:
            answer = ApiError(403, "forbidden", foreign).response()
        elif too_many := self._too_many(scope):
            answer = as_api_error(too_many).response()
        elif said.isdecimal() and int(said) > most:
            answer = JSONResponse({"detail": why}, 413) if upload else ApiError(413, "too_large", why).response()
        elif self.loopback and page and not get_token_from_cookies(request.cookies):
            set_auth_cookie(request, made, create_jwt(User(identifier=LOCAL)))
        await answer(scope, bounded, answering(send, complete))

    def _foreign(self, headers: Headers) -> str:
        """Say why a request is refused that is none of this server's pages'; empty when it is one."""
        authority, origin = headers.get("host", ""), headers.get("origin")
        try:
            host, site = urlsplit(f"//{authority}").hostname or "", urlsplit(origin or "").netloc
        except ValueError:  # a bracket that nothing closes
            return "This address is not one of this server's."
        # A name of somebody's own that resolves to this machine would make a foreign page look like ours.
        if self.loopback and host.lower() not in LOOPBACK:
            return "This address is not one of this server's."
        if origin is not None and origin not in self.origins and site != authority:
            return "Requests from other sites are refused."
        if headers.get("sec-fetch-site") == "cross-site" and headers.get("sec-fetch-mode") != "navigate":
            return "Requests from other sites are refused."
        return ""

    @staticmethod
    def _too_many(scope: Scope) -> TooMany | None:
        cost = cost_of(scope["method"], scope["path"])
        if cost and scope.get("client"):
            try:
                scope["app"].state.dossier_site.allowance.take(f"address {scope['client'][0]}", cost)
            except TooMany as error:
                return error
        return None


class BelowPath:
    """Serves below a path of a proxy's, whether the proxy takes the path off or leaves it on.

    The app knows nothing of it: addresses that it sends a browser to, and those in its pages and answers, are put below it.
    """

    def __init__(self, app: ASGIApp, path: str) -> None:
        self.app, self.path = app, path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on under the address that the app knows."""
        if scope["type"] not in {"http", "websocket"}:
            await self.app(scope, receive, send)
            return
        asked = scope["path"]
        if asked == self.path or asked.startswith(f"{self.path}/"):
            raw = scope.get("raw_path") or asked.encode()
            scope = {**scope, "path": asked[len(self.path) :] or "/", "raw_path": raw[len(self.path) :] or b"/"}

        def below(headers: MutableHeaders) -> None:
            where = headers.get("location", "")
            is_below = where.startswith(f"{self.path}/")  # the address of a job, which says it itself
            if where.startswith("/") and not where.startswith("//") and not is_below:
                headers["location"] = self.path + where

        await self.app(scope, receive, answering(send, below))


def harden(host: str, port: int, path: str = "") -> None:
    """Guard Chainlit's app, and mend what its sessions do with files and memory."""
    app, page = chainlit_server.app, chainlit_server.get_html_template
    persist, delete = WebsocketSession.persist_file, WebsocketSession.delete
    app.add_middleware(Gate, host=host, port=port)
    if path:
        app.add_middleware(BelowPath, path=path)

    async def persist_file(
        self: WebsocketSession, name: str, mime: str, path: str | None = None, content: bytes | str | None = None
    ) -> object:
        """Keep empty files too, so that the chat can say that they are, and not endlessly many."""
        held = [one.files for one in ws_sessions_id.values() if one.user == self.user]
        if sum(file["size"] for files in held for file in files.values()) + len(content or b"") > MOST_HELD:
            raise HTTPException(413, TOO_MANY)
        return await persist(self, name, mime, path or (None if content else os.devnull), content)

    async def delete_whole(self: WebsocketSession) -> None:
        await delete(self)
        # Chainlit keeps every message of every session for ever.
        chat_contexts.pop(self.id, None)

    WebsocketSession.persist_file, WebsocketSession.delete = persist_file, delete_whole
    chainlit_server.get_html_template = lambda root_path: _OUTSIDE.sub("", page(root_path))
    # What a file is, its bytes tell when it is read; the browser's word for it counts for nothing.
    chainlit_server.validate_file_mime_type = lambda file, spec: None
    # A file that was dropped is shown by its name: a viewer of its pages would push the talk off the screen.
    Element.infer_type_from_mime = classmethod(lambda cls, mime_type: "file")
