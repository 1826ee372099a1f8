"""The report document, put together from an outcome: pure, and every citation tied to its quote by construction."""

from collections.abc import Iterable, Iterator, Sequence

from agents.contracts.body import Block, Body, Heading, Listing, Paragraph, ReferenceList, Sentence, Words, plain
from agents.contracts.fact import Fact, Insights
from agents.contracts.finding import Finding, Frame, NodeStatus, Problem, QuestionAnswer
from agents.contracts.report import (
    Actual,
    BoundContract,
    Earlier,
    Grade,
    NodeRow,
    Outcome,
    ReportDocument,
    ReportSentence,
)
from agents.contracts.sources import RejectedSource, SourceCard
from agents.contracts.verification import Claim, Truth
from agents.report.composer import Composer, paragraph, title_line
from agents.report.earlier import since, since_lines
from agents.report.methodology import (
    LIMITS,
    all_searches,
    ended_note,
    introduced,
    methodology,
    phase_state,
    rejected_lines,
    reported,
    rounds_log,
    search_lines,
    source_lines,
    stand_in_lines,
)
from agents.report.references import SourceNumbers, shortened
from agents.report.view import claims_table, gate_reasons, truth_lines, truth_reasons, unverified, weak_claims
from agents.report.wording import Wording, wording
from agents.report.write_markdown import document_markdown

MAX_SUMMARY = 5
"""Sentences of a summary that code puts together, at most."""

MAX_STATED, MATTERS = 5, 0.5
"""Limits and questions of the sources themselves that a report lists, at most; confidence from which a question matters."""
MAX_LISTED = 8
"""Facts that stand for a section which has no prose, at most; the others stay in the findings of the job."""


