"""`/research/jobs`: start, list, describe, steer and delete jobs, and the branches of one."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Response

from agents.api.app_state import Here, Owner, Site
from agents.api.error_responses import ApiError, as_api_error, not_found
from agents.api.payloads import Dates, GuidanceRequest, JobAccepted, JobRequest, Key, PlannerStart, Runtime, TaskRequest
from agents.api.reports import Found, forget_texts, given_to, report_of
from agents.api.run_routes import status_url
from agents.api.tree import live_tree, steer
from agents.contracts import contract as contracts
from agents.contracts import report as reports
from agents.contracts.contract import place
from agents.contracts.plan import LoopDecision, RetryEntry, RetryStatus
from agents.contracts.report import OVER, Commission, JobStatus, KeyedRequest
from agents.core.errors import BadRequest
from agents.core.events import NodeChanged, RoundEnded, SearchDone, SourceRejected
from agents.jobs.changes import Steered, reach_of
from agents.jobs.job import Job, orchestrator
from agents.memory.knowledge import forget_with
from agents.report.earlier import known_lines
from agents.report.wording import base_language, languages, report_language
from agents.research.planning.freeze_contract import usual_minutes
from agents.research.scoping.authorization import minutes_of
from agents.research.scoping.turn import ScopingState, agreed, checked, seeds_in
from agents.research.steering import bound_by, together
from agents.team import Team

PAGE, MOST = 50, 200  # jobs listed at a time when no other number is asked for, and at most

jobs_api = APIRouter(tags=["jobs"])


# ---- starting


async def brief_of(team: Team, sent: JobRequest) -> contracts.Brief:
    """Make the brief of what was asked, without waiting for a model: the manager judges it inside the job.

    Where no model is asked anyway, the questions are judged here, in milliseconds: `NotFeasible` carries narrower ones.
    """
    texts = [checked(text) for text in (sent.queries or [sent.query or ""])]
    if len({text.casefold() for text in texts}) < len(texts):
        raise BadRequest("Two of the queries are the same. Leave one out.")
    if sent.language and base_language(sent.language) not in languages():
        form = "No report is written in “{language}” yet; there are: {known}."
        raise BadRequest(form, language=sent.language, known=", ".join(languages()))
    usual = usual_minutes(team.settings.max_execution_time_s, sent.complexity_tier)
    minutes = usual if sent.time is None else minutes_of(str(sent.time))
    # Taken as they are; the plan that the job drafts is held against the bounds by code.
    unjudged = {"feasible": True, "reason": "Not judged beforehand; its plan decides.", "depth_estimate": 1}
    domains, dates = sent.domains or [], sent.dates or Dates()
    brief = contracts.Brief(
        question="\n".join(texts), minutes=minutes,
        language=report_language("" if sent.language else texts[0], sent.language or ""),
        mode=sent.mode or "standard", tier=sent.complexity_tier,
        queries=tuple(contracts.Query.model_validate({"text": text, **unjudged}) for text in texts),
        domains=tuple(domain for domain in domains if not domain.startswith("-")),
        exclude_domains=tuple(domain[1:] for domain in domains if domain.startswith("-")),
        date_from=dates.from_, date_to=dates.to, seed_urls=tuple(url for text in texts for url in seeds_in(text)),
        max_cost_usd=team.settings.max_cost_usd, today=team.today(),
    )  # fmt: skip
    together(
        contracts.Narrowing(), bound_by(brief)
    )  # limits that leave nothing would only be found out by finding nothing
    if team.engine.reasons:
        return brief
    talks = await asyncio.gather(*(team.scope(ScopingState(), text) for text in texts))
    return agreed(brief, [scope for scope, _ in talks])


async def _begun(
    sent: JobRequest, owner: str, site: Site, key: str | None, answer: Response, after: Job | None = None
) -> JobAccepted:
    """Start a job of its own, after the report of another where that is given."""
    team = site.team

    async def start(request: KeyedRequest | None) -> Job:
        brief, earlier = await brief_of(team, sent), None
        brief = brief.model_copy(update={"memory": owner if sent.memory else None})
        if after is not None:
            earlier, document = await team.earlier(after, "continue")
            brief = brief.model_copy(update={"known": known_lines(document)})
        commission = Commission(brief=brief, unjudged=team.engine.reasons, request=request, earlier=earlier)
        return await team.commission(commission, owner=owner)

    name = f"jobs{sent.model_dump_json()}{f' after {after.id}' if after else ''}"
    return _accepted(await site.once(owner, key, name, start), team, answer)


def _accepted(job: Job, team: Team, answer: Response) -> JobAccepted:
    answer.headers["Location"] = url = status_url(job.id)
    planning = orchestrator(job, team.settings.planner_pending_window_ms / 1000)
    started = PlannerStart(plannerPendingUntil=str(planning["plannerPendingUntil"]))
    engine, searched = team.engine, list(team.context().searched)
    runtime = Runtime(
        engine=engine.name, models=list(engine.names), retrievers=searched, durable=not team.jobs.temporary
    )  # fmt: skip
    return JobAccepted(
        job_id=job.id, status=job.status, stage=job.stage, planner=started, runtime=runtime, status_url=url
    )  # fmt: skip


@jobs_api.post("/research/jobs", status_code=202)
async def create(sent: JobRequest, owner: Owner, site: Here, answer: Response, key: Key = None) -> JobAccepted:
    """Start a job: answered at once, manager and planner work inside it. The request is the authorization.

    An infeasible question is refused with what would work: here where no model is asked, else by the job, which fails.
    """
    return await _begun(sent, owner, site, key, answer)


@jobs_api.post("/research/jobs/{job_id}/refresh", status_code=202)
async def refresh(job: Found, owner: Owner, site: Here, answer: Response) -> JobAccepted:
    """Run the contract of a job that has a report on today's sources, as a job of its own: it says what has changed."""
    with _allowed():
        earlier, _ = await site.team.earlier(job, "refresh")
    if job.contract is None:
        raise ApiError(409, "not_allowed", "This job has no contract to run again.")
    again = Commission(contract=site.team.renewed(job.contract), challenge=job.commission.challenge, earlier=earlier)
    return _accepted(await site.team.commission(again, owner=owner), site.team, answer)


