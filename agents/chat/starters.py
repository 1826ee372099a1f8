"""Questions to begin with, shown while the sample library is searched."""

import json
import logging
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from agents.contracts.base import Frozen, Text
from agents.settings import ROOT

log = logging.getLogger(__name__)

STARTERS = ROOT / "examples" / "starters.json"


class Starter(Frozen):
    """One question to begin with."""

    label: Text
    message: Text


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
