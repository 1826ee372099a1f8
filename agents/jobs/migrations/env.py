"""Alembic's entry: runs the revisions on the connection that the store hands over. There is no alembic.ini."""

from alembic import context

from agents.jobs.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
    user_module_prefix="",
    version_table="research_version",
    include_name=lambda name, kind, _: kind != "table" or (name or "").startswith("research_"),
)
with context.begin_transaction():
    context.run_migrations()
