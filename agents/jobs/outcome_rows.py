"""What a finished job is written down as: rows of the job store, each with the call that it stems from."""

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from agents.contracts.report import ReportDocument
from agents.contracts.result import Outcome
from agents.jobs import schema as tables


def rows_of(
    job_id: str, attempt: int, outcome: Outcome, document: ReportDocument
) -> Mapping[sa.Table, Sequence[Mapping[str, Any]]]:
    """Write an outcome and its report as rows."""
    run = f"{job_id}~{attempt}"
    parts = [part for finding in outcome.findings for part in finding.walk()]
    where: dict[str, str] = {}
    sources: dict[str, dict[str, Any]] = {}
    facts: dict[str, dict[str, Any]] = {}
    for part in parts:
        for card in part.sources:
            where.setdefault(card.id, f"{run}/{part.path}/{card.id}")
            sources.setdefault(
                card.id,
                {
                    "job_id": job_id,
                    "id": card.id,
                    "url": card.url,
                    "text_hash": card.text_hash,
                    "body": card.model_dump_json(),
                    "origin_run_id": f"{run}/{part.path}/{card.id}#fetch:0",
                },
            )
        for fact in part.facts:
            facts.setdefault(
                fact.id,
                {
                    "job_id": job_id,
                    "id": fact.id,
                    "source_id": fact.source_id,
                    "statement": fact.statement,
                    "body": fact.model_dump_json(),
                    "origin_run_id": f"{run}/{part.path}/{fact.source_id}#extract:0",
                },
            )
    findings = [
        {
            "job_id": job_id,
            "path": part.path,
            "role": part.role,
            "status": part.status,
            "title": part.title,
            "markdown": part.markdown,
            "origin_run_id": f"{run}/{part.path}",
        }
        for part in {part.path: part for part in parts}.values()
    ]
    claims = [
        {
            "job_id": job_id,
            "id": claim.id,
            "text": claim.text,
            "body": claim.model_dump_json(),
            "origin_run_id": f"{run}/job",
        }
        for claim in document.claims
    ]
    evidence = [
        {
            "job_id": job_id,
            "claim_id": claim.id,
            "n": n,
            "body": one.model_dump_json(),
            "origin_run_id": where.get(one.source_id, f"{run}/job"),
        }
        for claim in document.claims
        for n, one in enumerate(claim.evidence)
    ]
    errors = [
        {
            "job_id": job_id,
            "key": f"{n}:{problem.where}",
            "type": problem.type,
            "message": problem.message,
            "origin_run_id": f"{run}/{problem.where}",
        }
        for n, problem in enumerate(document.error_log)
    ]
    report = {
        "job_id": job_id,
        "grade": document.grade,
        "title": document.title,
        "body": document.model_dump_json(),
        "origin_run_id": f"{run}/job#frame:0",
    }
    contract = {
        "job_id": job_id,
        "hash": outcome.contract.hash,
        "body": outcome.contract.model_dump_json(),
        "origin_run_id": f"{run}/job",
    }
    return {
        tables.sources: list(sources.values()),
        tables.facts: list(facts.values()),
        tables.findings: findings,
        tables.claims: claims,
        tables.evidence: evidence,
        tables.errors: errors,
        tables.reports: [report],
        tables.contracts: [contract],
    }
