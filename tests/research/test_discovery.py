"""A question that names no things, planned and worked by the offline engine: a sweep first, its sources read beside it."""

from agents.contracts.contract import Brief, Query
from agents.offline import OfflineModel
from tests.scripted_search import ScriptedSearcher

TEXT = "Which towns introduced harbour charging, and how did traffic change in their centres?"
TOWNS = {
    f"https://{name.lower()}.example/charge": (
        f"Harbour charging in {name}",
        f"The town of {name} introduced harbour charging in {year}. Traffic in the centre of {name} fell by {fall} percent "
        f"within two years. The council of {name} counted cars at {fall} gates. The charge is {fall} crowns a day.",
    )
    for name, year, fall in (("Orvane", 2011, 12), ("Telmar", 2014, 21), ("Brindle", 2019, 9), ("Keld", 2020, 17))
}
NOISE = {
    f"https://noise{n}.example/": (f"Cooking note {n}", f"Soup number {n} needs salt, leek and {n} hours of patience.")
    for n in range(4)
}
QUERY = Query(text=TEXT, feasible=True, reason="small", depth_estimate=1)
BRIEF = Brief(question=TEXT, queries=(QUERY,), today="2026-11-27")


async def test_a_sweep_runs_beside_the_leaf_and_no_page_is_fetched_twice(bench):
    work = bench(OfflineModel(), ScriptedSearcher({**TOWNS, **NOISE}))

    outcome = await work.run(BRIEF)

    (finding,) = outcome.findings
    sweep, reading = finding.children
    assert sweep.shortlist is not None
    assert reading.shortlist is None
    chosen = {one.url for one in sweep.shortlist.kept}
    assert chosen == set(TOWNS)
    (plan,) = outcome.contract.plans
    planned = plan.root.leaves()
    assert [leaf.discovery for leaf in planned] == [True, False]
    assert planned[1].sources == (), "the plan names no sources; the sweep found them"
    assert reading.status == "done"
    assert {card.url for card in reading.sources} & chosen
    assert len(work.searcher.read_urls) == len(set(work.searcher.read_urls)), "a page was fetched twice"


async def test_what_a_sweep_chose_is_read_in_the_next_round_where_a_leaf_found_nothing(bench):
    class Blind(ScriptedSearcher):
        """Finds nothing for the second question by itself."""

        async def search(self, query, deadline_s=None):
            found = await super().search(query, deadline_s)
            of_sweep = "change" not in query.text and "traffic" not in query.text
            return found if of_sweep else found.model_copy(update={"hits": ()})

    work = bench(OfflineModel(), Blind({**TOWNS, **NOISE}))

    (finding,) = (await work.run(BRIEF)).findings
    sweep, blind, *later = finding.children
    assert not any(record.hits for record in blind.searches)
    found = [card.url for part in later for card in part.sources]
    assert found, "the next round had nothing but the sweep's sources"
    assert set(found) <= {one.url for one in sweep.shortlist.kept}