def build(
    job_id: str,
    outcome: Outcome,
    actual: Actual,
    *,
    engine: str,
    reasons: bool,
    rejected: tuple[RejectedSource, ...] = (),
    earlier: Earlier | None = None,
) -> ReportDocument:
    """Put the report together.

    Args:
        job_id: names the job in the document.
        outcome: findings and frame; marks of facts that no finding holds are dropped.
        actual: what the run took; an unknown cost is said to be unknown.
        engine: what wrote the prose, for Methodology.
        reasons: False when no language model was used; Methodology then says so.
        rejected: documents that were not used and that no finding names.
        earlier: the report that this one is run after.
    """
    brief = outcome.contract.brief
    words = wording(brief.language)
    findings = outcome.findings
    held = (*findings, *outcome.counter)
    truth = outcome.truth
    numbering = SourceNumbers(held)
    cards = tuple({card.id: card for top in held for card in top.all_sources()}.values())
    refused = _rejected(held, rejected, cards)
    has_facts = any(numbering.source_of(fact) for fact in numbering.facts)
    planned = (part.title for plan in outcome.contract.plans for part in plan.root.leaves())
    composer = Composer(numbering, brief.language, tuple(card.url for card in cards), truth.checks,
                        (brief.question, *(query.text for query in brief.queries), *planned))  # fmt: skip
    # A writer's frame is taken if a summary is left of it once it is mended.
    usable = has_facts and outcome.frame and composer.read(outcome.frame.summary, None).blocks
    frame = outcome.frame if usable else None
    if has_facts:
        _compose(composer, outcome, frame, words)
    else:
        _nothing_found(composer, findings, cards, refused, words)
    references = numbering.references()
    stood_in = stand_in_lines(actual, words) if reasons and has_facts else ()
    short = (*unanswered(truth.answers, words), *_reasons(outcome, words), *map(plain, stood_in))
    grade_reasons = _each_question_once((*short, *(truth_reasons(truth, words) if has_facts else ())), truth)
    grade: Grade = "nothing_found" if not has_facts else "partial" if grade_reasons else "complete"
    tags = _tags(outcome, len(references), written_by_code=has_facts and reasons and frame is None)
    if actual.stand_ins:
        tags = tuple(dict.fromkeys((*tags, "#PATH_DECISION")))
    data, making = methodology(
        outcome, actual, engine=engine, reasons=reasons, rejected=refused, cards=cards, tags=tags, words=words,
        listed=has_facts,
    )  # fmt: skip
    limitations = _limitations(outcome, frame, grade_reasons, composer, words, cites=bool(references), reasons=reasons)
    text = composer.body()
    tail: list[Block] = []
    if references:
        tail += [_heading(words.references), ReferenceList()]
    if truth.claims:
        by_id = {card.id: card for card in cards}
        tail += [_heading(words.claims), claims_table(truth.claims, by_id, words)]
    tail += [
        _heading(words.methodology),
        *making,
        *truth_lines(truth, (one.verdict for one in text.sentences()), words),
    ]
    if limitations:
        tail += [_heading(words.limitations), *introduced("", ((Words(text=line),) for line in limitations))]
    changed = since(earlier, truth.claims, numbering.facts.values(), cards) if earlier else None
    # What has changed stands below the summary, before the first section.
    first = next((n for n, block in enumerate(text.blocks) if isinstance(block, Heading)), len(text.blocks))
    moved = since_lines(changed, words) if changed else ()
    body = Body(blocks=(*text.blocks[:first], *moved, *text.blocks[first:], *tail))
    title = brief.queries[0].text if len(brief.queries) == 1 and has_facts else brief.question
    title = frame.title if frame and not composer.is_foreign(frame.title) else title.rstrip(" ?？")
    return ReportDocument(
        job_id=job_id,
        grade=grade,
        grade_reasons=grade_reasons,
        answers=truth.answers,
        queries_tried=tuple(dict.fromkeys(record.text for record in all_searches(held))),
        title=plain(title_line(title)).strip() or brief.question,
        language=brief.language,
        question=brief.question,
        query_type=brief.query_type,
        markdown=document_markdown(body, references, words),
        body=body,
        sentences=tuple(
            ReportSentence(text=said, citations=one.citations, verdict=one.verdict, why=one.why, facts=one.facts)
            for one in text.sentences()
            if (said := one.text.strip())
        ),
        references=references,
        claims=truth.claims,
        gates=truth.gates,
        merged_copies=truth.merged_copies,
        shortlists=tuple(node.shortlist for top in findings for node in top.walk() if node.shortlist is not None),
        methodology=data,
        verifiable_ratio=truth.verifiable_ratio,
        confidence=truth.confidence,
        limitations=limitations,
        degraded_mode="#DEGRADED_SEARCH" in tags,
        rounds_log=rounds_log(outcome.findings),
        phase_state=phase_state(outcome.contract, outcome.findings, actual.started_at, outcome.changes),
        changes=reported(outcome, words),
        since=changed,
        insufficient_termination=grade != "complete" and not LIMITS.isdisjoint(tags),
        error_log=_problems(outcome),
        nodes=(
            *(row for top in findings for row in _rows(top, "", truth.claims)),
            *(row for top in outcome.counter for row in _rows(top, findings[0].path if findings else "", truth.claims)),
        ),
        contract=BoundContract(
            hash=outcome.contract.hash,
            question=brief.question,
            queries=tuple(query.text for query in brief.queries),
            minutes=brief.minutes,
            mode=brief.tier or brief.mode,
        ),
    )


def _heading(text: str) -> Heading:
    return Heading(level=2, inline=(Words(text=text),))


# ---- the body


def _summary_by_code(outcome: Outcome, composer: Composer) -> Body:
    """Open the report with the first cited sentence of each branch, where no writer gave a summary."""
    branches = [branch for top in outcome.findings for branch in (top.children or (top,))]
    firsts = (next(filter(None, (_first_cited(node, composer) for node in branch.walk())), None) for branch in branches)
    found = {one.text: one for one in firsts if one}
    return Body(blocks=(Paragraph(sentences=tuple(found.values())[:MAX_SUMMARY]),))


def _first_cited(node: Finding, composer: Composer) -> Sentence | None:
    """Give the first cited sentence of a node; a table row or a quotation does not open a report."""
    body = composer.read(_prose(node, composer), None)
    running = Body(blocks=tuple(block for block in body.blocks if isinstance(block, Paragraph | Listing)))
    cited = (one.model_copy(update={"gap": " "}) for one in running.sentences() if one.facts)
    return next(cited, None) or next(map(_stated, node.facts), None)


