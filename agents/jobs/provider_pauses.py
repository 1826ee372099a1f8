"""Tells running jobs when a model provider asks to be left alone: a wait that nobody sees looks like a fault."""

from agents.core.events import Noted
from agents.jobs.job import Job
from agents.llm.pacing import Pacing


class Pauses:
    """Passes pauses on to the jobs of this process.

    Args:
        pacing: the gates of all providers.
    """

    def __init__(self, pacing: Pacing) -> None:
        pacing.on_pause = self._tell
        self._jobs: list[Job] = []
        self._told = 0

    def observe(self, job: Job) -> None:
        """Tell a job from now on, until it is over."""
        self._jobs = [one for one in self._jobs if not one.over]
        self._jobs.append(job)

    def _tell(self, provider: str, seconds: float) -> None:
        self._told += 1
        text = f"{provider} asks for a pause of {seconds:.0f} s; what needs it waits, the rest goes on."
        for job in self._jobs:
            if job.status == "running":
                job.run.emit(f"job#pause:{provider}~{len(job.run.events)}-{self._told}", Noted(text=text))
