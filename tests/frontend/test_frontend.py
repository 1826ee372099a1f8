"""The page's files against the server's types, and their own tests with Node where it is installed."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import get_args

import pytest

from agents.api.tree import TreeView
from agents.contracts.body import SentenceVerdict
from agents.contracts.fact import Standing
from agents.contracts.report import OVER, Stage
from agents.contracts.verification import Verdict
from agents.core.events import Event, NodeState

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SCHEMA = HERE / "run.schema.json"


def schema():
    """What the live card is told, as the server's own types say it."""
    kinds = [one.model_fields["kind"].default for one in get_args(get_args(Event)[0])]
    return {
        "states": list(get_args(NodeState)),
        "stages": list(get_args(Stage)),
        "over": sorted(OVER),
        "kinds": kinds,
        "tree": TreeView.model_json_schema(mode="serialization"),
    }


def test_the_schema_that_the_page_is_held_against_is_that_of_the_server():
    """Write it anew with `python -m tests.frontend.test_frontend` after the server's events have changed."""
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == json.loads(json.dumps(schema()))


def test_every_verdict_of_the_server_has_its_word_on_the_page_in_german_too():
    page, words = ((ROOT / name).read_text("utf-8") for name in ("public/dossier.js", "public/words.js"))
    known = dict(re.findall(r"^  (\w+): \['([^']+)', '\w+', '\w+'\],$", page, re.MULTILINE))

    assert set(known) == {*get_args(Verdict), *get_args(SentenceVerdict), *get_args(Standing)}
    assert [word for word in known.values() if not re.search(rf"^ +'?{word}'?: ", words, re.MULTILINE)] == []


def test_no_lock_of_ours_holds_an_address_of_a_registry():
    lock = HERE / "package-lock.json"
    assert '"resolved"' not in lock.read_text(encoding="utf-8")


@pytest.mark.skipif(shutil.which("node") is None, reason="NODE IS MISSING: the tests of the page's files were not run")
def test_the_live_card_folds_events_as_it_should():
    done = subprocess.run(["node", "--test"], cwd=HERE, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]


if __name__ == "__main__":
    SCHEMA.write_text(json.dumps(schema(), indent=1) + "\n", encoding="utf-8")
