"""A PostgreSQL for the tests: DOSSIER_TEST_DATABASE_URL, or a server of one's own where its programs are installed."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from contextlib import contextmanager
from pathlib import Path

import pytest

TOLD = "NO POSTGRESQL: set DOSSIER_TEST_DATABASE_URL or install it; many machines were not tested"


def program(name):
    packaged = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)
    found = shutil.which(name) or (str(packaged[0]) if packaged else None)
    return found and os.path.realpath(found)


@pytest.fixture(scope="session")
def server():
    """The address of a server on which databases may be made."""
    if url := os.environ.get("DOSSIER_TEST_DATABASE_URL"):
        yield url.rstrip("/")
        return
    initdb, postgres = program("initdb"), program("postgres")
    if initdb is None or postgres is None:
        if os.environ.get("DOSSIER_NEEDS_POSTGRES"):
            pytest.fail(TOLD)
        pytest.skip(TOLD)
    folder = tempfile.mkdtemp(prefix="dossier-pg-")
    options = {}
    if os.geteuid() == 0:
        # It refuses to run as root.
        user = pwd.getpwnam("postgres")
        os.chown(folder, user.pw_uid, user.pw_gid)
        options = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder, **options}
    subprocess.run([initdb, "-D", f"{folder}/data", "-A", "trust", "-U", "dossier", "-N"], check=True, **quiet)
    process = subprocess.Popen(
        [postgres, "-D", f"{folder}/data", "-p", str(port), "-k", folder, "-c", "listen_addresses=127.0.0.1",
         "-c", "max_connections=200", "-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off"],
        **quiet,
    )  # fmt: skip
    yield f"postgresql://dossier@127.0.0.1:{port}"
    process.send_signal(signal.SIGINT)  # at once: it would else wait for clients that were killed
    process.wait(20)
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def new_database(server):
    """Make an empty database for a while; gives its address."""
    import psycopg

    name = f"t{uuid.uuid4().hex[:12]}"
    for _ in range(1200):
        try:
            with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {name}")
            break
        except psycopg.OperationalError:
            time.sleep(0.05)
    yield f"{server}/{name}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@pytest.fixture
def database(server):
    """The address of an empty database."""
    with new_database(server) as url:
        yield url
