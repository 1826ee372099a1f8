"""References for reference managers."""

from types import SimpleNamespace

from agents.contracts.report import Quote, Reference
from agents.report.bibliography import to_bibtex, to_ris


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
    assert r"title = {{50\% of \{A\} \& B\_c @misc\{evil,}}" in text
    assert text.count("\n@misc{") == 0
    assert r"O'Neil \textbackslash{} Söhne" in text


def test_equal_names_get_different_keys():
    text = to_bibtex(of(*(reference(n, author="Audit Office", published="2021-05-20") for n in (1, 2, 3))))
    assert [line for line in text.splitlines() if line.startswith("@")] == [
        "@misc{audit2021,", "@misc{audit2021-1,", "@misc{audit2021-2,"
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
    ris = to_ris(of(reference(1, title="One\r\nER  - \r\nTY  - JOUR", published="2020-02-03")))
    assert ris.count("\r\nER  - \r\n") == 1
    assert "DA  - 2020/02/03/" in ris


def test_names_in_other_scripts_get_a_key():
    assert "@misc{source," in to_bibtex(of(reference(1, title="海草", author="環境省")))
