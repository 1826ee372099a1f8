"""The reference list for reference managers: BibTeX, RIS and CSL-JSON, every author a person of their own."""

import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from agents.contracts.report import Reference, ReportDocument

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\textbraceleft{}",  # an escaped brace would count as one that opens
    "}": r"\textbraceright{}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")
_BETWEEN_AUTHORS = re.compile(r"\s*(?:;|\n|\s[·|•]\s|\s(?:and|und|et|y|e|og|och|en)\s|\s&\s|、|，|،)\s*")
_ENDING = re.compile(r"^by\s+|[,;\s]*\b(?:et al\.?|and others|u\. ?a\.|等)$", re.IGNORECASE)
_SUFFIX = re.compile(r",\s*(jr|sr|ii|iii|iv)\.?$", re.IGNORECASE)
_WITH_INITIALS = re.compile(r"(\S+(?:[ -]\S+)?) ([A-Z]{1,3})")
_PARTICLES = frozenset("van von de der den del della di da dos du la le ter ten af av bin ibn al el".split())
# Words that only bodies have in their names, in the languages of the report.
_BODY = re.compile(
    r"\b(?:office|agency|ministry|department|university|institut\w*|bank|group|council|committee|commission|board|team|staff"
    r"|news|press|society|foundation|association|authority|bureau|cent(?:re|er)|cit(?:y|ies)|government|company|ltd|inc|gmbh"
    r"|ag|watch|survey|network|union|museum|library|laborator\w+|service\w*|project|programme?|editor\w*|redaktion|amt|behörde"
    r"|ministerium|universität|verein|stiftung|ministère|université|agence|ministerio|universidad|agencia|ministero|università"
    r"|research|times|post|journal|magazine|federation|federal|national|international|european|statisti\w+|trust|fund|organi[sz]ation)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Author:
    """A person by family and given names, or a body by its name alone."""

    family: str
    given: str = ""

    @property
    def name(self) -> str:
        return f"{self.family}, {self.given}" if self.given else self.family


def authors(written: str) -> tuple[Author, ...]:
    """Take apart what a source says of who wrote it. What can't be told to be persons stays one name.

    `Surname, Given` is one person; `Given Surname, Given Surname` and names between semicolons or "and" are several.
    """
    text = _ENDING.sub("", " ".join(written.split(" ")).strip())
    parts = [part.strip(" ,") for part in _BETWEEN_AUTHORS.split(text) if part.strip(" ,")]
    if len(parts) > 1 and any(_BODY.search(part) for part in parts) and ";" not in text:
        parts = [text]  # "Ministry of Trade and Industry"
    return tuple(author for part in parts for author in _of_part(part))


def _of_part(part: str) -> list[Author]:
    """Read names that only commas part."""
    if _BODY.search(part):
        return [Author(part)]
    if suffix := _SUFFIX.search(part):
        one = _person(part[: suffix.start()].strip())
        return [Author(one.family, f"{one.given}{suffix[0]}")] if one.given else [Author(part)]
    names = [name.strip() for name in part.split(",") if name.strip()]
    if all(_WITH_INITIALS.fullmatch(name) for name in names):
        return [Author(found[1], found[2]) for name in names if (found := _WITH_INITIALS.fullmatch(name))]
    if len(names) > 1 and all(_is_full(name) for name in names):
        return [_person(name) for name in names]
    if len(names) > 1 and len(names) % 2 == 0:
        # "Doe, Jane" and "Doe, J., Roe, R.": family and given names take turns.
        pairs = list(zip(names[::2], names[1::2], strict=True))
        if all(len(family.split()) <= 3 and len(given.split()) <= 3 for family, given in pairs):
            return [Author(family, given) for family, given in pairs]
    return [_person(part)] if len(names) == 1 else [Author(part)]


def _is_full(name: str) -> bool:
    """Tell whether a name has a given and a family name, neither of them initials only at the end."""
    words = name.split()
    return 2 <= len(words) <= 5 and not words[-1].endswith(".") and len(words[-1]) > 1


def _person(name: str) -> Author:
    """Take `Given Surname` apart; anything else is kept whole."""
    words = name.split()
    capital = all(word[0].isupper() or word.casefold() in _PARTICLES for word in words)
    if not 2 <= len(words) <= 5 or not capital or re.search(r"\d", name) or not _is_full(name):
        return Author(name)
    at = len(words) - 1
    while at > 1 and words[at - 1].casefold() in _PARTICLES:
        at -= 1
    return Author(" ".join(words[at:]), " ".join(words[:at]))


def _authors_of(reference: Reference) -> tuple[Author, ...]:
    """Give the authors; who publishes under a name of its own is a body."""
    if not reference.author:
        return ()
    if reference.site and reference.author.casefold() in reference.site.casefold():
        return (Author(reference.author),)
    return authors(reference.author)


# ---- BibTeX


def to_bibtex(document: ReportDocument) -> str:
    """Write the references as BibTeX, one entry each, in the order of the report."""
    keys = _keys(document.references)
    return "\n".join(_bibtex(one, key) for one, key in zip(document.references, keys, strict=True))


def _bibtex(reference: Reference, key: str) -> str:
    date = _date(reference.published)
    fields: list[tuple[str, str]] = [("title", "{" + _escaped(reference.title) + "}")]
    if found := _authors_of(reference):
        # In braces: an office or agency must not be taken apart into first and last name.
        names = (_escaped(one.name) if one.given else "{" + _escaped(one.family) + "}" for one in found)
        fields.append(("author", " and ".join(names)))
    if reference.site:
        fields.append(("organization", _escaped(reference.site)))
    if date:
        fields.append(("year", date[0]))
        fields += [("month", str(int(date[1])))] if date[1] else []
    if _on_the_web(reference):
        fields.append(("url", _address(reference.url)))
    if read := _date(reference.accessed):
        fields.append(("urldate", "-".join(part for part in read if part)))
    note = f"[{reference.n}]" + ("; invented sample document" if reference.kind == "sample" else "")
    fields.append(("note", note))
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields)
    return f"@misc{{{key},\n{lines}\n}}\n"


