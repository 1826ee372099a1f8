"""Search services that answer in JSON or XML over plain HTTP: one client, its errors sorted."""

import json
from collections.abc import Mapping
from typing import Any

import httpx2

from agents.search.provider import Provider
from agents.search.search_errors import FailKind

MAX_BYTES = 20 * 2**20
"""A longer answer of a search service is none."""

_LIMITS = httpx2.Limits(max_connections=20, max_keepalive_connections=10)


def http_client(user_agent: str = "Dossier/0.1 (research assistant)") -> httpx2.AsyncClient:
    """Make a client for services that the operator chose. Redirects are not followed: they would carry the key away."""
    return httpx2.AsyncClient(
        headers={"user-agent": user_agent, "accept-encoding": "gzip, deflate"},
        follow_redirects=False,
        limits=_LIMITS,
    )


class RestProvider(Provider):
    """A provider that is asked over HTTP; `_http` is its client."""

    _http: httpx2.AsyncClient

    async def _send(
        self,
        method: str,
        path: str,
        seconds: float,
        *,
        base: str = "",
        params: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        """Send one request and give the answer's body.

        Raises:
            SearchFailed: no answer, or one with another status than 200.
        """
        kind: FailKind
        try:
            async with self._http.stream(
                method, (base or self.base) + path, params=params, json=body, headers=headers, timeout=seconds
            ) as response:
                received = bytearray()
                async for part in response.aiter_bytes():
                    received += part
                    if len(received) > MAX_BYTES:
                        break
                content = bytes(received)
        except httpx2.TimeoutException as error:
            kind, said = "timeout", str(error)
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
            kind, said = "connection", f"{type(error).__name__}: {error}"
        else:
            if len(content) > MAX_BYTES:
                raise self._failure("nonsense", "the answer is too long")
            if response.status_code != 200:
                raise self._refused(
                    response.status_code, dict(response.headers), content[:2_000].decode("utf-8", "replace")
                )
            return content
        raise self._failure(kind, said)  # out here, so that no traceback leads to an address with a key in it

    def _json(self, content: bytes) -> Any:
        """Decode JSON.

        Raises:
            SearchFailed: it is none.
        """
        try:
            return json.loads(content)
        except ValueError:
            pass
        raise self._failure("nonsense", "no JSON: " + content[:200].decode("utf-8", "replace"))
