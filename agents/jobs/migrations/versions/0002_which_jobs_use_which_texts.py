"""which jobs use which texts."""

import sqlalchemy as sa
from alembic import op

from agents.jobs.blob_store import hashes_in
from agents.jobs.schema import Moment

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Step forward; the uses of the steps that are there are read out of them."""
    with op.batch_alter_table("research_texts", schema=None) as batch_op:
        batch_op.add_column(
            sa.Column("at", Moment(timezone=True), nullable=True, comment="when it was last put; null is long ago")
        )
    uses = op.create_table(
        "research_text_uses",
        sa.Column("job_id", sa.String(length=64), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["research_jobs.id"], name=op.f("fk_research_text_uses_job_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", "hash", name=op.f("pk_research_text_uses")),
    )
    with op.batch_alter_table("research_text_uses", schema=None) as batch_op:
        batch_op.create_index("ix_research_text_uses_hash", ["hash"], unique=False)
    connection = op.get_bind()
    steps = sa.table("research_steps", sa.column("job_id"), sa.column("record"))
    read = connection.execute(sa.select(steps).where(steps.c.record.contains("text_hash"))).all()
    found = {(job_id, name) for job_id, record in read for name in hashes_in(record)}
    if found:
        connection.execute(uses.insert(), [{"job_id": job_id, "hash": name} for job_id, name in sorted(found)])
