"""Style declarations that keep text from a reader's eyes, or strike it. Does not lay out a page."""

import re
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from itertools import product
from typing import TYPE_CHECKING

import cssselect

if TYPE_CHECKING:
    from cssselect.parser import Selector
    from lxml.html import HtmlElement

Declared = Mapping[str, str]
"""Property to value, both lower-case and without white space."""

Colour = tuple[int, int, int]

WHITE: Colour = (255, 255, 255)  # what a page lies on that says nothing else
_NEAR = 24  # colours that differ by less than this in every part cannot be told apart
_SPECK = 2.0  # pixels of letters that nobody can read
_FAR_LETTERS = 100  # pixels by which letters lie over one another
_FAR_OFF = 900  # pixels beyond the edge from which nothing can be seen

_COMMENT = re.compile(r"/\*.*?\*/", re.S)
_ESCAPE = re.compile(r"\\([0-9a-fA-F]{1,6})\s?")
_RULE = re.compile(r"([^{}]{1,2000})\{([^{}]{0,20000})\}")
_NAME = re.compile(r"[.#][A-Za-z_][\w-]*")
_NEGATED = re.compile(r":not\([^)]*\)|\[[^\]]*\]")
_MATTERS = re.compile(
    r"display|visibility|opacity|font|color|background|clip|transform|scale|indent|overflow|decoration|margin|filter"
    r"|spacing|zoom|align|left|right|top|bottom",
    re.I,
)
_VARIABLE = re.compile(r"(--[\w-]+)\s*:\s*([^;{}]+)")
_VARIED = re.compile(r"var\(\s*(--[\w-]+)\s*(?:,\s*([^()]*))?\)")
_HOLDS = re.compile(
    r"@(?:layer|supports|container)\b.*|(?:@media )?(?:only )?(?:all|screen)"
    r"|(?:@media )?(?:(?:only )?(?:all|screen) and )?\(min-width: ?(?:\d{1,3}|1[01]\d\d)(?:\.\d+)?(?:px|em|rem)\)"
)
_MAX_RULES = 1_500  # selectors that are looked up in a page
_LONG = 2_000  # characters of the selectors of one rule, at most
_TRANSLATOR = cssselect.HTMLTranslator()
_NUMBER = re.compile(r"(-?\d*\.?\d+)(px|em|rem|ex|ch|pt|%|vw|vh|cm|mm|in)?")
_PIXELS = {"em": 16.0, "rem": 16.0, "pt": 1.3, "%": 10.0, "vw": 12.0, "vh": 9.0, "ex": 8.0, "ch": 8.0, "cm": 38.0, "mm": 3.8,
           "in": 96.0}  # fmt: skip
_OFFSETS = ("left", "right", "top", "bottom", "text-indent", "margin-left", "margin-top", "margin-right")
_HEX = re.compile(r"#([0-9a-f]{3,8})$")
_HSL = re.compile(r"hsla?\([\d.]+(?:deg)?[,/][\d.]+%[,/]([\d.]+)%")
_RGB = re.compile(r"rgba?\((\d+)[,/](\d+)[,/](\d+)(?:[,/]([\d.]+%?))?\)")
_PALE = "white snow ivory whitesmoke ghostwhite floralwhite azure mintcream seashell aliceblue honeydew".split()
_NAMED: dict[str, Colour] = dict.fromkeys(_PALE, (250, 250, 250)) | {"black": (0, 0, 0)}


class StyleSheet:
    """The rules of a page's own style blocks that hold for its elements on a screen of usual size."""

    def __init__(self, tree: "HtmlElement") -> None:
        css = _COMMENT.sub("", "\n".join(style.text_content() for style in tree.iter("style")))
        self._known: dict[str, str] = dict(_VARIABLE.findall(css))
        names = {f".{name}" for element in tree.iter() for name in str(element.get("class", "")).split()}
        names |= {f"#{element.get('id')}" for element in tree.iter() if element.get("id")}
        found: list[tuple[tuple[int, ...], str, Selector]] = []
        for at, (selectors, body) in enumerate(_RULE.findall(_on_screen(css))):
            for selector in selectors.split(",") if _MATTERS.search(body) else ():
                if names.issuperset(_NAME.findall(_NEGATED.sub("", selector))):
                    with suppress(cssselect.SelectorError):  # one of a newer standard
                        found += [((*one.specificity(), at), body, one) for one in cssselect.parse(selector)]
        self._rules: defaultdict[HtmlElement, list[str]] = defaultdict(list)
        for _, body, selector in sorted(found[:_MAX_RULES], key=lambda rule: rule[0]):
            for element in tree.xpath(_TRANSLATOR.selector_to_xpath(selector)):
                self._rules[element].append(body)

    def of(self, element: "HtmlElement") -> Declared:
        """Give what holds for an element: old attributes, the rules for it, its own `style`, then what is important."""
        written = [f"color: {element.get('color')}" if element.tag == "font" and element.get("color") else ""]
        written.append(f"background-color: {element.get('bgcolor')}" if element.get("bgcolor") else "")
        written += [*self._rules.get(element, ()), element.get("style", "")]
        style = _VARIED.sub(lambda found: self._known.get(found[1]) or found[2] or "", ";".join(filter(None, written)))
        return declarations(style) if style else {}


