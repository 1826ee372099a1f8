"""Sentences that keep the words of their source and bend what it says; and the same said rightly in other words."""

import pytest

from agents.research.writing.verify_report import quotes_alone
from agents.verify.checks import carried

BENT = [
    # another unit, rate, bound or role of the same number
    ("The water was 20 °F warm.", "The water was 20 °C warm.", "en"),
    ("The bridge is about 5 miles long.", "The bridge is 12 kilometres long.", "en"),
    ("The plant yields 300 kWh a day.", "The plant yields 300 MWh a day.", "en"),
    ("The lake falls 4 centimetres per month.", "The lake falls 4 centimetres per year.", "en"),
    ("Sales were 30 units a day.", "Sales were 30 units a week.", "en"),
    ("The share rose by 5 percent.", "The share rose by 5 percentage points.", "en"),
    ("The share rose by 5 percentage points.", "The share rose by 5 percent.", "en"),
    ("Prices fell to 20 percent.", "Prices fell by 20 percent.", "en"),
    ("Output rose to 3 tonnes.", "Output rose by 3 tonnes.", "en"),
    ("20 birds were seen.", "Between 10 and 20 birds were seen.", "en"),
    ("Between 10 and 30 birds were seen.", "Between 10 and 20 birds were seen.", "en"),
    ("Exactly 200 people came.", "Up to 200 people came.", "en"),
    ("A dozen ships sank.", "Two dozen ships sank.", "en"),
    ("Costs were twice as high as planned.", "Costs were half as high as planned.", "en"),
    # ranks
    ("It is the second largest lake of the county.", "It is the largest lake of the county.", "en"),
    ("She finished third in the race.", "She finished second in the race.", "en"),
    ("Louis XV ordered the palace.", "Louis XIV ordered the palace.", "en"),
    # times
    ("The bridge opened on 2012-03-05.", "The bridge opened on 3 May 2012.", "en"),
    ("The shop opens at 9 a.m.", "The shop opens at 9 p.m.", "en"),
    ("The battle took place in 44 AD.", "The battle took place in 44 BC.", "en"),
    ("The school was closed before the flood.", "The school was closed after the flood.", "en"),
    # negation across clauses
    ("The dam was built, and the road was not.", "The road was built, and the dam was not.", "en"),
    ("The drug reduced pain without reducing fever.", "The drug reduced fever without reducing pain.", "en"),
    ("Few residents opposed the plan.", "Many residents opposed the plan.", "en"),
    ("If both airports were in the same state, they would be in Orvane.", "Both airports are in Orvane, the state of lakes.", "en"),
    ("The mayor took money.", "The mayor denied that he took money.", "en"),
    ("The mayor took money.", "It is not true that the mayor took money.", "en"),
    # one thing's date, deed or number given to another thing of the source
    ("The bridge opened in 1912.", "The tower opened in 1912. The bridge opened in 1950.", "en"),
    ("Brindle has 400 residents.", "Telmar has 400 residents. Brindle lies on the lake.", "en"),
    # who does it to whom
    ("Smoking causes stress.", "Stress causes smoking.", "en"),
    ("The lake flows into the river Orva.", "The river Orva flows into the lake.", "en"),
    # conditions, plans, causes
    ("The dam was raised.", "If the council agrees, the dam will be raised.", "en"),
    ("The bridge opened in 2030.", "The bridge is planned to open in 2030.", "en"),
    ("The mill closed because of the flood.", "The mill closed. In the same year there was a flood.", "en"),
    ("The ferry is slower than the train.", "The train is slower than the ferry.", "en"),
    ("Anna Berg succeeded Karl Lund as mayor.", "Karl Lund succeeded Anna Berg as mayor.", "en"),
    ("The strike began after the talks failed.", "The talks failed after the strike began.", "en"),
    # the number of a whole given to a part of it
    ("The company employs 300 people in Norway.", "The company employs 300 people, 20 of them in Norway.", "en"),
    # what is said about a statement
    ("The plan is unsafe.", "Critics say that the plan is unsafe.", "en"),
    ("The plan is unsafe.", "The minister rejected claims that the plan is unsafe.", "en"),
    ("The plan is unsafe.", "It is a myth that the plan is unsafe.", "en"),
    ("It is a myth that the plan is unsafe.", "The plan is unsafe.", "en"),
    ("The plan is safe.", "Is the plan safe?", "en"),
    ("Sales were 12 million in 2020.", "Sales were forecast to be 12 million in 2020.", "en"),
    ("The species became extinct in 1990.", "The species nearly became extinct in 1990.", "en"),
    ("The law bans smoking in parks.", "The law bans smoking except in parks.", "en"),
    ("All ferries run in winter.", "All ferries except one run in winter.", "en"),
    ("Unlike Sarn, Telmar has a school.", "Like Sarn, Telmar has a school.", "en"),
    ("The vaccine is effective in children.", "The vaccine is effective in adults.", "en"),
    # who did it, where the source says it in the passive voice
    ("The bank fined the court.", "The bank was fined by the court.", "en"),
    ("Anna Berg beat Karl Lund.", "Anna Berg was beaten by Karl Lund.", "en"),
    ("Chile was beaten by China.", "Chile beat China.", "en"),
    ("Die Bank verklagte die Stadt.", "Die Bank wurde von der Stadt verklagt.", "de"),
    ("La banque a condamné le tribunal.", "La banque a été condamnée par le tribunal.", "fr"),
    ("El banco multó al tribunal.", "El banco fue multado por el tribunal.", "es"),
    ("Rent was 4 percent higher in Norway than in Sweden.", "Rent was 9 percent lower in Sweden than in Norway.", "en"),
    # what goes together, said to be a cause
    ("Coffee causes headaches.", "Coffee is correlated with headaches.", "en"),
    ("Coffee reduces the risk of strokes.", "Coffee was associated with a reduced risk of strokes.", "en"),
    ("Lärm erhöht den Blutdruck.", "Lärm hängt mit erhöhtem Blutdruck zusammen.", "de"),
    ("Le bruit augmente la tension.", "Le bruit est associé à une tension élevée.", "fr"),
    ("El ruido aumenta la tensión.", "El ruido se asocia con una tensión alta.", "es"),
    # what is said with less: ranks, shares, intentions, reservations
    ("The lake is the largest in the country.", "The lake is one of the largest in the country.", "en"),
    ("The lake is the largest in the country.", "The lake is the second largest in the country.", "en"),
    ("Der See ist der größte des Landes.", "Der See ist einer der größten des Landes.", "de"),
    ("Most farmers received the grant.", "A minority of farmers received the grant.", "en"),
    ("The merger created 200 jobs.", "The company said the merger would create 200 jobs.", "en"),
    ("Der Impfstoff senkt die Sterblichkeit.", "Der Impfstoff könnte die Sterblichkeit senken.", "de"),
    ("Le vaccin réduit la mortalité.", "Le vaccin pourrait réduire la mortalité.", "fr"),
    ("La vacuna reduce la mortalidad.", "La vacuna podría reducir la mortalidad.", "es"),
    ("The river is not polluted.", "There is no evidence that the river is polluted.", "en"),
    ("Zinc shortens colds.", "Zinc use was associated with shorter colds.", "en"),
    ("The operator closed the quarry.", "The operator intends to close the quarry.", "en"),
    ("Die Kirche ist die älteste im Land.", "Die Kirche ist eine der ältesten im Land.", "de"),
    ("El alcalde demandó a la empresa.", "El alcalde fue demandado por la empresa.", "es"),
    ("Der Turm ist der höchste der Stadt.", "Der Turm ist der zweithöchste der Stadt.", "de"),
    ("Le lac est le plus profond du pays.", "Le lac est l'un des plus profonds du pays.", "fr"),
    ("La torre es la más alta de la ciudad.", "La torre es una de las más altas de la ciudad.", "es"),
    ("La escuela abrirá en mayo.", "La escuela podría abrir en mayo.", "es"),
    ("Лекарство снижает давление.", "Лекарство может снижать давление.", "ru"),
    ("Озеро самое глубокое в стране.", "Озеро одно из самых глубоких в стране.", "ru"),
    ("该药降低血压。", "该药可能降低血压。", "zh"),
    ("该湖是全国最大的湖。", "该湖是全国第二大的湖。", "zh"),
    # one thing in the place of another
    ("The parts are made of steel and zinc.", "The parts are made of steel, copper and brass.", "en"),
    ("The bridge is 300 m long.", "The tunnel is 300 m long.", "en"),
    ("The bridge is 300 m long.", "The bridge is 300 m high.", "en"),
    ("Die Brücke ist 300 m lang.", "Der Tunnel ist 300 m lang.", "de"),
    # other languages and scripts
    ("人口增加到300万。", "人口增加了300万。", "zh"),
    ("该桥于1912年开放。", "该桥未在1912年开放。", "zh"),
    ("该湖面积为300平方公里。", "该湖面积为200平方公里。", "zh"),
    ("橋は開通しなかった。", "橋は開通した。", "ja"),
    ("다리는 개통되지 않았다.", "다리는 개통되었다.", "ko"),
    ("Bron öppnades inte 1912.", "Bron öppnades 1912.", "sv"),
    ("لم يفتح الجسر في عام 1912.", "فتح الجسر في عام 1912.", "ar"),
]  # fmt: skip
RIGHT = [
    ("The line was closed on 19 days in 2020.", "The line was closed on 12 days in 2019 and on 19 days in 2020.", "en"),
    (
        "Brindle has 19,000 residents.",
        "Telmar (12,000 residents) and Brindle (19,000 residents) are linked by the ferry.",
        "en",
    ),
    ("The company employs 20 people in Norway.", "The company employs 300 people, 20 of them in Norway.", "en"),
    ("Critics say that the plan is unsafe.", "Critics say that the plan is unsafe.", "en"),
    ("Users can upload photos and videos.", "Users can upload photos or videos.", "en"),
    ("The flight was late due to fog.", "The flight was late due to fog.", "en"),
    ("The train is faster than the ferry, and dearer.", "The train is faster than the ferry, and dearer.", "en"),
    ("The bridge is 12,000 metres long.", "The bridge is 12 kilometres long.", "en"),
    ("The water was 68 °F warm.", "The water was 20 °C warm.", "en"),
    ("The lake falls 4 centimetres a year.", "The lake falls 4 centimetres per year.", "en"),
    ("The share rose by 5 percentage points.", "The share rose from 20 to 25 percent.", "en"),
    ("Two dozen ships sank.", "24 ships sank.", "en"),
    ("The shop opens at 9 p.m.", "The shop opens at 21:00.", "en"),
    ("The battle took place in 44 BC.", "The battle took place in 44 BCE.", "en"),
    ("It is the second largest lake of the county.", "It is the second-largest lake of the county.", "en"),
    ("The museum is not open.", "The museum is closed.", "en"),
    ("The council did not approve the plan.", "The council rejected the plan.", "en"),
    ("China was beaten by Chile.", "Chile beat China.", "en"),
    ("The bridge opened in 1950.", "The tower opened in 1912. The bridge opened in 1950.", "en"),
    ("The tower was designed by Anna Berg.", "Anna Berg designed the tower. Karl Lund built the bridge.", "en"),
    ("The mill closed because of the flood.", "The flood of 1953 caused the mill to close.", "en"),
    ("Unemployment was higher in Norway than in Sweden.", "Unemployment was lower in Sweden than in Norway.", "en"),
    ("The ferry is slower than the train.", "The train is faster than the ferry.", "en"),
    ("Die Fähre ist älter als die Brücke.", "Die Brücke ist jünger als die Fähre.", "de"),
    ("Суд оштрафовал банк.", "Банк был оштрафован судом.", "ru"),
    ("Buses are cheaper than trams in Graz.", "Trams are dearer than buses in Graz.", "en"),
    ("The permit ends in June.", "The board will decide on an extension of the permit, which ends in June.", "en"),
    ("The court fined the bank.", "The bank was fined by the court.", "en"),
    ("Karl Lund was beaten by Anna Berg.", "Anna Berg beat Karl Lund.", "en"),
    ("The tower is a work of Anna Berg.", "The tower was designed by Anna Berg.", "en"),
    ("Coffee is linked to headaches.", "Coffee is associated with headaches.", "en"),
    ("The lake is one of the largest in the country.", "The lake is the largest in the country.", "en"),
    ("The merger would create 200 jobs.", "The company said the merger would create 200 jobs.", "en"),
    ("There is no proof that the river is polluted.", "There is no evidence that the river is polluted.", "en"),
    ("The mine was shut in 1999.", "The mine closed in 1999.", "en"),
    ("Das Gericht verurteilte die Bank.", "Die Bank wurde vom Gericht verurteilt.", "de"),
    ("该桥于1912年开放。", "该桥在1912年开放。", "zh"),
]


