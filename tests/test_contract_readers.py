"""Each field of a contract is acted on: code reads it, or a prompt or the browser's scripts show it."""

import ast
import re

from tests.conftest import ROOT

OUTSIDE = frozenset({
    # The report document and `phase_state`, whose shape the specification gives: they are read by whoever asks for JSON.
    "LoopDecision.iteration", "RoundRecord.novelty", "Methodology.dispatched_topics", "Methodology.retry_tracking",
    "RetryTracking.subquestions", "RetryTracking.total_exhausted", "TimeBudget.total_minutes",
    "TimeBudget.synthesis_reserve_minutes", "GapAnalysis.loop_decision", "ResearchState.time_budget",
    "ResearchState.iteration", "ResearchState.retry_tracking", "ResearchState.gap_analysis",
    "ReportDocument.schema_version", "ReportDocument.shortlists", "ReportDocument.rounds_log",
    # What `/run` answers.
    "RunMetadata.tier_origin",
    # Filled into a text by name.
    "Contradiction.new_title", "Contradiction.old_title",
})  # fmt: skip
"""Fields that nothing of ours reads by name."""


def _fields():
    for path in sorted((ROOT / "agents" / "contracts").glob("*.py")):
        for of in ast.parse(path.read_text("utf-8")).body:
            for line in of.body if isinstance(of, ast.ClassDef) else ():
                if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
                    yield of.name, line.target.id


def _read():
    """Names that code reads of something, or matches by."""
    found = set()
    for path in (ROOT / "agents").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                found.add(node.attr)
            elif isinstance(node, ast.MatchClass):
                found |= {*node.kwd_attrs}
    return found


def _shown():
    scripts = (path for path in (ROOT / "public").rglob("*.js*") if "vendor" not in path.parts)
    texts = (path.read_text("utf-8") for path in (*(ROOT / "prompts").glob("*.md"), *scripts))
    return {word for text in texts for word in re.findall(r"\w+", text)}


def test_no_field_of_a_contract_is_written_for_nobody():
    known = _read() | _shown()
    assert {f"{of}.{name}" for of, name in _fields() if name not in known} == OUTSIDE
