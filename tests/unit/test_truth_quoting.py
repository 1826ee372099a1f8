"""Whether a quote stands in a text: typography may differ, meaning may not."""

import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.research.writing.verify_report import quotes_alone
from agents.verify.checks import carried
from agents.verify.quotes import find_quote, speaks_for_itself

LOCALES = Path("agents/offline/locales")
CASES = Path(__file__).parents[1] / "data" / "cases"
PAIRS = [json.loads(line) for line in (CASES / "C23" / "pairs.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("pair", [pytest.param(pair, id=pair["why"]) for pair in PAIRS])
def test_a_quote_is_found_exactly_when_it_means_the_same(pair):
    assert bool(find_quote(pair["quote"], pair["source"])) == pair["match"]


def test_the_span_points_at_the_original_characters():
    source = "Once.  The\u00a0board\u2019s limit \u2014 18\u2009cm \u2014 is old."

    start, end = find_quote("The board's limit - 18 cm - is old.", source)

    assert source[start:end] == "The\u00a0board\u2019s limit \u2014 18\u2009cm \u2014 is old."


def test_a_quote_without_a_reference_mark_spans_the_words_of_the_source():
    source = "The line was closed on 12 days [3] in 2022/23. More."

    start, end = find_quote("The line was closed on 12 days in 2022/23.", source)

    assert source[start:end] == "The line was closed on 12 days [3] in 2022/23."


@pytest.mark.parametrize(
    ("quote", "source"),
    [
        pytest.param("The rule was … changed in 2021 by them.", "The rule was not changed in 2021 by them.", id="not"),
        pytest.param("closed on 2 days in all", "It was closed on 12 days in all.", id="half-a-number"),
        pytest.param("2 degrees on average", "It was 4.2 degrees on average.", id="half-a-decimal"),
        pytest.param("a total of 10 metres", "In a total of 10\u00b2 metres.", id="a-power"),
        pytest.param("the line was close", "Then the line was closed.", id="half-a-word"),
    ],
)
def test_an_omission_or_a_cut_that_changes_the_meaning_is_no_quote(quote, source):
    assert find_quote(quote, source) is None


@pytest.mark.parametrize("row", [
    ("本次调查共有四百一十二人参加。", "共有四百一十二人参加", True),
    ("本次调查共有四百一十二人参加。", "共有四百二十一人参加", False),
    ("渡し船は氷のため\n十二日間欠航した。", "渡し船は氷のため十二日間欠航した。", True),
    ("아버지가 방에 들어가신다고 했다.", "아버지 가방에 들어가신다고 했다.", False),
    ("توقفت العبّارة اثني عشر يومًا", "توقفت العبارة اثني عشر يوما", True),
    ("توقفت العبارة أحد عشر يوما", "توقفت العبارة اثني عشر يوما", False),
    ("השורה [3] נסגרה", "השורה נסגרה", True),
    ("השורה [3] לא נסגרה", "השורה נסגרה", False),
])  # fmt: skip
def test_scripts_without_spaces_are_quoted_by_the_character(row):
    """Among them the quotes of case C42."""
    source, quote, stands = row

    assert bool(find_quote(quote, source)) == stands


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_whatever_is_found_lies_inside_the_text(before, quote, after):
    text = before + quote + after

    found = find_quote(quote, text)

    assert found is None or 0 <= found[0] < found[1] <= len(text)


PAGE = (
    "The new cell gained 13.1 dB at full load. The bridge is unsafe in winter. It fell to −12.5 degrees at night. The effect "
    "was not significant in either group. No evidence shows that the drug lowers fever in children. The minis-\nter said that "
    "the dam holds."
)


@pytest.mark.parametrize(
    "cut",
    ["gained 3.1 dB at full load", "3.1 dB at full load", "The bridge is safe in winter", "safe in winter",
     "12.5 degrees at night", "fell to 12.5 degrees at night", "significant in either group",
     "The effect was significant in either group"],
)  # fmt: skip
def test_no_quote_is_cut_out_of_a_number_a_word_a_sign_or_its_negation(cut):
    assert find_quote(cut, PAGE) is None


def test_words_that_the_rest_of_their_sentence_denies_do_not_speak_for_themselves():
    assert not speaks_for_itself(
        "the drug lowers fever in children", "No evidence shows that the drug lowers fever in children."
    )


@pytest.mark.parametrize("honest", ["The minister said that the dam holds", "It fell to −12.5 degrees at night"])
def test_an_honest_quote_is_found_over_a_hyphen_and_with_its_sign(honest):
    assert find_quote(honest, PAGE)


CUTS = [
    ("a cure for the disease", "There is no evidence that it is a cure for the disease.", True),
    ("effective in all patients", "The drug was far from effective in all patients.", False),
    ("met its target in 2020", "The ministry failed to meet: it never met its target in 2020.", False),
    ("effective against the new strain", "The vaccine was hardly effective against the new strain.", False),
    ("safe for use in schools", "It was neither safe for use in schools nor cheap.", False),
    ("cheap to build and run", "It was neither safe nor cheap to build and run.", False),
    ("available to the public yet", "The data are not available to the public yet.", False),
    ("the plan was approved by council", "It is false that the plan was approved by council.", False),
    ("Mönche den Damm gebaut haben", "Es ist ein Mythos, dass Mönche den Damm gebaut haben.", False),
    ("sicher für kleine Kinder", "Das Mittel ist keineswegs sicher für kleine Kinder.", False),
    ("Nachweis für eine Wirkung", "Es gibt keinen Nachweis für eine Wirkung.", False),
    ("billig im täglichen Betrieb", "Das Gerät ist weder leise noch billig im täglichen Betrieb.", False),
    ("efficace contre la grippe", "Le produit n'est pas efficace contre la grippe.", False),
    ("efficace contre la grippe saisonnière", "Le produit n’est guère efficace contre la grippe saisonnière.", False),
    ("efficace chez les enfants", "Le produit n'est efficace que chez les adultes, pas efficace chez les enfants.", False),
    ("eficaz contra la gripe", "El producto no es eficaz contra la gripe.", False),
    ("eficaz en los niños pequeños", "El producto nunca fue eficaz en los niños pequeños.", False),
    ("sicuro per i bambini", "Il prodotto non è sicuro per i bambini.", False),
    ("seguro para crianças pequenas", "O produto não é seguro para crianças pequenas.", False),
    ("veilig voor jonge kinderen", "Het middel is niet veilig voor jonge kinderen.", False),
    ("säker för små barn", "Medlet är inte säker för små barn.", False),
    ("known to cause any harm", "It is not known to cause any harm.", False),
    ("possible without the grant", "The work was impossible without the grant.", False),
    ("legal in most of the states", "It is illegal in most of the states.", False),
    ("2 percent of the total", "It made up 12 percent of the total.", False),
    ("000 people lost their homes", "In all 12,000 people lost their homes.", False),
    ("5 million euros were spent", "In all 1.5 million euros were spent.", False),
    ("closed for 12 days", "The line was closed for 12 days.", True),
    ("could be seen from afar", "The tower could not be seen from afar.", False),
    ("The tower could be seen", "The tower could not be seen from afar.", False),
    ("a threat to the bees", "The spray is no longer a threat to the bees.", False),
    ("without a permit of the city", "They built it without a permit of the city.", True),
    ("a permit of the city", "They built it without a permit of the city.", False),
    ("of the opinion that it works", "Nobody was of the opinion that it works.", False),
]  # fmt: skip
DENIED = [
    ("The drug lowers fever in children.", "No evidence shows that the drug lowers fever in children.", "en"),
    ("The drug lowers fever in children.", "There is little evidence that the drug lowers fever in children.", "en"),
    ("The drug lowers fever in children.", "The study fails to show that the drug lowers fever in children.", "en"),
    ("The drug lowers fever in children.", "The drug fails to lower fever in children.", "en"),
    ("The bridge is safe.", "The bridge is far from safe.", "en"),
    ("The bridge is safe.", "The bridge is anything but safe.", "en"),
    ("The city chose steel.", "The city chose timber rather than steel.", "en"),
    ("The city chose steel.", "The city chose timber instead of steel.", "en"),
    ("The pump is reliable in winter.", "The pump was found to be unreliable in winter.", "en"),
    ("The plan was approved.", "The plan was never approved.", "en"),
    ("The plan was approved.", "The plan has yet to be approved.", "en"),
    ("The plan was approved.", "The plan was all but approved.", "en"),
    ("The mayor knew of the leak.", "The mayor denied having known of the leak.", "en"),
    ("The ferry runs in winter.", "The ferry no longer runs in winter.", "en"),
    ("The ferry runs in winter.", "The ferry ceased to run in winter.", "en"),
    ("The drug is effective.", "The claim that the drug is effective has been refuted.", "en"),
    ("The drug is effective.", "It is doubtful whether the drug is effective.", "en"),
    ("Both lines were closed.", "Neither line was closed.", "en"),
    ("The shops were open.", "None of the shops were open.", "en"),
    ("The company paid tax.", "The company avoided paying tax.", "en"),
    ("The village has water.", "The village lacks water.", "en"),
    ("The rule applies to firms.", "The rule applies to everyone but firms.", "en"),
    ("Die Brücke ist sicher.", "Die Brücke ist keineswegs sicher.", "de"),
    ("Die Brücke ist sicher.", "Die Brücke ist alles andere als sicher.", "de"),
    ("Die Brücke ist sicher und billig.", "Die Brücke ist weder sicher noch billig.", "de"),
    ("Es gibt Belege für die Wirkung.", "Es gibt keine Belege für die Wirkung.", "de"),
    ("Die Stadt wählte Stahl.", "Die Stadt wählte Holz statt Stahl.", "de"),
    ("Die Fähre fährt im Winter.", "Die Fähre fährt im Winter nicht mehr.", "de"),
    ("Le produit est efficace chez les enfants.", "Le produit n'est efficace que chez les adultes.", "fr"),
    ("Le pont est sûr.", "Le pont n'est pas sûr.", "fr"),
    ("Le pont est sûr.", "Le pont est loin d'être sûr.", "fr"),
    ("La ville a choisi l'acier.", "La ville a choisi le bois plutôt que l'acier.", "fr"),
    ("El puente es seguro.", "El puente no es seguro.", "es"),
    ("El puente es seguro.", "El puente dista de ser seguro.", "es"),
    ("El puente es seguro y barato.", "El puente no es ni seguro ni barato.", "es"),
    ("Il ponte è sicuro.", "Il ponte non è sicuro.", "it"),
    ("De brug is veilig.", "De brug is niet veilig.", "nl"),
    ("该药有效。", "该药无效。", "zh"),
    ("该桥是安全的。", "该桥并不安全。", "zh"),
    ("橋は安全だ。", "橋は安全ではない。", "ja"),
]  # fmt: skip
HONEST = [
    ("The drug does not lower fever in children.", "The drug fails to lower fever in children.", "en"),
    ("The bridge is not safe.", "The bridge is far from safe.", "en"),
    ("The city chose timber.", "The city chose timber rather than steel.", "en"),
    ("The city chose timber rather than steel.", "The city chose timber instead of steel.", "en"),
    ("No evidence shows that the drug lowers fever.", "No evidence shows that the drug lowers fever.", "en"),
    ("The ferry does not run in winter any more.", "The ferry no longer runs in winter.", "en"),
    ("Die Stadt wählte Holz.", "Die Stadt wählte Holz statt Stahl.", "de"),
    ("The line was not only closed but removed.", "The line was not only closed but removed.", "en"),
]  # fmt: skip


@pytest.mark.parametrize(("quote", "source", "stands"), CUTS)
def test_a_quote_is_refused_exactly_where_it_was_cut_from_a_number_a_word_or_its_denial(quote, source, stands):
    assert bool(find_quote(quote, source)) is stands


@pytest.mark.parametrize(("sentence", "quote", "language"), DENIED)
def test_what_a_source_denies_in_any_form_is_not_carried_by_it(sentence, quote, language):
    assert carried(sentence, [quote], language=language).verdict != "supported"


@pytest.mark.parametrize(("sentence", "quote", "language"), HONEST)
def test_what_a_source_denies_may_be_denied_in_other_words(sentence, quote, language):
    assert carried(sentence, [quote], language=language).verdict in {"supported", "partly"}


@pytest.mark.parametrize("language", ["en", "de", "fr", "es"])
def test_a_sentence_that_sets_two_quotations_side_by_side_is_nothing_but_them_in_every_language_of_the_engine(language):
    one, other = "Survival was 62 % after 24 months in sheltered plots", "Survival was 38 % when all plots are counted"
    form = tomllib.loads((LOCALES / f"{language}.toml").read_text("utf-8"))["says"]["differ"]
    form = form.replace(" ({one_source})", "").replace(" ({other_source})", "")
    sentence = form.format(one=one, other=other, one_mark="", other_mark="")
    assert quotes_alone(sentence, [f"{one}.", f"{other}."], ["Lanvik", "Skarholm"], language)
    assert not quotes_alone(f"{sentence} Ostrau 1999.", [f"{one}.", f"{other}."], ["Lanvik", "Skarholm"], language)
