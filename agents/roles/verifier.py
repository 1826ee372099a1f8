"""The verifier holds words against words: a fact against a claim, a sentence against its quotes."""

from agents.contracts.verification import StanceInput, Stances, Verified, VerifyInput
from agents.core.role import Role

STANCE_JUDGE = Role(
    name="verifier", prompt="verifier_stance", takes=StanceInput, gives=Stances, max_output_tokens=1200, listed="rows"
)
"""A claim and facts in, each fact's stance out: judged from the text, whatever the facts were searched for."""

VERIFIER = Role(
    name="verifier", prompt="verifier_support", takes=VerifyInput, gives=Verified, max_output_tokens=1500, listed="rows"
)
"""Sentences with their quotes in, what the quotes do for each out. Asked only where code cannot tell."""
