"""commands have their name, jobs know their chat."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Step forward; commands that nobody has taken yet are let go."""
    op.drop_table("research_wishes")
    op.create_table(
        "research_commands",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.String(length=64), nullable=False),
        sa.Column("verb", sa.String(length=16), nullable=False),
        sa.Column("argument", sa.Text(), server_default="", nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("taken_by", sa.Text(), nullable=True),
        sa.Column("outcome", sa.Text(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["research_jobs.id"], name=op.f("fk_research_commands_job_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_research_commands")),
    )
    op.create_index("ix_research_commands_job_id", "research_commands", ["job_id"])
    op.add_column(
        "research_jobs",
        sa.Column("thread_id", sa.Text(), server_default="", nullable=False, comment="the chat it was started in"),
    )
    op.create_index("ix_research_jobs_thread", "research_jobs", ["thread_id"])
