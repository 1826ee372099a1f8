"""The report document, put together from an outcome: pure, and every citation tied to its quote by construction."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, zip_longest

from agents.contracts import report as r
from agents.contracts.body import Block, Body, Heading, Listing, Paragraph, ReferenceList, Sentence, Words, plain
from agents.contracts.fact import Fact
from agents.contracts.finding import Finding, NodeStatus, QuestionAnswer
from agents.contracts.sources import RejectedSource
from agents.contracts.verification import Claim
from agents.nlp.tokens import content_words
from agents.report.composer import Composer, introduced, paragraph, title_line
from agents.report.earlier import since, since_lines
from agents.report.methodology import LIMITS, Making, claims_table, unverified
from agents.report.references import linked, shortened
from agents.report.wording import Wording
from agents.report.write_markdown import document_markdown

MAX_NEAR, NEAR_BESIDE = 5, 3
"""Passages that come nearest, at most: where nothing was found, and beside what answers in part."""
MAX_SUMMARY = 5
"""Sentences of a summary that code puts together, at most."""
MAX_STATED, MATTERS = 5, 0.5
"""Limits and questions of the sources themselves that a report lists, at most; confidence from which a question matters."""
MAX_LISTED = 8
"""Facts that stand for a section which has no prose, at most; the others stay in the findings of the job."""
SAME = 0.75
"""Part of the words of two lines that must be the same for the second to say nothing new."""


def build(
    job_id: str, outcome: r.Outcome, actual: r.Actual, *, engine: str, reasons: bool,
    rejected: tuple[RejectedSource, ...] = (), earlier: r.Earlier | None = None,
) -> r.ReportDocument:  # fmt: skip
    """Put the report together. Documents that were not used, and that no finding names, are `rejected`.

    Marks of facts that no finding holds are dropped; an unknown cost is said to be unknown.
    """
    held = tuple(node for top in (*outcome.findings, *outcome.counter) for node in top.walk())
    cards = tuple({card.id: card for node in held for card in node.sources}.values())
    used = {card.url for card in cards}
    named = (*rejected, *(source for node in held for source in node.rejected))
    # A document that one branch set aside and another one used is not refused.
    refused = tuple({source.url: source for source in named if source.url not in used}.values())
    making = Making(outcome, actual, engine, reasons, cards, refused)
    return _Report(making).document(job_id, earlier)


class _Report:
    def __init__(self, making: Making) -> None:
        self.making, self.outcome, self.truth = making, making.outcome, making.outcome.truth
        self.words, self.brief = making.words, making.outcome.contract.brief
        planned = (part.title for plan in self.outcome.contract.plans for part in plan.root.leaves())
        self._quoted = set[str]()
        """Facts that were put beside what they contradict."""
        self.composer = Composer(
            (*self.outcome.findings, *self.outcome.counter),
            self.brief.language,
            (self.brief.question, *(query.text for query in self.brief.queries), *planned),
            self.truth.checks,
        )
        self.has_facts = any(map(self.composer.source_of, self.composer.facts))
        frame = self.outcome.frame
        # A writer's frame is taken if a summary is left of it once it is mended.
        usable = self.has_facts and frame and self.composer.read(frame.summary, None).blocks
        self.frame = frame if usable else None

    def document(self, job_id: str, earlier: r.Earlier | None) -> r.ReportDocument:
        outcome, truth, making, words = self.outcome, self.truth, self.making, self.words
        if self.has_facts:
            self._compose()
        else:
            self._nothing_found()
        text, references = self.composer.body(), self.composer.references(words.reason)
        reasons = self._grade_reasons()
        grade: r.Grade = "nothing_found" if not self.has_facts else "partial" if reasons else "complete"
        tags = self._tags(len(references))
        data = making.data(tags)
        limitations = self._limitations(reasons, cites=bool(references))
        changed = since(earlier, truth.claims, self.composer.facts.values(), making.cards) if earlier else None
        body = self._body(text, [
            *((_heading(words.references), ReferenceList()) if references else ()),
            *((_heading(words.claims), claims_table(truth.claims, making.cards, words)) if truth.claims else ()),
            _heading(words.methodology),
            *making.blocks(data, (one.source_id for one in references), (one.verdict for one in text.sentences())),
            *((_heading(words.limitations), *introduced("", limitations)) if limitations else ()),
        ], since_lines(changed, words) if changed else ())  # fmt: skip
        queries = tuple(query.text for query in self.brief.queries)
        above = next((top.path for top in outcome.findings), "")
        return r.ReportDocument(
            job_id=job_id, grade=grade, grade_reasons=reasons, answers=truth.answers,
            queries_tried=tuple(dict.fromkeys(record.text for record in making.searches)),
            title=plain(title_line(self._title())).strip() or self.brief.question,
            language=self.brief.language,
            question=self.brief.question,
            query_type=self.brief.query_type,
            markdown=document_markdown(body, references, words),
            body=body,
            sentences=tuple(
                r.ReportSentence(text=said, citations=one.citations, verdict=one.verdict, why=one.why, facts=one.facts)
                for one in text.sentences()
                if (said := one.text.strip())
            ),
            references=references,
            claims=truth.claims,
            gates=truth.gates,
            shortlists=tuple(node.shortlist for node in making.nodes if node.shortlist is not None),
            methodology=data,
            verifiable_ratio=truth.verifiable_ratio,
            confidence=truth.confidence,
            limitations=limitations,
            degraded_mode="#DEGRADED_SEARCH" in tags,
            rounds_log=tuple(record for node in making.nodes for record in node.rounds),
            phase_state=making.phase_state(),
            changes=making.changes(),
            since=changed,
            insufficient_termination=grade != "complete" and not LIMITS.isdisjoint(tags),
            error_log=making.problems(),
            nodes=(
                *(row for top in outcome.findings for row in _rows(top, "", truth.claims, self.words)),
                *(row for top in outcome.counter for row in _rows(top, above, truth.claims, self.words)),
            ),
            contract=r.BoundContract(
                hash=outcome.contract.hash, question=self.brief.question, queries=queries, minutes=self.brief.minutes,
                mode=self.brief.tier or self.brief.mode,
            ),
        )  # fmt: skip

    def _title(self) -> str:
        queries = self.brief.queries
        asked = queries[0].text if len(queries) == 1 and self.has_facts else self.brief.question
        title = self.frame.title if self.frame and not self.composer.is_foreign(self.frame.title) else asked
        return next((one for one in (asked, self.brief.question) if one.rstrip(" ?？") == title.rstrip(" ?？")), title)

    # ---- the body

    def _body(self, text: Body, tail: Sequence[Block], moved: Sequence[Block]) -> Body:
        """Put what has changed below the summary, before the first section."""
        first = next((n for n, block in enumerate(text.blocks) if isinstance(block, Heading)), len(text.blocks))
        return Body(blocks=(*text.blocks[:first], *moved, *text.blocks[first:], *tail))

    def _compose(self) -> None:
        composer, findings, frame = self.composer, self.outcome.findings, self.frame
        composer.prose(self._to_the_point(frame.summary) if frame else self._summary_by_code())
        composer.own(*self._other_side(0))
        missing = [one for one in self.truth.answers if one.status == "not_found" or one.by_meaning]
        composer.own(*introduced("", self._unanswered(missing)))
        if len(findings) == 1 and findings[0].children:
            # The lead over everything belongs to the summary: it has no section of its own.
            composer.prose(findings[0].markdown)
            for branch in findings[0].children:
                self._section(branch, 2)
        else:
            for top in findings:
                self._section(top, 2)
        for title, prose in (
            ((self.words.insight, frame.insight), (self.words.conclusion, frame.conclusion)) if frame else ()
        ):
            composer.heading(2, title)
            composer.prose(prose, level=3)

    def _to_the_point(self, summary: str) -> Body:
        """Leave out of a summary what answers nothing that was asked, where the rest does: its section tells it.

        The summary that is itself the only section has no other to tell it.
        """
        body, asked = self.composer.read(summary, None), [one for one in self.truth.answers if one.asked]
        wanted = {fact for one in asked for fact in one.facts}
        for claim in self.truth.claims:  # with the other side of what is disputed
            sides = {one.fact_id for one in claim.evidence}
            wanted |= set() if wanted.isdisjoint(sides) else sides
        is_section = any(part.markdown == summary for top in self.outcome.findings for part in top.walk())
        if is_section or wanted.isdisjoint(body.facts()):
            return body
        return body.changed(lambda one: None if one.facts and wanted.isdisjoint(one.facts) else one)

    def _summary_by_code(self) -> Body:
        """Open the report with the first cited sentence of each branch, where no writer gave a summary."""
        opening: dict[str, Sentence] = {}
        for branch in (branch for top in self.outcome.findings for branch in (top.children or (top,))):
            parts = (block for node in branch.walk() for block in self.composer.read(self._prose(node), None).blocks)
            running = Body(blocks=tuple(block for block in parts if isinstance(block, Paragraph | Listing)))
            if first := next((one for one in running.sentences() if one.facts), None):
                opening.setdefault(first.text, first.model_copy(update={"gap": " "}))
        return Body(blocks=(Paragraph(sentences=tuple(opening.values())[:MAX_SUMMARY]),))

    def _prose(self, node: Finding) -> str | Body:
        """Give a node's prose; its facts as a list where the writer cited none of them, nothing where there are none."""
        if self.composer.read(node.markdown, None).facts() or (node.children and not node.facts):
            return node.markdown
        facts = [fact for fact in node.facts if self.composer.source_of(fact.id)][:MAX_LISTED]
        items = tuple((Paragraph(sentences=(_stated(fact),)),) for fact in facts)
        return Body(blocks=(Listing(items=items),)) if items else ""

    def _other_side(self, start: int) -> Iterator[Block]:
        """Quote what stands against the blocks from one on, where sources contradict each other and they tell one side only."""
        composer = self.composer
        told = set(Body(blocks=tuple(composer.blocks[start:])).facts())
        for claim in self.truth.claims:
            sides = [[one for one in claim.evidence if one.stance == stance] for stance in ("supports", "contradicts")]
            silent = [side for side in sides if told.isdisjoint(one.fact_id for one in side)]
            if claim.verdict not in ("contested", "refuted") or len(silent) != 1:
                continue
            telling = {one.source_id for side in sides if side is not silent[0] for one in side}
            others = sorted(silent[0], key=lambda one: one.source_id in telling)
            other = next((one for one in others if composer.source_of(one.fact_id)), None)
            if other and other.fact_id not in self._quoted:
                self._quoted.add(other.fact_id)
                form = self.words.own_other_side if other.source_id in telling else self.words.other_side
                said = form.format(words=self.words.quoted(shortened(other.quote)))
                sentence = composer.cited(Sentence(inline=(Words(text=said),), facts=(other.fact_id,)))
                # The words of the source themselves.
                yield Paragraph(sentences=(sentence.model_copy(update={"verdict": "supported"}),))

    def _section(self, node: Finding, level: int) -> None:
        """Write a node's prose below its heading, then its children; which questions are open the summary has said."""
        composer, words, prose = self.composer, self.words, self._prose(node)
        if not prose and not node.children and node.is_later:
            return  # a later round that found nothing is told in Methodology and Limitations, not as an empty section
        elsewhere = [one for one in self.truth.answers if one.status != "not_found"]
        if not prose and node.status == "empty" and _told(node, elsewhere):
            return  # what other branches found for its question stands in the summary
        composer.heading(level, node.title)
        if prose:
            start = len(composer.blocks)
            if self.frame is None or node.markdown != self.frame.summary:  # else it stands above, all of it
                composer.prose(prose, level=level + 1)
            composer.own(*self._other_side(start))
            if any(one.section in ("", node.title) and one.status != "answered" for one in self.truth.answers):
                composer.own(*self._near(node, most=NEAR_BESIDE))
        elif not node.children:
            note = self._note(node) if node.status in ("failed", "stopped", "partial") else ""
            said = (
                words.section_missing.format(note=_sentence(note)) if note else "" if node.near else words.section_empty
            )
            composer.own(*([paragraph(said)] if said else ()))
            composer.own(*self._near(node))
        for child in node.children:
            self._section(child, level + 1)

    def _nothing_found(self) -> None:
        composer, words, making = self.composer, self.words, self.making
        near = any(node.near for node in making.nodes)
        composer.own(
            paragraph(_sentence(words.unrecognised[:1].upper() + words.unrecognised[1:]) if near else words.nothing)
        )
        composer.own(*self._near(*making.nodes))
        composer.own(*(making.searched() or (paragraph(words.nothing_searched),)))
        composer.own(*introduced(words.nothing_read, making.source_lines(making.cards)))
        composer.own(*introduced(words.rejected, making.rejected_lines()))
        composer.own(paragraph(words.nothing_next))

    def _near(self, *nodes: Finding, most: int = MAX_NEAR) -> Sequence[Block]:
        """Quote what comes nearest to questions that nothing answers, each in turn, as that: nothing rests on it."""
        lines = (
            (Words(text=f"{self.words.quoted(one.words)} "), linked(" ".join(one.title.split()), one.url))
            for one in chain.from_iterable(zip_longest(*(node.near for node in nodes)))
            if one
        )
        return introduced(self.words.nearest, islice(dict.fromkeys(lines), most))

    # ---- grade, limits, tags

    def _unanswered(self, answers: Iterable[QuestionAnswer]) -> Iterator[str]:
        """Say in a line each which questions have no answer that holds."""
        words = self.words
        for one in answers:
            if one.status != "answered":
                near = any(node.near and _told(node, (one,)) for node in self.making.nodes)
                said = words.unsure if one.by_meaning else words.statuses["partial"] if one.status == "partly" else ""
                said = said or (words.unrecognised if near else words.statuses["empty"])
                if one.absent:
                    said += f"; {words.absent.format(words=', '.join(map(words.quoted, one.absent)))}"
                yield words.part.format(title=one.question.rstrip(" ?？"), note=_sentence(said))

    def _of_part(self, node: Finding) -> str:
        return self.words.part.format(title=node.title.rstrip(".?!"), note=_sentence(self._note(node)))

    def _note(self, node: Finding) -> str:
        """Say in the report's language what is missing of a node; errors, and languages without reasons, know English."""
        can_say = self.words.language == "en" or (self.words.has_reasons and node.status != "failed")
        own = self.words.reason(node.note) if can_say else ""
        return self.making.ended(node) or own or self.words.statuses.get(node.status, "")

    def _grade_reasons(self) -> tuple[str, ...]:
        """Say why a report is partial: open questions, branches that fell short, failures, what was not verified."""
        outcome, words, making = self.outcome, self.words, self.making
        # Of a branch whose question has no answer that is said already; what the user did to one is said in any case.
        said = [one for one in self.truth.answers if one.status != "answered" and (one.asked or self.has_facts)]
        short = [node for top in outcome.findings for node in _short(top)]
        # An empty branch that nothing failed in lacks nothing that another one has answered.
        known = {True: self.truth.answers, False: said}
        empty = {node.path for node in short if node.status == "empty" and not node.problems}
        short = [node for node in short if node.ended or not _told(node, known[node.path in empty])]
        reasons = [*self._unanswered(said), *map(self._of_part, short)]
        reasons += [words.seed.format(url=url) for url in outcome.seed_failures]
        if "#DEGRADED_SEARCH" in outcome.tags:
            failures = (failure for node in making.nodes for record in node.searches for failure in record.failures)
            why = ((one.provider, one.reason.removeprefix(one.provider).strip()) for one in failures)
            told = dict.fromkeys(f"{words.provider(name)} {words.reason(reason)}" for name, reason in why)
            told = told or dict.fromkeys(words.reason(one.failed).rstrip(".") for one in making.searches if one.failed)
            failed, limited = "; ".join(told), words.tags["#DEGRADED_SEARCH"]
            reasons.append(f"{limited.rstrip('.。')} ({failed})." if failed else limited)
        reasons += [words.step.format(message=problem.message) for problem in outcome.problems]
        reasons += making.stand_ins() if making.reasons else ()
        if self.has_facts:
            reasons += [*making.doubts(), *making.whole_report()]
        return tuple(dict.fromkeys(filter(None, reasons)))

    def _tags(self, cited: int) -> tuple[str, ...]:
        outcome = self.outcome
        by_code = self.has_facts and self.making.reasons and self.frame is None  # of the sections' first sentences
        raised = {
            "#LOW_EVIDENCE": cited <= 1,
            "#PATH_DECISION": by_code or bool(self.making.actual.stand_ins),
            "#COMPLETION_DRIVE": any(plan.assumptions for plan in outcome.contract.plans),
            "#SOURCE_CONFLICT": any(map(_differs, self.truth.claims)),
            "#UNVERIFIED": bool(unverified(self.truth)),
        }
        return tuple(dict.fromkeys((*outcome.tags, *(tag for tag, holds in raised.items() if holds))))

    def _limitations(self, reasons: tuple[str, ...], *, cites: bool) -> tuple[str, ...]:
        """List what is open, a line for each question: what code lacks between rounds is said in the loop's own terms."""
        making = self.making
        asked = [*(self.frame.open_questions if self.frame else ())]
        asked += [question for node in making.nodes if making.reasons for question in node.open_questions]
        questions = [
            plain(title_line(question)).strip()
            for question in asked
            if question.rstrip().endswith(("?", "？", "؟")) or not self.composer.is_foreign(question)
        ]
        # What the sources used leave open is as much an open question as what the writer names.
        stated = []
        for insights in (insights for node in making.nodes if self.has_facts for insights in node.insights):
            raised = sorted(insights.follow_up_questions, key=lambda one: -one.confidence)
            stated += [*insights.source_identified_gaps, *(one.question for one in raised if one.confidence >= MATTERS)]
        questions += list(map(self.words.quoted, dict.fromkeys(stated)))[:MAX_STATED]
        # What later rounds followed up for a question without an answer is told by that question.
        answered = all(one.status == "answered" for one in self.truth.answers)
        followed = [one.title.rstrip(".?!") for one in making.nodes if one.in_vain and one.note and answered]
        # Figures of the whole report, and that search was limited, stand in Methodology, just above.
        said = (*making.whole_report(), self.words.tags["#DEGRADED_SEARCH"].rstrip(".。"))
        lines = [line for line in reasons if not line.startswith(said)]
        lines += [self.words.unchecked] if cites and not self.truth.checks else []
        lines += making.weak_claims()
        lines += [self.words.in_vain.format(titles="; ".join(dict.fromkeys(followed)))] if followed else []
        # What is answered, or said above in other words, is not open.
        told = [frozenset(content_words(line)) for line in (*lines, *(one.question for one in self.truth.answers))]
        for question in filter(None, questions):
            words = frozenset(content_words(question))
            if not any(_says_the_same(words, one) for one in told):
                lines.append(question)
                told.append(words)
        return tuple(dict.fromkeys(lines))


