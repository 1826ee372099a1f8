"""How a run is going, in one or two sentences."""

from agents.api.tree import DELIVERED, ROOT, Tree, TreeNode, TreeView
from agents.chat.steer_words import counted, minutes_and_seconds, money
from agents.jobs.service import Job

_DOING = {"searching": "looking for", "reading": "reading", "writing": "writing", "retrying": "trying again"}


def view_of(job: Job) -> TreeView:
    """Draw the tree of a job as it stands now."""
    return Tree(job.run.events).view(job.run.now())


def progress_line(job: Job) -> str:
    """Say how a run is going: branches, sources, money, and what it waits for longest."""
    view = view_of(job)
    leaves = view.leaves
    if not leaves:
        so_far = f"{minutes_and_seconds(view.seconds)} so far, {money(view.usage.cost_usd)}."
        return f"{view.now or 'It has just started.'} {so_far}"
    delivered = sum(1 for leaf in leaves if leaf.state in DELIVERED)
    parts = [
        f"{delivered} of {counted(len(leaves), 'branch has', 'branches have')} delivered",
        f"{counted(view.usage.sources, 'source')} read{_empty(view)}",
        money(view.usage.cost_usd),
    ]
    line = ", ".join(parts) + "."
    if view.status == "blocked":
        return f"{line} {view.note}"
    if job.run.steering.finishing(ROOT):
        return f"{line} It searches no further and is writing."
    slowest = _slowest(leaves)
    return f"{line} {slowest}" if slowest else f"{line} {view.now}"


def _empty(view: TreeView) -> str:
    """Say how many of the fetched pages gave nothing; nothing where all gave something."""
    return f" ({view.usage.empty} of {view.usage.pages} pages gave no usable text)" if view.usage.empty else ""


def _slowest(leaves: tuple[TreeNode, ...]) -> str:
    at_work = [leaf for leaf in leaves if leaf.state in _DOING]
    if not at_work:
        return ""
    leaf = max(at_work, key=lambda each: each.seconds)
    name = f"{leaf.n} “{leaf.title}”".strip()
    doing = f"{_DOING[leaf.state]} {leaf.doing}".strip()
    return f"Slowest: {name}, {doing}."


def stopped_line(view: TreeView) -> str:
    """Say what a stopped run leaves behind."""
    kept = (
        f"{counted(view.usage.sources, 'source')} {'is' if view.usage.sources == 1 else 'are'} kept"
        if view.usage.sources
        else "Nothing had been read"
    )
    return (
        f"Stopped at {minutes_and_seconds(view.seconds)}. {kept}; no report was written. "
        "*Finish* instead of *stop* writes from what is there. Ask again to draft a new run."
    )
