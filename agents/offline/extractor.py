"""Extraction without a language model: sentences ranked against the questions; none where none is to the point."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agents.contracts.fact import Extraction, ExtractionInput, NumberedSentence, PointedFact, ShownSource
from agents.offline.questions import about, is_called, is_linked, is_topic, names_held, stems_of
from agents.offline.ranking import OF_THE_BEST, Ranking, Wanted, is_order, is_sentence, leans, plain
from agents.offline.terms import distinct, listed, repeats

ENOUGH = 0.46
"""Score from which a sentence is to the point; set on labelled questions whose answering sentences are known."""
_MOST_LIMITATIONS = 6
_NEAR = 2
"""Sentences of a source named for the subject that are added because they share most words with the question."""
_LONGEST_BACK = 2
"""Sentences before a leaning one that may be taken with it."""


@dataclass(frozen=True)
class _Candidate:
    at: int
    first: int
    question: int
    score: float


def extract(given: ExtractionInput) -> Extraction:
    """Point at the sentences of sources that answer the questions of their leaf."""
    read = [_extract(given, one) for one in given.sources]
    return Extraction(
        facts=tuple(fact for one in read for fact in one.facts),
        limitations=tuple(number for one in read for number in one.limitations),
    )


def _extract(given: ExtractionInput, source: ShownSource) -> Extraction:
    sentences = source.sentences
    ranking = Ranking([sentence.text for sentence in sentences], source.title)
    held = stems_of(source.title, *ranking.sentences)
    open_ = {number: one for number, one in enumerate(given.questions) if not _is_elsewhere(one, held)}
    wanted = {number: ranking.wanted(question) for number, question in open_.items()}
    chosen = _chosen(sentences, ranking, wanted, given.max_facts) if wanted else []
    for number, question in open_.items():
        subject = about(question)
        if subject and is_called(subject, source.title):
            asked = frozenset(distinct(question)) - frozenset(distinct(source.title))
            chosen = _with_subject(sentences, ranking, chosen, number, asked)[: given.max_facts]
    facts = tuple(
        PointedFact(
            sentences=tuple(sentences[at].number for at in range(one.first, one.at + 1)),
            statement=" ".join(plain(sentences[at].text) for at in range(one.first, one.at + 1)),
            question=one.question + 1,
            sure=round(min(0.95, max(0.35, 0.3 + 0.5 * one.score)), 2),
        )
        for one in sorted(chosen, key=lambda one: one.at)
    )
    return Extraction(facts=facts, limitations=_limitations(sentences, ranking, wanted.values()) if facts else ())


def _is_elsewhere(question: str, held: frozenset[str]) -> bool:
    """Tell a question whose answer is a step or more from something with a name that a source never uses."""
    subject = about(question)
    return bool(subject and not names_held(subject, held) and (is_topic(question) or is_linked(question)))


def _chosen(
    sentences: Sequence[NumberedSentence], ranking: Ranking, wanted: Mapping[int, Wanted], most: int
) -> list[_Candidate]:
    candidates: list[_Candidate] = []
    for at, sentence in enumerate(sentences):
        if not is_sentence(sentence.text) or is_order(sentence.text):
            continue
        first = _understood_from(sentences, at)
        if first is None:
            continue
        score, number = max((ranking.score(at, one, first), -number) for number, one in wanted.items())
        if score >= ENOUGH:
            candidates.append(_Candidate(at, first, -number, score))
    candidates.sort(key=lambda one: (-one.score, one.at))
    best = {one.question: one.score for one in reversed(candidates)}
    kept: list[_Candidate] = []
    for one in candidates:
        if one.score < OF_THE_BEST * best[one.question] or len(kept) == most:
            continue
        if not any(
            (one.first <= other.at and other.first <= one.at)
            or repeats(ranking.sentences[one.at], ranking.sentences[other.at])
            for other in kept
        ):
            kept.append(one)
    return kept


def _with_subject(
    sentences: Sequence[NumberedSentence],
    ranking: Ranking,
    chosen: Sequence[_Candidate],
    number: int,
    asked: frozenset[str],
) -> list[_Candidate]:
    """Add what a source says of the very thing it is named for: its opening, and what shares most words with the question.

    The answer may be a step away; these sentences name where.
    """
    usable = [at for at, one in enumerate(sentences) if is_sentence(one.text) and not is_order(one.text)]
    near = sorted(usable, key=lambda at: (-len(asked & ranking.held[at]), at))
    found = list(chosen)
    # The opening comes last: one that leans on it brings it along.
    for at in (*(at for at in near[:_NEAR] if asked & ranking.held[at]), *usable[:1]):
        first = _understood_from(sentences, at)
        if first is not None and not any(one.first <= at and first <= one.at for one in found):
            found.append(_Candidate(at, first, number, ENOUGH / 2))
    return found


def _understood_from(sentences: Sequence[NumberedSentence], at: int) -> int | None:
    """Find where a quotation must begin to be understood; None when what comes before is not at hand."""
    first = at
    while leans(sentences[first].text):
        before = first - 1
        if before < 0 or sentences[before].number != sentences[first].number - 1 or at - before > _LONGEST_BACK:
            return None
        if not is_sentence(sentences[before].text) or is_order(sentences[before].text):
            return None
        first = before
    return first


def _limitations(sentences: Sequence[NumberedSentence], ranking: Ranking, wanted: Iterable[Wanted]) -> tuple[int, ...]:
    """Numbers of sentences in which the source says what it does not show."""
    cores = [one.core for one in wanted]
    found = [
        sentence.number
        for at, sentence in enumerate(sentences)
        if listed("limitation").search(sentence.text)
        and is_sentence(sentence.text)
        and not is_order(sentence.text)
        and any(ranking.held[at] & core for core in cores)
    ]
    return tuple(found[:_MOST_LIMITATIONS])
