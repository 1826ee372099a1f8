"""Measure the chat's figures on this machine; prints a table, asserts nothing.

A real server and a real browser: first paint, a report of 40 sources, a tree of 300 branches under 20 events a second,
and what a page shows after its connection was cut.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import sync_playwright  # noqa: E402

from tests.browser.conftest import Server, Tab  # noqa: E402

QUESTION = json.loads((ROOT / "examples" / "starters.json").read_text("utf-8"))["starters"][0]["message"]
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN"


class BenchServer(Server):
    """The same server, started by a module of its own, in a process that has loaded nothing before: what it takes is measured."""

    module = "tests.bench.chat_server"

    def launched(self, env):
        with (self.folder / "server.log").open("ab") as log:
            return subprocess.Popen([sys.executable, "-m", self.module], cwd=ROOT, env=env, stdout=log, stderr=log)


def cpu_s(pid):
    """Seconds of processor time a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def busy_s(session):
    """Seconds that the page's main thread has worked."""
    metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    return metrics["TaskDuration"]


def begun(browser, server, shots):
    """A page whose run was authorized."""
    page = Tab(browser, server, shots).open().drafts(QUESTION)
    page.say("Authorized to execute")
    return page


def first_paint(browser, server, shots, runs=5):
    """Seconds to the first contentful paint and to the composer, of pages that have nothing cached."""
    paints, ready = [], []
    for _ in range(runs):
        page = Tab(browser, server, shots)
        began = time.perf_counter()
        page.page.goto(server.url)
        page.page.wait_for_selector("#chat-input")
        ready.append(time.perf_counter() - began)
        page.page.wait_for_timeout(300)
        paints.append(page.page.evaluate(PAINT) / 1000)
        page.context.close()
    return median(paints), median(ready)


def big_report(browser, server, shots, sources):
    """Seconds until a report with so many sources is drawn, from the moment that its chat is opened: page load included."""
    page = begun(browser, server, shots)
    page.page.wait_for_selector(".ds-report[data-report=here]", timeout=60_000)
    chip = page.page.locator(".ds-article a[href*='/quote/']").first.get_attribute("href")
    paragraph = "".join(
        f"<p>Sentence {n} of a report says something of the usual length about what was found there.<a href='{chip}'>[{n}]</a> "
        f"<span data-verdict='partly'>A second one qualifies it.</span><a href='{chip}'>[{n}]</a></p>"
        for n in range(1, sources + 1)
    )
    body = {
        "html": f"<h2 id='part-1'>All</h2>{paragraph * 3}", "headings": [], "title": "Many", "grade": "complete",
        "counts": {"sources": sources},
    }  # fmt: skip
    page.page.route("**/report.fragment", lambda route: route.fulfill(json=body))
    took = []
    for _ in range(3):
        began = time.perf_counter()
        page.page.reload(wait_until="commit")
        page.page.wait_for_selector(".ds-report[data-report=here]")
        page.page.locator(".ds-article a[href*='/quote/']").nth(sources * 3).wait_for(state="attached")
        page.page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        took.append(time.perf_counter() - began)
    page.context.close()
    return median(took)


def after_the_end(browser, server, shots):
    """Seconds from the end of a run, as the server has it, to the report in view."""
    page = begun(browser, server, shots)
    page.page.evaluate(
        """() => { window.seen = 0; const look = () => { if (document.querySelector('.ds-report[data-report=here]')) window.seen = Date.now();
        else requestAnimationFrame(look) }; look() }"""
    )
    page.page.wait_for_selector(".ds-report[data-report=here]", timeout=60_000)
    told = page.page.evaluate(
        "fetch('/research/jobs?limit=1').then(r => r.json()).then(d => [Date.parse(d.jobs[0].created), d.jobs[0].seconds])"
    )
    seen = page.page.evaluate("window.seen")
    page.context.close()
    # `created` is given in whole seconds: on average half a second is lost.
    return max(0.0, (seen - told[0]) / 1000 - told[1])


def storm(browser, server, shots, seconds=15):
    """Share of the time that the page's main thread and the server work under many events, with and without a viewer."""
    page = begun(browser, server, shots)
    page.page.locator(".ds-nd").nth(60).wait_for(state="attached")
    page.page.wait_for_timeout(3000)
    session = page.context.new_cdp_session(page.page)
    session.send("Performance.enable")
    rows = page.page.locator(".ds-nd").count()

    def measured():
        worked, served, began = busy_s(session), cpu_s(server.process.pid), time.perf_counter()
        page.page.wait_for_timeout(seconds * 1000)
        took = time.perf_counter() - began
        return (busy_s(session) - worked) / took, (cpu_s(server.process.pid) - served) / took

    busy, with_viewer = measured()
    address = page.page.url
    page.page.goto("about:blank")
    page.page.wait_for_timeout(1500)
    served, began = cpu_s(server.process.pid), time.perf_counter()
    page.page.wait_for_timeout(seconds * 1000)
    without = (cpu_s(server.process.pid) - served) / (time.perf_counter() - began)
    page.page.goto(address)
    page.page.wait_for_selector(".ds-run[data-link=live]")
    cut = []
    for _ in range(3):
        page.context.set_offline(True)
        page.page.wait_for_timeout(2500)
        before = page.page.locator(".ds-feed li").first.inner_text()
        page.context.set_offline(False)
        began = time.perf_counter()
        page.page.wait_for_function(
            "t => document.querySelector('.ds-feed li')?.innerText !== t", arg=before, timeout=20_000
        )
        cut.append(time.perf_counter() - began)
    page.context.close()
    return rows, busy, max(0.0, with_viewer - without), median(cut)


def main():
    """Measure everything and print it."""
    rows = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(args=["--no-sandbox", "--disable-gpu"], executable_path=_chromium())
        shots = Path(folder)
        (shots / "a").mkdir()
        server = BenchServer(shots / "a").start()
        try:
            paint, ready = first_paint(browser, server, shots)
            rows += [("first contentful paint", f"{paint:.2f} s", "2 s"), ("composer ready", f"{ready:.2f} s", "")]
            rows.append(("report in view after the run's end", f"{after_the_end(browser, server, shots):.2f} s", "2 s"))
            for sources in (40, 200):
                took = big_report(browser, server, shots, sources)
                rows.append(
                    (
                        f"report of {sources} sources, page load included",
                        f"{took:.2f} s",
                        "2 s" if sources == 40 else "",
                    )
                )
        finally:
            server.stop()
        (shots / "b").mkdir()
        server = BenchServer(shots / "b", BENCH_NODES="300", BENCH_EVENTS="20").start()
        try:
            shown, busy, viewer, back = storm(browser, server, shots)
            rows.append((f"main thread, {shown} rows, 20 events/s", f"{busy:.0%}", "30 %"))
            rows.append(("server per viewer", f"{viewer:.1%} of a core", "5 %"))
            rows.append(("state shown after a cut connection", f"{back:.2f} s", "1 s"))
        finally:
            server.stop()
        browser.close()
    load = os.getloadavg()[0]
    print(f"{platform.machine()}, {os.cpu_count()} cores, load {load:.1f}, Python {platform.python_version()}\n")
    print("| what | measured | bound |\n| --- | --- | --- |")
    for name, value, bound in rows:
        print(f"| {name} | {value} | {bound} |")


def _chromium():
    import shutil

    return next(
        (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
    )


if __name__ == "__main__":
    main()
