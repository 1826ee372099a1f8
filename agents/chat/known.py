"""What is known already: a question is answered at once from the knowledge base alone, with citations; no run is begun."""

from agents.chat.after_run import linked
from agents.chat.state import Ask, Button, Effect, Refuse, Say
from agents.chat.texts import ChatTexts
from agents.contracts.frozen import Frozen, QueryType
from agents.contracts.memory import REUSABLE, Remembered, Selection
from agents.contracts.report import Quote, Reference
from agents.core.paths import public
from agents.memory.knowledge import LOCAL_OWNER, MemoryDown, in_time
from agents.nlp.tokens import content_words
from agents.report.references import reference_of
from agents.research.reading.answering import answers
from agents.research.reading.subject import parts_of
from agents.research.scoping.follow_up import ENOUGH
from agents.research.scoping.turn import checked
from agents.team import Team

PAGE = "/memory"
ASKED_S = 3.0
"""Seconds that the knowledge base may take for a person; a run waits for less."""
MOST, RAISED = 24, 3
LISTED = 6
"""Facts that are listed of a topic."""


class Known(Frozen):
    """What an answer may rest on, as a report offers it."""

    references: tuple[Reference, ...]
    language: str
    question: str = ""
    query_type: QueryType = "other"


class Recalling:
    """One user's knowledge base, asked in the chat."""

    def __init__(self, team: Team, owner: str, words: ChatTexts) -> None:
        self.team, self.owner, self.words = team, owner or LOCAL_OWNER, words

    async def hear(self, question: str) -> Effect:
        """Answer a question; without one, say what there is.

        Raises:
            BadRequest: the question is far too long.
        """
        store = self.team.memory
        if store is None:
            return Refuse(self.words("known_off"))
        try:
            if not question:
                facts = (await in_time(store.stats(self.owner), ASKED_S)).by_kind.get("fact", 0)
                said = self.words("known_all", facts=self.words.counted(facts, "fact"), page=public(PAGE))
                raised = await in_time(store.search(self.owner, "", Selection(kinds=("question",)), RAISED), ASKED_S)
                open_ones = tuple(Button(one.text, f"/research {one.text}") for one in raised)
                return Ask(f"{said} {self.words('known_raised')}", open_ones) if open_ones else Say(said)
            where = Selection(kinds=("fact",), verdicts=tuple(REUSABLE))
            found = await in_time(store.search(self.owner, checked(question), where, MOST), ASKED_S)
        except MemoryDown as error:
            return Refuse(self.words.notice(error))
        research = Button(self.words("button_research"), f"/research {question}")
        return Ask(await self._answer(question, found), (research,))

    async def _answer(self, question: str, found: tuple[Remembered, ...]) -> str:
        items = {item.fact.id: item for item in found if item.fact and item.source}
        if not question.endswith("?") and all(part.kind == "other" for part in parts_of(question)):
            # A topic, not a question: what is known of it is listed.
            items = {fact: item for fact, item in items.items() if _shared(question, item) >= ENOUGH}
            items = dict(list(items.items())[:LISTED])
            markdown = "\n".join(f"- {item.text} [{number}]" for number, item in enumerate(items.values(), start=1))
            facts = tuple(items)
            references = _references(items, each=True)
        else:
            known = Known(references=_references(items), language=self.words.language)
            answer = await self.team.follow_up(known, question)
            markdown, facts, references = answer.markdown, answer.facts, known.references
        if not facts:
            return self.words("known_nothing", question=question)
        used = [items[fact] for fact in facts]
        text = linked(markdown, references, facts, lambda fact: place_of(items[fact]))
        open_parts = "; ".join(part.rstrip("?") for part in _unanswered(question, used))
        missing = " " + self.words("known_missing", parts=open_parts) if open_parts else ""
        since = min(item.since[:10] for item in used)
        return f"{text}\n\n{self.words('known_from', since=since, page=public(PAGE))}{missing}"


def place_of(item: Remembered) -> str:
    """Give the address at which the words of a known fact open in their context."""
    return public(f"{PAGE}/quote/{item.id}#quote")


def _references(items: dict[str, Remembered], *, each: bool = False) -> tuple[Reference, ...]:
    """List the sources of facts, each with the words it was read for; or each fact with a number of its own."""
    by_source: dict[str, list[Remembered]] = {}
    for item in items.values():
        if item.source:
            by_source.setdefault(item.id if each else item.source.url, []).append(item)
    listed = []
    for number, of_source in enumerate(by_source.values(), start=1):
        quotes = tuple(
            Quote(text=one.fact.quote, start=one.fact.start, end=one.fact.end, fact_id=one.fact.id)
            for one in of_source
            if one.fact
        )
        if card := of_source[0].source:
            listed.append(reference_of(card, number, quotes))
    return tuple(listed)


def _shared(text: str, item: Remembered) -> float:
    """Give the share of a text's telling words that a fact or the title of its source holds."""
    wanted = set(content_words(text))
    held = set(content_words(f"{item.text} {item.source.title if item.source else ''}"))
    return len(wanted & held) / len(wanted) if wanted else 0.0


def _unanswered(question: str, used: list[Remembered]) -> list[str]:
    """Name the parts of a question that nothing used speaks to."""
    return [
        part.text
        for part in parts_of(question)
        if not any(_shared(part.text, one) >= ENOUGH for one in used)
        and not any(
            answers(part, one.fact.quote, one.source.title, one.source.head) for one in used if one.fact and one.source
        )
    ]
