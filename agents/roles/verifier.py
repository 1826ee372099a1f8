"""The verifier holds words against words: a fact against a claim, a sentence against its quotes."""

from agents.contracts.verification import StanceInput, Stances, Verified, VerifyInput
from agents.core.role import Role

STANCE_JUDGE = Role(
    name="verifier", prompt="verifier_stance", takes=StanceInput, gives=Stances, max_output_tokens=500, listed="rows"
)
"""Claims with words that code can't place in, one word each out."""

VERIFIER = Role(
    name="verifier", prompt="verifier_support", takes=VerifyInput, gives=Verified, max_output_tokens=400, listed="rows"
)
"""Sentences with their quotes in, what the quotes do for each out. Asked only where code cannot tell."""
