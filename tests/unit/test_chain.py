"""Several providers as one, and what stands around them: breaker, filters, wording, choosing."""

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.contracts.sources import Hit, SearchQuery, SearchResult
from agents.core.errors import ConfigError, SearchError, SourceError
from agents.core.transport import RetryPolicy
from agents.search import web_providers
from agents.search.chain import Chain
from agents.search.choose_searcher import NAMES, choose
from agents.search.pages import PageCache, source_of
from agents.search.provider import Access
from agents.search.scope_filter import enforced, fuse, in_range, keywords, prepared, shortened, whole_day, within
from agents.search.searcher import REST_S, CircuitBreaker, SearchFailed
from agents.search.web_providers import WEB as SERVICES
from agents.search.web_providers import Ddgs
from agents.web.decoding import Document
from tests.scripted_search import ScriptedSearcher

CASES = Path(__file__).resolve().parent.parent / "data" / "cases"
QUERY = SearchQuery(text="ice on the lake")


class Fake:
    """A provider that does as it is told: hits, or failures by their kind; the last for ever."""

    def __init__(self, name: str, *script: Any, keyless: bool = False) -> None:
        self.name, self.host, self.keyless = name, f"{name}.example", keyless
        self.script = list(script) or [()]
        self.asked: list[tuple[str, float | None, int | None]] = []
        self.closed = False

    def warm_up(self) -> None: ...

    async def search(
        self, query: SearchQuery, deadline_s: float | None = None, *, attempts: int | None = None
    ) -> SearchResult:
        self.asked.append((query.text, deadline_s, attempts))
        step = self.script[min(len(self.asked), len(self.script)) - 1]
        await asyncio.sleep(0)
        if isinstance(step, str):
            raise SearchFailed(step, self.name, key_variable="A_KEY")
        if isinstance(step, SearchFailed):
            raise step
        hits = tuple(Hit(url=url, title=url, provider=self.name) for url in step)
        return SearchResult(query=query.text, provider=self.name, hits=hits)

    async def close(self) -> None:
        self.closed = True


class Pages:
    def __init__(self) -> None:
        self.read_urls: list[str] = []
        self.sent = PageCache()

    async def read(self, url: str, deadline_s: float | None = None, known: Any = None) -> Any:
        self.read_urls.append(url)
        return source_of(url, Document("Read", "Read from the web."), "2026-01-01")


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def library(**documents: str) -> ScriptedSearcher:
    return ScriptedSearcher({f"library:/a/{name}": (name, text) for name, text in documents.items()}, name="library")


def urls(result: SearchResult) -> list[str]:
    return [hit.url for hit in result.hits]


WEB = "https://a.example/1"


# ---- falling from one to the next


async def test_the_first_that_answers_wins_and_the_others_are_not_asked():
    first, second = Fake("first", [WEB]), Fake("second", [WEB])

    result = await Chain([first, second], Pages()).search(QUERY)

    assert (result.provider, urls(result), second.asked) == ("first", [WEB], [])


async def test_after_a_failure_the_next_is_asked_and_the_switch_goes_with_the_result():
    found = await Chain([Fake("first", "server"), Fake("second", [WEB])], Pages()).search(QUERY)

    assert found.provider == "second"
    [failure] = found.failures
    assert (failure.provider, failure.fault, failure.reason) == ("first", "server", "first had an error on its side")


async def test_nothing_found_is_no_failure_and_nobody_else_is_asked():
    second = Fake("second", [WEB])
    chain = Chain([Fake("first"), second], Pages())

    looked = await chain.search(QUERY)

    assert (looked.hits, looked.provider, looked.failures) == ((), "first", ())
    assert second.asked == []


async def test_when_nobody_answers_each_reason_is_in_the_error():
    chain = Chain([Fake("first", "auth"), Fake("second", "timeout")], Pages())

    with pytest.raises(SearchError) as caught:
        await chain.search(QUERY)

    assert caught.value.notice == ("No search provider answered: first refused the key; second did not answer in time.")
    assert [failure.fault for failure in caught.value.failures] == ["auth", "timeout"]


