"""Reading labelled rows, and the figures that are made of them.

Scoping: tasks marked vague or clear, and search topics of many facets; does the manager ask when it should?

A vague task is met by a question back or by the verdict that it is not feasible yet; a clear one by neither. Search topics
(Qulac) are vague by themselves. No documents are at hand, so that no library takes part in the verdict.

Stance: claims that people made true or false, judged from their gold evidence as the challenge judges a fact.

The labels leave no third answer. Where the judge takes no side, the claim counts as supported when its evidence speaks of
it and nothing in the two texts speaks against it (`leans`), else as refuted; no report rests on that, and `decided` tells
the rows in which the judge took a side.

Support: model sentences with the passage that they should rest on, checked as verification checks a sentence.

Code compares first; where a model is configured it is asked, as in a run, about what code could not decide.

Switching parts of a run off, or its limits up and down, to see what each buys and what it costs.
"""

import asyncio
import json
import re
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from agents.contracts.frozen import Mode
from agents.contracts.verification import SentenceCheck, SentenceNote, StanceInput, StanceNote, VerifyInput
from agents.core.budget import Deadline
from agents.core.errors import BadRequest, DossierError
from agents.core.role import In, Out, Role
from agents.core.settings import Settings
from agents.research.scoping.turn import ScopingState
from agents.research.writing import truthful
from agents.research.writing.verify_report import SURE
from agents.roles import STANCE_JUDGE, VERIFIER
from agents.search import index
from agents.team import Team, open_team
from agents.verify.checks import RELATED, SUPPORTED, carried
from agents.verify.compare import compare
from agents.verify.parsed_text import read

PARTS = ("challenge", "verification", "novelty", "rerank", "meaning")
"""What `--without` can name."""
STANDARD_ROUNDS = 3
"""Rounds that the standard mode allows; more of them need the deep one."""


async def _unverified(*_: object, **__: object) -> tuple[SentenceCheck, ...]:
    return ()


def _as_found(_: str, found: Sequence[object]) -> list[object]:
    return list(found)


_SWAPS = {
    "verification": (truthful, "verify", _unverified),
    "rerank": (index, "reranked", _as_found),
    "meaning": (index, "by_meaning", _as_found),
}
"""Parts that no setting switches: where they are called, and what is called instead."""


