"""What words mean, as far as lists go: irregular forms, words of one meaning, opposites."""

from functools import cache, lru_cache

from agents.nlp import lang
from agents.nlp.tokens import stem

_SHIFTS = (("ens", "end"), ("pans", "pand"), ("cis", "cid"), ("vis", "vid"), ("lus", "lud"), ("vers", "vert"))
"""Extension, expansion, decision, division, exclusion, conversion: what their verbs end with."""
_MIN_ROOT = 4


@lru_cache(maxsize=65_536)
def root(word: str) -> str:
    """Bring the forms and derivations of a word to one root: `decision` and `decided`, `attributable` and `attribution`.

    It cuts more than a stemmer for search should: two texts are compared here that speak of one thing already.
    """
    cut = _bases().get(word, word)
    cut = stem(cut)
    cut = _bases().get(cut, cut)
    if not cut.isalpha() or len(cut) <= _MIN_ROOT:
        return cut
    if (shifted := _shifted(cut)) != cut:
        return shifted
    for shortest in (1, 3):  # short endings once only, or little would be left
        fitting = (
            ending
            for ending in lang.text("endings", "common").split()
            if len(ending) >= shortest and cut.endswith(ending) and len(cut) - len(ending) >= _MIN_ROOT
        )
        ending = next(fitting, "")
        if not ending:
            break
        cut = cut[: -len(ending)]
    cut = _shifted(cut)
    return cut[:-1] if len(cut) > _MIN_ROOT and cut[-1] == cut[-2] else cut


def _shifted(cut: str) -> str:
    for ending, put in _SHIFTS if len(cut) >= 5 else ():
        if cut.endswith(ending):
            return cut[: -len(ending)] + put
    return cut


def _groups(key: str) -> list[list[str]]:
    return [group.split() for group in lang.text(key, "common").split("|")]


@cache
def _bases() -> dict[str, str]:
    found: dict[str, str] = {}
    for *forms, base in _groups("irregular"):
        for form in forms:
            found.setdefault(form, base)
    return found


@cache
def _classes() -> dict[str, frozenset[int]]:
    found: dict[str, frozenset[int]] = {}
    for number, line in enumerate(lang.rows("synonyms")):
        for one in map(root, line):
            found[one] = found.get(one, frozenset()) | {number}
    return found


@cache
def _opposites() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for pair in _groups("opposites"):
        one, other = map(root, pair)
        if one != other:
            found[one] = found.get(one, frozenset()) | {other}
            found[other] = found.get(other, frozenset()) | {one}
    return found


def classes(word: str) -> frozenset[int]:
    """Give the numbers of the meanings that a root is listed under."""
    return _classes().get(word, frozenset())


def alike(one: str, other: str) -> bool:
    """Tell whether two roots mean about the same: equal, of one class, or one inside a compound of the other."""
    if one == other or classes(one) & classes(other):
        return True
    short, long = sorted((one, other), key=len)
    return len(short) >= 5 and (long.endswith(short) or long.startswith(short))


@lru_cache(maxsize=32_768)
def opposites(word: str) -> frozenset[str]:
    """Give the roots that say the contrary of a root: listed ones, those of its class, and with `un-` or without."""
    listed = set(_opposites().get(word, ()))
    mine = classes(word)
    for other in _opposites() if mine else ():
        if classes(other) & mine:
            listed |= _opposites()[other]
    kinds = {kind for one in listed for kind in classes(one)} if mine else set()
    found = listed | {other for other, numbers in _classes().items() if numbers & kinds}
    if word.startswith(("un", "dis", "non")) and len(word) > 6:
        found.add(word[3:] if word[0] in "dn" else word[2:])
    elif len(word) > 4:
        found |= {"un" + word, "dis" + word, "non" + word}
    return frozenset(found - {word})
