"""Runs tests side by side in processes that are forked once every module is imported and every test found: `--workers 4`.

Finding 4,900 tests takes as long as running a thousand of them, and each process of another kind would do it anew. Whole
files go to a worker, those that take longest first. The browser's driver keeps an event loop running in its process, which
no asynchronous test after it can bear: two workers begin with the files of the browser, in a process of their own.
"""

import gc
import importlib
import json
import os
import selectors
import sys
import traceback
from multiprocessing import active_children, forkserver
from pathlib import Path

import pytest

LONGEST = """
    tests/browser/test_runs.py tests/browser/test_chat.py tests/browser/test_reach.py tests/browser/test_report.py
    tests/browser/test_drafts.py tests/browser/test_known.py tests/browser/test_files.py
    tests/test_package.py tests/memory/test_knowledge.py tests/unit/test_headless_output.py tests/api/test_examples.py
    tests/jobs/test_fleet.py tests/unit/test_security_promises.py tests/jobs/test_crash.py tests/edge/test_company_network.py
    tests/research/test_grades.py tests/edge/test_time_promise.py tests/research/test_faults.py tests/chat/test_boundary.py
    tests/research/test_settings_act.py tests/memory/test_recollection.py tests/edge/test_mock_world.py
    tests/unit/test_walls.py tests/edge/test_litellm_model.py tests/chat/test_conversation.py tests/chat/test_routes.py
    tests/api/test_jobs_api.py tests/api/test_openapi.py tests/research/test_criteria.py tests/unit/test_documents.py
    tests/research/test_obedient.py tests/chat/test_draft_survives.py tests/research/test_context.py tests/api/test_counts.py
    tests/unit/test_exports.py tests/jobs/test_steering.py tests/jobs/test_bad_input.py tests/jobs/test_chaos.py
    tests/api/test_run.py tests/jobs/test_cases.py tests/jobs/test_judge.py tests/unit/test_neighbouring_words.py
    tests/edge/test_networks.py tests/edge/test_ways_inside.py tests/api/test_docs.py tests/api/test_durable_jobs.py
    tests/api/test_keys.py tests/edge/test_web_world.py tests/edge/test_library.py tests/research/test_truth.py
""".split()
"""Files that take longest, measured; what begins last must not be what ends last."""
HEAVY, MANY = ("litellm", "chainlit.server", "agents.api.routes", "tests.warmed"), 100
"""Libraries of whole seconds, loaded before the workers part where so many files are run, those of the chat among them."""
STALLED_S = 240
"""Seconds without a word of any worker after which the run is given up: twice what one test may take."""
BROWSERS = 2
"""Workers that begin with the browser's files."""


def start_server_of_processes():
    """Start what test processes are forked from (`tests/forked.py`): it imports while this process looks for tests."""
    import tests.forked  # noqa: F401 - says what is to be imported there

    forkserver.ensure_running()


class Queue:
    """Numbers of files that are still to be run: of all workers that ask, each gets another."""

    def __init__(self, numbers):
        self.reading, writing = os.pipe()
        os.write(writing, b"".join(number.to_bytes(4, "big") for number in numbers))
        os.close(writing)

    def next(self):
        piece = os.read(self.reading, 4)
        return int.from_bytes(piece, "big") if piece else None


class Told:
    """A worker's way back: reports, a line each. Of a test that passed only its call is told, and that it has ended."""

    def __init__(self, config, descriptor):
        self.config, self.descriptor = config, descriptor

    def pytest_runtest_logreport(self, report):
        if report.passed and report.when == "setup":
            return
        told = {"nodeid": report.nodeid, "when": report.when, "outcome": report.outcome}
        if report.passed:
            report.keywords = {}  # some forty, and nobody looks at them
        if not report.passed or report.when == "call":
            told = report._to_json()
        data = json.dumps(told).encode() + b"\n"
        while data:
            data = data[os.write(self.descriptor, data) :]


