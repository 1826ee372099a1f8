"""Files as browsers, office programs, libraries and offices of statistics write them: what stands in them is what is read."""

from pathlib import Path

import pytest

from agents.web.html_text import read_html
from agents.web.reader import read_here

MADE = Path(__file__).parent.parent / "data" / "made"
DAM = "The barrage of Quellin was finished in 1962 by the river board of the three towns."


def read(body, name="a.html"):
    return read_here(body if isinstance(body, bytes) else body.encode(), "", f"https://a.example/{name}").text


def page(body, head=""):
    return f"<html><head>{head}</head><body><h1>Levels</h1><p>{DAM}</p>{body}</body></html>"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("heads-of-two-heights", [
            "Population (thousands)\n\nDistrict: Upper Quellin; 2011: 1 204.5; 2021: 1 198.0; Change, %: −0.5.\n",
            "District: Sarn; 2011: 412.0; 2021: 430.6ᵖ; Change, %: 4.5.\n"]),
        ("budget", [
            "Income; Item: Tolls; 2019: 1,204; 2020: 1,180; 2021: –.", "Income; Item: Grants; 2020: 412; 2021: 98.",
            "Costs; Item: Repair of the north gate and its hinges after the flood; 2019: (83); 2020: 12; 2021: 7."]),
        ("chart", ["\n412\n"]),
        ("narrow-column", ["The extraordinarily complicated reconstruction of the northernmost navigation channel considerably"]),
        ("arabic", ["اكتمل سد كويلن عام 1962 وكلف 83 مليون غيلدر، وغرق 412 منزلا."]),
    ],
)  # fmt: skip
def test_a_pdf_says_what_it_shows(name, told):
    text = read((MADE / f"{name}.pdf").read_bytes(), "a.pdf")

    assert [one for one in told if one not in f"{text}\n"] == []


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ('<div role="table"><div role="row"><span role="columnheader">Gate</span><span role="columnheader">Low</span></div>'
         '<div role="row"><span role="cell">North</span><span role="cell">412</span></div></div>', "Gate: North; Low: 412."),
        ("<ul><li><strong>412</strong><span>houses drowned</span></li><li><b>83&nbsp;m</b><i>high</i></li></ul>",
         "- 412 houses drowned\n- 83 m high"),
        ("<div><span>Quel</span><span>lin</span></div>", "Quellin"),
        ("<div><b>12</b><span>%</span></div>", "12%"),
        ("<div><a href='#'><strong>21</strong><em>miles</em></a></div>", "21 miles"),
        ('<p>It took <span class="frac">5<span class="sr-only">+</span><span class="num">1</span>&frasl;<span>2</span></span> days.</p>',
         "It took 5 1⁄2 days."),
        ("<h2>History<span class='mw-editsection'>[edit]</span></h2><p>It is old.</p>", "History\n\nIt is old."),
    ],
)  # fmt: skip
def test_what_a_page_sets_side_by_side_is_not_stuck_together(body, told):
    hidden = "<style>.sr-only{position:absolute;width:1px;height:1px;overflow:hidden}</style>"

    assert read(page(body, hidden)) == f"Levels\n\n{DAM}\n\n{told}"


def test_raised_letters_of_rich_text_are_right_whatever_the_file_says_of_stand_ins():
    body = rf"{{\rtf1\ansi\ansicpg1252\cocoartf2639 {DAM}\par It is \uc0\u8804 5 m and 10\super 8\nosupersub  l.\par}}"

    assert read(body, "a.rtf").split("\n")[-1] == "It is ≤5 m and 10⁸ l."


def test_pairs_may_stand_above_the_rows_of_a_file_of_data():
    rows = '"Source","Indicators",\n\n"Updated","2021-05-03",\n\n"Country","Code","2019","2020",\n"Sarn","SRN","","98.25",\n"Q","Q","4",,\n'

    assert read(rows, "a.csv").split("\n")[-2:] == [
        "Country: Sarn; Code: SRN; 2020: 98.25.",
        "Country: Q; Code: Q; 2019: 4.",
    ]


def test_years_beside_an_empty_corner_are_heads():
    rows = "Riders\n\n;1994;1995;1996\nHallin;412;;98,5\nSarn;..;7;\n"

    assert read(rows, "a.csv").split("\n")[-2:] == ["Hallin; 1994: 412; 1996: 98,5.", "Sarn; 1994: ..; 1995: 7."]


@pytest.mark.parametrize(
    ("head", "author"),
    [
        ('<meta name="citation_authors" content="Voss, Anna; Imre, Béla">', "Voss, Anna; Imre, Béla"),
        ('<script type="application/ld+json">{"author": {"givenName": "Anna", "familyName": "Voss"}}</script>', "Anna Voss"),
        ('<meta name="author" content="By Anna Voss">', "Anna Voss"),
        ('<meta name="author" content="admin">', None),
    ],
)  # fmt: skip
def test_who_wrote_a_page_is_named_as_it_says(head, author):
    assert read_html(page("", head), "https://a.example/").author == author
