"""What is known, in a real browser: asked for, used again, opened, forgotten."""

from tests.browser.test_chat import PHRASE

CLOSED = "On how many days was the Orvane ferry closed by ice in 2022?"
NEIGHBOUR = (
    "On how many days was the Orvane ferry closed by ice in 2022, and how many sailors did the Orvane ferry employ?"
)


def log_of(whose):
    text = (
        f"# Log of the {whose}\n\nThe Orvane ferry was closed by ice on 12 days in the winter of 2022, the {whose} says.\n\n"
        f"The Orvane ferry employed 44 sailors in 2022, half of them part time, the {whose} says.\n"
    )
    return {"name": f"{whose}.md", "mimeType": "text/markdown", "buffer": text.encode()}


def reported(page, count):
    page.say(PHRASE)
    page.page.wait_for_function(
        "n => document.querySelectorAll('.ds-report[data-report=here]').length >= n", arg=count, timeout=60_000
    )
    return page.page.locator(".ds-report").last


def test_what_a_question_found_is_used_by_its_neighbour_opened_and_forgotten(tab, server):
    server.pace(0)
    page = tab()
    page.drops(log_of("harbour"), log_of("mate"))
    page.sees("Added to your files")
    page.drafts(CLOSED)
    assert "is asked first" in page.card.inner_text()
    assert "known since" not in reported(page, 1).inner_text()

    page.drafts(f"/research {NEIGHBOUR}")
    assert page.card.get_by_text("known from earlier research").count() == 1
    report = reported(page, 2)
    assert "known since" in report.inner_text()
    assert "Taken over from earlier research" in report.inner_text()
    reused = report.locator(".ds-article p a[href*='/quote/']").first
    reused.click()
    quote = page.page.locator(".ds-pop", has=page.page.locator("mark", has_text="closed by ice on 12 days"))
    quote.wait_for()
    assert "known since" in quote.inner_text()
    page.page.keyboard.press("Escape")

    page.say("What do I know about the Orvane ferry?")
    page.sees("From earlier research alone")
    chip = page.page.locator("a[href*='/memory/quote/']").first
    chip.click()
    page.page.locator(".ds-pop mark").wait_for()
    assert "known since" in page.page.locator(".ds-pop").inner_text()
    with page.context.expect_page() as opened:
        page.page.locator(".ds-pop a", has_text="Open in context").click()
    assert "Log of the" in opened.value.locator("h1").inner_text()
    assert opened.value.locator("#quote").is_visible()

    known = opened.value
    known.goto(f"{server.url}/memory?q=Orvane+ferry+closed")
    known.locator(".facts > li").first.wait_for()
    before = known.locator(".facts > li").count()
    known.set_viewport_size({"width": 360, "height": 800})
    known.locator("summary").first.click()
    known.get_by_role("button", name="This fact").first.click()
    known.get_by_text("Forgotten for good: 1 thing.").wait_for()
    assert known.locator(".facts > li").count() == before - 1
    for whose in ("harbour", "mate"):
        known.goto(f"{server.url}/memory?q=Log+of+the+{whose}")
        known.locator(".facts > li", has_text=f"the {whose} says").first.locator("summary").click()
        known.get_by_role("button", name="Everything of this source").first.click()
        known.get_by_text("Forgotten for good").wait_for()
    assert known.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    for _ in range(8):  # how many pages the runs read is theirs
        known.goto(f"{server.url}/memory?q=Orvane+ferry")
        rest = known.locator(".facts > li", has=known.locator("button", has_text="Everything of this source"))
        if not rest.count():
            break
        rest.first.locator("summary").click()
        rest.first.get_by_role("button", name="Everything of this source").click()
        known.get_by_text("Forgotten for good").wait_for()

    page.page.bring_to_front()
    page.page.set_viewport_size({"width": 360, "height": 800})
    page.page.locator("#chat-input").click()
    page.page.keyboard.insert_text("/memory")
    page.page.keyboard.press("Enter")  # chooses the command
    page.page.locator("#command-memory").wait_for()
    box = page.page.locator("#chat-submit").bounding_box()
    assert box["x"] + box["width"] < 360
    page.page.locator("#command-memory").click()  # takes it back
    page.say("What do I know about the Orvane ferry?")
    page.sees("Earlier research says nothing of that")
    page.drafts(f"/research {CLOSED}")
    assert "known since" not in reported(page, 3).inner_text()
    assert page.outside() == {}
