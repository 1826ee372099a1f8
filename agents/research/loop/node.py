"""An executor: it runs its part of the plan in bounded rounds and hands findings up with citations intact."""

from agents.contracts.finding import Finding, LeadInput, NodeStatus, Problem
from agents.contracts.frozen import Said
from agents.core.port import Ctx
from agents.core.time_policy import LEAD_SHARE
from agents.research.loop.loop_decision import sources_of
from agents.research.loop.rounds import COVERED, Rounds
from agents.research.reading.leaf import spent
from agents.research.reading.searching import NodeGiven, teller
from agents.research.run_context import RunContext, asked
from agents.research.writing.closing import RootFinding
from agents.research.writing.sections import Numbering, facts_behind, prose_of
from agents.roles import LEAD_WRITER

UNMERGED = 2
"""Results of an inner executor that pass up as they are; more get a synthesizer (specification, section 5)."""


async def run_node(context: RunContext, ctx: Ctx, given: NodeGiven) -> Finding:
    """Run one executor's part of the plan, round by round."""
    started, node = ctx.elapsed, given.node
    tell = teller(ctx, given.role, given.title)
    tell("searching", Said("{n} {n:branch|branches} side by side", n=len(node.children)), "searching:0")
    went = Rounds(ctx, context, given, tell)
    for phase in node.phases:
        if not await went.phase(phase):
            break
    await went.write(last=True)
    findings = tuple(went.findings)
    status, note = graded(findings)
    markdown, problems = "", tuple(went.problems)
    written = tuple(finding for finding in findings if prose_of(finding))
    if given.lead and len(written) > UNMERGED:
        tell("writing", "what the branches say taken together", "writing:lead")
        markdown, more = await _lead(ctx, context, given, written)
        problems += more
    said = note or Said("{n} of {all} branches delivered", n=len(written), all=len(findings))
    tell(status, said, f"{status}:end")
    found = Finding(
        path=ctx.path, title=given.title, role=given.role, status=status, note=note, markdown=markdown,
        children=findings, problems=problems, rounds=tuple(went.records), dispatched=tuple(went.dispatched),
        skipped=tuple(went.skipped), open_questions=went.gaps, **spent(ctx, started),
    )  # fmt: skip
    return found if went.closed is None else RootFinding(closed=went.closed, **dict(found))


async def _lead(
    ctx: Ctx, context: RunContext, given: NodeGiven, written: tuple[Finding, ...]
) -> tuple[str, tuple[Problem, ...]]:
    """Have the branch opened by what its parts say together; without it the parts still stand."""
    numbering = Numbering(facts_behind(written, context.context_results), sources_of(written))
    asked_for = LeadInput(
        query=given.setting.query, title=given.title, objective=given.node.objective,
        sections=tuple(numbering.to_numbers(prose_of(finding)) for finding in written), facts=numbering.numbered,
        language=given.setting.language, today=given.setting.today,
    )  # fmt: skip
    answer, problems = await asked(ctx, context, LEAD_WRITER, asked_for, ctx.writing(LEAD_SHARE), "lead")
    return numbering.to_ids(answer.output.markdown) if answer else "", problems


def graded(findings: tuple[Finding, ...]) -> tuple[NodeStatus, Said]:
    """Derive an executor's status from its children's: one with a failed or stopped child is never done."""
    if not findings:
        return "empty", Said(COVERED)
    findings = tuple(finding for finding in findings if not finding.in_vain) or findings
    statuses = [finding.status for finding in findings]
    if all(status == "done" for status in statuses):
        return "done", Said()
    if all(status == "failed" for status in statuses):
        return "failed", Said("every branch failed")
    if all(status in {"empty", "stopped", "failed"} for status in statuses) and not any(map(prose_of, findings)):
        nothing = Said("no branch found anything to the point")
        return ("empty", nothing) if "empty" in statuses else ("stopped", Said("not begun"))
    # What the user stopped or dropped says so itself.
    weak = [finding for finding in findings if finding.status != "done" and not finding.ended]
    said = (Said("{title}: {why}", title=one.title, why=one.note or one.status) for one in weak[:3])
    return "partial", Said.row(*said)
