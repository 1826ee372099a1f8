"""A real server in a process of its own, and a real browser."""

import os
import shutil
import signal
import socket
import time
import urllib.error
import urllib.request
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import pytest

from tests.forked import Module

ROOT = Path(__file__).resolve().parents[2]
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--renderer-process-limit=1",
    "--js-flags=--no-turbofan --no-maglev --always-sparkplug",
)  # fmt: skip
"""One process draws all pages, and compiles their scripts once: a page opens in two thirds of the processor time. No script is
optimized: none runs so long that it would pay, and talks and runs take a fifth less."""
PACE_S = 0.3
"""Seconds that an extraction takes on the shared server, unless a test sets another pace."""
STILL = """
const sheet = new CSSStyleSheet();
sheet.replaceSync('*, ::before, ::after { animation-iteration-count: 1 !important }');
document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
"""
"""What would move for as long as something is waited for moves once: drawn without a graphics card it took a third of the
processor time of the browser."""
FADED = """
() => new Promise(requestAnimationFrame).then(() => new Promise(requestAnimationFrame)).then(() => Promise.allSettled(
  document.getAnimations().filter(one => one.effect.getComputedTiming().endTime < 5000).map(one => one.finished)))
  .then(() => {})
"""
"""All that began to move within the last frame has come to rest; what moves for ever is let be."""
LOOPBACK = {"localhost", "127.0.0.1", "[::1]"}


def missing(why):
    """A browser that is missing is a failure where everything must hold, a loud skip elsewhere."""
    if os.environ.get("CI", "").lower() in {"1", "true"}:
        pytest.fail(f"NO BROWSER: {why}")
    pytest.skip(f"NO BROWSER: {why}; the chat was not tested in one")


class Server:
    """The server on the offline engine and the sample library; its extractors take their time if told to."""

    module = "tests.browser.slow_server"

    def __init__(self, folder, slow_s=0.0, **env):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://localhost:{self.port}"
        self.folder, self.env = folder, env
        self.process = None
        self.pace(slow_s)

    def pace(self, seconds, writing=0.0):
        """Let extractors take this long from now on, and writers of sections so long."""
        part = self.folder / "pace.part"
        part.write_text(f"{seconds} {writing}", "utf-8")
        part.replace(self.folder / "pace")

    def start(self):
        env = {
            **os.environ,
            "DOSSIER_MODEL": "offline",
            "RETRIEVER": "library",
            "DOSSIER_DATA_DIR": str(self.folder / "data"),
            "PORT": str(self.port),
            "TEST_PACE": str(self.folder / "pace"),
            **self.env,
        }
        for name in ("CHAINLIT_APP_ROOT", "CHAINLIT_AUTH_SECRET", "DOSSIER_HOST"):
            env.pop(name, None)
        self.process = self.launched(env)
        began = time.monotonic()
        while time.monotonic() - began < 90:
            try:
                urllib.request.urlopen(f"{self.url}/healthz", timeout=2)
            except (urllib.error.URLError, OSError):
                if self.process.poll() is not None:
                    break
                time.sleep(0.1)
            else:
                return self
        raise AssertionError(f"the server did not come up:\n{self.log()}")

    def launched(self, env):
        return Module(self.module, out=self.folder / "server.log", env=env, cwd=ROOT)

    def log(self):
        return (self.folder / "server.log").read_text("utf-8", "replace")

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        return self.process.wait(15)


@pytest.fixture(scope="session")
def shots(tmp_path_factory):
    """Where pictures of the pages are left."""
    return tmp_path_factory.mktemp("shots")


@pytest.fixture(scope="session")
def browser():
    """The browser of all tests: one that has loaded a page once opens the next in a quarter of the time."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError as error:
        missing(str(error))
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    # With a profile on disk it keeps the page's scripts compiled: a page costs two thirds of the processor time.
    with sync_playwright() as playwright, TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        try:
            # Without motion, where that is not what is looked at: it costs a sixth of the browser's processor time.
            made = playwright.chromium.launch_persistent_context(
                profile, executable_path=path, args=list(FLAGS), reduced_motion="reduce"
            )
        except Error as error:
            missing(str(error).splitlines()[0])
        made.add_init_script(STILL)
        yield made
        made.close()


@pytest.fixture(scope="session")
def one_server(tmp_path_factory):
    made = Server(tmp_path_factory.mktemp("server")).start()
    yield made
    if made.process.poll() is None:
        made.stop()


@pytest.fixture
def server(one_server):
    """The server of all tests that need none of their own, at its usual pace: a run can be watched, and ends soon."""
    one_server.pace(PACE_S)
    return one_server


OPEN: list["Tab"] = []
"""Pages of the running test, for what is told when it fails."""


@pytest.fixture(autouse=True)
def no_old_pages():
    """Only the pages of this test are told of; those that a whole module shares stay."""
    yield
    OPEN[:] = [tab for tab in OPEN if not tab.page.is_closed()]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Tell with a failure what the pages showed, what they still waited for, and what the server logged."""
    report = (yield).get_result()
    if not report.failed:
        return
    for n, tab in enumerate(tab for tab in OPEN if not tab.page.is_closed()):
        tab.failed = True
        told = tab.state(f"failed-{item.name[:40]}-{n}")
        report.sections.append((f"page {n}", told))


