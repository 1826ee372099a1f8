"""What a question leaves open, judged by its grammar: quantifiers, effects on nobody in particular, bare topics."""

import re
from dataclasses import dataclass
from typing import Literal

from agents.offline import cues
from agents.offline.question_parts import Question, period
from agents.offline.terms import distinct, names, years

Point = Literal["scope", "period", "place", "population", "comparison", "terms"]

ENOUGH_BOUNDS = 2
"""Names, dates and measures that make a topic without a question bounded enough to work on."""
FEW_WORDS = 3
"""Telling words of a question that names nothing in particular."""


@dataclass(frozen=True)
class Openness:
    """Which sides of a question are open. No open side: it fans out over its own named parts only."""

    scope: bool = False
    period: bool = False
    place: bool = False
    points: tuple[tuple[Point, str], ...] = ()
    """What to tell the user, with the term in question."""

    @property
    def any(self) -> bool:
        """True when something is open."""
        return self.scope or self.period or self.place


def bounds(text: str, language: str | None = None) -> int:
    """Count what pins a question down: names, dates, figures, a measured quantity."""
    named = min(2, len(names(text, language)))
    dated = 1 if years(text) or period(text) else 0
    counted = 1 if re.search(r"(?<!\w)\d", text) and not dated else 0
    return named + dated + counted + (1 if cues.QUANTITY.search(text) else 0)


def openness(question: Question, language: str | None = None) -> Openness:
    """Judge what `question` leaves open."""
    text = re.sub(r"[“\"„«][^”\"“»]{2,160}[”\"»]", " ", question.text)
    bound = bounds(text, language)
    limited_in_time = period(text) is not None or bool(
        re.search(r"\b(?:since|seit|depuis|desde)\s+(?:\w+ )?\d{4}", text)
    )
    listed = max((len(clause.items) * max(1, len(clause.aspects)) for clause in question.clauses), default=0)
    scope_cue = cues.SCOPE_OPEN.search(text)
    time_cue = None if limited_in_time else cues.TIME_OPEN.search(text)
    advice = cues.ADVICE_OPEN.search(text) if bound < ENOUGH_BOUNDS else None
    effect, collective = cues.EFFECT.search(text), cues.COLLECTIVE.search(text)
    on_nobody = bool(effect and collective and bound < ENOUGH_BOUNDS)
    telling = [term for term in distinct(text, language) if not cues.EFFECT.fullmatch(term)]
    vague_effect = bool(effect and not bound and len(telling) <= FEW_WORDS and len(question.clauses) == 1)
    bare = _is_bare(text, bound, listed)
    vague = _is_vague(text, bound, telling, question)
    judged = bool(
        not bound and cues.EVALUATIVE.search(text) and len(telling) <= FEW_WORDS and len(question.clauses) == 1
    )
    on_nobody = on_nobody or bool(collective and not bound and _SWEEPING.search(_last_clause(question)))
    scope = bool(
        scope_cue or advice or on_nobody or vague_effect or bare or vague or judged or (time_cue and not listed)
    )
    place_cue = cues.PLACE_OPEN.search(text) if scope or listed > FEW_WORDS or time_cue else None
    evaluative = cues.EVALUATIVE.search(text) if scope and not cues.COMPARES.search(text) else None
    points: list[tuple[Point, str]] = []
    if scope:
        points.append(("scope", ""))
    if on_nobody and collective:
        points.append(("population", collective.group()))
    if time_cue or (scope and not years(text) and not on_nobody):
        points.append(("period", ""))
    if place_cue:
        points.append(("place", ""))
    if evaluative:
        points.append(("comparison", evaluative.group()))
    if (on_nobody or vague_effect) and effect:
        points.append(("terms", effect.group()))
    return Openness(scope, bool(time_cue), bool(place_cue), tuple(points[:3]))


def _last_clause(question: Question) -> str:
    return next((clause.text for clause in question.clauses if cues.COLLECTIVE.search(clause.text)), "")


def _is_bare(text: str, bound: int, listed: int) -> bool:
    """A topic and no question about it: `wind power`, `tell me about wind power`."""
    if bound >= ENOUGH_BOUNDS or listed >= 2:
        return False
    rest = cues.TELL_ABOUT.sub(" ", text, count=1) if _opens(cues.TELL_ABOUT, text) else text
    asks = (
        cues.INTERROGATIVE.search(rest)
        or _opens(cues.ASKS_FOR, rest)
        or _AUXILIARY.match(text)
        or "？" in text
        or "؟" in text
    )
    if _opens(cues.TELL_ABOUT, text):
        return not cues.INTERROGATIVE.search(rest)
    return not asks and ("?" not in text or len(distinct(text)) <= FEW_WORDS)


_AUXILIARY = re.compile(
    r"^\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|must|ist|sind|war|waren|hat|"
    r"haben|kann|können|wird|werden|"
    r"soll|darf|est-ce|es|son|puede|hay|fue|ha|han|is|zijn|kan|är|kan|har)\b",
    re.IGNORECASE,
)


def _opens(pattern: re.Pattern[str], text: str) -> bool:
    match = pattern.search(text[:60])
    return bool(match and (match.start() <= 2 or cues.SPACELESS.search(text)))


_SWEEPING = re.compile(
    r"^\W*(?:how (?:can|could|should|do|does|will|is|are)|why|what (?:are the )?(?:causes?|effects?|is the future)|"
    r"is|are|should|can|will|"
    r"warum|wie (?:kann|können|wird|wirkt)|pourquoi|comment|por qué|cómo|perché|come|waarom|varför)\b",
    re.IGNORECASE,
)


def _is_vague(text: str, bound: int, telling: list[str], question: Question) -> bool:
    """A sweeping question about one or two things that it does not name further: `how can we fight poverty?`."""
    if bound or len(question.clauses) > 1 or cues.SPACELESS.search(text):
        return False
    definite = re.search(
        r"\b(?:the|this|these|our|der|die|das|dem|den|le|la|les|el|los|las)\s+(?!world|future|best|most|main|way)\w+",
        text,
    )
    return bool(_SWEEPING.match(text) and len(telling) <= ENOUGH_BOUNDS and not definite)
