"""Planning without a language model: a question is cut into its own parts, and nothing is added but a look at limits."""

import re
from collections.abc import Sequence

from agents.contracts.plan import PlannedLeaf, PlanningInput, PlanTree, Priority
from agents.offline.questions import (
    IndependentQuestion,
    asks,
    is_linked,
    is_single_fact,
    leans_on_another,
    questions,
    tidy,
)
from agents.offline.terms import SPACELESS, knows, listed, names, opening, say, terms

MOST_QUESTIONS, TITLE_LENGTH, _SEARCH_WORDS = 4, 90, 14


def plan(given: PlanningInput) -> PlanTree:
    """Plan the tree of one query: its leaves, all under one executor."""
    leaves = draft(_as_one(given.query), given.language, given.max_leaves)
    # What can be tested is only known once the documents were read: claims are found while reading.
    return PlanTree(leaves=leaves, claims=())


def _as_one(text: str) -> IndependentQuestion:
    """Read an objective as one question, even where it holds several."""
    found = questions(text) or (IndependentQuestion(tidy(text) or text, (tidy(text) or text,)),)
    parts = tuple(part for one in found for part in one.parts)
    return IndependentQuestion(found[0].text if len(found) == 1 else text, parts, found[0].things, found[0].points)


def draft(question: IndependentQuestion, language: str, room: int = 2) -> tuple[PlannedLeaf, ...]:
    """Draft the tree of `question` over its own parts: one leaf each, and of a comparison one for each point or thing.

    With `room` for one leaf nothing is added to what is asked.
    """
    things, points = question.things, question.points
    if points:
        return tuple(_of_point(question, point) for point in points)
    if len(things) > 1:
        return tuple(_of_part(question, _with(question.text, things, thing), thing) for thing in things)
    leaves = tuple(_of_part(question, part, part) for part in question.parts)
    if (
        room > 1
        and len(leaves) == 1
        and knows(language)
        and not leaves[0].discovery
        and not is_single_fact(question.text)
    ):
        asked = say(language, "limits_question", question=question.text)
        return (*leaves, _leaf(say(language, "limits_title"), (asked,), _searches(question.text, ""), priority="low"))
    return leaves


def _of_point(question: IndependentQuestion, point: str) -> PlannedLeaf:
    text = _with(question.text, question.points, point)
    pairs = tuple(f"{point[:1].upper()}{point[1:]}: {thing}" for thing in question.things)
    return _leaf(point, (text, *pairs), _searches(text, f"{point} {' '.join(question.things)}"))


def _with(text: str, entries: tuple[str, ...], kept: str) -> str:
    """Write a question with one entry in the place of the whole list."""
    first, last = text.find(entries[0]), text.rfind(entries[-1])
    return tidy(f"{text[:first]}{kept}{text[last + len(entries[-1]) :]}" if 0 <= first <= last else f"{text}: {kept}")


def _of_part(question: IndependentQuestion, asked: str, title: str) -> PlannedLeaf:
    leans = asked != question.text and leans_on_another(asked)
    # What is told before it is asked counts too: `Tell me about electric cars. What do they cost?`.
    about = (question.parts[0] if asked != question.parts[0] else question.text.partition(asked)[0]) if leans else ""
    searches = _searches(question.text if leans else asked, f"{asked} {' '.join(names(about))} {about}")
    if leans and listed("pointing").search(asked) and (subject := _subject(about)):
        # Whoever reads the part by itself, a person or a search, must know what it is about.
        asked = title = f"{asked.rstrip(' ?.')} ({subject})?"
    return _leaf(title, (asked,), searches, discovery=not question.things and asks_for_a_list(asked))


def _leaf(
    title: str,
    asked: tuple[str, ...],
    searches: tuple[str, ...],
    *,
    discovery: bool = False,
    priority: Priority = "normal",
) -> PlannedLeaf:
    return PlannedLeaf(
        heading="",
        title=label(title),
        questions=asked[:MOST_QUESTIONS],
        search_terms=searches,
        # What is a step away is settled by more than one document.
        priority="high" if is_linked(asked[0]) else priority,
        discovery=discovery,
    )


def _searches(asked: str, keywords: str) -> tuple[str, ...]:
    words = (word.strip("?.,;:!¿¡()“”\"'") for word in f"{keywords or asked}".split())
    kept = [word for word in dict.fromkeys(words) if word and terms(word)]
    return tuple(dict.fromkeys(text for text in (asked, " ".join(kept[:_SEARCH_WORDS])) if text))


def label(text: str) -> str:
    """Make the title of a branch: the question itself; a very long one ends at a comma, never in the middle of words."""
    text = tidy(text)
    if len(text) <= TITLE_LENGTH or SPACELESS.search(text):
        return text
    head = text[:TITLE_LENGTH].rpartition(",")[0]
    return head if len(head.split()) > 3 else text


_GOES_ON = re.compile(r"\W*(?:(?:and|but)\b(?:\s+(?:what|how) about\b)?|(?:what|how) about\b)\s*", re.IGNORECASE)
_IT_IS_TRUE = re.compile(r"\bit\b\s+(?:[\w-]+\s+)?(?:that|to|whether|if)\b", re.IGNORECASE)


def understood(message: str, before: Sequence[str]) -> str:
    """Word a message so that it can be read alone, by what was asked before it, the newest last: `Who built it (the dam)?`."""
    goes_on, found = _GOES_ON.match(message), questions(message)
    # What leans on nothing at its beginning has its own things, and what follows means those.
    leans = bool(found) and leans_on_another(_IT_IS_TRUE.sub("", found[0].parts[0]))
    if leans or (goes_on and not asks(message[goes_on.end() :].rstrip(" ?"))):
        for subject in filter(None, map(_subject, reversed(before))):
            return f"{tidy(message).rstrip(' ?.')} ({subject})?"
    return message


def _subject(asked: str) -> str:
    """Give what a question is about, as it words it: up to its last name, else its last words that carry meaning."""
    if known := re.search(r"\(([^()]+)\)\W*$", asked):  # it was told so itself
        return known[1]
    runs = [""]
    for word in () if leans_on_another(asked) else re.findall(r"[\w'’-]+", asked):
        runs = [*runs[:-1], f"{runs[-1]} {word}".strip()] if terms(word) else [*runs, ""]
    told, named = [run for run in runs if run], names(asked)
    if not named:
        return told[-1] if told else ""
    return asked[asked.find(told[0]) : asked.rfind(named[-1]) + len(named[-1])] if told else ""


def asks_for_a_list(text: str) -> bool:
    """Tell whether a question asks for things that it does not name: sources have to be looked for widely first."""
    for name in ("list_order", "list_which"):
        if (found := opening(name).match(text)) and not re.search(r"\b(?:or|oder|ou|o)\b", text):
            words = re.findall(r"[^\W\d_][\w'’-]*", text[found.end() :])[:3]
            things = [word for word in words if re.search(r"[^siu\W]s$|(?:ies|ses|xes|en|[td]te|people)$", word)]
            return bool(things) and len(things[0]) > 3 and not any(map(opening("of_known").match, words))
    return False
