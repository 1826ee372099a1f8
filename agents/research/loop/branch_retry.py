"""Branches that ended before they were done: what they come to, and those that the user wants tried again.

A branch is tried again when those beside it have ended, at a path of its own (`job/0/1+2`), and what it comes to takes
the place of what it had come to before. Its failures are counted on: what was given up is not tried again.
"""

from collections.abc import Callable
from typing import Literal

from agents.contracts.contract import place
from agents.contracts.finding import Finding, NodeStatus, cited_facts
from agents.contracts.frozen import Said
from agents.core.budget import Limits
from agents.core.errors import StepFailed
from agents.core.port import Ctx
from agents.research.reading.leaf import NOTHING_YET
from agents.research.reading.searching import LeafGiven, NodeGiven, teller
from agents.research.steering import DROPPED, STOPPED

Role = Literal["leaf", "node", "query"]
LEFT_OUT = "you dropped it; what it had found is left out"


def ended(path: str, title: str, role: Role, failure: StepFailed) -> Finding:
    """Write a branch that came to nothing as a finding: stopped and dropped ones are no failures."""
    if failure.type in {STOPPED, DROPPED}:
        dropped = failure.type == DROPPED
        way: Literal["dropped", "stopped"] = "dropped" if dropped else "stopped"
        note = LEFT_OUT if dropped else NOTHING_YET
        return Finding(path=path, title=title, role=role, status="stopped", ended=way, note=note)
    return Finding(
        path=path, title=title, role=role, status="failed", note=failure.notice, problems=(failure.problem(),)
    )


class Again:
    """The children of one executor, or of the root, and which of them were tried again."""

    def __init__(self, ctx: Ctx) -> None:
        self.ctx = ctx
        self._ran: dict[str, tuple[str, LeafGiven | NodeGiven]] = {}
        self._served: set[str] = set()

    def ran(self, kind: str, key: str, given: LeafGiven | NodeGiven) -> None:
        """Remember a child that was run."""
        self._ran[key] = (kind, given)

    async def run(self, findings: list[Finding], share: Callable[[int], Limits]) -> None:
        """Run anew what the user wants tried again, as long as there is time, and put it in its place in `findings`."""
        ctx = self.ctx
        while (wished := self._wished()) and not (ctx.finishing or ctx.collecting_left == 0):
            self._served |= set(wished)
            before = [next((one for one in findings if place(one.path) == place(path)), None) for path in wished]
            items = [self._item(path, old) for path, old in zip(wished, before, strict=True)]
            results = await ctx.children_of([*items], gives=Finding, limits=share(len(items)))
            for path, old, (_, _, given), result in zip(wished, before, items, results, strict=True):
                new = ended(path, given.title, given.role, result) if isinstance(result, StepFailed) else result
                new = new.model_copy(update={"tries": int(path.rpartition("+")[2])})
                if old is None:
                    findings.append(new)
                else:
                    findings[findings.index(old)] = better(old, new)

    def _wished(self) -> list[str]:
        keys = {path: path.removeprefix(f"{self.ctx.path}/") for path in self.ctx.again if path not in self._served}
        return [
            path for path, key in keys.items() if key != path and key.partition("+")[0] in self._ran and "/" not in key
        ]

    def _item(self, path: str, old: Finding | None) -> tuple[str, str, LeafGiven | NodeGiven]:
        key = path.rpartition("/")[2]
        kind, given = self._ran[key.partition("+")[0]]
        update: dict[str, object] = {
            "tried": tuple(entry for part in old.walk() for entry in part.attempts) if old else ()
        }
        doing = "you wanted it tried again"
        if isinstance(given, NodeGiven):
            doing, update["closing"] = "you wanted it, and what is below it, tried again", None
        teller(self.ctx, given.role, given.title, path)("retrying", Said(doing), f"again:{key}")
        return kind, key, given.model_copy(update=update)


def better(old: Finding, new: Finding) -> Finding:
    """Take the new try, unless only the old one had found something: nothing that was found is lost."""
    if new.all_facts() or not old.all_facts() or new.ended == "dropped":
        return new
    note = Said.row(old.note, Said("tried again: {why}", why=new.note or new.status))
    return old.model_copy(update={"tries": new.tries, "note": note})


def without(finding: Finding, dropped: tuple[str, ...]) -> Finding:
    """Leave out what dropped branches had delivered; prose above them that rests on it goes too."""
    if finding.path in dropped:
        return Finding(
            path=finding.path, title=finding.title, role=finding.role, status="stopped", ended="dropped",
            note=LEFT_OUT, seconds=finding.seconds, tokens=finding.tokens, cost_usd=finding.cost_usd,
        )  # fmt: skip
    children = tuple(without(child, dropped) for child in finding.children)
    if children == finding.children:
        return finding
    held = {fact.id for fact in finding.model_copy(update={"children": children}).all_facts()}
    status: NodeStatus = "partial" if finding.status == "done" else finding.status
    markdown = finding.markdown if held.issuperset(cited_facts(finding.markdown)) else ""
    return finding.model_copy(update={"children": children, "markdown": markdown, "status": status})
