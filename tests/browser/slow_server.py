"""The server as it is started, but with an offline engine whose extractors take their time: for watching a run.

How much, a file says, which is read anew each time: one server serves tests that watch and tests that only want the end.
"""

import asyncio
import os
import time
from pathlib import Path

import agents.llm.choose_models
from agents.api.serve import serve
from agents.core.settings import load
from agents.offline import OfflineModel

PACE = Path(os.environ["TEST_PACE"])
"""A file with the seconds of an extraction and of a section."""


def pace(role):
    """How long a call takes now; one that is under way is hurried on when it gets shorter."""
    return float(PACE.read_text("utf-8").split()[role == "synthesizer"])


class SlowModel(OfflineModel):
    """Waits before it extracts or writes."""

    async def reply(self, request, on_text=None):
        if request.role in ("extractor", "synthesizer"):
            began = time.monotonic()
            while time.monotonic() - began < pace(request.role):  # noqa: ASYNC110 - a test in another process sets the pace
                await asyncio.sleep(0.05)
        return await super().reply(request, on_text)


if __name__ == "__main__":
    agents.llm.choose_models.OfflineModel = SlowModel
    serve(load())
