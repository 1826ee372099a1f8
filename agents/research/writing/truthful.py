"""From findings to a report that says no more than its evidence: challenge, rewriting, checking, gates, judge."""

from collections.abc import Mapping, Sequence

from agents.contracts.contract import Brief, Contract
from agents.contracts.finding import Finding, QuestionAnswer
from agents.contracts.frozen import Frozen
from agents.contracts.plan import Leaf
from agents.contracts.report import Actual, Outcome, ReportDocument
from agents.contracts.verification import EVIDENCE_GATE, JudgeInput, Judgement, SentenceCheck, Truth
from agents.core.errors import StepFailed
from agents.core.events import JobChanged, Noted
from agents.core.port import Ctx, together
from agents.core.role import RoleAnswer
from agents.core.time_policy import REWRITE_SHARE
from agents.report.document import build
from agents.report.wording import wording
from agents.research.challenge.challenge import Challenged
from agents.research.challenge.claim_ledger import ClaimDone, Thresholds, gates
from agents.research.loop.after_reading import MOVED, touches, verdict_line
from agents.research.reading.searching import LeafGiven, Setting
from agents.research.reading.shortlisting import domain_of
from agents.research.run_context import RunContext
from agents.research.writing.closing import answers_of
from agents.research.writing.sections import SectionGiven, write_section
from agents.research.writing.verify_report import Checks, verify
from agents.roles import JUDGE
from agents.verify.confidence import EvidenceWeight, answered, questions_answered, report_confidence, verifiable_ratio

NO_VERDICT = "The judge gave no usable verdict: {why}"
"""Never a pass, whatever broke off."""
REWRITTEN = 4
"""Sections that are written anew, at most: those whose claims did not hold."""


async def rewritten(
    ctx: Ctx, context: RunContext, findings: tuple[Finding, ...], challenged: tuple[Challenged, ...], contract: Contract
) -> tuple[Finding, ...]:
    """Write sections anew that were not told that a claim of theirs is qualified, contested or refuted."""
    ctx.emit("stage:reworking", JobChanged(status="running", stage="reworking"))
    after: list[Finding] = []
    room = REWRITTEN
    for finding, one in zip(findings, challenged, strict=True):
        moved = [done for done in one.claims if done.claim.verdict in MOVED]
        chosen: list[tuple[Finding, list[ClaimDone]]] = []
        titles = tuple(part.title for part in finding.walk() if part.role == "leaf" and part.markdown)
        for part in finding.walk():
            touching = [done for done in moved if touches(done.claim, part)]
            if all(verdict_line(done.claim) in part.verdicts for done in touching):
                continue
            if part.role != "leaf" or not part.markdown or len(chosen) >= room or ctx.left == 0:
                continue
            chosen.append((part, touching))
        calls = [_again(ctx, context, _to_rewrite(*each, titles, contract.brief)) for each in chosen]
        anew = await together(*calls)
        changed = {one.path: one for one in anew if one is not None}
        room -= len(changed)
        after.append(_replaced(finding, changed))
    return tuple(after)


def _to_rewrite(part: Finding, touching: list[ClaimDone], titles: Sequence[str], brief: Brief) -> SectionGiven:
    """Add what was found against the claims of a section to what it is written over."""
    asked = part.asked or (part.title,)
    leaf = Leaf(title=part.title, objective=" ".join(asked), questions=asked, searches=asked)
    cards = {card.id: card for card in (*(card for done in touching for card in done.sources), *part.sources)}
    facts = {fact.id: fact for fact in (*part.facts, *(fact for done in touching for fact in done.facts))}
    sources = tuple(cards[source] for source in dict.fromkeys(fact.source_id for fact in facts.values()))
    beside = tuple(title for title in titles if title != part.title)
    return SectionGiven(
        leaf=LeafGiven(leaf=leaf, setting=Setting.of(brief.question, brief), siblings=beside),
        finding=part.model_copy(update={"facts": tuple(facts.values()), "sources": sources}),
        verdicts=tuple(verdict_line(done.claim) for done in touching),
    )


async def _again(ctx: Ctx, context: RunContext, given: SectionGiven) -> Finding | None:
    """Write one section anew; the old one stays where that fails."""
    path = given.finding.path
    written = await write_section(ctx, context, f"again:{path}", given, ctx.writing(REWRITE_SHARE))
    if written.failure is not None:
        return None
    ctx.emit(f"again:{path}", Noted(node=path, text="Written anew: the challenge changed a verdict."))
    return given.finding.model_copy(update={"markdown": written.markdown, "verdicts": given.verdicts})


def _replaced(finding: Finding, changed: Mapping[str, Finding]) -> Finding:
    if finding.path in changed:
        return changed[finding.path]
    children = tuple(_replaced(child, changed) for child in finding.children)
    return finding if children == finding.children else finding.model_copy(update={"children": children})


async def _kept(document: ReportDocument) -> ReportDocument:
    """Have a report recorded as it stands: the body of a step."""
    return document