@dataclass(frozen=True)
class Variant:
    """One way to run: what is left out, and limits other than the usual ones."""

    without: frozenset[str] = frozenset()
    rounds: int | None = None
    searches: int | None = None
    limit: int | None = None
    """Rows looked at, from the first; None is all."""

    @property
    def challenge(self) -> bool:
        return "challenge" not in self.without

    @property
    def mode(self) -> Mode:
        return "deep" if self.rounds is not None and self.rounds > STANDARD_ROUNDS else "standard"

    def settings(self, settings: Settings) -> Settings:
        """Apply to settings what settings can express; searches go past the setting's bound on purpose, to measure it."""
        update = {"enable_early_termination": False} if "novelty" in self.without else {}
        limits = {"max_iters": self.rounds, "max_react_tool_calls": self.searches}
        return settings.model_copy(update=update | {name: value for name, value in limits.items() if value})

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Take out what no setting switches, for as long as the context lasts."""
        with ExitStack() as swapped:
            for part in sorted(self.without & _SWAPS.keys()):
                swapped.enter_context(patch.object(*_SWAPS[part]))
            yield


def variant(without: str = "", limits: str = "", limit: int | None = None) -> Variant:
    """Read what the command line says.

    Raises:
        BadRequest: a part is unknown, or a figure cannot be used.
    """
    parts = frozenset(part.strip() for part in without.split(",") if part.strip())
    if unknown := sorted(parts - set(PARTS)):
        raise BadRequest(f"There is no part {unknown[0]!r} to leave out; these are: {', '.join(PARTS)}.")
    given = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", limits)
    if limits and not given:
        raise BadRequest(f"{limits!r} says no limits; give rounds and searches of a leaf, as in 3/5.")
    if limit is not None and limit < 1:
        raise BadRequest("The limit must be 1 row or more.")
    rounds, searches = map(int, given.groups()) if given else (None, None)
    return Variant(parts, rounds, searches, limit)


Row = dict[str, Any]
"""One line of a data file, or one row of a result: JSON, whatever the set holds."""


def load(path: Path, needed: Sequence[str]) -> list[Row]:
    """Read a file of JSON lines.

    Args:
        path: the file.
        needed: keys that every row must have.

    Raises:
        BadRequest: it cannot be read, is not JSON lines, holds nothing, or its rows are of another set.
    """
    try:
        rows = [json.loads(line) for line in path.read_text("utf-8").split("\n") if line.strip()]
    except OSError as error:
        raise BadRequest(f"{path} can't be read: {error.strerror or error}.") from error
    except ValueError as error:
        raise BadRequest(f"{path} is not a file of JSON lines: {error}.") from error
    if not rows:
        raise BadRequest(f"{path} holds no rows.")
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise BadRequest(f"{path} is not a file of JSON lines: line {number} is no object.")
        if lacking := [key for key in needed if key not in row]:
            raise BadRequest(f"Row {number} of {path} has no {lacking[0]!r}: it is not of this set.")
    return rows


@dataclass(frozen=True)
class Paired:
    """A file of questions, and the corpus beside it."""

    name: str
    questions: list[Row]
    corpus: list[Row]


def pairs(path: Path) -> list[Paired]:
    """Find questions with their corpus: `x_questions.jsonl` and `x_corpus.jsonl`, by either name or by their folder.

    Raises:
        BadRequest: there are none, or a file cannot be used.
    """
    files = (
        sorted(path.glob("*questions*.jsonl"))
        if path.is_dir()
        else [path.with_name(path.name.replace("corpus", "questions"))]
    )
    if not files:
        raise BadRequest(f"{path} holds no file of questions (*questions*.jsonl).")
    found = []
    for file in files:
        rows = load(file, ("question", "answer", "gold"))
        corpus = file.with_name(file.name.replace("questions", "corpus"))
        if corpus == file or not corpus.is_file():
            raise BadRequest(
                f"The corpus of {file} is not beside it: a file {corpus.name} with the documents is missing."
            )
        found.append(Paired(file.stem, rows, load(corpus, ("doc_id", "title"))))
    return found


def gold_of(row: Row) -> list[str]:
    """Give the names of the documents that a question needs, in order."""
    return list(dict.fromkeys(str(one["doc_id"] if isinstance(one, dict) else one) for one in row["gold"]))


def text_of(document: Row) -> str:
    """Give the text of a document of a corpus, whole or in sentences."""
    return str(document["text"] if "text" in document else " ".join(document["sentences"]))


def share(hits: float, of: int) -> float:
    """Give a share with four decimals; 0 of nothing."""
    return round(hits / of, 4) if of else 0.0


def mean(values: Sequence[float]) -> float:
    """Give a mean with four decimals; 0 of nothing."""
    return share(sum(values), len(values))


def accuracy(pairs: Sequence[tuple[str, str]]) -> float:
    """Share of rows whose answer is the wanted one; pairs are wanted, given."""
    return share(sum(wanted == given for wanted, given in pairs), len(pairs))


def macro_f1(pairs: Sequence[tuple[str, str]]) -> float:
    """Mean over the wanted labels of the harmonic mean of precision and recall."""
    scores = []
    for label in sorted({wanted for wanted, _ in pairs}):
        right = sum(wanted == given == label for wanted, given in pairs)
        named = sum(wanted == label for wanted, _ in pairs) + sum(given == label for _, given in pairs)
        scores.append(2 * right / named if named else 0.0)
    return mean(scores)


def balanced_accuracy(scored: Sequence[tuple[bool, float]], threshold: float) -> float:
    """Mean of the shares of good rows at or above the threshold and of bad ones below it."""
    sides = [[(score >= threshold) == label for label, score in scored if label is side] for side in (True, False)]
    return mean([mean(side) for side in sides if side])


def auc(scored: Sequence[tuple[bool, float]]) -> float:
    """Chance that a good row scores above a bad one, ties counting half; 0 where one side is missing."""
    good, bad = ([score for label, score in scored if label is side] for side in (True, False))
    wins = sum((a > b) + 0.5 * (a == b) for a in good for b in bad)
    return share(wins, len(good) * len(bad))


AT_ONCE = 8
VAGUE, CLEAR = "vague", "clear"


async def _each(settings: Settings, data: Sequence[Row], judge: Callable[[Team, Row], Awaitable[Row]]) -> list[Row]:
    """Judge rows side by side, all with one team."""
    team, gate = open_team(settings), asyncio.Semaphore(AT_ONCE)

    async def one(row: Row) -> Row:
        async with gate:
            return await judge(team, row)

    try:
        return list(await asyncio.gather(*map(one, data)))
    finally:
        await team.close()


async def _role(team: Team, role: Role[In, Out], given: In) -> tuple[Out | None, str]:
    """Ask one role; what went wrong is said, and ends nothing."""
    try:
        return (await team.context().ask(role, given, Deadline())).output, ""
    except DossierError as error:
        return None, error.notice


def _sorted_out(rows: list[Row]) -> tuple[list[Row], Row]:
    told = [(row["label"], row["given"]) for row in rows]
    return rows, {"n": len(rows), "accuracy": accuracy(told), "macro_f1": macro_f1(told)}


async def run(path: Path, settings: Settings, variant: Variant) -> tuple[list[Row], Row]:
    """Put every task to the manager, one turn each.

    Raises:
        BadRequest: the file holds neither tasks nor topics.
        ConfigError: the settings can't be used.
    """
    data = [_wanted(row, path) for row in load(path, ())[: variant.limit]]
    with tempfile.TemporaryDirectory(prefix="dossier-eval-") as folder:
        empty = Path(folder) / "empty"
        empty.mkdir()
        update = {"library": (empty,), "retriever": ("library",), "data_dir": Path(folder) / "data"}
        return _sorted_out(await _each(settings.model_copy(update=update), data, _asked))


def _wanted(row: Row, path: Path) -> Row:
    if "task" in row and "vague" in row:
        return {"task": str(row["task"]), "label": VAGUE if row["vague"] else CLEAR}
    if "topic" in row and "facets" in row:
        return {"task": str(row["topic"]), "label": VAGUE}
    raise BadRequest(f"{path} holds neither tasks (task, vague) nor topics (topic, facets).")


async def _asked(team: Team, row: Row) -> Row:
    try:
        scope, turn = await team.scope(ScopingState(), row["task"])
    except DossierError as error:
        return row | {"given": "none", "questions": [], "problem": error.notice}
    given = VAGUE if turn.open_questions or not scope.feasible else CLEAR
    return row | {"given": given, "questions": list(turn.open_questions), "problem": ""}


SUPPORTS, REFUTES = "SUPPORTS", "REFUTES"


def leans(claim: str, fact: str) -> bool:
    """Tell to which side to lean when there must be one: a fact that speaks of the claim and says nothing against it.

    Hardly better than a guess (six in ten such claims are true in Fool Me Twice), hence no stance: nothing rests on it.
    """
    source, mine = read(fact), read(claim)
    compared = [compare(unit, source, "en") for unit in mine.units]
    against = any(
        finding.severity == "contradicted" or (finding.severity == "unsupported" and finding.key != "name_missing")
        for one in compared
        for finding in one.findings
    )
    return bool(compared) and not against and max(one.best for one in compared) >= RELATED


async def run_stance(path: Path, settings: Settings, variant: Variant) -> tuple[list[Row], Row]:
    """Judge every claim.

    Raises:
        BadRequest: the file is not one of claims.
        ConfigError: the settings can't be used.
    """
    data = load(path, ("text", "label", "gold_evidence"))[: variant.limit]
    return _sorted_out(await _each(settings, data, _judged))


async def _judged(team: Team, row: Row) -> Row:
    evidence = " ".join(str(one["text"]) for one in row["gold_evidence"])
    source = str(row.get("wikipedia_page", "")) or "Source"
    pair = StanceNote(number=1, claim=str(row["text"]), quote=evidence or "-", source=source)
    leaning = await asyncio.to_thread(leans, str(row["text"]), evidence)
    answer, problem = await _role(team, STANCE_JUDGE, StanceInput(pairs=(pair,)))
    stance = next((one.stance for one in answer.rows if one.number == 1), "unrelated") if answer else "unrelated"
    return {
        "id": row.get("id", ""),
        "claim": row["text"],
        "label": row["label"],
        "given": SUPPORTS if stance == "supports" or (stance == "unrelated" and leaning) else REFUTES,
        "decided": stance != "unrelated",
        "stance": stance,
        "problem": problem,
    }


ATTRIBUTABLE = "Fully attributable"
SCORES = {"supported": 0.75, "partly": 0.4, "unsupported": 0.2, "contradicted": 0.05}
"""What a model's verdict counts as, since it gives no figure."""


