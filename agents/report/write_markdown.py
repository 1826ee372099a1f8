"""The tree of a report as Markdown; reading what was written gives the same tree again."""

import re
from collections.abc import Callable, Sequence
from itertools import zip_longest

from agents.contracts import body as b
from agents.contracts.report import Reference
from agents.report.cut_sentences import host
from agents.report.escaping import escape_inline, escape_text, guarded, is_route, is_safe, link_target
from agents.report.references import Citations, Linker, marked, quote_address, reference_list
from agents.report.wording import Wording

Cite = Callable[[b.Sentence], str]
"""Writes the marks behind a sentence."""

UNVERIFIED = " `#UNVERIFIED`"
"""Stands behind a sentence that its own quotes do not carry."""
_BARE = re.compile(r"(?:https?://|www\.)[^\s<>\"'`]+", re.IGNORECASE)
_BESIDE = re.compile(r"[\w$]")
_WRAPS = (("struck", "~~"), ("bold", "**"), ("italic", "*"))


def by_fact(sentence: b.Sentence) -> str:
    """Cite by the ids of facts, as prose does inside the program."""
    return "".join(f"[#{fact}]" for fact in sentence.facts)


def markdown_of(body: b.Body, cite: Cite = by_fact) -> str:
    """Write a body as Markdown, one blank line between blocks."""
    return "\n\n".join(blocks_markdown(body.blocks, cite))


def blocks_markdown(blocks: Sequence[b.Block], cite: Cite) -> list[str]:
    """Write each block by itself; the place of the reference list is left out."""
    return [text for block in blocks if (text := _block(block, cite))]


def sentence_markdown(sentence: b.Sentence, cite: Cite = by_fact, before: str = "") -> str:
    """Write one sentence with its marks, behind the character `before`."""
    marks = cite(sentence)
    text = line_markdown(sentence.inline, before)
    if marks and text.endswith("!") and not text.endswith("\\!"):
        text = f"{text[:-1]}\\!"  # the link of a citation behind it would make a picture
    return text + marks


def _block(block: b.Block, cite: Cite) -> str:
    match block:
        case b.Heading(level=level, inline=line):
            text = line_markdown(line).replace("\\\n", " ")
            return f"{'#' * level} " + re.sub(r"(#+)$", lambda found: "\\" + found[1], text)
        case b.Paragraph(sentences=sentences):
            return _sentences(sentences, cite)
        case b.Listing(items=items, ordered=ordered, start=start):
            marks = [f"{number}. " if ordered else "- " for number in range(start, start + len(items))]
            return "\n".join(_item(item, mark, cite) for item, mark in zip(items, marks, strict=True))
        case b.Table(header=header, align=align, rows=rows):
            dashes = {"left": ":---", "center": ":---:", "right": "---:"}
            lines = [[line_markdown(cell) for cell in header], [dashes.get(side, "---") for side in align]]
            lines += [[sentence_markdown(cell, cite) for cell in row] for row in rows]
            return "\n".join("| " + " | ".join(_cell(text) for text in line) + " |" for line in lines)
        case b.Quotation(blocks=inside):
            text = "\n\n".join(blocks_markdown(inside, cite))
            return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))
        case b.Code(text=text, language=language):
            ticks = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", text)), 3)
            return f"{ticks}{language}\n{text}\n{ticks}"
        case _:
            return ""


def _item(item: tuple[b.Block, ...], mark: str, cite: Cite) -> str:
    tight = len(item) == 2 and isinstance(item[1], b.Listing)
    text = ("\n" if tight else "\n\n").join(blocks_markdown(item, cite))
    return mark + text.replace("\n", "\n" + " " * len(mark)).replace("\n" + " " * len(mark) + "\n", "\n\n")


def _sentences(sentences: Sequence[b.Sentence], cite: Cite) -> str:
    out = ""
    for number, one in enumerate(sentences):
        text = sentence_markdown(one, cite, out[-1:])
        if not out or out.endswith("\n"):
            text = guarded(text)
        elif out.endswith("]") and text[0] in "([" and one.inline:
            out += " "  # "[1](2020)" would be a link
        out += text
        if number + 1 < len(sentences):
            out += "\\\n" if one.gap == "\n" else one.gap
    return out


