"""Who can use it: no serious finding of axe, no sideways scroll at 360 px and at 200 %, light and dark."""

from pathlib import Path

import pytest

from tests.browser.conftest import Tab
from tests.browser.test_chat import BROAD, FEASIBLE, PHRASE, QUOTE_LINK
from tests.browser.test_files import NOTE, SCAN

AXE = Path(__file__).with_name("vendor") / "axe.min.js"


RUN = """
async only => {
  const result = await axe.run(document, {resultTypes: ['violations'], runOnly: only});
  return result.violations.filter(one => ['serious', 'critical'].includes(one.impact))
    .map(one => [one.id, one.nodes.slice(0, 3).map(node => node.html.slice(0, 160))]);
}
"""
LEVELS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa")
SHADES = ("color-contrast", "link-in-text-block")
"""The rules that ask how something is coloured: of the same screens in the dark no other can say anything new."""


def findings(page, only=LEVELS):
    """Serious and critical findings, each with the first places it was found at."""
    if not page.page.evaluate("'axe' in window"):
        page.page.evaluate(AXE.read_text("utf-8"))
    return dict(page.page.evaluate(RUN, list(only)))


SIZES = {"phone": (360, 740), "twice as large": (640, 400)}
WIDTH, HEIGHT = 1280, 900


def sideways(page, screen):
    """Where a screen is wider than its window, at each size; and its cards, whose overflow would be cut off."""
    found = {}
    for name, (width, height) in SIZES.items():
        page.page.set_viewport_size({"width": width, "height": height})
        page.faded()
        cards = page.page.evaluate(
            "[...document.querySelectorAll('.ds-card')].map(e => e.scrollWidth - e.clientWidth).filter(n => n > 1)"
        )
        if page.wide() > 0 or cards:
            found[f"{screen}, {name}"] = (page.wide(), cards)
    page.page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    page.faded()
    return found


RECOLOURED = """
now => {
  const root = document.documentElement;
  root.classList.remove('light', 'dark');
  root.classList.add(now);
  for (const [name, value] of Object.entries(window.theme[now])) root.style.setProperty(name, value);
}
"""
"""What the library of the chat does when a page opens, or when its button for the colours is used."""


def coloured(page, scheme):
    page.page.emulate_media(color_scheme=scheme)
    page.page.evaluate(RECOLOURED, scheme)
    page.faded()


def looked_at(page, screen):
    """What is wrong with a screen: by all rules in the light, by those of colours in the dark."""
    page.faded()
    found = {f"{screen}, light": findings(page)}
    coloured(page, "dark")
    found[f"{screen}, dark"] = findings(page, SHADES)
    coloured(page, "light")
    return {where: what for where, what in found.items() if what}


@pytest.mark.timeout(240)
def test_the_main_screens_suit_axe_in_light_and_dark_and_nothing_scrolls_sideways_on_a_phone_or_at_twice_the_size(
    browser, server, shots
):
    page = Tab(browser, server, shots, width=WIDTH, height=HEIGHT)
    page.page.emulate_media(color_scheme="light")
    page.open()
    page.sees("Leaves this computer")
    found, wide = looked_at(page, "first"), sideways(page, "first")
    page.page.locator("#chat-settings-open-modal").click()
    page.page.get_by_role("dialog").get_by_role("button", name="Confirm").wait_for()
    page.faded()
    found |= looked_at(page, "settings")
    page.page.keyboard.press("Escape")
    page.page.get_by_role("dialog").wait_for(state="detached")
    page.drops(str(SCAN), str(NOTE))
    page.sees("was not added: it is a scan without text.")
    found |= looked_at(page, "files")
    page.say(BROAD)
    page.page.wait_for_selector(".ds-opt")
    found |= looked_at(page, "scope")
    wide |= sideways(page, "scope")
    page.begins_anew()  # beside a file of one's own the samples are not searched
    page.drafts(FEASIBLE)
    found |= looked_at(page, "contract")
    wide |= sideways(page, "contract")
    server.pace(60.0)  # it stands still while it is looked at
    page.say(PHRASE)
    page.page.wait_for_selector(".ds-nd")
    found |= looked_at(page, "live")
    wide |= sideways(page, "live")
    server.pace(0)
    page.reads()
    page.page.locator(QUOTE_LINK).first.click()
    page.page.locator(".ds-pop mark").wait_for()
    page.faded()
    found |= looked_at(page, "report and quote")
    page.page.keyboard.press("Escape")
    wide |= sideways(page, "report")
    page.page.get_by_role("button", name="Evidence").click()
    page.page.locator(".ds-src").first.wait_for()
    found |= looked_at(page, "panel")
    page.page.set_viewport_size({"width": 360, "height": 740})
    page.page.locator("#side-view-title button, [aria-label='Close'], #side-view-title").first.press("Enter")
    page.page.locator(QUOTE_LINK).first.click()
    page.page.locator(".ds-pop-sheet mark").wait_for()
    wide |= {"quote": page.wide()} if page.wide() > 0 else {}
    page.close()
    assert (found, wide) == ({}, {})


