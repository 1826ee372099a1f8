"""Narrower questions to choose from: the subject of an open question, joined with themes and dates of the documents."""

import re

from agents.contracts.source import CorpusSurvey
from agents.offline import cues
from agents.offline import texts as wording
from agents.offline.draft_tree import draft
from agents.offline.question_parts import Question, questions
from agents.offline.terms import distinct, names, overlap, terms

OFFERED = 4
"""Narrower questions offered at a time."""
_FEWEST_OFFERED = 2
_SUBJECT_WORDS = 9
_TO_SUBJECT = re.compile(
    r"^[\s:,–-]*(?:there is )?(?:to (?:know|say) )?(?:that matters )?"
    r"(?:(?:of|about|on|for|regarding|concerning|into|over|über|von|zu[mr]?|der|des|rund um|sur|de la|de l['’]|"
    r"des?|du|sobre|acerca de|del?|su|sul(?:la)?|van|om|för)\s+)?",
    re.IGNORECASE,
)
_SUBJECT_ENDS = re.compile(
    r"[,.:;?!。？！؟]|\s(?:from (?:its|the|their|every|all|an?)|in (?:all|every)|for all|worldwide|globally|around "
    r"the|weltweit|and (?:what|how|why|where|which)|"
    r"und (?:was|wie|warum)|et (?:que|comment)|y (?:qué|cómo)|here|please|bitte|so that|because)\b",
    re.IGNORECASE,
)
_SCAFFOLD = re.compile(
    r"^\W*(?:(?:can|could|would|will) you\s+)?(?:please\s+)?(?:how|what|why|which|who|wie|was|warum|comment|"
    r"pourquoi|cómo|qué)?\s*"
    r"(?:does|do|did|is|are|was|were|will|can|could|should|has|have|kann|können|wird|werden|hat|ist|sind)?\s*",
    re.IGNORECASE,
)


def subject(question: Question, survey: CorpusSurvey, language: str) -> str:
    """Find what an open question is about, as a phrase that fits after `with regard to`."""
    text = re.sub(r"\s+", " ", question.text)
    for found in _candidates(text):
        phrase = _phrase(found)
        if (
            phrase
            and terms(phrase, language)
            and len(phrase.split()) <= _SUBJECT_WORDS
            and not cues.INTERROGATIVE.search(phrase)
        ):
            return phrase
    own = frozenset(distinct(text, language))
    related = [theme for theme in survey.themes if own & set(distinct(theme))]
    others = (*(name for name in names(text, language)), *related, *survey.themes[:1])
    return next((phrase for phrase in map(_phrase, others) if phrase and not _is_open(phrase)), "")


def _is_open(phrase: str) -> bool:
    return any(pattern.search(phrase) for pattern in (cues.SCOPE_OPEN, cues.TIME_OPEN, cues.PLACE_OPEN))


def _candidates(text: str) -> list[str]:
    found: list[str] = []
    if (effect := cues.EFFECT.search(text)) and effect.start() > 0:
        found.append(_SCAFFOLD.sub("", text[: effect.start()], count=1))
    for pattern in (cues.ADVICE_OPEN, cues.SCOPE_OPEN, cues.TIME_OPEN, cues.TELL_ABOUT):
        for match in pattern.finditer(text):
            if pattern is cues.SCOPE_OPEN and not cues.ADVICE_OPEN.search(text[: match.start()]):
                before = _SCAFFOLD.sub("", cues.ASKS_FOR.sub("", text[: match.start()], count=1), count=1).strip(" :,")
                found.append(re.sub(r"\s+(?:from|in|with|aus|mit|de|en)\s*$", "", before))
            found.append(_TO_SUBJECT.sub("", text[match.end() :], count=1))
    if re.match(r"^[^:]{3,60}:\s", text):
        found.append(text.split(":", 1)[0])
    found.append(_SCAFFOLD.sub("", text, count=1))
    return found


def _phrase(text: str) -> str:
    text = re.sub(r"\s*\((?:only|nur|seulement|solo) [^)]*\)", "", text)
    for pattern in (cues.SCOPE_OPEN, cues.TIME_OPEN, cues.PLACE_OPEN):
        text = pattern.sub(" ", text)
    text = _TO_SUBJECT.sub("", text.strip(), count=1)
    if end := _SUBJECT_ENDS.search(text):
        text = text[: end.start()]
    text = re.sub(r"\s+", " ", text).strip(" ,;:.–-")
    text = re.sub(r"\s+(?:the way it is|and|or|of|und|et|y)$", "", text, flags=re.IGNORECASE)
    if cues.ASKS_FOR.match(text):
        return ""
    head, _, rest = text.partition(" ")
    return (
        f"{head.lower()} {rest}"
        if head in {"The", "Our", "Its", "Der", "Die", "Das", "Le", "La", "Les", "El", "Los", "Las"}
        else text
    )


