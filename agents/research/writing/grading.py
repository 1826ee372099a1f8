"""Which questions of the contract have an answer that holds: by the words of facts, whatever anybody says of them. Pure."""

from collections.abc import Hashable
from dataclasses import replace
from itertools import zip_longest

from agents.contracts.contract import Contract
from agents.contracts.finding import AnswerStatus, Finding, QuestionAnswer
from agents.contracts.plan import Plan
from agents.research.reading.answering import answers, is_about, leads_to, share, speaks_of
from agents.research.reading.subject import LOOKUPS, PAIRED, Question, parts_of


def answers_of(contract: Contract, findings: tuple[Finding, ...]) -> tuple[QuestionAnswer, ...]:
    """Say of each question of the contract, and of each leaf of its plans, how far it is answered."""
    found: dict[Hashable, QuestionAnswer] = {}
    for plan, finding in zip(contract.plans, findings, strict=True):
        rows = _rows(finding)
        for part in parts_of(plan.query):
            _add(found, _asked(part), part, rows, "")
        for section, question in _planned(plan):
            for part in parts_of(question):
                _add(found, question if len(parts_of(question)) == 1 else _asked(part), part, rows, section)
    return tuple(found.values())


class _Row:
    """One fact as it is held against questions."""

    def __init__(self, fact: str, quote: str, title: str, head: str) -> None:
        self.fact, self.quote, self.title, self.head = fact, quote, title, head


def _rows(finding: Finding) -> list[_Row]:
    cards = {card.id: card for card in finding.all_sources()}
    return [
        _Row(fact.id, fact.quote, card.title, card.head)
        for fact in finding.all_facts()
        if (card := cards.get(fact.source_id))
    ]


def _planned(plan: Plan) -> list[tuple[str, str]]:
    return [
        (leaf.title, question)
        for leaf in plan.root.leaves()
        if not leaf.discovery and leaf.priority != "low"  # background is no part of the answer
        for question in (leaf.spec.questions if leaf.spec else leaf.questions)
    ]


def _asked(part: Question) -> str:
    """Word a part so that it can be read alone: `who founded each of them?` with the name that it is about."""
    text = part.text.strip(" ?？.,")
    named = " ".join(part.shown)
    mark = "" if any(name.casefold() in text.casefold() for name in part.shown) else f" ({named})" if named else ""
    return f"{text[:1].upper()}{text[1:]}{mark}?"


def _add(found: dict[Hashable, QuestionAnswer], text: str, part: Question, rows: list[_Row], section: str) -> None:
    """Note a part once, whoever asks it in which words; in a leaf's where one does, since its section can say so."""
    key = (part.kind, frozenset(part.names), part.matter) if part.matter else text
    if not part.shown and any(
        one.question.casefold().startswith(part.text.strip(" ?？.,").casefold()) for one in found.values()
    ):
        return  # a part that only points, and stands by itself in a plan: it is there with the names it points at
    before = found.get(key)
    if before is None or (not before.section and section):
        status, good = _status(part, rows)
        facts = tuple(dict.fromkeys(row.fact for row in good))
        asked = not section or before is not None
        found[key] = QuestionAnswer(question=text, status=status, facts=facts, section=section, asked=asked)


def _status(part: Question, rows: list[_Row]) -> tuple[AnswerStatus, list[_Row]]:
    """Say how far facts answer a part, and which: each after the step that leads to it, those that say most of it first."""
    if part.kind in PAIRED and len(part.names) > 1:
        each = [_status(replace(part, names=(name,)), rows) for name in part.names]
        statuses = {status for status, _ in each}
        return (statuses.pop() if len(statuses) == 1 else "partly"), [
            row for some in zip_longest(*(good for _, good in each)) for row in some if row
        ]
    about = [row for row in rows if is_about(part, row.quote, row.title, row.head)]
    good: list[_Row] = []
    for row in sorted(rows, key=lambda row: -share(part.matter, row.quote)):
        lead = [one for one in about if one.title != row.title and leads_to(row.title, [one.quote])]
        if answers(part, row.quote, row.title, row.head):
            good.append(row)
        elif lead and answers(part, row.quote, row.title, row.head, [one.quote for one in lead]):
            good += [lead[0], row]
    if good:
        return "answered", good
    # Words about the subject are part of an answer to a wide question, and none to one for a person, date, figure or place.
    if part.kind in LOOKUPS:
        about = [row for row in about if speaks_of(part, row.quote)]
    return ("partly" if about else "not_found"), about