def _cell(text: str) -> str:
    """Keep a cell on its line and between its bars: a break becomes a space; code may hold bars too."""
    return re.sub(r"(?<!\\)((?:\\\\)*)\|", r"\1\\|", text.replace("\\\n", " "))


def line_markdown(line: b.Line, before: str = "") -> str:
    """Write runs; emphasis that Markdown can't express at its place is left out, never its words."""
    out = ""
    for part, following in zip_longest(line, line[1:]):
        after = (
            following.text[:1] if isinstance(following, b.Words) else "$" if isinstance(following, b.Formula) else ""
        )
        match part:
            case b.Words():
                out += _words(part, before=(before + out)[-1:], after=after)
            case b.Formula(tex=tex, display=display):
                tight = _BESIDE.match(out[-1:]) or _BESIDE.match(after)
                out += tex.join(("$$", "$$") if display else ("\\( ", " \\)") if tight else ("$", "$"))
            case b.LineBreak():
                out = out.rstrip() + "\\\n"
            case _:
                pass
    return out


def _words(part: b.Words, *, before: str, after: str) -> str:
    style, text, lead, trail = set(part.style), part.text, "", ""
    if "code" in style:
        ticks = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
        pad = " " if not text or "`" in {text[0], text[-1]} or (text[0] == text[-1] == " " and text.strip()) else ""
        core = f"{ticks}{pad}{text}{pad}{ticks}"
    else:
        # A bare address would become a link wherever the Markdown is shown.
        core = (text if part.address else _BARE.sub(lambda found: host(found[0]), text)).strip(" ")
        if not core:
            return text
        lead, trail = text[: len(text) - len(text.lstrip(" "))], text[len(text.rstrip(" ")) :]
        # Marks inside a word, or beside other marks, are read as signs.
        wraps = not re.search(r"[\w*~]", (lead or before) + (trail or after))
        core = escape_inline(core)
        for name, mark in reversed(_WRAPS):
            core = f"{mark}{core}{mark}" if wraps and name in style else core
    for name in ("sup", "sub"):
        core = f"<{name}>{core}</{name}>" if name in style else core
    if part.address:
        inside = core.replace("]", "&#93;")  # `\[x=y\]` would be a formula to whoever reads it again
        core = f"[{inside}]({link_target(part.address)})"
    return lead + core + trail


# ---- a whole report


def by_number(sentence: b.Sentence) -> str:
    """Cite by the numbers of references, and mark what its own quotes do not carry."""
    return "".join(f"[{number}]" for number in sentence.citations) + _doubt(sentence)


def _doubt(sentence: b.Sentence) -> str:
    return UNVERIFIED if sentence.citations and sentence.verdict in {"unsupported", "contradicted"} else ""


def document_markdown(
    body: b.Body, references: Sequence[Reference], words: Wording, link: Linker | None = None, *, marks: bool = False
) -> str:
    r"""Write the text of a report, with numbers that name its references.

    A `link` gives the address of a quote: with it each number leads to the quote that carries its sentence, `[\[n\]](address)`.
    With `marks` what a check found of a sentence stands behind it in words, as in every other file.
    """
    citations = Citations(references)

    def cite(sentence: b.Sentence) -> str:
        out = ""
        for one in citations.of(sentence):
            text = rf"\[{one.reference.n}\]" if link else f"[{one.reference.n}]"
            address = link(one.reference, one.quotes[0]) if link and one.quotes else ""
            out += f"[{text}]({link_target(address)})" if is_safe(address) or is_route(address) else text
        if marks:
            mark = marked(sentence, words)
            return out + (f" *({escape_text(mark)})*" if mark else "")
        return out + _doubt(sentence)

    parts: list[str] = []
    for block in body.blocks:
        if isinstance(block, b.ReferenceList):
            block = reference_list(references, words, link or quote_address)
        parts += blocks_markdown([block], cite)
    return "\n\n".join(parts)
