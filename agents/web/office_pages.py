"""Word files and OpenDocument as pages: their parts are given the names of HTML, and read as a page then.

What hides, strikes or raises letters becomes style there, so that one set of rules holds for files and pages alike.
"""

import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from posixpath import normpath
from string import hexdigits

from lxml import etree

from agents.contracts.frozen import Said
from agents.nlp.tokens import language_of, one_line, seen
from agents.web.decoding import MAX_NAME, Document, name_of, title_of
from agents.web.formulas import formula
from agents.web.html_tree import Behind, Element, drop, laid_out, put_text, renamed, styled

CHARTS = "its charts were not read"

_MOST_CELLS = 200  # that one repeated cell stands for
_NARROW = 10  # per cent of the width of letters that nobody can read
_SHIFTED = 4  # half points by which letters that are raised or lowered stand higher or lower
WHITE_OF_A_THEME = {"background1", "light1", "bg1"}
OTHER_GROUND = "background:other"  # a colour that is not known: nothing on it is taken for hidden
_CLEAR = 95_000  # thousandths of a per cent, from which ink cannot be seen
_FAR = 400  # half points from its line, where nobody looks for a word
_FAR_BESIDE, _FLAT = 10_000, 40  # twentieths of a point: beside the page, and the height of a line
_HIGHLIGHTS = dict(zip(
    ("yellow green cyan magenta blue red black white darkBlue darkCyan darkGreen darkMagenta darkRed darkYellow darkGray"
     " lightGray").split(),
    ("ffff00 00ff00 00ffff ff00ff 0000ff ff0000 000000 ffffff 000080 008080 008000 800080 800000 808000 808080"
     " c0c0c0").split(), strict=True,
))  # fmt: skip
_TEMPLATE_DATE = "2013-12-23"  # of a library that writes files
# Signs of the font Symbol by the last two digits of their codes.
SIGNS = dict(zip("61 62 67 64 65 68 6C 6D 70 72 73 74 66 77 44 53 57 A3 A5 B0 B1 B3 B4 B6 B7 B8 B9 BA BB D6 D7 E5 F2".split(),
    "αβγδεηλμπρστφωΔΣΩ≤∞°±≥×∂•÷≠≡≈√⋅∑∫", strict=True))  # fmt: skip
_NEVER_IN_WORD = ("del", "moveFrom", "instrText", "delText", "Fallback", "rt", "cellDel")
_NEVER_IN_ODF = (
    "tracked-changes", "annotation", "hidden-text", "hidden-paragraph", "ruby-text", "image", "note-citation", "forms",
    "shapes", "desc", "title", "binary-data", "placeholder",
)  # fmt: skip
# What the parts of Word files and slides, and of OpenDocument, are called in a page.
OF_XML = {name: name for name in ("p", "tr", "br", "h1", "li", "th")} | {"tbl": "table", "tc": "td", "cr": "br"}
OF_XML |= {"txbxContent": "div", "sp": "div"}
_OF_ODF = {
    "p": "p", "h": "h2", "list": "ul", "list-item": "li", "table": "table", "table-row": "tr", "table-cell": "td", "th": "th",
    "line-break": "br", "text-box": "div", "page": "div", "notes": "div", "note-body": "div", "section": "div",
}  # fmt: skip


def part(archive: zipfile.ZipFile, name: str) -> Element:
    """Parse a part of a file, without the names of its vocabularies; ids of other parts are `rid`."""
    parser = etree.XMLParser(resolve_entities=False, remove_comments=True, remove_pis=True)
    parser.set_element_class_lookup(etree.ElementDefaultClassLookup(element=Element))
    root = etree.fromstring(archive.read(name) if name in archive.namelist() else b"<none/>", parser)
    assert isinstance(root, Element)
    for node in root.iter(etree.Element):
        node.tag = etree.QName(node).localname
        for key, value in list(node.attrib.items()):
            if "}" in key:
                del node.attrib[key]
                space, _, name = key.rpartition("}")
                node.set(f"r{name}" if space.endswith("/relationships") else name, value)
    return root


