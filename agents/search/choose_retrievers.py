"""From what the operator set to the searcher: which retrievers, in which order, with which keys."""

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from functools import partial

from pydantic import SecretStr

from agents.core.errors import ConfigError
from agents.search import ddgs
from agents.search.academic import ACADEMIC, INDEXES, Academic
from agents.search.chain import Chain, Engine, OnSwitch
from agents.search.firecrawl import BASE as FIRECRAWL_BASE
from agents.search.firecrawl import Firecrawl
from agents.search.litellm_web import SERVICES, Web, WebService
from agents.search.pages import KeptPages, Pages
from agents.search.provider import Provider
from agents.search.request_retry import Patience
from agents.search.rest import http_client
from agents.search.searcher import Searcher

WEB_NAMES = ("tavily", "firecrawl", "web", "ddgs", *(service.name for service in SERVICES))
NAMES = (*WEB_NAMES, "academic", *INDEXES, "library")
"""What RETRIEVER may name."""

KEY_VARIABLES = tuple(
    dict.fromkeys(
        (
            "TAVILY_API_KEY",
            "FIRECRAWL_API_KEY",
            *(service.key_variable for service in SERVICES if service.key_variable),
            *(index.key_variable for index in INDEXES.values() if index.key_variable),
        )
    )
)
"""Variables that `keys` of `choose` may hold."""

BASE_VARIABLES = (
    "TAVILY_API_BASE",
    "FIRECRAWL_API_BASE",
    *(service.base_variable or f"{service.name.upper()}_API_BASE" for service in SERVICES),
    *(f"{name.upper()}_API_BASE" for name in INDEXES),
)
"""Variables that `bases` of `choose` may hold."""


def choose(
    names: Sequence[str],
    *,
    keys: Mapping[str, str],
    bases: Mapping[str, str],
    pages: Pages,
    library: Searcher | None = None,
    sample: bool = False,
    on_switch: OnSwitch | None = None,
    contact: str = "",
    patience: Patience | None = None,
) -> Searcher:
    """Make the searcher.

    Args:
        names: as RETRIEVER gives them; empty for what the keys allow, and keyless web search behind it.
        keys: by the names of their variables; empty or missing is none. Placeholders are taken for keys.
        bases: addresses of services, by the names of their variables.
        pages: reads web pages.
        library: the user's documents, or the sample.
        sample: the library is the sample.
        on_switch: told when a provider fails.
        contact: a mail address for the indexes of papers.
        patience: how long to bear with a provider; as usual when not given.

    Returns:
        The library alone where nothing else is named, else a `Chain`.

    Raises:
        ConfigError: a name is unknown, or a key or package is missing.
    """
    names = tuple(dict.fromkeys(name.strip().casefold() for name in names if name.strip()))
    for name in names:
        _check(name)
    if names == ("library",):
        if library is None:
            raise ConfigError("RETRIEVER names library, and there is no library.")
        return library
    maker = _Maker(keys, bases, contact, patience)
    providers, beside, notes = maker.usual() if not names else maker.named(names)
    return Chain(
        providers, pages, library, on_switch, beside=beside, sample=sample and "library" not in names, notes=notes
    )


Made = tuple[list[Engine], list[Engine], tuple[str, ...]]
"""Providers in order, providers beside them, notes for the operator."""


