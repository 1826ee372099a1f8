"""The chat in a real browser, on a real server with the offline engine and the sample library."""

import json
import re
import signal
import time
import urllib.request

from tests.browser.conftest import PACE_S, ROOT, Server, Tab

STARTERS = [one["message"] for one in json.loads((ROOT / "examples" / "starters.json").read_text("utf-8"))["starters"]]
FEASIBLE, BROAD = STARTERS[0], STARTERS[1]
PHRASE = "Authorized to execute"
QUOTE_LINK = ".ds-article a[href*='/quote/']"


def jobs_of(server):
    with urllib.request.urlopen(f"{server.url}/research/jobs", timeout=5) as answer:
        return json.load(answer)["jobs"]


def test_the_server_says_what_leaves_the_computer_as_it_starts(server):
    end = time.monotonic() + 30
    while "Nothing leaves this computer." not in server.log() and time.monotonic() < end:
        time.sleep(0.1)  # it is said when it is known, which may be after the first page
    assert "Nothing leaves this computer." in server.log()


def test_from_a_broad_question_to_a_quote_in_its_source(server, tab, shots):
    before = len(jobs_of(server))
    first = tab()
    first.sees("What do you need to know?")
    first.sees("Leaves this computer")
    assert first.page.locator(".ds-setup").inner_text().count("Nothing") == 1
    assert first.page.locator("button", has_text="A question that is too broad").count() == 1

    first.say(BROAD)
    first.sees("I can't research that well as one question yet.")
    first.page.wait_for_selector(".ds-opt")
    assert first.page.locator(".ds-opt").count() >= 2

    first.say(PHRASE)
    first.sees("Nothing was searched and nothing was spent.")

    first.say(FEASIBLE)
    first.sees("It binds exactly this draft.")
    first.page.wait_for_selector(".ds-contract")

    first.say(f"What happens when I type {PHRASE}?")
    first.sees("Not started. Type only:")
    assert len(jobs_of(server)) == before

    first.say("10 minutes")
    first.sees("10 minutes instead of 5 minutes.")
    first.sees("A later draft took its place.")

    server.pace(60.0)  # it is under way until all has been said, however slow the machine
    first.say(PHRASE)
    first.page.wait_for_selector("[data-job=running]")
    first.say("how is it going?")
    first.sees("parts have delivered")

    first.say(PHRASE)
    first.sees("Nothing was started twice.")
    assert len(jobs_of(server)) == before + 1

    server.pace(PACE_S)
    first.page.reload()
    first.page.wait_for_selector("[data-job]")
    second = Tab(first.context, server, shots)
    second.open(first.page.url.removeprefix(server.url))

    for tab_ in (first, second):
        tab_.page.wait_for_selector(QUOTE_LINK, timeout=90_000)
    second.close()

    chip = first.page.locator(QUOTE_LINK).first
    chip.scroll_into_view_if_needed()
    chip.click()
    popup = first.page.locator(".ds-pop mark")
    popup.wait_for()
    assert len(popup.inner_text()) > 10

    with first.context.expect_page() as opened:
        first.page.locator(".ds-pop a", has_text="Open in context").click()
    source = opened.value
    marked = source.locator("#quote")
    marked.wait_for()
    assert marked.is_visible()

    first.page.bring_to_front()
    first.page.reload()
    first.page.wait_for_selector(QUOTE_LINK)
    first.page.wait_for_selector("[data-job=done]")
    first.page.wait_for_selector(".ds-report[data-report=here]")
    first.page.wait_for_timeout(1800)  # an old chat opens at its last question, and stays there
    top = first.page.locator("[data-step-type=user_message]").last.bounding_box()["y"]
    assert 0 <= top < 320
    assert first.outside() == {}
    assert "ERROR" not in server.log()


def test_a_narrower_question_is_picked_on_its_card(tab):
    page = tab()
    page.say(BROAD)
    page.page.locator(".ds-opt").first.click()
    page.page.get_by_role("button", name="Use these").click()
    page.page.wait_for_selector(".ds-contract")


def test_a_run_is_stopped_by_a_word(tab, server):
    server.pace(60.0)  # it is under way when the word comes, however fast the machine
    page = tab()
    page.say(FEASIBLE)
    page.page.wait_for_selector(".ds-contract")
    page.say(PHRASE)
    page.page.wait_for_selector("[data-job=running]")
    page.say("stop")
    page.sees("no report was written")
    page.page.wait_for_selector("[data-job=cancelled]")
    server.pace(0)


def test_on_a_phone_the_message_can_be_sent(tab):
    page = tab(width=360, height=740)
    page.say(FEASIBLE)
    page.page.wait_for_selector(".ds-contract")
    page.page.locator("#chat-input").click()
    page.page.keyboard.insert_text("6 minutes")
    page.page.locator("#chat-submit:not([disabled])").wait_for()
    box = page.page.locator("#chat-submit").bounding_box()
    assert page.wide() <= 0
    assert box is not None
    assert box["x"] + box["width"] <= 360 - 8
    page.page.locator("#chat-submit").click()
    page.sees("6 minutes instead of 5 minutes.")


def test_a_killed_server_goes_on_with_its_run_and_one_asked_to_stop_stops_within_seconds(browser, tmp_path, shots):
    server = Server(tmp_path, slow_s=2.0).start()
    try:
        page = Tab(browser, server, shots).open()
        page.say(FEASIBLE)
        page.page.wait_for_selector(".ds-contract")
        page.say(PHRASE)
        page.page.wait_for_selector("[data-job=running]")
        page.page.wait_for_timeout(1000)
        thread = re.sub(r"^https?://[^/]+", "", page.page.url)
        server.stop(signal.SIGKILL)
        page.page.locator("#chat-input").click()
        page.page.keyboard.insert_text("how is it going?")
        page.page.keyboard.press("Enter")
        # Enter never silently does nothing, and what was typed stays.
        page.sees("Not sent yet")
        assert page.page.locator("#chat-input").input_value() == "how is it going?"
        server.start()

        page.open(thread)
        page.page.wait_for_selector("[data-job=running], [data-job=done]")
        assert page.page.locator("[data-job=running]").count() + page.page.locator("[data-job=done]").count() == 1

        server.pace(0)
        page.page.wait_for_selector("[data-job=done]", timeout=90_000)
        page.sees("References")

        # And a server that is asked to stop in the middle of a run stops within seconds.
        server.pace(60.0)
        page.begins_anew().starts(FEASIBLE)
        assert server.stop() in (0, -signal.SIGTERM)
        page.close()
        assert "Traceback" not in server.log()
    finally:
        if server.process.poll() is None:
            server.stop()
