"""Follow-up messages of the scoping talk: picking, narrowing, dropping, adding, agreeing, or something new."""

import re
from dataclasses import dataclass

from agents.contracts.brief import Query, ScopingInput
from agents.offline import cues
from agents.offline import texts as wording
from agents.offline.narrowing import asked_of, subject
from agents.offline.question_parts import INDIRECT, asks_something, period, questions
from agents.offline.terms import distinct, names, terms, years

SHORT = 14
"""Words of a remark about what was said; longer messages are questions of their own."""

_ORDINALS = {
    word: number
    for number, listed in enumerate(
        (
            "first 1st one erste ersten erster première premier primera primero prima primo eerste första 一 1.",
            "second 2nd two zweite zweiten zweiter zwei deuxième seconde second deux segunda segundo dos seconda "
            "tweede andra 二 2.",
            "third 3rd three dritte dritten dritter drei troisième trois tercera tercero tres terza derde tredje 三 3.",
            "fourth 4th four vierte vierten vierter vier quatrième quatre cuarta cuarto cuatro quarta vierde "
            "fjärde 四 4.",
            "fifth 5th five fünfte fünften fünf cinquième cinq quinta quinto cinco vijfde femte 五 5.",
            "sixth 6th six sechste sechsten sechs sixième sexta sexto seis zesde sjätte 六 6.",
        ),
        start=1,
    )
    for word in listed.split()
}
_ALL = frozenset(
    [
        "all",
        "both",
        "everything",
        "alle",
        "beide",
        "beiden",
        "alles",
        "toutes",
        "tous",
        "todas",
        "todos",
        "ambas",
        "ambos",
        "tutte",
        "alla",
        "båda",
        "全部",
        "すべて",
    ]
)
_LAST = frozenset(
    ["last", "letzte", "letzten", "dernière", "dernier", "última", "último", "ultima", "laatste", "sista"]
)
_AROUND_A_PICK = frozenset(
    [
        "only",
        "just",
        "the",
        "a",
        "number",
        "no",
        "option",
        "version",
        "query",
        "question",
        "suggestion",
        "please",
        "i",
        "take",
        "i'd",
        "id",
        "i'll",
        "ill",
        "want",
        "like",
        "would",
        "choose",
        "pick",
        "go",
        "with",
        "for",
        "and",
        "or",
        "&",
        "then",
        "let's",
        "lets",
        "do",
        "use",
        "of",
        "them",
        "these",
        "those",
        "this",
        "that",
        "it",
        "is",
        "my",
        "choice",
        "plus",
        "nr",
        "nummer",
        "nur",
        "die",
        "der",
        "das",
        "den",
        "frage",
        "fassung",
        "option",
        "bitte",
        "ich",
        "nehme",
        "möchte",
        "und",
        "mit",
        "seulement",
        "juste",
        "la",
        "le",
        "les",
        "numéro",
        "question",
        "version",
        "s'il",
        "vous",
        "plaît",
        "je",
        "prends",
        "choisis",
        "et",
        "avec",
        "uniquement",
        "solo",
        "sólo",
        "la",
        "el",
        "las",
        "los",
        "número",
        "pregunta",
        "opción",
        "por",
        "favor",
        "tomo",
        "elijo",
        "quiero",
        "y",
        "con",
        "solamente",
        "ones",
    ]
)
_AGREES = re.compile(
    r"^\W*(?:yes|yep|yeah|ok|okay|fine|sure|agreed|good|great|perfect|correct|right|exactly|sounds good|looks good|"
    r"that(?:'s| is) (?:good|fine|right|it|ok|okay)|"
    r"go (?:ahead|on)|proceed|continue|as it is|let's go|all good|ja|jawohl|genau|passt(?: so)?|gut|einverstanden|"
    r"in ordnung|weiter|stimmt|"
    r"oui|d['’]accord|parfait|très bien|c['’]est bon|sí|si|vale|de acuerdo|perfecto|bien|está bien|va bene|sim|"
    r"está bom|akkoord|goed|はい|了解|好的?|可以|是的?|نعم|موافق)"
    r"(?:[\s,.!]+(?:please|bitte|thanks|thank you|danke|merci|gracias|that's fine|that is fine|go ahead|do (?:that|"
    r"it)|so|let's go|good|great))*[\W_]*$",
    re.IGNORECASE,
)
_DROPS = re.compile(
    r"^\W*(?:please\s+|bitte\s+)?(?:drop|remove|delete|skip|leave out|forget(?: about)?|discard|without|"
    r"streiche?n?|entferne?n?|lösche?n?|ohne|lass(?:en sie)?|"
    r"supprime[rz]?|retire[rz]?|enlève|enlevez|sans|elimina|quita|borra|sin|deja)\b\s*(.*)$",
    re.IGNORECASE | re.DOTALL,
)
_ADDS = re.compile(
    r"^\W*(?:and\s+)?(?:please\s+)?(?:also ask(?: about)?|also add|also|add(?: a (?:query|question))?(?: on| "
    r"about)?|in addition|additionally|plus|"
    r"außerdem|zusätzlich|ergänze|füge hinzu|und noch|ajoute[rz]?(?: aussi)?|aussi|en plus|además|añade|agrega|"
    r"también)\b[,:]?\s*(.*)$",
    re.IGNORECASE | re.DOTALL,
)
_NARROWS = re.compile(
    r"^\W*(?:please\s+|and\s+|but\s+)?(?:only(?: for| in| from| about)?|just(?: for| in| from| about)?|"
    r"limit(?:ed)?(?: it| this| that)? to|restrict(?:ed)?(?: it| this)? to|"
    r"focus(?: it)?(?: only)? on|narrow(?: it)? (?:down )?to|let's focus on|i(?:'m| am) (?:only |mainly |mostly "
    r")?interested in|i(?: only)? mean|mainly|"
    r"nur(?: für| in| von)?|beschränke?(?: es| sie)? auf|begrenze?(?: es)? auf|mich interessiert(?: nur)?|vor allem|"
    r"seulement|uniquement|juste|limite[rz]?(?:-la| la)? à|concentre[rz]?(?:-toi|-vous)? sur|ce qui "
    r"m['’]intéresse,? c['’]est|"
    r"solo|sólo|solamente|únicamente|limita(?:r|lo|la)? a|céntrate en|me interesa)\b[,:]?\s*(.*)$",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True)
