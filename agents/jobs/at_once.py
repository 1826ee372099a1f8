"""The queue of a temporary store, which needs no engine: each attempt runs as soon as it comes."""

import asyncio
import contextvars
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agents.jobs.engine import RunAttempt


class AtOnce:
    """Runs attempts as tasks of this process; has the methods of `JobQueue`."""

    def __init__(self) -> None:
        self._run: RunAttempt | None = None
        self._tasks: dict[tuple[str, int], asyncio.Task[None]] = {}

    async def open(self, run_attempt: "RunAttempt | None") -> None:
        self._run = run_attempt

    async def close(self) -> None:
        if tasks := list(self._tasks.values()):
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def enqueue(self, job: str, attempt: int, user: str) -> None:
        if self._run is None or (job, attempt) in self._tasks:
            return
        # An empty context: a job must not inherit the chat session that started it, whose emitter dies with the page.
        work = self._run(job, attempt)
        task = asyncio.get_running_loop().create_task(work, context=contextvars.Context())
        self._tasks[job, attempt] = task
        task.add_done_callback(lambda _: self._tasks.pop((job, attempt)))

    async def cancel(self, job: str, attempt: int) -> None:
        if task := self._tasks.get((job, attempt)):
            task.cancel()

    async def known(self, job: str, attempt: int) -> bool:
        return (job, attempt) in self._tasks

    async def queued(self) -> list[tuple[str, str]]:
        return []

    async def stranded(self) -> list[tuple[str, int]]:
        return []

    async def ended(self) -> list[tuple[str, int]]:
        return []

    async def forget(self, job: str, attempt: int) -> None:
        """Nothing is kept of an attempt."""
