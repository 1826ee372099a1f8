"""${message}."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Text

from agents.jobs.schema import Moment

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Step forward."""
    ${upgrades if upgrades else "pass"}


def downgrade() -> None:
    """Step back."""
    ${downgrades if downgrades else "pass"}