class Asked:
    """A question as it stands after a message, with limits that were agreed."""

    text: str
    limits: tuple[str, ...] = ()


@dataclass(frozen=True)
class Revision:
    """What a follow-up message made of the queries."""

    asked: tuple[Asked, ...]
    notes: tuple[str, ...] = ()
    """Sentences that tell what was understood."""
    question: str = ""
    """What to ask back; the queries stay as they were."""


def revise(given: ScopingInput) -> Revision | None:
    """Read a message as a remark on the queries as they stand; None when it asks something new."""
    if not given.agreed:
        return None
    message, language = given.message.strip(), given.language
    standing = tuple(Asked(query.text, query.scope_limits) for query in given.agreed)
    offered = tuple(split for query in given.agreed for split in query.suggested_split)
    if _AGREES.match(message):
        return _agreed(given, standing, offered)
    short = len(message.split()) <= SHORT
    if short and (match := _DROPS.match(message)):
        return _dropped(given, standing, match.group(1))
    if (numbers := _numbers(message)) is not None and short:
        return _picked(given, standing, offered, numbers)
    if (match := _ADDS.match(message)) and asks_something(match.group(1)):
        added = match.group(1).strip()
        direct = "?" in added or not cues.INTERROGATIVE.match(added) or wording.tongue(language) != "en"
        new = tuple(Asked(question.text) for question in questions(added if direct else f"{INDIRECT}{added}", language))
        return Revision((*standing, *new), (wording.say(language, "added"),))
    if not asks_something(message):
        return Revision(standing, question="no_question")
    narrowing = _NARROWS.match(message)
    remark = short and "?" not in message and not cues.INTERROGATIVE.search(message[:20])
    if remark and (chosen := _by_words(narrowing.group(1) if narrowing else message, offered)):
        return _taken(given, standing, (chosen,))
    if remark and (narrowing or _is_limit(message, given.agreed)):
        return _narrowed(given, standing, narrowing.group(1) if narrowing else message)
    return None


