"""Cases C07, C08, C10 and C12 against a provider on loopback: refused parameters, refusals, rate limits, leaked keys."""

import json
import logging
import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request as Asked
from werkzeug import Response

from agents.contracts.frozen import Frozen, Text
from agents.contracts.report import Commission
from agents.core.errors import BadOutput, ModelError
from agents.core.prompts import load
from agents.core.role import AskContext, Message, Request, Role, ask
from agents.core.transport import RetryPolicy
from agents.llm.litellm_model import LiteLLMModel, close, warm_up
from tests.conftest import DATA

PATH = "/v1/chat/completions"
REFUSED = json.loads((DATA / "cases" / "C07" / "errors.json").read_text("utf-8"))
REPLIES = json.loads((DATA / "cases" / "C08" / "replies.json").read_text("utf-8"))


class Answer(Frozen):
    reply: Text


GOOD = '{"reply": "The line closed."}'


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    warm_up()


@pytest.fixture(autouse=True)
async def closed():
    yield
    await close()


async def no_wait(seconds: float) -> None:
    """Wait no time."""


def model(server: HTTPServer, **settings):
    settings = {"retry": RetryPolicy(longest_wait_s=math.inf, sleep=no_wait, spread=lambda: 0.0)} | settings
    return LiteLLMModel(
        "openai/m-x", schema_note=lambda schema: f"Answer as JSON: {schema}", api_base=server.url_for("/v1"),
        **settings,
    )  # fmt: skip


def request():
    return Request("planner", (Message("user", "When did the line close?"),), Answer(reply="x"), Answer, 20.0, 4096)


def whole(**choice):
    message = {"role": "assistant", "content": None, **choice.get("message", {})}
    choices = choice.get(
        "choices", [{"index": 0, "finish_reason": choice.get("finish_reason", "stop"), "message": message}]
    )
    usage = {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": choices, "usage": usage}


def is_refused(row, body):
    """Tell whether a request holds what the provider of this row refuses."""
    ((name, value),) = row["when_sent"].items()
    if name == "response_format":
        asked = body.get("response_format", {}).get("type")
        if value == "json_schema":
            return asked == "json_schema"
        return asked in ("json_schema", "json_object") and "json" not in json.dumps(body["messages"]).lower()
    return name in body


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: row["body"]["error"]["message"][:40])
async def test_c07_a_refused_parameter_is_left_out_at_once_and_for_good(httpserver, row):
    def handle(asked: Asked) -> Response:
        if is_refused(row, asked.get_json()):
            return Response(json.dumps(row["body"]), row["status"], content_type="application/json")
        return Response(json.dumps(whole(message={"content": GOOD})), content_type="application/json")

    httpserver.expect_request(PATH).respond_with_handler(handle)
    asked = model(httpserver)

    assert (await asked.reply(request())).text == GOOD
    sent = [log.get_json() for log, _ in httpserver.log]
    refusals = sum(is_refused(row, body) for body in sent)
    assert refusals <= 1
    assert len(sent) == refusals + 1, "more was sent than the refused request and the adapted one"
    assert (await asked.reply(request())).text == GOOD
    assert not is_refused(row, httpserver.log[-1][0].get_json())
    assert len(httpserver.log) == len(sent) + 1


@pytest.mark.parametrize(
    ("status", "message", "fault"),
    [(401, "Incorrect API key provided", "key"), (404, "The model m-x does not exist", "unknown_model")],
)
async def test_c07_a_real_mistake_is_not_adapted(httpserver, status, message, fault):
    httpserver.expect_request(PATH).respond_with_json({"error": {"message": message}}, status=status)
    with pytest.raises(ModelError) as caught:
        await model(httpserver).reply(request())
    assert caught.value.fault == fault
    assert len(httpserver.log) == 1


def given(server, row):
    if "status" in row:
        server.expect_request(PATH).respond_with_json({"error": row["error"]}, status=row["status"])
    else:
        server.expect_request(PATH).respond_with_json(whole(**row))


@pytest.mark.parametrize("row", REPLIES, ids=lambda row: row["name"])
async def test_c08_each_reply_is_a_typed_outcome_and_a_refused_one_is_not_asked_again(httpserver, row):
    given(httpserver, row)
    role = Role(name="planner", prompt="answer_format", takes=Words, gives=Answer)
    refused = row["name"] not in ("no_choices", "empty_stop")

    with pytest.raises(ModelError if refused else BadOutput) as caught:
        await ask(role, Words(text="x"), AskContext({"planner": model(httpserver)}, load()))

    prompts = [json.dumps(log.get_json()["messages"]) for log, _ in httpserver.log]
    assert len(prompts) == len(set(prompts)), "a prompt was repeated word for word"
    if refused:
        assert caught.value.fault == "refused"
        assert len(prompts) == 1
    else:
        assert len(prompts) == 2, "an empty answer is asked for once more, saying what was wrong"


