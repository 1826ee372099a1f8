"""The format rules that code can mend (specification, section 8), so that no writer is asked twice for them."""

import re
from collections.abc import Callable, Iterable, Sequence

from agents.contracts.body import Block, Body, Heading, Listing, Quotation, Sentence

MAX_CITATIONS = 3
"""Numbers behind one sentence, at most."""
MAX_LEVEL = 6
SourceOf = Callable[[str], str | None]
"""Names the source of a fact; None for one that does not exist."""
_WORD = re.compile(r"\w+")


def settled(body: Body, *, level: int | None = 3, source_of: SourceOf = str) -> Body:
    """Bring one part of a report into form; settling what is settled changes nothing.

    Headings nest from `level` on without gaps, and none begins or ends the part; lists that nothing parts are one, a
    list of one is a paragraph; a sentence cites each fact once, of at most three sources.

    Args:
        body: a summary, a section, a lead.
        level: of the highest heading, 1 to 6; None where no heading may stand, as in a summary.
        source_of: by default each fact counts as a source of its own.
    """
    cited = body.changed(lambda one: one.model_copy(update={"facts": capped(one.facts, source_of)}))
    blocks: Sequence[Block] = _lists(cited.changed(lambda one: one if one.inline else None).blocks)
    if level is None:
        return Body(blocks=tuple(block for block in blocks if not isinstance(block, Heading)))
    return Body(blocks=_nested(blocks, level))


def capped(facts: Sequence[str], source_of: SourceOf) -> tuple[str, ...]:
    """Keep the facts of the first three sources; several facts of one source share its number."""
    kept: dict[str, None] = {}
    sources: set[str] = set()
    for fact in facts:
        source = source_of(fact)
        if source is not None and (source in sources or len(sources) < MAX_CITATIONS):
            sources.add(source)
            kept[fact] = None
    return tuple(kept)


def attached(body: Body, facts: Iterable[tuple[str, str, str]]) -> Body:
    """Cite for each uncited sentence the fact that it is word for word; code does not guess beyond that.

    Args:
        body: a writer's prose.
        facts: id, statement and quote of each fact that the writer was shown.
    """
    known: dict[tuple[str, ...], str] = {}
    for fact, statement, quote in facts:
        for words in (_words(statement), _words(quote)):
            if len(words) >= 3:
                known.setdefault(words, fact)

    def cite(sentence: Sentence) -> Sentence:
        fact = None if sentence.facts else known.get(_words(sentence.text))
        return sentence if fact is None else sentence.model_copy(update={"facts": (fact,)})

    return body.changed(cite)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.casefold() for word in _WORD.findall(text))


def _lists(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Join lists that nothing parts, then turn lists of one into their blocks."""
    joined: list[Block] = []
    for block in blocks:
        last = joined[-1] if joined else None
        if isinstance(block, Listing) and isinstance(last, Listing) and block.ordered == last.ordered:
            joined[-1] = last.model_copy(update={"items": last.items + block.items})
        else:
            joined.append(block)
    out: list[Block] = []
    for block in joined:
        if isinstance(block, Listing) and len(block.items) == 1:
            out += _lists(block.items[0])
        elif isinstance(block, Listing):
            out.append(block.model_copy(update={"items": tuple(map(_lists, block.items))}))
        elif isinstance(block, Quotation):
            out.append(Quotation(blocks=_lists(block.blocks)))
        else:
            out.append(block)
    return tuple(out)


def _nested(blocks: Sequence[Block], level: int) -> tuple[Block, ...]:
    """Shift headings so that the highest has `level`, each at most one deeper than the one before; drop empty ones."""
    while blocks and isinstance(blocks[0], Heading):
        blocks = blocks[1:]
    while blocks and isinstance(blocks[-1], Heading):
        blocks = blocks[:-1]
    top = min((block.level for block in blocks if isinstance(block, Heading)), default=level)
    out: list[Block] = []
    last = level - 1
    for block in blocks:
        if isinstance(block, Heading):
            last = min(level + block.level - top, last + 1, MAX_LEVEL)
            block = Heading(level=last, inline=block.inline)
        out.append(block)
    return tuple(out)
