"""Which questions of the contract have an answer that holds: by the words of facts, whatever anybody says of them. Pure."""

from dataclasses import replace

from agents.contracts.contract import Contract
from agents.contracts.finding import AnswerStatus, Finding, QuestionAnswer
from agents.contracts.plan import Plan
from agents.research.reading.subject import LOOKUPS, Question, answers, is_about, leads_to, parts_of

_WORSE: tuple[AnswerStatus, ...] = ("answered", "partly", "not_found")


def answers_of(contract: Contract, findings: tuple[Finding, ...]) -> tuple[QuestionAnswer, ...]:
    """Say of each question of the contract, and of each leaf of its plans, how far it is answered.

    What the writer of a section says of a question may lower its status and never raises it.
    """
    found: dict[str, QuestionAnswer] = {}
    for plan, finding in zip(contract.plans, findings, strict=True):
        rows = _rows(finding)
        for part in parts_of(plan.query):
            _add(found, _asked(part), part, rows, "")
        for section, question in _planned(plan):
            for part in parts_of(question):
                _add(found, question if len(parts_of(question)) == 1 else _asked(part), part, rows, section)
    said = {one.question: one.status for finding in findings for part in finding.walk() for one in part.answers}
    return tuple(
        one.model_copy(update={"status": max(one.status, said.get(one.question, one.status), key=_WORSE.index)})
        for one in found.values()
    )


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
        if not leaf.discovery
        for question in (leaf.spec.questions if leaf.spec else leaf.questions)
    ]


def _asked(part: Question) -> str:
    """Word a part so that it can be read alone: `who founded each of them?` with the name that it is about."""
    text = part.text.strip(" ?？.,")
    named = " ".join(part.shown)
    mark = "" if any(name.casefold() in text.casefold() for name in part.shown) else f" ({named})" if named else ""
    return f"{text[:1].upper()}{text[1:]}{mark}?"


def _add(found: dict[str, QuestionAnswer], text: str, part: Question, rows: list[_Row], section: str) -> None:
    status, facts = _status(part, rows)
    before = found.get(text)
    if before is None or (not before.section and section):
        found[text] = QuestionAnswer(question=text, status=status, facts=facts, section=section)


def _status(part: Question, rows: list[_Row]) -> tuple[AnswerStatus, tuple[str, ...]]:
    if part.kind in {"either", "yes_no"} and len(part.names) > 1:
        each = [_status(replace(part, names=(name,)), rows) for name in part.names]
        facts = tuple(dict.fromkeys(fact for _, some in each for fact in some))
        statuses = {status for status, _ in each}
        return (statuses.pop() if len(statuses) == 1 else "partly"), facts
    about = [row for row in rows if is_about(part, row.quote, row.title, row.head)]
    next_step = [row for row in rows if row not in about and leads_to(row.title, [one.quote for one in about])]
    good = [row.fact for row in about if answers(part, row.quote, row.title, row.head)]
    good += [row.fact for row in next_step if answers(part, row.quote, row.title, row.head, linked=True)]
    if good:
        return "answered", tuple(good)
    # Words about the subject are part of an answer to a wide question, and none to one for a person, date, figure or place.
    if not about or part.kind in LOOKUPS:
        return "not_found", ()
    return "partly", tuple(row.fact for row in about)
