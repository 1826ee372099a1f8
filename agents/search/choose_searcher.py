"""From what the operator set to the searcher: which providers, in which order, with which keys.

A new provider is a line in one of the two tables: `web_providers.WEB` or `academic.PAPERS`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches

from pydantic import SecretStr

from agents.core.errors import ConfigError
from agents.core.paths import RESOURCES
from agents.core.settings import Settings, search_values
from agents.core.transport import RetryPolicy
from agents.search import web_providers
from agents.search.academic import ACADEMIC, PAPERS
from agents.search.chain import Chain
from agents.search.library import Library
from agents.search.pages import WebPages
from agents.search.provider import Access, Provider, Service
from agents.search.searcher import LIBRARY_NAME, SAMPLE_NAME, Searcher
from agents.search.web_providers import KINDS, WEB
from agents.web.fetching import Fetcher
from agents.web.guard import AllowedHosts

PROVIDERS: dict[str, Service] = {**WEB, **PAPERS}
NAMES = (*PROVIDERS, "web", "academic", "library")  # what RETRIEVER may name
VARIABLES = tuple(
    dict.fromkeys(one for entry in PROVIDERS.values() for one in (entry.key_variable, entry.base_variable) if one)
)
"""Keys and addresses that `values` of `choose` may hold, by their variables."""


def choose(
    names: Sequence[str],
    *,
    values: Mapping[str, str],
    pages: WebPages,
    library: Searcher | None = None,
    sample: Searcher | None = None,
    retry: RetryPolicy | None = None,
) -> Chain:
    """Make the searcher; a `ConfigError` where a name is unknown, or a key or package is missing."""
    names = tuple(dict.fromkeys(name.strip().casefold() for name in names if name.strip()))
    for name in (one for one in names if one not in NAMES):
        hint = "".join(f" Did you mean {near}?" for near in get_close_matches(name, NAMES, n=1))
        raise ConfigError(f"RETRIEVER names {name}, which is no retriever.{hint} There are: {', '.join(NAMES)}.")
    if names == ("library",):
        if library is None and sample is None:
            raise ConfigError("RETRIEVER names library, and there is no library.")
        return Chain((), None, library, sample=sample)
    shared = Access(retry=retry, cache=pages.sent)

    def made(name: str, *, keyed: bool = True) -> Provider:
        entry = PROVIDERS[name]
        key = values.get(entry.key_variable, "").strip() if keyed else ""
        base = values.get(entry.base_variable, "").strip()
        access = replace(shared, key=SecretStr(key) if key else None, base=base)
        return KINDS.get(name, Provider)(entry, access)

    if not names:
        chosen = [
            made(name) for name in ("tavily", "firecrawl") if values.get(PROVIDERS[name].key_variable, "").strip()
        ]
        behind = [made("tavily", keyed=False), *([made("ddgs")] if web_providers.installed() else [])]
        sample = None if library or chosen else sample
        return Chain([*chosen, *behind], pages, library, sample=sample, by_default=not chosen)
    listed = [one for name in names if name != "library" for one in _expanded(name, values)]
    engines = [made(name) for name in dict.fromkeys(listed)]
    papers = [engine for engine in engines if engine.service.role == "papers"]
    return Chain([engine for engine in engines if engine not in papers], pages, library, beside=papers)


def _expanded(name: str, values: Mapping[str, str]) -> tuple[str, ...]:
    """Give the providers that a name stands for, all of them set up."""
    if name == "academic":
        return ACADEMIC
    if name == "web":
        services = {one: entry for one, entry in PROVIDERS.items() if entry.role == "service"}
        usable = [one for one, entry in services.items() if entry.is_set_up(values)]
        if not usable:
            wanted = ", ".join(entry.needs for entry in services.values())
            raise ConfigError(f"RETRIEVER names web, and no service for it is set up. Set one of {wanted} in `.env`.")
        return (usable[0],)
    entry = PROVIDERS[name]
    if name == "ddgs" and not web_providers.installed():
        raise ConfigError(f"RETRIEVER names ddgs, and {web_providers.MISSING}.")
    if not entry.is_set_up(values):
        raise ConfigError(
            f"RETRIEVER names {name}, but {entry.needs} is not set. Put it into `.env`, or take {name} out of RETRIEVER "
            "(tavily and the indexes of papers work without a key)."
        )
    return (name,)


SAMPLE_LIBRARY = RESOURCES / "examples" / "library"
"""Invented documents that ship with the program, searched when no folder of one's own is set."""


def open_sources(settings: Settings) -> tuple[Chain, bool, Fetcher]:
    """Set up folders and search providers; gives the searcher, whether the sample is searched, and what fetches pages.

    A `ConfigError` where a folder is missing, a retriever unknown, or a key or package not there.
    """
    folders = settings.library
    sample = not folders
    library = Library(
        folders or (SAMPLE_LIBRARY,),
        settings.data_dir / "library.db",
        kind="sample" if sample else "library",
        name=SAMPLE_NAME if sample else LIBRARY_NAME,
    )
    fetcher = Fetcher(AllowedHosts.parse(settings.allow_private_hosts))
    searcher = choose(
        settings.retriever,
        values=search_values(VARIABLES),
        pages=WebPages(fetcher),
        library=None if sample else library,
        sample=library if sample else None,
    )
    return searcher, sample, fetcher
