"""Reflection without a model: what code finds lacking is the gap, and what was found so far names where to look next."""

import re
from dataclasses import dataclass

from agents.contracts.loop_decision import ReflectionInput, ReflectionResponse
from agents.offline.steps import MOST_ADDED, one_point, topic, words_of
from agents.offline.terms import distinct, names

MAX_QUERIES = 4
_SOURCE = re.compile(r"\s*\[([^\[\]]*)\]$")
_ASIDE = re.compile(r"\s*\([^()]*\)")
_QUOTED = re.compile('["“„]([^"“”„]{2,60})["”“]')
"""Titles of works stand in quotation marks."""
_ADJECTIVE = re.compile(r"\s+[a-z]")
_TITLED = 1.0
"""What a name is worth because the document that brought it is one that the question names."""
_DESCRIBES = 0.5
"""Part that a single word before a noun keeps: `Finnish rapper` says less than `in Finland`."""


@dataclass(frozen=True)
class _Found:
    """One statement, with the title of its source."""

    text: str
    title: str

    @property
    def terms(self) -> frozenset[str]:
        return frozenset(distinct(f"{self.title} {self.text}"))


def reflect(given: ReflectionInput) -> ReflectionResponse:
    """Judge by count alone: go on only where something asked is in no statement yet and a statement names where it may be."""
    asked = _unsettled(given)
    hops = _next_hops(given, asked) if given.missing and given.statements and asked else ()
    return ReflectionResponse(
        sufficient=not given.missing,
        confidence=0.6 if not given.missing else 0.3 if given.statements else 0.0,
        # Without a next step a gap is for the reader to know, not for another round.
        gaps=given.missing[:MAX_QUERIES] if hops else (),
        new_queries=hops,
    )


def _unsettled(given: ReflectionInput) -> str:
    """Give the question to go on with: one for a single fact, which may be a step away, or one that has no answer at all."""
    if one_point(given.query):
        return given.query
    return next(
        (one for one in given.questions if any(one in lack and " by 0 of " in lack for lack in given.missing)), ""
    )


def _next_hops(given: ReflectionInput, question: str) -> tuple[str, ...]:
    """Follow the names that answers brought in and the question did not hold: a question of several steps needs them."""
    asked = words_of(question)
    known = frozenset(term for one in (given.query, *given.questions) for term in distinct(one))
    tried = {" ".join(one.partition(":")[0].casefold().split()) for one in given.dispatched}
    found = [_read(statement) for statement in given.statements]
    worth: dict[str, float] = {}
    wanted: dict[str, tuple[str, ...]] = {}
    for one in found:
        own = frozenset(distinct(_ASIDE.sub("", one.title)))
        shared = len(one.terms & frozenset(asked)) / max(1, len(asked))
        rest = tuple(word for term, word in asked.items() if term not in one.terms)
        for name in _names(one.text):
            parts = frozenset(distinct(name))
            if not parts or parts <= known or parts <= own or " ".join(name.casefold().split()) in tried:
                continue
            value = shared + _TITLED * bool(own and own <= known)
            value *= _DESCRIBES if " " not in name and _ADJECTIVE.match(one.text.partition(name)[2]) else 1.0
            if value > worth.get(name, 0.0):
                worth[name], wanted[name] = value, rest
    best = sorted(worth, key=lambda name: (-worth[name], list(worth).index(name)))
    return tuple(topic(name, wanted[name][:MOST_ADDED]) for name in best if wanted[name])[:MAX_QUERIES]


def _read(statement: str) -> _Found:
    source = _SOURCE.search(statement)
    return _Found(_SOURCE.sub("", statement), source[1] if source else "")


def _names(text: str) -> tuple[str, ...]:
    """Names of a statement; the one that opens it too, since a statement mostly opens with what it is about."""
    opening = re.match(r"\W*((?:[^\W\d_a-zà-öø-ÿ][\w’'-]+ ?){2,})", text)
    quoted = (one for one in _QUOTED.findall(text) if one[:1].isupper())
    return tuple(dict.fromkeys((*((opening[1].strip(),) if opening else ()), *quoted, *names(text))))