def css(*parts: str, hidden: bool = False, struck: bool, rise: int) -> str:
    """Write a look as style: letters that are hidden, struck, raised or lowered, and what is written already."""
    told = ("display:none" * hidden, "text-decoration:line-through" * struck)
    script = "vertical-align:super" if rise > 0 else "vertical-align:sub" if rise < 0 else ""
    return ";".join(filter(None, (*told, script, *parts)))


def facts_of(root: Element) -> dict[str, str]:
    """Give what a file says of itself, the first of each kind."""
    told = [one for one in root.iter("title", "creator", "date", "created", "modified") if one.text]
    return {str(one.tag): str(one.text) for one in reversed(told)}


def document_of(
    text: str, facts: Mapping[str, str], *, heading: str | None = None, date: str = "", gaps: Iterable[str] = ()
) -> Document:
    """Make a document of a text.

    Args:
        text: what stands in it.
        facts: what it says of itself.
        heading: its own first one; empty where its first line may be one, None where that is data.
        date: when it was made, where that says something of its text.
        gaps: what of it was not read.
    """
    text = seen(text).replace("\n\n- ", "\n- ").strip()
    first = one_line(text.split("\n", 1)[0]) if heading == "" else ""
    headed = first if len(first) <= MAX_NAME and not first.endswith(".") else ""
    return Document(
        title=heading or title_of(facts.get("title", ""), text) or headed,
        text=text,
        author=name_of(facts.get("creator")),
        published=date[:10] if date[:4] >= "1985" and date[:10] != _TEMPLATE_DATE else None,
        language=language_of(text) if text else None,
        gaps=tuple(map(Said.read, gaps)),
    )


# ---- Word


def read_word(archive: zipfile.ZipFile, main: str) -> Document:
    """Read a Word file: its changes as accepted, notes and text boxes behind their paragraph."""
    tree, facts = part(archive, main), facts_of(part(archive, "docProps/core.xml"))
    styles = {one.get("styleId", ""): one for one in part(archive, "word/styles.xml").iter("style")}
    notes = {
        (kind, one.get("id")): one
        for kind in ("footnote", "endnote")
        for one in part(archive, f"word/{kind}s.xml").iter(kind)
        if one.get("type") in {None, "normal"}  # others are lines between text and notes
    }
    body = tree.find("body")
    if body is None:
        raise KeyError("body")
    for gone in [
        *body.iterfind(".//tr/trPr/del/../.."),
        *body.iterfind(".//tr/trPr/hidden/../.."),
        *body.iterfind(".//tc/tcPr/cellDel/../.."),
        *body.iterfind(".//sdtPr/showingPlcHdr/../../sdtContent"),
    ]:
        drop(gone)
    for paragraph in [one for one in body.iter("p") if one.find("pPr/rPr/del") is not None]:
        following = paragraph.getnext()  # the end of the paragraph is deleted: it goes on with the next
        if following is not None and following.tag == "p":
            paragraph.extend(one for one in list(following) if one.tag != "pPr")
            drop(following)
    behind = Behind("p", "tbl")
    for mark in list(body.iter("footnoteReference", "endnoteReference")):
        kind = str(mark.tag).removesuffix("Reference")
        is_gone = next(mark.iterancestors("del", "moveFrom"), None) is not None
        if not is_gone and (note := notes.pop((kind, mark.get("id")), None)) is not None:
            behind.note(mark, list(note.iter("p")))
    for gone in list(body.iter(*_NEVER_IN_WORD)):
        drop(gone)
    for box in list(body.iter("txbxContent")):
        behind.put(box, box)
    _dress_word(body, styles)
    for table in body.iter("tbl"):
        _merge_word(table)
    renamed(body, OF_XML, texts="t")
    text, heading = laid_out(body)
    return document_of(text, facts, heading=heading, date=facts.get("created") or facts.get("modified") or "")


