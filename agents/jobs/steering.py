"""What the user says to a running job from outside: finish, stop a branch, guidance. Read inside steps only."""

from dataclasses import dataclass, field


@dataclass
class Steering:
    """Wishes of the user, by the path they concern. Recorded with the steps that first saw them, so a replay agrees."""

    finish: set[str] = field(default_factory=set)
    """Branches (or `job`) that shall search no further and write from what is there."""
    stopped: set[str] = field(default_factory=set)
    """Branches that were stopped or dropped."""
    guidance: list[str] = field(default_factory=list)
    """What the next rounds shall follow, in the user's words."""

    def finishing(self, path: str) -> bool:
        """Tell whether `path` or a branch above it was asked to finish."""
        return any(path == wished or path.startswith(wished + "/") for wished in self.finish)

    def stopped_above(self, path: str) -> str:
        """Name the outermost stopped branch that `path` is or lies in; empty when there is none."""
        return min((one for one in self.stopped if path == one or path.startswith(one + "/")), key=len, default="")

    def drop(self, path: str) -> None:
        """Stop a branch."""
        self.stopped.add(path)
