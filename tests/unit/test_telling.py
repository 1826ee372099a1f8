"""Themes: what one document talks about and the others do not."""

from collections import Counter

from agents.search.telling_terms import phrases, telling, widespread

NOTICE = "\n\nInvented sample document."
BIRDS = (
    "The grey heron nests in May. A grey heron eats fish. Fish are eaten by a grey heron near the old mill." + NOTICE
)
BOATS = "A steel barge carries fish. The steel barge needs a new pump; barges rust." + NOTICE
NETS = "Nets catch fish. A net of nylon lasts." + NOTICE


def themes(text, *others, limit=3):
    corpus = [phrases(one) for one in (text, *others)]
    spread = Counter(phrase.key for found in corpus for phrase in found)
    return telling(corpus[0], spread, len(corpus), limit)


def test_a_phrase_that_repeats_in_one_document_tells_most():
    assert themes(BIRDS, BOATS, NETS)[0] == "grey heron"


def test_parts_of_a_chosen_phrase_are_left_out():
    found = themes(BIRDS, BOATS, NETS, limit=8)

    assert not {"grey", "heron"} & set(found)


def test_singular_and_plural_are_one_word():
    assert next(phrase for phrase in phrases(BOATS) if phrase.key == "barg").times == 3


def test_the_title_counts_more_than_the_text():
    assert phrases("Rain fell. Snow fell.", title="Snow at noon")[0].shown == "Snow"


def test_a_corpus_talks_about_what_matters_in_many_documents():
    found = widespread([phrases(text) for text in (BIRDS + " Fish.", BOATS + " Fish.", NETS + " Fish.")], 5)

    assert found[0] == "fish"
    assert not any("sample" in theme for theme in found)


def test_japanese_nouns_are_found_between_the_particles():
    assert "夜行列車" in themes("夜行列車は便利だ。夜行列車が走る。", limit=3)
