"""The tables of the job store, the same on SQLite and PostgreSQL. Rows are keyed by steps: writing twice is nothing.

Every research row carries `origin_run_id`: job, attempt and step of the call that made it. What a finished job is stored
as is written here too (`rows_of`).
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import sqlalchemy as sa
from sqlalchemy.engine import Dialect

from agents.contracts.frozen import Frozen
from agents.contracts.report import Outcome, ReportDocument

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


class Moment(sa.types.TypeDecorator[datetime]):
    """A point in time: kept as UTC, given back as UTC. SQLite alone would give it back without its zone."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: object, dialect: Dialect) -> datetime | None:
        if not isinstance(value, datetime):
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _job(*, primary_key: bool = True, index: bool = False) -> sa.Column[str]:
    job = sa.ForeignKey("research_jobs.id", ondelete="CASCADE")
    return sa.Column("job_id", sa.String(64), job, primary_key=primary_key, nullable=False, index=index)


jobs = sa.Table(
    "research_jobs",
    metadata,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("request_key", sa.Text, comment="the caller's own key: asking twice gives the first job"),
    sa.Column("commission", sa.Text, nullable=False),
    sa.Column("limits", sa.Text, nullable=False),
    sa.Column("status", sa.String(16), nullable=False),
    sa.Column("stage", sa.String(16), nullable=False),
    sa.Column("blocked_reason", sa.String(16)),
    sa.Column("grade", sa.String(16)),
    sa.Column("note", sa.Text, nullable=False, server_default=""),
    sa.Column("thread_id", sa.Text, nullable=False, server_default="", comment="the chat it was started in"),
    sa.Column("attempt", sa.Integer, nullable=False, server_default="1"),
    sa.Column("again", sa.Integer, nullable=False, server_default="0", comment="restarts and reworks so far"),
    sa.Column("steering", sa.Text, nullable=False, server_default="{}"),
    sa.Column("seconds", sa.Float, nullable=False, server_default="0", comment="on its clock, as of its present stage"),
    sa.Column("tokens", sa.Integer, nullable=False, server_default="0"),
    sa.Column("cost_usd", sa.Float, server_default="0", comment="null is unknown, not zero"),
    sa.Column("executor", sa.Text, nullable=False, server_default=""),
    sa.Column("code_version", sa.Text, nullable=False),
    sa.Column("metadata", sa.Text, nullable=False, server_default="{}", comment="`orchestrator`: stage, plannedAt, …"),
    sa.Column("created", Moment, nullable=False),
    sa.Column("updated", Moment, nullable=False),
    sa.UniqueConstraint("owner", "request_key"),
    sa.Index("ix_research_jobs_owner_created", "owner", "created"),
    sa.Index("ix_research_jobs_status", "status"),
    sa.Index("ix_research_jobs_thread", "thread_id"),
)


events = sa.Table(
    "research_events",
    metadata,
    _job(),
    sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("key", sa.Text, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("at", Moment, nullable=False),
    sa.UniqueConstraint("job_id", "key"),
)

steps = sa.Table(
    "research_steps",
    metadata,
    _job(),
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("record", sa.Text, nullable=False),
)


def _outcome(name: str, *keys: sa.Column[str] | sa.Column[int]) -> sa.Table:
    """Make a table of what a finished job came to: `body` is the whole contract as JSON."""
    body, origin = sa.Column("body", sa.Text, nullable=False), sa.Column("origin_run_id", sa.Text, nullable=False)
    return sa.Table(name, metadata, _job(), *keys, body, origin)


def _id(name: str = "id") -> sa.Column[str]:
    return sa.Column(name, sa.Text, primary_key=True)


sources, facts = _outcome("research_sources", _id()), _outcome("research_facts", _id())
claims, reports = _outcome("research_claims", _id()), _outcome("research_reports")
evidence = _outcome(
    "research_evidence", _id("claim_id"), sa.Column("n", sa.Integer, primary_key=True, autoincrement=False)
)
OUTCOME_TABLES = (claims, evidence, reports, facts, sources)
"""What is written when a job has come to an end, all at once."""

texts = sa.Table(
    "research_texts",
    metadata,
    sa.Column("hash", sa.String(64), primary_key=True),
    sa.Column("body", sa.LargeBinary, nullable=False, comment="UTF-8; only where there is no shared folder"),
    sa.Column("at", Moment, comment="when it was last put; null is long ago"),
)

text_uses = sa.Table(
    "research_text_uses",
    metadata,
    _job(),
    sa.Column("hash", sa.String(64), primary_key=True, index=True),
)
"""Which jobs have read which texts: what nobody has read any more is swept out."""

commands = sa.Table(
    "research_commands",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    _job(primary_key=False, index=True),
    sa.Column("verb", sa.String(16), nullable=False),
    sa.Column("argument", sa.Text, nullable=False, server_default=""),
    sa.Column("at", Moment, nullable=False),
    sa.Column("taken_by", sa.Text),
    sa.Column("outcome", sa.Text, nullable=False, server_default=""),
)
"""Commands for the process that runs a job: of other processes, and the tasks of operators (verb `task`)."""

workers = sa.Table(
    "research_workers",
    metadata,
    sa.Column("executor", sa.Text, primary_key=True),
    sa.Column("seen", Moment, nullable=False),
)

Row = Mapping[str, object]
Record = dict[str, object]  # a row as it is read, and as it is written: columns of any type, by name


def rows_of(job_id: str, attempt: int, outcome: Outcome, document: ReportDocument) -> Mapping[sa.Table, Sequence[Row]]:
    """Write an outcome and its report as rows."""

    def row(origin: str, body: Frozen, **keys: str | int) -> Row:
        origin_run_id = f"{job_id}~{attempt}/{origin}"
        return {"job_id": job_id, "origin_run_id": origin_run_id, "body": body.model_dump_json(), **keys}

    # What the search against the claims found is evidence like the rest, and must be found again like it.
    parts = [part for finding in (*outcome.findings, *outcome.counter) for part in finding.walk()]
    read_at: dict[str, str] = {}
    source_rows: dict[str, Row] = {}
    fact_rows: dict[str, Row] = {}
    for part in parts:
        for card in part.sources:
            path = read_at.setdefault(card.id, f"{part.path}/{card.id}")
            source_rows.setdefault(card.id, row(f"{path}#fetch:0", card, id=card.id))
        for fact in part.facts:
            origin = f"{part.path}/{fact.source_id}#extract:0"
            fact_rows.setdefault(fact.id, row(origin, fact, id=fact.id))
    return {
        sources: list(source_rows.values()),
        facts: list(fact_rows.values()),
        claims: [row("job", claim, id=claim.id) for claim in document.claims],
        evidence: [
            row(read_at.get(one.source_id, "job"), one, claim_id=claim.id, n=n)
            for claim in document.claims
            for n, one in enumerate(claim.evidence)
        ],
        reports: [row("job#frame:0", document)],
    }
