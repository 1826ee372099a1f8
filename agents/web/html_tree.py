"""The tree of a page made readable: what nobody sees goes, tables, lists and formulas become text, and it is written down."""

import re
from collections.abc import Mapping
from itertools import pairwise

import lxml.html
from lxml import etree

from agents.nlp.tokens import SYLLABIC, collapsed, one_line, seen, unruffled
from agents.web.formulas import formula, lowered, raised
from agents.web.hidden_text import WHITE, Declared, StyleSheet, background_of, hides
from agents.web.table_rows import grid, records

Element = lxml.html.HtmlElement

_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_NEVER_TEXT = (
    "script", "style", "template", "noscript", "iframe", "object", "svg", "canvas", "select", "textarea", "button",
    "del", "s", "strike", "rt", "rp",
)  # fmt: skip
_SAID_BY_ATTRIBUTE = ("alt", "title", "aria-label", "placeholder", "summary")
_ROOTS = {"html", "body", "head"}
_BLOCKS = {
    "address", "article", "aside", "blockquote", "body", "caption", "dd", "details", "dialog", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr",
    "legend", "main", "nav", "p", "quote", "section", "summary", "table",
}  # fmt: skip
_LISTS, _ITEMS, _ROWS = {"ul", "ol", "menu", "list"}, {"li", "item"}, {"tr", "row"}
_CELLS = {"td", "th", "cell"}
_PARTS = _BLOCKS | _LISTS | _ITEMS | {"br"}
# The library that takes articles out drops these with all their words.
_OTHERWISE = {
    "time": "span", "data": "span", "output": "span", "label": "span", "ruby": "span", "figure": "div", "fieldset": "div",
    "dialog": "div", "figcaption": "p", "legend": "p", "menu": "ul",
}  # fmt: skip
# Stand for the end of a row, for the end of an item's number and the beginning of an item, and for a line break where none is yet.
_ROW, _NUMBERED, _ITEM, _SOFT = "\u241e", "\u241f", "\ue003", "\ue002"
_CODE = str.maketrans(" \t\n", "\ue004\ue005\ue006")
_LAID_OUT = str.maketrans("\ue004\ue005\ue006", " \t\n") | {ord(_ROW): "\n", ord(_NUMBERED): None}
_NUMBER = re.compile(rf"-{_ITEM}\s*([\w-]+[.)]){_NUMBERED}[\s{_SOFT}]*")
_UNSPACED_BREAK = re.compile(f"(?<=[{SYLLABIC}\u3001-\u3003\uff01-\uff60])[ \\t]*\\n\\s*(?=[{SYLLABIC}\uff01-\uff60])")
_BREAKS = re.compile(rf" *(?:[{_SOFT}\n] *)+")
_NOTE_MARK = re.compile(r"note|\bfn|ref|cit", re.I)
_MARK = re.compile(r"\d{1,3}|[a-z*†‡§]")
_FORMULA = {"mwe-math-element", "katex", "katex-display", "mathjax", "mathjax_display"}  # a formula and its picture
_ROLES = dict(
    zip(
        "table grid row columnheader rowheader cell gridcell".split(), "table table tr th th td td".split(), strict=True
    )
)
_SCRIPTS = {"super": "sup", "text-top": "sup", "sub": "sub", "text-bottom": "sub"}


def whole_text(html: str) -> tuple[str, str]:
    """Give all that a reader sees of a page that is nothing but its text, and its first heading."""
    tree = parsed(html)
    return laid_out(tree) if tree is not None else ("", "")


def laid_out(tree: Element) -> tuple[str, str]:
    """Give all that a reader sees of a tree, box by box, and its first heading."""
    for element in tree.iter("aside"):
        element.tag = "div"
    make_readable(tree)
    headings = (one_line(written(head)) for head in tree.iter("h1", "h2", "h3", "h4", "h5", "h6"))
    return written(tree), next(filter(None, headings), "")


def parsed(html: str) -> Element | None:
    """Give the tree of a page without invisible characters and text beside the text; None where there is nothing."""
    try:
        tree = lxml.html.document_fromstring(_XML_DECLARATION.sub("", html).replace("\x00", ""))
    except (etree.ParserError, etree.XMLSyntaxError):
        return None
    etree.strip_elements(tree, etree.Comment, etree.ProcessingInstruction, with_tail=False)
    for element in tree.iter():
        for attribute in _SAID_BY_ATTRIBUTE:
            element.attrib.pop(attribute, None)
        element.text, element.tail = _seen(element.text), _seen(element.tail)
    return tree


def _seen(text: str | None) -> str | None:
    return seen(text).replace(_ROW, " ").replace(_NUMBERED, " ") if text else text


