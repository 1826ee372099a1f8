"""Extraction without a language model: sentences ranked against the questions; none where none is to the point."""

from collections.abc import Sequence
from dataclasses import dataclass

from agents.contracts.fact import Extraction, ExtractionInput, NumberedSentence, PointedFact
from agents.offline import steps
from agents.offline.cues import union
from agents.offline.figure_rows import differ, quantities
from agents.offline.question_parts import ADDRESS
from agents.offline.ranking import Ranking, Wanted, wants_instructions
from agents.offline.shape import is_imperative, is_order, is_sentence, leans, plain
from agents.offline.table_writer import grids, labelled
from agents.offline.terms import distinct

ENOUGH = 0.46
"""Score from which a sentence is to the point; set on labelled questions whose answering sentences are known."""
OF_THE_BEST = 0.45
"""Share of the best score for the same question that a sentence must reach: beside a good one, weak ones are noise."""
SAME = 0.75
"""Share of common words from which two sentences say the same, unless their numbers differ."""
_LEAST_CONFIDENCE, _MOST_CONFIDENCE = 0.35, 0.95
_LIMITS = union(
    (
        r"limitations?|cannot|could not|do(?:es)? not show|did not (?:study|measure|test|ask)|not (?:known|counted|"
        r"measured)|uncertain\w*|further (?:research|studies|work)|"
        r"future (?:work|research|studies)|with (?:care|caution)|caveat|excluded?|leaves? out|no (?:cores|data|"
        r"figures|measurements|sensitivity)|modelled, not|"
        r"estimate the error|not comparable|should not be (?:compared|used)|is not the same as",
        r"nicht (?:untersucht|gemessen|bekannt)|unsicher\w*|weitere forschung|einschränkung\w*|mit vorsicht|n['’]a "
        r"pas (?:été )?(?:mesuré|étudié)|"
        r"incertain\w*|recherches? (?:futures?|supplémentaires?)|avec prudence|no se (?:midió|estudió)|incierto|"
        r"con cautela",
        "限界|今後の研究|不明|局限|未来研究|不确定|حدود الدراسة",
    )
)
_MOST_LIMITS = 6
_MOST_CONTRADICTIONS = 6
_SOME_OF_IT = 0.6
"""Share of the rest of a further step's words that a quotation must hold where its document is not named for the step."""
_OWN_WORDS = 0.5
"""Share of what is asked, beyond the document's title, that a table must hold in its own labels and rows."""
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
    """Point at the sentences of one source that answer the questions of its leaf."""
    sentences = given.sentences
    stands = steps.standing(given.questions[0], given.title, " ".join(sentence.text for sentence in sentences))
    if stands == "apart" and (steps.is_topic(given.questions[0]) or steps.linked(given.questions[0])):
        # The answer is a step or more from something with a name, and this source never uses the name.
        return Extraction(facts=(), limitations=(), contradictions=(), follow_up_questions=(), linked_urls=())
    ranking = Ranking([sentence.text for sentence in sentences], given.title)
    wanted = [ranking.wanted(question, given.objective) for question in given.questions]
    chosen = _chosen(given, ranking, wanted)
    if stands == "titled":
        chosen = _with_subject(given, ranking, chosen)
    elif steps.is_topic(given.questions[0]):
        chosen = [one for one in chosen if _goes_on(given.questions[0], ranking, one)]
    facts = tuple(
        PointedFact(
            sentence_numbers=tuple(sentences[at].number for at in range(one.first, one.at + 1)),
            quote="",
            statement=" ".join(plain(sentences[at].text) for at in range(one.first, one.at + 1)),
            question_number=one.question + 1,
            confidence=round(min(_MOST_CONFIDENCE, max(_LEAST_CONFIDENCE, 0.3 + 0.5 * one.score)), 2),
        )
        for one in chosen
    )
    facts += _rows(given, ranking, wanted)[: max(0, given.max_facts - len(facts))]
    limitations = _limitations(sentences, ranking, wanted) if facts else ()
    contradictions = _contradictions(sentences, chosen)
    return Extraction(
        facts=facts,
        limitations=limitations,
        contradictions=contradictions,
        follow_up_questions=(),
        linked_urls=_links(sentences) if limitations or contradictions or given.discovery_intense else (),
    )


def _chosen(given: ExtractionInput, ranking: Ranking, wanted: Sequence[Wanted]) -> list[_Candidate]:
    how_to = any(wants_instructions(question) for question in given.questions)
    candidates: list[_Candidate] = []
    for at, sentence in enumerate(given.sentences):
        if not is_sentence(sentence.text) or is_order(sentence.text) or (is_imperative(sentence.text) and not how_to):
            continue
        first = _understood_from(given.sentences, at)
        if first is None:
            continue
        before = frozenset(term for back in range(first, at) for term in ranking.held[back])
        scored = [(ranking.score(at, one, before), -number) for number, one in enumerate(wanted)]
        score, number = max(scored)
        if score >= ENOUGH:
            candidates.append(_Candidate(at, first, -number, score))
    if not candidates:
        return []
    best: dict[int, float] = {}
    for candidate in candidates:
        best[candidate.question] = max(candidate.score, best.get(candidate.question, 0.0))
    candidates = [candidate for candidate in candidates if candidate.score >= OF_THE_BEST * best[candidate.question]]
    candidates.sort(key=lambda candidate: (-candidate.score, candidate.at))
    kept: list[_Candidate] = []
    for candidate in candidates:
        if len(kept) == given.max_facts:
            break
        if not any(_says_the_same(ranking, given.sentences, candidate, other) for other in kept):
            kept.append(candidate)
    return sorted(kept, key=lambda candidate: candidate.at)


