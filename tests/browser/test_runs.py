"""A run watched in a real browser: steered branch by branch, guided, cut off, opened again, deleted."""

import json
import time

import pytest

from tests.browser.conftest import Tab
from tests.browser.test_chat import FEASIBLE, PHRASE
from tests.browser.test_reach import USUAL_MS, YARDSTICK, findings


def node(tab, number):
    return tab.page.locator(".ds-nd").filter(has=tab.page.locator(".ds-nn", has_text=f"{number} "))


def test_a_branch_is_reached_by_keyboard_and_stopped_and_the_report_says_so(tab, server):
    # As long as it takes to look around; hurried on at the end.
    server.pace(60.0)
    page = tab().starts(FEASIBLE)
    branch = node(page, 2)
    branch.wait_for()
    page.page.get_by_role("tree", name="Research tree", exact=True).get_by_role("treeitem").first.focus()
    page.page.keyboard.press("ArrowDown")
    assert page.page.evaluate("document.activeElement.dataset.node").endswith("/1")
    page.page.keyboard.press("Enter")
    page.page.wait_for_selector(".ds-more")
    page.page.keyboard.press("s")
    page.sees("Stop part 2?")
    page.page.keyboard.press("ArrowUp")
    page.page.get_by_text("Stop part 2?").wait_for(state="detached")
    branch.hover()
    branch.get_by_role("button", name="Stop part 2").click()
    page.sees("Stop part 2? What it has found is kept")
    page.page.get_by_role("button", name="Stop it").click()

    page.page.wait_for_selector(".ds-nd[data-state=stopped]")
    page.sees("Change 1 to the contract: branch 2")
    branch.hover()
    branch.get_by_role("button", name="Try part 2 again").click()
    page.sees("Change 2 to the contract: branch 2")
    page.page.wait_for_selector(".ds-nd[data-state=retrying]")
    page.say("stop 2")
    page.sees("Noted as change 3 to the contract: part 2")
    page.say("Prefer the monitoring reports")
    page.sees("Noted as change 4: Prefer the monitoring reports.")
    page.say("deep")
    page.sees("a contract that was bound may only be narrowed")
    page.say("stop branch 7")
    page.sees("There is no part 7 in this run")
    page.say("finish branch 1 now")
    page.sees("Noted as change 5 to the contract: no new searches in part 1.")

    server.pace(0)
    page.reads()
    assert "Partial report" in page.page.locator(".ds-report header").inner_text()
    page.sees("1 stopped")


def test_a_paused_run_says_so_on_its_card_and_goes_on_at_a_click(tab, server):
    server.pace(8.0)
    page = tab().starts(FEASIBLE)
    page.say("pause")
    rests = page.page.locator(".ds-run[data-job=blocked] .ds-note")
    rests.wait_for()
    assert "Paused. Nothing is searched or paid for until you resume." in rests.inner_text()
    assert page.page.locator("#chat-input").get_attribute("placeholder").startswith("Ask how it is going")
    page.page.locator(".ds-run").last.scroll_into_view_if_needed()
    rests.get_by_role("button", name="Resume").click()

    server.pace(0)
    page.reads()


def test_a_stopped_run_writes_from_what_it_found_at_a_click(tab, server):
    server.pace(1.0, writing=20.0)
    page = tab(width=360, height=780).starts(FEASIBLE)
    page.page.wait_for_function("[...document.querySelectorAll('.ds-feed')].some(f => /[1-9] fact/.test(f.innerText))")
    page.page.locator(".ds-card, .ds-strip").get_by_role("button", name="Stop", exact=False).first.click()
    page.page.get_by_role("button", name="Stop run").last.click()
    page.page.wait_for_selector("[data-job=cancelled]")
    page.sees("What was found is kept.")
    page.page.get_by_role("button", name="Write from these findings").last.scroll_into_view_if_needed()
    assert page.page.get_by_role("button", name="Try again", exact=True).last.is_visible()
    server.pace(0)
    page.page.get_by_role("button", name="Write from these findings").last.click()
    page.reads()
    assert page.page.locator("[data-step-type=user_message]").last.inner_text() == "Write from these findings"
    moved = page.page.locator("[data-job=moved]")
    moved.get_by_role("button", name="Show").click()
    page.page.locator("[data-job=done]").first.wait_for()
    assert page.page.locator("[data-job=done]").count() == 1  # open, or folded to a line where nothing is missing
    assert findings(page) == {}


