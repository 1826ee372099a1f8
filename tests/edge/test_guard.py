"""No socket is opened to an address inside the network, whatever way it is written or found."""

import asyncio
import csv
import ipaddress
import json
import socket
from itertools import pairwise
from pathlib import Path

import httpcore2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.core.errors import ConfigError, SourceError
from agents.web.fetching import Fetcher
from agents.web.guard import INSIDE, AllowedHosts, Blocked, Guard, Target, is_public

CASE = Path(__file__).parent.parent / "data" / "cases" / "C32"
STAND_IN = "203.0.113.0/24"  # reserved for documentation; plays the open Internet, behind a stub
with (CASE / "urls.tsv").open(encoding="utf-8") as table:
    ROWS = list(csv.DictReader(table, delimiter="\t"))
NAMES = {
    name: answers for name, answers in json.loads((CASE / "dns.json").read_text("utf-8")).items() if name != "note"
}

MORE_REFUSED = [
    "http://127.0.0.1./", "http://１２７.０.０.１/", "http://①②⑦.0.0.1/", "http://127。0。0。1/", "http://0/", "http://[::]/",
    "http://0x7f.0.0.1/", "http://127.0.1/", "http://017700000001/", "http://%31%32%37.0.0.1/", "http://1.2.3.4.5/",
    "http://[::127.0.0.1]/", "http://[64:ff9b::a9fe:a9fe]/", "http://[64:ff9b:1::7f00:1]/", "http://[2002:7f00:1::]/",
    "http://[2002:a9fe:a9fe::1]/", "http://[fe80::1%25eth0]/", "http://[fec0::1]/", "http://[ff02::1]/",
    "http://[fd00:ec2::254]/", "http://[2001:0:7f00:1::]/", "http://[2001:db8::1]/", "http://[::ffff:7f00:1]/",
    "http://168.63.129.16/", "http://[::ffff:0:7f00:1]/", "http://[4000::1]/", "http://[100::1]/", "http://a.default.svc/",
    "http://[2001:4860:4860::8888%25lo]/", "http://100.100.100.200/", "http://192.0.0.192/", "http://198.18.0.1/", "http://192.88.99.1/", "http://240.0.0.1/",
    "http://255.255.255.255/", "http://127.255.255.254/", "http://mapped.rebind.example/", "http://nat64.rebind.example/",
    "http://order.rebind.example/", "http://cgnat.rebind.example/", "http://ⓛocalhost/", "http://lоcalhost/", "http://lócalhost/",
    "http://localhost.localdomain/", "http://printer.local/", "http://wiki/", "http://db.internal/", "http://a.home.arpa/",
    "http://public.example\\@127.0.0.1/", "http://public.example:80\t@127.0.0.1/", "http://127.0.0.1\r\nHost: x/",
    "http://:@127.0.0.1/", "http://public.example:6379/", "http://public.example:0/", "http://public.example:99999/",
    "http://", "http:///x", "http:public.example", "", "mailto:a@public.example", "ws://public.example/", "about:blank",
    "blob:https://public.example/x", "http://[::1", "http://a..b/", "http://-.example/", "http://unknown.example/",
]  # fmt: skip
MORE_NAMES = {
    "mapped.rebind.example": [["::ffff:127.0.0.1"]],
    "nat64.rebind.example": [["64:ff9b::7f00:1"]],
    "order.rebind.example": [["10.0.0.5", "203.0.113.12"]],
    "cgnat.rebind.example": [["100.64.7.7"]],
}
NOT_SITES = {"unknown.example"}


class StubNames:
    """Answers look-ups from a table: one answer after the other, the last one for ever."""

    def __init__(self, table):
        self.answers = {name: list(answers) for name, answers in table.items()}

    async def __call__(self, host, port):
        if host not in self.answers:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        answers = self.answers[host]
        return answers.pop(0) if len(answers) > 1 else answers[0]


class StubWire(httpcore2.AsyncNetworkBackend):
    """Opens nothing, notes what would be opened, and plays a server that knows some paths."""

    def __init__(self, pages):
        self.pages, self.dialled, self.asked = pages, [], []

    async def connect_tcp(self, host, port, *rest, **options):
        self.dialled.append((host, port))
        return _Stream(self)


