"""Scoping without a language model: the tree of each question is drafted, counted and held against the bounds."""

from dataclasses import dataclass

from agents.contracts.brief import Query, ScopingInput, ScopingTurn
from agents.contracts.frozen import QueryType, Tier
from agents.offline import kinds
from agents.offline import texts as wording
from agents.offline.dialogue import Asked, Revision, revise
from agents.offline.draft_tree import Draft, draft
from agents.offline.narrowing import suggestions, themes_to_tell
from agents.offline.question_parts import Question, asks_something, period, questions
from agents.offline.terms import names

MAX_QUERIES = 6
MAX_READ = 4_000
"""Characters of a message that are taken apart."""
_DEEP_LEAVES = 8
"""A tree of this many leaves, or of several levels, is worth the deep tier."""
_SUB_TOPICS = 8


@dataclass(frozen=True)
class Judged:
    """One question with its drafted tree and the verdict."""

    question: Question
    tree: Draft
    query: Query


def scope(given: ScopingInput) -> ScopingTurn:
    """Answer one message of the scoping talk."""
    if len(given.message) > MAX_READ:
        # A pasted document: what is asked stands at its beginning, or it is asked again in fewer words.
        given = given.model_copy(update={"message": given.message[:MAX_READ].rsplit(" ", 1)[0]})
    revision = revise(given)
    if revision is None:
        found = questions(given.message, given.language) if asks_something(given.message) else ()
        if not found:
            return _nothing_asked(given)
        judged = [_judge(question, given) for question in found[:MAX_QUERIES]]
        return _turn(given, judged, Revision(()))
    once = {asked.text.casefold(): asked for asked in reversed(revision.asked)}
    judged = [one for asked in [*once.values()][::-1][:MAX_QUERIES] if (one := _rejudged(asked, given))]
    if not judged:
        return _empty(given, revision)
    return _turn(given, judged, revision)


def _judge(question: Question, given: ScopingInput, limits: tuple[str, ...] = ()) -> Judged:
    language = given.language
    tree = draft(question, given.survey, language, given.max_leaves)
    feasible = tree.leaves <= given.max_leaves and tree.levels <= given.max_depth
    offered = () if feasible else suggestions(question, given.survey, language, given.max_leaves, given.max_depth)
    query = Query(
        text=question.text,
        feasible=feasible,
        reason=_reason(tree, given, feasible=feasible),
        depth_estimate=min(9, tree.levels),
        sub_topics=tuple(sprig.title for sprig in tree.sprigs[:_SUB_TOPICS]) if feasible else (),
        scope_limits=tuple(dict.fromkeys((*(limits or _limits(question)), *question.addresses))),
        suggested_split=offered,
    )
    return Judged(question, tree, query)


def _rejudged(asked: Asked, given: ScopingInput) -> Judged | None:
    """Judge a query that stands: as one question, also where it would now be read as two."""
    found = questions(asked.text, given.language)
    if not found:
        return None
    question = found[0]
    if len(found) > 1:
        clauses = tuple(clause for one in found for clause in one.clauses)
        question = Question(asked.text, clauses, found[0].context, found[0].addresses)
    return _judge(Question(asked.text, question.clauses, question.context, question.addresses), given, asked.limits)


def _limits(question: Question) -> tuple[str, ...]:
    span = period(question.text)
    return (f"{span[0]}–{span[1]}",) if span else ()


def _reason(tree: Draft, given: ScopingInput, *, feasible: bool) -> str:
    language = given.language
    values: dict[str, object] = {
        "leaves": tree.leaves,
        "levels": tree.levels,
        "max_leaves": given.max_leaves,
        "max_depth": given.max_depth,
    }
    values["level_word"] = wording.level_word(language, tree.levels)
    if tree.lookup and feasible:
        return wording.say(language, "lookup_reason")
    if feasible and tree.leaves == 1:
        return wording.say(language, "feasible_reason_one")
    if feasible:
        return wording.say(language, "feasible_reason", **values)
    if not tree.open.any:
        return wording.say(language, "too_wide_reason", **values)
    points = tuple(wording.say(language, f"name_{point}", term=term) for point, term in tree.open.points)
    return wording.say(language, "too_broad_reason", points=wording.listed(language, points), **values)


def _turn(given: ScopingInput, judged: list[Judged], revision: Revision) -> ScopingTurn:
    language = given.language
    unready = [one for one in judged if not one.query.feasible]
    asked = _asked_back(given, unready, revision)
    parts = [*revision.notes, *_verdict(given, judged, unready, revision)]
    parts += _remarks(given, judged, fresh=not revision.asked)
    if revision.question and revision.question not in {"ask_pick"}:
        parts.append(wording.say(language, revision.question))
    if not any(turn.speaker == "manager" for turn in given.turns):
        parts.append(wording.say(language, "quotes_only"))
    kind = query_type(" ".join(one.question.text for one in judged))
    return ScopingTurn(
        reply="\n\n".join(_joined(parts)),
        queries=tuple(one.query for one in judged),
        open_questions=asked,
        query_type=kind,
        tier=_tier(judged),
        language=language,
        ready=not unready and not asked,
    )


def _asked_back(given: ScopingInput, unready: list[Judged], revision: Revision) -> tuple[str, ...]:
    language = given.language
    if revision.question and revision.question != "ask_pick":
        return (wording.say(language, revision.question),)
    if not unready:
        return ()
    point, term = next(((point, term) for point, term in unready[0].tree.open.points), ("", ""))
    questions_back = [wording.say(language, "ask_pick")]
    if point:
        questions_back.append(wording.say(language, f"ask_{point}", term=term))
    return tuple(questions_back)


