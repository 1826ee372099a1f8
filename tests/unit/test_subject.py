"""What a question asks about, what answers it, and what does not, by code alone."""

import pytest

from agents.offline.questions import parts_of, standalone
from agents.research.fit_input import is_worth_reading
from agents.research.reading.answering import (
    Told,
    absent_words,
    answer_of,
    answers,
    beside_the_point,
    is_about,
    leads_to,
    settled_by,
)

BANDS = "Which band was formed first, The Exies or Circus Diablo, and who founded each of them?"
EXIES = "The Exies were an American rock band from Los Angeles, California, formed in 1997."
DIABLO = "Circus Diablo is an American rock band, formed in early 2006 by Billy Morrison and Billy Duffy."
CLINTON = "The Clinton Foundation was founded by former President Bill Clinton in 2001."


def one(question):
    (part,) = parts_of(question)
    return part


def test_a_question_falls_into_the_parts_that_need_an_answer_each():
    assert [(part.kind, part.shown) for part in parts_of(BANDS)] == [
        ("either", ("Exies", "Circus Diablo")),
        ("who", ("Exies",)),
        ("who", ("Circus Diablo",)),
    ]


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        (BANDS, ["who founded Exies?", "who founded Circus Diablo?"]),
        ("Who founded each of them, Exies and Circus Diablo?", ["Who founded Exies?", "Who founded Circus Diablo?"]),
        (
            "When did both the Aral Sea and Lake Chad shrink?",
            [
                "When did both the Aral Sea and Lake Chad shrink (Aral Sea)?",
                "When did both the Aral Sea and Lake Chad shrink (Lake Chad)?",
            ],
        ),
    ],
)
def test_what_is_asked_of_each_is_named_for_one_so_that_what_is_missing_can_be_said(question, texts):
    assert [part.text for part in parts_of(question)][-2:] == texts


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who wrote the book?", "who"),
        ("When was the bridge opened?", "when"),
        ("In what year did it close?", "when"),
        ("How many passengers were carried?", "figure"),
        ("Wie viele Fahrgäste gab es?", "figure"),
        ("Where is the river?", "where"),
        ("Are Nantong and Jingdezhen in the same province?", "yes_no"),
        ("Which is older, Rome or Athens?", "either"),
        ("What causes the closures?", "other"),
        ("Which name did he use when he released the album?", "other"),
        ("The book was written by who?", "who"),
    ],
)
def test_the_kind_of_answer_is_read_from_the_question(question, kind):
    assert parts_of(question)[0].kind == kind


def test_two_names_joined_by_and_are_two_names():
    assert len(one("Are Nantong and Jingdezhen situated in the same province?").names) == 2


@pytest.mark.parametrize(
    ("question", "quote", "title", "is_it"),
    [
        ("Who founded The Exies?", EXIES, "The Exies", True),
        ("Who founded The Exies?", "It was formed in 1997.", "The Exies", True),
        ("Who founded The Exies?", CLINTON, "Clinton Foundation", False),
        ("Who founded The Exies?", DIABLO, "Circus Diablo", False),
        ("How often was the Orvane ferry closed?", "The Orvane ferry was closed on 12 days.", "", True),
        ("How often was the Orvane ferry closed?", "The Tolven ferry was closed on 12 days.", "", False),
        ("How often was the ferry line closed?", "The ferry line was closed on 12 days.", "", True),
        ("How often was the ferry line closed?", "Gardens need water in summer.", "", False),
    ],
)
def test_words_are_about_a_question_when_they_speak_of_what_it_names(question, quote, title, is_it):
    assert is_about(one(question), quote, title) is is_it


