"""What a user set in the settings dialog: where a new question begins, until the talk says otherwise."""

import re
from collections.abc import Mapping
from typing import get_args

from pydantic import Field

from agents.chat.commands import patterns
from agents.chat.texts import ChatTexts
from agents.contracts.frozen import Frozen, Mode, Role
from agents.contracts.sources import Place
from agents.core.errors import BadRequest
from agents.research.scoping.authorization import DEFAULT_MINUTES, minutes_of
from agents.research.scoping.turn import ScopingState

USUAL = "Default"
"""What an entry of the dialog shows while nothing is set."""
NO_LIMIT = "No limit"
NO_MEMORY = "Leave it alone"
"""That the knowledge base is neither asked nor added to."""
TIMES: Mapping[str, float | None] = {**{f"{n} minutes": float(n) for n in (2, 5, 10, 20, 60)}, NO_LIMIT: None}
PLACES: Mapping[str, Place] = {"The web only": "web", "My documents only": "library"}
ROLES: tuple[Role, ...] = tuple(role for role in get_args(Role) if role != "executor")
"""Roles that a model answers for; the executor is code."""


class Preferences(Frozen):
    """One user's settings; what is not set leaves things as they are."""

    time_given: bool = False
    minutes: float | None = Field(default=DEFAULT_MINUTES, gt=0, le=1440)
    """None is no limit; counts only where `time_given`."""
    mode: Mode | None = None
    language: str | None = None
    """BCP 47 tag; None writes in the language of the question."""
    exclude_domains: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()
    models: tuple[tuple[Role, str], ...] = ()
    memory: bool = True
    """Ask what earlier research found before the web, and keep what is found."""

    def offered(self, models: tuple[str, ...], places: tuple[Place, ...]) -> "Preferences":
        """Leave out what this server cannot do (any more): a model without its key, a place that is not there."""
        return self.model_copy(
            update={
                "models": tuple((role, name) for role, name in self.models if name in models),
                "places": self.places if set(self.places) < set(places) else (),
            }
        )

    @classmethod
    def read(cls, given: Mapping[str, object]) -> "Preferences":
        """Read what the dialog gives; the browser may send anything.

        Raises:
            BadRequest: an entry can't be read; the message says which.
        """

        def chosen(name: str) -> str:
            value = given.get(name)
            text = value.strip() if isinstance(value, str) else ""
            return "" if text == USUAL else text

        time, mode, language, place = chosen("time"), chosen("depth"), chosen("language").casefold(), chosen("places")
        if mode and mode not in get_args(Mode):
            raise BadRequest("“{given}” is no depth. Nothing was changed.", given=mode[:40])
        if language and language not in patterns().languages:
            raise BadRequest("“{given}” is no language I know. Nothing was changed.", given=language[:40])
        if place and place not in PLACES:
            raise BadRequest("“{given}” is no place to search. Nothing was changed.", given=place[:40])
        minutes = (
            TIMES[time] if time in TIMES else minutes_of(time.removesuffix("minutes")) if time else DEFAULT_MINUTES
        )
        return cls(
            time_given=bool(time),
            minutes=minutes,
            mode="deep" if mode == "deep" else "standard" if mode else None,
            language=patterns().languages[language] if language else None,
            exclude_domains=_domains(chosen("exclude")),
            places=(PLACES[place],) if place else (),
            models=tuple((role, name) for role in ROLES if (name := chosen(f"model_{role}"))),
            memory=chosen("memory") != NO_MEMORY,
        )

    @property
    def shown(self) -> dict[str, str]:
        """The entries of the dialog as they stand."""
        times = {minutes: name for name, minutes in TIMES.items()}
        return {
            "time": times.get(self.minutes, USUAL) if self.time_given else USUAL,
            "depth": self.mode or USUAL,
            "language": ChatTexts("en").language_name(self.language) if self.language else USUAL,
            "exclude": ", ".join(self.exclude_domains),
            "memory": USUAL if self.memory else NO_MEMORY,
            "places": next((name for name, place in PLACES.items() if (place,) == self.places), USUAL),
            **{f"model_{role}": name for role, name in self.models},
        }


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
    time = given.time_given and scope.minutes == DEFAULT_MINUTES
    places = bool(given.places) and not scope.places
    marks = {
        "time": time,
        "depth": given.mode is not None and given.mode == scope.mode,
        "exclude": bool(given.exclude_domains),
        "places": places,
        "models": bool(given.models),
    }
    return scope.model_copy(
        update={
            "minutes": given.minutes if time else scope.minutes,
            "exclude_domains": tuple(dict.fromkeys((*scope.exclude_domains, *given.exclude_domains))),
            "places": given.places if places else scope.places,
            "models": given.models,
            "preset": tuple(name for name, is_set in marks.items() if is_set),
        }
    )


def in_language(scope: ScopingState, given: Preferences) -> ScopingState:
    """Write in the language the user set, whatever the question is asked in."""
    if given.language is None:
        return scope
    return scope.model_copy(update={"language": given.language, "preset": (*scope.preset, "language")})