def make_readable(tree: Element) -> None:
    """Write down what stands in the look of a page rather than in its words, and drop what nobody sees."""
    sheet = StyleSheet(tree)
    for box in tree.iter("div", "span"):
        box.tag = _ROLES.get(box.get("role", ""), box.tag)
    _write_formulas(tree)
    _remove_hidden(tree, sheet)
    for footer in tree.iter("footer"):
        footer.tag = "aside" if footer.find(".//sup") is not None else "footer"  # notes stand in it
    _write_scripts(tree)
    _part_boxes(tree)
    for quote in tree.iter("q"):
        quote.text = f"“{quote.text or ''}"
        quote.tail = f"”{quote.tail or ''}"
    for element in list(tree.iter(*_OTHERWISE, "aside")):
        if element.tag != "aside":
            element.tag = _OTHERWISE[str(element.tag)]
        elif any(above.tag in {"article", "main"} for above in element.iterancestors()) and not _is_menu(element):
            element.tag = "div"  # a box that belongs to the text
    _number_items(tree)
    for term in list(tree.iter("dt")):
        told = term.getnext()
        if told is not None and told.tag == "dd" and not _is_menu(term):
            told.text = f"{_cell_text(term).rstrip(':')}: {told.text or ''}"
            drop(term)
    for table in reversed(list(tree.iter("table"))):
        _write_table(table)


def _remove_hidden(tree: Element, sheet: StyleSheet) -> None:
    """Drop the elements that no reader of the page sees."""

    def is_shown(one: Element) -> bool:
        return sheet.of(one).get("visibility") == "visible"

    for element in list(tree.iter()):
        if not isinstance(element.tag, str) or element.tag in _ROOTS:
            continue
        declared = sheet.of(element)
        shows = declared.get("visibility") == "hidden" and any(map(is_shown, element.iterdescendants()))
        look = {**declared, "visibility": ""} if shows else declared
        if element.tag in _NEVER_TEXT or _is_hidden(element, sheet, look):
            drop(element)
        elif shows:  # its words are hidden, and its parts are unless they say that they are not
            element.text = None
            for one in element:
                one.tail = None
                styled(one, "" if is_shown(one) else "visibility:hidden!important")
        elif (script := _SCRIPTS.get(declared.get("vertical-align", ""))) and element.tag not in _BLOCKS | _CELLS:
            element.tag = script


def _is_hidden(element: Element, sheet: StyleSheet, declared: Declared) -> bool:
    if element.get("hidden", "until-found").lower() != "until-found":
        return True
    is_said = element.get("aria-hidden", "").strip().lower() == "true" or element.get("role") == "deletion"
    is_said = is_said or "mw-editsection" in element.get("class", "").split()
    if is_said or (element.tag == "dialog" and "open" not in element.attrib):
        return True
    # The colour that it lies on, as far as the page itself says.
    above = element.iterancestors() if "color" in declared else ()
    filled = next((one for one in (background_of(sheet.of(one)) for one in above) if one), WHITE)
    return bool(declared) and hides(declared, None if isinstance(filled, bool) else filled)


def _write_scripts(tree: Element) -> None:
    """Keep 10⁶ from becoming 106, and marks of notes from sticking to figures."""
    for anchor in list(tree.iter("a")):
        target, text = anchor.get("href", ""), anchor.text_content().strip()
        if "#" in target and _MARK.fullmatch(text) and _sticks(anchor):
            anchor.tag = "sup"
            anchor.set("class", "note")
        elif target.startswith("#") and not _MARK.fullmatch(text) and not any(map(str.isalnum, text)):
            drop(anchor)  # from a note back to its mark: with such a link it is taken for a menu
    for element in reversed(list(tree.iter("sup", "sub"))):
        text, is_link = element.text_content(), _is_note(element)
        element[:] = []
        element.text = raised(text, is_link=is_link) if element.tag == "sup" else lowered(text)
        element.drop_tag()


def _part_boxes(tree: Element) -> None:
    """Keep what is set side by side from sticking together: parts of a fraction, and parts that fill their box alone."""
    for element in tree.iter("span"):
        shown = element.text_content() + (element.tail or "")
        if re.match(r"\d+\u2044", shown) and _sticks(element):
            element.text = f" {element.text or ''}"  # 5 and a half is not 51 halves
    for box in tree.iter("li", "div", "a"):
        if len(box) > 1 and not (box.text or "").strip() and not any((part.tail or "").strip() for part in box):
            for part, other in pairwise(box):
                ends = part.text_content()[-1:], other.text_content()[:1]
                if all(map(str.isalnum, ends)) and (part.tag, part.get("class")) != (other.tag, other.get("class")):
                    part.tail = " "