async def test_a_provider_leaves_time_for_the_next():
    first, second = Fake("first", "timeout"), Fake("second", [WEB])

    await Chain([first, second], Pages()).search(QUERY, 10)

    assert first.asked[0][1] == pytest.approx(6, abs=0.1)
    assert second.asked[0][1] == pytest.approx(10, abs=0.1)


# ---- the breaker


async def test_after_three_failures_in_a_row_a_provider_rests_and_is_then_tried_once():
    clock = Clock()
    first = Fake("first", *["server"] * 3, [WEB])
    chain = Chain([first, Fake("second", [WEB])], Pages(), clock=clock)

    for _ in range(5):
        looked = await chain.search(QUERY)
    assert len(first.asked) == 3
    assert [(one.fault, one.reason) for one in looked.failures] == [("resting", "first had an error on its side")]

    clock.now += REST_S + 1
    assert (await chain.search(QUERY)).provider == "first"
    assert first.asked[-1][2] == 1
    assert (await chain.search(QUERY)).failures == ()


async def test_only_one_search_tries_a_provider_that_rested():
    clock = Clock()
    first = Fake("first", *["server"] * 3, [WEB])
    chain = Chain([first, Fake("second", [WEB])], Pages(), clock=clock)
    for _ in range(3):
        await chain.search(QUERY)
    clock.now += REST_S + 1

    results = await asyncio.gather(*(chain.search(QUERY) for _ in range(4)))

    assert sorted(result.provider for result in results) == ["first", "second", "second", "second"]


async def test_a_failed_trial_opens_it_again():
    clock = Clock()
    first = Fake("first", "server")
    chain = Chain([first, Fake("second", [WEB])], Pages(), clock=clock)
    for _ in range(3):
        await chain.search(QUERY)
    clock.now += REST_S + 1

    await chain.search(QUERY)
    await chain.search(QUERY)

    assert len(first.asked) == 4


def test_half_of_all_failing_opens_the_breaker_from_four_searches_on():
    breaker = CircuitBreaker(Clock())
    for failed in (True, False, True):
        breaker.failed("why") if failed else breaker.succeeded()
    assert not breaker.is_open

    breaker.succeeded()
    breaker.succeeded()
    assert not breaker.is_open
    breaker.failed("why")

    assert breaker.is_open


@pytest.mark.parametrize("kind", ["auth", "quota"])
async def test_a_refused_key_and_an_empty_account_are_tried_once_only(kind):
    first = Fake("first", kind)
    chain = Chain([first, Fake("second", [WEB])], Pages())

    for _ in range(4):
        await chain.search(QUERY)

    assert len(first.asked) == 1


async def test_a_provider_that_asks_for_a_long_pause_gets_it():
    clock = Clock()
    first = Fake("first", SearchFailed("rate", "first", retry_after_s=120.0), [WEB])
    chain = Chain([first, Fake("second", [WEB])], Pages(), clock=clock)

    await chain.search(QUERY)
    clock.now += 119
    await chain.search(QUERY)
    assert len(first.asked) == 1
    clock.now += 2
    assert (await chain.search(QUERY)).provider == "first"


async def test_a_query_that_is_not_accepted_says_nothing_about_the_provider():
    chain = Chain([Fake("first", "query"), Fake("second", [WEB])], Pages())

    for _ in range(6):
        looked = await chain.search(QUERY)

    assert [one.fault for one in looked.failures] == ["query"]


# ---- the library beside the web


async def test_own_documents_are_joined_to_the_web_by_rank():
    own = library(one="ice on the lake", two="ice")
    chain = Chain([Fake("web", [WEB, "https://a.example/2"])], Pages(), own)

    result = await chain.search(QUERY)

    assert urls(result) == [WEB, "library:/a/one", "https://a.example/2", "library:/a/two"]
    assert (result.provider, chain.names) == ("web, library", ("web", "library"))
    assert [hit.score for hit in result.hits] == sorted((hit.score for hit in result.hits), reverse=True)


