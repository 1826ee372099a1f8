"""The one parser of what is typed: a message becomes a command, or None where it says something of its own.

Pure: it knows no state and asks nobody. Numbers, buttons, the card, the phrase, `/commands` and the closed list of short
wishes in `locales/*.toml` are all read here, before the manager is asked, whichever engine answers.
"""

import re
from functools import lru_cache
from typing import Literal

from agents.chat.limits import Edit, read_edit
from agents.chat.texts import bare, locales, part_words, plain, polite
from agents.contracts.frozen import Frozen
from agents.research.scoping.authorization import ResearchCommand, authorizes, looks_like_the_phrase, parse_research

WishName = Literal[
    "agree", "thanks", "hello", "begin", "how_long", "cost", "sources", "privacy", "model", "next", "help", "show",
    "wait", "cancel", "stop", "finish", "pause", "resume", "continue", "refresh", "progress", "restart", "rework",
    "release",
    "forget", "undo", "draft_again", "summarise", "shorter", "term", "new_question", "change", "door_file", "door_folder",
    "door_key",
]  # fmt: skip
PartOp = Literal["drop", "add", "rename", "up", "down", "stop", "finish", "retry"]


class Start(Frozen):
    """The phrase, or something that only looks like it."""

    exact: bool


class Research(Frozen):
    """The `/research` command."""

    given: ResearchCommand


class Pick(Frozen):
    """Narrower questions by their numbers; 0 is all of them, -1 the last."""

    numbers: tuple[int, ...]


class Wish(Frozen):
    """One of the closed list of short wishes."""

    name: WishName
    topic: str = ""
    """The word to explain, or how many sentences to sum up in."""


class Part(Frozen):
    """What is to become of one part of a draft or of a run."""

    op: PartOp
    number: str = ""
    """As it is shown, `2.1`; `last`; empty where a title or nothing was named."""
    title: str = ""
    text: str = ""
    """The new title, or the question of a new part."""
    loose: bool = False
    """Said without a number or the word for a part: in a run it is guidance."""


class Recall(Frozen):
    """Asks what is known already; nothing is searched."""

    question: str
    """Empty asks what there is at all."""


Command = Start | Research | Pick | Wish | Part | Edit | Recall

MAX_WISH = 120
"""Characters of a short wish; longer messages say something of their own."""


def read(message: str, command: str | None = None) -> Command | None:
    """Read a message; None when it is no command.

    Args:
        message: what was typed, without the command that was chosen from the menu.
        command: the command chosen from the menu.

    Raises:
        BadRequest: a command or a limit that can't be; the message says why.
    """
    if command == "research" or message.lstrip().split(maxsplit=1)[:1] == ["/research"]:
        return Research(given=parse_research(message))
    if (question := _recalled(message, command)) is not None:
        return Recall(question=question)
    if authorizes(message):
        return Start(exact=True)
    if looks_like_the_phrase(message):
        return Start(exact=False)
    if not message.strip():
        return None
    return (
        read_pick(message) or read_part(message) or read_edit(message) or read_wish(message) or _part_by_name(message)
    )


def asks_for_progress(message: str) -> bool:
    """Tell whether a message sent during a run asks how it is going."""
    return message.rstrip(" \"'”’»").endswith(("?", "？", "؟")) or bool(_progress().search(message))


# ---- what is known


def _recalled(message: str, command: str | None) -> str | None:
    text = " ".join(message.replace("’", "'").split())
    if command == "memory":
        return text
    first, _, rest = text.partition(" ")
    if first.lower() == "/memory":
        return rest
    asked = re.compile(rf"(?:{part_words()['recall']})[\s:,]+(?P<q>.+)", re.IGNORECASE)
    found = asked.fullmatch(bare(text.rstrip("?!. ")))
    # What is asked in whole sentences keeps its question mark; a topic is no question.
    return found["q"] + ("?" if text.endswith("?") and " " in found["q"] else "") if found else None


# ---- wishes


@lru_cache(maxsize=1)
def _wishes() -> tuple[tuple[WishName, re.Pattern[str]], ...]:
    found = []
    for locale in locales().values():
        for name, pattern in locale["wishes"].items():
            found.append((name, re.compile(pattern, re.IGNORECASE)))
    # What explains a word matches nearly any short question: asked last.
    return tuple(sorted(found, key=lambda one: one[0] == "term"))  # type: ignore[arg-type]


@lru_cache(maxsize=1)
def _progress() -> re.Pattern[str]:
    return re.compile("|".join(locale["running"]["progress"] for locale in locales().values()), re.IGNORECASE)


