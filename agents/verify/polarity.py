"""Negation, hedges, open questions, quantifiers and comparisons in four languages, by closed lists of cues."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

Openness = Literal["", "modal", "open"]

_NOT = frozenset(
    "not n't nt never no none nobody nothing neither nor without hardly scarcely cannot can't don't doesn't didn't isn't "
    "aren't wasn't weren't won't wouldn't couldn't shouldn't hasn't haven't hadn't ain't "
    "deny denies denied lack lacks lacked lacking absence dont doesnt didnt isnt wasnt wont cant "
    "nicht kein keine keinen keinem keiner keines nie niemals niemand nichts weder ohne kaum "
    "ne n' pas jamais aucun aucune sans ni rien nul nulle "
    "nunca jamás ningún ninguno ninguna nada nadie sin tampoco ni "
    "не нет ни никогда без".split()
)
_NOT_IN = {
    "sv": "inte icke ej aldrig ingen inget inga",
    "da": "ikke ej aldrig ingen intet",
    "nb": "ikke aldri ingen intet",
    "no": "ikke aldri ingen intet",
    "nl": "niet geen nooit niemand niets",
    "it": "non mai nessuno nessuna senza né",
    "pt": "não nunca jamais nenhum nenhuma sem nem",
    "pl": "nie nigdy bez żaden żadna ani",
    "cs": "ne nikdy bez žádný žádná ani není nebyl nebyla nebylo",
    "uk": "не ні ніколи без немає",
    "ru": "не нет ни никогда без",
    "tr": "değil hiç yok",
    "fi": "ei eivät eikä en et emme ette koskaan",
    "hu": "nem soha nincs sem",
    "ro": "nu niciodată fără nici",
    "el": "δεν μην ποτέ χωρίς ούτε",
    "ar": "لم لا ليس ليست لن بدون غير",
    "he": "לא אין בלי מעולם",
    "fa": "نیست نه هرگز بدون",
    "hi": "नहीं न मत बिना",
    "id": "tidak bukan tanpa belum",
    "vi": "không chưa chẳng",
    "ko": "안 못 않았다 않다 않는다 없다 없었다 아니다 않은 않고",
}
_NOT_BY_LANGUAGE = {language: frozenset(words.split()) for language, words in _NOT_IN.items()}
"""Negations of languages of which only these words are known; where one stands, what it denies is compared as in English."""
_DENYING_SIGNS = frozenset("未没沒不无無非")
_DENYING_PAIRS = frozenset("ない なか せん ずに".split())
_NO_DENYING_PAIRS = frozenset(
    "非常 非洲 未来 未來 不仅 不僅 不断 不斷 不少 不过 不過 无数 無數 不同 不足 不锈 不鏽 无线 無線 不久 不论 不論 无论 無論"
    " 不得".split()
)
"""Scripts without spaces are read as pairs of neighbouring signs: those that deny, and words that only begin alike."""
_FAILING = frozenset({"fail", "fails", "failed", "refuse", "refuses", "refused", "unable", "decline", "declined"})
_NO_DENIAL = re.compile(
    r"\b(?:not only|not just|not merely|no less|no fewer|no more than|no later than|no longer than|no sooner|nothing but|"
    r"no doubt|without doubt|not to mention|nicht nur|nicht zuletzt|non seulement|no solo|no sólo|sin duda|sans doute|"
    r"ohne zweifel|failed state|whether or not)\b",
    re.IGNORECASE,
)
_NOT_YET = re.compile(
    r"\b(?:not yet|yet to|remains? to be|too early to|(?:is|are|was|were) needed before|before .{0,40}\bcan be|"
    r"noch nicht|bleibt abzuwarten|pas encore|reste à|aún no|todavía no|queda por)\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:will (?:decide|consider|discuss|vote|examine|review)|(?:has|have|had) not (?:yet )?(?:decided|been decided|approved)|"
    r"(?:is|are|was|were) (?:planned|proposed|considering|pending|under (?:review|discussion|consideration))|plans? to|"
    r"planned to|propos(?:es|ed|al)|pending|undecided|(?:wird|werden) .{0,40}(?:entscheiden|beraten|prüfen)|geplant|"
    r"vorgeschlagen|noch nicht entschieden|décidera|prévu|proposé|pas encore décidé|decidirá|previsto|propuesto|"
    r"aún no (?:ha|se ha) decidido)\b",
    re.IGNORECASE,
)
_NO_EFFECT = re.compile(
    r"\b(?:(?:did|does|do) not differ|no (?:\w+ )?(?:difference|effect|impact|influence)s?\b(?! between)|beyond (?:what )?chance|"
    r"kein\w* (?:\w+ )?(?:unterschied|wirkung|einfluss)\w*|aucun\w* (?:effet|différence)|ningún efecto|ninguna diferencia)",
    re.IGNORECASE,
)
_MODAL = frozenset(
    "may might could possibly perhaps probably likely unlikely suggest suggests suggested allegedly reportedly apparently "
    "presumably expect expects expected estimate estimates believed thought hypothesis hypothesised potentially seem seems "
    "appears uncertain unclear rumoured rumored supposedly tentative tentatively speculated speculation "
    "könnte könnten dürfte dürften vermutlich wahrscheinlich möglicherweise vielleicht offenbar angeblich voraussichtlich "
    "pourrait pourraient peut-être probablement sans-doute semble semblent apparemment serait seraient "
    "podría podrían quizás quizá probablemente posiblemente parece parecen aparentemente supuestamente".split()
)
_ALL = frozenset(
    "all every each always everyone everybody entire entirely whole completely fully universally any both "
    "alle jeder jede jedes immer sämtliche gesamte beide stets tous toutes chaque toujours entièrement "
    "todos todas cada siempre ambos ambas".split()
)
_SOME = frozenset(
    "some many most several few often sometimes usually partly mostly majority half certain mainly occasionally generally "
    "einige viele manche mehrere meist meistens oft manchmal teilweise überwiegend certains certaines plusieurs souvent "
    "parfois quelques algunos algunas varios varias muchos muchas frecuentemente veces".split()
)
_ONLY = frozenset(
    "only solely exclusively just nur ausschließlich lediglich seulement uniquement solo sólo solamente".split()
)
_SUPERLATIVE = re.compile(
    r"\b(?:most|least|first|only|best|worst|\w{3,}est|größte\w*|kleinste\w*|höchste\w*|meiste\w*|erste\w*|"
    r"le plus|la plus|les plus|el más|la más|los más|mejor|peor)\b",
    re.IGNORECASE,
)
_NOT_SUPERLATIVE = frozenset(
    "interest forest west east rest test guest request suggest harvest protest contest honest modest invest arrest chest "
    "nest quest latest midwest northwest southwest northeast southeast budapest manifest digest conquest breast".split()
)
_CLAUSE_END = frozenset(
    ", ; : . ! ? ( ) – — but although though while whereas because since and aber obwohl während weil sondern und "
    "mais bien-que tandis parce et pero aunque mientras porque sino y".split()
)
SCOPE = 5
"""Content words that one cue denies, at most, up to the end of its clause."""


@dataclass(frozen=True)
class Scope:
    """What the cues of one sentence reach."""

    denied: frozenset[int]
    """Positions of words that a negation reaches, its nearest two content words first and foremost."""
    nearest: frozenset[int]
    cues: tuple[int, ...]
    open: frozenset[int]
    """Positions of content words whose matter is left open: planned, proposed, to be decided."""
    not_yet: bool
    """Whether the sentence says that something is not settled."""
    no_effect: bool
    """Whether it says that one thing makes no difference to another."""
    hedges: tuple[int, ...]
    """Positions of the words by which it takes back some of its certainty."""

    def with_denied(self, place: int) -> "Scope":
        """Give the same with one more word that is denied."""
        return replace(self, denied=self.denied | {place}, nearest=self.nearest | {place})


def denies(text: str) -> bool:
    """Tell whether a piece of text holds a negation."""
    words = re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)*", _NO_DENIAL.sub(" ", text).casefold().replace("’", "'"))
    return any(word in _NOT or word.endswith("n't") or word.startswith("n'") for word in words)


def is_cue(word: str, language: str = "en") -> bool:
    """Tell whether a casefolded word denies what it is next to."""
    if word == "no" and language not in {"en", "es"}:
        return False
    if word in _NOT_BY_LANGUAGE.get(language, ()):
        return True
    if word in _DENYING_PAIRS or (len(word) == 2 and word[0] in _DENYING_SIGNS and word not in _NO_DENYING_PAIRS):
        return True
    return word in _NOT or word.endswith("n't") or (language == "fr" and word in {"n", "n'"})


def scope(words: Sequence[str], content: Sequence[bool], text: str, language: str = "en") -> Scope:
    """Find what the negations of a sentence reach.

    Args:
        words: casefolded words and punctuation marks, in order.
        content: for each, whether it carries meaning.
        text: the sentence as written, for cues of several words.
        language: whose cues count.
    """
    excused = {match.group().casefold().split()[0] for match in _NO_DENIAL.finditer(text)}
    excused |= {word for match in _OPEN.finditer(text) for word in match.group().casefold().split()}
    cues = tuple(
        at
        for at, word in enumerate(words)
        if (is_cue(word, language) or _fails(words, at)) and word not in excused and not _is_number_sign(words, at)
    )
    denied: set[int] = set()
    nearest: set[int] = set()
    for cue in cues:
        reached = _reach(words, content, range(cue + 1, len(words)))
        if not reached:  # "… gefällt ihm nicht", "it is not"
            reached += _reach(words, content, range(cue - 1, -1, -1))[:3]
        denied.update(reached)
        nearest.update(reached[:2])
    not_yet = bool(_NOT_YET.search(text))
    return Scope(
        frozenset(denied), frozenset(nearest), cues, _left_open(words, content, text), not_yet,
        bool(_NO_EFFECT.search(text)), _hedges(words, text),
    )  # fmt: skip


def _fails(words: Sequence[str], at: int) -> bool:
    """`Failed to reach` denies the reaching; `three sites failed` denies nothing."""
    return words[at] in _FAILING and words[at + 1 : at + 2] == ["to"]


def _is_number_sign(words: Sequence[str], at: int) -> bool:
    """`No. 1` denies nothing."""
    return words[at] == "no" and at + 2 < len(words) and words[at + 1] == "." and words[at + 2][:1].isdigit()


def _left_open(words: Sequence[str], content: Sequence[bool], text: str) -> frozenset[int]:
    """Content words behind a cue such as "will decide", up to the end of its clause."""
    found: set[int] = set()
    for match in _OPEN.finditer(text):
        cue = match.group().casefold().split()
        for at in range(len(words) - len(cue) + 1):
            if list(words[at : at + len(cue)]) == cue:
                found.update(_reach(words, content, range(at + len(cue), len(words))))
                if len(cue) == 1 or cue[-1] in {"pending", "planned", "proposed", "discussion", "review"}:
                    found.update(_reach(words, content, range(at - 1, -1, -1)))
    return frozenset(found)


def _hedges(words: Sequence[str], text: str) -> tuple[int, ...]:
    is_month = "May" in text and "may" not in text
    return tuple(at for at, word in enumerate(words) if word in _MODAL and not (word == "may" and is_month))


def _reach(words: Sequence[str], content: Sequence[bool], order: range) -> list[int]:
    found: list[int] = []
    for at in order:
        if words[at] in _CLAUSE_END:
            break
        if content[at]:
            found.append(at)
        if len(found) == SCOPE:
            break
    return found


def universals(words: Sequence[str]) -> tuple[str, ...]:
    """Give the words that say "all of them" or "always"."""
    return tuple(word for word in words if word in _ALL)


def partials(words: Sequence[str]) -> tuple[str, ...]:
    """Give the words that say "some of them" or "sometimes"."""
    return tuple(word for word in words if word in _SOME)


def restricts(words: Sequence[str]) -> bool:
    """Tell whether a sentence says "only"."""
    return any(word in _ONLY for word in words)


def superlatives(text: str) -> tuple[str, ...]:
    """Give the superlatives of a sentence, casefolded."""
    found = (match.group().casefold() for match in _SUPERLATIVE.finditer(text))
    return tuple(word for word in found if word not in _NOT_SUPERLATIVE)
