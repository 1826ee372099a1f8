"""The scout judges what a sweep found: whose word it is, what it is about, from where it looks. Code makes the list."""

from agents.contracts.shortlist import ScoutInput, ScoutJudgement
from agents.core.errors import Reject
from agents.core.role import Role


def judges_what_it_was_shown(given: ScoutInput, judgement: ScoutJudgement) -> None:
    """Refuse a judgement of nothing that was shown; candidates that are left out are judged by code."""
    shown = {candidate.number for candidate in given.candidates}
    if not shown.intersection(one.number for one in judgement.candidates):
        raise Reject(f"Judge every candidate by its number, 1 to {len(shown)}; you judged none of them.")


SCOUT = Role(
    name="scout",
    takes=ScoutInput,
    gives=ScoutJudgement,
    checks=(judges_what_it_was_shown,),
    max_output_tokens=2500,
    listed="candidates",
)
"""Numbered candidates in; authority, theme, perspective, answered questions and rationale of each out."""
