"""Reflection without a model: what code finds lacking is the gap, and what was found so far names where to look next.

Scouting without a language model: who speaks, by cues of address, title and wording; what about, by shared words.

Challenging, judging stance and support without a model: what code can compare, and nothing it would have to guess.
"""

import re
from collections import Counter

from agents.contracts.plan import ReflectionInput, ReflectionResponse
from agents.contracts.sources import Authority, CandidateView, Judged, ScoutInput, ScoutJudgement
from agents.contracts.verification import (
    Attack,
    Challenge,
    ChallengeInput,
    JudgeInput,
    Judgement,
    StanceInput,
    StanceRow,
    Stances,
    Verified,
    VerifiedRow,
    VerifyInput,
)
from agents.nlp.tokens import content_words, stem, years_in
from agents.offline.questions import (
    ASIDE,
    FORM,
    MOST_ADDED,
    asks_for_facts,
    each_name,
    is_called,
    is_lookup,
    is_nationality,
    is_single_fact,
    parts_of,
    topic,
)
from agents.offline.ranking import is_order
from agents.offline.terms import distinct, listed, names, quantities, say
from agents.verify.checks import carried, stance

MAX_QUERIES = 4
_SOURCE = re.compile(r"\s*\[([^\[\]]*)\]$")
_WHOSE = re.compile(r"\bof\b|['’]s\b")


def reflect(given: ReflectionInput) -> ReflectionResponse:
    """Go on only where something asked is in no statement yet and a statement names where it may be."""
    leads_on = given.missing and is_single_fact(given.query) and not all_are_silent(given)
    steps = _next_steps(given) if leads_on else ()
    return ReflectionResponse(
        sufficient=not given.missing,
        confidence=0.6 if not given.missing else 0.3 if given.statements else 0.0,
        # Without a next step a gap is for the reader to know, not for another round.
        gaps=given.missing[:MAX_QUERIES] if steps else (),
        new_queries=steps,
    )


def all_are_silent(given: ReflectionInput) -> bool:
    """Tell plain facts about things whose own documents were read: what these leave out none of their names leads to."""
    parts = parts_of(given.query)
    each = [one for part in parts for one in each_name(part)]
    if len(each) == 1:
        plain = len(_WHOSE.findall(given.query)) < 2 and is_lookup(given.query)
    else:
        plain = asks_for_facts(given.query) and not any(_WHOSE.search(part.text) for part in parts)
    titles = [source[1] for one in given.statements if (source := _SOURCE.search(one))]
    return plain and all(len(one.names) == 1 and any(is_called(one, title) for title in titles) for one in each)


def _is_thing(name: str) -> bool:
    """Tell a name that has documents of its own from `English`, and from the letters of an order behind a person's name."""
    return not all(map(is_nationality, name.casefold().split())) and not re.fullmatch(r"(?:\w\.)+", name)


def _next_steps(given: ReflectionInput) -> tuple[str, ...]:
    """Follow the names that answers brought in and the question did not hold, those beside most of its words first."""
    asked = _words_of(given.query)
    known = frozenset(term for one in (given.query, *given.questions) for term in distinct(one))
    tried = {" ".join(one.partition(":")[0].casefold().split()) for one in given.dispatched}
    shared: dict[str, int] = {}
    wanted: dict[str, tuple[str, ...]] = {}
    for statement in given.statements:
        source = _SOURCE.search(statement)
        text, title = _SOURCE.sub("", statement), source[1] if source else ""
        held, own = frozenset(distinct(f"{title} {text}")), frozenset(distinct(ASIDE.sub("", title)))
        for name in filter(_is_thing, names(text) if held & asked.keys() else ()):
            parts, count = frozenset(distinct(name)), len(held & asked.keys())
            new = parts and not parts <= known and not parts <= own and " ".join(name.casefold().split()) not in tried
            if new and count > shared.get(name, -1):
                shared[name] = count
                wanted[name] = tuple(word for term, word in asked.items() if term not in held)
    best = sorted(shared, key=lambda name: -shared[name])
    return tuple(topic(name, wanted[name][:MOST_ADDED]) for name in best if wanted[name])[:MAX_QUERIES]


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


_TELLING = 8
SPEAKS = 0.5
"""Strength below which a contradiction is only a sign."""


def challenge(given: ChallengeInput) -> Challenge:
    """Search for each claim's subject together with words of what would show it wrong, by the kind of claim."""
    return Challenge(
        attacks=tuple(
            Attack(claim_number=one.number, queries=(f"{_subject(one.text)} {say(given.language, _angle(one.text))}",))
            for one in given.claims
        )
    )


def _angle(claim: str) -> str:
    """A figure may have been revised, a date be told otherwise, an effect not be found again; anything may be disputed."""
    if quantities(claim):
        return "against_figure"
    return "against_date" if years_in(claim) else "against_effect" if listed("effect").search(claim) else "against"


def _subject(claim: str) -> str:
    """The claim's telling words as it writes them: search engines know no stems."""
    words = [word for word in re.findall(r"[^\W\d_][\w’'-]*", claim) if content_words(word)]
    return " ".join(list(dict.fromkeys(words))[:_TELLING])


def judge_stances(given: StanceInput) -> Stances:
    """Compare figures, dates, names, negations and words of claim and quote."""
    language = given.language.split("-")[0]
    rows = []
    for pair in given.pairs:
        judged = stance(pair.claim, pair.quote, language=language, context=(pair.source,))
        weak = judged.stance == "contradicts" and judged.strength < SPEAKS
        rows.append(StanceRow(number=pair.number, stance="unrelated" if weak else judged.stance))
    return Stances(rows=tuple(rows))


def verify(given: VerifyInput) -> Verified:
    """Compare each sentence with its quotes."""
    language = given.language.split("-")[0]
    found = ((one.number, carried(one.text, one.quotes, language=language)) for one in given.sentences)
    return Verified(rows=tuple(VerifiedRow(number=number, verdict=one.verdict) for number, one in found))


def judge(given: JudgeInput) -> Judgement:
    """Approve what holds by count; without a model nobody can judge more than that."""
    reasons = tuple(f"Not verified: {sentence}" for sentence in given.unsupported[:3])
    return Judgement(verdict="request_changes" if reasons else "approve", reasons=reasons)


def _words_of(question: str) -> dict[str, str]:
    """The question's words that carry meaning, as written and in order, each under its term."""
    found: dict[str, str] = {}
    for word in re.findall(r"[^\W_]+(?:[-’'][^\W_]+)*", question):
        for term in distinct(word):
            if term in distinct(question) and stem(word.casefold()) not in FORM:
                found.setdefault(term, re.sub(r"[’']s$", "", word))
    return found
