"""Tavily: the only place that imports its client, and the older httpx that the client takes.

The client loses what the server says beside a status: how long to wait, and why. A hook on each answer keeps it.
"""

import json
from contextvars import ContextVar
from dataclasses import dataclass, field

import httpx
import httpx2
from tavily import AsyncTavilyClient  # type: ignore[import-untyped]
from tavily import errors as tavily_errors

from agents.search.provider import Access, Provider, ProviderHit, dicts, rows_of, usual_hit
from agents.search.scope_filter import ProviderQuery, bare_domain, whole_day

BASE = "https://api.tavily.com"
MAX_RESULTS = 20
"""As many as the service gives."""
MAX_DOMAINS = 150
SAID_MOST = 20_000
"""Characters of an answer that are looked at when it holds no results."""

_CONNECTIONS = httpx.Limits(max_connections=20, max_keepalive_connections=10)
_OWN_ERRORS = (
    tavily_errors.UsageLimitExceededError,
    tavily_errors.InvalidAPIKeyError,
    tavily_errors.MissingAPIKeyError,
    tavily_errors.BadRequestError,
    tavily_errors.ForbiddenError,
    tavily_errors.TimeoutError,  # of its own, not the built-in one
    tavily_errors.KeylessUnsupportedEndpointError,
)
# Beside its own, the client lets through: statuses that it does not know (HTTPStatusError), a body that is no JSON
# (ValueError) or a list (AttributeError), and a TypeError on 201 and 202, where it tries to raise the answer.
_RAISED = (*_OWN_ERRORS, httpx.HTTPError, httpx.InvalidURL, ValueError, TypeError, AttributeError)


@dataclass
class _Answer:
    """What the server said to the request of one task."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: str = ""


_answer: ContextVar[_Answer | None] = ContextVar("tavily_answer", default=None)


class Tavily(Provider):
    """Web search by Tavily, with a key or without one, which allows fewer searches.

    Args:
        access: key and address.
    """

    key_variable = "TAVILY_API_KEY"

    def __init__(self, access: Access = Access()) -> None:
        super().__init__("tavily", BASE, access)
        if self.keyless:
            self.name = "tavily-keyless"
        # The client goes keyless by itself only where it makes its own connections, which have no hook.
        self._pool = httpx.AsyncClient(
            base_url=self.base,
            headers={"X-Tavily-Access-Mode": "keyless"} if self.keyless else {},
            event_hooks={"response": [_note]},
            verify=httpx2.create_ssl_context(),  # the system's certificates, as everywhere else
            limits=_CONNECTIONS,
        )
        self._client = AsyncTavilyClient(
            self._secret,  # empty, not None: else the client looks for a key of its own
            api_base_url=self.base,
            client_source="tavily-python-keyless" if self.keyless else "tavily-python",
            client=self._pool,
        )

    async def close(self) -> None:
        await self._pool.aclose()

    async def _ask(self, asked: ProviderQuery, seconds: float) -> list[ProviderHit]:
        answer = _Answer()
        token = _answer.set(answer)
        try:
            data = await self._client.search(timeout=seconds, **self._arguments(asked))
        except _RAISED as error:
            failed = error
        else:
            # For an answer without results the client makes up an empty list; nothing found is something else.
            rows = rows_of(data, "results") or rows_of(_decoded(answer.body), "results")
            if rows is None:
                raise self._failure("nonsense", f"the answer holds no list of results: {answer.body}")
            return [usual_hit(row, "content", "published_date") for row in dicts(rows)]
        finally:
            _answer.reset(token)
        raise self._failed(failed, answer)  # out here, so that no traceback leads to texts with a key in them

    def _arguments(self, asked: ProviderQuery) -> dict[str, object]:
        query = asked.query
        prefer = [] if query.include_domains else [bare_domain(domain) for domain in asked.prefer]
        include = prefer or [bare_domain(domain) for domain in query.include_domains]
        exclude = [bare_domain(domain) for domain in query.exclude_domains]
        return {
            "query": query.text,
            "search_depth": "basic",
            "topic": "general",
            "max_results": min(query.max_results, MAX_RESULTS),
            "include_domains": include[:MAX_DOMAINS] or None,
            "include_domains_mode": "prefer" if prefer else None,
            "exclude_domains": exclude[:MAX_DOMAINS] or None,
            "start_date": whole_day(query.date_from),
            "end_date": whole_day(query.date_to, last=True),
            "include_raw_content": "text",  # with the hits, which saves fetching the pages
        }

    def _failed(self, error: Exception, answer: _Answer) -> Exception:
        if isinstance(error, tavily_errors.TimeoutError | httpx.TimeoutException):
            return self._failure("timeout", str(error))
        if answer.status == 200:
            return self._failure("nonsense", f"{type(error).__name__}: {answer.body}")
        if answer.status:
            return self._refused(answer.status, answer.headers, _said(answer.body) or str(error))
        return self._failure("connection", f"{type(error).__name__}: {error}")


async def _note(response: httpx.Response) -> None:
    """Keep what the server says for the task that asked; many may ask at once."""
    answer = _answer.get()
    if answer is None:
        return
    answer.status = response.status_code
    answer.headers = {name.lower(): value for name, value in response.headers.items()}
    await response.aread()
    answer.body = response.text[:SAID_MOST]


def _decoded(body: str) -> object:
    try:
        return json.loads(body)
    except ValueError:
        return None


def _said(body: str) -> str:
    """Give the words of an error answer, and in words how long a keyless one asks to wait: it does so in its body."""
    data = _decoded(body)
    error = data.get("error") if isinstance(data, dict) else None
    wait = error.get("retry_after_seconds") if isinstance(error, dict) else None
    return f"{body} try again in {wait}s" if isinstance(wait, int | float) else body
