"""One line of Markdown as characters with their looks: emphasis, links, code, formulas, indices, the words of HTML."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from urllib.parse import unquote

from markdown_it.token import Token

from agents.contracts.body import Style
from agents.report.cut_sentences import Glyph
from agents.report.escaping import is_route, is_safe, link_target
from agents.report.marks import find_marks

STYLES: dict[str, Style] = {
    "strong": "bold", "b": "bold", "em": "italic", "i": "italic", "s": "struck", "del": "struck", "strike": "struck",
    "code": "code", "tt": "code", "sup": "sup", "sub": "sub",
}  # fmt: skip
PARTING_TAGS = frozenset(
    "p div h1 h2 h3 h4 h5 h6 ul ol li dl dt dd hr table caption thead tbody tfoot tr td th blockquote section article "
    "header footer details summary pre main aside figure figcaption".split()
)
"""Tags between whose words stands a space."""
_DROPPED_TAGS = frozenset("u small big span font mark center a q cite abbr ins kbd samp var time wbr".split())
"""Tags of which only the words are taken."""
_TAG = re.compile(r"<(/?)([a-zA-Z][\w-]*)(?:\s[^<>]*)?/?>")
_UNSPACED = re.compile(r"[\u3000-\u9fff\uf900-\ufaff\uff00-\uffef]")
_SPACES = re.compile(r"[^\S\u00a0\u202f]+")
_RAISED = dict(zip("0123456789+-−=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ", strict=True))
_LOWERED = dict(zip("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎", strict=True))


def glyphs_of(tokens: Sequence[Token], may_link: Callable[[str], bool]) -> list[Glyph]:
    """Read the tokens of one line.

    Args:
        tokens: the children of an inline token.
        may_link: tells which addresses may be links; the words of others stay.
    """
    reader = _LineReader(may_link)
    for number, token in enumerate(tokens):
        reader.read(token, tokens[number + 1 :])
    return reader.glyphs


class _LineReader:
    def __init__(self, may_link: Callable[[str], bool]) -> None:
        self.may_link = may_link
        self.glyphs: list[Glyph] = []
        self.styles: list[Style] = []
        self.address = ""
        self.link = ""
        self.linked_from = 0

    def read(self, token: Token, following: Sequence[Token]) -> None:
        match token.type:
            case "text":
                self._put(_SPACES.sub(" ", token.content))
            case "text_special":
                # A backslash that escapes nothing comes with the letter behind it.
                self._put(token.content, fixed=len(token.content) == 1)
            case "code_inline":
                self._put(token.content, fixed=True, style=("code",))
            case "softbreak":
                after = next((one.content[:1] for one in following if one.content), "")
                unspaced = self.glyphs and _UNSPACED.match(self.glyphs[-1].char) and _UNSPACED.match(after)
                self._put("" if unspaced else " ")
            case "hardbreak":
                self._put("\n")
            case "formula":
                display = bool(token.meta["display"])
                self.glyphs.append(Glyph("\ufffc", (), self.address, True, token.content, display))
            case "image":  # its alternative text
                for number, child in enumerate(token.children or ()):
                    self.read(child, (token.children or ())[number + 1 :])
            case "link_open":
                href = str(token.attrGet("href") or "")
                self.address = link_target(href) if self.may_link(href) else ""
                self.link = href
                self.linked_from = len(self.glyphs)
            case "link_close":
                self.address = ""
                self._linked()
            case "html_inline":
                self._tag(token.content)
            case kind if kind.endswith(("_open", "_close")) and token.tag in STYLES:
                self._style(STYLES[token.tag], closing=token.nesting < 0)
            case _:
                pass

    def _put(self, text: str, *, fixed: bool = False, style: tuple[Style, ...] = ()) -> None:
        styles = tuple(dict.fromkeys((*self.styles, *style)))
        for index, to in (("sup", _RAISED), ("sub", _LOWERED)):
            # Indices that have characters of their own are readable in any format.
            if index in styles and all(char in to for char in text):
                text = "".join(to[char] for char in text)
                styles = tuple(one for one in styles if one != index)
        self.glyphs += [Glyph(char, styles, self.address, fixed) for char in text]

    def _style(self, style: Style, *, closing: bool) -> None:
        if not closing:
            self.styles.append(style)
        elif style in self.styles:
            self.styles.remove(style)

    def _tag(self, tag: str) -> None:
        found = _TAG.fullmatch(tag)
        name = found[2].lower() if found else ""
        if tag.startswith("<!--") or name in _DROPPED_TAGS:
            return
        if name == "br":
            self._put("\n")
        elif name in STYLES:
            self._style(STYLES[name], closing=tag.startswith("</"))
        elif name in PARTING_TAGS:
            self._put(" ")
        else:
            self._put(tag, fixed=True)

    def _linked(self) -> None:
        """Read a link whose words are a number or a mark as that mark: it cites, wherever it leads."""
        inside = self.glyphs[self.linked_from :]
        text = "".join(glyph.char for glyph in inside).strip()
        marks = list(find_marks(text if text.startswith("[") else f"[{text}]"))
        if text and len(marks) == 1 and marks[0].start == 0 and marks[0].end >= len(text):
            plain = [replace(glyph, address="") for glyph in inside]
            self.glyphs[self.linked_from :] = plain if text[0] == "[" else [Glyph("["), *plain, Glyph("]")]
            if not (is_safe(self.link) or is_route(self.link)):
                self._put(f" ({unquote(self.link)})")  # "[1](2020)" was never a link
