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
_LINEAR = {
    "mfrac": "{}/{}", "mroot": "√({1}&{0})", "msub": "{}_{}", "msup": "{}^{}", "msubsup": "{}_{}^{}", "munder": "{}_{}",
    "mover": "{}^{}", "munderover": "{}_{}^{}",
}  # fmt: skip


def office_math(tex: str) -> str | None:
    """Write a formula as an `m:oMath` element of a Word file, on one line as one types it there; None where it is not understood.

    Word sets such a line as fractions, roots and indices when a reader asks for its professional form.
    """
    row = tree(tex)
    text = None if row is None else escape(_linear(row))
    return text and f'<m:oMath xmlns:m="{OFFICE}"><m:r><m:t>{text}</m:t></m:r></m:oMath>'


def _linear(element: ElementTree.Element) -> str:
    parts = [_linear(child) for child in element]
    if element.tag == "mtable":
        return f"■({'@'.join(parts)})"
    if element.tag == "mtr":
        return "&".join(parts)
    if element.tag == "msqrt":
        return f"√({''.join(parts)})"
    if form := _LINEAR.get(element.tag):
        return form.format(*(part if len(part) == 1 else f"({part})" for part in parts))
    return "".join(parts) or element.text or ""