def _with_subject(given: ExtractionInput, ranking: Ranking, chosen: list[_Candidate]) -> list[_Candidate]:
    """Add what a source says of the very thing it is named for: its opening, and what shares most words with the question.

    The answer may be a step away; these sentences name where.
    """
    asked = frozenset(distinct(given.questions[0])) - frozenset(distinct(given.title))
    usable = [at for at, one in enumerate(given.sentences) if is_sentence(one.text) and not is_order(one.text)]
    near = sorted(usable, key=lambda at: (-len(asked & ranking.held[at]), at))
    # The opening comes last: one that leans on it brings it along.
    added = [*(at for at in near[:_NEAR] if asked & ranking.held[at]), *usable[:1]]
    found = list(chosen)
    for at in added:
        first = _understood_from(given.sentences, at)
        if first is None or any(one.first <= at and first <= one.at for one in found):
            continue
        found.append(_Candidate(at, first, 0, ENOUGH / 2))
    return sorted(found[: given.max_facts], key=lambda candidate: candidate.at)


def _goes_on(topic: str, ranking: Ranking, one: _Candidate) -> bool:
    """Tell a quotation that uses the name of a further step and holds some of what is still to be said of it."""
    held = frozenset(term for at in range(one.first, one.at + 1) for term in ranking.held[at])
    name = steps.subjects(topic)[0]
    rest = frozenset(distinct(topic)) - name
    return name <= held and len(rest & held) >= max(2.0, _SOME_OF_IT * len(rest))


def _rows(given: ExtractionInput, ranking: Ranking, wanted: Sequence[Wanted]) -> tuple[PointedFact, ...]:
    """Point at the rows of a table that answers as a whole: heading, labels and rows together hold what is asked."""
    facts: list[PointedFact] = []
    title = frozenset(distinct(given.title))
    for grid in grids(given.sentences):
        head = grid.rows[0] - 1
        held = ranking.held[head].union(*(ranking.held[at] for at in grid.rows))
        scored = [
            (ranking.score(grid.rows[0], one, held), -number) for number, one in enumerate(wanted) if not one.lookup
        ]
        score, number = max(scored, default=(0.0, 0))
        own = frozenset(term for at in (head, *grid.rows) for term in distinct(given.sentences[at].text))
        labels_ask = any(one.core & ranking.held[head] and _said(one.core - title, own) for one in wanted)
        if score < ENOUGH or not labels_ask or not any(quantities(given.sentences[at].text) for at in grid.rows):
            continue
        facts += [
            PointedFact(
                sentence_numbers=(given.sentences[at].number,),
                quote="",
                statement=labelled(grid.labels, given.sentences[at].text),
                question_number=1 - number,
                confidence=round(min(_MOST_CONFIDENCE, max(_LEAST_CONFIDENCE, 0.25 + 0.5 * score)), 2),
            )
            for at in grid.rows
        ]
    return tuple(facts)


def _said(asked: frozenset[str], own: frozenset[str]) -> bool:
    """Tell whether a table's own words hold what its document's title does not say: `share` alone is no answer."""
    return len(asked & own) >= _OWN_WORDS * len(asked)


def _understood_from(sentences: Sequence[NumberedSentence], at: int) -> int | None:
    """Find where a quotation must begin to be understood; None when what comes before is not at hand."""
    first = at
    while leans(sentences[first].text):
        before = first - 1
        neighbours = before >= 0 and sentences[before].number == sentences[first].number - 1
        if (
            not neighbours
            or at - before > _LONGEST_BACK
            or not is_sentence(sentences[before].text)
            or is_order(sentences[before].text)
        ):
            return None
        first = before
    return first


def _says_the_same(ranking: Ranking, sentences: Sequence[NumberedSentence], one: _Candidate, other: _Candidate) -> bool:
    if one.first <= other.at and other.first <= one.at:
        return True
    mine, yours = ranking.held[one.at], ranking.held[other.at]
    few = min(len(mine), len(yours))
    if not few or len(mine & yours) / few < SAME:
        return False
    numbers = {quantity.value for quantity in quantities(sentences[one.at].text)}
    return numbers <= {quantity.value for quantity in quantities(sentences[other.at].text)}


def _limitations(sentences: Sequence[NumberedSentence], ranking: Ranking, wanted: Sequence[Wanted]) -> tuple[int, ...]:
    """Numbers of sentences in which the source says what it does not show."""
    found = [
        sentence.number
        for at, sentence in enumerate(sentences)
        if _LIMITS.search(sentence.text)
        and is_sentence(sentence.text)
        and not is_order(sentence.text)
        and any(ranking.held[at] & one.core for one in wanted)
    ]
    return tuple(found[:_MOST_LIMITS])


def _contradictions(sentences: Sequence[NumberedSentence], chosen: Sequence[_Candidate]) -> tuple[int, ...]:
    """Numbers of chosen sentences that give different figures for the same thing."""
    found: list[int] = []
    for at, one in enumerate(chosen):
        for other in chosen[at + 1 :]:
            if differ(sentences[one.at].text, sentences[other.at].text):
                found += [sentences[one.at].number, sentences[other.at].number]
    return tuple(sorted(dict.fromkeys(found)))[:_MOST_CONTRADICTIONS]


def _links(sentences: Sequence[NumberedSentence]) -> tuple[str, ...]:
    """Addresses that sentences name, except those that an order wants opened."""
    found = [
        address.rstrip(".,;:")
        for sentence in sentences
        if not is_order(sentence.text)
        for address in ADDRESS.findall(sentence.text)
    ]
    return tuple(dict.fromkeys(found))[:8]
