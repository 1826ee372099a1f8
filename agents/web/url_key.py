"""Addresses as keys: which of them name one page, whose site they belong to, and which links are worth following.

Knows the text of addresses only: that a mobile page or an AMP page is the same page, the page itself has to say.
"""

import ipaddress
import re
import tomllib
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from posixpath import normpath
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, unquote, urlencode, urljoin, urlsplit, urlunsplit

from tld import Result, get_tld

from agents.nlp.tokens import one_line

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_SAID = tomllib.loads(Path(__file__).with_name("addresses.toml").read_text("utf-8"))


_TRACKERS, _SIGNATURES, _WITH_SIGNATURE, _IS_SIGNED, _LEADS_ON = (
    re.compile("|".join(_SAID[key]), re.I)
    for key in ("trackers", "signatures", "with_signature", "is_signed", "leads_on")
)
_FORMS = tuple((re.compile(form, re.I), place) for form, place in _SAID["forms"])
_NOT_READ = re.compile(rf"\.(?:{'|'.join(_SAID['not_read'])})$", re.I)
_ACTS = re.compile(rf"(?:^|/)(?:{'|'.join(_SAID['acts'])})(?:/|$)", re.I)
_TOKENS = re.compile(r"(?:sid|s|si|session|sess|zenid|oscsid)=(?=[^&]*\d)[\w-]{16,}", re.I)
_CAME_FROM = re.compile(
    r"(?:source|src|from|via|medium|partner|feature)=(?:rss|feed|e?mail|newsletter|twitter|facebook|linkedin|social|share)",
    re.I,
)
_ARXIV = re.compile(r"(?:abs|pdf|html|format|ps)/((?:[a-z-]+(?:\.[a-z]{2})?/)?\d[\d.]+\d)(?:v\d+)?(?:\.pdf)?", re.I)
_DOI_OF_ARXIV = re.compile(r"/10\.48550/arxiv\.(\d[\d.]+\d|[a-z-]+/\d+)(?:v\d+)?", re.I)
_OF_A_FIELD = re.compile(r"\.[a-z]{2}/")  # math.GT/0309136 is math/0309136
_DOI_PATH = re.compile(
    r"/(?:doi|articles?|content|content/pdf|chapter|book)/(?:(?:abs|full|pdf|epdf|epub|pdfdirect|reader|book)/)?"
    r"(10\.\d{4,9}/[^?#/]+(?:/[^?#/]+)?)",
    re.I,
)
_FORM_OF_DOI = re.compile(
    r"(?:(?<=\d)v\d+$|\.(?:pdf|full|abstract|html|full-text)|/(?:full|abstract|pdf|epdf|html|meta)){1,3}$", re.I
)
_VERSION = re.compile(r"v?\d[\w.-]*|main|master|trunk|dev\w*|stable|latest|head|refs/.+|[0-9a-f]{7,40}", re.I)
_CODE_HOSTS = ("github.com", "githubusercontent.com", "gitlab.com", "bitbucket.org", "codeberg.org")
_ROUTE = re.compile(r"!?/.*")  # a fragment that a page of one script reads as its path
_DOI_HOSTS = {"doi.org", "dx.doi.org", "doi.dx.org"}
_ARXIV_HOSTS = {"arxiv.org", "export.arxiv.org", "ar5iv.org", "ar5iv.labs.arxiv.org", "alphaxiv.org"}
_INDEX = re.compile(r"/(?:index|default)\.(?:html?|php|aspx?)$", re.I)
_UNESCAPED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~()!*',")
_PAGED = re.compile(r"(?:^|&)(?:p|pg|page|paged|seite|start|offset)=\d+")
_SESSION = re.compile(r";(?:jsessionid|phpsessid|sid)=[^/;]*|/\(S\([a-z0-9]{10,}\)\)", re.I)
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


_WIDE = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_BREAKS = (
    r"\s<>\"'`()\[\]{}|\\^\u201c\u201d\u2018\u2019\u00ab\u00bb\u2026\u3000-\u3020\uff01-\uff20\uff3b\uff3d\uff5b-\uff65"
    r"\u060c\u061b\u061f\u06d4\u0964\u0965\u1362\u17d4\u2014\u200b-\u200f\u202a-\u202e\ufffc"
)
IN_TEXT = re.compile(
    r"https?://(?:\[[0-9a-f:.]+\])?"
    rf"(?:[^{_BREAKS}{_WIDE}]|(?<![A-Za-z0-9])[{_WIDE}]|\([^\s()<>]*\)|\[[^\s\[\]<>]*\])+(?<![.,;:!?*_~'\u00b7\u0589])",
    re.I,
)
"""An address in running text of any script: without the punctuation, quotes and brackets around it, and without the words
that follow it where no spaces are written. Brackets belong to it in pairs only."""

