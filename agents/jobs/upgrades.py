"""Bringing the tables of an older program up to date: new tables are made, and each revision adds a few statements."""

import sqlalchemy as sa

from agents.core.errors import ConfigError
from agents.jobs import schema as tables
from agents.jobs.blob_store import hashes_in

REVISIONS = ("0001", "0002", "0003")
"""All there ever were, the last one being that of `schema`."""
_version = sa.Table("research_version", sa.MetaData(), sa.Column("version_num", sa.String(32), primary_key=True))


def upgrade(connection: sa.Connection) -> None:
    """Make or upgrade the tables.

    Raises:
        ConfigError: a newer program wrote them.
    """
    _version.create(connection, checkfirst=True)
    revision = connection.execute(sa.select(_version.c.version_num)).scalar()
    if revision is not None and revision not in REVISIONS:
        raise ConfigError(
            f"The job store was written by a newer version of this program (revision {revision}). "
            "Update the program, or set another DOSSIER_DATA_DIR or DOSSIER_DATABASE_URL."
        )
    tables.metadata.create_all(connection)
    if revision == "0001":
        _add_column(connection, tables.texts.c["at"])
        _note_text_uses(connection)
    if revision in {"0001", "0002"}:
        _add_column(connection, tables.jobs.c.thread_id)
        for index in tables.jobs.indexes:
            index.create(connection, checkfirst=True)
        for gone in ("wishes", "findings", "errors", "contracts"):  # nobody read the last three; the report holds them
            connection.execute(sa.text(f"DROP TABLE IF EXISTS research_{gone}"))
    if revision != REVISIONS[-1]:
        connection.execute(_version.delete())
        connection.execute(_version.insert().values(version_num=REVISIONS[-1]))


def _add_column(connection: sa.Connection, column: sa.Column[object]) -> None:
    definition = sa.schema.CreateColumn(column).compile(dialect=connection.dialect)
    connection.execute(sa.text(f"ALTER TABLE {column.table.name} ADD COLUMN {definition}"))


def _note_text_uses(connection: sa.Connection) -> None:
    """Read out of the recorded steps which jobs use which texts."""
    steps = tables.steps.c
    read = connection.execute(sa.select(steps.job_id, steps.record).where(steps.record.contains("text_hash"))).all()
    found = {(job_id, name) for job_id, record in read for name in hashes_in(record)}
    if found:
        rows = [{"job_id": job_id, "hash": name} for job_id, name in sorted(found)]
        connection.execute(tables.text_uses.insert(), rows)
