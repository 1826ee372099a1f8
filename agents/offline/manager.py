"""Scoping without a language model: one question becomes queries that can be run, or is said to be too broad."""

import re

from agents.contracts.contract import Query, ScopingInput, ScopingTurn
from agents.contracts.frozen import QueryType
from agents.contracts.plan import Leaf, PlanningInput
from agents.contracts.response import FlatPlan, FlatPlanInput
from agents.contracts.sources import CorpusSurvey
from agents.nlp.tokens import years_in
from agents.offline.planner import draft, plan, understood
from agents.offline.questions import IndependentQuestion, asks, is_lookup, questions
from agents.offline.terms import distinct, known, knows, listed, names, opening, overlap, say, terms

MAX_QUERIES = 6
MAX_READ = 4_000
"""Characters of a message that are taken apart."""
_CHOICE = 2
"""Narrower questions that make a choice."""
OFFERED = 4
"""Narrower questions offered at a time."""
_ASKS = frozenset("?？؟;;՞፧")
_PINNED = 2
"""Names, dates and figures that bound a topic enough to work on."""
_LONGEST_SUBJECT = 7
_TYPES: dict[QueryType, str] = {
    "medical_legal_financial": "medical", "comparison": "compare", "technical": "technical", "news": "news",
    "academic": "academic", "statistics": "quantity", "person_or_organisation": "person",
}  # fmt: skip
"""Kinds of question and the lists that tell them; the first that matches wins."""


def scope(given: ScopingInput) -> ScopingTurn:
    """Answer one message of the scoping talk.

    A draft that stands is never touched: buttons, numbers and the closed list of changes are read before this is asked.
    """
    said = [turn.text for turn in given.turns if turn.speaker == "user"]
    language, message = given.language, understood(given.message[:MAX_READ], said)
    ready = tuple(query for query in given.agreed if query.feasible)
    broad = [query for query in given.agreed if not query.feasible]
    if ready and not broad:
        return _turn(given, f"{say(language, 'kept')} {say(language, 'ask_kept')}", ready, ())
    found = () if opening("greets").fullmatch(message.strip(" .,!?")) else questions(message)
    limits: tuple[str, ...] = ()
    if broad and found and not asks(message) and len(message.split()) <= 2 * _LONGEST_SUBJECT:
        limits = (*broad[0].scope_limits, message.strip(" .!,;"))
        wide = questions(broad[0].text)[0]
        text = say(language, "only", question=wide.text.rstrip("?. "), limit=limits[-1])
        found = (IndependentQuestion(text, (text,), wide.things, wide.points),)
    if not found:
        ask = say(language, "ask_question")
        greeting = " ".join((say(language, "greeting"), say(language, "quotes_only")))
        return _turn(given, ask if given.turns else greeting, given.agreed, (ask,))
    judged = [_judged(question, given, limits) for question in found[: MAX_QUERIES - len(ready)]]
    unready = [(query, left_open) for query, left_open in judged if not query.feasible]
    points = (say(language, name) for _, left_open in unready for name in left_open)
    asked = tuple(dict.fromkeys(points)) or tuple(query.reason for query, _ in unready)
    verdict = _verdict(language, [query for query, _ in judged], broad=bool(unready))
    reply = "\n\n".join((verdict, *_remarks(given, query_type(message))))
    queries = {query.text.casefold(): query for query in (*ready, *(query for query, _ in judged))}
    return _turn(given, reply, tuple(queries.values()), asked if unready else ())


def plan_run(given: FlatPlanInput) -> FlatPlan:
    """Plan a run: judge the task as in a talk, and take its own parts for leaves. Without a question in it there are none."""
    turn = scope(ScopingInput(message=given.task, survey=given.survey, today=given.today, language=given.language))
    broad = [query for query in turn.queries if not query.feasible]
    parts = plan(PlanningInput(query=given.task, max_leaves=MAX_QUERIES, language=given.language)).leaves
    leaves = tuple(
        Leaf(
            title=part.title, objective=part.title, questions=part.questions or (part.title,),
            searches=(*part.search_terms, *part.questions, part.title)[:1],
        )
        for part in (parts if turn.queries else ())
    )  # fmt: skip
    return FlatPlan(
        feasible=not broad, reasons=tuple(query.reason for query in broad) if turn.queries else (turn.reply,),
        suggested_splits=tuple(split for query in broad for split in query.suggested_split), tier=turn.tier,
        query_type=turn.query_type, queries=(), leaves=leaves, claims=(),
    )  # fmt: skip


