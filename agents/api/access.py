"""Who is asking: the dependency of every route of ours, and the log-in that nobody sees on loopback.

What a browser may do with the server: own origin only, own assets only. Chainlit checks no origin on its socket, sends no
security headers, and its page links to fonts and styles elsewhere.

Files on their way into the chat: bounded before they are read, kept even when empty, and never shown as a page. Chainlit
reads a whole upload before it looks at its size, fails on an empty one, and gives HTML back as HTML.
"""

import mimetypes
import re
import uuid
from collections.abc import Callable
from typing import Annotated
from urllib.parse import urlsplit

import chainlit.server as chainlit_server
from chainlit.auth import create_jwt, get_current_user, get_token_from_cookies, set_auth_cookie
from chainlit.chat_context import chat_contexts
from chainlit.element import Element
from chainlit.session import WebsocketSession, ws_sessions_id
from chainlit.user import User
from fastapi import Depends, HTTPException, Request, Response
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agents.api.app_state import AddressLimit, Site, cost_of
from agents.api.error_responses import ApiError
from agents.api.serve import LOCAL, is_the_key, on_loopback, owner_name
from agents.core.settings import LOOPBACK, Settings
from agents.search.uploads import MAX_BYTES

_UNKNOWN = ApiError(401, "unauthorized", "Log in, or send the key as `Authorization: Bearer …`.")


async def caller(request: Request) -> str:
    """Name the caller, and count the request as that user's.

    Raises:
        ApiError: 401; neither the key nor a session that was logged in.
        TooMany: this user has asked for as much as one may for now.
    """
    site = site_of(request)
    name = await _named(request, site.settings)
    site.allowance.take(f"user {name}", cost_of(request.method, request.url.path))
    return name


async def _named(request: Request, settings: Settings) -> str:
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    bearer = given.strip() if scheme.lower() == "bearer" else ""
    if bearer and is_the_key(settings, bearer):
        return owner_name(settings)
    if on_loopback(settings.host):
        # The chat's own log-in asks for nothing here either; origin and host were checked before (see `RequestGuard`).
        return LOCAL
    token = get_token_from_cookies(request.cookies) or bearer
    if not token:
        raise _UNKNOWN
    try:
        user = await get_current_user(token)
    except HTTPException as error:
        raise _UNKNOWN from error
    if user is None:
        raise _UNKNOWN
    return str(user.identifier)


def site_of(request: Request) -> Site:
    """Give a route the parts of this server."""
    site: Site = request.app.state.dossier_site
    return site


Owner = Annotated[str, Depends(caller)]
"""Who asks."""
Here = Annotated[Site, Depends(site_of)]
"""The server's parts."""


def answering(send: Send, change: Callable[[MutableHeaders], None]) -> Send:
    """Send an answer on, its headers changed."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            change(MutableHeaders(scope=message))
        await send(message)

    return sending


class LocalLogin:
    """Logs the local user in with the page itself.

    Chainlit's own way asks first, is refused, goes to the log-in page and comes back to an empty chat: the address of a
    chat that is opened in another browser would be lost on the way.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; a page that is opened without a session gets one."""
        if scope["type"] != "http" or scope["method"] != "GET":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        if "text/html" not in request.headers.get("accept", "") or get_token_from_cookies(request.cookies):
            await self.app(scope, receive, send)
            return
        made = Response()
        set_auth_cookie(request, made, create_jwt(User(identifier=LOCAL)))

        def log_in(headers: MutableHeaders) -> None:
            for cookie in made.headers.getlist("set-cookie"):
                headers.append("set-cookie", cookie)

        await self.app(scope, receive, answering(send, log_in))


UPLOADS, IMPORT = "/project/file", "/memory/import"
FRAMING = 100_000
"""Bytes of a request beside the file itself, at most."""
MAX_BODY = 1_000_000
"""Bytes of the body of any other request: read before it is known who asks."""
_SANDBOX = {"content-security-policy": "sandbox; default-src 'none'", "x-content-type-options": "nosniff"}


class BodyBounds:
    """Refuses bodies that are too large before and while they are read, and gives uploads back as harmless downloads."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        upload = scope["path"].startswith(UPLOADS)
        most, why = (MAX_BYTES + FRAMING, TOO_LARGE) if upload or scope["path"] == IMPORT else (MAX_BODY, TOO_LONG)
        said = Headers(scope=scope).get("content-length", "")
        if said.isdecimal() and int(said) > most:
            await (JSONResponse({"detail": why}, 413) if upload else ApiError(413, "too_large", why).response())(
                scope, receive, send
            )
            return
        read = 0

        async def bounded() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > most:
                raise HTTPException(413, why)
            return message

        await self.app(scope, bounded, answering(send, lambda headers: headers.update(_SANDBOX)) if upload else send)


