"""The one parser of what is typed: limits, parts, numbers, the phrase and a closed list of short wishes."""

import re
from pathlib import Path

import pytest

from agents.chat.commands import Edit, Part, Pick, Start, Wish, asks_for_progress, read, read_edit
from agents.chat.preferences import edited
from agents.chat.state import chosen
from agents.chat.texts import ChatTexts, locales
from agents.core.errors import BadRequest
from agents.research.scoping.authorization import ResearchCommand
from agents.research.scoping.turn import ScopingState
from tests.scripts import QUERY

PUBLIC = Path(__file__).parents[2] / "public"

READ = [
    ("drop query 2", Edit(drop=(2,))),
    ("Please remove question 1.", Edit(drop=(1,))),
    ("drop query 1 and drop query 3", Edit(drop=(1, 3))),
    ("deep", Edit(mode="deep")),
    ("Standard mode", Edit(mode="standard")),
    ("make it deep", Edit(mode="deep")),
    ("--deep --time 10", None),
    ("time 10", Edit(minutes=10.0, time_given=True)),
    ("--time 10", Edit(minutes=10.0, time_given=True)),
    ("take 2,5 minutes", Edit(minutes=2.5, time_given=True)),
    ("unlimited", Edit(minutes=None, time_given=True)),
    ("15 min please", Edit(minutes=15.0, time_given=True)),
    ("only domain who.int", Edit(domains=("who.int",))),
    ("only domains a.org, b.co.uk and c.net", Edit(domains=("a.org", "b.co.uk", "c.net"))),
    ("exclude domain example.com", Edit(exclude_domains=("example.com",))),
    ("without x.com, y.com", Edit(exclude_domains=("x.com", "y.com"))),
    ("language German", Edit(language="de")),
    ("write in French", Edit(language="fr")),
    ("2019 to 2024", Edit(date_from="2019-01-01", date_to="2024-12-31")),
    ("since 2020", Edit(date_from="2020-01-01")),
    ("deep, 10 minutes, in German", Edit(mode="deep", minutes=10.0, time_given=True, language="de")),
]


@pytest.mark.parametrize(("text", "edit"), READ)
def test_a_plain_edit_is_read(text, edit):
    assert read_edit(text) == edit


@pytest.mark.parametrize(
    "text",
    [
        "",
        "10",
        "2",
        "2020",
        "drop it",
        "how deep is the bay",
        "is it deep?",
        "deep water and its fish",
        "in Atlantis",
        "10 minutes is too long for me",
        "only the costs",
        "time",
        "the standard of living since 2020",
        "drop query",
        "a.org",
        "deep, and what about fish",
        "in German, and compare it with France",
        "without doubt",
    ],
)
def test_what_could_mean_something_else_is_left_to_the_manager(text):
    assert read_edit(text) is None


def test_a_time_out_of_bounds_is_said():
    with pytest.raises(BadRequest, match="at most 1440"):
        read_edit("2000 minutes")


def test_several_queries_are_dropped_by_the_numbers_they_had():
    queries = tuple(QUERY.model_copy(update={"text": f"{n}?"}) for n in (1, 2, 3))
    scope = edited(ScopingState(queries=queries), Edit(drop=(1, 2)))
    assert [query.text for query in scope.queries] == ["3?"]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("2", (2,)), ("#2.", (2,)), ("1 and 3", (1, 3)), ("2, 2", (2,)), ("the second one", (2,)), ("both", (0,)),
     ("die zweite bitte", (2,)), ("I'll take 1", (1,)), ("the last", (-1,)), ("alle", (0,)), ("option 2", (2,))],
)  # fmt: skip
def test_a_choice_is_read_in_figures_and_words(text, numbers):
    assert read(text) == Pick(numbers=numbers)


@pytest.mark.parametrize("text", ["1 or 2", "1.5", "-1", "2 ferries", "2020", "the first ferry"])
def test_what_only_holds_a_number_is_no_choice(text):
    assert not isinstance(read(text), Pick)


