"""Each promise of SECURITY.md names the tests that hold it, and they exist."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAMED = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", (ROOT / "SECURITY.md").read_text("utf-8"))


def test_every_promise_names_tests_that_exist():
    assert len(NAMED) > 20
    missing = [
        f"{file}::{name}"
        for file, name in NAMED
        if not (ROOT / file).is_file() or (name and f"def {name}(" not in (ROOT / file).read_text("utf-8"))
    ]
    assert missing == []


def test_every_row_of_the_table_of_promises_names_a_test():
    table = (ROOT / "SECURITY.md").read_text("utf-8").partition("## What is promised")[2].partition("## What is not")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")][2:]

    assert rows and all("`tests/" in row for row in rows)


def test_every_direct_dependency_is_audited():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    table = (ROOT / "SECURITY.md").read_text("utf-8").partition("## Libraries")[2]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert {re.split(r"[^\w-]", one)[0] for one in wanted} == set(re.findall(r"`([\w-]+)`", "".join(rows)))