def _stated(fact: Fact) -> Sentence:
    return Sentence(inline=(Words(text=" ".join(fact.statement.split())),), facts=(fact.id,))


def unanswered(answers: Iterable[QuestionAnswer], words: Wording) -> tuple[str, ...]:
    """Say in a line each which questions have no answer that holds."""
    notes = {"partly": words.statuses["partial"], "not_found": words.statuses["empty"]}
    return tuple(
        words.part.format(
            title=one.question.rstrip(" ?？"), note=_sentence("; ".join((notes[one.status], *_absent(one, words))))
        )
        for one in answers
        if one.status != "answered"
    )


def _absent(answer: QuestionAnswer, words: Wording) -> tuple[str, ...]:
    opens, closes = words.quotes
    said = ", ".join(f"{opens}{word}{closes}" for word in answer.absent)
    return (words.absent.format(words=said),) if said else ()


def _compose(composer: Composer, outcome: Outcome, frame: Frame | None, words: Wording) -> None:
    findings = outcome.findings
    composer.prose(frame.summary if frame else _summary_by_code(outcome, composer), once=True)
    composer.own(*_other_side(outcome.truth.claims, composer, words))
    missing = [one for one in outcome.truth.answers if one.status == "not_found"]
    composer.own(*introduced("", ((Words(text=line),) for line in unanswered(missing, words))))
    if len(findings) == 1 and findings[0].children:
        # The lead over everything belongs to the summary: it has no section of its own.
        composer.prose(findings[0].markdown, once=True)
        for branch in findings[0].children:
            # Of a report with one section all that is missing was just said.
            _section(composer, branch, 2, words, missing if len(findings[0].children) > 1 else ())
    else:
        for top in findings:
            _section(composer, top, 2, words, missing)
    for title, text in ((words.insight, frame.insight), (words.conclusion, frame.conclusion)) if frame else ():
        composer.heading(2, title)
        composer.prose(text, level=3)


def _other_side(claims: Iterable[Claim], composer: Composer, words: Wording) -> tuple[Block, ...]:
    """Quote what stands against the summary where sources contradict each other and it tells only what one side says."""
    told = set(composer.body().facts())
    found: dict[str, Block] = {}
    for claim in claims:
        sides = [[one for one in claim.evidence if one.stance == stance] for stance in ("supports", "contradicts")]
        silent = [side for side in sides if told.isdisjoint(one.fact_id for one in side)]
        if claim.verdict not in ("contested", "refuted") or len(silent) != 1:
            continue
        if other := next((one for one in silent[0] if composer.numbering.source_of(one.fact_id)), None):
            opening, closing = words.quotes
            line = (Words(text=words.other_side.format(words=f"{opening}{shortened(other.quote)}{closing}")),)
            sentence = composer.numbering.cited(Sentence(inline=line, facts=(other.fact_id,)))
            quoted = sentence.model_copy(update={"verdict": "supported"})  # the words of the source themselves
            found[other.fact_id] = Paragraph(sentences=(quoted,))
    return tuple(found.values())


def _section(
    composer: Composer,
    node: Finding,
    level: int,
    words: Wording,
    open_: Sequence[QuestionAnswer],
    above: str = "",
) -> None:
    """Write a node's prose below its heading, then its children one level deeper; a gap stays in its place."""
    text = _prose(node, composer)
    if not text and not node.children and node.is_later:
        return  # a later round that found nothing is told in Methodology and Limitations, not as an empty section
    if not _same_title(node.title, above):
        composer.heading(level, node.title)
    if text:
        composer.prose(text, level=level + 1, once=True)
    elif not node.children:
        note = _note(node, words)
        missing = node.status in ("failed", "stopped", "partial") and note
        said = words.section_missing.format(note=_sentence(note)) if missing else words.section_empty
        composer.own(paragraph(said))
    for number, child in enumerate(node.children):
        # A first child that is called like its parent would put the same heading twice.
        _section(composer, child, level + 1, words, open_, above=node.title if number == 0 and not text else "")
    if text and node.role == "leaf":
        here = unanswered((one for one in open_ if one.section == node.title), words)
        composer.own(*introduced("", ((Words(text=line),) for line in here)))