def _keys(references: Sequence[Reference]) -> list[str]:
    """Name entries by author or title and year; letters tell equal ones apart."""
    keys: list[str] = []
    for reference in references:
        found = _authors_of(reference)
        name = unicodedata.normalize("NFKD", found[0].family if found else reference.site or reference.title)
        word = next(iter(re.findall(r"[A-Za-z]{3,}", name.encode("ascii", "ignore").decode())), "source").lower()
        date = _date(reference.published)
        key = base = f"{word}{date[0] if date else ''}"
        number = 0
        while key in keys:
            number += 1
            key = f"{base}-{number}"
        keys.append(key)
    return keys


def _address(url: str) -> str:
    """Write an address that leaves the braces of its entry balanced, and means the same."""
    return _plain(url).replace("{", "%7B").replace("}", "%7D").replace("\\", "%5C")


def _escaped(text: str) -> str:
    return "".join(_SPECIAL.get(char, char) for char in _plain(text))


# ---- RIS


def to_ris(document: ReportDocument) -> str:
    """Write the references as RIS, one record each, in the order of the report."""
    return "".join(_ris(one) for one in document.references)


def _ris(reference: Reference) -> str:
    date = _date(reference.published)
    lines = [("TY", "ELEC" if _on_the_web(reference) else "GEN"), ("ID", str(reference.n)), ("TI", reference.title)]
    lines += [("AU", one.name) for one in _authors_of(reference)]
    if reference.site:
        lines.append(("PB", reference.site))
    if date:
        lines += [("PY", date[0]), ("DA", "/".join([*(part or "" for part in date), ""]))]
    if _on_the_web(reference):
        lines.append(("UR", reference.url))
    if read := _date(reference.accessed):
        lines.append(("Y2", "/".join([*(part or "" for part in read), ""])))
    if reference.kind == "sample":
        lines.append(("N1", "Invented sample document"))
    body = "".join(f"{tag}  - {_plain(value)}\r\n" for tag, value in lines)
    return f"{body}ER  - \r\n\r\n"


# ---- CSL-JSON


def to_csl(document: ReportDocument) -> str:
    """Write the references as CSL-JSON, which Zotero, pandoc and citeproc read."""
    keys = _keys(document.references)
    items = [_csl(one, key) for one, key in zip(document.references, keys, strict=True)]
    return json.dumps(items, ensure_ascii=False, indent=1)


def _csl(reference: Reference, key: str) -> dict[str, object]:
    item: dict[str, object] = {
        "id": key,
        "type": "webpage" if _on_the_web(reference) else "document",
        "title": _plain(reference.title),
    }
    if found := _authors_of(reference):
        item["author"] = [
            {"family": one.family, "given": one.given} if one.given else {"literal": one.family} for one in found
        ]
    if reference.site:
        item["publisher"] = _plain(reference.site)
    for name, written in (("issued", reference.published), ("accessed", reference.accessed)):
        if date := _date(written):
            item[name] = {"date-parts": [[int(part) for part in date if part]]}
    if _on_the_web(reference):
        item["URL"] = reference.url
    if reference.kind == "sample":
        item["note"] = "Invented sample document"
    return item


def _on_the_web(reference: Reference) -> bool:
    return reference.url.startswith(("http://", "https://"))


def _date(text: str | None) -> tuple[str, str | None, str | None] | None:
    found = _DATE.match(text or "")
    return (found[1], found[2], found[3]) if found else None


def _plain(text: str) -> str:
    """Keep a value on its line."""
    return " ".join(text.split())
