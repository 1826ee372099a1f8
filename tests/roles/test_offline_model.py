"""The offline engine as a model: answers through the same validation as any model, for nothing, in pieces."""

import json

import pytest

from agents.contracts.contract import ScopingInput, ScopingTurn
from agents.contracts.frozen import Frozen
from agents.contracts.plan import PlanningInput, PlanTree
from agents.contracts.verification import ChallengeInput, ClaimNote
from agents.core.errors import ModelError
from agents.core.role import Request
from agents.offline import OfflineModel
from agents.offline.judgements import challenge

SCOPING = ScopingInput(message="Tell me everything about rents.", today="2026-01-15", language="en")


def request(given: Frozen, gives: type[Frozen]) -> Request:
    return Request(role="any", messages=(), given=given, gives=gives, deadline_s=None, max_output_tokens=100)


async def test_it_answers_with_the_contract_as_json_and_costs_nothing() -> None:
    reply = await OfflineModel().reply(request(SCOPING, ScopingTurn))

    assert ScopingTurn.model_validate_json(reply.text).queries[0].feasible is False
    assert (reply.usage.calls, reply.usage.tokens, reply.usage.cost_usd) == (0, 0, 0.0)
    assert reply.model == "offline engine"
    assert OfflineModel.reasons is False


async def test_the_reply_is_streamed_in_pieces_that_join_to_it() -> None:
    pieces: list[str] = []

    async def keep(piece: str) -> None:
        pieces.append(piece)

    reply = await OfflineModel().reply(request(SCOPING, ScopingTurn), keep)

    assert len(pieces) > 2
    assert "".join(pieces) == json.loads(reply.text)["reply"]


async def test_an_answer_without_words_for_the_user_streams_nothing() -> None:
    pieces: list[str] = []

    async def keep(piece: str) -> None:
        pieces.append(piece)

    given = PlanningInput(query="When was Rome founded?", max_leaves=1)
    await OfflineModel().reply(request(given, PlanTree), keep)

    assert pieces == []


async def test_what_it_has_no_function_for_is_refused_by_name() -> None:
    with pytest.raises(ModelError, match="no function for ScopingTurn"):
        await OfflineModel().reply(request(ScopingTurn.model_construct(), PlanTree))
    with pytest.raises(ModelError, match="gives ScopingTurn, not PlanTree"):
        await OfflineModel().reply(request(SCOPING, PlanTree))


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ("The ferry carried 212,000 passengers.", "revised corrected figure"),
        ("The bridge opened in 1912.", "corrected date account"),
        ("The dam affects the salmon of the river.", "no effect found retraction"),
        ("The council backs the plan.", "disputed contrary evidence"),
    ],
)
def test_a_claim_is_attacked_by_its_kind(claim: str, words: str) -> None:
    note = ClaimNote(number=1, text=claim)

    (attack,) = challenge(ChallengeInput(query="q", claims=(note,))).attacks

    assert all(query.endswith(words) for query in attack.queries)
