"""What the report says about its own making: figures beside the forecast, searches, claims, assumptions, tags.

The loop's state in the report: rounds as a log, and `phase_state` in the shape of S0 TR-4.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import unquote

from agents.contracts import report as r
from agents.contracts.body import Block, Line, Table, Words
from agents.contracts.contract import Change, ForecastLine, place
from agents.contracts.fact import MemoryNote
from agents.contracts.finding import Finding, Problem, SearchRecord
from agents.contracts.sources import RejectedSource, Shortlist, SourceCard
from agents.contracts.verification import CONFIDENCE_GATE, EVIDENCE_GATE, RATIO_GATE, Claim, Evidence, Truth
from agents.core.budget import least
from agents.core.time_policy import synthesis_reserve_s
from agents.report.composer import introduced, paragraph, table
from agents.report.references import linked, shortened
from agents.report.wording import Wording, wording
from agents.verify.confidence import questions_answered

LIMITS = frozenset({"#TIME_LIMIT", "#ITERATION_LIMIT", "#TOKEN_LIMIT"})
"""Tags of a run that stopped at a cap."""
UNTOLD = frozenset({"unknown", "undated"})
"""Tags of a chosen source that say nothing."""
_OWN = re.compile(r"(?:library|upload):/[^/]*/")
"""How addresses of documents of the user's own begin: scheme and folder."""
_FORECAST = {
    "searches": "Searches", "sources": "Sources read", "calls": "Model calls", "tokens": "Tokens", "time": "Time",
    "cost": "Cost", "parts": "Parts",
}  # fmt: skip
"""Figures that have a forecast, and how its lines call them."""


