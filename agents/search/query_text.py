"""How a question is put to a search provider: its `site:` words become filters, a long one is shortened."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agents.contracts.source import SearchQuery
from agents.nlp import lang
from agents.nlp.tokens import TOKEN, language_of, stem, stop_words
from agents.search.scope_filter import bare_domain

MAX_QUERY = 400
"""Characters that search providers take; some refuse more, some cut the point off."""

_SITE = re.compile(r"(?<![\w-])(?P<minus>-?)site:\s*(?P<domain>[\w-]+(?:\.[\w-]+)+(?:/[^\s,;)]*)?)", re.IGNORECASE)
_LEFT_OVER = re.compile(r"\(\s*(?:(?:OR|AND|\|)\s*)*\)|(?:\b(?:OR|AND)\b|\|)\s*(?=$|\))|^\s*(?:OR|AND)\b")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n+")
_CLAUSE_END = re.compile(r"(?<=[,:])\s+|(?<=[，、：])|\s+[–—]\s+")
_ASKING_SIGNS = re.compile("\\?|？|吗|什么|多少|如何|哪|か。")


@dataclass(frozen=True)
class Asked:
    """A query as a provider can take it."""

    query: SearchQuery
    """Short enough, without `site:` words, their domains among those to include and exclude."""
    prefer: tuple[str, ...] = ()
    """Domains whose hits come first, where the user named them without wanting nothing else."""


def prepared(query: SearchQuery, limit: int = MAX_QUERY) -> Asked:
    """Put a query so that a provider can take it.

    `site:` in a query of a few words means that site only. In a page of prose it stands among other wishes ("first,
    but not only"): there the sites are preferred.
    """
    text, named, excluded = _without_sites(query.text)
    is_prose = len(text) > limit
    text = shortened(text, limit) or " ".join(dict.fromkeys(bare_domain(domain) for domain in named))
    include = query.include_domains if is_prose else _joined(query.include_domains, named)
    asked = query.model_copy(
        update={
            "text": text or query.text[:limit],
            "include_domains": include,
            "exclude_domains": _joined(query.exclude_domains, excluded),
        }
    )
    return Asked(asked, named if is_prose else ())


def shortened(text: str, limit: int = MAX_QUERY) -> str:
    """Shorten a text to its most telling sentences and clauses; the words of a single long clause are thinned out."""
    text = " ".join(text.split())
    if len(text) <= limit:
        return text
    sentences = [
        part
        for sentence in _parts(_SENTENCE_END, text)
        for part in ([sentence] if len(sentence) <= limit else _parts(_CLAUSE_END, sentence))
    ]
    spread = Counter(key for sentence in sentences for key in {key for key, _ in _telling(sentence)})
    chosen: dict[tuple[int, int], str] = {}
    left = limit
    for number in sorted(range(len(sentences)), key=lambda at: -_worth(sentences[at], spread)):
        whole = {(number, 0): sentences[number]}
        clauses = dict(enumerate(_parts(_CLAUSE_END, sentences[number])))
        split = {(number, at): clauses[at] for at in sorted(clauses, key=lambda at: -_worth(clauses[at], spread))}
        for place, part in (whole if len(sentences[number]) <= left else split).items():
            if len(part) <= left and any(True for _ in _telling(part)):
                chosen[place] = part
                left -= len(part) + 1
        if left < limit // 4:
            break
    if limit - left < limit // 4:  # no clause of any size fits
        return _thinned(text, limit)
    return " ".join(chosen[place] for place in sorted(chosen)).rstrip(" ,;:")


def keywords(text: str, most: int) -> list[str]:
    """Give the telling words of a text as they are written, at most so many, in order.

    For indexes that look for all words of a query: names and numbers go first, then what is long.
    """
    found = dict(_telling(text))
    ranked = sorted(
        found, key=lambda key: -(_weight(found[key], at_start=text.startswith(found[key])) + len(key) / 100)
    )
    return [found[key] for key in found if key in set(ranked[:most])]


def _without_sites(text: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    named: list[str] = []
    excluded: list[str] = []
    for match in _SITE.finditer(text):
        (excluded if match["minus"] else named).append(match["domain"].rstrip("./").lower())
    if not named and not excluded:
        return text, (), ()
    plain = _SITE.sub(" ", text)
    while (cleaner := _LEFT_OVER.sub(" ", plain)) != plain:
        plain = cleaner
    return " ".join(plain.split()), tuple(dict.fromkeys(named)), tuple(dict.fromkeys(excluded))


def _parts(border: re.Pattern[str], text: str) -> list[str]:
    return list(dict.fromkeys(part.strip() for part in border.split(text) if part and part.strip()))


def _joined(first: Sequence[str], second: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def _telling(text: str) -> Iterable[tuple[str, str]]:
    """Give stem and spelling of each word that carries meaning."""
    stop = stop_words(language_of(text))
    for match in TOKEN.finditer(text):
        word = match[0]
        if word.casefold() not in stop:
            yield stem(word.casefold()), word


def _weight(word: str, *, at_start: bool) -> float:
    """Names and numbers say what a question is about; a capital at the start of a sentence says nothing."""
    if len(word) > 2 and word[0].isalpha() and not word[0].isupper() and not word[0].islower():
        return len(word) / 2  # a run of a script without spaces holds several words
    return 2.0 if any(letter.isdigit() for letter in word) or (word[:1].isupper() and not at_start) else 1.0


def _worth(sentence: str, spread: Counter[str]) -> float:
    """Tell how much of the question is in a sentence: words that come back in others, names, numbers, asking."""
    words = dict(_telling(sentence))
    weight = sum(
        (1 + min(spread[key], 3)) * _weight(word, at_start=sentence.startswith(word)) for key, word in words.items()
    )
    if _ASKING_SIGNS.search(sentence) or lang.cue("asking").search(sentence):
        weight *= 3
    if lang.cue("asker").search(sentence):
        weight /= 3
    return weight / math.sqrt(max(len(sentence), 40))


def _thinned(text: str, limit: int) -> str:
    """Keep telling words in order, each once, as far as there is room."""
    kept: list[str] = []
    left = limit
    for word in dict(_telling(text)).values():
        if len(word) + 1 > left:
            word = word[: max(0, left - 1)] if not kept else ""
        if word:
            kept.append(word)
            left -= len(word) + 1
    return " ".join(kept)
