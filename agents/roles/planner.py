"""The planner turns a query into a research tree, one level at a time."""

from agents.contracts.plan import PlanLevel, PlanningInput
from agents.core.errors import Reject
from agents.core.role import Role
from agents.nlp.years import Calendar


def within_the_depth(given: PlanningInput, level: PlanLevel) -> None:
    """Refuse an executor where only leaves may stand."""
    nodes = [branch.title for branch in level.branches if branch.kind == "node"]
    if nodes and given.executors_left == 1:
        raise Reject(f"No further executor may stand here. Make leaves of {nodes}.")


def within_the_bound(given: PlanningInput, level: PlanLevel) -> None:
    """Refuse more branches than there are leaves left to give them."""
    if len(level.branches) > given.leaves_left:
        raise Reject(
            f"At most {given.leaves_left} branches may stand here; you gave {len(level.branches)}. Merge some."
        )


def distinct_branches(given: PlanningInput, level: PlanLevel) -> None:
    """Refuse two branches of one name."""
    titles = [branch.title.casefold() for branch in level.branches]
    if repeated := sorted({title for title in titles if titles.count(title) > 1}):
        raise Reject(f"Merge the branches that share a title: {repeated}.")


def leaves_have_work(given: PlanningInput, level: PlanLevel) -> None:
    """Refuse a leaf that asks nothing."""
    idle = [b.title for b in level.branches if b.kind == "leaf" and not any(q.strip() for q in b.questions)]
    if idle:
        raise Reject(f"These leaves ask nothing; give each at least one question: {idle}.")


def only_given_years(given: PlanningInput, level: PlanLevel) -> PlanLevel:
    """Take out of what will be searched the years that neither the question nor today gives."""
    calendar = Calendar(given.model_dump_json(exclude={"survey", "today"}), given.today)
    branches = tuple(
        branch.model_copy(
            update={
                "title": calendar.clean(branch.title),
                "objective": calendar.clean(branch.objective),
                "questions": calendar.clean_all(branch.questions),
                "searches": calendar.clean_all(branch.searches),
            }
        )
        for branch in level.branches
    )
    return level.model_copy(update={"branches": branches})


PLANNER = Role(
    name="planner",
    takes=PlanningInput,
    gives=PlanLevel,
    checks=(within_the_depth, within_the_bound, distinct_branches, leaves_have_work),
    mend=only_given_years,
    max_output_tokens=3000,
)
"""One level of one query's tree: what must be settled in, executors and leaves out. Lower levels go side by side."""
