"""Changes of a running job after its authorization: the command, and the change that was recorded."""

import re
from typing import Literal

from pydantic import Field

from agents.contracts.frozen import Frozen, Text

ChangeKind = Literal["limits", "finish", "stop", "drop", "retry", "guidance", "restart"]


_AGAIN = re.compile(r"\+\d+(?=/|$)")


def place(path: str) -> str:
    """Give a branch's place in the tree: a second try of `job/0/1` runs at `job/0/1+2` and has the same place."""
    return _AGAIN.sub("", path)


class Narrowing(Frozen):
    """Limits that were set after the authorization. They only ever take away; empty fields leave the contract's."""

    domains: tuple[str, ...] = ()
    """Nothing else is searched or read any more."""
    exclude_domains: tuple[str, ...] = ()
    date_from: str | None = None
    date_to: str | None = None
    seconds: float | None = Field(default=None, gt=0)
    """Seconds in all, the report included, on the job's clock."""

    def __bool__(self) -> bool:
        return self != Narrowing()


class Command(Frozen):
    """What the user wants changed in a running job."""

    kind: ChangeKind
    node: str = ""
    """Path of the branch it is about; `job` or empty for the whole run."""
    title: str = ""
    """How the reader knows the branch, for example `2 “Costs”`."""
    words: str = ""
    """What was said, in plain words."""
    limits: Narrowing = Narrowing()


class Change(Frozen):
    """A change as it was recorded; the report lists all of them."""

    number: int = Field(ge=1)
    seconds: float = Field(ge=0)
    """On the job's clock."""
    kind: ChangeKind
    node: str = ""
    title: str = ""
    words: Text
    limits: Narrowing = Narrowing()
