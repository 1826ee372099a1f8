"""Scouting without a language model: who speaks, by cues of address, title and wording; what about, by shared words."""

from collections import Counter

from agents.contracts.shortlist import Authority, CandidateView, Judged, ScoutInput, ScoutJudgement
from agents.nlp.tokens import content_words
from agents.offline.sentences import is_order
from agents.offline.words import listed, say

ANSWERS = 0.5
"""Share of a question's words that title, themes and excerpt must hold."""
_OFFICIAL = (".gov", ".mil", ".int", ".edu", ".gob", ".gouv", ".ac")


def scout(given: ScoutInput) -> ScoutJudgement:
    """Judge the candidates by what is shown of them; meaning is beyond it, words are not."""
    spread = Counter(theme.casefold() for candidate in given.candidates for theme in candidate.themes)
    return ScoutJudgement(candidates=tuple(_judged(candidate, given, spread) for candidate in given.candidates))


def _judged(candidate: CandidateView, given: ScoutInput, spread: Counter[str]) -> Judged:
    language, authority, answers = given.language, _authority(candidate), _answers(candidate, given.questions)
    # A theme that others share makes a group; one of its own makes a group of one.
    shared = [theme for theme in candidate.themes if 1 < spread[theme.casefold()] < len(given.candidates)]
    return Judged(
        number=candidate.number,
        authority=authority,
        theme=(shared or list(candidate.themes) or [given.objective])[0],
        perspective=say(language, authority) if authority != "unknown" else "",
        answers=answers,
        rationale=say(language, "holds", n=len(answers), of=len(given.questions)),
    )


def _authority(candidate: CandidateView) -> Authority:
    said = f"{candidate.title}. {candidate.excerpt}"
    if any(is_order(sentence) for sentence in candidate.excerpt.split(" … ")):
        return "unknown"  # a document that gives orders to its reader is not taken at its word
    official = any(f"{suffix}." in f"{candidate.domain.casefold()}." for suffix in _OFFICIAL)
    interested = listed("party").search(said)
    if official or (listed("first_hand").search(said) and not interested):
        return "primary"
    if interested:
        return "interested"
    hearsay = listed("hearsay").search(f"{said} {candidate.domain} {candidate.author or ''}")
    return "secondary" if hearsay else "unknown"


def _answers(candidate: CandidateView, questions: tuple[str, ...]) -> tuple[int, ...]:
    held = frozenset(content_words(f"{candidate.title} {' '.join(candidate.themes)} {candidate.excerpt}"))
    wanted = [frozenset(content_words(question)) for question in questions]
    return tuple(n for n, one in enumerate(wanted, start=1) if one and len(one & held) >= ANSWERS * len(one))
