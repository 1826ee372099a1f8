"""The `/research` command and the time budget."""

import pytest
from typer.testing import CliRunner

from agents.cli.main import app
from agents.core.errors import BadRequest
from agents.research.scoping.authorization import minutes_of, parse_research
from agents.research.scoping.turn import ScopingState


@pytest.mark.parametrize(
    ("text", "question", "mode", "minutes", "given"),
    [
        ("/research why is the sky blue", "why is the sky blue", None, None, False),
        ("/research --deep why", "why", "deep", None, False),
        ("/research --time 10 why", "why", None, 10.0, True),
        ("/research --deep --time 2.5 why not", "why not", "deep", 2.5, True),
        ("/research --time unlimited --deep why", "why", "deep", None, True),
        ("/research why does --deep water freeze", "why does --deep water freeze", None, None, False),
        ("/research why does water freeze --deep", "why does water freeze", "deep", None, False),
        ("/research --time=3 why", "why", None, 3.0, True),
        ('/research "why is it so"', "why is it so", None, None, False),
        ("/research what's John's plan?", "what's John's plan?", None, None, False),
        ("/research", "", None, None, False),
        ("why (chosen from the menu)", "why (chosen from the menu)", None, None, False),
    ],
)
def test_the_command_is_read(text, question, mode, minutes, given):
    found = parse_research(text)
    assert (found.question, found.mode, found.minutes, found.time_given) == (question, mode, minutes, given)


def test_quick_is_refused_by_name():
    with pytest.raises(BadRequest, match="no --quick"):
        parse_research("/research --quick why")


def test_an_unknown_option_is_named():
    with pytest.raises(BadRequest, match="--depp"):
        parse_research("/research --depp why")


@pytest.mark.parametrize(
    ("text", "minutes"), [("5", 5.0), ("0.5", 0.5), ("1440", 1440.0), ("2,5", 2.5), ("UNLIMITED", None)]
)
def test_a_time_budget_is_minutes_or_unlimited(text, minutes):
    assert minutes_of(text) == minutes


@pytest.mark.parametrize("text", ["0", "-1", "1440.1", "ten", "", "1e3", "nan", "inf", "5m", "1_0", "٥", "0.0"])
def test_any_other_time_is_refused_in_one_sentence(text):
    with pytest.raises(BadRequest, match="at most 1440") as caught:
        minutes_of(text)
    assert caught.value.notice.count(". ") == 0


@pytest.mark.parametrize(
    ("given", "set_s", "minutes"),
    [
        ((), None, 5.0),
        (("--tier", "simple"), None, 1.0),
        (("--tier", "deep"), None, 2.0),
        (("--tier", "deep", "--time", "7"), None, 7.0),
        (("--tier", "deep"), "30", 0.5),
    ],
)
def test_a_tier_brings_its_own_time_to_the_command_line(monkeypatch, given, set_s, minutes):
    asked = []

    async def research(settings, question, *, minutes, **rest):
        asked.append(minutes)
        return 0

    monkeypatch.setattr("agents.cli.headless.research", research)
    if set_s:
        monkeypatch.setenv("RESEARCH_MAX_EXECUTION_TIME_S", set_s)
    result = CliRunner().invoke(app, ["run", "Why?", *given])
    assert (result.exit_code, asked) == (0, [minutes]), result.output


def test_a_run_has_five_minutes_unless_somebody_says_otherwise():
    assert ScopingState().minutes == 5.0
