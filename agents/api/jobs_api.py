"""`/research/jobs`: start, list, describe, steer and delete jobs.

How a job is described to callers: in a list, whole, and while it still runs.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse, Response

from agents.api.access import Here, Owner
from agents.api.error_responses import ApiError, as_api_error
from agents.api.payloads import (
    ERRORS,
    BoundedRoute,
    GuidanceRequest,
    JobAccepted,
    JobRequest,
    PlannerStart,
    TaskRequest,
)
from agents.api.reports import Lookup, forget_texts, given_to, kinds, written
from agents.api.run_routes import Key, brief_of, pending_window_s, status_url
from agents.contracts.report import (
    OVER,
    Commission,
    GapAnalysis,
    Iteration,
    JobStatus,
    JobSummary,
    JobTask,
    KeyedRequest,
    NodePhase,
    PhaseState,
    ReportDocument,
    ResearchState,
    RetryTracking,
    TaskRow,
    TimeBudget,
)
from agents.core.errors import BadRequest
from agents.core.events import RoundEnded, SearchDone, SourceRejected
from agents.jobs.changes import reach_of
from agents.jobs.live_job import Job, orchestrator
from agents.jobs.runtime import JobRuntime, NotDurable, summary
from agents.memory.knowledge import forget_with
from agents.report.earlier import known_lines
from agents.report.formats import FORMS
from agents.report.methodology import tracking
from agents.research.loop.retry_tracking import Retries
from agents.team import Team

if TYPE_CHECKING:
    from agents.api.app_state import Site


def whole(job: Job, document: ReportDocument | None, window_s: float, ahead: int = 0) -> dict[str, object]:
    """Describe a job whole; `ahead` is how many jobs start before it, for whoever waits."""
    contract, row = job.contract, summary(job)
    claims = document.claims if document else job.claims
    phase = document.phase_state if document else running_phase(job)
    stands = orchestrator(job, stage=job.stage, window_s=window_s, report=document)
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
        "error": _error(job),
        "metadata": {"created": job.created, "note": row.note, "orchestrator": stands, "jobs_ahead": ahead},
        "report": document.model_dump(mode="json") if document else None,
    }


def as_row(row: JobSummary) -> dict[str, object]:
    """Describe a job for a list."""
    return {"job_id": row.id} | row.model_dump(mode="json", exclude={"id"})


def _error(job: Job) -> dict[str, object] | None:
    if job.error is None:
        return None
    said = as_api_error(job.error)
    return {"type": said.type, "message": said.message, "retryable": said.retryable, "details": said.details}


def running_phase(job: Job) -> PhaseState:
    """Fold `phase_state` from the rounds told so far."""
    contract, total_s = job.contract, job.run.total_s(job.run.steering.limits.seconds)
    total = None if total_s is None else total_s / 60
    rounds = contract.caps.rounds if contract else 0
    history: dict[str, list[RoundEnded]] = {}
    for numbered in job.run.events:
        if isinstance(numbered.event, RoundEnded):
            history.setdefault(numbered.event.node, []).append(numbered.event)

    def state(node: str) -> ResearchState:
        ended = history.get(node, [])
        decisions = tuple(one.record.decision for one in ended)
        return ResearchState(
            time_budget=TimeBudget(
                total_minutes=total, synthesis_reserve_minutes=round(job.run.reserve_s / 60, 3), started_at=job.created
            ),
            iteration=Iteration(current=len(ended), max=rounds),
            retry_tracking=_running_retries(job, node),
            gap_analysis=GapAnalysis(loop_decision=decisions[-1] if decisions else None, history=decisions),
        )

    nodes = tuple(NodePhase(node=node, research=state(node)) for node in history)
    roots = tuple(one for one in nodes if one.node.count("/") == 1)
    whole_job = state("job/0").model_copy(update={"retry_tracking": _running_retries(job, "job")})
    return PhaseState(research=whole_job, nodes=nodes, queries=roots if len(roots) > 1 else ())


def _running_retries(job: Job, node: str) -> RetryTracking:
    """Fold the attempts of searches and addresses below a node from what was told so far."""
    retries = Retries()
    for numbered in job.run.events:
        match numbered.event:
            case SearchDone() as done if below(node, done.node):
                retries = retries.failed(done.text, branch=done.node) if done.failed else retries.completed(done.text)
            case SourceRejected() as refused if refused.page == "empty" and below(node, refused.node):
                retries = retries.failed(refused.url, branch=refused.node)
            case _:
                pass
    return tracking(retries.as_entries())


def below(node: str, path: str) -> bool:
    """Tell whether a path is a node or lies below it."""
    return path == node or path.startswith(f"{node}/")


PAGE, MOST = 50, 200
"""Jobs listed at a time when no other number is asked for, and at most."""

jobs_api = APIRouter(tags=["jobs"], responses=ERRORS, route_class=BoundedRoute)


@jobs_api.post("/research/jobs", status_code=202, response_model=JobAccepted)
async def create(sent: JobRequest, owner: Owner, site: Here, key: Key = None) -> Response:
    """Start a job: answered at once, manager and planner work inside it. The request is the authorization.

    An infeasible question is refused with what would work: here where no model is asked, else by the job, which fails.
    """
    return await _begun(sent, owner, site, key)


async def _begun(sent: JobRequest, owner: str, site: "Site", key: str | None, after: Job | None = None) -> Response:
    """Start a job of its own, after the report of another where that is given."""
    team = site.team

    async def start(fingerprint: str) -> Job:
        brief, earlier = await brief_of(team, sent), None
        brief = brief.model_copy(update={"memory": owner if sent.memory else None})
        if after is not None:
            earlier, document = await team.earlier(after, "continue")
            brief = brief.model_copy(update={"known": known_lines(document)})
        asked = KeyedRequest(key=key, fingerprint=fingerprint) if key is not None else None
        commission = Commission(brief=brief, unjudged=team.engine.reasons, request=asked, earlier=earlier)
        job: Job = await team.start_once(commission, owner=owner)
        return job

    if key is None:
        job = await start("")
    else:
        name = f"jobs{sent.model_dump_json()}{f' after {after.id}' if after else ''}"
        job = await site.state.once(team.jobs, owner, key, name, start)
    return _accepted(job, team)


def _accepted(job: Job, team: Team) -> Response:
    planning = orchestrator(job, stage=job.stage, window_s=pending_window_s(team))
    made = {
        "job_id": job.id,
        "status": job.status,
        "stage": job.stage,
        "planner": PlannerStart(started=True, plannerPendingUntil=planning["plannerPendingUntil"]).model_dump(),
        "runtime": {
            "engine": team.engine.name,
            "models": list(team.engine.names),
            "retrievers": list(team.retrievers),
            "durable": team.jobs.durable,
        },
        "status_url": status_url(job.id),
    }
    return JSONResponse(made, 202, {"Location": status_url(job.id)})


@jobs_api.get("/research/jobs")
async def jobs(
    owner: Owner,
    site: Here,
    limit: int = PAGE,
    offset: int = 0,
    status: Annotated[list[JobStatus] | None, Query()] = None,
) -> dict[str, object]:
    """List jobs, newest first."""
    first, many = max(0, offset), max(1, min(limit, MOST))
    rows, total = await runtime(site).listed(owner, statuses=status or (), limit=many, offset=first)
    return {"jobs": [as_row(row) for row in rows], "total": total, "limit": many, "offset": first}


@jobs_api.get("/research/jobs/{job_id}")
async def job(job_id: str, owner: Owner, site: Here) -> dict[str, object]:
    """Describe a job whole: status, contract, state of its loops, claims, evidence, report."""
    found = await Lookup(site.team).job(job_id, owner)
    document = found.report or await site.team.blobs.report(job_id)
    return whole(found, document, pending_window_s(site.team), await site.team.jobs.position(found))


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
    stored = runtime(site)
    rows, _ = await stored.listed(owner, limit=1_000_000)
    if id is not None and (unknown := sorted(set(id) - {row.id for row in rows})):
        raise ApiError(404, "not_found", "There is no such job.", details={"unknown": unknown})
    rows = [row for row in rows if (id is None or row.id in id) and (status is None or row.status in status)]
    chosen = [row.id for row in rows]
    running = [row.id for row in rows if row.status not in OVER]
    if running and not force:
        message = f"{len(running)} of these jobs still run. Stop them first, or delete with force=true."
        raise ApiError(409, "running", message, details={"running": running})
    if chosen:
        texts = given_to([one for job_id in chosen if (one := await stored.find(job_id, owner)) is not None])
        await stored.delete(owner, chosen)
        dropped = await forget_texts(stored, site.chats, texts)
        await forget_with(site.team.memory, owner, jobs=chosen if facts else (), texts=dropped)
    return {"deleted": chosen, "count": len(chosen)}


# ---- steering


def runtime(site: "Site") -> JobRuntime:
    """Give the jobs of this server."""
    jobs: JobRuntime = site.team.jobs
    return jobs


def _state(job: Job) -> dict[str, object]:
    return {"job_id": job.id, "status": job.status, "stage": job.stage}


def _still_open(job: Job) -> Job:
    """Refuse what only a job that is not over can do: a 409."""
    if job.status in OVER:
        raise ApiError(409, "over", f"This job is {job.status} already. Nothing was changed.")
    return job


def _resting(job: Job, verb: str) -> Job:
    """Refuse what only a job that does not run can do: a 409."""
    if job.status in {"queued", "running"}:
        raise ApiError(409, "running", f"This job still runs; cancel it before you {verb} it.", retryable=True)
    return job


T = TypeVar("T")


async def _allowed(work: Awaitable[T]) -> T:
    """Do something about a job; a refusal is a 409, and a 501 where jobs are not stored."""
    try:
        return await work
    except NotDurable as error:
        raise ApiError(501, "not_implemented", error.notice) from error
    except BadRequest as error:
        raise ApiError(409, "not_allowed", error.notice) from error


@jobs_api.post("/research/jobs/{job_id}/cancel", status_code=202)
async def cancel(job_id: str, owner: Owner, site: Here) -> dict[str, object]:
    """Stop a job at once; stopping one that is over changes nothing."""
    job = await Lookup(site.team).job(job_id, owner)
    runtime(site).stop(job)
    return {"job_id": job_id, "status": job.status if job.status in OVER else "cancelling"}


@jobs_api.post("/research/jobs/{job_id}/finish", status_code=202)
async def finish(job_id: str, owner: Owner, site: Here) -> dict[str, object]:
    """Have a job search no further and write from what it has; one that is over stays as it is."""
    job = await Lookup(site.team).job(job_id, owner)
    if job.status in OVER:
        return {"job_id": job_id, "status": job.status}
    runtime(site).finish(job)
    return {"job_id": job_id, "status": "finishing"}


@jobs_api.post("/research/jobs/{job_id}/guidance", status_code=202)
async def guidance(job_id: str, sent: GuidanceRequest, owner: Owner, site: Here) -> dict[str, object]:
    """Add guidance for whatever is still to come; says what that is: the next round, branches at work, the summary."""
    job = _still_open(await Lookup(site.team).job(job_id, owner))
    runtime(site).guide(job, sent.text)
    reach = reach_of(job.run, rounds=job.contract.caps.rounds if job.contract else None)
    reaches = {"round": reach.round, "branches": reach.branches, "summary": reach.summary}
    return {"job_id": job_id, "status": job.status, "guidance": list(job.run.steering.guidance), "reaches": reaches}


@jobs_api.post("/research/jobs/{job_id}/pause", status_code=202)
async def pause(job_id: str, owner: Owner, site: Here) -> dict[str, object]:
    """Have a job stop at its next step until it is resumed. In memory: 501."""
    job = _still_open(await Lookup(site.team).job(job_id, owner))
    await _allowed(runtime(site).pause(job))
    return _state(job)


@jobs_api.post("/research/jobs/{job_id}/resume", status_code=202)
async def resume(job_id: str, owner: Owner, site: Here) -> dict[str, object]:
    """Have a job go on that is paused or waits for a key. In memory: 501."""
    job = _still_open(await Lookup(site.team).job(job_id, owner))
    return _state(await _allowed(runtime(site).resume(job)))


@jobs_api.post("/research/jobs/{job_id}/rework", status_code=202)
async def rework(job_id: str, owner: Owner, site: Here) -> dict[str, object]:
    """Have a job that is over, or that the judge sent back, mend what fell short. In memory: 501."""
    job = _resting(await Lookup(site.team).job(job_id, owner), "rework")
    return _state(await _allowed(runtime(site).rework(job)))


@jobs_api.post("/research/jobs/{job_id}/restart", status_code=202)
async def restart(job_id: str, owner: Owner, site: Here) -> dict[str, object]:
    """Run a job that is over again from what is recorded of it. In memory: 501."""
    job = _resting(await Lookup(site.team).job(job_id, owner), "restart")
    return _state(await _allowed(runtime(site).restart(job)))


@jobs_api.post("/research/jobs/{job_id}/refresh", status_code=202, response_model=JobAccepted)
async def refresh(job_id: str, owner: Owner, site: Here) -> Response:
    """Run the contract of a job that has a report on today's sources, as a job of its own: it says what has changed."""
    job = await Lookup(site.team).job(job_id, owner)
    contract = job.contract
    earlier, _ = await _allowed(site.team.earlier(job, "refresh"))
    if contract is None:
        raise ApiError(409, "not_allowed", "This job has no contract to run again.")
    again = Commission(contract=site.team.renewed(contract), challenge=job.commission.challenge, earlier=earlier)
    return _accepted(await site.team.start_once(again, owner=owner), site.team)


