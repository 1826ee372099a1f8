"""The limits of a draft: how a change of them is read from what is typed, applied, and put into words."""

import re

from agents.chat.texts import ChatTexts, bare, polite
from agents.contracts.contract import Contract
from agents.contracts.frozen import Frozen, Mode
from agents.contracts.sources import Place
from agents.core.errors import BadRequest
from agents.research.scoping.authorization import minutes_of
from agents.research.scoping.turn import ScopingState

LANGUAGES = {
    "english": "en", "german": "de", "deutsch": "de", "french": "fr", "français": "fr", "spanish": "es",
    "español": "es", "italian": "it", "portuguese": "pt", "dutch": "nl", "polish": "pl", "swedish": "sv",
    "danish": "da", "norwegian": "no", "finnish": "fi", "czech": "cs", "greek": "el", "turkish": "tr",
    "russian": "ru", "ukrainian": "uk", "arabic": "ar", "hebrew": "he", "hindi": "hi", "chinese": "zh",
    "japanese": "ja", "korean": "ko", "englisch": "en", "anglais": "en", "inglés": "en", "französisch": "fr",
    "spanisch": "es", "italienisch": "it", "italiano": "it", "allemand": "de", "alemán": "de",
}  # fmt: skip
"""Names of languages as users write them, and their BCP 47 tags."""


class Edit(Frozen):
    """What to change in the limits of a draft; empty fields change nothing."""

    drop: tuple[int, ...] = ()
    """Numbers of queries, counted from 1."""
    mode: Mode | None = None
    minutes: float | None = None
    time_given: bool = False
    domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()
    language: str | None = None
    date_from: str | None = None
    date_to: str | None = None
    lift: tuple[str, ...] = ()
    """Domains that are neither required nor left out any more."""
    drop_files: tuple[int, ...] = ()
    """Numbers of the user's own files, counted from 1."""
    places: tuple[Place, ...] | None = None
    """Where to search; empty for everywhere."""
    all_domains: bool = False
    any_date: bool = False
    memory: bool | None = None
    """Whether what earlier research found is used."""

    def __or__(self, other: "Edit") -> "Edit":
        changed = {name: getattr(other, name) for name in other.model_fields_set}
        for name in ("drop", "drop_files", "domains", "exclude_domains", "lift"):
            if name in changed:
                changed[name] = (*getattr(self, name), *changed[name])
        return self.model_copy(update=changed)


# ---- reading