def read_wish(message: str) -> Wish | None:
    """Read one of the short wishes, in any of the languages."""
    if len(message) > MAX_WISH:
        return None
    for text in dict.fromkeys((plain(message), bare(plain(message)))):
        for name, pattern in _wishes():
            if found := pattern.fullmatch(text):
                topic = next((one for one in found.groupdict().values() if one), "")
                if name != "term" or (topic := glossary_name(topic)):
                    return Wish(name=name, topic=topic)
    return None


def glossary_name(word: str) -> str:
    """Find a word in the glossary, also in the plural or with a word beside it; empty when it is none of ours."""
    known = {name for locale in locales().values() for name in locale.get("terms", {})}
    for tried in (word, word.removesuffix("s"), *word.split()):
        if tried in known:
            return tried
    return ""


# ---- numbers

_ORDINALS = {
    word: number
    for number, listed in enumerate(
        (
            "first 1st one erste ersten erster première premier primera primero eins un uno",
            "second 2nd two zweite zweiten zweiter zwei deuxième seconde deux segunda segundo dos",
            "third 3rd three dritte dritten dritter drei troisième trois tercera tercero tres",
            "fourth 4th four vierte vierten vierter vier quatrième quatre cuarta cuarto cuatro",
            "fifth 5th five fünfte fünften fünf cinquième cinq quinta quinto cinco",
            "sixth 6th six sechste sechsten sechs sixième sexta sexto seis",
        ),
        start=1,
    )
    for word in listed.split()
}
_ALL = frozenset("all both everything alle beide beiden alles toutes tous todas todos ambas ambos".split())
_LAST = frozenset("last letzte letzten dernière dernier última último".split())
_AROUND = frozenset(
    (
        "only just the a number no option version query question suggestion please i take i'd i'll want like would "
        "choose pick go with for and then let's do use of them these those this that is my choice plus nr nummer nur "
        "die der das den frage fassung bitte ich nehme möchte und mit seulement juste la le les numéro je prends "
        "choisis et avec solo sólo el las los número pregunta opción tomo elijo quiero y con ones one"
    ).split()
)


def read_pick(message: str) -> Pick | None:
    """Read a choice by number: `2`, `1 and 3`, `the second one`, `both`."""
    if len(message.split()) > 10 or re.search(r"\d[.,]\d|-\d|\bor\b|\boder\b", message):
        return None
    found: list[int] = []
    for token in re.findall(r"\d+(?:st|nd|rd|th)?|[^\W\d_]+(?:'[^\W\d_]+)?|[&+]", plain(message)):
        if token.isdecimal():
            found.append(int(token))
        elif token in _ALL:
            found.append(0)
        elif token in _LAST:
            found.append(-1)
        elif token in _ORDINALS and not (found and token in {"one", "un", "uno"}):
            found.append(_ORDINALS[token])
        elif token not in _AROUND and token not in "&+":
            return None
    return Pick(numbers=tuple(dict.fromkeys(found))) if found and max(found) <= 99 else None


# ---- parts of a plan

_NUMBER = r"(?P<n>\d{1,2}(?:\.\d{1,2}){0,3})"
_ARTICLE = r"(?:the |my |den |die |das |la |le |l'|el )?"
_QUOTES = " \t\"'“”‘’„«»:"


@lru_cache(maxsize=1)
def _orders() -> tuple[tuple[PartOp, re.Pattern[str]], ...]:
    w = part_words()
    noun = rf"{_ARTICLE}(?:(?:{w['noun']})s? ?)?(?:no\.? ?|number )?"
    listed: tuple[tuple[PartOp, str], ...] = (
        ("retry", rf"(?:{w['retry']}|try) {noun}{_NUMBER}(?: again| once more)?"),
        ("retry", rf"(?:versuche?|probiere?) {noun}{_NUMBER} (?:noch ?mals?|noch einmal|erneut)"),
        ("retry", rf"(?:essaie|essaye) (?:encore|de nouveau|à nouveau) {noun}{_NUMBER}"),
        ("retry", rf"(?:intenta|prueba) (?:de nuevo|otra vez) {noun}{_NUMBER}"),
        ("finish", rf"(?:{w['finish']}) {noun}{_NUMBER}(?: (?:jetzt|maintenant|ahora|ya|now|early))?"),
        ("stop", rf"(?:{w['stop']}) {noun}{_NUMBER}(?: now| early| ab| an| sofort)?"),
        ("drop", rf"(?:{w['drop']}|without) {noun}{_NUMBER}(?: now| weg)?"),
        ("drop", rf"lass(?:e)? {noun}{_NUMBER} weg"),
        ("up", rf"(?:{w['move']}) {noun}{_NUMBER} (?:up|higher|nach oben|vers le haut|arriba)"),
        ("down", rf"(?:{w['move']}) {noun}{_NUMBER} (?:down|lower|nach unten|vers le bas|abajo)"),
    )
    return tuple((op, re.compile(pattern, re.IGNORECASE)) for op, pattern in listed)


