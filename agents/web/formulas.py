"""Raised and lowered characters, and formulas (MathML, OMML), as text that keeps its figures apart."""

import re
from collections.abc import Iterable

from lxml import etree

_RAISED = dict(zip("0123456789+-−=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ", strict=True))
_LOWERED = dict(zip("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎", strict=True))
_NOTES = re.compile(r"\d+(?:\s*[,;–-]\s*\d+)+|\d+[a-z]?(?:\s*[,;]\s*[a-z])+")
_JOINED = frozenset(
    "st nd rd th e er re ère ème os as ª º ° ™ ® © ′ ″ % ‰ * † ‡ § tm sm".split()
)  # fmt: skip
_LONG = 12  # characters from which raised text is words, not an exponent or a mark


def raised(text: str, *, is_link: bool = False) -> str:
    """Write raised characters so that 10⁶ does not become 106, nor 412 with note 12 become 41212.

    Args:
        text: the characters.
        is_link: they lead to a note.
    """
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
    return "".join(_LOWERED[letter] for letter in mark) if all(letter in _LOWERED for letter in mark) else mark


def formula(element: etree._Element) -> str:
    """Write a formula of MathML or of Word (OMML) in one line; empty when there is nothing to read in it."""
    written = " ".join(_written(element).split())
    if written:
        return written
    found = element.xpath(".//*[local-name()='annotation'][contains(@encoding, 'tex')]/text()")
    tex = str(found[0]) if isinstance(found, list) and found else element.get("alttext", "")
    return " ".join(tex.split())


def _written(element: etree._Element) -> str:
    if not isinstance(element.tag, str):
        return ""
    name = etree.QName(element).localname
    if name in {"annotation", "annotation-xml", "rPr", "sSupPr", "sSubPr", "fPr", "radPr", "dPr", "ctrlPr", "naryPr"}:
        return ""
    parts = [_written(child) for child in element if isinstance(child.tag, str)]
    parts = [part for part, child in zip(parts, element, strict=False) if part or _is_base(child)]
    if name in {"mn", "mi", "mtext", "ms", "t"}:
        return "".join(element.itertext())
    if name == "mo":
        return _operator("".join(element.itertext()).strip())
    return _structure(name, parts)


def _structure(name: str, parts: list[str]) -> str:
    match name, parts:
        case (("msup" | "sSup"), [base, high]):
            return base + _script(high, is_raised=True)
        case (("msub" | "sSub"), [base, low]):
            return base + _script(low, is_raised=False)
        case (("msubsup" | "sSubSup"), [base, low, high]):
            return base + _script(low, is_raised=False) + _script(high, is_raised=True)
        case (("mfrac" | "f"), [above, below]):
            return f"{grouped(above)}/{grouped(below)}"
        case "mroot", [base, degree]:
            return f"{_script(degree, is_raised=True)}√{grouped(base)}"
        case "rad", [*_, base]:
            return f"√{grouped(base)}"
        case "msqrt", _:
            return f"√{grouped(''.join(parts))}"
        case "d", _:
            return f"({', '.join(parts)})"
        case (("mtr" | "mr"), _):
            return ", ".join(parts)
        case (("mtable" | "m"), _):
            return "; ".join(parts)
    return "".join(parts)


def _is_base(child: etree._Element) -> bool:
    """Keep empty places of scripts and fractions, so that the others stay in theirs."""
    return isinstance(child.tag, str) and etree.QName(child).localname in {"mrow", "e", "sup", "sub", "num", "den"}


def _operator(sign: str) -> str:
    return sign if sign in {"(", ")", "[", "]", "|", ",", ".", "\u2061", "\u2062", ""} else f" {sign} "


def _script(text: str, *, is_raised: bool) -> str:
    text = "".join(text.split())
    done = raised(text) if is_raised else lowered(text)
    if done != text and "[" not in done and not done.startswith("^"):
        return done
    return ("^" if is_raised else "_") + grouped(text)


def grouped(text: str) -> str:
    """Put brackets around a part of a formula that is a sum or a product itself."""
    text = text.strip()
    return f"({text})" if re.search(r"[\s+*/·×−-]", text) else text


def runs_joined(runs: Iterable[tuple[str, str]]) -> str:
    """Join runs of text of which some are `raised` or `lowered`; runs of one kind that follow one another are one."""
    parts: list[tuple[str, str]] = []
    for kind, text in runs:
        if parts and parts[-1][0] == kind:
            parts[-1] = kind, parts[-1][1] + text
        else:
            parts.append((kind, text))
    write = {"raised": raised, "lowered": lowered}
    return "".join(write[kind](text) if kind in write else text for kind, text in parts)
