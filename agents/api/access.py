"""Who is asking: the dependency of every route of ours, and the log-in that nobody sees on loopback."""

from chainlit.auth import create_jwt, get_current_user, get_token_from_cookies, set_auth_cookie
from chainlit.user import User
from fastapi import HTTPException, Request, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agents.api.error_responses import ApiError
from agents.api.exposure import LOCAL, is_the_key, on_loopback, owner_name
from agents.core.settings import Settings

_UNKNOWN = ApiError(401, "unauthorized", "Log in, or send the key as `Authorization: Bearer …`.")


async def caller(request: Request) -> str:
    """Name the caller.

    Raises:
        ApiError: 401; neither the key nor a session that was logged in.
    """
    settings: Settings = request.app.state.dossier_site.settings
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    bearer = given.strip() if scheme.lower() == "bearer" else ""
    if bearer and is_the_key(settings, bearer):
        return owner_name(settings)
    if on_loopback(settings.host):
        # The chat's own log-in asks for nothing here either; origin and host were checked before (see hardening).
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
        wanted = "text/html" in request.headers.get("accept", "") and not get_token_from_cookies(request.cookies)

        async def sending(message: Message) -> None:
            if wanted and message["type"] == "http.response.start":
                made = Response()
                set_auth_cookie(request, made, create_jwt(User(identifier=LOCAL)))
                cookies = [header for header in made.raw_headers if header[0] == b"set-cookie"]
                message = {**message, "headers": [*message["headers"], *cookies]}
            await send(message)

        await self.app(scope, receive, sending)
