"""What a user set in the settings dialog: where a new question begins, until the talk says otherwise.

The limits of a draft: how a change of them is applied, and put into words.
"""

import re
from collections.abc import Mapping, Sequence
from typing import TypeVar, get_args

from agents.chat.commands import Edit, patterns
from agents.chat.texts import ChatTexts
from agents.contracts.contract import DEFAULT_MINUTES, Brief, Contract
from agents.contracts.frozen import Frozen, Mode, Role
from agents.contracts.sources import Place
from agents.core.errors import BadRequest
from agents.research.scoping.turn import ScopingState

USUAL = "Default"  # what an entry of the dialog shows while nothing is set
NO_LIMIT = "No limit"
NO_MEMORY = "Leave it alone"  # that the knowledge base is neither asked nor added to
TIMES: Mapping[str, float | None] = {**{f"{n} minutes": float(n) for n in (2, 5, 10, 20, 60)}, NO_LIMIT: None}
PLACES: Mapping[str, Place] = {"The web only": "web", "My documents only": "library"}
ROLES: tuple[Role, ...] = tuple(role for role in get_args(Role) if role != "executor")
"""Roles that a model answers for; the executor is code."""


class Preferences(Frozen):
    """One user's settings; what is not set leaves things as they are."""

    entries: Mapping[str, str] = {}  # of the dialog, as they were given
    time_given: bool = False
    minutes: float | None = DEFAULT_MINUTES  # None is no limit; counts only where `time_given`
    mode: Mode | None = None
    language: str | None = None  # BCP 47 tag; None writes in the language of the question
    exclude_domains: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()
    models: tuple[tuple[Role, str], ...] = ()
    memory: bool = True  # ask what earlier research found before the web, and keep what is found

    def offered(self, models: tuple[str, ...], places: tuple[Place, ...]) -> "Preferences":
        """Leave out what this server cannot do (any more): a model without its key, a place that is not there."""
        known = tuple((role, name) for role, name in self.models if name in models)
        there = self.places if set(self.places) < set(places) else ()
        return self.model_copy(update={"models": known, "places": there})

    @classmethod
    def read(cls, given: Mapping[str, object]) -> "Preferences":
        """Read what the dialog gives. What it does not offer sets nothing; a `BadRequest` says what is no domain."""
        said = {name: one.strip() for name, one in given.items() if isinstance(one, str) and one not in {"", USUAL}}
        time, place = said.get("time", ""), PLACES.get(said.get("places", ""))
        modes: dict[str | None, Mode] = {"deep": "deep", "standard": "standard"}
        return cls(
            entries=said, time_given=time in TIMES, minutes=TIMES.get(time, DEFAULT_MINUTES),
            mode=modes.get(said.get("depth")), language=patterns().languages.get(said.get("language", "").casefold()),
            exclude_domains=_domains(said.get("exclude", "")), places=(place,) if place else (),
            models=tuple((role, name) for role in ROLES if (name := said.get(f"model_{role}"))),
            memory=said.get("memory") != NO_MEMORY,
        )  # fmt: skip


def _domains(text: str) -> tuple[str, ...]:
    names = []
    for part in filter(None, re.split(r"[\s,;]+", text.casefold())):
        name = re.sub(r"^[a-z]+://", "", part).partition("/")[0]
        if name and not patterns().domain.fullmatch(name):
            raise BadRequest(
                "“{given}” is no domain; write for example example.org. Nothing was changed.", given=part[:60]
            )
        names += [name] if name else []
    return tuple(dict.fromkeys(names))


def preferred(scope: ScopingState, given: Preferences) -> ScopingState:
    """Begin a question with what the user set; what was said before the question stands."""
    update = {
        "minutes": given.minutes if given.time_given and scope.minutes == DEFAULT_MINUTES else scope.minutes,
        "exclude_domains": tuple(dict.fromkeys((*scope.exclude_domains, *given.exclude_domains))),
        "places": scope.places or given.places, "models": given.models,
    }  # fmt: skip
    return scope.model_copy(update=update)


def in_language(scope: ScopingState, given: Preferences, before: ScopingState) -> ScopingState:
    """Write in the language the user set, whatever the question is asked in, until the talk asks for another one."""
    if given.language is None or (before.question and before.language != given.language):
        return scope
    return scope.model_copy(update={"language": given.language})


T = TypeVar("T")


