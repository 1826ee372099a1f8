"""Formulas as word processors write them (Office Math), made from the same tree as a page's MathML."""

from xml.etree import ElementTree

from agents.report import maths

NAMESPACE = "http://schemas.openxmlformats.org/officeDocument/2006/math"
_SCRIPTS = {"msub": "sSub", "msup": "sSup", "msubsup": "sSubSup"}


def office_math(tex: str) -> str | None:
    """Write a formula as an `m:oMath` element; None where it is not understood."""
    row = maths.tree(tex)
    if row is None:
        return None
    root = ElementTree.Element(_name("oMath"))
    root.extend(_nodes(row))
    ElementTree.register_namespace("m", NAMESPACE)
    return ElementTree.tostring(root, encoding="unicode")


def _nodes(element: ElementTree.Element) -> list[ElementTree.Element]:
    """Translate one element; a row gives as many as it holds."""
    inside = list(element)
    if element.tag == "mrow":
        return [node for child in inside for node in _nodes(child)]
    if element.tag == "mfrac":
        return [_made("f", ("num", inside[0]), ("den", inside[1]))]
    if element.tag == "msqrt":
        made = _made("rad", ("deg", None), ("e", inside[0]))
        properties = ElementTree.Element(_name("radPr"))
        ElementTree.SubElement(properties, _name("degHide"), {_name("val"): "1"})
        made.insert(0, properties)
        return [made]
    if element.tag in _SCRIPTS:
        places = {"msub": ("e", "sub"), "msup": ("e", "sup"), "msubsup": ("e", "sub", "sup")}[element.tag]
        return [_made(_SCRIPTS[element.tag], *zip(places, inside, strict=True))]
    return [_run(element)]


def _made(name: str, *parts: tuple[str, ElementTree.Element | None]) -> ElementTree.Element:
    made = ElementTree.Element(_name(name))
    for place, child in parts:
        ElementTree.SubElement(made, _name(place)).extend([] if child is None else _nodes(child))
    return made


def _run(element: ElementTree.Element) -> ElementTree.Element:
    run = ElementTree.Element(_name("r"))
    text = element.text or ""
    if element.tag in {"mtext", "mn", "mo"} or (element.tag == "mi" and len(text) > 1):
        properties = ElementTree.SubElement(run, _name("rPr"))
        ElementTree.SubElement(properties, _name("sty"), {_name("val"): "p"})
    ElementTree.SubElement(run, _name("t")).text = text
    return run


def _name(tag: str) -> str:
    return f"{{{NAMESPACE}}}{tag}"
