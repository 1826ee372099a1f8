"""The judge reviews the whole: approve, or request changes. No other word is a verdict."""

from agents.contracts.verification import JudgeInput, Judgement
from agents.core.errors import Reject
from agents.core.role import Role


def changes_have_reasons(given: JudgeInput, judgement: Judgement) -> None:
    """Refuse a request for changes that names none."""
    if judgement.verdict == "request_changes" and not any(reason.strip() for reason in judgement.reasons):
        raise Reject("You request changes but give no reason. Name what has to change.")


JUDGE = Role(name="judge", takes=JudgeInput, gives=Judgement, checks=(changes_have_reasons,), max_output_tokens=800)
"""Summary, claims and shortfalls in, a verdict with reasons out."""