def _dress_word(body: Element, styles: Mapping[str, Element]) -> None:
    """Write the looks of paragraphs, cells and runs as style, and signs and formulas as text."""
    write: dict[str, Callable[[Element], str]] = {
        "tab": lambda _: " ",
        "noBreakHyphen": lambda _: "-",
        "oMath": formula,
        "ffData": _chosen,
        "sym": lambda node: SIGNS.get(node.get("char", "").upper()[-2:], "\ufffd"),
    }
    for node in list(body.iter(*write)):
        put_text(node, write[str(node.tag)](node))
    for cell in body.iter("tc", "p"):
        styled(cell, _fill(cell.find(f"{cell.tag!s}Pr/shd")), "display:none" * _is_out_of_sight(cell, styles))
    for run in body.iter("r"):
        styled(run, _word_style(_word_look(run, styles)))
    for paragraph in list(body.iter("p")):
        named = _val(paragraph, "pPr/pStyle").lower()
        number = _val(paragraph, "pPr/numPr/numId", "0")
        if named.startswith(("title", "heading")) and next(paragraph.iterancestors("tbl"), None) is None:
            paragraph.tag = "h1"
        elif named.startswith("list") or number != "0":
            paragraph.tag = "li"
    for properties in list(body.iter("pPr", "rPr")):
        drop(properties)


def _chosen(field: Element) -> str:
    """Give what is ticked or chosen in a field of a form."""
    for box in field.iter("checkBox"):
        ticked = box.find("checked")
        value = _val(box, "default", "0") if ticked is None else ticked.get("val", "1")
        return "[x]" if value in {"1", "true", "on"} else ""
    entries = [entry.get("val", "") for entry in field.iter("listEntry")]
    at = int(_val(field, "ddList/result", "0"))
    return entries[at] if at < len(entries) else ""


def _word_look(run: Element, styles: Mapping[str, Element]) -> dict[str, Element]:
    """Give the properties of a run by their names: its own, then those of its styles and of the styles above these."""
    paragraph = next(run.iterancestors("p"), None)
    names = (_val(run, "rPr/rStyle"), _val(paragraph, "pPr/pStyle") if paragraph is not None else "")
    return _look("rPr", [run, *(style for name in names for style in _above(name, styles))])


def _look(kind: str, parts: Iterable[Element]) -> dict[str, Element]:
    """Give the properties of the first of some parts, and those of the others that it does not have."""
    return {str(one.tag): one for part in reversed([*parts]) for one in part.iterfind(f"{kind}/*")}


def _is_out_of_sight(paragraph: Element, styles: Mapping[str, Element]) -> bool:
    """Tell a paragraph that is set far beside its page, or in lines without height, by itself or by its style."""
    look = _look("pPr", [paragraph, *_above(_val(paragraph, "pPr/pStyle"), styles)])
    places = [
        look[kind].get(name, "") for kind in ("ind", "framePr") for name in ("left", "start", "x", "y") if kind in look
    ]
    height = look["spacing"].get("line", "") if "spacing" in look and look["spacing"].get("lineRule") == "exact" else ""
    return any(_whole(place, 0) < -_FAR_BESIDE for place in places) or _whole(height, _FLAT) < _FLAT


def _whole(value: str, usual: int) -> int:
    return int(value) if re.fullmatch(r"-?\d{1,9}", value) else usual


def _above(name: str, styles: Mapping[str, Element]) -> Iterator[Element]:
    """Give a style and those that it stands on."""
    for _ in range(8):
        style = styles.get(name)
        if style is None:
            return
        yield style
        name = style.get("parent-style-name") or _val(style, "basedOn")


