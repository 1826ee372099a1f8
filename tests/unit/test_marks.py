"""Behind a sentence stand the facts that carry it, whatever its writer put there."""

from agents.contracts.fact import Fact
from agents.contracts.sources import SourceCard
from agents.research.writing.sections import Numbering

QUOTES = (
    "The Orvane ferry line was closed on 12 days in the winter of 2022/23.",
    "The Orvane ferry carried 212,000 passengers in 2023.",
    "The winter service of the Orvane ferry cost 3.1 million crowns in 2023.",
    "The Orvane ferry carried 212,000 passengers in 2023, says the harbour office.",
)
FACTS = tuple(
    Fact(id=f"f{n:x}", source_id=f"s{n}", statement=quote, quote=quote, start=0, end=len(quote), confidence=0.9)
    for n, quote in enumerate(QUOTES, start=1)
)
CARDS = tuple(
    SourceCard(id=fact.source_id, url=f"https://{fact.id}.example/", title="Orvane", kind="web", text_hash=fact.id)
    for fact in FACTS
)


def ids(markdown):
    return Numbering(FACTS, CARDS).to_ids(markdown)


def test_a_mark_of_another_fact_is_replaced_by_that_of_the_one_that_carries_the_sentence():
    assert ids(f"{QUOTES[0]}[f2]") == f"{QUOTES[0]}[#f1]"


def test_marks_that_carry_nothing_of_a_sentence_go():
    assert ids(f"{QUOTES[0]}[f1][f2][f3]") == f"{QUOTES[0]}[#f1]"


def test_a_sentence_without_a_mark_gets_that_of_the_fact_that_carries_it():
    assert ids(QUOTES[2]) == f"{QUOTES[2]}[#f3]"


def test_numbers_that_do_not_exist_are_dropped():
    assert ids(f"{QUOTES[0]}[f1][f99]") == f"{QUOTES[0]}[#f1]"


def test_several_sources_that_carry_a_sentence_are_all_kept_up_to_three():
    assert ids("The Orvane ferry carried 212,000 passengers in 2023.[f2][f4]").count("[#") == 2


def test_what_no_fact_carries_keeps_its_marks_for_the_check_of_the_whole_report():
    said = "The Orvane ferry line will be sold to a bank.[f1]"
    assert ids(said) == said.replace("[f1]", "[#f1]")


def test_settling_marks_twice_changes_nothing():
    text = ids(f"{QUOTES[0]}[f2] {QUOTES[2]}")
    assert Numbering(FACTS, CARDS).to_ids(text) == text


def test_a_row_of_a_table_that_no_fact_carries_is_left_out():
    head = "| Line | Year | Passengers |\n| --- | --- | --- |\n"
    true, cited = "| Orvane ferry | 2023 | 212,000 |\n", "| Orvane | 2023 | 3.1 million crowns [f3] |\n"
    written = ids(f"{head}{true}{cited}| Orvane ferry | 2015 | 480,000 |\n")
    assert "212,000[#f2]" in written.replace(" [#", "[#")
    assert "[#f3]" in written
    assert "480,000" not in written
    assert not ids(f"{head}| Orvane ferry | 2015 | 480,000 |\n")


def test_a_line_that_announces_what_was_left_out_goes_with_it():
    text = f"{QUOTES[0]}\n\n**Grounds:**\n\n{QUOTES[2]}\n\n*Related facts:\n\nIt will be sold to a bank in 2031."
    assert ids(text) == f"{QUOTES[0]}[#f1]\n\n**Grounds:**\n\n{QUOTES[2]}[#f3]"
