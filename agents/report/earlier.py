"""An earlier report that a job is run after: what is taken over from it, and what has changed since.

*Refresh* runs the same contract on today's sources; *continue* begins with what the earlier report cites. Either report
opens, below its summary, with what has changed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from agents.contracts.body import Block, Heading, Words
from agents.contracts.fact import Fact
from agents.contracts.report import ClaimMoved, Earlier, EarlierUse, ReportDocument, SinceEarlier
from agents.contracts.sources import SourceCard
from agents.contracts.verification import Claim
from agents.report.composer import introduced
from agents.report.wording import Wording

QUOTED_BEFORE = 0.7
"""Confidence of a fact that is taken over: its words stood in the source, which may read otherwise by now."""
MOST_KNOWN = 24
"""Lines that a planner is told of an earlier report, at most."""
MOST_SHOWN = 8
"""Lines of one kind of change that a report lists, at most."""


def earlier_of(document: ReportDocument, sources: Mapping[str, SourceCard], use: EarlierUse) -> Earlier:
    """Take over what a report cites: facts with their sources, of all `sources` that its job read, and its claims."""
    date = (document.methodology.actual.started_at or "")[:10]
    quoted = {
        quote.fact_id: Fact(
            id=quote.fact_id,
            source_id=reference.source_id,
            statement=quote.text,
            quote=quote.text,
            start=quote.start,
            end=quote.end,
            confidence=QUOTED_BEFORE,
            known_since=reference.known_since or date,
        )
        for reference in document.references
        if reference.source_id in sources
        for quote in reference.quotes
    }
    cards = {fact.source_id: sources[fact.source_id] for fact in quoted.values()}
    return Earlier(
        use=use,
        job_id=document.job_id,
        date=date,
        claims=document.claims,
        facts=tuple(quoted.values()),
        sources=tuple(cards.values()),
    )


def known_lines(document: ReportDocument) -> tuple[str, ...]:
    """Say for a planner what a report has established, and what it left open."""
    claims = [f"{claim.text} ({claim.verdict.replace('_', ' ')})" for claim in document.claims]
    left = [f"Left open: {line}" for line in document.limitations]
    said = [sentence.text for sentence in document.sentences if sentence.verdict == "supported"]
    return tuple(dict.fromkeys((*claims, *left, *said)))[:MOST_KNOWN]


def since(
    earlier: Earlier, claims: tuple[Claim, ...], facts: Iterable[Fact], cards: Iterable[SourceCard]
) -> SinceEarlier:
    """Hold the claims, facts and read sources of a new report against what the earlier one rested on."""
    before = {_same(claim.text): claim.verdict for claim in earlier.claims}
    moved = (
        ClaimMoved(text=claim.text, before=before.get(_same(claim.text)), after=claim.verdict)
        for claim in {_same(claim.text): claim for claim in claims}.values()
    )
    held, read = [_same(fact.quote) for fact in facts], {card.id: card for card in cards}
    known = {card.id: card for card in earlier.sources}
    changed = {key: card for key, card in read.items() if key in known and known[key].text_hash != card.text_hash}
    return SinceEarlier(
        use=earlier.use,
        job_id=earlier.job_id,
        date=earlier.date,
        claims=tuple(one for one in moved if one.before != one.after),
        new_sources=tuple(card.title for key, card in read.items() if key not in known),
        changed_sources=tuple(card.title for card in changed.values()),
        missing_sources=tuple(card.title for key, card in known.items() if key not in read),
        missing_facts=tuple(
            fact.statement
            for fact in earlier.facts
            if fact.source_id in changed and not any(_same(fact.quote) in quote for quote in held)
        ),
    )


def since_lines(changed: SinceEarlier, words: Wording) -> tuple[Block, ...]:
    """Write what has changed, for the reader; one line where nothing has."""
    said, verdicts = words.earlier, words.claim_verdicts
    moved = [
        (said.claim_moved if one.before else said.claim_new).format(
            claim=one.text, before=verdicts[one.before] if one.before else "", after=verdicts[one.after]
        )
        for one in changed.claims
    ]
    lines = [*_shown(moved), *_shown([said.words_gone.format(words=one) for one in changed.missing_facts])]
    lines += [
        text.format(count=len(titles), titles="; ".join(_shown(titles)))
        for text, titles in (
            (said.new_sources, changed.new_sources),
            (said.changed_sources, changed.changed_sources),
            (said.missing_sources, changed.missing_sources),
        )
        if titles
    ]
    heading = (said.refreshed if changed.use == "refresh" else said.continued).format(date=changed.date)
    return (Heading(level=2, inline=(Words(text=heading),)), *introduced("", lines or [said.nothing]))


def _shown(lines: Sequence[str]) -> Iterator[str]:
    """Give the first of many, and how many more there are."""
    yield from lines[:MOST_SHOWN]
    if (more := len(lines) - MOST_SHOWN) > 0:
        yield f"… (+{more})"


def _same(text: str) -> str:
    return " ".join(text.split()).casefold().rstrip(".。")