def _agreed(given: ScopingInput, standing: tuple[Asked, ...], offered: tuple[str, ...]) -> Revision:
    if all(query.feasible for query in given.agreed):
        return Revision(standing, (wording.say(given.language, "agree_ready"),))
    if len(offered) == 1:
        return _taken(given, standing, offered)
    return Revision(standing, (wording.say(given.language, "still_open"),), question="ask_pick")


def _numbers(message: str) -> tuple[int, ...] | None:
    """Read a choice (`1 and 3`, `the second one`, `both`); 0 stands for all, -1 for the last; None when it is none."""
    found: list[int] = []
    for token in re.findall(
        r"\d+|[^\W\d_]+(?:['’][^\W\d_]+)?(?:\d\w+)?|[一二三四五六]|&", message.casefold().replace("’", "'")
    ):
        if token.isdecimal():
            found.append(int(token))
        elif token in _ALL:
            found.append(0)
        elif token in _LAST:
            found.append(-1)
        elif token in _ORDINALS and token not in {"one", "ones"}:
            found.append(_ORDINALS[token])
        elif token not in _AROUND_A_PICK and token not in {"one", "st", "nd", "rd", "th"}:
            return None
    if any(number > 99 for number in found):
        return None
    return tuple(dict.fromkeys(found)) or None


def _picked(
    given: ScopingInput, standing: tuple[Asked, ...], offered: tuple[str, ...], numbers: tuple[int, ...]
) -> Revision:
    choices = offered or tuple(asked.text for asked in standing)
    wanted = [len(choices) if number == -1 else number for number in numbers]
    if 0 in wanted:
        wanted = list(range(1, len(choices) + 1))
    if missing := [number for number in wanted if not 1 <= number <= len(choices)]:
        note = wording.say(given.language, "not_there", number=missing[0])
        return Revision(standing, (note,), question="ask_pick" if offered else "which_one")
    chosen = tuple(choices[number - 1] for number in wanted)
    if offered:
        return _taken(given, standing, chosen)
    kept = tuple(asked for asked in standing if asked.text in chosen)
    return Revision(kept, (wording.say(given.language, "taken"),))


def _taken(given: ScopingInput, standing: tuple[Asked, ...], chosen: tuple[str, ...]) -> Revision:
    """Put chosen suggestions in the place of the queries that they narrow."""
    kept: list[Asked] = []
    for query, asked in zip(given.agreed, standing, strict=True):
        if query.feasible:
            kept.append(asked)
            continue
        mine = [Asked(text, asked.limits) for text in query.suggested_split if text in chosen]
        untouched = not mine and len([other for other in given.agreed if not other.feasible]) > 1
        kept.extend(mine or ([asked] if untouched else []))
    return Revision(tuple(kept), (wording.say(given.language, "taken"),))


def _dropped(given: ScopingInput, standing: tuple[Asked, ...], which: str) -> Revision | None:
    numbers = _numbers(which) or ()
    gone = [len(standing) if number == -1 else number for number in numbers]
    if 0 in gone:
        gone = list(range(1, len(standing) + 1))
    if not gone:
        best = _by_words(which, tuple(asked.text for asked in standing))
        gone = [at for at, asked in enumerate(standing, start=1) if asked.text == best]
    valid = [number for number in gone if 1 <= number <= len(standing)]
    if not valid:
        return Revision(standing, question="which_one")
    kept = tuple(asked for at, asked in enumerate(standing, start=1) if at not in valid)
    notes = tuple(wording.say(given.language, "dropped", query=standing[number - 1].text) for number in valid)
    return Revision(kept, notes, question="" if kept else "nothing_left")


