"""Citations by number in foreign text: reading the marks, checking a draft, merging parts that each count from [1]."""

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit

from agents.contracts.frozen import Frozen
from agents.report import maths
from agents.report.person_names import is_reference_heading
from agents.report.report_sentences import sentences

_MAX_RANGE = 12  # [2-400] is not a citation of 399 sources
_OPEN, _CLOSE, _DASH = r"[\[［【〔]", r"[\]］】〕]", "[-–—‑~〜]"
_NUMBER = r"\^?\s*(?:(?:source|sources|ref|refs|quelle|quellen|fuente|fonte)\.?\s*)?\d{1,4}"
_MARK = re.compile(
    rf"(?:<sup>\s*)?(?P<outer>\[)?{_OPEN}\s*(?P<list>{_NUMBER}(?:\s*(?:[,;，；、]|{_DASH})\s*{_NUMBER})*)\s*{_CLOSE}"
    r"(?(outer)\])(?P<link>\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\))?(?:\s*</sup>)?",
    re.IGNORECASE,
)
_INTERVAL_WORD = re.compile(
    r"(?:interval|range|between|intervall|bereich|intervalle|intervalo|\bin|∈)\s*$", re.IGNORECASE
)
PLACEHOLDER = re.compile(
    r"\[\s*(?:(?:please\s+)?(?:insert|add|provide|todo|tbd|placeholder|your|cite|citation|citations|reference|references|ref|source|sources"
    r"|link|url|quelle|quellen|beleg|einfügen|référence|insérer|fuente|referencia|insertar)\b[^\[\]\d#]{0,120})\]",
    re.IGNORECASE,
)
"""`[Insert reference …]`, `[citation needed]` and their like."""

URL = re.compile(r"https?://[^\s<>\"'`|\\^{}\[\]]+|www\.[^\s<>\"'`|\\^{}\[\]]+", re.IGNORECASE)
"""A bare address in running text, with what may trail it; see `trimmed_url`."""


@dataclass(frozen=True)
class Mark:
    """One citation mark: where it stands and which numbers it names, in its own order."""

    start: int
    end: int
    numbers: tuple[int, ...]
    url: str = ""
    """The address it was linked to, if any."""


class ParsedMarks(Frozen):
    """Numbers cited in a text, each once, in order: those that name a source, and those that name nothing."""

    cited: tuple[int, ...]
    dangling: tuple[int, ...]


class RegisteredSource(Frozen):
    """A source that was really retrieved, under the number that a draft cites it by."""

    id: int
    url: str
    title: str = ""


class Checked(Frozen):
    """A draft held against the sources that exist."""

    markdown: str
    """The draft without its list, without unknown marks and addresses, and without what rested on them alone."""
    kept_ids: tuple[int, ...]
    """Ids cited that exist, in order of first use."""
    unknown: tuple[str, ...]
    """Marks, then addresses, then placeholders that name nothing retrieved."""
    model_written_reference_section: str
    """`removed`, or `none`."""
    unsupported: tuple[str, ...]
    """Sentences that were removed."""
    references: tuple[RegisteredSource, ...]
    """The reference list: exactly what is cited."""

    @property
    def unsupported_sentences(self) -> int:
        """Count the sentences that rested on nothing that exists."""
        return len(self.unsupported)


class Statement(Frozen):
    """A stretch of text up to its marks, with what they came to."""

    text: str
    urls: tuple[int, ...] = ()
    """Places in `Merged.references`, counted from 0."""
    dangling: tuple[int, ...] = ()
    """Numbers as written that no entry of the part's list has."""
    ambiguous: tuple[int, ...] = ()
    """Numbers as written that more than one entry has."""


class Merged(Frozen):
    """Several parts as one text with one list."""

    markdown: str
    statements: tuple[Statement, ...]
    references: tuple[str, ...]
    """Addresses in order of first use; number n of the text is at place n - 1."""
    not_listed: tuple[str, ...]
    """Addresses that a part listed and no part cites."""


def find_marks(text: str) -> Iterator[Mark]:
    """Find the citation marks of one text, whatever their notation. Code, formulas, escapes and intervals are none."""
    fixed = [(piece.start, piece.end) for piece in maths.pieces(text)]
    for match in _MARK.finditer(text):
        if any(start < match.end() and match.start() < end for start, end in fixed):
            continue
        if numbers := _numbers(match["list"], text[: match.start()]):
            url = (match["link"] or "")[1:-1]
            yield Mark(match.start(), match.end(), numbers, url)