def _word_style(look: Mapping[str, Element]) -> str:
    values = {name: part.get("val", "") for name, part in look.items()}

    def whole(name: str, usual: int) -> int:
        return _whole(values.get(name, ""), usual)

    def is_on(*names: str) -> bool:
        return any(values.get(name, "0") not in {"0", "false", "off"} for name in names)

    # Half points on paper; what counts is whether anybody can read them.
    size = (
        "" if not {"w", "sz"} & values.keys() else f"font-size:{whole('sz', 24) / 2 * (whole('w', 100) >= _NARROW)}px"
    )
    colour = _colour("color", look["color"], "val", "themeColor") if "color" in look else ""
    ink = look["textFill"].iter("noFill", "alpha") if "textFill" in look else ()
    is_clear = any(_whole(one.get("val", "100000"), 0) > _CLEAR for one in ink)
    marked = _HIGHLIGHTS.get(values.get("highlight", ""))
    ground = f"background-color:#{marked}" if marked else _fill(look.get("shd"))
    rise = {"superscript": 1, "subscript": -1}.get(values.get("vertAlign", ""), int(whole("position", 0) / _SHIFTED))
    return css(
        size,
        colour,
        ground,
        hidden=is_clear or is_on("vanish", "specVanish") or abs(whole("position", 0)) > _FAR,
        struck=is_on("strike", "dstrike"),
        rise=rise,
    )


def _fill(shade: Element | None) -> str:
    if shade is None or shade.get("fill", "auto") == "auto":
        return ""
    return _colour("background-color", shade, "fill", "themeFill") or OTHER_GROUND


def _colour(name: str, part: Element, value: str, theme: str) -> str:
    """Write a colour as style; of the colours of a theme only its white ground is known."""
    digits = part.get(value, "")
    if part.get(theme):
        is_white = part.get(theme) in WHITE_OF_A_THEME and not part.get(f"{theme}Shade")
        return f"{name}:#ffffff" if is_white else ""
    return f"{name}:#{digits}" if len(digits) == 6 and all(digit in hexdigits for digit in digits) else ""


def _merge_word(table: Element) -> None:
    """Note over how many columns and rows cells go. A table in a cell is no more than its words."""
    above: dict[int, Element] = {}
    if next(table.iterancestors("tbl"), None) is not None:
        for part in list(table.iter("tr", "tc")):
            part.tag = "within"
        table.tag = "within"
        return
    for row in table.iter("tr"):
        at = 0
        for _ in range(min(int(_val(row, "trPr/gridBefore", "0")), _MOST_CELLS)):
            row.insert(0, row.makeelement("tc"))
        is_head = row.find("trPr/tblHeader") is not None
        for cell in [one for one in row.iter("tc") if next(one.iterancestors("tc"), None) is None]:
            width = _val(cell, "tcPr/gridSpan", "1")
            merged = cell.find("tcPr/vMerge")
            if merged is not None and merged.get("val", "continue") == "continue" and at in above:
                above[at].set("rowspan", str(int(above[at].get("rowspan", "1")) + 1))
                drop(cell)
            else:
                cell.set("colspan", width)
                above[at] = cell
                cell.tag = "th" if is_head else "tc"
            at += int(width) if width.isdigit() else 1


def _val(node: Element, path: str, usual: str = "") -> str:
    found = node.find(path)
    return found.get("val", usual) if found is not None else usual


# ---- OpenDocument


def read_open_document(archive: zipfile.ZipFile, main: str) -> Document:
    """Read a text, a sheet or slides."""
    parts = [part(archive, name) for name in (main, "styles.xml", "meta.xml")]
    styles = {one.get("name", ""): one for one in reversed([one for part in parts for one in part.iter("style")])}
    body = parts[0].find("body")
    if body is None:
        raise KeyError("body")
    looks = {name: _odf_look(name, styles) for name in styles}
    for mark in list(body.iter("hidden-paragraph")):
        if mark.get("is-hidden") == "true" and (around := next(mark.iterancestors("p", "h"), None)) is not None:
            drop(around)
    for node in list(body.iter(etree.Element)):
        look = looks.get(node.get("style-name", ""), {})
        if node.tag in _NEVER_IN_ODF or _is_hidden(node, look):
            drop(node)
        elif node.tag in {"p", "h", "span", "a"} and look:
            styled(node, _odf_style(look))
        elif node.tag in {"s", "tab", "object"}:
            put_text(node, _odf_formula(archive, node) if node.tag == "object" else " ")
    for first in [one for notes in body.iter("notes") for one in list(notes.iter("p"))[:1]]:
        first.text = f"Speaker notes: {first.text or ''}"
    for table in list(body.iter("table")):
        _merge_odf(table)
        table.set("told", "data" if body.find("spreadsheet") is not None else "")
    behind = Behind("p", "h", "table")
    for node in list(body.iter("note", "text-box")):
        behind.note(node, list(node.iterfind("note-body/p"))) if node.tag == "note" else behind.put(node, node)
    renamed(body, _OF_ODF)
    charts = any(b"chart" in archive.read(name)[:2_000] for name in archive.namelist() if name.endswith("/content.xml"))
    text, _ = laid_out(body)
    return document_of(text, facts_of(parts[2]), heading="", gaps=[CHARTS] * charts)