TOO_LARGE = f"Files may have up to {MAX_BYTES // 1_000_000} MB."
MOST_HELD = 2_000_000_000
"""Bytes of files that lie on the disk for the open pages of one user, at most; each page's go an hour after it closed."""
TOO_MANY = "Too many files lie here already. Close other chats, or try again in an hour."
TOO_LONG = f"The body is longer than {MAX_BODY:,} bytes. Put long texts into your library."


def take_uploads() -> None:
    """Teach Chainlit's sessions to keep empty files, so that the chat can say that they are, and not endlessly many; once."""
    if getattr(WebsocketSession, "dossier_uploads", False):
        return
    WebsocketSession.dossier_uploads = True
    persist = WebsocketSession.persist_file

    async def persist_file(
        self: WebsocketSession, name: str, mime: str, path: str | None = None, content: bytes | str | None = None
    ) -> dict[str, object]:
        held = [one.files for one in ws_sessions_id.values() if one.user == self.user]
        if sum(file["size"] for files in held for file in files.values()) + len(content or b"") > MOST_HELD:
            raise HTTPException(413, TOO_MANY)
        if path or content:
            kept: dict[str, object] = await persist(self, name, mime, path, content)
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


CSP = (
    # unsafe-eval: Chainlit compiles custom elements in the browser; unsafe-inline: its page sets its theme in a script.
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; frame-src 'self' blob:; "
    "worker-src 'self' blob:; frame-ancestors 'none'; object-src 'none'; base-uri 'self'; form-action 'self'"
)
"""Nothing is loaded from, or sent to, anywhere else: text out of a web page cannot leak through an image's address."""

_HEADERS = {
    "content-security-policy": CSP,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
}
_OUTSIDE = re.compile(
    r'<(?:link|script)\b[^>]*(?:href|src)="(?:https?:)?//[^>]*>(?:\s*</script>)?|<meta property="og:(?:image|url)"[^>]*>'
)


def without_outside_assets(page: str) -> str:
    """Take everything out of a page that a browser would load from elsewhere."""
    return _OUTSIDE.sub("", page)


class RequestGuard:
    """Refuses requests that a foreign page makes a browser send, sockets included; adds the headers."""

    def __init__(self, app: ASGIApp, host: str, port: int) -> None:
        self.app, self.loopback = app, on_loopback(host)
        names = ("localhost", "127.0.0.1", "[::1]") if self.loopback else (host,)
        self.origins = frozenset(f"http://{name}:{port}" for name in names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in {"http", "websocket"}:
            await self.app(scope, receive, send)
        elif why := self.refusal(Headers(scope=scope)):
            # A socket that was not accepted is closed: the server answers 403.
            closed = {"type": "websocket.close", "code": 1008, "reason": why}
            await (
                send(closed)
                if scope["type"] == "websocket"
                else ApiError(403, "forbidden", why).response()(scope, receive, send)
            )
        else:
            await self.app(scope, receive, answering(send, self._complete))

    def refusal(self, headers: Headers) -> str:
        """Say why a request is refused; empty when it is not."""
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
    def _complete(headers: MutableHeaders) -> None:
        for name, value in _HEADERS.items():
            headers.setdefault(name, value)


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
    """Guard Chainlit's app; once, however often it is called."""
    app = chainlit_server.app
    if getattr(app.state, "dossier_hardened", False):
        return
    app.state.dossier_hardened = True
    if on_loopback(host):
        app.add_middleware(LocalLogin)
    app.add_middleware(BodyBounds)
    take_uploads()
    app.add_middleware(AddressLimit)
    # Added last, so that it stands before everything else.
    app.add_middleware(RequestGuard, host=host, port=port)
    if path:
        app.add_middleware(BelowPath, path=path)

    page: Callable[[str], str] = chainlit_server.get_html_template
    chainlit_server.get_html_template = lambda root_path: without_outside_assets(page(root_path))

    delete = WebsocketSession.delete

    async def delete_whole(self: WebsocketSession) -> None:
        await delete(self)
        # Chainlit keeps every message of every session for ever.
        chat_contexts.pop(self.id, None)

    WebsocketSession.delete = delete_whole
