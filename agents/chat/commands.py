"""The one parser of what is typed: a message becomes a command, or None where it says something of its own.

Pure: it knows no state and asks nobody. Numbers, buttons, the card, the phrase, `/commands`, limits of a draft, and the
closed list of short wishes are all read here, before the manager is asked, whichever engine answers. Their words are in
`commands.toml` and `locales/*.toml`.
"""

import re
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Literal

from agents.chat.texts import bare, locales, one_line, part_words, plain, polite
from agents.contracts.frozen import Frozen, Mode
from agents.contracts.sources import Place, SourceLimits
from agents.research.scoping.authorization import (
    ResearchCommand,
    authorizes,
    looks_like_the_phrase,
    minutes_of,
    parse_research,
)

PartOp = Literal["drop", "add", "rename", "up", "down", "stop", "finish", "retry"]


class Start(Frozen):
    """The phrase, or something that only looks like it."""

    exact: bool


class Pick(Frozen):
    """Narrower questions by their numbers; 0 is all of them, -1 the last."""

    numbers: tuple[int, ...]


class Wish(Frozen):
    """One of the closed list of short wishes: the names of `wishes` in `locales/*.toml`."""

    name: str
    topic: str = ""  # the word to explain, or how many sentences to sum up in


class Part(Frozen):
    """What is to become of one part of a draft or of a run."""

    op: PartOp
    number: str = ""  # as it is shown, `2.1`; empty where a title or nothing was named
    title: str = ""
    text: str = ""  # the new title, or the question of a new part
    loose: bool = False  # said without a number or the word for a part: in a run it is guidance


class Recall(Frozen):
    """Asks what is known already; nothing is searched."""

    question: str  # empty asks what there is at all


class Edit(SourceLimits):
    """What to change in the limits of a draft; empty fields change nothing."""

    drop: tuple[int, ...] = ()  # numbers of queries, counted from 1
    mode: Mode | None = None
    minutes: float | None = None
    time_given: bool = False
    language: str | None = None
    lift: tuple[str, ...] = ()  # domains that are neither required nor left out any more
    drop_files: tuple[int, ...] = ()  # numbers of the user's own files, counted from 1
    places: tuple[Place, ...] | None = None  # where to search; empty for everywhere
    all_domains: bool = False
    any_date: bool = False
    memory: bool | None = None  # whether what earlier research found is used

    def __or__(self, other: "Edit") -> "Edit":
        changed = {name: getattr(other, name) for name in other.model_fields_set}
        for name in {"drop", "drop_files", "domains", "exclude_domains", "lift"} & changed.keys():
            changed[name] = (*getattr(self, name), *changed[name])
        return self.model_copy(update=changed)


Command = Start | ResearchCommand | Pick | Wish | Part | Edit | Recall

MAX_WISH = 120  # characters of a short wish; longer messages say something of their own


def read(message: str, command: str | None = None) -> Command | None:
    """Read a message and the command that was chosen from the menu; None when it is no command, `BadRequest` when it can't be."""
    if command == "research" or message.lstrip().split(maxsplit=1)[:1] == ["/research"]:
        return parse_research(message)
    if (question := _recalled(message, command)) is not None:
        return Recall(question=question)
    if authorizes(message) or looks_like_the_phrase(message):
        return Start(exact=authorizes(message))
    if not message.strip():
        return None
    return _pick(message) or _part(message) or read_edit(message) or _wish(message) or _part_by_name(message)


def asks_for_progress(message: str) -> bool:
    """Tell whether a message sent during a run asks how it is going."""
    asked = "|".join(locale["running"]["progress"] for locale in locales().values())
    return message.rstrip(" \"'”’»").endswith(("?", "？", "؟")) or bool(re.search(asked, message, re.IGNORECASE))


def _recalled(message: str, command: str | None) -> str | None:
    text = one_line(message)
    first, _, rest = text.partition(" ")
    if command == "memory" or first.lower() == "/memory":
        return text if command == "memory" else rest
    found = re.fullmatch(rf"(?:{part_words()['recall']})[\s:,]+(?P<q>.+)", bare(text.rstrip("?!. ")), re.IGNORECASE)
    # What is asked in whole sentences keeps its question mark; a topic is no question.
    return found["q"] + ("?" if text.endswith("?") and " " in found["q"] else "") if found else None


