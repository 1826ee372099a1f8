"""The table of criteria names tests that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def test_every_test_that_the_criteria_of_jobs_name_exists_and_every_line_names_one():
    lines = (ROOT / "docs" / "criteria-jobs.md").read_text("utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| ") and not re.match(r"\| (criterion|what|case|---)", line)]
    assert len(rows) > 40
    for row in rows:
        named = NAMED.findall(row)
        assert named, row
        for path, test in named:
            assert re.search(rf"^(async )?def {test}\(", (ROOT / path).read_text("utf-8"), re.MULTILINE), test