def _verdict(given: ScopingInput, judged: list[Judged], unready: list[Judged], revision: Revision) -> list[str]:
    language = given.language
    if not unready:
        if wording.say(language, "agree_ready") in revision.notes:
            return []
        if all(one.tree.lookup for one in judged):
            return [wording.say(language, "lookup")]
        if len(judged) > 1:
            return [wording.say(language, "small_enough_many", n=len(judged))]
        return [wording.say(language, "small_enough")]
    parts: list[str] = []
    if len(judged) > 1:
        ready = tuple(str(at) for at, one in enumerate(judged, start=1) if one.query.feasible)
        still = tuple(str(at) for at, one in enumerate(judged, start=1) if not one.query.feasible)
        parts.append(
            wording.say(
                language,
                "some_ready",
                n=len(judged),
                ready=wording.listed(language, ready) or "0",
                open=wording.listed(language, still),
            )
        )
    for one in unready[:2]:
        points = _points(given, one)
        opening = (
            wording.say(language, "cannot_yet")
            if len(judged) == 1
            else wording.say(language, "cannot_yet_part", query=one.query.text)
        )
        parts.append(f"{opening} {wording.say(language, f'leaves_open_{len(points)}')}")
        parts.append("\n".join(f"- {point}" for point in points) if len(points) > 1 else points[0])
        parts.append(
            wording.say(
                language,
                "tree_size",
                leaves=one.tree.leaves,
                levels=one.tree.levels,
                level_word=wording.level_word(language, one.tree.levels),
                max_leaves=given.max_leaves,
                max_depth=given.max_depth,
            )
        )
    if offered := sum(len(one.query.suggested_split) for one in unready):
        parts.append(wording.say(language, "versions", n=offered))
    return parts


def _points(given: ScopingInput, one: Judged) -> list[str]:
    """Say what leaves a question open, with what the documents offer where it is known."""
    language, survey = given.language, given.survey
    if not one.tree.open.points:
        listed = sum(max(1, len(clause.items)) * max(1, len(clause.aspects)) for clause in one.question.clauses)
        return [wording.say(language, "point_parts", n=listed)]
    told: list[str] = []
    for point, term in one.tree.open.points:
        detail = ""
        if point == "scope":
            named = themes_to_tell(survey, one.question.text, language)
            detail = wording.say(
                language, "detail_themes" if len(named) > 1 else "detail_none", themes=wording.listed(language, named)
            )
        if point == "period":
            first, last = (survey.date_from or "")[:4], (survey.date_to or "")[:4]
            detail = wording.say(
                language, "detail_dates" if first < last else "detail_no_dates", first=first, last=last
            )
        told.append(wording.say(language, f"point_{point}", term=term, detail=detail))
    return told


def _remarks(given: ScopingInput, judged: list[Judged], *, fresh: bool) -> list[str]:
    language, survey = given.language, given.survey
    remarks: list[str] = []
    if query_type(" ".join(one.question.text for one in judged)) == "medical_legal_financial":
        remarks.append(wording.say(language, "caution"))
    if fresh and survey.total and not survey.web and not survey.matching:
        remarks.append(wording.say(language, "nothing_matches"))
    return remarks


def _joined(parts: list[str]) -> list[str]:
    """Set short sentences into one paragraph and leave lists by themselves."""
    paragraphs: list[str] = []
    for part in parts:
        apart = part.startswith(("- ", "**")) or (paragraphs and paragraphs[-1].startswith(("- ", "**")))
        if paragraphs and not apart:
            paragraphs[-1] = f"{paragraphs[-1]} {part}"
        else:
            paragraphs.append(part)
    return paragraphs


def _tier(judged: list[Judged]) -> Tier:
    if all(one.tree.lookup for one in judged):
        return "simple"
    return "deep" if any(one.query.feasible and one.tree.leaves >= _DEEP_LEAVES for one in judged) else "standard"


def query_type(text: str) -> QueryType:
    """Say what kind of question it is, by closed lists of cues."""
    named = names(text)
    bare = text
    for name in named:
        bare = bare.replace(name, " ")
    for kind, pattern in kinds.QUERY_TYPES:
        if pattern.search(bare):
            return kind
    return "other"


def _nothing_asked(given: ScopingInput) -> ScopingTurn:
    greeted = kinds.GREETING.match(given.message) or not any(char.isalnum() for char in given.message)
    first = not any(turn.speaker == "manager" for turn in given.turns)
    parts = [wording.say(given.language, "greeting" if greeted and first else "no_question")]
    if first:
        parts.append(wording.say(given.language, "quotes_only"))
    return ScopingTurn(
        reply=" ".join(parts),
        queries=given.agreed,
        open_questions=(wording.say(given.language, "ask_question"),),
        query_type="other",
        tier="standard",
        language=given.language,
        ready=False,
    )


def _empty(given: ScopingInput, revision: Revision) -> ScopingTurn:
    said = wording.say(given.language, revision.question or "no_question")
    return ScopingTurn(
        reply=" ".join((*revision.notes, said)),
        queries=(),
        open_questions=(wording.say(given.language, "ask_question"),),
        query_type="other",
        tier="standard",
        language=given.language,
        ready=False,
    )
