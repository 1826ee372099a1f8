"""What one server consists of, opened once per process: settings, team, allowances, figures; shared by chat and routes."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from weakref import WeakValueDictionary

from agents.api.about import about
from agents.api.allowance import RateLimit
from agents.api.error_responses import ApiError
from agents.api.metrics import Meter
from agents.contracts.frozen import digest
from agents.core.settings import Settings
from agents.jobs.live_job import Job
from agents.llm.model_names import find_servers
from agents.run_answer import FlatRun
from agents.search.searcher import Probed
from agents.team import Team

log = logging.getLogger(__name__)


@dataclass
class WebReach:
    """Whether keyless web search can be reached, once it was tried."""

    found: Probed | None = None
    """None where none would be asked, and before it was tried."""
    own: int = 0
    """Documents in the user's library, once they were counted."""
    tell: Callable[[str], None] = field(default=lambda _lines: None)
    """Is given what the server is set up with, and what leaves this computer, once that is known."""

    async def ask(self, team: Team) -> None:
        """Try once; whatever goes wrong only means that nothing is known."""
        try:
            self.found = await team.probe()
        except Exception:
            log.exception("web search could not be tried")
        if self.found is not None:
            state = "reachable" if self.found.reachable else f"not reachable: {self.found.reason}"
            log.info("keyless web search (%s) is %s", self.found.host, state)
        said = about(team, self.found)
        servers = await asyncio.to_thread(find_servers, besides=team.settings.port) if said.offline else ()
        self.tell("\n".join(f"  {line}" for line in (*said.lines, *(one.line for one in servers))))


@dataclass(frozen=True)
class Site:
    """What the chat and the routes share."""

    settings: Settings
    team: Team
    reach: WebReach = field(default_factory=WebReach)
    meter: Meter = field(default_factory=Meter)
    _starting: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    def __post_init__(self) -> None:
        self.team.observers.append(self.meter.observe)

    @cached_property
    def allowance(self) -> RateLimit:
        """What each user and each address may ask."""
        return RateLimit(self.settings.most_requests)

    @property
    def chats(self) -> Path:
        return self.settings.data_dir / "chat.db"

    def started(self, planned: FlatRun, job: Job) -> None:
        """Count a run whose planning came before its job."""
        self.meter.planned(job, len(planned.queries), self.team.models["planner"].name, planned.usage)

    async def once(self, owner: str, key: str, sent: str, start: Callable[[str], Awaitable[Job]]) -> Job:
        """Start a job once per key: a second request gets the first one's job, also after a restart of the server.

        Args:
            owner: whose key it is.
            key: chosen by the caller.
            sent: the whole request; another one under the same key is refused.
            start: does what is asked for, given the request's fingerprint to keep.

        Raises:
            ApiError: 422; the key was used for another request.
        """
        fingerprint = digest(sent)
        # Planning takes seconds in which there is no job yet: whoever asks meanwhile waits for the same one.
        async with self._starting.setdefault(f"{owner}\n{key}", asyncio.Lock()):
            job = await self.team.jobs.requested(owner, key) or await start(fingerprint)
        if job.commission.request is None or job.commission.request.fingerprint != fingerprint:
            raise ApiError(422, "idempotency_key_reused", "This Idempotency-Key was used for another request.")
        return job
