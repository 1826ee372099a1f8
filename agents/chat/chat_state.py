"""How one chat stands, and the fixed words that are said about it. Knows no Chainlit and asks nobody."""

from datetime import datetime

from pydantic import ValidationError

from agents.chat.drafts import Draft
from agents.contracts.brief import Query
from agents.contracts.contract import Contract
from agents.contracts.frozen import Frozen, Mode
from agents.core.errors import NotFeasible
from agents.research.scoping.authorization import PHRASE
from agents.research.scoping.turn import Scope

NOTHING_HAPPENED = "Nothing was searched and nothing was spent."
ONLY_THE_PHRASE = f"I haven't started: only the phrase itself does that. Type **{PHRASE}** to begin with this draft."
NEAR_MISS = "I read that as a question, not as the go-ahead. Send the phrase alone to begin."
COMMAND_HELP = (
    "`/research` takes a question: `/research [--deep] [--time N|unlimited] question`.\n\n"
    "- `--deep` allows 7 rounds instead of 3.\n"
    "- `--time N` sets the minutes, 5 when not given; `unlimited` sets none.\n\n"
    f"The question is narrowed with you first. Nothing starts until you type **{PHRASE}**."
)


class ShownCard(Frozen):
    """A card in the chat that a later one will put out of use."""

    element_id: str
    message_id: str
    name: str


class Talk(Frozen):
    """How one chat stands; kept, so that a reload, a second tab or a restart goes on from here."""

    scope: Scope = Scope()
    contract: Contract | None = None
    """The draft on the table: exactly what the phrase would bind."""
    drafts: int = 0
    """Drafts shown for the question at hand."""
    former: tuple[Draft, ...] = ()
    """Drafts that an edit took the place of, oldest first: what can be undone."""
    by_hand: bool = False
    """The plan was edited by hand: it is kept where else it would be drafted anew."""
    job_id: str = ""
    """The last run that was started here."""
    picker: Mode | None = None
    """Where the depth picker stood at the last message."""
    cards: tuple[ShownCard, ...] = ()
    """Cards that are still to be acted on."""


def texts_of(talk: str) -> set[str]:
    """Name the texts of the files that a kept talk names, in whichever draft; none where it can't be read."""
    try:
        read = Talk.model_validate_json(talk)
    except ValidationError:
        return set()
    scopes = (read.scope, *(draft.scope for draft in read.former))
    return {file.card.text_hash for scope in scopes for file in scope.files}


def splits_of(scope: Scope) -> tuple[str, ...]:
    """List the narrower questions that are offered, in the order of their numbers."""
    offered = (split for query in scope.queries if not query.feasible for split in query.suggested_split)
    return tuple(dict.fromkeys(offered))


def not_started(scope: Scope) -> str:
    """Say exactly what is still missing for a start."""
    missing = scope.missing()
    if len(missing) == 1 and len(scope.queries) < 2:
        return f"I haven't started: {missing[0].rstrip('.')}. {NOTHING_HAPPENED}"
    ready = [f"Query {number} is ready." for number, query in enumerate(scope.queries, start=1) if query.feasible] * (
        len(scope.queries) > 1
    )
    lines = "\n".join(f"- {one}" for one in missing)
    return f"I haven't started. {' '.join(ready)} Still missing:\n\n{lines}\n\n{NOTHING_HAPPENED}".replace("  ", " ")


def too_broad(scope: Scope, error: NotFeasible) -> tuple[Query, ...]:
    """The queries that a refused draft is about; all of them when it does not say."""
    return tuple(query for query in scope.queries if query.text == error.query) or scope.queries


def own_splits(query: Query) -> tuple[str, ...]:
    """Narrower questions out of the query's own parts, where the plan offered none."""
    return query.suggested_split or tuple(f"{query.text.rstrip('?. ')}: only {part}?" for part in query.sub_topics)


def clock(created: str) -> str:
    """Write the time of day of an ISO date and time, as it is here."""
    return datetime.fromisoformat(created).astimezone().strftime("%H:%M")
