"""Citations in foreign text: marks by number or id, placeholders, bare addresses, lists of references at the end."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

_MAX_RANGE = 12  # [2-400] is not a citation of 399 sources
_OPEN, _CLOSE, _DASH = r"[\[［【〔]", r"[\]］】〕]", "[-–—‑~〜]"
_LABEL = (
    r"(?:\#[\w.-]+|f[0-9a-f]{5,40}"
    r"|\^?\s*(?:(?:source|sources|ref|refs|quelle|quellen|fuente|fonte)\.?\s*)?(?:f\s?)?\d{1,4})"
)
_MARK = re.compile(
    rf"(?P<outer>\[)?{_OPEN}\s*(?P<list>{_LABEL}(?:\s*(?:[,;，；、]|{_DASH})\s*{_LABEL})*)\s*{_CLOSE}(?(outer)\])",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?:\A|[^\w.])(?:f\s?)?0*(\d{1,4})\Z", re.IGNORECASE)
_INTERVAL_WORD = re.compile(
    r"(?:interval|range|between|intervall|bereich|intervalle|intervalo|\bin|∈)\s*$", re.IGNORECASE
)
PLACEHOLDER = re.compile(
    r"\[\s*(?:(?:please\s+)?(?:insert|add|provide|todo|tbd|placeholder|your|cite|citation|citations|reference|references|ref|source|sources"
    r"|link|url|quelle|quellen|beleg|einfügen|référence|insérer|fuente|referencia|insertar)\b[^\[\]\d#]{0,120})\]",
    re.IGNORECASE,
)
"""`[Insert reference …]`, `[citation needed]` and their like."""
URL = re.compile(r"https?://[^\s<>\"'`|\\^{}\[\]\ufffc]+|www\.[^\s<>\"'`|\\^{}\[\]\ufffc]+", re.IGNORECASE)
"""A bare address in running text, with what may trail it; see `trimmed_url`."""

_REFERENCE_NAMES = frozenset({
    "references", "reference", "reference list", "sources", "sources cited", "source list", "bibliography",
    "works cited", "citations", "footnotes", "cited sources", "links", "quellen", "quellenverzeichnis",
    "quellenangaben", "literatur", "literaturverzeichnis", "referenzen", "belege", "einzelnachweise",
    "références", "bibliographie", "sources citées", "notes et références", "referencias", "bibliografía",
    "fuentes", "fuentes citadas", "fonti", "riferimenti", "bibliografia", "referências", "fontes", "bronnen",
    "literatuurlijst", "referenties", "källor", "referenser", "källförteckning",
    "参考文献", "引用文献", "出典", "参考资料",
    "来源", "المراجع", "المصادر",
})  # fmt: skip
_MARKING = re.compile(r"^[\s#*_>]+|[\s#*_:：]+$")
_RUN_ON_LIST = re.compile(r"\s*[*_]*([^\W\d_]+(?: [^\W\d_]+)?)[*_]*:?[*_]*\s+(?=[\[【［]\d+[\]】］])")


@dataclass(frozen=True)
class Mark:
    """One citation mark: where it stands and which labels it names, in its own order."""

    start: int
    end: int
    labels: tuple[str, ...]
    """Numbers without `f` and leading noughts; ids as they are."""

    @property
    def numbers(self) -> tuple[int, ...]:
        """The labels that are numbers."""
        return tuple(int(label) for label in self.labels if label.isdecimal())


def find_marks(text: str) -> Iterator[Mark]:
    """Find the citation marks of one text, whatever their notation. Intervals and years in brackets are none."""
    for match in _MARK.finditer(text):
        if labels := _labels(match["list"], text[: match.start()]):
            yield Mark(match.start(), match.end(), labels)


def _labels(written: str, before: str) -> tuple[str, ...]:
    """Read the inside of a mark; nothing where it is an interval or a year."""
    found: list[str] = []
    numbers: list[int] = []
    for part in re.split(r"[,;、]", unicodedata.normalize("NFKC", written)):
        one = part.strip()
        ends = [int(number[1]) for side in re.split(_DASH, one) if (number := _NUMBER.search(side.strip()))]
        if one.startswith("#") or not ends:
            found.append(one.lstrip("#"))
            continue
        first, last = ends[0], ends[-1]
        if len(ends) > 2 or last < first or last - first > _MAX_RANGE:
            return ()
        numbers += range(first, last + 1)
        found += map(str, range(first, last + 1))
    if len(numbers) > 1 and (0 in numbers or _INTERVAL_WORD.search(before)):
        return ()
    return () if any(number >= 1000 for number in numbers) else tuple(dict.fromkeys(found))


def trimmed_url(url: str) -> str:
    """Drop punctuation that ends the sentence, not the address; a bracket that opened inside closes inside."""
    while url and (url[-1] in ".,;:!?*_~'”’»" or (url[-1] == ")" and url.count("(") < url.count(")"))):
        url = url[:-1]
    return url


def host(url: str) -> str:
    """Name the site of an address, for a reader."""
    return re.sub(r"^(?:https?://)?(?:www\.)?", "", url, flags=re.IGNORECASE).split("/")[0].split("?")[0]


def is_reference_heading(line: str) -> bool:
    """Tell whether a line is nothing but the name of a reference list, as heading, bold or plain."""
    text = _MARKING.sub("", _MARKING.sub("", line)).casefold()
    return re.sub(r"^\d+[.)]\s*", "", text) in _REFERENCE_NAMES


def opens_reference_list(line: str) -> bool:
    """Tell whether a line begins a list that was written as one wrapped paragraph: `Sources [1] https://… [2] …`."""
    name = _RUN_ON_LIST.match(line)
    return name is not None and is_reference_heading(name[1])
