"""`/research/jobs`: start, list, describe, steer and delete jobs."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, Literal, Protocol, runtime_checkable

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse, Response

from agents.api.error_responses import ApiError
from agents.api.forgetting import forget_texts, given_to
from agents.api.jobs_api_rows import Row, delete, described, rows_of
from agents.api.jobs_api_start import brief_of, pending_window_s
from agents.api.jobs_api_state import status_url
from agents.api.jobs_api_view import row_of, whole
from agents.api.ledger import entry_of
from agents.api.lookup import Found, Lookup
from agents.api.payloads import (
    ERRORS,
    BoundedRoute,
    GuidanceRequest,
    JobAccepted,
    JobRequest,
    PlannerStart,
    TaskRequest,
)
from agents.api.reports import kinds, written
from agents.api.run import Here, Key, Owner
from agents.contracts.job import OVER, JobStatus
from agents.contracts.result import Commission, Request
from agents.core.errors import BadRequest
from agents.jobs.service import Job
from agents.report.formats import FORMS

PAGE, MOST = 50, 200
"""Jobs listed at a time when no other number is asked for, and at most."""

jobs_api = APIRouter(tags=["jobs"], responses=ERRORS, route_class=BoundedRoute)

Verb = Literal["pause", "resume", "rework", "restart"]


@runtime_checkable
class Durable(Protocol):
    """What a service whose jobs outlive the process can do beyond those in memory; refusals are a `BadRequest`."""

    async def pause(self, job: Job) -> None:
        """Let the calls in flight finish and start none until it is resumed."""
        ...

    async def resume(self, job: Job) -> Job:
        """Let a paused job go on."""
        ...

    async def restart(self, job: Job) -> Job:
        """Do a job again from what is recorded of it."""
        ...

    async def rework(self, job: Job) -> Job:
        """Decide and write anew from what was read."""
        ...

    async def delete(self, owner: str | None, *, job_ids: Sequence[str] = (), force: bool = False) -> int:
        """Delete jobs with everything that belongs to them, at once."""
        ...


@jobs_api.post("/research/jobs", status_code=202, response_model=JobAccepted)
async def create(sent: JobRequest, owner: Owner, site: Here, key: Key = None) -> Response:
    """Start a job. The request is the authorization; an infeasible question is refused with what would work."""
    team = site.team

    planner = PlannerStart(started=True)

    async def start(fingerprint: str) -> Job:
        nonlocal planner
        briefed = await brief_of(team, sent)
        planner = PlannerStart(started=not briefed.error, error=briefed.error or None)
        if key is None:
            job: Job = team.commission(briefed.brief, owner=owner)
        else:
            asked = Request(key=key, fingerprint=fingerprint, answer=planner.model_dump_json())
            job = await team.start_once(Commission(brief=briefed.brief, request=asked), owner=owner)
        site.state.follow(site.ledger, job)
        return job

    if key is None:
        job = await start("")
    else:
        job = await site.state.once(team.jobs, owner, key, f"jobs{sent.model_dump_json()}", start)
        if job.commission.request is not None:
            planner = PlannerStart.model_validate_json(job.commission.request.answer)
    made = {
        "job_id": job.id,
        "status": job.status,
        "stage": job.stage,
        "planner": planner.model_dump(),
        "runtime": {
            "engine": team.engine.name,
            "models": list(team.engine.names),
            "retrievers": list(team.retrievers),
            "durable": isinstance(team.jobs, Durable),
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
) -> dict[str, Any]:
    """List jobs, newest first."""
    live: dict[str, Job] = {job.id: job for job in site.team.jobs.of(owner)}
    known = [row for row in await rows_of(site.ledger.path, owner) if row.id not in live]
    found = [*known, *(Row(job.id, job.created, job.status) for job in live.values())]
    found = [row for row in found if status is None or row.status in status]
    # Stable: of two that were created in the same second, the one that was listed first stays first.
    found.sort(key=lambda row: row.created, reverse=True)
    first, many = max(0, offset), max(1, min(limit, MOST))
    page = found[first : first + many]
    kept = await described(site.ledger.path, [row.id for row in page if row.id not in live])
    rows = [
        row_of(Found(entry_of(live[row.id]), live[row.id])) if row.id in live else kept[row.id]
        for row in page
        if row.id in live or row.id in kept
    ]
    return {"jobs": rows, "total": len(found), "limit": many, "offset": first}


@jobs_api.get("/research/jobs/{job_id}")
async def job(job_id: str, owner: Owner, site: Here) -> dict[str, Any]:
    """Describe a job whole: status, contract, state of its loops, claims, evidence, report."""
    found = await Lookup(site.team, site.ledger).job(job_id, owner)
    document = found.job.report if found.job else None
    document = document or await site.team.shelf.report(job_id)
    return whole(found, document, pending_window_s(site.team))


@jobs_api.delete("/research/jobs")
async def remove(
    owner: Owner,
    site: Here,
    id: Annotated[list[str] | None, Query(description="Jobs to delete; without it, all that fit.")] = None,
    status: Annotated[list[JobStatus] | None, Query(description="Only jobs in one of these states.")] = None,
    force: bool = False,
) -> dict[str, Any]:
    """Delete the caller's jobs with everything that hangs on them; running ones only with `force`."""
    live: dict[str, Job] = {one.id: one for one in site.team.jobs.of(owner)}
    states = {row.id: row.status for row in await rows_of(site.ledger.path, owner)}
    states |= {one.id: one.status for one in live.values()}
    if id is not None and (unknown := [one for one in id if one not in states]):
        raise ApiError(404, "not_found", "There is no such job.", details={"unknown": unknown})
    chosen = [one for one in states if (id is None or one in id) and (status is None or states[one] in status)]
    running = [one for one in chosen if one in live and not live[one].over]
    if running and not force:
        message = f"{len(running)} of these jobs still run. Stop them first, or delete with force=true."
        raise ApiError(409, "running", message, details={"running": running})
    for one in running:
        site.team.jobs.stop(live[one])
        await live[one].wait()
    await asyncio.gather(*(site.state.entered(one) for one in chosen))
    texts = given_to([entry for one in chosen if (entry := await site.ledger.get(one, owner)) is not None])
    site.ledger.forget(chosen)
    if chosen and isinstance(site.team.jobs, Durable):
        await site.team.jobs.delete(owner, job_ids=chosen, force=True)
    await delete(site.ledger.path, owner, chosen)
    for one in chosen:
        if one in live and not isinstance(site.team.jobs, Durable):
            # The service in memory has no verb for it.
            site.team.jobs._jobs.pop(one, None)
        await asyncio.to_thread((site.team.shelf.folder / "reports" / f"{one}.json").unlink, missing_ok=True)
    await forget_texts(site.ledger, site.team.shelf, texts)
    return {"deleted": chosen, "count": len(chosen)}


