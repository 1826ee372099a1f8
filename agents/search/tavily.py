"""Tavily: the only place that imports its client, and the older httpx that the client takes.

The client asks; what the server says goes past it: it would lose how long to wait, and why.
"""

import asyncio
from typing import TYPE_CHECKING, NoReturn

import httpx2

from agents.search.provider import Answer, Call, Provider

if TYPE_CHECKING:
    import httpx
    from tavily import AsyncTavilyClient  # type: ignore[import-untyped]


class _Answered(Exception):
    """The server answered, and was read to its end."""

    def __init__(self, response: "httpx.Response") -> None:
        super().__init__()
        self.answer: Answer = response.status_code, dict(response.headers), response.content


async def _past_the_client(response: "httpx.Response") -> NoReturn:
    await response.aread()
    raise _Answered(response)


class Tavily(Provider):
    """Web search by Tavily, with a key or without one, which allows fewer searches."""

    _client: "AsyncTavilyClient | None" = None
    _pool: "httpx.AsyncClient | None" = None

    def warm_up(self) -> None:
        import httpx
        from tavily import AsyncTavilyClient

        if self._pool is not None:
            return
        # The client goes keyless by itself only where it makes its own connections, which have no hook.
        self._pool = httpx.AsyncClient(
            base_url=self.base,
            headers=dict(self.service.keyless) if self.keyless else {},
            event_hooks={"response": [_past_the_client]},
            verify=httpx2.create_ssl_context(),  # the system's certificates, as everywhere else
            limits=httpx.Limits(max_connections=20, max_keepalive_connections=10),
        )
        self._client = AsyncTavilyClient(
            self._secret,  # empty, not None: else the client looks for a key of its own
            api_base_url=self.base,
            client_source="tavily-python-keyless" if self.keyless else "tavily-python",
            client=self._pool,
        )

    async def close(self) -> None:
        if self._pool is not None:
            await self._pool.aclose()

    async def _send(self, call: Call, seconds: float, base: str) -> Answer:
        while self._client is None:
            await asyncio.to_thread(self.warm_up)
        import httpx
        from tavily import errors

        try:
            await self._client.search(timeout=seconds, **(call.body or {}))
        except _Answered as answered:
            return answered.answer
        except (errors.TimeoutError, httpx.TimeoutException) as error:  # the first is not the built-in one
            failure = self._failure("timeout", str(error))
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            failure = self._failure("connection", f"{type(error).__name__}: {error}")
        raise failure  # out here, so that no traceback leads to texts with a key in them