def _heading(text: str) -> Heading:
    return Heading(level=2, inline=(Words(text=text),))


def _differs(claim: Claim) -> bool:
    """Tell whether sources contradict each other about a claim, and not one of them itself."""
    sources = {one.source_id for one in claim.said("supports", "qualifies", "contradicts")}
    return claim.verdict == "contested" and len(sources) > 1


def _stated(fact: Fact) -> Sentence:
    return Sentence(inline=(Words(text=" ".join(fact.statement.split())),), facts=(fact.id,))


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?", "。", "…")) else f"{text}."


def _says_the_same(words: frozenset[str], other: frozenset[str]) -> bool:
    """Tell lines that differ in a few words of little weight; another figure is another matter."""
    short = min(len(words), len(other))
    figures = any(char.isdigit() for word in words - other for char in word)
    return words == other or (short > 2 and len(words & other) >= SAME * short and not figures)


def _told(node: Finding, said: Sequence[QuestionAnswer]) -> bool:
    asked = [frozenset(content_words(one)) for one in node.asked]
    alike = (_says_the_same(frozenset(content_words(one.question)), words) for one in said for words in asked)
    return any(node.title == one.section or _same_title(node.title, one.question) for one in said) or any(alike)


def _same_title(title: str, above: str) -> bool:
    short, long = sorted((title.casefold().rstrip(" ?？.…"), above.casefold().rstrip(" ?？.…")), key=len)
    return bool(short) and long.startswith(short)


