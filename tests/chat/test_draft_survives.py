"""Whatever is said about a fresh draft, no ordinary message replaces or withdraws it, whichever engine answers."""

import asyncio

import pytest

from agents.chat.state import ManagerReply, Refuse, Say, ShowContract, Started
from agents.chat.texts import ChatTexts
from agents.core.settings import Settings
from agents.team import open_team
from tests.chat.conftest import Talker, make_team
from tests.chat.test_conversation import PHRASE, QUESTION, kinds, scripted, turn
from tests.scripts import QUERY

WORDS = ChatTexts()
ORDINARY = [
    # in other languages
    "ja", "passt", "danke", "wie lange dauert das?", "was kostet das?", "welche Quellen werden genutzt?", "merci", "combien de temps ?",
    "gracias", "abbrechen", "auf Deutsch bitte", "zeig mir den Plan", "mach es kürzer",
    # agreeing, thanking, waiting
    "ok", "Yes", "great, thanks!", "sounds good", "looks good to me", "perfect", "thank you very much", "Thanks a lot.",
    "hm", "not yet", "let me think about it", "wait a minute", "no", "maybe later", "I'm not sure yet", "interesting",
    # asking about the draft
    "how long will it take?", "How much will this cost?", "is it free?", "what sources will you use?",
    "where do you search?", "what does executor mean?", "what is a leaf?", "what now?", "what happens next?",
    "can I change it later?", "help", "what can I say?", "which model do you use?", "are you a bot?",
    "does anything leave my computer?", "who can see this?", "show me the plan again", "will it take long?",
    "is that too much?", "why three parts?",
    # beginning in other words, steering what does not run
    "start", "go ahead", "please begin", "continue", "cancel", "never mind", "stop", "pause", "resume", "refresh",
    "status?", "finish now", "try again", "summarise this in three sentences", "make it shorter",
    # changing it
    "in German please", "please answer in English", "use only 2 minutes", "deeper", "undo", "2", "the second one",
    # something else
    "I don't like the third part much", "What is the weather in Paris tomorrow?", "asdf", "👍", "lol",
    "You are not authorized to execute", "My cat sat on the keyboard and wrote this",
    # as people type: in haste, with emojis, half sentences and typos
    "Cool, thx!! 🙏", "hmm ok and what exactly will I get at the end?", "could you pls tell me roughly how much time that takes 😅",
    "isn't that a bit much for such a simple question?", "I have a meeting in 10 min, will it be done by then?",
    "wait, is this using my private files??", "sry wrong window", "Looks fine, but let me ask my colleague first",
    "whats the diffrence between standard and deep", "can you also email me the result?", "do I have to pay anything",
    "how reliable is this going to be?", "can I export it as word?", "never mind, carry on", "Thats not what i ment",
    "is it possible to see the sources before?", "I'd rather have it in Spanish, if possible", "ok so what do I type now",
    "Moment mal, was bedeutet denn „Runden“?", "Super, vielen lieben Dank! 😊", "kostet mich das was??", "hä?",
    "Muss ich am Rechner bleiben wärend das läuft?", "ich bin mir noch nicht sicher, ob das die richtige Frage ist",
    "das ist mir zu teuer", "Was passiert mit meinen Daten?", "Bekomme ich das als PDF?", "geht das auch schneller",
    "gute frage, nächste frage", "ok aber nur wenn es nichts kostet",
    # fresh ones, in many languages
    "sure, why not", "Is there a way to make it cheaper?", "that's too long, I only have a minute", "which documents do you have?",
    "wait what did you just do?", "who wrote this plan?", "can my boss see this later?", "does it work without internet?",
    "and if it finds nothing?", "ok cool but what about the sources, are they any good?", "I'll be back in 5", "sorry, ignore that",
    "can you read PDFs?", "how many documents will it read?", "will I be charged if I stop it halfway?", "Wie sicher ist das?",
    "Wer bekommt das zu sehen?", "Und wenn nichts gefunden wird?", "nee, passt so nicht", "Ich muss kurz telefonieren",
    "bitte etwas gründlicher", "c'est quoi un tour ?", "ça coûte combien ?", "on y va", "¿de dónde salen las fuentes?", "no entiendo",
    "grazie mille", "ok obrigado", "tack så mycket", "hoe lang duurt het?", "はい", "谢谢", "شكرا", "спасибо, подождите", "😂😂", "???", "🚀", "k",
]  # fmt: skip


def standing(state):
    return [query.text for query in state.scope.queries], len(state.contract.plans[0].root.leaves())


@pytest.fixture(params=["offline", "model"])
async def drafted(request, tmp_path):
    """A conversation with a fresh draft: over the offline engine, and over a model that takes all for new questions."""
    if request.param == "offline":
        team = open_team(Settings(data_dir=tmp_path, model="offline", retriever="library"))
        question = "What share of the eelgrass shoots planted in Tolven Bay was still alive after 24 months?"
    else:
        team, question = make_team(tmp_path), QUESTION
    talker = Talker(team)
    assert isinstance((await talker(question))[-1], ShowContract)
    yield talker
    await team.close()


