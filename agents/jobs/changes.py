"""Changes of a running job: whether one may be made, and what it does at once."""

from collections.abc import Iterable

from agents.contracts.brief import Brief
from agents.contracts.change import Change, Command, Narrowing, place
from agents.contracts.job import Stage
from agents.core.errors import BadRequest, BudgetExceeded
from agents.core.events import JobChanged, NodeChanged, NodeState, Noted, Numbered, SearchDone
from agents.core.time_policy import synthesis_reserve_s
from agents.jobs.run import Run
from agents.research.loop.retry_tracking import MAX_ATTEMPTS, TAG
from agents.research.steering import bound_by, together

CHANGE, GUIDANCE = "change", "guidance"
"""Tags of the events that record a change of a contract after its authorization, and what the user asked to heed."""
ACTIVE: frozenset[NodeState] = frozenset({"queued", "planning", "searching", "reading", "writing", "retrying"})
"""States that a node leaves again."""
AGAIN: frozenset[NodeState] = frozenset({"failed", "stopped"})
"""States from which a branch may be tried again."""
DELIVERED: frozenset[NodeState] = frozenset({"done", "partial"})
DROPPABLE: frozenset[NodeState] = ACTIVE | DELIVERED
"""States from which a branch may be dropped: what it delivered is left out while nothing was written over it yet."""
WRITTEN_OVER: frozenset[Stage] = frozenset({"challenging", "composing", "judging", "reworking", "completed"})
"""Stages in which summary and claims rest on what all branches delivered."""


def allowed(command: Command, run: Run, brief: Brief | None) -> Command:
    """Check a command against what was authorized and against the state of the run.

    Raises:
        BadRequest: it would widen the contract, or there is nothing to try again or no way to; says which.
    """
    if command.kind == "limits":
        return command.model_copy(update={"limits": _narrower(command.limits, run, brief)})
    if command.kind == "retry":
        _may_be_tried_again(command.node, run)
    if command.kind == "drop" and _stage(run) in WRITTEN_OVER:
        raise BadRequest("The claims and the summary rest on all branches by now; none can be dropped any more.")
    return command


def _stage(run: Run) -> Stage:
    stages = (one.event.stage for one in reversed(run.events) if isinstance(one.event, JobChanged))
    return next(stages, "planning")


def _narrower(limits: Narrowing, run: Run, brief: Brief | None) -> Narrowing:
    now = run.now()
    if limits.seconds is not None and limits.seconds <= now:
        # It is over already: what is kept for writing then is all that is left.
        latest = run.total_s(run.steering.limits.seconds)
        until = now + synthesis_reserve_s(limits.seconds)
        limits = limits.model_copy(update={"seconds": until if latest is None else min(until, latest)})
    if brief is not None:
        together(together(bound_by(brief), run.steering.limits), limits)
    return limits


def _may_be_tried_again(node: str, run: Run) -> None:
    rows = last_states(run.events)
    row, branch = rows.get(place(node)), place(node)
    if row is None:
        raise BadRequest("There is no such branch in this run. Nothing was changed.")
    if row.state not in AGAIN:
        raise BadRequest(f"“{row.title}” is {row.state}: only a failed or stopped branch is tried again.")
    tries = [one for one in run.events if isinstance(one.event, SearchDone) and place(one.event.node) == branch]
    failed = sum(1 for one in tries if isinstance(one.event, SearchDone) and one.event.failed)
    if failed >= MAX_ATTEMPTS and failed == len(tries):
        raise BadRequest(
            f"“{row.title}” has failed {failed} times and is not tried again in this run ({TAG}). "
            "When the run is over, restart it."
        )
    above = rows.get(place(row.parent))
    searching = (
        above.state in ACTIVE
        if above
        else not any(one.role == "query" for one in rows.values())
        or any(one.role == "query" and one.state in ACTIVE for one in rows.values())
    )
    left = run.total_s(run.steering.limits.seconds)
    late = left is not None and run.now() >= left - run.reserve_s
    if late or not searching or run.steering.finishing(run.steering.current(place(row.parent))):
        raise BadRequest("This part of the run searches no further. When the run is over, restart it to try again.")
    try:
        run.budget.check_spending()
    except BudgetExceeded as error:
        raise BadRequest(f"{error.notice} Nothing is tried again.") from error


def applied(change: Change, run: Run) -> None:
    """Do at once what a change asks for, and emit the events that say so."""
    path = run.steering.current(change.node or "job")
    if change.kind == "guidance":
        return  # the caller knows from which round on it counts, and says so
    run.emit(
        f"job#change:{change.number}",
        Noted(text=f"Change {change.number} to the contract: {change.words}.", tag=CHANGE),
    )
    match change.kind:
        case "stop" | "drop":
            run.cut(path)
            # Its executor says so only when the branches beside it have ended.
            clock = f"{int(run.now()) // 60}:{int(run.now()) % 60:02d}"
            for row in last_states(run.events).values():
                wanted = DROPPABLE if change.kind == "drop" else ACTIVE
                if row.state in wanted and (row.node == place(path) or row.node.startswith(place(path) + "/")):
                    doing = f"you {'dropped' if change.kind == 'drop' else 'stopped'} it at {clock}"
                    run.emit(f"{row.node}#stopped:{change.number}", _as(row, "stopped", doing))
        case "retry":
            row = last_states(run.events)[place(path)]
            doing = "it begins anew when the branches beside it have ended"
            run.emit(f"{row.node}#retrying:{change.number}", _as(row, "retrying", doing))
        case "limits":
            run.hasten()
        case _:
            pass


def last_states(events: Iterable[Numbered]) -> dict[str, NodeChanged]:
    """Give the last state of each branch of the tree."""
    states: dict[str, NodeChanged] = {}
    for one in events:
        if isinstance(one.event, NodeChanged):
            states[place(one.event.node)] = one.event.model_copy(update={"node": place(one.event.node)})
    return states


def _as(row: NodeChanged, state: NodeState, doing: str) -> NodeChanged:
    return row.model_copy(update={"state": state, "doing": doing})
