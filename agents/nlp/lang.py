"""Word lists and cues, one file a language: `lang/*.toml`, read once. `common.toml` holds what spans languages.

A list is words with spaces between; a cue is a regular expression's alternatives, joined over all languages, since a
report in one language quotes sources in another.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

CUED = ("en", "de", "fr", "es")
"""Languages whose grammar the checks know: negation, reservations, bounds, comparisons."""


@cache
def _files() -> Mapping[str, Mapping[str, Any]]:
    folder = Path(__file__).parent / "lang"
    return {path.stem: tomllib.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.toml"))}


def languages(key: str) -> tuple[str, ...]:
    """Give the languages that have a list of this name."""
    return tuple(language for language, lists in _files().items() if key in lists)


def text(key: str, language: str) -> str:
    """Give a list as it is written; empty when the language has none."""
    return str(_files().get(language, {}).get(key, ""))


@cache
def words(key: str, language: str | None = None) -> frozenset[str]:
    """Give the words of a list; without a language those of all languages together."""
    chosen = [language] if language else list(_files())
    return frozenset(word for one in chosen for word in text(key, one).split())


@cache
def table(key: str, language: str) -> Mapping[str, Any]:
    """Give a table of a language; empty when it has none."""
    found = _files().get(language, {}).get(key, {})
    return dict(found)


@cache
def rows(key: str, language: str = "common") -> tuple[tuple[str, ...], ...]:
    """Give the lines of a list, each as its words."""
    return tuple(tuple(line.split()) for line in text(key, language).splitlines() if line.strip())


@cache
def alternatives(key: str) -> str:
    """Give the alternatives of a cue in all languages, longest languages' files in order, for use inside a pattern."""
    parts = (re.sub(r"\s*\n\s*", "", text(key, language)).strip("|") for language in _files())
    return "|".join(part for part in parts if part)


@cache
def cue(key: str) -> re.Pattern[str]:
    """Give the pattern that finds a cue as whole words, in any language and case."""
    return re.compile(rf"\b(?:{alternatives(key)})\b", re.IGNORECASE)
