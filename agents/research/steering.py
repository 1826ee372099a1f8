"""What the user changes in a running job: finish, stop, drop, try again, narrower limits, guidance.

Read inside steps only. What research code decides by (finish, total seconds, what to try again) is recorded with the
steps that first saw it, so that a replay decides the same way.
"""

from collections.abc import Iterable

from pydantic import BaseModel, Field

from agents.contracts.contract import Brief, Change, ChangeKind, Command, Narrowing, place
from agents.contracts.frozen import Frozen
from agents.contracts.sources import SearchQuery, SourceLimits
from agents.core.errors import BadRequest
from agents.search.scope_filter import in_both, within

STOPPED, DROPPED, TIME_UP = "Stopped", "Dropped", "TimeUp"
"""Types of the failures by which a step says that the user cut it off: by its branch, or by shortening the run."""
CUT = frozenset({STOPPED, DROPPED, TIME_UP})


_OF_BRANCHES: frozenset[ChangeKind] = frozenset({"finish", "stop", "drop", "retry"})


class SteeringSnapshot(Frozen):
    """The user's changes as of the end of a step, as far as research decides by them; it only ever grows."""

    finish: tuple[str, ...] = ()
    """Branches (or `job`) that search no further."""
    total_s: float | None = None
    """Seconds in all that the run was shortened to; None when it was not."""
    again: tuple[str, ...] = ()
    """What shall be tried again, each by the path of its new try."""
    dropped: tuple[str, ...] = ()
    """Branches whose findings are left out."""

    def finishing(self, path: str) -> bool:
        """Tell whether `path` or a branch above it searches no further."""
        return bool(_above(path, self.finish))

    def later(self, other: "SteeringSnapshot") -> "SteeringSnapshot":
        """Take what is known here and there together."""
        if other in (self, _NO_CHANGES):
            return self
        totals = [one for one in (self.total_s, other.total_s) if one is not None]
        both = {
            name: tuple(dict.fromkeys((*getattr(self, name), *getattr(other, name))))
            for name in ("finish", "again", "dropped")
        }
        return SteeringSnapshot(total_s=min(totals, default=None), **both)


_NO_CHANGES = SteeringSnapshot()


class Steering(BaseModel):
    """The user's changes by the branch they concern; stored as JSON with the job."""

    finish: set[str] = Field(default_factory=set)
    """Branches (or `job`) that shall search no further and write from what is there."""
    stopped: set[str] = Field(default_factory=set)
    """Branches that make no further call; what they had found is kept."""
    dropped: set[str] = Field(default_factory=set)
    """Branches that make no further call, and whose findings are left out."""
    again: list[str] = Field(default_factory=list)
    """Branches that shall be tried again, each by the path of its new try."""
    guidance: list[str] = Field(default_factory=list)
    """What the next rounds shall follow, in the user's words."""
    limits: Narrowing = Field(default_factory=Narrowing)
    """All narrower limits so far, put together."""
    changes: list[Change] = Field(default_factory=list)
    """Every change, numbered from 1."""

    # ---- asked by steps

    @property
    def began_s(self) -> float:
        """Where the job's clock stood when its time began: at its start, or at its last restart or rework."""
        return max(self._restarts(), default=0.0)

    def restarts_before(self, at_s: float) -> int:
        """Count the restarts and reworks before the job's clock stood at `at_s`."""
        return sum(one < at_s for one in self._restarts())

    def _restarts(self) -> list[float]:
        return [one.seconds for one in self.changes if one.kind == "restart"]

    def snapshot(self) -> SteeringSnapshot:
        """Give what a step records."""
        finish = (*sorted(self.finish), *sorted(self.stopped), *sorted(self.dropped))
        dropped = tuple(sorted(self.dropped))
        return SteeringSnapshot(finish=finish, total_s=self.limits.seconds, again=tuple(self.again), dropped=dropped)

    def finishing(self, path: str) -> bool:
        """Tell whether `path` or a branch above it was asked to finish, or was stopped."""
        return self.snapshot().finishing(path)

    def current(self, node: str) -> str:
        """Give the path at which a place of the tree is worked on now: that of its latest try, and so above it."""
        path = ""
        for step in place(node).split("/"):
            path = f"{path}/{step}" if path else step
            path = next((one for one in reversed(self.again) if _untried(one) == path), path)
        return path

    def stopped_above(self, path: str) -> str:
        """Name the outermost stopped or dropped branch that `path` is or lies in; empty when there is none."""
        return _above(path, (*self.stopped, *self.dropped))

    def dropped_above(self, path: str) -> str:
        """Name the outermost dropped branch that `path` is or lies in; empty when there is none."""
        return _above(path, self.dropped)

    def narrowed(self, query: SearchQuery) -> SearchQuery:
        """Put the limits that were set meanwhile on a query."""
        return query.model_copy(update=_both(query, self.limits)) if self.limits else query

    # ---- changed by the user

    def take(self, command: Command, seconds: float) -> Change:
        """Apply a command from now on, and record it as a change.

        Limits are combined with the earlier ones; `seconds` is the time on the job's clock.

        Raises:
            BadRequest: the limits allow what an earlier change had ruled out, or leave nothing.
        """
        path, words = self.current(command.node or "job"), command.words
        branches = {"finish": self.finish, "stop": self.stopped, "drop": self.dropped}.get(command.kind)
        if branches is not None and path in branches:
            former = [one for one in self.changes if (one.kind, one.node) == (command.kind, place(path))]
            if former:
                return former[-1]  # the same command twice is one change
        if branches is not None:
            branches.add(path)
        elif command.kind == "retry":
            base, _, tries = path.rpartition("+") if path != _untried(path) else (path, "", "1")
            self.again.append(f"{base}+{int(tries) + 1}")
        elif command.kind == "guidance":
            self.guidance.append(words)
        elif command.kind == "limits":
            self.limits = together(self.limits, command.limits)
        change = Change(
            number=len(self.changes) + 1, seconds=round(max(0.0, seconds), 3), words=words or command.kind,
            kind=command.kind, node=place(path) if command.kind in _OF_BRANCHES else "", title=command.title,
            limits=command.limits,
        )  # fmt: skip
        self.changes.append(change)
        return change

    def follow(self, other: "Steering") -> None:
        """Take over the state that another process stored; whoever shares this object sees it too."""
        for name in type(self).model_fields:
            setattr(self, name, getattr(other, name))

    def for_next_attempt(self, seconds: float, words: str) -> "Steering":
        """Give what a later attempt follows: limits and guidance hold; what was stopped or finished begins anew."""
        restart = Change(number=len(self.changes) + 1, seconds=seconds, kind="restart", words=words)
        return Steering(guidance=self.guidance, limits=self.limits, changes=[*self.changes, restart])