_DOMAIN = r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}"
BARE_DOMAIN = re.compile(rf"(?:https?://)?(?:www\.)?({_DOMAIN})")
"""A domain and nothing else."""
_DROP = re.compile(
    r"(?:drop|remove|delete|leave out|without|skip|streiche?|entferne) (?:the |die )?"
    r"(?:query|question|frage|no\.?|number) ?(\d{1,2})"
)
_MODE = re.compile(
    r"(?:--|mode |depth |a bit |much |go |more |really |as )?(deep(?:er|ly)?|depth|standard|tief(?:er)?|gründlich(?:er)?|"
    r"thorough(?:ly)?)(?: mode| depth| research| as possible)?"
)
_TIME_FILL = re.compile(
    r"^(?:only|just|use|take|at most|max(?:imum)?|up to|spend|allow|no more than|limit(?: it)?(?: to)?|"
    r"i (?:only )?have(?: only)?|let it run(?: for)?|run(?: it)?(?: for)?|in|within|stop after|nur|höchstens|maximal|"
    r"seulement|solo|sólo)\s+|"
    r"\s+(?:max(?:imum)?|at most|only|tops|in all|in total|is all i have|höchstens|maximal)$"
)
_TIME = re.compile(
    r"(?:--)?(?:time|limit|budget|zeit)?[ =:]*(\d+(?:[.,]\d+)?|unlimited|an|one|half an)"
    r"(?: ?(minutes?|mins?|m|minuten?|minutos?|hours?|h|stunden?|heures?|horas?))?(?: time)?(?: limit| budget)?"
)
_HAS_TIME_WORD = re.compile(r"time|minut|\bmins?\b|unlimited|\d ?m\b|limit|budget|hour|\d ?h\b|stunde|heure|hora|zeit")
_ONLY = re.compile(rf"(?:only|just|nur)(?: use| search| read)? (?:the )?(?:domains?|sites?|from|in|on)?:? ?({_DOMAIN})")
_EXCLUDE = re.compile(
    r"(?:exclude|without|not from|no|not|skip|never(?: use)?|don't use|do not use|avoid|ignore|drop|leave out|block|ohne)"
    rf" (?:the )?(?:domains?|sites?|anything from)?:? ?({_DOMAIN})"
)
_LIFT = re.compile(rf"(?:allow|readmit|lift) (?:the )?(?:domains?|sites?)?:? ?({_DOMAIN})")
_ALL_DOMAINS = re.compile(r"(?:all|any) (?:domains?|sites?)|(?:no|without) domain limits?")
_ANY_DATE = re.compile(r"(?:any|all) (?:dates?|years?|time range)|(?:no|without) date limits?")
_DROP_FILE = re.compile(r"(?:drop|remove|delete|forget|leave out|without) (?:the |my )?file (?:no\.? ?)?(\d{1,2})")
_PLACE = re.compile(
    r"(?:search |use )?(?:only (?:in |on )?(?:my |the )?(documents|files|library|web|internet)|"
    r"(?:my |the )?(documents|files|library|web|internet) only)|(?:just |only )?search the (web|internet)|"
    r"search (everywhere)"
)
_MEMORY = re.compile(
    r"(?P<no>(?:without|no|don't use|do not use|ohne|kein)\s+)?(?:(?:the |my |with (?:the )?|use (?:the |my )?|mit )?"
    r"(?:memory|earlier research|what (?:i|we) know(?: already)?|früherer? recherchen?|gedächtnis))(?P<off> off)?(?: on)?"
)
_LANGUAGE = re.compile(
    r"(?:(?:the )?(?:report )?language:? |(?:(?:the )?report |write |answer |reply |respond |written |antworten |schreiben )?"
    r"(?:it |the report |me )?(?:in|auf|en) )?([a-zçñéäöü]+)(?: language)?"
)
_BETWEEN = re.compile(
    r"(?:only |just |nur )?(?:dates? |the years? )?(?:from |between |von |zwischen |de |entre )?(\d{4}) ?"
    r"(?:-|–|to|until|till|and|bis|und|à|et|a|y) ?(\d{4})"
)
_SINCE = re.compile(
    r"(?:only |just |nur )?(?:since|from|after|starting|seit|ab|depuis|desde) (\d{4})(?: on(?:wards?)?)?"
)
_UNTIL = re.compile(r"(?:only |just |nur )?(?:until|till|up to|before|bis|vor|jusqu'en|hasta) (\d{4})")
_ONE_YEAR = re.compile(r"(?:only|just|nur) (?:in |from |for )?(\d{4})")


def read_edit(message: str) -> Edit | None:
    """Read a message as edits of the limits; None unless every part of it is one.

    Raises:
        BadRequest: a time that can't be.
    """
    if len(message) > 200:
        return None
    line = " ".join(message.lower().replace("’", "'").split()).strip(" .!")
    if line.endswith("?") and not polite().match(line):
        return None
    text = line.rstrip("? ")
    whole = _clause(text)
    if whole is not None:
        return whole
    edit = Edit()
    for part in re.split(r"\s*(?:[,;\n]|\band\b|\bund\b)\s*", text):
        if not part:
            continue
        clause = _clause(part) or _one_more_domain(part, edit)
        if clause is None:
            return None
        edit = edit | clause
    return edit if edit.model_fields_set else None


def _clause(text: str) -> Edit | None:
    for tried in dict.fromkeys((text, bare(text))):
        if (edit := _of_documents(tried) or _of_terms(tried)) is not None:
            return edit
    return None


def _of_documents(text: str) -> Edit | None:
    """Read what is searched: a file that is dropped, a place."""
    if found := _DROP_FILE.fullmatch(text):
        return Edit(drop_files=(int(found[1]),))
    if found := _PLACE.fullmatch(text):
        where = found[1] or found[2] or found[3]
        return Edit(places=() if found[4] else ("web",) if where in {"web", "internet"} else ("library",))
    return None


