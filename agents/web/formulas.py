"""Raised and lowered characters, and formulas (MathML, OMML), as text that keeps its figures apart."""

import re
from collections.abc import Iterable
from itertools import groupby

from lxml import etree

_RAISED = dict(zip("0123456789+-−=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ", strict=True))
_LOWERED = dict(zip("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎", strict=True))
_NOTES = re.compile(r"\d+(?:\s*[,;–-]\s*\d+)+|(?:\d+[a-z]?|[a-z])(?:\s*[,;]\s*[a-z])+")
_JOINED = frozenset(
    "st nd rd th e er re ère me mme lle mlle gr ste cie ème o os as ª º ° ™ ® © ′ ″ % ‰ * † ‡ § tm sm".split()
)  # fmt: skip
_ACCENTS = {"¯": "\u0304", "‾": "\u0304", "^": "\u0302", "~": "\u0303", "˙": "\u0307", "→": "\u20d7", "⃗": "\u20d7"}
_SIGN = re.compile(r"(^|[(\[]) ?([-−+±]) (?=\S)")  # of a number or a term, not between two
_SIGN_OF_A_TERM = re.compile(r"([,;=<>≤≥≈×·/]) ?([-−+±]) (?=\S)")
_PLAIN = {"mn", "mi", "mo", "mtext", "mrow", "r"}
_LONG = 12  # characters from which raised text is words, not an exponent or a mark


def raised(text: str, *, is_link: bool = False) -> str:
    """Write raised characters so that 10⁶ does not become 106, nor 412 with note 12 become 41212."""
    mark = " ".join(text.split())
    if not mark or mark[0] in "[⁰¹²³⁴⁵⁶⁷⁸⁹":
        return mark
    if is_link or _NOTES.fullmatch(mark):
        return f" [{mark}]"
    if all(letter in _RAISED for letter in mark):
        return "".join(_RAISED[letter] for letter in mark)
    if mark.lower() in _JOINED or len(mark) > _LONG:
        return mark
    if len(mark) == 1 and mark.isalpha():
        return f"[{mark}]"
    return f"^{mark}" if mark.replace(".", "").isalnum() else f"^({mark})"


def lowered(text: str) -> str:
    """Write lowered characters: figures as such, letters as they are."""
    mark = " ".join(text.split())
    if all(letter in _LOWERED for letter in mark):
        return "".join(_LOWERED[letter] for letter in mark)
    return f"_({mark})" if any(sign in mark for sign in "+-−=/") else mark  # the index of x, not a sum with it


def formula(element: etree._Element) -> str:
    """Write a formula of MathML or of Word (OMML) in one line; empty when there is nothing to read in it."""
    text = " ".join(_written(element).split())
    return _SIGN.sub(r"\1\2", _SIGN_OF_A_TERM.sub(r"\1 \2", text))


def _written(element: etree._Element) -> str:
    name = etree.QName(element).localname
    if (
        name.endswith("Pr")
        or name in {"annotation", "annotation-xml", "mphantom"}
        or "strike" in element.get("notation", "")
    ):
        return ""
    if name in {"mn", "mi", "mtext", "ms", "t"}:
        return "".join(element.itertext())
    if name == "mspace":
        return " "
    if name == "mo":
        sign = "".join(element.itertext()).strip()
        return sign if sign in {"(", ")", "[", "]", "|", ",", ".", "\u2061", "\u2062", ""} else f" {sign} "
    children = [child for child in element if isinstance(child.tag, str)]
    names = [etree.QName(child).localname for child in children]
    parts = [_written(child) for child in children]
    if name == "mmultiscripts":
        return _with_corners(names, parts)
    # Empty places of scripts and fractions keep the others in theirs.
    kept = [at for at, part in enumerate(parts) if part or names[at] in {"mrow", "e", "sup", "sub", "num", "den"}]
    parts, names = [parts[at] for at in kept], [names[at] for at in kept]
    return _structure(name, parts, element) or _side_by_side(names, parts)


def _side_by_side(names: list[str], parts: list[str]) -> str:
    """Join the parts of a row: a fraction, root or power beside a figure is no more of its digits."""
    text, before = "", "mi"
    for name, part in zip(names, parts, strict=True):
        is_built = not {name, before} <= _PLAIN
        touches = text[-1:].isdigit() and (part[:1].isdigit() or (bool(part) and name in {"mfrac", "f"}))
        text += " " * (is_built and touches) + part
        before = name
    return text


