"""Case C45: an export keeps what a report holds, and its name is one that every system takes."""

import io
import json
import re
from pathlib import Path, PureWindowsPath
from urllib.parse import unquote

import docx
import pypdf
import pytest

from agents.api.reports import disposition
from agents.report.formats import FORMS
from tests.unit.test_exports import written

INPUTS = Path(__file__).resolve().parents[1] / "data" / "C45"
KEPT = (
    "Fähre, 12 Tage",
    "Zahlen – 数字 –",
    "a cell with a",
    "nested b",
    "with “typographic” quotes – and a dash.",
    "🧊",
)


@pytest.fixture(scope="module")
def report():
    prose = INPUTS.joinpath("report.md").read_text("utf-8").partition("## References")[0]
    return written(f"{prose}The winter was long.")


def test_a_report_is_the_same_in_markdown_and_html(report):
    markdown = FORMS["md"].write(report).decode("utf-8")
    page = FORMS["html"].write(report).decode("utf-8")
    assert all(one in markdown and one in page for one in KEPT)
    assert "| Winter | Days | Source |" in markdown
    assert re.search(r"^1\. first\n +- nested a\n +- nested b\n2\. second$", markdown, re.M)
    assert '```python\ndef f():\n    return "code"\n```' in markdown
    assert "[board](https://board.orvane.example/closures)" in markdown
    assert re.search(r"<ol>\s*<li[^>]*>\s*(<p[^>]*>)?first.*?<ul>.*?nested a.*?</ul>.*?</ol>", page, re.S)
    assert re.search(r"<table>.*?<th[^>]*>Days</th>.*?<td[^>]*>41</td>.*?</table>", page, re.S)
    assert re.search(r"<pre><code[^>]*>def f\(\):\n    return &quot;code&quot;", page)
    assert "<math" in page
    assert json.loads(FORMS["json"].write(report))["title"] == report.title


def test_a_word_file_has_its_table_list_and_code(report):
    file = docx.Document(io.BytesIO(FORMS["docx"].write(report)))
    text = "\n".join(one.text for one in file.paragraphs)
    assert all(one in text or one == "a cell with a" for one in KEPT)
    (table,) = (one for one in file.tables if one.rows[0].cells[0].text.strip() == "Winter")
    assert [cell.text.strip() for cell in table.rows[1].cells] == ["2020/21", "41", "board"]
    assert "أرقام" in text and 'return "code"' in text


def test_a_pdf_has_the_letters_of_all_scripts(report):
    pages = pypdf.PdfReader(io.BytesIO(FORMS["pdf"].write(report))).pages
    text = " ".join(" ".join(page.extract_text() for page in pages).split())
    assert all(one in text for one in ("Fähre, 12 Tage", "数字", "nested b", "2020/21", 'return "code"'))
    assert set("أرقام") <= set(text)
    assert "\ufffd" not in text


def test_every_title_gives_a_name_of_its_own_that_every_system_takes():
    titles = json.loads(INPUTS.joinpath("job_titles.json").read_text("utf-8"))
    said = [disposition(title, "docx", f"{number:032x}"[::-1]) for number, title in enumerate(titles, 1)]
    names = [unquote(one.partition("filename*=UTF-8''")[2]) for one in said]
    assert len({name.casefold() for name in names}) == len(titles)
    for name in (*names, *(re.search('filename="([^"]+)"', one)[1] for one in said)):
        assert not re.search(r'[<>:"/\\|?*\x00-\x1f]', name) and not PureWindowsPath(name).is_reserved(), name
        assert len(name.encode()) <= 120 and name == name.strip(" .") and name.endswith(".docx"), name