def _by_words(words: str, choices: tuple[str, ...]) -> str:
    """Find the one choice that shares most of the telling words; empty when none or several do equally."""
    said = set(distinct(words))
    if not said or not choices:
        return ""
    common = set.intersection(*(set(distinct(choice)) for choice in choices)) if len(choices) > 1 else set()
    said -= common
    scores = [len(said & set(distinct(choice))) for choice in choices]
    best = max(scores)
    if not said or best * 2 < len(said) or not best or scores.count(best) > 1:
        return ""
    return choices[scores.index(best)]


def _is_limit(message: str, agreed: tuple[Query, ...]) -> bool:
    """A bare period, or a few words thrown in while a question is still too broad."""
    if years(message) and len(terms(message)) <= 4:
        return True
    return (
        any(not query.feasible for query in agreed) and len(message.split()) <= 6 and not cues.ASKS_FOR.match(message)
    )


def _narrowed(given: ScopingInput, standing: tuple[Asked, ...], limit: str) -> Revision:
    language = given.language
    limit = limit.strip(" .!,;")
    open_ones = [at for at, query in enumerate(given.agreed) if not query.feasible]
    targets = open_ones or list(range(len(standing)))
    if len(targets) > 1 and not years(limit):
        return Revision(standing, question="which_one")
    changed = list(standing)
    for at in targets:
        changed[at] = _merged(given, given.agreed[at], standing[at], limit)
    only_period = years(limit) and not _aspect(limit)
    still_open = bool(open_ones) and bool(only_period)
    return Revision(tuple(changed), (wording.say(language, "settled_period" if still_open else "narrowed"),))


def _aspect(limit: str) -> str:
    """What a limit names beside years."""
    rest = re.sub(
        r"\b(?:between|from|since|until|to|and|in|the years?|years?|zwischen|von|bis|seit|und|jahre?n?|entre|de|à|"
        r"et|desde|hasta|y|años|depuis)\b|\d{4}|[–—-]|\d{1,2}\.",
        " ",
        limit,
        flags=re.IGNORECASE,
    )
    return (
        re.sub(
            r"\s+", " ", re.sub(r"\b(?:between|from|since|zwischen|entre|seit|depuis|desde)?\s*\d{4}.*$", "", limit)
        ).strip(" ,")
        if terms(rest)
        else ""
    )


def _merged(given: ScopingInput, query: Query, asked: Asked, limit: str) -> Asked:
    language = given.language
    limits = tuple(dict.fromkeys((*asked.limits, limit)))
    if query.feasible:
        mark = asked.text[-1] if asked.text[-1] in "?？؟" else ""
        text = wording.say(language, "merge_only", question=asked.text.rstrip("?.？؟ "), limit=limit)
        return Asked(text + mark, limits)
    parsed = questions(asked.text, language)
    about = subject(parsed[0], given.survey, language) if parsed else ""
    span = next((found for found in (period(text) for text in reversed(limits)) if found), None)
    aspect = _aspect(limit)
    place_only = bool(aspect) and aspect in names(f"x {aspect}", language)
    if not aspect or place_only:
        base = re.sub(r"\s*\((?:only|nur|seulement|solo) [^)]*\)$", "", asked.text)
        return Asked(wording.say(language, "merge_only", question=base.rstrip("?. "), limit=", ".join(limits)), limits)
    first, last = span or (0, 0)
    name = "merge_aspect_period" if span else "merge_aspect"
    return Asked(asked_of(language, name, aspect, about, str(first), str(last)), limits)
