"""Near-duplicate topics: words shared, and the differences that make two topics two although they share most words.

Semantic likeness in other words is not looked for: a search too many costs less than a topic lost.

A topic as it is compared with others: its words, and what about it makes it another topic than its like.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import takewhile

from pydantic import field_validator

from agents.contracts.frozen import Frozen
from agents.contracts.plan import SkippedTopic
from agents.nlp import lang
from agents.nlp.tokens import TOKEN, language_of, number_value, pieces, stem, stop_words
from agents.research.loop.novelty import within_unit

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
class TopicWords:
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
def read(topic: str, likely: str | None, sure: bool = False) -> TopicWords:
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
    return TopicWords(
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


THRESHOLD = 0.75
"""Share of words in common from which a topic counts as dispatched already (specification, section 5)."""

_LONGEST = 2_000  # characters of a topic that are looked at
_SHOWN = 120  # characters of a topic in an explanation


@dataclass(frozen=True)
class Compared:
    """A topic held against those dispatched before."""

    duplicate: bool
    similarity: float
    """Jaccard likeness with `nearest`, 0 to 1. May be high for a topic that is another: `explanation` says why."""
    nearest: str
    """The topic that it repeats, else the one most like it; empty when there is none."""
    explanation: str


def compare(
    topic: str, dispatched: Sequence[str], threshold: float = THRESHOLD, language: str | None = None
) -> Compared:
    """Tell whether `topic` repeats one of `dispatched`.

    Args:
        topic: what is proposed.
        dispatched: topics in the order in which they were dispatched.
        threshold: share of words in common from which they are the same, unless they differ in what matters.
        language: the language they are likely in, for topics too short to tell.

    Raises:
        ValueError: the threshold is not between 0 and 1.
    """
    within_unit("the duplicate topic threshold", threshold)
    if not topic.strip():
        return Compared(False, 0.0, "", "The topic is empty; there is nothing to compare.")
    mine = read(topic[:_LONGEST], language)
    close: list[tuple[float, str, str]] = []
    nearest, most = "", -1.0
    for other in dispatched:
        ours, theirs = mine, read(other[:_LONGEST], language)
        if theirs.language != mine.language:  # too short to tell: both are read in the language of the two together
            both = topic_language(" ".join(sorted((topic[:_LONGEST], other[:_LONGEST]))), language)
            ours, theirs = read(topic[:_LONGEST], both, True), read(other[:_LONGEST], both, True)
        shared = len(ours.words & theirs.words)
        union = len(ours.words) + len(theirs.words) - shared
        similarity = shared / union if union else float(ours.plain == theirs.plain)
        if similarity > most:
            nearest, most = other, similarity
        if similarity >= threshold:
            close.append((similarity, other, _difference(ours, theirs)))
    close.sort(key=lambda one: -one[0])
    for similarity, other, different in close:
        if not different:
            return Compared(True, similarity, other, _repeats(topic, other, similarity, threshold))
    if not close:
        return Compared(False, max(most, 0.0), nearest, _new(nearest, most, threshold))
    why = f"It shares {close[0][0]:.0%} of its words with {_quoted(close[0][1])} but is another topic: {close[0][2]}."
    return Compared(False, close[0][0], close[0][1], why)


class Topics(Frozen):
    """What a job dispatched and what it skipped. Append-only: each change gives a longer ledger."""

    dispatched: tuple[str, ...] = ()
    skipped: tuple[SkippedTopic, ...] = ()
    threshold: float = THRESHOLD
    language: str | None = None
    """Language of the brief, for topics too short to tell their own."""

    @field_validator("threshold")
    @classmethod
    def _is_a_share(cls, value: float) -> float:
        return within_unit("the duplicate topic threshold", value)

    def judge(self, topic: str) -> Compared:
        """Hold `topic` against everything that was dispatched."""
        return compare(topic, self.dispatched, self.threshold, self.language)

    def add(self, topic: str) -> "Topics":
        """Record a topic; to be called before its child starts.

        Raises:
            ValueError: the topic is empty.
        """
        if not topic.strip():
            raise ValueError("an empty topic cannot be dispatched")
        return self.model_copy(update={"dispatched": (*self.dispatched, topic)})

    def skip(self, topic: str, compared: Compared) -> "Topics":
        """Record a topic that repeats another, with the reason."""
        entry = SkippedTopic(topic=topic, similar_to=compared.nearest, explanation=compared.explanation)
        return self.model_copy(update={"skipped": (*self.skipped, entry)})

    def admit(self, proposed: Sequence[str], at_most: int | None = None) -> "Admitted":
        """Choose which proposed topics to dispatch, and record them.

        Repeats go first, those of one another included; only then does the bound on children side by side apply. What
        it cuts off was neither dispatched nor skipped, so that it may be proposed again.
        """
        ledger, chosen, waiting = self, list[str](), list[str]()
        for topic in proposed:
            if not topic.strip():
                continue
            compared = ledger.judge(topic)
            if compared.duplicate:
                ledger = ledger.skip(topic, compared)
            elif at_most is not None and len(chosen) >= at_most:
                if not compare(topic, waiting, self.threshold, self.language).duplicate:
                    waiting.append(topic)
            else:
                ledger = ledger.add(topic)
                chosen.append(topic)
        return Admitted(ledger, tuple(chosen), tuple(waiting))

    def explain(self) -> str:
        """Say for the trace what was dispatched and what was skipped why, a line each; never empty."""
        lines = [f"{len(self.dispatched)} topics dispatched, {len(self.skipped)} skipped as repeats."]
        lines += [f"Skipped {_quoted(one.topic)}: {one.explanation}" for one in self.skipped]
        return "\n".join(lines)


@dataclass(frozen=True)
class Admitted:
    """The topics of a round, and the ledger that holds them."""

    topics: Topics
    chosen: tuple[str, ...]
    waiting: tuple[str, ...] = ()
    """New topics beyond the bound, in order."""


def _quoted(topic: str) -> str:
    line = " ".join(topic[:_LONGEST].split())
    return f"“{line if len(line) <= _SHOWN else line[: _SHOWN - 1] + '…'}”"


def _repeats(topic: str, other: str, similarity: float, threshold: float) -> str:
    shared = f"{similarity:.0%} of their words are shared (threshold {threshold:.0%})"
    return f"{_quoted(topic)} repeats {_quoted(other)}: {shared}."


def _new(nearest: str, most: float, threshold: float) -> str:
    if not nearest or most <= 0:
        return "No topic dispatched so far shares a word with it."
    return f"Closest is {_quoted(nearest)} with {most:.0%} of the words shared (threshold {threshold:.0%})."


def _difference(a: TopicWords, b: TopicWords) -> str:
    """Say what makes two topics two although they share most words; empty when nothing does."""
    mine, theirs = a.words - b.words, b.words - a.words
    for what, words in a.fixed.items():
        if words != b.fixed[what]:
            return _told(what, words ^ b.fixed[what])
    for row, words in a.opposed.items():
        if (others := b.opposed.get(row)) and words.isdisjoint(others):
            return _told("their question or comparison words differ", words | others)
    if named := (mine & a.names) | (theirs & b.names):
        return _told("names differ", named)
    if len({number for _, numbers in a.bound for number in numbers}) > 1 and a.bound != b.bound:
        return _told("the numbers belong to other words", {one for _, them in a.bound ^ b.bound for one in them})
    shared = [name for name in a.order if name in b.order and (name in a.sure or name in b.sure)]
    if [name for name in b.order if name in set(shared)] != shared:
        return _told("the same names stand in another order", set(shared))
    for role, words in a.roles.items():
        if (others := b.roles.get(role)) and words.isdisjoint(others):
            return _told("who does what to whom differs", words | others)
    if replaced := _replaced(a, b, mine, theirs):
        return _told("one wording replaces another in a script that shows no names", replaced)
    return ""


def _told(what: str, words: frozenset[str] | set[str]) -> str:
    return f"{what} ({', '.join(sorted(words))})"


def _replaced(a: TopicWords, b: TopicWords, mine: frozenset[str], theirs: frozenset[str]) -> frozenset[str]:
    """Find what was replaced, not merely added, where writing does not mark names; without spaces also what moved."""
    lone, other = mine & a.caseless, theirs & b.caseless
    if lone and other:
        return lone | other
    if not (a.runs and b.runs and mine | theirs):
        return frozenset()
    left, right = Counter(a.runs), Counter(b.runs)
    if left - right and right - left:
        return frozenset((left - right) + (right - left))
    return frozenset({a.runs, b.runs}) if left == right and a.runs != b.runs else frozenset()
