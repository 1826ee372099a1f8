"""Tavily: the only place that imports its client, and the older httpx that the client takes.

The client loses what the server says beside a status: how long to wait, and why. A hook on each answer keeps it.
"""

import asyncio
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import httpx2

from agents.search.provider import Access, Provider, ProviderHit, Service, decoded
from agents.search.scope_filter import ProviderQuery

if TYPE_CHECKING:
    import httpx
    from tavily import AsyncTavilyClient  # type: ignore[import-untyped]

SAID_MOST = 20_000  # bytes of an answer that holds no results which are looked at


def _raised() -> tuple[type[Exception], ...]:
    """List what the client raises.

    Beside its own errors it lets through: statuses that it does not know (HTTPStatusError), a body that is no JSON
    (ValueError) or a list (AttributeError), and a TypeError on 201 and 202, where it tries to raise the answer.
    """
    import httpx
    from tavily import errors

    return (
        errors.UsageLimitExceededError, errors.InvalidAPIKeyError, errors.MissingAPIKeyError, errors.BadRequestError,
        errors.ForbiddenError, errors.KeylessUnsupportedEndpointError, *_timeouts(), httpx.HTTPError, httpx.InvalidURL,
        ValueError, TypeError, AttributeError,
    )  # fmt: skip


def _timeouts() -> tuple[type[Exception], ...]:
    import httpx
    from tavily import errors

    return errors.TimeoutError, httpx.TimeoutException  # the first is its own, not the built-in one


@dataclass
class _Answer:
    """What the server said to the request of one task."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


_answer: ContextVar[_Answer | None] = ContextVar("tavily_answer", default=None)


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
            event_hooks={"response": [_note]},
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

    async def _ask(self, asked: ProviderQuery, seconds: float) -> list[ProviderHit]:
        while self._opened is None:
            await asyncio.to_thread(self.warm_up)
        client, _ = self._opened
        answer = _Answer()
        token = _answer.set(answer)
        try:
            await client.search(timeout=seconds, **(self.service.ask(asked, seconds).body or {}))
        except _raised() as error:
            failed = error
        else:
            # For an answer without results the client makes up an empty list; nothing found is something else.
            data = decoded(answer.body)
            return self._usable(self.service.hits(data), data)
        finally:
            _answer.reset(token)
        raise self._failed(failed, answer)  # out here, so that no traceback leads to texts with a key in them

    def _failed(self, error: Exception, answer: _Answer) -> Exception:
        if isinstance(error, _timeouts()):
            return self._failure("timeout", str(error))
        said = answer.body[:SAID_MOST]
        if answer.status == 200:
            return self._failure("nonsense", f"{type(error).__name__}: {said.decode('utf-8', 'replace')}")
        if answer.status:
            return self._refused(answer.status, answer.headers, said or str(error).encode())
        return self._failure("connection", f"{type(error).__name__}: {error}")


async def _note(response: "httpx.Response") -> None:
    """Keep what the server says for the task that asked; many may ask at once."""
    answer = _answer.get()
    if answer is None:
        return
    answer.status = response.status_code
    answer.headers = {name.lower(): value for name, value in response.headers.items()}
    answer.body = await response.aread()