class _Stream(httpcore2.AsyncNetworkStream):
    def __init__(self, wire):
        self.wire, self.answer = wire, b""

    async def read(self, max_bytes, **options):
        piece, self.answer = self.answer[:max_bytes], self.answer[max_bytes:]
        return piece

    async def write(self, buffer, **options):
        if not buffer:
            return
        path = buffer.decode().split()[1]
        self.wire.asked.append(path)
        self.answer = self.wire.pages.get(path, answer("ok"))

    async def aclose(self):
        return None

    async def start_tls(self, *rest, **options):
        return self

    def get_extra_info(self, info):
        return None


def answer(body="", status="200 OK", **headers):
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Content-Type: text/html", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


@pytest.fixture
def sockets(monkeypatch):
    """Every address that a socket of this process is connected to."""
    opened = []
    monkeypatch.setattr(socket.socket, "connect", lambda self, address: opened.append(address))
    monkeypatch.setattr(socket.socket, "connect_ex", lambda self, address: opened.append(address) or 0)
    return opened


@pytest.fixture
def fetcher_on():
    def build(pages=None, allowed=""):
        wire = StubWire({"/robots.txt": answer("", "404 Not Found"), **(pages or {})})
        allowed_hosts = AllowedHosts.parse(allowed)
        guard = Guard(allowed_hosts, StubNames(NAMES | MORE_NAMES), open_networks=[STAND_IN])
        return Fetcher(guard=guard, backend=wire, sleep=no_wait, per_host_rate=1_000), wire

    return build


async def no_wait(seconds):
    return None


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["url"])
async def test_every_address_of_the_table_is_judged_as_it_says(row, fetcher_on, sockets):
    fetcher, wire = fetcher_on()

    if row["expect"] == "allow":
        assert (await fetcher.fetch(row["url"])).body
        assert {ipaddress.ip_address(host) in ipaddress.ip_network(STAND_IN) for host, _ in wire.dialled} == {True}
    else:
        with pytest.raises(SourceError) as caught:
            await fetcher.fetch(row["url"])
        assert caught.value.reason
        assert wire.dialled == []
    assert sockets == []


@pytest.mark.parametrize("url", MORE_REFUSED)
async def test_other_ways_inside_are_closed_too(url, fetcher_on, sockets):
    fetcher, wire = fetcher_on()

    with pytest.raises(SourceError) as caught:
        await fetcher.fetch(url)

    assert caught.value.reason
    assert not caught.value.retryable
    assert wire.dialled == sockets == []


async def test_without_stubs_nothing_is_opened_either(sockets):
    fetcher = Fetcher()

    for row in ROWS:
        if row["expect"] == "refuse" and "rebind" not in row["url"]:  # refused by form: no name is looked up
            with pytest.raises(SourceError):
                await asyncio.wait_for(fetcher.fetch(row["url"]), 2)
    await fetcher.aclose()

    assert sockets == []


@pytest.mark.parametrize("case", json.loads((CASE / "redirects.json").read_text("utf-8")), ids=lambda one: one["start"])
async def test_redirects_are_judged_at_every_hop(case, fetcher_on, sockets):
    stops = [case["start"], *case["hops"]]
    pages = {
        "/" + here.rpartition("/")[2]: answer(status="302 Found", Location=there) for here, there in pairwise(stops)
    }
    if case.get("html"):
        pages["/r7"] = answer(case["html"])
    fetcher, wire = fetcher_on(pages)

    if case["expect"] == "refuse at the hop":
        with pytest.raises(SourceError):
            await fetcher.fetch(case["start"])
    else:
        assert (await fetcher.fetch(case["start"])).body
    assert {host for host, _ in wire.dialled} == {"203.0.113.10"}
    assert sockets == []


async def test_robots_txt_may_not_lead_inside(fetcher_on, sockets):
    fetcher, wire = fetcher_on({"/robots.txt": answer(status="302 Found", Location="http://127.0.0.1:8000/")})

    assert (await fetcher.fetch("https://public.example/")).body
    assert {host for host, _ in wire.dialled} == {"203.0.113.10"}
    assert sockets == []


async def test_what_is_dialled_is_what_was_checked_for_that_connection(fetcher_on):
    _, wire = fetcher_on()
    answers = []

    async def names(host, port):
        answers.append(f"203.0.113.{len(answers)}")
        return [answers[-1]]

    fetcher = Fetcher(guard=Guard(resolver=names, open_networks=[STAND_IN]), backend=wire, per_host_rate=1_000)

    await fetcher.fetch("https://public.example/")

    assert wire.dialled[-1] == (answers[-1], 443)


