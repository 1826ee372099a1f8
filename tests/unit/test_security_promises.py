"""Each promise of SECURITY.md names the tests that hold it, and they exist."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAMED = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", (ROOT / "SECURITY.md").read_text("utf-8"))


def test_every_promise_names_tests_that_exist():
    assert len(NAMED) > 20
    missing = [
        f"{file}::{name}"
        for file, name in NAMED
        if not (ROOT / file).is_file() or (name and f"def {name}(" not in (ROOT / file).read_text("utf-8"))
    ]
    assert missing == []


def test_every_row_of_the_table_of_promises_names_a_test():
    table = (ROOT / "SECURITY.md").read_text("utf-8").partition("## What is promised")[2].partition("## What is not")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")][2:]

    assert rows and all("`tests/" in row for row in rows)


def test_every_direct_dependency_is_audited():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    table = (ROOT / "SECURITY.md").read_text("utf-8").partition("## Libraries")[2]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert {re.split(r"[^\w-]", one)[0] for one in wanted} == set(re.findall(r"`([\w-]+)`", "".join(rows)))


START = """
import asyncio, json, os, socket, sys
from pathlib import Path

tried, here = [], {"127.0.0.1", "::1", "localhost", "0.0.0.0", None, ""}

def watched(name):
    real = getattr(socket.socket, name)
    def call(self, address):
        if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in here:
            tried.append(str(address))
            raise OSError("no way out")
        return real(self, address)
    setattr(socket.socket, name, call)

watched("connect"); watched("connect_ex")
look_up = socket.getaddrinfo
def looked_up(host, *args, **kwargs):
    if host not in here:
        tried.append(str(host))
        raise OSError("no way out")
    return look_up(host, *args, **kwargs)
socket.getaddrinfo = looked_up

from agents.api.serve import prepare
from agents.core.settings import Settings
settings = Settings(data_dir=Path(sys.argv[1]), embedder="onnx:" + sys.argv[2], retriever=("library",), host="127.0.0.1")
prepare(settings)
import chainlit.server
from agents.team import open_team
from agents.llm.litellm_model import warm_up
litellm = warm_up()

async def opened():
    team = open_team(settings, durable=True)
    await team.open()
    team.warm_up()
    await asyncio.sleep(0.5)
    await team.close()

asyncio.run(opened())
import traceloop.sdk
print(json.dumps({
    "tried": tried, "litellm": litellm.telemetry, "onnxruntime": os.environ.get("ORT_DISABLE_TELEMETRY"),
    "prices": os.environ.get("LITELLM_LOCAL_MODEL_COST_MAP"), "tracing of the chat": getattr(traceloop, "__file__", None),
    "after the runtime": "onnxruntime" in sys.modules,
}))
"""


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    """What a process says that loads and opens all that a server does, with every way out watched."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DOSSIER_", "LITELLM_", "ORT_"))}
    embedder = ROOT / "tests" / "data" / "embedder"
    ran = subprocess.run(
        [sys.executable, "-c", START, str(tmp_path_factory.mktemp("data")), str(embedder)],
        cwd=ROOT, env={**kept, "OPENAI_API_KEY": "sk-0123456789abcdef"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-2000:]
    return json.loads(ran.stdout.strip().splitlines()[-1])


@pytest.mark.timeout(240)
def test_what_a_server_loads_and_opens_asks_nothing_of_the_network(started):
    assert started["tried"] == []


@pytest.mark.timeout(240)
def test_the_telemetry_of_libraries_is_off(started):
    assert started["litellm"] is False
    assert (started["after the runtime"], started["onnxruntime"]) == (True, "1")
    assert started["prices"] == "True"
    assert started["tracing of the chat"] is None  # a stand-in: the packages themselves are never loaded


def test_the_runtimes_telemetry_is_switched_off_where_it_looks_for_no_variable(monkeypatch):
    runtime = pytest.importorskip("onnxruntime", reason="it has no wheel for this machine")
    told = []
    monkeypatch.setattr(runtime, "disable_telemetry_events", lambda: told.append(1))
    from agents.memory.embedders import embedder_of

    embedder_of(f"onnx:{ROOT / 'tests' / 'data' / 'embedder'}")
    assert told == [1]
