"""The synthesizer writes: a section over a leaf's facts, a lead over a branch, the frame around a report."""

from agents.contracts.finding import Frame, FrameInput, LeadInput, NumberedFact, Section, SectionInput
from agents.core.errors import Reject
from agents.core.role import Role
from agents.report.format_rules import attached
from agents.report.parse_body import parse


def _cites_something(markdown: str, facts: tuple[NumberedFact, ...]) -> None:
    """Refuse prose without a single usable citation, counting those that code can put in by itself."""
    body = parse(markdown, {str(fact.number): str(fact.number) for fact in facts})
    if not attached(body, ((str(fact.number), fact.statement, fact.quote) for fact in facts)).facts():
        raise Reject("No sentence cites a fact that exists. Put `[f1]` (the number of the fact) behind each sentence.")


def section_cites_its_facts(given: SectionInput, section: Section) -> None:
    """Refuse prose that rests on none of the facts."""
    _cites_something(section.markdown, given.facts)


def lead_cites_its_facts(given: LeadInput, section: Section) -> None:
    """Refuse a lead that rests on none of the facts."""
    _cites_something(section.markdown, given.facts)


def summary_cites_its_facts(given: FrameInput, frame: Frame) -> None:
    """Refuse a summary that rests on none of the facts."""
    _cites_something(frame.summary, given.facts)


SECTION_WRITER = Role(
    name="synthesizer",
    prompt="synthesizer_section",
    takes=SectionInput,
    gives=Section,
    checks=(section_cites_its_facts,),
    max_output_tokens=450,
    prose="markdown",
)
"""A leaf's facts in, its section of the report out."""

LEAD_WRITER = Role(
    name="synthesizer",
    prompt="synthesizer_lead",
    takes=LeadInput,
    gives=Section,
    checks=(lead_cites_its_facts,),
    max_output_tokens=400,
    prose="markdown",
)
"""More than two results of an inner executor in, the words that open their branch out."""

FRAME_WRITER = Role(
    name="synthesizer",
    prompt="synthesizer_frame",
    takes=FrameInput,
    gives=Frame,
    checks=(summary_cites_its_facts,),
    max_output_tokens=1200,
)
"""All sections in; title, summary, insight across them and conclusion out."""
