"""A run that is over, taken up again by typing: what failed or was stopped is tried anew, or all is written anew."""

from collections.abc import AsyncIterator
from typing import Literal

from agents.chat.branch_commands import read_branch_order
from agents.chat.effects import Act, Refuse, Say, Started
from agents.team import Team

Asked = Literal["restart", "rework", "branch"]

_RESTART = frozenset(
    {
        "restart", "restart it", "restart the run", "try again", "try it again", "retry", "once more",
        "neu starten", "noch einmal", "noch einmal versuchen", "versuche es noch einmal", "erneut versuchen",
        "réessaie", "réessayer", "recommence", "relance",
        "reintenta", "reintentar", "reinicia", "inténtalo de nuevo", "otra vez",
    }
)  # fmt: skip
_REWORK = frozenset(
    {
        "rework", "rework it", "write it again", "write again", "überarbeiten", "neu schreiben", "schreib es neu",
        "réécris", "réécrire", "retravaille", "reescribe", "reescribir", "rehazlo",
    }
)  # fmt: skip
OFFER = (
    "That run is over, so one branch alone is not tried again. *Restart* tries again whatever failed or was stopped in it; "
    "what succeeded is not paid again. *Rework* decides and writes anew from what was read."
)
NOT_KEPT = "Runs of this server end with it, so none can be taken up again. Ask your question anew."
GONE = "Only the report of that run is left, so it can't be taken up again. Ask your question anew."


def asks_again(message: str) -> Asked | None:
    """Read a message after a run as the wish to take it up again; None when it is anything else."""
    words = " ".join(message.casefold().split()).strip(" .!¡")
    if words in _RESTART:
        return "restart"
    if words in _REWORK:
        return "rework"
    order = read_branch_order(message)
    return "branch" if order is not None and order[0] == "retry" else None


async def taken_up(team: Team, job_id: str, owner: str, asked: Asked) -> AsyncIterator[Act]:
    """Offer to take a run up again, or do so under the contract that was authorized.

    Raises:
        BadRequest: it is at work, or somebody else was quicker.
    """
    if asked == "branch":
        yield Say(OFFER)
        return
    again = getattr(team.jobs, asked, None)
    job = await team.jobs.find(job_id, owner)
    if not callable(again):
        yield Refuse(NOT_KEPT)
    elif job is None or job.commission.contract is None:
        yield Refuse(GONE)
    else:
        yield Started(await again(job), job.commission.contract)
