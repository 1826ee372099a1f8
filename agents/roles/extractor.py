"""The extractor reads sources for one leaf and points at the sentences that matter."""

from agents.contracts.fact import Extraction, ExtractionInput
from agents.core.role import Role

EXTRACTOR = Role(
    name="extractor",
    takes=ExtractionInput,
    gives=Extraction,
    max_output_tokens=700,
    listed="facts",
)
"""Numbered sentences in, numbers out: quotes are verbatim by construction. Code drops numbers that do not exist."""
