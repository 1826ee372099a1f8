"""The authorization gate: which words start the work, and which only look like them."""

import re
import unicodedata

PHRASE = "Authorized to execute"
"""What the user types (specification, section 3)."""

_QUOTES = "\"'`\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u00ab\u00bb\u2039\u203a\u300c\u300d\u300e\u300f"
_EXACT = frozenset({"authorized to execute", "authorised to execute"})
"""Both spellings count; nothing else does."""
_CONTAINS = re.compile(r"authori[sz]ed?\W+to\W+execute", re.IGNORECASE)


def authorizes(message: str) -> bool:
    """Tell whether `message` is the phrase.

    Case, surrounding white space, quotes and one closing `.` or `!` are ignored. A message that merely contains it,
    negates it or asks about it is not; neither are look-alike letters of other scripts.
    """
    return _unwrapped(message) in _EXACT


def looks_like_the_phrase(message: str) -> bool:
    """Tell whether `message` holds the phrase or something that reads like it, without being it."""
    plain = unicodedata.normalize("NFKC", message)
    return not authorizes(message) and bool(_CONTAINS.search(plain) or _CONTAINS.search(_latinised(plain)))


def _unwrapped(message: str) -> str:
    text, stops = message.strip(), 0
    while text:
        bare = text.strip(_QUOTES).strip()
        if bare == text and text[-1] in ".!" and stops == 0:
            bare, stops = text[:-1].strip(), 1
        if bare == text:
            break
        text = bare
    # Plain lower-casing of ASCII only: full case folding would let look-alike letters through.
    return "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in text)


_LOOKALIKES = str.maketrans("аеіоруАЕІОРТХсхԁһοαιεуοτυ", "aeiopyAEIOPTXcxdhoaieyotu")


def _latinised(text: str) -> str:
    return text.translate(_LOOKALIKES)
