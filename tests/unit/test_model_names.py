"""Case C11: names of models, and keys that are none, found out at start and said in one line."""

import csv
import json

import pytest

from agents.core.errors import ConfigError, ModelError
from agents.core.settings import Settings, has_key, load
from agents.llm.model_names import full_name
from agents.team import open_team
from tests.conftest import DATA

CASE = DATA / "cases" / "C11"
with (CASE / "model_names.tsv").open(encoding="utf-8") as table:
    ROWS = list(csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE))
ENVIRONMENTS = json.loads((CASE / "env_files.json").read_text("utf-8"))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["configured"] or "empty")
def test_c11_a_name_is_read_or_refused_at_start(row):
    if row["expect"].startswith("ok"):
        name = full_name(row["configured"], variable="DOSSIER_MODEL", openai_base=row["api_base"])
        wanted = row["configured"].strip(' "')
        assert name.endswith(wanted)
        if row["api_base"]:
            assert name == wanted if wanted.startswith("openai/") else name == f"openai/{wanted}"
        return
    with pytest.raises(ConfigError) as caught:
        full_name(row["configured"], variable="DOSSIER_MODEL", openai_base=row["api_base"])
    assert caught.value.notice.startswith("DOSSIER_MODEL")
    assert "\n" not in caught.value.notice
    if ":" in row["configured"]:
        assert "ollama/qwen9:7b" in caught.value.notice


def test_c11_a_wrong_name_stops_the_start_and_names_its_variable(monkeypatch, tmp_path):
    monkeypatch.setenv("DOSSIER_DATA_DIR", str(tmp_path))
    for variable, value in (
        ("DOSSIER_MODEL", "zai/openai/glm-9"),
        ("DOSSIER_MODELS", '{"judge": "qwen9:7b"}'),
        ("DOSSIER_FALLBACKS", "offline,nobody-knows/this"),
    ):
        monkeypatch.setenv("DOSSIER_MODEL", "openai/gpt-5.2")
        for name in ("DOSSIER_MODELS", "DOSSIER_FALLBACKS"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv(variable, value)
        with pytest.raises(ConfigError, match=f"^{variable}: "):
            open_team(load(tmp_path / "none"))


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("claude-sonnet-4-5", "anthropic/claude-sonnet-4-5"),
        ("gemini-2.5-pro", "gemini/gemini-2.5-pro"),
        ("gpt-5.2", "openai/gpt-5.2"),
        ("openrouter/openai/gpt-5.2", "openrouter/openai/gpt-5.2"),
        ("groq/openai/gpt-oss-120b", "groq/openai/gpt-oss-120b"),
        ("Ollama/qwen3:8b", "ollama/qwen3:8b"),
        ("offline", "offline"),
    ],
)
def test_a_name_that_can_only_mean_one_thing_is_completed(written, name):
    assert full_name(written, variable="DOSSIER_MODEL") == name


@pytest.mark.parametrize("written", ["/gpt", "openai/", "openai//", "gpt 5", "meta-llama/Llama-9", '""', "  "])
def test_what_names_no_model_is_refused_with_a_way_out(written):
    with pytest.raises(ConfigError, match=r"provider/model|Did you mean"):
        full_name(written, variable="DOSSIER_MODEL")


def test_the_providers_that_are_known_are_those_of_the_library():
    from agents.llm.litellm_model import warm_up
    from agents.llm.providers import PROVIDERS

    listed = {str(getattr(one, "value", one)) for one in warm_up().provider_list}
    assert listed == PROVIDERS.known


# ---- keys


@pytest.mark.parametrize("row", ENVIRONMENTS[:3], ids=["none", "empty", "placeholder"])
def test_c11_without_a_key_it_starts_with_the_offline_engine_and_says_so(monkeypatch, tmp_path, row):
    from agents.api.app_state import OFFLINE_LINE, about

    monkeypatch.delenv("DOSSIER_MODEL", raising=False)
    monkeypatch.setenv("DOSSIER_DATA_DIR", str(tmp_path))
    for name, value in row["env"].items():
        monkeypatch.setenv(name, value)
    assert OFFLINE_LINE in about(open_team(load(tmp_path / "none"))).lines


@pytest.mark.parametrize("row", ENVIRONMENTS[:3], ids=["none", "empty", "placeholder"])
async def test_c11_a_model_that_was_named_without_its_key_says_which_and_sends_nothing(monkeypatch, tmp_path, row):
    monkeypatch.setenv("DOSSIER_MODEL", "openai/gpt-5.2")
    monkeypatch.setenv("DOSSIER_DATA_DIR", str(tmp_path))
    for name, value in row["env"].items():
        monkeypatch.setenv(name, value)
    team = open_team(load(tmp_path / "none"))
    with pytest.raises(ModelError) as caught:
        await team.models["manager"].reply(_request())
    assert caught.value.notice == "There is no key for the model provider. Put one into OPENAI_API_KEY in `.env`."


def test_c11_space_and_quotes_around_a_key_are_no_part_of_it(monkeypatch, tmp_path):
    import os

    (row,) = (row for row in ENVIRONMENTS if "newline" in row["expect"])
    for name, value in row["env"].items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("ANTHROPIC_API_KEY", '"k-0123456789" \n')
    load(tmp_path / "none")
    assert os.environ["OPENAI_API_KEY"] == "sk-test-0000"
    assert os.environ["ANTHROPIC_API_KEY"] == "k-0123456789"
    assert has_key("OPENAI_API_KEY")


def _request():
    from agents.contracts.frozen import Frozen
    from agents.core.role import Message, Request

    class Words(Frozen):
        reply: str

    return Request("manager", (Message("user", "hello"),), Words(reply="x"), Words, 5.0, 100)


def test_an_empty_variable_is_one_that_is_not_set(monkeypatch):
    monkeypatch.setenv("DOSSIER_MODEL", "")
    assert Settings().model_for("manager") == "offline"
