"""Narrowing a run that is going: finish or stop one branch. What is done is told as a numbered event, and so kept."""

from typing import Literal

from agents.api.tree import ACTIVE, Tree, TreeNode
from agents.events import NodeChanged, Noted
from agents.jobs.service import Job, Jobs

What = Literal["finish", "stop", "drop"]
CHANGE = "change"
"""Tag of the events that record a change of a contract after its authorization."""


def recorded(job: Job, text: str) -> int:
    """Record a change of the contract of a running job; returns its number, counted from 1."""
    number = 1 + sum(1 for one in job.run.events if isinstance(one.event, Noted) and one.event.tag == CHANGE)
    noted = Noted(text=f"Change {number} to the contract: {text}.", tag=CHANGE)
    job.run.emit(f"job#change:{number}", noted)
    return number


def steer(jobs: Jobs, job: Job, node: TreeNode, what: What) -> int | None:
    """Finish or stop one branch; returns the number of the change, None when the branch is over already."""
    if job.over or node.state not in ACTIVE:
        return None
    name = f"{node.n} “{node.title}”".strip()
    if what == "finish":
        jobs.finish(job, node.id)
        return recorded(job, f"branch {name} searches no further and writes from what it has")
    number = recorded(job, f"branch {name} was {'dropped' if what == 'drop' else 'stopped'}")
    jobs.stop_branch(job, node.id)
    # Its executor tells of it only when the branches beside it have ended.
    for row in rows(job):
        if row.state in ACTIVE and (row.id == node.id or row.id.startswith(f"{node.id}/")):
            _told_as_stopped(job, row)
    return number


def _told_as_stopped(job: Job, row: TreeNode) -> None:
    job.run.emit(
        f"{row.id}#stopped",
        NodeChanged.model_validate(
            {
                "node": row.id,
                "parent": row.parent or "job",
                "role": row.role,
                "title": row.title,
                "state": "stopped",
                "doing": f"you stopped it at {int(job.run.now()) // 60}:{int(job.run.now()) % 60:02d}",
            }
        ),
    )


def rows(job: Job) -> tuple[TreeNode, ...]:
    """List the branches of a running job as they stand."""
    return Tree(job.run.events).view(job.run.now()).nodes
