"""The reference list for reference managers: BibTeX, RIS and CSL-JSON, every author a person of their own."""

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from agents.contracts.report import Reference, ReportDocument
from agents.report.escaping import cleaned
from agents.report.wording import word_lists

_SPECIAL = {sign: f"\\{sign}" for sign in "$&%#_"}
_SPECIAL |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_SPECIAL |= {"{": r"\textbraceleft{}", "}": r"\textbraceright{}"}  # an escaped brace would count as one that opens
_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")
_BETWEEN_AUTHORS = re.compile(
    r"\s*(?:;(?:\s(?:and|und|et|y)\s)?|\n|\s[·|•/]\s|\s(?:and|und|et|y|e|og|och|en)\s|\s&\s|、|，|،)\s*"
)
_BESIDE = re.compile("|".join(word_lists()["beside_authors"]), re.IGNORECASE)
"""What stands beside names: who says them, how many more there are, addresses and numbers of people, degrees."""
_WITH_INITIALS = re.compile(r"(\S{2,}(?:[ -][^\s.]{2,})?) ((?:[^\W\d_a-zà-ÿа-я]\.?[ -]?){1,3})")
_ONE_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]{2,5}")
_TITLES = frozenset(word_lists()["titles"])
_PARTICLES = frozenset(word_lists()["particles"])
_BODY = re.compile(rf"\b(?:{'|'.join(word_lists()['bodies'])})\b", re.IGNORECASE)


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
    text = _BESIDE.sub(" ", " ".join(written.split())).strip(" ,")
    text = text[1:-1] if text[:1] == "(" and text[-1:] == ")" else text
    parts = [part.strip(" ,") for part in _BETWEEN_AUTHORS.split(text) if part.strip(" ,")]
    if len(parts) > 1 and any(_BODY.search(part) for part in parts) and ";" not in text:
        parts = [text]  # "Ministry of Trade and Industry"
    return tuple(author for part in parts for author in _of_part(part))


def _of_part(part: str) -> list[Author]:
    """Read names that only commas part; people may be followed by the body that they write for."""
    names = [name.strip() for name in part.split(",") if name.strip()]
    if _BODY.search(names[0]):
        return [Author(part)]  # an office and its department
    initialled = [_WITH_INITIALS.fullmatch(name) for name in names]
    if all(found and found[2].isupper() for found in initialled):  # scripts without capitals have no initials
        return [Author(found[1], found[2]) for found in initialled if found]
    if len(names) == 1 or all(_is_full(name) or _BODY.search(name) or _ONE_WORD.fullmatch(name) for name in names):
        return [_person(name) for name in names]
    if len(names) % 2 == 0 and all(len(name.split()) <= 3 for name in names):
        # "Doe, Jane" and "Doe, J., Roe, R.": family and given names take turns.
        return [Author(family, given) for family, given in zip(names[::2], names[1::2], strict=True)]
    return [Author(part)]


def _is_full(name: str) -> bool:
    """Tell whether a name has a given and a family name, neither of them initials only at the end."""
    words = name.split()
    return 2 <= len(words) <= 5 and not words[-1].endswith(".") and len(words[-1]) > 1


def _person(name: str) -> Author:
    """Take `Given Surname` apart; anything else is kept whole."""
    words = name.split()
    while len(words) > 1 and words[0].casefold().rstrip(".") in _TITLES:
        words = words[1:]
    name, at = " ".join(words), len(words) - 1
    capital = all(word[0].isupper() or word.casefold() in _PARTICLES for word in words)
    if _BODY.search(name) or not capital or not _is_full(name) or re.search(r"\d", name):
        return Author(name)
    while at > 1 and words[at - 1].casefold() in _PARTICLES:
        at -= 1
    return Author(" ".join(words[at:]), " ".join(words[:at]))


# ---- one entry, three forms


