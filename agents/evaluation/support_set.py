"""Support: model sentences with the passage that they should rest on, checked as verification checks a sentence.

Code compares first; where a model is configured it is asked, as in a run, about what code could not decide.
"""

import asyncio
from pathlib import Path

from agents.contracts.verification import SentenceNote, VerifyInput
from agents.core.budget import NoDeadline
from agents.core.errors import DossierError
from agents.core.settings import Settings
from agents.evaluation.rows import Row, auc, balanced_accuracy, load
from agents.evaluation.variant import Variant
from agents.research.writing.verify_report import SURE
from agents.roles.verifier import VERIFIER
from agents.team import Team, open_team
from agents.verify.checks import SUPPORTED, carried

AT_ONCE = 8
ATTRIBUTABLE = "Fully attributable"
SCORES = {"supported": 0.75, "partly": 0.4, "unsupported": 0.2, "contradicted": 0.05}
"""What a model's verdict counts as, since it gives no figure."""


async def run(path: Path, settings: Settings, variant: Variant) -> tuple[list[Row], Row]:
    """Check every sentence.

    Raises:
        BadRequest: the file does not hold sentences with passages.
        ConfigError: the settings can't be used.
    """
    data = load(path, ("knowledge", "response", "begin_label"))[: variant.limit]
    team = open_team(settings)
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(row: Row) -> Row:
        async with gate:
            return await _checked(team, row)

    try:
        rows = list(await asyncio.gather(*(one(row) for row in data)))
    finally:
        await team.close()
    scored = [(bool(row["attributable"]), float(row["score"])) for row in rows]
    return rows, {"n": len(rows), "balanced_accuracy": balanced_accuracy(scored, SUPPORTED), "auc": auc(scored)}


async def _checked(team: Team, row: Row) -> Row:
    sentence, passage = str(row["response"]), str(row["knowledge"])
    found = await asyncio.to_thread(carried, sentence, [passage])
    verdict, score, problem = found.verdict, found.score, ""
    sure = found.binding or (found.verdict == "supported" and found.score >= SURE)
    if team.engine.reasons and not sure:
        given = VerifyInput(sentences=(SentenceNote(number=1, text=sentence, quotes=(passage,)),))
        try:
            asked = await team.desk().ask(VERIFIER, given, NoDeadline())
            if asked.output.rows:
                verdict = asked.output.rows[0].verdict
                score = SCORES[verdict]
        except DossierError as error:
            problem = error.notice
    return {
        "sentence": sentence,
        "attributable": str(row["begin_label"]).startswith(ATTRIBUTABLE),
        "verdict": verdict,
        "score": score,
        "reasons": list(found.reasons),
        "problem": problem,
    }
