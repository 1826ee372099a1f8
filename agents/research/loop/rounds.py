"""The rounds of one executor: choose topics, drop repeats, run children side by side, gather, decide.

New topics become leaves of the same executor, never executors: rounds add breadth, depth is the plan's alone.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace

from agents.contracts.contract import place
from agents.contracts.fact import LinkedSource
from agents.contracts.finding import Finding, Problem
from agents.contracts.frozen import Said
from agents.contracts.plan import (
    Leaf,
    LeafBudget,
    Node,
    Phase,
    Priority,
    ReflectionInput,
    ReflectionResponse,
    RoundRecord,
    SkippedTopic,
)
from agents.contracts.sources import Candidate
from agents.contracts.verification import Claim
from agents.core.budget import Limits
from agents.core.errors import StepFailed
from agents.core.events import Noted, RoundEnded
from agents.core.port import Ctx, computed, together
from agents.core.time_policy import round_limits
from agents.offline.judgements import all_are_silent
from agents.offline.judgements import reflect as steps_of
from agents.offline.questions import asks_for_facts
from agents.research.loop import after_reading as between
from agents.research.loop import loop_decision as rules
from agents.research.loop.branch_retry import Again, ended
from agents.research.loop.success import Success, met, novelty
from agents.research.loop.topics import Dispatched
from agents.research.reading.hold_extraction import WANTED
from agents.research.reading.searching import LeafGiven, NodeGiven, Tell, sub_questions, teller
from agents.research.reading.shortlisting import fed
from agents.research.run_context import RunContext
from agents.research.writing.closing import Closed, EndGiven, RoundEnd, reflect
from agents.research.writing.sections import SectionGiven
from agents.roles import REFLECTOR
from agents.search.scope_filter import ruled_out

log = logging.getLogger(__name__)

GOES_ON = frozenset({"continue", "sufficient", "criteria", "no_gaps", "iterations"})
"""Ends of a phase that another may follow; where nothing new is found, only one that asks what others do not agree on."""
LATER_SEARCHES, LATER_SOURCES = 2, 4
"""Searches and sources of one leaf of a later round, at most."""
URGENCY: dict[Priority, int] = {"high": 0, "normal": 1, "low": 2}
COVERED = "other branches already cover all its topics"
"""Note of an executor whose every topic was a repeat: it made no search, and is taken out of the tree again."""


class Rounds:
    """What one executor's rounds have come to."""

    def __init__(self, ctx: Ctx, context: RunContext, given: NodeGiven, tell: Tell) -> None:
        self.ctx, self.context, self.given, self.tell = ctx, context, given, tell
        self.loop, self._is_asked = given.setting.loop, context.models[REFLECTOR.name].reasons
        self.findings: list[Finding] = []
        self.problems: list[Problem] = []
        self.records: list[RoundRecord] = []
        self.dispatched: list[str] = []
        self.skipped: list[SkippedTopic] = []
        # The questions of the plan, not of later rounds: a round may not move its own goal posts.
        self.questions: list[str] = [q for leaf in given.node.leaves() for q in leaf.questions]
        self.gaps: tuple[str, ...] = ()
        self._proposed: tuple[Leaf | Node, ...] = given.node.children
        self._notes = ""
        self._phase = given.node.phases[0]
        self._before: Success | None = None
        self._reflection: ReflectionResponse | None = None
        self._waiting: tuple[Leaf | Node, ...] = ()
        """New topics beyond the bound of the last round: they come next."""
        self._again = Again(ctx)
        self._leaves: dict[str, LeafGiven] = {}
        """Leaves that were begun, by their place."""
        self.closed: Closed | None = None
        """What stands around the sections, where it was made beside the last of them."""
        self._claims: tuple[Claim, ...] = ()
        self._read_before = 0  # sources, before the phase
        self._is_lookup, self._waits = asks_for_facts(given.setting.query), False
        """The sections of a lookup wait while more may be read: what later rounds find belongs to them."""
        self._settled: set[str] = set()
        """Paths of leaves whose section was written, or is not wanted."""

    async def phase(self, phase: Phase) -> bool:
        """Run one phase to its end; False when nothing may follow it (time, cap, or the user's wish).

        A later phase whose gate is open has nothing to do: what it is for stands already.
        """
        in_phase = 0
        if self.records and self._stands(phase).met:
            return True
        self._phase = phase
        self._read_before = len(rules.sources_of(self.findings))
        while True:
            in_phase += 1
            left = self.loop.max_rounds - len(self.records)
            if left <= 0 or not self._proposed:
                return False
            decided = await self._round(phase, in_phase, min(phase.max_iterations, in_phase + left - 1))
            self._proposed = self._next(decided)
            following = self._unmet_after(phase)
            settles = following is not None and following.criteria.contradictions_resolved
            # The last round is for what the sources disagree on, where they do.
            ends = not decided.decision.shouldContinue or (settles and left == 2)
            if settles and ends:
                asked = rules.leaves_on([claim.text for claim in between.contested(self._claims)], self._budget())
                self._proposed = (*asked, *self._proposed)[: self.loop.side_by_side]
            if ends:
                goes_on = decided.cause in GOES_ON or (settles and decided.cause == "novelty")
                return goes_on and bool(self._proposed)

    def _stands(self, phase: Phase) -> Success:
        """Hold what was found so far against the gate of a phase; one for contradictions asks for nothing else."""
        every, open_ = self.findings, self._disputes()
        found = met(phase.criteria, rules.facts_of(every), rules.sources_of(every), self.questions, open_)
        if not phase.criteria.contradictions_resolved:
            return found
        return replace(found, met=not open_, missing=found.missing if open_ else ())

    def _disputes(self) -> int:
        """Count what the sources do not agree on: by their own words, and about the claims."""
        noted = sum("contradiction" in one.triggers for one in rules.insights_of(self.findings))
        return noted + len(between.contested(self._claims))

    def _unmet_after(self, phase: Phase) -> Phase | None:
        """Give the next phase of the plan that has something to do."""
        phases = self.given.node.phases
        return next((one for one in phases[phases.index(phase) + 1 :] if not self._stands(one).met), None)

    def _next(self, decided: rules.Decided) -> tuple[Leaf | Node, ...]:
        if self._reflection is None:
            return ()
        wide = len(self.given.node.phases) > 1 and rules.came_to_nothing(self.findings)
        leaves = rules.next_leaves(decided.decision, decided.topics, self._reflection.gaps, self._budget(), sweep=wide)
        # What discovery leaves chose so far is read by those leaves of later rounds that it concerns.
        hungry, chosen = self._starved(), self._chosen()
        following = (
            hungry.get(leaf.objective) or fed(leaf, [other for other in leaves if other is not leaf], chosen)
            for leaf in leaves
        )
        return (*following, *self._waiting)

    def _chosen(self) -> list[Candidate]:
        lists = [part.shortlist.kept for part in self.findings if part.shortlist]
        return list({one.url: one for kept in lists for one in kept}.values())

    def _starved(self) -> dict[str, Leaf]:
        return between.starved(self.given.node, self.findings, self._chosen())

    def _budget(self) -> LeafBudget:
        """Give what a leaf of a later round may spend: it has one question, and others come beside and after it."""
        leaves = self.given.node.leaves()
        planned = leaves[0].budget if leaves else LeafBudget()
        return planned.model_copy(
            update={"searches": min(planned.searches, LATER_SEARCHES), "sources": min(planned.sources, LATER_SOURCES)}
        )

    async def _round(self, phase: Phase, in_phase: int, max_rounds: int) -> rules.Decided:
        number, self.closed = len(self.records) + 1, None
        chosen, dispatch = await self._dispatch(number)
        before = len(self.findings)
        last = in_phase >= max_rounds and (phase is self.given.node.phases[-1] or number >= self.loop.max_rounds)
        # Sections of the round before, where this phase was sure to follow, are written beside its reading.
        _, came = await together(self.write(), self._run(chosen, number, last=last))
        self.findings.extend(came)
        await self._again.run(self.findings, lambda children: self._share(children, last=last))
        read = self.findings[before:]
        asked = {one.path: sub_questions(of.leaf) for one in read if (of := self._leaf(one)) and of.beside}
        self.findings[before:] = between.shared_out(read, asked)
        self._tell_empty()
        new = tuple(self.findings[before:])
        said = "\n".join(fact.statement for fact in rules.facts_of(new))
        fresh = novelty(said, self._notes) if self._notes else (1.0 if said else 0.0)
        known = {fact.id for fact in rules.facts_of(self.findings[:before])}
        found = [fact for fact in rules.facts_of(new) if fact.id not in known]
        self._notes = f"{self._notes}\n{said}"
        everything = tuple(self.findings)
        self._claims = await computed(between.at_hand, self.given.setting, self._so_far())
        disputes, after = self._disputes(), self._stands(phase)
        adopted = not rules.lowered(self._before, after)
        if not adopted:
            self.findings[before:] = rules.unused(new)
            self._settled |= {one.path for one in new}
        elif number > 1 and self._is_lookup:
            self.findings = between.brought_home(self.findings, before)
        following = self._unmet_after(phase) if number < self.loop.max_rounds else None
        # The next phase works on what the reflection asks for.
        ends = (in_phase >= max_rounds or after.met) and following is None
        lacking = (after if following is None or not after.met else self._stands(following)).missing
        asking = None if ends else self._asking(lacking, number, max_rounds, dispatch)
        self._waits = self._is_lookup and asking is not None
        if following is None and not self._waits:
            # A section needs no more than its own facts, and the reflection no sections.
            _, self._reflection = await together(self.write(), self._end(asking, lacking, number, may_close=True))
        else:
            self._reflection = await self._end(asking, lacking, number, may_close=False)
        written = list(self.findings)
        await self._again.run(self.findings, lambda children: self._share(children, last=last))
        if self.findings != written:
            self.closed = None
            self._tell_empty()
            self._claims = await computed(between.at_hand, self.given.setting, self._so_far())
            await self.write()
        if self._reflection is not None and (hungry := self._starved()):
            gaps = tuple(
                f"“{rules.topic_of(leaf)}” has only the sources that a sweep chose." for leaf in hungry.values()
            )
            wanted = {"gaps": (*self._reflection.gaps, *gaps), "new_queries": (*hungry, *self._reflection.new_queries)}
            self._reflection = self._reflection.model_copy(update={"sufficient": False, **wanted})
        decided = rules.decide(
            iteration=in_phase, max_iterations=max(1, max_rounds), reflection=self._reflection,
            left_s=(left := self.ctx.collecting_left), reserve_s=0.0 if left else 1.0,
            retries=rules.retries_of(everything), criteria_met=after.met, novelty=None if number == 1 else fresh,
            novelty_threshold=self.loop.novelty_threshold, early_termination=self.loop.early_termination,
            finishing=self.ctx.finishing, summary=rules.summary_of(new, found),
        )  # fmt: skip
        update: dict[str, object] = {}
        link = next(iter(self._linked(everything)), None)
        if decided.decision.shouldContinue and not decided.decision.urlToSearch and link and link.priority >= WANTED:
            # What a source points at for the very question is read, though the reflection named no address.
            update["urlToSearch"] = link.url
        if self._reflection is None:
            update["gaps"] = after.missing  # nobody was asked: what code finds lacking is said all the same
        if decided.decision.timeRemainingMinutes is not None and self.ctx.left is not None:
            update["timeRemainingMinutes"] = round(self.ctx.left / 60, 2)
        decided = replace(decided, decision=decided.decision.model_copy(update=update))
        if following is not None and decided.cause == "iterations":
            decided = replace(decided, tag="")  # no limit of the run: another phase follows
        if decided.cause == "novelty":
            log.info("%s, round %d: %s", self.ctx.path, number, decided.reason)
        self.gaps = decided.decision.gaps or after.missing
        record = RoundRecord(
            node=self.ctx.path, round=number, phase=phase.title, decision=decided.decision, reason=decided.reason,
            tag=decided.tag,
            delta=rules.delta(self._before, after, len(found), len({f.source_id for f in found}), len(dispatch.skipped)),
            confidence=after.confidence,
            judged=self._reflection.confidence if self._reflection and self._is_asked else None,
            coverage=after.coverage, contradictions=disputes, novelty=fresh, adopted=adopted,
        )  # fmt: skip
        self.records.append(record)
        self.ctx.emit(f"round:{number}", RoundEnded(node=self.ctx.path, record=record))
        if adopted:
            self._before = after
        if decided.decision.shouldContinue:
            topic = decided.decision.nextSearchTopic or ""
            self.tell("searching", Said("round {n}: {topic}", n=number + 1, topic=topic), f"searching:{number}")
        return decided

    def _linked(self, findings: Sequence[Finding]) -> tuple[LinkedSource, ...]:
        """List what sources point at and may be read."""
        return tuple(one for one in rules.linked_from(findings) if not ruled_out(one.url, None, self.given.setting))

    def _leaf(self, finding: Finding) -> LeafGiven | None:
        return self._leaves.get(place(finding.path))

    async def write(self, *, last: bool = False) -> None:
        """Write the sections of the leaves that were read and have none yet, side by side."""
        if self._waits and not last:
            return
        waiting = {
            f"{one.path.removeprefix(self.ctx.path + '/')}/section": (one, leaf)
            for one in self.findings
            if one.facts and one.path not in self._settled and (leaf := self._leaf(one)) is not None
        }
        if not waiting:
            return
        self._settled |= {one.path for one, _ in waiting.values()}
        items = [
            ("section", key, SectionGiven(leaf=leaf, finding=one, verdicts=between.touching(self._claims, one)))
            for key, (one, leaf) in waiting.items()
        ]
        written = await self.ctx.children_of(items, gives=Finding)
        done = {
            before.path: after if isinstance(after, Finding) else ended(before.path, before.title, "leaf", after)
            for (before, _), after in zip(waiting.values(), written, strict=True)
        }
        self.findings = [done.get(one.path, one) for one in self.findings]

    async def _dispatch(self, number: int) -> tuple[list[tuple[str, Leaf | Node]], Dispatched]:
        """Have the job's ledger say which proposed topics are new; executors of the plan are never dropped."""
        topics = rules.topics_of(self._proposed)
        # A leaf that only reads what is named searches for no topic, so it can't repeat one.
        leaf_topics = tuple(topic for topic, child in topics.items() if isinstance(child, Leaf) and child.searches)
        bound = self.loop.side_by_side if number > 1 else max(len(leaf_topics), 1)
        dispatch = await self.ctx.call(
            "dispatch", f"r{number}", self.context.dispatch, leaf_topics, bound, gives=Dispatched, pool="local"
        )
        self.context.note_dispatched(dispatch)
        self._waiting = tuple(child for topic, child in topics.items() if topic in dispatch.waiting)
        self.dispatched += (*dispatch.chosen, *(topic for topic, child in topics.items() if isinstance(child, Node)))
        self.skipped += dispatch.skipped
        for skip in dispatch.skipped:
            text = f"Skipped “{skip.topic}”. {skip.explanation}"
            self.ctx.emit(f"skipped:{number}:{skip.topic}", Noted(node=self.ctx.path, text=text))
            log.info("%s: %s", self.ctx.path, text)
        # Planned children keep their place in the tree; later rounds have names of their own.
        chosen = [
            (str(at) if number == 1 else f"r{number}-{at}", child)
            for at, (topic, child) in enumerate(topics.items())
            if isinstance(child, Node) or not child.searches or topic in dispatch.chosen
        ]
        return chosen, dispatch

    async def _run(self, chosen: list[tuple[str, Leaf | Node]], number: int, *, last: bool) -> tuple[Finding, ...]:
        """Run the children of a round side by side; one that fails shows so, and takes no other with it."""
        ctx, given = self.ctx, self.given
        titles = tuple(child.title for _, child in chosen)
        reading = [one for _, one in chosen if isinstance(one, Leaf) and not one.discovery and self.loop.read_together]
        asked = tuple(dict.fromkeys(q for one in reading for q in sub_questions(one)))
        items: list[tuple[str, str, LeafGiven | NodeGiven]] = []
        for key, child in chosen:
            below: LeafGiven | NodeGiven
            if isinstance(child, Leaf):
                own, runs = sub_questions(child), "scout" if child.discovery else "leaf"
                below = LeafGiven(
                    leaf=self._within_phase(child, len(chosen)), setting=given.setting, tried=given.tried,
                    siblings=tuple(title for title in titles if title != child.title),
                    beside=() if child.discovery else tuple(q for q in asked if q not in own),
                    found=between.known_of(sub_questions(child), self.findings),
                )  # fmt: skip
                self._leaves[f"{place(ctx.path)}/{key}"] = below
            else:
                runs = "node"
                below = NodeGiven(node=child, setting=given.setting, title=child.title, tried=given.tried)
            teller(ctx, below.role, below.title, f"{ctx.path}/{key}")("queued", rules.topic_of(child), f"queued:{key}")
            items.append((runs, key, below))
            self._again.ran(runs, key, below)
        limits = self._share(len(items), last=last)
        # What the answer stands or falls with comes first: where searches, sources or places are short, the rest goes without.
        order = sorted(range(len(items)), key=lambda place: URGENCY[chosen[place][1].urgency])
        came: dict[int, Finding | StepFailed] = {}
        for first in range(0, len(order), self.loop.side_by_side):
            wave = order[first : first + self.loop.side_by_side]
            done = await ctx.children_of([items[place] for place in wave], gives=Finding, limits=limits)
            came |= dict(zip(wave, done, strict=True))
        findings: list[Finding] = []
        for at, (_, key, below) in enumerate(items):
            result = came[at]
            if isinstance(result, StepFailed):
                result = ended(f"{ctx.path}/{key}", below.title, below.role, result)
                tell = teller(ctx, below.role, below.title, result.path)
                tell("stopped" if result.ended else "failed", result.note, f"failed:{key}")
            if result.note == COVERED:
                self.skipped += result.skipped
            else:
                findings.append(result)
        return tuple(findings)

    def _tell_empty(self) -> None:
        """Say how leaves ended that had nothing after the round's finds were shared out."""
        for one in self.findings:
            if one.status == "empty" and not one.facts and (of := self._leaf(one)) and of.beside:
                teller(self.ctx, "leaf", one.title, one.path)("empty", one.note, f"empty:{one.path}")

    def _within_phase(self, leaf: Leaf, beside: int) -> Leaf:
        """Narrow what a leaf may read to its share of the sources that its phase has left."""
        if (most := self._phase.sources) is None:
            return leaf
        left = most - (len(rules.sources_of(self.findings)) - self._read_before)
        sources = min(leaf.budget.sources, max(1, left // max(1, beside)))
        return leaf.model_copy(update={"budget": leaf.budget.model_copy(update={"sources": sources})})

    def _share(self, children: int, *, last: bool) -> Limits:
        """Give each child its share of what job and node have left."""
        ctx = self.ctx
        return round_limits(ctx.left, ctx.collecting_left, ctx.budget.tokens_left(), children, last=last)

    def _asking(
        self, lacking: tuple[str, ...], number: int, max_rounds: int, dispatch: Dispatched
    ) -> ReflectionInput | None:
        """Put the reflector's question together; None where its answer could change nothing."""
        ctx, setting, findings = self.ctx, self.given.setting, self.findings
        # Where every search failed and nothing is known, other topics would fail alike (the leaves tried other words).
        if ctx.finishing or ctx.collecting_left == 0 or rules.nothing_answers(findings):
            return None
        asking = ReflectionInput(
            query=setting.query, objective=self.given.node.objective, questions=tuple(self.questions),
            statements=rules.statements_of(findings), missing=lacking, dispatched=dispatch.known,
            exhausted=rules.exhausted(rules.retries_of(findings)), failed_queries=rules.failed_queries(findings),
            raised=rules.raised_by(findings), linked=tuple(f"{one.url}: {one.context}" for one in self._linked(findings)),
            round=number, max_rounds=max(number, max_rounds),
            minutes_left=None if ctx.left is None else round(ctx.left / 60, 1), language=setting.language,
            query_type=setting.query_type, today=setting.today,
        )  # fmt: skip
        return None if all_are_silent(asking) else asking

    async def _end(
        self, asking: ReflectionInput | None, lacking: tuple[str, ...], number: int, *, may_close: bool
    ) -> ReflectionResponse | None:
        """Reflect; and where code sees nothing left to do either, close the run while its last sections are written."""
        steps = bool(asking and lacking and self._is_asked)
        steps = steps and rules.lacks_a_fact(self.given.setting.query, self.findings)
        task = self.given.closing
        several = sum(bool(one.facts) for one in self.findings) > 1
        if may_close and task is not None and several and not steps and not self._starved():
            given = EndGiven(
                finding=self._so_far(), setting=self.given.setting, task=task, asking=asking, again=self.ctx.again
            )
            (end,) = await self.ctx.children("end", [(f"end-r{number}", given)], gives=RoundEnd)
            if isinstance(end, StepFailed):
                self.problems.append(end.problem())
                return None
            reflection, self.closed = end.reflection, end.closed
            self.problems += end.problems
        else:
            reflection, problems = await reflect(self.ctx, self.context, asking, f"r{number}")
            self.problems += problems
        if reflection is None or asking is None:
            return None
        reflection = rules.without_invented(reflection, rules.named_addresses(self.findings))
        # Which names the answers brought in is seen by code too: a small model often stops before the next step.
        return rules.with_steps(reflection, await computed(steps_of, asking)) if steps else reflection

    def _so_far(self) -> Finding:
        return Finding(
            path=self.ctx.path, title=self.given.title, role=self.given.role, status="done", children=tuple(self.findings)
        )  # fmt: skip
