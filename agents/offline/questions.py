"""What a message asks, taken apart by its grammar: independent questions, their parts, and what each is about.

A part has a kind (what an answer must hold), names, and the matter: what is asked of them. Documents and their words are
held against names and matter, here by name and in `research/reading/answering.py` by what they say.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from math import ceil
from typing import Literal

from agents.nlp import lang
from agents.nlp.tokens import content_words, language_of, stem
from agents.offline.terms import SPACELESS, listed, names, opening, terms
from agents.verify.negation import root
from agents.verify.parsed_text import Name, abbreviations, variants
from agents.verify.parsed_text import names as names_by_form
from agents.web.url_key import IN_TEXT

_LIST_LINE = re.compile(r"^\s*(?:\(?\d{1,2}[.)]|[-*•])\s+(.+)$", re.MULTILINE)
_TRIM = " \t\n,;:–—-"
_AND = r"(?:\s+(?:and|or|und|oder|sowie|et|ou|y|e|o|versus|vs\.?)\s+|\s*&\s*)"
_SEPARATOR = re.compile(rf",{_AND}|{_AND}|,\s+")
_ARTICLE = re.compile(r"^(?:the|its|their|an?|der|die|das|den|les?|la|los?|las|el)\s+", re.IGNORECASE)
_BREAK = "\ue000"
_LONGEST_ENTRY = 7  # words of one entry of a list at most


@dataclass(frozen=True)
class IndependentQuestion:
    """One independent question."""

    text: str
    parts: tuple[str, ...]
    """What it asks, in order: each needs an answer of its own."""
    things: tuple[str, ...] = ()
    """What is compared."""
    points: tuple[str, ...] = ()
    """With regard to what."""
    addresses: tuple[str, ...] = ()


def tidy(text: str) -> str:
    """Write a question as one sentence that starts with a capital and, where it asks, ends with a mark."""
    text = re.sub(r"\s+", " ", text).strip(_TRIM)
    text = re.sub(r"^(?:and|und|et|y|also|please|bitte|por favor)[,:]?\s+(?=\S)", "", text, flags=re.I)
    text = text.strip(_TRIM).rstrip(".")
    if text and text[-1] not in "?!。？！" and not SPACELESS.search(text) and opening("ask").match(text):
        text += "?"
    return text[:1].upper() + text[1:]


def asks(text: str) -> bool:
    """Tell words that ask for something."""
    return bool("?" in text or "？" in text or listed("ask").search(text[:60]) or opening("order").match(text))


def leans_on_another(text: str) -> bool:
    """Tell a question that cannot be understood without what stands before it."""
    return bool(listed("leans").search(text))


@lru_cache(maxsize=512)
def questions(message: str) -> tuple[IndependentQuestion, ...]:
    """Take a message apart into independent questions; none when it asks nothing."""
    addresses = tuple(dict.fromkeys(IN_TEXT.findall(message)))
    found: dict[str, IndependentQuestion] = {}
    for group in _groups(IN_TEXT.sub(" ", message)):
        said = [one if one[-1] in "?!。？！" else f"{one}." for one in map(tidy, group) if one]
        text = " ".join(said).rstrip(".")
        marked = [sentence for sentence in group if re.search("[?？]", sentence)]
        asking = marked or [sentence for sentence in group if asks(sentence)] or group
        parts = tuple(tidy(part) for sentence in asking for part in _parts(sentence))
        things, points = _compared(text)
        own = addresses if not found else ()
        found.setdefault(text.casefold(), IndependentQuestion(text, parts or (text,), things, points, own))
    return tuple(found.values())


def _groups(message: str) -> list[list[str]]:
    """Group the sentences of a message by the question that they belong to."""
    lines = [line.strip() for line in _LIST_LINE.findall(message) if terms(line)]
    if len(lines) > 1:
        return [[line] for line in lines]
    groups: list[list[str]] = []
    opened = False
    for piece in _pieces(message):
        announced, text = piece.startswith(_BREAK), piece.lstrip(_BREAK).strip()
        if not terms(text) or opening("greets").fullmatch(text.strip(" .!")) or _announces(text):
            opened = opened or announced
            continue
        leans = bool(groups) and leans_on_another(text)
        apart = (announced or opened) and not (leans and not asks(text))
        if groups and not apart and (leans or not asks(text) or not any(map(asks, groups[-1]))):
            groups[-1].append(text)
        else:
            groups.append([text])
        opened = False
    return groups


def _announces(text: str) -> bool:
    return bool(listed("counting").search(text)) and "?" not in text and len(text.split()) <= 9


@cache
def _separate() -> re.Pattern[str]:
    said = listed("separate").pattern
    return re.compile(rf"(?:^|(?<=[.;,:?!。？！]))\s*(?:and|und|et|y)?,?\s*{said}\s*[,:.–-]?\s*", re.IGNORECASE)


def _pieces(message: str) -> list[str]:
    """Cut a message into sentences, with a mark before those that a separating phrase announces."""
    marked = _separate().sub(
        lambda one: _BREAK + "I want to know " * bool(re.search("want|like|need", one[0])), message
    )
    return [piece for one in lang.spans(marked) for piece in _apart(marked[one.start : one.end])]


def _apart(sentence: str) -> list[str]:
    """Cut a sentence where a question of its own begins: behind a mark, a semicolon or a coordination."""
    head, colon, tail = sentence.partition(": ")
    if colon and _announces(head):
        sentence = tail
    found: list[str] = []
    for at, part in enumerate(re.split(rf"[;；]\s*(?:(?:and|und|et|y)\s+)?|(?={_BREAK})", sentence)):
        if not part.strip():
            continue
        if at and not part.startswith(_BREAK) and not listed("ask").search(part[:60]):
            found[-1] = f"{found[-1]}; {part}"
        else:
            found.append(part if part.startswith(_BREAK) or not at or leans_on_another(part) else _BREAK + part)
    return found


@cache
def _joint() -> re.Pattern[str]:
    """Where a second question, or order, is joined on within one sentence: by a word, or as an entry of a list."""
    ask, verb, entry, lead = (listed(one).pattern for one in ("ask", "joined", "entry", "before_ask"))
    return re.compile(
        rf"\s*[,;]?\s+(?:and|or|as well as|und|oder|sowie|et|ou|y|e|o)\s+(?=(?:{lead}\s+)?(?:{ask}|{verb}))"
        rf"|,\s+(?={entry}[^,]*(?:$|,\s+(?:and|or|und|oder|{entry})(?!\w)))",
        re.IGNORECASE,
    )


def _parts(sentence: str) -> list[str]:
    """Cut a sentence into the questions that it asks: `…, and who founded each of them?` is two."""
    parts: list[str] = []
    start, asked = 0, opening("ask").match(sentence) or opening("yes_no").match(sentence)
    for match in _joint().finditer(sentence):
        part, rest = sentence[start : match.start()], sentence[match.end() :]
        if (terms(part) or len(part.split()) > 2) and len(rest.split()) > 1 and (asked or match[0].strip() != ","):
            parts.append(part)
            start = match.end()
    marked = [f"{part}?" if "?" in sentence and opening("yes_no").match(part) else part for part in parts]
    return [part for part in (*marked, sentence[start:]) if part.strip(_TRIM)]


def _compared(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """List what a question compares, and with regard to what; `Compare A, B and C with regard to x and y`."""
    body = text.rstrip("?.!。？！ ")
    regard = listed("regard").search(body)
    points = _listed(body[regard.end() :]) if regard and regard.start() else ()
    body = body[: regard.start()] if regard and regard.start() else body
    compare = opening("compare").match(body)
    things = _listed(re.sub(r"\s+(?:as|als|comme|como)\s+.*$", "", body[compare.end() :])) if compare else ()
    return things, points


def _listed(text: str) -> tuple[str, ...]:
    entries = (_ARTICLE.sub("", part.strip(_TRIM)) for part in _SEPARATOR.split(text))
    kept = [entry for entry in entries if entry and len(entry.split()) <= _LONGEST_ENTRY and terms(entry)]
    return tuple(dict.fromkeys(kept)) if len(kept) > 1 else ()


MOST_ADDED = 6
"""Words of the question that go into a further search beside the name."""
AnswerKind = Literal["who", "when", "figure", "where", "change", "either", "yes_no", "differ", "other"]
"""What an answer must hold: a name, date, figure, place, figure or trend, one of two, some of each, two countings, any words."""
LOOKUPS: frozenset[AnswerKind] = frozenset({"who", "when", "figure", "where"})
"""Kinds of question that one fact settles."""
PAIRED: frozenset[AnswerKind] = frozenset({"either", "yes_no"})
"""Kinds of question that want something about each of their names."""
MOST_OF_A_NAME = 0.67
"""Share of the words of a long name that must be there; of names of one or two words all must."""
_WHY_DIFFERENT = (("differ_asked",), ("telling",), ("reason", "cause"))
LONGEST_LOOKUP, MOST_PARTS = 240, 4
"""Lists that tell a question why figures differ. Characters and parts of a question that asks for facts, at most."""
ASIDE = re.compile(r"\s*\([^()]*\)|\s+[-–—|]\s.*$")

_EACH_OF = re.compile(r"\b((?:each|both)(?: of (?:them|these|those|the \w+))?)\b", re.IGNORECASE)
_LINK = re.compile(
    r"\w+\W+\w+.*\b(?:who|whose|whom|which|that|where|deren|dessen|dont|cuyo)\b"
    r"|\bof the [^\W_]+ (?:of|in|at|by|from|for)\b|[’']s [^\W_]+[’']s\b",
    re.IGNORECASE,
)
_TOPIC = re.compile(r"^([^:?]{2,80}): ([^:?]+)$")
_SMALL = frozenset("the of and in a an at on for".split())
FORM = frozenset(map(stem, lang.words("asking")))
"""Words of asking that no answer repeats."""


@dataclass(frozen=True)
class Question:
    """One part of a question, made ready for holding words against it."""

    text: str
    kind: AnswerKind
    names: tuple[frozenset[str], ...]
    """Each name as the stems of its words; nationalities are none."""
    matter: frozenset[str]
    """Roots of the words that say what is asked of the names."""
    short: frozenset[str]
    """Abbreviations of three letters and more under which the names are known."""
    language: str
    shown: tuple[str, ...]
    """The names as they are written."""

    @property
    def is_specific(self) -> bool:
        """Whether it asks for one thing: a person, a date, one of two, or which and what; not how, why or what about."""
        return self.kind != "other" or bool(listed("which").search(self.text))


@lru_cache(maxsize=1_024)
def parts_of(question: str) -> tuple[Question, ...]:
    """Take a question apart into what needs an answer each: `…, and who founded each of them?` is two parts."""
    sentences = [question[one.start : one.end] for one in lang.spans(question)]
    # What is told before it is asked wants no answer; the names in it are those that the question points at.
    told = [one for one in sentences if not one.endswith("?")] if question.rstrip().endswith("?") else []
    asked = [one for one in sentences if one not in told] if question.rstrip().endswith("?") else [question]
    parts: list[Question] = []
    named = _read(" ".join(told)) if told else None
    apart = (_separate().sub("", part).strip(" ,;") for one in asked for part in _parts(one))
    for text in [text for text in apart if text.strip("?")] or [question]:
        one = _read(text)
        if not one.names and named and named.names:
            one = replace(one, names=named.names, short=named.short, shown=named.shown)
        elif one.names:
            named = one
        points_back = listed("pointing").search(text) or not one.matter
        if not one.names and named and points_back and text != question:
            one = replace(one, matter=one.matter | named.matter)  # `Is that covered?` asks of what was told before
        if listed("each").search(text) and len(one.names) > 1 and one.kind not in PAIRED:
            parts += [
                replace(one, text=_of_one(text, said, one.shown), names=(n,), shown=(said,))
                for n, said in zip(one.names, one.shown, strict=True)
            ]
        else:
            parts.append(one)
    return tuple(parts)


def _of_one(text: str, name: str, names: Sequence[str]) -> str:
    """Ask of one name what is asked of each: `Who founded each of them, A and B?` is `Who founded A?`."""
    before, each, after = _EACH_OF.split(text, 1) if _EACH_OF.search(text) else (text, "", "")
    if each and not content_words(re.sub("|".join(map(re.escape, names)), "", after)):
        return f"{before}{name}?"
    return f"{text.rstrip(' ?？')} ({name})?"


def _read(text: str) -> Question:
    language = language_of(text, asked=True)
    found = [name for name in names_by_form(text, language) if name.sure and not all(map(is_nationality, name.words))]
    apart = {stems: said for name in reversed(found) for stems, said in reversed(list(_single_names(name)))}
    each = tuple(reversed(apart))
    held = frozenset().union(*each)
    telling = frozenset(content_words(text, language)) - FORM
    start = listed("which").search(text)
    # Of `in what city` a name is wanted: no answer need call it a city. `What cities` wants to be told which are meant.
    sort = next((word for word in plain_words(text[start.end() :] if start else "") if not is_nationality(word)), "")
    matter = frozenset(
        root(word)
        for word in plain_words(text)
        if len(word) > 1
        and stem(word) in telling
        and stem(word) not in held
        and (word != sort or sort.endswith("s"))
        and not word.isdigit()
    )
    short = frozenset(one.upper() for one in abbreviations(text, tuple(found)) if len(one) > 2)
    kind = _kind(text, len(each))
    if kind == "change":
        matter -= {root(word) for word in plain_words(text) if listed("changed").fullmatch(word)}
    if done := opening("doer").match(text):
        matter |= {root(done[0].split()[-1].casefold())}  # however common the word, an answer says what was done
    if kind == "differ":  # its answer tells two ways of counting, and need not call them that
        shown = " ".join(match[0] for match in listed("differ_asked").finditer(text))
        matter -= {root(word) for word in plain_words(text) if is_no_thing(word) or word in shown.casefold().split()}
    return Question(text, kind, each, matter, short, language, tuple(apart.values())[::-1])


@cache
def _asking() -> dict[AnswerKind, re.Pattern[str]]:
    """What tells a kind where a question begins or ends, since within it joins clauses; and what tells it anywhere."""
    asked: dict[AnswerKind, str] = {
        one: listed(f"{one}_asked").pattern for one in ("figure", "when", "who", "where", "change")
    }
    said = {one: f"|{listed(f'{one}_said').pattern}" for one in ("figure", "when")}
    before = rf"^\W*(?:{listed('before_ask').pattern}\s+)?"
    return {one: re.compile(rf"{before}{asks}|{asks}\W*$" + said.get(one, ""), re.I) for one, asks in asked.items()}


def _kind(text: str, named: int) -> AnswerKind:
    if opening("yes_no").match(text):
        return "yes_no"
    if named > 1 and (asked := listed("ask").search(text)) and listed("or").search(text, asked.end()):
        return "either"
    if all(re.search("|".join(listed(one).pattern for one in each), text, re.I) for each in _WHY_DIFFERENT):
        return "differ"
    return next((one for one, form in _asking().items() if form.search(text)), "other")


def _single_names(name: Name) -> Iterable[tuple[frozenset[str], str]]:
    """`Nantong and Jingdezhen` are two names."""
    for part in re.split(r"\s+(?:and|und|et|y|&)\s+", name.shown):
        if stems := frozenset(stem(word) for word in plain_words(part) if word in name.words and len(word) > 1):
            yield stems, part


@lru_cache(maxsize=8_192)
def is_nationality(word: str) -> bool:
    """Tell a word that only says which country somebody or something is of."""
    listed_as_one = any(word in others for _, *others in lang.rows("demonyms"))
    return listed_as_one or bool(re.fullmatch(r"[a-z]{3,}(?:ians?|icans?|eans?|ese)", word))


def nationalities(text: str) -> frozenset[str]:
    """Give the roots of the words that say of which country somebody or something is: `English`, no `musician`."""
    said = (word.casefold() for word in re.findall(r"[^\W\d_]+", text) if word[:1].isupper())
    return frozenset(root(word) for word in said if is_nationality(word))


def plain_words(text: str) -> list[str]:
    """Give the words of a text as they are compared: casefolded, without the `’s` of belonging."""
    return [
        word.casefold().removesuffix("'s").removesuffix("’s") for word in re.findall(r"[^\W_]+(?:['’][^\W_]+)*", text)
    ]


def stems_of(*texts: str) -> frozenset[str]:
    """Give the stems under which names are looked for in texts."""
    return _stems_of(texts[0]).union(*map(_stems_of, texts[1:]))


@lru_cache(4096)
def _stems_of(text: str) -> frozenset[str]:
    plain = plain_words(text)
    return frozenset(stem(word) for word in (*plain, *variants(plain)))


def asks_for_facts(question: str) -> bool:
    """Tell a question, in one part or a few, each for a fact about something with a name: it needs no plan but itself.

    `What do the figures show?` asks for what there is, not for a fact; `Which of the two was larger?` for one.
    """
    parts = parts_of(question)
    bounded = len(question) <= LONGEST_LOOKUP and len(parts) <= MOST_PARTS
    asked = listed("which").search(question)
    if asked and len(parts) == 1 and not parts[0].names and listed("of_some").match(question, asked.end() + 1):
        return bounded
    return bounded and all(part.names and (part.kind in LOOKUPS | PAIRED or _is_one(part.text)) for part in parts)


def asks_for_figures(question: str) -> bool:
    """Tell a question of which every part is answered by figures of something with a name."""
    return all(part.names and part.kind in {"figure", "change"} for part in parts_of(question))


def _is_one(text: str) -> bool:
    return bool(listed("which").search(text)) and not listed("several").search(text) and is_single_fact(text)


@lru_cache(maxsize=2_048)
def is_single_fact(question: str) -> bool:
    """Tell a question for a single fact about something with a name, however many steps away the fact is."""
    found = questions(question)
    if not names(question) or SPACELESS.search(question) or len(found) != 1 or len(found[0].parts) != 1:
        return False
    wide = any(listed(name).search(question) for name in ("reason", "effect", "differ_asked", "doubt_asked"))
    one = listed("one").search(question) or opening("yes_no").match(question)
    return bool(one) and not wide and not opening("setting").match(question) and "?" not in question.strip()[:-1]


def is_lookup(question: str) -> bool:
    """Tell a single fact that documents named for its subject should state: one or two of them settle it."""
    return is_single_fact(question) and bool(opening("lookup").match(question)) and not is_linked(question)


def is_linked(question: str) -> bool:
    """Tell a question that names its subject by way of something else: `the country where the Bubye River is found`."""
    return is_single_fact(question) and bool(_LINK.search(question))


def points(question: str) -> bool:
    """Tell a question that names nothing and can't be read alone: `Who founded each of them?`."""
    return bool(listed("pointing").search(question)) and not any(part.names for part in parts_of(question))


