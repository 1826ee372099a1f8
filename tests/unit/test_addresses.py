"""Which addresses name one page, whose site it is, and which links are worth following."""

import csv
import time
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.web.html_text import read_html
from agents.web.url_key import (
    IN_TEXT,
    canonical,
    display,
    identity,
    link,
    registrable_domain,
    same_site,
    worth_following,
)

CASES = Path(__file__).parent.parent / "data" / "cases"
with (CASES / "C16" / "urls.tsv").open(encoding="utf-8") as table:
    ROWS = list(csv.DictReader(table, delimiter="\t"))


def declared_by(url):
    """What the page at an address of the table says of itself: the mobile and the AMP page name the main one."""
    if "mobile" in next(row["note"] for row in ROWS if row["url"] == url) or "/amp/" in url:
        return read_html((CASES / "C17" / "2_amp.html").read_text("utf-8"), url).canonical
    return None


def test_addresses_of_one_group_are_one_page_and_of_two_groups_two():
    keys = defaultdict(set)
    for row in ROWS:
        keys[row["group"]].add(identity(row["url"], declared_by(row["url"])))

    assert {group: len(found) for group, found in keys.items()} == dict.fromkeys(keys, 1)
    assert len(set.union(*keys.values())) == len(keys) == 15


def test_neither_key_nor_shown_address_holds_a_password():
    url = "https://user:pw@news-orvane.example/private"

    assert display(url) == canonical(url) == "https://news-orvane.example/private"
    assert display("https://a@b:c@x.example:81/p@q?r=@#@") == "https://x.example:81/p@q?r=@#@"


@pytest.mark.parametrize(
    "url",
    [
        "https://x.example/Orvane_%28lake%29?b=2&a=1&q=a%20b+c#part",
        "https://x.example/?",
        "http://www.x.example:80/%7euser/?q=a+b",
        "library:/a",
    ],
)
def test_the_shown_address_is_the_one_that_was_retrieved(url):
    assert display(url) == url


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://x.example/a?utm_source=y&b=2&fbclid=1#part", "https://x.example/a?b=2#part"),
        ("https://x.example/a;jsessionid=12?_gl=1*2", "https://x.example/a"),
        ("https://x.example/(S(abc123def456))/a.aspx?sid=0123456789abcdef", "https://x.example/a.aspx"),
    ],
)
def test_what_follows_readers_and_sessions_is_not_shown(url, shown):
    assert display(url) == shown


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("See https://a.example/x.", "https://a.example/x"),
        ("(see https://en.example/wiki/Orvane_(lake))", "https://en.example/wiki/Orvane_(lake)"),
        ("请看（https://a.example/x），然后", "https://a.example/x"),
        ("https://a.example/x是什么？", "https://a.example/x"),
        ("https://zh.example/wiki/奥尔维尔。", "https://zh.example/wiki/奥尔维尔"),
        ("「https://a.example/x」を", "https://a.example/x"),
        ("«https://a.example/x», „https", "https://a.example/x"),
        ("انظر https://a.example/x؟", "https://a.example/x"),
        ("https://a.example/x। फिर", "https://a.example/x"),
        ("**https://a.example/x?y=1,2;**", "https://a.example/x?y=1,2"),
        ("[t](https://[2001:db8::1]/x)", "https://[2001:db8::1]/x"),
    ],
)
def test_an_address_in_running_text_ends_where_its_writer_ended_it(text, found):
    assert IN_TEXT.findall(text) == [found]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://arxiv.org/abs/2401.01234", "http://export.arxiv.org/pdf/2401.01234v2.pdf"),
        ("https://doi.org/10.48550/arXiv.2401.01234", "https://arxiv.org/html/2401.01234v1"),
        ("https://journal.example/doi/full/10.1111/abc.12", "https://dx.doi.org/10.1111/ABC.12"),
        ("https://journal.example/content/pdf/10.1007/s00-1.pdf", "https://journal.example/article/10.1007/s00-1"),
        ("https://en.m.wikipedia.org/wiki/A", "https://en.wikipedia.org/wiki/A"),
        ("https://x.example/a?PHPSESSID=1&source=rss&gad_source=2", "https://x.example/a"),
        ("https://x.example/a?b=1&c=2", "https://x.example/a?c=2&b=1"),
        ("https://x.example/index.html", "http://x.example"),
        ("https://x.example/a;jsessionid=12", "https://x.example/a"),
        ("https://x.example/ü", "https://x.example/%c3%bc"),
        ("https://x.example/a?ref=newsletter", "https://x.example/a"),
        ("https://x.example./a?", "https://x.example/a"),
        ("https://b.example/f?X-Amz-Signature=1&X-Amz-Expires=2&v=3", "https://b.example/f?v=3"),
    ],
)
def test_these_are_one_page(one, other):
    assert canonical(one) == canonical(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://x.example/a?q=%D6%D0", "https://x.example/a?q=%D6%D1"),
        ("https://x.example/a%2Fb", "https://x.example/a/b"),
        ("https://x.example/a?q=", "https://x.example/a"),
        ("https://x.example/docs?ref=v2.1", "https://x.example/docs?ref=v2.2"),
        ("https://github.com/o/r?ref=fix", "https://github.com/o/r"),
        ("https://x.example/a?expires=1", "https://x.example/a?expires=2"),
        ("https://x.example/a", "https://x.example:8443/a"),
        ("https://x.example/watch?v=abc", "https://x.example/watch?v=abd"),
        ("https://x.example/story?sid=412", "https://x.example/story?sid=413"),
        ("https://journal.example/doi/10.1111/abc.12", "https://journal.example/doi/10.1111/abc.13"),
        ("https://x.example/a?q=a%26b=c", "https://x.example/a?q=a&b=c"),
        ("https://a.x.example/", "https://b.x.example/"),
    ],
)
def test_these_are_two_pages(one, other):
    assert canonical(one) != canonical(other)