@jobs_api.post("/research/jobs/{job_id}/continue", status_code=202)
async def go_on(
    sent: JobRequest, job: Found, owner: Owner, site: Here, answer: Response, key: Key = None
) -> JobAccepted:
    """Ask something new, beginning with what the report of a job cites: its facts are used and its claims known."""
    await report_of(site, job)
    return await _begun(sent, owner, site, key, answer, job)


# ---- describing


@jobs_api.get("/research/jobs")
async def jobs(
    owner: Owner, site: Here, limit: int = PAGE, offset: int = 0,
    status: Annotated[list[JobStatus] | None, Query()] = None
) -> dict[str, object]:  # fmt: skip
    """List jobs, newest first."""
    first, many = max(0, min(offset, 2**31)), max(1, min(limit, MOST))
    listed, total = await site.team.jobs.listed(owner, statuses=status or (), limit=many, offset=first)
    return {"jobs": [as_row(row) for row in listed], "total": total, "limit": many, "offset": first}


@jobs_api.get("/research/jobs/{job_id}")
async def job(job: Found, site: Here) -> dict[str, object]:
    """Describe a job whole: status, contract, state of its loops, claims, evidence, report."""
    document = job.report or await site.team.jobs.report(job.id)
    contract, row = job.contract, job.summary()
    claims = document.claims if document else job.claims
    phase = document.phase_state if document else running_phase(job)
    stands = orchestrator(job, site.team.settings.planner_pending_window_ms / 1000)
    ahead = await site.team.jobs.position(job)
    return as_row(row) | {
        "blocked_reason": job.blocked_reason,
        "contract": contract.model_dump(mode="json") | {"hash": contract.hash} if contract else None,
        "phase_state": phase.model_dump(mode="json"),
        "claims": [claim.model_dump(mode="json") for claim in claims],
        "evidence": [
            one.model_dump(mode="json") | {"claim_id": claim.id, "opens": f"{status_url(job.id)}/quote/{one.fact_id}"}
            for claim in claims
            for one in claim.evidence
        ],
        "error": as_api_error(job.error).inside.model_dump() if job.error else None,
        "metadata": {"created": job.created, "note": row.note, "orchestrator": stands, "jobs_ahead": ahead},
        "report": document.model_dump(mode="json") if document else None,
    }


def as_row(row: reports.JobSummary) -> dict[str, object]:
    """Describe a job for a list."""
    return {"job_id": row.id} | row.model_dump(mode="json", exclude={"id"})


