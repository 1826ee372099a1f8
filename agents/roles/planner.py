"""The planner turns a query into a research tree: all its leaves in one answer, in reading order."""

from agents.contracts.plan import PlanningInput, PlanTree
from agents.core.role import Role
from agents.nlp.years import Calendar


def only_given_years(given: PlanningInput, tree: PlanTree) -> PlanTree:
    """Take out of what will be searched the years that neither the question nor today gives."""
    calendar = Calendar(given.model_dump_json(exclude={"survey", "today"}), given.today)
    leaves = tuple(
        leaf.model_copy(
            update={
                "heading": calendar.clean(leaf.heading),
                "title": calendar.clean(leaf.title),
                "questions": calendar.clean_all(leaf.questions),
                "search_terms": calendar.clean_all(leaf.search_terms),
            }
        )
        for leaf in tree.leaves
    )
    return tree.model_copy(update={"leaves": leaves})


PLANNER = Role(
    name="planner",
    takes=PlanningInput,
    gives=PlanTree,
    mend=only_given_years,
    max_output_tokens=1500,
    listed="leaves",
)
"""One query in, the leaves of its whole tree and its claims out. What exceeds the bounds is trimmed by code."""