# ---- the tables


class Patterns:
    """The patterns of `commands.toml`, with the words of all languages put in."""

    def __init__(self) -> None:
        table = tomllib.loads(Path(__file__).with_name("commands.toml").read_text("utf-8"))
        words = {name: f"(?:{listed})" for name, listed in part_words().items()} | table["fragments"]

        def filled(pattern: str) -> re.Pattern[str]:
            while (more := re.sub(r"~(\w+)~", lambda found: words[found[1]], pattern)) != pattern:
                pattern = more
            return re.compile(pattern, re.IGNORECASE)

        self.edits = [filled(one) for one in table["edits"]]
        self.orders: list[tuple[PartOp, re.Pattern[str]]] = [(op, filled(one)) for op, one in table["orders"]]
        self.one = {name: filled(one) for name, one in table.items() if isinstance(one, str)}
        self.domain = re.compile(rf"(?:https?://)?(?:www\.)?({words['domain']})")  # a domain and nothing else
        numbers = table["numbers"]
        self.around = frozenset(numbers.pop("around").split())
        self.numbers = {word: int(number) for number, listed in numbers.items() for word in listed.split()}
        listed = (pair for locale in locales().values() for pair in locale.get("languages", {}).items())
        named = {name.lower(): tag for tag, name in listed}
        self.languages: dict[str, str] = named | table["languages"]
        """Names of languages as users write them, and their BCP 47 tags."""
        wishes = (pair for locale in locales().values() for pair in locale["wishes"].items())
        self.wishes = [(name, re.compile(pattern, re.IGNORECASE)) for name, pattern in wishes]
        # What explains a word matches nearly any short question: asked last.
        self.wishes.sort(key=lambda one: one[0] == "term")


patterns = lru_cache(maxsize=1)(Patterns)  # the tables are read once


# ---- wishes and numbers


def _wish(message: str) -> Wish | None:
    if len(message) > MAX_WISH:
        return None
    glossary = {name for locale in locales().values() for name in locale.get("terms", {})}
    for text in dict.fromkeys((plain(message), bare(plain(message)))):
        for name, pattern in patterns().wishes:
            if found := pattern.fullmatch(text):
                topic = next((one for one in found.groupdict().values() if one), "")
                if name == "term":
                    # Also in the plural, or with a word beside it.
                    tried = (topic, topic.rstrip("sn"), *topic.split())
                    topic = next((one for one in tried if one in glossary), "")
                if topic or name != "term":
                    return Wish(name=name, topic=topic)
    return None


def _pick(message: str) -> Pick | None:
    """Read a choice by number: `2`, `1 and 3`, `the second one`, `both`."""
    known = patterns()
    if len(message.split()) > 10 or known.one["no_number"].search(message):
        return None
    found: list[int] = []
    for token in re.findall(r"\d+(?:st|nd|rd|th)?|[^\W\d_]+(?:'[^\W\d_]+)?|[&+]", plain(message)):
        if token.isdecimal():
            found.append(int(token))
        elif token in known.numbers and not (found and token in {"one", "un", "uno"}):
            found.append(known.numbers[token])
        elif token not in known.around:
            return None
    return Pick(numbers=tuple(dict.fromkeys(found))) if found and max(found) <= 99 else None


# ---- limits


def read_edit(message: str) -> Edit | None:
    """Read a message as edits of the limits; None unless every part of it is one, `BadRequest` for a time that can't be."""
    line = one_line(message.lower()).strip(" .!")
    if len(message) > 200 or (line.endswith("?") and not polite().match(line)):
        return None
    text = line.rstrip("? ")
    if (whole := _clause(text)) is not None:
        return whole
    edit = Edit()
    for part in filter(None, re.split(r"\s*(?:[,;\n]|\band\b|\bund\b)\s*", text)):
        clause, more = _clause(part), patterns().domain.fullmatch(part)
        if clause is None and more and (edit.domains or edit.exclude_domains):
            # The rest of `only domains a.org, b.org`.
            clause = Edit.model_validate({"exclude_domains" if edit.exclude_domains else "domains": (more[1],)})
        if clause is None:
            return None
        edit = edit | clause
    return edit if edit.model_fields_set else None


