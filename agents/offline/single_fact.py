"""Questions for one fact that may be several steps away: what they are about, and which names lead on."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from agents.offline.questions import questions
from agents.offline.terms import distinct, names, terms
from agents.offline.words import SPACELESS, listed, opening

Standing = Literal["titled", "named", "apart"]
"""How a document stands to what is asked: it has the name of it, it uses the name, or neither."""

MOST_ADDED = 6
"""Words of the question that go into a further search beside the name."""
_LONGEST_TITLE = 8
"""Terms of a title that is a name, at most; longer ones describe."""
_SETTING = re.compile(r"^\W*(?:i|we|my|our|take|consider|ich|wir|je|nous|yo)\b", re.IGNORECASE)
_LINK = re.compile(
    r"\w+\W+\w+.*\b(?:who|whose|whom|which|that|where|deren|dessen|dont|cuyo)\b"
    r"|\bof the [^\W_]+ (?:of|in|at|by|from|for)\b|[’']s [^\W_]+[’']s\b",
    re.IGNORECASE,
)
_IS = re.compile(r"\b(?:is|are|was|were|both)(?: an?)? $")
_ORIGIN = re.compile(r"[A-Z][a-z]*(?:an|ish|ese|sh|ch|ek|ss|ic)")
_ASIDE = re.compile(r"\s*\([^()]*\)")
_SITE = re.compile(r"\s*\([^()]*\)\s*$")
_TOPIC = re.compile(r"^([^:?]{2,80}): ([^:?]+)$")
_FRAME = frozenset(distinct("name known called list kind type"))


@lru_cache(maxsize=2_048)
def is_single_fact(question: str) -> bool:
    """Tell a question for a single fact about something with a name, however many steps away the fact is."""
    found = questions(question)
    if not names(question) or SPACELESS.search(question) or len(found) != 1 or len(found[0].parts) != 1:
        return False
    if (
        _SETTING.match(question)
        or "?" in question.strip()[:-1]
        or any(listed(name).search(question) for name in ("reason", "effect", "differ_asked", "doubt_asked"))
    ):
        return False
    return bool(listed("one").search(question) or opening("yes_no").match(question))


def is_lookup(question: str) -> bool:
    """Tell a single fact that documents named for its subject should state: one or two of them settle it."""
    return is_single_fact(question) and bool(opening("lookup").match(question)) and not is_linked(question)


def is_linked(question: str) -> bool:
    """Tell a question that names its subject by way of something else: `the country where the Bubye River is found`."""
    return is_single_fact(question) and bool(_LINK.search(question))


@lru_cache(maxsize=2_048)
def subjects(question: str) -> tuple[frozenset[str], ...]:
    """Names that a question for one fact turns on, each as its terms; nothing for other questions."""
    if step := _TOPIC.match(question):
        return (frozenset(distinct(step[1])),)
    if not is_single_fact(question):
        return ()
    named = names(question)
    things = [name for name in named if not _describes(name, question)]
    return tuple(found for name in things or named if (found := frozenset(distinct(name))))


def _describes(name: str, question: str) -> bool:
    """Tell a word of origin (`Danish band`, `is American`) from the name of a thing."""
    before, _, after = question.partition(name)
    return bool(_ORIGIN.fullmatch(name)) and bool(re.match(r" [a-z]", after) or _IS.search(before))


@lru_cache(maxsize=4_096)
def standing(question: str, title: str, text: str) -> Standing:
    """Say how a document, or a quotation of it, stands to a question; where no name is asked about, it is `named`."""
    about = subjects(question)
    if not about:
        return "named"
    named = frozenset[str]().union(*about)
    own = frozenset(distinct(_ASIDE.sub("", title)))
    if own and len(own) <= _LONGEST_TITLE and own <= frozenset(distinct(question)) and own & named:
        return "titled"
    held = frozenset(terms(text)) | own
    return "named" if any(name <= held for name in about) else "apart"


def title_of(source: str, *, bare: bool = False) -> str:
    """Give the title of a source without who published it; `bare`, without what else stands in brackets."""
    title = _SITE.sub("", source)
    return (_ASIDE.sub("", title) or title) if bare else title


def topic(name: str, rest: Sequence[str]) -> str:
    """Word a further step: the name that was found, and what is still to be said of it."""
    return f"{name.replace(':', ' ').replace('?', ' ')}: {' '.join(rest)}"


def is_topic(text: str) -> bool:
    """Tell the topic of a further step from a question."""
    return bool(_TOPIC.match(text))


def words_of(question: str) -> dict[str, str]:
    """The question's words that carry meaning, as written and in order, each under its term."""
    found: dict[str, str] = {}
    telling = frozenset(distinct(question)) - _FRAME
    for word in re.findall(r"[^\W_]+(?:[-’'][^\W_]+)*", question):
        for term in distinct(word):
            if term in telling:
                found.setdefault(term, re.sub(r"[’']s$", "", word))
    return found
