"""The talk as a state machine, without Chainlit."""

import asyncio
from dataclasses import replace

import pytest

from agents.api.tree import live_tree
from agents.chat.state import ChatState, ManagerReply, Refuse, Say, ShowContract, ShowScope, Started
from agents.chat.texts import ChatTexts
from agents.contracts.contract import Query, ScopingTurn
from agents.core.errors import BadOutput, ModelError, NotFeasible
from agents.core.events import Noted
from agents.research.scoping.turn import ScopingState
from agents.team import Team
from tests.chat.conftest import Talker, make_team, until
from tests.scripted_model import ScriptedModel
from tests.scripts import QUERY, Worker

WORDS = ChatTexts()
COMMAND_HELP, NEAR_MISS, ONLY_THE_PHRASE, MORE, NOTHING_THERE = (
    WORDS(name) for name in ("command_help", "not_started", "only_the_phrase", "from_report", "not_in_report")
)
QUESTION = "How often was the Orvane ferry closed, and what did it cost?"
PHRASE = "Authorized to execute"


def kinds(acts):
    return [type(act).__name__ for act in acts]


def turn(*queries, ready, reply="I see.", questions=(), language="en"):
    return ScopingTurn(
        reply=reply,
        queries=queries,
        open_questions=questions,
        query_type="comparison",
        tier="standard",
        language=language,
        ready=ready,
    )


def broad(text="Everything about ferries", splits=("Ferries: how many?", "Ferries: what do they cost?")):
    return Query(text=text, feasible=False, reason="No period is named.", depth_estimate=5, suggested_split=splits)


def scripted(tmp_path, *turns, **roles):
    worker = Worker()
    by_role = dict.fromkeys(("planner", "extractor", "synthesizer"), worker)
    return Talker(make_team(tmp_path, ScriptedModel(by_role={**by_role, "manager": list(turns), **roles})))


# ---- scoping


async def test_a_feasible_question_gets_a_contract_and_nothing_starts(talker):
    acts = await talker(QUESTION)

    assert kinds(acts) == ["ManagerReply", "ShowContract"]
    assert talker.state.contract is not None
    assert not talker.team.jobs.of()
    assert talker.pieces == ["That is small enough as it is."]


async def test_it_is_said_once_that_another_model_answers_in_the_talk(tmp_path):
    from agents.llm.choose_models import Ward, WithFallbacks

    def used_up(_):
        return ModelError("a: no", fault="quota", notice="The quota is used up.", model="cloud/a")

    second = scripted(tmp_path, turn(broad(), ready=False), turn(broad(), ready=False)).team.models["manager"]
    second.name = "cloud/b"
    first = ScriptedModel(by_role={"manager": used_up}, name="cloud/a")
    talker = Talker(make_team(tmp_path, WithFallbacks([first, second], Ward())))

    acts = await talker("Everything about ferries")
    again = await talker("Still everything about ferries")

    assert [act.text for act in acts if isinstance(act, Say)] == [
        "cloud/b answers in the place of cloud/a. The quota is used up."
    ]
    assert not [act for act in again if isinstance(act, Say)]


async def test_a_broad_question_is_refused_with_narrower_ones(tmp_path):
    talker = scripted(tmp_path, turn(broad(), ready=False))

    reply, shown = await talker("Tell me everything about ferries")

    assert isinstance(reply, ManagerReply)
    assert isinstance(shown, ShowScope)
    assert shown.scope.queries[0].suggested_split == ("Ferries: how many?", "Ferries: what do they cost?")
    assert talker.state.contract is None


async def test_a_narrowed_question_is_planned_anew_and_its_parts_reach_the_planner(tmp_path):
    """What was planned ahead, for the broad question, is thrown away."""
    narrowed = QUERY.model_copy(update={"sub_topics": ("closures", "costs")})
    talker = scripted(tmp_path, turn(broad(), ready=False), turn(narrowed, ready=True))
    await talker("Everything about ferries")
    await talker("Only the Orvane line, its closures and its costs.")

    planned = [one.given for one in talker.team.models["planner"].asked if one.role == "planner"]
    assert (planned[-1].query, planned[-1].sub_topics) == (QUERY.text, ("closures", "costs"))
    assert talker.state.contract.plans[0].query == QUERY.text


