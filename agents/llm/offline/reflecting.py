"""Reflection without a model: what code finds lacking is the gap, and what was found so far names where to look next."""

import re

from agents.contracts.decision import ReflectionInput, ReflectionResponse
from agents.text.words import content_words

MAX_QUERIES = 4
_NAME = re.compile(
    r"\b[^\W\d_a-zà-öø-ÿ][\w’'-]+(?:[ \u00a0](?:of|the|de|du|la|von|van|der|den|di|da|do|and)?[ ]?[^\W\d_a-zà-öø-ÿ][\w’'-]+)*"
)
_SOURCE = re.compile(r"\s*\[[^\[\]]*\]$")


def reflect(given: ReflectionInput) -> ReflectionResponse:
    """Judge by count alone: go on only where a question has no answer yet and a finding names where one may be."""
    unanswered = tuple(question for question in given.questions if _has_no_answer(question, given.missing))
    hops = _next_hops(given, unanswered) if unanswered and given.statements else ()
    return ReflectionResponse(
        sufficient=not given.missing,
        confidence=0.6 if not given.missing else 0.3 if given.statements else 0.0,
        # Without a next step a gap is for the reader to know, not for another round.
        gaps=given.missing[:MAX_QUERIES] if hops else (),
        new_queries=hops,
    )


def _has_no_answer(question: str, missing: tuple[str, ...]) -> bool:
    return any(question in lack and " by 0 of " in lack for lack in missing)


def _next_hops(given: ReflectionInput, unanswered: tuple[str, ...]) -> tuple[str, ...]:
    """Follow the names that answers brought in and the question did not hold: a question of several steps needs them."""
    asked = {word.casefold() for question in (given.query, *given.questions) for word in re.findall(r"\w+", question)}
    tried = {" ".join(topic.casefold().split()) for topic in given.dispatched}
    names: dict[str, int] = {}
    for statement in given.statements[:12]:
        for name in _NAME.findall(_SOURCE.sub("", statement)):
            words = [word.casefold() for word in re.findall(r"\w+", name)]
            if words and len(name) > 2 and not all(word in asked for word in words):
                names[name] = names.get(name, 0) + 1
    hops: list[str] = []
    for name in sorted(names, key=lambda name: (-names[name], list(names).index(name))):
        rest = [word for word in _telling(unanswered[0]) if word.casefold() not in name.casefold()]
        hop = " ".join([name, *rest[:6]])
        if " ".join(hop.casefold().split()) not in tried and hop not in hops:
            hops.append(hop)
        if len(hops) >= MAX_QUERIES:
            break
    return tuple(hops)


def _telling(question: str) -> list[str]:
    """The question's own words that carry meaning, as written and in order."""
    kept = set(content_words(question))
    return [word for word in re.findall(r"\w+", question) if set(content_words(word)) & kept]