SHIFTS = """
window.moved = []; window.slow = 0;
new PerformanceObserver(list => { for (const one of list.getEntries())
  if (!one.hadRecentInput) window.moved.push([one.value, one.startTime, one.sources.map(s => s.node?.className || s.node?.nodeName || '').join(' | ')]) })
  .observe({type: 'layout-shift', buffered: true});
new PerformanceObserver(list => { for (const one of list.getEntries())
  if (one.interactionId) window.slow = Math.max(window.slow, one.duration) })
  .observe({type: 'event', durationThreshold: 16, buffered: true});
"""
"""The web's own measure of what moves by itself, and of how long a page takes to show what a key or a click does."""

YARDSTICK = """
async () => { const took = [];
  for (let n = 0; n < 7; n++) { const began = performance.now();
    const box = document.createElement('div');
    for (let i = 0; i < 1500; i++) { const row = document.createElement('p'); row.textContent = 'word '.repeat(12); box.append(row) }
    document.body.append(box); box.offsetHeight; await new Promise(requestAnimationFrame); box.remove();
    took.push(performance.now() - began) }
  return took.sort((a, b) => a - b)[3] }
"""
"""Work that takes some 60 ms on a machine that does nothing else (two cores of 2026): it makes a bound in milliseconds one
that a slower or busier machine can be held to."""
USUAL_MS = 60.0


def moved(page):
    """The cumulative layout shift: the worst five seconds with less than one second between two shifts."""
    worst = run = 0.0
    began = last = -1e9
    for value, at, _ in page.evaluate("window.moved"):
        if at - last > 1_000 or at - began > 5_000:
            run, began = 0.0, at
        run, last = run + value, at
        worst = max(worst, run)
    return worst


@pytest.mark.parametrize("width", [1280, 360])
def test_nothing_jumps_over_a_whole_run_and_what_is_typed_is_shown_at_once(tab, width):
    page = tab(width=width, height=900 if width > 400 else 740)
    page.page.emulate_media(reduced_motion="no-preference")
    page.page.evaluate(SHIFTS)
    page.sees("Leaves this computer")
    before = page.page.evaluate(YARDSTICK)
    page.drafts(FEASIBLE)
    page.say(PHRASE)
    page.page.wait_for_selector("[data-job=running]")
    page.page.evaluate("window.moved = []")
    page.say("how is it going?")
    page.reads()
    page.page.wait_for_timeout(1_500)
    page.page.locator(QUOTE_LINK).first.click()
    page.page.locator(".ds-pop mark").wait_for()
    shift, slow = moved(page.page), page.page.evaluate("window.slow")
    pace = max(USUAL_MS, before, page.page.evaluate(YARDSTICK)) / USUAL_MS
    worst = sorted(page.page.evaluate("window.moved"), reverse=True)[:5]
    page.page.emulate_media(reduced_motion="reduce")
    assert shift <= 0.05, worst
    # 200 ms is what is wanted of a machine that does nothing else, and as much more as this one is slower at the moment.
    assert slow <= 200 * pace, (slow, pace)
