"""Questions to begin with: those of the sample library while it is searched, else a few for the web."""

import json
import logging
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from agents.contracts.frozen import Frozen, Text
from agents.core.paths import RESOURCES

log = logging.getLogger(__name__)

STARTERS = RESOURCES / "examples" / "starters.json"


class Starter(Frozen):
    """One question to begin with."""

    label: Text
    message: Text


FOR_THE_WEB = (
    Starter(label="Compare", message="How do heat pumps and gas boilers compare in running cost in cold winters?"),
    Starter(
        label="Check a claim",
        message="How often must a cotton bag be used before it does the climate less harm than plastic bags?",
    ),
    Starter(label="A question that is too broad", message="What is going on with the world's coral reefs?"),
)

_LIST = TypeAdapter(tuple[Starter, ...])


def starters(path: Path = STARTERS) -> tuple[Starter, ...]:
    """Read the starters; none when the file is missing or not as it should be, which is no reason not to start."""
    try:
        return _LIST.validate_python(json.loads(path.read_text(encoding="utf-8"))["starters"])
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, KeyError, TypeError, ValidationError) as error:
        log.warning("%s can't be used: %s", path.name, error)
        return ()
