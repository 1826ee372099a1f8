"""The engine's own sentences, and closed lists of words that tell the grammar of a question: one data file a language."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from agents.contracts.frozen import Frozen

LANGUAGES = ("en", "de", "fr", "es")
SPACELESS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
"""Scripts that are written without spaces between words."""


class Locale(Frozen):
    """One file of `locales/`."""

    says: Mapping[str, str]
    words: Mapping[str, str]


@cache
def _locale(language: str) -> Locale:
    text = files("agents.offline").joinpath("locales", f"{language}.toml").read_text("utf-8")
    return Locale.model_validate(tomllib.loads(text))


def known(language: str) -> str:
    """Give the language that the engine writes for a BCP 47 tag: English where it has no sentences."""
    short = re.split("[-_]", language.casefold())[0]
    return short if short in LANGUAGES else "en"


def say(language: str, name: str, **values: object) -> str:
    """Fill the sentence `name`, in English where `language` has none."""
    return _locale(known(language)).says[name].format(**values)


@cache
def listed(name: str) -> re.Pattern[str]:
    """Compile the closed list `name` of all languages, as whole words: short texts are often taken for another one."""
    return re.compile(rf"(?<!\w)(?:{_all(name)})(?!\w)", re.IGNORECASE)


@cache
def opening(name: str) -> re.Pattern[str]:
    """Compile the closed list `name` for the beginning of a text."""
    return re.compile(rf"^\W*(?:{_all(name)})(?!\w)", re.IGNORECASE)


@cache
def entries(name: str) -> frozenset[str]:
    """Give the words of a list that holds no patterns, casefolded."""
    return frozenset(_all(name).casefold().split("|"))


@cache
def _all(name: str) -> str:
    return "|".join(words for language in LANGUAGES if (words := _locale(language).words.get(name)))
