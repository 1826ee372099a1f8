"""A report as PDF: tagged for screen readers (PDF/UA), fit for archives (PDF/A), every font inside, no network.

The layout is `report.typ` beside this file; the report's words reach it as data. Noto fonts cover Latin, Greek,
Cyrillic, Arabic, Hebrew, the scripts of India and South-East Asia, Ethiopic, Georgian, Armenian, Chinese, Japanese and
Korean. What no font can show is replaced, and the first page says so.
"""

import json
import logging
import re
import threading
from collections.abc import Collection, Iterable
from dataclasses import asdict
from functools import cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from agents.contracts import body as b
from agents.contracts.report import ReportDocument
from agents.report.escaping import nested
from agents.report.latex import tree
from agents.report.references import Cite, Mark, Part
from agents.report.view import View, column_shares, printable, way_of
from agents.report.wording import base_language

if TYPE_CHECKING:
    import typst

log = logging.getLogger(__name__)

_FONT_PACKAGES = ("manimgx_fonts", "manimgx_fonts_cjk")
_SUBSTITUTE = "\ufffd"
_NO_GLYPH = re.compile(r'the text `"((?:[^"\\]|\\.)*)"` could not be displayed')
_ESCAPED = re.compile(r"\\u\{([0-9a-f]+)\}|\\(.)")
_AT_ONCE = threading.BoundedSemaphore(2)
"""Setting takes a core: no more than two reports are set at a time."""
_MAX_WHOLE_ROW = 1_200
"""Characters of a table row that is kept on one page; a longer one may not fit on any."""


def to_pdf(document: ReportDocument) -> bytes:
    """Write a report as PDF. Takes a tenth of a second to a few: not for the event loop."""
    import typst

    seen = View(document)
    lost: tuple[str, ...] = ()
    with _AT_ONCE:
        for _ in range(2):  # as it is, then without the letters that no font has
            try:
                return _compiled(_data(seen, lost), standards=True)
            except typst.TypstError as error:
                log.warning("a report could not be set by the rules of archives: %s", error.message)
                told = dict.fromkeys(_NO_GLYPH.findall(error.diagnostic))
                lost = tuple(
                    _ESCAPED.sub(lambda sign: chr(int(sign[1], 16)) if sign[1] else sign[2], one) for one in told
                )
        return _compiled(_data(seen, lost), standards=False)


def _compiled(data: str, *, standards: bool) -> bytes:
    import typst

    compiler = typst.Compiler(font_paths=_fonts(), ignore_system_fonts=True, root=Path(__file__).parent)
    source = Path(__file__).with_name("report.typ").read_bytes()
    made = compiler.compile(
        source,
        format="pdf",
        sys_inputs={"report": data},
        pdf_standards=["a-2a", "ua-1"] if standards else [],
        timestamp=0,
    )
    if not isinstance(made, bytes):
        raise TypeError("the typesetter returned pages, not a file")
    return made


@cache
def _fonts() -> "typst.Fonts":
    import typst

    found = filter(None, map(find_spec, _FONT_PACKAGES))
    folders = [Path(place) for spec in found for place in spec.submodule_search_locations or ()]
    return typst.Fonts(include_system_fonts=False, include_embedded_fonts=True, font_paths=folders)


# ---- the data that the layout reads


Data = dict[str, object]


def _data(seen: View, lost: Collection[str]) -> str:
    """Write a report as the layout reads it; a letter without a glyph is replaced, and the first page says so."""
    base, parts = base_language(seen.language), set(seen.language.casefold().replace("_", "-").split("-"))
    # The forms in which characters that Chinese, Japanese and Korean share are drawn.
    han = {"ja": "JP", "ko": "KR"}.get(base) or ("TC" if parts & {"hant", "tw", "hk", "mo"} else "SC")
    names = ", ".join(f"U+{ord(text[0]):04X}" for text in sorted(lost)[:12]) + (" …" if len(lost) > 12 else "")
    seen.citations.count = 0
    data = {
        **{name: getattr(seen, name) for name in ("title", "question", "grade", "grade_label", "figures", "way")},
        "reasons": seen.reasons,
        "blocks": [_block(block, seen) for block in nested(seen.body.blocks, 1)],
        "asked": seen.words.question,
        "note": seen.words.no_glyph.format(letters=names) if lost else "",
        "lang": base if re.fullmatch(r"[a-z]{2,3}", base) else "en",
        "fonts": ["Noto Sans", f"Noto Sans CJK {han}"],
        "date": {part: getattr(seen.day, part) for part in ("year", "month", "day")} if seen.day else None,
    }
    written = json.dumps(data, ensure_ascii=False)
    for text in sorted(lost, key=len, reverse=True):
        written = written.replace(text, _SUBSTITUTE)
    return written


def _block(block: b.Block, seen: View) -> Data:
    """Write one block; its lines are parts, citations with the places that they open."""
    made: Data = {"kind": block.kind}
    match block:
        case b.Heading(level=level, inline=line):
            made |= {"level": level, "line": _line(line), "way": way_of(line, seen.way)}
        case b.Paragraph(sentences=sentences):
            words = tuple(chain.from_iterable(one.inline for one in sentences))
            made |= {"line": _line(seen.parts(sentences)), "way": way_of(words, seen.way)}
        case b.Listing(items=items):
            made |= {"ordered": block.ordered, "start": block.start}
            made["items"] = [[_block(one, seen) for one in item] for item in items]
        case b.Table(header=header, rows=rows):
            longest = max((sum(len(cell.text) for cell in row) for row in rows), default=0)
            made |= {"align": block.align, "shares": column_shares(block), "whole": longest <= _MAX_WHOLE_ROW}
            made["header"] = [_line(cell) for cell in header]
            made["rows"] = [[_line(seen.parts([cell])) for cell in row] for row in rows]
        case b.Quotation(blocks=blocks):
            made["blocks"] = [_block(one, seen) for one in blocks]
        case b.Code(text=text):
            made["text"] = printable(text)
    return made


def _line(parts: Iterable[Part]) -> list[Data]:
    return [_part(part) for part in parts]


def _part(part: Part) -> Data:
    match part:
        case b.Words():
            return {**part.model_dump(), "text": printable(part.text)}
        case b.Formula(tex=tex):
            row = tree(tex)
            return {**part.model_dump(), "tree": None if row is None else _node(row)}
        case Cite():
            return {"kind": "cite", "number": part.reference.n, "place": part.place, "own": part.own}
        case Mark():
            return {"kind": "mark", **asdict(part)}
        case _:
            return part.model_dump()


def _node(element: ElementTree.Element) -> list[object]:
    if not len(element) and element.tag in {"mi", "mn", "mo", "mtext"}:
        return [element.tag, element.text or ""]
    return [element.tag, [_node(child) for child in element]]
