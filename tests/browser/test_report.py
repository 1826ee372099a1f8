"""The report in a real browser: chips, verdicts, contents, evidence, downloads; and text that means ill."""

import json
import re

import pytest

from tests.browser.conftest import Tab
from tests.browser.test_chat import FEASIBLE, PHRASE, QUOTE_LINK

HOSTILE = (
    '<img src=x onerror="window.hurt=1"> **bold** [click](javascript:window.hurt=2) <script>window.hurt=3</script>'
)


@pytest.fixture(scope="module")
def report(browser, one_server, shots):
    one_server.pace(0)
    page = Tab(browser, one_server, shots).open().starts(FEASIBLE)
    page.reads()
    yield page
    page.close()


def test_sentences_carry_their_verdicts_and_chips_their_numbers(report):
    judged = report.page.locator(".ds-article [data-verdict]:not(a)")
    assert judged.count() > 3
    chip = report.page.locator(QUOTE_LINK).first
    assert chip.inner_text().strip().isdigit()
    assert chip.get_attribute("aria-label").startswith("Source ")
    assert "verified" in report.page.locator(".ds-figures").inner_text()


def test_the_text_stands_once_and_is_kept_for_copying(report):
    prose = report.page.locator(".message-content:has(.ds-report) > div > .prose")
    assert prose.count() == 1
    assert not prose.is_visible()
    assert "References" in prose.evaluate("e => e.textContent")


def test_a_chip_opens_its_quote_and_escape_gives_the_focus_back(report):
    chip = report.page.locator(QUOTE_LINK).nth(1)
    chip.scroll_into_view_if_needed()
    chip.focus()
    report.page.keyboard.press("Enter")
    report.page.locator(".ds-pop mark").wait_for()
    pop = report.page.locator(".ds-pop").inner_text()
    assert "Invented sample document" in pop
    assert any(word in pop for word in ("Supported", "Qualified", "Not checked yet"))
    report.page.keyboard.press("Escape")
    report.page.locator(".ds-pop").wait_for(state="detached")
    assert chip.evaluate("e => e === document.activeElement")


def test_contents_jump_to_their_parts(report):
    report.page.get_by_role("navigation", name="Contents").get_by_text("Methodology").click()
    report.page.wait_for_function(
        "() => { const top = [...document.querySelectorAll('.ds-article h2')]"
        ".find(one => one.textContent.includes('Methodology')).getBoundingClientRect().top; return top >= 0 && top < 700 }"
    )


def counted(text):
    """The first number of a label; 0 where it shows none."""
    return int(re.search(r"\d+", f"{text} 0")[0])


def test_every_count_of_the_panel_equals_its_list(report):
    report.page.locator(".ds-report").get_by_role("button", name="Evidence").evaluate("e => e.click()")
    panel = report.page.locator(".ds-ev")
    sources, claims, methodology = (panel.get_by_role("tab").nth(at) for at in range(3))
    sources.wait_for()
    sources.click()
    assert counted(sources.inner_text()) == panel.locator(".ds-src").count() > 0
    aside = panel.get_by_text("set aside")
    wanted = counted(aside.inner_text()) if aside.count() else 0

    claims.click()
    rows = panel.locator(".ds-cl")
    assert counted(claims.inner_text()) == rows.count() > 0
    assert sum(map(int, re.findall(r"\d+", panel.locator("[role=tabpanel] > p").first.inner_text()))) == rows.count()
    for side in panel.locator(".ds-fa > div").all():
        listed = side.locator("li:not(.ds-dim)").count()
        assert counted(side.locator("h3").inner_text()) == listed

    methodology.click()
    assert wanted == panel.locator("details:has-text('set aside') li").count()
    for record in panel.locator("[role=tabpanel] details:has(> ul)").all():
        assert counted(record.locator("summary").inner_text()) == record.locator("li").count()


def test_the_evidence_panel_holds_sources_claims_and_how_it_was_made(report):
    line = report.page.locator(".ds-article h2", has_text="References")
    line.evaluate("e => e.scrollIntoView({block: 'start'})")
    report.page.wait_for_timeout(300)
    at = line.bounding_box()["y"]
    report.page.locator(".ds-report").get_by_role("button", name="Evidence").evaluate("e => e.click()")
    panel = report.page.locator(".ds-ev")
    panel.get_by_role("tab", name="Sources").wait_for()
    # The page is narrower now and all above it longer: what was read stays where it was, once the panel stands.
    report.page.wait_for_timeout(600)
    for _ in range(50):
        if abs(line.bounding_box()["y"] - at) < 60:
            break
        report.page.wait_for_timeout(100)
    assert abs(line.bounding_box()["y"] - at) < 60
    panel.get_by_role("tab", name="Sources").click()  # the panel opens where it was left
    panel.locator(".ds-src").nth(1).wait_for()
    panel.get_by_label("Filter sources").fill("zzz nothing")
    panel.get_by_text("No source matches").wait_for()
    panel.get_by_role("tab", name="Methodology").click()
    figures = panel.locator(".ds-mt").inner_text()
    assert "Forecast" in figures
    assert "–" in figures.split("Sources read")[1].split("\n")[0]
    panel.get_by_role("tab", name="Claims").click()
    report.page.locator("#side-view-title button, [aria-label='Close'], #side-view-title").first.press("Enter")


