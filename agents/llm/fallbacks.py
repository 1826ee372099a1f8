"""A model, and those that answer in its place when its provider is down, out of quota, or declines.

Each model is asked once for one reply, in order: there is no way back, so there is no loop. A model that failed is
left alone for a while, so that not every call finds out for itself. An answer that came is never asked for again here:
whether it is usable is the role engine's affair.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from agents.core.errors import ModelError, ModelFault
from agents.core.model import Model, OnText, Reply, Request

REST_S: dict[ModelFault, float] = {
    "key": 600.0,
    "quota": 600.0,
    "unknown_model": 600.0,
    "connection": 60.0,
    "server": 60.0,
    "timeout": 60.0,
    "rate": 30.0,
}
"""Seconds for which a model is left alone after a fault; the other faults are about one request only."""

FAIR_TIME_S = 20.0
"""A model that had less time than this and did not answer in it is not said to be slow."""

SHARE_WITH_OTHERS = 0.6
"""Part of the time left that a model may take while others could still be asked."""


@dataclass(frozen=True)
class _Resting:
    since: float
    until: float
    error: ModelError


class Ward:
    """Which models failed lately: shared by all roles, so that each failure is met once.

    Args:
        clock: seconds, never running backwards.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._resting: dict[str, _Resting] = {}

    def put(self, model: str, error: ModelError) -> None:
        """Leave a model alone for as long as its fault deserves."""
        if seconds := REST_S.get(error.fault):
            now = self._clock()
            self._resting[model] = _Resting(now, now + seconds, error)

    def now(self) -> float:
        """Give the time of its clock."""
        return self._clock()

    def release(self, model: str, asked_at: float) -> None:
        """Ask a model again that has answered; a call from before its failure says nothing of what came after it."""
        found = self._resting.get(model)
        if found and found.since <= asked_at:
            del self._resting[model]

    def resting(self, model: str) -> ModelError | None:
        """Give why a model is left alone; None when it may be asked."""
        found = self._resting.get(model)
        return found.error if found and found.until > self._clock() else None


class WithFallbacks:
    """A model that others stand in for.

    Args:
        models: the one that is bound, then the others in order.
        ward: which of them failed lately.
    """

    def __init__(self, models: Sequence[Model], ward: Ward) -> None:
        if not models:
            raise ValueError("no model is given")
        self.models = tuple(models)
        self.name = models[0].name
        self.reasons = models[0].reasons
        self._ward = ward

    async def reply(self, request: Request, on_text: OnText | None = None) -> Reply:
        """Have the first model answer that can.

        Raises:
            ModelError: none could; what the bound model said, since that is what can be mended.
        """
        loop = asyncio.get_running_loop()
        ends_at = None if request.deadline_s is None else loop.time() + request.deadline_s
        words = _Words(on_text)
        first: ModelError | None = self._ward.resting(self.name)
        awake = [model for model in self.models if self._ward.resting(model.name) is None] or [self.models[0]]
        for at, model in enumerate(awake):
            left = None if ends_at is None else max(0.0, ends_at - loop.time())
            if left is not None and at + 1 < len(awake):
                left *= SHARE_WITH_OTHERS
            asked_at = self._ward.now()
            try:
                reply = await model.reply(replace(request, deadline_s=left), words.listener)
            except ModelError as error:
                first = first or error
                if error.fault != "timeout" or left is None or left >= FAIR_TIME_S:
                    self._ward.put(model.name, error)
                if left == 0.0:
                    break  # no time for any other either
                continue
            self._ward.release(model.name, asked_at)
            if model is self.models[0]:
                return reply
            return replace(reply, stood_in_for=self.name, because=first.notice if first else "")
        assert first is not None
        raise first


class _Words:
    """What the user sees while a reply is written: a second model does not write over the first one's words."""

    def __init__(self, on_text: OnText | None) -> None:
        self._on_text = on_text
        self._shown = False

    @property
    def listener(self) -> OnText | None:
        if self._on_text is None or self._shown:
            return None
        return self._pass_on

    async def _pass_on(self, text: str) -> None:
        self._shown = True
        if self._on_text is not None:
            await self._on_text(text)