class Tab:
    """A page and what it asked for."""

    def __init__(self, browser, server, shots, width=1280, height=900):
        while LEFT and LEFT[-1].server is not server:
            LEFT.pop().close()  # all servers of a machine write over one another's cookies
        self.context, self.server, self.shots = browser, server, shots
        self.page, self.asked, self.failed = browser.new_page(), [], False
        self.page.set_viewport_size({"width": width, "height": height})
        self.waits, self.said = {}, []
        self.page.on("request", self._asks)
        for ending in ("requestfinished", "requestfailed"):
            self.page.on(ending, lambda request: self.waits.pop(request, None))
        self.page.on("console", lambda line: self.said.append(f"{line.type}: {line.text}"))
        self.page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        self.page.on("websocket", lambda socket_: self.asked.append(socket_.url))
        self.page.set_default_timeout(30_000)
        OPEN.append(self)

    def _asks(self, request):
        self.asked.append(request.url)
        self.waits[request] = request.url

    def state(self, name):
        """Tell how the page stands: its address and text, open requests, what it and the server logged; and a picture."""
        from playwright.sync_api import Error

        try:
            self.shot(name)
            text = self.page.locator("body").inner_text(timeout=5_000)
        except Error as error:
            text = f"the page does not answer: {error}"
        parts = {
            "address": self.page.url,
            "text": text[-3000:],
            "open requests": "\n".join(self.waits.values()),
            "console": "\n".join(self.said[-20:]),
            "server": self.server.log()[-3000:],
        }
        return "\n".join(f"--- {part}\n{what}" for part, what in parts.items())

    def open(self, path=""):
        self.page.bring_to_front()  # a page behind another gets no frames, and nothing on it moves
        self.page.goto(self.server.url + path)
        self.page.wait_for_selector("#chat-input")
        # Comes over the socket: from here on the page and its session know each other.
        self.page.wait_for_selector("#chat-settings-open-modal")
        return self

    def begins_anew(self, width=1280, height=900):
        """Begin a new chat on this page: a quarter of what another page costs."""
        self.page.bring_to_front()
        self.page.unroute_all()
        self.page.set_viewport_size({"width": width, "height": height})
        self.asked.clear()
        self.said.clear()
        self.page.locator("[data-step-type=user_message]").first.wait_for()  # else it may be new and not yet connected
        with self.page.expect_websocket():
            self.page.locator("#new-chat-button").click()
        self.page.locator("[data-step-type=user_message]").first.wait_for(state="detached")
        self.page.wait_for_selector("#chat-settings-open-modal")
        return self

    def close(self):
        """Leave nothing for the next test: neither the page nor what it kept, where no other page needs that."""
        self.page.evaluate("localStorage.clear()")
        self.page.close()
        if all(one.page.is_closed() for one in OPEN):
            self.context.clear_cookies()

    def say(self, text):
        self.page.locator("#chat-input").click()
        self.page.keyboard.insert_text(text)
        # A page that is not connected yet keeps what was typed.
        for _ in range(40):
            self.page.keyboard.press("Enter")
            self.page.wait_for_timeout(50)
            if not self.page.locator("#chat-input").input_value().strip():
                return
            self.page.wait_for_timeout(250)
        raise AssertionError(f"the page did not send: {text}")

    def drops(self, *files):
        """Attach files and send them without a word."""
        self.page.locator("input[type=file]").first.set_input_files(list(files))
        # The button to take one back out comes when it has arrived.
        self.page.wait_for_function(
            "n => document.querySelectorAll('#message-composer .bg-card').length >= n", arg=len(files)
        )
        self.page.wait_for_selector("#chat-submit:not([disabled])")
        self.page.locator("#chat-submit").click()
        return self

    def sees(self, text, timeout=30_000):
        self.page.get_by_text(text).last.wait_for(timeout=timeout)

    def drafts(self, question):
        """Ask something that is small enough, and wait for its contract."""
        self.say(question)
        self.card.wait_for()
        return self

    def starts(self, question):
        """Ask, authorize, and wait for the run."""
        self.drafts(question)
        self.say("Authorized to execute")
        self.page.wait_for_selector("[data-job=running], [data-job=done]")
        return self

    def reads(self):
        """Wait for the report."""
        self.page.wait_for_selector(".ds-report[data-report=here]", timeout=90_000)
        return self

    @property
    def card(self):
        """The contract on the table."""
        return self.page.locator(".ds-contract[data-contract=draft]").last

    def faded(self):
        """Waits until nothing fades or slides any more: half way between two colours nothing can be judged."""
        self.page.evaluate(FADED)

    def wide(self):
        """How wide the page is, in its own pixels: no more than its window, or it scrolls sideways."""
        return self.page.evaluate("document.documentElement.scrollWidth - innerWidth")

    def shot(self, name):
        self.page.screenshot(path=self.shots / f"{name}.png")

    def outside(self):
        """Addresses asked for that are not on this machine."""
        hosts = {
            urlsplit(url).netloc.rsplit(":", 1)[0]: url for url in self.asked if not url.startswith(("data:", "blob:"))
        }
        return {host: url for host, url in hosts.items() if host not in LOOPBACK}


LEFT: list["Tab"] = []
"""The page that a test left, for the next one: it begins a new chat there."""


@pytest.fixture
def tab(browser, server, shots):
    made = []

    def open_tab(**kwargs):
        made.append(LEFT.pop().begins_anew(**kwargs) if LEFT else Tab(browser, server, shots, **kwargs).open())
        return made[-1]

    yield open_tab
    for one in made:
        if LEFT or one.failed or not one.page.locator("[data-step-type=user_message]").count():
            one.close()
        else:
            LEFT.append(one)
