"""The server as it is started, but with an offline engine whose extractors take their time: for watching a run."""

import asyncio
import os

import agents.binding
from agents.api.server import serve
from agents.llm.offline import OfflineModel
from agents.settings import load

SLOW_S = float(os.environ.get("TEST_SLOW_S", "0"))


class SlowModel(OfflineModel):
    """Waits before each extraction."""

    async def reply(self, request, on_text=None):
        if request.role == "extractor":
            await asyncio.sleep(SLOW_S)
        return await super().reply(request, on_text)


if __name__ == "__main__":
    agents.binding.OfflineModel = SlowModel
    serve(load())
