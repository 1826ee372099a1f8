"""Claims, gates and sentence checks as the reader meets them."""

from collections.abc import Iterable, Mapping

from agents.contracts.body import Block, Table
from agents.contracts.claim import Claim, Evidence
from agents.contracts.source import SourceCard
from agents.contracts.verification import SentenceCheck, Truth
from agents.report.composer import paragraph
from agents.report.methodology import table
from agents.report.wording import Wording


def claims_table(claims: Iterable[Claim], cards: Mapping[str, SourceCard], words: Wording) -> Table:
    """Put the ledger into a table: statement, verdict, confidence, who speaks for and against, the counter-search."""
    said = words.ledger
    head = (said.claim, said.verdict, said.sure, said.pro, said.against, said.counter)
    rows = []
    for claim in claims:
        against = [one for one in claim.evidence if one.stance in {"contradicts", "qualifies"}]
        pro = [one for one in claim.evidence if one.stance == "supports"]
        counter = claim.counter_search
        searched = said.not_searched if not counter.queries else said.found if counter.found else said.nothing
        rows.append(
            (
                claim.text,
                words.claim_verdicts[claim.verdict],
                "–" if claim.confidence is None else f"{claim.confidence:.2f}",
                _who(pro, cards),
                _who(against, cards),
                searched.format(n=counter.found),
            )
        )
    return table(head, ("", "", "right", "", "", ""), rows)


def _who(evidence: list[Evidence], cards: Mapping[str, SourceCard]) -> str:
    if not evidence:
        return "–"
    names = dict.fromkeys(
        (cards[one.source_id].site or cards[one.source_id].title) if one.source_id in cards else one.domain
        for one in evidence
    )
    shown = ", ".join(list(names)[:3])
    return f"{len(evidence)}: {shown}" + (" …" if len(names) > 3 else "")


def unverified(truth: Truth) -> tuple[SentenceCheck, ...]:
    """List the sentences that stand in the report although nothing carries them."""
    return tuple(
        check
        for check in truth.checks
        if check.verdict in {"unsupported", "contradicted"} and check.replaced_by is None
    )


def truth_reasons(truth: Truth, words: Wording) -> tuple[str, ...]:
    """Say what keeps a report from being complete: claims nobody checked, sentences nothing carries, failed gates."""
    said = words.ledger
    found = []
    open_ = sum(1 for claim in truth.claims if claim.verdict == "not_checked")
    if open_:
        found.append(said.unchecked.format(n=open_, m=len(truth.claims)))
    if short := len(unverified(truth)):
        found.append(said.one_unverified if short == 1 else said.unverified.format(n=short))
    return tuple(found)


def truth_lines(truth: Truth, words: Wording) -> tuple[Block, ...]:
    """Say in Methodology what was checked and what came of it; empty when nothing was."""
    said = words.ledger
    stating = [check for check in truth.checks if check.replaced_by != ""]
    if not stating:
        return ()
    good = sum(1 for check in stating if check.verdict == "supported")
    ratio = "–" if truth.verifiable_ratio is None else f"{truth.verifiable_ratio:.2f}"
    lines = [said.sentences.format(n=good, m=len(stating), ratio=ratio)]
    mended = sum(1 for check in truth.checks if check.replaced_by)
    struck = sum(1 for check in truth.checks if check.replaced_by == "")
    if mended or struck:
        lines.append(said.mended.format(n=mended, m=struck))
    if truth.confidence is not None:
        lines.append(said.confidence.format(value=f"{truth.confidence:.0f}"))
    return (paragraph(" ".join(lines)),)