def _minutes(text: str) -> Edit | None:
    while (bare := _TIME_FILL.sub("", text)) != text:
        text = bare
    if not _HAS_TIME_WORD.search(text) or not (found := _TIME.fullmatch(text)):
        return None
    number = {"an": "1", "one": "1", "half an": "0.5"}.get(found[1], found[1])
    minutes = minutes_of(number)
    if found[2] and found[2][0] in "hs" and minutes is not None:
        minutes = minutes_of(f"{minutes * 60:g}")
    return Edit(minutes=minutes, time_given=True)


def _of_terms(text: str) -> Edit | None:
    if found := _DROP.fullmatch(text):
        return Edit(drop=(int(found[1]),))
    if found := _MODE.fullmatch(text):
        return Edit(mode="standard" if found[1] == "standard" else "deep")
    if (time := _minutes(text)) is not None:
        return time
    for pattern, field in ((_ONLY, "domains"), (_EXCLUDE, "exclude_domains"), (_LIFT, "lift")):
        if found := pattern.fullmatch(text):
            return Edit.model_validate({field: (found[1],)})
    if found := _MEMORY.fullmatch(text):
        return Edit(memory=not (found["no"] or found["off"]))
    if _ALL_DOMAINS.fullmatch(text):
        return Edit(all_domains=True)
    if _ANY_DATE.fullmatch(text):
        return Edit(any_date=True)
    if (found := _LANGUAGE.fullmatch(text)) and found[1] in LANGUAGES:
        return Edit(language=LANGUAGES[found[1]])
    return _of_dates(text)


def _of_dates(text: str) -> Edit | None:
    if found := _BETWEEN.fullmatch(text):
        return Edit(date_from=f"{found[1]}-01-01", date_to=f"{found[2]}-12-31")
    if found := _SINCE.fullmatch(text):
        return Edit(date_from=f"{found[1]}-01-01")
    if found := _UNTIL.fullmatch(text):
        return Edit(date_to=f"{found[1]}-12-31")
    if found := _ONE_YEAR.fullmatch(text):
        return Edit(date_from=f"{found[1]}-01-01", date_to=f"{found[1]}-12-31")
    return None


def _one_more_domain(text: str, before: Edit) -> Edit | None:
    """Read the rest of `only domains a.org, b.org`."""
    found = BARE_DOMAIN.fullmatch(text)
    if found and before.exclude_domains:
        return Edit(exclude_domains=(found[1],))
    return Edit(domains=(found[1],)) if found and before.domains else None


# ---- applying and saying


def edited(scope: ScopingState, edit: Edit) -> ScopingState:
    """Apply an edit to what was agreed.

    Raises:
        BadRequest: a query that does not exist, or the only one, was to be dropped; or the dates are out of order.
    """
    for number in edit.drop:
        if not 1 <= number <= len(scope.queries):
            raise BadRequest(
                "There is no question {number}; the draft has {count}. Nothing was changed.",
                number=number,
                count=len(scope.queries),
            )
    for number in edit.drop_files:
        if not 1 <= number <= len(scope.files):
            raise BadRequest(
                "There is no file {number}; this chat has {count}. Nothing was changed.",
                number=number,
                count=len(scope.files),
            )
    queries = tuple(query for number, query in enumerate(scope.queries, start=1) if number not in edit.drop)
    if edit.drop and not queries:
        raise BadRequest("That is the only question of the draft. Ask something else instead, and I draft anew.")
    date_from, date_to = _dates(scope, edit)
    if date_from and date_to and date_from > date_to:
        raise BadRequest("{first} is after {last}. Nothing was changed.", first=date_from[:4], last=date_to[:4])
    return scope.model_copy(
        update={
            "queries": queries,
            "mode": edit.mode or scope.mode,
            "minutes": edit.minutes if edit.time_given else scope.minutes,
            # A domain is asked for or left out, never both: what was said last holds.
            "domains": _domains(scope.domains, edit.domains, (*edit.exclude_domains, *edit.lift), edit),
            "exclude_domains": _domains(scope.exclude_domains, edit.exclude_domains, (*edit.domains, *edit.lift), edit),
            "language": edit.language or scope.language,
            "date_from": date_from,
            "date_to": date_to,
            "files": tuple(file for number, file in enumerate(scope.files, start=1) if number not in edit.drop_files),
            "places": scope.places if edit.places is None else edit.places,
            "memory": None if edit.memory is False else scope.memory,
            "preset": tuple(name for name in scope.preset if name not in _said(edit)),
        }
    )


