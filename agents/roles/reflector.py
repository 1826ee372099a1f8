"""The reflector judges a round: is this enough, what is open, what to look for next. Code decides what follows from it."""

from agents.contracts.loop_decision import ReflectionInput, ReflectionResponse
from agents.core.errors import Reject
from agents.core.role import Role
from agents.nlp.years import Calendar

MAX_NEW_QUERIES = 8


def gaps_or_sufficient(given: ReflectionInput, reflection: ReflectionResponse) -> None:
    """Refuse 'not sufficient' without a gap: there would be nothing to look for."""
    if not reflection.sufficient and not reflection.gaps:
        raise Reject("`sufficient` is false but `gaps` is empty. Name what is missing, or set it to true.")


def few_queries(given: ReflectionInput, reflection: ReflectionResponse) -> None:
    """Refuse a flood of topics."""
    if len(reflection.new_queries) > MAX_NEW_QUERIES:
        raise Reject(f"Give at most {MAX_NEW_QUERIES} new queries, the most important first.")


def only_given_years(given: ReflectionInput, reflection: ReflectionResponse) -> ReflectionResponse:
    """Take out of what is looked for next the years that neither question, findings nor today give."""
    calendar = Calendar(given.model_dump_json(exclude={"today"}), given.today)
    return reflection.model_copy(update={"new_queries": calendar.clean_all(reflection.new_queries)})


REFLECTOR = Role(
    name="reflector",
    takes=ReflectionInput,
    gives=ReflectionResponse,
    checks=(gaps_or_sufficient, few_queries),
    mend=only_given_years,
    max_output_tokens=1200,
)
"""How a node stands after a round in, gaps and next queries out."""
