"""Progress on a pipe whose reader has gone: the research goes on, and its report is written."""

import json
import os

from tests.conftest import ROOT
from tests.forked import Module, command

QUESTION = "How much carbon do the planted eelgrass meadows of Tolven Bay bury each year?"


def test_a_reader_who_stops_reading_does_not_stop_the_research(tmp_path):
    out = tmp_path / "report.md"
    os.mkfifo(tmp_path / "pipe")
    process = Module("agents", "run", QUESTION, "--out", str(out), out=tmp_path / "pipe", cwd=ROOT)
    with (tmp_path / "pipe").open() as pipe:
        pipe.readline()

    process.wait(100)

    assert "## References" in out.read_text("utf-8")


def test_an_earlier_job_is_run_anew_and_gone_on_from(tmp_path):
    def run(*arguments):
        out = tmp_path / "report.json"
        done = command(tmp_path, "run", *arguments, "--json", str(out))
        assert done.returncode in {0, 3}, done.stderr
        return json.loads(out.read_text("utf-8"))

    first = run(QUESTION)
    again = run("--refresh", first["job_id"][:12])
    assert again["contract"]["queries"] == first["contract"]["queries"]
    assert (again["since"]["use"], again["since"]["job_id"]) == ("refresh", first["job_id"])
    assert not again["since"]["changed_sources"]
    further = run("How deep is the carbon buried in the eelgrass meadows of Tolven Bay?", "--continue", first["job_id"])
    assert further["since"]["use"] == "continue"
