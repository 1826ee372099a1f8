"""Who counts as a witness of its own: mirrors, syndicated copies and quotations of one origin count once."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from agents.nlp.near_duplicates import MIN_SHARED, containment, fingerprint, is_about_the_same, shingles

COPY = 0.7
"""Share of the shorter text's runs of four words from which it is a copy: an agency text loses a sentence or two and
gets a new headline on its way, while two reporters at one event share hardly a tenth."""
QUOTED_WORDS = 8
"""Words that two pieces of evidence must share verbatim to be one statement told twice."""

_SAID = (
    r"said|says|reported|reports|announced|according to|published|found|laut|zufolge|nach Angaben|teilte|berichtet\w*|"
    r"selon|d['’]après|a (?:annoncé|déclaré|publié)|según|(?:dijo|anunció|informó|publicó)"
)
_SAYING = re.compile(rf"\b(?:{_SAID})\b", re.IGNORECASE)
_SENTENCE = re.compile(r"[^.!?。！？]+")
_HEAD = re.compile(r"\s*[:|–—]\s*|\s+-\s+")


@dataclass(frozen=True)
class Witness:
    """A source that speaks to one claim."""

    id: str
    domain: str
    """Registrable domain; for a document the publisher or author it names, else the document itself."""
    text: str
    title: str = ""
    url: str = ""
    """Canonical address, where the page declares one."""
    publisher: str = ""
    quote: str = ""
    """The words that speak to the claim."""


@dataclass(frozen=True)
class Origin:
    """Sources that are one witness."""

    ids: tuple[str, ...]
    """In the order given."""
    preferred: str
    """The one to cite: the fullest text."""
    primary: bool
    """Whether sources outside the group name it as where they have it from."""
    why: tuple[str, ...]
    """One plain sentence for each source that was counted with another."""


def independent(witnesses: Sequence[Witness]) -> int:
    """Count the sources that are witnesses of their own (specification, section 9: distinct domains per claim)."""
    return len(origins(witnesses))


def origins(witnesses: Sequence[Witness]) -> tuple[Origin, ...]:
    """Put sources together that have one origin.

    Two are together when they have one domain or one canonical address, when the text of one is a copy or a long
    excerpt of the other's, or when both rest on the very same words.

    Returns:
        Groups; primary ones first, else in the order of their first member.
    """
    leader = {number: number for number in range(len(witnesses))}
    why: dict[int, list[str]] = {}
    runs = [shingles(witness.text) for witness in witnesses]

    def first(number: int) -> int:
        while leader[number] != number:
            number = leader[number]
        return number

    for one, other in combinations(range(len(witnesses)), 2):
        reason = _one_origin(witnesses[one], witnesses[other], runs[one], runs[other])
        if reason and first(one) != first(other):
            low, high = sorted((first(one), first(other)))
            leader[high] = low
            why.setdefault(low, []).extend([*why.pop(high, []), reason])
    groups: dict[int, list[int]] = {}
    for number in range(len(witnesses)):
        groups.setdefault(first(number), []).append(number)
    found = [_origin(witnesses, members, why.get(head, [])) for head, members in groups.items()]
    return tuple(sorted(found, key=lambda origin: not origin.primary))


def _one_origin(one: Witness, other: Witness, left: frozenset[int], right: frozenset[int]) -> str:
    if one.url and one.url == other.url:
        return f"{other.id} is another address of {one.id}."
    if one.domain and one.domain.casefold() == other.domain.casefold():
        return f"{other.id} and {one.id} are published by {one.domain}."
    if min(len(left), len(right)) >= MIN_SHARED and (share := containment(left, right)) >= COPY:
        shorter, longer = (one, other) if len(left) <= len(right) else (other, one)
        if is_about_the_same(shorter.title, shorter.text, longer.text):
            return f"{shorter.id} repeats {round(100 * share)} per cent of the text of {longer.id}."
    mine, yours = fingerprint(one.quote), fingerprint(other.quote)
    short = min(mine, yours, key=len)
    if len(short.split()) >= QUOTED_WORDS and short in max(mine, yours, key=len):
        return f"{other.id} and {one.id} give the same words."
    return ""


def _origin(witnesses: Sequence[Witness], members: list[int], why: list[str]) -> Origin:
    inside = {witnesses[number].id for number in members}
    outside = [witness for witness in witnesses if witness.id not in inside]
    named = [number for number in members if any(_names(other, witnesses[number]) for other in outside)]
    # Of copies of one length the first is kept: it was found first, and the agency's own page usually is.
    best = max(named or members, key=lambda number: (len(fingerprint(witnesses[number].text)), -number))
    ids = tuple(witnesses[number].id for number in members)
    return Origin(ids, witnesses[best].id, bool(named), tuple(why))


def _names(teller: Witness, origin: Witness) -> bool:
    """Tell whether a sentence of `teller` says that it has something from `origin`."""
    heads = (origin.publisher, *_HEAD.split(origin.title))
    called = [name.casefold() for name in heads if len(name.split()) >= 2 and name[:1].isupper()]
    if not called or not any(name in teller.text.casefold() for name in called):
        return False
    return any(
        _SAYING.search(sentence) and any(name in sentence.casefold() for name in called)
        for sentence in _SENTENCE.findall(teller.text)
    )
