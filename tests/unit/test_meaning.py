"""The model of sentences that ships knows a question in other words than its answer's; without it, words go on alone."""

import sys

from agents.nlp.meaning import SHIPPED, meaning, shipped
from agents.nlp.similarity import closeness
from agents.research.reading.nearest import near_passages

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

    assert near_passages([page], ["Wann darf man nicht musizieren?"])[0].words.startswith("Zwischen 13 und 15 Uhr")


def test_the_model_ships_with_its_licence():
    assert {"model.onnx", "tokenizer.json"} <= {one.name for one in SHIPPED.iterdir()}
    assert (SHIPPED.parent / "LICENSE-all-MiniLM-L6-v2.txt").is_file()