@pytest.mark.parametrize(("sentence", "quote", "language"), BENT)
def test_a_source_is_not_bent_by_keeping_its_words(sentence, quote, language):
    assert carried(sentence, [quote], language=language).verdict != "supported"


@pytest.mark.parametrize(("sentence", "quote", "language"), RIGHT)
def test_what_says_the_same_is_neither_refused_nor_contradicted(sentence, quote, language):
    assert carried(sentence, [quote], language=language).verdict in {"supported", "partly"}


def test_words_that_stand_in_the_source_as_part_of_a_longer_sentence_are_no_proof_of_themselves():
    assert carried("the mayor took money", ["It is not true that the mayor took money."]).verdict != "supported"
    assert carried("The mayor took money.", ["On Monday it rained. The mayor took money."]).verdict == "supported"


@pytest.mark.parametrize(
    ("sentence", "quote", "told"),
    [
        ("The board writes: “The line was closed on 12 days”.", "The line was closed on 12 days.", True),
        ("It is false that “the line was closed on 12 days”.", "The line was closed on 12 days.", False),
        ("Karl Lund said “the line was closed on 12 days”.", "The line was closed on 12 days.", False),
        ("Nobody says “the line was closed on 12 days”.", "The line was closed on 12 days.", False),
        ("“The mayor took money.”", "It is not true that the mayor took money.", False),
    ],
)
def test_a_quotation_speaks_for_itself_only_with_nothing_said_about_it(sentence, quote, told):
    assert quotes_alone(sentence, [quote]) is told


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        ("The line was closed on 19 days.", "The line was closed on 12 days."),
        ("Lund says that the dam leaks.", "Berg says that the dam leaks."),
        ("The dam was not raised in 1990.", "The dam was raised in 1990."),
        ("The lighthouse was painted green by volunteers.", "The lighthouse stands on the northern shore."),
        ("The firm must report leaks.", "The firm may report leaks."),
    ],
)
def test_no_opinion_may_raise_what_code_has_settled(sentence, quote):
    assert carried(sentence, [quote]).binding


@pytest.mark.parametrize(
    ("sentence", "quote", "language"),
    [
        ("Die Fähre fuhr im Winter selten.", "The ferry seldom ran in winter.", "de"),
        (
            "The ferry crossed now and then in the cold months.",
            "The ferry seldom crossed in the cold months.",
            "en",
        ),
        ("The ferry was closed.", "The ferry was closed.", "en"),
    ],
)
def test_translation_and_paraphrase_are_left_to_a_model_and_what_is_carried_needs_none(sentence, quote, language):
    assert not carried(sentence, [quote], language=language).binding