async def test_no_ordinary_message_loses_a_draft(drafted):
    """Checked one after the other, each on the same fresh draft."""
    assert len(ORDINARY) >= 60
    fresh, lost = drafted.state, []
    for message in ORDINARY:
        drafted.conversation.state = fresh
        acts = await drafted(message)
        if not acts or drafted.state.contract is None or standing(drafted.state) != standing(fresh):
            lost.append((message, acts))
    assert lost == []
    assert not drafted.team.jobs.of()


async def test_what_is_not_understood_is_asked_back_and_either_answer_does_what_it_says(drafted):
    fresh = drafted.state
    *_, asked = await drafted("What is the weather in Paris tomorrow?")

    assert asked.buttons
    assert [button.label for button in asked.buttons] == [WORDS("button_new"), WORDS("button_change")]
    assert drafted.state.contract == fresh.contract

    await drafted("a change to this one")
    assert drafted.state.contract is not None
    assert drafted.state.scope.queries[0].text == fresh.scope.queries[0].text or drafted.team.engine.reasons

    drafted.conversation.state = fresh
    await drafted("What share of the eelgrass shoots was alive in Lindgard Sound?")
    if drafted.state.pending:
        await drafted("a new question")
    assert drafted.state.scope.question != fresh.scope.question


@pytest.mark.parametrize(
    ("said", "parts", "language", "is_in"),
    [
        ("The accidents on the line matter most to my readers.", ("accidents",), "en",
         lambda brief: brief.queries[0].sub_topics == ("accidents",)),
        ("A colleague sent me https://a.example/closures for it.", (), "en",
         lambda brief: brief.seed_urls == ("https://a.example/closures",)),
        ("My readers understand nothing but French.", (), "fr", lambda brief: brief.language == "fr"),
    ],
)  # fmt: skip
async def test_what_is_agreed_beside_the_words_of_the_question_makes_a_new_draft(
    tmp_path, said, parts, language, is_in
):
    agreed = QUERY.model_copy(update={"sub_topics": parts})
    talker = scripted(tmp_path, turn(QUERY, ready=True), turn(agreed, ready=True, language=language))
    await talker(QUESTION)
    acts = await talker(said)
    assert kinds(acts) == ["ManagerReply", "ShowContract"]
    assert is_in(acts[-1].contract.brief)


async def test_what_the_manager_does_not_say_again_stays_agreed(tmp_path):
    parts = QUERY.model_copy(update={"sub_topics": ("closures", "costs")})
    talker = scripted(tmp_path, turn(parts, ready=True), turn(QUERY, ready=True))
    await talker(QUESTION)
    await talker("in German please")
    contract = talker.state.contract
    acts = await talker("Do two parts not tear apart what belongs together?")
    assert kinds(acts) == ["ManagerReply"]
    assert (talker.state.contract, contract.brief.language) == (contract, "de")


async def test_a_draft_that_survived_is_what_the_phrase_binds_in_either_spelling(drafted):
    await drafted("How long will it take?")
    contract = drafted.state.contract
    (started,) = await drafted("Authorised to execute.")
    assert isinstance(started, Started)
    assert started.contract.hash == contract.hash


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("how long will it take?", "at most 5 minutes"),
        ("what sources will you use?", "It searches"),
        ("what does executor mean?", "the program that works through one part"),
        ("cancel", "The draft simply stays here"),
        ("thanks", "You're welcome"),
        ("wie lange dauert das?", "höchstens 5 Minuten"),
        ("could you pls tell me roughly how much time that takes 😅", "at most 5 minutes"),
        ("hmm ok and what exactly will I get at the end?", "a summary first"),
        ("can you also email me the result?", "sent to nobody"),
        ("Bekomme ich das als PDF?", "als PDF"),
        ("sry wrong window", "Take your time"),
        ("Cool, thx!! 🙏", "You're welcome"),
        ("whats the diffrence between standard and deep", "deep up to 7"),
        ("ok aber nur wenn es nichts kostet", "nicht bekannt"),
        ("can my boss see this later?", "computer"),
        ("grazie mille", "You're welcome"),
        ("ça coûte combien ?", "will cost is not known"),
        ("Ich muss kurz telefonieren", "bleibt hier"),
        ("???", "The draft stands as it is"),
    ],
)
async def test_a_question_about_the_draft_is_answered_from_the_card_without_a_model(tmp_path, message, said):
    talker = Talker(make_team(tmp_path))
    await talker(QUESTION)
    asked = len(talker.team.models["manager"].asked)

    (act,) = await talker(message)

    assert said in act.text
    assert len(talker.team.models["manager"].asked) == asked
    await talker.team.close()


async def test_what_costs_is_not_known_is_said_to_be_unknown(talker):
    await talker(QUESTION)
    (act,) = await talker("what will it cost?")
    assert "will cost is not known" in act.text
    assert "$0" not in act.text