@pytest.mark.parametrize(
    "declared",
    [
        None,
        "",
        "https://other.example/2023/ice-days",
        "https://news-orvane.example/",
    ],
)
def test_a_page_is_not_believed_that_says_it_is_another(declared):
    url = "https://m.news-orvane.example/2023/ice-days"

    assert identity(url, declared) == canonical(url)


def test_a_later_page_is_not_the_first():
    url = "https://x.example/a?page=2"

    assert identity(url, "https://x.example/a") == url


@given(st.text(max_size=60) | st.from_regex(r"https?://[a-zA-Z.%@:0-9]{0,20}/[ -~]{0,40}", fullmatch=True))
def test_any_text_has_a_key_that_is_its_own_key(text):
    assert canonical(canonical(text)) == canonical(text)
    assert isinstance(registrable_domain(text), str)
    assert isinstance(link("https://x.example/a", text), str)


@pytest.mark.parametrize(
    "part",
    [
        "/full.pdf", ".pdf", "1v1", "/a/..", "&url=https:", "google.com/amp/s/", "google.com/url?q=https://", "ü.", "%41",
        ";sid=", "/(S(a", "[", "@", "1.", "?a=1&", "xn--",
    ],
)  # fmt: skip
def test_no_address_takes_time_or_the_depth_of_the_stack(part):
    began = time.process_time()
    for length in (8_000, 100_000):
        for start in ("https://", "https://x.example/", "https://google.com/url?q=https://"):
            written = f"{start}{part * (length // len(part))}!"
            assert canonical(canonical(written)) == canonical(written)
            registrable_domain(written)
            display(written)
            link("https://x.example/a", written)
            IN_TEXT.search(written)
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    ("name", "domain"),
    [
        ("https://www.bbc.co.uk/news", "bbc.co.uk"), ("a.b.c.example", "c.example"), ("example.com", "example.com"),
        ("https://data.gov.au", "data.gov.au"), ("https://www.data.gov.au/x", "data.gov.au"), ("x.ac.jp", "x.ac.jp"),
        ("https://one.github.io/", "one.github.io"), ("https://a.one.github.io/", "one.github.io"),
        ("http://127.0.0.1:8000/", "127.0.0.1"), ("http://[::1]/", "::1"), ("localhost", "localhost"), ("", ""),
        ("https://user:pw@WWW.München.example:81/", "xn--mnchen-3ya.example"), ("library:/folder/file.md", "library"),
        ("www.uni-x.de", "uni-x.de"), ("news.com.br", "news.com.br"), ("a.news.com.br", "news.com.br"),
        ("https://web.mit.edu", "mit.edu"), ("go.nl.example.", "nl.example"), ("en.wikipedia.org", "wikipedia.org"),
        ("https://[bad", ""), ("tv.sky.it", "sky.it"), ("x.web.za", "x.web.za"), ("a.gov.sg", "a.gov.sg"),
    ],
)  # fmt: skip
def test_a_site_belongs_to_whoever_registered_it(name, domain):
    assert registrable_domain(name) == domain


def test_pages_of_one_registrant_are_of_one_site():
    assert same_site("https://a.x.co.uk/1", "http://b.x.co.uk/2")
    assert not same_site("https://a.co.uk/", "https://b.co.uk/")
    assert not same_site("", "")


@pytest.mark.parametrize(
    ("href", "absolute"),
    [
        ("b", "https://x.example/b"), ("/b c#part", "https://x.example/b%20c"), ("//y.example/", "https://y.example/"),
        ("#part", ""), ("mailto:a@x.example", ""), ("javascript:void(0)", ""), ("https://u:p@x.example/", ""), ("", ""),
        ("data:text/html,x", ""), ("http://[::1", ""), ("#!/r", ""), ("/app#/r", "https://x.example/app#/r"),
        ("ht\ntp://y.example/", "http://y.example/"),
    ],
)  # fmt: skip
def test_links_become_addresses_of_the_web_or_nothing(href, absolute):
    assert link("https://x.example/a", href) == absolute


@pytest.mark.parametrize(
    ("url", "worth"),
    [
        ("https://x.example/report.pdf", True), ("https://x.example/a.html", True), ("https://x.example/a.JPG", False),
        ("https://x.example/login", False), ("https://x.example/blog/login-security", True),
        ("https://x.example/cart/", False), ("https://x.example/a.gz", False), ("https://x.example/accounting", True),
    ],
)  # fmt: skip
def test_links_are_followed_to_what_can_be_read(url, worth):
    assert worth_following(url) is worth
