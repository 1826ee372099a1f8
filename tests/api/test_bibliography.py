"""References for reference managers, read back as those read them."""

import json
from types import SimpleNamespace

import pytest
from pybtex.database import parse_string

from agents.contracts.report import Quote, Reference
from agents.report.bibliography import authors, to_bibtex, to_csl, to_ris
from agents.report.references import about
from agents.report.wording import wording


def reference(n, **fields):
    quote = Quote(text="words", start=0, end=5, fact_id=f"f{n}")
    return Reference(
        **{"n": n, "source_id": f"s{n}", "url": f"https://x.example/{n}", "title": "A title", "quotes": (quote,)}
        | fields
    )


def of(*references):
    return SimpleNamespace(references=references)


def test_special_characters_do_not_break_an_entry():
    text = to_bibtex(of(reference(1, title="50% of {A} & B_c\n@misc{evil,", author="O'Neil \\ Söhne")))
    assert r"title = {{50\% of \textbraceleft{}A\textbraceright{} \& B\_c @misc\textbraceleft{}evil,}}" in text
    assert text.count("\n@misc{") == 0
    assert r"O'Neil \textbackslash{} Söhne" in text


def test_equal_names_get_different_keys():
    text = to_bibtex(of(*(reference(n, author="Audit Office", published="2021-05-20") for n in (1, 2, 3))))
    assert [line for line in text.splitlines() if line.startswith("@")] == [
        "@misc{audit2021-1,", "@misc{audit2021-2,", "@misc{audit2021-3,"
    ]  # fmt: skip
    assert "year = {2021}" in text
    assert "month = {5}" in text


def test_a_document_of_ones_own_has_no_address_and_a_sample_is_marked():
    own = reference(1, url="library:/folder/note.md", kind="sample", published="2021")
    assert "url" not in to_bibtex(of(own))
    assert "invented sample document" in to_bibtex(of(own))
    ris = to_ris(of(own))
    assert ris.startswith("TY  - GEN\r\n")
    assert "UR  - " not in ris
    assert "N1  - Invented sample document" in ris


def test_a_record_cannot_be_opened_by_a_title():
    ris = to_ris(of(reference(1, title="One\x1b[31m\r\nER  - \r\nTY  - JOUR", published="2020-02-03")))
    assert ris.count("\r\nER  - \r\n") == 1
    assert "DA  - 2020/02/03/" in ris and "\x1b" not in ris


def test_names_in_other_scripts_get_a_key():
    assert "@misc{source-1," in to_bibtex(of(reference(1, title="海草", author="環境省")))


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("Doe, Jane", ["Doe, Jane"]),
        ("Jane Doe, John Q. Smith", ["Doe, Jane", "Smith, John Q."]),
        ("Jane Doe and John Smith", ["Doe, Jane", "Smith, John"]),
        ("Doe, J., Roe, R.", ["Doe, J.", "Roe, R."]),
        ("Doe, Jane; Roe, Richard", ["Doe, Jane", "Roe, Richard"]),
        ("A. B. Miller et al.", ["Miller, A. B."]),
        ("Ludwig van Beethoven", ["van Beethoven, Ludwig"]),
        ("Dr. Henrik Moe, Prof. Dr. Anna Berg", ["Moe, Henrik", "Berg, Anna"]),
        ("Dr. Moe", ["Moe"]),
        ("Ministry of Trade and Industry", ["Ministry of Trade and Industry"]),
        ("Office for National Statistics; Home Office", ["Office for National Statistics", "Home Office"]),
        ("Lee AB, Müller J", ["Lee, AB", "Müller, J"]),
        ("By Ann Lee · Jörg Müller", ["Lee, Ann", "Müller, Jörg"]),
        ("Lee, Ann and others", ["Lee, Ann"]),
        ("Martin Luther King, Jr.", ["Martin Luther King, Jr."]),
        ("محمد علي، أحمد حسن", ["محمد علي", "أحمد حسن"]),
        ("環境省", ["環境省"]),
        ("WHO", ["WHO"]),
        ("Sunniva Krag, Data Desk", ["Krag, Sunniva", "Data Desk"]),
        ("Ingrid Falsen, Petr Omdal, Marine Institute", ["Falsen, Ingrid", "Omdal, Petr", "Marine Institute"]),
        ("Tolven Municipality, Environment Office", ["Tolven Municipality, Environment Office"]),
    ],
)
def test_each_author_is_a_person_or_a_body_of_its_own(written, names):
    assert [one.name for one in authors(written)] == names


def test_bibtex_is_read_back_with_its_people_and_its_words():
    entries = [
        reference(1, title="50% of {A} & B_c", author="Jane Doe", published="2021-05-20"),
        reference(2, title="Two}", author="Jane Doe; Richard Roe", site="A {b} site", url="https://x.example/{a}?b=1"),
        reference(3, author="Audit Office", site="Audit Office"),
    ]
    read = parse_string(to_bibtex(of(*entries)), "bibtex").entries
    first, second, third = read.values()
    assert [str(person) for person in second.persons["author"]] == ["Doe, Jane", "Roe, Richard"]
    assert [person.last_names for person in third.persons["author"]] == [["{Audit Office}"]]
    assert second.fields["url"] == "https://x.example/%7Ba%7D?b=1"
    assert first.fields["title"] == r"{50\% of \textbraceleft{}A\textbraceright{} \& B\_c}"
    assert first.fields["year"] == "2021"


def test_every_author_has_a_line_of_ris_and_an_entry_of_csl():
    found = of(reference(1, author="Jane Doe, Richard Roe", published="2021-05", accessed="2026-11-27T10:00:00Z"))
    lines = [line.split("  - ", 1) for line in to_ris(found).splitlines() if "  - " in line]
    assert [value for tag, value in lines if tag == "AU"] == ["Doe, Jane", "Roe, Richard"]
    (item,) = json.loads(to_csl(found))
    assert item["author"] == [{"family": "Doe", "given": "Jane"}, {"family": "Roe", "given": "Richard"}]
    assert (item["issued"], item["accessed"]) == ({"date-parts": [[2021, 5]]}, {"date-parts": [[2026, 11, 27]]})
    (body,) = json.loads(to_csl(of(reference(1, author="Audit Office"))))
    assert body["author"] == [{"literal": "Audit Office"}]


def test_a_file_that_a_user_gave_is_named_by_its_name_in_the_list():
    given = reference(
        1, title="Report of the dam", url="upload:/0123456789abcdef/Cost%20%28final%29.pdf", kind="upload"
    )

    assert "Cost (final).pdf" in about(given, wording("en"))
    assert "Cost (final).pdf" not in about(given.model_copy(update={"title": "Cost (final).pdf"}), wording("en"))
