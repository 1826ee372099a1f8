"""The challenger looks for what would show a claim to be wrong."""

from agents.contracts.truth import Challenge, ChallengeInput
from agents.role import Role

CHALLENGER = Role(name="challenger", takes=ChallengeInput, gives=Challenge, max_output_tokens=1500, listed="attacks")
"""The claims of one query in, searches for counter-evidence out."""
