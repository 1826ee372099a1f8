"""An executor: it runs its part of the plan, branches side by side, and hands findings up with citations intact."""

from typing import Literal

from agents.contracts.base import Frozen, Text
from agents.contracts.finding import Finding, LeadInput, NodeStatus, Problem, Section
from agents.contracts.plan import Leaf, Node
from agents.errors import StepFailed
from agents.events import NodeChanged
from agents.jobs.port import Ctx, Handler
from agents.research.desk import Desk
from agents.research.leaf import LeafGiven, Setting, spent
from agents.research.writing import Numbering, facts_behind, prose_of, sources_behind
from agents.role import Asked
from agents.roles.synthesizer import LEAD_WRITER

UNMERGED = 2
"""Results of an inner executor that pass up as they are; more get a synthesizer (specification, section 5)."""


class NodeGiven(Frozen):
    """One executor of the plan, in its setting."""

    node: Node
    setting: Setting
    parent: str
    role: Literal["query", "node"] = "node"
    """`query` for the root executor of a query."""
    lead: bool = True
    """False where a synthesizer above writes over these results anyway."""
    title: Text
    siblings: tuple[str, ...] = ()


def node_handler(desk: Desk) -> Handler:
    """Run one executor's part of the plan."""

    async def run(ctx: Ctx, given: NodeGiven) -> Finding:
        started, node = ctx.elapsed, given.node
        role = given.role

        def tell(state: str, doing: str) -> None:
            ctx.emit(
                f"state:{state}",
                NodeChanged.model_validate(
                    {
                        "node": ctx.path,
                        "parent": given.parent,
                        "role": role,
                        "title": given.title,
                        "state": state,
                        "doing": doing,
                    }
                ),
            )

        titles = tuple(child.title for child in node.children)
        for number, child in enumerate(node.children):
            ctx.emit(
                f"queued:{number}",
                NodeChanged(
                    node=f"{ctx.path}/{number}",
                    parent=ctx.path,
                    role="leaf" if isinstance(child, Leaf) else "node",
                    title=child.title,
                    state="queued",
                    doing=child.objective,
                ),
            )
        tell("searching", f"{len(titles)} {'branch' if len(titles) == 1 else 'branches'} side by side")
        findings = await _branches(ctx, given, titles)
        status, note = graded(findings)
        markdown, problems = "", tuple[Problem, ...]()
        written = tuple(finding for finding in findings if prose_of(finding))
        if given.lead and len(written) > UNMERGED:
            tell("writing", "what the branches say taken together")
            markdown, problems = await _lead(ctx, desk, given, written)
        tell(status, note or f"{len(written)} of {len(findings)} branches delivered")
        return Finding(
            path=ctx.path,
            title=given.title,
            role=role,
            status=status,
            note=note,
            markdown=markdown,
            children=findings,
            problems=problems,
            **spent(ctx, started),
        )

    return Handler(run=run, takes=NodeGiven, gives=Finding)


async def _branches(ctx: Ctx, given: NodeGiven, titles: tuple[str, ...]) -> tuple[Finding, ...]:
    """Run all children side by side; one that fails shows so, and takes no other with it."""
    items: list[tuple[str, str, Frozen]] = []
    for number, child in enumerate(given.node.children):
        siblings = (*given.siblings, *(title for title in titles if title != child.title))
        if isinstance(child, Leaf):
            branch = LeafGiven(leaf=child, setting=given.setting, parent=ctx.path, siblings=siblings)
            items.append(("leaf", str(number), branch))
        else:
            below = NodeGiven(
                node=child, setting=given.setting, parent=ctx.path, title=child.title, siblings=given.siblings
            )
            items.append(("node", str(number), below))
    results = await ctx.children_of(items, gives=Finding)
    findings: list[Finding] = []
    for (kind, key, _), child, result in zip(items, given.node.children, results, strict=True):
        if isinstance(result, StepFailed):
            path = f"{ctx.path}/{key}"
            problem = Problem(where=result.key, type=result.type, message=result.notice, retryable=result.retryable)
            role: Literal["leaf", "node"] = "leaf" if kind == "leaf" else "node"
            findings.append(
                Finding(
                    path=path, title=child.title, role=role, status="failed", note=result.notice, problems=(problem,)
                )
            )
            ctx.emit(
                f"failed:{key}",
                NodeChanged(
                    node=path, parent=ctx.path, role=role, title=child.title, state="failed", doing=result.notice
                ),
            )
        else:
            findings.append(result)
    return tuple(findings)


async def _lead(
    ctx: Ctx, desk: Desk, given: NodeGiven, written: tuple[Finding, ...]
) -> tuple[str, tuple[Problem, ...]]:
    """Have the branch opened by what its parts say together; without it the parts still stand."""
    numbering = Numbering(facts_behind(written), sources_behind(written))
    asked_for = LeadInput(
        query=given.setting.query,
        title=given.title,
        objective=given.node.objective,
        sections=tuple(numbering.to_numbers(prose_of(finding)) for finding in written),
        facts=numbering.numbered,
        language=given.setting.language,
        today=given.setting.today,
    )
    try:
        asked = await ctx.call("lead", "0", desk.ask, LEAD_WRITER, asked_for, ctx.last_deadline, gives=Asked[Section])
    except StepFailed as failure:
        return "", (Problem(where=failure.key, type=failure.type, message=failure.notice, retryable=failure.retryable),)
    return numbering.to_ids(asked.output.markdown), ()


def graded(findings: tuple[Finding, ...]) -> tuple[NodeStatus, str]:
    """Derive an executor's status from its children's: one with a failed or stopped child is never done."""
    statuses = [finding.status for finding in findings]
    if all(status == "done" for status in statuses):
        return "done", ""
    if all(status == "failed" for status in statuses):
        return "failed", "every branch failed"
    if all(status in {"empty", "stopped", "failed"} for status in statuses):
        return ("empty", "no branch found anything to the point") if "empty" in statuses else ("stopped", "not begun")
    weak = [finding for finding in findings if finding.status != "done"]
    return "partial", "; ".join(f"{finding.title}: {finding.note or finding.status}" for finding in weak[:3])