def standalone(question: str, whole: str) -> str:
    """Give a question that only points the names of the whole that it is a part of."""
    if not points(question):
        return question
    named = dict.fromkeys(name for part in parts_of(whole) for name in part.shown)
    return f"{question.rstrip(' ?？')}, {' and '.join(named)}?" if named else question


def read_alone(part: Question) -> str:
    """Word a part so that it can be read alone: `who founded each of them?` with the name that it is about."""
    text = part.text.strip(" ?？.,")
    named = " ".join(part.shown)
    mark = "" if any(name.casefold() in text.casefold() for name in part.shown) else f" ({named})" if named else ""
    return f"{text[:1].upper()}{text[1:]}{mark}?"


def names_held(question: Question, held: frozenset[str]) -> tuple[frozenset[str], ...]:
    """Give the names of a question that a text holds; words that two of its names share tell neither."""
    return tuple(
        name
        for name in question.names
        if len(name & held) >= (len(name) if len(name) < 3 else ceil(MOST_OF_A_NAME * len(name)))
    )


def each_name(question: Question) -> tuple[Question, ...]:
    """Take a question about two things apart: it wants an answer about each of them. Any other stays as it is."""
    if question.kind not in PAIRED or len(question.names) < 2:
        return (question,)
    return tuple(replace(question, names=(name,)) for name in question.names)


