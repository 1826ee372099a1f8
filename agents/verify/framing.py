"""What a source says about a statement rather than by it: that others claim it, that it is false, nearly so, forecast, asked."""

import re
from collections.abc import Iterator, Sequence

from agents.verify.amounts import Finding, found
from agents.verify.lexicon import root
from agents.verify.parsed_text import Unit

SPOKEN_OF = 0.5
"""Share of the sentence that a source sentence must have before its frame is looked at."""

_FALSE = re.compile(
    r"\b(?:(?:a|the) (?:myth|misconception|legend|hoax) that|(?:false|untrue|wrong|incorrect|not true|not the case) that|"
    r"(?:reject|den|dismiss|disput|refut|debunk|disprov)(?:s|es|ed|ies|ied|ing|e|y)? (?:the |any |all |these |such )?"
    r"(?:\w+ )?(?:claims?|allegations?|reports?|rumou?rs?|accusations?|suggestions?|notion|idea)|wrongly|falsely|"
    r"(?:ein|der) mythos, dass|(?:falsch|unwahr|nicht wahr|nicht richtig), dass|fälschlich\w*|"
    r"(?:faux|inexact|pas vrai) que|(?:falso|incorrecto|no es (?:cierto|verdad)) que)\b",
    re.IGNORECASE,
)
_UNTRUE = re.compile(
    r"\b(?:false|falsely|untrue|wrong|wrongly|incorrect|myth|hoax|allegedly|supposedly|falsch|unwahr|angeblich|faux|prétendument|"
    r"falso|supuestamente)\b",
    re.IGNORECASE,
)
_CLAIMED = re.compile(
    r"\b(?:claim(?:s|ed)?|alleg(?:es?|ed)|argu(?:es?|ed)|believ(?:es?|ed)|fear(?:s|ed)?|contend(?:s|ed)?|suspect(?:s|ed)?|"
    r"accus(?:es?|ed)|(?:critics|opponents|supporters|some|many|activists) (?:say|said|think|thought|hold|feel))\b"
    r"(?! (?:responsibility|victory|lives))|\b(?:behaupte\w+|glaub(?:t|en)|befürcht\w+|prétend\w*|soupçonn\w+|afirma[nr]?|"
    r"cre(?:e|en) que|teme[n]?)\b",
    re.IGNORECASE,
)
_FORECAST = re.compile(
    r"\b(?:forecast|projected|predicted|expected|scheduled|budgeted|intended|hoped|supposed|set|planned|estimated)"
    r"(?: at the time)? to\b|\b(?:soll(?:te)?n?|voraussichtlich|devrait|devraient|se espera que|está previsto)\b",
    re.IGNORECASE,
)
_NEARLY = re.compile(
    r"\b(?:nearly|almost|virtually|practically|all but|close to|beinahe|nahezu|presque|casi)\s+"
    r"(?P<what>[^\W\d_]{3,}(?:\s[^\W\d_]{3,})?)",
    re.IGNORECASE,
)
_EXCEPT = re.compile(
    r"\b(?:except|excepting|apart from|other than|excluding|with the exception of|save for|außer|ausgenommen|"
    r"abgesehen von|sauf|excepté|hormis|excepto|salvo|menos en)\b",
    re.IGNORECASE,
)
_UNLIKE = re.compile(r"\b(?:unlike|anders als|contrairement à|a diferencia de)\b", re.IGNORECASE)
_LIKE = re.compile(r"\b(?:like|just as|as in|wie|ebenso wie|comme|como|al igual que)\b", re.IGNORECASE)
_BESIDE = re.compile(
    r"\b(?:near|outside|close to|off|(?:north|south|east|west) of|bei|nahe|außerhalb von|près de|hors de|cerca de|fuera de)\s+"
    r"(?:the\s)?$",
    re.IGNORECASE,
)
_INSIDE = re.compile(r"\b(?:in|at|inside|within|im|innerhalb von|à|dans|en|dentro de)\s+(?:the\s)?$", re.IGNORECASE)
_ALLOWING = frozenset(
    "can could may might let lets allow allows able any kann können darf peut peuvent puede pueden".split()
)
_AND, _OR = frozenset({"and", "und", "et", "y"}), frozenset({"or", "oder", "ou", "o"})