def _clause(text: str) -> Edit | None:
    for tried in dict.fromkeys((text, bare(text))):
        if (time := _minutes(tried)) is not None:
            return time
        for pattern in patterns().edits:
            if (found := pattern.fullmatch(tried)) and (fields := _fields(found)):
                return Edit.model_validate(fields)
    return None


def _fields(found: re.Match[str]) -> dict[str, object]:
    """Make fields of an edit of the groups that matched; nothing where a language is none that is known."""
    said = {name: value for name, value in found.groupdict().items() if value}
    fields: dict[str, object] = {}
    for name, value in said.items():
        match name:
            case "drop" | "drop_files":
                fields[name] = (int(value),)
            case "domains" | "exclude_domains" | "lift":
                fields[name] = (value,)
            case "standard" | "deep":
                fields["mode"] = name
            case "web" | "library" | "everywhere":
                fields["places"] = () if name == "everywhere" else (name,)
            case "memory":
                fields["memory"] = not {"without", "off"} & said.keys()
            case "all_domains" | "any_date":
                fields[name] = True
            case "language" if value in patterns().languages:
                fields["language"] = patterns().languages[value]
        if name in {"date_from", "year"}:
            fields["date_from"] = f"{value}-01-01"
        if name in {"date_to", "year"}:
            fields["date_to"] = f"{value}-12-31"
    return fields


def _minutes(text: str) -> Edit | None:
    known = patterns().one
    while (less := known["time_fill"].sub("", text)) != text:
        text = less
    if not known["time_word"].search(text) or not (found := known["time"].fullmatch(text)):
        return None
    minutes = minutes_of({"an": "1", "one": "1", "half an": "0.5"}.get(found["n"], found["n"]))
    if found["unit"] and found["unit"][0] in "hs" and minutes is not None:
        minutes = minutes_of(f"{minutes * 60:g}")
    return Edit(minutes=minutes, time_given=True)


# ---- parts of a plan

_QUOTES = " \t\"'“”‘’„«»:"


def _part(message: str) -> Part | None:
    """Read an order about one part that is named by its number, or a new part; None when it is anything else."""
    known, text = patterns(), one_line(message)
    if len(text) > 300:
        return None
    asked = text.endswith("?") and not polite().match(text)
    whole = text.rstrip("? ").strip(" .!¡")
    less = _polite_off(whole)
    if not asked:
        for op, pattern in known.orders:
            if found := pattern.fullmatch(whole) or pattern.fullmatch(less):
                return None if known.one["whole_question"].match(less) else Part(op=op, number=found["n"] or "")
        if found := known.one["rename"].fullmatch(less):
            return Part(op="rename", number=found["n"] or "", text=found["t"].strip(_QUOTES))
    if found := known.one["add_part"].fullmatch(_polite_off(text.rstrip(".!"))):
        return Part(op="add", number=found["n"] or "", text=found["t"].strip(_QUOTES))
    return None


def _polite_off(text: str) -> str:
    less = re.compile(rf"^(?:{part_words()['polite']})\b[\s,:]+", re.IGNORECASE)
    adds = re.compile(rf"(?!also [^al])(?:{part_words()['add']})\b", re.IGNORECASE)
    while not adds.match(text) and (shorter := less.sub("", text)) != text:
        text = shorter
    return text


def _part_by_name(message: str) -> Part | None:
    """Read `leave out passengers`, `also look at the costs`."""
    known = patterns().one
    if len(message) > 200 or "\n" in message.strip():
        return None
    text = _polite_off(one_line(message).rstrip(".!"))
    if (found := known["drop"].fullmatch(text.rstrip("?"))) and not message.rstrip().endswith("?"):
        title = found["t"]
        return None if known["no_part"].fullmatch(title) else Part(op="drop", title=title.strip(_QUOTES), loose=True)
    if (found := known["add"].fullmatch(text)) and not known["no_part"].fullmatch(found["t"]):
        return Part(op="add", text=found["t"].strip(_QUOTES), loose=True)
    return None
