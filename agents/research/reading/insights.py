"""What an extractor noticed beside its answers: kept only on one of four triggers (specification, section 7)."""

import re
from typing import NamedTuple

from agents.contracts.fact import Extraction, Fact, FollowUp, Insights, InsightTrigger, LinkedSource, NumberedSentence
from agents.contracts.source import SentenceSpan, Source

LOW_CONFIDENCE = 0.4
"""Below it, a fact that answers a question sets off the extractor's insights."""
_ADDRESS = re.compile(r"https?://[^\s<>\"'）)\]]+")


class Shown(NamedTuple):
    """A source as one extraction sees it."""

    source: Source
    spans: tuple[SentenceSpan, ...]
    sentences: tuple[NumberedSentence, ...]
    first: int
    """What is added to its own sentence numbers."""


def insights(
    extraction: Extraction, one: Shown, facts: tuple[Fact, ...], *, discovery_intense: bool
) -> Insights | None:
    """Insights are kept only when one of four triggers fired (specification, section 7); each is recorded."""

    def words(numbers: tuple[int, ...]) -> tuple[str, ...]:
        real = [one.spans[at - 1] for number in numbers if 1 <= (at := number - one.first) <= len(one.spans)]
        return tuple(one.source.text[span.start : span.end] for span in real)

    limitations, contradictions = words(extraction.limitations), words(extraction.contradictions)
    fired: list[InsightTrigger] = []
    if any(fact.confidence < LOW_CONFIDENCE for fact in facts):
        fired.append("low_confidence")
    if limitations:
        fired.append("stated_limitation")
    if contradictions:
        fired.append("contradiction")
    if discovery_intense:
        fired.append("discovery_intense")
    if not fired:
        return None
    # Addresses are read from the passages themselves: a model may not send us anywhere.
    linked = dict.fromkeys(
        address.rstrip(".,;:") for sentence in one.sentences for address in _ADDRESS.findall(sentence.text)
    )
    return Insights(
        triggers=tuple(fired),
        follow_up_questions=tuple(
            FollowUp(question=question, confidence=0.5, rationale=f"raised while reading “{one.source.title}”")
            for question in extraction.follow_up_questions[:5]
            if question.strip()
        ),
        source_identified_gaps=limitations[:5],
        linked_candidate_sources=tuple(
            LinkedSource(url=url, context=_around(one.source.text, url), priority=0.5) for url in list(linked)[:5]
        ),
    )


def _around(text: str, part: str, reach: int = 120) -> str:
    at = text.find(part)
    return " ".join(text[max(0, at - reach) : at + len(part) + reach].split())
