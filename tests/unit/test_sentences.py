"""Sentences keep their places; words of any script are found."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.nlp.lang import MAX_UNIT, spans
from agents.nlp.similarity import containment, copies, is_about_the_same, shingles
from agents.nlp.tokens import content_words, language_of, segmented, stem, words


def cut(text):
    return [text[span.start : span.end] for span in spans(text)]


PIECES = st.sampled_from(
    [
        "The limit is 18. ",
        "Dr. Moe ",
        "e.g. ",
        "3.5 % ",
        "\n",
        "\n\n",
        "# Head\n",
        "- item\n",
        "2. point\n",
        "a | b | c\n",
        "| x |\n",
        "。",
        "！」",
        "密度",
        "؟ ",
        "هل",
        "“Yes.” ",
        "[2]",
        "…",
        "\t",
        "  ",
        "word ",
        "; ",
        ", ",
        "x" * 70,
        "\u00a0",
        "\u2028",
        "\r\n",
        "Am 3. Mai ",
        "と",
    ]
)
TEXTS = st.one_of(st.text(), st.lists(PIECES, max_size=60).map("".join))


@given(TEXTS)
def test_spans_ascend_within_the_text_and_lose_nothing(text):
    found = spans(text)

    assert [span.number for span in found] == list(range(1, len(found) + 1))
    last = 0
    for span in found:
        piece = text[span.start : span.end]
        assert last <= span.start < span.end <= len(text)
        assert piece == piece.strip()
        assert len(piece) <= MAX_UNIT
        last = span.end
    kept = "".join(text[span.start : span.end] for span in found)
    assert "".join(kept.split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        pytest.param(
            "Dr. J. R. Moe paid $3.5 million at 5 p.m. on Monday, see Fig. 2. He left.",
            ["Dr. J. R. Moe paid $3.5 million at 5 p.m. on Monday, see Fig. 2.", "He left."],
            id="abbreviations",
        ),
        pytest.param("Am 3. Mai kam er bzw. sie. Gut.", ["Am 3. Mai kam er bzw. sie.", "Gut."], id="german"),
        pytest.param(
            "He led it (1239–c. 1243). He died.", ["He led it (1239–c. 1243).", "He died."], id="about a year"
        ),
        pytest.param("第一句。第二句！第三句？", ["第一句。", "第二句！", "第三句？"], id="chinese"),
        pytest.param("「そうだ。」と言った。次。", ["「そうだ。」と言った。", "次。"], id="japanese-quotation"),
        pytest.param("هل هذا صحيح؟ نعم.", ["هل هذا صحيح؟", "نعم."], id="arabic"),
        pytest.param("It rose.[2] It fell.", ["It rose.[2]", "It fell."], id="note-mark"),
        pytest.param(
            "Pick Me Up! is sold. Airplane! (1980) is a film.",
            ["Pick Me Up! is sold.", "Airplane! (1980) is a film."],
            id="names",
        ),
        pytest.param("“Stop!” he said. Why? Ärzte.", ["“Stop!” he said.", "Why?", "Ärzte."], id="speech"),
        pytest.param("# A head\nA text\n\nAnother", ["# A head", "A text", "Another"], id="headings"),
        pytest.param(
            "Both:\n- one, e.g. this\n- two. More.", ["Both:", "- one, e.g. this", "- two.", "More."], id="items"
        ),
        pytest.param("Year | No. of days\n2022 | 41. 12", ["Year | No. of days", "2022 | 41. 12"], id="rows"),
        pytest.param(
            "TITLE\nBy A. Lee, 3 May\n\nIt is a\nwrapped line.",
            ["TITLE", "By A. Lee, 3 May", "It is a\nwrapped line."],
            id="title",
        ),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text, sentences):
    assert cut(text) == sentences


def test_a_long_unit_is_cut_at_a_semicolon_before_a_comma():
    text = "alpha, " * 50 + "beta; " + "gamma, " * 60

    first, *rest = cut(text)

    assert first.endswith("beta;")
    assert rest


def test_a_megabyte_takes_no_more_than_seconds():
    text = "The ferry was closed on twelve days, e.g. in May. The limit is 18.5 centimetres. Why?\n" * 6_000

    began = time.perf_counter()
    found = spans(text)

    assert len(found) == 18_000
    assert time.perf_counter() - began < 20


def test_words_come_in_any_script():
    assert words("L'Été 118,400 COVID-19 हिन्दी 密度高") == [
        "l",
        "été",
        "118400",
        "covid",
        "19",
        "हिन्दी",
        "密度",
        "度高",
    ]


def test_endings_of_number_and_tense_do_not_part_words():
    stems = content_words(
        "transplants transplanted transplant transplanting; houses house; studies study; planned plan"
    )

    assert len(set(stems)) == 4


def test_stop_words_and_question_words_are_no_content():
    assert content_words("What was the share of the 31 plots?") == ["share", "31", "plot"]
    assert content_words("Wie viele Plätze hat der Zug?") == ["platz", "zug"]
    assert content_words("密度高的材料是什么") == ["密度", "度高", "材料", "料是"]


def test_a_text_of_nothing_but_particles_keeps_its_words():
    assert content_words("うなぎ") != []


def test_an_index_sees_single_characters():
    assert segmented("密度 of Houses") == "密 度 of hous"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("What is the limit?", "en"), ("Was kostet das?", "de"), ("Quelle est la part du train ?", "fr"),
        ("¿Cuánto cuesta el tren?", "es"), ("Quanto costa il treno?", "it"), ("Qual é o preço do trem?", "pt"),
        ("Wat kost de trein?", "nl"), ("Vad kostar tåget?", "sv"), ("夜行列車はいつ出ますか", "ja"),
        ("密度是什么", "zh"),
        ("안녕하세요 세계", "ko"), ("هل هذا صحيح", "ar"), ("Это лёд", "ru"), ("Αυτό είναι", "el"), ("זה נכון", "he"),
        ("นี่คือ", "th"), ("", "en"), ("42", "en"),
        ("Jaką wysokość ma wieża latarni morskiej Morava?", "pl"),
        ("Kdy byl postaven maják Morava?", "cs"),
        ("Deniz fenerinin yüksekliği ne kadar?", "tr"),
        ("¿Se recuperó la hierba marina de la bahía de Tolven después de 2018?", "es"),
        ("La reserva natural de la isla", "es"), ("Que países proibiram a pesca de arrasto?", "pt"),
        ("Kırmızı et sağlığa zararlı mı?", "tr"), ("Er ålegræsset i Tolvenbugten kommet tilbage efter 2018?", "da"),
        ("Toipuiko Tolvenin lahden meriheinä vuoden 2018 jälkeen?", "fi"),
        ("Mennyibe került a rét helyreállítása?", "hu"),
        ("Who directed Les Misérables?", "en"), ("Tolven Bay eelgrass", "en"), ("El Niño and wheat prices", "en"),
    ],
)  # fmt: skip
def test_the_language_is_guessed(text, language):
    assert language_of(text, asked=True) == language


LONG = " ".join(f"word{n}" for n in range(400))


def test_a_copy_with_a_few_changes_is_a_copy_and_its_original_is_none():
    changed = LONG.replace("word7 ", "other ").replace("word300 ", "else ")
    other = " ".join(f"term{n}" for n in range(400))

    found = copies({1: shingles(changed), 2: shingles(LONG + " and more"), 3: shingles(other)})

    assert found == {1: 2}
    assert containment(shingles(LONG), shingles(other)) == 0


def test_two_texts_that_share_an_excerpt_are_not_put_together_by_it():
    first, second = (" ".join(f"{name}{n}" for n in range(300)) for name in ("a", "b"))
    excerpt = " ".join(f"shared{n}" for n in range(60))

    found = copies({1: shingles(f"{first} {excerpt}"), 2: shingles(f"{second} {excerpt}"), 3: shingles(excerpt)})

    assert list(found) == [3]


def test_entries_of_one_template_are_not_about_the_same():
    north, south = (
        f"{name} is one of the townships of Orne County. It had 900 people." for name in ("Northby", "Southby")
    )

    assert not is_about_the_same("Northby, Orne County", north, south)
    assert is_about_the_same("New for Northby", f"New for Northby\n\n{north}", f"Old for Northby\n\n{north}")


def test_stems_may_be_cut_in_many_threads_at_once():
    words = [
        f"{head}{tail}"
        for head in ("closur", "batter", "settl", "organ", "decid")
        for tail in ("ies", "ings", "ement", "izations")
    ]
    alone = [stem.__wrapped__(word) for word in words]

    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda _: [stem.__wrapped__(word) for word in words], range(40)))

    assert all(found == alone for found in together)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It is deep.[citation needed] In 1987 it rose.[1]:23 So.", ["It is deep.[citation needed]", "In 1987 it rose.[1]:23", "So."]),
        ("(See p. 3.)[2] He said “it ends.”[3] ¿Qué?[note 6] Bien.", ["(See p. 3.)[2]", "He said “it ends.”[3]", "¿Qué?[note 6]", "Bien."]),
        ("湖位于东部。[1] 湖深84.5米。[来源请求]", ["湖位于东部。[1]", "湖深84.5米。[来源请求]"]),
        ("قال.[1] ثم ذهب؟[2] نعم.", ["قال.[1]", "ثم ذهب؟[2]", "نعم."]),
        ("It was opened in 1999.[2][3] Its boring took six years.[4]", ["It was opened in 1999.[2][3]", "Its boring took six years.[4]"]),
        ("It cost 88 million crowns.¹² It was built in 1999.³,⁴ The lake is deep.",
         ["It cost 88 million crowns.¹²", "It was built in 1999.³,⁴", "The lake is deep."]),
        ("It holds 10.⁶ litres.", ["It holds 10.⁶ litres."]),
    ],
)  # fmt: skip
def test_a_sentence_ends_behind_the_marks_of_its_notes(text, sentences):
    """Case 15 of the second collection."""
    assert cut(text) == sentences


def test_words_of_grammar_tell_nothing_in_russian_either():
    assert content_words("Когда был построен маяк Морава?") == content_words("построен маяк Морава")
