"""What a fact says to a claim: code decides, and a model's word alone makes nothing supported."""

import pytest

from agents.contracts.fact import Fact
from agents.contracts.finding import Finding
from agents.contracts.frozen import Said
from agents.contracts.plan import Leaf, Node, Plan, PlannedClaim
from agents.contracts.sources import PROVIDER_COPY, Hit, SourceCard
from agents.research.challenge.challenge import to_read
from agents.research.challenge.claim_ledger import (
    claims_of,
    evidence_of,
    held_against,
    planned_claims,
    settled,
    speaking,
    with_a_models_word,
)

CLAIM = "The Orvane ferry line was closed on 12 days in the winter of 2022/23."


def card(title="Closures", url="https://a.example/", head=""):
    return SourceCard(id="s1", url=url, title=title, kind="web", text_hash="h", head=head)


def fact(quote):
    return Fact(id="f1", source_id="s1", statement=quote, quote=quote, start=0, end=len(quote), confidence=0.9)


@pytest.mark.parametrize(
    ("quote", "stance"),
    [
        ("The Orvane ferry line was closed on 12 days in the winter of 2022/23.", "supports"),
        ("The Orvane ferry line was closed on 30 days in the winter of 2022/23.", "contradicts"),
        ("The Orvane ferry line was closed on 41 days in the winter of 2020/21.", "unrelated"),
        ("The Tolven ferry line was closed on 30 days in the winter of 2022/23.", "unrelated"),
        ("The Orvane ferry carried 212,000 passengers in 2023.", "unrelated"),
        ("The Orvane ferry line was closed to 40 lorries in the winter of 2022/23.", "unrelated"),
        ("Gardens need water.", "unrelated"),
    ],
)
def test_the_words_decide(quote, stance):
    held = held_against(CLAIM, fact(quote), card())
    assert held.stance == stance
    assert not (held.open and "2020/21" in quote)  # no model is asked about another winter


@pytest.mark.parametrize(
    ("claim", "quote", "stance"),
    [
        ("In 2024 Kelwick had 217 active sites (record F-00011).", "In 2024 Kelwick had 71 binding rules (record F-00015).", "unrelated"),
        ("In 2015 the operating cost of Kelwick was 369 million crowns.", "In 2015 the subsidy of Kelwick was 200 million crowns.", "unrelated"),
        ("In 2015 the operating cost of Kelwick was 369 million crowns.", "Kelwick cost 400 million crowns to operate in 2015.", "contradicts"),
        ("Rents in Vienna rose by 31 % from 2015 to 2024.", "Rents in Vienna fell by 5 % from 2015 to 2024.", "contradicts"),
        ("Planted meadows in Orvane buried 41 grams of carbon a year.", "Bare sand next to the meadows of Orvane buried 14 grams of carbon a year.", "unrelated"),
        ("Planted meadows in Orvane buried 41 grams of carbon a year.", "The natural meadow of Orvane buried 83 grams of carbon a year, twice as much as planted meadows.", "unrelated"),
        ("Planted meadows in Orvane buried 41 grams of carbon a year.", "A later count found that planted meadows in Orvane buried 30 grams of carbon a year.", "contradicts"),
        ("The Orvane bridge opened in 1912.", "The Orvane bridge was opened in 1950.", "contradicts"),
        ("The load of Orvane in 2016 was high.", "The load of Orvane in 2019 was high.", "unrelated"),
        ("Sales of Orvane rose in 2019.", "Sales of Orvane fell in 2020.", "unrelated"),
        ("Adults and children over 12 years: 1 to 2 tablets, up to three times a day.", "Children from 6 to 12 years: half a tablet, up to three times a day.", "unrelated"),
        ("Cost of the Orvane bridge in 2015: 369 million crowns.", "Cost of the Orvane bridge, 2015: 400 million crowns.", "contradicts"),
    ],
)  # fmt: skip
def test_against_a_claim_speaks_only_what_is_about_the_same_measure(claim, quote, stance):
    assert held_against(claim, fact(quote), card("A report")).stance == stance


def test_a_false_claim_about_another_subject_finds_no_support():
    quote = "The Clinton Foundation was founded by former President Bill Clinton."
    held = held_against(
        "The Exies were founded by former President Bill Clinton.", fact(quote), card("Clinton Foundation")
    )
    assert (held.stance, held.open) == ("unrelated", False)


def test_a_models_yes_raises_nothing_where_the_words_can_be_compared():
    held = held_against(CLAIM, fact("The Orvane ferry line closed often in the winter of 2022/23."), card())
    assert with_a_models_word(held, "supports").stance == "unrelated"


