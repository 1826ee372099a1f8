"""Hits held against what a query asks for: domains, dates, no address twice; and ranked lists of hits made one.

How a question is put to a search provider: its `site:` words become filters, a long one is shortened.
"""

import calendar
import math
import re
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from agents.contracts.sources import Hit, SearchQuery, SourceLimits
from agents.nlp import lang
from agents.nlp.tokens import TOKEN, language_of, stem, stop_words
from agents.web.url_key import canonical

LIBRARY, FILES = "library:", "upload:"
"""How addresses of the user's own documents begin: those of folders, and those given in a chat."""
RANK_DAMPING = 60  # how little the first ranks count more than the later ones


def enforced(hits: Iterable[Hit], query: SearchQuery, prefer: Sequence[str] = ()) -> tuple[Hit, ...]:
    """Keep the hits that the query allows, in order; those of preferred domains first.

    A hit without a date is kept: most pages tell none, and reading them may show one.
    """
    kept: dict[str, Hit] = {}
    for hit in hits:
        if not ruled_out(hit.url, hit.published, query):
            kept.setdefault(canonical(hit.url), hit)
    ranked = sorted(kept.values(), key=lambda hit: not any(within(hit.url, domain) for domain in prefer))
    return tuple(ranked[: query.max_results])


def fuse(lists: Iterable[Sequence[Hit]], most: int | None = None) -> tuple[Hit, ...]:
    """Merge ranked lists by reciprocal rank (Cormack, Clarke and Büttcher 2009): scores of two providers never compare."""
    first: dict[str, Hit] = {}
    scores: defaultdict[str, float] = defaultdict(float)
    for hits in lists:
        for rank, hit in enumerate(hits, start=1):
            first.setdefault(canonical(hit.url), hit)
            scores[canonical(hit.url)] += 1 / (RANK_DAMPING + rank)
    ranked = sorted(first, key=lambda key: -scores[key])[:most]
    return tuple(first[key].model_copy(update={"score": scores[key]}) for key in ranked)


def within(url: str, domain: str) -> bool:
    """Tell whether an address belongs to a domain or one below it; `example.com/blog` also asks for the path."""
    wanted_host, wanted_path = _parts(domain)
    host, path = _parts(url)
    if not wanted_host:
        return False
    suffix = wanted_host if wanted_host.startswith(".") else "." + wanted_host
    if host != wanted_host and not host.endswith(suffix):
        return False
    return not wanted_path or path == wanted_path or path.startswith(wanted_path + "/")


def in_both(first: Sequence[str], second: Sequence[str]) -> tuple[str, ...]:
    """Give the domains that two lists of required ones both allow, the narrower of each pair; an empty list allows all.

    Empty, where both are given, means that they have none in common.
    """
    if not first or not second:
        return tuple(first or second)
    narrower = [one for one in second if any(within(one, wider) for wider in first)]
    return tuple(dict.fromkeys((*narrower, *(one for one in first if any(within(one, wider) for wider in second)))))


def in_range(published: str | None, date_from: str | None, date_to: str | None) -> bool:
    """Tell whether a date may lie in a range, each as precise as known; no date may lie anywhere."""
    day = (published or "")[:10]
    starts, ends = ((date or "")[:10][: len(day)] for date in (date_from, date_to))
    return starts <= day[: len(starts)] and day[: len(ends)] <= ends


def ruled_out(url: str, published: str | None, limits: SourceLimits) -> Literal["", "excluded", "elsewhere", "dates"]:
    """Say which limit leaves a document out; empty when none does."""
    if not url.startswith((LIBRARY, FILES)):
        if any(within(url, domain) for domain in limits.exclude_domains):
            return "excluded"
        if limits.domains and not any(within(url, domain) for domain in limits.domains):
            return "elsewhere"
    return "" if in_range(published, limits.date_from, limits.date_to) else "dates"


def bare_domain(domain: str) -> str:
    """Write a domain as providers want it: no scheme, no path, no `www.`, no star."""
    return _parts(domain)[0].lstrip(".")


def whole_day(date: str | None, *, last: bool = False) -> str | None:
    """Complete an ISO date that is a year or a month: many services take days only."""
    if not date:
        return None
    if len(date) == len("2024"):
        date += "-12" if last else "-01"
    if len(date) == len("2024-12"):
        days = calendar.monthrange(int(date[:4]), int(date[5:7]))[1]
        date += f"-{days:02}" if last else "-01"
    return date[:10]


def _parts(address: str) -> tuple[str, str]:
    """Split a domain, with or without scheme and path, into host and path."""
    address = address.strip()
    try:
        split = urlsplit(address if "://" in address else "//" + address)
        host = (split.hostname or "").removeprefix("*.").rstrip(".").removeprefix("www.")
        return host if host.isascii() else host.encode("idna").decode("ascii"), split.path.rstrip("/")
    except ValueError:  # of which errors of encoding are
        return "", ""