def edited(scope: ScopingState, edit: Edit) -> ScopingState:
    """Apply an edit to what was agreed; a `BadRequest` says what of it can't be."""
    no_query = "There is no question {number}; the draft has {count}. Nothing was changed."
    no_file = "There is no file {number}; this chat has {count}. Nothing was changed."
    queries, files = _without(scope.queries, edit.drop, no_query), _without(scope.files, edit.drop_files, no_file)
    if edit.drop and not queries:
        raise BadRequest("That is the only question of the draft. Ask something else instead, and I draft anew.")
    both = edit.any_date or (edit.date_from and edit.date_to)
    date_from = edit.date_from or (None if both else scope.date_from)
    date_to = edit.date_to or (None if both else scope.date_to)
    if date_from and date_to and date_from > date_to:
        raise BadRequest("{first} is after {last}. Nothing was changed.", first=date_from[:4], last=date_to[:4])

    def domains(before: tuple[str, ...], more: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
        """A domain is asked for or left out, never both: what was said last holds."""
        left = [name for name in before if name not in {*other, *edit.lift} and not edit.all_domains]
        return tuple(dict.fromkeys((*left, *more)))

    now = {
        "queries": queries, "files": files, "mode": edit.mode or scope.mode, "language": edit.language or scope.language,
        "minutes": edit.minutes if edit.time_given else scope.minutes, "date_from": date_from, "date_to": date_to,
        "domains": domains(scope.domains, edit.domains, edit.exclude_domains),
        "exclude_domains": domains(scope.exclude_domains, edit.exclude_domains, edit.domains),
        "places": scope.places if edit.places is None else edit.places,
        "memory": None if edit.memory is False else scope.memory,
    }  # fmt: skip
    return scope.model_copy(update=now)


def _without(items: Sequence[T], numbers: Sequence[int], missing: str) -> tuple[T, ...]:
    for number in numbers:
        if not 1 <= number <= len(items):
            raise BadRequest(missing, number=number, count=len(items))
    return tuple(one for number, one in enumerate(items, start=1) if number not in numbers)


def changes(before: Contract, after: Contract, words: ChatTexts) -> tuple[str, ...]:
    """Say what differs between two drafts, in plain words; empty when nothing that binds does."""
    old, new = before.brief, after.brief
    old_texts, new_texts = [query.text for query in old.queries], [query.text for query in new.queries]
    old_files, new_files = ({file.card.url: file.name for file in brief.files} for brief in (old, new))
    old_dates, new_dates = (dates_words(brief.date_from, brief.date_to, words) for brief in (old, new))
    left_out = ", ".join(new.exclude_domains)
    searched = "search_web" if set(new.places) == {"web"} else "search_own" if new.places else "search_all"
    depth = {"new": words(new.mode), "old": words(old.mode), "rounds": after.caps.rounds}
    time = {"new": words.minutes(new.minutes), "old": words.minutes(old.minutes)}
    language = {"new": words.language_name(new.language), "old": words.language_name(old.language)}
    only = words("only", names=", ".join(new.domains)) if new.domains else words("all_domains")
    without = words("without", names=left_out) if left_out else words("none_left_out")
    memory = words("memory_on" if new.memory else "memory_off")
    told = [
        *((text not in new_texts, words("dropped", title=text)) for text in old_texts),
        *((text not in old_texts, words("added", title=text)) for text in new_texts),
        (old.mode != new.mode, words("other_depth", **depth)),
        (old.minutes != new.minutes, words("instead", **time)),
        (old.language != new.language, words("other_language", **language)),
        (old.domains != new.domains, only),
        (old.exclude_domains != new.exclude_domains, without),
        *((url not in old_files, words("searched_too", name=name)) for url, name in new_files.items()),
        *((url not in new_files, words("without_file", name=name)) for url, name in old_files.items()),
        (old.places != new.places, words(searched)),
        ((old.memory is None) != (new.memory is None), memory),
        (old_dates != new_dates, words("dates", dates=new_dates or words("open"))),
    ]
    said = tuple(text for differs, text in told if differs)
    return said or ((words("drafted_anew"),) if before.hash != after.hash else ())


def limits_words(of: Brief | Edit, words: ChatTexts) -> list[str]:
    """Write domains and dates that a search is kept to."""
    said = [words("only", names=", ".join(of.domains))] if of.domains else []
    said += [words("without", names=", ".join(of.exclude_domains))] if of.exclude_domains else []
    dates = dates_words(of.date_from, of.date_to, words)
    return [*said, words("dates", dates=dates)] if dates else said


def dates_words(first: str | None, last: str | None, words: ChatTexts) -> str:
    """Write a range of dates; empty when it is open on both sides."""
    if not first and not last:
        return ""
    name = "from_to" if first and last else "since" if first else "until"
    return words(name, first=first, last=last, date=first or last)
