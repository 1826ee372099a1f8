"""`python -m agents eval`: the summary on standard output, rows and summary in a file."""

import json
from pathlib import Path
from typing import Annotated

import typer

from agents.cli.jobs_commands import exits
from agents.core.settings import load
from tests.eval import evaluate
from tests.eval.labelled_sets import variant

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def measure(
    name: Annotated[
        str, typer.Argument(metavar="SET", help="findcite, stance, support, scoping, citations, grades, everyday.")
    ],
    data: Annotated[Path, typer.Option(help="Labelled rows: a file, or a folder where the set allows one.")],
    json_file: Annotated[Path | None, typer.Option("--json", help="Write rows and summary here.")] = None,
    without: Annotated[
        str, typer.Option(help="Parts to leave out, as a comma list: challenge,verification,novelty,rerank,meaning.")
    ] = "",
    limits: Annotated[str, typer.Option(help="Rounds and searches of a leaf, as in 6/10.")] = "",
    limit: Annotated[int | None, typer.Option(help="Look at the first rows only.")] = None,
) -> None:
    """Measure quality on labelled data: the summary on standard output, rows and summary in a file."""
    with exits():
        summary = evaluate(name, data, json_file, load(), variant(without, limits, limit))
    typer.echo(json.dumps(summary))