@pytest.mark.parametrize(
    ("question", "quote", "title", "is_it"),
    [
        ("Who founded Circus Diablo?", DIABLO, "Circus Diablo", True),
        ("Who founded The Exies?", EXIES, "The Exies", False),  # only where from
        ("When was The Exies formed?", EXIES, "The Exies", True),
        ("When was The Exies formed?", "The Exies were formed in Los Angeles.", "The Exies", False),
        ("When was The Exies formed?", "The Exies sold 400,000 records in 2004.", "The Exies", False),
        ("How many records have The Exies sold?", "The Exies sold 400,000 records.", "The Exies", True),
        ("How many records have The Exies sold?", "The Exies sold many records.", "The Exies", False),
        ("Who founded The Exies?", CLINTON, "Clinton Foundation", False),
    ],
)
def test_words_answer_a_question_when_they_hold_the_kind_of_thing_that_it_asks_for(question, quote, title, is_it):
    assert answers(one(question), quote, title) is is_it


@pytest.mark.parametrize(
    ("question", "words", "title"),
    [
        ("How did storms affect the plots?", "Survival percentages are not affected by the way of counting.", ""),
        ("Which Australian city built the hall in 1912?", "The city hall of Hong Kong was built in 1912.", ""),
        ("How many plots did the storms destroy?", "Storms destroy plots every winter.", ""),
        ("Who founded the Tenants' Union of Vienna?", "The price of rent in Vienna was 9 euros in 2020.", ""),
        (
            "Notable speakers at the Brisbane Institute include a painter known for his precisionist depictions of what?",
            "Notable speakers included Justice Michael Kirby and the painter Jeffrey Smart.",
            "The Brisbane Institute",
        ),
        (
            "Kate Ramsay is a fictional character from an Australian soap opera created by who?",
            "Kate Ramsay is a fictional character from the Australian soap opera Neighbours, played by Ashleigh Brewer.",
            "Kate Ramsay",
        ),
        ("When was the singer born in 1952 first heard?", "The singer, born in 1942, was first heard in 1960.", ""),
    ],
)
def test_sharing_words_with_a_question_or_telling_its_first_step_is_no_answer(question, words, title):
    assert not answers(one(question), words, title)


def test_the_last_step_of_a_question_answers_with_the_steps_before_it():
    question = one("Toad Hall is a residential hall in a university located in what Australian city?")
    lead = ["Toad Hall is a residential hall in Australian National University, it was opened in 1974."]
    last = "The Australian National University is a research university located in Canberra."

    assert not answers(question, lead[0], "Toad Hall")
    assert not answers(question, last, "Australian National University")
    assert answers(question, last, "Australian National University", lead=lead)


def test_of_two_names_that_share_words_each_is_told_by_its_own():
    both = one("Are Watertown International Airport and Alexandria International Airport in the same state?")

    assert settled_by(both, [("Watertown International Airport is in the state of New York.", "", "", "a")]) == 0


def test_which_of_two_needs_something_about_each():
    first = parts_of(BANDS)[0]
    rows = [(EXIES, "The Exies", "", "a"), (DIABLO, "Circus Diablo", "", "b")]
    assert settled_by(first, rows) == 1
    assert settled_by(first, rows[:1]) == 0


def test_a_document_is_the_next_step_where_words_to_the_point_name_it():
    quotes = ["Toad Hall is a hall of the Australian National University."]
    assert leads_to("Australian National University", quotes)
    assert leads_to("Australian National University (Canberra)", quotes)
    assert not leads_to("University of Sydney", quotes)
    assert not leads_to("ANU", ["A hall."])
    assert not leads_to("Virginia", ["Johnnycake is a place in West Virginia."])
    assert leads_to("Virginia", ["It is a place in Virginia."])


def test_a_document_without_a_name_of_the_question_is_worth_no_call_unless_it_means_the_same():
    assert is_worth_reading("The Exies", EXIES, ["Who founded The Exies?"])
    assert not is_worth_reading("Watering gardens", "Tomatoes need water in the morning.", ["Who founded The Exies?"])
    assert is_worth_reading("费用", "冬季费用为310万克朗。", ["Who founded The Exies?"]), (
        "what can't be compared is read"
    )


@pytest.mark.parametrize(
    ("question", "whole", "alone"),
    [
        (
            "Who founded each of them?",
            "Which was first, The Exies or Circus Diablo, and who founded each of them?",
            "Who founded each of them, Exies and Circus Diablo?",
        ),
        ("Who founded Circus Diablo?", "Which was first, The Exies or Circus Diablo?", "Who founded Circus Diablo?"),
        ("How long does it last?", "How long does sourdough keep?", "How long does it last?"),
    ],
)
def test_a_part_that_only_points_is_asked_with_the_names_that_it_points_at(question, whole, alone):
    assert standalone(question, whole) == alone


