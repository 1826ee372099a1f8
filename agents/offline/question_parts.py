"""What a message asks, taken apart by its grammar: independent questions, their clauses, and lists."""

import re
from dataclasses import dataclass, field
from functools import lru_cache

from agents.offline import cues, kinds
from agents.offline.terms import distinct, names, terms

ADDRESS = re.compile(r"https?://[^\s<>\"'）)]+")
_QUOTED = re.compile(r"[“\"„«][^”\"“»]{2,160}[”\"»]")
_BREAK = "\ue000"
_SENTENCE_END = re.compile(
    r"(?<=[?!。？！؟])\s*|(?<=[.])(?<!\b[A-HJ-Z]\.)(?<!\b(?:Mr|Dr|St|Jr|Sr|No)\.)(?<!\bMrs\.)\s+(?=[^\W\d_a-z]|[¿¡])|\n+"
)
"""An initial or a short title (`Harris W. Fawell`, `Mr. Cool`) ends no sentence."""
_LIST_LINE = re.compile(r"^\s*(?:\(?\d{1,2}[.)]|[-*•]|\(?[a-h][.)])\s+(.+)$", re.MULTILINE)
_INLINE_NUMBER = re.compile(r"(?:^|[\s:;,])\(?([1-9])[.)]\s+(?=\S)")
_TRIM = " \t\n,;:–—-"

