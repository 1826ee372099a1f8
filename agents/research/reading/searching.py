"""The searches of a leaf: planned texts side by side, other words where little is found, hits fused."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from agents.contracts.finding import SearchRecord
from agents.contracts.loop_decision import RetryEntry
from agents.contracts.plan import Leaf
from agents.contracts.source import Hit, SearchQuery
from agents.core.budget import Deadline
from agents.core.errors import StepFailed
from agents.core.events import Noted, SearchDone
from agents.core.port import Ctx
from agents.research.loop.reformulate import reformulate
from agents.research.loop.retry_tracking import MAX_ATTEMPTS
from agents.research.reading.given_facts import LeafGiven, Setting, sub_question
from agents.research.run_context import Desk, Searched
from agents.research.steering import CUT
from agents.search.scope_filter import fuse

HITS_PER_SEARCH = 8
ENOUGH_HITS = 3
"""Fewer distinct hits than this are searched for again in other words (specification, section 11)."""


class Found(NamedTuple):
    """What a leaf's searches came to."""

    hits: Sequence[Hit] = ()
    records: tuple[SearchRecord, ...] = ()
    attempts: tuple[RetryEntry, ...] = ()
    cut: frozenset[str] = frozenset()
    """Ways in which the user cut searches off; those are no failures."""


async def search_for(ctx: Ctx, desk: Desk, given: LeafGiven, deadline: Deadline) -> Found:
    """Search with the planned texts side by side; too little found is searched again in other words (tier 2)."""
    leaf = given.leaf
    at_most = min(leaf.budget.searches, given.setting.loop.searches_per_leaf)
    texts = list(leaf.searches[:at_most])
    lists: list[tuple[Hit, ...]] = []
    records: list[SearchRecord] = []
    cut: set[str] = set()
    before = given.failures
    if before and (wording := reformulate(texts[0], before, earlier=texts)):
        texts = [wording, *texts[1:]]  # a further try uses other words
    texts = texts[: max(0, MAX_ATTEMPTS - before)] if before else texts

    async def make(batch: list[str], first: int) -> None:
        results = await ctx.fan(
            "search",
            desk.search,
            [(f"q{first + n}", _query(given.setting, text), deadline) for n, text in enumerate(batch)],
            gives=Searched,
            pool="web",
        )
        for number, (text, result) in enumerate(zip(batch, results, strict=True), start=first):
            if isinstance(result, StepFailed) and result.type in CUT:
                cut.add(result.type)
            elif isinstance(result, StepFailed):
                ctx.emit(
                    f"failed:q{number}", SearchDone(node=ctx.path, text=text, provider="", hits=0, failed=result.notice)
                )
                records.append(SearchRecord(text=text, provider="", hits=0, failed=result.notice))
            else:
                lists.append(result.result.hits)
                found = result.result
                records.append(
                    SearchRecord(text=text, provider=found.provider, hits=len(found.hits), failures=found.failures)
                )

    await make(texts, 0)
    attempt = 1 + before
    while texts and len(texts) < given.setting.loop.searches_per_leaf and attempt < MAX_ATTEMPTS and not cut:
        if len({hit.url for hits in lists for hit in hits}) >= ENOUGH_HITS or ctx.finishing or ctx.collecting_left == 0:
            break
        wording = reformulate(texts[0], attempt, earlier=texts)
        attempt += 1
        if wording is None:
            continue
        ctx.emit(f"again:{attempt}", Noted(node=ctx.path, text=f"Little found; searching again as “{wording}”."))
        await make([wording], len(texts))
        texts.append(wording)
    failed = before + sum(1 for record in records if record.failed)
    answered = any(not record.failed for record in records)
    entries: tuple[RetryEntry, ...] = ()
    if failed:
        status: Literal["pending", "complete", "exhausted"] = (
            "complete" if answered else "exhausted" if failed >= MAX_ATTEMPTS else "pending"
        )
        entries = (RetryEntry(key=sub_question(leaf), attempts=failed, status=status),)
    if records and not any(record.failed or record.hits for record in records):
        ctx.emit("none", Noted(node=ctx.path, text=f"No document matches “{texts[0]}”."))
    return Found(fuse(lists), tuple(records), entries, frozenset(cut))


def attempt_number(attempts: tuple[RetryEntry, ...], leaf: Leaf) -> int:
    """Number the attempt that a leaf's searches came to."""
    failed = sum(entry.attempts for entry in attempts if entry.key == sub_question(leaf))
    return min(failed + 1, MAX_ATTEMPTS)


def _query(setting: Setting, text: str) -> SearchQuery:
    return SearchQuery(
        text=text,
        max_results=HITS_PER_SEARCH,
        include_domains=setting.domains,
        exclude_domains=setting.exclude_domains,
        date_from=setting.date_from,
        date_to=setting.date_to,
    )
