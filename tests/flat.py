"""Scripts for flat runs: a planner that says what to search for, and a worker that does every role's work."""

import asyncio

from agents.contracts.response import FlatPlan, FlatPlanInput, PlanQuery
from agents.core.errors import ModelError
from tests.scripted_model import ScriptedModel
from tests.scripts import Worker

TASK = "How often was the Orvane ferry closed, and what did it cost?"
QUERIES = (
    PlanQuery(query="On how many days was the Orvane ferry line closed in winter?", intent="Closures"),
    PlanQuery(query="What did the Orvane winter service cost?", intent="Costs"),
    PlanQuery(query="How many passengers did the Orvane ferry carry?", intent="Passengers"),
)
FLAT = FlatPlan(
    feasible=True, reasons=(), suggested_splits=(), tier="simple", query_type="statistics", queries=QUERIES,
    claims=("The Orvane line was closed on fewer than 10 days in 2022/23.",),
)  # fmt: skip
TOO_BROAD = FlatPlan(
    feasible=False, reasons=("It names no period.",), suggested_splits=("Winter 2022/23?", "Winter 2020/21?"),
    tier="deep", query_type="other", queries=(), claims=(),
)  # fmt: skip
NAMES = ("manager", "planner", "extractor", "reflector", "synthesizer", "challenger", "verifier", "judge")


class FlatWorker(Worker):
    """Plans flat runs too; what a script says about one input stands over what it would answer."""

    def __init__(self, flat=FLAT, **said):
        super().__init__()
        self.flat, self.said = flat, said

    def __call__(self, request):
        if isinstance(request.given, FlatPlanInput):
            return self.flat
        kind = type(request.given).__name__
        if kind in self.said:
            return self.said[kind](request) if callable(self.said[kind]) else self.said[kind]
        return super().__call__(request)


class Gate(ScriptedModel):
    """Holds extractors back until it is opened, or until their time is up, as a real model does."""

    def __init__(self, worker):
        super().__init__(by_role=dict.fromkeys(NAMES, worker))
        self.open = asyncio.Event()

    async def reply(self, request, on_text=None):
        if request.role == "extractor":
            try:
                async with asyncio.timeout(request.deadline_s):
                    await self.open.wait()
            except TimeoutError:
                raise ModelError("no answer", fault="timeout", notice="The model did not answer in time.") from None
        return await super().reply(request, on_text)


def scripted(flat=FLAT, **said):
    return ScriptedModel(by_role=dict.fromkeys(NAMES, FlatWorker(flat, **said)))