# ---- steering


async def _running(site: Any, job_id: str, owner: str) -> Job:
    """Find a job that still runs.

    Raises:
        ApiError: 404; there is none. 409; it is over.
    """
    found = await Lookup(site.team, site.ledger).job(job_id, owner)
    if found.job is None or found.job.over:
        raise ApiError(409, "over", f"This job is {found.entry.status} already. Nothing was changed.")
    return found.job


@jobs_api.post("/research/jobs/{job_id}/cancel", status_code=202)
async def cancel(job_id: str, owner: Owner, site: Here) -> dict[str, Any]:
    """Stop a job at once; stopping one that is over changes nothing."""
    found = await Lookup(site.team, site.ledger).job(job_id, owner)
    if found.job is not None:
        site.team.jobs.stop(found.job)
    return {"job_id": job_id, "status": "cancelling" if found.job and not found.job.over else found.entry.status}


@jobs_api.post("/research/jobs/{job_id}/finish", status_code=202)
async def finish(job_id: str, owner: Owner, site: Here) -> dict[str, Any]:
    """Have a job search no further and write from what it has; one that is over stays as it is."""
    found = await Lookup(site.team, site.ledger).job(job_id, owner)
    if found.job is not None and not found.job.over:
        site.team.jobs.finish(found.job)
        return {"job_id": job_id, "status": "finishing"}
    return {"job_id": job_id, "status": found.entry.status}


