"""Own files and settings in a real browser: dropped in, named, cited by page; set once, there again after a reload."""

from tests.browser.conftest import ROOT
from tests.browser.test_chat import FEASIBLE, PHRASE, QUOTE_LINK

NOTE = ROOT / "examples" / "library" / "smi-temperature-note-2025.pdf"
SCAN = ROOT / "tests" / "data" / "cases" / "C29" / "scanned.pdf"
WARM = "On how many days was the water at Inner Harbour Flats warmer than 22 degrees in the summer of 2022?"


def test_a_pdf_that_is_dropped_in_is_cited_by_its_page(tab, server):
    page = tab()
    page.drops(str(NOTE), str(SCAN))
    page.sees("“scanned.pdf” was not added: it is a scan without text.")
    page.sees("smi-temperature-note-2025.pdf")
    assert page.page.locator("[data-step-type=user_message] .bg-accent:visible").count() == 0

    page.drafts(WARM)
    limits = page.card.inner_text()
    assert "2 pages" in limits.partition("smi-temperature-note-2025.pdf")[2]
    assert "invented" not in limits
    page.say(PHRASE)
    page.reads()
    page.page.locator(QUOTE_LINK).first.click()
    page.page.locator(".ds-pop mark").wait_for()
    said = page.page.locator(".ds-pop").inner_text()
    assert "From your files" in said
    assert "p. 1" in said
    with page.context.expect_page() as opened:
        page.page.locator(".ds-pop a", has_text="Open in context").click()
    opened.value.locator("mark#quote, #quote mark, #quote").first.wait_for()

    page.open(page.page.url.removeprefix(server.url))
    page.page.wait_for_selector(QUOTE_LINK)
    page.page.locator(".inline-file", has_text="scanned.pdf").wait_for()
    assert page.outside() == {}


def test_settings_are_set_once_and_hold_after_a_reload(tab):
    page = tab()
    page.page.locator("#chat-settings-open-modal").click()
    dialog = page.page.get_by_role("dialog")
    dialog.locator("#time").click()
    page.page.get_by_role("option", name="10 minutes").click()
    dialog.locator("#exclude").fill("bargain-press.example")
    dialog.get_by_role("button", name="Confirm").click()
    page.sees("It holds from your next question on")
    try:
        page.open()
        page.drafts(FEASIBLE)
        card = page.card.inner_text()
        assert "10 min" in card
        assert "never bargain-press.example" in card
    finally:
        page.page.locator("#chat-settings-open-modal").click()
        dialog.locator("#time").click()
        page.page.get_by_role("option", name="Default").click()
        dialog.locator("#exclude").fill("")
        dialog.get_by_role("button", name="Confirm").click()
        page.sees("It holds from your next question on")
