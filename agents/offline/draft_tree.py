"""The tree of a question, drafted from its parts. Scoping counts it, planning returns its levels: one code for both."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agents.contracts.source import CorpusSurvey
from agents.offline import cues
from agents.offline import texts as wording
from agents.offline.listing import asks_for_a_list
from agents.offline.openness import Openness, openness
from agents.offline.question_parts import Clause, Question, leans_on, tidy
from agents.offline.steps import linked, one_point
from agents.offline.terms import distinct, names, overlap, terms, years

TITLE_LENGTH = 60
FLAT = 5
"""Leaves that one executor takes without executors in between."""
ITEMS_PER_LEAF = 3
"""Things compared within one leaf; more of them are leaves of their own."""
FEWEST_FACETS = 14
"""Aspects that an open question has at least, whatever the documents name."""
MOST_FACETS = 16
_LOOKUP_WORDS = 12
_ENDS_BADLY = re.compile(
    r"\s(?:a|an|the|of|in|on|at|to|for|by|with|and|or|from|per|be|is|are|was|der|die|das|den|dem|des|von|im|in|und|"
    r"zu|für|de|du|la|le|les|et|el|los|y|en)$",
    re.IGNORECASE,
)
_CUT_BEFORE = re.compile(
    r"\s(?:in|at|on|between|from|during|for|with|since|after|before|by|per|within|under|across|and|im|in|bei|"
    r"zwischen|seit|für|dans|entre|"
    r"depuis|pour|en|desde|para)\s",
    re.IGNORECASE,
)
_SAYS = re.compile(
    r"\b(?:is|are|was|were|has|have|had|will|would|can|could|did|does|do|ist|sind|war|waren|hat|haben|wird|werden|"
    r"est|sont|était|étaient|a été|ont|es|son|fue|fueron|ha|han)\b",
    re.IGNORECASE,
)
"""A verb that a title may not lose with its end: a question cut before it asks nothing."""
_VERB_LAST = re.compile(
    r"\W*\w+(?: \w+){0,3}? (?:does|do|did|can|could|will|would|should|may|might|must)\b.*(?:[A-Z][\w'’-]*|\d+)\s+[a-z]+"
)
"""A question whose verb comes last, behind a name or a figure: `What does a seat in the House of Lords cost`."""


@dataclass(frozen=True)
class Sprig:
    """One branch of a drafted tree; a leaf when it has no children."""

    title: str
    objective: str
    questions: tuple[str, ...] = ()
    searches: tuple[str, ...] = ()
    children: tuple["Sprig", ...] = ()
    discovery: bool = False
    """True for a leaf that looks for sources far and wide, and hands them on to the leaves beside it."""

    @property
    def leaves(self) -> int:
        """Leaves of this branch."""
        return sum(child.leaves for child in self.children) or 1

    @property
    def levels(self) -> int:
        """Executors in a row of this branch; 0 for a leaf."""
        return 1 + max(child.levels for child in self.children) if self.children else 0


@dataclass(frozen=True)
class Draft:
    """The drafted tree of one question."""

    sprigs: tuple[Sprig, ...]
    open: Openness
    lookup: bool = False

    @property
    def leaves(self) -> int:
        """Leaves of the tree."""
        return sum(sprig.leaves for sprig in self.sprigs)

    @property
    def levels(self) -> int:
        """Executors in a row, the root included."""
        return 1 + max(sprig.levels for sprig in self.sprigs)


def draft(question: Question, survey: CorpusSurvey, language: str, room: int = FLAT) -> Draft:
    """Draft the tree of `question`: over its own parts, and over the themes of the documents where it is open.

    Args:
        question: what is asked.
        survey: what the documents talk about.
        language: of the titles.
        room: leaves that it may have; with one, nothing is added to what is asked.
    """
    found = openness(question, language)
    if found.any:
        return Draft(_fanned(question, survey, found, language), found)
    if is_lookup(question, language):
        return Draft(
            (_leaf(question, question.clauses[0].text, question.clauses[0].text, language, survey),), found, lookup=True
        )
    groups = [
        _of_clause(question, clause, language, survey)
        for clause in question.clauses
        if not _is_setting(question, clause)
    ]
    groups = [group for group in groups if group] or [
        (_leaf(question, question.text, question.text, language, survey),)
    ]
    leaves = _distinct([sprig for group in groups for sprig in group])
    if len(leaves) > FLAT and len(groups) > 1:
        sprigs = tuple(
            group[0]
            if len(group) == 1
            else Sprig(group_title(clause.text, language), tidy(clause.text), children=group)
            for clause, group in zip(question.clauses, groups, strict=False)
        )
        return Draft(_distinct(sprigs), found)
    single = len(leaves) == 1 and not leaves[0].children and len(question.clauses) == 1
    if room > 1 and single and not one_point(question.text):
        leaves = (*leaves, _limits(question, language))
    return Draft(leaves, found)


def _is_setting(question: Question, clause: Clause) -> bool:
    """Tell a clause that only sets the scene (`Take the case of …`, `I am advising …`) from one that asks."""
    if len(question.clauses) < 2 or clause.aspects or clause.items:
        return False
    return bool(
        re.match(
            r"^(?:take|consider|i am|i'm|we are|nehmen|ich bin|wir sind|je suis|prenons)\b", clause.text, re.IGNORECASE
        )
    )


def is_lookup(question: Question, language: str | None = None) -> bool:
    """Tell a question for a single fact: one clause, a word that asks for one, and a name or date that pins it down."""
    if len(question.clauses) != 1 or question.context or linked(question.text):
        return False
    clause = question.clauses[0]
    text = _ASKING.sub("", clause.text.lstrip("¿¡ "), count=1)
    spaceless = bool(cues.SPACELESS.search(text))
    if clause.items or clause.aspects or not (cues.LOOKUP_SPACELESS if spaceless else cues.LOOKUP).search(text):
        return False
    if (
        cues.REASON.search(text)
        or (cues.DEVELOPMENT.search(text) and not cues.TIME_ASKED.match(text))
        or cues.COMPARES.search(text)
    ):
        return False
    pinned = bool(years(text) or names(text, language) or re.search(r"\d", text))
    if spaceless:
        return (pinned and len(text) <= 40) or len(text) <= 16
    if cues.EXPECTS_ONE_POINT.search(text):
        short = len(distinct(text, language)) <= (4 if re.match(r"(?:what|who)\b", text, re.IGNORECASE) else 2)
        return (pinned and len(terms(text, language)) <= _LOOKUP_WORDS and not _plural_period(text)) or (
            short and not cues.QUANTITY.search(text)
        )
    return len(terms(text, language)) <= _LOOKUP_WORDS


_ASKING = re.compile(
    r"^(?:please )?(?:i (?:want|need|would like) to know|i'd like to know|tell me|find out|ich (?:möchte|will) "
    r"wissen|sag mir|je (?:veux|voudrais) savoir|"
    r"dis-moi|quiero saber|dime)[,:]?\s+",
    re.IGNORECASE,
)


def _plural_period(text: str) -> bool:
    return len(years(text)) > 1 or bool(
        re.search(r"\b(?:each|every|per) (?:year|month|day)\b|\b(?:years|decades)\b", text)
    )


def _of_clause(question: Question, clause: Clause, language: str, survey: CorpusSurvey) -> tuple[Sprig, ...]:
    """Branches of one clause: its aspects, its items, or itself."""
    if clause.aspects and clause.items and len(clause.items) > ITEMS_PER_LEAF:
        return tuple(
            Sprig(
                _cut(_capital(aspect)),
                _with(clause, clause.aspects, aspect),
                children=tuple(_item_leaf(question, clause, aspect, item, language) for item in clause.items),
            )
            for aspect in clause.aspects
        )
    if clause.aspects:
        return tuple(
            Sprig(
                _cut(_capital(aspect)),
                question.text
                if question.context or len(question.clauses) > 1
                else _with(clause, clause.aspects, aspect),
                (_with(clause, clause.aspects, aspect), *(_pair(aspect, item) for item in clause.items)),
                _searches(
                    _with(clause, clause.aspects, aspect),
                    f"{aspect} {' '.join(clause.items)} {_subject(question, language)}",
                    language,
                ),
            )
            for aspect in clause.aspects
        )
    if len(clause.items) > 1:
        return tuple(_item_leaf(question, clause, "", item, language) for item in clause.items)
    leaf = _leaf(question, clause.text, clause.text, language, survey)
    return (replace(leaf, discovery=asks_for_a_list(clause)),)


def _item_leaf(question: Question, clause: Clause, aspect: str, item: str, language: str) -> Sprig:
    asked = tidy(_with(clause, clause.items, item))
    if aspect:
        asked = f"{_pair(aspect, item)}?"
    label = _cut(_capital((aspect and f"{item}, {aspect}") or item))
    return Sprig(label, asked, (asked,), _searches(asked, f"{item} {aspect} {_subject(question, language)}", language))


def _pair(aspect: str, item: str) -> str:
    return f"{_capital(aspect)}: {item}"


def _with(clause: Clause, listed: Sequence[str], kept: str) -> str:
    """Write the clause with one entry in the place of the whole list."""
    text = clause.text
    first, last = text.find(listed[0]), text.rfind(listed[-1])
    if 0 <= first <= last:
        text = f"{text[:first]}{kept}{text[last + len(listed[-1]) :]}"
    else:
        text = f"{text.rstrip('?. ')}: {kept}"
    return tidy(text)


def _leaf(question: Question, title: str, asked: str, language: str, survey: CorpusSurvey) -> Sprig:
    asked = tidy(asked)
    leans = asked != question.text and len(question.clauses) > 1 and leans_on(question.clauses[0].text, asked)
    objective = question.text if leans or question.context else asked
    keywords = f"{asked} {_subject(question, language)}" if leans else asked
    return Sprig(
        label(title, language),
        objective,
        (asked,),
        _searches(objective if leans else asked, keywords, language, _related(asked, survey)),
    )


def _limits(question: Question, language: str) -> Sprig:
    asked = wording.say(language, "limits_question", question=question.text)
    return Sprig(
        wording.say(language, "limits_title"), asked, (asked,), _searches(question.text, question.text, language)
    )


def _related(asked: str, survey: CorpusSurvey) -> str:
    """Themes of the best documents that share a word with the question and add one."""
    own = frozenset(distinct(asked))
    for document in survey.documents[:4]:
        for theme in document.themes:
            parts = distinct(theme)
            plain = theme == theme.lower() and not cues.UNITS.search(theme)
            if plain and len(parts) > 1 and own & set(parts) and not set(parts) <= own:
                return theme
    return ""


def _searches(asked: str, keywords: str, language: str, related: str = "") -> tuple[str, ...]:
    words = [word.strip("?.,;:!¿¡()“”\"'") for word in f"{keywords} {related}".split()]
    kept = [word for word in dict.fromkeys(words) if word and terms(word, language)]
    short = " ".join(kept[:14])
    return tuple(dict.fromkeys(text for text in (asked, short) if text))


def _subject(question: Question, language: str) -> str:
    """What a clause that leans on the first is about: names and telling words of the first clause."""
    first = question.clauses[0].text
    named = names(first, language)
    words = [word.strip("?.,;:!¿¡()“”\"'") for word in first.split() if terms(word.strip("?.,;:!"), language)]
    return " ".join(dict.fromkeys([*(" ".join(named).split()), *words[:8]]))


def _fanned(question: Question, survey: CorpusSurvey, found: Openness, language: str) -> tuple[Sprig, ...]:
    """The tree that an open question would need: every aspect times every period times every place left open."""
    axes: list[tuple[str, ...]] = []
    listed = max((clause.items for clause in question.clauses), key=len, default=())
    if len(listed) > 1:
        axes.append(listed)
    if found.scope:
        axes.append(facets(question, survey, language))
    if found.period or (found.scope and not years(question.text)):
        axes.append(wording.PERIODS)
    if found.place:
        axes.append(wording.PLACES)
    return _product(axes, question.text)


def _product(axes: Sequence[tuple[str, ...]], objective: str) -> tuple[Sprig, ...]:
    head, rest = axes[0], axes[1:]
    below = _product(rest, objective) if rest else ()
    return tuple(Sprig(_cut(_capital(entry)), objective, (objective,), (objective,), below) for entry in head)


def facets(question: Question, survey: CorpusSurvey, language: str) -> tuple[str, ...]:
    """What an open question fans out over: themes of the documents that match, then the general sides of any topic."""
    named = themes(survey, question.text, MOST_FACETS)
    general = [facet for facet in wording.FACETS[wording.tongue(language)] if facet not in named]
    return tuple([*named, *general][: max(FEWEST_FACETS, len(named))])


def themes(survey: CorpusSurvey, text: str, most: int) -> tuple[str, ...]:
    """Choose themes of the matching documents that add to `text`, taking one document after the other."""
    own = distinct(text)
    found: list[str] = []
    seen: list[tuple[str, ...]] = []
    listed = [document.themes for document in survey.documents]
    for rank in range(max((len(entry) for entry in listed), default=0)):
        for entry in listed:
            if len(found) == most:
                return tuple(found)
            theme = entry[rank] if rank < len(entry) else ""
            parts = distinct(theme)
            if parts and not re.search(r"\d", theme) and not any(overlap(parts, other) for other in (own, *seen)):
                found.append(theme)
                seen.append(parts)
    return tuple(found)


def label(text: str, language: str) -> str:
    """Make a short title of a clause: the question itself where it fits, else its first part."""
    head, colon, _ = text.partition(": ")
    if colon and len(head.split()) >= 2 and len(head) <= TITLE_LENGTH:
        return _cut(_capital(head))
    asked = tidy(text)
    if _ASKING.match(asked):
        asked = _capital(_ASKING.sub("", asked, count=1)).rstrip(".")
    return _cut(asked)


def group_title(text: str, language: str) -> str:
    """Title of a branch that holds the leaves of one clause."""
    return _cut(tidy(text))


def _cut(text: str) -> str:
    if len(text) <= TITLE_LENGTH:
        return text
    mark = text[-1] if text[-1] in "?？؟" else ""
    body = text.rstrip("?.？؟ ")
    breaks = [match.start() for match in _CUT_BEFORE.finditer(body) if 24 <= match.start() <= TITLE_LENGTH - 1]
    breaks = [
        at
        for at in breaks
        if not re.search(r"\b(?:between|from|zwischen|von|entre|de)\s+[\w ]{1,16}$", body[:at], re.IGNORECASE)
    ]
    if breaks and not _SAYS.search(body[breaks[-1] :]) and not _VERB_LAST.fullmatch(body):
        return body[: breaks[-1]].rstrip(" ,;:") + mark
    if cues.SPACELESS.search(body):
        return body[: TITLE_LENGTH - 1] + "…"
    short = body[: TITLE_LENGTH - 1].rsplit(" ", 1)[0].rstrip(" ,;:")
    while _ENDS_BADLY.search(short):
        short = _ENDS_BADLY.sub("", short)
    return short + "…"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _distinct(sprigs: Sequence[Sprig]) -> tuple[Sprig, ...]:
    """Keep each title once: two branches of one name are one."""
    return tuple({sprig.title.casefold(): sprig for sprig in reversed(sprigs)}.values())[::-1]
