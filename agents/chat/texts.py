"""The chat's own words: one TOML file a language in `locales/`, English where a language lacks them.

Each file holds `texts` (what the chat says), `terms` (a glossary), and `wishes`, `running` and `parts`: the short
messages that are understood in that language, as regular expressions. They are understood in every language at once.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from agents.contracts.frozen import filled
from agents.nlp.tokens import language_of
from agents.report.wording import wording
from agents.research.scoping.authorization import PHRASE

FOLDER = Path(__file__).parent / "locales"
Locale = Mapping[str, Mapping[str, str]]


@lru_cache(maxsize=1)
def locales() -> Mapping[str, Locale]:
    """Read all locale files, by language."""
    return {file.stem: tomllib.loads(file.read_text(encoding="utf-8")) for file in sorted(FOLDER.glob("*.toml"))}


class ChatTexts:
    """The texts of one language."""

    def __init__(self, language: str = "en") -> None:
        known = locales()
        self.language = language if "texts" in known.get(language, {}) else "en"
        own = known[self.language]
        self._texts, self.terms, self._languages = own["texts"], own["terms"], own["languages"]
        self.spoken = own.get("said", {})

    def __call__(self, name: str, /, **values: object) -> str:
        """Write a text with its values; `{phrase}` is always there."""
        return filled(self._texts[name], {"phrase": PHRASE, **values}, self.language)

    def said(self, text: str) -> str:
        """Say in this language what other parts of the program say in English; as it is where it has no words for it."""
        return wording(self.language).reason(text, self.spoken)

    def minutes(self, minutes: float | None) -> str:
        """Write a time budget; None is no limit."""
        return self("no_time_limit") if minutes is None else self("minutes", n=minutes)

    def rough_minutes(self, minutes: float) -> str:
        """Write a time as people say it: half minutes are below what anybody plans with."""
        return self.minutes(round(minutes)) if minutes >= 0.75 else self("under_a_minute")

    def counted(self, number: int, what: str) -> str:
        """Write a number with its noun."""
        return self(f"{what}_n", n=number)

    def money(self, cost_usd: float | None) -> str:
        """Write what was spent; unknown is not zero."""
        if cost_usd is None:
            return self("cost_not_known")
        return self("nothing_spent") if cost_usd == 0 else self("spent", amount=f"${cost_usd:.2f}")

    def price(self, cost_usd: float | None) -> str:
        """Write what something will cost; unknown is not zero."""
        if cost_usd is None:
            return self("price_unknown")
        return self("about", figure=f"${max(cost_usd, 0.01):.2f}") if cost_usd else self("free")

    @property
    def languages(self) -> list[str]:
        """Name the languages that a report can be asked for in."""
        return list(self._languages.values())

    def language_name(self, tag: str) -> str:
        """Name a language; the tag itself where it has no name here."""
        return self._languages.get(tag.partition("-")[0], tag)

    def listed(self, names: tuple[str, ...]) -> str:
        """Write names in a row: `a, b and c`."""
        *most, last = names or ("–",)
        return f"{', '.join(most)} {self('and')} {last}" if most else last


def speaks(message: str, before: str = "") -> str:
    """Tell in which language to answer: that of the message, or as before where it is too short to tell."""
    if len(message.split()) < 4 and before:
        return before
    return ChatTexts(language_of(message, asked=True)).language


# ---- reading


_MARKS = " \t\n.!?…,;:¡¿\"'“”‘’„«»()👍🙏🙂😊👌✅😅😂🤔😀😃😄😉🎉❤\ufe0f"


@lru_cache(maxsize=1)
def part_words() -> Mapping[str, str]:
    """Merge the words that commands are made of over all languages, each kind as one alternation."""
    words: dict[str, list[str]] = {}
    for locale in locales().values():
        for name, listed in locale["parts"].items():
            words.setdefault(name, []).append(listed)
    return {name: "|".join(listed) for name, listed in words.items()}


@lru_cache(maxsize=1)
def polite() -> re.Pattern[str]:
    """Match what stands before or behind a command for politeness only."""
    parts = part_words()
    return re.compile(rf"^(?:{parts['polite']})\b[\s,:.!]*|[\s,]+(?:{parts['polite_after']})$", re.IGNORECASE)


def one_line(message: str) -> str:
    """Write a message on one line, its apostrophes straight."""
    return " ".join(message.replace("’", "'").split())


def plain(message: str) -> str:
    """Write a message in lower case on one line, without closing marks."""
    return one_line(message.lower()).strip(_MARKS)


def bare(text: str) -> str:
    """Strip what is only polite."""
    while (less := polite().sub("", text).strip(_MARKS)) != text:
        if not less:
            return text
        text = less
    return text


# ---- writing


def cut(text: str, most: int) -> str:
    """Write a text on one line, cut where it is longer."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def minutes_and_seconds(seconds: float) -> str:
    """Write a duration as a clock shows it: `7:04`."""
    whole = max(0, int(seconds))
    return f"{whole // 60}:{whole % 60:02d}"
