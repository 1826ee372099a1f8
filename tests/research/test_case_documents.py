"""Cases C26, C28, C29 and C30 in whole jobs: what cannot be read is named, is no evidence, and ends nothing else."""

from agents.contracts.contract import Brief, Query
from agents.contracts.fact import ExtractionInput
from agents.contracts.report import Actual
from agents.contracts.sources import Hit, SearchResult, Source
from agents.report.document import build
from agents.search.pages import source_of
from agents.web.read_page import read_document
from tests.conftest import DATA
from tests.scripted_search import ScriptedSearcher
from tests.scripts import Worker, leaf, tree, working_model

CASES = DATA / "cases"
QUESTION = "On how many days was the ferry line closed in the winter of 2022/23?"


class Files(ScriptedSearcher):
    """Finds all files of a case, each on a site of its own, and reads them as a page from the web is read."""

    def __init__(self, *names):
        super().__init__({})
        self.paths = {f"https://site{number}.example/{name}": CASES / name for number, name in enumerate(names)}

    async def search(self, query, deadline_s=None):
        self.asked.append(query)
        hits = tuple(Hit(url=url, title=path.stem, score=1.0) for url, path in self.paths.items())
        return SearchResult(query=query.text, provider="files", hits=hits)

    async def read(self, url, deadline_s=None, known=None) -> Source:
        self.read_urls.append(url)
        path = self.paths[url]
        kind = "application/pdf" if path.suffix == ".pdf" else "text/html"
        found = await read_document(path.read_bytes(), kind, url)
        return source_of(url, found, "2026-11-28")


def urls(searcher, *stems):
    return {url for url, path in searcher.paths.items() if path.stem in stems}


def telling(request):
    """Point at the one sentence that says which winter it was."""
    extraction = Worker()(request)
    facts = tuple(fact for fact in extraction.facts if "highest number on record" in fact.statement)
    return extraction.model_copy(update={"facts": facts})


async def worked(bench, searcher, question=QUESTION, **roles):
    plan = tree(leaf("Closures", question))
    work = bench(working_model(planner=lambda _: plan, **roles), searcher)
    brief = Brief(
        question=question, queries=(Query(text=question, feasible=True, reason="small", depth_estimate=1),), today="2026-11-28",
    )  # fmt: skip
    outcome = await work.run(brief)
    return work, outcome, build("a" * 32, outcome, Actual(), engine="scripted", reasons=True)


async def test_c26_walls_give_no_facts_and_are_named_and_the_article_behind_an_overlay_is_read(bench):
    names = ("bot_check", "js_shell", "soft_404", "login_wall", "region_block", "cookie_banner_then_article")
    searcher = Files(*(f"C26/{name}.html" for name in names))

    work, outcome, report = await worked(bench, searcher)

    (finding,) = outcome.findings
    (article,) = urls(searcher, "cookie_banner_then_article")
    assert {card.url for card in finding.all_sources()} == {article}
    assert "partners store and read" not in report.markdown
    read = set(searcher.read_urls)
    refused = {one.url: one.reason for one in report.methodology.sources_rejected}
    assert read - {article} <= set(refused)
    assert all(refused[url] for url in read - {article})


async def test_c28_the_one_sentence_of_a_yearbook_is_shown_to_the_model_with_its_page_and_the_rest_is_not(bench):
    question = "Which winter had most closures of the ferry line?"
    searcher = Files("C28/yearbook_600_pages.pdf", "C28/truncated.pdf", "C28/cyclic_pages.pdf")

    work, outcome, _ = await worked(bench, searcher, question, extractor=telling)

    asked = [request.given for request in work.model.asked if isinstance(request.given, ExtractionInput)]
    shown = [sentence.text for given in asked for one in given.sources for sentence in one.sentences]
    needle = [sentence for sentence in shown if "77 days, the highest number on record" in sentence]
    assert needle, "the sentence on page 472 was not among the chosen ones"
    assert all(
        sum(len(sentence.text) for sentence in one.sentences) <= 24_000 for given in asked for one in given.sources
    )
    (finding,) = outcome.findings
    (fact,) = finding.all_facts()
    assert fact.quote.strip() == needle[0].strip()
    (card,) = [card for card in finding.all_sources() if card.id == fact.source_id]
    assert sum(start <= fact.start for start in card.pages) == 472


async def test_c29_scans_and_locked_files_are_named_and_end_nothing_else(bench):
    searcher = Files(
        "C29/scanned.pdf", "C29/user_password_aes256.pdf", "C29/mixed_page2_scanned.pdf", "C29/owner_only_aes256.pdf"
    )

    _, outcome, report = await worked(bench, searcher)

    (finding,) = outcome.findings
    used = {card.url for card in finding.all_sources()}
    assert used <= urls(searcher, "mixed_page2_scanned", "owner_only_aes256")
    assert used
    refused = {one.url: one.reason for one in report.methodology.sources_rejected}
    for url in urls(searcher, "scanned", "user_password_aes256"):
        assert refused[url]
    (locked,) = urls(searcher, "user_password_aes256")
    assert "password" in refused[locked]
    mixed = urls(searcher, "mixed_page2_scanned") & used
    assert not mixed or "some pages could not be read (2 / 2)" in report.markdown


async def test_c30_figures_go_with_their_own_column(bench):
    searcher = Files("C30/two_columns.pdf")

    _, outcome, _ = await worked(bench, searcher, "On how many days was each line closed, and what is its limit?")

    (finding,) = outcome.findings
    quotes = [fact.quote for fact in finding.all_facts()]
    assert quotes
    assert not [quote for quote in quotes if "Sarn" in quote and ("12" in quote or "18 cent" in quote)]


async def test_c26_a_teaser_is_marked_as_partial_where_it_is_cited(bench):
    searcher = Files("C26/paywall_teaser.html")

    _, outcome, report = await worked(bench, searcher)

    (finding,) = outcome.findings
    assert any("closed on twelve days last winter" in fact.quote for fact in finding.all_facts())
    assert report.references
    assert all(reference.notes for reference in report.references)
    assert report.references[0].notes[0] in report.markdown
