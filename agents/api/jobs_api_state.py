"""What the routes keep beside the jobs: followers of running ones, answers by idempotency key, meters."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from agents.api.errors import ApiError
from agents.api.metrics import Meter
from agents.contracts.base import digest

if TYPE_CHECKING:
    from agents.api.ledger import Ledger
    from agents.api.site import Site
    from agents.jobs.service import Job
    from agents.run_research import FlatRun

KEPT = 2_000
"""Idempotency keys that are remembered, newest kept."""
MAX_KEY = 255
PUBLIC = "/research/jobs"

Made = tuple[int, dict[str, Any]]
"""Status and body of an answer."""


class ApiState:
    """One per server."""

    def __init__(self) -> None:
        self.meter = Meter()
        self._answers: OrderedDict[str, tuple[str, asyncio.Future[Made]]] = OrderedDict()
        self._followers: dict[str, asyncio.Task[Any]] = {}

    def follow(self, ledger: "Ledger", job: "Job") -> None:
        """Have the ledger enter a job that no chat follows."""
        task = asyncio.get_running_loop().create_task(ledger.follow(job), name=f"follow-{job.id}")
        self._followers[job.id] = task
        task.add_done_callback(lambda _: self._followers.pop(job.id, None))

    def run_started(self, site: "Site", planned: "FlatRun", job: "Job") -> None:
        """Enter a run that no chat follows, and what its planning took."""
        self.meter.planned(job, len(planned.queries), site.team.models["planner"].name, planned.usage)
        self.follow(site.ledger, job)

    async def entered(self, job_id: str) -> None:
        """Wait until the end of a job that is over stands in the ledger."""
        if task := self._followers.get(job_id):
            await asyncio.wait({task}, timeout=2)

    async def once(self, owner: str, key: str | None, sent: str, make: Callable[[], Awaitable[Made]]) -> Made:
        """Do what a request asks for once per key: a second one gets the first one's answer, also while it is made.

        Raises:
            ApiError: 422; the key was used for another request, or is no key.
        """
        if key is None:
            return await make()
        if not 0 < len(key) <= MAX_KEY:
            raise ApiError(422, "bad_request", f"Idempotency-Key: give 1 to {MAX_KEY} characters")
        name, print_ = f"{owner}\n{key}", digest(sent)
        known = self._answers.get(name)
        if known is not None:
            if known[0] != print_:
                raise ApiError(422, "idempotency_key_reused", "This Idempotency-Key was used for another request.")
            return await asyncio.shield(known[1])
        future: asyncio.Future[Made] = asyncio.get_running_loop().create_future()
        self._answers[name] = (print_, future)
        while len(self._answers) > KEPT:
            self._answers.popitem(last=False)
        try:
            made = await make()
        except BaseException as error:
            # A refusal is not remembered: the same request may succeed the next time.
            self._answers.pop(name, None)
            if isinstance(error, Exception):
                future.set_exception(error)
                future.exception()
            else:
                future.cancel()
            raise
        future.set_result(made)
        return made


def status_url(job_id: str) -> str:
    """Give the address at which a job is described."""
    return f"{PUBLIC}/{job_id}"
