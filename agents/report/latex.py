"""Formulas in Markdown, told from amounts of money, and written as MathML or Office Math."""

import re
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline

MAX_FORMULA = 400
"""Characters between two delimiters, at most; what is longer is text with stray dollar signs."""

_FORMULA = re.compile(
    r"\\\((?P<round>.+?)\\\)|\\\[(?P<square>.+?)\\\]|\$\$(?!\$)(?P<double>.+?)(?<!\$)\$\$(?!\$)"
    r"|\$(?P<single>(?![\s$])[^$`]+?(?<![\s\\]))\$(?![\w$])",
    re.DOTALL,
)
_CLEAR_SIGN = re.compile(r"(?<!\\)(?:\\[a-zA-Z]+|[\^=<>≤≥≈∈_])")
"""A sign behind a backslash is escaped text, as in a title between brackets: `\\[a \\< b\\]`."""
_SIGN = re.compile(r"[±×·]|(?<=[\w)\]}])\s?[+/*-]\s?(?=[\w(\\])")
_NO_FORMULA = re.compile(r"\[#|\]\(|://|www\.|!\[|[`$]|\n\n")
"""What no formula holds: citations, links and pictures."""
_COMMAND = re.compile(r"\\(?:text|mathrm|operatorname)\s*\{[^{}]*\}|\\[a-zA-Z]+")
_PROSE = re.compile(r"[^\W\d_]{3,}[\s,;]+[^\W\d_]{3,}")


def read_formulas(markdown: "MarkdownIt") -> None:
    r"""Have a parser read `$…$`, `$$…$$`, `\(…\)` and `\[…\]` as tokens `formula`.

    A dollar sign opens a formula only where nothing else can be meant: `$3,500 to $5,000` is money, `$d = 12$` is not.
    Escaped brackets count where the content looks like mathematics: `\[sic\]` is no formula.
    """
    markdown.inline.ruler.before("escape", "formula", _inline)


def _inline(state: "StateInline", silent: bool) -> bool:
    if state.src[state.pos] not in "$\\":
        return False
    match = _FORMULA.match(state.src, state.pos, state.posMax)
    if match is None or (state.src[state.pos] == "$" and re.search(r"[\w$]\Z", state.src[: state.pos])):
        return False
    name = match.lastgroup or ""
    if not _is_maths(match[name], name):
        return False
    if not silent:
        token = state.push("formula", "math", 0)
        token.content, token.meta = " ".join(match[name].split()), {"display": name in {"double", "square"}}
    state.pos = match.end()
    return True


def _is_maths(tex: str, delimiter: str) -> bool:
    token = tex.strip()
    if len(tex) > MAX_FORMULA or _NO_FORMULA.search(tex) or _PROSE.search(_COMMAND.sub(" ", tex)):
        return False
    if token[:1] in "^_" or not re.search(r"\w", token):
        return False
    # Models write spaces inside brackets of formulas, and nobody writes `\(x\)` for anything else.
    spaced = tex[0].isspace() and tex[-1].isspace()
    if _CLEAR_SIGN.search(tex):
        return True
    if delimiter == "double" or (spaced and delimiter != "single"):
        return not token.replace(",", "").replace(" ", "").isdigit()
    if token[0].isdigit():  # an amount
        return False
    return bool(_SIGN.search(tex)) or (token.isalnum() and len(token) <= {"single": 3, "round": 1}.get(delimiter, 0))


# ---- writing

