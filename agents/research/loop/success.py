"""Success criteria of a phase, checked by code: corroboration, themes, contradictions and confidence.

Novelty of a round: the share of its content words that the notes do not hold yet. Words only, no meaning.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agents.contracts.fact import Fact
from agents.contracts.plan import SuccessCriteria
from agents.contracts.sources import SourceCard
from agents.nlp import lang
from agents.nlp.tokens import LETTERED, MARKS, SYLLABIC, ascii_digits, content_words, language_of, stop_words
from agents.offline.questions import parts_of
from agents.research.reading.answering import Told, answer_of, told_by
from agents.web.url_key import publisher

ANSWERS = 0.5
"""Share of a question's content words that a fact must hold to answer it, where it was not read for it."""

COVERS = 0.6
"""Share of a theme's content words that one fact must hold to cover it."""


@dataclass(frozen=True)
class Success:
    """How a phase stands against its criteria."""

    met: bool
    coverage: float
    """Share of questions answered by enough independent sources and of themes covered, 0 to 1."""
    confidence: float
    """Mean over the questions of their strongest fact, 0 for an open one; without questions, mean of all facts."""
    missing: tuple[str, ...]
    """What is lacking, a sentence each; empty when met."""


def met(
    criteria: SuccessCriteria,
    facts: Sequence[Fact],
    sources: Sequence[SourceCard],
    questions: Sequence[str],
    contradictions_open: int,
) -> Success:
    """Hold what was found against a phase's success criteria.

    A fact of an unknown source counts as a source of its own; `contradictions_open` are those that nothing has settled yet.
    """
    asked = tuple(dict.fromkeys(line for question in questions if (line := " ".join(question.split()))))
    publishers = independent(sources)
    held = [(fact, frozenset(content_words(f"{fact.statement} {fact.quote} {fact.topic}"))) for fact in facts]
    told = told_by(facts, sources)
    answers = {
        question: _answering(question, facts, told)
        if all(part.names and part.matter and part.is_specific for part in parts_of(question))
        else _answers(question, held, asked)
        for question in asked
    }
    wanted = criteria.corroboration
    counts = {question: _count(answers[question], publishers) for question in asked}
    missing = [
        f"“{question}” is answered by {found} of {wanted} independent sources."
        for question, found in counts.items()
        if found < wanted
    ]
    if not asked and facts and (found := _count(facts, publishers)) < wanted:
        missing.append(f"The facts come from {found} of {wanted} independent sources.")
    themes = tuple(dict.fromkeys(line for theme in criteria.themes if (line := " ".join(theme.split()))))
    uncovered = [theme for theme in themes if not any(covered(theme, words) for _, words in held)]
    missing += [f"The theme “{theme}” is not covered." for theme in uncovered]
    goals = len(asked) + len(themes)
    unmet = sum(found < wanted for found in counts.values()) + len(uncovered)
    if criteria.contradictions_resolved and contradictions_open:
        noun = "contradiction is" if contradictions_open == 1 else "contradictions are"
        missing.append(f"{contradictions_open} {noun} still open.")
    confidence = _confidence(facts, answers)
    if confidence < criteria.min_confidence:
        missing.append(f"Confidence is {confidence:.2f}, below {criteria.min_confidence:.2f}.")
    if not facts:
        missing.insert(0, "No facts were found.")
    coverage = (goals - unmet) / goals if goals else float(bool(facts))
    return Success(not missing, coverage, confidence, tuple(missing))


def independent(sources: Iterable[SourceCard]) -> dict[str, str]:
    """Give for each source id who published it; copies of the same text count for the first of them."""
    first: dict[str, str] = {}
    return {
        source.id: first.setdefault(source.text_hash, publisher(source.url, source.site or source.author).casefold())
        for source in sources
    }


def _count(facts: Iterable[Fact], publishers: Mapping[str, str]) -> int:
    return len({publishers.get(fact.source_id, fact.source_id) for fact in facts})


def covered(theme: str, words: frozenset[str]) -> bool:
    """Tell whether words speak of a theme."""
    return _share(theme, words) >= COVERS


def _share(text: str, words: frozenset[str]) -> float:
    wanted = frozenset(content_words(text))
    return len(wanted & words) / len(wanted) if wanted else 0.0


def _answering(question: str, facts: Sequence[Fact], told: Sequence[Told]) -> tuple[Fact, ...]:
    """Give the facts whose words answer every part of a question; the first step of one that takes several is no answer."""
    found = [answer_of(part, told) for part in parts_of(question)]
    good = {row.fact for status, rows in found if status == "answered" for row in rows}
    return tuple(fact for fact in facts if fact.id in good) if all(status == "answered" for status, _ in found) else ()


