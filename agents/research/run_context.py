"""What the research code works with: roles to ask, documents to find and read. Each method is one step's body."""

import asyncio
import contextlib
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Generic, TypeVar
from urllib.parse import urlsplit

from pydantic import ValidationError

from agents.contracts.contract import Agreement, PaceSeen
from agents.contracts.finding import Problem
from agents.contracts.frozen import Frozen, Said
from agents.contracts.plan import MAX_ATTEMPTS
from agents.contracts.sources import CorpusSurvey, Hit, SearchQuery, SearchResult, Source, SourceCard
from agents.core.budget import NOTHING, Deadline, Usage, spent_by
from agents.core.errors import BadOutput, ModelError, ModelFault, SearchError, SourceError, StepFailed
from agents.core.events import Charged, Event, SearchDone
from agents.core.port import Ctx
from agents.core.prompts import PromptBook
from agents.core.role import AskContext, In, Model, OnText, Out, Role, RoleAnswer, answered, ask
from agents.research.fit_input import Rooms, ask_fitting, divided, in_parts
from agents.research.loop.topics import Dispatched, Topics
from agents.research.steering import Steering
from agents.roles import PLANNER, SECTION_WRITER
from agents.search.scope_filter import enforced, ruled_out
from agents.search.searcher import CircuitBreaker, Crawler, Searcher, Texts
from agents.web.url_key import canonical

if TYPE_CHECKING:
    from agents.research.recollection import Recollection

T = TypeVar("T")

MAX_SIBLINGS = 3
"""Pages of a site that fail alike before no other of it is tried (specification, section 5)."""
TRIED_OFTEN = f"given up after {MAX_ATTEMPTS} failed attempts"
SAME_ATTEMPT = "{why} (tried once for several branches)"

WHY = {
    "excluded": ("left out by the contract", "left out by a change during the run"),
    "elsewhere": ("not of the domains of the contract", "not of the domains left by a change during the run"),
    "dates": ("outside the dates of the contract", "outside the dates set by a change during the run"),
}
"""Why a document may not be used, by the limit that rules it out: that is no failure of its own."""

NO_STAND_IN: frozenset[ModelFault] = frozenset({"key", "unknown_model", "request"})
"""Faults that the operator must mend: standing in for them would hide a wrong configuration."""


def _site(url: str) -> str:
    """Name the site of a web page; empty for other documents, which fail each for itself."""
    return (urlsplit(url).hostname or "") if url.startswith(("http://", "https://")) else ""


MAX_FACTS = 40
"""Facts in one writing prompt: the most certain, spread over sources."""


class Searched(Charged):
    """One search and its hits."""

    result: SearchResult

    def as_event(self, node: str) -> Event:
        """Tell that the search was made."""
        found = self.result
        about = {"text": found.query, "provider": found.provider, "failures": found.failures}
        return SearchDone(node=node, hits=len(found.hits), **about)


class Once(Generic[T]):
    """Do the same thing once in a run, however many branches ask for it at the same time.

    A failure is not kept: the next branch may have more time left.
    """

    def __init__(self) -> None:
        self._running: dict[str, asyncio.Task[T]] = {}
        self._unmet: set[str] = set()
        """What was made ahead and nobody has asked for yet: whoever does is told of its failure, too."""

    async def get(self, key: str, make: Callable[[], Coroutine[None, None, T]], *, ahead: bool = False) -> T:
        """Return what `make` made for `key`, now or before."""
        task = self._running.get(key)
        again = task is not None and task.done() and (task.cancelled() or task.exception() is not None)
        if ahead:
            self._unmet.add(key)
        elif key in self._unmet:
            self._unmet.discard(key)
            again = False
        if task is None or again:
            task = self._running[key] = asyncio.ensure_future(make())
        # One branch that is stopped must not take the page from the others that wait for it.
        return await asyncio.shield(task)

    async def know(self, key: str, made: T) -> None:
        """Take over what was made for `key` elsewhere, unless it was made here already."""

        async def as_it_is() -> T:
            return made

        await self.get(key, as_it_is)

    def stop(self) -> None:
        """End what still runs: nobody waits for it any more."""
        for task in self._running.values():
            task.cancel()


