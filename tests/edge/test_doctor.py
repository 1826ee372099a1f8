"""`doctor`, and `doctor --try` against providers on loopback: what is usable, what is missing, and no key anywhere."""

import json
import time

import pytest
from werkzeug import Response

from agents.cli.doctor import report
from agents.llm.litellm_model import close

KEY = "sk-test-FAKE0000FAKE0000"
PATH = "/v1/chat/completions"


@pytest.fixture(autouse=True)
async def closed():
    yield
    await close()


@pytest.fixture
def configure(monkeypatch, tmp_path):
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "note.md").write_text("# Note\n\nThe ferry line was closed on 12 days.\n")
    monkeypatch.setenv("DOSSIER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("DOSSIER_LIBRARY", str(tmp_path / "library"))

    def put(**values):
        for name, value in values.items():
            monkeypatch.setenv(name, value)

    return put


def section(lines, head):
    """Give the lines below a heading."""
    start = next(number for number, line in enumerate(lines) if line.startswith(head)) + 1
    end = next((number for number in range(start, len(lines)) if not lines[number].startswith(" ")), len(lines))
    return [line.strip() for line in lines[start:end]]


def completion():
    message = {"role": "assistant", "content": '{"reply": "hello", "words": [{"reply": "red"}]}'}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


async def test_without_a_key_all_is_usable_offline_and_nothing_is_missing(configure):
    lines, usable = await report()
    assert usable
    assert section(lines, "Missing") == ["nothing"]
    assert all(line.endswith("offline engine") for line in section(lines, "Engine")[:-1])


async def test_each_role_names_its_model_and_the_order_of_those_that_stand_in(configure):
    configure(
        DOSSIER_MODEL="openai/big", DOSSIER_MODELS='{"judge": "ollama/small"}', OPENAI_API_KEY=KEY,
        ANTHROPIC_API_KEY=KEY, DOSSIER_FALLBACKS="anthropic/other, mistral/third",
    )  # fmt: skip
    lines, usable = await report()
    engine = section(lines, "Engine")
    assert any(
        line.split() == "planner openai/big, then anthropic/other, then offline engine".split() for line in engine
    )
    assert any(line.split() == "judge ollama/small, then offline engine".split() for line in engine)
    assert "not mistral/third: MISTRAL_API_KEY is not set" in engine
    assert "not anthropic/other: ollama/small runs on your own machines, and this one does not" in engine
    assert usable
    assert KEY not in "\n".join(lines)


@pytest.mark.parametrize("value", ["", "your-key-here"])
async def test_a_missing_or_placeholder_key_is_named_in_plain_words(configure, value):
    configure(DOSSIER_MODEL="openai/big", OPENAI_API_KEY=value)
    lines, usable = await report()
    assert not usable
    assert "There is no key for openai/big: put one into OPENAI_API_KEY in `.env`." in section(lines, "Missing")


@pytest.mark.parametrize(("model", "held"), [("openai/gpt-4o", True), ("openai/nobody-knows", False)])
async def test_a_limit_of_cost_that_cannot_be_held_is_named(configure, model, held):
    configure(DOSSIER_MODEL=model, OPENAI_API_KEY=KEY, DOSSIER_MAX_COST_USD="2")
    said = f"No price is known for {model[7:]}: what it costs can't be held to the limit of $2.00."
    lines, _ = await report()
    assert (said in section(lines, "Missing")) != held


async def test_a_model_that_answers_is_said_to(configure, httpserver):
    httpserver.expect_request(PATH).respond_with_json(completion())
    configure(DOSSIER_MODEL="openai/big", OPENAI_API_KEY=KEY, OPENAI_API_BASE=httpserver.url_for("/v1"))
    lines, usable = await report(really=True)
    assert usable
    [tried] = section(lines, "Models, tried")
    assert tried.startswith("openai/big: answers, in ")
    assert tried.endswith("text and JSON work (JSON by schema, streams)")
    asked = [request for request, _ in httpserver.log if request.path == PATH]
    assert len(asked) == 2, "one model is asked for words and for JSON, however many roles it has"
    assert section(lines, "Search, tried") == ["only documents are searched, on this machine"]


@pytest.mark.parametrize(
    ("status", "message", "said"),
    [
        (401, f"Incorrect API key provided: {KEY}", "refused the key. Check OPENAI_API_KEY"),
        (404, "The model big does not exist", "does not know the model openai/big"),
        (402, "You exceeded your current quota", "quota or credit of the key in OPENAI_API_KEY is used up"),
        (500, "oops", "had an error on its side"),
    ],
)
async def test_what_is_wrong_with_a_model_is_said_once_and_without_its_key(
    configure, httpserver, status, message, said
):
    httpserver.expect_request(PATH).respond_with_json({"error": {"message": message}}, status=status)
    configure(DOSSIER_MODEL="openai/big", OPENAI_API_KEY=KEY, OPENAI_API_BASE=httpserver.url_for("/v1"))
    lines, usable = await report(really=True)
    assert not usable
    assert said in section(lines, "Models, tried")[0]
    assert any(said in line for line in section(lines, "Missing"))
    assert KEY not in "\n".join(lines)
    assert len(httpserver.log) == 1


async def test_a_model_that_stays_silent_is_left_after_its_time(configure, httpserver, monkeypatch):
    def slow(_):
        time.sleep(3)
        return Response(json.dumps(completion()), content_type="application/json")

    httpserver.expect_request(PATH).respond_with_handler(slow)
    monkeypatch.setattr("agents.cli.doctor.TRIAL_S", 1.0)
    configure(DOSSIER_MODEL="openai/big", OPENAI_API_KEY=KEY, OPENAI_API_BASE=httpserver.url_for("/v1"))
    lines, usable = await report(really=True)
    assert not usable
    assert section(lines, "Models, tried") == ["openai/big: The model did not answer in time."]


async def test_a_model_that_fails_is_no_end_while_another_answers(configure, httpserver):
    def answer(asked):
        if asked.get_json()["model"] == "big":
            return Response(json.dumps({"error": {"message": "The model big does not exist"}}), 404)
        return Response(json.dumps(completion()), content_type="application/json")

    httpserver.expect_request(PATH).respond_with_handler(answer)
    configure(
        DOSSIER_MODEL="openai/big", DOSSIER_FALLBACKS="openai/small", OPENAI_API_KEY=KEY,
        OPENAI_API_BASE=httpserver.url_for("/v1"),
    )  # fmt: skip
    lines, usable = await report(really=True)
    assert usable
    assert [line.split(":")[0] for line in section(lines, "Models, tried")] == ["openai/big", "openai/small"]
    assert any(line.startswith("openai/big does not answer.") for line in section(lines, "Missing"))


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (200, {"results": [{"url": "https://a.example/", "title": "A", "content": "x"}]}, "tavily: answers"),
        (401, {"detail": {"error": "Unauthorized: missing or invalid API key."}}, "tavily: tavily refused the key"),
        (
            432,
            {"detail": {"error": "This request exceeds your plan's set usage limit."}},
            "tavily: tavily has no credit",
        ),
    ],
)
async def test_every_search_provider_is_asked_once(configure, httpserver, status, body, said):
    httpserver.expect_request("/search").respond_with_json(body, status=status)
    configure(
        RETRIEVER="tavily,library",
        TAVILY_API_KEY="tvly-FAKE0123456789",
        TAVILY_API_BASE=httpserver.url_for("").rstrip("/"),
    )
    lines, usable = await report(really=True)
    assert usable, "documents can still be searched"
    [tried] = section(lines, "Search, tried")
    assert tried.startswith(said)
    assert ("No web search answers" in " ".join(section(lines, "Missing"))) == (status != 200)
    assert "tvly-FAKE" not in "\n".join(lines)