@dataclass(frozen=True)
class Making:
    """What is known of how a report was made."""

    outcome: r.Outcome
    actual: r.Actual
    engine: str
    """What wrote, as shown to the reader."""
    reasons: bool
    """False when no language model was used."""
    cards: tuple[SourceCard, ...]
    """All documents that facts were taken from."""
    refused: tuple[RejectedSource, ...]
    """All documents that were found and not used."""

    @cached_property
    def words(self) -> Wording:
        """The report's language."""
        return wording(self.outcome.contract.brief.language)

    @cached_property
    def nodes(self) -> tuple[Finding, ...]:
        """All parts of the tree in reading order."""
        return tuple(node for top in self.outcome.findings for node in top.walk())

    @cached_property
    def searches(self) -> tuple[SearchRecord, ...]:
        """The searches of all nodes in reading order, each text and provider once."""
        challenges = (node for top in self.outcome.counter for node in top.walk())
        records = (record for node in (*self.nodes, *challenges) for record in node.searches)
        return tuple({(record.text, record.provider): record for record in records}.values())

    def data(self, tags: Iterable[str]) -> r.Methodology:
        """Say how it was researched, as data."""
        contract, nodes = self.outcome.contract, self.nodes
        return r.Methodology(
            tags=tuple(r.Tag(tag=tag, text=self.words.tags.get(tag, tag)) for tag in tags),
            engine=self.engine,
            rounds=sum(len(node.rounds) for node in nodes),
            searches=len(self.searches) or self.actual.searches,
            sources_read=len(self.cards) + sum(one.read for one in self.refused),
            sources_rejected=self.refused,
            dispatched_topics=tuple(dict.fromkeys(topic for node in nodes for topic in node.dispatched)),
            skipped_topics=tuple(skip for node in nodes for skip in node.skipped),
            retry_tracking=tuple(entry for node in nodes for entry in node.attempts),
            assumptions=tuple(dict.fromkeys(text for plan in contract.plans for text in plan.assumptions)),
            forecast=contract.forecast,
            actual=self.actual,
        )

    def blocks(self, data: r.Methodology, cited: Iterable[str], verdicts: Iterable[str | None]) -> Iterator[Block]:
        """Say how it was researched, as text; where no source is cited, searches and documents stand in the report itself."""
        words, brief, listed = self.words, self.outcome.contract.brief, set(cited)
        yield paragraph(words.engine_model.format(engine=self.engine) if self.reasons else words.engine_none)
        yield from introduced("", self.stand_ins())
        if any(card.kind == "sample" for card in self.cards):
            yield paragraph(words.sample_note)
        if not self.searches:
            yield paragraph(words.no_search)
        elif listed:
            yield from self.searched()
        yield from introduced("", memory_lines(self.outcome.memory, words))
        for chosen in (node.shortlist for node in self.nodes if node.shortlist is not None):
            yield from introduced(words.chosen, self.chosen_lines(chosen))
        if listed:
            uncited = (card for card in self.cards if card.id not in listed)
            yield from introduced(words.uncited, self.source_lines(uncited))
            yield from introduced(words.rejected, self.rejected_lines())
        yield from introduced(words.assumptions, data.assumptions)
        yield from introduced(words.scope, (limit for query in brief.queries for limit in query.scope_limits))
        yield from introduced(words.changes.lead, self.change_lines())
        yield self._figures(data)
        yield from introduced(
            "", ((Words(text=tag.tag, style=("code",)), Words(text=f" {tag.text}")) for tag in data.tags)
        )
        yield from self._checked(r.tally(verdicts))

    # ---- lists

    def searched(self) -> tuple[Block, ...]:
        """Say where was searched, and list each search with what came of it."""
        words = self.words
        providers = dict.fromkeys(name for one in self.searches for name in one.provider.split(", ") if name)
        lines = []
        for one in self.searches:
            came = words.search_failed.format(reason=one.failed) if one.failed else words.hits.format(count=one.hits)
            lines.append(f"{words.quoted(one.text)} ({came})")
        named = ", ".join(dict.fromkeys(map(words.provider, providers or self.outcome.contract.retrievers)))
        return introduced(words.searched_with.format(providers=named), lines)

    def source_lines(self, cards: Iterable[SourceCard]) -> Iterator[Line]:
        """Write documents that were read."""
        for card in cards:
            sample = f" {self.words.sample}" if card.kind == "sample" else ""
            yield (linked(" ".join(card.title.split()), card.url), *((Words(text=sample),) if sample else ()))

    def chosen_lines(self, chosen: Shortlist) -> Iterator[Line]:
        """Write the sources that a sweep chose, with their tags and why each is on the list; then how balanced it is."""
        words = self.words
        for one in chosen.kept:
            kinds = (words.reasons.get(tag, tag) for tag in (one.tags.authority, one.tags.recency) if tag not in UNTOLD)
            told = "; ".join((", ".join(kinds), *(filter(None, (one.tags.diversity, one.tags.rationale.rstrip("."))))))
            yield (linked(" ".join(one.title.split()), one.url), Words(text=f": {told.removeprefix('; ')}."))
        yield (Words(text=" · ".join(map(words.reason, chosen.balance)) + "."),)

    def rejected_lines(self) -> Iterator[Line]:
        """Write each document that was found and not used, with the reason."""
        for one in self.refused:
            own = _OWN.match(one.url)  # a document of the user's own is called by its name in its folder
            name = unquote(one.url[own.end() :]) if own else one.url
            title = one.title if one.title and one.title != one.url else name
            yield (linked(title, one.url), Words(text=f": {' '.join(self.words.reason(one.why).split())}"))

    def problems(self) -> tuple[Problem, ...]:
        """List every failure that was survived, each once, that of a model in whose place another one answered included."""
        counter = (node for top in self.outcome.counter for node in top.walk())
        found = [*self.outcome.problems, *(one for node in (*self.nodes, *counter) for one in node.problems)]
        replaced = (f"{one.stood_in_for}: {one.because}" for one in self.actual.stand_ins)
        found += [Problem(where="job", type="ModelError", message=said, retryable=True) for said in replaced]
        return tuple(dict.fromkeys(found))

    def stand_ins(self) -> tuple[str, ...]:
        """Say which model answered in whose place, and why."""
        return tuple(
            self.words.stood_in.format(
                model=one.model, bound=one.stood_in_for, count=one.answers, reason=one.because
            ).strip()
            for one in self.actual.stand_ins
        )

    def _figures(self, data: r.Methodology) -> Table:
        actual, words = self.actual, self.words
        empty, fetched = actual.pages_empty, actual.pages_fetched
        values = {
            "time": words.unknown if actual.seconds is None else duration(actual.seconds, words),
            "searches": str(data.searches),
            "sources": str(data.sources_read),
            "rejected": str(len(data.sources_rejected)),
            "empty": f"{empty} / {fetched} ({empty / fetched:.0%})" if fetched else "–",
            "rounds": str(data.rounds),
            "calls": str(actual.model_calls),
            "tokens": f"{actual.tokens_in:,}; {actual.tokens_out:,}".replace(",", "\u202f").replace(";", ","),
            "cost": words.unknown if actual.cost_usd is None else money(actual.cost_usd, words),
            "parts": str(sum(part.role == "leaf" for part in self.nodes)),
        }
        expected = {line.name: _range(line, words) for line in (data.forecast.lines if data.forecast else ())}
        rows = ((words.figures[key], expected.get(_FORECAST.get(key, ""), "–"), value) for key, value in values.items())
        return table((words.figure, words.forecast, words.actual), ("", "right", "right"), rows)

    # ---- claims and checks

    def whole_report(self) -> Iterator[str]:
        """Say which figures of the whole report fall short."""
        truth, said = self.outcome.truth, self.words.ledger
        for gate in truth.gates:
            if gate.passed or gate.reached is None:
                continue
            if gate.name == CONFIDENCE_GATE:
                done, asked = questions_answered(truth.answers)
                if asked and gate.reached * asked >= gate.wanted * done:
                    continue  # it is what is not answered that lowers it, and that is told by itself
                yield f"{said.confidence.format(value=round(gate.reached)).rstrip('.。')} (< {gate.wanted:g})."
            elif gate.name == RATIO_GATE and not unverified(truth):
                stating = [check for check in truth.checks if check.replaced_by != "" and check.verdict != "no_fact"]
                supported = sum(check.verdict == "supported" for check in stating)
                yield said.sentences.format(n=supported, m=len(stating), ratio=self.words.number(gate.reached))

    def doubts(self) -> Iterator[str]:
        """Say what keeps a report from being complete: claims nobody checked, sentences nothing carries."""
        truth, said = self.outcome.truth, self.words.ledger
        if left := sum(claim.verdict == "not_checked" for claim in truth.claims):
            yield said.unchecked.format(n=left, m=len(truth.claims))
        if short := unverified(truth):
            yield said.unverified.format(n=short)

    def weak_claims(self) -> Iterator[str]:
        """Say how many claims rest on less than was asked for; what each rests on, the table of the claims says."""
        truth = self.outcome.truth
        for gate in truth.gates:
            if gate.name == EVIDENCE_GATE and not gate.passed and (short := int(gate.wanted - (gate.reached or 0))):
                yield self.words.ledger.weak.format(n=short, m=len(truth.claims))

    def _checked(self, counts: tuple[int, int]) -> tuple[Block, ...]:
        """Say what was checked and what came of it, as the report's head counts it; empty when nothing was."""
        truth, said, (good, judged) = self.outcome.truth, self.words.ledger, counts
        if not judged:
            return ()
        lines = [said.sentences.format(n=good, m=judged, ratio=self.words.number(good / judged))]
        mended = sum(bool(check.replaced_by) for check in truth.checks)
        struck = sum(check.replaced_by == "" for check in truth.checks)
        if mended or struck:
            lines.append(said.mended.format(n=mended, m=struck))
        if truth.confidence is not None:
            lines.append(said.confidence.format(value=f"{truth.confidence:.0f}"))
            done, asked = questions_answered(truth.answers)
            lines += [said.weighs.format(n=self.words.number(done, "0.#"), m=asked)] if asked else []
        return (paragraph(" ".join(lines)),)

    # ---- changes after the authorization

    def changes(self) -> tuple[r.ReportChange, ...]:
        """Say of every change when it was made, in which words, and what it did."""
        return tuple(
            r.ReportChange(
                number=one.number, seconds=one.seconds, kind=one.kind, words=one.words, effect=" ".join(self._effect(one))
            )
            for one in self.outcome.changes
        )  # fmt: skip

    def change_lines(self) -> Iterator[str]:
        """Write one line for each change."""
        for one in self.changes():
            clock = f"{int(one.seconds) // 60}:{int(one.seconds) % 60:02d}"
            yield self.words.changes.line.format(number=one.number, time=clock, text=one.effect)

    def ended(self, node: Finding) -> str:
        """Say by whose wish a branch ended early; empty where it was nobody's."""
        if node.ended == "dropped":
            return self.words.changes.dropped_note
        if node.ended == "stopped":
            return self.words.changes.stopped_note if node.all_facts() else self.words.statuses["stopped"]
        return ""

    def _effect(self, change: Change) -> Iterator[str]:
        said, title = self.words.changes, change.title or change.node
        within = [part for part in self.nodes if f"{place(part.path)}/".startswith(f"{change.node}/")]
        match change.kind:
            case "limits":
                limits = change.limits
                start, end = limits.date_from or "", limits.date_to or ""
                span = said.between if start and end else said.since if start else said.until
                told = [said.domains.format(value=", ".join(limits.domains))] if limits.domains else []
                told += [said.exclude.format(value=", ".join(limits.exclude_domains))] if limits.exclude_domains else []
                told += [span.format(start=start, end=end)] if start or end else []
                yield from (*told, said.from_then_on) if told else ()
                if limits.seconds is not None:
                    yield said.total.format(value=f"{limits.seconds / 60:.3g} min")
            case "finish":
                yield said.finish if change.node in {"", "job"} else said.finish_branch.format(title=title)
            case "stop":
                yield said.stop.format(title=title)
                if kept := sum(len(part.facts) for part in within if part.ended == "stopped"):
                    yield said.kept.format(facts=kept)
            case "drop":
                yield (said.stop if any(part.facts for part in within) else said.drop).format(title=title)
            case "retry":
                served = any(part.tries > 1 and place(part.path) == change.node for part in self.nodes)
                yield (said.retry if served else said.too_late).format(title=title)
            case "guidance":
                yield said.guidance.format(words=self.words.quoted(change.words))
            case "restart":
                yield said.restart

    # ---- the loop's state

    def phase_state(self) -> r.PhaseState:
        """Describe every node's loop; the job's is the root's, with the retries of all of them."""
        caps, queries, given = self.outcome.contract.caps, self.outcome.findings, self.outcome.contract.brief.minutes
        authorized_s = None if given is None else given * 60
        # Changes after the authorization may have shortened the time.
        total_s = least(authorized_s, *(change.limits.seconds for change in self.outcome.changes))
        budget = r.TimeBudget(
            total_minutes=None if total_s is None else total_s / 60,
            synthesis_reserve_minutes=round(synthesis_reserve_s(total_s) / 60, 3),
            started_at=self.actual.started_at,
        )

        def state(node: Finding, over: Iterable[Finding]) -> r.ResearchState:
            history = tuple(record.decision for record in node.rounds)
            return r.ResearchState(
                time_budget=budget,
                iteration=r.Iteration(current=len(node.rounds), max=caps.rounds),
                retry_tracking=r.RetryTracking.of(
                    entry for top in over for part in top.walk() for entry in part.attempts
                ),
                gap_analysis=r.GapAnalysis(loop_decision=history[-1] if history else None, history=history),
            )

        def own(nodes: Iterable[Finding]) -> tuple[r.NodePhase, ...]:
            return tuple(r.NodePhase(node=node.path, research=state(node, (node,))) for node in nodes)

        return r.PhaseState(
            research=state(queries[0], queries) if queries else r.ResearchState(),
            nodes=own(node for node in self.nodes if node.rounds),
            queries=own(queries if len(queries) > 1 else ()),
        )