def _turn(given: ScopingInput, reply: str, queries: tuple[Query, ...], ask: tuple[str, ...]) -> ScopingTurn:
    lookups = bool(queries) and all(is_lookup(query.text) for query in queries)
    return ScopingTurn(
        reply=reply,
        queries=queries,
        open_questions=ask,
        query_type=query_type(" ".join(query.text for query in queries)),
        tier="simple" if lookups else "standard",
        language=given.language,
        ready=bool(queries) and not ask,
    )


def _judged(
    question: IndependentQuestion, given: ScopingInput, limits: tuple[str, ...]
) -> tuple[Query, tuple[str, ...]]:
    """Make a query of a question, and name the sentences that ask for what it leaves open."""
    language = given.language
    aspect = any(terms(re.sub(r"\d+", " ", limit), language) for limit in limits)
    left_open = () if aspect else open_points(question, language)
    drafts = draft(question, language, given.max_leaves)
    leaves = max(len(drafts), len(question.things) * len(question.points))
    narrower = _narrower(question, given.survey, language) if left_open or leaves > given.max_leaves else ()
    if len(narrower) < _CHOICE:
        # Nothing narrower can be offered: better the question as it is than none.
        left_open = ()
    feasible = not left_open and leaves <= given.max_leaves
    if left_open:
        reason = " ".join(say(language, name) for name in left_open)
    elif not feasible:
        reason = say(language, "reason_wide", n=leaves, most=given.max_leaves)
    else:
        reason = say(language, "reason_parts" if leaves > 1 else "reason_single", n=leaves)
    query = Query(
        text=question.text,
        feasible=feasible,
        reason=reason,
        depth_estimate=4 if left_open else 1,
        sub_topics=tuple(one.title for one in drafts[:8]) if feasible else (),
        scope_limits=tuple(dict.fromkeys((*limits, *question.addresses))),
        suggested_split=() if feasible else narrower,
    )
    return query, left_open


def open_points(question: IndependentQuestion, language: str) -> tuple[str, ...]:
    """Name what leaves a question open, by its grammar: quantifiers, effects on nobody in particular, bare topics, few words."""
    text, quoted = re.subn(r"[“\"„«][^”\"“»]{2,160}[”\"»]", " ", question.text)
    named = min(2, quoted + len(names(text, language)))
    pinned = named + bool(re.search(r"(?<!\w)\d", text)) + bool(listed("quantity").search(text))
    lists = bool(question.things or question.points)
    # Of a language whose grammar is not known only the question mark is.
    foreign = not knows(language) and text.rstrip('"”») ')[-1:] in _ASKS
    asking = foreign or opening("order").match(text) or opening("yes_no").match(text) or listed("ask").search(text)
    on_nobody = pinned < _PINNED and listed("effect").search(text) and listed("nobody").search(text)
    bare = pinned < _PINNED and not lists and not asking
    ordered = not pinned and not lists and opening("order").match(text)
    sweeping = listed("everything").search(text) or (pinned < _PINNED and listed("sweeping").search(text))
    says_little = not pinned and not foreign and len(distinct(text, language)) < _PINNED  # `Who built it?`
    if not (sweeping or on_nobody or bare or ordered or says_little):
        return ()
    if on_nobody:
        return ("open_scope", "open_people")
    return ("open_scope",) if years_in(text) else ("open_scope", "open_period")


def _narrower(question: IndependentQuestion, survey: CorpusSurvey, language: str) -> tuple[str, ...]:
    """Write narrower questions: of what it lists and several documents speak of, then of the usual sides of its subject.

    Of documents alone, those are offered to whoever asks for everything, or for *it*: else it would be guessed what they hold.
    """
    subject = _subject(question.text)
    entries = (*question.things, *question.points)
    themes = [*entries, *carried(survey, f"{question.text} {subject}", language)]
    unbounded = any(listed(one).search(question.text) for one in ("sweeping", "everything", "pointing"))
    guessed = survey.web or not survey.total or unbounded
    themes += say(language, "sides").split("|") if subject and guessed else []
    asked: dict[str, None] = {}
    for theme in themes[:OFFERED]:
        apart = subject and not overlap(theme, subject)
        asked[say(language, "suggest" if apart else "suggest_bare", theme=theme, subject=subject)] = None
    return tuple(asked)


