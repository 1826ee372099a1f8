"""Planning without a language model: the tree that scoping drafted and counted."""

from collections.abc import Sequence

from agents.contracts.plan import PlannedLeaf, PlanningInput, PlanTree
from agents.offline.draft_tree import Sprig, draft
from agents.offline.question_parts import Question, questions, tidy
from agents.offline.terms import distinct

MOST_BRANCHES = 8
"""Branches of one level, at most (the contract's bound)."""
MOST_QUESTIONS = 4
MOST_SEARCHES = 3


def plan(given: PlanningInput) -> PlanTree:
    """Plan the tree of one query."""
    tree = draft(_question(given.query, given.language), given.survey, given.language, given.max_leaves)
    sprigs = _fitted(_suggested(given) or tree.sprigs, given)
    leaves = [leaf for sprig in sprigs for leaf in _planned(sprig, ())]
    # What can be tested is only known once the documents were read: claims are found while reading.
    return PlanTree(leaves=tuple(leaves), claims=())


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


def _fitted(sprigs: Sequence[Sprig], given: PlanningInput) -> list[Sprig]:
    """Bring branches within the bounds: executors only where they may stand, never more leaves than there may be."""
    fitted = list(sprigs)
    if given.max_depth == 1:
        fitted = [leaf for sprig in sprigs for leaf in (sprig.children or (sprig,))]
    elif sum(sprig.leaves for sprig in sprigs) > given.max_leaves:
        fitted = [_as_leaf(sprig) for sprig in sprigs]
    room = min(MOST_BRANCHES, given.max_leaves)
    return fitted if len(fitted) <= room else [*fitted[: room - 1], _merged(fitted[room - 1 :])]


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


def _planned(sprig: Sprig, above: tuple[str, ...]) -> list[PlannedLeaf]:
    if sprig.children:
        return [leaf for child in sprig.children for leaf in _planned(child, (*above, sprig.title))]
    return [
        PlannedLeaf(
            heading=" > ".join(above),
            title=sprig.title,
            questions=tuple(dict.fromkeys(sprig.questions))[:MOST_QUESTIONS] or (sprig.objective,),
            search_terms=tuple(dict.fromkeys(sprig.searches))[:MOST_SEARCHES] or (sprig.objective,),
            priority="normal",
            discovery=sprig.discovery,
        )
    ]
