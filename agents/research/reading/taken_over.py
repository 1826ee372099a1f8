"""Facts that a job takes over from an earlier report: a leaf gets those that speak of its questions, beside what it reads."""

from agents.contracts.finding import Finding
from agents.contracts.report import Earlier
from agents.core.port import Ctx, Handler, Handlers
from agents.research.reading.answering import is_about
from agents.research.reading.leaf import sub_questions
from agents.research.reading.searching import LeafGiven
from agents.research.reading.subject import parts_of

MOST_TAKEN_OVER = 12
"""Facts of an earlier report that one leaf gets, at most."""


def with_facts_of(handlers: Handlers, earlier: Earlier | None) -> Handlers:
    """Have leaves begin with what an earlier report found; without one, or where it is only run anew, nothing changes."""
    if earlier is None or earlier.use != "continue":
        return handlers
    return {**handlers, "leaf": _begun(handlers["leaf"], earlier)}


def _begun(leaf: Handler, earlier: Earlier) -> Handler:
    cards = {card.id: card for card in earlier.sources}

    async def run(ctx: Ctx, given: LeafGiven) -> Finding:
        parts = [part for question in sub_questions(given.leaf) for part in parts_of(question)]
        known = [
            fact
            for fact in earlier.facts
            if any(is_about(part, fact.quote, cards[fact.source_id].title) for part in parts)
        ][:MOST_TAKEN_OVER]
        sources = {fact.source_id: cards[fact.source_id] for fact in known}
        update = {"known": tuple(known), "known_sources": tuple(sources.values())}
        finding: Finding = await leaf.run(ctx, given.model_copy(update=update))
        return finding

    return Handler(run=run, takes=LeafGiven, gives=Finding)
