"""Parts that each cite by their own numbers, merged into one text with one list: what case C19 asks of any such merger.

The product needs none: its parts cite facts, and are numbered once when the report is put together.
"""

import re
from collections.abc import Sequence

from agents.contracts.frozen import Frozen
from agents.report.cut_sentences import URL, Mark, find_marks, trimmed_url
from agents.web.url_key import canonical
from tests.eval.citation_sets import ENTRY, split_references

_CONJUNCTION = re.compile(r"^(?:and|but|while|whereas|und|aber|während|et|mais|y|pero)\s+", re.IGNORECASE)


class Statement(Frozen):
    """A stretch of text up to its marks, with what they came to."""

    text: str
    urls: tuple[int, ...] = ()
    """Places in `Merged.references`, counted from 0."""
    dangling: tuple[int, ...] = ()
    """Numbers as written that no entry of the part's list has."""
    ambiguous: tuple[int, ...] = ()
    """Numbers as written that more than one entry has."""


class Merged(Frozen):
    """Several parts as one text with one list."""

    markdown: str
    statements: tuple[Statement, ...]
    references: tuple[str, ...]
    """Addresses in order of first use; number n of the text is at place n - 1."""
    not_listed: tuple[str, ...]
    """Addresses that a part listed and no part cites."""


def merge_parts(parts: Sequence[str]) -> Merged:
    """Join parts that each cite by their own numbers and end with their own list.

    Every statement keeps its addresses; numbers run from 1 in order of first use. A number that the part's list does
    not have, or has twice for different pages, is reported and dropped: guessing would tie a statement to a page that
    it was not read on.
    """
    references: dict[str, int] = {}
    listed: dict[str, None] = {}
    ambiguous: set[str] = set()
    statements: list[Statement] = []
    texts: list[str] = []
    for part in parts:
        body, section = split_references(part)
        own = _own_list(section)
        listed.update(dict.fromkeys(url for urls in own.values() for url in urls))
        seen = len(statements)
        lines = []
        for line in body.split("\n"):
            merged, found = _merged_line(line, own, references)
            lines.append(merged)
            statements.extend(found)
        ambiguous.update(url for found in statements[seen:] for number in found.ambiguous for url in own[number])
        texts.append("\n".join(lines).strip())
    return Merged(
        markdown="\n\n".join(text for text in texts if text),
        statements=tuple(statements),
        references=tuple(references),
        not_listed=tuple(url for url in listed if url not in references and url not in ambiguous),
    )


def _own_list(section: str) -> dict[int, list[str]]:
    own: dict[int, list[str]] = {}
    for line in section.split("\n"):
        entry, url = ENTRY.match(line), URL.search(line)
        if entry and url:
            key = canonical(trimmed_url(url[0]))
            urls = own.setdefault(int(entry[1] or entry[2]), [])
            if key not in urls:
                urls.append(key)
    return own


def _merged_line(line: str, own: dict[int, list[str]], references: dict[str, int]) -> tuple[str, list[Statement]]:
    found: list[Statement] = []
    out, last = "", 0
    for group in _runs(line):
        numbers = dict.fromkeys(int(one) for mark in group for one in mark.cited if one.isdecimal())
        places: dict[int, None] = {}
        for number in numbers:
            if len(own.get(number, ())) == 1:
                places[references.setdefault(own[number][0], len(references))] = None
        text = line[last : group[0].start]
        found.append(
            Statement(
                text=_CONJUNCTION.sub("", re.split(r"(?<=[.!?。])\s+", text.strip(" .,;:"))[-1].strip()),
                urls=tuple(sorted(places)),
                dangling=tuple(number for number in numbers if number not in own),
                ambiguous=tuple(number for number in numbers if len(own.get(number, ())) > 1),
            )
        )
        cited = "".join(f"[{place + 1}]" for place in sorted(places))
        out += text if cited else text.rstrip()
        out, last = out + cited, group[-1].end
    return out + line[last:], found


def _runs(line: str) -> list[list[Mark]]:
    """Group marks that stand side by side."""
    groups: list[list[Mark]] = []
    for mark in find_marks(line):
        if groups and not line[groups[-1][-1].end : mark.start].strip(" ,"):
            groups[-1].append(mark)
        else:
            groups.append([mark])
    return groups