class LookAhead:
    """Searches that a plan makes for sure, begun while the rest of it is still written.

    They wait until the question is known to be feasible; the job that is started for it takes them over.
    """

    def __init__(self) -> None:
        self.searches: Once[Searched] = Once()
        self.made: set[str] = set()
        """What was searched for."""
        self._allowed = asyncio.Event()
        self._begun: set[asyncio.Future[object]] = set()

    def want(self, search: Callable[[], Awaitable[object]]) -> None:
        """Make a search, now or when it may be made; a failure is met again by whoever needs its hits."""

        async def begin() -> object:
            await self._allowed.wait()
            return await search()

        task = asyncio.ensure_future(begin())
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._begun.add(task)

    def allow(self) -> None:
        """Begin with all that is wanted."""
        self._allowed.set()

    def stop(self) -> None:
        """End what nobody took over."""
        for task in self._begun:
            task.cancel()
        self.searches.stop()


class Listed(Frozen):
    """Addresses or hits that a step found, in their order."""

    urls: tuple[str, ...] = ()
    hits: tuple[Hit, ...] = ()


READ_AGAIN = 3
"""Pages of earlier rounds that a leaf may read anew for its own question, beside those that are new."""


@dataclass
class RunContext:
    """One job's means. Caches are for speed only; ledgers are read inside steps only, so a replay decides alike."""

    models: Mapping[str, Model]
    prompts: PromptBook
    searcher: Searcher
    texts: Texts
    today: str
    """ISO date."""
    context_results: int = MAX_FACTS
    """Facts that a writer is shown, at most."""
    fallback: Model | None = None
    """Stands in when a role's model fails for good; None lets the failure through."""
    agreed: Agreement = field(default_factory=Agreement)
    """What was authorized. Its limits hold for whatever is read, but for what the user named."""
    steering: Steering = field(default_factory=Steering)
    topics: Topics = field(default_factory=Topics)
    refused: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Branches that could not read an address, as their steps recorded it."""
    down: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Addresses that could not be read because their site failed, by site."""
    failed: Counter[str] = field(default_factory=Counter)
    """Fetches that failed in this process, by address."""
    taken: dict[str, dict[str, str]] = field(default_factory=dict)
    """Which leaf reads an address, by executor and round."""
    pace: Callable[[], PaceSeen] = PaceSeen
    """How quickly the model answers, as this process has seen it."""
    rooms: Rooms = field(default_factory=Rooms)
    breaker: CircuitBreaker = field(default_factory=lambda: CircuitBreaker(rest_s=0.0))
    pages: Once[SourceCard] = field(default_factory=Once)
    searches: Once[Searched] = field(default_factory=Once)
    answers: Once[Charged] = field(default_factory=Once)
    in_vain: int = 0
    """Searches that were begun for a plan which then became another one; they count against the caps."""
    ahead: LookAhead | None = None
    """Where a plan's searches may begin while it is written: its run is authorized by the request for it."""
    earlier: "Recollection | None" = None
    """None where nothing is kept between runs."""

    def __post_init__(self) -> None:
        self.named = {canonical(url) for url in self.agreed.seed_urls}
        """Addresses that the user named, and those they lead to."""

    @property
    def searched(self) -> tuple[str, ...]:
        """What is searched, by name, as far as it is known which of it can be reached."""
        return getattr(self.searcher, "names", (self.searcher.name,))

    def look_ahead(self, ahead: LookAhead | None = None) -> LookAhead:
        """Let a plan's searches begin while it is written, or take over those that have begun."""
        self.ahead = ahead or LookAhead()
        self.searches = self.ahead.searches
        return self.ahead

    async def ask(
        self, role: Role[In, Out], given: In, deadline: Deadline, on_text: OnText | None = None,
        draft: OnText | None = None,
    ) -> RoleAnswer[Out]:  # fmt: skip
        """Ask a role: the body of a step. The same question is asked, and paid for, once in a run.

        What the user asked to heed meanwhile is told to every role that takes it, whatever it works on now. To `on_text`
        goes what is said for good, so that nobody may answer in the model's place; to `draft` what is provisional.
        """
        if self.steering.guidance and "guidance" in type(given).model_fields:
            given = given.model_copy(update={"guidance": tuple(self.steering.guidance)})
        run = AskContext(self.models, self.prompts, deadline)
        if on_text is not None:
            return await ask_fitting(role, given, run, self.rooms, on_text)
        first = False

        async def make() -> Charged:
            nonlocal first
            first = True
            return await self._as_before(role, given, run, draft)

        asked = await self.answers.get(f"{role.prompt_name}:{given.model_dump_json()}", make)
        answer: RoleAnswer[Out] = RoleAnswer[role.gives].model_validate(asked)  # type: ignore[name-defined]
        return answer if first else answer.model_copy(update={"usage": NOTHING})

    async def _as_before(
        self, role: Role[In, Out], given: In, run: AskContext, draft: OnText | None
    ) -> RoleAnswer[Out]:
        """Take over what the same model made of the very same in an earlier run: asked again, it would be paid again.

        What has changed since, a page, a verdict, a limit, is told to the role, and makes it another question.
        """
        model, earlier = self.models[role.name], self.earlier
        if earlier is None or not model.reasons:
            return await self._ask_or_stand_in(role, given, run, draft)
        asked = given.model_dump_json(exclude={"today", "minutes_left"})
        key = "|".join((role.prompt_name, run.prompts[role.prompt_name].ref, model.name, self.today[:4], asked))
        if (before := await earlier.answer(key)) is not None:
            with contextlib.suppress(ValidationError):  # of another version of this program
                same: RoleAnswer[Out] = RoleAnswer[role.gives].model_validate_json(before)  # type: ignore[name-defined]
                return same.model_copy(update={"usage": NOTHING})
        answer = await self._ask_or_stand_in(role, given, run, draft)
        if not answer.stood_in:
            earlier.keep(key, answer.model_dump_json())
        return answer

    async def _ask_or_stand_in(
        self, role: Role[In, Out], given: In, run: AskContext, draft: OnText | None = None
    ) -> RoleAnswer[Out]:
        """Let the fallback answer when the model failed for good: what was gathered is then still written up.

        A plan that stays unreadable ends the job, which may be asked again (specification, section 11).
        """
        try:
            return await ask_fitting(role, given, run, self.rooms, draft)
        except (ModelError, BadOutput) as error:
            lost, fault = spent_by(error), error.fault if isinstance(error, ModelError) else None
            if fault == "overflow" and (parts := divided(given)):
                whole = await in_parts(parts, lambda part: self._ask_or_stand_in(SECTION_WRITER, part, run))
                whole = whole.model_copy(update={"usage": lost + whole.usage})
                return RoleAnswer[role.gives].model_validate(whole)  # type: ignore[name-defined]
            unreadable = isinstance(error, BadOutput) and role.name == PLANNER.name
            if self.fallback is None or fault in NO_STAND_IN or unreadable:
                raise
            return await self.stand_in(role, given, error.notice, self.fallback, lost)

    async def stand_in(
        self, role: Role[In, Out], given: In, because: str, model: Model, lost: Usage = NOTHING
    ) -> RoleAnswer[Out]:
        """Have another model answer in the place of the one bound, which the report says."""
        answer = await ask(role, given, AskContext({**self.models, role.name: model}, self.prompts, Deadline()))
        bound = self.models[role.name].name
        return answer.model_copy(update={"stood_in": because, "stood_in_for": bound, "usage": lost + answer.usage})

    async def dispatch(self, proposed: tuple[str, ...], at_most: int) -> Dispatched:
        """Write topics into the job's ledger before anybody works on them: the body of a step."""
        dispatched = self.topics.admit(proposed, at_most)
        self.note_dispatched(dispatched)
        return dispatched

    def note_dispatched(self, dispatched: Dispatched) -> None:
        """Bring the ledger up to what a step recorded: on a replay the step itself does not run."""
        self.topics = self.topics.add(*dispatched.chosen)

    async def take_sources(self, among: str, path: str, urls: tuple[str, ...], most: int) -> Listed:
        """Take the best addresses that no leaf of the same executor reads already: the body of a step."""
        taken = self.taken.get(among, {})
        free = [url for url in urls if taken.get(canonical(url), path) == path]
        read = {url for group, by in self.taken.items() if group != among for url in by}
        chosen: list[str] = []
        for url in free:  # what an earlier round has read is one source with it, and costs none of the others' places
            if sum(canonical(one) not in read for one in chosen) < most and len(chosen) < most + READ_AGAIN:
                chosen.append(url)
        self.note_taken(among, path, taken_now := Listed(urls=tuple(chosen)))
        return taken_now

    def note_taken(self, among: str, path: str, chosen: Listed) -> None:
        """Bring the ledger up to what a step recorded: on a replay the step itself does not run."""
        self.taken.setdefault(among, {}).update({canonical(url): path for url in chosen.urls})

    async def search(self, query: SearchQuery, deadline: Deadline, *, ahead: bool = False) -> Searched:
        """Search; the same query is made once in a run, and none once searching has failed too often.

        Limits that the user set meanwhile hold for the query and, where they came while it was made, for its hits.

        Raises:
            SearchError: no provider answered, or the breaker is open.
        """
        asked = self.steering.narrowed(query)

        async def make() -> Searched:
            if not self.breaker.admit():
                reason = f"not tried, since searching failed: {self.breaker.reason}"
                raise SearchError(reason, provider=self.searcher.name)
            try:
                result = await answered(self.searcher.search(asked, deadline.seconds()))
            except SearchError as error:
                self.breaker.failed(error.notice)
                raise
            except asyncio.CancelledError:
                self.breaker.abandoned()
                raise
            self.breaker.succeeded()
            return Searched(result=result, usage=Usage(searches=1))

        found = await self.searches.get(asked.model_dump_json(), make, ahead=ahead)
        if not self.steering.limits:
            return found
        hits = enforced(found.result.hits, self.steering.narrowed(query))
        return found.model_copy(update={"result": found.result.model_copy(update={"hits": hits})})

    async def fetch(self, url: str, deadline: Deadline, before: SourceCard | None = None) -> SourceCard:
        """Read a document and keep its text; read once in a run, and not again after it failed three times.

        One that was read `before` is not sent again by a server that says that it has not changed.

        Raises:
            SourceError: it cannot be read or may not be used: its date, too, may show only when it is read.
        """
        first = False

        async def make() -> SourceCard:
            nonlocal first
            first = True
            # What failed beside this one is not in the ledger before all that its branch reads is there.
            if max(len(self.refused[url]), self.failed[canonical(url)]) >= MAX_ATTEMPTS:
                raise SourceError(url, TRIED_OFTEN, "given_up")
            if (site := _site(url)) and len(self.down[site]) >= MAX_SIBLINGS:
                raise SourceError(url, f"three pages of its site failed alike; {TRIED_OFTEN}", "given_up")
            known = None
            if before and before.version:
                with contextlib.suppress(SourceError):  # its text is not kept any more
                    known = await self.text_of(before)
            source = await answered(self.searcher.read(url, deadline.seconds(), known))
            if not source.text.strip():
                raise SourceError(url, "it holds no text")
            await self.texts.put(source.text)
            return SourceCard.of(source)

        self.allow(url)
        try:
            fetched = await self.pages.get(canonical(url), make)
        except SourceError as error:
            if first:
                self.failed[canonical(url)] += error.fault in {"document", "site"}
                raise
            raise SourceError(url, Said(SAME_ATTEMPT, why=error.reason), "repeated") from None
        self.allow(url if canonical(url) in self.named else fetched.url, fetched.published)
        return fetched

    def allow(self, url: str, published: str | None = None) -> None:
        """Let a document pass that the limits of the contract and those set meanwhile leave; to be asked inside steps only.

        Raises:
            SourceError: they rule it out; says by which.
        """
        if why := self._refuses(url, published):
            raise SourceError(url, why, "ruled_out")

    def _refuses(self, url: str, published: str | None) -> str:
        if canonical(url) not in self.named and (why := ruled_out(url, published, self.agreed)):
            return WHY[why][0]
        why = ruled_out(url, published, self.steering.limits)
        return WHY[why][1] if why else ""

    async def note_fetched(self, url: str, branch: str, fetched: SourceCard | StepFailed) -> None:
        """Know a page as read, or as failed, that a step recorded: on a replay the step itself does not run.

        So a page that one branch had read before a pause is not read anew by another one after it.
        """
        if isinstance(fetched, SourceCard):
            await self.pages.know(canonical(url), fetched)
            self.named |= {canonical(fetched.url)} if canonical(url) in self.named else set()
        elif fetched.type == "SourceError" and fetched.fault in {"document", "site"}:
            self.refused[url].add(branch)
            if fetched.fault == "site":
                self.down[_site(url)].add(url)

    async def crawl(self, url: str, limit: int, deadline: Deadline) -> Listed:
        """Go on from a page to others of its site, one step; where the searcher cannot, nothing is found.

        Raises:
            SourceError: the page cannot be read or may not be used.
        """
        if not isinstance(self.searcher, Crawler):
            return Listed()
        self.allow(url)
        hits = await answered(self.searcher.crawl(url, limit, deadline.seconds()))
        return Listed(hits=tuple(hit for hit in hits if not self._refuses(hit.url, hit.published)))

    async def text_of(self, card: SourceCard) -> Source:
        """Put card and kept text together again."""
        text = await self.texts.get(card.text_hash)
        return Source(text=text, **card.model_dump())

    def by_code(self, role: str) -> "RunContext":
        """Give the same with a role answered without a language model: what it is asked needs none."""
        return self if self.fallback is None else replace(self, models={**self.models, role: self.fallback})

    async def survey(self, question: str) -> CorpusSurvey:
        """Tell what the searchable documents talk about."""
        return await answered(self.searcher.survey(question))

    def close(self) -> None:
        """End what still runs."""
        self.pages.stop()
        self.answers.stop()
        self.searches.stop()


async def asked(
    ctx: Ctx, context: RunContext, role: Role[In, Out], given: In, deadline: Deadline, step: str, key: str = "0"
) -> tuple[RoleAnswer[Out] | None, tuple[Problem, ...]]:
    """Ask a role as a step of a branch; where that fails, the branch goes on without an answer and has a problem."""
    gives: type[RoleAnswer[Out]] = RoleAnswer[role.gives]  # type: ignore[name-defined]
    try:
        return await ctx.call(step, key, context.ask, role, given, deadline, gives=gives), ()
    except StepFailed as failure:
        return None, (failure.problem(),)


async def fetched_by(
    ctx: Ctx, context: RunContext, urls: Sequence[str], deadline: Deadline
) -> list[SourceCard | StepFailed]:
    """Fetch documents for a branch side by side; what became of each is known to the others."""
    items = [(Source.id_of(url), url, deadline) for url in urls]
    fetched = await ctx.fan("fetch", context.fetch, items, gives=SourceCard, pool="web")
    for url, one in zip(urls, fetched, strict=True):
        await context.note_fetched(url, ctx.path, one)
    return fetched