async def run_support(path: Path, settings: Settings, variant: Variant) -> tuple[list[Row], Row]:
    """Check every sentence.

    Raises:
        BadRequest: the file does not hold sentences with passages.
        ConfigError: the settings can't be used.
    """
    data = load(path, ("knowledge", "response", "begin_label"))[: variant.limit]
    rows = await _each(settings, data, _checked)
    scored = [(bool(row["attributable"]), float(row["score"])) for row in rows]
    return rows, {"n": len(rows), "balanced_accuracy": balanced_accuracy(scored, SUPPORTED), "auc": auc(scored)}


async def _checked(team: Team, row: Row) -> Row:
    sentence, passage = str(row["response"]), str(row["knowledge"])
    found = await asyncio.to_thread(carried, sentence, [passage])
    verdict, score, problem = found.verdict, found.score, ""
    sure = found.binding or (found.verdict == "supported" and found.score >= SURE)
    if team.engine.reasons and not sure:
        given = VerifyInput(sentences=(SentenceNote(number=1, text=sentence, quotes=(passage,)),))
        answer, problem = await _role(team, VERIFIER, given)
        if answer and answer.rows:
            verdict = answer.rows[0].verdict
            score = SCORES[verdict]
    return {
        "sentence": sentence,
        "attributable": str(row["begin_label"]).startswith(ATTRIBUTABLE),
        "verdict": verdict,
        "score": score,
        "reasons": list(found.reasons),
        "problem": problem,
    }