def test_a_number_that_names_nothing_is_said():
    with pytest.raises(BadRequest, match="no number 3; there are 2"):
        chosen(Pick(numbers=(1, 3)), ("a?", "b?"), ChatTexts())


def test_all_and_the_last_are_counted():
    assert chosen(Pick(numbers=(0,)), ("a?", "b?"), ChatTexts()) == "1. a?\n2. b?"
    assert chosen(Pick(numbers=(-1,)), ("a?", "b?"), ChatTexts()) == "b?"


WISHES = [
    ("stop", "stop"), ("STOP", "stop"), (" Stop! ", "stop"), ("cancel the run", "cancel"), ("abbrechen", "cancel"),
    ("arrête", "stop"), ("detener", "stop"), ("please stop", "stop"), ("could you stop now?", "stop"),
    ("finish", "finish"), ("Finish now.", "finish"), ("write now", "finish"), ("jetzt schreiben", "finish"),
    ("terminar", "finish"), ("pause", "pause"), ("resume", "resume"), ("weitermachen", "resume"), ("continue", "continue"),
    ("refresh", "refresh"), ("How is it going?", "progress"), ("wie läuft es", "progress"), ("¿Cómo va?", "progress"),
    ("Restart", "restart"), ("try again!", "restart"), ("noch einmal versuchen", "restart"), ("réessaie", "restart"),
    ("reintentar", "restart"), ("rework it", "rework"), ("neu schreiben", "rework"), ("undo", "undo"),
    ("take that back", "undo"), ("rückgängig", "undo"), ("thanks!", "thanks"), ("Vielen Dank", "thanks"),
    ("ok great", "agree"), ("sounds good to me", "agree"), ("passt so", "agree"), ("d'accord", "agree"),
    ("please start it", "begin"), ("los geht's", "begin"), ("vas-y", "begin"), ("hazlo ya", "begin"),
    ("how long will it take?", "how_long"), ("Wie lange dauert das?", "how_long"), ("what does it cost?", "cost"),
    ("Was kostet das?", "cost"), ("what sources will you use?", "sources"), ("Welche Quellen nutzt du?", "sources"),
    ("cancel", "cancel"), ("never mind", "cancel"), ("not yet", "wait"), ("hm", "wait"), ("what now?", "next"),
    ("help", "help"), ("summarise this in three sentences", "summarise"), ("Zusammenfassung", "summarise"),
    ("are you an AI?", "model"), ("is my data safe?", "privacy"), ("a new question", "new_question"),
    ("a change to this one", "change"), ("make it shorter", "shorter"), ("show me the plan", "show"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "name"), WISHES)
def test_a_short_wish_is_read_in_four_languages(text, name):
    said = read(text)
    assert isinstance(said, Wish)
    assert said.name == name


@pytest.mark.parametrize(
    ("text", "term"),
    [("what does executor mean?", "executor"), ("What is a leaf?", "leaf"), ("was heißt Executor?", "executor"),
     ("explain the term “verdict”", "verdict")],
)  # fmt: skip
def test_a_term_of_the_product_is_asked_after(text, term):
    assert read(text) == Wish(name="term", topic=term)


@pytest.mark.parametrize(
    "text",
    ["What is AI?", "what does photosynthesis mean?", "don't stop", "stop the boats", "finish the sentence",
     "Start with the costs", "When did the ferry start?", "Run the numbers for 2021", "Go deeper into the costs",
     "Do seals eat cod?", "starting in 2019", "Why did the trial restart in 2019?", "How long did the Romans rule Gaul?",
     "What does a heat pump cost in Norway?", "Which sources of energy does Chile use?", "thanksgiving dinners",
     "continue the series 1, 1, 2, 3", "help for heroes", "why did 2 stop?", "drop it like it's hot",
     "stop reading the 2 tabloids", "try the harbour log again"],
)  # fmt: skip
def test_a_sentence_of_its_own_is_no_wish(text):
    assert read(text) is None or (isinstance(said := read(text), Part) and said.loose)


