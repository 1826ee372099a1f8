"""Near-duplicate topics: most stems shared, and no difference in numbers, names, polarity, population or order.

Semantic likeness in other words is not looked for: a search too many costs less than a topic lost. For the same reason
a topic in which one word replaces another is always another topic; only words that were added are looked at closely.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from agents.contracts.frozen import Confidence, Frozen
from agents.contracts.plan import SkippedTopic
from agents.nlp import lang
from agents.nlp.tokens import TOKEN, language_of, pieces, stem, stop_words

THRESHOLD = 0.75
"""Share of words in common from which a topic counts as dispatched already (specification, section 5)."""

_LONGEST = 2_000  # characters of a topic that are looked at
_SHOWN = 120  # characters of a topic in an explanation
_SIGNS = (
    (r"(?i)n['’]t\b", " not"),
    (r"(?i)(?<=\w)['’]s\b", ""),
    (r"(?<!\w)[-−](?=\d)", " minus "),
    (r"\+", " plus "),  # C++ and C#
    ("#", " sharp "),
)
"""What is told by signs, in words."""
_JOINT = re.compile(r"\s*(?:,\s*)?\s(?:and|or|und|oder|sowie|et|ou|y|e|o)\s+|\s*,\s+")
_ARTICLE = re.compile(r"^(?:the|its|their|an?|der|die|das|den|les?|la|los?|las|el)\s+", re.IGNORECASE)
_BEHIND_A_JOINT = re.compile(rf"(?:{_JOINT.pattern})(?:{_ARTICLE.pattern[1:]})?$", re.IGNORECASE)
_KANA = re.compile("[\u3041-\u309f]+")
_HAN_PARTICLE = re.compile(f"[{''.join(sorted(lang.words('particles', 'zh')))}]")


@dataclass(frozen=True, slots=True)
class TopicWords:
    """A topic as it is compared."""

    plain: str
    language: str
    stems: tuple[str, ...]
    """Stems of its content words in order; of scripts without spaces runs of three characters."""
    small: frozenset[str]
    grammar: tuple[str, ...]
    """Its small words in order, without those before the first and behind the last content word."""
    decisive: frozenset[str]
    """Numbers, names, single letters, words of polarity, time or population: one more of them is another topic."""
    written: frozenset[tuple[str, str]]
    """Stem and spelling of words of polarity or population: niñas and niños have one stem."""
    ordered: frozenset[str]
    """Names and numbers, whose order counts, with all words of scripts without capitals."""
    runs: str
    """Its runs of scripts without spaces, particles dropped."""


@lru_cache(maxsize=4096)
def read(topic: str, language: str) -> TopicWords:
    """Read a topic in a language."""
    text = unicodedata.normalize("NFKC", topic)
    for sign, word in _SIGNS:
        text = re.sub(sign, word, text)
    stop, poles, initials = stop_words(language), lang.words("poles"), [one[0] for one in text.split()]
    # Of a title in capitals they say nothing.
    shouted = text == text.upper() or (len(initials) > 2 and not any(map(str.islower, initials)))
    runs, stems, small = list[str](), list[str](), list[tuple[int, str]]()
    decisive, ordered, written = set[str](), set[str](), set[tuple[str, str]]()
    for match in TOKEN.finditer(text):
        token, low = match[0], match[0].casefold()
        if match.lastgroup == "run":
            runs.append(_without_particles(token))
            continue
        # A capital at the beginning of a sentence says nothing; others are of names: WHO, OpenAI, the Alps.
        opens = re.search(r"(?:^|[.?!:…])[ \"'“„«(¿¡]*$", text[: match.start()])
        large = not shouted and any(map(str.isupper, token[1:] if opens else token))
        if low in stop and not large:
            small.append((len(stems), low))
            decisive |= {low} & poles
            continue
        value = next(pieces(low))[0] if any(map(str.isnumeric, token)) else ""
        root = value or stem(low, language)
        stems.append(root)
        if low in poles:
            written.add((root, low))
        if large or value or len(low) == 1 or low in poles:
            decisive.add(root)
        if large or value or token.lower() == token.upper():
            ordered.add(root)
    return TopicWords(
        plain=" ".join(text.casefold().split()), language=language,
        stems=(*stems, *(run[at : at + 3] for run in runs for at in range(max(1, len(run) - 2)))),
        small=frozenset(word for _, word in small),
        grammar=tuple(word for at, word in small if 0 < at < len(stems)), decisive=frozenset(decisive),
        written=frozenset(written), ordered=frozenset(ordered), runs="".join(runs),
    )  # fmt: skip


def _without_particles(run: str) -> str:
    kana = lang.words("particles", "ja")
    return _HAN_PARTICLE.sub("", _KANA.sub(lambda found: "" if found[0] in kana else found[0], run)) or run


@lru_cache(maxsize=4096)
def _language(text: str, likely: str | None) -> str:
    """Guess a topic's language; `likely` where its own words do not tell."""
    guessed = language_of(" ".join(word for word in text.split() if len(word) > 1))  # vitamin e is no Italian
    told = guessed != "en" or any(word in stop_words("en") for word in text.casefold().split())
    return guessed if told or not likely else likely