@pytest.mark.parametrize(
    ("question", "thanks", "language"),
    [
        ("Wie oft war die Orvane-Fähre im Winter 2020 wegen Eis geschlossen?", "danke", "de"),
        ("Combien de fois le ferry Orvane a-t-il été fermé à cause de la glace en 2020 ?", "merci", "fr"),
        ("¿Se cerró el ferry Orvane por el hielo en el invierno de 2020?", "gracias", "es"),
        # Of the others the chat speaks none, and no neighbour's.
        ("A balsa Orvane foi fechada por causa do gelo no inverno de 2020?", "thanks", "en"),
        ("Kuinka usein Orvanen lautta suljettiin jään vuoksi talvella 2020?", "thanks", "en"),
        ("Да ли је трајект Орване био затворен због леда 2020. године?", "thanks", "en"),
        ("Orvane feribotu 2020 kışında buz nedeniyle kapatıldı mı?", "thanks", "en"),
        ("オルバネのフェリーは2020年の冬に氷で欠航しましたか？", "thanks", "en"),
        ("هل أُغلقت عبّارة أورفان بسبب الجليد في شتاء 2020؟", "thanks", "en"),
        ("क्या 2020 की सर्दियों में बर्फ के कारण ओरवेन फेरी बंद हुई?", "thanks", "en"),
    ],
)
async def test_the_chat_answers_in_the_language_of_the_question_or_in_english(talker, question, thanks, language):
    await talker(question)
    (act,) = await talker(thanks)
    assert act == Say(ChatTexts(language)("thanks_draft"))
    (act,) = await talker("los geht's" if language == "de" else "go")
    assert act == Refuse(ChatTexts(language)("only_the_phrase"))


async def test_a_part_is_dropped_and_added_by_name(talker):
    await talker(QUESTION)
    (act,) = await talker("leave out passengers")
    assert act.changed == ("dropped “Passengers”",)
    (act,) = await talker("also look at the crews")
    assert act.changed == ("added “the crews”",)
    (act,) = await talker("drop the lighthouses")
    assert isinstance(act, Refuse)
    assert "there are: Closures, Costs, the crews" in act.text


# ---- in the second of the end


async def test_a_stop_in_the_second_of_the_end_stops_or_says_that_it_came_too_late(talker):
    await talker(QUESTION)
    (first,) = await talker(PHRASE)
    events = [numbered async for numbered in first.job.follow() if numbered]
    for from_the_end in range(1, 9):
        again = Talker(talker.team)
        await again(QUESTION)
        (second,) = await again(PHRASE)
        seen = 0
        async for numbered in second.job.follow():
            seen += numbered is not None
            if seen == len(events) - from_the_end:
                acts = await again("stop")
                break
        await asyncio.wait_for(second.job.wait(), 30)

        assert second.job.status in ("done", "cancelled"), from_the_end
        if second.job.status == "done":
            assert second.job.report is not None
            assert acts == [] or "has ended" in acts[0].text
        else:
            assert acts == []


# ---- just after the end


@pytest.fixture
async def ended(talker):
    await talker(QUESTION)
    (started,) = await talker(PHRASE)
    await started.job.wait()
    return talker


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("stop", "That run has ended"),
        ("finish now", "That run has ended"),
        ("continue", "restart"),
        ("status", "It took"),
        ("thanks", "You're welcome"),
        ("summarise this in two sentences", "The first sentences of the report above"),
        ("what sources did you use?", "read 3 sources"),
        ("How long did it take?", "It took"),
        ("Wie lange hat es gedauert?", "Es dauerte"),
        ("what did it cost?", "It took"),
    ],
)
async def test_steering_words_just_after_the_end_concern_the_report(ended, message, said):
    acts = await ended(message)
    assert kinds(acts) == ["Say"]
    assert said in acts[0].text
    assert ended.state.contract is None


async def test_a_limit_named_after_the_end_offers_the_same_question_anew(ended):
    (asked,) = await ended("use only 2 minutes")
    assert asked.buttons
    assert asked.buttons[0].label == "Draft it anew: use only 2 minutes"

    (shown,) = await ended(asked.buttons[0].says)
    assert isinstance(shown, ShowContract)
    assert shown.contract.brief.minutes == 2
    assert shown.contract.brief.queries[0].text == QUESTION


# ---- the sample library


async def test_a_question_that_the_sample_library_says_nothing_of_is_told_the_three_doors(tmp_path):
    team = open_team(Settings(data_dir=tmp_path, model="offline", retriever="library"))
    talker = Talker(team)
    (asked,) = await talker("How do lithium prices change the cost of electric bicycles?")
    assert asked.buttons
    assert "invented sample documents" in asked.text
    assert [button.label for button in asked.buttons] == ["Drop a file", "Name a folder", "Add a key"]
    for button in asked.buttons:
        (act,) = await talker(button.says)
        assert isinstance(act, Say)
    assert not any(isinstance(act, ManagerReply) for act in [asked])
    await team.close()