def _answers(question: str, held: Sequence[tuple[Fact, frozenset[str]]], asked: Sequence[str]) -> tuple[Fact, ...]:
    """Give the facts that answer a question: those read for it, and others that talk about it."""

    def speaks(fact: Fact, words: frozenset[str]) -> bool:
        topic = " ".join(fact.topic.split())
        return topic == question if topic in asked else _share(question, words) >= ANSWERS

    return tuple(fact for fact, words in held if speaks(fact, words))


def _confidence(facts: Sequence[Fact], answers: Mapping[str, Sequence[Fact]]) -> float:
    if answers:
        return sum(max((fact.confidence for fact in found), default=0.0) for found in answers.values()) / len(answers)
    return sum(fact.confidence for fact in facts) / len(facts) if facts else 0.0


NOTES_KEPT = 50_000
"""Characters of the notes that count, the most recent ones (specification, section 5)."""

THRESHOLD = 0.15
"""Below this share of new words a phase stops early (specification, section 5)."""

_SAMPLE = 1_000  # characters from which the language is guessed
_WORD = re.compile(rf"[\w{MARKS}]+")
_SYLLABLES = re.compile(f"[{SYLLABIC}]{{2,}}")
_LETTERS = re.compile(f"[{LETTERED}]{{4,}}")
_RUN = re.compile(f"{_SYLLABLES.pattern}|{_LETTERS.pattern}")
_OTHER_DIGIT = re.compile(r"(?![0-9])\d")
_GROUP_MARK = re.compile(r"(?<=\d)[,.\u00a0\u202f\u2009](?=\d{3}(?!\d))")
_SPACE = 0x20
_EMPTY = frozenset({_SPACE, *range(0x3041, 0x30A0), *map(ord, lang.words("particles", "zh"))})
"""What makes no content word: the space between runs, hiragana endings, Chinese particles."""


def novelty(findings: str, notes: str) -> float:
    """Say which share of the content words of `findings` is new to `notes`, 0 to 1.

    Nothing, or only function words, is nothing new: 0. Without any notes (oldest first) all is new: 1.
    """
    text, old = _plain(findings), _plain(notes[-NOTES_KEPT:])
    stop = stop_words(language_of(findings[:_SAMPLE]))
    # Longer gaps than neighbours reach: what spans one shows it by a space.
    pairs = _rows(" ".join(_SYLLABLES.findall(text)), 2).difference(
        *(_rows(word, 2) for word in stop if len(word) == 2)
    )
    fours = _rows("   ".join(_LETTERS.findall(text)), 4)
    new: tuple[set[str], set[int], set[int]] = (
        _words(text) - stop,
        {row for row in pairs if row & 0xFFFF not in _EMPTY and row >> 16 not in _EMPTY},
        {row for row in fours if _SPACE not in (row & 0xFFFF, row >> 16 & 0xFFFF, row >> 32 & 0xFFFF, row >> 48)},
    )
    total = len(new[0]) + len(new[1]) + len(new[2])
    if not total or not notes.strip():
        return 1.0 if total else 0.0
    left = len(new[0] - _words(old))
    left += sum(len(rows - _rows(old, length)) for rows, length in ((new[1], 2), (new[2], 4)) if rows)
    return left / total


def below(score: float, threshold: float = THRESHOLD, enabled: bool = True) -> bool:
    """Tell whether a round with this novelty ends its phase."""
    return enabled and score < threshold


def explain(score: float, threshold: float = THRESHOLD) -> str:
    """Say in a sentence for the trace what the score means for the phase."""
    side, then = ("below", "stops early") if below(score, threshold) else ("not below", "may go on")
    return (
        f"Novelty {_figure(score)} is {side} the threshold {_figure(threshold)}: {score:.0%} of the round's "
        f"content words are new, so the phase {then}."
    )


def _figure(share: float) -> str:
    """Write a share with two decimals, or with as many as it takes not to round it to something else."""
    return f"{share:.2f}" if abs(round(share, 2) - share) < 1e-9 else f"{share:.4f}"


def _plain(text: str) -> str:
    if not text.isascii() and _OTHER_DIGIT.search(text):
        text = ascii_digits(text)
    text = _GROUP_MARK.sub("", text).casefold()  # 2,000 and 2000 are one
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _words(text: str) -> set[str]:
    """Give the words between spaces; most pieces are words as they stand, which is quickly seen."""
    text = text if text.isascii() else _RUN.sub(" ", text)
    pieces = set(text.replace("_", " ").split())
    plain = set(filter(str.isalnum, pieces))
    return plain.union(_WORD.findall(" ".join(pieces - plain)))


def _rows(text: str, length: int) -> set[int]:
    """Give all rows of two or four neighbouring characters, as numbers laid over them in memory: strings take longer."""
    units, width = memoryview(text.encode("utf-16-le", "surrogatepass")), 2 * length
    whole = (units[start : start + (len(units) - start) // width * width] for start in range(0, width, 2))
    return set[int]().union(*(part.cast("I" if length == 2 else "Q") for part in whole))
