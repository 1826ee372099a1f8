"""The reflector judges a round: is this enough, what is open, what to look for next. Code decides what follows from it."""

from agents.contracts.loop_decision import ReflectionInput, ReflectionResponse
from agents.core.role import Role
from agents.nlp.years import Calendar

MAX_NEW_QUERIES = 4


def only_given_years(given: ReflectionInput, reflection: ReflectionResponse) -> ReflectionResponse:
    """Take out of what is looked for next the years that neither question, findings nor today give, and a flood of it."""
    calendar = Calendar(given.model_dump_json(exclude={"today"}), given.today)
    return reflection.model_copy(update={"new_queries": calendar.clean_all(reflection.new_queries)[:MAX_NEW_QUERIES]})


REFLECTOR = Role(
    name="reflector",
    takes=ReflectionInput,
    gives=ReflectionResponse,
    mend=only_given_years,
    max_output_tokens=600,
)
"""How a node stands after a round in, gaps and next queries out."""