async def checked(
    ctx: Ctx, context: RunContext, outcome: Outcome, challenged: tuple[Challenged, ...], wanted: Thresholds,
    judged_by: Thresholds | None, known: tuple[SentenceCheck, ...], *, reasons: bool,
) -> Outcome:  # fmt: skip
    """Check every sentence, compute confidence, hold the gates, and have the judge look where one is required.

    The report is kept before any check runs on it; whatever fails here leaves it as it was, with the verdict `unchecked`.
    """
    answers = answers_of(outcome.contract, outcome.findings)
    outcome = outcome.model_copy(update={"truth": Truth(answers=answers)})
    draft = build(ctx.job_id, outcome, Actual(), engine="", reasons=reasons)
    await ctx.call("keep", "draft", _kept, draft, gives=ReportDocument, pool="local")
    ctx.emit("stage:judging", JobChanged(status="running", stage="judging"))
    if not draft.references:
        claims = tuple(one.claim for of_query in challenged for one in of_query.claims)
        return outcome.model_copy(update={"truth": Truth(answers=answers, claims=claims)})
    held = (*outcome.findings, *outcome.counter)
    checks: tuple[SentenceCheck, ...] = ()
    try:
        checks = (await verify(ctx, context, draft, held, known, ask_model=reasons)).checks
    except StepFailed:
        text = "The sentences could not be checked; the report stands as it is."
        ctx.emit("unchecked", Noted(text=text, tag="#UNVERIFIED"))
    done = tuple(claim for one in challenged for claim in one.claims)
    shown = [check.verdict for check in checks if check.replaced_by != ""]
    share = verifiable_ratio(shown)
    weighed = [EvidenceWeight(one.claim.verdict, one.claim.confidence or 0.0, one.origins) for one in done]
    done_of, asked = questions_answered(answers)
    confidence = report_confidence(
        weighed, share, wanted.min_distinct_domains_per_claim, _known(answers, held), done_of / asked if asked else 1.0
    )
    ratio = share if checks else None
    passed, shortfalls = gates(done, confidence, ratio, wanted)
    truth = Truth(
        answers=answers, claims=tuple(one.claim for one in done), checks=checks, gates=passed, shortfalls=shortfalls,
        verifiable_ratio=ratio, confidence=confidence,
    )  # fmt: skip
    if judged_by is not None:
        final = build(ctx.job_id, outcome.model_copy(update={"truth": truth}), Actual(), engine="", reasons=reasons)
        judgement = await _judge(ctx, context, final, truth, done, judged_by)
        truth = truth.model_copy(update={"judgement": judgement})
    return outcome.model_copy(update={"truth": truth})


def _known(answers: Sequence[QuestionAnswer], held: Sequence[Finding]) -> list[float]:
    """Say of each question that has an answer how well it is answered, by the publishers whose words answer it."""
    cards = {card.id: card for finding in held for card in finding.all_sources()}
    source_of = {fact.id: cards[fact.source_id] for finding in held for fact in finding.all_facts()}
    return [
        answered(len({domain_of(source_of[fact]) for fact in one.facts if fact in source_of}))
        for one in answers
        if one.status != "not_found"
    ]


class ToCheck(Frozen):
    """Sections that may be checked while the frame around them is written."""

    contract: Contract
    findings: tuple[Finding, ...]


async def run_check(context: RunContext, ctx: Ctx, given: ToCheck, *, reasons: bool) -> Checks:
    """Check the sentences of all sections."""
    outcome = Outcome(contract=given.contract, findings=given.findings, frame=None)
    draft = build(ctx.job_id, outcome, Actual(), engine="", reasons=reasons)
    return await verify(ctx, context, draft, given.findings, ask_model=reasons) if draft.references else Checks()


async def _judge(
    ctx: Ctx, context: RunContext, report: ReportDocument, truth: Truth, done: Sequence[ClaimDone], wanted: Thresholds,
) -> Judgement:  # fmt: skip
    """Have the whole reviewed as it will be read; thresholds first, and an unusable verdict is never a pass.

    As many claims as are wanted must be settled: one that rests on less is told in the report, and lowers its confidence.
    """
    figures, short = gates(done, truth.confidence, truth.verifiable_ratio, wanted)
    if not all(one.passed for one in figures if one.name != EVIDENCE_GATE):
        return Judgement(verdict="request_changes", reasons=short)
    said = (f"{one.text} [{one.verdict}, {len(one.evidence)} pieces of evidence]" for one in truth.claims)
    given = JudgeInput(
        question=report.question, report=report.markdown.partition(f"\n## {wording(report.language).references}\n")[0],
        claims=tuple(said), shortfalls=truth.shortfalls, language=report.language,
        unsupported=tuple(one.text for one in report.sentences if one.verdict in {"unsupported", "contradicted"}),
    )  # fmt: skip
    try:
        asked = await ctx.call("judge", "0", context.ask, JUDGE, given, ctx.last_deadline, gives=RoleAnswer[Judgement])
    except StepFailed as failure:
        return Judgement(verdict="request_changes", reasons=(NO_VERDICT.format(why=failure.notice),))
    return asked.output