@pytest.mark.parametrize("askers", [1, 2])
async def test_the_plan_made_beside_the_manager_s_verdict_is_the_one_that_is_used_where_nobody_reads_the_talk(
    tmp_path, askers
):
    talker = scripted(tmp_path, *[turn(QUERY, ready=True)] * askers)

    settled = await asyncio.gather(*(talker.team.settle(ScopingState(), QUESTION) for _ in range(askers)))

    assert {one.contract.plans[0].query for one in settled} == {QUERY.text}
    assert len([one for one in talker.team.models["planner"].asked if one.role == "planner"]) == askers


async def test_a_plan_that_is_made_with_what_one_user_knows_is_no_plan_of_another(tmp_path):
    class Planner(Worker):
        def __call__(self, request):
            known = request.given.known or ("The Orvane line was closed on 10 days.",)
            return super().__call__(request).model_copy(update={"claims": known})

    team = scripted(tmp_path, *[turn(QUERY, ready=True)] * 2, planner=Planner()).team
    await team.scope(ScopingState(memory="ann", known=("The Orvane line was closed on 12 days, says Ann.",)), QUESTION)

    settled = await team.settle(ScopingState(memory="bob"), QUESTION)

    assert [one.text for one in settled.contract.plans[0].claims] == ["The Orvane line was closed on 10 days."]


@pytest.mark.parametrize(
    ("typed", "heard"),
    [
        ("2", "Ferries: what do they cost?"),
        ("#2.", "Ferries: what do they cost?"),
        ("1 and 2", "1. Ferries: how many?\n2. Ferries: what do they cost?"),
        ("2, 1", "1. Ferries: what do they cost?\n2. Ferries: how many?"),
        ("2 ferries", "2 ferries"),
    ],
)
async def test_a_number_stands_for_the_narrower_question_of_that_number(tmp_path, typed, heard):
    manager = [turn(broad(), ready=False), turn(QUERY, ready=True)]
    talker = scripted(tmp_path, *manager)
    await talker("Tell me everything about ferries")

    await talker(typed)

    assert talker.state.scope.turns[-2].text == heard


async def test_a_plan_that_comes_out_too_wide_takes_the_feasibility_back(tmp_path):
    class Refusing(Team):
        async def draft(self, scope):
            raise NotFeasible(("Its plan has 30 leaves; 12 is the bound.",))

    query = QUERY.model_copy(update={"sub_topics": ("closures", "costs")})
    model = ScriptedModel(by_role={"manager": [turn(query, ready=True)]})
    talker = Talker(make_team(tmp_path, model, kind=Refusing))

    acts = await talker(QUESTION)

    assert kinds(acts) == ["ManagerReply", "ShowScope"]
    assert "30 leaves; 12 is the bound" in acts[1].scope.queries[0].reason
    assert len(acts[1].scope.queries[0].suggested_split) >= 2
    assert kinds(await talker(PHRASE)) == ["Refuse", "ShowScope"]


async def test_a_manager_that_fails_is_said_and_the_talk_stands_as_before(tmp_path):
    failure = BadOutput("manager", reason="no", attempts=2)
    talker = scripted(tmp_path, turn(QUERY, ready=True), failure)
    await talker(QUESTION)
    before = talker.state

    acts = await talker("and only the last three winters please, nothing else")

    assert [act.text for act in acts] == [BadOutput.notice]
    assert talker.state == before


async def test_a_provider_error_is_said_in_its_own_words(tmp_path):
    error = ModelError("401", fault="key", notice="The provider refused the key (401).")
    talker = scripted(tmp_path, error)

    assert [act.text for act in await talker(QUESTION)] == ["The provider refused the key (401)."]


async def test_an_empty_message_is_answered(talker):
    (act,) = await talker("  \n ")
    assert isinstance(act, Refuse)
    assert "nothing in that message" in act.text


async def test_a_long_pasted_text_becomes_a_file_and_its_last_question_the_question(talker):
    text = "The ferry was closed on 12 days.\nWhy was that? " + "Ice lay on the sound for weeks. " * 600
    said, added, reply, shown = await talker(f"{text}\n\nHow often was the Orvane ferry closed?")

    assert said == Say(WORDS("pasted"))
    assert added.text.startswith("Added to your files: **Pasted text.txt**")
    assert isinstance(reply, ManagerReply)
    assert shown.contract.brief.question == "How often was the Orvane ferry closed?"
    assert [file.name for file in shown.contract.brief.files] == ["Pasted text.txt"]