def claims_table(claims: Iterable[Claim], cards: Iterable[SourceCard], words: Wording) -> Table:
    """Put claims into a table: statement, verdict, confidence, who speaks for and against, the counter-search."""
    said, read = words.ledger, {card.id: card for card in cards}

    def who(evidence: Sequence[Evidence]) -> str:
        if not evidence:
            return "–"
        known = (read.get(one.source_id) for one in evidence)
        sites = ((card.site or card.title) if card else one.domain for card, one in zip(known, evidence, strict=True))
        names = list(dict.fromkeys(sites))
        return f"{len(evidence)}: {', '.join(names[:3])}" + (" …" if len(names) > 3 else "")

    rows = []
    for claim in claims:
        against, counter = claim.said("contradicts", "qualifies"), claim.counter_search
        # A reader must see by what words a claim is contradicted or qualified.
        quoted = f": {words.quoted(shortened(against[0].quote))}" if against and against[0].quote else ""
        in_vain = words.statuses["empty"] if counter.queries else said.not_searched
        searched = said.nothing if counter.was_made else in_vain
        searched = said.found.format(n=counter.found) if counter.found else searched
        sure = "–" if claim.confidence is None else words.number(claim.confidence)
        pro, contra = who(claim.said("supports")), who(against) + quoted
        verdict = words.claim_verdicts[claim.verdict]
        rows.append((claim.text, verdict, sure, pro, contra, searched))
    head = (said.claim, said.verdict, said.sure, said.pro, said.against, said.counter)
    return table(head, ("", "", "right", "", "", ""), rows)