@jobs_api.post("/research/jobs/{job_id}/continue", status_code=202, response_model=JobAccepted)
async def go_on(job_id: str, sent: JobRequest, owner: Owner, site: Here, key: Key = None) -> Response:
    """Ask something new, beginning with what the report of a job cites: its facts are used and its claims known."""
    job = await Lookup(site.team).job(job_id, owner)
    await Lookup(site.team).report(job)
    return await _begun(sent, owner, site, key, job)


@jobs_api.post("/research/jobs/{job_id}/release", status_code=202)
async def release(job_id: str, owner: Owner, site: Here) -> dict[str, object]:
    """Let a job pass that the judge held back, with the report as it is."""
    job = await Lookup(site.team).job(job_id, owner)
    if not runtime(site).release(job):
        raise ApiError(409, "not_allowed", f"This job is {job.status}; the judge does not hold it back.")
    return {"job_id": job_id, "status": "releasing"}


@jobs_api.post("/research/jobs/{job_id}/tasks", status_code=202)
async def add_task(job_id: str, sent: TaskRequest, owner: Owner, site: Here) -> dict[str, object]:
    """Put a task into a job: `collect` and `write` at once; `plan` and `challenge` when its present work has ended."""
    job = await Lookup(site.team).job(job_id, owner)
    if sent.stage == "collect" and not sent.note and not sent.claim_id:
        raise ApiError(422, "bad_request", "note: say what is to be collected")
    task = JobTask(stage=sent.stage, claim_id=sent.claim_id or "", note=sent.note or "")
    number = await _allowed(runtime(site).add_task(job, task))
    return {"job_id": job_id, "task": _task(job_id, TaskRow(id=number, task=task))}


