"""Quality on labelled data: one module per set, rows in, rows and a summary out. Nothing here is part of a run."""

import asyncio
import json
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path

from agents.core.errors import BadRequest
from agents.core.settings import Settings
from tests.eval import citation_sets, everyday, labelled_sets
from tests.eval.labelled_sets import Row, Variant

Evaluate = Callable[[Path, Settings, Variant], Coroutine[object, None, tuple[list[Row], Row]]]
SETS: dict[str, Evaluate] = {
    "findcite": citation_sets.run,
    "stance": labelled_sets.run_stance,
    "support": labelled_sets.run_support,
    "scoping": labelled_sets.run,
    "citations": citation_sets.run_citation_form,
    "grades": citation_sets.run_grades,
    "everyday": everyday.run,
}


def evaluate(name: str, data: Path, out: Path | None, settings: Settings, variant: Variant) -> Row:
    """Run one set and write what came of it.

    Returns:
        The summary.

    Raises:
        BadRequest: there is no such set, or a file can't be read or written.
        ConfigError: the settings can't be used.
    """
    if name not in SETS:
        raise BadRequest(f"There is no set {name!r}; these are: {', '.join(SETS)}.")
    if not data.exists():
        raise BadRequest(f"There is no file or folder {data}.")
    if out is not None and (out.is_dir() or not out.parent.is_dir()):
        raise BadRequest(f"{out} can't be written: give a file name in a folder that exists.")
    rows, summary = asyncio.run(SETS[name](data, settings, variant))
    if out is not None:
        try:
            out.write_text(json.dumps({"rows": rows, "summary": summary}, ensure_ascii=False, indent=1) + "\n", "utf-8")
        except OSError as error:
            raise BadRequest(f"{out} can't be written: {error.strerror or error}.") from error
        sys.stderr.write(f"wrote {out}\n")
    return summary