def _is_note(element: Element) -> bool:
    """Tell a raised mark that leads to a note."""
    above = element.getparent()
    is_link = element.find(".//a[@href]") is not None or (above is not None and above.tag == "a")
    return is_link or bool(_NOTE_MARK.search(f"{element.get('class', '')} {element.get('role', '')}"))


def _sticks(anchor: Element) -> bool:
    """Tell a link that stands right behind a letter, and is not raised already."""
    before, above = anchor.getprevious(), anchor.getparent()
    if above is None or any(one.tag in {"sup", "sub"} for one in (above, *anchor.iterdescendants())):
        return False
    text = (before.tail or ("" if before.tag == "br" else before.text_content())) if before is not None else above.text
    return not (text or " ")[-1].isspace()


def _write_formulas(tree: Element) -> None:
    """Put formulas as text in the place of their markup, also where it is hidden behind a picture of them."""
    for script in tree.iter("script"):
        before = script.getprevious()
        if script.get("type", "").startswith("math/tex") and (before is None or before.find(".//math") is None):
            script.tag = "span"
    for element in list(tree.iter("math")):
        above = [
            one
            for one in element.iterancestors()
            if one.tag == "mjx-container" or _FORMULA & set(one.get("class", "").lower().split())
        ]
        whole = above[-1] if above else element
        text = formula(element)
        whole[:] = []
        whole.tag, whole.text = "span", text
        whole.attrib.clear()


def _number_items(tree: Element) -> None:
    """Give the items of ordered lists the numbers or letters that a browser shows."""
    for ordered in tree.iter("ol"):
        items = ordered.findall("li")
        step = -1 if "reversed" in ordered.attrib else 1
        number = _whole(ordered.get("start"), len(items) if step < 0 else 1)
        kind = ordered.get("type", "1")
        for item in items:
            number = _whole(item.get("value"), number)
            label = chr(ord(kind) + number - 1) if kind in {"a", "A"} and 1 <= number <= 26 else number
            item.text = f"{label}.{_NUMBERED}{item.text or ''}"
            number += step


def _whole(value: str | None, default: int) -> int:
    return int(value) if value and re.fullmatch(r"-?\d{1,9}", value.strip()) else default


def _write_table(table: Element) -> None:
    """Write a table of data as records in a paragraph; one that only places things on the page becomes blocks."""
    if _is_menu(table):
        return
    rows = [row for row in table.iter("tr") if next(row.iterancestors("table")) is table]
    cells = [[cell for cell in row if cell.tag in {"td", "th"}] for row in rows]
    is_layout = table.get("role") == "presentation" or any(
        one is not table and next(one.iterancestors("td", "th"), None) is not None
        for one in table.iter("h1", "h2", "h3", "table", "article")
    )
    if is_layout or sum(len(row) > 1 for row in cells) < min(2, len(cells)):
        for element in table.iter("table", "thead", "tbody", "tfoot", "tr", "td", "th"):
            element.tag = "div"
        return
    heads = 0
    for row, found in zip(rows, cells, strict=True):
        above = row.getparent()
        corner = found[1:] if len(found) > 1 and not _cell_text(found[0]) else found
        if not ((above is not None and above.tag == "thead") or all(cell.tag == "th" for cell in corner)):
            break
        heads += 1
    if all(len(found) == 1 for found in cells[:heads]):
        heads = 0  # the title of a box of pairs
    named = all(found[0].tag == "th" for found in cells[heads:] if len(found) > 1)
    spans = [
        [(_cell_text(cell), _whole(cell.get("colspan"), 1), _whole(cell.get("rowspan"), 1)) for cell in row]
        for row in cells
    ]
    is_data = table.get("told") == "data"  # a sheet of a workbook
    lines = records(grid(spans), heads=heads or (None if not named else 0), named=named, is_data=is_data)
    paragraphs = [*(_cell_text(one) for one in table.findall("caption")[:1]), _ROW.join(lines)]
    table.clear(keep_tail=True)
    table.tag = "div"
    for text in filter(None, paragraphs):
        etree.SubElement(table, "p").text = text


def _cell_text(cell: Element) -> str:
    if len(cell) == 0:
        return " ".join((cell.text or "").replace(_NUMBERED, " ").split())
    for part in list(cell.iterdescendants()):
        if part.tag in _PARTS:
            part.text, part.tail = f"{_ROW}{part.text or ''}", f"{_ROW}{part.tail or ''}"
    parts = (" ".join(part.split()) for part in cell.text_content().replace(_NUMBERED, " ").split(_ROW))
    return (" " if cell.tag == "th" else ", ").join(filter(None, parts)).replace(";,", ";")


