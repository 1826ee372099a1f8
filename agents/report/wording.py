"""What a report says in its own voice: one file a language under `locales/`, English where a language lacks a text."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType

from babel import Locale
from babel.numbers import format_decimal

from agents.contracts.frozen import Said, filled
from agents.nlp.lang import CUED
from agents.nlp.tokens import language_of

LOCALES = Path(__file__).with_name("locales")
RIGHT_TO_LEFT = frozenset({"ar", "fa", "he", "ur", "ps", "yi", "dv", "ckb"})
"""Languages that are written from right to left."""
_MAX_TRANSITION = 120  # a longer sentence that ends with a colon states something by itself
_FIGURE = re.compile(r"\d")
_FORMULAS = re.compile(r"(?:\$[^$]+\$[\s.,;]*)+")


class Form(str):
    """A text with places that are filled in as its language counts."""

    language = "en"

    def format(self, *_: object, **values: object) -> str:
        return filled(self, values, self.language)


class Texts:
    """Texts by name, as attributes; `{…}` are the places that are filled in."""

    def __init__(self, texts: Mapping[str, object], language: str) -> None:
        self.texts, self.language = texts, language

    def __getattr__(self, name: str) -> Form:
        if name not in self.texts:
            raise AttributeError(name)
        form = Form(self.texts[name])
        form.language = self.language
        return form


class Wording(Texts):
    """Headings, labels and whole sentences of one language, with its tables; labels avoid plurals."""

    def __init__(self, language: str) -> None:
        own, english = _file(language), _file("en")
        tables = {name: {**part, **own.get(name, {})} for name, part in english.items() if isinstance(part, dict)}
        super().__init__({**english, **own, **tables}, language)
        self.marks: tuple[str, str] = tuple(self.texts["quotes"])  # type: ignore[arg-type,assignment]
        self.no_fact = tuple(own.get("no_fact", ()))
        """Patterns of sentences that state no fact: transitions, and statements about the research itself."""
        self.statuses, self.figures, self.tags = tables["statuses"], tables["figures"], tables["tags"]
        self.grades, self.verdicts, self.claim_verdicts = tables["grades"], tables["verdicts"], tables["claim_verdicts"]
        self.ledger, self.changes = Texts(tables["ledger"], language), Texts(tables["changes"], language)
        self.earlier, self.memory = Texts(tables["earlier"], language), Texts(tables["memory"], language)
        self.reasons = tables["reasons"]
        self.has_reasons = "reasons" in own
        """Why a document was not used, or not wholly, by what the program says in English."""
        self.providers = tables["providers"]

    def reason(self, said: str, more: Mapping[str, str] = MappingProxyType({})) -> str:
        """Say in this language what the program says in English; as it is where neither list has words for it."""
        whole = Said.read(said)
        known = more.get(whole.form) or self.reasons.get(whole.form, whole.form)
        values = {name: self.reason(one, more) if isinstance(one, str) else one for name, one in whole.values.items()}
        return filled(known, values, self.language) if values else known

    def quoted(self, text: str) -> str:
        """Put words between the quotation marks of the language."""
        return self.marks[0] + " ".join(text.split()) + self.marks[1]

    def provider(self, name: str) -> str:
        """Name what was searched, for a reader; a folder of documents goes by its own name."""
        return self.providers.get(name, name)

    def number(self, value: float, digits: str = "0.00") -> str:
        """Write a figure as the language does: with a comma in German."""
        return format_decimal(value, format=digits, locale=self.language)


def base_language(tag: str) -> str:
    """Give the language of a BCP 47 tag without region and script, in lower case; `en` for an empty one."""
    return tag.strip().replace("_", "-").casefold().split("-")[0] or "en"


def direction(tag: str) -> str:
    """Give `rtl` or `ltr` for a BCP 47 tag, whether or not there is a wording in that language."""
    return "rtl" if base_language(tag) in RIGHT_TO_LEFT else "ltr"


def languages() -> tuple[str, ...]:
    """List the languages that have a file."""
    return tuple(sorted(path.stem for path in LOCALES.glob("*.toml")))


def wording(language: str) -> Wording:
    """Give the wording for a BCP 47 tag: its base language, else English."""
    base = base_language(language)
    return _wording(base if base in languages() else "en")


_wording = cache(Wording)


def report_language(question: str, told: str = "") -> str:
    """Say in which language a question is reported on: as it wishes, else as `told`, else its own; English where none can be."""
    language = _wished(question) or told or language_of(question, report=True)
    return language if base_language(language) in languages() else "en"


def _wished(question: str) -> str:
    """Give the language that a question asks to be answered in; empty where it asks for none."""
    names = (name.casefold() for found in _wishes().finditer(question) for name in found.groups() if name)
    return next((_names()[name] for name in names if name in _names()), "")


def cannot_be_written(question: str) -> bool:
    """Tell a question in a language that no report is written in."""
    return base_language(language_of(question, report=True)) not in languages()


@cache
def _names() -> Mapping[str, str]:
    """Give the languages by their names in English, German, French and Spanish."""
    known = ((name, code) for one in CUED for code, name in Locale(one).languages.items() if len(code) == 2)
    return {name.casefold(): code for name, code in known}


@cache
def _wishes() -> re.Pattern[str]:
    """Find sentences like `Please answer in English.` or `Bericht auf Deutsch, bitte`; `in French newspapers` is no wish."""
    told = word_lists()
    verb, please = (f"(?:{'|'.join(told[name])})" for name in ("report_verbs", "please"))
    named = r"(?:in|auf|en)\s+(\w+)"
    end = r"(?=\s*(?:[.?!,;:…]|$))"
    said = rf"(?:{please}[, ]+)?{verb}\b[^.?!,;\n]{{0,30}}?\s{named}(?:[, ]+{please})?{end}"
    return re.compile(
        rf"(?:^|[.?!…]\s+|\n\s*)(?:{said}|{please}[, ]+{named}{end}|{named}[, ]+{please}{end})", re.IGNORECASE
    )


@cache
def _file(language: str) -> dict[str, dict[str, str]]:
    return tomllib.loads((LOCALES / f"{language}.toml").read_text("utf-8"))


@cache
def word_lists() -> dict[str, list[str]]:
    """Give the words by which the text of writers and sources is read."""
    return tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))


def states_no_fact(sentence: str, language: str) -> bool:
    """Tell whether the closed list exempts a sentence from carrying a citation.

    English patterns hold beside those of the report's own language, since models fall back to English. A sentence with
    a figure is never exempt as a transition.
    """
    text = " ".join(sentence.replace("’", "'").split())
    if not any(letter.isalnum() for letter in text) or _FORMULAS.fullmatch(text):
        return True
    if text.endswith((":", "：")) and len(text) <= _MAX_TRANSITION and not _FIGURE.search(text):
        return True
    text = text.rstrip(".:!… ")
    return any(pattern.fullmatch(text) for pattern in _patterns(base_language(language)))


@lru_cache(maxsize=16)
def _patterns(base: str) -> tuple[re.Pattern[str], ...]:
    own = wording(base).no_fact if base != "en" else ()
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in (*own, *wording("en").no_fact))