MAX_ADDRESS = 8_192
"""Characters; no server takes more, and each address that leads on to another one inside it is a call of its own."""
MAX_LINKS = 60  # links of one page that are kept, in the order of the page
MAX_LABEL = 160
_FRAME = frozenset(("nav", "header", "footer", "aside", "form"))

Links = tuple[tuple[str, str], ...]
"""Address and label of each link of a page's own text to pages of its site."""


@lru_cache(maxsize=16_384)
def canonical(url: str) -> str:
    """Give the key under which an address is one page: addresses with one key are read and counted once.

    Scheme (http and https), `www.`, case of the host, default ports, user name and password, needless escapes, dot
    segments, a last slash, index pages, fragments, and the parameters that only follow readers or sign links do not
    count; nor do the versions and forms of a preprint and the forms of an article with a DOI. The key is for comparing:
    what is shown and fetched is the address itself (`display`). It begins with `https://`; addresses that are not of the
    web, malformed, or longer than `MAX_ADDRESS` come back as they are.
    """
    written = _CONTROL.sub("", url).strip()
    if len(written) > MAX_ADDRESS:
        return written
    try:
        parts = urlsplit(written)
        host, port = _ascii(parts.hostname or "").removeprefix("www."), parts.port
    except ValueError:  # a port that is no number, a bracket without its partner
        return written
    if parts.scheme.lower() not in {"http", "https"} or not host:
        return written
    if led := _LEADS_ON.fullmatch(f"{host}{parts.path}{'?' * bool(parts.query)}{parts.query}"):
        return canonical(unquote(led["target"]) if led["target"] else f"https://{led['plain'] or led['cached']}")
    path = _INDEX.sub("/", normpath(f"/{_unescaped(_SESSION.sub('', parts.path)).lstrip('/')}"))
    work, path, query = _work(host, path, parts.query)
    host, path = work, path.rstrip("/") or "/"
    place = f"[{host}]" if ":" in host else host
    if port not in {None, {"http": 80, "https": 443}[parts.scheme.lower()]}:
        place = f"{place}:{port}"
    fragment = parts.fragment if _ROUTE.fullmatch(parts.fragment) else ""
    return urlunsplit(("https", place, path, _plain_query(query, host), fragment))


def _work(host: str, path: str, query: str) -> tuple[str, str, str]:
    """Give host, path and query of a work that has addresses in several forms: a preprint, an article with a DOI."""
    whole = f"{host}{path}{'?' * bool(query)}{query}"
    for form, place in _FORMS:
        if (found := form.fullmatch(whole)) or (found := form.fullmatch(f"{host}{path}")):
            host, _, rest = place.format(*found.groups()).partition("/")
            path, _, query = f"/{rest}".partition("?")
            break
    if host in _ARXIV_HOSTS and (found := _ARXIV.fullmatch(path.strip("/"))):
        return "arxiv.org", f"/abs/{_OF_A_FIELD.sub('/', found[1].lower())}", ""
    if host not in _DOI_HOSTS:
        named = [value for name, value in parse_qsl(query) if name == "id" and value.startswith("10.") and "/" in value]
        found = _DOI_PATH.fullmatch(_FORM_OF_DOI.sub("", _FORM_OF_DOI.sub("", f"/doi/{named[0]}" if named else path)))
        return ("doi.org", f"/{found[1].lower()}", "") if found else (host, path, query)
    path = unquote(path).lower().rstrip(".,;")
    found = _DOI_OF_ARXIV.fullmatch(path)
    return ("arxiv.org", f"/abs/{found[1]}", "") if found else ("doi.org", path, query)


def identity(url: str, declared: str | None) -> str:
    """Give the key of a page that was read: of the address that it declares as its own, where that is believed.

    A page of a mobile host or an AMP page is joined with its main page so. A declaration that leads to another site,
    from a page to the front page, or from a later page to the first, is not believed: careless templates make such.
    """
    key = canonical(url)
    if not declared or registrable_domain(declared) != registrable_domain(url):
        return key
    own = canonical(declared)
    here, there = urlsplit(key), urlsplit(own)
    to_front = there.path == "/" != here.path
    to_first = bool(_PAGED.search(here.query)) and not _PAGED.search(there.query)
    return key if to_front or to_first else own


def display(url: str) -> str:
    """Give an address as it may be shown and kept: as it is, without user name, password, and what follows its reader."""
    head, mark, rest = url.strip().partition("://")
    if not mark:
        return url.strip()
    place = re.split(r"[/?#\\]", rest, maxsplit=1)[0]
    path, question, query = rest[len(place) :].partition("?")
    query, fragment, anchor = query.partition("#")
    kept = [part for part in query.split("&") if not _follows(*part.partition("=")[::2])]
    query = f"?{'&'.join(kept)}" if any(kept) or (question and not query) else ""
    return f"{head}://{place.rpartition('@')[2]}{_SESSION.sub('', path)}{query}{fragment}{anchor}"