async def test_a_long_pasted_text_that_asks_nothing_is_kept_and_asked_about(talker):
    said, added = await talker("word " * 20_000)
    assert said == Say(WORDS("pasted_no_question"))
    assert added.text.startswith("Added to your files")


@pytest.mark.parametrize(
    "text", ["كم مرة أُغلقت العبّارة في الشتاء؟", "フェリーは冬に何日欠航しましたか。", "שלום, כמה?"]
)
async def test_a_message_in_any_script_is_answered(talker, text):
    assert kinds(await talker(text)) == ["ManagerReply", "ShowContract"]
    assert talker.state.scope.question == text


# ---- the gate


async def test_the_phrase_starts_exactly_the_contract_on_the_table(talker):
    await talker(QUESTION)
    contract = talker.state.contract

    (act,) = await talker(PHRASE)

    assert isinstance(act, Started)
    assert act.contract == contract
    assert act.job.commission.contract.hash == contract.hash
    assert talker.state.job_id == act.job.id
    await asyncio.wait_for(act.job.wait(), 30)
    assert act.job.status == "done"


async def test_the_phrase_with_nothing_agreed_says_exactly_what_is_missing(talker):
    (act,) = await talker(PHRASE)
    assert act == Refuse("Not started: there is no agreed question yet. Nothing was searched and nothing was spent.")


async def test_the_phrase_too_early_lists_every_open_point(tmp_path):
    talker = scripted(tmp_path, turn(QUERY, broad(), ready=False, questions=("Which years?",)))
    await talker("two things")

    act, again = await talker(PHRASE)
    assert isinstance(again, ShowScope)

    assert act.text == (
        "Not started. Question 1 is ready. Still missing:\n\n- question 2: No period is named.\n"
        "- to be answered: Which years?\n\nNothing was searched and nothing was spent."
    )
    assert not talker.team.jobs.of()


async def test_the_phrase_sent_twice_starts_once(held):
    await held(QUESTION)
    (started,) = await held(PHRASE)

    (again,) = await held(PHRASE)

    assert isinstance(again, Refuse)
    assert again.text.startswith("Already running since ")
    assert again.text.endswith(". Nothing was started twice.")
    assert [job.id for job in held.team.jobs.of()] == [started.job.id]


async def test_the_phrase_after_a_run_starts_nothing_by_itself(talker):
    await talker(QUESTION)
    (started,) = await talker(PHRASE)
    await started.job.wait()

    (act,) = await talker(PHRASE)

    assert isinstance(act, Refuse)
    assert len(talker.team.jobs.of()) == 1


@pytest.mark.parametrize("text", ["please start it", "go", "Run it now!", "los geht's"])
async def test_a_wish_to_begin_in_other_words_leaves_the_draft_on_the_table(talker, text):
    await talker(QUESTION)
    before = talker.state

    assert await talker(text) == [Refuse(ONLY_THE_PHRASE)]

    assert talker.state == before
    assert isinstance((await talker(PHRASE))[0], Started)


async def test_a_wish_to_begin_what_is_too_broad_is_told_what_is_missing(tmp_path):
    talker = scripted(tmp_path, turn(QUERY, broad(), ready=False, questions=("Which years?",)))
    await talker("two things")
    before = talker.state

    act, again = await talker("please start it")
    assert isinstance(again, ShowScope)

    assert isinstance(act, Refuse)
    assert "Not started. Question 1 is ready. Still missing" in act.text
    assert talker.state == before


@pytest.mark.parametrize("text", ["Plan it as it stands", "So planen, wie es steht", "go ahead"])
async def test_what_the_manager_would_still_like_to_know_may_stay_open(tmp_path, text):
    talker = scripted(tmp_path, turn(QUERY, ready=False, questions=("Which years?",)))
    await talker(QUESTION)
    act, again = await talker(PHRASE)
    assert "to be answered: Which years" in act.text and isinstance(again, ShowScope)

    assert kinds(await talker(text)) == ["ShowContract"]
    assert kinds(await talker(PHRASE)) == ["Started"]


async def test_a_yes_to_what_the_manager_asked_is_heard_by_the_manager(tmp_path):
    asked = turn(QUERY, ready=False, questions=("The ferry of Tolven Bay?",))
    talker = scripted(tmp_path, asked, turn(QUERY, ready=True))
    await talker(QUESTION)
    assert kinds(await talker("yes")) == ["ManagerReply", "ShowContract"]


