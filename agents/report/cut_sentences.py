"""Citations in foreign text: marks by number or id, placeholders, bare addresses, lists of references at the end.

One line of Markdown as characters with their looks: emphasis, links, code, formulas, indices, the words of HTML.

Runs of text become sentences; each takes the marks that stand in it or right behind it.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, repeat, zip_longest
from typing import NamedTuple
from urllib.parse import unquote

from markdown_it.token import Token

from agents.contracts.body import Formula, Inline, Line, LineBreak, Sentence, Style, Words
from agents.nlp.lang import spans
from agents.report.escaping import is_route, is_safe, link_target
from agents.report.wording import word_lists

_MAX_RANGE = 12  # [2-400] is not a citation of 399 sources
_OPEN, _CLOSE, _DASH = r"[\[［【〔]", r"[\]］】〕]", "[-–—‑~〜]"
_LABEL = (
    r"(?:\#[\w.-]+|f[0-9a-f]{5,40}"
    r"|\^?\s*(?:(?:source|sources|ref|refs|quelle|quellen|fuente|fonte)\.?\s*)?(?:f\s?)?\d{1,4})"
)
_MARK = re.compile(
    rf"(?P<outer>\[)?{_OPEN}\s*(?P<list>{_LABEL}(?:\s*(?:[,;，；、]|{_DASH})\s*{_LABEL})*)\s*{_CLOSE}(?(outer)\])",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?:\A|[^\w.])(?:f\s?)?0*(\d{1,4})\Z", re.IGNORECASE)
_INTERVAL_WORD = re.compile(rf"(?:{'|'.join(word_lists()['intervals'])})\s*$", re.IGNORECASE)
PLACEHOLDER = re.compile(
    rf"\[\s*(?:(?:please\s+)?(?:{'|'.join(word_lists()['placeholders'])})\b[^\[\]\d#]{{0,120}})\]", re.IGNORECASE
)
"""`[Insert reference …]`, `[citation needed]` and their like."""
URL = re.compile(r"https?://[^\s<>\"'`|\\^{}\[\]\ufffc]+|www\.[^\s<>\"'`|\\^{}\[\]\ufffc]+", re.IGNORECASE)
"""A bare address in running text, with what may trail it; see `trimmed_url`."""

_REFERENCE_NAMES = frozenset(word_lists()["reference_lists"])
_MARKING = re.compile(r"^[\s#*_>]+|[\s#*_:：]+$")
_RUN_ON_LIST = re.compile(r"\s*[*_]*([^\W\d_]+(?: [^\W\d_]+)?)[*_]*:?[*_]*\s+(?=[\[【［]\d+[\]】］])")


@dataclass(frozen=True)
class Mark:
    """A stretch of a line that is taken out: the mark of a citation, or what names nothing."""

    start: int
    end: int
    cited: tuple[str, ...] = ()
    """The labels that it names, in its own order: numbers without `f` and leading noughts, ids as they are. Once they are
    looked up, the facts that they stand for."""


def find_marks(text: str) -> Iterator[Mark]:
    """Find the citation marks of one text, whatever their notation. Intervals and years in brackets are none."""
    for match in _MARK.finditer(text):
        if labels := _labels(match["list"], text[: match.start()]):
            yield Mark(match.start(), match.end(), labels)


def _labels(written: str, before: str) -> tuple[str, ...]:
    """Read the inside of a mark; nothing where it is an interval or a year."""
    found: list[str] = []
    numbers: list[int] = []
    for part in re.split(r"[,;、]", unicodedata.normalize("NFKC", written)):
        one = part.strip()
        ends = [int(number[1]) for side in re.split(_DASH, one) if (number := _NUMBER.search(side.strip()))]
        if one.startswith("#") or not ends:
            found.append(one.lstrip("#"))
            continue
        first, last = ends[0], ends[-1]
        if len(ends) > 2 or last < first or last - first > _MAX_RANGE:
            return ()
        numbers += range(first, last + 1)
        found += map(str, range(first, last + 1))
    if len(numbers) > 1 and (0 in numbers or _INTERVAL_WORD.search(before)):
        return ()
    return () if any(number >= 1000 for number in numbers) else tuple(dict.fromkeys(found))


def trimmed_url(url: str) -> str:
    """Drop punctuation that ends the sentence, not the address; a bracket that opened inside closes inside."""
    while url and (url[-1] in ".,;:!?*_~'”’»" or (url[-1] == ")" and url.count("(") < url.count(")"))):
        url = url[:-1]
    return url


def host(url: str) -> str:
    """Name the site of an address, for a reader."""
    return re.sub(r"^(?:https?://)?(?:www\.)?", "", url, flags=re.IGNORECASE).split("/")[0].split("?")[0]


def is_reference_heading(line: str) -> bool:
    """Tell whether a line is nothing but the name of a reference list, as heading, bold or plain."""
    text = _MARKING.sub("", _MARKING.sub("", line)).casefold()
    return re.sub(r"^\d+[.)]\s*", "", text) in _REFERENCE_NAMES


def opens_reference_list(line: str) -> bool:
    """Tell whether a line begins a list that was written as one wrapped paragraph: `Sources [1] https://… [2] …`."""
    name = _RUN_ON_LIST.match(line)
    return name is not None and is_reference_heading(name[1])


_QUOTED = re.compile(
    r'“[^“”\n]{1,600}”|„[^„“”\n]{1,600}[“”]|«[^«»\n]{1,600}»|「[^「」\n]{1,600}」|(?<!\w)"[^"\n]{1,600}"(?!\w)'
)
_STOP = re.compile(r"[.!?…:。！？｡؟۔।॥][\"'”’“»)\]』」）】》〉]*$")
_CLOSING = frozenset(".,;:!?…)]”’»。、，；：！？」』）")


class Glyph(NamedTuple):
    """One character with its look; a formula or a break counts as one."""

    char: str
    style: tuple[Style, ...] = ()
    address: str = ""
    fixed: bool = False
    """Code, an escaped character or a formula: never read as a mark, an address or the end of a sentence."""
    formula: str = ""
    display: bool = False
    facts: tuple[str, ...] = ()
    """What a mark behind it cites."""


_glyph = lru_cache(4_096)(Glyph)  # the same few letters over and over: four times as fast as to make each


def text_of(glyphs: Sequence[Glyph], *, masked: bool = False) -> str:
    """Give the characters; with `masked` those that stand for themselves only are covered."""
    return "".join(["\ufffc" if masked and glyph.fixed else glyph.char for glyph in glyphs])


def line_of(glyphs: Sequence[Glyph]) -> Line:
    """Join characters of one look into runs."""
    runs: list[Inline] = []
    for (style, address, formula, display, is_break), group in groupby(
        glyphs, key=lambda one: (one.style, one.address, one.formula, one.display, one.char == "\n")
    ):
        text = text_of(list(group))
        if formula:
            runs += [Formula(tex=formula, display=display)] * len(text)
        elif is_break:
            runs.append(LineBreak())
        elif text:
            runs.append(Words(text=text, style=style, address=address))
    return tuple(runs)


def cut_out(glyphs: Sequence[Glyph], cuts: Sequence[Mark]) -> list[Glyph]:
    """Take stretches out of a line, with the space that they leave; the character before a mark takes what it cites."""
    out: list[Glyph] = []
    first: tuple[str, ...] = ()
    last = 0
    for cut in cuts:
        out += glyphs[last : cut.start]
        last = cut.end
        following = "".join(glyph.char for glyph in glyphs[last : last + 1])
        if not following or following.isspace() or following in _CLOSING:
            while out and out[-1].char == " ":
                out.pop()
            if not cut.cited and following in {"", *".!?…。"} and out and out[-1].char in ",;":
                out.pop()
        elif out and out[-1].char in ".!?…" and following.isalpha() and following.isascii():
            out.append(Glyph(" "))  # "… 2020.[3]Then …": the mark stood where the space should
        at = next((n for n in reversed(range(len(out))) if not out[n].char.isspace()), None)
        if at is not None:
            out[at] = out[at]._replace(facts=out[at].facts + cut.cited)
            continue
        first += cut.cited
        while last < len(glyphs) and glyphs[last].char in ":;, ":
            last += 1  # "[1]: It closed": what parted the mark from the words
    out = _spaced([*out, *glyphs[last:]])
    if first:
        begin = out[0] if out else Glyph("")
        out[:1] = [begin._replace(facts=first + begin.facts)]
    return out


def _spaced(glyphs: Sequence[Glyph]) -> list[Glyph]:
    """Leave one space between words, one break between lines, and neither in front."""
    out: list[Glyph] = []
    for glyph in glyphs:
        if glyph.char == "\n":
            while out and out[-1].char == " ":
                out.pop()
        if glyph.char not in " \n" or (out and out[-1].char not in (" \n" if glyph.char == " " else "\n")):
            out.append(glyph)
    return out


def sentences(glyphs: Sequence[Glyph], *, whole: bool = False) -> tuple[Sentence, ...]:
    """Cut a line without its marks into sentences, each with the facts that were cited in it or right behind it.

    A table cell, or a paragraph of a quotation, is one as a `whole`.
    """
    found = list(_spans(glyphs)) or [(0, len(glyphs))] * any(glyph.facts for glyph in glyphs)
    if whole and found:
        found = [(found[0][0], found[-1][1])]
    out: list[Sentence] = []
    for (start, end), after in zip_longest(found, [begin for begin, _ in found[1:]]):
        between = text_of(glyphs[end:after])
        facts = dict.fromkeys(fact for glyph in glyphs[start if out else 0 : after] for fact in glyph.facts)
        gap = "\n" if "\n" in between else " " if between or after is None else ""
        out.append(Sentence(inline=line_of(glyphs[start:end]), facts=tuple(facts), gap=gap))
    return tuple(out)


def _spans(glyphs: Sequence[Glyph]) -> list[tuple[int, int]]:
    """Find the sentences; never cut inside code, a formula, a link or a quotation, and always at a forced line break."""
    text = text_of(glyphs)
    letters = ["/" if char == "|" else " " if char == "\t" else char for char in text]
    for at, glyph in enumerate(glyphs):
        if glyph.address or glyph.formula or ("code" in glyph.style and glyph.char != "\n"):
            letters[at] = "x"
    for match in _QUOTED.finditer(text):
        # The last character of a quotation and its closing mark stay: they may end the sentence around it.
        letters[match.start() + 1 : match.end() - 2] = "x" * max(0, len(match[0]) - 3)
    masked = "".join(letters)
    found: list[tuple[int, int]] = []
    for line in re.finditer(r"[^\n]+", masked):
        ended = True
        for span in spans(line[0]):
            start, end = line.start() + span.start, line.start() + span.end
            if not ended or (found and found[-1][1] > line.start() and not any(map(str.isalnum, masked[start:end]))):
                start = found.pop()[0]
            found.append((start, end))
            ended = bool(_STOP.search(line[0][: span.end]))
    return found


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
TAG = re.compile(r"<(/?)([a-zA-Z][\w-]*)(?:\s[^<>]*)?/?>")
_UNSPACED = re.compile(r"[\u3000-\u9fff\uf900-\ufaff\uff00-\uffef]")
_SPACES = re.compile(r"[^\S\u00a0\u202f]+")
_RAISED = dict(zip("0123456789+-−=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ", strict=True))
_LOWERED = dict(zip("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎", strict=True))


def glyphs_of(tokens: Sequence[Token], may_link: Callable[[str], bool]) -> list[Glyph]:
    """Read the tokens of one line; of addresses that may be no links the words stay."""
    reader = _LineReader(may_link)
    for number, token in enumerate(tokens):
        reader.read(token, next((one.content[:1] for one in tokens[number + 1 :] if one.content), ""))
    return reader.glyphs


class _LineReader:
    def __init__(self, may_link: Callable[[str], bool]) -> None:
        self.may_link = may_link
        self.glyphs: list[Glyph] = []
        self.styles: list[Style] = []
        self.address, self.link, self.linked_from = "", "", 0

    def read(self, token: Token, after: str) -> None:
        """Take one token; `after` is the first character of the next."""
        out = self.glyphs
        match token.type:
            case "text":
                self._put(_SPACES.sub(" ", token.content))
            case "text_special":
                # A backslash that escapes nothing comes with the letter behind it.
                self._put(token.content, fixed=len(token.content) == 1)
            case "code_inline":
                self._put(token.content, "code", fixed=True)
            case "softbreak":
                self._put("" if out and _UNSPACED.match(out[-1].char) and _UNSPACED.match(after) else " ")
            case "hardbreak":
                self._put("\n")
            case "formula":
                out.append(Glyph("\ufffc", (), self.address, True, token.content, bool(token.meta["display"])))
            case "image":  # its alternative text
                out += [one._replace(address=self.address) for one in glyphs_of(token.children or (), self.may_link)]
            case "link_open":
                self.link, self.linked_from = str(token.attrGet("href") or ""), len(out)
                self.address = link_target(self.link) if self.may_link(self.link) else ""
            case "link_close":
                self.address = ""
                out[self.linked_from :] = _cited_by_link(out[self.linked_from :], self.link)
            case "html_inline":
                self._tag(token.content)
            case _ if token.nesting and token.tag in STYLES:
                self._turn(STYLES[token.tag], on=token.nesting > 0)
            case _:
                pass

    def _put(self, text: str, *more: Style, fixed: bool = False) -> None:
        look = tuple(dict.fromkeys((*self.styles, *more)))
        for index, to in (("sup", _RAISED), ("sub", _LOWERED)):
            # Indices that have characters of their own are readable in any format.
            if index in look and all(char in to for char in text):
                text, look = "".join(to[char] for char in text), tuple(one for one in look if one != index)
        self.glyphs += map(_glyph, text, repeat(look), repeat(self.address), repeat(fixed))

    def _turn(self, style: Style, *, on: bool) -> None:
        if on:
            self.styles.append(style)
        elif style in self.styles:
            self.styles.remove(style)

    def _tag(self, tag: str) -> None:
        found = TAG.fullmatch(tag)
        name = found[2].lower() if found else ""
        if name in STYLES:
            self._turn(STYLES[name], on=not tag.startswith("</"))
        elif name == "br" or name in PARTING_TAGS:
            self._put("\n" if name == "br" else " ")
        elif name not in _DROPPED_TAGS and not tag.startswith("<!--"):
            self._put(tag, fixed=True)


def _cited_by_link(inside: list[Glyph], link: str) -> list[Glyph]:
    """Read a link whose words are a number or a mark as that mark: it cites, wherever it leads."""
    text = text_of(inside).strip()
    bracketed = text.startswith("[")
    marks = list(find_marks(text if bracketed else f"[{text}]"))
    if not text or len(marks) != 1 or marks[0].start or marks[0].end < len(text):
        return inside
    out = [glyph._replace(address="") for glyph in inside]
    # "[1](2020)" was never a link.
    behind = "" if is_safe(link) or is_route(link) else f" ({unquote(link)})"
    return [Glyph(char) for char in "["[bracketed:]] + out + [Glyph(char) for char in "]"[bracketed:] + behind]