class Words(Frozen):
    text: str


# ---- C10: rate limits, and quota that is gone


@pytest.mark.parametrize(
    "row", json.loads((DATA / "cases" / "C10" / "responses.json").read_text("utf-8")), ids=lambda row: row["name"]
)
async def test_c10_a_wait_is_kept_as_asked_never_beyond_the_time_left_and_quota_is_told_apart(httpserver, row):
    headers = dict(row["headers"])
    if "Date" in headers:  # the server here writes the date of today itself
        later = datetime.now(UTC) + timedelta(seconds=row["wait_at_least"] + 1)
        headers = {"Retry-After": format_datetime(later, usegmt=True)}
    said = json.dumps({"error": {"message": row.get("body", "slow down")}})
    answers = [Response(said, row["status"], headers)]

    def handle(_: Asked) -> Response:
        if answers:
            return answers.pop()
        return Response(json.dumps(whole(message={"content": GOOD})), content_type="application/json")

    httpserver.expect_request(PATH).respond_with_handler(handle)
    naps: list[float] = []

    async def sleep(seconds: float) -> None:
        naps.append(seconds)

    asked = model(httpserver, retry=RetryPolicy(longest_wait_s=math.inf, sleep=sleep, spread=lambda: 0.0))
    if row["name"] in ("tomorrow", "quota_gone"):
        with pytest.raises(ModelError) as caught:
            await asked.reply(request())
        assert caught.value.fault == ("quota" if row["name"] == "quota_gone" else "rate")
        assert naps == []
        assert len(httpserver.log) == 1
        return
    assert (await asked.reply(request())).text == GOOD
    [nap] = naps
    assert nap >= row.get("wait_at_least", 2.0) - (2 if "Date" in row["headers"] else 0)  # dates are whole seconds
    assert nap <= 20
    assert len(httpserver.log) == 2


# ---- C12: keys inside error texts


@pytest.mark.parametrize(
    "row",
    [json.loads(line) for line in (DATA / "cases" / "C12" / "errors.jsonl").read_text("utf-8").splitlines()],
    ids=lambda row: row["text"][:20],
)
@pytest.mark.parametrize("status", [400, 401, 500])
async def test_c12_a_key_in_a_providers_error_is_in_no_text_of_ours(httpserver, caplog, monkeypatch, row, status):
    monkeypatch.setenv("OPENAI_API_KEY", row["secret"])
    httpserver.expect_request(PATH).respond_with_json({"error": {"message": row["text"]}}, status=status)
    asked = LiteLLMModel(
        "openai/m-x",
        schema_note=str,
        api_base=httpserver.url_for("/v1"),
        retries=1,
        retry=RetryPolicy(longest_wait_s=math.inf, sleep=no_wait, spread=lambda: 0.0),
    )
    asked.ways = replace(asked.ways, structured="prompt")
    with caplog.at_level(logging.DEBUG), pytest.raises(ModelError) as caught:
        await asked.reply(request())
    logging.getLogger("test").error("failed", exc_info=caught.value)
    said = (str(caught.value), caught.value.notice, repr(caught.value.__context__), caplog.text)
    assert row["secret"] not in " ".join(said)


@pytest.mark.parametrize(
    "row", [json.loads(line) for line in (DATA / "cases" / "C12" / "errors.jsonl").read_text("utf-8").splitlines()][:1]
)
async def test_c12_a_job_whose_provider_repeats_the_key_shows_it_nowhere(
    httpserver, monkeypatch, tmp_path, caplog, row
):
    """At every step of a whole job: events, error, log; the offline engine writes what was found."""
    from agents.contracts.contract import Brief, Query
    from agents.core.settings import load as load_settings
    from agents.team import open_team

    httpserver.expect_request(PATH).respond_with_json({"error": {"message": row["text"]}}, status=402)
    for name, value in {
        "OPENAI_API_KEY": row["secret"], "OPENAI_API_BASE": httpserver.url_for("/v1"), "DOSSIER_MODEL": "openai/m-x",
        "DOSSIER_DATA_DIR": str(tmp_path),
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    team = open_team(load_settings(tmp_path / "none"))
    text = "How well did the eelgrass shoots planted in Tolven Bay survive?"
    query = Query(text=text, feasible=True, reason="small", depth_estimate=1)
    with caplog.at_level(logging.DEBUG):
        job = await team.commission(Commission(brief=Brief(question=text, queries=(query,), today="2026-11-28")))
        await job.wait()
        await team.close()
    shown = [numbered.model_dump_json() for numbered in job.run.events]
    shown += [caplog.text, job.notice, job.report.model_dump_json() if job.report else ""]
    assert row["secret"] not in " ".join(shown)
    assert job.report is not None, "what was found is written up all the same"