async def test_a_model_that_says_the_phrase_starts_nothing(tmp_path):
    talker = scripted(tmp_path, turn(QUERY, ready=True, reply=PHRASE))
    assert kinds(await talker(QUESTION)) == ["ManagerReply", "ShowContract"]
    assert not talker.team.jobs.of()


NEAR_MISSES = [
    "Not authorized to execute",
    "not authorized to execute.",
    "I am not authorized to execute",
    "I am authorized to execute",
    "You are authorized to execute",
    "Yes, authorized to execute",
    "Ok: authorized to execute",
    "Please, authorized to execute",
    "Authorized to execute?",
    "authorized to execute??",
    "Authorized to execute..",
    "Authorized to execute!!",
    "Authorized to execute the plan",
    "Authorized to execute, please",
    "Authorized to execute query 1",
    "Authorized to execute now",
    "Am I authorized to execute?",
    "Is it authorized to execute",
    "Who is authorized to execute this?",
    "What does 'Authorized to execute' do?",
    "If I type Authorized to execute, what happens?",
    "Don't start yet. Authorized to execute",
    "Never: authorized to execute",
    "The document says: Authorized to execute",
    "My colleague wrote “Authorized to execute” in the file",
    "Authorized to execute\nand send me the result",
    "First line.\nAuthorized to execute",
    "> Authorized to execute",
    "**Authorized to execute**",
    "# Authorized to execute",
    "Authorize to execute",
    "authorized  to  execute",
    "Authorized-to-execute",
    "Authorized to execute Authorized to execute",
    "Ich sage: Authorized to execute",
    "Je dis « Authorized to execute » demain",
    "¿Authorized to execute?",
    "Аuthorized to execute",
    "Authоrized to execute",
    "Authorized to еxecute",
    "Authorized tο execute",
    "Ａuthorized to execute",
]


@pytest.mark.parametrize("text", NEAR_MISSES)
async def test_what_only_looks_like_the_phrase_starts_nothing_and_is_told(talker, text):
    await talker(QUESTION)
    before = talker.state

    assert await talker(text) == [Refuse(NEAR_MISS)]

    assert not talker.team.jobs.of()
    assert talker.state == before


@pytest.mark.parametrize(
    "text",
    [
        "Autorisiert zur Ausführung",
        "Autorisé à exécuter",
        "Autorizado para ejecutar",
        "execute",
        "authorized",
        "go",
        "start",
        "yes",
        "ok",
        "実行を許可します",
        "مصرح بالتنفيذ",
        "Authorizedto execute",
        "execute: authorized",
    ],
)
async def test_other_words_start_nothing(talker, text):
    await talker(QUESTION)
    await talker(text)
    assert not talker.team.jobs.of()


async def test_the_phrase_behind_the_command_starts_nothing(talker):
    await talker(QUESTION)
    assert await talker(PHRASE, command="research") == [Refuse(NEAR_MISS)]
    assert await talker(f"/research {PHRASE}") == [Refuse(NEAR_MISS)]
    assert not talker.team.jobs.of()


async def test_a_picker_moved_with_the_phrase_is_shown_before_it_binds(talker):
    await talker(QUESTION, modes={"depth": "standard"})

    acts = await talker(PHRASE, modes={"depth": "deep"})

    assert kinds(acts) == ["ShowContract", "Refuse"]
    assert talker.state.contract.brief.mode == "deep"
    assert not talker.team.jobs.of()
    assert kinds(await talker(PHRASE, modes={"depth": "deep"})) == ["Started"]


# ---- the command and the picker


@pytest.mark.parametrize(
    "given",
    [
        {"text": "/research --deep --time 10 " + QUESTION},
        {"text": "--deep --time 10 " + QUESTION, "command": "research"},
    ],
)
async def test_the_command_sets_mode_and_time_however_it_was_given(talker, given):
    acts = await talker(**given)

    assert kinds(acts) == ["ManagerReply", "ShowContract"]
    brief = talker.state.contract.brief
    assert (brief.mode, brief.minutes, brief.question) == ("deep", 10.0, QUESTION)