def parse_marks(text: str, sources: int | Collection[int]) -> ParsedMarks:
    """Read which sources `text` cites.

    Args:
        text: one paragraph.
        sources: the numbers that exist, or how many there are, counted from 1.
    """
    known = range(1, sources + 1) if isinstance(sources, int) else sources
    numbers = tuple(dict.fromkeys(number for mark in find_marks(text) for number in mark.numbers))
    return ParsedMarks(
        cited=tuple(number for number in numbers if number in known),
        dangling=tuple(number for number in numbers if number not in known),
    )


def _numbers(written: str, before: str) -> tuple[int, ...]:
    """Read the inside of a mark; nothing where it is an interval or a year."""
    text = unicodedata.normalize("NFKC", written).lower()
    found: list[int] = []
    for part in re.split(r"[,;、]", text):
        ends = [int(number) for number in re.findall(r"\d+", part)]
        first, last = ends[0], ends[-1]
        if len(ends) > 2 or last < first or last - first > _MAX_RANGE:
            return ()
        found.extend(range(first, last + 1))
    several = len(found) > 1
    if several and (0 in found or _INTERVAL_WORD.search(before)):
        return ()
    return () if any(number >= 1000 for number in found) else tuple(dict.fromkeys(found))


def trimmed_url(url: str) -> str:
    """Drop punctuation that ends the sentence, not the address; a bracket that opened inside closes inside."""
    while url and (url[-1] in ".,;:!?*_~'”’»" or (url[-1] == ")" and url.count("(") < url.count(")"))):
        url = url[:-1]
    return url


_TRACKING = re.compile(r"(?:utm_.*|fbclid|gclid|dclid|msclkid|mc_cid|mc_eid|igshid|_ga)$", re.IGNORECASE)
_PLAIN_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")


def canonical_key(url: str) -> str:
    """Give addresses of one page one spelling: scheme, `www.`, port, trailing slash, dot segments, click tracking.

    Only what never changes the page is levelled; anything else keeps two addresses apart.
    """
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        return url.strip()
    if parts.scheme.lower() not in ("http", "https"):
        return url.strip()
    host = (parts.hostname or "").removeprefix("www.")
    with suppress(UnicodeError):  # an unusual host keeps its spelling
        host = host.encode("idna").decode("ascii") if not host.isascii() else host
    host += f":{port}" if port not in (None, 80, 443) else ""
    segments: list[str] = []
    for segment in _PLAIN_ESCAPE.sub(_decoded, parts.path).split("/"):
        if segment == "..":
            segments = segments[:-1]
        elif segment not in ("", "."):
            segments.append(segment)
    query = [(key, value) for key, value in parse_qsl(parts.query, keep_blank_values=True) if not _TRACKING.match(key)]
    fragment = f"#{parts.fragment}" if parts.fragment.startswith(("/", "!")) else ""
    return f"https://{host}" + "".join(f"/{s}" for s in segments) + (f"?{urlencode(query)}" if query else "") + fragment


def _decoded(match: re.Match[str]) -> str:
    letter = chr(int(match[1], 16))
    return letter if letter.isascii() and (letter.isalnum() or letter in "-._~()") else match[0].upper()


def check_draft(draft: str, registry: Sequence[RegisteredSource]) -> Checked:
    """Hold a draft that cites by number against the sources that were retrieved.

    A list that the writer made up is removed, and so are marks, addresses and placeholders that name nothing retrieved.
    A sentence that rested on such things alone goes too, for there is nothing here to mend it from.
    """
    known = {source.id: source for source in registry}
    addresses = {canonical_key(source.url) for source in registry}
    body, section = split_references(draft)
    marks: dict[int, None] = {}
    placeholders: dict[str, None] = {}
    kept: dict[int, None] = {}
    unsupported: list[str] = []
    lines: list[str] = []
    for line in body.split("\n"):
        out = ""
        last = 0
        for start, end in sentences(line):
            sentence = line[start:end]
            cited = parse_marks(sentence, known)
            strange = _unknown_urls(sentence, addresses)
            missing = [match[0] for match in PLACEHOLDER.finditer(sentence)]
            marks.update(dict.fromkeys(cited.dangling))
            placeholders.update(dict.fromkeys(missing))
            if cited.cited or not (cited.dangling or strange or missing):
                kept.update(dict.fromkeys(cited.cited))
                out += line[last:start] + _without_strangers(sentence, known, addresses)
            else:
                unsupported.append(sentence)
            last = end
        lines.append((out + line[last:]).rstrip())
    urls = sorted(_unknown_urls(draft, addresses))
    return Checked(
        markdown=re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip(),
        kept_ids=tuple(kept),
        unknown=(*(f"[{number}]" for number in sorted(marks)), *urls, *placeholders),
        model_written_reference_section="removed" if section else "none",
        unsupported=tuple(unsupported),
        references=tuple(known[number] for number in kept),
    )


