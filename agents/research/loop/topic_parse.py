"""A topic as it is compared with others: its words, and what about it makes it another topic than its like."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from agents.nlp.tokens import TOKEN, language_of, pieces, stem, stop_words
from agents.research.loop import topic_words as lists

_NOT = re.compile(r"n['’]t\b", re.IGNORECASE)
_CONTRACTED = re.compile(
    r"(?<=\w)['’](?:s|d|m|t|ll|ve|re)\b|\b(?:[cdjlmnst]|qu|jusqu|lorsqu|dell|nell|sull|dall|all|un)['’](?=\w)",
    re.IGNORECASE,
)
_KANA = re.compile("[\u3041-\u309f]+")
_KATAKANA = re.compile("[\u30a1-\u30fa\u30fc]{2,}")
_HAN_NUMBERS = frozenset("〇零一二三四五六七八九十百千万萬億亿两兩半")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_OPENS = ".?!:…"
_TITLE = 3  # words, all with capitals, from which capitals say nothing
_GERMANIC = {
    "de": ("ern", "em", "en", "er", "es", "e", "s"),
    "nl": ("en", "s", "e"),
    "sv": ("arna", "erna", "or", "ar", "er", "en", "et", "a"),
}
_ROMANCE = frozenset({"fr", "es", "it", "pt"})
_SHORTEST = 4  # letters that a stem keeps when endings other than English ones are cut
_FALSE_FRIENDS = frozenset(
    [
        "bar",
        "car",
        "come",
        "den",
        "door",
        "era",
        "far",
        "hat",
        "man",
        "men",
        "mine",
        "plus",
        "sea",
        "sin",
        "son",
        "sons",
        "war",
    ]
)
_POLES = {language: words | lists.POPULATIONS[language] for language, words in lists.POLES.items()}
_ANY_POLE = {word: group for words in reversed(_POLES.values()) for word, group in words.items()}


@dataclass(frozen=True, slots=True)
class Reading:
    """A topic as it is compared. Words are stems; those of scripts without spaces are runs of three characters."""

    plain: str
    words: frozenset[str]
    numbers: frozenset[str]
    letters: frozenset[str]
    poles: frozenset[str]
    """Groups of polarity, time and population."""
    opposed: Mapping[str, frozenset[str]]
    """Row of words that part topics only where both have one, to the groups of this topic."""
    names: frozenset[str]
    """Words that may be names; words that begin a topic and German nouns are among them."""
    sure: frozenset[str]
    """Words that are names, as far as writing can tell."""
    own_names: frozenset[str]
    """Names in scripts without capitals."""
    order: tuple[str, ...]
    """Names and all words written large, as they follow one another: what opens one topic is a name in the next."""
    bound: frozenset[tuple[str, tuple[str, ...]]]
    """Words with the numbers right behind them, in order; years are left out, since they stand anywhere."""
    roles: Mapping[str, frozenset[str]]
    """Preposition, doer or thing done to, with the words that stand there."""
    caseless: frozenset[str]
    """Words of scripts with spaces and without capitals."""
    runs: str
    """Runs of scripts without spaces, particles dropped."""


@dataclass(frozen=True, slots=True)
class _Word:
    written: str
    low: str
    root: str
    """Empty for a word that carries no meaning."""
    opens: bool
    """It stands where any word is written large."""


def read(topic: str, likely: str | None = None) -> Reading:
    """Read a topic.

    Args:
        topic: one line or a few.
        likely: the language to assume when the topic's own words do not tell.
    """
    text = unicodedata.normalize("NFKC", topic)
    text = _CONTRACTED.sub("", _NOT.sub(" not", text))
    language = _language(text, likely)
    words, runs = _split(text, language)
    content = [word for word in words if word.root]
    shouted = not any(char.islower() for char in text)
    names, sure = _names(content, language, shouted)
    large = {word.root for word in content if word.written[0].isupper() and not shouted}
    numbers = frozenset(word.root for word in content if _is_number(word))
    own, poles, opposed = _told_by_runs(runs)
    for word in words:
        poles |= {group} if (group := _group(word.low, language)) else set()
        for row, groups in enumerate(lists.OPPOSED.get(language, ())):
            if found := groups.get(lists.key(word.low)):
                opposed[f"{language}{row}"] |= {found}
    joined = "".join(runs)
    return Reading(
        plain=" ".join(text.casefold().split()),
        words=frozenset(word.root for word in content) | _grams(runs),
        numbers=numbers | (_HAN_NUMBERS & set(joined)),
        letters=frozenset(word.root for word in content if _is_letter(word.root)),
        poles=frozenset(poles),
        opposed={row: frozenset(groups) for row, groups in opposed.items()},
        names=names,
        sure=sure | own,
        own_names=own,
        order=(
            *dict.fromkeys(w.root for w in content if w.root in names | large),
            *sorted(own, key=lambda name: (joined.find(name), name)),
        ),
        bound=_bound(content),
        roles=_roles(words, language),
        caseless=frozenset(w.root for w in content if w.low.isalpha() and w.written.upper() == w.written.lower()),
        runs=_KANA.sub("", joined),
    )


def _language(text: str, likely: str | None) -> str:
    """Guess by the small words alone: an initial may be the C of vitamin C, and `War` in English is no German verb."""
    small = " ".join(
        word
        for word in text.split()
        if len(word) > 1 and word[0] == word[0].lower() and lists.key(word) not in lists.FALSE_FRIENDS
    )
    guessed = language_of(small or text)
    if guessed != "en" or not likely or likely == "en":
        return guessed
    return "en" if any(word in stop_words("en") for word, _ in pieces(small)) else likely


def _split(text: str, language: str) -> tuple[list[_Word], list[str]]:
    """Give the words of scripts with spaces, and the cleaned runs of those without."""
    words, runs, stop = list[_Word](), list[str](), stop_words(language)
    shouted = not any(char.islower() for char in text)
    for match in TOKEN.finditer(text):
        start, end = match.span()
        if match.lastgroup == "run":
            runs.append(_cleaned(match[0], language))
            continue
        written, low = match[0], match[0].casefold()
        before = text[:start].rstrip(" \"'“„«(¿¡")
        opens = not before or before[-1] in _OPENS
        if any(char.isnumeric() for char in written):
            minus = text[max(0, start - 2) : start].strip(" (") in {"-", "−"}
            root = ("-" if minus else "") + next(pieces(low))[0]
        elif written in lists.ROMAN and not shouted:
            root = lists.ROMAN[written]
        elif len(low) == 1:
            sign = text[end : end + 2]
            sign = sign[: len(sign) - len(sign.lstrip("+#"))]
            is_word = low in lists.ARTICLES.get(language, "") and (opens or shouted or not written.isupper())
            root = "" if is_word and not sign else low + sign
        elif low in stop and (shouted or not _stands_out(written)):
            root = ""
        else:
            root = lists.NUMBERS.get(low) or _root(low, language)
        words.append(_Word(written, low, root, opens))
    if not any(word.root for word in words) and not runs:  # only function words: they are all there is to compare
        words = [_Word(word.written, word.low, word.low, word.opens) for word in words]
    return words, runs


def _stands_out(written: str) -> bool:
    """Tell a function word written as a name: US, WHO, May."""
    return written.isupper() or written == "May"


def _root(low: str, language: str) -> str:
    """Cut endings of number, gender and case, alike in all topics; what is left need not be a word."""
    endings = _GERMANIC.get(language)
    if not endings:
        root = stem(low)
        shorter = root.rstrip("aeiou") if language in _ROMANCE else root
        return shorter if len(shorter) >= _SHORTEST else root
    root = "".join(char for char in unicodedata.normalize("NFD", low) if not unicodedata.combining(char))
    for _ in range(2):  # a plural and its case
        ending = next((end for end in endings if root.endswith(end) and len(root) - len(end) >= _SHORTEST), "")
        root = root.removesuffix(ending)
    return root


def _is_number(word: _Word) -> bool:
    return any(char.isnumeric() for char in word.root)


def _bound(content: Sequence[_Word]) -> frozenset[tuple[str, tuple[str, ...]]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    before = ""
    for word in content:
        if _is_number(word) and not _YEAR.fullmatch(word.root):
            found[before].append(word.root)
        before = word.root
    return frozenset((word, tuple(numbers)) for word, numbers in found.items())


def _is_letter(root: str) -> bool:
    return bool(root) and root[0].isalpha() and (len(root) == 1 or not root[1].isalnum())


def _group(low: str, language: str) -> str:
    """Give the group of a word of polarity, time or population; empty for other words."""
    own = _POLES.get(language, {})
    found = own.get(lists.key(low), "")
    if not found and language in _GERMANIC:
        found = own.get(_root(low, language), "")
    if not found and language == "it" and low[-1] in "ie":  # plurals by vowel, which the lists leave out
        found = own.get(lists.key(low[:-1] + ("o" if low[-1] == "i" else "a")), "")
    return found if found or low in stop_words(language) else _ANY_POLE.get(lists.key(low), "")


def _names(content: Sequence[_Word], language: str, shouted: bool) -> tuple[frozenset[str], frozenset[str]]:
    """Give the words that may be names, and those of them that surely are."""
    cased = [word for word in content if len(word.low) > 1 and word.low.isalpha()]
    title = len(cased) >= _TITLE and all(word.written[0].isupper() for word in cased)
    maybe, sure = set[str](), set[str]()
    for word in cased:
        inner = word.written[1:]
        if lists.key(word.low) in lists.PLACES:
            sure.add(word.root)
        elif shouted or not any(char.isupper() for char in word.written):
            continue
        elif inner != inner.lower():  # WHO, OpenAI
            sure.add(word.root)
        elif language == "de" or title or word.opens:
            if not _is_plain(word.low, language):
                maybe.add(word.root)
        else:
            sure.add(word.root)
    return frozenset(maybe | sure), frozenset(sure)


def _is_plain(low: str, language: str) -> bool:
    key = lists.key(low)
    return (
        key in lists.PLAIN.get(language, ())
        or key in _POLES.get(language, ())
        or (len(low) > 5 and low.endswith(lists.PLAIN_ENDINGS.get(language, ())))
    )


def _roles(words: Sequence[_Word], language: str) -> dict[str, frozenset[str]]:
    """Find what stands behind prepositions, and around verbs of doing; several of one kind count together."""
    markers = lists.MARKERS.get(language, frozenset())
    roles: defaultdict[str, set[str]] = defaultdict(set)
    for at, word in enumerate(words):
        if word.low in markers:
            roles[word.low] |= _behind(words, at, markers)
        elif language == "en" and word.root in lists.VERBS:
            before = {word.root for word in takewhile(lambda one: one.root, reversed(words[:at]))}
            passive = [one.low for one in words[at + 1 : at + 2]] == ["by"]
            after = _behind(words, at + passive, markers)
            roles["the doer"] |= after if passive else before
            roles["the thing done to"] |= before if passive else after
    return {role: frozenset(found) for role, found in roles.items() if found}


def _behind(words: Sequence[_Word], at: int, markers: frozenset[str]) -> set[str]:
    """Give the content words that follow, over an article, up to the next function word."""
    found = set[str]()
    for word in words[at + 1 :]:
        if word.root:
            found.add(word.root)
        elif found or word.low in markers:
            break
    return found


def _cleaned(run: str, language: str) -> str:
    """Drop particles: they are the stop words of scripts without spaces."""
    if language == "ko":
        ending = next((end for end in lists.HANGUL_PARTICLES if run.endswith(end) and len(run) - len(end) >= 2), "")
        return run.removesuffix(ending)
    if language == "ja" or _KANA.search(run):
        return _KANA.sub(lambda kana: "" if kana[0] in lists.KANA_PARTICLES else kana[0], run) or run
    return "".join(char for char in run if char not in lists.HAN_PARTICLES) or run


def _grams(runs: Sequence[str]) -> frozenset[str]:
    return frozenset(run[at : at + 3] for run in runs for at in range(max(1, len(run) - 2)))


def _told_by_runs(runs: Sequence[str]) -> tuple[frozenset[str], set[str], defaultdict[str, set[str]]]:
    """Look for names, polarity and question words anywhere in the runs."""
    text, opposed = "|".join(runs), defaultdict[str, set[str]](set)
    if not text:
        return frozenset(), set(), opposed
    own = {*_KATAKANA.findall(text), *(place for place in lists.CJK_PLACES if place in text)}
    poles = {group[0] for group in lists.CJK_POLES if any(word in text for word in group)}
    asked = {group[0] for group in lists.CJK_OPPOSED if any(word in text for word in group)}
    if asked:
        opposed["asked"] |= asked
    return frozenset(own), poles, opposed
