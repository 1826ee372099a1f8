"""The job port (see `agents.core.port`) over a run: the same for a job in memory and for a durable one."""

import logging
from collections.abc import Awaitable, Callable, Sequence

from agents.contracts.frozen import Frozen
from agents.core.budget import Budget, Deadline, Limits, Spent, least
from agents.core.errors import DossierError, Failure, StepFailed
from agents.core.events import Charged, Event, RoleAsked, TraceContext, traced
from agents.core.port import M, Pool, together
from agents.core.time_policy import synthesis_reserve_s
from agents.jobs.attempt import Attempt, Reached
from agents.research.steering import DROPPED

log = logging.getLogger(__name__)


class BranchDropped(Exception):
    """A step was cut off because the user dropped a branch; goes up to that branch, and no further."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class RunCtx:
    """What a handler has of its job: `Ctx` at one branch of a run."""

    def __init__(
        self, run: Attempt, path: str, budget: Budget, *, depth: int = 0, reached: Reached = Reached()
    ) -> None:
        self.run, self.depth = run, depth
        self.job_id, self.path, self.budget = run.job_id, path, budget
        self.reach(reached)
        self.deadline: Deadline = self._time(lambda: run.reserve_s)
        self.last_deadline: Deadline = self._time(lambda: run.margin_s)

    # ---- what a handler may decide by

    def reach(self, so_far: Reached) -> None:
        """Decide by where the job stands now."""
        self.so_far, self.elapsed, steering = so_far, so_far.elapsed, so_far.steering
        self.finishing, self.again, self.dropped = steering.finishing(self.path), steering.again, steering.dropped
        self.left = self._left(so_far.elapsed, steering.total_s)
        reserve_s = synthesis_reserve_s(least(self.run.budget.limits.seconds, steering.total_s))
        self.collecting_left = None if self.left is None else max(0.0, self.left - reserve_s)

    def _left(self, at_s: float, shortened_s: float | None) -> float | None:
        """Seconds left, when the job's clock stands at `at_s`, of the budget and of what the user shortened the run to."""
        own = None if shortened_s is None else max(0.0, shortened_s - self.run.taken_s(at_s))
        return least(self.budget.seconds_left(at_s), own)

    def _time(self, reserve_s: Callable[[], float]) -> Deadline:
        """Time left of the budget and of what the user shortened the run to, without a reserve."""

        def seconds() -> float | None:
            left = self._left(self.run.now(), self.run.steering.limits.seconds)
            return None if left is None else max(0.0, left - reserve_s())

        return Deadline(seconds, self.run.budget.tokens_share)

    def _slice(self, whole_s: Callable[[], float | None], share: float) -> Deadline:
        """A share of some time, bounded by what is left for collecting."""

        def seconds() -> float | None:
            whole = whole_s()
            return least(self.deadline.seconds(), None if whole is None else whole * share)

        return Deadline(seconds, self.run.budget.tokens_share)

    def within(self, share: float) -> Deadline:
        return self._slice(lambda: self.run.total_s, share)

    def part(self, share: float) -> Deadline:
        left = self.collecting_left
        return self._slice(lambda: left, share)

    def writing(self, share: float) -> Deadline:
        return self._time(lambda: self.run.margin_s + (1 - share) * self.run.reserve_s)

    # ---- steps

    async def call(
        self, kind: str, key: str, fn: Callable[..., Awaitable[M]], *args: object, gives: type[M], pool: Pool = "model"
    ) -> M:
        name = f"{kind}:{key}"
        self.run.claim(full_key := f"{self.path}#{name}")
        with traced(TraceContext(self.job_id, self.path, name)):
            step = await self.run.step(self, full_key, fn, args, pool)
        self.reach(self.so_far.later(step))
        if anew := self.run.steering.restarts_before(step.elapsed):
            name = f"{name}~{anew}"  # what was done before it was restarted has been told
        if step.failure is not None:
            if step.failure.type == DROPPED:
                raise BranchDropped(step.stopped)
            if step.spent is not None:
                self._book(name, step.spent)
            raise StepFailed(full_key, step.failure)
        value = gives.model_validate_json(step.value)
        if isinstance(value, Charged):
            self.budget.charge(value.usage)
            if event := value.as_event(self.path):
                self.emit(name, event)
                if isinstance(event, RoleAsked) and (note := event.note()):
                    # Once for the job, whichever branch meets it first.
                    self.run.emit(f"job#model:{event.model} for {event.stood_in_for}", note)
        return value

    def _book(self, name: str, spent: Spent) -> None:
        """Charge what was paid for and gave no usable answer."""
        self.budget.charge(spent.usage)
        if spent.usage.calls:
            self.emit(name, RoleAsked(node=self.path, prompt="", failed=True, **spent.model_dump()))

    async def fan(
        self, kind: str, fn: Callable[..., Awaitable[M]], items: Sequence[tuple[object, ...]], *, gives: type[M],
        pool: Pool = "model",
    ) -> list[M | StepFailed]:  # fmt: skip
        async def one(item: tuple[object, ...]) -> M | StepFailed:
            try:
                return await self.call(kind, str(item[0]), fn, *item[1:], gives=gives, pool=pool)
            except StepFailed as failure:
                return failure

        return await together(*[one(item) for item in items])

    # ---- branches

    async def children(self, kind: str, items: Sequence[tuple[str, Frozen]], *, gives: type[M]) -> list[M | StepFailed]:
        return await self.children_of([(kind, key, given) for key, given in items], gives=gives)

    async def children_of(
        self, items: Sequence[tuple[str, str, Frozen]], *, gives: type[M], limits: Limits = Limits()
    ) -> list[M | StepFailed]:
        # All branches start from the clock as it stands now: on a replay the first would else move it for the second.
        reached = self.so_far

        async def one(kind: str, key: str, given: Frozen) -> M | StepFailed:
            try:
                return await self._branch(kind, key, given, gives, limits, reached)
            except StepFailed as failure:
                return failure

        return await together(*[one(*item) for item in items])

    async def _branch(self, kind: str, key: str, given: Frozen, gives: type[M], limits: Limits, reached: Reached) -> M:
        """Run the handler of `kind` at `path/key`, from the clock as it stood when it was called for."""
        path = f"{self.path}/{key}"
        self.run.claim(path)
        budget = self.budget.share(limits, name=path, elapsed_s=reached.elapsed)
        ctx = RunCtx(self.run, path, budget, depth=self.depth + 1, reached=reached)
        try:
            with self.run.span(self.run, TraceContext(self.job_id, path), kind):
                out = await self.run.handlers[kind](ctx, given)
            return gives.model_validate_json(out.model_dump_json())  # as it would come out of a store
        except StepFailed:
            raise
        except BranchDropped as dropped:
            if dropped.path != path and not dropped.path.startswith(f"{self.path}/"):
                raise  # the branch that was dropped is further up
            failure = Failure(type=DROPPED, message="dropped by the user", notice="You dropped it.")
            raise StepFailed(f"{dropped.path}#dropped", failure) from dropped
        except Exception as error:  # a fault of ours in one branch loses that branch, not what the others found
            if not isinstance(error, DossierError):
                log.exception("branch failed: %s", path)
            raise StepFailed(path, Failure.of(error)) from error
        finally:
            self.reach(self.so_far.later(ctx.so_far))

    def emit(self, key: str, event: Event) -> None:
        self.run.emit(f"{self.path}#{key}", event)
