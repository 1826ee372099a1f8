"""What a finished job is stored as: rows of the job store, each with the call that it stems from."""

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from agents.contracts.report import ReportDocument
from agents.contracts.result import Outcome
from agents.jobs import schema as tables

Row = Mapping[str, Any]


def rows_of(job_id: str, attempt: int, outcome: Outcome, document: ReportDocument) -> Mapping[sa.Table, Sequence[Row]]:
    """Write an outcome and its report as rows."""
    run = f"{job_id}~{attempt}"

    def row(origin: str, **values: object) -> Row:
        return {"job_id": job_id, "origin_run_id": f"{run}/{origin}", **values}

    parts = [part for finding in outcome.findings for part in finding.walk()]
    read_at: dict[str, str] = {}
    sources: dict[str, Row] = {}
    facts: dict[str, Row] = {}
    for part in parts:
        for card in part.sources:
            read_at.setdefault(card.id, f"{part.path}/{card.id}")
            values = {"id": card.id, "url": card.url, "text_hash": card.text_hash, "body": card.model_dump_json()}
            sources.setdefault(card.id, row(f"{part.path}/{card.id}#fetch:0", **values))
        for fact in part.facts:
            origin = f"{part.path}/{fact.source_id}#extract:0"
            values = {"source_id": fact.source_id, "statement": fact.statement, "body": fact.model_dump_json()}
            facts.setdefault(fact.id, row(origin, id=fact.id, **values))
    return {
        tables.sources: list(sources.values()),
        tables.facts: list(facts.values()),
        tables.claims: [
            row("job", id=claim.id, text=claim.text, body=claim.model_dump_json()) for claim in document.claims
        ],
        tables.evidence: [
            row(read_at.get(one.source_id, "job"), claim_id=claim.id, n=n, body=one.model_dump_json())
            for claim in document.claims
            for n, one in enumerate(claim.evidence)
        ],
        tables.reports: [
            row("job#frame:0", grade=document.grade, title=document.title, body=document.model_dump_json())
        ],
    }