def _is_hidden(node: Element, look: Mapping[str, str]) -> bool:
    """Tell a section, a sheet, a page or a row that nobody sees; hidden columns say which cells are hidden."""
    if node.tag in {"section", "table"}:
        return "none" in (node.get("display"), look.get("display")) or look.get("display") == "false"
    if node.tag == "page":
        return look.get("visibility") == "hidden"
    return node.tag != "table-column" and node.get("visibility", "visible") != "visible"


def _odf_look(name: str, styles: Mapping[str, Element]) -> dict[str, str]:
    """Give what a style and those above it say."""
    said = [properties.attrib.items() for style in _above(name, styles) for properties in style]
    return {str(key): str(value) for one in reversed(said) for key, value in one}


def _odf_style(look: Mapping[str, str]) -> str:
    share = (look.get("text-position") or "0%").split()[0].replace("super", "1%").replace("sub", "-1%")
    rise = 0 if share[:1] == "0" or share[-1:] != "%" else -1 if share[0] == "-" else 1
    parts = [f"{name}:{look[name]}" for name in ("color", "background-color", "display") if name in look]
    parts += [f"font-size:{look['font-size']}"] if look.get("font-size", "").endswith("pt") else []
    is_struck = any(look.get(f"text-line-through-{one}", "none") != "none" for one in ("style", "type"))
    is_clear = any(re.fullmatch("[0-5]%", look.get(name, "")) for name in ("opacity", "text-scale"))
    return css(*parts, hidden=is_clear, struck=is_struck, rise=rise)


def _odf_formula(archive: zipfile.ZipFile, thing: Element) -> str:
    """Write a formula, which is a file of its own in the archive; other things in frames are no text."""
    inner = [*thing.iter("math"), *part(archive, normpath(f"{thing.get('href', '')}/content.xml")).iter("math")]
    return formula(inner[0]) if inner else ""


def _merge_odf(table: Element) -> None:
    """Note over how many columns and rows cells go, and drop the columns that are hidden."""

    def times(node: Element, what: str) -> int:
        said = node.get(f"number-{what}", "1")
        return min(int(said), _MOST_CELLS) if said.isdigit() else 1

    hidden: list[bool] = []
    for column in list(table.iter("table-column")):
        hidden += [column.get("visibility", "visible") != "visible"] * times(column, "columns-repeated")
        drop(column)
    for row in list(table.iter("table-row")):
        for _ in range(times(row, "rows-repeated") - 1 if any(map(str.strip, row.itertext())) else 0):
            row.addnext(deepcopy(row))
    for cell in table.iterfind(".//table-header-rows/table-row/table-cell"):
        cell.tag = "th"
    for row in table.iter("table-row"):
        at = 0
        cells = list(row.iterchildren("table-cell", "th", "covered-table-cell"))
        for cell in cells:
            number, wide = times(cell, "columns-repeated"), times(cell, "columns-spanned")
            shown = sum(not any(hidden[place : place + 1]) for place in range(at, at + max(number, wide)))
            at += number
            if cell.tag == "covered-table-cell" or not shown or (cell is cells[-1] and len(cell) == 0):
                drop(cell)
                continue
            cell.set("colspan", str(min(wide, shown)))
            cell.set("rowspan", cell.get("number-rows-spanned", "1"))
            for _ in range(shown - 1 if number > 1 else 0):
                cell.addnext(deepcopy(cell))
