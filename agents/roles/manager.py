"""The manager talks a broad question down to feasible queries, and is the only role that talks to the user."""

from agents.contracts.brief import ScopingInput, ScopingTurn
from agents.core.errors import Reject
from agents.core.role import Role

MAX_OPEN_QUESTIONS = 2
"""Questions to the user at a time (specification, section 3)."""
MAX_QUERIES = 6
"""Queries of one brief; more are several briefs."""


def infeasible_offers_a_way(given: ScopingInput, turn: ScopingTurn) -> None:
    """Refuse a 'no' without narrower questions to choose from."""
    for query in turn.queries:
        if not query.feasible and len(query.suggested_split) < 2:
            raise Reject(
                f"Query {query.text!r} is not feasible: offer at least two narrower questions in `suggested_split`."
            )


def settled(given: ScopingInput, turn: ScopingTurn) -> ScopingTurn:
    """Merge what is said twice, leave out what is too much, and say by code whether anything is open."""
    distinct = {query.text.casefold(): query for query in reversed(turn.queries)}
    queries = tuple([*distinct.values()][::-1][:MAX_QUERIES])
    open_questions = tuple(question for question in turn.open_questions if question.strip())[:MAX_OPEN_QUESTIONS]
    feasible = bool(queries) and all(query.feasible for query in queries)
    return turn.model_copy(
        update={
            "queries": queries,
            "open_questions": open_questions,
            "ready": turn.ready and feasible and not open_questions,
        }
    )


MANAGER = Role(
    name="manager",
    takes=ScopingInput,
    gives=ScopingTurn,
    checks=(infeasible_offers_a_way,),
    mend=settled,
    max_output_tokens=1500,
)
"""One scoping turn: the user's message and the talk so far in, the reply and the queries with verdicts out."""