def running_phase(job: Job) -> reports.PhaseState:
    """Fold `phase_state` from the rounds told so far."""
    run, history = job.run, defaultdict[str, list[LoopDecision]](list)
    asks, tried = dict[str, str](), list[tuple[str, RetryEntry]]()  # what each branch asks; attempts, with their branch
    for event in (numbered.event for numbered in run.events):
        match event:
            case RoundEnded():
                history[event.node].append(event.record.decision)
            case NodeChanged(state="queued", role="leaf"):
                asks[place(event.node)] = event.doing
            case SearchDone() if asked := asks.get(place(event.node)):
                status: RetryStatus = "pending" if event.failed else "complete"
                tried.append((event.node, RetryEntry(key=asked, attempts=bool(event.failed), status=status)))
            case SourceRejected(page="empty"):
                tried.append((event.node, RetryEntry(key=event.url, attempts=1, status="pending")))
    budget = reports.TimeBudget(
        total_minutes=None if run.total_s is None else run.total_s / 60,
        synthesis_reserve_minutes=round(run.reserve_s / 60, 3),
        started_at=job.created,
    )

    def state(node: str, above: str) -> reports.ResearchState:
        decisions = tuple(history.get(node, ()))
        entries = [entry for at, entry in tried if f"{at}/".startswith(f"{above}/")]
        return reports.ResearchState(
            time_budget=budget,
            iteration=reports.Iteration(current=len(decisions), max=job.contract.caps.rounds if job.contract else 0),
            retry_tracking=reports.RetryTracking.of(entries),
            gap_analysis=reports.GapAnalysis(loop_decision=decisions[-1] if decisions else None, history=decisions),
        )

    nodes = tuple(reports.NodePhase(node=node, research=state(node, node)) for node in history)
    roots = tuple(one for one in nodes if one.node.count("/") == 1)
    return reports.PhaseState(research=state("job/0", "job"), nodes=nodes, queries=roots if len(roots) > 1 else ())


@jobs_api.delete("/research/jobs")
async def remove(
    owner: Owner,
    site: Here,
    id: Annotated[list[str] | None, Query(description="Jobs to delete; without it, all that fit.")] = None,
    status: Annotated[list[JobStatus] | None, Query(description="Only jobs in one of these states.")] = None,
    force: bool = False,
    facts: Annotated[bool, Query(description="Also forget what only these jobs left in the knowledge base.")] = False,
) -> dict[str, object]:
    """Delete the caller's jobs with everything that hangs on them; running ones only with `force`."""
    stored = site.team.jobs
    listed, _ = await stored.listed(owner, limit=1_000_000)
    if id is not None and (unknown := sorted(set(id) - {row.id for row in listed})):
        raise ApiError(404, "not_found", "There is no such job.", details={"unknown": unknown})
    listed = [row for row in listed if (id is None or row.id in id) and (status is None or row.status in status)]
    chosen = [row.id for row in listed]
    running = [row.id for row in listed if row.status not in OVER]
    if running and not force:
        why = f"{len(running)} of these jobs still run. Stop them first, or delete with force=true."
        raise ApiError(409, "running", why, details={"running": running})
    if chosen:
        texts = given_to([one for job_id in chosen if (one := await stored.find(job_id, owner)) is not None])
        await stored.delete(owner, chosen)
        dropped = await forget_texts(stored, site.chats, texts)
        await forget_with(site.team.memory, owner, jobs=chosen if facts else (), texts=dropped)
    return {"deleted": chosen, "count": len(chosen)}


# ---- steering


def _open_job(job: Found) -> Job:
    if job.status in OVER:
        raise ApiError(409, "over", f"This job is {job.status} already. Nothing was changed.")
    return job


def _resting_job(job: Found) -> Job:
    if job.status in {"queued", "running"}:
        raise ApiError(409, "running", "This job still runs; cancel it first.", retryable=True)
    return job


Open = Annotated[Job, Depends(_open_job)]  # one that is not over: a 409 otherwise


@contextmanager
def _allowed() -> Iterator[None]:
    """Turn a refusal into a 409."""
    try:
        yield
    except BadRequest as error:
        raise ApiError(409, "not_allowed", error.notice) from error


def _state(job: Job, status: str = "") -> dict[str, object]:
    return {"job_id": job.id, "status": status or job.status, "stage": job.stage}


@jobs_api.post("/research/jobs/{job_id}/cancel", status_code=202)
async def cancel(job: Found, site: Here) -> dict[str, object]:
    """Stop a job at once; stopping one that is over changes nothing."""
    site.team.jobs.stop(job)
    return _state(job, "" if job.status in OVER else "cancelling")


@jobs_api.post("/research/jobs/{job_id}/finish", status_code=202)
async def finish(job: Found, site: Here) -> dict[str, object]:
    """Have a job search no further and write from what it has; one that is over stays as it is."""
    if job.status in OVER:
        return _state(job)
    site.team.jobs.steer(job, "finish")
    return _state(job, "finishing")