def unverified(truth: Truth) -> int:
    """Count the sentences that stand in the report although nothing carries them."""
    return sum(one.verdict in {"unsupported", "contradicted"} and one.replaced_by is None for one in truth.checks)


def memory_lines(note: MemoryNote, words: Wording) -> Iterator[str]:
    """Say what was taken over from earlier research, what contradicts it, and whether it was left out."""
    said = words.memory
    if note.reused:
        yield said.reused.format(facts=note.reused, sources=note.sources, date=note.since)
    if note.answers:
        yield said.answers.format(answers=note.answers)
    for one in note.conflicts:
        yield said.contradicted.format(**{**one.model_dump(), "date": one.since})
    if note.fault:
        yield said.fault.format(reason=note.fault)


def _range(line: ForecastLine, words: Wording) -> str:
    if line.low is None or line.high is None:
        return words.unknown
    if line.unit == "USD" and not line.high:
        return words.free
    ends = dict.fromkeys(words.number(value, "0.##") for value in (line.low, line.high))
    unit = line.unit if line.unit.casefold() not in line.name.casefold() else ""
    return f"{'–'.join(ends)} {unit}".strip()


def duration(seconds: float, words: Wording) -> str:
    """Write a time: `0.4 s`, `38 s`, `4 min 05 s`."""
    if seconds < 60:
        return f"{words.number(seconds, '0.0' if seconds < 10 else '0')} s"
    return f"{round(seconds) // 60} min {round(seconds) % 60:02d} s"


def money(usd: float, words: Wording) -> str:
    """Write an amount in US dollars, without the sign that formulas use; small amounts with four places."""
    if not usd:
        return words.free
    return f"{words.number(usd, '0.0000' if 0 < usd < 0.1 else '0.00')} USD"
