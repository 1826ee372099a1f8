"""What a sentence denies, leaves open or says with reservation: cues by language, and how far each reaches.

What words mean, as far as lists go: irregular forms, words of one meaning, opposites.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from agents.nlp import lang
from agents.nlp.tokens import language_of, stem

SCOPE = 5
"""Content words that one cue denies, at most, up to the end of its clause."""
_CLAUSE_MARKS = frozenset(", ; : . ! ? ( ) – —".split())
_BOTH_SIDES = frozenset("pending planned proposed discussion review".split())
"""Last words of cues that leave open what stands before them too: the bridge is planned."""
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_PHRASE = re.compile(r"[^\W\d_]+'?")
_ONLY_THAT = re.compile(r",?(?:\s+(?:that|dass|que|che|dat|att|что|що|że|že))?\s*", re.IGNORECASE)
_UNSPACED_BEFORE = re.compile(
    r"(?<![并無无不])(?:[未没沒不无無非](?![过過断斷仅僅论論])[有能会會再是曾得獲获予被]?|ไม่\w{0,3})$"
)
_UNSPACED_AFTER = re.compile(
    r"\s?(?:[ぁ-ん言考思限]{0,8}?な[いかく]|ず|[ぁ-ん]{0,4}ません|지\s?(?:않|못)|(?:수\s)?[않못없]|ไม่)"
)


@dataclass(frozen=True)
class NegationScope:
    """What the cues of one sentence reach, as positions of words."""

    denied: frozenset[int]
    nearest: frozenset[int]
    """The two content words next to each cue: those are surely denied."""
    cues: tuple[int, ...]
    open: frozenset[int]
    """Content words whose matter is left open: planned, proposed, to be decided."""
    not_yet: bool
    """Whether the sentence says that something is not settled."""
    hedges: tuple[int, ...]
    """Words by which it takes back some of its certainty."""


@cache
def _cues(language: str) -> frozenset[str]:
    """Negations that count in a sentence: those of the four languages that sources quote most, and its own."""
    known = frozenset(word for one in (*lang.CUED, "ru") for word in lang.words("not", one))
    return (known | lang.words("not", language)) - (frozenset() if language in {"en", "es"} else {"no"})


def is_cue(word: str, language: str = "en") -> bool:
    """Tell whether a casefolded word denies what it is next to."""
    if word in _cues(language) or word.endswith("n't") or word.startswith("n'"):
        return True
    if word.isascii():
        return False
    signs, excepted = lang.words("denying_signs", "zh"), lang.words("no_denying", "zh")
    return word in lang.words("denying_pairs", "ja") or (len(word) == 2 and word[0] in signs and word not in excepted)


def denies(text: str) -> bool:
    """Tell whether a piece of text holds a negation, in any of the languages that are known well."""
    plain = lang.cue("no_denial").sub(" ", text)
    words = _WORD.findall(plain.casefold().replace("’", "'"))
    return bool(lang.cue("denying").search(plain)) or any(is_cue(word) for word in words)


def is_cut_from_negation(before: str, after: str) -> bool:
    """Tell whether words that stand between these two parts of a text are denied by what stands right beside them.

    “Significant” stands in “not significant”, “das Mittel wirkt” in “das Mittel wirkt nicht”: neither is a quote.
    """
    if _UNSPACED_BEFORE.search(before) or _UNSPACED_AFTER.match(after):
        return True
    clause = re.split(r"[.!?;:,()–—。！？；：，、]|\n\s*\n", before[-200:])[-1]
    beside = _WORD.findall(lang.cue("no_denial").sub(" ", clause).casefold().replace("’", "'"))[-3:]
    if re.search(rf"\b(?:{lang.alternatives('denying')})(?:\W+\w+){{0,2}}\W*$", clause, re.IGNORECASE):
        return True
    told = (one for cue in ("unproven", "false") for one in lang.cue(cue).finditer(before[-200:]))
    if any(_ONLY_THAT.fullmatch(before[-200:], one.end()) for one in told) or re.match(
        r" *(?:nicht|nie|niemals)\b", after, re.I
    ):
        return True
    language = language_of(before[-2_000:] + after[:500]) if beside else "en"
    return any(is_cue(word, language) for word in beside)


def scope(words: Sequence[str], content: Sequence[bool], text: str, language: str = "en") -> NegationScope:
    """Find what the negations of a sentence reach; cues may be several of its casefolded `words`, which mean or do not."""
    excused = {match.group().casefold().split()[0] for match in lang.cue("no_denial").finditer(text)}
    excused |= {word for match in lang.cue("open").finditer(text) for word in match.group().casefold().split()}
    phrases = {place[-1] for place in _phrases("denying", words, text)}
    cues = tuple(
        at for at, word in enumerate(words) if (at in phrases or is_cue(word, language)) and word not in excused
    )
    denied: set[int] = set()
    nearest: set[int] = set()
    for cue in cues:
        reached = _reach(words, content, range(cue + 1, len(words)))
        if not reached:  # "… gefällt ihm nicht", "it is not"
            reached += _reach(words, content, range(cue - 1, -1, -1))[:3]
        denied.update(reached)
        nearest.update(reached[:2])
    is_month = "May" in text and "may" not in text
    hedging = lang.words("hedges") - ({"may"} if is_month else set())
    return NegationScope(
        frozenset(denied),
        frozenset(nearest),
        cues,
        _left_open(words, content, text),
        bool(lang.cue("not_yet").search(text)),
        tuple(at for at, word in enumerate(words) if word in hedging),
    )


def _left_open(words: Sequence[str], content: Sequence[bool], text: str) -> frozenset[int]:
    """Content words behind a cue such as "will decide", up to the end of its clause."""
    found: set[int] = set()
    for place in _phrases("open", words, text):
        found.update(_reach(words, content, range(place[-1] + 1, len(words))))
        if len(place) == 1 or words[place[-1]] in _BOTH_SIDES:
            found.update(_reach(words, content, range(place[0] - 1, -1, -1)))
    return frozenset(found)


def _phrases(key: str, words: Sequence[str], text: str) -> Iterator[range]:
    """Give the places of the words of each cue of several words."""
    for match in lang.cue(key).finditer(text):
        cue = _PHRASE.findall(match.group().casefold().replace("’", "'"))
        yield from (range(at, at + len(cue)) for at in range(len(words)) if list(words[at : at + len(cue)]) == cue)


def _reach(words: Sequence[str], content: Sequence[bool], order: range) -> list[int]:
    found: list[int] = []
    for at in order:
        if words[at] in _CLAUSE_MARKS or words[at] in lang.words("clause_end"):
            break
        if content[at]:
            found.append(at)
        if len(found) == SCOPE:
            break
    return found


_SHIFTS = (("ens", "end"), ("pans", "pand"), ("cis", "cid"), ("vis", "vid"), ("lus", "lud"), ("vers", "vert"))
"""Extension, expansion, decision, division, exclusion, conversion: what their verbs end with."""
_MIN_ROOT = 4
_SCRIPTS = {"ru": re.compile("[а-яё]"), "el": re.compile("[α-ω]"), "ar": re.compile("[ء-ي]"), "hi": re.compile("[अ-ह]")}
"""Whose rules a word is cut by, as its first letter tells."""


@lru_cache(maxsize=65_536)
def root(word: str) -> str:
    """Bring the forms and derivations of a word to one root: `decision` and `decided`, `attributable` and `attribution`.

    It cuts more than a stemmer for search should: two texts are compared here that speak of one thing already.
    """
    cut = _bases().get(word, word)
    cut = stem(cut, next((language for language, letters in _SCRIPTS.items() if letters.match(cut)), "en"))
    cut = _bases().get(cut, cut)
    if not cut.isalpha() or len(cut) <= _MIN_ROOT:
        return cut
    for ending, put in _SHIFTS:
        cut = cut.removesuffix(ending) + put if cut.endswith(ending) else cut
    cut = _endings().sub("", cut)
    return cut[:-1] if len(cut) > _MIN_ROOT and cut[-1] == cut[-2] else cut


def _groups(key: str) -> list[list[str]]:
    return [group.split() for group in lang.text(key, "common").split("|")]


@cache
def _endings() -> re.Pattern[str]:
    return re.compile(rf"(?<=\w{{{_MIN_ROOT}}})(?:{'|'.join(lang.text('endings', 'common').split())})$")


@cache
def _bases() -> dict[str, str]:
    return {form: base for *forms, base in reversed(_groups("irregular")) for form in forms}


@cache
def _classes() -> dict[str, frozenset[int]]:
    found: defaultdict[str, frozenset[int]] = defaultdict(frozenset)
    for number, line in enumerate(lang.rows("synonyms")):
        for one in map(root, line):
            found[one] |= {number}
    return found


@cache
def _opposites() -> dict[str, frozenset[str]]:
    found: defaultdict[str, frozenset[str]] = defaultdict(frozenset)
    for one, other in (map(root, pair) for pair in _groups("opposites")):
        found[one] |= {other} - {one}
        found[other] |= {one} - {other}
    return found


def classes(word: str) -> frozenset[int]:
    """Give the numbers of the meanings that a root is listed under."""
    return _classes().get(word, frozenset())


@lru_cache(maxsize=65_536)
def alike(one: str, other: str) -> bool:
    """Tell whether two roots mean about the same: equal, of one class, or one inside a compound of the other."""
    if one == other or not classes(one).isdisjoint(classes(other)):
        return True
    short, long = (one, other) if len(one) <= len(other) else (other, one)
    if len(short) < 5 or not (long.endswith(short) or long.startswith(short)):
        return False
    return long.replace(short, "", 1) not in lang.words("contrary_parts")  # uninspected, wirkungslos


@lru_cache(maxsize=32_768)
def negated(word: str) -> frozenset[str]:
    """Give a root with each beginning that denies it, or without the one that it has: `unsafe` for `safe`."""
    openings = lang.words("contrary_beginnings") if len(word) > 3 else ()
    bare = {word.removeprefix(opening) for opening in openings if word.startswith(opening) and len(word) > 6}
    longer = {opening + word for opening in openings}
    return frozenset(
        bare or longer | {root(one) for one in longer}
    )  # a longer word may be cut where a short one is not


@lru_cache(maxsize=32_768)
def opposites(word: str) -> frozenset[str]:
    """Give the roots that say the contrary of a root: listed ones, those of its class, and with `un-` or without."""
    mine = classes(word)
    listed = {one for other, ones in _opposites().items() if other == word or classes(other) & mine for one in ones}
    kinds = {kind for one in listed for kind in classes(one)} if mine else set()
    found = listed | {other for other, numbers in _classes().items() if numbers & kinds}
    return frozenset(found | negated(word)) - {word}