async def test_own_documents_answer_when_the_web_does_not_and_the_failure_is_kept():
    chain = Chain([Fake("web", "connection")], Pages(), library(one="ice on the lake"))

    looked = await chain.search(QUERY)

    assert (looked.provider, [one.fault for one in looked.failures]) == ("library", ["connection"])


async def test_a_failed_web_search_is_not_taken_for_nothing_found():
    chain = Chain([Fake("web", "connection")], Pages(), library(one="trains"))

    with pytest.raises(SearchError):
        await chain.search(QUERY)


async def test_a_broken_library_does_not_take_the_web_away():
    own = ScriptedSearcher({}, fail={QUERY.text}, name="library")

    looked = await Chain([Fake("web", [WEB])], Pages(), own).search(QUERY)

    assert (urls(looked), looked.failures[0].provider) == ([WEB], "library")


async def test_the_sample_joins_no_web_result_and_stands_in_for_no_search_that_failed():
    sample = library(one="ice on the lake")
    chain = Chain([Fake("web", [WEB], [WEB], [], "connection", keyless=True)], Pages(), sample=sample)

    assert urls(await chain.search(QUERY)) == [WEB]
    assert urls(await chain.search(QUERY)) == []
    with pytest.raises(SearchError, match="web could not be reached"):
        await chain.search(QUERY)
    assert sample.asked == []
    assert chain.names == ("web",)


async def test_the_sample_is_searched_where_no_web_search_can_be_reached_from_the_start():
    keyless = Fake("web", "connection", [WEB], keyless=True)
    chain = Chain([keyless], Pages(), sample=library(one="ice on the lake"))
    first = chain.scoped()

    assert urls(await first.search(QUERY)) == ["library:/a/one"]
    assert first.names == chain.names == (library(one="").name,), "what is searched is named as it is"
    await chain.probe()
    assert chain.names == ("web",)

    assert urls(await first.search(QUERY)) == ["library:/a/one"], "one research never searches both"
    assert urls(await chain.scoped().search(QUERY)) == [WEB]


async def test_a_library_is_all_that_is_searched_where_nobody_set_up_a_web_search_and_none_can_be_reached():
    clock, own = Clock(), library(one="ice on the lake")
    keyless = Fake("web", "connection", "connection", [WEB], [WEB], "connection", keyless=True)
    chain = Chain([keyless], Pages(), own, by_default=True, clock=clock)
    first = chain.scoped()

    found = await first.search(QUERY)

    assert (urls(found), found.failures, found.provider) == (["library:/a/one"], (), "library")
    assert first.names == chain.names == ("library",)
    assert not (await first.survey()).web
    assert (await chain.scoped().search(QUERY)).failures == ()
    assert len(keyless.asked) == 1, "it is not tried again for each research"
    clock.now += 301
    assert (await chain.scoped().search(QUERY)).failures == ()
    clock.now += 301
    later = chain.scoped()
    assert set(urls(await later.search(QUERY))) == {WEB, "library:/a/one"}
    assert (await later.search(QUERY)).failures, "what fails on the way has failed"
    assert (await first.search(QUERY)).provider == "library", "one research never searches both"


async def test_the_sample_is_never_searched_beside_a_provider_with_a_key():
    sample = library(one="ice on the lake")

    with pytest.raises(SearchError):
        await chosen(keys={"TAVILY_API_KEY": "t"}, bases={"TAVILY_API_BASE": "http://127.0.0.1:1"}, sample=sample,
                     retry=RetryPolicy(sleep=no_wait)).search(QUERY, 5)  # fmt: skip
    assert sample.asked == []


async def test_what_is_asked_beside_the_web_joins_it_and_its_failure_is_only_noted():
    papers = Fake("papers", ["https://doi.org/10.1/x"], "rate")
    chain = Chain([Fake("web", [WEB])], Pages(), beside=[papers])

    assert urls(await chain.search(QUERY)) == [WEB, "https://doi.org/10.1/x"]
    looked = await chain.search(QUERY)

    assert (urls(looked), looked.failures[0].fault) == ([WEB], "rate")


