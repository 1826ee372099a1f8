"""Tables of sources: rows as facts, readable by their labels, and tables again in the report."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.contracts.fact import NumberedSentence
from agents.contracts.finding import NumberedFact
from agents.offline.sentences import cells, is_order, plain

MOST_ROWS = 8
_LABELLED = re.compile(r"^[^:;]{0,80}: [^;]*(?:; [^:;]{1,80}: [^;]*)+$")
_BETWEEN = "; "


@dataclass(frozen=True)
class Table:
    """A table as it stands in a source: places of its rows among the sentences, and the labels above them."""

    labels: tuple[str, ...]
    rows: tuple[int, ...]

    def labelled(self, row: str) -> str:
        """Write a row so that it can be read alone: `Method: sods; Result: 69 %`."""
        return _BETWEEN.join(
            f"{_safe(label) or '-'}: {_safe(cell) or '-'}" for label, cell in zip(self.labels, cells(row), strict=True)
        )


def _safe(text: str) -> str:
    return plain(text).replace(":", "").replace(";", ",").strip()


def tables(sentences: Sequence[NumberedSentence]) -> list[Table]:
    """Find tables: runs of rows with the same number of cells, the first of which holds labels."""
    found: list[Table] = []
    at = 0
    while at < len(sentences):
        head = cells(sentences[at].text)
        run = at + 1
        while head and run < len(sentences) and len(cells(sentences[run].text)) == len(head):
            run += 1
        if len(head) >= 2 and run - at >= 3 and not any(is_order(one.text) for one in sentences[at:run]):
            found.append(Table(head, tuple(range(at + 1, run))[:MOST_ROWS]))
        at = run
    return found


def is_row(fact: NumberedFact) -> bool:
    """Tell a fact that is a row of a table, with its labels."""
    row = cells(fact.quote)
    return bool(row and _LABELLED.match(fact.statement)) and len(_labels(fact)) == len(row)


def _labels(fact: NumberedFact) -> tuple[str, ...]:
    return tuple(part.partition(": ")[0] for part in fact.statement.split(_BETWEEN))


def written(facts: Sequence[NumberedFact]) -> list[tuple[NumberedFact, str]]:
    """Write the rows of each table as Markdown, the mark behind each row; with a fact that names the source."""
    groups: dict[tuple[int, tuple[str, ...]], list[NumberedFact]] = {}
    for fact in facts:
        groups.setdefault((fact.source_number, _labels(fact)), []).append(fact)
    result: list[tuple[NumberedFact, str]] = []
    for (_, labels), rows in groups.items():
        if len(rows) > 1:
            lines = [f"| {' | '.join(cells(fact.quote))}[f{fact.number}] |" for fact in rows]
            result.append((rows[0], "\n".join((f"| {' | '.join(labels)} |", "|" + " --- |" * len(labels), *lines))))
    return result
