"""the first tables."""

import sqlalchemy as sa
from alembic import op

from agents.jobs.schema import Moment

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Step forward."""
    op.create_table(
        "research_jobs",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column(
            "request_key", sa.Text(), nullable=True, comment="the caller's own key: asking twice gives the first job"
        ),
        sa.Column("commission", sa.Text(), nullable=False),
        sa.Column("limits", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("stage", sa.String(length=16), nullable=False),
        sa.Column("blocked_reason", sa.String(length=16), nullable=True),
        sa.Column("grade", sa.String(length=16), nullable=True),
        sa.Column("note", sa.Text(), server_default="", nullable=False),
        sa.Column("attempt", sa.Integer(), server_default="1", nullable=False),
        sa.Column("again", sa.Integer(), server_default="0", nullable=False, comment="restarts and reworks so far"),
        sa.Column("steering", sa.Text(), server_default="{}", nullable=False),
        sa.Column("executor", sa.Text(), server_default="", nullable=False),
        sa.Column("code_version", sa.Text(), nullable=False),
        sa.Column(
            "metadata", sa.Text(), server_default="{}", nullable=False, comment="`orchestrator`: stage, plannedAt, …"
        ),
        sa.Column("created", Moment(timezone=True), nullable=False),
        sa.Column("updated", Moment(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_research_jobs")),
        sa.UniqueConstraint("owner", "request_key", name=op.f("uq_research_jobs_owner_request_key")),
    )
    with op.batch_alter_table("research_jobs", schema=None) as batch_op:
        batch_op.create_index("ix_research_jobs_owner_created", ["owner", "created"], unique=False)
        batch_op.create_index("ix_research_jobs_status", ["status"], unique=False)

    op.create_table(
        "research_texts",
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False, comment="UTF-8; only where there is no shared folder"),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_research_texts")),
    )
    op.create_table(
        "research_workers",
        sa.Column("executor", sa.Text(), nullable=False),
        sa.Column("seen", Moment(timezone=True), nullable=False),
        sa.Column("place", sa.Text(), nullable=False, comment="host and process, for people"),
        sa.PrimaryKeyConstraint("executor", name=op.f("pk_research_workers")),
    )
    op.create_table(
        "research_claims",
        sa.Column("job_id", sa.String(length=64), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("origin_run_id", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["research_jobs.id"], name=op.f("fk_research_claims_job_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", "id", name=op.f("pk_research_claims")),
    )
    op.create_table(
        "research_contracts",
        sa.Column("job_id", sa.String(length=64), nullable=False),
        sa.Column("hash", sa.String(length=16), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("origin_run_id", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["research_jobs.id"], name=op.f("fk_research_contracts_job_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", name=op.f("pk_research_contracts")),
    )
    op.create_table(
        "research_costs",
        sa.Column("job_id", sa.String(length=64), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        sa.Column("tokens_in", sa.Integer(), nullable=False),
        sa.Column("tokens_out", sa.Integer(), nullable=False),
        sa.Column("searches", sa.Integer(), nullable=False),
        sa.Column("cost_usd", sa.Float(), nullable=True, comment="null is unknown, not zero"),
        sa.ForeignKeyConstraint(
            ["job_id"], ["research_jobs.id"], name=op.f("fk_research_costs_job_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", "key", "attempt", name=op.f("pk_research_costs")),
    )
    op.create_table(
        "research_errors",
        sa.Column("job_id", sa.String(length=64), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("origin_run_id", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["research_jobs.id"], name=op.f("fk_research_errors_job_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", "key", name=op.f("pk_research_errors")),
    )
    op.create_table(
        "research_events",
        sa.Column("job_id", sa.String(length=64), nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("at", Moment(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["research_jobs.id"], name=op.f("fk_research_events_job_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", "seq", name=op.f("pk_research_events")),
        sa.UniqueConstraint("job_id", "key", name=op.f("uq_research_events_job_id_key")),
    )
    op.create_table(
        "research_evidence",
        sa.Column("job_id", sa.String(length=64), nullable=False),
        sa.Column("claim_id", sa.Text(), nullable=False),
        sa.Column("n", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("origin_run_id", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["research_jobs.id"], name=op.f("fk_research_evidence_job_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", "claim_id", "n", name=op.f("pk_research_evidence")),
    )
    op.create_table(
        "research_facts",
        sa.Column("job_id", sa.String(length=64), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("source_id", sa.Text(), nullable=False),
        sa.Column("statement", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("origin_run_id", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["research_jobs.id"], name=op.f("fk_research_facts_job_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", "id", name=op.f("pk_research_facts")),
    )
    op.create_table(
        "research_findings",
        sa.Column("job_id", sa.String(length=64), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("markdown", sa.Text(), nullable=False),
        sa.Column("origin_run_id", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["research_jobs.id"], name=op.f("fk_research_findings_job_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", "path", name=op.f("pk_research_findings")),
    )
    op.create_table(
        "research_reports",
        sa.Column("job_id", sa.String(length=64), nullable=False),
        sa.Column("grade", sa.String(length=16), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("origin_run_id", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["research_jobs.id"], name=op.f("fk_research_reports_job_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", name=op.f("pk_research_reports")),
    )
    op.create_table(
        "research_sources",
        sa.Column("job_id", sa.String(length=64), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("origin_run_id", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["research_jobs.id"], name=op.f("fk_research_sources_job_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", "id", name=op.f("pk_research_sources")),
    )
    op.create_table(
        "research_steps",
        sa.Column("job_id", sa.String(length=64), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("record", sa.Text(), nullable=False),
        sa.Column("at", Moment(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["research_jobs.id"], name=op.f("fk_research_steps_job_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", "key", name=op.f("pk_research_steps")),
    )
    op.create_table(
        "research_wishes",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.String(length=64), nullable=False),
        sa.Column("verb", sa.String(length=16), nullable=False),
        sa.Column("argument", sa.Text(), server_default="", nullable=False),
        sa.Column("at", Moment(timezone=True), nullable=False),
        sa.Column("taken_by", sa.Text(), nullable=True),
        sa.Column("outcome", sa.Text(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["research_jobs.id"], name=op.f("fk_research_wishes_job_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_research_wishes")),
    )
    with op.batch_alter_table("research_wishes", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_research_wishes_job_id"), ["job_id"], unique=False)
