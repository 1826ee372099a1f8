"""`/memory`: what is known, as pages without a script: search it, open a quote in its context, forget for good."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Annotated, get_args
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from agents.api.access import Here, Owner
from agents.api.error_responses import not_found
from agents.api.reports import Quoted, quoted_data, quoted_page
from agents.chat.known import ASKED_S, PAGE, place_of
from agents.chat.texts import ChatTexts
from agents.contracts.memory import Remembered, Selection, Standing
from agents.contracts.report import Quote
from agents.core.errors import SourceError
from agents.core.paths import public
from agents.memory.knowledge import KnowledgeStore, MemoryDown, in_time
from agents.report.escaping import is_safe
from agents.report.html_export import STYLE
from agents.report.references import reference_of
from agents.web.url_key import registrable_domain

MOST = 50
"""Facts on one page."""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
LOOK = """
form.find{display:flex;flex-wrap:wrap;gap:8px 12px;align-items:end;font:13px/20px var(--ui)}
.find label{display:grid;gap:2px;color:var(--ink2)}.find .wide{flex:1 1 100%}
input,select,button{font:15px/22px var(--ui);color:var(--ink);background:var(--surface);border:1px solid var(--line2);
border-radius:6px;padding:5px 9px;min-width:0;max-width:100%}.wide input{width:100%}button{cursor:pointer}
ul.facts{list-style:none;padding:0}.facts>li{border-top:1px solid var(--line);padding:16px 0 10px;margin:0}
.facts blockquote{color:var(--ink)}details{font:13px/20px var(--ui);margin:0 0 8px}summary{cursor:pointer;color:var(--ink2)}
details form{display:flex;flex-wrap:wrap;gap:8px;padding:8px 0}details button{font-size:13px}
"""

memory_page = APIRouter(include_in_schema=False)


def _words(request: Request) -> ChatTexts:
    """The texts in the browser's language."""
    return ChatTexts(request.headers.get("accept-language", "en")[:2].lower())


@memory_page.get(PAGE)
async def listed(
    owner: Owner,
    site: Here,
    request: Request,
    q: Annotated[str, Query(max_length=2_000)] = "",
    domain: str = "",
    url: str = "",
    job: str = "",
    verdict: str = "",
    since: str = "",
    until: str = "",
    gone: int | None = None,
) -> HTMLResponse:
    """Search what is known; without words, what was seen last."""
    words = _words(request)
    store: KnowledgeStore | None = site.team.memory
    asked = {"q": q, "domain": domain, "url": url, "job": job, "verdict": verdict, "since": since, "until": until}
    if store is None:
        return _page(words, [_said(words("known_off"))], 501)
    where = Selection(
        kinds=("fact",), domain=domain.strip().lower(), url=url, job=job, date_from=since, date_to=until,
        verdicts=tuple(one for one in get_args(Standing) if one == verdict),
    )  # fmt: skip
    try:
        found = await in_time(store.search(owner, q, where, MOST + 1), ASKED_S)
    except MemoryDown as error:
        return _page(words, [_said(error.notice)], 502)
    shown = found[:MOST]
    titles = {one: await _title(site, owner, one) for item in shown for one in item.jobs}
    many = words("page_more" if len(found) > MOST else "page_all", facts=words.counted(len(shown), "fact"))
    body = [_search(words, asked, titles)]
    body += [_said(words("forgotten", things=words.counted(gone, "thing")))] if gone is not None else []
    body += [_said(many if shown else words("page_nothing" if any(asked.values()) else "page_empty"))]
    body += ['<ul class="facts">', *(_item(one, words, asked, titles) for one in shown), "</ul>"]
    return _page(words, body)


async def _title(site: Here, owner: str, job_id: str) -> str:
    job = await site.team.jobs.find(job_id, owner)
    return job.title if job is not None else ""


@memory_page.get(PAGE + "/quote/{item_id}")
async def opened(item_id: str, owner: Owner, site: Here, request: Request, format: str = "") -> Response:
    """Show the words of a fact in their source as it was read: all of it, or those around them where it is gone."""
    words = _words(request)
    store: KnowledgeStore | None = site.team.memory
    try:
        found = await in_time(store.get(owner, Selection(ids=(item_id,))), ASKED_S) if store else ()
    except MemoryDown as error:
        return _page(words, [_said(error.notice)], 502)
    item = found[0] if found else None
    if item is None or item.fact is None or item.source is None:
        if format == "json":
            raise not_found("Nothing is known under this id.")
        return _page(words, [_said(words("page_gone"))], 404)
    fact, start = item.fact, item.fact.start
    try:
        text = await site.team.blobs.get(item.source.text_hash)
    except SourceError:
        text = ""
    if text[start : fact.end] != fact.quote:
        text, start = item.before + fact.quote + item.after, len(item.before)
    page = item.source.page_of(fact.start)
    quote = Quote(text=fact.quote, start=start, end=start + len(fact.quote), fact_id=fact.id, page=page)
    quoted = Quoted(reference_of(item.source, 1, (quote,)), quote, text)
    if format == "json":
        note = words("known_since", date=item.since[:10])
        return JSONResponse(quoted_data(quoted, None) | {"verdict": item.verdict, "note": note})
    return quoted_page(quoted, words.language)