def _entries(document: ReportDocument) -> Iterator[tuple[str, Reference, tuple[Author, ...], dict[str, str]]]:
    """Give each reference in the order of the report: a key of its own, its people, and the values of all forms.

    The key is author or title with the year and the number in the report. What is unknown is empty.
    """
    for one in document.references:
        # Who publishes under a name of its own is a body.
        own = one.author and one.site and one.author.casefold() in one.site.casefold()
        people = (Author(one.author),) if one.author and own else authors(one.author or "")
        values = {
            "title": _line(one.title),
            "site": _line(one.site or ""),
            "issued": _date(one.published),
            "accessed": _date(one.accessed),
            "url": _line(one.url) if one.url.startswith(("http://", "https://")) else "",
            "note": "Invented sample document" if one.kind == "sample" else "",
        }
        name = unicodedata.normalize("NFKD", people[0].family if people else one.site or one.title)
        word = next(iter(re.findall(r"[A-Za-z]{3,}", name.encode("ascii", "ignore").decode())), "source").lower()
        yield f"{word}{values['issued'][:4]}-{one.n}", one, people, values


def _date(text: str | None) -> str:
    """Give year, month and day as far as they are known: `2021-05`."""
    found = _DATE.match(text or "")
    return found[0] if found else ""


def _line(text: str) -> str:
    """Keep a value on its line, without signs that would steer a terminal."""
    return " ".join(cleaned(text).split())


def _escaped(text: str) -> str:
    return "".join(_SPECIAL.get(char, char) for char in _line(text))


def to_bibtex(document: ReportDocument) -> str:
    """Write the references as BibTeX, one entry each."""
    entries = []
    for key, one, people, values in _entries(document):
        note = values["note"]
        fields = {
            "title": "{" + _escaped(values["title"]) + "}",
            # In braces: an office or agency must not be taken apart into first and last name.
            "author": " and ".join(
                _escaped(who.name) if who.given else "{" + _escaped(who.name) + "}" for who in people
            ),
            "organization": _escaped(values["site"]),
            "year": values["issued"][:4],
            "month": values["issued"][5:7].lstrip("0"),
            # Braces of an address would unbalance those of its entry.
            "url": values["url"].replace("{", "%7B").replace("}", "%7D").replace("\\", "%5C"),
            "urldate": values["accessed"],
            "note": f"[{one.n}]" + (f"; {note[0].lower()}{note[1:]}" if note else ""),
        }
        lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items() if value)
        entries.append(f"@misc{{{key},\n{lines}\n}}\n")
    return "\n".join(entries)


def to_ris(document: ReportDocument) -> str:
    """Write the references as RIS, one record each."""
    out = ""
    for _, one, people, values in _entries(document):
        # A date has four parts, of which the last are empty.
        issued, accessed = (
            "/".join([*date.split("-"), "", "", ""][:4]) if date else ""
            for date in (values["issued"], values["accessed"])
        )
        lines = [
            ("TY", "ELEC" if values["url"] else "GEN"),
            ("ID", str(one.n)),
            ("TI", values["title"]),
            *(("AU", _line(who.name)) for who in people),
            ("PB", values["site"]),
            ("PY", values["issued"][:4]),
            ("DA", issued),
            ("UR", values["url"]),
            ("Y2", accessed),
            ("N1", values["note"]),
        ]
        out += "".join(f"{tag}  - {value}\r\n" for tag, value in lines if value) + "ER  - \r\n\r\n"
    return out


def to_csl(document: ReportDocument) -> str:
    """Write the references as CSL-JSON, which Zotero, pandoc and citeproc read."""
    listed = []
    for key, _, people, values in _entries(document):
        issued, accessed = (
            {"date-parts": [[*map(int, date.split("-"))]]} if date else None
            for date in (values["issued"], values["accessed"])
        )
        fields = {
            "id": key,
            "type": "webpage" if values["url"] else "document",
            "title": values["title"],
            "author": [
                {"family": who.family, "given": who.given} if who.given else {"literal": who.family} for who in people
            ],
            "publisher": values["site"],
            "issued": issued,
            "accessed": accessed,
            "URL": values["url"],
            "note": values["note"],
        }
        listed.append({name: value for name, value in fields.items() if value})
    return json.dumps(listed, ensure_ascii=False, indent=1)