async def test_the_command_alone_explains_itself(talker):
    assert await talker("/research") == [Say(COMMAND_HELP)]
    assert await talker("", command="research") == [Say(COMMAND_HELP)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/research --quick why?", "There is no --quick"),
        ("/research --time 0 why?", "--time takes minutes"),
        ("/research --time 2000 why?", "at most 1440"),
        ("/research --fast why?", "I can't read that command"),
    ],
)
async def test_a_command_that_cannot_be_read_is_said(talker, text, said):
    (act,) = await talker(text)
    assert isinstance(act, Refuse)
    assert said in act.text


async def test_the_command_without_a_question_edits_the_draft(talker):
    await talker(QUESTION)
    (act,) = await talker("/research --time 12")
    assert act.changed == ("12 minutes instead of 5 minutes",)


async def test_an_option_that_was_typed_stands_until_the_picker_is_moved(talker):
    await talker("/research --deep " + QUESTION, modes={"depth": "standard"})
    assert talker.state.scope.mode == "deep"

    await talker("and only the winters of the last five years, counted per line", modes={"depth": "standard"})

    assert talker.state.scope.mode == "deep"


async def test_a_command_whose_manager_fails_leaves_the_draft_on_the_table(tmp_path):
    talker = scripted(tmp_path, turn(QUERY, ready=True), BadOutput("manager", reason="no", attempts=2))
    await talker(QUESTION)
    before = talker.state

    await talker("/research something quite different")

    assert talker.state == before


# ---- edits


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("deep", ("deep instead of standard, up to 7 rounds",)),
        ("10 minutes", ("10 minutes instead of 5 minutes",)),
        ("time 2.5", ("2.5 minutes instead of 5 minutes",)),
        ("unlimited time", ("no time limit instead of 5 minutes",)),
        ("in German", ("report in German instead of English",)),
        ("only domains a.example, b.example", ("only a.example, b.example",)),
        ("exclude domain bad.example", ("without bad.example",)),
        ("since 2020", ("dates since 2020-01-01",)),
        ("deep, 10 minutes", ("deep instead of standard, up to 7 rounds", "10 minutes instead of 5 minutes")),
    ],
)
async def test_an_edit_shows_the_draft_anew_with_what_changed(talker, text, changed):
    await talker(QUESTION)
    first = talker.state.contract

    (act,) = await talker(text)

    assert isinstance(act, ShowContract)
    assert act.changed == changed
    assert act.number == 2
    assert talker.state.contract.hash != first.hash


async def test_a_query_is_dropped_by_its_number_without_planning_again(tmp_path):
    second = QUERY.model_copy(update={"text": "How many passengers did the Orvane ferry carry?"})
    talker = scripted(tmp_path, turn(QUERY, second, ready=True))
    await talker("two questions")
    asked = len(talker.team.models["planner"].asked)

    (act,) = await talker("drop query 2")

    assert act.changed == (f"dropped “{second.text}”",)
    assert [query.text for query in talker.state.contract.brief.queries] == [QUERY.text]
    assert len(talker.team.models["planner"].asked) == asked


@pytest.mark.parametrize("text", ["drop query 4", "drop query 1", "2024 to 2020"])
async def test_an_edit_that_cannot_be_made_changes_nothing(talker, text):
    await talker(QUESTION)
    before = talker.state

    (act,) = await talker(text)

    assert isinstance(act, Refuse)
    assert talker.state == before


async def test_branches_are_edited_by_talking_and_each_edit_is_a_draft_of_its_own(talker):
    await talker(QUESTION)
    asked = len(talker.team.models["planner"].asked)
    seen = {talker.state.contract.hash}

    for number, (text, said) in enumerate(
        [
            ("drop branch 3", "dropped “"),
            ("rename branch 1 to “Closures by winter”", "is now “Closures by winter”"),
            ("add a branch: What did the tickets cost?", "added “What did the tickets cost?”"),
            ("move branch 3 up", "moved “What did the tickets cost?” up"),
        ],
        start=2,
    ):
        (act,) = await talker(text)
        assert isinstance(act, ShowContract)
        assert said in act.changed[0]
        assert (act.number, act.undo, act.in_place) == (number, True, False)
        seen.add(act.contract.hash)

    titles = [child.title for child in talker.state.contract.plans[0].root.children]
    assert titles[0] == "Closures by winter"
    assert titles[1] == "What did the tickets cost?"
    assert len(seen) == 5
    assert len(talker.team.models["planner"].asked) == asked


