"""What every test stands on: no network beyond loopback, no keys, a data folder of its own, and where shared lies."""

import gc
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples every time: a rare one is to be found by `--hypothesis-profile long`, not by somebody else's commit.
settings.register_profile("steady", derandomize=True, deadline=None, max_examples=40)
settings.register_profile("long", deadline=None, max_examples=1000)
settings.load_profile("steady")

# Before anything imports the application or a library it uses.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
HOME = Path(tempfile.mkdtemp(prefix="dossier-tests-"))
(HOME / "chat").mkdir()  # Chainlit writes there while it is imported
for _name in list(os.environ):
    if _name.endswith("_API_KEY") or _name.startswith(("RESEARCH_", "JUDGE_RESEARCH_")):
        del os.environ[_name]
os.environ |= {
    "DOSSIER_MODEL": "offline",
    "RETRIEVER": "library",
    "DOSSIER_DATA_DIR": str(HOME / "data"),
    "CHAINLIT_APP_ROOT": str(HOME / "chat"),
}

# By default the collector goes through every module again and again while they are imported, and later for each job.
gc.set_threshold(50_000, 20, 20)
gc.disable()  # until all tests are found

from tests import quick, side_by_side  # noqa: E402 - the environment stands above

quick.install()

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "data"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--live", action="store_true", help="ask real providers (needs keys, costs money)")
    parser.addoption("--workers", type=int, default=0, help="run files side by side in so many processes")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--workers") > 1:
        config.pluginmanager.register(side_by_side)
        if config.args == config.getini("testpaths"):  # all of them: it imports while tests are looked for
            side_by_side.start_server_of_processes()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # Files are handed out in this order also where tests run side by side (--no-loadscope-reorder).
    # The browser's driver keeps an event loop running in this process, which no asynchronous test after it can bear.
    items.sort(key=lambda item: "browser" in item.path.relative_to(ROOT).parts)
    if config.getoption("--live"):
        return
    for item in items:
        if item.get_closest_marker("live"):
            item.add_marker(pytest.mark.skip(reason="asks real providers: --live"))


def pytest_collection_finish() -> None:
    gc.freeze()  # what is loaded now stays: nobody goes through it again
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Iterator[None]:
    """What a test or a `.env` file sets, the next test does not see. A fixture of each test would cost it twice as much."""
    before = os.environ._data.copy()
    done = yield
    for name, _ in os.environ._data.items() ^ before.items():
        if name in before:
            os.environ[os.fsdecode(name)] = os.fsdecode(before[name])
        else:
            os.environ.pop(os.fsdecode(name), None)
    return done


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with labelled data and mock servers; tests that use it skip loudly where it is absent."""
    folder = Path(os.environ.get("DOSSIER_SHARED") or ROOT.parent / "shared")
    if not (folder / "cases").is_dir():
        pytest.skip(f"SHARED DATA ABSENT: {folder} (set DOSSIER_SHARED)")
    return folder