def test_a_thing_that_is_asked_about_and_that_nothing_found_speaks_of_is_named():
    (part,) = parts_of("How did the winter storms affect the mussel plots in Tolven Bay?")
    near = Told("f1", "The winter storms damaged the eelgrass test plots in Tolven Bay.", "Eelgrass in Tolven Bay", "")

    assert answer_of(part, [near])[0] == "partly"
    assert absent_words(part, [near]) == ("mussel",)


def test_what_a_question_says_of_its_sources_is_no_thing_that_they_must_name():
    (part,) = parts_of("What do trials show about drip irrigation and mussel yields?")
    near = Told("f1", "In trials drip irrigation saved 30 % of the water.", "Trials of drip irrigation", "")

    assert "show" not in absent_words(part, [near])
    assert "mussel" in absent_words(part, [near])


@pytest.mark.parametrize(
    ("question", "quote", "title"),
    [
        ("What is the formation year of The Exies?", EXIES, "The Exies"),
        ("What was the publication date of Oblomov?", "Oblomov was published in 1859.", "Oblomov"),
    ],
)
def test_a_noun_in_the_question_is_answered_by_its_verb(question, quote, title):
    assert one(question).kind == "when"
    assert answers(one(question), quote, title)


MOORINGS = "Did the chain moorings in Tolven Bay hurt the eelgrass, and what did the elastic moorings cost?"
COST = "An elastic mooring costs a member EUR 2,350, and the compensation fund paid EUR 1,600 of it."


@pytest.mark.parametrize(
    ("title", "status"), [("The Creel, autumn 2022", "answered"), ("A harbour elsewhere", "partly")]
)
def test_a_part_without_a_name_of_its_own_is_answered_where_the_document_has_the_name_in_another_quote(title, status):
    part = parts_of(MOORINGS)[-1]
    rows = [
        Told("a", COST, title, ""),
        Told("b", "31 moorings in Tolven Bay belonged to boats.", "The Creel, autumn 2022", ""),
    ]
    assert answer_of(part, rows)[0] == status


def test_what_is_told_before_a_question_is_no_part_of_it_but_names_what_it_is_about():
    part = one("The Ostrau Bridge was opened in the third year of the war. Who paid for it?")
    assert part.shown == ("Ostrau Bridge",)
    assert "third" not in part.matter


def test_in_another_language_what_says_what_was_asked_comes_before_what_only_has_a_date():
    (part,) = parts_of("Wann wurde Eelgrass Watch gegründet?")
    beside = Told(
        "f1", "Planting logs from 2010 to 2019 were digitised by volunteers of Eelgrass Watch.", "Data note", ""
    )
    founded = Told("f2", "Eelgrass Watch was founded in Marrick Quay in 2011 with 17 members.", "Coastline Weekly", "")

    assert answer_of(part, [beside, founded]) == ("answered", [founded])
    assert answer_of(part, [beside])[0] == "answered"


def test_the_spouse_of_somebody_in_a_film_is_not_that_of_its_director():
    question = one("Who is the spouse of The Long Quay's main director?")
    head = "The Long Quay is a 2014 drama film directed by Tom Alder."
    quote = "It follows the story of Margaret and her husband, Walter Crane, who took credit for her paintings."
    assert not answers(question, quote, "The Long Quay", head)
    lead = [f"The Long Quay. {head}"]
    assert answers(question, "Tom Alder's spouse is the actress Helen Marsh.", "Tom Alder", lead=lead)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("When did Chiang Kai-shek die?", "Chiang Kai-shek (October 31, 1887 – April 5, 1975) was a politician."),
        ("When was the Ostrel Wind Farm built?", "The Ostrel Wind Farm became operational in March 2006."),
    ],
    ids=["dates of a life", "began to work"],
)
def test_what_says_the_same_in_other_words_answers(question, words):
    title = " ".join(question.split()[2:-1])
    assert answer_of(one(question), [Told("f1", words, title.removeprefix("the "), words)])[0] == "answered"
    assert (
        answer_of(one("When did Ostrel die?"), [Told("f1", "Ostrel (1914–1918) was a war.", "Ostrel", "")])[0]
        != "answered"
    )


