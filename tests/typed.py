"""Types, checked once, and what they tell of the contracts: each of their fields is acted on.

    python -m tests.typed    # in mypy's place: prints what mypy finds, then the fields that nobody reads

Code reads a field of that very type, or a prompt or the browser's scripts show it.
"""

import ast
import os
import re
import sys
from pathlib import Path

from mypy.build import build
from mypy.main import process_options
from mypy.modulefinder import BuildSource
from mypy.nodes import MemberExpr
from mypy.types import Instance, TypeVarType, UnionType, get_proper_type
from pydantic import BaseModel

from agents.api.tree import TreeView
from agents.contracts.contract import Contract
from agents.contracts.fact import MemoryStats, Remembered
from agents.contracts.report import JobSummary, ReportDocument
from agents.contracts.response import AgentResponse
from agents.roles import ROLES, UNHEARD_MANAGER
from tests.conftest import ROOT

SHOWN_BY_SCRIPTS = (ReportDocument, JobSummary, MemoryStats, Remembered, Contract, TreeView)
"""What the browser is sent."""
PUBLISHED = (AgentResponse,)
"""What `/run` answers: whoever asks for it reads it."""
OUTSIDE = frozenset({
    # The report document and `phase_state`, whose shape the specification gives: they are read by whoever asks for JSON.
    "LoopDecision.iteration", "RoundRecord.novelty", "RoundRecord.phase", "RoundRecord.contradictions",
    "Methodology.dispatched_topics", "Methodology.retry_tracking", "RetryTracking.subquestions", "RetryTracking.total_exhausted",
    "TimeBudget.total_minutes", "TimeBudget.synthesis_reserve_minutes", "TimeBudget.started_at", "GapAnalysis.loop_decision",
    "ResearchState.time_budget", "ResearchState.iteration", "ResearchState.retry_tracking", "ResearchState.gap_analysis",
    "ReportDocument.gates", "ReportDocument.rounds_log", "ReportDocument.shortlists",
    # What else HTTP answers: a listed job, and the event of a search whose provider failed.
    "JobSummary.created", "SearchFailure.fault",
    # Filled into a text by name.
    "Contradiction.new", "Contradiction.new_title", "Contradiction.old", "Contradiction.old_title",
    # Not asked for: they take fields of the former class from what is asked of a model.
    "UnheardTurn.reply", "UnheardTurn.queries", "UnheardTurn.open_questions", "UnheardQuery.sub_topics",
})  # fmt: skip
"""Fields that nothing of ours reads by name."""


def _below(*models):
    """Name these models, what they take over, and all that they are made of."""
    found, left = set(), list(models)
    while left:
        one = left.pop()
        if isinstance(one, type) and issubclass(one, BaseModel):
            if one.__name__ not in found:
                found |= {base.__name__ for base in one.__mro__}
                left += [field.annotation for field in one.model_fields.values()]
        else:
            left += getattr(one, "__args__", ())
    return found


def _fields():
    for path in sorted((ROOT / "agents" / "contracts").glob("*.py")):
        for of in ast.parse(path.read_text("utf-8")).body:
            for line in of.body if isinstance(of, ast.ClassDef) else ():
                constant = (
                    isinstance(line, ast.AnnAssign)
                    and ast.unparse(line.annotation).startswith("Literal")
                    and line.value
                )
                if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name) and not constant:
                    yield of.name, line.target.id


def _classes(of):
    of = get_proper_type(of)
    if isinstance(of, UnionType):
        for one in of.items:
            yield from _classes(one)
    elif isinstance(of, TypeVarType):
        yield from _classes(of.upper_bound)
    elif isinstance(of, Instance):
        yield of.type


def _checked():
    """Check the types of all that mypy's configuration names; gives its complaints, and class and name of what is read."""
    sources, options = process_options([])
    options.export_types = True
    texts = [one for one in sources if one.path and one.path.endswith(".py")]
    # With their text given, modules of ours are checked anew, for their types are wanted; those of others are cached.
    built = build([BuildSource(one.path, one.module, Path(one.path).read_text("utf-8")) for one in texts], options)
    found = set()
    for node in built.types:
        for of in _classes(built.types[node.expr]) if isinstance(node, MemberExpr) and node.expr in built.types else ():
            found |= {(base.name, node.name) for base in of.mro if node.name in base.names}
    for one in texts:
        for node in ast.walk(ast.parse(Path(one.path).read_text("utf-8"))):
            if isinstance(node, ast.MatchClass):
                found |= {(ast.unparse(node.cls).rpartition(".")[2], name) for name in node.kwd_attrs}
    return built.errors, found


def _words(paths):
    return {word for path in paths for word in re.findall(r"\w+", path.read_text("utf-8"))}


def main():
    """Give 0 where every type fits and every field has a reader, else 1."""
    os.chdir(ROOT)
    complaints, read = _checked()
    prompts = _words((ROOT / "prompts").glob("*.md"))
    scripts = _words(path for path in (ROOT / "public").rglob("*.js*") if "vendor" not in path.parts)
    asked, sent = _below(*(role.takes for role in (*ROLES, UNHEARD_MANAGER))), _below(*SHOWN_BY_SCRIPTS)
    published = _below(*PUBLISHED)
    unread = {
        f"{of}.{name}"
        for of, name in _fields()
        if (of, name) not in read and of not in published
        if not (of in asked and name in prompts) and not (of in sent and name in scripts)
    }  # fmt: skip
    complaints += [f"nobody reads {one}: wire it up, or take it out" for one in sorted(unread - OUTSIDE)]
    complaints += [f"{one} is read, or gone: tests/typed.py need not name it" for one in sorted(OUTSIDE - unread)]
    sys.stdout.write("\n".join(complaints or ["every type fits, and every field of a contract has a reader"]) + "\n")
    return int(bool(complaints))


if __name__ == "__main__":
    sys.exit(main())
