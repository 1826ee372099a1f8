"""The contract in a real browser: edited on the card and by talking, undone, in two tabs, bound by the phrase."""

from tests.browser.conftest import Tab
from tests.browser.test_chat import FEASIBLE, PHRASE

TWO = "How much carbon do the planted meadows bury each year? And what does restoring one hectare cost?"


def row(tab, text):
    return tab.card.get_by_role("treeitem").filter(has_text=text)


def draft(tab, number):
    tab.page.locator(".ds-contract[data-contract=draft]", has_text=f"Draft {number}").wait_for()


def hash_of(tab):
    return tab.card.locator("header .ds-mono").get_attribute("title")


def test_branches_are_edited_on_the_card_and_the_phrase_binds_what_it_shows(tab, server):
    page = tab().drafts(FEASIBLE)
    seen = {hash_of(page)}
    before = page.card.get_by_role("treeitem").count()

    page.card.get_by_role("button", name="Add a part").click()
    page.page.keyboard.insert_text("What did planting cost?")
    page.page.keyboard.press("Enter")
    draft(page, 2)
    assert "added “What did planting cost?”" in page.card.inner_text()
    seen.add(hash_of(page))

    added = row(page, "What did planting cost?")
    added.hover()
    added.get_by_role("button", name="Rename").click()
    page.page.keyboard.insert_text("Costs of planting")
    page.page.keyboard.press("Enter")
    draft(page, 3)
    renamed = row(page, "Costs of planting")
    page.page.wait_for_function("document.activeElement.dataset.key")  # the card gives the focus back to the edited row
    renamed.focus()
    page.page.keyboard.press("Alt+ArrowUp")
    draft(page, 4)
    assert page.card.get_by_role("treeitem").nth(before - 1).inner_text().count("Costs of planting")
    first = page.card.get_by_role("treeitem").first
    first.focus()
    page.page.keyboard.press("Delete")
    draft(page, 5)
    assert page.card.get_by_role("treeitem").count() == before
    seen.add(hash_of(page))

    page.card.get_by_role("button", name="Undo").click()
    draft(page, 6)
    assert page.card.get_by_role("treeitem").count() == before + 1
    bound = hash_of(page)
    assert len(seen) == 3

    page.say(PHRASE)
    page.page.wait_for_selector(".ds-contract[data-contract=bound]")
    page.sees("Your phrase bound exactly this draft")
    assert page.page.locator(".ds-contract .ds-mono").first.get_attribute("title") == bound
    assert page.page.locator(".ds-contract .ds-tools").count() == 0
    page.page.wait_for_selector(".ds-article", timeout=30_000)
    job = page.page.evaluate("fetch('/research/jobs?limit=1').then(r => r.json()).then(d => d.jobs[0].job_id)")
    kept = page.page.evaluate(f"fetch('/research/jobs/{job}').then(r => r.json())")
    assert kept["contract"]["hash"] == bound
    assert kept["contract"]["plans"][0]["root"]["children"][-2]["title"] == "Costs of planting"


def test_limits_are_edited_on_the_card_and_what_cannot_be_read_is_said_there(tab):
    page = tab().drafts(FEASIBLE)
    card = page.card
    card.get_by_role("button", name="Years:").click()
    page.page.keyboard.insert_text("next week")
    page.page.keyboard.press("Enter")
    page.sees("I can't read “next week” as a change of the limits. Nothing was changed.")
    assert "Draft 1" in card.inner_text()
    page.page.keyboard.press("Escape")

    card.get_by_role("button", name="Minutes, or unlimited").click()
    page.page.keyboard.insert_text("9")
    page.page.keyboard.press("Enter")
    draft(page, 2)
    card.get_by_role("button", name="Make it deep").click()
    draft(page, 3)
    card.get_by_role("button", name="Never use this domain").click()
    page.page.keyboard.insert_text("https://Bargain-Press.example/news")
    page.page.keyboard.press("Enter")
    draft(page, 4)
    card.get_by_role("button", name="Years:").click()
    page.page.keyboard.insert_text("2015–2024")
    page.page.keyboard.press("Enter")
    draft(page, 5)
    card.get_by_label("Language of the report").select_option("German")
    draft(page, 6)

    text = card.inner_text()
    for part in ("9 min", "up to 7", "never bargain-press.example", "2015-01-01 to 2024-12-31", "German"):
        assert part in text or card.locator("option:checked").inner_text() == part
    card.get_by_role("button", name="Take back: never bargain-press.example").click()
    draft(page, 7)
    assert "bargain-press" not in card.locator(".ds-chips").inner_text()


def test_drafts_are_edited_by_talking_and_one_that_was_replaced_folds_and_can_be_looked_at(tab):
    page = tab().drafts(FEASIBLE)
    page.say("10 minutes")
    folded = page.page.locator("[data-contract=replaced]")
    folded.get_by_role("button", name="Show").click()
    old = page.page.locator(".ds-contract[data-contract=replaced]")
    old.wait_for()
    assert "Replaced" in old.inner_text()
    assert old.locator(".ds-tools").count() == 0

    page.say("add a branch: What do the divers say?")
    page.sees("added “What do the divers say?”.")
    page.say("drop branch 1")
    page.sees("dropped “")
    page.say("undo")
    page.sees("took back: dropped “")
    draft(page, 5)
    assert page.page.locator(".ds-contract[data-contract=draft]").count() == 1


def test_a_card_in_a_second_tab_follows_and_two_phrases_at_once_start_one_run(browser, server, shots, tab):
    first = tab().drafts(FEASIBLE)
    second = Tab(browser, server, shots).open(first.page.url.removeprefix(server.url))
    second.card.wait_for()
    old = hash_of(second)

    first.card.get_by_role("button", name="Make it deep").click()
    draft(first, 2)
    draft(second, 2)
    assert hash_of(second) == hash_of(first) != old

    for page in (first, second):
        page.page.locator("#chat-input").click()
        page.page.keyboard.insert_text(PHRASE)
    for page in (first, second):
        page.page.keyboard.press("Enter")
    for page in (first, second):
        page.page.wait_for_selector("[data-job]")
    first.sees("Nothing was started twice.")
    runs = {one.get_attribute("data-job") for one in first.page.locator("[data-job]").all()}
    assert len(runs) == 1
    second.close()