class _Maker:
    """Makes providers; all of one choice keep the texts that they get in one place."""

    def __init__(
        self, keys: Mapping[str, str], bases: Mapping[str, str], contact: str, patience: Patience | None
    ) -> None:
        self._keys, self._bases, self._contact, self._patience = keys, bases, contact, patience
        self._kept = KeptPages()

    def usual(self) -> Made:
        """Take what the keys allow, then keyless web search (specification, section 11)."""
        providers: list[Engine] = []
        if self._set("TAVILY_API_KEY"):
            providers.append(self._tavily())
        if self._set("FIRECRAWL_API_KEY"):
            providers.append(self._firecrawl())
        providers.append(self._tavily(keyed=False))
        if ddgs.installed():
            providers.append(ddgs.Ddgs(patience=self._patience, kept=self._kept))
        return providers, [], ()

    def named(self, names: Sequence[str]) -> Made:
        """Take what is named, and nothing else. Indexes of papers are asked beside the web, not in its place."""
        providers: list[Engine] = []
        papers: list[str] = []
        notes: list[str] = []
        makers: dict[str, Callable[[], Provider]] = {
            "tavily": self._tavily,
            "firecrawl": self._firecrawl,
            "web": self._first_service,
            "ddgs": self._ddgs,
            **{service.name: partial(self._service, service) for service in SERVICES},
        }
        for name in names:
            if name in makers:
                providers.append(makers[name]())
            elif name != "library":
                papers += ACADEMIC if name == "academic" else (name,)
        if "tavily" in names and not self._set("TAVILY_API_KEY"):
            notes.append("TAVILY_API_KEY is not set: Tavily is asked without a key, which allows fewer searches.")
        client = http_client(f"Dossier/0.1 (research assistant; {self._contact or 'single searches for a person'})")
        beside: list[Engine] = [
            Academic(
                INDEXES[name],
                client,
                key=self._secret(INDEXES[name].key_variable),
                base=self._bases.get(f"{name.upper()}_API_BASE", ""),
                contact=self._contact,
                patience=self._patience,
                kept=self._kept,
            )
            for name in dict.fromkeys(papers)
        ]
        return providers, beside, tuple(notes)

    def _tavily(self, *, keyed: bool = True) -> Provider:
        from agents.search.tavily import BASE, Tavily  # 0.4 s to import

        key = self._secret("TAVILY_API_KEY") if keyed else None
        base = self._bases.get("TAVILY_API_BASE") or BASE
        return Tavily(key, base=base, patience=self._patience, kept=self._kept)

    def _firecrawl(self) -> Provider:
        base = self._bases.get("FIRECRAWL_API_BASE") or FIRECRAWL_BASE
        if base == FIRECRAWL_BASE and not self._set("FIRECRAWL_API_KEY"):
            raise ConfigError(_missing("firecrawl", "FIRECRAWL_API_KEY"))
        return Firecrawl(self._secret("FIRECRAWL_API_KEY"), base=base, patience=self._patience, kept=self._kept)

    def _first_service(self) -> Provider:
        for service in SERVICES:
            if self._usable(service):
                return self._service(service)
        wanted = [service.key_variable or service.base_variable for service in SERVICES]
        raise ConfigError(
            f"RETRIEVER names web, and no service for it is set up. Set one of {', '.join(wanted)} in `.env`."
        )

    def _service(self, service: WebService) -> Provider:
        if not self._usable(service):
            raise ConfigError(_missing(service.name, service.key_variable or service.base_variable))
        return Web(
            service,
            self._secret(service.key_variable),
            base=self._bases.get(_base_variable(service), ""),
            patience=self._patience,
            kept=self._kept,
        )

    def _ddgs(self) -> Provider:
        if not ddgs.installed():
            raise ConfigError(f"RETRIEVER names ddgs, and {ddgs.MISSING}.")
        return ddgs.Ddgs(patience=self._patience, kept=self._kept)

    def _usable(self, service: WebService) -> bool:
        return self._set(service.key_variable) if service.key_variable else bool(self._bases.get(service.base_variable))

    def _set(self, variable: str) -> bool:
        return bool(self._keys.get(variable, "").strip())

    def _secret(self, variable: str) -> SecretStr | None:
        return SecretStr(self._keys[variable].strip()) if variable and self._set(variable) else None


def _check(name: str) -> None:
    if name in NAMES:
        return
    near = get_close_matches(name, NAMES, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise ConfigError(f"RETRIEVER names {name}, which is no retriever.{hint} There are: {', '.join(NAMES)}.")


def _base_variable(service: WebService) -> str:
    return service.base_variable or f"{service.name.upper()}_API_BASE"


def _missing(name: str, variable: str) -> str:
    return (
        f"RETRIEVER names {name}, but {variable} is not set. Put it into `.env`, or take {name} out of RETRIEVER "
        "(tavily and the indexes of papers work without a key)."
    )
