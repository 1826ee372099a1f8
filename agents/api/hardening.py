"""What a browser may do with the server: own origin only, own assets only.

Chainlit checks no origin on its socket, sends no security headers, and its page links to fonts and styles elsewhere.
"""

import re
from collections.abc import Callable
from urllib.parse import urlsplit

import chainlit.server as chainlit_server
from chainlit.chat_context import chat_contexts
from chainlit.session import WebsocketSession
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agents.api.access import LocalLogin
from agents.api.exposure import LOOPBACK, on_loopback
from agents.api.uploading import UploadBounds, take_uploads

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
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
}
_OUTSIDE_LINK = re.compile(r'<link\b[^>]*href="(?:https?:)?//[^>]*>')
_OUTSIDE_SCRIPT = re.compile(r'<script\b[^>]*src="(?:https?:)?//[^>]*>\s*</script>')
_OUTSIDE_META = re.compile(r'<meta property="og:(?:image|url)"[^>]*>')


def without_outside_assets(page: str) -> str:
    """Take everything out of a page that a browser would load from elsewhere."""
    for pattern in (_OUTSIDE_LINK, _OUTSIDE_SCRIPT, _OUTSIDE_META):
        page = pattern.sub("", page)
    return page


def _name_of(authority: str) -> str:
    return (urlsplit(f"//{authority}").hostname or "").lower()


class Guard:
    """Refuses requests that a foreign page makes a browser send, sockets included; adds the headers."""

    def __init__(self, app: ASGIApp, host: str, port: int) -> None:
        self.app, self.loopback = app, on_loopback(host)
        names = ("localhost", "127.0.0.1", "[::1]") if self.loopback else (host,)
        self.origins = frozenset(f"http://{name}:{port}" for name in names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it with 403."""
        if scope["type"] not in {"http", "websocket"}:
            await self.app(scope, receive, send)
        elif why := self.refusal(Headers(scope=scope)):
            await self._refuse(scope, receive, send, why)
        else:
            await self.app(scope, receive, self._with_headers(send))

    def refusal(self, headers: Headers) -> str:
        """Say why a request is refused; empty when it is not."""
        authority, origin = headers.get("host", ""), headers.get("origin")
        # A name of somebody's own that resolves to this machine would make a foreign page look like ours.
        if self.loopback and _name_of(authority) not in LOOPBACK:
            return "This address is not one of this server's."
        if origin is not None and origin not in self.origins and urlsplit(origin).netloc != authority:
            return "Requests from other sites are refused."
        if headers.get("sec-fetch-site") == "cross-site" and headers.get("sec-fetch-mode") != "navigate":
            return "Requests from other sites are refused."
        return ""

    @staticmethod
    async def _refuse(scope: Scope, receive: Receive, send: Send, why: str) -> None:
        if scope["type"] == "websocket":
            # Closed before it was accepted: the server answers 403.
            await send({"type": "websocket.close", "code": 1008, "reason": why})
            return
        body = {"error": {"type": "forbidden", "message": why, "retryable": False}}
        await JSONResponse(body, 403)(scope, receive, send)

    @staticmethod
    def _with_headers(send: Send) -> Send:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        return sending


def harden(host: str, port: int) -> None:
    """Guard Chainlit's app; once, however often it is called."""
    app = chainlit_server.app
    if getattr(app.state, "dossier_hardened", False):
        return
    app.state.dossier_hardened = True
    if on_loopback(host):
        app.add_middleware(LocalLogin)
    app.add_middleware(UploadBounds)
    take_uploads()
    # Added last, so that it stands before everything else.
    app.add_middleware(Guard, host=host, port=port)

    page: Callable[[str], str] = chainlit_server.get_html_template
    chainlit_server.get_html_template = lambda root_path: without_outside_assets(page(root_path))

    delete = WebsocketSession.delete

    async def delete_whole(self: WebsocketSession) -> None:
        await delete(self)
        # Chainlit keeps every message of every session for ever.
        chat_contexts.pop(self.id, None)

    WebsocketSession.delete = delete_whole