def _short(node: Finding) -> Iterator[Finding]:
    """Find the nodes that are not done, the deepest of each branch: a parent is only short because they are.

    A parent is named too where its note says more than what its branches say by themselves. What a later round followed up
    in vain, or brought and did not use, is no shortfall: whether the questions are answered is told by their answers.
    """
    below = [short for child in node.children if not child.in_vain for short in _short(child)]
    yield from below
    if node.status != "done" and (not below or (node.note and not any(short.title in node.note for short in below))):
        yield node


def _rows(node: Finding, parent: str, claims: Sequence[Claim], words: Wording) -> Iterator[r.NodeRow]:
    held = {fact.id for fact in node.all_facts()}
    shown = node.model_dump(include={"path", "role", "title", "seconds", "tokens", "cost_usd"})
    resting = sum(any(one.fact_id in held for one in claim.evidence) for claim in claims)
    sources, note = len(node.all_sources()), words.reason(node.note)
    yield r.NodeRow(**shown, parent=parent, status=_status(node), note=note, sources=sources, claims=resting)
    for child in node.children:
        yield from _rows(child, node.path, claims, words)


def _status(node: Finding) -> NodeStatus:
    """Give a node's status; one that calls itself done above a failed or stopped child never passes as finished."""
    short = any(_status(child) in ("failed", "stopped", "partial") for child in node.children)
    return "partial" if short and node.status == "done" else node.status
