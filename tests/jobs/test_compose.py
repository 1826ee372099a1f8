"""`compose.yaml` and the image: what they name exists in this program, and they keep what they promise."""

import json
import re

import pytest
import yaml
from typer.main import get_command

from agents.cli.main import app
from agents.core.paths import RESOURCES as ROOT
from agents.core.settings import Settings, variables

COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")
SERVICE_KEYS = {
    "build", "command", "depends_on", "env_file", "environment", "healthcheck", "image", "init", "ports", "restart",
    "stop_grace_period", "volumes",
}  # fmt: skip
"""Those of the compose specification's that the file uses: a new one is looked up before it is added here."""
OURS = [name for name, service in COMPOSE["services"].items() if "build" in service]


def test_it_has_one_database_one_knowledge_base_two_workers_and_one_chat_server():
    assert sorted(COMPOSE["services"]) == ["chat", "db", "qdrant", "worker-1", "worker-2"]
    assert sorted(OURS) == ["chat", "worker-1", "worker-2"]
    for service in COMPOSE["services"].values():
        assert set(service) <= SERVICE_KEYS
        for mount in service.get("volumes", ()):
            assert mount.partition(":")[0] in COMPOSE["volumes"]


@pytest.mark.parametrize("name", OURS)
def test_its_commands_are_commands_of_this_program(name):
    python, module, package, command, *arguments = COMPOSE["services"][name]["command"]
    assert (python, module, package) == ("python", "-m", "agents")
    known = get_command(app).commands[command]
    known.make_context(command, list(arguments))  # raises for an option that there is not


@pytest.mark.parametrize("name", OURS)
def test_its_variables_are_settings_with_values_that_these_take(name):
    given = COMPOSE["services"][name]["environment"]
    assert set(given) <= set(variables())
    fields = variables()
    Settings(**{fields[variable]: value for variable, value in given.items()})


def test_workers_have_names_of_their_own_and_the_chat_server_runs_no_jobs():
    services = COMPOSE["services"]
    assert services["worker-1"]["command"][-1] != services["worker-2"]["command"][-1]
    assert services["chat"]["environment"]["DOSSIER_RUNS_JOBS"] == "false"
    assert len({services[name]["environment"]["DOSSIER_DATABASE_URL"] for name in OURS}) == 1


def test_no_secret_stands_in_it_and_a_missing_one_is_said():
    for service in COMPOSE["services"].values():
        for name, value in service.get("environment", {}).items():
            if re.search("PASSWORD|KEY|SECRET", name):
                assert re.fullmatch(r"\$\{\w+:\?[^}]+\}", value), name
            if name.endswith("DATABASE_URL"):
                assert ":${POSTGRES_PASSWORD:?" in value


def test_the_image_is_made_from_the_lock_file_and_runs_without_rights():
    lines = [line.split(None, 1) for line in re.sub(r"\\\n", " ", DOCKERFILE).splitlines() if line[:1].isupper()]
    stages = [n for n, (verb, _) in enumerate(lines) if verb == "FROM"]
    last = dict(lines[stages[-1] :])
    assert "--require-hashes" in DOCKERFILE
    assert last["USER"] == "dossier"
    assert json.loads(last["CMD"]) == ["python", "-m", "agents", "serve"]
    assert "/healthz" in last["HEALTHCHECK"]
    assert str(Settings.model_fields["port"].default) in last["HEALTHCHECK"]


def test_what_the_image_copies_is_there_and_is_let_into_the_build():
    let_in = [line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")]
    copied = [
        source
        for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE)
        for source in line.split()[:-1]
    ]
    assert {"agents", "app.py", "prompts", "public", "requirements.lock"} <= set(copied)
    for source in copied:
        assert (ROOT / source).exists(), source
        assert source in let_in, source
    assert not [name for name in let_in if name.startswith((".env", ".data", ".git"))]
