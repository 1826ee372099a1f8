"""Hits held against what a query asks for: domains, dates, no address twice; and ranked lists of hits made one."""

import calendar
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from agents.contracts.source import Hit, SearchQuery
from agents.web.url_key import canonical


def enforced(hits: Iterable[Hit], query: SearchQuery, prefer: Sequence[str] = ()) -> tuple[Hit, ...]:
    """Keep the hits that the query allows, in order; those of preferred domains first.

    A hit without a date is kept: most pages tell none, and reading them may show one.
    """
    kept: dict[str, Hit] = {}
    for hit in hits:
        if _allowed(hit, query):
            kept.setdefault(canonical(hit.url), hit)
    ranked = sorted(kept.values(), key=lambda hit: not any(within(hit.url, domain) for domain in prefer))
    return tuple(ranked[: query.max_results])


def fuse(lists: Iterable[Sequence[Hit]], most: int | None = None, k: int = 60) -> tuple[Hit, ...]:
    """Merge ranked lists by reciprocal rank (Cormack, Clarke and Büttcher 2009): scores of two providers never compare.

    Args:
        lists: each best first.
        most: hits, at most.
        k: how little the first ranks count more than the later ones.
    """
    scores: dict[str, float] = {}
    first: dict[str, Hit] = {}
    for hits in lists:
        for rank, hit in enumerate(hits):
            key = canonical(hit.url)
            scores[key] = scores.get(key, 0.0) + 1 / (k + rank + 1)
            first.setdefault(key, hit)
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
    if not published:
        return True

    def not_before(later: str, earlier: str) -> bool:
        length = min(len(later), len(earlier))
        return later[:length] >= earlier[:length]

    day = published[:10]
    return not ((date_from and not not_before(day, date_from[:10])) or (date_to and not not_before(date_to[:10], day)))


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


def _allowed(hit: Hit, query: SearchQuery) -> bool:
    if query.include_domains and not any(within(hit.url, domain) for domain in query.include_domains):
        return False
    if any(within(hit.url, domain) for domain in query.exclude_domains):
        return False
    return in_range(hit.published, query.date_from, query.date_to)


def _parts(address: str) -> tuple[str, str]:
    """Split a domain, with or without scheme and path, into host and path."""
    address = address.strip()
    try:
        split = urlsplit(address if "://" in address else "//" + address)
        host = split.hostname or ""
    except ValueError:
        return "", ""
    host = host.removeprefix("*.").rstrip(".").removeprefix("www.")
    if not host.isascii():
        try:
            host = host.encode("idna").decode("ascii")
        except UnicodeError:
            return "", ""
    return host, split.path.rstrip("/")
