"""Every count that a screen shows equals the list behind it: held over whole reports of whole runs."""

import asyncio
import json
import re

import pytest
from lxml import html

from agents.api.reports import fragment
from agents.contracts.report import JUDGED
from agents.core.settings import Settings
from agents.report.formats import FORMS
from agents.research.scoping.turn import ScopingState
from agents.team import open_team
from tests.browser.test_chat import STARTERS

QUESTIONS = (
    STARTERS[0],
    STARTERS[2],
    "How warm was the water at Inner Harbour Flats in the summer of 2022?",
    "Who was the first mayor of Tolven Municipality, and when did the harbour freeze over?",
    "How deep is the Mariana Trench?",
    "How did chain moorings and elastic moorings affect the meadow?",
)


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """What whole runs came to: complete, partial and empty ones."""

    async def run():
        team = open_team(
            Settings(data_dir=tmp_path_factory.mktemp("counts"), model="offline", retriever="library", memory=False)
        )
        made = []
        for question in QUESTIONS:
            scope, _ = await team.scope(ScopingState(), question)
            job = await team.start(await team.draft(scope))
            await job.wait()
            made.append((job.report, len(job.sources)))
        await team.close()
        return made

    return asyncio.run(run())


def test_every_count_of_whole_reports_equals_the_list_behind_it(reports):
    assert "partial" in {document.grade for document, _ in reports}
    assert max(len(document.references) for document, _ in reports) > 2
    for document, read in reports:
        hold_every_count(document, read)


def hold_every_count(document, read):
    """Hold all counts of a report against its lists; `read` is how many sources its job has read."""
    for check in (head_counts, claims_counted, methodology_counts, files_count):
        check(document, read)


def head_counts(document, _):
    """The head of a report counts what stands in it."""
    shown = fragment(document)
    counts, page = shown["counts"], html.fromstring(f"<div>{shown['html']}</div>")
    judged = [span.get("data-verdict") for span in page.xpath("//span[@data-verdict]")]
    chips = {
        int(link.text[1:-1])
        for link in page.xpath("//a[contains(@href, '/quote/')]")
        if re.fullmatch(r"\[\d+\]", link.text or "")
    }

    assert counts["judged"] == sum(one in JUDGED for one in judged), document.question
    assert counts["verified"] == judged.count("supported"), document.question
    assert counts["sources"] == len(document.references), document.question
    assert chips <= set(range(1, counts["sources"] + 1)), document.question
    assert len(shown["headings"]) == len(page.xpath("//h2|//h3|//h4")), document.question


def claims_counted(document, _):
    """The table of claims has one row for each and counts its evidence."""
    page = html.fromstring(f"<div>{fragment(document)['html']}</div>")
    tables = [rows for table in page.xpath("//table") if len((rows := table.xpath(".//tr"))[0].xpath("./th")) == 6]
    rows = tables[0][1:] if tables else []
    assert len(rows) == len(document.claims), document.question
    for row, claim in zip(rows, document.claims, strict=True):
        said = [cell.text_content() for cell in row.xpath("./td")]
        for stances, cell in ((("supports",), said[3]), (("contradicts", "qualifies"), said[4])):
            quotes = {(one.quote, one.stance) for one in claim.evidence if one.stance in stances and one.quote}
            counted = re.match(r"\d+", cell)
            assert int(counted[0] if counted else 0) == len(quotes), (document.question, claim.text, cell)


def methodology_counts(document, read):
    """Methodology counts what it lists."""
    shown = document.methodology
    tried = [line for line in document.markdown.splitlines() if re.match(r"- “.+” \((hits|failed): ", line)]
    figures = dict(re.findall(r"^\| ([A-Z][a-z ]+?) +\|[^|]*\| *(.+?) *\|$", document.markdown, re.MULTILINE))

    assert figures["Searches"] == str(shown.searches) == str(len(tried)), document.question
    assert figures["Sources read"] == str(shown.sources_read), document.question
    assert shown.sources_read <= read, document.question
    assert figures["Sources rejected"] == str(len(shown.sources_rejected)), document.question
    assert figures["Rounds"] == str(shown.rounds) == str(len(document.rounds_log)), document.question
    assert figures["Parts"] == str(sum(row.role == "leaf" for row in document.nodes)), document.question


def files_count(document, _):
    """The files say the same figures."""
    data = json.loads(FORMS["json"].write(document))
    assert len(data["references"]) == fragment(document)["counts"]["sources"]
    listed = re.findall(r"^@", FORMS["bib"].write(document).decode(), re.MULTILINE)
    assert len(listed) == len(document.references), document.question
    assert FORMS["ris"].write(document).decode().count("ER  -") == len(document.references), document.question
