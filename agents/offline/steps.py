"""Questions for one fact that may be several steps away: what they are about, and which names lead on from what is known."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from agents.offline import cues
from agents.offline.cues import union
from agents.offline.question_parts import questions
from agents.offline.ranking import asks_for_grounds
from agents.offline.terms import distinct, names, terms

Standing = Literal["titled", "named", "apart"]
"""How a document stands to what is asked: it has the name of it, it uses the name, or neither."""

LONGEST_TITLE = 8
"""Terms of a title that is a name, at most; longer ones describe."""
MOST_ADDED = 6
"""Words of the question that go into a further search beside the name."""
_ASKS_ONE = union(
    (
        r"who|whom|whose|where|when|(?:what|which)(?! \w+s (?:are|were|have|do|did)\b)|how (?:many|old|tall|long|"
        r"large|big|far|high|deep)",
        r"wer|wem|wessen|wo|wann|welche[mnrs]?|wie (?:viele?|alt|hoch|groß|lang|weit)|qui|où|quand|quel(?:le)?s?|"
        r"combien|quién|dónde|cuándo|cuál|qué|cuánt[oa]s?",
    )
)
_YES_OR_NO = re.compile(
    r"^\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|ist|sind|war|hat|est-ce|es|son)\b", re.IGNORECASE
)
_SECOND = re.compile(
    r"\b(?:and|und|et|y) (?:in |at |on |by |for |to )?(?:what|which|who|why|how|when|where|was|welche\w*|wer|warum|"
    r"weshalb|wie|wann|que|quel\w*|qui|pourquoi|comment|quand|qué|quién|cómo|cuándo|por qué)\b",
    re.IGNORECASE,
)
"""A second question in the same sentence."""
_SENTENCE = re.compile(r"(?<!\b[A-Z])(?<!\b[MDSJ]r)(?<!\bSt)(?<!\bMrs)[.?!]\s+(?=\S)")
_SETTING = re.compile(r"^\W*(?:i|we|my|our|take|consider|given|imagine|ich|wir|je|nous|yo)\b", re.IGNORECASE)
_LINK = re.compile(
    r"\w+\W+\w+.*\b(?:who|whose|whom|which|that|where|deren|dessen|dont|cuyo)\b"
    r"|\bof the [^\W_]+ (?:of|in|at|by|from|for)\b|[’']s [^\W_]+[’']s\b",
    re.IGNORECASE,
)
_PLAYED = re.compile(r"\b(?:a|an|her|his|the|their|known for) (?:\w+ )?role (?:of|on|for|in)\b", re.IGNORECASE)
"""A part that somebody played, not what something does."""
_IS = re.compile(r"\b(?:is|are|was|were|both)(?: an?)? $")
_ORIGIN = re.compile(r"[A-Z][a-z]*(?:an|ish|ese|sh|ch|ek|ss|ic)")
_ASIDE = re.compile(r"\s*\([^()]*\)")
_SITE = re.compile(r"\s*\([^()]*\)\s*$")
_HOP = re.compile(r"^([^:?]{2,80}): ([^:?]+)$")
_FRAME = frozenset(distinct("name known called list kind type"))


@lru_cache(maxsize=2_048)
def one_point(question: str) -> bool:
    """Tell a question for a single fact about something with a name, however many steps away the fact is."""
    if not names(question) or cues.SPACELESS.search(question):
        return False
    if len(questions(question)) > 1 or _SECOND.search(question) or not _one_sentence(question):
        return False
    plain = _PLAYED.sub(" ", question)
    if cues.REASON.search(question) or cues.EFFECT.search(plain) or asks_for_grounds(question):
        return False
    return bool(_ASKS_ONE.search(question) or _YES_OR_NO.match(question))


def _one_sentence(question: str) -> bool:
    """Tell one sentence, or a question with one statement before it that says what it is about."""
    parts = _SENTENCE.split(question.strip())
    asks_first = "?" in question.strip()[:-1]
    return len(parts) == 1 or (len(parts) == 2 and not asks_first and not _SETTING.match(parts[0]))


def linked(question: str) -> bool:
    """Tell a question that names its subject by way of something else: `the country where the Bubye River is found`."""
    return one_point(question) and bool(_LINK.search(question))


@lru_cache(maxsize=2_048)
def subjects(question: str) -> tuple[frozenset[str], ...]:
    """Names that a question for one fact turns on, each as its terms; nothing for other questions."""
    if hop := _HOP.match(question):
        return (frozenset(distinct(hop[1])),)
    if not one_point(question):
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
    """Say how a document, or a quotation of it, stands to a question.

    Args:
        question: for one fact, or the topic of a further step; for others every document is `named`.
        title: of the document.
        text: its words.
    """
    about = subjects(question)
    if not about:
        return "named"
    named = frozenset[str]().union(*about)
    own = frozenset(distinct(_ASIDE.sub("", title)))
    asked = frozenset(distinct(question))
    if own and len(own) <= LONGEST_TITLE and own <= asked and own & named:
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
    return bool(_HOP.match(text))


def words_of(question: str) -> dict[str, str]:
    """The question's words that carry meaning, as written and in order, each under its term."""
    found: dict[str, str] = {}
    telling = frozenset(distinct(question)) - _FRAME
    for word in re.findall(r"[^\W_]+(?:[-’'][^\W_]+)*", question):
        for term in distinct(word):
            if term in telling:
                found.setdefault(term, re.sub(r"[’']s$", "", word))
    return found