async def test_indexes_alone_answer_when_one_of_them_does():
    chain = Chain([], Pages(), beside=[Fake("one", "rate"), Fake("two", [WEB])])

    assert urls(await chain.search(QUERY)) == [WEB]


def test_one_page_under_two_addresses_is_one_hit():
    hits = [[Hit(url=url, title="A")] for url in ("https://www.a.example/x/", "http://a.example/x?utm_source=b")]

    assert [hit.url for hit in fuse(hits, 8)] == ["https://www.a.example/x/"]


async def test_a_survey_of_own_documents_says_that_there_is_the_web_too():
    own = library(one="ice on the lake")

    beside = await Chain([Fake("web")], Pages(), own).survey()
    sample = await Chain([Fake("web", keyless=True)], Pages(), sample=own).survey()

    assert (beside.total, beside.web) == (1, True)
    assert (sample.total, sample.web) == (0, True)


# ---- reading


async def test_addresses_are_read_where_they_belong():
    pages = Pages()
    chain = Chain([Fake("web")], pages, library(one="ice on the lake"))

    assert (await chain.read("library:/a/one")).text == "ice on the lake"
    assert (await chain.read(WEB)).title == "Read"
    assert pages.read_urls == [WEB]


# ---- the probe


async def test_a_keyless_provider_that_a_probe_does_not_reach_is_not_waited_for():
    keyless = Fake("keyless", "connection", keyless=True)
    chain = Chain([keyless], Pages(), sample=library(one="ice on the lake"))

    probed = await chain.probe()
    result = await chain.search(QUERY)

    assert probed is not None
    assert (probed.reachable, probed.reason) == (False, "keyless could not be reached")
    assert (urls(result), len(keyless.asked)) == (["library:/a/one"], 1)
    assert (await chain.survey()).total == 1


async def test_what_a_contract_settled_on_is_searched_whatever_can_be_reached_by_then():
    keyless = Fake("web", "connection", "connection", [WEB], keyless=True)
    chain = Chain([keyless], Pages(), library(one="ice on the lake"), by_default=True)
    await chain.probe()

    promised = await chain.scoped((), ("web", "library")).search(QUERY)
    await chain.probe()
    await chain.probe()
    kept_in = chain.scoped((), ("library",))

    assert (urls(promised), len(promised.failures)) == (["library:/a/one"], 1), "what was promised and failed is said"
    assert chain.scoped().names == ("web", "library")
    assert (urls(await kept_in.search(QUERY)), kept_in.names) == (["library:/a/one"], ("library",))


async def test_a_provider_with_a_key_is_not_probed():
    keyed = Fake("keyed", [WEB])

    assert await Chain([keyed, Fake("keyless", keyless=True)], Pages()).probe() is None
    assert keyed.asked == []


async def test_closing_the_chain_closes_its_providers():
    providers = [Fake("one"), Fake("two")]

    await Chain(providers, Pages(), library()).close()

    assert all(provider.closed for provider in providers)


# ---- what is held by code


@pytest.mark.parametrize(
    ("url", "domain", "belongs"),
    [
        ("https://example.com/a", "example.com", True),
        ("https://www.example.com/a", "example.com", True),
        ("https://example.com/a", "www.example.com", True),
        ("https://sub.example.com:8443/a", "example.com", True),
        ("https://example.com/a", "*.example.com", True),
        ("https://example.com/a", "https://EXAMPLE.com/", True),
        ("https://user@example.com/a", "example.com", True),
        ("https://notexample.com/a", "example.com", False),
        ("https://example.com.evil.test/a", "example.com", False),
        ("https://evil.test/example.com", "example.com", False),
        ("https://example.com@evil.test/", "example.com", False),
        ("https://example.com/a", "sub.example.com", False),
        ("https://example.com/blog/a", "example.com/blog", True),
        ("https://example.com/blogger", "example.com/blog", False),
        ("https://health.gov/a", ".gov", True),
        ("https://notgov/a", ".gov", False),
        ("https://xn--mnchen-3ya.de/a", "münchen.de", True),
        ("https://example.com/a", "", False),
        ("https://[broken", "example.com", False),
    ],
)
def test_a_domain_is_that_domain_and_those_below_it(url, domain, belongs):
    assert within(url, domain) is belongs


