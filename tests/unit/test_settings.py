"""Settings: precedence, refusals, and the example file that is made from them."""

import pytest

from agents.core.errors import ConfigError
from agents.core.paths import RESOURCES as ROOT
from agents.core.settings import Settings, load, misspelt, usable_key
from tests.written_files import example


def test_the_environment_wins_over_dotenv(tmp_path, monkeypatch):
    (tmp_path / ".env").write_text("PORT=9001\nDOSSIER_HOST=::1\n")
    monkeypatch.setenv("PORT", "9002")
    monkeypatch.setenv("DOSSIER_HOST", "")  # so that what the file sets is taken back too
    monkeypatch.delenv("DOSSIER_HOST")
    settings = load(tmp_path / ".env")
    assert (settings.port, settings.host) == (9002, "::1")


def test_a_misspelt_name_is_refused_with_the_nearest_real_one(monkeypatch):
    monkeypatch.setenv("DOSSIER_MODLE", "x")
    with pytest.raises(ConfigError, match="did you mean DOSSIER_MODEL"):
        load()


def test_names_of_others_are_none_of_ours():
    assert misspelt(["PATH", "OPENAI_API_KEY", "DOSSIER_SHARED"]) == []


def test_a_wrong_value_names_the_variable_and_never_the_value(monkeypatch):
    monkeypatch.setenv("RESEARCH_MAX_DEPTH", "4sk-secret")
    with pytest.raises(ConfigError, match="RESEARCH_MAX_DEPTH|max_depth") as caught:
        load()
    assert "sk-secret" not in caught.value.notice


def test_the_depth_may_be_lowered_and_never_raised(monkeypatch):
    monkeypatch.setenv("RESEARCH_MAX_DEPTH", "4")
    with pytest.raises(ConfigError, match="RESEARCH_MAX_DEPTH|max_depth"):
        load()
    monkeypatch.setenv("RESEARCH_MAX_DEPTH", "2")
    assert load().max_depth == 2


@pytest.mark.parametrize("value", ["", "  ", "your-key-here", "sk-xxx", "<key>", "changeme", "short"])
def test_a_placeholder_is_no_key(value):
    assert not usable_key(value)


def test_the_model_is_chosen_by_the_keys_present(monkeypatch):
    monkeypatch.delenv("DOSSIER_MODEL", raising=False)
    assert Settings().model_for("manager") == "offline"
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k" * 30)
    assert Settings().model_for("manager").startswith("anthropic/")


def test_a_role_may_have_a_model_of_its_own(monkeypatch):
    monkeypatch.setenv("DOSSIER_MODELS", '{"judge": "openai/small"}')
    settings = Settings()
    assert settings.model_for("judge") == "openai/small"
    assert settings.model_for("planner") == "offline"


def test_the_example_file_names_every_setting():
    assert (ROOT / ".env.example").read_text("utf-8") == example()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "utf-8"])
def test_a_dotenv_is_read_in_the_encoding_that_its_first_bytes_tell(tmp_path, monkeypatch, encoding):
    """Case 29 of the second collection: PowerShell writes UTF-16."""
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    (tmp_path / ".env").write_bytes(f"{mark}# größer\r\nDOSSIER_HOST=::1\r\n".encode(encoding))
    monkeypatch.setenv("DOSSIER_HOST", "")  # so that what the file sets is taken back too
    monkeypatch.delenv("DOSSIER_HOST")
    monkeypatch.setattr("agents.core.settings._FROM_FILE", set())

    assert load(tmp_path / ".env").host == "::1"
    monkeypatch.delenv("DOSSIER_HOST")


def test_a_dotenv_in_another_encoding_is_named_in_one_line(tmp_path):
    (tmp_path / ".env").write_bytes(b"DOSSIER_HOST=gr\xf6\xdfer\n")
    with pytest.raises(ConfigError, match="Save it as UTF-8"):
        load(tmp_path / ".env")
