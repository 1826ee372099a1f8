"""Success criteria of a phase, checked by code: corroboration, themes, contradictions and confidence."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agents.contracts.fact import Fact
from agents.contracts.plan import SuccessCriteria
from agents.contracts.sources import SourceCard
from agents.nlp.tokens import content_words
from agents.research.reading.answering import Told, answer_of, told_by
from agents.research.reading.subject import parts_of
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

    Args:
        criteria: the figures to reach.
        facts: all facts of the node so far.
        sources: their sources; a fact of an unknown source counts as a source of its own.
        questions: the questions that the phase must answer.
        contradictions_open: contradictions between facts that nothing has settled yet.
    """
    asked = tuple(dict.fromkeys(line for question in questions if (line := " ".join(question.split()))))
    publishers = independent(sources)
    held = [(fact, frozenset(content_words(f"{fact.statement} {fact.quote} {fact.topic}"))) for fact in facts]
    told = told_by(facts, {source.id: source for source in sources})
    answers = {
        question: _answering(question, facts, told)
        if all(part.names and part.matter and part.is_specific for part in parts_of(question))
        else _answers(question, held, asked)
        for question in asked
    }
    missing: list[str] = []
    wanted = criteria.corroboration
    for question in asked:
        found = _count(answers[question], publishers)
        if found < wanted:
            missing.append(f"“{question}” is answered by {found} of {wanted} independent sources.")
    if not asked and facts and (found := _count(facts, publishers)) < wanted:
        missing.append(f"The facts come from {found} of {wanted} independent sources.")
    themes = tuple(dict.fromkeys(line for theme in criteria.themes if (line := " ".join(theme.split()))))
    uncovered = [theme for theme in themes if not any(_share(theme, words) >= COVERS for _, words in held)]
    missing += [f"The theme “{theme}” is not covered." for theme in uncovered]
    goals = len(asked) + len(themes)
    unmet = sum(_count(answers[question], publishers) < wanted for question in asked) + len(uncovered)
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
    return tuple(
        fact
        for fact, words in held
        if (
            " ".join(fact.topic.split()) == question
            if " ".join(fact.topic.split()) in asked
            else _share(question, words) >= ANSWERS
        )
    )


def _confidence(facts: Sequence[Fact], answers: Mapping[str, Sequence[Fact]]) -> float:
    if answers:
        return sum(max((fact.confidence for fact in found), default=0.0) for found in answers.values()) / len(answers)
    return sum(fact.confidence for fact in facts) / len(facts) if facts else 0.0