async def test_undo_goes_back_draft_by_draft_under_new_numbers(talker):
    await talker(QUESTION)
    first = talker.state.contract
    await talker("drop branch 3")
    await talker("10 minutes")

    (act,) = await talker("undo")
    assert act.changed == ("took back: 10 minutes instead of 5 minutes",)
    assert (act.number, act.undo) == (4, True)
    (act,) = await talker("undo that")

    assert act.changed[0].startswith("took back: dropped “")
    assert (act.number, act.undo) == (5, False)
    assert talker.state.contract == first
    (act,) = await talker("undo")
    assert isinstance(act, Refuse)
    (started,) = await talker(PHRASE)
    assert started.contract.hash == first.hash


async def test_an_edit_on_a_card_that_no_longer_stands_changes_nothing(talker):
    await talker(QUESTION)
    old = talker.state.contract.hash
    await talker("10 minutes")
    before = talker.state

    (act,) = await talker.on_card(op="drop", place=(0, 1), hash=old)

    assert act == Refuse("That card shows a draft that no longer stands. Nothing was changed.")
    assert talker.state == before


async def test_an_edit_on_the_card_takes_the_place_of_the_card(talker):
    await talker(QUESTION)

    (act,) = await talker.on_card(op="say", text="only domain a.example", hash=talker.state.contract.hash)
    assert act.in_place
    assert talker.state.contract.brief.domains == ("a.example",)
    (act,) = await talker.on_card(op="say", text="exclude domain a.example", hash=talker.state.contract.hash)
    assert talker.state.contract.brief.domains == ()
    assert talker.state.contract.brief.exclude_domains == ("a.example",)
    (act,) = await talker.on_card(op="undo", hash=talker.state.contract.hash)

    assert talker.state.contract.brief.domains == ("a.example",)


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ({"op": "drop", "place": (0, 7)}, "There is no part"),
        ({"op": "drop", "place": (3,)}, "There is no question 4"),
        ({"op": "drop", "place": (0,)}, "That is the only question"),
        ({"op": "rename", "place": (0, 0), "text": "  "}, "needs words"),
        ({"op": "up", "place": (0, 0)}, "can't be moved further"),
        ({"op": "say", "text": "make me a sandwich"}, "I can't read"),
        ({"op": "say", "text": "0 minutes"}, "minutes"),
        ({"op": "undo"}, "no earlier draft"),
    ],
)
async def test_an_edit_on_the_card_that_cannot_be_made_is_said_and_changes_nothing(talker, edit, said):
    await talker(QUESTION)
    before = talker.state

    (act,) = await talker.on_card(**edit, hash=before.contract.hash)

    assert isinstance(act, Refuse)
    assert said in act.text
    assert talker.state == before


async def test_the_last_branches_of_a_query_cannot_all_be_dropped(talker):
    await talker(QUESTION)
    for _ in range(len(talker.state.contract.plans[0].root.leaves()) - 1):
        await talker("drop branch 1")

    (act,) = await talker("drop branch 1")

    assert isinstance(act, Refuse)
    assert "nothing to research" in act.text
    assert len(talker.state.contract.plans[0].root.leaves()) == 1


async def test_what_is_no_plain_edit_goes_to_the_manager(talker):
    await talker(QUESTION)
    acts = await talker("could you go a bit deeper into the costs, in German sources too?")
    assert kinds(acts)[0] == "ManagerReply"


# ---- while a run is going


@pytest.mark.parametrize(
    "text",
    [
        "how is it going",
        "How far are you?",
        "status",
        "Wie weit ist es?",
        "wie läuft es",
        "où en es-tu",
        "¿Cómo va?",
        "まだですか？",
    ],
)
async def test_a_question_about_the_run_is_answered_from_its_events(held, text):
    await held(QUESTION)
    await held(PHRASE)
    await held.reading()

    (act,) = await held(text)

    assert isinstance(act, Say)
    in_german = "0 von 3 Teilen fertig, 0 Quellen gelesen, nichts ausgegeben. "
    in_english = "0 of 3 parts have delivered, 0 sources read, nothing spent. "
    assert act.text.startswith(in_german if text.startswith("Wie") else in_english)


async def test_stop_stops_at_once(held):
    await held(QUESTION)
    (started,) = await held(PHRASE)

    await asyncio.sleep(0.02)
    # How it ended is shown when it has.
    assert await held("Stop.") == []
    await asyncio.wait_for(started.job.wait(), 30)
    assert started.job.status == "cancelled"


