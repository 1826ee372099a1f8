"""Stance: claims that people made true or false, judged from their gold evidence as the challenge judges a fact.

The labels leave no third answer. Where the judge takes no side, the claim counts as supported when its evidence speaks of
it and nothing in the two texts speaks against it (`leans`), else as refuted; no report rests on that, and `decided` tells
the rows in which the judge took a side.
"""

import asyncio
from pathlib import Path

from agents.contracts.verification import StanceInput, StanceNote
from agents.core.budget import NoDeadline
from agents.core.errors import DossierError
from agents.core.settings import Settings
from agents.evaluation.rows import Row, accuracy, load, macro_f1
from agents.evaluation.variant import Variant
from agents.research.run_context import Desk
from agents.roles.verifier import STANCE_JUDGE
from agents.team import open_team
from agents.verify.checks import leans

AT_ONCE = 8
SUPPORTS, REFUTES = "SUPPORTS", "REFUTES"


async def run(path: Path, settings: Settings, variant: Variant) -> tuple[list[Row], Row]:
    """Judge every claim.

    Raises:
        BadRequest: the file is not one of claims.
        ConfigError: the settings can't be used.
    """
    data = load(path, ("text", "label", "gold_evidence"))[: variant.limit]
    team = open_team(settings)
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(row: Row) -> Row:
        async with gate:
            return await _judged(team.desk(), row)

    try:
        rows = list(await asyncio.gather(*(one(row) for row in data)))
    finally:
        await team.close()
    told = [(row["label"], row["given"]) for row in rows]
    return rows, {"n": len(rows), "accuracy": accuracy(told), "macro_f1": macro_f1(told)}


async def _judged(desk: Desk, row: Row) -> Row:
    evidence = " ".join(str(one["text"]) for one in row["gold_evidence"])
    source = str(row.get("wikipedia_page", "")) or "Source"
    pair = StanceNote(number=1, claim=str(row["text"]), quote=evidence or "-", source=source)
    problem, stance = "", "unrelated"
    leaning = await asyncio.to_thread(leans, str(row["text"]), evidence)
    try:
        asked = await desk.ask(STANCE_JUDGE, StanceInput(pairs=(pair,)), NoDeadline())
        rows = [one for one in asked.output.rows if one.number == 1]
        if rows:
            stance = rows[0].stance
    except DossierError as error:
        problem = error.notice
    return {
        "id": row.get("id", ""),
        "claim": row["text"],
        "label": row["label"],
        "given": SUPPORTS if stance == "supports" or (stance == "unrelated" and leaning) else REFUTES,
        "decided": stance != "unrelated",
        "stance": stance,
        "problem": problem,
    }