def test_words_that_take_the_next_step_from_those_that_lead_to_them_are_a_part_of_the_answer():
    (part,) = parts_of("How many sheep were sold at the spring market of the town where the Orvane ferry begins?")
    lead = Told("f1", "The Orvane ferry begins at Brindle, a market town.", "Orvane ferry", "")
    step, other = (Told("f2", words, "Brindle", "") for words in ("Brindle sold 31 boats.", "Brindle is a fine place."))

    assert answer_of(part, [lead, step]) == ("partly", [step, lead])
    assert answer_of(part, [lead, other]) == ("not_found", [])


def test_words_about_the_subject_are_part_of_an_answer_to_a_wide_question_and_none_to_one_for_a_figure():
    about = Told("f1", "Tolven Bay is a bay of sand.", "Tolven Bay", "")
    wide, narrow = "How did the winter storms affect the mussel plots in Tolven Bay?", "How deep is Tolven Bay?"

    assert [answer_of(parts_of(one)[0], [about])[0] for one in (wide, narrow)] == ["partly", "not_found"]


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("The institute left out lost plots, the university counted every plot.", "answered"),
        ("The spread of the plots comes from counting, because frames were lost.", "answered"),
        ("Lost plots are counted as zero in this figure.", "partly"),
        ("Mean survival was 38 % when all plots are counted, including plots that were lost.", "partly"),
        ("We excluded lost plots, but counted dead shoots of the others.", "partly"),
    ],
    ids=["two ways", "said so", "one way", "one way in two words", "one who does both"],
)
def test_what_makes_figures_differ_is_told_by_two_ways_of_counting_and_by_nothing_less(words, status):
    """No source need call it a spread between figures: what was left out here and counted there is the answer."""
    part = one("Which differences in plots and counting explain the spread between the reported figures?")

    assert (part.kind, part.matter) == ("differ", {"plot", "count"})
    assert answer_of(part, [Told("f1", words, "Eelgrass plots", "Counting and reported figures.")])[0] == status


def test_what_makes_figures_differ_is_told_in_german_too():
    part = one("Warum weichen die Zahlen zu den Seegrasflächen voneinander ab?")
    words = (
        "Das Institut ließ zerstörte Seegrasflächen aus, die Universität zählt alle.",
        "Seegrasflächen wurden gezählt.",
    )

    told = [answer_of(part, [Told("f1", said, "Seegrasflächen", "Zahlen zu Seegrasflächen")])[0] for said in words]

    assert (part.kind, told) == ("differ", ["answered", "partly"])


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        (
            "Did the night buses pay off, who used them, and which lines should stay?",
            ["Did the night buses pay off?", "who used them", "which lines should stay?"],
        ),
        (
            "Wie hoch ist die Brücke, wann wurde sie gebaut und wer zahlt?",
            ["Wie hoch ist die Brücke", "wann wurde sie gebaut", "wer zahlt?"],
        ),
        ("Where did the people, when the war ended, go?", ["Where did the people, when the war ended, go?"]),
        (
            "How was the bridge, which was built in 1930, financed, and who paid?",
            ["How was the bridge, which was built in 1930, financed", "who paid?"],
        ),
        ("Was weiß man darüber, wann sie gebaut wurde?", ["Was weiß man darüber, wann sie gebaut wurde?"]),
    ],
)
def test_questions_in_a_row_need_an_answer_each_and_a_clause_that_says_more_of_a_word_is_none(question, texts):
    assert [part.text for part in parts_of(question)] == texts


BUSES = "Night buses in Harwick: evaluation of the trial"


