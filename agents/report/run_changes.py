"""Changes after the authorization, as the report tells them: what each did, in the report's language."""

from agents.contracts.change import Change, place
from agents.contracts.finding import Finding
from agents.contracts.report import ReportChange
from agents.contracts.result import Outcome
from agents.report.escaping import escape_text, plain_text
from agents.report.texts import Wording
from agents.report.wording_changes import ChangeWording, change_wording


def reported(outcome: Outcome, words: Wording) -> tuple[ReportChange, ...]:
    """Say of every change when it was made, in which words, and what it did."""
    said = change_wording(words.language)
    return tuple(
        ReportChange(
            number=change.number,
            seconds=change.seconds,
            kind=change.kind,
            words=change.words,
            effect=plain_text(" ".join(_effect(change, outcome, said, words))),
        )
        for change in outcome.changes
    )


def change_lines(changes: tuple[ReportChange, ...], words: Wording) -> tuple[str, tuple[str, ...]]:
    """Write the line above the list of changes, and one line for each."""
    said = change_wording(words.language)
    return said.lead, tuple(
        said.line.format(number=change.number, time=_clock(change.seconds), text=escape_text(change.effect))
        for change in changes
    )


def ended_note(node: Finding, words: Wording) -> str:
    """Say by whose wish a branch ended early; empty where it was nobody's."""
    said = change_wording(words.language)
    if node.ended == "dropped":
        return said.dropped_note
    if node.ended == "stopped":
        return said.stopped_note if node.all_facts() else words.statuses["stopped"]
    return ""


def _effect(change: Change, outcome: Outcome, said: ChangeWording, words: Wording) -> list[str]:
    opening, closing = words.quotes
    title = change.title or change.node
    match change.kind:
        case "limits":
            return _limits(change, said)
        case "finish":
            return [said.finish if change.node in {"", "job"} else said.finish_branch.format(title=title)]
        case "stop":
            kept = sum(
                len(part.facts) for part in _parts(outcome) if _within(part, change.node) and part.ended == "stopped"
            )
            return [said.stop.format(title=title), *([said.kept.format(facts=kept)] if kept else [])]
        case "drop":
            left_out = not any(_within(part, change.node) and part.facts for part in _parts(outcome))
            return [(said.drop if left_out else said.stop).format(title=title)]
        case "retry":
            served = any(part.tries > 1 and place(part.path) == change.node for part in _parts(outcome))
            return [(said.retry if served else said.too_late).format(title=title)]
        case "guidance":
            return [said.guidance.format(words=f"{opening}{change.words}{closing}")]
        case "restart":
            return [said.restart]


def _limits(change: Change, said: ChangeWording) -> list[str]:
    limits, lines = change.limits, []
    if limits.domains:
        lines.append(said.domains.format(value=", ".join(limits.domains)))
    if limits.exclude_domains:
        lines.append(said.exclude.format(value=", ".join(limits.exclude_domains)))
    start, end = limits.date_from or "", limits.date_to or ""
    if start or end:
        lines.append(
            (said.between if start and end else said.since if start else said.until).format(start=start, end=end)
        )
    if lines:
        lines.append(said.from_then_on)
    if limits.seconds is not None:
        lines.append(said.total.format(value=f"{limits.seconds / 60:.3g} min"))
    return lines


def _parts(outcome: Outcome) -> list[Finding]:
    return [part for top in outcome.findings for part in top.walk()]


def _within(part: Finding, node: str) -> bool:
    here = place(part.path)
    return here == node or here.startswith(node + "/")


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