@pytest.mark.parametrize(
    ("published", "date_from", "date_to", "fits"),
    [
        (None, "2020-01-01", None, True),
        ("2019-12-31", "2020-01-01", None, False),
        ("2020-01-01T10:00:00Z", "2020-01-01", "2020-01-01", True),
        ("2020", "2020-06-01", None, True),
        ("2019", "2020-06-01", None, False),
        ("2020-05", None, "2020-05-20", True),
        ("2020-06-01", None, "2020-05", False),
        ("2020-05-31", None, "2020-05", True),
    ],
)
def test_a_date_is_held_against_the_range_as_far_as_it_is_known(published, date_from, date_to, fits):
    assert in_range(published, date_from, date_to) is fits


def test_preferred_domains_come_first_and_nothing_is_dropped_for_them():
    hits = [Hit(url=f"https://{name}.example/", title=name) for name in ("a", "b", "c")]

    ranked = enforced(hits, QUERY, prefer=("c.example",))

    assert [hit.title for hit in ranked] == ["c", "a", "b"]


def test_documents_of_the_user_are_of_no_domain_and_held_to_the_dates_alone():
    query = SearchQuery(text="ice", domains=("a.example",), exclude_domains=("files",), date_from="2020")
    found = {
        "library:/files/a.md": None,
        "upload:/1/b.pdf": "2014",
        "upload:/1/c.pdf": "2021",
        "https://b.example/": None,
    }
    hits = [Hit(url=url, title="t", published=published) for url, published in found.items()]

    assert [hit.url for hit in enforced(hits, query)] == ["library:/files/a.md", "upload:/1/c.pdf"]


def test_a_month_ends_on_its_last_day():
    assert [whole_day(date, last=True) for date in ("2024", "2024-02", "2023-02", "2023-02-01", None)] == [
        "2024-12-31",
        "2024-02-29",
        "2023-02-28",
        "2023-02-01",
        None,
    ]


# ---- how a question is put


def test_a_page_of_background_is_shortened_to_what_it_asks():
    asked = prepared(SearchQuery(text=(CASES / "C13" / "question.txt").read_text("utf-8")))

    text = asked.query.text
    assert len(text) <= 400
    assert "site:" not in text
    assert all(word in text for word in ("2019", "2024", "Telmar", "Brindle", "ice", "closure rule", "Sarn"))
    assert asked.prefer == ("board.orvane.example", "telmar-observatory.example")
    assert asked.query.domains == ()


@pytest.mark.parametrize(
    ("background", "question"),
    [
        (
            "Ich arbeite für eine kleine Stiftung. Bitte schreibe zwei Seiten. Unser Vorstand liest nur Deutsch. ",
            "Wie viele Tage pro Winter war die Fähre zwischen Telmar und Brindle wegen Eis gesperrt?",
        ),
        (
            "Je travaille pour une petite fondation. Merci de rédiger deux pages. Nous lisons peu. ",
            "Combien de jours par hiver la ligne entre Telmar et Brindle a-t-elle été fermée à cause de la glace?",
        ),
    ],
)
def test_a_long_question_is_found_in_other_languages(background, question):
    filler = "".join(f"{background[:-2]} ({number}). " for number in range(8))

    assert question in shortened(filler + question + " " + filler)


def test_a_text_without_a_clause_that_fits_keeps_its_telling_words():
    text = "the quick ferries between alpha and beta " + " ".join(f"station{number} and" for number in range(60))

    short = shortened(text)

    assert len(short) <= 400
    assert short.startswith("quick ferries alpha beta station0")
    assert " and " not in short