@memory_page.post(PAGE + "/forget")
async def forget(
    owner: Owner,
    site: Here,
    request: Request,
    id: Annotated[str, Form()] = "",
    url: Annotated[str, Form()] = "",
    domain: Annotated[str, Form()] = "",
    job: Annotated[str, Form()] = "",
    back: Annotated[str, Form(max_length=4_000)] = "",
) -> Response:
    """Forget a fact, all of a source, of a domain, or of one research; then show what is left."""
    words = _words(request)
    store: KnowledgeStore | None = site.team.memory
    where = Selection(ids=(id,) if id else (), url=url, domain=domain, job=job)
    if store is None or where.empty:
        return _page(words, [_said(words("page_gone"))], 422)
    try:
        count = await store.forget(owner, where)
    except MemoryDown as error:
        return _page(words, [_said(error.notice)], 502)
    return RedirectResponse(f"{public(PAGE)}?{back}&gone={count}".replace("?&", "?"), 303)


# ---- writing


def _page(words: ChatTexts, body: Sequence[str], status: int = 200) -> HTMLResponse:
    title = escape(words("page_title"))
    page = (
        f'<!doctype html>\n<html lang="{words.language}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title} · Dossier</title>\n<style>{STYLE}{LOOK}</style>\n</head>\n<body>\n<article>\n<header>\n"
        f'<p class="meta"><a href="{public("/")}">{escape(words("page_back"))}</a></p>\n<h1>{title}</h1>\n'
        f'<p class="meta">{escape(words("page_about"))}</p>\n</header>\n'
        + "\n".join(body)
        + "\n</article>\n</body>\n</html>\n"
    )
    # Without a referrer a browser says no origin with a form either, and forms of no origin are refused.
    headers = {"Content-Security-Policy": POLICY, "Cache-Control": "no-store", "Referrer-Policy": "same-origin"}
    return HTMLResponse(page, status, headers=headers)


def _said(text: str) -> str:
    return f'<p role="status">{escape(text)}</p>'


def _search(words: ChatTexts, asked: Mapping[str, str], titles: Mapping[str, str]) -> str:
    def field(name: str, kind: str = "text", cls: str = "") -> str:
        value = escape(asked[name])
        return (
            f'<label class="{cls}">{escape(words(f"page_{name}"))}'
            f'<input type="{kind}" name="{name}" value="{value}"></label>'
        )

    def choice(name: str, options: Mapping[str, str]) -> str:
        chosen = "".join(
            f'<option value="{escape(value)}"{" selected" if value == asked[name] else ""}>{escape(label)}</option>'
            for value, label in {"": words("page_any"), **options}.items()
        )
        return f'<label>{escape(words(f"page_{name}"))}<select name="{name}">{chosen}</select></label>'

    verdicts = {one: words(f"standing_{one}") for one in get_args(Standing) if one != "insufficient"}
    jobs = {one: _short(title or one[:12]) for one, title in titles.items()}
    fields = [
        field("q", "search", "wide"), field("domain"), field("since", "date"), field("until", "date"),
        choice("verdict", verdicts), choice("job", jobs),
        f'<button type="submit">{escape(words("page_search"))}</button>',
    ]  # fmt: skip
    return f'<form class="find" method="get" action="{public(PAGE)}" role="search">{"".join(fields)}</form>'


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:59].rstrip() + "…"


def _item(item: Remembered, words: ChatTexts, asked: Mapping[str, str], titles: Mapping[str, str]) -> str:
    if item.fact is None or item.source is None:
        return ""
    source, domain = item.source, registrable_domain(item.source.url)
    title = escape(source.title)
    if is_safe(source.url):
        title = f'<a href="{escape(source.url)}" rel="noopener noreferrer" target="_blank">{title}</a>'
    meta = [title, *(escape(one) for one in (source.published, words(f"standing_{item.verdict}")) if one)]
    meta += [escape(words("known_since", date=item.since[:10]))]
    meta += [escape(words("page_seen", date=item.seen[:10]))] if item.seen[:10] != item.since[:10] else []
    meta += [f'<a href="{escape(place_of(item))}">{escape(words("page_open"))}</a>']
    if not asked["url"]:
        same = escape(urlencode({"url": source.url}))
        meta.append(f'<a href="{public(PAGE)}?{same}">{escape(words("page_same"))}</a>')
    if item.against:
        meta.append(escape(words("page_against", n=len(item.against))))
    choices = [("id", item.id, words("forget_fact")), ("url", source.url, words("forget_source"))]
    choices += [("domain", domain, words("forget_domain", domain=domain))] if domain and "." in domain else []
    choices += [
        ("job", job, words("forget_job", title=_short(titles[job]) if titles[job] else job[:12])) for job in item.jobs
    ]
    buttons = "".join(
        f'<button name="{name}" value="{escape(value)}">{escape(label)}</button>' for name, value, label in choices
    )
    back = escape(urlencode({name: value for name, value in asked.items() if value}))
    return (
        f'<li><blockquote dir="auto"><p>{escape(item.text)}</p></blockquote>'
        f'<p class="meta" dir="auto">{" · ".join(meta)}</p>'
        f"<details><summary>{escape(words('page_forget'))}</summary>"
        f'<form method="post" action="{public(PAGE)}/forget"><input type="hidden" name="back" value="{back}">{buttons}</form>'
        "</details></li>"
    )
