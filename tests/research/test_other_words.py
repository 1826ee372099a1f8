"""A document that is asked about in other words than its own: what answers is quoted, and never said to be missing."""

from pathlib import Path

import pytest
import typst

from agents.core.settings import Settings
from agents.search.uploads import UploadedFile
from agents.team import open_team
from tests.research.test_grades import researched
from tests.virtual import virtually

PAPERS = Path(__file__).resolve().parents[1] / "data" / "other_words"
MISSING = "nothing to the point was found"


async def asked_of(folder, paper, question):
    (folder / "library").mkdir()
    team = open_team(Settings(model="offline", data_dir=folder, library=(folder / "library",), retriever=("library",)))
    pdf = typst.compile((PAPERS / f"{paper}.typ").read_bytes(), format="pdf")
    answered = await researched(team, question, [UploadedFile(f"{paper}.pdf", pdf)])
    await team.close()
    return answered.report


@pytest.mark.parametrize(
    ("paper", "question", "answers"),
    [
        ("heat-pumps", "Do the heat pumps save money, and how reliable are they?",
         ["Heating bills fell by 31 % on average", "4,200 euros less than gas", "9 of the 48 units failed"]),
        ("heat-pumps", "Are the heat pumps loud?", ["41 decibels"]),
        ("nursery", "What does the forest group do when it is very cold?", ["Below minus ten degrees"]),
        ("nursery", "How much more do parents pay for the forest group?", ["40 euros a month dearer"]),
        ("night-buses", "Did the night buses make the town safer, and how much of the cost do passengers cover?",
         ["17 assaults in the old town", "Tickets brought in 61,000 euros"]),
        ("night-buses", "Were there complaints about the buses?", ["Eleven residents of Bridge Street wrote"]),
    ],
)  # fmt: skip
def test_what_answers_in_other_words_is_quoted_with_the_honest_word_that_it_comes_nearest(
    tmp_path, paper, question, answers
):
    report = virtually(lambda: asked_of(tmp_path, paper, question))

    quoted = " ".join(" ".join(sentence.text.split()) for sentence in report.sentences)
    assert [words for words in answers if words not in quoted] == []
    assert MISSING not in report.markdown
    assert report.grade == "partial"


def test_what_the_document_leaves_open_is_never_called_answered(tmp_path):
    report = virtually(lambda: asked_of(tmp_path, "night-buses", "How many drivers were hired?"))

    assert report.grade != "complete"
    assert all(one.status != "answered" for one in report.answers)
