"""Which model stands in when one fails, and which never may."""

import asyncio

import pytest

from agents.contracts.frozen import Frozen
from agents.core.errors import ModelError
from agents.core.role import Message, Reply, Request
from agents.core.settings import Settings
from agents.llm.choose_models import REST_S, Ward, WithFallbacks, order_for
from tests.scripted_model import ScriptedModel

KEY = "k-0123456789abcdef"


class Words(Frozen):
    reply: str


ANSWER = Words(reply="The line closed.")
REQUEST = Request("planner", (Message("user", "When?"),), ANSWER, Words, 100.0, 500)


def fault(kind, model="m"):
    return ModelError(f"{model}: no", fault=kind, notice=f"It failed: {kind}.", model=model)


def failing(kind, name="first"):
    return ScriptedModel(by_role={"planner": lambda _: fault(kind, name)}, name=name)


def answering(name="second"):
    return ScriptedModel(by_role={"planner": lambda _: ANSWER}, name=name)


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.mark.parametrize(
    "kind", ["connection", "server", "timeout", "rate", "quota", "refused", "unknown_model", "key"]
)
async def test_the_next_model_answers_and_the_reply_says_for_whom_and_why(kind):
    second = answering()
    reply = await WithFallbacks([failing(kind), second], Ward()).reply(REQUEST)
    assert (reply.model, reply.stood_in_for, reply.because) == ("second", "first", f"It failed: {kind}.")
    assert len(second.asked) == 1


async def test_a_model_that_answers_has_no_stand_in_and_no_other_is_asked():
    second = answering()
    reply = await WithFallbacks([answering("first"), second], Ward()).reply(REQUEST)
    assert (reply.model, reply.stood_in_for) == ("first", "")
    assert second.asked == []


async def test_each_model_is_asked_once_and_what_the_first_said_is_raised():
    models = [failing("quota", "first"), failing("connection", "second"), failing("server", "third")]
    with pytest.raises(ModelError) as caught:
        await WithFallbacks(models, Ward()).reply(REQUEST)
    assert caught.value.fault == "quota"
    assert [len(model.asked) for model in models] == [1, 1, 1]


async def test_a_model_that_failed_is_left_alone_for_a_while_and_then_asked_again():
    clock = Clock()
    first, second = ScriptedModel(fault("connection", "first"), ANSWER, name="first"), answering()
    model = WithFallbacks([first, second], Ward(clock))
    for _ in range(3):
        assert (await model.reply(REQUEST)).because == "It failed: connection."
    assert len(first.asked) == 1
    clock.now += REST_S["connection"] + 1
    assert (await model.reply(REQUEST)).model == "first"


async def test_a_refusal_is_about_one_request_and_the_next_goes_to_the_model_that_is_bound():
    first = ScriptedModel(fault("refused", "first"), ANSWER, name="first")
    model = WithFallbacks([first, answering()], Ward())
    assert (await model.reply(REQUEST)).model == "second"
    assert (await model.reply(REQUEST)).model == "first"


async def test_two_roles_share_what_is_known_of_a_model():
    ward, first = Ward(), failing("quota")
    await WithFallbacks([first, answering()], ward).reply(REQUEST)
    await WithFallbacks([first, answering()], ward).reply(REQUEST)
    assert len(first.asked) == 1


async def test_an_answer_that_was_under_way_when_the_model_failed_does_not_bring_it_back():
    failed, now = asyncio.Event(), iter(range(100))

    class Both(ScriptedModel):
        """The first call is answered only after the second has failed."""

        async def reply(self, request, on_text=None):
            self.asked.append(request)
            if len(self.asked) == 1:
                await failed.wait()
                return await answering().reply(request, on_text)
            failed.set()
            raise fault("quota")

    ward, first = Ward(lambda: float(next(now))), Both(by_role={})
    model = WithFallbacks([first, answering("second")], ward)
    replies = await asyncio.gather(model.reply(REQUEST), model.reply(REQUEST))
    assert [bool(reply.stood_in_for) for reply in replies] == [False, True]
    assert (await model.reply(REQUEST)).stood_in_for == first.name
    assert len(first.asked) == 2


async def test_when_all_rest_the_bound_model_is_tried_once_more():
    ward, first = Ward(), failing("server", "first")
    model = WithFallbacks([first, failing("server", "second")], ward)
    for _ in range(2):
        with pytest.raises(ModelError):
            await model.reply(REQUEST)
    assert len(first.asked) == 2