@jobs_api.post("/research/jobs/{job_id}/guidance", status_code=202)
async def guidance(job_id: str, sent: GuidanceRequest, owner: Owner, site: Here) -> dict[str, Any]:
    """Add guidance that the next rounds follow."""
    running = await _running(site, job_id, owner)
    site.team.jobs.guide(running, sent.text)
    return {"job_id": job_id, "status": running.status, "guidance": list(running.run.steering.guidance)}


@jobs_api.post("/research/jobs/{job_id}/tasks", status_code=202)
async def tasks(job_id: str, sent: TaskRequest, owner: Owner, site: Here) -> dict[str, Any]:
    """Put a task into a running job: `collect` is looked at in the next round, `write` ends the collecting."""
    running = await _running(site, job_id, owner)
    contract = running.commission.contract
    if sent.stage == "collect":
        about = f"claim {sent.claim_id}: " if sent.claim_id else ""
        if not sent.note and not sent.claim_id:
            raise ApiError(422, "bad_request", "note: say what is to be collected")
        site.team.jobs.guide(running, f"{about}{sent.note or 'look for more evidence'}")
    elif sent.stage == "write":
        site.team.jobs.finish(running)
    elif callable(inject := getattr(site.team.jobs, "inject", None)):
        await inject(running, sent.stage, sent.claim_id, sent.note)
    elif sent.stage == "plan" and contract is None:
        raise ApiError(409, "planning", "This job is being planned already.")
    else:
        raise _not_here(f"put a {sent.stage} task into a running job")
    number = len(running.run.steering.guidance)
    task = {"id": f"{job_id}-{sent.stage}-{number}", "kind": "research", "stage": sent.stage, "status": "queued"}
    return {"job_id": job_id, "task": task | {"context": {"research": {"jobId": job_id, "stage": sent.stage}}}}


def _durable(verb: Verb) -> Callable[..., Awaitable[dict[str, Any]]]:
    async def route(job_id: str, owner: Owner, site: Here) -> dict[str, Any]:
        found = await Lookup(site.team, site.ledger).job(job_id, owner)
        service = site.team.jobs
        if verb in {"pause", "resume"} and (found.job is None or found.entry.status in OVER):
            raise ApiError(409, "over", f"This job is {found.entry.status} already. Nothing was changed.")
        if verb in {"rework", "restart"} and found.entry.status in {"queued", "running"}:
            raise ApiError(409, "running", f"This job still runs; cancel it before you {verb} it.", retryable=True)
        if not isinstance(service, Durable):
            raise _not_here(f"{verb} a job")
        if found.job is None:
            raise ApiError(409, "gone", "Only the report of this job is left; start it anew.")
        try:
            now = await getattr(service, verb)(found.job) or found.job
        except BadRequest as error:
            raise ApiError(409, "not_allowed", error.notice) from error
        return {"job_id": job_id, "status": now.status, "stage": now.stage}

    return route


VERBS: dict[Verb, str] = {
    "pause": "Have a job stop at its next step until it is resumed. In memory: 501.",
    "resume": "Have a job go on that is paused or waits for a key. In memory: 501.",
    "rework": "Have a job that is over mend what fell short. In memory: 501.",
    "restart": "Run a job that is over again from what is recorded of it. In memory: 501.",
}
for _verb, _said in VERBS.items():
    jobs_api.add_api_route(
        f"/research/jobs/{{job_id}}/{_verb}",
        _durable(_verb),
        methods=["POST"],
        status_code=202,
        name=_verb,
        description=_said,
    )


def _not_here(what: str) -> ApiError:
    return ApiError(501, "not_implemented", f"Jobs live in this process's memory, which can't {what}.")


# ---- exports


def _export(form: str) -> Callable[..., Awaitable[Response]]:
    async def route(job_id: str, owner: Owner, site: Here) -> Response:
        lookup = Lookup(site.team, site.ledger)
        return await written(await lookup.report(await lookup.job(job_id, owner)), form)

    return route


for _form, _said in {
    "bib": "Download the references as BibTeX.",
    "ris": "Download the references as RIS.",
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