@lru_cache(maxsize=1)
def _spoken() -> tuple[re.Pattern[str], ...]:
    """Patterns for renaming, adding under a number, adding, and dropping by name."""
    w = part_words()
    noun = rf"(?:{w['noun']})"
    return tuple(
        re.compile(pattern, re.IGNORECASE)
        for pattern in (
            rf"(?:{w['rename']}) {_ARTICLE}(?:{noun} ?)?{_NUMBER} ?(?:to|into|as|in|um in|en|:)? +(?P<t>.+)",
            rf"(?:{w['add']}) (?:a |an |another |one more |eine[ns]? |une |un[ao]? )?{noun}"
            rf"(?: (?:to|under|in|zu) (?:{noun} )?{_NUMBER})? ?(?:about|on|for|:|called|über|sur|sobre)? +(?P<t>.+)",
            rf"(?:{w['add']})(?: (?:something |a few words )?(?:about|on))?[:,]? +(?P<t>.{{4,}}?)(?: too| as well| hinzu)?",
            rf"(?:{w['drop']}) {_ARTICLE}(?:{noun}s? )?(?:about |on |with |named |called |über )?(?P<t>.{{3,}}?)"
            rf"(?: {noun}s?| weg)?",
        )
    )


def _named_numbers(text: str) -> str:
    """Write `the second part` as `part 2`."""
    noun = part_words()["noun"]

    def numbered(match: re.Match[str]) -> str:
        word = match[1].lower()
        return f"{match[2]} {'99' if word in _LAST else _ORDINALS[word]}"

    words = "|".join(sorted({*_ORDINALS, *_LAST}, key=len, reverse=True))
    return re.sub(rf"\b(?:the |den |die |das |la |el )?({words}) ({noun})\b", numbered, text, flags=re.IGNORECASE)


def _one_line(message: str) -> str:
    text = " ".join(message.replace("’", "'").split())
    return text[:-1].rstrip() if text.endswith((".", "!")) else text


_WHOLE_QUESTION = re.compile(
    r"(?:drop|remove|delete|skip|leave out|without|streiche?|entferne) (?:the |die )?(?:query|question|frage|number|no\.?) ",
    re.IGNORECASE,
)


def read_part(message: str) -> Part | None:
    """Read an order about one part that is named by its number, or a new part; None when it is anything else."""
    text = _named_numbers(_one_line(message))
    if len(text) > 300:
        return None
    asked = text.endswith("?") and not polite().match(text)
    plain_text = text.rstrip("? ").strip(" .!¡")
    bare = _polite_off(plain_text)
    for op, pattern in () if asked else _orders():
        if found := pattern.fullmatch(plain_text) or pattern.fullmatch(bare):
            # With the word for a whole question it is an edit of the draft.
            return None if _WHOLE_QUESTION.match(bare) else Part(op=op, number=_number(found["n"]))
    rename, add, _, _ = _spoken()
    if not asked and (found := rename.fullmatch(bare)):
        return Part(op="rename", number=_number(found["n"]), text=found["t"].strip(_QUOTES))
    if found := add.fullmatch(_polite_off(_line(message))):
        return Part(op="add", number=_number(found["n"]), text=found["t"].strip(_QUOTES))
    return None


def _number(given: str | None) -> str:
    return "last" if given == "99" else given or ""


def _line(message: str) -> str:
    """The message on one line, its question mark kept."""
    return " ".join(message.replace("’", "'").split()).rstrip(".!")


def _polite_off(text: str) -> str:
    while (bare := re.sub(rf"^(?:{part_words()['polite']})\b[\s,:]+", "", text, flags=re.IGNORECASE)) != text:
        if re.match(rf"(?:{part_words()['add']})\b", text, re.IGNORECASE) and not re.match(
            r"also [^al]", text, re.IGNORECASE
        ):
            return text
        text = bare
    return text


_NOT_A_PART = re.compile(
    r"(it|this|that|them|all|everything|things?|doubt|(?:query|question|part|branch|file)s?|es|das|alles|"
    r"(?:the |my )?(?:draft|plan|run|file).*)",
    re.IGNORECASE,
)


def _part_by_name(message: str) -> Part | None:
    """Read `leave out passengers`, `also look at the costs`."""
    if len(message) > 200 or "\n" in message.strip():
        return None
    *_, add, drop = _spoken()
    asked = message.rstrip().endswith("?")
    text = _polite_off(_line(message))
    if (found := drop.fullmatch(text.rstrip("?"))) and not _NOT_A_PART.fullmatch(found["t"]) and not asked:
        return Part(op="drop", title=found["t"].strip(_QUOTES), loose=True)
    if (found := add.fullmatch(text)) and not _NOT_A_PART.fullmatch(found["t"]):
        return Part(op="add", text=found["t"].strip(_QUOTES), loose=True)
    return None
