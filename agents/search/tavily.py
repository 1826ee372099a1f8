"""Tavily: the only place that imports its client, and the older httpx that the client takes.

The client asks; what the server says goes past it: it would lose how long to wait, and why.
"""

import asyncio
from typing import TYPE_CHECKING, NoReturn

import httpx2

from agents.search.provider import Access, Call, Provider, Service

if TYPE_CHECKING:
    import httpx
    from tavily import AsyncTavilyClient  # type: ignore[import-untyped]

SAID_MOST = 20_000  # bytes of a refusal that are looked at


class _Answered(Exception):
    """The server answered, and was read to its end."""

    def __init__(self, response: "httpx.Response") -> None:
        super().__init__()
        self.status, self.headers, self.body = response.status_code, dict(response.headers), response.content


async def _past_the_client(response: "httpx.Response") -> NoReturn:
    await response.aread()
    raise _Answered(response)


class Tavily(Provider):
    """Web search by Tavily, with a key or without one, which allows fewer searches."""

    def __init__(self, service: Service, access: Access = Access()) -> None:
        super().__init__(service, access)
        self._opened: tuple[AsyncTavilyClient, httpx.AsyncClient] | None = None

    def warm_up(self) -> None:
        import httpx
        from tavily import AsyncTavilyClient

        if self._opened is not None:
            return
        # The client goes keyless by itself only where it makes its own connections, which have no hook.
        pool = httpx.AsyncClient(
            base_url=self.base,
            headers=dict(self.service.keyless) if self.keyless else {},
            event_hooks={"response": [_past_the_client]},
            verify=httpx2.create_ssl_context(),  # the system's certificates, as everywhere else
            limits=httpx.Limits(max_connections=20, max_keepalive_connections=10),
        )
        client = AsyncTavilyClient(
            self._secret,  # empty, not None: else the client looks for a key of its own
            api_base_url=self.base,
            client_source="tavily-python-keyless" if self.keyless else "tavily-python",
            client=pool,
        )
        self._opened = client, pool

    async def close(self) -> None:
        if self._opened is not None:
            await self._opened[1].aclose()

    async def _send(self, call: Call, seconds: float, base: str) -> bytes:
        while self._opened is None:
            await asyncio.to_thread(self.warm_up)
        import httpx
        from tavily import errors

        client, _ = self._opened
        try:
            await client.search(timeout=seconds, **(call.body or {}))
        except _Answered as answer:
            if answer.status == 200:
                return answer.body
            failure = self._refused(answer.status, answer.headers, answer.body[:SAID_MOST])
        except (errors.TimeoutError, httpx.TimeoutException) as error:  # the first is not the built-in one
            failure = self._failure("timeout", str(error))
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            failure = self._failure("connection", f"{type(error).__name__}: {error}")
        raise failure  # out here, so that no traceback leads to texts with a key in them
