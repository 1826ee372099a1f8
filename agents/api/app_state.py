"""What one server consists of, opened once per process: settings, team, allowances, figures; shared by chat and routes.

What this server is set up with, and what leaves this computer: said at start, on the first page, and by a route.

How much one user, and one address, may ask of this server: so much a minute, all of it at once where nothing was asked.

Kept in memory: a restart forgets it, and each server of several counts for itself.
"""

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Annotated
from weakref import WeakValueDictionary

from fastapi import Depends, HTTPException, Request

from agents.api.error_responses import ApiError, is_ours
from agents.api.metrics import Meter
from agents.api.serve import LOCAL, is_the_key, on_loopback, owner_name
from agents.contracts.frozen import Frozen, digest
from agents.contracts.report import KeyedRequest
from agents.core.errors import TooMany
from agents.core.settings import OFFLINE, Settings, own_address
from agents.jobs.job import Job
from agents.llm.model_names import find_servers
from agents.llm.providers import PROVIDERS, at_home
from agents.team import Team

OFFLINE_LINE = (
    "No language model is set up. The offline engine quotes sources and cites them. It does not reason or paraphrase."
)
SAMPLE_DOCUMENTS = (
    "Documents: the sample library, invented documents that ship with Dossier. Set DOSSIER_LIBRARY to search your own."
)
NOTHING_LEAVES = "Nothing leaves this computer."


class Cell(Frozen):
    """One fact about this server, as the first page shows it."""

    name: str
    value: str
    note: str
    count: int = 0  # documents of the user's library; 0 where they are none, or not counted


class About(Frozen):
    """Engine, documents, and where words go."""

    engine: str
    documents: str
    leaves: str
    lines: tuple[str, ...]  # the same as sentences for the reader, most telling first
    cells: tuple[Cell, ...] = ()  # the same in few words: writes with, searches in, leaves this computer
    sample: bool
    offline: bool


def about(team: Team, own: int = 0) -> About:
    """Describe how a team is set up; `own` is the number of documents in the user's library, once they were counted."""
    offline, sample = not team.engine.reasons, team.sample
    free = set(team.engine.names) <= set(team.means.free)
    web, receivers = asked_web(team), asked_of(team)
    cut_off = _is_cut_off(team)
    others = tuple(one for one in asked_of(team, team.engine.stand_ins) if one not in receivers)

    engine = OFFLINE_LINE if offline else f"Model: {team.engine.name}."
    folders = ", ".join(str(folder) for folder in team.settings.library)
    documents = SAMPLE_DOCUMENTS if sample else f"Documents: your library ({folders})."
    if cut_off:
        then = "a run tries it again" if web else "so it is left out"
        documents = f"Web search could not be reached from here, {then}. {documents}"
    elif web:
        documents = "Searched: the web." if sample else f"Searched: the web. {documents}"
    going = {
        f"Search words go to {_and(web)}, and pages that are found are fetched from their sites.": web,
        f"Your questions and passages of the documents go to {_and(receivers)}.": receivers,
        f"Where that fails, they go to {_and(others)}.": others,
        "Nothing else leaves this computer.": web or receivers or others,
    }
    leaves = " ".join(line for line, to in going.items() if to) or NOTHING_LEAVES

    writer = "Offline engine" if offline else ", ".join(one.partition("/")[2] or one for one in team.engine.names)
    writers = asked_of(team, team.engine.names)
    asked = f"Asked at {_and(writers)}" if writers else "On this computer"
    searched = "The web" if web else "Sample documents" if sample else "Your library"
    beside = "Web search is out of reach" if cut_off else "Invented: nothing in them is real" if sample else ""
    if web and not cut_off:
        beside = "" if sample else "and your library"
    sent = ", ".join([*(["Search words"] if web else []), *(["questions and passages"] if receivers else [])])
    to = f"to {_and((*web, *receivers))}" if sent else "Questions and files stay here"
    cells = (
        Cell(name="Writes with", value=writer, note="Free, on this computer" if offline or free else asked),
        Cell(name="Searches in", value=searched, note=beside, count=0 if web or sample else own),
        Cell(name="Leaves this computer", value=sent.capitalize() or "Nothing", note=to),
    )
    return About(
        engine=team.engine.name, documents=documents, leaves=leaves, lines=(engine, documents, leaves), cells=cells,
        sample=sample, offline=offline,
    )  # fmt: skip


def asked_web(team: Team) -> tuple[str, ...]:
    """Name the hosts that search words go to; none where web search is out of reach, and nobody chose it by name."""
    hosts = tuple(getattr(team.searcher, "destinations", ()))
    return () if _is_cut_off(team) and set(team.settings.retriever) <= {"library"} else hosts


def _is_cut_off(team: Team) -> bool:
    """Tell whether trying showed that web search is out of reach."""
    tried = getattr(team.searcher, "probed", None)
    return tried is not None and not tried.reachable


def asked_of(team: Team, models: tuple[str, ...] | None = None) -> tuple[str, ...]:
    """Name who elsewhere is asked: where no models are given, the providers of all roles, and whoever serves the memory."""
    asked, settings = team.engine.names if models is None else models, team.settings
    names = [name for name in asked if name != OFFLINE and team.engine.reasons]
    remembers = models is None and team.memory is not None
    if remembers and settings.embedder and not settings.embedder.startswith("onnx:"):
        names.append(settings.embedder)
    providers = dict.fromkeys(name.partition("/")[0] for name in names)
    bases = {one: settings.api_base if one == "openai" else own_address(one) for one in providers}
    away = [bases[one] or PROVIDERS.names.get(one, one) for one, base in bases.items() if not at_home(one, base)]
    if remembers and settings.qdrant_url and not at_home("", settings.qdrant_url):
        away.append(settings.qdrant_url)
    return tuple(away)


