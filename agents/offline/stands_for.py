"""What a pronoun stands for, by the grammar of what was asked before it: no guess where that does not tell."""

import re
from collections.abc import Sequence

from agents.offline.questions import asks, leans_on_another, questions, tidy
from agents.offline.terms import opening, terms

_MANY = re.compile(r"\b(?:they|them)\b", re.IGNORECASE)
_ONE = re.compile(r"\bit\b(?!\s+(?:[\w-]+\s+)?(?:that|to|whether|if)\b)", re.IGNORECASE)
_GERMAN = {"die": re.compile(r"\bsie\b"), "der": re.compile(r"\b(?:er|ihn)\b"), "das": re.compile(r"\bes\b")}
_GERMAN_NOUN = re.compile(r"\b([Dd]ie|[Dd]er|[Dd]en|[Dd]as)\s+((?:[a-zäöüß]+\s+)?[A-ZÄÖÜ][\w-]+)")
_NAMED_THING = re.compile(r"\b[Tt]he ((?:[A-Z][\w’'-]*\s?)+)([a-z][\w-]*)?")
_AT_ITS_END = re.compile(r"\b(?:is|was) (the (?:[a-z][\w-]* ){0,2}([a-z][\w-]*))\W*$")
_GERMAN_PLURAL = re.compile(r"\b(?:sind|waren|haben|werden|können|sollen|[a-zäöü]+en) ([A-ZÄÖÜ][\w-]+)\b")
_ASKED = re.compile(
    r"\W*(?:how|what|where|when|why|who)\b(?:\s+[\w'’-]+){0,3}?\s+(?P<verb>is|are|was|were|do|does|did|can|could|will|would|should|has|"
    r"have|had)\s+(?P<rest>.+)",
    re.IGNORECASE,
)
_A_THING = re.compile(r"(?:an?|the|my|our|this)\s+((?:[\w-]+\s+){0,2}[\w-]+)\W*$", re.IGNORECASE)
_WITHOUT_OBJECT = re.compile(r"\s+(?:cost|work|last|weigh|run|function|operate|look|mean|need)s?$", re.IGNORECASE)
_GOES_ON = re.compile(r"\W*(?:(?:and|but)\b(?:\s+(?:what|how) about\b)?|(?:what|how) about\b)\s*", re.IGNORECASE)
_PARTICIPLE = re.compile(r"\w+ed|built|made|held|begun|written|sold|bought")


def named(asked: str, before: str) -> str:
    """Put what a pronoun stands for in its place, where the part before tells: `How reliable are they?`."""
    for article, noun in _GERMAN_NOUN.findall(before):
        nominative = article.lower().replace("den", "der")
        if _GERMAN[nominative].search(asked):
            return _GERMAN[nominative].sub(f"{nominative} {noun}", asked, count=1)
    if (bare := _GERMAN_PLURAL.search(before)) and _GERMAN["die"].search(asked):
        return _GERMAN["die"].sub(bare[1], asked, count=1)
    if _MANY.search(asked) and (things := _things(before)):
        return _MANY.sub(things, asked, count=1)
    if _ONE.search(asked) and (found := _NAMED_THING.search(before)):
        name, noun = found[1].strip(), found[2] or ""
        ends = not noun or not terms(noun) or _PARTICIPLE.fullmatch(noun)
        return _ONE.sub(f"the {name}" if ends else f"the {name} {noun}", asked, count=1)
    found = _AT_ITS_END.search(before)
    thing = found[1] if found and not _PARTICIPLE.fullmatch(found[2]) else _thing(before)
    return _ONE.sub(thing, asked, count=1) if thing else asked


def _things(text: str) -> str:
    """Give the several things that a question begins with: up to its first plural, and those right behind it."""
    asked = _ASKED.match(text)
    which, text = not asked and opening("ask").match(text.strip()), asked["rest"] if asked else text
    for name in ("order", "ask", "yes_no"):
        text = opening(name).sub("", text.strip(), count=1)
    found = re.match(r"\s*(?:(?:the|these|those)\s+)?", text, re.IGNORECASE)
    words = text[found.end() if found else 0 :].strip("?!., ").split()
    run = words[: next((at for at, word in enumerate(words) if not terms(word)), len(words))][:5]
    plural = [bool(re.search(r"[^siu']s$", word)) for word in run]
    end = next((at for at in range(len(run)) if plural[at] and not any(plural[at + 1 : at + 2])), None)
    lead = ["the"] if which or (found and found[0].strip()) else []
    return "" if end is None else " ".join((*lead, *run[: end + 1]))


def _thing(text: str) -> str:
    """Give the one thing that a question is about, where it ends with it or with a verb that wants nothing more."""
    asked = _ASKED.match(text)
    rest = _WITHOUT_OBJECT.sub("", asked["rest"].strip(" ?!.,")) if asked else ""
    is_whole = asked and (asked["verb"].lower() in {"is", "was"} or rest != asked["rest"].strip(" ?!.,"))
    found = _A_THING.match(rest) if is_whole else None
    return f"the {found[1]}" if found and all(map(terms, found[1].split())) else ""


def understood(message: str, before: Sequence[str]) -> str:
    """Word a message so that it can be read alone, by what was asked before it, the newest last: `And what do they cost?`."""
    goes_on, found = _GOES_ON.match(message), questions(message)
    # What leans on nothing at its beginning has its own things, and what follows means those.
    leans = bool(found) and leans_on_another(found[0].parts[0])
    text = tidy(message) if goes_on or leans else ""
    for earlier in reversed(before) if text else ():
        if leans and (whole := named(text, earlier)) != text:
            return whole
        if (
            goes_on
            and not asks(message[goes_on.end() :].rstrip(" ?"))
            and (subject := _things(earlier) or _thing(earlier))
        ):
            return f"{text.rstrip(' ?.')} ({subject})?"
    return message
