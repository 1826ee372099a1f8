"""Where jobs of a test are kept: in its own folder, with the engine's empty tables put there as a copy.

Making them takes a fifth of a second, and a test that stores a job wants them each time. Tests that start the program itself
have it make them.
"""

import os
from functools import cache

from dbos import DBOS

from agents.jobs.config import JobStoreConfig
from tests.conftest import HOME


@cache
def _empty_tables():
    file = HOME / f"engine-{os.getpid()}.db"
    DBOS.migrate(f"sqlite:///{file}")
    return file.read_bytes()


def stored_at(folder, url="", **config):
    """Give the configuration of a store in a folder, or in a database, that is looked at often."""
    if not url and not (folder / "engine.db").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "engine.db").write_bytes(_empty_tables())
    return JobStoreConfig(**{"poll_s": 0.02, **config}).at(folder, url)
