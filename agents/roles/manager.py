"""The manager talks a broad question down to feasible queries, and is the only role that talks to the user."""

from agents.contracts.brief import ScopingInput, ScopingTurn
from agents.core.errors import Reject
from agents.core.role import Role

MAX_OPEN_QUESTIONS = 2
"""Questions to the user at a time (specification, section 3)."""
MAX_QUERIES = 6
"""Queries of one brief; more are several briefs."""


def ready_means_settled(given: ScopingInput, turn: ScopingTurn) -> None:
    """Refuse 'ready' while a query is infeasible or there is none."""
    if turn.ready and (not turn.queries or not all(query.feasible for query in turn.queries)):
        raise Reject("`ready` is true, but not every query is feasible. Set it to false, or mend the queries.")


def infeasible_offers_a_way(given: ScopingInput, turn: ScopingTurn) -> None:
    """Refuse a 'no' without narrower questions to choose from."""
    for query in turn.queries:
        if not query.feasible and len(query.suggested_split) < 2:
            raise Reject(
                f"Query {query.text!r} is not feasible: offer at least two narrower questions in `suggested_split`."
            )


def few_questions(given: ScopingInput, turn: ScopingTurn) -> None:
    """Refuse an interrogation."""
    if len(turn.open_questions) > MAX_OPEN_QUESTIONS:
        raise Reject(f"Ask at most {MAX_OPEN_QUESTIONS} questions at a time; you asked {len(turn.open_questions)}.")
    if len(turn.queries) > MAX_QUERIES:
        raise Reject(f"Give at most {MAX_QUERIES} queries; merge or drop some.")


def distinct_queries(given: ScopingInput, turn: ScopingTurn) -> None:
    """Refuse the same query twice."""
    texts = [query.text.casefold() for query in turn.queries]
    if len(set(texts)) < len(texts):
        raise Reject("Two queries are the same. Merge them.")


def within_the_depth(given: ScopingInput, turn: ScopingTurn) -> None:
    """Refuse to call feasible what is deeper than this run allows."""
    for query in turn.queries:
        if query.feasible and query.depth_estimate > given.max_depth:
            raise Reject(
                f"Query {query.text!r} needs {query.depth_estimate} executors in a row; at most {given.max_depth} are "
                "feasible. Say that it is not, and offer narrower questions."
            )


MANAGER = Role(
    name="manager",
    takes=ScopingInput,
    gives=ScopingTurn,
    checks=(ready_means_settled, infeasible_offers_a_way, few_questions, distinct_queries, within_the_depth),
    max_output_tokens=3000,
)
"""One scoping turn: the user's message and the talk so far in, the reply and the queries with verdicts out."""