def _is_menu(element: Element) -> bool:
    """Tell a part of a page that is little but links."""
    linked = sum(len(anchor.text_content()) for anchor in element.iter("a") if anchor.get("href"))
    return linked > 0.8 * len("".join(element.text_content().split()))


def drop(element: Element) -> None:
    """Take an element out, unless it is out already; what follows it stays."""
    if element.getparent() is not None:
        element.drop_tree()


def written(root: etree._Element) -> str:
    """Write a tree, of HTML or as the library gives it: blocks parted by blank lines, items and rows by line breaks."""
    parts: list[str] = []
    items = 0
    code: etree._Element | None = None
    for event, node in etree.iterwalk(root, events=("start", "end")):
        if not isinstance(node.tag, str) or (code is not None and node is not code):
            continue
        is_item = node.tag in _ITEMS
        if event == "end":
            items -= is_item
            code = None
            parts.append(_between(node, in_item=items > 0) if node.tag not in {"br", "lb"} else "")
            parts.append("" if node is root else _spaced(node.tail))
            continue
        parts.append(_between(node, in_item=items > 0))
        items += is_item
        if _is_code(node):
            code = node
            parts.append("".join(node.itertext()).strip("\n").translate(_CODE))
        else:
            before = node.getprevious() if node.tag in _CELLS else None
            is_next_cell = before is not None and before.tag in _CELLS
            parts.append(f"-{_ITEM}" * is_item + " | " * is_next_cell + _spaced(node.text))
    text = re.sub(rf"{_ITEM}\s*", " ", _NUMBER.sub(r"\1 ", "".join(parts)))
    text = _BREAKS.sub(lambda found: "\n\n" if found[0].count("\n") > 1 else "\n", text)
    return unruffled(re.sub(r"(?m)^-(?:\n|$)", "", collapsed(text)).translate(_LAID_OUT))


def _is_code(node: etree._Element) -> bool:
    above = node.getparent()
    return node.tag == "pre" or (node.tag == "code" and (above is None or above.tag in {"body", "quote", "div"}))


def _between(node: etree._Element, *, in_item: bool) -> str:
    """Give what parts an element from what stands around it."""
    if node.tag in {"br", "lb"}:
        return "\n"
    if _is_code(node) or ((node.tag in _BLOCKS or node.tag in _LISTS) and not in_item):
        return "\n\n"
    return _SOFT if node.tag in _BLOCKS | _LISTS | _ITEMS | _ROWS else ""


def _spaced(text: str | None) -> str:
    """Collapse white space; a line that ends within words of a script without spaces ends nothing."""
    return re.sub(r"[^\S\ue004-\ue006]+", " ", _UNSPACED_BREAK.sub("", text)) if text else ""


# ---- files whose parts become those of a page


def renamed(root: Element, tags: Mapping[str, str], *, texts: str = "") -> None:
    """Give the parts of a file the names of HTML; where `texts` is given, only what stands in these is text."""
    for node in root.iter(etree.Element):
        if texts and node.tag != texts:
            node.text = node.text if node.get("told") else None
            node.tail = None
        node.tag = tags.get(str(node.tag), "span")


def put_text(node: Element, text: str) -> None:
    """Put a text in the place of a part; what follows it stays."""
    node[:] = []
    node.tag, node.text = "span", text
    node.set("told", "1")


def styled(node: Element, *styles: str) -> None:
    """Add to what a part says of its look."""
    node.set("style", ";".join(filter(None, (node.get("style"), *styles))))


class Behind:
    """Puts notes and text boxes behind the paragraph or table in which their mark stands."""

    def __init__(self, *blocks: str) -> None:
        self._blocks = blocks
        self._last: dict[Element, Element] = {}
        self._notes = 0

    def put(self, mark: Element, thing: Element) -> None:
        """Put a thing behind what its mark stands in, and behind what was put there before."""
        around = list(mark.iterancestors(*self._blocks))
        if around:
            self._last.get(around[-1], around[-1]).addnext(thing)
            self._last[around[-1]] = thing

    def note(self, mark: Element, paragraphs: list[Element]) -> None:
        """Put a number in the place of a mark, and its note behind."""
        self._notes += 1
        number = raised(str(self._notes))
        note = mark.makeelement("p")
        label = etree.SubElement(note, "span")
        put_text(label, f"Note {number}: ")
        for paragraph in paragraphs:
            note.append(paragraph)
            paragraph.tag, paragraph.tail = "note-part", None
            put_text(etree.SubElement(note, "span"), " ")
        self.put(mark, note)
        put_text(mark, number)
