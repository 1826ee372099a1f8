"""The scout judges what a sweep found: whose word it is, what it is about, from where it looks. Code makes the list."""

from agents.contracts.scout import ScoutInput, ScoutJudgement
from agents.errors import Reject
from agents.role import Role

MOST_UNJUDGED = 0.5
"""Share of the candidates that may be left out; code judges those as well as it can."""


def judges_what_it_was_shown(given: ScoutInput, judgement: ScoutJudgement) -> None:
    """Refuse a judgement that leaves out most candidates."""
    shown = {candidate.number for candidate in given.candidates}
    judged = {one.number for one in judgement.candidates} & shown
    if len(judged) < MOST_UNJUDGED * len(shown):
        raise Reject(f"Judge every candidate by its number, 1 to {len(shown)}; missing: {sorted(shown - judged)[:12]}.")


SCOUT = Role(
    name="scout",
    takes=ScoutInput,
    gives=ScoutJudgement,
    checks=(judges_what_it_was_shown,),
    max_output_tokens=2500,
    listed="candidates",
)
"""Numbered candidates in; authority, theme, perspective, answered questions and rationale of each out."""
