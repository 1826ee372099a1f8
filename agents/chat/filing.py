"""What the chat says about files that were dropped into it."""

from typing import Literal

from agents.contracts.source import OwnFile
from agents.report.escaping import escape_text
from agents.search.uploads import UploadResult

When = Literal["draft", "running", "before"]
"""A draft lies on the table; a run is going; neither."""

_NEXT: dict[When, str] = {
    "draft": "",
    "running": "This run keeps to what its contract names; your next question searches {them} too.",
    "before": "Your next question searches {them}; no other chat does.",
}


def note_of(file: OwnFile) -> str:
    """Say how long a file is, and what of it could not be read."""
    pages = len(file.card.pages)
    return "; ".join([*([f"{pages} {'page' if pages == 1 else 'pages'}"] if pages else []), *file.gaps])


def said_of(taken: UploadResult, when: When, *, with_text: bool) -> str:
    """Name what was added, what was not and why, and what becomes of it, as Markdown.

    Args:
        taken: what came of the files.
        when: how the chat stands.
        with_text: a message came with the files, and is answered next.
    """
    added = [f"**{escape_text(file.name)}**{_aside(note_of(file))}" for file in taken.files]
    lines = []
    if added:
        head = f"Added to your files: {', '.join(added)}."
        what = _NEXT[when].format(them="it" if len(added) == 1 else "them")
        lines.append(head if with_text and when == "before" else f"{head} {what}".strip())
    if len(taken.refused) == 1:
        lines.append(escape_text(taken.refused[0]))
    elif taken.refused:
        lines.append("\n".join(f"- {escape_text(one)}" for one in taken.refused))
    return "\n\n".join(lines)


def _aside(note: str) -> str:
    return f" ({escape_text(note)})" if note else ""
