"""Reflection without a model: what code finds lacking is the gap, and what was found so far names where to look next."""

import re

from agents.contracts.loop_decision import ReflectionInput, ReflectionResponse
from agents.offline.single_fact import MOST_ADDED, is_single_fact, topic, words_of
from agents.offline.terms import distinct, names

MAX_QUERIES = 4
_SOURCE = re.compile(r"\s*\[([^\[\]]*)\]$")
_ASIDE = re.compile(r"\s*\([^()]*\)")
_QUOTED = re.compile('["“„]([^"“”„]{2,60})["”“]')
"""Titles of works stand in quotation marks."""
_OPENING_NAME = re.compile(r"\W*((?:[^\W\d_a-zà-öø-ÿ][\w’'-]+ ?){2,})")
_TITLED = 1.0
"""What a name is worth because the document that brought it is one that the question names."""
_DESCRIBES = 0.5
"""Part that a single word before a noun keeps: `Finnish rapper` says less than `in Finland`."""


def reflect(given: ReflectionInput) -> ReflectionResponse:
    """Go on only where something asked is in no statement yet and a statement names where it may be."""
    steps = _next_steps(given, given.query) if given.missing and is_single_fact(given.query) else ()
    return ReflectionResponse(
        sufficient=not given.missing,
        confidence=0.6 if not given.missing else 0.3 if given.statements else 0.0,
        # Without a next step a gap is for the reader to know, not for another round.
        gaps=given.missing[:MAX_QUERIES] if steps else (),
        new_queries=steps,
    )


def _next_steps(given: ReflectionInput, question: str) -> tuple[str, ...]:
    """Follow the names that answers brought in and the question did not hold: a question of several steps needs them."""
    asked = words_of(question)
    known = frozenset(term for one in (given.query, *given.questions) for term in distinct(one))
    tried = {" ".join(one.partition(":")[0].casefold().split()) for one in given.dispatched}
    worth: dict[str, float] = {}
    wanted: dict[str, tuple[str, ...]] = {}
    for statement in given.statements:
        source = _SOURCE.search(statement)
        text, title = _SOURCE.sub("", statement), source[1] if source else ""
        held, own = frozenset(distinct(f"{title} {text}")), frozenset(distinct(_ASIDE.sub("", title)))
        shared = len(held & asked.keys()) / max(1, len(asked))
        for name in _names(text):
            parts = frozenset(distinct(name))
            if not parts or parts <= known or parts <= own or " ".join(name.casefold().split()) in tried:
                continue
            value = shared + _TITLED * bool(own and own <= known)
            value *= _DESCRIBES if " " not in name and re.match(r"\s+[a-z]", text.partition(name)[2]) else 1.0
            if value > worth.get(name, 0.0):
                worth[name] = value
                wanted[name] = tuple(word for term, word in asked.items() if term not in held)
    best = sorted(worth, key=lambda name: -worth[name])
    return tuple(topic(name, wanted[name][:MOST_ADDED]) for name in best if wanted[name])[:MAX_QUERIES]


def _names(text: str) -> tuple[str, ...]:
    """Names of a statement; the one that opens it too, since a statement mostly opens with what it is about."""
    first = _OPENING_NAME.match(text)
    quoted = (one for one in _QUOTED.findall(text) if one[:1].isupper())
    return tuple(dict.fromkeys((*((first[1].strip(),) if first else ()), *quoted, *names(text))))
