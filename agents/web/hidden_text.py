"""Style declarations that keep text from a reader's eyes, or strike it. Knows simple selectors only; does not lay out a page."""

import re
from collections import defaultdict
from collections.abc import Mapping

Declared = Mapping[str, str]
"""Property to value, both lower-case and without white space."""

Colour = tuple[int, int, int]

WHITE: Colour = (255, 255, 255)
"""What a page lies on that says nothing else."""

_NEAR = 24  # colours that differ by less than this in every part cannot be told apart
_FAR_OFF = 900  # pixels beyond the edge from which nothing can be seen

_COMMENT = re.compile(r"/\*.*?\*/", re.S)
_ESCAPE = re.compile(r"\\([0-9a-fA-F]{1,6})\s?")
_RULE = re.compile(r"([^{}]{1,2000})\{([^{}]{0,20000})\}")
_SIMPLE = re.compile(r"(?P<tag>[a-z][\w-]*)?(?P<rest>(?:[.#][\w-]+)+)")
_NUMBER = re.compile(r"(-?\d*\.?\d+)(px|em|rem|ex|ch|pt|%|vw|vh|cm|mm|in)?")
_PIXELS = {
    "em": 16.0,
    "rem": 16.0,
    "pt": 1.3,
    "%": 10.0,
    "vw": 12.0,
    "vh": 8.0,
    "ex": 8.0,
    "ch": 8.0,
    "cm": 38.0,
    "mm": 3.8,
    "in": 96.0,
}
_OFFSETS = ("left", "right", "top", "bottom", "text-indent", "margin-left", "margin-top", "margin-right")
_HEX = re.compile(r"#([0-9a-f]{3,8})$")
_RGB = re.compile(r"rgba?\((\d+)[,/](\d+)[,/](\d+)(?:[,/]([\d.]+%?))?\)")
_NAMED: dict[str, Colour] = {"white": WHITE, "black": (0, 0, 0), "snow": (255, 250, 250), "ivory": (255, 255, 240)}


class StyleSheet:
    """The rules of a page's own style blocks whose selector names one class, one address or several of one element.

    Rules within `@media` and the like are left out: they hold for paper or small screens. So are combinators.
    """

    def __init__(self, css: str) -> None:
        self._rules: defaultdict[str, list[tuple[str, frozenset[str], dict[str, str]]]] = defaultdict(list)
        for selectors, body in _RULE.findall(_top_level(_COMMENT.sub("", css))):
            declared = declarations(body)
            for selector in selectors.split(","):
                if declared and (match := _SIMPLE.fullmatch(selector.strip())):
                    marks = re.findall(r"[.#][\w-]+", match["rest"])
                    self._rules[marks[0]].append((match["tag"] or "", frozenset(marks), declared))

    def declared(self, tag: str, marks: frozenset[str], style: str) -> dict[str, str]:
        """Give what holds for an element: the rules for it, then its own `style`.

        Args:
            tag: its lower-case name.
            marks: its classes as `.name` and its id as `#name`.
            style: its `style` attribute, or nothing.
        """
        found: dict[str, str] = {}
        for mark in marks:
            for rule_tag, needed, rule in self._rules.get(mark, ()):
                if needed <= marks and rule_tag in {"", tag}:
                    found.update(rule)
        return found | declarations(style) if style else found


def declarations(style: str) -> dict[str, str]:
    """Read a `style` attribute or the body of a rule."""
    style = _ESCAPE.sub(lambda match: chr(min(int(match[1], 16), 0x10FFFF)), _COMMENT.sub("", style))
    parts = (part.partition(":") for part in style.lower().replace("!important", "").split(";"))
    return {
        name.strip(): "".join(value.split()) if "," in value else "/".join(value.split())
        for name, _, value in parts
        if value
    }


def hides(declared: Declared, background: Colour | None) -> bool:
    """Tell whether an element with these declarations cannot be seen.

    Args:
        declared: what holds for the element.
        background: what it lies on; None when that is a picture or not known.
    """
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
        or _is_at_most(declared.get("font-size"), 1)
        or "opacity(0" in declared.get("filter", "")
        or "line-through" in declared.get("text-decoration", "") + declared.get("text-decoration-line", "")
    )


def _is_out_of_sight(declared: Declared) -> bool:
    if any(abs(_pixels(declared.get(name)) or 0) >= _FAR_OFF and "-" in declared[name] for name in _OFFSETS):
        return True
    clipped = declared.get("clip", "") + declared.get("clip-path", "")
    moved = declared.get("transform", "") + declared.get("scale", "")
    if re.search(r"rect\((?:0|1px)|inset\((?:50|100)%|circle\(0", clipped) or re.search(
        r"scale[xy]?\(0\)|\(-\d{4,}px", moved
    ):
        return True
    sides = (declared.get(name) for name in ("width", "height", "max-width", "max-height"))
    return declared.get("overflow", "").startswith(("hidden", "clip")) and any(_is_at_most(side, 1) for side in sides)


def _is_painted_over(declared: Declared, background: Colour | None) -> bool:
    written = declared.get("color", "")
    if written == "transparent" or ((match := _RGB.match(written)) and _is_at_most(match[4], 0.05)):
        return True
    own = background_of(declared)
    under = background if own is False else None if own is True else own
    colour = _colour(written)
    return (
        colour is not None
        and isinstance(under, tuple)
        and all(abs(a - b) < _NEAR for a, b in zip(colour, under, strict=True))
    )


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
    if not (match := _HEX.match(value)):
        return None
    digits = match[1]
    if len(digits) in {3, 4}:
        digits = "".join(digit * 2 for digit in digits)
    return (int(digits[0:2], 16), int(digits[2:4], 16), int(digits[4:6], 16)) if len(digits) >= 6 else None


def _top_level(css: str) -> str:
    """Leave out what stands within another pair of braces."""
    kept: list[str] = []
    depth = start = 0
    for match in re.finditer("[{}]", css):
        depth += 1 if match[0] == "{" else -1
        if depth <= 0:
            rule = css[start : match.end()]
            if rule.count("{") == 1 and not rule.lstrip().startswith("@"):
                kept.append(rule)
            depth, start = 0, match.end()
    return "".join(kept)