def _unknown_urls(text: str, addresses: Collection[str]) -> set[str]:
    found = {trimmed_url(match[0]) for match in URL.finditer(text)}
    return {url for url in found if canonical_key(url) not in addresses}


def _without_strangers(sentence: str, known: Collection[int], addresses: Collection[str]) -> str:
    for mark in reversed(list(find_marks(sentence))):
        kept = "".join(f"[{number}]" for number in mark.numbers if number in known)
        sentence = sentence[: mark.start].rstrip() + (" " if kept else "") + kept + sentence[mark.end :]
    sentence = PLACEHOLDER.sub("", sentence)
    for url in _unknown_urls(sentence, addresses):
        sentence = re.sub(rf"\s*\({re.escape(url)}\)|{re.escape(url)}", "", sentence)
    return sentence


def split_references(markdown: str) -> tuple[str, str]:
    """Part the text from a reference list at its end: from a line that is only the name of such a list, to the end."""
    lines = markdown.split("\n")
    for number, line in enumerate(lines):
        if is_reference_heading(line):
            return "\n".join(lines[:number]).rstrip(), "\n".join(lines[number:])
    return markdown, ""


_CONJUNCTION = re.compile(r"^(?:and|but|while|whereas|und|aber|während|et|mais|y|pero)\s+", re.IGNORECASE)
_ENTRY = re.compile(r"^\s*(?:[-*]\s+)?(?:\[(\d{1,4})\]|(\d{1,4})[.)])\s*:?\s*(.*)$")


def merge_parts(parts: Sequence[str]) -> Merged:
    """Join parts that each cite by their own numbers and end with their own list.

    Every statement keeps its addresses; numbers run from 1 in order of first use. A number that the part's list does
    not have, or has twice for different pages, is reported and dropped: guessing would tie a statement to a page that
    it was not read on.
    """
    references: dict[str, int] = {}
    listed: dict[str, None] = {}
    ambiguous: set[str] = set()
    statements: list[Statement] = []
    texts: list[str] = []
    for part in parts:
        body, section = split_references(part)
        own = _own_list(section)
        listed.update(dict.fromkeys(url for urls in own.values() for url in urls))
        seen = len(statements)
        lines = []
        for line in body.split("\n"):
            merged, found = _merged_line(line, own, references)
            lines.append(merged)
            statements.extend(found)
        ambiguous.update(url for found in statements[seen:] for number in found.ambiguous for url in own[number])
        texts.append("\n".join(lines).strip())
    return Merged(
        markdown="\n\n".join(text for text in texts if text),
        statements=tuple(statements),
        references=tuple(references),
        not_listed=tuple(url for url in listed if url not in references and url not in ambiguous),
    )


def _own_list(section: str) -> dict[int, list[str]]:
    own: dict[int, list[str]] = {}
    for line in section.split("\n"):
        entry, url = _ENTRY.match(line), URL.search(line)
        if entry and url:
            key = canonical_key(trimmed_url(url[0]))
            urls = own.setdefault(int(entry[1] or entry[2]), [])
            if key not in urls:
                urls.append(key)
    return own


def _merged_line(line: str, own: dict[int, list[str]], references: dict[str, int]) -> tuple[str, list[Statement]]:
    found: list[Statement] = []
    out, last = "", 0
    for group in _runs(line):
        numbers = dict.fromkeys(number for mark in group for number in mark.numbers)
        places: dict[int, None] = {}
        for number in numbers:
            if len(own.get(number, ())) == 1:
                places[references.setdefault(own[number][0], len(references))] = None
        text = line[last : group[0].start]
        found.append(
            Statement(
                text=_CONJUNCTION.sub("", re.split(r"(?<=[.!?。])\s+", text.strip(" .,;:"))[-1].strip()),
                urls=tuple(sorted(places)),
                dangling=tuple(number for number in numbers if number not in own),
                ambiguous=tuple(number for number in numbers if len(own.get(number, ())) > 1),
            )
        )
        cited = "".join(f"[{place + 1}]" for place in sorted(places))
        out += text if cited else text.rstrip()
        out, last = out + cited, group[-1].end
    return out + line[last:], found


def _runs(line: str) -> list[list[Mark]]:
    """Group marks that stand side by side."""
    groups: list[list[Mark]] = []
    for mark in find_marks(line):
        if groups and not line[groups[-1][-1].end : mark.start].strip(" ,"):
            groups[-1].append(mark)
        else:
            groups.append([mark])
    return groups