@given(st.text(min_size=1, max_size=1500))
def test_no_query_is_ever_too_long_or_empty(text):
    if text.strip():
        assert 1 <= len(prepared(SearchQuery(text=text)).query.text) <= 400


def test_a_script_without_spaces_is_shortened_as_well():
    background = "我在一个小型基金会工作。我们的主席只看德语。请写两页。谢谢你的帮助。" + "".join(
        f"第{number}次会议的记录在附件里。" for number in range(60)
    )

    short = shortened(background + "特尔马到布林德尔的渡轮每个冬天因为结冰停运多少天？")

    assert len(short) <= 400
    assert "渡轮每个冬天因为结冰停运多少天？" in short


def test_keywords_are_names_and_numbers_first_in_the_order_of_the_text():
    text = "How many days per winter was the line between Telmar and Brindle closed in 2021?"

    assert keywords(text, 4) == ["winter", "Telmar", "Brindle", "2021"]


# ---- a package in the place of a service


async def no_wait(seconds: float) -> None:
    await asyncio.sleep(0)


class DDGSException(Exception):
    pass


def package(script: Sequence[Any]) -> Any:
    steps = iter(script)

    class DDGS:
        def __init__(self, timeout: int) -> None: ...

        def text(self, query: str, **more: Any) -> Any:
            step = next(steps)
            if isinstance(step, Exception):
                raise step
            return step

    return {"ddgs": SimpleNamespace(DDGS=DDGS), "ddgs.exceptions": SimpleNamespace(DDGSException=DDGSException)}


@pytest.fixture
def keyless_package(monkeypatch: pytest.MonkeyPatch) -> Any:
    def made(modules: dict[str, Any]) -> Ddgs:
        for name, module in modules.items():
            monkeypatch.setitem(sys.modules, name, module)
        return Ddgs(SERVICES["ddgs"], Access(retry=RetryPolicy(sleep=no_wait)))

    return made


async def test_an_exception_that_means_an_empty_list_is_no_failure(keyless_package):
    script = json.loads((CASES / "C15" / "provider_script.json").read_text("utf-8"))
    row = next(row for row in script if row["name"] == "exception_no_results")
    loaded = package([DDGSException(step["raises"]) for step in row["sequence"]])
    chain = Chain([keyless_package(loaded)], Pages())

    for _ in row["sequence"]:
        looked = await chain.search(QUERY)
        assert (looked.hits, looked.failures) == ((), ())


async def test_other_exceptions_of_the_keyless_package_are_failures(keyless_package):
    loaded = package([DDGSException("Ratelimit"), [{"href": WEB, "title": "A", "body": "b"}, "oops"]])

    result = await keyless_package(loaded).search(QUERY)

    assert urls(result) == [WEB]


async def test_a_keyless_package_that_is_missing_says_so(keyless_package):
    with pytest.raises(SearchFailed, match="pip install ddgs"):
        await keyless_package({"ddgs": None}).search(QUERY)


# ---- choosing


def chosen(
    names: str = "", *, keys: dict[str, str] | None = None, bases: dict[str, str] | None = None, **more: Any
) -> Any:
    listed = tuple(filter(None, names.split(",")))
    return choose(listed, values={**(keys or {}), **(bases or {})}, pages=Pages(), **more)


