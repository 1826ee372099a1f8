"""Cases on pages and files as they come: C25 to C30, C32, C33."""

import asyncio
import csv
import json
import socket
from collections.abc import Callable
from pathlib import Path

from agents.core.errors import SourceError
from agents.web.decoding import decode
from agents.web.guard import AllowedHosts, Blocked, Guard
from agents.web.html_text import read_html
from agents.web.reader import read_here
from agents.web.walls import wall_of

STAND_IN = "203.0.113.0/24"
"""Reserved for documentation; plays the open Internet."""
URL = "https://www.site.example/a"
FIGURE = "The ferry line between Telmar and Brindle was closed on twelve days in the winter of 2022/23."


def encodings(folder: Path) -> list[bool]:
    found = []
    for row in json.loads((folder / "expected.json").read_text("utf-8")):
        text = read_html(decode((folder / row["file"]).read_bytes(), row["content_type"]), URL).text
        found.append(row["must_contain"] in text and "\ufffd" not in text)
    return found


def walls(folder: Path) -> list[bool]:
    found = []
    for row in json.loads((folder / "expected.json").read_text("utf-8")):
        page = (folder / row["file"]).read_text("utf-8")
        wall = wall_of(page, read_html(page, URL).text, URL)
        found.append((wall.kind if wall else "article") == row["class"])
    return found


def tables(folder: Path) -> list[bool]:
    expected = json.loads((folder / "expected.json").read_text("utf-8"))
    table = read_html((folder / "table.html").read_text("utf-8"), URL).text
    code = read_html((folder / "code.html").read_text("utf-8"), URL).text
    lines = table.split("\n")
    together = []
    for row, _, value in expected["associations"]:
        first = value.split(" (")[0]
        wanted = {"no figure": "–"}.get(first, first)
        plain = [line.replace(",", "").replace(".", "").replace(" ", "") for line in lines]
        at = [
            line for line, bare in zip(lines, plain, strict=True) if row in line and (wanted in line or wanted in bare)
        ]
        together.append(bool(at) or (wanted == "–" and any(row in line and "—" in line for line in lines)))
    indented = [line in code for line in expected["code_lines_keep_indentation"]]
    return [*together, *indented, code.count(expected["inline_code_once"]) == 1]


def odd_files(folder: Path) -> list[bool]:
    found = [_holds(folder / "download", "2022/23: 12 days", "application/octet-stream")]
    found += [_is_refused(folder / name) for name in ("truncated.pdf", "cyclic_pages.pdf", "inflating_stream.pdf")]
    return [
        *found,
        len(read_here((folder / "yearbook_600_pages.pdf").read_bytes(), "application/pdf", URL).pages) == 600,
    ]


def unreadable_files(folder: Path) -> list[bool]:
    mixed = read_here((folder / "mixed_page2_scanned.pdf").read_bytes(), "application/pdf", URL)
    return [
        _is_refused(folder / "scanned.pdf"),
        "2022/23: 12 days" in mixed.text and mixed.gaps == ("some pages could not be read (2 / 2)",),
        _holds(folder / "owner_only_aes256.pdf", "2022/23: 12 days", "application/pdf"),
        _is_refused(folder / "user_password_aes256.pdf"),
    ]


def columns(folder: Path) -> list[bool]:
    expected = json.loads((folder / "expected.json").read_text("utf-8"))
    text = read_here((folder / "two_columns.pdf").read_bytes(), "application/pdf", URL).text
    kept = [quote in text for quote in expected["quotes_that_must_match"]]
    return kept + [quote not in text for quote in expected["quotes_that_must_not_match"]]


def orders(folder: Path) -> list[bool]:
    """Hidden orders are gone, and the figure stays; what is said openly is only text, which no code obeys."""
    found = []
    for name in ("hidden_css", "comment_alt_title", "zero_width", "visible_demand", "fake_turn"):
        page = read_html((folder / f"{name}.html").read_text("utf-8"), URL)
        found.append(FIGURE in page.text)
        if name in {"hidden_css", "comment_alt_title", "zero_width"}:
            found.append("CANARY" not in repr(page))
    return found


def _holds(path: Path, words: str, content_type: str) -> bool:
    return words in read_here(path.read_bytes(), content_type, URL).text


def _is_refused(path: Path) -> bool:
    try:
        read_here(path.read_bytes(), "application/pdf", URL)
    except SourceError:
        return True
    return False


def inner_addresses(folder: Path) -> list[bool]:
    """Every address of the table, asked of the guard with the names of the case; nothing is opened."""
    names = json.loads((folder / "dns.json").read_text("utf-8"))
    guard = Guard(AllowedHosts(), _Names(names), open_networks=[STAND_IN])

    async def judged() -> list[bool]:
        found = []
        with (folder / "urls.tsv").open(encoding="utf-8") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                found.append(await _is_let_through(guard, row["url"]) is (row["expect"] == "allow"))
        return found

    return asyncio.run(judged())


async def _is_let_through(guard: Guard, url: str) -> bool:
    """Tell whether an address passes when it is asked about and again when it is dialled: a name may change between."""
    try:
        await guard.admit(url)
        await guard.admit(url)
    except (Blocked, OSError):
        return False
    return True


class _Names:
    """A name service that knows the names of the case, and answers in their order."""

    def __init__(self, names: dict[str, list[list[str]]]) -> None:
        self.names = {name: list(answers) for name, answers in names.items() if name != "note"}

    async def __call__(self, host: str, port: int) -> list[str]:
        answers = self.names.get(host)
        if not answers:
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        return answers.pop(0) if len(answers) > 1 else answers[0]


JUDGES: dict[str, Callable[[Path], list[bool]]] = {
    "C25": encodings,
    "C26": walls,
    "C27": tables,
    "C28": odd_files,
    "C29": unreadable_files,
    "C30": columns,
    "C32": inner_addresses,
    "C33": orders,
}
