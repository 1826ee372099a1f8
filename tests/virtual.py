"""Time that passes only when nothing else is left to do: runs of minutes in milliseconds, whatever the machine does."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from agents.core.budget import Usage
from agents.core.errors import ModelError
from agents.core.role import Reply
from tests.scripted_model import ScriptedModel


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps to whatever is due next and stands still meanwhile. No threads, no sockets."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0

    def time(self) -> float:
        return self._now

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:
        """Compute at once: the clock would jump to what is due next while a thread works, now and then."""
        done = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:
            done.set_exception(error)
        return done

    def _run_once(self) -> None:
        if not self._ready and self._scheduled:
            self._now = max(self._now, self._scheduled[0]._when)
        super()._run_once()


def virtually(work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """Run `work` to its end in virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(work())


def clock() -> float:
    """The clock of the virtual loop that runs."""
    return asyncio.get_running_loop().time()


class SlowModel(ScriptedModel):
    """Answers as `worker` does, each call after `call_s` seconds, and from `stalls_at_s` on after `stall_s` only.

    Every reply costs `tokens`, at `price` dollars each for a million in and out; None for an unknown price.
    """

    def __init__(
        self, worker, roles, *, call_s=8.0, stalls_at_s=float("inf"), stall_s=300.0, tokens=0, price=(0.0, 0.0)
    ):
        super().__init__(by_role=dict.fromkeys(roles, worker))
        self.call_s, self.stalls_at_s, self.stall_s = call_s, stalls_at_s, stall_s
        self.tokens, self.price = tokens, price
        self.began: list[float] = []
        self.ended: list[float] = []
        self.origin: float | None = None

    async def reply(self, request, on_text=None):
        self.origin = clock() if self.origin is None else self.origin
        self.began.append(clock() - self.origin)
        stalled = self.began[-1] + self.call_s > self.stalls_at_s
        try:
            async with asyncio.timeout(request.deadline_s):
                await asyncio.sleep(self.stall_s if stalled else self.call_s)
        except TimeoutError:
            raise ModelError("no answer", fault="timeout", notice="The model did not answer in time.") from None
        finally:
            self.ended.append(clock() - self.origin)
        answer = await super().reply(request, on_text)
        tokens_in, tokens_out = self.tokens * 5 // 6, self.tokens // 6
        cost = None if self.price is None else (tokens_in * self.price[0] + tokens_out * self.price[1]) / 1e6
        usage = Usage(calls=1, tokens_in=tokens_in, tokens_out=tokens_out, cost_usd=cost)
        return Reply(
            text=answer.text, usage=usage if self.tokens else answer.usage, finish_reason="stop", model=self.name
        )