def carried(survey: CorpusSurvey, text: str, language: str) -> tuple[str, ...]:
    """Choose phrases that at least two of the matching documents share and that add to `text`, most shared first."""
    spoken = [document.language for document in survey.documents if document.language]
    if spoken and spoken.count(known(language)) * 2 < len(spoken):
        return ()  # the documents speak another language than the user
    held = [frozenset(distinct(" ".join((one.title, *one.themes)))) for one in survey.documents]
    phrases = dict.fromkeys(theme for document in survey.documents for theme in document.themes)
    shared = {
        phrase: sum(1 for words in held if words & set(distinct(phrase)))
        for phrase in phrases
        if len(phrase.split()) > 1 and phrase == phrase.lower() and not re.search(r"\d", phrase)
    }
    chosen: list[str] = []
    for phrase in sorted(shared, key=lambda phrase: -shared[phrase]):
        if shared[phrase] > 1 and not any(overlap(phrase, other) for other in (text, *chosen)):
            chosen.append(phrase)
    return tuple(chosen[:OFFERED])


def _subject(text: str) -> str:
    """Find what an open question is about, as a phrase that fits after `with regard to`; empty where it can't be told."""
    text = re.sub(r"\s*\([^()]*\)", "", text)
    if found := listed("effect").search(text):
        text = text[: found.start()] or text
    elif any(_asks(clause) for clause in text.split(",")[1:]) or (
        _asks(text) and not any(listed(one).search(text) for one in ("sweeping", "everything", "pointing"))
    ):
        return ""  # what follows a word of asking is half a sentence
    text = listed("sweeping").sub(" ", listed("everything").sub(" ", text))
    for name in ("order", "ask", "yes_no"):
        text = opening(name).sub(" ", text.strip(), count=1)
    text = re.sub(r"^\W*(?:(?:the|die|la|est)\s+)?(?=(?:of|der|des|du|de|von|about)\b)", "", text)
    text = re.sub(r"^\W*(?:(?:of|about|on|for|in|over|über|von|zu|sur|de|sobre|and|und|et|y)\s+)*", "", text)
    text = re.split(r"[,.:;?!。？！]|\s(?:and what|and how|und wie|et comment|y cómo)\b", text.strip(" ,:;"))[0].strip()
    return text if 0 < len(text.split()) <= _LONGEST_SUBJECT and terms(text) and not listed("ask").search(text) else ""


def _asks(text: str) -> bool:
    return any(opening(one).match(text.strip()) for one in ("ask", "yes_no"))


def _verdict(language: str, queries: list[Query], *, broad: bool) -> str:
    if not broad and all(is_lookup(query.text) for query in queries):
        return say(language, "lookup")
    several = say(language, "ready_many", n=len(queries)) if len(queries) > 1 else ""
    return f"{several} {say(language, 'too_broad')}".strip() if broad else several or say(language, "ready_one")


def _remarks(given: ScopingInput, kind: QueryType) -> list[str]:
    language, survey = given.language, given.survey
    remarks = []
    if kind == "medical_legal_financial":
        remarks.append(say(language, "caution"))
    spoken_of = distinct(" ".join(text for one in survey.documents for text in (one.title, *one.themes)))
    if survey.total and not survey.web and not survey.matching and not set(spoken_of) & set(distinct(given.message)):
        remarks.append(say(language, "no_match", n=survey.total))
    if not given.turns:
        remarks.append(say(language, "quotes_only"))
        if not knows(language):
            remarks.append(say(language, "in_english"))
    return remarks


def query_type(text: str) -> QueryType:
    """Say what kind of question it is, by closed lists of cues; names are no cues."""
    for name in names(text):
        text = text.replace(name, " ")
    return next((kind for kind, cues in _TYPES.items() if listed(cues).search(text)), "other")