@jobs_api.post("/research/jobs/{job_id}/guidance", status_code=202)
async def guidance(sent: GuidanceRequest, job: Open, site: Here) -> dict[str, object]:
    """Add guidance for whatever is still to come; says what that is: the next round, branches at work, the summary.

    The offline engine cannot weigh it: nothing is reached, and it is recorded with the run.
    """
    site.team.jobs.guide(job, sent.text)
    rounds = job.contract.caps.rounds if job.contract else None
    reach = reach_of(job.run.events, rounds, reasons=site.team.engine.reasons)
    return _state(job) | {"guidance": list(job.run.steering.guidance), "reaches": reach._asdict()}


def _ordered(verb: Literal["pause", "resume", "rework", "restart"], may: Callable[..., Job], said: str) -> None:
    """Add a route that has something done to a job, and answers when it is."""

    @jobs_api.post(f"/research/jobs/{{job_id}}/{verb}", status_code=202, name=verb, description=said)
    async def route(job: Annotated[Job, Depends(may)], site: Here) -> dict[str, object]:
        with _allowed():
            return _state(await site.team.jobs.order(job, verb))


_ordered("pause", _open_job, "Have a job stop at its next step until it is resumed.")
_ordered("resume", _open_job, "Have a job go on that is paused or waits for a key.")
_ordered("rework", _resting_job, "Have a job that is over, or that the judge sent back, mend what fell short.")
_ordered("restart", _resting_job, "Run a job that is over again from what is recorded of it.")


@jobs_api.post("/research/jobs/{job_id}/release", status_code=202)
async def release(job: Found, site: Here) -> dict[str, object]:
    """Let a job pass that the judge held back, with the report as it is."""
    if not site.team.jobs.release(job):
        raise ApiError(409, "not_allowed", f"This job is {job.status}; the judge does not hold it back.")
    return _state(job, "releasing")


@jobs_api.post("/research/jobs/{job_id}/tasks", status_code=202)
async def add_task(sent: TaskRequest, job: Found, site: Here) -> dict[str, object]:
    """Put a task into a job: `collect` and `write` at once; `plan` and `challenge` when its present work has ended."""
    if sent.stage == "collect" and not sent.note and not sent.claim_id:
        raise ApiError(422, "bad_request", "note: say what is to be collected")
    claim = next((one.text for one in job.claims if one.id == sent.claim_id), "")
    if sent.claim_id and not claim:
        raise not_found("There is no such claim in this run.")
    task = reports.JobTask(stage=sent.stage, claim_id=sent.claim_id or "", claim=claim, note=sent.note or "")
    with _allowed():
        number = await site.team.jobs.add_task(job, task)
    return {"job_id": job.id, "task": _task(job.id, number, task)}


@jobs_api.get("/research/jobs/{job_id}/tasks")
async def tasks(job: Found, site: Here) -> dict[str, object]:
    """List the tasks that were put into a job, oldest first."""
    rows = await site.team.jobs.tasks(job)
    told = [(one, reports.JobTask.model_validate_json(one.argument)) for one in rows]
    return {"job_id": job.id, "tasks": [_task(job.id, one.id, task, one.status, one.outcome) for one, task in told]}


def _task(
    job_id: str, number: int, task: reports.JobTask, status: str = "queued", outcome: str = ""
) -> dict[str, object]:
    about = {"jobId": job_id, "stage": task.stage, "claimId": task.claim_id or None}
    told = {"id": str(number), "kind": "research", "stage": task.stage, "status": status, "note": task.note}
    return told | {"outcome": outcome if status == "refused" else "", "context": {"research": about}}


DOING: Mapping[Steered, str] = {"finish": "finishing", "stop": "stopping", "drop": "stopping", "retry": "retrying"}


@jobs_api.post("/research/jobs/{job_id}/nodes/{node:path}/{what}", status_code=202)
async def steer_branch(node: str, what: Steered, job: Found, site: Here) -> dict[str, object]:
    """Have one branch write from what it has, stop it, drop it, or try it again; the other branches go on."""
    row = next((one for one in live_tree(job).nodes if one.id == node), None)
    if row is None:
        raise not_found("There is no such branch in this run.")
    with _allowed():
        change = steer(site.team.jobs, job, row, what)
    if change is None:
        already = "" if what == "retry" else " already"
        raise ApiError(409, "over", f"This branch is {row.state}{already}. Nothing was changed.")
    return {"job_id": job.id, "node": node, "status": DOING[what], "change": change.number}
