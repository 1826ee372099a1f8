"""`kill -9` at seeded moments: the job is finished by the next process, and nothing finished is paid again."""

import asyncio
import json
import os
import random
import signal
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from agents.contracts.report import Commission
from agents.jobs.database import Database, async_url
from agents.jobs.store import Store
from tests.forked import forked
from tests.jobs import crash_child
from tests.jobs.conftest import until
from tests.jobs.crash_child import team_in
from tests.jobs.postgres import new_database
from tests.scripts import BRIEF

POINTS = (1, 2, 3)
"""Seeds of the moments; on a server the last, since the engine takes up its work in one way wherever it is stored."""
LONG_S = 180
"""Seconds that a job of three gets, which takes five on a machine that does nothing else."""


def child(folder, url=""):
    return forked(folder / "child.log", crash_child.main, folder, url)


def calls(folder):
    path = folder / "calls.jsonl"
    # A line that is still being written is none yet.
    return [json.loads(line) for line in path.read_text().split("\n")[:-1]] if path.exists() else []


def killed_after(folder, ended, url=""):
    """Run a child and kill it once that many calls have ended."""
    process = child(folder, url)
    before = sum(1 for one in calls(folder) if one[0] == "ended")
    began = time.monotonic()
    while process.is_alive() and time.monotonic() - began < LONG_S:
        if sum(1 for one in calls(folder) if one[0] == "ended") - before >= ended:
            os.kill(process.pid, signal.SIGKILL)
            break
        time.sleep(0.005)
    process.join(30)
    return process.exitcode


def finished(folder, url=""):
    process = child(folder, url)
    process.join(LONG_S)
    assert process.exitcode == 0, (folder / "child.log").read_text()[-3000:]
    return asyncio.run(reported(folder, url))


async def reported(folder, url):
    store = Store(Database(async_url(url, folder)))
    (row,) = await store.jobs()
    report = await store.report(row.id)
    await store.database.close()
    return report


def cited(document):
    """Addresses that a reader is led to. Which branch reads a page for all, and so the order, is whichever comes first."""
    urls = {r.n: r.url for r in document.references}
    assert all(n in urls for s in document.sentences for n in s.citations)
    return set(urls.values())


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The same job, left in peace."""
    folder = tmp_path_factory.mktemp("whole")
    return finished(folder), calls(folder)


def check(folder, whole, url, seed):
    document, in_peace = whole
    total = sum(1 for one in in_peace if one[0] == "ended")
    moment = random.Random(seed).randrange(2, total - 2)
    assert killed_after(folder, moment, url) == -signal.SIGKILL
    done_before = Counter(key for what, key, *_ in calls(folder) if what == "ended")

    again = finished(folder, url)

    log = calls(folder)
    pids = list(dict.fromkeys(pid for *_, pid, _ in log))
    repeated = [key for what, key, pid, _ in log if what == "begun" and pid == pids[-1] and key in done_before]
    assert len(pids) == 2
    assert len(repeated) <= 10, repeated
    assert cited(again) == cited(document)
    return repeated


def at_all_points(folder, whole, urls):
    """Side by side: most of the time each of them only waits."""
    points = POINTS[-len(urls) :]
    folders = [folder / str(seed) for seed in points]
    for one in folders:
        one.mkdir()
    with ThreadPoolExecutor(len(points)) as pool:
        list(pool.map(check, folders, [whole] * len(points), urls, points))


@pytest.mark.timeout(400)
def test_a_killed_process_is_followed_by_one_that_finishes_on_sqlite(tmp_path, whole):
    at_all_points(tmp_path, whole, ["", "", ""])


@pytest.mark.timeout(400)
def test_a_killed_process_is_followed_by_one_that_finishes_on_postgresql(tmp_path, whole, server):
    with new_database(server) as url:
        at_all_points(tmp_path, whole, [url])


def test_a_domain_excluded_before_a_kill_stays_excluded_after_it_and_the_report_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("CRASH_EXCLUDE", "b.example")
    assert killed_after(tmp_path, 20) == -signal.SIGKILL
    monkeypatch.delenv("CRASH_EXCLUDE")  # the next process knows it from the store alone

    document = finished(tmp_path)

    assert document.references
    assert not any("b.example" in one.url for one in document.references)
    assert not [key for what, key, *_ in calls(tmp_path) if "read:https://b.example" in key]
    assert [(one.number, one.words) for one in document.changes] == [(1, "without b.example")]
    assert "Nothing of b.example was searched or read." in document.markdown


@pytest.mark.parametrize("after", [8, 16])
async def test_what_one_branch_had_read_before_a_pause_no_other_reads_after_it(tmp_path, after):
    team = team_in(tmp_path)
    await team.open()
    job = await team.commission(Commission(brief=BRIEF))
    await until(lambda: sum(what == "ended" for what, *_ in calls(tmp_path)) >= after, 60)
    await team.jobs.order(job, "pause")
    await team.jobs.order(job, "resume")
    await asyncio.wait_for(job.wait(), 100)
    await team.close()

    done = [key for what, key, *_ in calls(tmp_path) if what == "ended"]
    assert (job.status, sorted(done)) == ("done", sorted(set(done)))