_CHILDREN = {"mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "msubsup": 3, "munderover": 3}


def mathml(tex: str, *, display: bool = False) -> str:
    """Set `tex` as a MathML element; what is not understood stands as its source in `<code>`, never lost."""
    row = tree(tex)
    if row is None:
        return f'<code class="tex">{escape(tex)}</code>'
    root = ElementTree.Element("math", {"display": "block"} if display else {})
    root.append(row)
    return ElementTree.tostring(root, encoding="unicode")


@lru_cache(maxsize=512)
def tree(tex: str) -> ElementTree.Element | None:
    """Read `tex` into a row of MathML elements; None where it is not understood."""
    from latex2mathml import converter, exceptions

    # The library also fails with what its own slips raise, on input that is no LaTeX.
    own = [kind for kind in vars(exceptions).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    slips: tuple[type[Exception], ...] = (
        *own, ElementTree.ParseError, LookupError, RecursionError, StopIteration, ValueError, TypeError, AttributeError,
    )  # fmt: skip
    try:
        root = ElementTree.fromstring(re.sub(r'\sxmlns="[^"]*"', "", converter.convert(tex)))
    except slips:
        return None
    row = root.find("mrow")
    return row if row is not None and _is_whole(row) else None


def _is_whole(element: ElementTree.Element) -> bool:
    """Tell whether every command was understood and no part of a fraction, root or index is missing."""
    text = (element.text or "").strip()
    if not len(element) and (text.startswith("\\") or (text in {"{", "}", "&", "_", "^", "#"} and element.tag == "mi")):
        return False
    return len(element) == _CHILDREN.get(element.tag, len(element)) and all(_is_whole(child) for child in element)


OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/math"
_PARTS: dict[str, tuple[str, tuple[int, ...], tuple[str, ...]]] = {
    "mfrac": ("f", (0, 1), ("num", "den")),
    "mroot": ("rad", (1, 0), ("deg", "e")),
    "msub": ("sSub", (0, 1), ("e", "sub")),
    "msup": ("sSup", (0, 1), ("e", "sup")),
    "msubsup": ("sSubSup", (0, 1, 2), ("e", "sub", "sup")),
    "munder": ("limLow", (0, 1), ("e", "lim")),
    "mover": ("limUpp", (0, 1), ("e", "lim")),
}
"""Name in Office Math, which child stands at which of its places, and these."""


def office_math(tex: str) -> str | None:
    """Write a formula as an `m:oMath` element of a Word file; None where it is not understood."""
    row = tree(tex)
    if row is None:
        return None
    ElementTree.register_namespace("m", OFFICE)
    root = ElementTree.Element(_name("oMath"))
    root.extend(_office(row))
    return ElementTree.tostring(root, encoding="unicode")


def _office(element: ElementTree.Element) -> list[ElementTree.Element]:
    """Translate one element; a row gives as many as it holds."""
    inside = list(element)
    if element.tag in _PARTS:
        name, order, places = _PARTS[element.tag]
        return [_made(name, *((place, inside[at]) for at, place in zip(order, places, strict=True)))]
    if element.tag == "munderover":
        low = ElementTree.Element("munder")
        low.extend(inside[:2])
        high = ElementTree.Element("mover")
        high.extend((low, inside[2]))
        return _office(high)
    if element.tag == "msqrt":
        row = ElementTree.Element("mrow")
        row.extend(inside)
        made = _made("rad", ("deg", ElementTree.Element("mrow")), ("e", row))
        properties = ElementTree.Element(_name("radPr"))
        ElementTree.SubElement(properties, _name("degHide"), {_name("val"): "1"})
        made.insert(0, properties)
        return [made]
    if element.tag == "mtable":
        table = ElementTree.Element(_name("m"))
        for row in inside:
            line = ElementTree.SubElement(table, _name("mr"))
            for cell in row:
                ElementTree.SubElement(line, _name("e")).extend(_office(cell))
        return [table]
    if inside or not element.text:
        return [node for child in inside for node in _office(child)]
    run = ElementTree.Element(_name("r"))
    if element.tag != "mi" or len(element.text) > 1 or element.get("mathvariant") == "normal":
        properties = ElementTree.SubElement(run, _name("rPr"))
        ElementTree.SubElement(properties, _name("sty"), {_name("val"): "p"})
    ElementTree.SubElement(run, _name("t")).text = element.text
    return [run]


def _made(name: str, *parts: tuple[str, ElementTree.Element]) -> ElementTree.Element:
    made = ElementTree.Element(_name(name))
    for place, child in parts:
        ElementTree.SubElement(made, _name(place)).extend(_office(child))
    return made


def _name(tag: str) -> str:
    return f"{{{OFFICE}}}{tag}"
