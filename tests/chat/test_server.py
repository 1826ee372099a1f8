"""What happens before Chainlit is imported."""

import os
import socket
import stat
import subprocess
import sys
import tomllib

import pytest
from pydantic import ValidationError

from agents.api.access import BelowPath
from agents.api.reports import disposition
from agents.api.serve import app_root, check_exposure, kept_secret, reserve, serve
from agents.core.errors import ConfigError
from agents.core.paths import RESOURCES as ROOT
from agents.core.settings import Settings


def test_a_taken_port_is_one_sentence():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError) as error:
            reserve("127.0.0.1", port)
    assert error.value.notice == f"Port {port} is taken. Set PORT to another, or stop what runs there."


def test_whoever_opens_the_page_while_the_server_loads_waits_and_is_not_refused():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with reserve("127.0.0.1", port), socket.create_connection(("127.0.0.1", port), timeout=2):
        pass


def test_a_host_of_another_machine_is_said():
    with pytest.raises(ConfigError, match="no address of this machine"):
        reserve("203.0.113.7", 8000)


def test_others_are_let_in_with_a_key_only(tmp_path):
    with pytest.raises(ConfigError, match="DOSSIER_API_KEY"):
        serve(Settings(host="0.0.0.0", data_dir=tmp_path))
    check_exposure(Settings(host="0.0.0.0", api_key="k" * 20))
    for host in ("127.0.0.1", "localhost", "::1"):
        check_exposure(Settings(host=host))


def test_the_secret_is_made_once_and_for_the_owner_only(tmp_path):
    secret = kept_secret(tmp_path)
    assert kept_secret(tmp_path) == secret
    assert len(secret) == 64
    assert stat.S_IMODE((tmp_path / "auth_secret").stat().st_mode) == 0o600


def test_each_port_has_a_folder_of_its_own_laid_out_freshly(tmp_path):
    first, second = app_root(tmp_path, 8000), app_root(tmp_path, 8001)
    (first / "public" / "left-over").write_text("x")
    app_root(tmp_path, 8000)
    assert not (first / "public" / "left-over").exists()
    assert (second / ".chainlit" / "config.toml").is_file()
    assert (second / "public" / "theme.json").is_file()


def test_the_committed_settings_keep_what_matters():
    config = tomllib.loads((ROOT / ".chainlit" / "config.toml").read_text("utf-8"))
    assert config["UI"]["name"] == "Dossier"
    assert config["project"]["allow_origins"] == []
    assert not config["features"]["unsafe_allow_html"]
    assert not config["features"]["latex"]
    assert not config["features"]["edit_message"]
    assert not config["features"]["mcp"]["enabled"]
    assert config["features"]["spontaneous_file_upload"]["max_size_mb"] <= 25


def test_the_readme_says_the_phrase():
    assert "Authorized to execute" in (ROOT / "chainlit.md").read_text("utf-8")


def test_serve_reads_no_chainlit_before_it_is_prepared():
    code = "import sys, agents.api.serve; print('chainlit' in sys.modules)"
    out = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    assert out.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Ferry winters", "Ferry winters"),
        ("../../etc/passwd", "etc passwd"),
        ('a"b\r\nSet-Cookie: x', "a b Set-Cookie x"),
        ("Über Größe", "Uber Groe"),
        ("渡船の冬", "report"),
        ("...", "report"),
    ],
)
def test_a_download_is_named_readably_and_safely(title, name):
    said = disposition(title, "md")
    assert said.startswith(f"attachment; filename=\"{name}.md\"; filename*=UTF-8''")
    assert "\r" not in said
    assert "\n" not in said


@pytest.mark.parametrize("asked", ["/dossier/research/jobs", "/research/jobs"])
async def test_below_a_path_the_app_sees_its_own_addresses_and_sends_nobody_above_it(asked):
    """Case 30 of the second collection: a proxy may take the path off, or leave it on."""
    seen = []

    async def app(scope, receive, send):
        seen.append((scope["type"], scope["path"], scope["raw_path"]))
        await send({"type": "http.response.start", "status": 307, "headers": [(b"location", b"/login")]})

    async def send(message):
        seen.append(dict(message["headers"])[b"location"])

    for kind in ("http", "websocket"):
        await BelowPath(app, "/dossier")({"type": kind, "path": asked, "raw_path": asked.encode()}, None, send)
    own = "/research/jobs"
    assert seen == [("http", own, own.encode()), b"/dossier/login", ("websocket", own, own.encode()), b"/dossier/login"]


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ("/dossier/research/jobs/1", "/dossier/research/jobs/1"),
        ("/dossierx", "/dossier/dossierx"),
        ("//a.example", "//a.example"),
    ],
)
async def test_an_address_that_is_below_the_path_already_is_put_there_once(sent, told):
    found = []

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 202, "headers": [(b"location", sent.encode())]})

    async def send(message):
        found.append(dict(message["headers"])[b"location"])

    await BelowPath(app, "/dossier")({"type": "http", "path": "/dossier/x", "raw_path": b"/dossier/x"}, None, send)

    assert found == [told.encode()]


@pytest.mark.parametrize(("written", "read"), [("dossier/", "/dossier"), ("/a/b", "/a/b"), ("/", ""), ("", "")])
def test_the_path_of_a_proxy_is_read_as_it_is_meant(monkeypatch, written, read):
    monkeypatch.setenv("DOSSIER_ROOT_PATH", written)
    assert Settings().root_path == read


@pytest.mark.parametrize("written", ["https://a.example/dossier", "/a b", '/a"b', "/a//b"])
def test_what_is_no_path_is_refused(monkeypatch, written):
    monkeypatch.setenv("DOSSIER_ROOT_PATH", written)
    with pytest.raises(ValidationError, match="write it as a path"):
        Settings()