def declarations(style: str) -> dict[str, str]:
    """Read a `style` attribute or the body of a rule; what is important in it holds against what comes later."""
    style = _ESCAPE.sub(lambda match: chr(min(int(match[1], 16), 0x10FFFF)), _COMMENT.sub("", style))
    parts = [part.partition(":") for part in style.lower().split(";")]
    parts.sort(key=lambda part: "!important" in part[2])
    return {
        name.strip(): "".join(written.split()) if "," in written else "/".join(written.split())
        for name, _, value in parts
        if (written := value.replace("!important", ""))
    }


def hides(declared: Declared, background: Colour | None) -> bool:
    """Tell whether an element cannot be seen on this background; on None, which is a picture or not known, by its colour."""
    return _is_switched_off(declared) or _is_out_of_sight(declared) or _is_painted_over(declared, background)


def background_of(declared: Declared) -> Colour | bool:
    """Give the colour that an element is filled with; False for none, True for one that is not known."""
    value = declared.get("background-color") or declared.get("background") or ""
    if value in {"", "none", "transparent", "inherit", "initial", "unset"}:
        return False
    return _colour(value.split("/")[0]) or True


def _is_switched_off(declared: Declared) -> bool:
    return (
        declared.get("display") == "none"
        or declared.get("visibility") in {"hidden", "collapse"}
        or declared.get("content-visibility") == "hidden"
        or _is_at_most(declared.get("opacity"), 0.05)
        or _is_speck(declared)
        or declared.get("zoom") == "0"
        or (_pixels(declared.get("letter-spacing")) or 0) < -_FAR_LETTERS
        or "opacity(0" in declared.get("filter", "")
        or "line-through" in declared.get("text-decoration", "") + declared.get("text-decoration-line", "")
    )


def _is_speck(declared: Declared) -> bool:
    """Tell letters of no size, by their size or by the first size in a whole `font`."""
    size = declared.get("font-size") or next(
        (part for part in declared.get("font", "").split("/") if part == "0" or re.search(r"\d(?:px|pt|r?em|%)", part)),
        "",
    )
    shares = float(size[:-1]) * 0.16 if re.fullmatch(r"\d*\.?\d+%", size) else None
    return shares <= _SPECK if shares is not None else _is_at_most(size, _SPECK)


def _is_out_of_sight(declared: Declared) -> bool:
    if any(abs(_pixels(declared.get(name)) or 0) >= _FAR_OFF and "-" in declared[name] for name in _OFFSETS):
        return True
    clipped = declared.get("clip", "") + declared.get("clip-path", "")
    moved = declared.get("transform", "") + declared.get("scale", "")
    if re.search(r"rect\((?:0|1px)|inset\((?:50|100)%|circle\(0|polygon\((?:0(?:px|%)?[,/]?)+\)", clipped) or re.search(
        r"scale[xy]?\(0\)|\(-(?:\d{4,}px|\d{3,}(?:vw|vh|r?em|%))", moved
    ):
        return True
    sides = (declared.get(name) for name in ("width", "height", "max-width", "max-height"))
    return declared.get("overflow", "").startswith(("hidden", "clip")) and any(_is_at_most(side, 1) for side in sides)


def _is_painted_over(declared: Declared, background: Colour | None) -> bool:
    written = declared.get("-webkit-text-fill-color") or declared.get("color", "")
    if written == "transparent" or ((match := _RGB.match(written)) and _is_at_most(match[4], 0.05)):
        return True
    own = background_of(declared)
    under = background if own is False else None if own is True else own
    colour = _colour(written)
    return bool(colour and under) and all(abs(a - b) < _NEAR for a, b in zip(colour or (), under or (), strict=True))


def _pixels(value: str | None) -> float | None:
    match = _NUMBER.fullmatch(value or "")
    return float(match[1]) * _PIXELS.get(match[2] or "px", 1.0) if match else None


def _is_at_most(value: str | None, limit: float) -> bool:
    pixels = _pixels(value)
    return pixels is not None and pixels <= limit


def _colour(value: str) -> Colour | None:
    if value in _NAMED:
        return _NAMED[value]
    if match := _RGB.match(value):
        return int(match[1]), int(match[2]), int(match[3])
    if (match := _HSL.match(value)) and float(match[1]) in {0.0, 100.0}:  # the others would need their hue
        return WHITE if float(match[1]) else (0, 0, 0)
    digits = match[1] if (match := _HEX.match(value)) else ""
    if len(digits) in {3, 4}:
        digits = "".join(digit * 2 for digit in digits)
    return (int(digits[0:2], 16), int(digits[2:4], 16), int(digits[4:6], 16)) if len(digits) >= 6 else None


def _on_screen(css: str) -> str:
    """Give the rules that hold on a screen of usual size: without the conditions around them, nested ones by themselves."""
    # Of every rule: whether it holds, for what, and what it says. What is open at the end is closed there.
    opened: list[tuple[bool, str, list[str]]] = [(True, "", [])]
    rules = []
    start = 0
    for match in re.finditer("[{};]", f"{css}}}"):
        head = css[start : match.start()].strip()
        start = match.end()
        holds, selector, said = opened[-1]
        if match[0] != "{":
            said.append(head)
            if match[0] == "}" and len(opened) > 1:
                opened.pop()
            continue
        if head.startswith("@"):
            holds &= any(_HOLDS.fullmatch(" ".join(part.split())) for part in head.lower().split(","))
        else:
            pairs = product(selector.split(","), head[:_LONG].split(","))
            inner = (one.replace("&", outer) if "&" in one else f"{outer} {one}" for outer, one in pairs)
            selector = ",".join(inner)[:_LONG]
        opened.append((holds, selector, []))
        rules.append(opened[-1])
    return "".join(f"{selector}{{{';'.join(said)}}}" for holds, selector, said in rules if holds and selector)