def _same_title(title: str, above: str) -> bool:
    short, long = sorted((title.casefold().rstrip(" ?？.…"), above.casefold().rstrip(" ?？.…")), key=len)
    return bool(short) and long.startswith(short)


def _prose(node: Finding, composer: Composer) -> str | Body:
    """Give a node's prose; its facts as a list where the writer cited none of them, nothing where there are none."""
    if composer.read(node.markdown, None).facts() or (node.children and not node.facts):
        return node.markdown
    facts = [fact for fact in node.facts if composer.numbering.source_of(fact.id)][:MAX_LISTED]
    items = tuple((Paragraph(sentences=(_stated(fact),)),) for fact in facts)
    return Body(blocks=(Listing(items=items),)) if items else ""


def _nothing_found(
    composer: Composer,
    findings: tuple[Finding, ...],
    cards: tuple[SourceCard, ...],
    refused: tuple[RejectedSource, ...],
    words: Wording,
) -> None:
    composer.own(paragraph(words.nothing))
    tried = introduced(words.nothing_tried, search_lines(all_searches(findings), words))
    composer.own(*(tried or (paragraph(words.nothing_searched),)))
    composer.own(*introduced(words.nothing_read, source_lines(cards, words)))
    composer.own(*introduced(words.rejected, rejected_lines(refused, words)))
    composer.own(paragraph(words.nothing_next))


# ---- grade, limits, tags


def _reasons(outcome: Outcome, words: Wording) -> tuple[str, ...]:
    """Say why a report is partial: each branch that fell short, addresses, limits of searching, failures of steps."""
    # Of a branch whose question has no answer that is said already; what the user did to one is said in any case.
    said = [one for one in outcome.truth.answers if one.status != "answered"]
    reasons = [
        words.part.format(title=node.title.rstrip(".?!"), note=_sentence(_note(node, words)))
        for top in outcome.findings
        for node in _short(top)
        if node.ended or not any(node.title == one.section or _same_title(node.title, one.question) for one in said)
    ]
    reasons += [words.seed.format(url=url) for url in outcome.seed_failures]
    if "#DEGRADED_SEARCH" in outcome.tags:
        searches = (record for top in outcome.findings for node in top.walk() for record in node.searches)
        failed = "; ".join(dict.fromkeys(failure.reason for record in searches for failure in record.failures))
        limited = words.tags["#DEGRADED_SEARCH"]
        reasons.append(f"{limited.rstrip('.。')} ({failed})." if failed else limited)
    reasons += [words.step.format(message=problem.message) for problem in outcome.problems]
    return tuple(dict.fromkeys(reasons))


def _note(node: Finding, words: Wording) -> str:
    """Say in the report's language what is missing of a node; what the run noted of it is English."""
    own = node.note if words.language == "en" else ""
    return ended_note(node, words) or own or words.statuses.get(node.status, "")


def _short(node: Finding) -> Iterator[Finding]:
    """Find the nodes that are not done, the deepest of each branch: a parent is only short because they are.

    A parent is named too where its note says more than what its branches say by themselves. What a later round followed up
    in vain, or brought and did not use, is no shortfall: whether the questions are answered is told by their answers.
    """
    below = [short for child in node.children if not child.in_vain for short in _short(child)]
    yield from below
    if node.status != "done" and (not below or (node.note and not any(short.title in node.note for short in below))):
        yield node


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?", "。", "…")) else f"{text}."


def _tags(outcome: Outcome, cited: int, *, written_by_code: bool) -> tuple[str, ...]:
    tags = dict.fromkeys(outcome.tags)
    if cited <= 1:
        tags["#LOW_EVIDENCE"] = None
    if written_by_code:
        tags["#PATH_DECISION"] = None  # the summary is made of the sections' first sentences
    if any(plan.assumptions for plan in outcome.contract.plans):
        tags["#COMPLETION_DRIVE"] = None
    if any(claim.verdict == "contested" for claim in outcome.truth.claims):
        tags["#SOURCE_CONFLICT"] = None
    if unverified(outcome.truth):
        tags["#UNVERIFIED"] = None
    return tuple(tags)