def _and(names: tuple[str, ...]) -> str:
    return " and ".join(names) if len(names) < 3 else f"{', '.join(names[:-1])} and {names[-1]}"


ASKING = 10
"""What a request costs that makes somebody work, a message in the chat and a try at logging in: reading costs 1."""
KNOWN = 10_000  # names that are remembered before those are dropped that have their whole allowance again
LOG_IN = "/login"


class RateLimit:
    """What is left to each name; no limit where `per_minute` is 0."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.per_minute, self._clock = per_minute, clock
        self._used: dict[str, tuple[float, float]] = {}

    def take(self, name: str, cost: int = 1) -> None:
        """Use some of it; where not so much is left, `TooMany` carries the seconds until there is."""
        if not self.per_minute:
            return
        now, cost = self._clock(), min(cost, self.per_minute)
        used = self._still(name, now)
        if (over := used + cost - self.per_minute) > 0:
            wait_s = math.ceil(over * 60 / self.per_minute)
            raise TooMany("Too much at once. Try again in {seconds} seconds.", wait_s, seconds=wait_s)
        if len(self._used) >= KNOWN:
            self._used = {one: kept for one, kept in self._used.items() if self._still(one, now) > 0}
        self._used[name] = (used + cost, now)

    def _still(self, name: str, now: float) -> float:
        used, since = self._used.get(name, (0.0, now))
        return max(0.0, used - (now - since) * self.per_minute / 60)


def cost_of(method: str, path: str) -> int:
    """Tell what a request costs; nothing for the page and its files."""
    if method == "POST" and (is_ours(path) or path == LOG_IN):
        return ASKING
    return 1 if is_ours(path) or method not in {"GET", "HEAD"} else 0


log = logging.getLogger(__name__)


async def try_web(team: Team, tell: Callable[[str], None]) -> None:
    """Try whether keyless web search can be reached; then tell what the server is set up with, and what leaves it."""
    try:
        if (found := await team.probe()) is not None:
            state = "reachable" if found.reachable else f"not reachable: {found.reason}"
            log.info("keyless web search (%s) is %s", found.host, state)
    except Exception:  # nothing is known then
        log.exception("web search could not be tried")
    said = about(team)
    servers = await asyncio.to_thread(find_servers, besides=team.settings.port) if said.offline else ()
    tell("\n".join(f"  {line}" for line in (*said.lines, *(one.line for one in servers))))


class Site:
    """What the chat and the routes share."""

    def __init__(self, settings: Settings, team: Team) -> None:
        self.settings, self.team, self.meter = settings, team, Meter()
        self.own_documents = 0  # in the user's library, once they were counted
        self.tell: Callable[[str], None] = lambda _: None  # is told how the server is set up, once that is known
        self.allowance = RateLimit(settings.most_requests)  # what each user and each address may ask
        self.chats = settings.data_dir / "chat.db"
        self._starting: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        team.observers.append(self.meter.observe)

    async def once(
        self, owner: str, key: str | None, sent: str, start: Callable[[KeyedRequest | None], Awaitable[Job]]
    ) -> Job:
        """Start a job once per key: a second request gets the first one's job, also after a restart of the server.

        `sent` is the whole request, and another one under the same key is a 422; `start` is given what to keep of it.
        """
        if key is None:
            return await start(None)
        request = KeyedRequest(key=key, fingerprint=digest(sent))
        # Planning takes seconds in which there is no job yet: whoever asks meanwhile waits for the same one.
        async with self._starting.setdefault(f"{owner}\n{key}", asyncio.Lock()):
            job = await self.team.jobs.requested(owner, key) or await start(request)
        if job.commission.request != request:
            raise ApiError(422, "idempotency_key_reused", "This Idempotency-Key was used for another request.")
        return job


def site_of(request: Request) -> Site:
    """Give a route the parts of this server."""
    site: Site = request.app.state.dossier_site
    return site


async def caller(request: Request) -> str:
    """Name the caller, and count the request as that user's; neither the key nor a session is a 401."""
    site, user = site_of(request), None
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    bearer = given.strip() if scheme.lower() == "bearer" else ""
    if bearer and is_the_key(site.settings, bearer):
        user = owner_name(site.settings)
    elif on_loopback(site.settings.host):
        # The chat's own log-in asks for nothing here either; origin and host were checked before (see `Gate`).
        user = LOCAL
    else:
        from chainlit.auth import get_current_user, get_token_from_cookies  # seconds: not where a host wants a tool

        if token := get_token_from_cookies(request.cookies) or bearer:
            with suppress(HTTPException):
                known = await get_current_user(token)
                user = known and str(known.identifier)
    if user is None:
        raise ApiError(401, "unauthorized", "Log in, or send the key as `Authorization: Bearer …`.")
    site.allowance.take(f"user {user}", cost_of(request.method, request.url.path))
    return user


Owner = Annotated[str, Depends(caller)]  # who asks
Here = Annotated[Site, Depends(site_of)]  # the server's parts
