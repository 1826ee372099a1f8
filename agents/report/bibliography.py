"""The reference list for reference managers: BibTeX, RIS and CSL-JSON, every author a person of their own."""

import json
import re
import unicodedata
from dataclasses import dataclass
from itertools import count

from agents.contracts.report import Reference, ReportDocument
from agents.report.wording import word_lists

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
    while len(words) > 1 and words[0].casefold().rstrip(".") in _TITLES:
        words = words[1:]
    name = " ".join(words)
    capital = all(word[0].isupper() or word.casefold() in _PARTICLES for word in words)
    if not 2 <= len(words) <= 5 or not capital or re.search(r"\d", name) or not _is_full(name):
        return Author(name)
    at = len(words) - 1
    while at > 1 and words[at - 1].casefold() in _PARTICLES:
        at -= 1
    return Author(" ".join(words[at:]), " ".join(words[:at]))


# ---- one item, three forms


@dataclass(frozen=True)
class Item:
    """A reference as all three forms need it."""

    reference: Reference
    key: str
    """By author or title and year; letters tell equal ones apart."""
    authors: tuple[Author, ...]
    issued: tuple[str, ...]
    """Year, month and day, as far as they are known."""
    accessed: tuple[str, ...]
    url: str
    """Empty for what is not on the web."""
    sample: str

    @property
    def title(self) -> str:
        return _plain(self.reference.title)

    @property
    def site(self) -> str:
        return _plain(self.reference.site or "")


def items(document: ReportDocument) -> tuple[Item, ...]:
    """Describe the references, in the order of the report."""
    made: dict[str, Item] = {}
    for one in document.references:
        # Who publishes under a name of its own is a body.
        own = one.author and one.site and one.author.casefold() in one.site.casefold()
        people = (Author(one.author),) if one.author and own else authors(one.author or "")
        issued = _date(one.published)
        name = unicodedata.normalize("NFKD", people[0].family if people else one.site or one.title)
        word = next(iter(re.findall(r"[A-Za-z]{3,}", name.encode("ascii", "ignore").decode())), "source").lower()
        base = f"{word}{issued[0] if issued else ''}"
        key = next(key for n in count() if (key := f"{base}-{n}" if n else base) not in made)
        url = one.url if one.url.startswith(("http://", "https://")) else ""
        sample = "Invented sample document" if one.kind == "sample" else ""
        made[key] = Item(one, key, people, issued, _date(one.accessed), url, sample)
    return tuple(made.values())


def _date(text: str | None) -> tuple[str, ...]:
    found = _DATE.match(text or "")
    return tuple(part for part in found.groups() if part) if found else ()


def _plain(text: str) -> str:
    """Keep a value on its line."""
    return " ".join(text.split())


def _escaped(text: str) -> str:
    return "".join(_SPECIAL.get(char, char) for char in _plain(text))


def to_bibtex(document: ReportDocument) -> str:
    """Write the references as BibTeX, one entry each."""
    return "\n".join(map(_bibtex, items(document)))


def _bibtex(item: Item) -> str:
    # In braces: an office or agency must not be taken apart into first and last name.
    names = (_escaped(one.name) if one.given else "{" + _escaped(one.family) + "}" for one in item.authors)
    # Braces of an address would unbalance those of its entry.
    url = _plain(item.url).replace("{", "%7B").replace("}", "%7D").replace("\\", "%5C")
    fields = {
        "title": "{" + _escaped(item.title) + "}",
        "author": " and ".join(names),
        "organization": _escaped(item.site),
        "year": "".join(item.issued[:1]),
        "month": str(int(item.issued[1])) if item.issued[1:] else "",
        "url": url,
        "urldate": "-".join(item.accessed),
        "note": f"[{item.reference.n}]" + (f"; {item.sample[0].lower()}{item.sample[1:]}" if item.sample else ""),
    }
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items() if value)
    return f"@misc{{{item.key},\n{lines}\n}}\n"


def to_ris(document: ReportDocument) -> str:
    """Write the references as RIS, one record each."""
    return "".join(map(_ris, items(document)))


def _ris(item: Item) -> str:
    dates = [
        "/".join((*date, *("" for _ in range(4 - len(date))))) if date else "" for date in (item.issued, item.accessed)
    ]
    lines = [
        ("TY", "ELEC" if item.url else "GEN"),
        ("ID", str(item.reference.n)),
        ("TI", item.title),
        *(("AU", one.name) for one in item.authors),
        ("PB", item.site),
        ("PY", "".join(item.issued[:1])),
        ("DA", dates[0]),
        ("UR", item.url),
        ("Y2", dates[1]),
        ("N1", item.sample),
    ]
    return "".join(f"{tag}  - {_plain(value)}\r\n" for tag, value in lines if value) + "ER  - \r\n\r\n"


def to_csl(document: ReportDocument) -> str:
    """Write the references as CSL-JSON, which Zotero, pandoc and citeproc read."""
    return json.dumps([*map(_csl, items(document))], ensure_ascii=False, indent=1)


def _csl(item: Item) -> dict[str, object]:
    people = [
        {"family": one.family, "given": one.given} if one.given else {"literal": one.family} for one in item.authors
    ]
    dates = [{"date-parts": [[*map(int, date)]]} if date else None for date in (item.issued, item.accessed)]
    values = {
        "id": item.key,
        "type": "webpage" if item.url else "document",
        "title": item.title,
        "author": people,
        "publisher": item.site,
        "issued": dates[0],
        "accessed": dates[1],
        "URL": item.url,
        "note": item.sample,
    }
    return {name: value for name, value in values.items() if value}