def _left_open(insights: Insights) -> tuple[str, ...]:
    """Give what a source states of its limits, and the questions it raises that matter."""
    raised = sorted(insights.follow_up_questions, key=lambda one: -one.confidence)
    return (*insights.source_identified_gaps, *(one.question for one in raised if one.confidence >= MATTERS))


def _limitations(
    outcome: Outcome,
    frame: Frame | None,
    grade_reasons: tuple[str, ...],
    composer: Composer,
    words: Wording,
    *,
    cites: bool,
    reasons: bool,
) -> tuple[str, ...]:
    """List what is open, a line for each question: what code lacks between rounds is said in the loop's own terms."""
    asked = [*(frame.open_questions if frame else ())]
    if reasons:
        asked += [question for top in outcome.findings for node in top.walk() for question in node.open_questions]
    questions = [
        plain(title_line(question)).strip()
        for question in asked
        if question.rstrip().endswith(("?", "？", "؟")) or not composer.is_foreign(question)
    ]
    # What the sources themselves leave open is as much an open question as what the writer names.
    stated = [
        one for top in outcome.findings for node in top.walk() for each in node.insights for one in _left_open(each)
    ]
    opening, closing = words.quotes
    questions += [f"{opening}{' '.join(one.split())}{closing}" for one in dict.fromkeys(stated)][:MAX_STATED]
    unchecked = [words.unchecked] if cites and not outcome.truth.checks else []
    followed = [
        words.part.format(title=node.title.rstrip(".?!"), note=_sentence(_note(node, words)))
        for top in outcome.findings
        for node in top.walk()
        if node.in_vain and node.note and node.title not in {one.section for one in outcome.truth.answers}
    ]
    # Figures of the whole report stand in Methodology, just above.
    counted = set(gate_reasons(outcome.truth, words))
    lines = [line for line in grade_reasons if line not in counted]
    lines += [*unchecked, *weak_claims(outcome.truth, words), *followed, *questions]
    return _each_question_once(lines, outcome.truth)


def _each_question_once(lines: Iterable[str], truth: Truth) -> tuple[str, ...]:
    """Leave out what is said again of a question that has no answer, and what calls an answered one open."""
    left = [one.question.casefold().strip(" ?？؟") for one in truth.answers if one.status != "answered"]
    settled = {one.question.casefold().strip(" ?？؟") for one in truth.answers if one.status == "answered"}
    kept: dict[str, str] = {}
    for line in filter(None, lines):
        low = line.casefold()
        if low.strip(" ?？؟") in settled:
            continue  # a writer that lists what was answered as open
        about = max((question for question in left if question in low), key=len, default=line)
        kept.setdefault(about, line)
    return tuple(kept.values())


# ---- tables of the document


def _rejected(
    findings: tuple[Finding, ...], rejected: tuple[RejectedSource, ...], cards: tuple[SourceCard, ...]
) -> tuple[RejectedSource, ...]:
    """List what was not used: a document that one branch set aside and another one used is not among it."""
    used = {card.url for card in cards}
    named = (source for top in findings for node in top.walk() for source in node.rejected)
    return tuple({source.url: source for source in (*rejected, *named) if source.url not in used}.values())


def _problems(outcome: Outcome) -> tuple[Problem, ...]:
    held = (*outcome.findings, *outcome.counter)
    of_nodes = (problem for top in held for node in top.walk() for problem in node.problems)
    return tuple(dict.fromkeys((*outcome.problems, *of_nodes)))


def _rows(node: Finding, parent: str, claims: Sequence[Claim]) -> Iterator[NodeRow]:
    held = {fact.id for fact in node.all_facts()}
    shown = node.model_dump(include={"path", "role", "title", "seconds", "tokens", "cost_usd", "note"})
    sources = len(node.all_sources())
    resting = sum(any(one.fact_id in held for one in claim.evidence) for claim in claims)
    yield NodeRow(**shown, parent=parent, status=_status(node), sources=sources, claims=resting)
    for child in node.children:
        yield from _rows(child, node.path, claims)


def _status(node: Finding) -> NodeStatus:
    """Give a node's status; one that calls itself done above a failed or stopped child never passes as finished."""
    short = any(_status(child) in ("failed", "stopped", "partial") for child in node.children)
    return "partial" if short and node.status == "done" else node.status
