"""What the research code has on its desk: roles to ask, documents to find and read. Each method is one step's body."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from agents.budget import NOTHING, Deadline, NoDeadline, Usage
from agents.contracts.base import Frozen
from agents.contracts.decision import SkippedTopic
from agents.contracts.report import ReportDocument
from agents.contracts.source import CorpusSurvey, Hit, SearchQuery, SearchResult, Source, SourceCard
from agents.errors import ModelError, ModelFault, SearchError, SourceError
from agents.events import Charged, Event, SearchDone
from agents.jobs.steering import Steering
from agents.llm.base import Model, OnText
from agents.prompts import PromptBook
from agents.research.breaker import Breaker
from agents.research.retries import Retries
from agents.research.topics import Topics
from agents.role import Asked, In, Out, Role, Run, ask
from agents.search.base import Crawler, Searcher, Texts
from agents.web.addresses import canonical

T = TypeVar("T")

NO_STAND_IN: frozenset[ModelFault] = frozenset({"key", "unknown_model", "request"})
"""Faults that the operator must mend: standing in for them would hide a wrong configuration."""


class Searched(Charged):
    """One search and its hits."""

    result: SearchResult

    def as_event(self, node: str) -> Event:
        """Tell that the search was made."""
        return SearchDone(node=node, text=self.result.query, provider=self.result.provider, hits=len(self.result.hits))


class Fetched(Frozen):
    """One document that was really retrieved; its text is kept under its hash."""

    card: SourceCard


class Crawled(Frozen):
    """Pages of one site that a page leads to."""

    hits: tuple[Hit, ...] = ()


class Once(Generic[T]):
    """Do the same thing once in a run, however many branches ask for it at the same time.

    A failure is not kept: the next branch may have more time left.
    """

    def __init__(self) -> None:
        self._running: dict[str, asyncio.Task[T]] = {}

    async def get(self, key: str, make: Callable[[], Awaitable[T]]) -> T:
        """Return what `make` made for `key`, now or before."""
        task = self._running.get(key)
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):

            async def run() -> T:
                return await make()

            task = self._running[key] = asyncio.get_running_loop().create_task(run())
        # One branch that is stopped must not take the page from the others that wait for it.
        return await asyncio.shield(task)

    def stop(self) -> None:
        """End what still runs: nobody waits for it any more."""
        for task in self._running.values():
            task.cancel()


class Dispatched(Frozen):
    """What a round may work on, as the ledger of the whole job allowed it."""

    chosen: tuple[str, ...]
    waiting: tuple[str, ...] = ()
    """New topics beyond the bound of one round."""
    skipped: tuple[SkippedTopic, ...] = ()
    known: tuple[str, ...] = ()
    """Everything dispatched in the job so far, these topics included."""
    guidance: tuple[str, ...] = ()
    """What the user has asked for meanwhile."""


@dataclass
class Desk:
    """One job's means. Caches are for speed only; ledgers are read inside steps only, so a replay decides alike."""

    models: Mapping[str, Model]
    prompts: PromptBook
    searcher: Searcher
    texts: Texts
    today: str
    """ISO date."""
    fallback: Model | None = None
    """Stands in when a role's model fails for good; None lets the failure through."""
    keep: Callable[[ReportDocument], Awaitable[object]] | None = None
    """Saves a report; the first version is saved before any check runs on it."""
    steering: Steering = field(default_factory=Steering)
    topics: Topics = field(default_factory=Topics)
    retries: Retries = field(default_factory=Retries)
    breaker: Breaker = field(default_factory=Breaker)
    pages: Once[Fetched] = field(default_factory=Once)
    searches: Once[Searched] = field(default_factory=Once)
    answers: Once[Charged] = field(default_factory=Once)

    async def ask(
        self, role: Role[In, Out], given: In, deadline: Deadline, on_text: OnText | None = None
    ) -> Asked[Out]:
        """Ask a role: the body of a step. The same question is asked, and paid for, once in a run."""
        run = Run(self.models, self.prompts, deadline)
        if on_text is not None:
            return await ask(role, given, run, on_text)
        first = False

        async def make() -> Charged:
            nonlocal first
            first = True
            return await self._ask_or_stand_in(role, given, run)

        asked = await self.answers.get(f"{role.prompt_name}:{given.model_dump_json()}", make)
        answer: Asked[Out] = Asked[role.gives].model_validate(asked)  # type: ignore[name-defined]
        return answer if first else answer.model_copy(update={"usage": NOTHING})

    async def _ask_or_stand_in(self, role: Role[In, Out], given: In, run: Run) -> Asked[Out]:
        """Let the fallback answer when the model failed for good: what was gathered is then still written up."""
        try:
            return await ask(role, given, run)
        except ModelError as error:
            if self.fallback is None or error.fault in NO_STAND_IN:
                raise
            models = {**self.models, role.name: self.fallback}
            answer = await ask(role, given, Run(models, self.prompts, NoDeadline()))
            bound = self.models[role.name].name
            return answer.model_copy(update={"stood_in": error.notice, "stood_in_for": bound})

    async def dispatch(self, proposed: tuple[str, ...], at_most: int) -> Dispatched:
        """Write topics into the job's ledger before anybody works on them: the body of a step."""
        admitted = self.topics.admit(proposed, at_most)
        new = admitted.topics.skipped[len(self.topics.skipped) :]
        self.topics = admitted.topics
        return Dispatched(
            chosen=admitted.chosen,
            waiting=admitted.waiting,
            skipped=new,
            known=self.topics.dispatched,
            guidance=tuple(self.steering.guidance),
        )

    def note_dispatched(self, dispatched: Dispatched) -> None:
        """Bring the ledger up to what a step recorded: on a replay the step itself does not run."""
        for topic in dispatched.chosen:
            if topic not in self.topics.dispatched:
                self.topics = self.topics.add(topic)

    async def search(self, query: SearchQuery, deadline: Deadline) -> Searched:
        """Search; the same query is made once in a run, and none once searching has failed too often.

        Raises:
            SearchError: no provider answered, or the breaker is open.
        """

        async def make() -> Searched:
            if not self.breaker.allows:
                self.breaker = self.breaker.probe()
                raise SearchError(f"not tried: {self.breaker.explain()}", provider=self.searcher.name)
            try:
                result = await self.searcher.search(query, deadline.seconds())
            except SearchError:
                self.breaker = self.breaker.record(False)
                raise
            self.breaker = self.breaker.record(True)
            return Searched(result=result, usage=Usage(searches=1))

        return await self.searches.get(query.model_dump_json(), make)

    async def fetch(self, url: str, deadline: Deadline) -> Fetched:
        """Read a document and keep its text; read once in a run, and not again after it failed three times.

        Raises:
            SourceError: it cannot be read or may not be used.
        """

        async def make() -> Fetched:
            if not self.retries.allows(url):
                raise SourceError(url, "given up after 3 failed attempts")
            try:
                source = await self.searcher.read(url, deadline.seconds())
            except SourceError:
                self.retries = self.retries.failed(url)
                raise
            if not source.text.strip():
                raise SourceError(url, "it holds no text")
            await self.texts.put(source.text)
            return Fetched(card=SourceCard.of(source))

        return await self.pages.get(canonical(url), make)

    async def remember(self, url: str, fetched: Fetched) -> None:
        """Take a page as read that a step recorded: on a replay the step itself does not run."""

        async def known() -> Fetched:
            return fetched

        await self.pages.get(canonical(url), known)

    async def keep_draft(self, document: ReportDocument) -> ReportDocument:
        """Save a report as it stands: the body of a step."""
        if self.keep is not None:
            await self.keep(document)
        return document

    async def crawl(self, url: str, limit: int, deadline: Deadline) -> Crawled:
        """Go on from a page to others of its site, one step; where the searcher cannot, nothing is found.

        Raises:
            SourceError: the page cannot be read or may not be used.
        """
        if not isinstance(self.searcher, Crawler):
            return Crawled()
        return Crawled(hits=await self.searcher.crawl(url, limit, deadline.seconds()))

    async def text_of(self, card: SourceCard) -> Source:
        """Put card and kept text together again."""
        text = await self.texts.get(card.text_hash)
        return Source(text=text, **card.model_dump())

    async def survey(self, question: str) -> CorpusSurvey:
        """Tell what the searchable documents talk about."""
        return await self.searcher.survey(question)

    def close(self) -> None:
        """End what still runs."""
        self.pages.stop()
        self.searches.stop()
        self.answers.stop()
