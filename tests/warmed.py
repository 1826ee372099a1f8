"""What is compiled or read at its first use, for all processes that are forked: templates, patterns, names of months, letters."""

import agents.web.html_text  # noqa: F401
from agents.chat.commands import patterns
from agents.core.prompts import load
from agents.nlp.similarity import direction
from agents.nlp.tokens import language_of
from agents.offline.questions import asks_for_facts

load().compile()
patterns()
direction("warm")
asks_for_facts("How many were closed in May 2020?")
language_of("Velsmar Brücke Kosten Winter")  # told by its letters
