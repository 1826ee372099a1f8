"""The form of a sentence on a page: what can stand as a quotation, and what is a heading, row, notice or order."""

import re

from agents.offline.words import SPACELESS, listed, opening

_MARKER = re.compile(r"^\s*(?:#{1,6}\s+|[-*+•‣·–>]\s+|\(?\d{1,3}[.)]\s+(?=\D)|\(?[a-zA-Z][.)]\s+)")
_BOLD = re.compile(r"\*{1,3}|_{2,3}|`")
_STOP = re.compile(r"[.!…。！؟।]['\"”’»)\]]*$")
_ASKS = re.compile(r"[?？؟]['\"”’»)\]]*$")
_ROW = re.compile(r"\s\|\s|^\s*\||\t")
_NOTICE_HEAD = re.compile(r"^\W*(?:important|urgent|attention|notice|note|hinweis|wichtig)\b[^:]{0,60}:\s*", re.I)


def plain(text: str) -> str:
    """Write a unit of text as one line, without the marks of layout in front of it or around its words."""
    return " ".join(_BOLD.sub("", _MARKER.sub("", text, count=1)).split())


def bare(text: str) -> str:
    """Drop layout marks in front of a quotation; what stays is a run of the same characters, spaces made single."""
    return " ".join(_MARKER.sub("", text, count=1).split())


def is_order(text: str) -> bool:
    """Tell a sentence that commands its reader, or a program that reads it: by form, whatever it commands."""
    line = _NOTICE_HEAD.sub("", plain(text))
    if opening("command").match(line) or listed("commands_reader").search(text):
        return True
    commands = re.search(r"\b(?:you|your|ignore|must)\b", text, re.IGNORECASE) or is_imperative(line)
    return bool(listed("reader").search(text) and commands)


def is_imperative(text: str) -> bool:
    """Tell an instruction (`Anchor on sand.`): a fact only where the question asks how to do something."""
    return bool(opening("imperative").match(plain(text)))


def is_sentence(text: str) -> bool:
    """Tell a whole statement from a heading, a table row, a question, a label or a notice of the page."""
    line = plain(text)
    if _ROW.search(text) or text.lstrip().startswith("#") or _ASKS.search(line) or listed("page_notice").search(line):
        return False
    if SPACELESS.search(line):
        return len(line) >= 10 and bool(_STOP.search(line))
    return bool(_STOP.search(line)) and len(line.split()) >= 5


def cells(text: str) -> tuple[str, ...]:
    """Take a table row apart; empty for anything else."""
    if " | " not in text or "\n" in text.strip():
        return ()
    return tuple(cell.strip() for cell in text.strip().strip("|").split("|"))


def is_heading(text: str) -> bool:
    """Tell a heading: short, and no full stop."""
    line = plain(text)
    if _ROW.search(text) or len(line) > 90:
        return False
    return text.lstrip().startswith("#") or not _STOP.search(line)


def leans(text: str) -> bool:
    """Tell a sentence that needs the one before it."""
    return bool(opening("needs_before").match(plain(text)))


def at_sentence_end(text: str) -> str:
    """Drop the full stop of a quotation that stands within a longer sentence."""
    return re.sub(r"[.。]$", "", text)
