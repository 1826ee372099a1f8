"""The authorization gate: which words start the work, and which only look like them."""

import re
import unicodedata

PHRASE = "Authorized to execute"
"""What the user types (specification, section 3)."""

_QUOTES = "\"'`\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u00ab\u00bb\u2039\u203a\u300c\u300d\u300e\u300f"
_EXACT = PHRASE.casefold()
_CONTAINS = re.compile(r"authori[sz]ed?\W+to\W+execute", re.IGNORECASE)


def authorizes(message: str) -> bool:
    """Tell whether `message` is the phrase.

    Case, surrounding white space, quotes and one closing `.` or `!` are ignored. A message that merely contains it,
    negates it or asks about it is not; neither are look-alike letters of other scripts.
    """
    return _unwrapped(message) == _EXACT


def looks_like_the_phrase(message: str) -> bool:
    """Tell whether `message` holds the phrase or something that reads like it, without being it."""
    plain = unicodedata.normalize("NFKC", message)
    return not authorizes(message) and bool(_CONTAINS.search(plain) or _CONTAINS.search(_latinised(plain)))


_BEFORE = r"ok(?:ay)?|yes|yeah|please|now|then|so|let'?s|just|i agree|well|all ?right|ja|bitte|jetzt|dann|oui|sí|si"
_BEGIN = (
    r"go(?: for it)?|start|begin|run|execute|launch|do|authori[sz]ed?|approved?|confirm(?:ed)?|kick (?:it )?off|"
    r"get (?:going|started)|los(?: geht['’]?s)?|fang(?:e|t)? an|starten?|starte|beginnen?|beginne|ausführen|"
    r"commence[rz]?|lance[rz]?|démarre[rz]?|vas-y|allez-y|empiezas?|empieza|comienza|inicia|adelante|ejecutar?|hazlo|"
    r"inizia|avvia|começa[r]?|inicie|開始|始めて|开始|開始吧|执行|ابدأ|начинай|начать"
)
_AFTER = (
    r"it|this|that|them|now|please|the|research|run|job|work|plan|contract|draft|query|queries|everything|all|"
    r"researching|searching|working|es|das|die|recherche|suche|jetzt|bitte|la|le|maintenant|ya|ahora|por favor|"
    r"investigación|s'il (?:te|vous) plaît"
)
_BEGINS = re.compile(rf"\W*(?:(?:{_BEFORE})[\s,.!]+)*(?:{_BEGIN})(?:[\s,.!]+(?:{_AFTER}))*[\W_]*", re.IGNORECASE)


def asks_to_begin(message: str) -> bool:
    """Tell whether all that `message` says is that the work shall begin, in other words than the phrase."""
    return not authorizes(message) and bool(_BEGINS.fullmatch(message))


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
