"""Progress on a pipe whose reader has gone: the research goes on, and its report is written."""

import json
import os

import pytest
from typer.testing import CliRunner

from agents.cli.main import app
from tests.conftest import ROOT
from tests.forked import Module, command

QUESTION = "How much carbon do the planted eelgrass meadows of Tolven Bay bury each year?"


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """The folder of a run whose reader left after one line."""
    folder = tmp_path_factory.mktemp("first")
    os.mkfifo(folder / "pipe")
    written = ("--out", str(folder / "report.md"), "--json", str(folder / "report.json"))
    process = Module("agents", "run", QUESTION, *written, out=folder / "pipe", cwd=ROOT)
    with (folder / "pipe").open() as pipe:
        pipe.readline()
    process.wait(100)
    return folder


def test_a_reader_who_stops_reading_does_not_stop_the_research(first):
    assert "## References" in (first / "report.md").read_text("utf-8")


def test_an_earlier_job_is_run_anew_and_gone_on_from(first, tmp_path):
    def run(*arguments):
        out = tmp_path / "report.json"
        done = command(tmp_path, "run", *arguments, "--json", str(out))
        assert done.returncode in {0, 3}, done.stderr
        return json.loads(out.read_text("utf-8"))

    first = json.loads((first / "report.json").read_text("utf-8"))
    again = run("--refresh", first["job_id"][:12])
    assert again["contract"]["queries"] == first["contract"]["queries"]
    assert (again["since"]["use"], again["since"]["job_id"]) == ("refresh", first["job_id"])
    assert not again["since"]["changed_sources"]
    further = run("How deep is the carbon buried in the eelgrass meadows of Tolven Bay?", "--continue", first["job_id"])
    assert further["since"]["use"] == "continue"


@pytest.mark.parametrize("more", [("--time", "2"), ("--deep",), ("--tier", "simple")])
def test_limits_that_a_refresh_would_not_keep_to_are_refused(more):
    done = CliRunner().invoke(app, ["run", "--refresh", "abc", *more])
    assert (done.exit_code, "as it was authorized" in done.stderr) == (2, True)