class _Part(str):
    """A part of a formula, written as a format wants it: raised (`^`), lowered (`_`), grouped (`g`) or bare (`b`)."""

    __slots__ = ()

    def __format__(self, how: str) -> str:
        if how == "b":
            return self.strip()
        if how == "g":
            return grouped(self)
        text = "".join(self.split()) if how else str(self)
        done = raised(text) if how == "^" else lowered(text) if how == "_" else text
        is_plain = not how or (done != text and "[" not in done and not done.startswith("^"))
        return done if is_plain else how + grouped(text)


_FORMS = {
    (name, count): form
    for names, count, form in (
        ("msup sSup", 2, "{0}{1:^}"), ("msub sSub", 2, "{0}{1:_}"), ("msubsup sSubSup", 3, "{0}{1:_}{2:^}"),
        ("sPre", 3, "{0:_}{1:^}{2}"), ("mfrac f", 2, "{0:g}/{1:g}"), ("mroot", 2, "{1:^}√{0:g}"), ("rad", 2, "{0:^}√{1:g}"),
        ("rad", 1, "√{0:g}"), ("munderover", 3, "{0:b}_{1:g}^{2:g} "), ("munder limLow", 2, "{0:b}_{1:g} "),
        ("mover limUpp", 2, "{0:b}^{1:g} "), ("bar", 1, "{0}\u0304"), ("func", 2, "{0} {1}"),
    )
    for name in names.split()
}  # fmt: skip
_BETWEEN = {"mtr": ", ", "mr": ", ", "mtable": "; ", "m": "; ", "eqArr": "; "}


def _structure(name: str, parts: list[str], element: etree._Element) -> str:
    """Write what is more than a row; empty for rows."""
    if name == "mover" and len(parts) == 2 and (accent := _ACCENTS.get(parts[1].strip())):
        return parts[0] + accent
    if form := _FORMS.get((name, len(parts))):
        return form.format(*map(_Part, parts))
    match name, parts:
        case "msqrt", _:
            return f"√{grouped(''.join(parts))}"
        case "nary", [low, high, base]:
            bounds = (f"_{grouped(low)}" if low else "") + (f"^{grouped(high)}" if high else "")
            return f"{_property(element, 'chr', '∫')}{bounds} {base}"
        case "mfenced", _:
            return f"{element.get('open', '(')}{', '.join(parts)}{element.get('close', ')')}"
        case "d", _:
            return f"{_property(element, 'begChr', '(')}{', '.join(parts)}{_property(element, 'endChr', ')')}"
        case "acc", [base]:
            return base + _property(element, "chr", "\u0302")
    return _BETWEEN[name].join(parts) if name in _BETWEEN else ""


def _with_corners(names: list[str], parts: list[str]) -> str:
    """Write a sign with scripts at its corners, as isotopes have them."""
    at = names.index("mprescripts") if "mprescripts" in names else len(names)
    after, before = (
        "".join(format(_Part(part), "^" if n % 2 else "_") for n, part in enumerate(some) if part)
        for some in (parts[1:at], parts[at + 1 :])
    )
    return before + "".join(parts[:1]) + after


def _property(element: etree._Element, name: str, usual: str) -> str:
    found = element.xpath(f"./*/*[local-name()='{name}']/@*[local-name()='val']")
    return str(found[0]) if isinstance(found, list) and found else usual


def grouped(text: str) -> str:
    """Put brackets around a part of a formula that is a sum or a product itself."""
    text = text.strip()
    return f"({text})" if re.search(r"[\s+*/·×−=→-]", text) else text


def runs_joined(runs: Iterable[tuple[str, str]]) -> str:
    """Join runs of text of which some are `raised` or `lowered`; runs of one kind that follow one another are one."""
    write = {"raised": raised, "lowered": lowered}
    parts = ((kind, "".join(text for _, text in run)) for kind, run in groupby(runs, lambda one: one[0]))
    return "".join(write[kind](text) if kind in write else text for kind, text in parts)