def _follows(name: str, value: str) -> bool:
    """Tell a parameter that only follows readers, or is the token of a session."""
    pair = f"{name}={value}"
    return bool(_TRACKERS.fullmatch(name) or _TOKENS.fullmatch(pair) or _CAME_FROM.fullmatch(pair))


@lru_cache(maxsize=16_384)
def registrable_domain(host_or_url: str) -> str:
    """Give the part of a host name that somebody registered: `bbc.co.uk` for `https://www.bbc.co.uk/news`.

    It tells whose pages they are, by the Public Suffix List that the package `tld` carries. Lower case, international names
    in their ASCII form; a numeric address as it is; empty when there is no host.
    """
    try:
        host = urlsplit(host_or_url if "//" in host_or_url else f"//{host_or_url}").hostname or ""
    except ValueError:
        return ""
    host = _ascii(host.strip())
    with suppress(ValueError):
        ipaddress.ip_address(host)
        return host
    if "." not in host:
        return host
    found = get_tld(f"https://{host}", as_object=True, fail_silently=True, search_private=True)
    return found.fld if isinstance(found, Result) else ".".join(host.split(".")[-2:])


def publisher(url: str, named: str | None) -> str:
    """Name who speaks: the registrable domain of a web page; else the publisher or author named, else the document."""
    if url.startswith(("http://", "https://")):
        return registrable_domain(url) or url
    return " ".join((named or "").split()) or url


def link(base: str, href: str) -> str:
    """Give the absolute address of a link in a page, without its fragment; empty when it is not one of the web.

    Links that carry a user name or a password are none either.
    """
    href = _CONTROL.sub("", href.strip().replace(" ", "%20"))
    if not href or href.startswith("#"):
        return ""
    try:
        joined = urljoin(base, href)
        parts = urlsplit(joined)
        if parts.scheme not in {"http", "https"} or not parts.hostname or "@" in parts.netloc:
            return ""
    except ValueError:
        return ""
    return joined if _ROUTE.fullmatch(parts.fragment) else urlunsplit(parts._replace(fragment=""))


def host_of(url: str) -> str:
    """Give the host of an address without `www.`; empty where there is none."""
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:  # a bracket without its partner
        return ""


def same_site(one: str, other: str) -> bool:
    """Tell whether two addresses belong to one registrable domain."""
    domain = registrable_domain(one)
    return bool(domain) and domain == registrable_domain(other)


def worth_following(url: str) -> bool:
    """Tell whether a link may lead to something to read: no picture or program, no log-in, basket or print view."""
    path = urlsplit(url).path
    return not _NOT_READ.search(path) and not _ACTS.search(path)


def links_of(tree: "HtmlElement", url: str) -> Links:
    """Give the links in the text of a page, each address once; those of menus, margins and footers are left out."""
    found: dict[str, tuple[str, str]] = {canonical(url): (url, "")}
    for anchor in tree.iter("a"):
        address = link(url, anchor.get("href") or "")
        if not address or not same_site(address, url) or not worth_following(address):
            continue
        label = one_line(anchor.text_content())[:MAX_LABEL]
        if label and not any(above.tag in _FRAME for above in anchor.iterancestors()):
            found.setdefault(canonical(address), (address, label))
        if len(found) > MAX_LINKS:
            break
    return tuple(found.values())[1:]


def _ascii(host: str) -> str:
    host = host.lower().rstrip(".")
    with suppress(UnicodeError):
        return host if host.isascii() else host.encode("idna").decode("ascii")
    return host


def _unescaped(text: str) -> str:
    """Undo the escapes of letters that need none, write the others in capitals, and escape what is foreign."""
    plain = _ESCAPE.sub(lambda one: char if (char := chr(int(one[1], 16))) in _UNESCAPED else one[0].upper(), text)
    return quote(plain, safe="%/:@!$&'()*+,;=~-._")


def _plain_query(query: str, host: str) -> str:
    # Bytes that are no UTF-8 stay what they are: pages in other encodings differ by them.
    pairs = parse_qsl(query, keep_blank_values=True, errors="surrogateescape")
    signed = any(_IS_SIGNED.fullmatch(name) for name, _ in pairs)
    kept = [
        (name, value)
        for name, value in pairs
        if not _follows(name, value)
        and not (name.lower() == "ref" and not (host in _CODE_HOSTS or _VERSION.fullmatch(value)))
        and not (signed and (_SIGNATURES.fullmatch(name) or _WITH_SIGNATURE.fullmatch(name)))
    ]
    return urlencode(sorted(kept), errors="surrogateescape")
