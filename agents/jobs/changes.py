"""Changes of a running job: whether one may be made, what it does at once, and what guidance still reaches."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from agents.contracts.contract import Brief, Change, Command, Narrowing, place
from agents.contracts.frozen import Said
from agents.contracts.plan import MAX_ATTEMPTS
from agents.contracts.report import Stage
from agents.core.errors import BadRequest, BudgetExceeded
from agents.core.events import JobChanged, NodeChanged, NodeState, Noted, Numbered, RoundEnded, SearchDone
from agents.core.time_policy import synthesis_reserve_s
from agents.jobs.attempt import Attempt
from agents.jobs.job import Job
from agents.research.steering import bound_by, together

Steered = Literal["finish", "stop", "drop", "retry"]
CHANGE, GUIDANCE = "change", "guidance"
"""Tags of the events that record a change of a contract after its authorization, and what the user asked to heed."""
ACTIVE: frozenset[NodeState] = frozenset({"queued", "planning", "searching", "reading", "writing", "retrying"})
"""States that a node leaves again."""
STEERED: Mapping[Steered, str] = {
    "finish": "searches no further and writes from what it has",
    "stop": "was stopped",
    "drop": "was dropped",
    "retry": "is tried again",
}
"""What can be done to one branch, and how the record of it says so."""
AGAIN: frozenset[NodeState] = frozenset({"failed", "stopped"})
"""States from which a branch may be tried again."""
DELIVERED: frozenset[NodeState] = frozenset({"done", "partial"})
DROPPABLE: frozenset[NodeState] = ACTIVE | DELIVERED
"""States from which a branch may be dropped: what it delivered is left out while nothing was written over it yet."""
WRITTEN_OVER: frozenset[Stage] = frozenset({"challenging", "composing", "judging", "reworking", "completed"})
"""Stages in which summary and claims rest on what all branches delivered."""


def steered(kind: Steered, node: str = "job", title: str = "") -> Command:
    """Make the command that steers a branch, or the whole run."""
    what = "the run" if node == "job" else f"branch {title or node}"
    return Command(kind=kind, node=node, title=title, words=f"{what} {STEERED[kind]}")


def changed(job: Job, command: Command) -> Change:
    """Check a command against what was authorized and the state of the run, and record it as a change."""
    brief = job.contract.brief if job.contract else job.commission.brief
    return job.run.steering.take(allowed(command, job.run, brief), job.run.now())


def allowed(command: Command, run: Attempt, brief: Brief | None) -> Command:
    """Check a command; limits that would end the run at once leave what is kept for writing."""
    if command.kind == "limits":
        return command.model_copy(update={"limits": _narrower(command.limits, run, brief)})
    if command.kind == "retry":
        _may_be_tried_again(command.node, run)
    row = last_states(run.events).get(place(command.node)) if command.kind in {"finish", "stop", "drop"} else None
    if row is not None and row.state not in (DROPPABLE if command.kind == "drop" else ACTIVE):
        raise BadRequest("“{title}” is {state} already. Nothing was changed.", title=row.title, state=row.state)
    if command.kind == "drop" and _stage(run.events) in WRITTEN_OVER:
        raise BadRequest("The claims and the summary rest on all branches by now; none can be dropped any more.")
    return command


def _stage(events: Sequence[Numbered]) -> Stage:
    stages = (one.event.stage for one in reversed(events) if isinstance(one.event, JobChanged))
    return next(stages, "planning")


def _narrower(limits: Narrowing, run: Attempt, brief: Brief | None) -> Narrowing:
    now = run.taken_s()
    if limits.seconds is not None and limits.seconds <= now:
        # It is over already: what is kept for writing then is all that is left.
        latest = run.total_s
        until = now + synthesis_reserve_s(limits.seconds)
        limits = limits.model_copy(update={"seconds": until if latest is None else min(until, latest)})
    if brief is not None:
        together(together(bound_by(brief), run.steering.limits), limits)
    return limits


def _may_be_tried_again(node: str, run: Attempt) -> None:
    rows = last_states(run.events)
    row, branch = rows.get(place(node)), place(node)
    if row is None:
        raise BadRequest("There is no such branch in this run. Nothing was changed.")
    if row.state not in AGAIN:
        raise BadRequest(
            "“{title}” is {state}: only a failed or stopped branch is tried again.", title=row.title, state=row.state
        )
    searches = (one.event for one in run.events if isinstance(one.event, SearchDone))
    tries = [bool(one.failed) for one in searches if place(one.node) == branch]
    failed = tries.count(True)
    if failed >= MAX_ATTEMPTS and failed == len(tries):
        form = "“{title}” has failed {failed} times and is not tried again in this run ({tag}). When the run is over, restart it."
        raise BadRequest(form, title=row.title, failed=failed, tag="#RETRY_EXHAUSTED")
    above = rows.get(place(row.parent))
    over = [above] if above else [one for one in rows.values() if one.role == "query"]
    searching = not over or any(one.state in ACTIVE for one in over)
    left = run.total_s
    late = left is not None and run.taken_s() >= left - run.reserve_s
    if late or not searching or run.steering.finishing(run.steering.current(place(row.parent))):
        raise BadRequest("This part of the run searches no further. When the run is over, restart it to try again.")
    try:
        run.budget.check_spending()
    except BudgetExceeded as error:
        raise BadRequest(f"{error.notice} Nothing is tried again.") from error


def applied(change: Change, run: Attempt) -> None:
    """Do at once what a change asks for, and emit the events that say so."""
    path = run.steering.current(change.node or "job")
    if change.kind == "guidance":
        return  # the caller knows from which round on it counts, and says so
    said = Said("Change {n} to the contract: {words}.", n=change.number, words=change.words)
    run.emit(f"job#change:{change.number}", Noted(text=said, tag=CHANGE))
    match change.kind:
        case "stop" | "drop":
            run.cut(path)
            # Its executor says so only when the branches beside it have ended.
            clock = f"{int(run.now()) // 60}:{int(run.now()) % 60:02d}"
            for row in last_states(run.events).values():
                wanted = DROPPABLE if change.kind == "drop" else ACTIVE
                if row.state in wanted and (row.node == place(path) or row.node.startswith(place(path) + "/")):
                    form = "you dropped it at {clock}" if change.kind == "drop" else "you stopped it at {clock}"
                    run.emit(f"{row.node}#stopped:{change.number}", _as(row, "stopped", Said(form, clock=clock)))
        case "retry":
            row = last_states(run.events)[place(path)]
            doing = Said("it begins anew when the branches beside it have ended")
            run.emit(f"{row.node}#retrying:{change.number}", _as(row, "retrying", doing))
        case "limits":
            run.hasten()


class Reach(NamedTuple):
    """What guidance given now still reaches."""

    round: int | None
    """The next round; None where none follows."""
    branches: int
    """Branches that are still searched, read or written for."""
    summary: bool
    """Nobody writes the summary yet; where somebody does, nothing is reached."""


def reach_of(events: Sequence[Numbered], rounds: int | None, *, reasons: bool = True) -> Reach:
    """Say what guidance given now still reaches, of a run that may have so many rounds; nothing where no engine `reasons`."""
    if not reasons:
        return Reach(round=None, branches=0, summary=False)
    ended = max((one.event.record.round for one in events if isinstance(one.event, RoundEnded)), default=0)
    following = ended + 2  # the round at hand was dispatched before
    collecting = _stage(events) in {"planning", "collecting"}
    rows = last_states(events).values()
    branches = sum(1 for row in rows if row.role == "leaf" and row.state in ACTIVE)
    return Reach(
        round=following if collecting and (rounds is None or following <= rounds) else None,
        branches=branches if collecting else 0,
        summary=collecting,
    )


def last_states(events: Iterable[Numbered]) -> dict[str, NodeChanged]:
    """Give the last state of each branch of the tree."""
    states: dict[str, NodeChanged] = {}
    for one in events:
        if isinstance(one.event, NodeChanged):
            states[place(one.event.node)] = one.event.model_copy(update={"node": place(one.event.node)})
    return states


def _as(row: NodeChanged, state: NodeState, doing: Said) -> NodeChanged:
    return row.model_copy(update={"state": state, "doing": doing})