async def test_the_first_model_leaves_time_for_the_next():
    first, second = failing("timeout"), answering()
    await WithFallbacks([first, second], Ward()).reply(REQUEST)
    assert first.asked[0].deadline_s == pytest.approx(60)
    assert second.asked[0].deadline_s > 90  # the first took no time


async def test_words_that_were_shown_are_not_written_over_by_another_model():
    class Breaking:
        name, reasons = "first", True

        async def reply(self, request, on_text=None):
            await on_text("The li")
            raise fault("connection", "first")

    shown = []

    async def show(text):
        shown.append(text)

    reply = await WithFallbacks([Breaking(), answering()], Ward()).reply(REQUEST, show)
    assert shown == ["The li"]
    assert isinstance(reply, Reply)


# ---- which models stand in


@pytest.fixture
def keys(monkeypatch):
    def put(**values):
        for name, value in values.items():
            monkeypatch.setenv(name, value)

    return put


def names(order):
    return [one.name for one in order.others]


def test_models_of_the_other_keys_stand_in_by_default(keys):
    keys(OPENAI_API_KEY=KEY, ANTHROPIC_API_KEY=KEY, GEMINI_API_KEY="your-key-here")
    order = order_for("openai/gpt-5.2", Settings())
    assert [one.partition("/")[0] for one in names(order)] == ["anthropic"]


def test_none_stand_in_when_the_operator_says_so(keys):
    keys(OPENAI_API_KEY=KEY, ANTHROPIC_API_KEY=KEY, DOSSIER_FALLBACKS="none")
    assert names(order_for("openai/gpt-5.2", Settings())) == []


def test_a_list_is_kept_in_order_and_what_lacks_a_key_is_named(keys):
    keys(ANTHROPIC_API_KEY=KEY, DOSSIER_FALLBACKS="mistral/large, anthropic/a, openai/gpt-5.2")
    order = order_for("openai/gpt-5.2", Settings())
    assert names(order) == ["anthropic/a"]
    assert order.left_out == (("mistral/large", "MISTRAL_API_KEY is not set"),)


@pytest.mark.parametrize("model", ["ollama/qwen3", "ollama_chat/qwen3", "hosted_vllm/x", "lm_studio/y"])
@pytest.mark.parametrize("listed", ["", "openai/gpt-5.2,anthropic/a"])
def test_a_model_on_ones_own_machine_is_never_followed_by_one_elsewhere(keys, model, listed):
    keys(OPENAI_API_KEY=KEY, ANTHROPIC_API_KEY=KEY, DOSSIER_FALLBACKS=listed)
    order = order_for(model, Settings())
    assert names(order) == []
    assert [name for name, _ in order.left_out] == [name for name in listed.split(",") if name]


@pytest.mark.parametrize("base", ["http://127.0.0.1:8080/v1", "https://models.firm.example/v1"])
def test_a_server_under_an_address_of_ones_own_is_never_followed_by_a_cloud(keys, base):
    keys(OPENAI_API_KEY=KEY, ANTHROPIC_API_KEY=KEY, OPENAI_API_BASE=base, DOSSIER_FALLBACKS="")
    assert names(order_for("openai/local", Settings())) == []
    keys(DOSSIER_FALLBACKS="anthropic/a,openai/other")
    assert names(order_for("openai/local", Settings())) == ["openai/other"]


def test_one_local_model_may_stand_in_for_another_but_not_one_at_a_distant_address(keys):
    keys(DOSSIER_FALLBACKS="ollama/small")
    assert names(order_for("lm_studio/big", Settings())) == ["ollama/small"]
    keys(OLLAMA_API_BASE="https://ollama.elsewhere.example")
    assert names(order_for("lm_studio/big", Settings())) == []
    keys(OLLAMA_API_BASE="http://gpu.lan:11434")
    assert names(order_for("lm_studio/big", Settings())) == ["ollama/small"]


def test_a_base_that_a_provider_of_the_cloud_was_given_keeps_it_out_of_the_default_order(keys):
    keys(OPENAI_API_KEY=KEY, ANTHROPIC_API_KEY=KEY, ANTHROPIC_API_BASE="https://gateway.firm.example")
    assert names(order_for("openai/gpt-5.2", Settings())) == []
    assert names(order_for("anthropic/claude-sonnet-4-5", Settings())) == []


def test_the_offline_engine_has_no_stand_in(keys):
    keys(OPENAI_API_KEY=KEY)
    assert names(order_for("offline", Settings())) == []
