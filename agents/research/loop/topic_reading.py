"""A topic as it is compared with others: its words, and what about it makes it another topic than its like."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import takewhile

from agents.nlp import lang
from agents.nlp.tokens import TOKEN, language_of, number_value, pieces, stem, stop_words

_TITLE = 3  # words, all with capitals, from which capitals say nothing
_CONTRACTED = re.compile(
    r"(?<=\w)['’](?:s|d|m|t|ll|ve|re)\b|\b(?:[cdjlmnst]|qu|jusqu|lorsqu|dell|nell|sull|dall|all|un)['’](?=\w)", re.I
)
_KANA = re.compile("[\u3041-\u309f]+")
_KATAKANA = re.compile("[\u30a1-\u30fa\u30fc]{2,}")
_HAN_NUMBERS = frozenset("〇零一二三四五六七八九十百千万萬億亿两兩半")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_ROMAN = {one: str(at) for at, one in enumerate("II III IV - VI VII VIII IX - XI XII XIII XIV XV XVI".split(), 2)}


@dataclass(frozen=True, slots=True)
class _Word:
    written: str
    low: str
    root: str
    """Empty for a word that carries no meaning."""
    opens: bool
    """It stands where any word is written large."""

    @property
    def number(self) -> bool:
        return any(char.isnumeric() for char in self.root)

    @property
    def letter(self) -> bool:
        return self.root[:1].isalpha() and not self.root[1:2].isalnum()


@dataclass(frozen=True, slots=True)
class Reading:
    """A topic as it is compared. Words are stems; those of scripts without spaces are runs of three characters."""

    language: str
    plain: str
    words: frozenset[str]
    fixed: Mapping[str, frozenset[str]]
    """What must be equal in both, by what it is: numbers, letters, polarity, names without capitals."""
    opposed: Mapping[str, frozenset[str]]
    """Rows of words that part topics only where both have one."""
    names: frozenset[str]
    """Words that may be names; words that begin a topic and German nouns are among them."""
    sure: frozenset[str]
    order: tuple[str, ...]
    """Names and words written large, in order: what opens one topic is a name in the next."""
    bound: frozenset[tuple[str, tuple[str, ...]]]
    """Words with the numbers right behind them; years stand anywhere and are left out."""
    roles: Mapping[str, frozenset[str]]
    """Preposition, doer or thing done to, with the words that stand there."""
    caseless: frozenset[str]
    """Words of scripts with spaces and without capitals."""
    runs: str
    """Runs of scripts without spaces, particles dropped."""


@lru_cache(maxsize=4096)
def read(topic: str, likely: str | None, sure: bool = False) -> Reading:
    """Read a topic; `likely` is the language to assume when its own words do not tell, or, when `sure`, in any case."""
    text = unicodedata.normalize("NFKC", topic)
    text = _CONTRACTED.sub("", re.sub(r"n['’]t\b", " not", text, flags=re.I))
    language = likely if likely and sure else topic_language(text, likely)
    words, runs = _split(text, language)
    content = [word for word in words if word.root]
    shouted = text == text.upper()
    joined, listed = "".join(runs), "|".join(runs)
    own = frozenset((*_KATAKANA.findall(listed), *(one for one in lang.text("places", "zh").split() if one in listed)))
    names, certain = _names(content, language, shouted)
    poles = {group for word in words if (group := _pole(word.low, language))}
    poles |= {group[0] for group in _groups("poles", "zh") if any(one in listed for one in group)}
    opposed: defaultdict[str, set[str]] = defaultdict(set)
    for row in lang.text("opposed", language).split("|") if language != "zh" else ():
        for group in row.split(","):
            opposed[row] |= {group for word in words if word_key(word.low, language) in _keys(group, language)}
    opposed["zh"] = {group[0] for group in _groups("opposed", "zh") if any(one in listed for one in group)}
    large = {word.root for word in content if word.written[0].isupper() and not shouted}
    bound: defaultdict[str, list[str]] = defaultdict(list)
    for before, word in zip(("", *(word.root for word in content)), content, strict=False):
        if word.number and not _YEAR.fullmatch(word.root):
            bound[before].append(word.root)
    return Reading(
        language=language,
        plain=" ".join(text.casefold().split()),
        words=frozenset(word.root for word in content)
        | {run[at : at + 3] for run in runs for at in range(max(1, len(run) - 2))},
        fixed={
            "the numbers differ": frozenset(word.root for word in content if word.number) | _HAN_NUMBERS & set(joined),
            "single letters differ": frozenset(word.root for word in content if word.letter),
            "words of polarity, time or population differ": frozenset(poles),
            "names differ": own,
        },
        opposed={row: frozenset(found) for row, found in opposed.items() if found},
        names=names,
        sure=certain | own,
        order=(
            *dict.fromkeys(word.root for word in content if word.root in names | large),
            *sorted(own, key=lambda name: (joined.find(name), name)),
        ),
        bound=frozenset((word, tuple(numbers)) for word, numbers in bound.items()),
        roles=_roles(words, language),
        caseless=frozenset(w.root for w in content if w.low.isalpha() and w.written.upper() == w.written.lower()),
        runs=_KANA.sub("", joined),
    )


def topic_language(text: str, likely: str | None) -> str:
    """Guess by the small words: an initial may be the C of vitamin C, and `War` in English is no German verb."""
    small = [word for word in text.split() if len(word) > 1 and word[0] == word[0].lower()]
    small = [word for word in small if word not in lang.words("false_friends", "en")]
    guessed = language_of(" ".join(small) or text)
    if guessed != "en" or not likely or likely == "en":
        return guessed
    return "en" if any(word in stop_words("en") for word in small) else likely


def _split(text: str, language: str) -> tuple[list[_Word], list[str]]:
    """Give the words of scripts with spaces, and the runs of those without, particles dropped."""
    words, runs, stop = list[_Word](), list[str](), stop_words(language)
    shouted = text == text.upper()
    for match in TOKEN.finditer(text):
        start, end = match.span()
        if match.lastgroup == "run":
            runs.append(_cleaned(match[0], language))
            continue
        written, low = match[0], match[0].casefold()
        before = text[:start].rstrip(" \"'“„«(¿¡")
        opens = not before or before[-1] in ".?!:…"
        if any(char.isnumeric() for char in written):
            minus = text[max(0, start - 2) : start].strip(" (") in {"-", "−"}
            root = ("-" if minus else "") + next(pieces(low))[0]
        elif written in _ROMAN and not shouted:
            root = _ROMAN[written]
        elif len(low) == 1:
            sign = re.match(r"[+#]{0,2}", text[end:])
            signs = sign[0] if sign else ""
            article = low in lang.words("letters", language) and (opens or shouted or not written.isupper())
            root = "" if article and not signs else low + signs
        elif low in stop and (shouted or not (written.isupper() or written == "May")):  # US, WHO, May
            root = ""
        else:
            root = number_value(low, language) or stem(low, language)
        words.append(_Word(written, low, root, opens))
    if not any(word.root for word in words) and not runs:  # only function words: they are all there is to compare
        words = [_Word(word.written, word.low, word.low, word.opens) for word in words]
    return words, runs


def _cleaned(run: str, language: str) -> str:
    """Drop particles: they are the stop words of scripts without spaces."""
    if language == "ko":
        ends = (end for end in lang.text("particles", "ko").split() if run.endswith(end) and len(run) - len(end) >= 2)
        return run.removesuffix(next(ends, ""))
    if language == "ja" or _KANA.search(run):
        return _KANA.sub(lambda kana: "" if kana[0] in lang.words("particles", "ja") else kana[0], run) or run
    return "".join(char for char in run if char not in lang.words("particles", "zh")) or run


def word_key(low: str, language: str) -> str:
    """Write a word the way lists are compared: short ones as they are, since without accents `où` would be `ou`."""
    return low if len(low) < 4 else stem(low, language)


@cache
def _keys(words: str, language: str) -> frozenset[str]:
    return frozenset(word_key(word, language) for word in words.split())


@cache
def _groups(key: str, language: str) -> tuple[tuple[str, ...], ...]:
    """Give the groups of a list; words of one group mean the same."""
    written = lang.text(key, language)
    return tuple(tuple(group.split()) for group in re.split(r"[,|]", written) if group.strip())


@cache
def pole_words(language: str) -> frozenset[str]:
    """Give the words of polarity and time, which narrow a search, as `word_key` writes them."""
    return frozenset(word_key(word, language) for group in _groups("poles", language) for word in group)


@cache
def _poles(language: str) -> Mapping[str, str]:
    """Words of polarity, time and population, each with the first word of its group."""
    groups = (*_groups("poles", language), *_groups("populations", language))
    stems = {word_key(word, language): group[0] for group in groups for word in group}
    return stems | {word: group[0] for group in groups for word in group}  # niñas and niños have one stem


def _pole(low: str, language: str) -> str:
    own = _poles(language)
    if found := own.get(low) or own.get(word_key(low, language)):
        return found
    if low in stop_words(language):
        return ""
    others = (_poles(other).get(word_key(low, other), "") for other in lang.languages("populations"))
    return next(filter(None, others), "")


def _names(content: Sequence[_Word], language: str, shouted: bool) -> tuple[frozenset[str], frozenset[str]]:
    """Give the words that may be names, and those of them that surely are."""
    cased = [word for word in content if len(word.low) > 1 and word.low.isalpha()]
    title = len(cased) >= _TITLE and all(word.written[0].isupper() for word in cased)
    endings = tuple(lang.text("plain_endings", language).split()) or ("\0",)
    plain = _keys(lang.text("plain", language), language)
    maybe, sure = set[str](), set[str]()
    for word in cased:
        inner = word.written[1:]
        if word.low in lang.words("places", "common"):
            sure.add(word.root)
        elif shouted or not any(char.isupper() for char in word.written):
            continue
        elif inner != inner.lower() or not (language == "de" or title or word.opens):  # WHO, OpenAI
            sure.add(word.root)
        elif word_key(word.low, language) not in plain and not word.low.endswith(endings):
            maybe |= {word.root} - ({word.root} if _pole(word.low, language) else set())
    return frozenset(maybe | sure), frozenset(sure)


def _roles(words: Sequence[_Word], language: str) -> Mapping[str, frozenset[str]]:
    """Find what stands behind prepositions, and around English verbs of doing; several of one kind count together."""
    markers = lang.words("markers", language)
    doing = _keys(lang.text("verbs", "en"), "en") if language == "en" else ()
    roles: defaultdict[str, set[str]] = defaultdict(set)
    for at, word in enumerate(words):
        if word.low in markers:
            roles[word.low] |= _behind(words, at, markers)
        elif word.root and word.root in doing:
            before = {one.root for one in takewhile(lambda one: one.root, reversed(words[:at]))}
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
