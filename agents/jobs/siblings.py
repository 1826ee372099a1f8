"""Branches side by side: their order is kept, and an error that nobody recorded ends them all."""

import asyncio
from collections.abc import Awaitable, Sequence

from agents.core.errors import StepFailed
from agents.core.port import M


async def side_by_side(branches: Sequence[Awaitable[M | StepFailed]]) -> list[M | StepFailed]:
    """Run branches at once and keep their order; an error that is no recorded failure cancels the others."""

    async def as_coroutine(branch: Awaitable[M | StepFailed]) -> M | StepFailed:
        return await branch

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(as_coroutine(branch)) for branch in branches]
    except BaseExceptionGroup as many:
        raise many.exceptions[0] from many
    return [task.result() for task in tasks]
