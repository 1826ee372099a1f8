"""What a reader sees of a text: no invisible characters, one way to write each letter, one space between words."""

import re
import unicodedata

HIDDEN_SHARE = 0.3
"""Share of invisible characters from which a text counts as disguised; honest spelling stays below a quarter."""

MIN_INVISIBLE = 8
"""Fewer invisible characters than this are a slip of an editor, whatever their share."""

# Soft hyphen; zero-width space, joiners and marks of direction; bidirectional embeddings, overrides and isolates;
# invisible operators; byte order mark; interlinear marks; tag characters and supplementary variation selectors.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
# Persian, Urdu and the Indic scripts spell with (non-)joiners: between their letters these two are part of the word.
_SPELLING = re.compile(
    "(?<=[\u0600-\u06ff\u0750-\u077f\u0900-\u0dff])[\u200c\u200d](?=[\u0600-\u06ff\u0750-\u077f\u0900-\u0dff])"
)
_KEPT_NON_JOINER, _KEPT_JOINER = "\ue0f0", "\ue0f1"
# With halves of surrogate pairs and the numbers that are no characters: XML and UTF-8 know neither.
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f\x80-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_NEW_LINE = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_SPACES = re.compile("[^\\S\n]+")
_BLANK_LINES = re.compile("\n{3,}")


_NUMERALS = {code: str(unicodedata.decimal(chr(code))) for code in range(0x600, 0x1FBFA) if chr(code).isdecimal()} | {
    ord("٫"): ".", ord("٬"): ",", ord("％"): "%", ord("٪"): "%", ord("，"): ",", ord("．"): ".",
}  # fmt: skip


def ascii_digits(text: str) -> str:
    """Write the digits and number marks of every script as ASCII ones; every character keeps its place."""
    return text if text.isascii() else text.translate(_NUMERALS)


def disguised(text: str) -> bool:
    """Tell whether `text` is written letter by letter with invisible characters between.

    No honest page does that; it is how orders to a language model are slipped past a filter.
    """
    found = len(_INVISIBLE.findall(_SPELLING.sub("", text)))
    return found >= MIN_INVISIBLE and found > HIDDEN_SHARE * len(text)


def visible(text: str) -> str:
    """Drop what nobody can see, and write every letter in its composed form (NFC). Line breaks become newlines."""
    text = _NEW_LINE.sub("\n", text)
    if _INVISIBLE.search(text):
        text = text.replace(_KEPT_NON_JOINER, "").replace(_KEPT_JOINER, "")
        text = _SPELLING.sub(lambda m: _KEPT_NON_JOINER if m[0] == "\u200c" else _KEPT_JOINER, text)
        text = _INVISIBLE.sub("", text).replace(_KEPT_NON_JOINER, "\u200c").replace(_KEPT_JOINER, "\u200d")
    return unicodedata.normalize("NFC", _CONTROL.sub("", text))


def seen(text: str) -> str:
    """Give the visible text without the lines that are disguised."""
    if _INVISIBLE.search(text):
        text = "\n".join(line for line in _NEW_LINE.sub("\n", text).split("\n") if not disguised(line))
    return visible(text)


def one_line(text: str) -> str:
    """Give the visible text with every run of white space as one space."""
    return " ".join(visible(text).split())


def collapsed(text: str) -> str:
    """Give single spaces within lines, no space at their ends, and at most one blank line between two."""
    lines = (_SPACES.sub(" ", line).strip() for line in text.split("\n"))
    return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip()


def unruffled(text: str) -> str:
    """Like `collapsed`, but the inside of lines stays: columns of a plain text file stand on their spaces."""
    return _BLANK_LINES.sub("\n\n", "\n".join(line.rstrip() for line in text.split("\n"))).strip("\n").rstrip()