@jobs_api.get("/research/jobs/{job_id}/tasks")
async def tasks(job_id: str, owner: Owner, site: Here) -> dict[str, object]:
    """List the tasks that were put into a job, oldest first."""
    job = await Lookup(site.team).job(job_id, owner)
    return {"job_id": job_id, "tasks": [_task(job_id, row) for row in await runtime(site).tasks(job)]}


def _task(job_id: str, row: TaskRow) -> dict[str, object]:
    return {
        "id": str(row.id),
        "kind": "research",
        "stage": row.task.stage,
        "status": row.status,
        "note": row.task.note,
        "outcome": row.outcome,
        "context": {"research": {"jobId": job_id, "stage": row.task.stage, "claimId": row.task.claim_id or None}},
    }


# ---- exports


def _export(form: str) -> Callable[..., Awaitable[Response]]:
    async def route(job_id: str, owner: Owner, site: Here) -> Response:
        lookup = Lookup(site.team)
        return await written(await lookup.report(await lookup.job(job_id, owner)), form)

    return route


for _form, _said in {
    "bib": "Download the references as BibTeX.",
    "ris": "Download the references as RIS.",
    "csl": "Download the references as CSL-JSON.",
    "pdf": "Download the report as PDF, tagged and with its fonts; 422 where these lack the letters of its script.",
    "docx": "Download the report for a word processor.",
}.items():
    jobs_api.add_api_route(
        f"/research/jobs/{{job_id}}/report.{_form}",
        _export(_form),
        methods=["GET"],
        name=f"report_{_form}",
        description=_said,
        response_class=Response,
        responses=kinds(FORMS[_form].mime),
    )
