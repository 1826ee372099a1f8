"""Raised and lowered characters, and formulas (MathML, OMML), as text that keeps its figures apart."""

import re
from collections.abc import Iterable

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
    text = _SIGN.sub(r"\1\2", _SIGN_OF_A_TERM.sub(r"\1 \2", text))
    if text:
        return text
    found = element.xpath(".//*[local-name()='annotation'][contains(@encoding, 'tex')]/text()")
    tex = str(found[0]) if isinstance(found, list) and found else element.get("alttext", "")
    return " ".join(tex.split())


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
        text += (
            " " * (is_built and text[-1:].isdigit() and bool(part) and (part[0].isdigit() or name in {"mfrac", "f"}))
            + part
        )
        before = name
    return text


def _structure(name: str, parts: list[str], element: etree._Element) -> str:
    """Write what is more than a row; empty for rows."""
    match name, parts:
        case (("msup" | "sSup"), [base, high]):
            return base + _script(high, is_raised=True)
        case (("msub" | "sSub"), [base, low]):
            return base + _script(low, is_raised=False)
        case (("msubsup" | "sSubSup"), [base, low, high]):
            return base + _script(low, is_raised=False) + _script(high, is_raised=True)
        case "sPre", [low, high, base]:
            return _script(low, is_raised=False) + _script(high, is_raised=True) + base
        case (("mfrac" | "f"), [above, below]):
            return f"{grouped(above)}/{grouped(below)}"
        case ("mroot", [base, degree]) | ("rad", [degree, base]):
            return f"{_script(degree, is_raised=True)}√{grouped(base)}"
        case ("msqrt", _) | ("rad", [_]):
            return f"√{grouped(''.join(parts))}"
        case (("mtr" | "mr"), _):
            return ", ".join(parts)
        case (("mtable" | "m" | "eqArr"), _):
            return "; ".join(parts)
    return _bounded(name, parts, element)


def _bounded(name: str, parts: list[str], element: etree._Element) -> str:
    """Write what has something below, above or around it."""
    match name, parts:
        case "munderover", [base, low, high]:
            return f"{base.strip()}_{grouped(low)}^{grouped(high)} "
        case (("munder" | "limLow"), [base, low]):
            return f"{base.strip()}_{grouped(low)} "
        case "mover", [base, high] if high.strip() in _ACCENTS:
            return base + _ACCENTS[high.strip()]
        case (("mover" | "limUpp"), [base, high]):
            return f"{base.strip()}^{grouped(high)} "
        case "nary", [low, high, base]:
            bounds = (f"_{grouped(low)}" if low else "") + (f"^{grouped(high)}" if high else "")
            return f"{_property(element, 'chr', '∫')}{bounds} {base}"
        case "mfenced", _:
            return f"{element.get('open', '(')}{', '.join(parts)}{element.get('close', ')')}"
        case "d", _:
            return f"{_property(element, 'begChr', '(')}{', '.join(parts)}{_property(element, 'endChr', ')')}"
        case "bar", [base]:
            return f"{base}\u0304"
        case "acc", [base]:
            return base + _property(element, "chr", "\u0302")
        case "func", [named, base]:
            return f"{named} {base}"
    return ""


def _with_corners(names: list[str], parts: list[str]) -> str:
    """Write a sign with scripts at its corners, as isotopes have them."""
    at = names.index("mprescripts") if "mprescripts" in names else len(names)
    after, before = (
        "".join(_script(part, is_raised=bool(n % 2)) for n, part in enumerate(some) if part)
        for some in (parts[1:at], parts[at + 1 :])
    )
    return before + "".join(parts[:1]) + after


def _property(element: etree._Element, name: str, usual: str) -> str:
    found = element.xpath(f"./*/*[local-name()='{name}']/@*[local-name()='val']")
    return str(found[0]) if isinstance(found, list) and found else usual


def _script(text: str, *, is_raised: bool) -> str:
    text = "".join(text.split())
    done = raised(text) if is_raised else lowered(text)
    if done != text and "[" not in done and not done.startswith("^"):
        return done
    return ("^" if is_raised else "_") + grouped(text)


def grouped(text: str) -> str:
    """Put brackets around a part of a formula that is a sum or a product itself."""
    text = text.strip()
    return f"({text})" if re.search(r"[\s+*/·×−=→-]", text) else text


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
