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
_GROUP_MARK = re.compile(r"(?<=\d)[,.\u00a0\u202f\u2009](?=\d{3}(?!\d))")
_NO_CONTENT = f"[\u3041-\u309f{''.join(sorted(lang.words('particles', 'zh')))}]"
"""Hiragana endings and Chinese particles."""
_RUN = re.compile(f"(?P<syllables>(?:(?!{_NO_CONTENT})[{SYLLABIC}])+)|[{LETTERED}]+|{_NO_CONTENT}+")
_WORD = re.compile(rf"[^\W_](?:[{MARKS}]*[^\W_])*[{MARKS}]*")


def novelty(findings: str, notes: str) -> float:
    """Say which share of the content words of `findings` is new to `notes`, 0 to 1.

    Nothing, or only function words, is nothing new: 0. Without any notes (oldest first) all is new: 1.
    """
    new = _content(findings) - stop_words(language_of(findings[:_SAMPLE]))
    if not new or not notes.strip():
        return float(bool(new))
    return len(new - _content(notes[-NOTES_KEPT:])) / len(new)


def _content(text: str) -> set[str]:
    """Give the words between spaces; of scripts without them pairs of syllables, and rows of four letters."""
    plain = _GROUP_MARK.sub("", ascii_digits(text)).casefold()  # 2,000 and 2000 are one
    if plain.isascii():
        return set(_WORD.findall(plain))
    plain = unicodedata.normalize("NFC", plain)
    found = set(_WORD.findall(_RUN.sub(" ", plain)))
    for run in _RUN.finditer(plain):
        length = 2 if run["syllables"] else 4
        found |= {run[0][at : at + length] for at in range(len(run[0]) - length + 1)}
    return found


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