def repeated(topic: str, dispatched: Sequence[str], threshold: float = THRESHOLD, language: str | None = None) -> str:
    """Say which of `dispatched` a topic repeats, the one most like it; empty where it repeats none.

    `language` is the one they are likely in, for topics too short to tell.
    """
    topic, best = topic[:_LONGEST], ("", 0.0)
    mine = _language(topic, language)
    for other in dispatched if topic.strip() else ():
        ours, theirs = read(topic, mine), read(other[:_LONGEST], mine)
        shared = len(set(ours.stems) & set(theirs.stems))
        union = len(set(ours.stems)) + len(set(theirs.stems)) - shared
        alike = shared / union if union else float(ours.plain == theirs.plain)
        if alike > best[1] and alike >= threshold and not _differ(ours, theirs):
            best = other, alike
    nearest, alike = best
    words = f"{alike:.0%} of their words are shared (threshold {threshold:.0%})"
    return f"{_quoted(topic)} repeats {_quoted(nearest)}: {words}." if alike else ""


def stems(topic: str) -> frozenset[str]:
    """Give the stems of a topic's words."""
    return frozenset(read(topic[:_LONGEST], _language(topic[:_LONGEST], None)).stems)


def beyond(topic: str, other: str, language: str | None = None) -> tuple[str, ...] | None:
    """Give the entries of lists in a topic that another does not hold, as they are written.

    Of `the wages and injuries of miners in 2020` beyond `the wages and hours of miners in 2020` that is `injuries`. None
    where they differ in anything but entries of lists, or in most of their words.
    """
    mine = _language(topic, language)
    ours, theirs = read(topic, mine), read(other, mine)
    turned = (lang.words("turning", mine) | lang.words("poles")) & (ours.small ^ theirs.small)
    numbers = [one for one in ours.decisive ^ theirs.decisive if any(map(str.isnumeric, one))]
    few = 2 * len(set(ours.stems) & set(theirs.stems)) < len(set(ours.stems))
    if turned or numbers or few or ours.runs or _entries(other, ours) is None:
        return None
    return _entries(topic, theirs)


def _entries(topic: str, other: TopicWords) -> tuple[str, ...] | None:
    """Give what a topic says beyond another where it stands in lists; None where some of it does not."""
    stop, runs, at = stop_words(other.language), list[tuple[int, int]](), -1
    for match in TOKEN.finditer(topic):
        low = match[0].casefold()
        if low in stop:
            continue
        if stem(low, other.language) in other.stems or low.isnumeric():
            at = -1
        elif at < 0:
            at = match.start()
            runs.append((at, match.end()))
        else:
            runs[-1] = (at, match.end())
    if not all(_BEHIND_A_JOINT.search(topic[:start]) or _JOINT.match(topic[end:]) for start, end in runs):
        return None
    entries = (entry for start, end in runs for entry in _JOINT.split(topic[start:end]))
    return tuple(_ARTICLE.sub("", entry) for entry in entries if entry)


class Dispatched(Frozen):
    """What a round may work on, as the ledger of the whole job allowed it."""

    chosen: tuple[str, ...]
    waiting: tuple[str, ...] = ()
    """New topics beyond the bound of one round, in order."""
    skipped: tuple[SkippedTopic, ...] = ()
    known: tuple[str, ...] = ()
    """Everything dispatched in the job so far, these topics included."""


class Topics(Frozen):
    """What a job dispatched. Append-only: each change gives a longer ledger."""

    dispatched: tuple[str, ...] = ()
    threshold: Confidence = THRESHOLD
    language: str | None = None
    """Language of the brief, for topics too short to tell their own."""

    def repeated(self, topic: str) -> str:
        """Say which of all that was dispatched `topic` repeats; empty where it repeats none."""
        return repeated(topic, self.dispatched, self.threshold, self.language)

    def add(self, *topics: str) -> "Topics":
        """Record topics; to be called before their children start."""
        return self.model_copy(update={"dispatched": tuple(dict.fromkeys((*self.dispatched, *topics)))})

    def admit(self, proposed: Sequence[str], at_most: int | None = None) -> Dispatched:
        """Choose which proposed topics to dispatch.

        Repeats go first, those of one another included; only then does the bound on children side by side apply. What
        it cuts off was neither dispatched nor skipped, so that it may be proposed again.
        """
        ledger, skipped, waiting = self, list[SkippedTopic](), list[str]()
        for topic in (one for one in proposed if one.strip()):
            if explanation := ledger.repeated(topic):
                skipped.append(SkippedTopic(topic=topic, explanation=explanation))
            elif at_most is None or len(ledger.dispatched) - len(self.dispatched) < at_most:
                ledger = ledger.add(topic)
            elif not repeated(topic, waiting, self.threshold, self.language):
                waiting.append(topic)
        known = ledger.dispatched
        chosen = known[len(self.dispatched) :]
        return Dispatched(chosen=chosen, waiting=tuple(waiting), skipped=tuple(skipped), known=known)


def _quoted(topic: str) -> str:
    line = " ".join(topic[:_LONGEST].split())
    return f"“{line if len(line) <= _SHOWN else line[: _SHOWN - 1] + '…'}”"


def _differ(a: TopicWords, b: TopicWords) -> bool:
    """Tell two topics that are two although they share most words."""
    both = set(a.stems) & set(b.stems)
    # Names, numbers, words of polarity, time or population; and one word in the place of another.
    if a.runs != b.runs or (a.decisive ^ b.decisive) - both or (set(a.stems) - both and set(b.stems) - both):
        return True
    if len({root for root, _ in a.written | b.written}) < len(a.written | b.written):
        return True  # one stem, two spellings: niñas and niños
    turning = lang.words("turning", a.language)
    if turning & a.small - b.small and turning & b.small - a.small:
        return True  # question words, directions
    # The same names in another order; with the same small words between them all words, since they tell who does what to whom.
    ordered = both if a.grammar == b.grammar else (a.ordered | b.ordered) & both
    return [one for one in a.stems if one in ordered] != [one for one in b.stems if one in ordered]