@pytest.mark.parametrize(
    ("names", "keys", "made"),
    [
        ("", {}, ("tavily-keyless",)),
        ("", {"TAVILY_API_KEY": "tvly-x"}, ("tavily", "tavily-keyless")),
        ("", {"TAVILY_API_KEY": "t", "FIRECRAWL_API_KEY": "f"}, ("tavily", "firecrawl", "tavily-keyless")),
        ("tavily", {"TAVILY_API_KEY": "t"}, ("tavily",)),
        ("tavily", {}, ("tavily-keyless",)),
        ("arxiv, Tavily,arxiv", {"TAVILY_API_KEY": "t"}, ("tavily", "arxiv")),
        ("academic", {}, ("openalex", "crossref", "arxiv", "pubmed")),
        ("web", {"SERPER_API_KEY": "s"}, ("serper",)),
        ("exa,brave", {"EXA_API_KEY": "e", "BRAVE_API_KEY": "b"}, ("exa", "brave")),
    ],
)
async def test_names_and_keys_decide_who_is_asked(names, keys, made, monkeypatch):
    monkeypatch.setattr(web_providers, "installed", lambda: False)

    chain = chosen(names, keys=keys)
    await chain.close()

    assert chain.names == made


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("tavilly", r"RETRIEVER names tavilly, which is no retriever\. Did you mean tavily\?"),
        ("bing", r"no retriever\. There are: tavily, "),
        ("firecrawl", "RETRIEVER names firecrawl, but FIRECRAWL_API_KEY is not set"),
        ("brave", "RETRIEVER names brave, but BRAVE_API_KEY is not set"),
        ("searxng", "RETRIEVER names searxng, but SEARXNG_API_BASE is not set"),
        ("web", "no service for it is set up. Set one of BRAVE_API_KEY, "),
        ("ddgs", "RETRIEVER names ddgs, and the package ddgs is not installed; install it with `pip install ddgs`"),
        ("library", "there is no library"),
    ],
)
def test_a_wrong_choice_is_refused_in_one_clear_sentence(names, message, monkeypatch):
    monkeypatch.setattr(web_providers, "installed", lambda: False)

    with pytest.raises(ConfigError, match=message):
        chosen(names)


def test_a_key_is_only_missed_where_its_retriever_is_named():
    assert chosen("arxiv").names == ("arxiv",)


async def test_the_library_alone_is_all_that_is_searched_and_read():
    own = chosen("library", library=library(one="ice"))

    assert (own.names, own.places, own.destinations) == (("library",), ("library",), ())
    assert urls(await own.search(SearchQuery(text="ice"))) == ["library:/a/one"]
    with pytest.raises(SourceError):
        await own.read(WEB)


async def test_every_name_can_be_chosen(monkeypatch):
    monkeypatch.setattr(web_providers, "installed", lambda: True)
    keys = dict.fromkeys(("FIRECRAWL_API_KEY", "BRAVE_API_KEY", "EXA_API_KEY", "SERPER_API_KEY"), "k")
    keys |= {"LINKUP_API_KEY": "k", "PERPLEXITYAI_API_KEY": "k"}

    for name in NAMES:
        searcher = chosen(name, keys=keys, bases={"SEARXNG_API_BASE": "http://127.0.0.1:1"}, library=library())
        assert searcher.name


# ---- narrowed to what one research may search


async def test_only_the_documents_or_only_the_web_are_searched_where_that_was_chosen() -> None:
    engine, documents = Fake("one", (WEB,)), library(ice="Ice on the lake was thick.")
    chain = Chain([engine], Pages(), documents)

    assert chain.places == ("web", "library")
    assert urls(await chain.scoped(("library",)).search(QUERY)) == ["library:/a/ice"]
    assert engine.asked == []
    web = chain.scoped(("web",))
    assert urls(await web.search(QUERY)) == [WEB]
    assert web.name == "one"
    assert len(documents.asked) == 1
    assert set(urls(await chain.scoped().search(QUERY))) == {WEB, "library:/a/ice"}


async def test_a_provider_that_fails_for_one_research_rests_for_all() -> None:
    engine = Fake("one", SearchFailed("auth", "one"))
    chain = Chain([engine], Pages(), library(ice="Ice on the lake was thick."))

    for _ in range(4):
        with pytest.raises(SearchError):
            await chain.scoped(("web",)).search(QUERY)

    assert len(engine.asked) == 1


async def test_the_sample_answers_no_research_that_has_documents_of_its_own() -> None:
    sample = library(ice="Ice on the lake was thick.")
    chain = Chain([Fake("one", "server", keyless=True)], Pages(), sample=sample)

    assert urls(await chain.scoped().search(QUERY)) == ["library:/a/ice"]
    assert urls(await chain.scoped(files=library(trains="Trains ran.")).search(QUERY)) == []
    assert len(sample.asked) == 1