PARTS = [
    ("stop branch 2", Part(op="stop", number="2")), ("Stop 1.2.", Part(op="stop", number="1.2")),
    ("drop branch 2", Part(op="drop", number="2")), ("leave out 3", Part(op="drop", number="3")),
    ("finish branch 1 now", Part(op="finish", number="1")), ("try branch 2 again", Part(op="retry", number="2")),
    ("Try 2 again!", Part(op="retry", number="2")), ("retry the branch 1.2", Part(op="retry", number="1.2")),
    ("halte Zweig 2 an", Part(op="stop", number="2")), ("verwirf Zweig 2", Part(op="drop", number="2")),
    ("lass Teil 2 weg", Part(op="drop", number="2")), ("versuche Zweig 2 noch einmal", Part(op="retry", number="2")),
    ("arrête la branche 2", Part(op="stop", number="2")), ("abandonne la branche 2", Part(op="drop", number="2")),
    ("réessaie la branche 2", Part(op="retry", number="2")), ("detén la rama 2", Part(op="stop", number="2")),
    ("termine la branche 2 maintenant", Part(op="finish", number="2")),
    ("descarta la rama 2", Part(op="drop", number="2")), ("prueba otra vez la rama 2", Part(op="retry", number="2")),
    ("move part 3 up", Part(op="up", number="3")),
    ("rename branch 1 to “Closures by winter”", Part(op="rename", number="1", text="Closures by winter")),
    ("add a branch: What did the tickets cost?", Part(op="add", text="What did the tickets cost?")),
    ("add a part under 2 about crews", Part(op="add", number="2", text="crews")),
    ("ergänze Teil: Kosten", Part(op="add", text="Kosten")),
    ("leave out passengers", Part(op="drop", title="passengers", loose=True)),
    ("drop the part about passengers", Part(op="drop", title="passengers", loose=True)),
    ("also look at the costs", Part(op="add", text="the costs", loose=True)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "part"), PARTS)
def test_an_order_about_one_part_is_read_in_four_languages(text, part):
    assert read(text) == part


@pytest.mark.parametrize("text", ["use newer sources", "thanks", "prefer gauges"])
def test_a_statement_asks_for_no_progress(text):
    assert not asks_for_progress(text)


def test_the_phrase_and_what_only_looks_like_it_are_told_apart():
    assert read("Authorised to execute!") == Start(exact=True)
    assert read("I am authorised to execute") == Start(exact=False)
    assert isinstance(read("/research --deep why?"), ResearchCommand)
    assert isinstance(read("why?", "research"), ResearchCommand)


@pytest.mark.parametrize("other", [name for name, locale in locales().items() if "texts" in locale and name != "en"])
def test_a_complete_language_says_all_that_english_says_with_the_same_values(other):
    import string

    def fields(text):
        return {name for _, name, _, _ in string.Formatter().parse(text) if name}

    english, translated = locales()["en"], locales()[other]
    assert set(translated["texts"]) == set(english["texts"])
    assert set(translated["terms"]) == set(english["terms"])
    assert {
        name for name, text in translated["texts"].items() if fields(text) != fields(english["texts"][name])
    } == set()


def test_every_text_that_the_code_names_is_there():
    import re
    from pathlib import Path

    source = "".join(file.read_text() for file in Path("agents/chat").glob("*.py"))
    named = set(re.findall(r"words\(\s*\"([a-z_]+)\"", source))
    assert len(named) > 60
    assert named <= set(locales()["en"]["texts"])


LABELS = {
    "Try again": "restart",
    "Write from these findings": "finish",
    "Write it anew": "rework",
    "Release as it is": "release",
}
"""What the buttons on the card of a run that is over say, and do."""


@pytest.mark.parametrize(("label", "wish"), LABELS.items())
def test_what_a_button_of_a_run_says_is_read_as_its_command_in_each_language(label, wish):
    words = (PUBLIC / "words.js").read_text("utf-8")
    (german,) = re.findall(rf"'{label}': '(.+)',", words)
    assert f"t('{label}')" in (PUBLIC / "elements" / "ResearchRun.jsx").read_text("utf-8")
    assert {read(label).name, read(german).name} == {wish}