async def test_finish_searches_no_further(held):
    await held(QUESTION)
    (started,) = await held(PHRASE)

    (act,) = await held("finish now")

    assert act.text == "No new searches. Writing from 0 sources."
    assert started.job.run.steering.finishing("job")


@pytest.mark.parametrize("text", ["please don't stop", "stop reading the tabloids", "Prefer the harbour master's log."])
async def test_any_other_sentence_during_a_run_is_guidance(held, text):
    await held(QUESTION)
    (started,) = await held(PHRASE)

    (act,) = await held(text)

    assert not started.job.run.steering.finishing("job")
    assert not started.job.over
    assert act == Say(f"Noted as change 1: {text.rstrip('.')}. It applies from round 2. The summary follows it.")
    assert started.job.run.steering.guidance == [text.rstrip(".")]
    assert f"Your note “{text.rstrip('.')}”. It applies from round 2. The summary follows it." in feed(started.job)


async def test_a_question_without_a_question_mark_is_no_guidance(held):
    await held(QUESTION)
    (started,) = await held(PHRASE)
    (act,) = await held("when will you finish the costs part")
    assert "parts have delivered" in act.text or "so far" in act.text
    assert started.job.run.steering.guidance == []


def feed(job):
    return [numbered.event.text for numbered in job.run.events if isinstance(numbered.event, Noted)]


async def test_a_branch_is_stopped_by_its_number_and_the_others_go_on(held):
    await held(QUESTION)
    (started,) = await held(PHRASE)
    await held.reading()

    (act,) = await held("stop branch 2")

    assert act.text.startswith("Noted as change 1 to the contract: part 2 “")
    await until(lambda: {node.n: node.state for node in live_tree(started.job).nodes}["2"] == "stopped")
    assert {node.n: node.state for node in live_tree(started.job).nodes}["1"] == "reading"
    held.model.go.set()
    await asyncio.wait_for(started.job.wait(), 30)
    assert started.job.report.grade == "partial"
    assert any(line.startswith("Change 1 to the contract: branch 2") for line in feed(started.job))
    assert any("stopped" in reason for reason in started.job.report.grade_reasons)


async def test_a_branch_finishes_alone(held):
    await held(QUESTION)
    (started,) = await held(PHRASE)
    await held.reading()

    (act,) = await held("finish branch 1 now")

    assert act.text.startswith("Noted as change 1 to the contract: no new searches in part 1.")
    assert started.job.run.steering.finishing("job/0/0")
    assert not started.job.run.steering.finishing("job/0/1")


@pytest.mark.parametrize("text", ["drop branch 9", "stop 4.2"])
async def test_a_branch_that_is_not_there_is_said_with_those_that_are(held, text):
    await held(QUESTION)
    await held(PHRASE)
    await held.reading()
    (act,) = await held(text)
    assert isinstance(act, Refuse)
    assert "there are: 1, 2, 3" in act.text


@pytest.mark.parametrize(
    "text", ["deep", "10 minutes", "unlimited time", "in German", "allow domain a.example", "add a branch about cats"]
)
async def test_what_goes_beyond_the_contract_needs_the_phrase_again(held, text):
    await held(QUESTION)
    (started,) = await held(PHRASE)

    (act,) = await held(text)

    assert isinstance(act, Refuse)
    assert act.text.startswith("The run goes on as authorized: ")
    assert "drafted anew" in act.text
    assert not any("Change 1" in line for line in feed(started.job))
    assert started.job.run.steering.guidance == []


async def test_a_narrowing_edit_after_authorization_is_a_numbered_change(held):
    await held(QUESTION)
    (started,) = await held(PHRASE)
    contract = started.job.commission.contract

    (first,) = await held("exclude domain bad.example")
    (second,) = await held("2 minutes")

    assert first.text == (
        "Noted as change 1 to the contract: without bad.example. "
        "It holds for every search and page from now on; what was read before stays."
    )
    assert second.text.startswith("Noted as change 2 to the contract: 2 minutes in all. I stop searching at 1:2")
    assert [line for line in feed(started.job) if line.startswith("Change ")] == [
        "Change 1 to the contract: without bad.example.",
        "Change 2 to the contract: 2 minutes in all.",
    ]
    assert started.job.commission.contract.hash == contract.hash


