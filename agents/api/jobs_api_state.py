"""What the routes keep beside the jobs: answers by idempotency key, meters."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from agents.api.error_responses import ApiError
from agents.api.metrics import Meter
from agents.contracts.frozen import digest
from agents.jobs.job import Job
from agents.jobs.runtime import JobRuntime
from agents.team import Team

if TYPE_CHECKING:
    from agents.run_answer import FlatRun

MAX_KEY = 255
PUBLIC = "/research/jobs"


class ApiState:
    """One per server."""

    def __init__(self) -> None:
        self.meter = Meter()
        self._starting: dict[str, tuple[str, asyncio.Future[Job]]] = {}

    def run_started(self, team: Team, planned: "FlatRun", job: Job) -> None:
        """Count what the planning of a run took."""
        self.meter.planned(job, len(planned.queries), team.models["planner"].name, planned.usage)

    async def once(
        self, jobs: JobRuntime, owner: str, key: str, sent: str, start: Callable[[str], Awaitable[Job]]
    ) -> Job:
        """Start a job once per key: a second request gets the first one's job, also after a restart of the server.

        Args:
            jobs: where started jobs are found again.
            owner: whose key it is.
            key: chosen by the caller.
            sent: the whole request; another one under the same key is refused.
            start: does what is asked for, given the request's fingerprint to keep.

        Raises:
            ApiError: 422; the key was used for another request, or is no key.
        """
        if not 0 < len(key) <= MAX_KEY:
            raise ApiError(422, "bad_request", f"Idempotency-Key: give 1 to {MAX_KEY} characters")
        name, fingerprint = f"{owner}\n{key}", digest(sent)
        # Planning takes seconds in which there is no job yet: whoever asks meanwhile waits for the same one.
        if (known := self._starting.get(name)) is not None:
            if known[0] != fingerprint:
                raise _reused()
            return await asyncio.shield(known[1])
        future: asyncio.Future[Job] = asyncio.get_running_loop().create_future()
        self._starting[name] = (fingerprint, future)
        try:
            job = await jobs.requested(owner, key) or await start(fingerprint)
            if job.commission.request is None or job.commission.request.fingerprint != fingerprint:
                raise _reused()
        except BaseException as error:
            # A refusal is not remembered: the same request may succeed the next time.
            if isinstance(error, Exception):
                future.set_exception(error)
                future.exception()
            else:
                future.cancel()
            raise
        finally:
            self._starting.pop(name, None)
        future.set_result(job)
        return job


def _reused() -> ApiError:
    return ApiError(422, "idempotency_key_reused", "This Idempotency-Key was used for another request.")


def status_url(job_id: str) -> str:
    """Give the address at which a job is described."""
    return f"{PUBLIC}/{job_id}"
