"""The program as a package: a wheel in a fresh environment, started in an empty folder."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
QUESTION = "What share of the eelgrass planted in Tolven Bay was alive after 24 months?"


def uv() -> str:
    """Find the installer that `make` brings, or one on the path."""
    candidates = (ROOT / ".venv-tools" / "bin" / "uv", *(Path(p) for p in (shutil.which("uv"),) if p))
    return str(next((path for path in candidates if path.exists()), ""))


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """Build the wheel and install it, with the locked packages, into an environment of its own."""
    tool = uv()
    if not tool:
        pytest.skip("NO INSTALLER: `make setup` brings uv; the package is not tried without it")
    folder = tmp_path_factory.mktemp("package")
    python = folder / "env" / "bin" / "python"
    lines = (
        [tool, "build", "--quiet", "--wheel", "--out-dir", str(folder / "dist"), str(ROOT)],
        [tool, "venv", "--quiet", str(folder / "env")],
        [tool, "pip", "sync", "--quiet", "--require-hashes", "--python", str(python), str(ROOT / "requirements.lock")],
    )
    for line in lines:
        subprocess.run(line, check=True, capture_output=True, text=True)
    (wheel,) = (folder / "dist").glob("*.whl")
    subprocess.run(
        [tool, "pip", "install", "--quiet", "--no-deps", "--python", str(python), str(wheel)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    compiled(python.parent.parent)
    return python.with_name("dossier")


def compiled(environment: Path) -> None:
    """Give it the modules that this environment has compiled, which come from the same files: else the first start is all compiling."""
    here = Path(sysconfig.get_path("purelib"))
    (there,) = environment.glob("lib/python*/site-packages")
    for package in here.iterdir():
        for made in package.glob("**/__pycache__/*.pyc") if (there / package.name).is_dir() else ():
            kept = there / made.relative_to(here)
            kept.parent.mkdir(exist_ok=True, parents=True)
            shutil.copy2(made, kept)


def called(command: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Start the program in an empty folder, as a user with an empty home."""
    (home / "here").mkdir(exist_ok=True)
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("DOSSIER_", "RESEARCH_", "CHAINLIT_", "XDG_", "PYTHON"))
        and not name.endswith("_API_KEY")
    }
    environment |= {"HOME": str(home), "DOSSIER_MODEL": "offline", "RETRIEVER": "library"}
    return subprocess.run(
        [str(command), *arguments], cwd=home / "here", env=environment, capture_output=True, text=True, timeout=100,
        check=False,
    )  # fmt: skip


@pytest.mark.timeout(300)
def test_an_installed_package_answers_a_question_in_an_empty_folder(installed, tmp_path):
    done = called(installed, tmp_path, "run", QUESTION, "--out", "report.html")

    assert done.returncode in (0, 3), done.stderr
    assert "[1]" in done.stdout
    assert (tmp_path / "here" / "report.html").stat().st_size > 1000
    assert [path.name for path in (tmp_path / "here").iterdir()] == ["report.html"], "its data lie with the user"
    assert any(tmp_path.rglob("jobs.db"))


@pytest.mark.timeout(300)
def test_an_installed_package_says_what_is_usable_and_reads_the_settings_of_the_folder(installed, tmp_path):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / ".env").write_text("RESEARCH_MAX_LEAVES=7\n", encoding="utf-8")

    done = called(installed, tmp_path, "doctor")

    assert done.returncode == 0, done.stderr
    assert "RESEARCH_MAX_LEAVES = 7" in done.stdout
    assert str(tmp_path) in done.stdout


WITHOUT = """
import asyncio, asyncio.unix_events, runpy, sys
for name in ("fcntl", "resource", "grp", "pwd", "termios"):
    sys.modules[name] = None
def refuse(*_): raise NotImplementedError
asyncio.unix_events._UnixSelectorEventLoop.add_signal_handler = refuse
sys.argv = ["agents", "run", sys.argv[1], "--library", sys.argv[2], "--no-challenge", "--time", "1"]
runpy.run_module("agents", run_name="__main__")
"""


def test_a_question_is_answered_without_what_windows_lacks_in_any_locale_and_folder(tmp_path):
    """Cases 28 and 29 of the second collection, as far as they can be simulated: no POSIX modules, no signals.

    In the locale that knows least: all other tests start programs in one that knows everything.
    """
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "dam.md").write_text(
        "# Orvelle dam\n\nThe Orvelle dam was closed in 1987 after a crack.\n", "utf-8"
    )
    surroundings = os.environ | {
        "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "DOSSIER_MODEL": "offline", "RETRIEVER": "library",
        "DOSSIER_DATA_DIR": str(tmp_path / "what? 100% #é"),
    }  # fmt: skip
    code = [sys.executable, "-c", WITHOUT, "When was the Orvelle dam closed?", str(tmp_path / "library")]
    done = subprocess.run(code, cwd=ROOT, env=surroundings, capture_output=True, timeout=120, check=False)
    assert b"closed in 1987" in done.stdout, done.stderr.decode("utf-8", "replace")[-600:]