def doubts(text: str) -> bool:
    """Tell whether words beside a quotation say that it is false, claimed, forecast or excepted."""
    return any(pattern.search(text) for pattern in (_FALSE, _UNTRUE, _FORECAST, _EXCEPT))


def framed(mine: Unit, near: Sequence[Unit], best: float, language: str) -> Iterator[Finding]:
    """Find the frames that a sentence takes away from what the source sentence nearest to it says.

    Args:
        mine: the sentence.
        near: source sentences that say most of it, best first.
        best: share of the sentence that the first of them has.
        language: of the reasons.
    """
    if not near or best < SPOKEN_OF:
        return
    unit = near[0]
    if (false := _FALSE.search(unit.text)) and not _FALSE.search(mine.text) and not mine.scope.cues:
        yield found("contradicted", "affirmed", language, ours=false.group())
    if (denied := _FALSE.search(mine.text)) and not _FALSE.search(unit.text) and not unit.scope.cues:
        yield found("contradicted", "denied", language, ours=denied.group())
    if unit.asks and not mine.asks:
        yield found("unsupported", "open", language)
    for pattern in (_CLAIMED, _FORECAST):
        frame = pattern.search(unit.text)
        if frame and not (_CLAIMED.search(mine.text) or _FORECAST.search(mine.text)) and not _is_soft(mine):
            yield found("partly", "hedged", language, theirs=frame.group())
    if (limit := _EXCEPT.search(unit.text)) and not _EXCEPT.search(mine.text) and not mine.scope.cues:
        yield found("partly", "restricted", language, theirs=limit.group())
    yield from _nearly(mine, unit, language)
    yield from _likened(mine, unit, language)
    yield from _placed_beside(mine, near, language)
    yield from _either(mine, unit, language)


def _is_soft(mine: Unit) -> bool:
    return bool(mine.scope.hedges or mine.scope.open or mine.scope.not_yet)


def _nearly(mine: Unit, unit: Unit, language: str) -> Iterator[Finding]:
    for match in _NEARLY.finditer(unit.text):
        what = {root(word) for word in match["what"].casefold().split()}
        if what & set(mine.content_roots) and not _NEARLY.search(mine.text):
            yield found("partly", "hedged", language, theirs=match.group())
            return


def _likened(mine: Unit, unit: Unit, language: str) -> Iterator[Finding]:
    for one, other in ((_UNLIKE, _LIKE), (_LIKE, _UNLIKE)):
        ours, theirs = one.search(mine.text), other.search(unit.text)
        if ours and theirs and not one.search(unit.text) and not other.search(mine.text):
            yield found("contradicted", "other", language, ours=ours.group(), theirs=theirs.group())
            return


def _placed_beside(mine: Unit, near: Sequence[Unit], language: str) -> Iterator[Finding]:
    """In a town, where the source says near it."""
    for name in mine.names:
        if not _INSIDE.search(mine.text[: name.start]):
            continue
        theirs = [(unit, other) for unit in near for other in unit.names if other.words == name.words]
        beside = [match for unit, other in theirs if (match := _BESIDE.search(unit.text[: other.start]))]
        if beside and len(beside) == len(theirs):
            yield found(
                "partly", "other", language, ours=name.shown, theirs=f"{beside[0].group().strip()} {name.shown}"
            )
            return


def _either(mine: Unit, unit: Unit, language: str) -> Iterator[Finding]:
    """Both of two, where the source says one or the other; of what may be done, `or` says both."""
    if set(unit.words) & _ALLOWING:
        return
    theirs = {(one, other) for one, word, other in _threes(unit) if word in _OR}
    for one, word, other in _threes(mine):
        if word in _AND and ((one, other) in theirs or (other, one) in theirs):
            yield found("partly", "other", language, ours=f"{one} {word} {other}", theirs=f"{one} / {other}")
            return


def _threes(unit: Unit) -> Iterator[tuple[str, str, str]]:
    yield from zip(unit.words, unit.words[1:], unit.words[2:], strict=False)
