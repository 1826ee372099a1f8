"""The examples for other programs, tried for real: a server in a process of its own, and the clients as they stand there."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import openai
import pytest
import yaml

from agents.api.run_routes import MODELS
from agents.jobs.database import Database, async_url
from agents.jobs.store import Store
from tests.browser.conftest import ROOT, Server

CLIENTS = ROOT / "examples" / "clients"
QUESTION = "In which year was Eelgrass Watch founded?"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = Server(tmp_path_factory.mktemp("server")).start()
    yield running
    running.stop()


def run(script, *args, **env):
    return subprocess.run(
        [sys.executable, str(CLIENTS / script), QUESTION, *args], cwd=ROOT, capture_output=True, text=True, timeout=100,
        check=False, env={**os.environ, "DOSSIER_MODEL": "offline", "RETRIEVER": "library", **env},
    )  # fmt: skip


async def test_the_official_client_streams_a_report_with_its_sources(server):
    told = await asyncio.to_thread(run, "chat_completions.py", f"{server.url}/v1")
    assert told.returncode == 0, told.stderr
    assert "[1]" in told.stdout
    assert "Plan (simple)" in told.stderr
    assert "cited: " in told.stderr


async def test_a_host_uses_the_tool_over_http(server):
    told = await asyncio.to_thread(run, "mcp_client.py", f"{server.url}/mcp")
    assert told.returncode == 0, told.stderr
    assert "[1]" in told.stdout
    assert "Planned: " in told.stderr


async def test_a_host_uses_the_tool_over_standard_input_and_output_as_its_file_says(tmp_path):
    told = await asyncio.to_thread(run, "mcp_client.py", DOSSIER_DATA_DIR=str(tmp_path))
    assert told.returncode == 0, told.stderr
    assert "[1]" in told.stdout
    # What was found outlives the process that the host has closed.
    database = Database(async_url("", tmp_path))
    await database.open()
    (row,) = await Store(database).jobs()
    assert (row.status, row.owner) == ("done", "local")
    assert (await Store(database).report(row.id)).references
    await database.close()


async def test_what_a_chat_client_is_told_of_models_and_address_is_true(server):
    (endpoint,) = yaml.safe_load((CLIENTS / "librechat.yaml").read_text("utf-8"))["endpoints"]["custom"]
    assert set(endpoint["models"]["default"]) == set(MODELS)
    lines = (CLIENTS / "open-webui.env").read_text("utf-8").splitlines()
    settings = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    assert endpoint["baseURL"] == settings["OPENAI_API_BASE_URL"] == "http://localhost:8000/v1"
    address = endpoint["baseURL"].replace(":8000", f":{server.port}")
    async with openai.AsyncOpenAI(base_url=address, api_key=endpoint["apiKey"]) as client:
        assert [model.id async for model in client.models.list()] == list(MODELS)


def test_the_file_for_hosts_is_the_one_in_the_docs():
    told = json.loads((CLIENTS / "mcp.json").read_text("utf-8"))["mcpServers"]
    docs = (ROOT / "docs" / "api.md").read_text("utf-8")
    (written,) = [line for line in docs.splitlines() if line.startswith('{"mcpServers"')]
    assert json.loads(written)["mcpServers"]["dossier"] == told["dossier"]
    for name in Path(CLIENTS).iterdir():
        if name.is_file():
            assert f"examples/clients/{name.name}" in docs