def test_a_models_limit_counts_and_never_settles_a_claim_by_itself():
    held = held_against(CLAIM, fact("The Orvane ferry line had closed days in winter."), card())
    limited = with_a_models_word(held, "contradicts")
    assert (limited.stance, limited.strength) == ("qualifies", 0.5)
    done = settled(PlannedClaim(text=CLAIM), {"f1": limited}, (fact("x"),), {"s1": card()})
    assert done.claim.verdict == "insufficient"


def test_support_in_another_language_takes_a_models_word_and_the_right_figures():
    german = "Die Orvane-Fähre war im Winter 2022/23 an 12 Tagen geschlossen."
    held = held_against(CLAIM, fact(german), card("Orvane"))
    assert with_a_models_word(held, "supports").stance == ("supports" if held.raisable else "unrelated")
    other = held_against(CLAIM, fact(german.replace("12", "30")), card("Orvane"))
    assert with_a_models_word(other, "supports").stance != "supports"


def test_a_counter_search_reads_only_what_is_about_the_claims_subject():
    hits = (
        Hit(url="https://known.example/", title="Orvane ferry closures"),
        Hit(url="https://off.example/", title="Tolven line in winter"),
        Hit(url="https://new.example/", title="Report", snippet="The Orvane line was closed."),
    )
    assert to_read(CLAIM, hits) == ["https://known.example/", "https://new.example/"]


def test_sentences_that_speak_of_the_claims_measure_are_chosen():
    sentences = ["Gardens need water.", "The Orvane ferry line was closed on 30 days.", "The Orvane ferry has a cafe."]
    assert speaking(CLAIM, sentences, card(), 4) == [1]


def test_where_a_claim_names_nobody_a_page_must_speak_of_the_same_matter():
    claim = "Annual operating costs of tidal power rose in 2020."
    hits = (
        Hit(
            url="https://same.example/",
            title="Tidal power",
            snippet="Annual operating costs of tidal power fell in 2020.",
        ),
        Hit(url="https://other.example/", title="Wind power", snippet="Blades are made of glass fibre."),
    )

    assert to_read(claim, hits) == ["https://same.example/"]


def test_a_planned_claim_without_a_word_of_what_is_asked_is_none():
    finding = Finding(path="job/0", title="Closures", role="query", status="empty")

    plan = flat("How often was the ferry closed?", "The ferry was closed on 12 days.", "Tags hold data.")

    claims = claims_of(plan.query, planned_claims(plan), finding)

    assert [claim.text for claim in claims] == ["The ferry was closed on 12 days."]


def test_claims_are_what_sources_contradict_each_other_on_then_what_is_asked_most():
    said = (
        ("a", "In 2018 the Orvane ferry was closed on 12 days."),
        ("b", "In 2018 the Orvane ferry was closed on 12 days."),
        ("c", "Contrary to reports, in 2018 the Orvane ferry was closed on 30 days, not on 12."),
        ("d", "In 2019 the Orvane ferry was closed on 30 days."),
        ("e", "In 2018 the wages of the Orvane ferry were 30 crowns."),
    )
    facts = tuple(
        fact(quote).model_copy(update={"id": f"f{name}", "source_id": name, "confidence": 0.5 + 0.1 * number})
        for number, (name, quote) in enumerate(said)
    )
    cards = tuple(card(url=f"https://{name}.example/").model_copy(update={"id": name}) for name, _ in said)
    finding = Finding(path="job/0", title="Closures", role="leaf", status="done", facts=facts, sources=cards)
    query = "How did the number of days on which the Orvane ferry was closed change, and what explains it?"

    claims = claims_of(query, (), finding)

    assert [claim.text for claim in claims] == [said[0][1], said[3][1], said[4][1]], "the other side is none"


def flat(query, *claims):
    leaf = Leaf(title="Closures", objective=query, questions=(query,), searches=("ferry",))
    root = Node(title="Closures", objective=query, children=(leaf,))
    return Plan(query=query, root=root, claims=tuple(PlannedClaim(text=text) for text in claims))


def test_a_quote_of_a_source_that_was_read_in_part_weighs_less():
    held = held_against(CLAIM, fact("The Orvane ferry line was closed on 12 days in winter 2022/23."), card())
    whole, damaged, copied = (
        evidence_of(fact("x"), card().model_copy(update={"tags": tags}), held).strength
        for tags in ((), (Said("some letters"),), (Said(PROVIDER_COPY, provider="tavily"),))
    )

    assert damaged == round(0.8 * whole, 4)
    assert copied == whole > 0
