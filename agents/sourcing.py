"""The part of the composition root that says where documents come from."""

from dataclasses import dataclass

from agents.core.paths import RESOURCES
from agents.core.settings import Settings, search_values
from agents.search.library import Library
from agents.search.pages import WebPages
from agents.search.registry import BASE_VARIABLES, KEY_VARIABLES, choose
from agents.search.searcher import LIBRARY_NAME, SAMPLE_NAME, Searcher
from agents.web.fetching import Fetcher
from agents.web.guard import AllowedHosts

SAMPLE_LIBRARY = RESOURCES / "examples" / "library"
"""Invented documents that ship with the program, searched when no folder of one's own is set."""


@dataclass(frozen=True)
class Sources:
    """Where documents come from, and what has to be closed."""

    searcher: Searcher
    sample: bool
    fetcher: Fetcher


def open_sources(settings: Settings) -> Sources:
    """Set up folders and search providers.

    Raises:
        ConfigError: a folder is missing, a retriever unknown, or a key or package not there.
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
        keys=search_values(KEY_VARIABLES),
        bases=search_values(BASE_VARIABLES),
        pages=WebPages(fetcher),
        library=None if sample else library,
        sample=library if sample else None,
    )
    return Sources(searcher=searcher, sample=sample, fetcher=fetcher)
