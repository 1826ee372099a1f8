"""Steering one branch of a run that is going: finish it, stop it, drop it, try it again. Each is a numbered change."""

from collections.abc import Mapping
from typing import Literal

from agents.api.tree import Tree, TreeNode
from agents.contracts.change import Change
from agents.core.events import NodeState
from agents.jobs.changes import ACTIVE, AGAIN, DROPPABLE
from agents.jobs.job import Job
from agents.jobs.runtime import JobRuntime

What = Literal["finish", "stop", "drop", "retry"]
STATES: Mapping[What, frozenset[NodeState]] = {"retry": AGAIN, "drop": DROPPABLE}
"""States of a branch in which it can be done; the others only while it is at work."""


def steer(jobs: JobRuntime, job: Job, node: TreeNode, what: What) -> Change | None:
    """Do one of them; returns the change as it was recorded, None when the state of the branch leaves nothing to do.

    Raises:
        BadRequest: the branch was given up, its part of the run searches no further, or it is written over by now.
    """
    if job.over or node.state not in STATES.get(what, ACTIVE):
        return None
    title = f"{node.n} “{node.title}”".strip()
    match what:
        case "finish":
            return jobs.finish(job, node.id, title)
        case "stop":
            return jobs.stop_branch(job, node.id, title)
        case "drop":
            return jobs.drop_branch(job, node.id, title)
        case "retry":
            return jobs.try_again(job, node.id, title)


def rows(job: Job) -> tuple[TreeNode, ...]:
    """List the branches of a running job as they stand."""
    return Tree(job.run.events).view(job.run.now()).nodes