def bound_by(brief: Brief) -> Narrowing:
    """Write the limits of what was authorized."""
    seconds = None if brief.minutes is None else brief.minutes * 60
    return Narrowing(**brief.model_dump(include=set(SourceLimits.model_fields)), seconds=seconds)


def together(old: Narrowing, new: Narrowing) -> Narrowing:
    """Put limits on limits.

    Raises:
        BadRequest: the new ones allow what the old ones had ruled out, or leave nothing.
    """
    if any(not in_both(old.domains, (one,)) for one in new.domains):
        raise BadRequest(f"This run searches only {', '.join(old.domains)}; that adds domains. Nothing was changed.")
    if (new.date_from and old.date_from and new.date_from < old.date_from) or (
        new.date_to and old.date_to and new.date_to > old.date_to
    ):
        raise BadRequest("That adds dates that this run does not search. Nothing was changed.")
    if old.seconds is not None and new.seconds is not None and new.seconds > old.seconds:
        raise BadRequest(f"This run has {old.seconds / 60:g} min in all; that adds time. Nothing was changed.")
    seconds = min((one for one in (old.seconds, new.seconds) if one is not None), default=None)
    both = Narrowing.model_validate({**_both(old, new), "seconds": seconds})
    if both.date_from and both.date_to and both.date_from[: len(both.date_to)] > both.date_to:
        raise BadRequest(f"That leaves no dates: {both.date_from} is after {both.date_to}. Nothing was changed.")
    if both.domains and all(any(within(one, gone) for gone in both.exclude_domains) for one in both.domains):
        raise BadRequest("That leaves no domain to search. Nothing was changed.")
    return both


def _both(old: SourceLimits, new: SourceLimits) -> dict[str, object]:
    """Put the domains and dates of two limits together."""
    return {
        "domains": in_both(old.domains, new.domains),
        "exclude_domains": tuple(dict.fromkeys((*old.exclude_domains, *new.exclude_domains))),
        "date_from": max(filter(None, (old.date_from, new.date_from)), default=None),
        "date_to": min(filter(None, (old.date_to, new.date_to)), default=None),
    }


def _above(path: str, branches: Iterable[str]) -> str:
    return min((one for one in branches if path == one or path.startswith(one + "/")), key=len, default="")


def _untried(path: str) -> str:
    """Take the number of its own try off a path, not those of the branches above it."""
    above, slash, step = path.rpartition("/")
    return above + slash + step.partition("+")[0]
