"""Which questions of the contract have an answer that holds: by the words of facts, whatever anybody says of them. Pure."""

from collections.abc import Hashable

from agents.contracts.contract import Contract
from agents.contracts.finding import Finding, QuestionAnswer
from agents.contracts.plan import Plan
from agents.research.reading.answering import Told, answer_of, told_by
from agents.research.reading.subject import Question, parts_of


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


def _rows(finding: Finding) -> list[Told]:
    cards = {card.id: card for card in finding.all_sources()}
    return told_by(finding.all_facts(), cards)


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


def _add(found: dict[Hashable, QuestionAnswer], text: str, part: Question, rows: list[Told], section: str) -> None:
    """Note a part once, whoever asks it in which words; in a leaf's where one does, since its section can say so."""
    key = (part.kind, frozenset(part.names), part.matter) if part.matter else text
    if not part.shown and any(
        one.question.casefold().startswith(part.text.strip(" ?？.,").casefold()) for one in found.values()
    ):
        return  # a part that only points, and stands by itself in a plan: it is there with the names it points at
    before = found.get(key)
    if before is None or (not before.section and section):
        status, good = answer_of(part, rows)
        facts = tuple(dict.fromkeys(row.fact for row in good))
        asked = not section or before is not None
        found[key] = QuestionAnswer(question=text, status=status, facts=facts, section=section, asked=asked)