MAX_ITEM_WORDS = 7
"""Words of one entry of a list; longer ones are clauses."""
_AND = (
    r"(?:\s+and\s+|\s+or\s+|\s*&\s*|\s+und\s+|\s+oder\s+|\s+sowie\s+|\s+et\s+|\s+ou\s+|\s+y\s+|\s+o\s+|\s+e\s+|"
    r"\s+en\s+|\s+och\s+|\s+versus\s+|\s+vs\.?\s+|、|と|和|与|و)"
)
_SEPARATOR = re.compile(rf",{_AND}|{_AND}|,\s+")
_ASPECTS = re.compile(
    r"\b(?:with (?:regard|respect) to|in terms of|regarding|as regards|with a view to|in view of|given|considering|"
    r"according to their|"
    r"hinsichtlich|in bezug auf|bezüglich|im hinblick auf|en termes de|concernant|quant (?:à|au|aux)|en cuanto a|"
    r"respecto a|con respecto a)\s+",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    r"\b(?:compare|compared|contrast|vergleiche?n?|comparez?|comparer|compara[r]?)\s+(?:the\s+)?(?!with\b|to\b)(.+)$",
    re.IGNORECASE,
)
_ENTITY_TAIL = re.compile(
    r"\s+(?:as|during|after|before|once|since|when|if|als|seit|wenn|comme|depuis|como|desde)\s+.*$", re.IGNORECASE
)
_PER = re.compile(r"\bper\s+([\w ]{3,40}?)\s+and\s+per\s+([\w ]{3,40}?)(?=[,.?;]|$)", re.IGNORECASE)
_RANGE = re.compile(
    r"(?:between|from|zwischen|von|entre|de|desde)?\s*(?:\w+ )?(1[5-9]\d\d|20\d\d)\s*(?:and|to|until|till|–|—|-|"
    r"und|bis|et|à|y|a|hasta)\s*(?:\w+ )?(1[5-9]\d\d|20\d\d)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Clause:
    """One thing that is asked."""

    text: str
    items: tuple[str, ...] = ()
    """Entries of the list in it: things that each need an answer of their own."""
    aspects: tuple[str, ...] = ()
    """On which points things are compared or judged."""


@dataclass(frozen=True)
class Question:
    """One independent question with its clauses."""

    text: str
    clauses: tuple[Clause, ...]
    context: str = ""
    """What the user said before asking, for the reader of the plan."""
    addresses: tuple[str, ...] = field(default=())


def tidy(text: str) -> str:
    """Write a question as one sentence that starts with a capital and ends with a mark."""
    text = re.sub(r"\s+", " ", text).strip(_TRIM)
    text = re.sub(
        r"^(?:and|und|et|y|also|please|bitte|por favor|s'il vous plaît)[,:]?\s+(?=\S)", "", text, flags=re.IGNORECASE
    )
    text = text.strip(_TRIM).rstrip(".")
    if not text:
        return ""
    if text[-1] not in "?!.。？！؟":
        asks = cues.INTERROGATIVE.search(text[:24]) and not _OPENING_ORDER.match(text) and not _STATES.match(text)
        text += "?" if asks and not cues.SPACELESS.search(text) else ("" if cues.SPACELESS.search(text) else ".")
    if text[-1] == "." and text.count(" ") < 12 and not _OPENING_ORDER.match(text):
        text = text[:-1]
    return text[0].upper() + text[1:]


_STATES = re.compile(r"^(?:i|we|my|our|ich|wir|mein|je|j'|nous|yo|nosotros)\b", re.IGNORECASE)
_OPENING_ORDER = re.compile(rf"^\W*(?:{cues.ASKS_FOR.pattern})", re.IGNORECASE)


def asks_something(text: str) -> bool:
    """Tell whether `text` holds anything that could be looked into."""
    return bool(terms(text)) and any(char.isalpha() for char in text) and not kinds.GREETING.match(text)


@lru_cache(maxsize=512)
def questions(message: str, language: str | None = None) -> tuple[Question, ...]:
    """Take a message apart into independent questions; none when it asks nothing."""
    addresses = tuple(dict.fromkeys(address.rstrip(".,;:!?") for address in ADDRESS.findall(message)))
    plain = ADDRESS.sub(" ", message)
    found: list[Question] = []
    for chunk in _chunks(plain):
        question = _question(chunk, language)
        if question and question.text.casefold() not in {other.text.casefold() for other in found}:
            found.append(question)
    if found and addresses:
        found[0] = Question(found[0].text, found[0].clauses, found[0].context, addresses)
    return tuple(found)


def _chunks(message: str) -> list[list[str]]:
    """Group the sentences of a message by the question that they belong to."""
    lines = [line.strip() for line in _LIST_LINE.findall(message)]
    if len([line for line in lines if asks_something(line)]) >= 2:
        return [[line] for line in lines]
    if len(_INLINE_NUMBER.findall(message)) >= 2:
        parts = [part for part in _INLINE_NUMBER.sub(_BREAK, message).split(_BREAK) if asks_something(part)]
        asking = [part for part in parts if _asks(part)]
        if len(asking) >= 2:
            return [[part] for part in asking]
    groups: list[list[str]] = []
    opened = False
    for piece in _with_breaks(message):
        starts_new = piece.startswith(_BREAK)
        text = piece.lstrip(_BREAK).strip()
        if not asks_something(text) or _is_preamble(text):
            opened = opened or starts_new
            continue
        leans = bool(groups) and leans_on(groups[-1][-1], text)
        asks = _asks(text)
        last_asks = bool(groups) and any(_asks(sentence) for sentence in groups[-1])
        if groups and not ((starts_new or opened) and (asks or not leans)) and (leans or not asks or not last_asks):
            groups[-1].append(text)
        else:
            groups.append([text])
        opened = False
    return groups


def _with_breaks(message: str) -> list[str]:
    """Cut a message into sentences, with a mark before those that a separating phrase announces."""
    marked = cues.SEPARATE.sub(lambda match: _BREAK + (INDIRECT if _WISH.search(match.group()) else ""), message)
    pieces: list[str] = []
    for sentence in _SENTENCE_END.split(marked):
        if not sentence or not sentence.strip():
            continue
        for at, part in enumerate(sentence.split(_BREAK)):
            announced = at > 0
            for inner, clause in enumerate(_independent(part)):
                if clause.strip():
                    pieces.append((_BREAK if announced or inner else "") + clause)
                    announced = False
    return pieces


_WISH = re.compile(r"\b(?:want|like|need|wish)\b", re.IGNORECASE)
INDIRECT = "I want to know "
"""Kept before an indirect question, whose word order needs it."""


def _independent(sentence: str) -> list[str]:
    """Cut a sentence at semicolons and coordinations behind which a question of its own begins."""
    found: list[str] = []
    for part in re.split(r"[;；]\s*(?:and\s+|und\s+|et\s+|y\s+)?", sentence):
        if found and not (_asks(part) and not leans_on(found[-1], part)):
            found[-1] = f"{found[-1]}; {part}"
        else:
            found.append(part.split(": ", 1)[1] if _is_counting(part) else part)
    cut: list[str] = []
    for part in found:
        at = 0
        for match in cues.COORDINATED_QUESTION.finditer(part):
            before, after = part[at : match.start()], part[match.end() :]
            if "," in match.group() and len(terms(before)) >= 2 and stands_alone(before, after):
                cut.append(before)
                at = match.end()
        cut.append(part[at:])
    return cut


_COUNTING = re.compile(
    r"^[^:]{0,60}\b(?:two|three|four|five|several|some|\d|zwei|drei|vier|deux|trois|dos|"
    r"tres)\b[^:]{0,30}\b(?:questions?|things|fragen|dinge|preguntas|cosas)\b[^:]{0,20}:\s",
    re.IGNORECASE,
)
_PREAMBLE = re.compile(
    r"^(?:[^:]{0,40}\b)?(?:two|three|four|five|several|some|zwei|drei|vier|deux|trois|dos|"
    r"tres)\b[\w ]{0,20}\b(?:questions?|things|fragen|dinge|choses|preguntas|cosas)\b[^?]{0,30}$",
    re.IGNORECASE,
)


def _is_counting(text: str) -> bool:
    return bool(_COUNTING.match(text))


def _is_preamble(text: str) -> bool:
    return bool(_PREAMBLE.match(text.strip(" .:,"))) and len(text.split()) <= 9


def _asks(text: str) -> bool:
    return bool(
        "?" in text or "？" in text or "؟" in text or cues.INTERROGATIVE.search(text[:60]) or _OPENING_ORDER.match(text)
    )


def leans_on(before: str, text: str) -> bool:
    """Tell whether `text` cannot be understood without what stands before it."""
    if cues.ANAPHOR.search(_without_subordinate(text)):
        return True
    if any(not _bound(text, match) for match in POSSESSIVES.finditer(text)):
        return True
    return bool(cues.REFERS_BACK.search(text)) and not names(text) and len(terms(text)) <= 8


POSSESSIVES = cues.POSSESSIVE
_SUBORDINATE = re.compile(r"\b(?:that|which|who|dass|que) (?=\w+)")


def _without_subordinate(text: str) -> str:
    """Drop conjunctions that look like pronouns (`to know that the rents rose`)."""
    return re.sub(
        r"(?<=\w)\s+that\s+(?=(?:the|a|an|no|some|all)\b)|\bthere (?:is|are|was|were|has|have)\b|\bthis (?:year|"
        r"month|week|place|city|country|area|region)\b",
        " ",
        text,
    )


def _bound(text: str, match: re.Match[str]) -> bool:
    """Tell whether a possessive has its owner in the same clause: a noun of the same number before it."""
    before = re.findall(
        r"\b(?:do|does|did|has|have|had|is|are|was|were|will|can|the|of|by)\s+(?:the\s+)?((?:[\w-]+\s+){0,2}?[\w-]+)",
        text[: match.start()],
    )
    if not before:
        return False
    owner: list[str] = before[0].split()
    plural = owner[-1].endswith("s") or owner[0].endswith("s")
    return bool((match.group().casefold() == "their") == plural)


def stands_alone(before: str, after: str) -> bool:
    """Tell whether two coordinated clauses are questions of their own: nothing in the second leans on the first."""
    if leans_on(before, after):
        return False
    own = distinct(after)
    return len(own) >= 4 and not set(own) & set(distinct(before))


def _question(sentences: list[str], language: str | None) -> Question | None:
    asking = [sentence for sentence in sentences if _asks(sentence)]
    context = " ".join(sentence for sentence in sentences if sentence not in asking) if asking else ""
    texts = asking or sentences
    whole = " ".join(filter(None, (tidy(sentence) for sentence in sentences)))
    whole = re.sub(r"(?<![.?!。？！؟”\"])$", "", whole)
    if not whole:
        return None
    clauses = tuple(clause for text in texts for clause in _clauses(text, language))
    return Question(whole, clauses or (Clause(whole),), context)


def _clauses(sentence: str, language: str | None) -> list[Clause]:
    parts: list[str] = []
    at = 0
    for match in sorted(
        [*cues.COORDINATED_QUESTION.finditer(sentence), *cues.COORDINATED_ORDER.finditer(sentence)],
        key=lambda match: match.start(),
    ):
        if match.start() >= at and terms(sentence[at : match.start()]) and _is_long(sentence[match.end() :]):
            parts.append(sentence[at : match.start()])
            at = match.end()
    parts.append(sentence[at:])
    return [_clause(part.strip(_TRIM), language) for part in parts if part.strip(_TRIM)]


def _is_long(text: str) -> bool:
    return len(text.split()) >= 3 or bool(cues.SPACELESS.search(text) and len(text) >= 6)


def _clause(text: str, language: str | None) -> Clause:
    shielded = _QUOTED.sub(
        lambda match: match.group().replace(",", "\ue001").replace(" and ", "\ue002and\ue002"), text
    ).rstrip("?.!。？！؟ ")
    shielded = _RANGE.sub(lambda match: match.group().replace(" ", "\ue002"), shielded)
    aspects: tuple[str, ...] = ()
    body = shielded
    if match := _ASPECTS.search(shielded):
        before, after = shielded[: match.start()], shielded[match.end() :]
        listed, _, rest = after.partition(", what") if before.strip() == "" else (after, "", "")
        aspects = _listed(listed.split(", which")[0].split(", how")[0], least=1)
        body = before or (rest and f"what{rest}") or shielded
    if per := _PER.search(body):
        return Clause(_clear(text), tuple(f"per {_clear(one)}" for one in per.groups()), aspects)
    items = _compared(body) or _pair_of_names(body, language) or _series(body)
    return Clause(_clear(text), items, aspects if len(aspects) > 1 else ())


def _clear(text: str) -> str:
    return text.replace("\ue001", ",").replace("\ue002", " ").strip()


def _compared(body: str) -> tuple[str, ...]:
    match = _COMPARED.search(body)
    if not match:
        return ()
    inside = match.group(1)
    listed = _listed(inside, least=2)
    return listed if 2 <= len(listed) <= 10 else ()


def _pair_of_names(body: str, language: str | None) -> tuple[str, ...]:
    """`in Vienna and Munich`: two or more names under one preposition."""
    match = re.search(
        r"\b(?:in|of|for|on|between|at|with|für|von|bei|de|pour|para)\s+((?:the\s+)?[A-ZÀ-Þ][\w’'-]*(?: "
        r"[A-ZÀ-Þ][\w’'-]*)*"
        r"(?:,\s+(?:the\s+)?[A-ZÀ-Þ][\w’'-]*(?: [A-ZÀ-Þ][\w’'-]*)*)*\s+(?:and|und|et|y|e|en|"
        r"och)\s+(?:the\s+)?[A-ZÀ-Þ][\w’'-]*(?: [A-ZÀ-Þ][\w’'-]*)*)",
        body,
    )
    if not match or (language == "de" and "-" not in match.group(1)):
        return ()
    return _listed(match.group(1), least=2)


def _series(body: str) -> tuple[str, ...]:
    """A run of three or more entries, the last joined by a conjunction."""
    best: tuple[str, ...] = ()
    for segment in re.split(r":\s+|\s[–—]\s", body):
        match = re.search(
            r"((?:[^,;]+,\s*){2,}(?:and |or |und |oder |et |ou |y |o |e |och )?[^,;]+|"
            r"(?:[^,;]+,\s*)+[^,;]+?(?:,?\s+(?:and|or|und|oder|et|ou|y|o|e|och)\s+)[^,;]+)$",
            segment,
        )
        if match:
            listed = _listed(match.group(1), least=3)
            best = max(best, listed, key=len)
    return best if len(best) >= 3 else ()


def _listed(text: str, *, least: int) -> tuple[str, ...]:
    entries = [part for part in _SEPARATOR.split(text) if part and part.strip(_TRIM)]
    if not entries:
        return ()
    entries[-1] = _ENTITY_TAIL.sub("", entries[-1])
    if len(entries) > 1:
        entries[0] = re.sub(
            r"^.*?\b(?:between|of|about|on|for|are|is|the)\s+(?=(?:the\s+)?(?:[\w-]+\s?){1,3}$)", "", entries[0]
        )
    kept = [_clear(entry).strip(_TRIM + ".?") for entry in entries]
    kept = [
        re.sub(r"^(?:the|its|their|a|an|der|die|das|den|le|la|les|el|los|las)\s+", "", entry, flags=re.IGNORECASE)
        for entry in kept
    ]
    kept = [entry for entry in kept if entry and len(entry.split()) <= MAX_ITEM_WORDS and terms(entry)]
    kept = [entry for entry in kept if not cues.INTERROGATIVE.match(entry)]
    return tuple(dict.fromkeys(kept)) if len(kept) >= least else ()


def period(text: str) -> tuple[int, int] | None:
    """Find the span of years that `text` is limited to."""
    if match := _RANGE.search(text):
        first, last = int(match.group(1)), int(match.group(2))
        return (first, last) if first <= last else None
    return None
