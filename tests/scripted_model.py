"""A model that answers from a script. Complains when the script is misused."""

from collections.abc import Callable

from agents.contracts.frozen import Frozen
from agents.core.budget import Usage
from agents.core.role import FinishReason, OnText, Reply, Request

Line = str | Frozen | Exception | Reply | Callable[[Request], "str | Frozen | Exception | Reply"]


class ScriptedModel:
    """Answers by position, or by role when lines are given by role; keeps what it was asked.

    Args:
        lines: answers in order: texts, contracts, replies, exceptions to raise, or functions of the request.
        by_role: answers in order for one role; a function here answers every request of that role.
    """

    reasons = True

    def __init__(
        self,
        *lines: Line,
        by_role: dict[str, list[Line] | Callable[[Request], "str | Frozen | Exception | Reply"]] | None = None,
        name: str = "scripted",
    ) -> None:
        self.name = name
        self.asked: list[Request] = []
        self._lines = list(lines)
        self._by_role = dict(by_role or {})

    async def reply(self, request: Request, on_text: OnText | None = None) -> Reply:
        self.asked.append(request)
        line = self._next(request)
        if callable(line):
            line = line(request)
        if isinstance(line, Exception):
            raise line
        if isinstance(line, Reply):
            return line
        text = line.model_dump_json() if isinstance(line, Frozen) else line
        if on_text is not None and isinstance(line, Frozen) and (told := getattr(line, request.streams, "")):
            await on_text(told if isinstance(told, str) else "".join(f"{one.model_dump_json()}\n" for one in told))
        finish: FinishReason = "stop"
        tokens_in = sum(len(message.content) for message in request.messages) // 4
        usage = Usage(calls=1, tokens_in=tokens_in, tokens_out=len(text) // 4, cost_usd=0.0)
        return Reply(text=text, usage=usage, finish_reason=finish, model=self.name)

    def _next(self, request: Request) -> Line:
        script = self._by_role.get(request.role)
        if callable(script):
            return script
        if script:
            return script.pop(0)
        if self._lines:
            return self._lines.pop(0)
        raise AssertionError(f"the script has no line left for {request.role!r} (call {len(self.asked)})")

    def assert_spent(self) -> None:
        """Fail when lines are left over: the run asked less than the test expected."""
        left = len(self._lines) + sum(len(s) for s in self._by_role.values() if not callable(s))
        if left:
            raise AssertionError(f"{left} scripted lines were never asked for")