@pytest.mark.parametrize("cut", [0, 300, "once it is shown"])
def test_a_connection_that_is_cut_leaves_the_chat_where_it_is_and_its_return_shows_the_state(tab, server, cut):
    server.pace(1.0)
    page = tab().drafts(FEASIBLE)
    page.say(PHRASE)
    if cut == "once it is shown":
        page.page.wait_for_selector(".ds-run[data-link=live]")
    else:
        page.page.wait_for_timeout(cut)
    page.context.set_offline(True)
    page.page.wait_for_timeout(1000)
    page.context.set_offline(False)
    began = time.monotonic()
    page.page.wait_for_selector(".ds-run[data-link=live], [data-job=done]")
    back_s = time.monotonic() - began
    server.pace(0)
    page.reads()
    assert page.page.locator(".ds-report").count() == 1
    assert "/thread/" in page.page.url
    # A second on a machine that does nothing else; the figures are measured by tests/bench/chat.py.
    pace = max(1.0, page.page.evaluate(YARDSTICK) / USUAL_MS)
    assert back_s < 5 * pace or cut != "once it is shown"


def test_a_card_whose_script_did_not_come_for_a_cut_connection_is_asked_for_again(tab, server):
    page, cut = tab(), []

    def fails_once(route):
        cut.append(route.request.url)
        route.abort("internetdisconnected") if len(cut) == 1 else route.continue_()

    page.page.route("**/public/elements/*.jsx", fails_once)
    page.drafts(FEASIBLE)
    assert len(cut) > 1


def test_a_run_that_is_deleted_while_watched_is_said_to_be_gone(tab, server):
    server.pace(60.0)
    page = tab()
    gone = []
    page.page.route(
        "**/research/jobs/*/tree",
        lambda route: route.fulfill(status=404, body="{}") if gone else route.continue_(),
    )
    page.starts(FEASIBLE)
    gone.append(True)
    page.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.page.wait_for_selector(".ds-run, [data-job=gone]")
    page.page.route("**/research/jobs/*/events*", lambda route: route.fulfill(status=404, body="{}"))
    page.page.reload()
    page.page.wait_for_selector("[data-job=gone]")
    page.sees("This run is no longer on the server.")


def test_a_chat_that_is_deleted_takes_its_run_with_it_and_does_not_come_back(tab, server):
    server.pace(60.0)
    page = tab().starts(FEASIBLE)
    thread = page.page.url.rpartition("/")[2]
    answer = page.page.evaluate(
        "id => fetch('/project/thread', {method: 'DELETE', headers: {'Content-Type': 'application/json'},"
        " body: JSON.stringify({threadId: id})}).then(r => r.status)",
        thread,
    )
    assert answer == 200
    job = page.page.evaluate("fetch('/research/jobs?limit=1').then(r => r.json()).then(d => d.jobs[0].job_id)")
    # It was stopped before the answer came: nothing of it goes on.
    assert page.page.evaluate(f"fetch('/research/jobs/{job}').then(r => r.json()).then(d => d.status)") == "cancelled"
    found = page.page.evaluate(
        "fetch('/project/threads', {method: 'POST', headers: {'Content-Type': 'application/json'},"
        " body: JSON.stringify({pagination: {first: 50}, filter: {}})}).then(r => r.json())"
    )
    assert thread not in json.dumps(found)


def test_a_chat_opened_at_its_address_stays_that_chat_when_its_first_connection_comes_last(tab, server, browser, shots):
    first = tab().drafts(FEASIBLE)
    second = Tab(browser, server, shots)
    seen, sockets = [], []

    def hold(route):
        seen.append(route)
        if len(seen) == 1:  # the one that was begun before the page knew which chat it shows
            second.page.wait_for_timeout(1_500)
        route.continue_()

    second.page.on("websocket", lambda one: sockets.append(one))
    second.page.route("**/set-session-cookie", hold)
    second.open(first.page.url.removeprefix(server.url))
    for _ in range(300):
        if len(sockets) > 1:
            break
        second.page.wait_for_timeout(100)
    second.page.wait_for_timeout(500)

    second.say("10 minutes")

    second.sees("A later draft took its place.")
    assert second.page.url == first.page.url
    second.close()


def test_a_report_that_comes_at_once_stays_in_sight(tab, server):
    server.pace(0)
    page = tab(width=360, height=740).drafts(FEASIBLE)
    page.say("Authorized to execute")
    page.reads()

    page.page.wait_for_timeout(3500)  # until then a question that was sent is kept in sight
    top = page.page.locator(".ds-report").evaluate("report => report.getBoundingClientRect().top")

    assert 0 <= top < 200