MAX_QUERY = 400  # characters that search providers take; some refuse more, some cut the point off
_SITE = re.compile(r"(?<![\w-])(?P<minus>-?)site:\s*(?P<domain>[\w-]+(?:\.[\w-]+)+(?:/[^\s,;)]*)?)", re.IGNORECASE)
_LEFT_OVER = re.compile(r"\(\s*(?:(?:OR|AND|\|)\s*)*\)|(?:\b(?:OR|AND)\b|\|)\s*(?=$|\))|^\s*(?:OR|AND)\b")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n+")
_ASKING_SIGNS = re.compile("\\?|？|吗|什么|多少|如何|哪|か。")


@dataclass(frozen=True)
class ProviderQuery:
    """A query as a provider can take it."""

    query: SearchQuery
    """Short enough, without `site:` words, their domains among those to include and exclude."""
    prefer: tuple[str, ...] = ()
    """Domains whose hits come first, where the user named them without wanting nothing else."""


def prepared(query: SearchQuery) -> ProviderQuery:
    """Put a query so that a provider can take it.

    `site:` in a query of a few words means that site only. In a page of prose it stands among other wishes ("first,
    but not only"): there the sites are preferred.
    """
    text, named, excluded = _without_sites(query.text)
    is_prose = len(text) > MAX_QUERY
    text = shortened(text) or " ".join(dict.fromkeys(bare_domain(domain) for domain in named))
    include = query.domains if is_prose else _joined(query.domains, named)
    asked = query.model_copy(
        update={
            "text": text or query.text[:MAX_QUERY],
            "domains": include,
            "exclude_domains": _joined(query.exclude_domains, excluded),
        }
    )
    return ProviderQuery(asked, named if is_prose else ())


def shortened(text: str, limit: int = MAX_QUERY) -> str:
    """Shorten a text to its most telling sentences; of what no longer fits whole, the telling words."""
    text = " ".join(text.split())
    if len(text) <= limit:
        return text
    sentences = list(dict.fromkeys(part.strip() for part in _SENTENCE_END.split(text) if part and part.strip()))
    chosen: dict[str, str] = {}
    left = limit
    for sentence in sorted(sentences, key=_worth, reverse=True):
        fits = len(sentence) <= left
        words = " ".join(dict(_telling(sentence)).values())
        chosen[sentence] = sentence if fits else textwrap.shorten(words, max(1, left), placeholder="")
        left -= len(chosen[sentence]) + 1
        if not fits or left < limit // 4:
            break
    return " ".join(chosen[one] for one in sentences if one in chosen).strip(" ,;:")


def keywords(text: str, most: int) -> list[str]:
    """Give the telling words of a text as they are written, at most so many, in order.

    For indexes that look for all words of a query: names and numbers go first, then what is long.
    """
    found = dict(_telling(text))

    def weight(key: str) -> float:
        return _weight(found[key], at_start=text.startswith(found[key])) + len(key) / 100

    ranked = sorted(found, key=weight, reverse=True)[:most]
    return [found[key] for key in found if key in ranked]


def _without_sites(text: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    named: list[str] = []
    excluded: list[str] = []
    for match in _SITE.finditer(text):
        (excluded if match["minus"] else named).append(match["domain"].rstrip("./").lower())
    if not named and not excluded:
        return text, (), ()
    plain = _SITE.sub(" ", text)
    while (cleaner := _LEFT_OVER.sub(" ", plain)) != plain:
        plain = cleaner
    return " ".join(plain.split()), tuple(dict.fromkeys(named)), tuple(dict.fromkeys(excluded))


def _joined(first: Sequence[str], second: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def _telling(text: str) -> Iterable[tuple[str, str]]:
    """Give stem and spelling of each word that carries meaning."""
    stop = stop_words(language_of(text))
    for match in TOKEN.finditer(text):
        word = match[0]
        if word.casefold() not in stop:
            yield stem(word.casefold()), word


def _weight(word: str, *, at_start: bool) -> float:
    """Names and numbers say what a question is about; a capital at the start of a sentence says nothing."""
    if len(word) > 2 and word[0].isalpha() and not word[0].isupper() and not word[0].islower():
        return len(word) / 2  # a run of a script without spaces holds several words
    return 2.0 if any(letter.isdigit() for letter in word) or (word[:1].isupper() and not at_start) else 1.0


def _worth(sentence: str) -> float:
    """Tell how much of the question is in a sentence: telling words, names and numbers first, and that it asks."""
    weight = sum(_weight(word, at_start=sentence.startswith(word)) for word in dict(_telling(sentence)).values())
    asks = _ASKING_SIGNS.search(sentence) or lang.cue("asking").search(sentence)
    return weight * (3 if asks else 1) / math.sqrt(max(len(sentence), 40))
