"""What is compiled, built or loaded at its first use, for all processes that are forked: patterns, validators, prompts, the model.

A small question goes through the whole pipeline once: each process would need most of a second more for its first.
"""

import os

import agents.web.html_text  # noqa: F401
from agents.chat.commands import patterns
from agents.contracts.report import Actual
from agents.core.prompts import load
from agents.nlp.similarity import direction
from agents.nlp.tokens import language_of
from agents.offline import OfflineModel
from agents.offline.questions import asks_for_facts
from agents.report.document import build
from tests.research.conftest import Bench
from tests.virtual import virtually


async def _asked() -> None:
    build("warm", await Bench(model=OfflineModel()).run(), Actual(), engine="", reasons=False)


os.environ["TOKENIZERS_PARALLELISM"] = "false"  # its threads would not be there in a process that is forked
load().compile()
patterns()
direction("warm")
asks_for_facts("How many were closed in May 2020?")
language_of("Velsmar Brücke Kosten Winter")  # told by its letters
virtually(_asked)
