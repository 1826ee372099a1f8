"""The offline engine: the embedded default. No language model, no network, no file; it knows only what it is given.

One function per role, contract in, contract out; the answer leaves as JSON text, so that the same validation runs on it
as on any model's answer. It quotes and cites. It does not reason, and says so.
"""

import asyncio
import re
from collections.abc import Callable
from inspect import get_annotations

from agents.contracts.contract import ScopingTurn
from agents.contracts.frozen import Frozen
from agents.core.budget import Usage
from agents.core.errors import ModelError
from agents.core.port import computed
from agents.core.role import OnText, Reply, Request
from agents.core.settings import OFFLINE_ENGINE
from agents.offline.extractor import extract
from agents.offline.judgements import challenge, judge, judge_stances, reflect, scout, verify
from agents.offline.manager import plan_run, scope
from agents.offline.planner import plan
from agents.offline.report_writer import frame, write_lead, write_section

_TALKING: tuple[Callable[..., Frozen], ...] = (scope, plan, plan_run)
_WORKING: tuple[Callable[..., Frozen], ...] = (
    extract, write_section, write_lead, frame, reflect, scout, challenge, judge_stances, verify, judge,
)  # fmt: skip
_FUNCTIONS = {get_annotations(one)["given"]: one for one in (*_TALKING, *_WORKING)}
"""Each role's function, by the contract that it takes."""


class OfflineModel:
    """Answers every role from what it is given, at no cost."""

    name = OFFLINE_ENGINE
    reasons = False

    async def reply(self, request: Request, on_text: OnText | None = None) -> Reply:
        """Answer `request`; stream the `reply` field of the answer to `on_text` where there is one.

        Raises:
            ModelError: there is no function for what is given or wanted.
        """
        function = _FUNCTIONS.get(type(request.given))
        if function is None:
            raise self._cannot(f"has no function for {type(request.given).__name__}")
        # A few milliseconds each, but many at once: the loop stays free for whoever watches, and a talk comes first.
        answer = await (asyncio.to_thread if function in _TALKING else computed)(function, request.given)
        if not (isinstance(answer, request.gives) or issubclass(request.gives, type(answer))):
            raise self._cannot(f"gives {type(answer).__name__}, not {request.gives.__name__}")
        if on_text is not None and isinstance(answer, ScopingTurn):
            for piece in re.findall(r"\S+\s*|\s+", answer.reply):
                await on_text(piece)
        return Reply(
            text=answer.model_dump_json(),
            usage=Usage(),  # no model call was made
            finish_reason="stop",
            model=self.name,
        )

    def _cannot(self, what: str) -> ModelError:
        notice = "The offline engine cannot do this step; it needs a language model."
        return ModelError(f"the offline engine {what}", fault="request", notice=notice, model=self.name)
