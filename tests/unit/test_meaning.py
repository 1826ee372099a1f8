"""The model of sentences that ships knows a question in other words than its answer's; without it, words go on alone."""

import sys

from agents.contracts.finding import NearPassage
from agents.nlp.meaning import SHIPPED, meaning, shipped
from agents.nlp.similarity import closeness
from agents.research.reading.nearest import far_off, near_passages, passages_of

CURFEW = "Instruments may not be played between one and three in the afternoon, nor after ten at night."
OTHERS = (
    "At home games the club sells tea and cake at the gate.",
    "The violin maker in Mill Street repairs bows and sells strings.",
    "Home contents insurance covers theft from a locked house.",
)
PAGES = [(f"Page {at}", f"library:///{at}.md", text) for at, text in enumerate((*OTHERS, CURFEW))]
QUESTION = "At what hours is practising the violin at home forbidden?"


def test_an_answer_in_other_words_is_nearer_than_words_in_common():
    near = [closeness(meaning(QUESTION), meaning(text)) for text in (CURFEW, OTHERS[0], OTHERS[2])]

    assert near[0] == max(near)


def test_what_a_text_means_does_not_hang_on_what_is_read_beside_it():
    model = shipped()
    alone, (beside, _) = model.directions([CURFEW]), model.directions([CURFEW, " ".join(OTHERS)])

    assert closeness(alone[0], beside) > 0.99
    assert len(beside) == 384


def test_where_no_package_runs_the_model_words_go_on_alone(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)

    assert shipped.__wrapped__() is None


def test_a_question_in_a_language_the_model_was_not_made_for_is_weighed_by_its_words():
    page = (
        "Hausordnung",
        "library:///h.md",
        "Zwischen 13 und 15 Uhr darf nicht musiziert werden.\n\nHunde an die Leine.",
    )

    assert near_passages(passages_of([page]), ["Wann darf man nicht musizieren?"])[0].words.startswith(
        "Zwischen 13 und 15 Uhr"
    )


def test_the_model_ships_with_its_licence():
    assert {"model.onnx", "tokenizer.json"} <= {one.name for one in SHIPPED.iterdir()}
    assert (SHIPPED.parent / "LICENSE-all-MiniLM-L6-v2.txt").is_file()


OVERDOSE = "What must I do after an overdose?"
WHOLE = "Swallow the tablets whole with water."
LEAFLET = "Package leaflet: information for the patient"
TOO_MUCH = NearPassage(
    title=LEAFLET,
    url="library:///c.md",
    words="If you have forgotten a dose or taken too much, go to a hospital at once and take the box with you.",
)


def test_a_quote_to_which_another_passage_comes_clearly_nearer_is_no_answer():
    assert far_off([OVERDOSE], [(WHOLE, LEAFLET)], [TOO_MUCH]) == {WHOLE}
    assert far_off(["How are the tablets swallowed?"], [(WHOLE, LEAFLET)], [TOO_MUCH]) == set()


def test_words_in_common_with_a_meaning_far_off_are_no_answer():
    asked = "Who was against the steel rope bridge, and on what ground?"
    glass = ("Glass bottles are not allowed anywhere on the grounds.", "Prices and opening hours")
    vote = ("Against: Pryce, on the ground that the children had managed without a bridge.", "Minutes of the council")

    assert far_off([asked], [glass, vote], [TOO_MUCH]) == {glass[0]}


def test_what_another_quote_names_is_the_next_step_of_a_question_and_stays_however_far_from_its_words():
    first = ("The bridge of Ostrel was drawn by the engineer Hanna Brevik.", "Bridge of Ostrel")
    second = ("She was born in 1871 in a village by the fjord.", "Hanna Brevik")
    nearer = NearPassage(
        title="Bridges", url="library:///b.md", words="The bridge of Ostrel was opened and its engineer was born."
    )

    assert second[0] not in far_off(["When was the engineer of the bridge of Ostrel born?"], [first, second], [nearer])
    assert second[0] in far_off(["When was the engineer of the bridge of Ostrel born?"], [second], [nearer])


def test_where_nothing_comes_near_no_quote_gives_way():
    asked = "Which differences in plots and counting explain the spread between the reported figures?"
    quote = "The institute left out plots that storms destroyed, the university counted every plot since 2013."
    other = NearPassage(
        title="Four in ten", url="library:///f.md", words="Plots deeper than 3.2 metres survived half as well."
    )

    assert far_off([asked], [(quote, "Evaluation of Phase III of the Tolven Meadows Programme")], [other]) == set()
