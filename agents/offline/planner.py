"""Planning without a language model: one level of the tree that scoping drafted and counted."""

from collections.abc import Sequence

from agents.contracts.plan import Branch, PlanLevel, PlanningInput
from agents.offline.draft_tree import Sprig, draft
from agents.offline.question_parts import Question, questions, tidy
from agents.offline.terms import distinct

MOST_BRANCHES = 8
"""Branches of one level, at most (the contract's bound)."""
MOST_QUESTIONS = 4
MOST_SEARCHES = 3
MOST_CLAIMS = 10
_SAME = 0.8
"""Share of common terms from which two claims are one."""
_THEMES = 6


def plan(given: PlanningInput) -> PlanLevel:
    """Plan one level of one query's tree."""
    question = _question(given.objective, given.language)
    tree = draft(question, given.survey, given.language, given.leaves_left)
    sprigs = _new_to_siblings(_suggested(given) or tree.sprigs, given.siblings)
    branches = _fitted(sprigs, given)
    return PlanLevel(
        branches=branches,
        claims=(),  # what can be tested is only known once the documents were read: claims are found while reading
        themes=tuple(dict.fromkeys(branch.title for branch in branches))[:_THEMES],
        min_sources=1 if tree.lookup else 2,
    )


def _question(objective: str, language: str) -> Question:
    """Read an objective as one question, even where it holds several."""
    found = questions(objective, language)
    if not found:
        text = tidy(objective) or objective
        return Question(text, ())
    if len(found) == 1:
        return found[0]
    return Question(objective, tuple(clause for one in found for clause in one.clauses), "", found[0].addresses)


def _suggested(given: PlanningInput) -> tuple[Sprig, ...]:
    """Take the manager's suggestion where each entry is a question that can be asked by itself."""
    entries = [tidy(entry) for entry in given.suggested if len(distinct(entry)) >= 2]
    if len(entries) < 2 or len(entries) != len(given.suggested):
        return ()
    return tuple(
        sprig
        for entry in entries
        for sprig in draft(_question(entry, given.language), given.survey, given.language).sprigs[:1]
    )


def _new_to_siblings(sprigs: Sequence[Sprig], siblings: Sequence[str]) -> tuple[Sprig, ...]:
    """Leave out what a branch beside this one covers, unless nothing would remain."""
    taken = {title.casefold() for title in siblings}
    return tuple(sprig for sprig in sprigs if sprig.title.casefold() not in taken) or tuple(sprigs)


def _fitted(sprigs: Sequence[Sprig], given: PlanningInput) -> tuple[Branch, ...]:
    """Bring branches within the bounds: executors only where they may stand, never more leaves than are left."""
    room = min(MOST_BRANCHES, given.leaves_left)
    if given.executors_left == 1:
        sprigs = [leaf for sprig in sprigs for leaf in (sprig.children or (sprig,))]
    elif sum(sprig.leaves for sprig in sprigs) > given.leaves_left:
        sprigs = [_as_leaf(sprig) for sprig in sprigs]
    if len(sprigs) > room:
        sprigs = [*sprigs[: room - 1], _merged(sprigs[room - 1 :])]
    branches: dict[str, Branch] = {}
    for sprig in sprigs:
        branches.setdefault(sprig.title.casefold(), _branch(sprig))
    return tuple(branches.values())


def _as_leaf(sprig: Sprig) -> Sprig:
    if not sprig.children:
        return sprig
    asked = tuple(question for child in sprig.children for question in child.questions)
    return Sprig(sprig.title, sprig.objective, asked or (sprig.objective,), (sprig.objective,))


def _merged(sprigs: Sequence[Sprig]) -> Sprig:
    """Ask the rest in one leaf."""
    first = sprigs[0]
    asked = tuple(question for sprig in sprigs for question in (sprig.questions[:1] or (sprig.objective,)))
    return Sprig(
        first.title, first.objective, asked, tuple(search for sprig in sprigs for search in sprig.searches[:1])
    )


def _branch(sprig: Sprig) -> Branch:
    if sprig.children:
        return Branch(
            kind="node", title=sprig.title, objective=sprig.objective, questions=(), searches=(), discovery=False
        )
    return Branch(
        kind="leaf",
        title=sprig.title,
        objective=sprig.objective,
        questions=tuple(dict.fromkeys(sprig.questions))[:MOST_QUESTIONS] or (sprig.objective,),
        searches=tuple(dict.fromkeys(sprig.searches))[:MOST_SEARCHES] or (sprig.objective,),
        discovery=sprig.discovery,
    )


def _leaves(sprigs: Sequence[Sprig]) -> list[Sprig]:
    return [leaf for sprig in sprigs for leaf in (_leaves(sprig.children) if sprig.children else [sprig])]
