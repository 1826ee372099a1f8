"""`/memory`: what is known, as pages without a script: search it, open a quote in its context, forget for good."""

from pathlib import Path
from typing import Annotated, get_args
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Form, Query, Request, UploadFile
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from jinja2 import Environment, StrictUndefined

from agents.api.app_state import Here, Owner
from agents.api.error_responses import not_found
from agents.api.mcp_server import Known
from agents.api.reports import Quoted, quoted_data, quoted_page
from agents.chat.runs import ASKED_S, PAGE, place_of
from agents.chat.texts import ChatTexts
from agents.contracts.fact import Day, Selection, Standing
from agents.contracts.report import Quote
from agents.core.errors import SourceError
from agents.core.paths import public
from agents.memory.knowledge import imported, in_time
from agents.report.escaping import is_safe
from agents.report.html_export import STYLE
from agents.report.references import reference_of
from agents.web.url_key import registrable_domain

MOST = 50  # facts on one page
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
PAGES = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
TEMPLATE = PAGES.from_string(Path(__file__).with_name("memory.html").read_text("utf-8"))


def _words(request: Request) -> ChatTexts:
    """The texts in the browser's language."""
    return ChatTexts(request.headers.get("accept-language", "en")[:2].lower())


Words = Annotated[ChatTexts, Depends(_words)]


memory_page = APIRouter(include_in_schema=False)


@memory_page.get(PAGE)
async def listed(
    owner: Owner, site: Here, store: Known, words: Words, q: Annotated[str, Query(max_length=2_000)] = "",
    domain: str = "", url: str = "", job: str = "", verdict: str = "", since: Day = "", until: Day = "",
    gone: int | None = None, new: int | None = None, known: int = 0, broken: int = 0
) -> HTMLResponse:  # fmt: skip
    """Search what is known; without words, what was seen last."""
    asked = {"q": q, "domain": domain, "url": url, "job": job, "verdict": verdict, "since": since, "until": until}
    where = Selection(
        kinds=("fact",), domain=domain.strip().lower(), url=url, job=job, date_from=since, date_to=until,
        verdicts=tuple(one for one in get_args(Standing) if one == verdict),
    )  # fmt: skip
    found = await in_time(store.search(owner, q, where, MOST + 1), ASKED_S)
    shown = found[:MOST]
    finders = dict.fromkeys(one for item in shown for one in item.jobs)
    jobs = {one: by.title if (by := await site.team.jobs.find(one, owner)) else one for one in finders}
    contrary = Selection(ids=tuple({other for item in shown for other in item.against}))
    others = {one.id: one for one in (await store.get(owner, contrary) if contrary.ids else ())}
    many = words("page_more" if len(found) > MOST else "page_all", facts=words.counted(len(shown), "fact"))
    said = [words("forgotten", things=words.counted(gone, "thing"))] if gone is not None else []
    said += [words("page_taken", new=new, known=known, broken=broken)] if new is not None else []
    said.append(many if shown else words("page_nothing" if any(asked.values()) else "page_empty"))
    verdicts = {one: words(f"standing_{one}") for one in get_args(Standing)}
    back = urlencode({name: value for name, value in asked.items() if value})
    return _page(
        words, *said, asked=asked, choices={"verdict": verdicts, "job": jobs}, items=shown, others=others, back=back
    )


@memory_page.get(PAGE + "/quote/{item_id}")
async def opened(item_id: str, owner: Owner, site: Here, store: Known, words: Words, format: str = "") -> Response:
    """Show the words of a fact in their source as it was read: all of it, or those around them where it is gone."""
    (item,) = await in_time(store.get(owner, Selection(ids=(item_id,))), ASKED_S) or (None,)
    if item is None or item.fact is None or item.source is None:
        if format == "json":
            raise not_found("Nothing is known under this id.")
        return _page(words, words("page_gone"), status=404)
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
        return JSONResponse(quoted_data(quoted, None) | {"verdict": item.verdict, "known_since": item.since[:10]})
    return quoted_page(quoted, words.language)


@memory_page.post(PAGE + "/forget")
async def forget(
    owner: Owner, store: Known, words: Words, id: Annotated[str, Form()] = "", url: Annotated[str, Form()] = "",
    domain: Annotated[str, Form()] = "", job: Annotated[str, Form()] = "",
    back: Annotated[str, Form(max_length=4_000)] = ""
) -> Response:  # fmt: skip
    """Forget a fact, all of a source, of a domain, or of one research; then show what is left."""
    where = Selection(ids=(id,) if id else (), url=url, domain=domain, job=job)
    if where.empty:
        return _page(words, words("page_gone"), status=422)
    count = await store.forget(owner, where)
    return RedirectResponse(f"{public(PAGE)}?{back}&gone={count}".replace("?&", "?"), 303)


@memory_page.post(PAGE + "/import")
async def take(owner: Owner, store: Known, file: UploadFile) -> Response:
    """Take an export in; it becomes the caller's."""
    lines = (await file.read()).decode("utf-8", "replace").splitlines()
    new, known, broken = await imported(store, owner, lines)
    return RedirectResponse(f"{public(PAGE)}?new={new}&known={known}&broken={broken}", 303)


def _page(words: ChatTexts, *said: str, status: int = 200, **shown: object) -> HTMLResponse:
    nothing: dict[str, object] = {"asked": None, "choices": {}, "items": (), "others": {}, "back": ""}
    page = TEMPLATE.render(
        nothing | shown, words=words, said=said, style=STYLE, root=public(""), page=public(PAGE), safe=is_safe,
        place_of=place_of, domain_of=registrable_domain,
    )  # fmt: skip
    # Without a referrer a browser says no origin with a form either, and forms of no origin are refused.
    headers = {"Content-Security-Policy": POLICY, "Cache-Control": "no-store", "Referrer-Policy": "same-origin"}
    return HTMLResponse(page, status, headers=headers)
