"""Every other web search that litellm knows: Brave, Exa, Serper and kin."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from agents.contracts.sources import SearchFault
from agents.core.errors import ModelFault
from agents.llm.litellm_errors import Failed
from agents.search.provider import Access, Provider, ProviderHit
from agents.search.scope_filter import ProviderQuery, bare_domain

MAX_RESULTS = 20

Ask = Callable[..., Awaitable[list[dict[str, object]]]]
"""As `agents.llm.litellm_model.ask_web`."""


@dataclass(frozen=True)
class WebService:
    """A service behind litellm."""

    name: str
    """As in RETRIEVER, and as shown to the user."""
    litellm_name: str
    key_variable: str
    base: str
    """Its usual address."""


SERVICES = (
    WebService("brave", "brave", "BRAVE_API_KEY", "https://api.search.brave.com"),
    WebService("exa", "exa_ai", "EXA_API_KEY", "https://api.exa.ai"),
    WebService("serper", "serper", "SERPER_API_KEY", "https://google.serper.dev"),
    WebService("linkup", "linkup", "LINKUP_API_KEY", "https://api.linkup.so"),
    WebService("perplexity", "perplexity", "PERPLEXITYAI_API_KEY", "https://api.perplexity.ai"),
)
"""In the order in which `web` takes the first that is set up."""

_FAULTS: dict[ModelFault, SearchFault] = {
    "key": "auth",
    "quota": "quota",
    "rate": "rate",
    "timeout": "timeout",
    "connection": "connection",
    "server": "server",
    "request": "query",
    "overflow": "query",
    "refused": "query",
    "unknown_model": "nonsense",  # there is nothing that searches at that address
}

_NO_RESULTS = re.compile(r"Expecting value|JSONDecodeError|validation errors? for|KeyError|has no attribute")
"""How litellm says, as a failed connection, that it could not read an answer."""


class Web(Provider):
    """Web search by a service that litellm knows.

    Args:
        service: which one.
        access: key and address.
        ask: sends the search; litellm's when not given, imported with the first search.
    """

    def __init__(self, service: WebService, access: Access = Access(), *, ask: Ask | None = None) -> None:
        super().__init__(service.name, service.base, access)
        self.key_variable = service.key_variable
        self._service, self._own_base, self._ask_litellm = service, access.base, ask

    async def _ask(self, asked: ProviderQuery, seconds: float) -> list[ProviderHit]:
        if self._ask_litellm is None:
            from agents.llm.litellm_services import ask_web

            self._ask_litellm = ask_web
        try:
            rows = await self._ask_litellm(
                self._service.litellm_name,
                asked.query.text,
                max_results=min(asked.query.max_results, MAX_RESULTS),
                timeout_s=seconds,
                domains=tuple(bare_domain(domain) for domain in asked.query.include_domains),
                api_key=self._secret,
                api_base=self._own_base,
                key_variable=self.key_variable,
            )
        except Failed as failure:
            said = str(failure.error).partition("Traceback")[0]
            fault = "nonsense" if _NO_RESULTS.search(said) else _FAULTS[failure.error.fault]
            raise self._failure(fault, said, retry_after_s=failure.wait_s) from None
        return [_found(row) for row in rows]


def _found(row: dict[str, object]) -> ProviderHit:
    return ProviderHit(
        url=row.get("url"),
        title=row.get("title"),
        snippet=row.get("snippet"),
        published=row.get("date"),
        score=row.get("score"),
        text=row.get("raw_content"),
        whole=True,
    )