@pytest.mark.parametrize(
    ("question", "quote"),
    [
        ("Did the night buses pay off?", "Line: N1; Length, km: 11.2; Buses per night: 4."),
        (
            "Who used the night buses?",
            "Our comparison with the town of Merrow, which has no night buses, shows a fall.",
        ),
        ("Who used the night buses?", "Marta Osei and Daniel Thorn, Harwick Transport Institute."),
    ],
)
def test_what_only_the_title_says_answers_no_question_for_one_thing(question, quote):
    part = one(question)
    assert not answers(part, quote, BUSES)
    assert not is_about(part, quote, BUSES)


def test_words_that_say_more_than_the_title_answer_a_question_that_names_nothing():
    assert answers(one("Who used the night buses?"), "Nurses of Saint Anne used the night buses.", BUSES)
    assert answers(one("Did the night buses pay off?"), "The night buses paid off within two years.", BUSES)


def test_a_life_told_in_brackets_with_its_places_says_where_somebody_died():
    told = "Karel Purkyně (15 March 1834, Wrocław – 5 April 1868, Prague) was a painter in the Austro-Hungarian Empire."
    assert answers(one("In which city did Karel Purkyně die?"), told, "Karel Purkyně")


def test_a_second_question_behind_a_mark_is_a_part_of_its_own_without_the_words_that_announce_it():
    asked = (
        "How much carbon do the meadows bury each year? And as a second, separate question: what does restoring one "
        "hectare cost?"
    )
    assert [part.text for part in parts_of(asked)] == [
        "How much carbon do the meadows bury each year?",
        "what does restoring one hectare cost?",
    ]


AREA = "How did the planted eelgrass area in Tolven Bay change between 2015 and 2023?"
RECOUNT = "By the end of 2019, 58.6 hectares of eelgrass had been planted in Tolven Bay."


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        (AREA, "change"),
        ("How has the population of Oslo developed since 1990?", "change"),
        ("Wie hat sich die Fläche in der Bucht von Tolven zwischen 2015 und 2023 verändert?", "change"),
        ("¿Cómo ha cambiado la superficie de Tolven entre 2015 y 2023?", "change"),
        ("Comment la surface de Tolven a-t-elle évolué entre 2015 et 2023 ?", "change"),
        ("How did Lisbon develop its port?", "other"),
        ("How did storms affect the plots of Tolven Bay?", "other"),
    ],
)
def test_how_something_changed_is_told_from_how_it_was_done(question, kind):
    assert parts_of(question)[0].kind == kind


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ((RECOUNT,), "partly"),  # one year of the span
        (("Eelgrass planted in Tolven Bay grew from 12 hectares in 2015 to 64.9 hectares in 2023.",), "answered"),
        (("In 2015, 12 hectares of eelgrass were planted in Tolven Bay.",
          "In 2023, 64.9 hectares of planted eelgrass stood in Tolven Bay."), "answered"),
        (("In 2015 and 2023, 412 people planted eelgrass in Tolven Bay.",), "not_found"),  # figures of something else
        (("By the end of 1998, 5 hectares of eelgrass had been planted in Tolven Bay.",), "partly"),  # before it
    ],
)  # fmt: skip
def test_how_something_changed_is_answered_by_figures_of_its_measure_at_both_ends(words, status):
    rows = [Told(str(at), quote, "A report", "") for at, quote in enumerate(words)]
    assert answer_of(parts_of(AREA)[0], rows)[0] == status


def test_of_a_question_for_figures_what_has_none_of_its_measure_is_beside_the_point():
    rows = [Told("area", RECOUNT, "A note", "", topic=AREA),
            Told("people", "In 2019, 412 people planted eelgrass in Tolven Bay.", "B", "", topic=AREA)]  # fmt: skip
    assert beside_the_point((AREA,), rows) == {"people"}


def test_what_stands_below_a_heading_need_not_repeat_what_it_asks():
    (part,) = parts_of("Why did eelgrass disappear from Tolven Bay?")
    quote, title = "The main cause was murky water.", "Eelgrass in Tolven Bay: questions and answers"
    below, alone = (Told("f", quote, title, "", above=above) for above in ("Why did the eelgrass disappear?", ""))
    assert answer_of(part, [below])[0] == "answered"
    assert answer_of(part, [alone])[0] != "answered"
