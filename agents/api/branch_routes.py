"""The routes that steer one branch of a run."""

from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Depends, Request

from agents.api.access import caller
from agents.api.error_responses import ApiError, not_found
from agents.api.lookup import Lookup
from agents.api.steer_branch import What, rows, steer
from agents.core.errors import BadRequest

branches = APIRouter(tags=["research"])

DOING: Mapping[What, str] = {"finish": "finishing", "stop": "stopping", "drop": "stopping", "retry": "retrying"}


def _lookup(request: Request) -> Lookup:
    site = request.app.state.dossier_site
    return Lookup(site.team)


@branches.post("/research/jobs/{job_id}/nodes/{node:path}/{what}", status_code=202)
async def steer_branch(
    job_id: str,
    node: str,
    what: What,
    owner: Annotated[str, Depends(caller)],
    lookup: Annotated[Lookup, Depends(_lookup)],
) -> dict[str, object]:
    """Have one branch write from what it has, stop it, drop it, or try it again; the other branches go on."""
    job = await lookup.job(job_id, owner)
    row = next((one for one in rows(job) if one.id == node), None)
    if row is None:
        raise not_found("There is no such branch in this run.")
    try:
        change = steer(lookup.team.jobs, job, row, what)
    except BadRequest as error:
        raise ApiError(409, "not_allowed", error.notice) from error
    if change is None:
        raise ApiError(
            409, "over", f"This branch is {row.state}{'' if what == 'retry' else ' already'}. Nothing was changed."
        )
    return {"job_id": job_id, "node": node, "status": DOING[what], "change": change.number}
