"""What the research code has on its desk: roles to ask, documents to find and read. Each method is one step's body."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from agents.budget import NOTHING, Deadline, Usage
from agents.contracts.base import Frozen
from agents.contracts.source import CorpusSurvey, SearchQuery, SearchResult, Source, SourceCard
from agents.errors import SourceError
from agents.events import Charged, Event, SearchDone
from agents.llm.base import Model, OnText
from agents.prompts import PromptBook
from agents.role import Asked, In, Out, Role, Run, ask
from agents.search.base import Searcher, Texts

T = TypeVar("T")


class Searched(Charged):
    """One search and its hits."""

    result: SearchResult

    def as_event(self, node: str) -> Event:
        """Tell that the search was made."""
        return SearchDone(node=node, text=self.result.query, provider=self.result.provider, hits=len(self.result.hits))


class Fetched(Frozen):
    """One document that was really retrieved; its text is kept under its hash."""

    card: SourceCard


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


@dataclass
class Desk:
    """One job's means. Caches are for speed only: no result depends on them."""

    models: Mapping[str, Model]
    prompts: PromptBook
    searcher: Searcher
    texts: Texts
    today: str
    """ISO date."""
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
            return await ask(role, given, run)

        asked = await self.answers.get(f"{role.prompt_name}:{given.model_dump_json()}", make)
        answer: Asked[Out] = Asked[role.gives].model_validate(asked)  # type: ignore[name-defined]
        return answer if first else answer.model_copy(update={"usage": NOTHING})

    async def search(self, query: SearchQuery, deadline: Deadline) -> Searched:
        """Search; the same query is made once in a run."""

        async def make() -> Searched:
            result = await self.searcher.search(query, deadline.seconds())
            return Searched(result=result, usage=Usage(searches=1))

        return await self.searches.get(query.model_dump_json(), make)

    async def fetch(self, url: str, deadline: Deadline) -> Fetched:
        """Read a document and keep its text; the same document is read once in a run."""

        async def make() -> Fetched:
            source = await self.searcher.read(url, deadline.seconds())
            if not source.text.strip():
                raise SourceError(url, "it holds no text")
            await self.texts.put(source.text)
            return Fetched(card=SourceCard.of(source))

        return await self.pages.get(url, make)

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