def drain(session, files, queue, name, descriptor):
    """Be a worker: run the files of a queue until there are none, and end."""
    config, manager = session.config, session.config.pluginmanager
    code = 0
    try:
        manager.unregister(name="terminalreporter")
        manager.register(Told(config, descriptor))
        capture = manager.getplugin("capturemanager")
        # What is caught here is no other worker's business.
        capture.stop_global_capturing()
        capture.start_global_capturing()
        # Folders of its own, of tests and of what was imported already.
        factory = config._tmp_path_factory
        factory._basetemp = factory.getbasetemp() / name
        factory._basetemp.mkdir()
        os.environ["DOSSIER_DATA_DIR"] = str(Path(os.environ["DOSSIER_DATA_DIR"]) / name)
        forkserver._forkserver.ensure_running = lambda: None  # another's child: it can't be waited for from here
        following = queue.next()
        while following is not None:
            items, following = files[following], queue.next()
            after = files[following][0] if following is not None else None
            for item, next_item in zip(items, [*items[1:], after], strict=True):
                config.hook.pytest_runtest_protocol(item=item, nextitem=next_item)
        capture.stop_global_capturing()
    except BaseException:
        code = 1
        os.write(2, traceback.format_exc().encode())
    for child in active_children():
        child.kill()
    sys.stdout.flush()
    os._exit(code)


def worker(session, files, queues, name, descriptor):
    """Run one queue after the other, each in a process of its own."""
    for number, queue in enumerate(queues):
        if (pid := os.fork()) == 0:
            drain(session, files, queue, f"{name}-{number}", descriptor)
        os.waitpid(pid, 0)
    os._exit(0)


def run(session, many):
    """Run what was found, and tell of it as if it had been run here."""
    by_file = {}
    for item in session.items:
        by_file.setdefault(item.nodeid.split("::")[0], []).append(item)
    names = sorted(by_file, key=lambda name: LONGEST.index(name) if name in LONGEST else len(LONGEST))
    files = [by_file[name] for name in names]
    in_browser = [number for number, name in enumerate(names) if name.startswith("tests/browser/")]
    browser, rest = Queue(in_browser), Queue([number for number in range(len(files)) if number not in in_browser])
    session.config._tmp_path_factory.getbasetemp()
    if "tests.forked" in sys.modules:
        start_server_of_processes()  # one for all workers
    if len(files) > MANY and any(name.startswith("tests/chat/") for name in names):
        for name in HEAVY:  # every worker would load them for its first test that needs them
            importlib.import_module(name)
    gc.freeze()  # these too: no worker goes through them again
    chosen, running = selectors.DefaultSelector(), {}
    for number in range(many):
        reading, writing = os.pipe()
        if (pid := os.fork()) == 0:
            worker(session, files, [browser, rest] if number < BROWSERS else [rest], f"w{number}", writing)
        os.close(writing)
        chosen.register(reading, selectors.EVENT_READ, number)
        running[reading] = (pid, b"")
    done, hook = set(), session.config.hook
    try:
        while running:
            if not (told := chosen.select(STALLED_S)):
                # Such as a library whose threads were started before the fork: a worker has none of them, and waits for ever.
                session.shouldfail = f"no test of any worker ended in {STALLED_S} s"
                break
            for key, _ in told:
                pid, before = running[key.fd]
                data = os.read(key.fd, 1 << 20)
                *lines, left = (before + data).split(b"\n")
                running[key.fd] = (pid, left)
                for line in lines:
                    told = json.loads(line)
                    if told["when"] == "teardown":
                        done.add(told["nodeid"])
                        if told["outcome"] == "passed":
                            continue
                    report = pytest.TestReport._from_json(told)
                    if isinstance(report.longrepr, list):  # of a skipped test: file, line, reason
                        report.longrepr = tuple(report.longrepr)
                    hook.pytest_runtest_logreport(report=report)
                if not data:
                    chosen.unregister(key.fd)
                    os.close(key.fd)
                    os.waitpid(running.pop(key.fd)[0], 0)
            if session.shouldfail:
                raise session.Failed(session.shouldfail)
    finally:
        for pid, _ in running.values():
            os.kill(pid, 9)
    if lost := [item.nodeid for item in session.items if item.nodeid not in done]:
        session.shouldfail = f"{len(lost)} tests have no end, since a worker died: {', '.join(lost[:5])}"
        raise session.Failed(session.shouldfail)
    return True


def runtestloop(session):
    many = session.config.getoption("--workers")
    if many < 2 or session.config.option.collectonly or session.testsfailed or not hasattr(os, "fork"):
        return None
    return run(session, many)


pytest_runtestloop = pytest.hookimpl(tryfirst=True)(runtestloop)