async def test_a_new_question_after_a_run_begins_a_new_draft(talker):
    await talker(QUESTION)
    (started,) = await talker(PHRASE)
    await started.job.wait()

    acts = await talker("How many lighthouses stood on the Orvane coast in 1900?")

    assert kinds(acts) == ["Say", "ManagerReply", "ShowContract"]
    assert acts[0].text == NOTHING_THERE
    assert acts[2].number == 1
    assert talker.state.scope.question == "How many lighthouses stood on the Orvane coast in 1900?"


async def test_a_question_that_the_report_answers_is_answered_from_its_quotes_and_starts_nothing(talker):
    await talker(QUESTION)
    (started,) = await talker(PHRASE)
    await started.job.wait()

    acts = await talker("On how many days was the Orvane ferry line closed?")

    assert kinds(acts) == ["Say"]
    assert "12 days" in acts[0].text
    assert f"/research/jobs/{started.job.id}/quote/" in acts[0].text
    assert acts[0].text.endswith(MORE)
    assert talker.state.scope == ScopingState()
    assert kinds(await talker("/research On how many days was the Orvane ferry line closed?")) == [
        "ManagerReply",
        "ShowContract",
    ]


async def test_a_report_that_is_gone_is_no_hindrance_to_a_new_question(talker):
    await talker(QUESTION)
    (started,) = await talker(PHRASE)
    await started.job.wait()
    assert await talker.team.jobs.delete(started.job.owner, [started.job.id]) == 1

    assert kinds(await talker("On how many days was the Orvane ferry line closed?")) == ["ManagerReply", "ShowContract"]


async def test_a_talk_survives_being_kept_and_read_back(talker):
    await talker(QUESTION)
    kept = ChatState.model_validate_json(talker.state.model_dump_json())
    assert kept == talker.state

    again = Talker(talker.team, kept)
    assert kinds(await again(PHRASE)) == ["Started"]


async def test_a_run_of_another_owner_is_not_seen(held):
    await held(QUESTION)
    await held(PHRASE)
    stranger = Talker(held.team, held.state.model_copy(update={"scope": ScopingState()}), owner="somebody")

    await stranger("stop")

    assert not held.team.jobs.of()[0].over


# ---- the books


async def test_what_the_talk_and_its_drafts_took_is_in_the_books_of_the_job_that_is_started_from_them(tmp_path):
    model = PricedModel(by_role={"manager": [turn(QUERY, ready=True)] * 2, **dict.fromkeys(WORKING, Worker())})
    talker = Talker(make_team(tmp_path, model))
    await talker(QUESTION)
    first = sum(model.tokens)
    await talker("Only the last three winters, please.")
    before = sum(model.tokens)
    assert before > first > 0
    assert sum(one.usage.tokens for one in talker.state.scope.spent) == before
    *_, act = await talker(PHRASE)
    await asyncio.wait_for(act.job.wait(), 30)

    actual = act.job.report.methodology.actual
    asked = sum(model.tokens)
    assert (actual.tokens_in + actual.tokens_out, actual.model_calls) == (asked, len(model.asked))
    assert actual.cost_usd == pytest.approx(0.01 * len(model.asked))
    assert live_tree(act.job).usage.tokens == act.job.summary().tokens == asked > before
    ((row, *_), _) = await talker.team.jobs.listed(None)
    assert (row.tokens, row.cost_usd) == (asked, pytest.approx(actual.cost_usd))
    assert talker.state.scope.spent == ()
    assert talker.team.renewed(act.job.contract).spent == ()


async def test_what_was_taken_before_the_start_counts_against_the_cap_on_money(tmp_path):
    model = PricedModel(by_role={"manager": [turn(QUERY, ready=True)], **dict.fromkeys(WORKING, Worker())})
    talker = Talker(make_team(tmp_path, model, max_cost_usd=0.02))
    await talker(QUESTION)
    assert len(model.asked) == 2
    *_, act = await talker(PHRASE)
    await asyncio.wait_for(act.job.wait(), 30)
    assert len(model.asked) == 2
    assert act.job.report.methodology.actual.cost_usd == pytest.approx(0.02)


WORKING = ("planner", "extractor", "synthesizer", "reflector", "challenger", "verifier", "scout", "executor")


class PricedModel(ScriptedModel):
    """One cent a call; keeps what each call took."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.tokens = []

    async def reply(self, request, on_text=None):
        answer = await super().reply(request, on_text)
        self.tokens.append(answer.usage.tokens)
        return replace(answer, usage=answer.usage.model_copy(update={"cost_usd": 0.01}))
