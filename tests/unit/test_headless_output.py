"""Progress on a pipe whose reader has gone: the research goes on, and its report is written."""

import subprocess
import sys

from tests.conftest import ROOT

QUESTION = "How much carbon do the planted eelgrass meadows of Tolven Bay bury each year?"


def test_a_reader_who_stops_reading_does_not_stop_the_research(tmp_path):
    out = tmp_path / "report.md"
    command = [sys.executable, "-m", "agents", "run", QUESTION, "--out", str(out)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    process.stdout.readline()
    process.stdout.close()

    process.wait(100)

    assert "## References" in out.read_text("utf-8")
