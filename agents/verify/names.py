"""Names by their form: runs of capitalised words, abbreviations; nationalities by a list."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache, lru_cache

from agents.nlp import lang
from agents.nlp.tokens import stop_words
from agents.verify.dates import months

_UPPER = "A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĚĘĢĞİŁŃŇŌŐŒŘŚŠŞŤŪŮŰŹŽŻΑ-ΩА-Я"
_CAPITAL = rf"(?:[{_UPPER}]\.(?:\s?[{_UPPER}]\.)*|[{_UPPER}][\w’'.&-]*[\w]|[{_UPPER}])"
_RUN = re.compile(
    rf"(?<![\w’'])(?:{_CAPITAL})(?:(?:\s+(?:of|the|of the|de|del|de la|van|von|der|van der|von der|du|des|di|al|el|la|bin|&|and)"
    rf"(?=\s+[{_UPPER}]))?\s+(?:{_CAPITAL}))*"
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)*")
_BELONGING = re.compile(r"(?:ians?|ans?|ns?|ish|ese|'s|s)$")
_LINKS = frozenset("of the de del la van von der du des di al el bin and".split())
_OPENS = re.compile(r"(?:^|[.!?:;…]|[\"“„«(]|^\s*[-*•])\s*$")
_LEADING = re.compile(r"^[\s.’']*(?:(?:of|the|de|del|la|le|der|die|das|des|du|and|&)\s+)*")
_BARE_SUBJECT = re.compile(r"\s+(?:is|was|has|had|will|became|ist|war|hat|est|était|fue|es|'s)\b")


@dataclass(frozen=True)
class Name:
    """A name as it stands in a sentence."""

    words: tuple[str, ...]
    """Casefolded, without the small words between them."""
    shown: str
    start: int
    end: int
    sure: bool
    """False for a single capitalised word where a sentence begins, which may be any word."""


@lru_cache(maxsize=4_096)
def names(text: str, language: str = "en") -> tuple[Name, ...]:
    """Read the names of `text` in order.

    German writes every noun with a capital: there only runs of two words and abbreviations are sure. Texts without any
    small letters have no names by form.
    """
    if text.upper() == text or sum(letter.isupper() for letter in text) > len(text) / 2:
        return ()
    found: list[Name] = []
    for match in _RUN.finditer(text):
        start, end = match.span()
        shown = match.group()
        opens = bool(_OPENS.search(text[:start]))
        first = _WORD.match(shown)
        while first and opens_with_function_word(first[0], language, opens=opens):
            rest = _LEADING.sub("", shown[first.end() :])
            start, shown = end - len(rest), rest
            first, opens = (_WORD.match(shown) if rest[:1].isupper() else None), False
            if first is None:
                shown = ""
        words = tuple(
            word
            for word in (piece.casefold().removesuffix("'s").removesuffix("’s") for piece in _WORD.findall(shown))
            if word not in _LINKS
            and not word.isdigit()
            and word not in lang.words("no_names")
            and word not in months(language)
        )
        if not words:
            continue
        # A heading in title case is no name of eight words.
        found.append(Name(words, shown, start, end, _is_sure(text, words, shown, end, opens=opens, language=language)))
    return tuple(found)


def opens_with_function_word(word: str, language: str, *, opens: bool) -> bool:
    """Tell whether a capitalised word is a function word that only begins the sentence."""
    low = word.casefold()
    return (
        (opens or word in {"I", "The", "A"})
        and (low in stop_words(language) or low in lang.words("no_names"))
        and not (word.isupper() and len(word) > 1)
    )


def _is_sure(text: str, words: tuple[str, ...], shown: str, end: int, *, opens: bool, language: str) -> bool:
    abbreviation = shown.replace(".", "").isupper() and len(shown) > 1
    if language == "de":
        return (len(words) > 1 and not opens) or abbreviation
    if len(words) > 1 or not opens or abbreviation:
        return True
    return bool(_BARE_SUBJECT.match(text, end)) and not words[0].endswith(("s", "ing", "ness", "ment", "tion"))


def absent(name: Name, words: Collection[str]) -> tuple[str, ...]:
    """Give the words of a name that a source does not have, in any of their forms.

    Args:
        name: of the sentence.
        words: casefolded words of the source, with the forms that `variants` adds.
    """
    lost = [word for word in name.words if len(word) > 1 and word not in words]
    if not lost:
        return ()
    bare = {_bare(word) for word in words}
    return tuple(word for word in lost if _bare(word) not in bare and not variants((word,)) & set(words))


def _bare(word: str) -> str:
    """Cut what makes a nationality or a plural of a name: `Mexican` and `Mexico`, not `Easter` and `East`."""
    cut = _BELONGING.sub("", word)
    cut = cut.rstrip("aeiouy") if cut.isascii() else cut
    return cut if len(cut) >= 4 else word


def variants(words: Collection[str]) -> set[str]:
    """Give other forms under which names among `words` are known: nationalities, abbreviations with stops."""
    found: set[str] = set()
    for word in words:
        bare = word.replace(".", "")
        found.add(bare)
        found.update(_demonyms().get(bare, ()))
    return found


@cache
def _demonyms() -> dict[str, set[str]]:
    """Map each country to its people's names, and each of these to the country."""
    forms: dict[str, set[str]] = {}
    for country, *others in lang.rows("demonyms"):
        forms.setdefault(country, set()).update((country, *others))
        for other in others:
            forms.setdefault(other, set()).add(country)
    return forms


def abbreviations(text: str, found: tuple[Name, ...]) -> set[str]:
    """Give the abbreviations that the names of a text may have: FDA for Food and Drug Administration."""
    low = text.casefold()
    short = {form for form, *long in lang.rows("long_names") if " ".join(long) in low}
    return short | {"".join(word[0] for word in name.words) for name in found if len(name.words) > 1}