def is_named(question: Question, title: str) -> bool:
    """Tell whether a document is called after what a question asks about: where nothing answers, it is the first step."""
    called = stems_of(ASIDE.sub("", title)) - _SMALL
    return any(2 * len(name & called) >= len(called) for name in names_held(question, called))


def is_called(question: Question, title: str) -> bool:
    """Tell whether a document is called just as what a question asks about, not `Cotula australis` for `Cotula`."""
    called = stems_of(ASIDE.sub("", title)) - _SMALL
    return bool(names_held(question, called)) and called <= stems_of(question.text)


def about(question: str) -> Question | None:
    """Give what a question for one fact, or a further step, turns on; None for a question that documents are not named for."""
    part = parts_of(question)[0]
    if step := _TOPIC.match(question):
        name = stems_of(step[1])
        return replace(part, names=(name,), shown=(step[1],))
    return part if part.names and is_single_fact(question) else None


def is_no_thing(word: str) -> bool:
    """Tell a word for what one thing does to another, or for what a source does: shows, reports."""
    return bool(listed("effect").fullmatch(word) or listed("telling").fullmatch(word))


def topic(name: str, rest: Sequence[str]) -> str:
    """Word a further step: the name that was found, and what is still to be said of it."""
    return f"{name.replace(':', ' ').replace('?', ' ')}: {' '.join(rest)}"


def is_topic(text: str) -> bool:
    """Tell the topic of a further step from a question."""
    return bool(_TOPIC.match(text))
