"""The OpenAI-compatible face, spoken to by the official client."""

import asyncio
import json

import httpx
import openai
import pytest

from tests.api.conftest import TASK, TOO_BROAD, FlatWorker, Gate, scripted

SAID = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": TASK}]


@pytest.fixture
async def client(server_app):
    transport = httpx.ASGITransport(app=server_app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as http:
        yield openai.AsyncOpenAI(api_key="none", base_url="http://127.0.0.1:8000/v1", http_client=http, max_retries=0)


async def test_the_official_client_lists_the_models(site, client):
    assert [model.id async for model in client.models.list()] == [
        "research", "research-simple", "research-standard", "research-deep"
    ]  # fmt: skip
    assert (await client.models.retrieve("research-deep")).owned_by == "dossier"


async def test_the_official_client_gets_the_report_with_its_citations(site, client):
    told = await client.chat.completions.create(model="research-simple", messages=SAID, temperature=0.2, max_tokens=100)
    message = told.choices[0].message
    assert "closed on 12 days" in message.content
    assert told.choices[0].finish_reason == "stop"
    assert told.usage.total_tokens == told.usage.prompt_tokens + told.usage.completion_tokens > 0
    assert {note.url_citation.url for note in message.annotations} == {
        "https://a.example/closures", "https://b.example/costs", "https://c.example/passengers"
    }  # fmt: skip
    for note in message.annotations:
        cited = message.content[note.url_citation.start_index : note.url_citation.end_index]
        assert cited.startswith("[")
        assert cited.endswith("]")


async def test_the_official_client_streams_progress_then_the_report(site, client):
    stream = await client.chat.completions.create(
        model="research", messages=SAID, stream=True, stream_options={"include_usage": True}
    )
    thoughts, words, notes, finish, usage = "", "", [], [], None
    async for chunk in stream:
        usage = chunk.usage or usage
        for choice in chunk.choices:
            assert not (words and getattr(choice.delta, "reasoning_content", None))
            thoughts += getattr(choice.delta, "reasoning_content", None) or ""
            words += choice.delta.content or ""
            notes += getattr(choice.delta, "annotations", None) or []
            finish += [choice.finish_reason] if choice.finish_reason else []
    assert thoughts.startswith("Plan (simple): Closures; Costs; Passengers.")
    assert "Searched for " in thoughts
    assert "closed on 12 days" in words
    assert finish == ["stop"]
    assert len(notes) >= 3
    assert usage.total_tokens > 0


async def test_a_follow_up_is_understood_with_the_messages_before_it(site, client):
    talk = [
        {"role": "user", "content": "How often was the Orvane ferry closed?"},
        {"role": "assistant", "content": "On 12 days."},
        {"role": "user", "content": "And what did it cost?"},
    ]
    told = await client.chat.completions.create(model="research-simple", messages=talk)
    job = await site.team.jobs.find(told.model_extra["dossier"]["job_id"], "local")
    assert job.commission.contract.brief.question == "What did it cost (Orvane)?"


async def test_content_in_parts_is_read_and_pictures_are_not(site, client):
    parts = [{"type": "text", "text": TASK}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}]
    told = await client.chat.completions.create(model="research-simple", messages=[{"role": "user", "content": parts}])
    assert told.choices[0].message.content


async def test_half_a_sign_in_a_message_breaks_nothing(site, http):
    """Case 25 of the second collection: a lone half of a surrogate pair, as JSON escapes it."""
    sent = json.dumps({"model": "research-simple", "messages": [{"role": "user", "content": f"{TASK} \ud83d"}]})
    answer = await http.post("/v1/chat/completions", content=sent, headers={"Content-Type": "application/json"})
    assert answer.status_code == 200
    assert answer.json()["choices"][0]["message"]["content"]


async def test_a_task_that_is_too_broad_is_an_error_the_client_understands(put, client):
    put(scripted(TOO_BROAD))
    with pytest.raises(openai.UnprocessableEntityError) as caught:
        await client.chat.completions.create(model="research", messages=SAID)
    assert caught.value.body["type"] == "not_feasible"
    assert caught.value.body["details"]["suggested_splits"] == ["Winter 2022/23?", "Winter 2020/21?"]


async def test_an_unknown_model_is_a_404_with_the_known_ones(site, client):
    with pytest.raises(openai.NotFoundError, match="research-simple"):
        await client.chat.completions.create(model="gpt-4o", messages=SAID)


@pytest.mark.parametrize(
    "body",
    [
        {"messages": []},
        {"messages": [{"role": "user", "content": "  "}]},
        {"messages": [{"role": "assistant", "content": "x"}]},
        {"messages": [{"role": "user", "content": 7}]},
        {"messages": SAID, "n": 2},
        {"messages": SAID, "max_rounds": 2},
        {},
    ],
)
async def test_what_makes_no_talk_is_refused(site, http, body):
    answer = await http.post("/v1/chat/completions", json={"model": "research", **body})
    assert answer.status_code == 422
    assert answer.json()["error"]["type"] == "bad_request"


async def test_a_stream_that_is_left_ends_its_run(put):
    from agents.api.run_routes import _chunks
    from agents.run_research import RunOptions, begin

    site = put(Gate(FlatWorker()))
    job = await begin(site.team, TASK, RunOptions(), "local")
    stream = _chunks(site, job, "research", usage=False)
    await anext(stream)
    await stream.aclose()
    await asyncio.wait_for(job.wait(), 30)
    assert job.status == "cancelled"