def supported_themes(survey: CorpusSurvey, text: str) -> tuple[str, ...]:
    """Choose themes for narrower questions: phrases that several documents share, and that add to `text`."""
    own = distinct(text)
    told = [frozenset(distinct(" ".join((document.title, *document.themes)))) for document in survey.documents]
    ranked: list[tuple[float, int, str]] = []
    listed = [theme for document in survey.documents for theme in document.themes]
    for at, theme in enumerate(dict.fromkeys((*listed, *survey.themes))):
        parts = distinct(theme)
        spoken = (theme == theme.lower() or cues.SPACELESS.search(theme)) and not cues.UNITS.search(theme)
        if (
            (len(theme.split()) < 2 and not cues.SPACELESS.search(theme))
            or not spoken
            or not parts
            or overlap(parts, own)
        ):
            continue
        support = sum(1 for held in told if held & set(parts))
        if support >= 2:
            ranked.append((-support, at, theme))
    chosen: list[str] = []
    for _, _, theme in sorted(ranked):
        if all(overlap(distinct(theme), distinct(other)) == 0 for other in chosen):
            chosen.append(theme)
    return tuple(chosen[:OFFERED])


def suggestions(
    question: Question, survey: CorpusSurvey, language: str, max_leaves: int, max_depth: int
) -> tuple[str, ...]:
    """Write narrower questions, each of which scoping itself judges feasible."""
    about = subject(question, survey, language)
    items = [item for clause in question.clauses for item in clause.items]
    if any(overlap(distinct(item), distinct(about)) for item in items):
        about = next((theme for theme in survey.themes if _native(survey, language)), "")
    named = [item for item in dict.fromkeys(items) if _usable(item, about)]
    if _native(survey, language):
        named += supported_themes(survey, f"{question.text} {about}")
    first, last = (survey.date_from or "")[:4], (survey.date_to or "")[:4]
    dated = bool(first) and first < last
    forms = ("suggest_why", "suggest_period" if dated else "suggest_known", "suggest_known", "suggest_measure")
    wanted = [*zip(named[:OFFERED], forms, strict=False), *wording.ASKABLE[wording.tongue(language)]]
    offered: list[str] = []
    for theme, form in wanted:
        if len(offered) == OFFERED:
            break
        form = form if dated or form != "suggest_period" else "suggest_known"
        for name in dict.fromkeys((form, "suggest_known", "suggest_why", "suggest_one")):
            text = asked_of(language, name, theme, about, first, last)
            if text not in offered and _feasible(text, survey, language, max_leaves, max_depth):
                offered.append(text)
                break
    # Words that cannot be taken apart still get a way on: the smallest questions that can be put.
    for theme, _ in wording.ASKABLE[wording.tongue(language)]:
        if len(offered) < _FEWEST_OFFERED:
            offered.append(asked_of(language, "suggest_one", theme, ""))
    return tuple(dict.fromkeys(offered))


def asked_of(language: str, name: str, theme: str, about: str, first: str = "", last: str = "") -> str:
    """Ask the question `name` of a theme, in connection with the subject where there is one."""
    theme = theme[:1].upper() + theme[1:]
    about = about or wording.ANYTHING[wording.tongue(language)] if name == "suggest_one" else about
    name = name if about else "merge_subject"
    return wording.say(language, name, theme=theme, subject=about, first=first, last=last)


def _native(survey: CorpusSurvey, language: str) -> bool:
    """Tell whether the themes of the documents are words of the user's language."""
    spoken = [document.language for document in survey.documents if document.language] or list(survey.languages)
    return not spoken or spoken.count(wording.tongue(language)) * 2 >= len(spoken)


def themes_to_tell(survey: CorpusSurvey, text: str, language: str) -> tuple[str, ...]:
    """Choose themes that are worth naming to the user, in the user's own language only."""
    return supported_themes(survey, text) if _native(survey, language) else ()


def _usable(item: str, about: str) -> bool:
    if (
        cues.SCOPE_OPEN.search(item)
        or cues.TIME_OPEN.search(item)
        or cues.PLACE_OPEN.search(item)
        or cues.INTERROGATIVE.search(item)
    ):
        return False
    return (
        len(item.split()) <= 4
        and not overlap(distinct(item), distinct(about))
        and not re.match(r"^(?:in|for|from|past|present)\b", item, re.IGNORECASE)
    )


def _feasible(text: str, survey: CorpusSurvey, language: str, max_leaves: int, max_depth: int) -> bool:
    asked = questions(text, language)
    drafts = [draft(question, survey, language, max_leaves) for question in asked]
    return len(drafts) == 1 and drafts[0].leaves <= max_leaves and drafts[0].levels <= max_depth
