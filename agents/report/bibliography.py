"""The reference list as BibTeX and as RIS, for reference managers."""

import re
import unicodedata
from collections.abc import Iterable

from agents.contracts.report import Reference, ReportDocument

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")


def to_bibtex(document: ReportDocument) -> str:
    """Write the references as BibTeX, one entry each, in the order of the report."""
    keys = _keys(document.references)
    return "\n".join(_bibtex(one, key) for one, key in zip(document.references, keys, strict=True))


def to_ris(document: ReportDocument) -> str:
    """Write the references as RIS, one record each, in the order of the report."""
    return "".join(_ris(one) for one in document.references)


def _bibtex(reference: Reference, key: str) -> str:
    date = _date(reference.published)
    fields: list[tuple[str, str]] = [("title", "{" + _escaped(reference.title) + "}")]
    if reference.author:
        # In braces: an office or agency must not be taken apart into first and last name.
        fields.append(("author", "{" + _escaped(reference.author) + "}"))
    if reference.site:
        fields.append(("organization", _escaped(reference.site)))
    if date:
        fields.append(("year", date[0]))
        fields += [("month", str(int(date[1])))] if date[1] else []
    if _on_the_web(reference):
        fields.append(("url", _plain(reference.url)))
    if reference.accessed and (read := _date(reference.accessed)):
        fields.append(("urldate", "-".join(part for part in read if part)))
    note = f"[{reference.n}]" + ("; invented sample document" if reference.kind == "sample" else "")
    fields.append(("note", note))
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields)
    return f"@misc{{{key},\n{lines}\n}}\n"


def _ris(reference: Reference) -> str:
    date = _date(reference.published)
    lines = [("TY", "ELEC" if _on_the_web(reference) else "GEN"), ("ID", str(reference.n)), ("TI", reference.title)]
    if reference.author:
        lines.append(("AU", reference.author))
    if reference.site:
        lines.append(("PB", reference.site))
    if date:
        lines += [("PY", date[0]), ("DA", "/".join([*(part or "" for part in date), ""]))]
    if _on_the_web(reference):
        lines.append(("UR", reference.url))
    if reference.accessed and (read := _date(reference.accessed)):
        lines.append(("Y2", "/".join([*(part or "" for part in read), ""])))
    if reference.kind == "sample":
        lines.append(("N1", "Invented sample document"))
    body = "".join(f"{tag}  - {_plain(value)}\r\n" for tag, value in lines)
    return f"{body}ER  - \r\n\r\n"


def _keys(references: Iterable[Reference]) -> list[str]:
    """Name entries by author or title and year; letters tell equal ones apart."""
    keys: list[str] = []
    for reference in references:
        name = unicodedata.normalize("NFKD", reference.author or reference.site or reference.title)
        word = next(iter(re.findall(r"[A-Za-z]{3,}", name.encode("ascii", "ignore").decode())), "source").lower()
        date = _date(reference.published)
        key = base = f"{word}{date[0] if date else ''}"
        number = 0
        while key in keys:
            number += 1
            key = f"{base}-{number}"
        keys.append(key)
    return keys


def _on_the_web(reference: Reference) -> bool:
    return reference.url.startswith(("http://", "https://"))


def _date(text: str | None) -> tuple[str, str | None, str | None] | None:
    found = _DATE.match(text or "")
    return (found[1], found[2], found[3]) if found else None


def _plain(text: str) -> str:
    """Keep a value on its line."""
    return " ".join(text.split())


def _escaped(text: str) -> str:
    return "".join(_SPECIAL.get(char, char) for char in _plain(text))