def test_the_evidence_panel_keeps_its_tab_where_a_window_crosses_the_width_of_a_phone(report):
    page = report.open(report.page.url.removeprefix(report.server.url))
    page.page.get_by_role("button", name="Evidence").last.click()
    page.page.locator(".ds-ev").get_by_role("tab", name="Methodology").click()
    for width in (390, 1280):
        page.page.set_viewport_size({"width": width, "height": 800})
        page.page.wait_for_timeout(600)
        chosen = page.page.locator(".ds-ev").get_by_role("tab", selected=True)
        assert "Methodology" in chosen.inner_text()


def test_the_report_is_downloaded_in_each_form(report):
    report.page.get_by_role("button", name="Export").click()
    with report.page.expect_download() as got:
        report.page.get_by_role("menuitem", name="Markdown").click()
    assert got.value.suggested_filename.endswith(".md")
    for form in ("md", "html", "json", "pdf", "docx", "bib", "ris"):
        job = report.page.locator(QUOTE_LINK).first.get_attribute("href").split("/")[3]
        assert report.page.evaluate(f"fetch('/research/jobs/{job}/report.{form}').then(r => r.status)") == 200


def test_a_report_that_is_gone_leaves_its_text(browser, server, shots, report):
    page = Tab(browser, server, shots)
    page.page.route("**/report.fragment", lambda route: route.fulfill(status=404, body="{}"))
    page.open(report.page.url.removeprefix(server.url))
    page.sees("Its text is kept below.")
    page.page.locator(".prose h2", has_text="References").wait_for()
    page.close()


def test_titles_that_hold_html_or_markdown_stay_text(tab, server):
    server.pace(0)
    page = tab()
    files = []
    for number in range(3):
        text = "\n\n".join(
            f"The Orvane ferry was closed on {n + number} days in the winter of {2000 + n}, the harbour log says."
            for n in range(6)
        )
        body = f"# {HOSTILE} {number}\n\n{text}\n".encode()
        files.append({"name": f"<b>log</b> [{number}](x).md", "mimeType": "text/markdown", "buffer": body})
    page.drops(*files)
    page.sees("Added to your files")
    page.drafts("On how many days was the Orvane ferry closed in each winter?")
    page.say(PHRASE)
    page.reads()
    chip = page.page.locator(QUOTE_LINK).first
    chip.click()
    page.page.locator(".ds-pop mark").wait_for()
    page.page.keyboard.press("Escape")
    page.page.get_by_role("button", name="Evidence").last.click()
    page.page.locator(".ds-src").first.wait_for()
    page.page.wait_for_timeout(300)
    assert page.page.evaluate("window.hurt") is None
    assert page.page.locator(".ds-report img, .ds-ev img, .ds-pop img").count() == 0
    assert page.page.locator("a[href^='javascript:']").count() == 0
    assert page.page.locator("b", has_text="log").count() == 0
    assert page.outside() == {}


def test_a_report_of_two_hundred_sources_is_read_and_filtered(tab, report):
    job = report.page.locator(QUOTE_LINK).first.get_attribute("href").split("/")[3]
    document = report.page.evaluate(f"fetch('/research/jobs/{job}/report.json').then(r => r.json())")
    source = document["references"][0]
    document["references"] = [
        {**source, "n": n, "title": f"Source number {n} with a title of some length", "source_id": f"s{n}"}
        for n in range(1, 201)
    ]
    chips = "".join(
        f'<p>Sentence {n}.<a href="/research/jobs/{job}/quote/{source["quotes"][0]["fact_id"]}#quote">[{n}]</a></p>'
        for n in range(1, 201)
    )
    page = tab()
    page.page.route(
        "**/report.fragment",
        lambda route: route.fulfill(
            json={"html": chips, "headings": [], "title": "Many", "grade": "complete", "counts": {"sources": 200}}
        ),
    )
    page.page.route("**/report.json", lambda route: route.fulfill(body=json.dumps(document)))
    page.page.goto(report.page.url)
    page.page.wait_for_selector(".ds-report[data-report=here]")
    assert page.page.locator(QUOTE_LINK).count() == 200
    page.page.get_by_role("button", name="Evidence").click()
    page.page.locator(".ds-src").nth(199).wait_for(state="attached")
    page.page.get_by_label("Filter sources").fill("number 177 ")
    page.page.wait_for_function("document.querySelectorAll('.ds-src').length === 1")


IN_SIGHT = """
() => {
  const top = [...document.querySelectorAll('[data-step-type=user_message]')].at(-1).getBoundingClientRect().top;
  window.since = top >= 0 && top < 400 ? window.since || performance.now() : 0;
  return window.since && performance.now() - window.since > 1800;
}
"""
"""The last question came in sight and has stayed there, however long a busy machine takes to bring what moves to rest."""


def test_a_question_asked_beside_the_evidence_is_in_sight_with_its_answer(report):
    page = report.open(report.page.url.removeprefix(report.server.url))
    page.page.wait_for_selector(".ds-report[data-report=here]")
    page.page.wait_for_function(IN_SIGHT, polling=100)
    page.page.mouse.move(700, 500)
    page.page.mouse.wheel(0, 60)
    page.page.wait_for_timeout(300)
    page.page.get_by_role("button", name="Evidence").last.click()
    page.page.locator(".ds-src").first.wait_for()
    page.page.wait_for_timeout(1000)
    answers = page.page.locator("[data-step-type=assistant_message]")
    before = answers.count()
    page.say("Who was the first mayor of Tolven Municipality?")
    page.page.locator("[data-step-type=user_message]").last.get_by_text("first mayor").wait_for()
    answers.nth(before).wait_for()
    page.page.evaluate("window.since = 0")
    page.page.wait_for_function(IN_SIGHT, polling=100)