def _said(edit: Edit) -> set[str]:
    """What of the user's settings an edit speaks about: from then on it is the talk's."""
    speaks = {
        "time": edit.time_given,
        "depth": edit.mode is not None,
        "language": edit.language is not None,
        "exclude": bool(edit.exclude_domains or edit.lift or edit.domains or edit.all_domains),
        "places": edit.places is not None,
    }
    return {name for name, is_said in speaks.items() if is_said}


def _dates(scope: ScopingState, edit: Edit) -> tuple[str | None, str | None]:
    if edit.any_date:
        return edit.date_from, edit.date_to
    if edit.date_from and edit.date_to:
        return edit.date_from, edit.date_to
    return edit.date_from or scope.date_from, edit.date_to or scope.date_to


def _domains(before: tuple[str, ...], more: tuple[str, ...], gone: tuple[str, ...], edit: Edit) -> tuple[str, ...]:
    kept = () if edit.all_domains else tuple(name for name in before if name not in gone)
    return tuple(dict.fromkeys((*kept, *more)))


def changes(before: Contract, after: Contract, words: ChatTexts) -> tuple[str, ...]:
    """Say what differs between two drafts, in plain words; empty when nothing that binds does."""
    old, new = before.brief, after.brief
    said: list[str] = []
    old_texts, new_texts = [query.text for query in old.queries], [query.text for query in new.queries]
    said += [words("dropped", title=text) for text in old_texts if text not in new_texts]
    said += [words("added", title=text) for text in new_texts if text not in old_texts]
    if old.mode != new.mode:
        said.append(words("other_depth", new=words(new.mode), old=words(old.mode), rounds=after.caps.rounds))
    if old.minutes != new.minutes:
        said.append(words("instead", new=words.minutes(new.minutes), old=words.minutes(old.minutes)))
    if old.language != new.language:
        named = {"new": words.language_name(new.language), "old": words.language_name(old.language)}
        said.append(words("other_language", **named))
    if old.domains != new.domains:
        said.append(words("only", names=", ".join(new.domains)) if new.domains else words("all_domains"))
    if old.exclude_domains != new.exclude_domains:
        left_out = ", ".join(new.exclude_domains)
        said.append(words("without", names=left_out) if left_out else words("none_left_out"))
    before_files, after_files = ({file.card.url: file.name for file in brief.files} for brief in (old, new))
    said += [words("searched_too", name=name) for url, name in after_files.items() if url not in before_files]
    said += [words("without_file", name=name) for url, name in before_files.items() if url not in after_files]
    if old.places != new.places:
        said.append(words("search_web" if set(new.places) == {"web"} else "search_own" if new.places else "search_all"))
    if (old.memory is None) != (new.memory is None):
        said.append(words("memory_on" if new.memory else "memory_off"))
    if (old.date_from, old.date_to) != (new.date_from, new.date_to):
        said.append(words("dates", dates=dates_words(new.date_from, new.date_to, words) or words("open")))
    if not said and before.hash != after.hash:
        said.append(words("drafted_anew"))
    return tuple(said)


def dates_words(date_from: str | None, date_to: str | None, words: ChatTexts) -> str:
    """Write a range of dates; empty when it is open on both sides."""
    if date_from and date_to:
        return words("from_to", first=date_from, last=date_to)
    if date_from:
        return words("since", date=date_from)
    return words("until", date=date_to) if date_to else ""


def language_name(tag: str) -> str:
    """Name the language of a tag in English; the tag itself when it is not one of ours."""
    return next((name.capitalize() for name, known in LANGUAGES.items() if known == tag.partition("-")[0]), tag)