async def test_opened_hosts_are_dialled_where_the_operator_says_and_keep_their_names(httpserver):
    httpserver.expect_request("/robots.txt").respond_with_data("", 404)
    httpserver.expect_request("/b").respond_with_data("gone", 410)
    httpserver.expect_request("/a", headers={"Host": "news.example"}).respond_with_data("news")
    httpserver.expect_request("/a", headers={"Host": "wiki.example:8081"}).respond_with_data("wiki")
    here = f"127.0.0.1:{httpserver.port}"
    fetcher = Fetcher(AllowedHosts.parse(f"*.example={here}, {here}"), per_host_rate=1_000)

    news = await fetcher.fetch("http://news.example/a")
    wiki = await fetcher.fetch("http://wiki.example:8081/a")
    with pytest.raises(SourceError, match="private network"):
        await fetcher.fetch(f"http://localhost:{httpserver.port}/a")
    with pytest.raises(SourceError, match="taken away"):
        await fetcher.fetch(f"http://{here}/b")
    await fetcher.aclose()

    assert (news.body, news.final_url) == (b"news", "http://news.example/a")
    assert (wiki.body, wiki.final_url) == (b"wiki", "http://wiki.example:8081/a")


async def test_a_loopback_server_is_never_reached_unless_it_was_opened(httpserver):
    httpserver.expect_request("/in").respond_with_data("inside")
    httpserver.expect_request("/out").respond_with_data("", 302, {"Location": f"http://127.0.0.1:{httpserver.port}/in"})
    fetcher = Fetcher(AllowedHosts.parse(f"*.example=127.0.0.1:{httpserver.port}"), per_host_rate=1_000)

    for url in (f"http://127.0.0.1:{httpserver.port}/in", f"http://127.1:{httpserver.port}/in", "http://a.example/out"):
        with pytest.raises(SourceError):
            await fetcher.fetch(url)
    await fetcher.aclose()

    assert "/in" not in [request.path for request, _ in httpserver.log]


async def test_of_a_name_with_many_addresses_one_of_each_version_of_ip_is_tried():
    async def names(host, port):
        return [*(f"2606:4700::{at}" for at in range(1, 7)), "1.1.1.1"]

    targets = await Guard(resolver=names).targets("six.example.org", 443)

    assert [host for host, _ in targets] == ["2606:4700::1", "1.1.1.1", "2606:4700::2", "2606:4700::3"]


def test_an_opened_address_of_version_6_is_known_in_every_spelling():
    allowed = AllowedHosts.parse("[0:0:0:0:0:0:0:1]:8080")

    assert Guard(allowed).check("http://[::1]:8080/a").host == "::1"


def test_international_names_are_reached_by_their_ascii_form():
    assert Guard().check("https://münchen.example/eis").raw_host == b"xn--mnchen-3ya.example"


def test_the_setting_is_a_list_of_hosts_and_mappings():
    allowed = AllowedHosts.parse(" intranet.corp:8000 ,[::1]:9000, *.example=127.0.0.1:8090,")

    assert allowed.target("Intranet.corp", 8000) == Target("intranet.corp", 8000)
    assert allowed.target("intranet.corp", 80) is None
    assert allowed.target("::1", 9000) == Target("::1", 9000)
    assert allowed.target("a.b.example", 443) == Target("127.0.0.1", 8090)
    assert allowed.target("example", 443) is None
    assert AllowedHosts.parse("") == AllowedHosts()


@pytest.mark.parametrize("text", ["localhost", "a=b", "http://localhost:80", "x:0", "x:70000", "a=b=c:80", "*:"])
def test_a_setting_that_cannot_be_meant_is_refused(text):
    with pytest.raises(ConfigError, match="DOSSIER_ALLOW_PRIVATE_HOSTS"):
        AllowedHosts.parse(text)


@pytest.mark.parametrize("address", ["1.1.1.1", "8.8.8.8", "2606:4700::1111", "64:ff9b::808:808"])
def test_addresses_of_the_open_internet_are_public(address):
    assert is_public(address)


@given(st.ip_addresses(v=4))
def test_no_private_address_passes_in_any_number_form(ip):
    number = int(ip)
    forms = [
        str(number),
        hex(number),
        f"0{number:o}",
        f"[::{ip}]",
        f"[::ffff:{ip}]",
        f"[2002:{number >> 16:x}:{number & 0xFFFF:x}::]",
    ]
    for form in forms:
        with pytest.raises(Blocked):
            Guard().check(f"http://{form}/")
    if not is_public(str(ip)):
        with pytest.raises(Blocked, match=INSIDE):
            Guard().check(f"http://{ip}/")
