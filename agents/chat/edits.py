"""Edits of a draft by talking: strict patterns where the meaning is plain; everything else goes to the manager."""

import re

from agents.contracts.contract import Contract
from agents.contracts.frozen import Frozen, Mode
from agents.contracts.source import Place
from agents.core.errors import BadRequest
from agents.research.scoping.research_command import minutes_of
from agents.research.scoping.turn import Scope

LANGUAGES = {
    "english": "en", "german": "de", "deutsch": "de", "french": "fr", "français": "fr", "spanish": "es",
    "español": "es", "italian": "it", "portuguese": "pt", "dutch": "nl", "polish": "pl", "swedish": "sv",
    "danish": "da", "norwegian": "no", "finnish": "fi", "czech": "cs", "greek": "el", "turkish": "tr",
    "russian": "ru", "ukrainian": "uk", "arabic": "ar", "hebrew": "he", "hindi": "hi", "chinese": "zh",
    "japanese": "ja", "korean": "ko",
}  # fmt: skip
"""Names of languages as users write them, and their BCP 47 tags."""

_DOMAIN = r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}"
_POLITE = re.compile(r"^(?:please|ok|okay|and|then|also|now|make it|make that|set|use|take)\s+|\s+please$")
_DROP = re.compile(r"(?:drop|remove|delete|leave out|without) (?:the )?(?:query|question|no\.?|number) ?(\d{1,2})")
_MODE = re.compile(r"(?:--|mode |depth )?(deep|standard)(?: mode| depth)?")
_TIME = re.compile(
    r"(?:--)?(?:time|limit|budget)?[ =:]*(\d+(?:[.,]\d+)?|unlimited)"
    r"(?: ?(?:minutes?|mins?|m))?(?: time)?(?: limit| budget)?"
)
_HAS_TIME_WORD = re.compile(r"time|minute|\bmins?\b|unlimited|\d ?m\b|limit|budget")
_ONLY = re.compile(rf"only (?:the )?(?:domains?|sites?|from)?:? ?({_DOMAIN})")
_EXCLUDE = re.compile(rf"(?:exclude|without|not from|no|skip) (?:the )?(?:domains?|sites?)?:? ?({_DOMAIN})")
_LIFT = re.compile(rf"(?:allow|readmit|lift) (?:the )?(?:domains?|sites?)?:? ?({_DOMAIN})")
_ALL_DOMAINS = re.compile(r"(?:all|any) (?:domains?|sites?)|(?:no|without) domain limits?")
_ANY_DATE = re.compile(r"(?:any|all) (?:dates?|years?|time range)|(?:no|without) date limits?")
BARE_DOMAIN = re.compile(rf"({_DOMAIN})")
"""A domain and nothing else."""
_DROP_FILE = re.compile(r"(?:drop|remove|delete|forget|leave out|without) (?:the |my )?file (?:no\.? ?)?(\d{1,2})")
_PLACE = re.compile(
    r"(?:search )?(?:only (?:in |on )?(?:my |the )?(documents|library|web)|(?:my |the )?(documents|library|web) only)"
    r"|search (everywhere)"
)
_LANGUAGE = re.compile(r"(?:(?:report )?language:? |(?:write|answer|report)(?: it)? in |in )([a-zçñ]+)")
_BETWEEN = re.compile(r"(?:dates? )?(?:from )?(\d{4}) ?(?:-|–|to|until|till) ?(\d{4})")
_SINCE = re.compile(r"(?:since|from|after) (\d{4})(?: on)?")
_UNTIL = re.compile(r"(?:until|till|up to|before) (\d{4})")


def language_name(tag: str) -> str:
    """Name the language of a tag in English; the tag itself when it is not one of ours."""
    return next((name.capitalize() for name, known in LANGUAGES.items() if known == tag.partition("-")[0]), tag)


class Edit(Frozen):
    """What a message asks to change; empty fields change nothing."""

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

    def __or__(self, other: "Edit") -> "Edit":
        changed = {name: getattr(other, name) for name in other.model_fields_set}
        for name in ("drop", "drop_files", "domains", "exclude_domains", "lift"):
            if name in changed:
                changed[name] = (*getattr(self, name), *changed[name])
        return self.model_copy(update=changed)


def read_edit(message: str) -> Edit | None:
    """Read a message as edits; None unless every part of it is one."""
    if len(message) > 200 or "?" in message:
        return None
    text = " ".join(message.casefold().split()).strip(" .!")
    whole = _clause(text)
    if whole is not None:
        return whole
    edit = Edit()
    for part in re.split(r"\s*(?:[,;\n]|\band\b)\s*", text):
        if not part:
            continue
        clause = _clause(part) or _one_more_domain(part, edit)
        if clause is None:
            return None
        edit = edit | clause
    return edit if edit.model_fields_set else None


def _clause(text: str) -> Edit | None:
    while (bare := _POLITE.sub("", text)) != text:
        text = bare
    return _of_documents(text) or _of_terms(text)


def _of_documents(text: str) -> Edit | None:
    """Read what is searched: a file that is dropped, a place."""
    if found := _DROP_FILE.fullmatch(text):
        return Edit(drop_files=(int(found[1]),))
    if found := _PLACE.fullmatch(text):
        where = found[1] or found[2]
        return Edit(places=() if found[3] else ("web",) if where == "web" else ("library",))
    return None


def _of_terms(text: str) -> Edit | None:
    if found := _DROP.fullmatch(text):
        return Edit(drop=(int(found[1]),))
    if found := _MODE.fullmatch(text):
        return Edit(mode="deep" if found[1] == "deep" else "standard")
    if _HAS_TIME_WORD.search(text) and (found := _TIME.fullmatch(text)):
        return Edit(minutes=minutes_of(found[1]), time_given=True)
    if found := _ONLY.fullmatch(text):
        return Edit(domains=(found[1],))
    if found := _EXCLUDE.fullmatch(text):
        return Edit(exclude_domains=(found[1],))
    if found := _LIFT.fullmatch(text):
        return Edit(lift=(found[1],))
    if _ALL_DOMAINS.fullmatch(text):
        return Edit(all_domains=True)
    if _ANY_DATE.fullmatch(text):
        return Edit(any_date=True)
    if (found := _LANGUAGE.fullmatch(text)) and found[1] in LANGUAGES:
        return Edit(language=LANGUAGES[found[1]])
    if found := _BETWEEN.fullmatch(text):
        return Edit(date_from=f"{found[1]}-01-01", date_to=f"{found[2]}-12-31")
    if found := _SINCE.fullmatch(text):
        return Edit(date_from=f"{found[1]}-01-01")
    if found := _UNTIL.fullmatch(text):
        return Edit(date_to=f"{found[1]}-12-31")
    return None


def _one_more_domain(text: str, before: Edit) -> Edit | None:
    """Read the rest of `only domains a.org, b.org`."""
    found = BARE_DOMAIN.fullmatch(text)
    if found and before.exclude_domains:
        return Edit(exclude_domains=(found[1],))
    return Edit(domains=(found[1],)) if found and before.domains else None


def edited(scope: Scope, edit: Edit) -> Scope:
    """Apply an edit to what was agreed.

    Raises:
        BadRequest: a query that does not exist, or the only one, was to be dropped; or the dates are out of order.
    """
    for number in edit.drop:
        if not 1 <= number <= len(scope.queries):
            raise BadRequest(f"There is no query {number}; the draft has {len(scope.queries)}. Nothing was changed.")
    for number in edit.drop_files:
        if not 1 <= number <= len(scope.files):
            raise BadRequest(f"There is no file {number}; this chat has {len(scope.files)}. Nothing was changed.")
    queries = tuple(query for number, query in enumerate(scope.queries, start=1) if number not in edit.drop)
    if edit.drop and not queries:
        raise BadRequest("That is the only query of the draft. Ask something else instead, and I draft anew.")
    date_from, date_to = _dates(scope, edit)
    if date_from and date_to and date_from > date_to:
        raise BadRequest(f"{date_from[:4]} is after {date_to[:4]}. Nothing was changed.")
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


def _dates(scope: Scope, edit: Edit) -> tuple[str | None, str | None]:
    if edit.any_date:
        return edit.date_from, edit.date_to
    if edit.date_from and edit.date_to:
        return edit.date_from, edit.date_to
    return edit.date_from or scope.date_from, edit.date_to or scope.date_to


def _domains(before: tuple[str, ...], more: tuple[str, ...], gone: tuple[str, ...], edit: Edit) -> tuple[str, ...]:
    kept = () if edit.all_domains else tuple(name for name in before if name not in gone)
    return tuple(dict.fromkeys((*kept, *more)))


def picked(message: str, splits: tuple[str, ...]) -> str | None:
    """Read `2` or `1 and 3` as the narrower questions of those numbers; None when it is anything else."""
    text = message.strip().strip(".!")
    if not splits or not re.fullmatch(r"#?\d{1,2}(?:\s*(?:,|;|&|\+|and|und|et|y)\s*#?\d{1,2})*", text, re.IGNORECASE):
        return None
    numbers = list(dict.fromkeys(int(number) for number in re.findall(r"\d+", text)))
    if any(not 1 <= number <= len(splits) for number in numbers):
        return None
    return as_picked(tuple(splits[number - 1] for number in numbers))


def as_picked(texts: tuple[str, ...]) -> str:
    """Write chosen questions as the user would have typed them."""
    return texts[0] if len(texts) == 1 else "\n".join(f"{number}. {text}" for number, text in enumerate(texts, start=1))


def time_words(minutes: float | None) -> str:
    """Write a time budget."""
    return "no time limit" if minutes is None else f"{minutes:g} {'minute' if minutes == 1 else 'minutes'}"


def changes(before: Contract, after: Contract) -> tuple[str, ...]:
    """Say what differs between two drafts, in plain words; empty when nothing that binds does."""
    old, new = before.brief, after.brief
    said: list[str] = []
    old_texts, new_texts = [query.text for query in old.queries], [query.text for query in new.queries]
    said += [f"dropped “{text}”" for text in old_texts if text not in new_texts]
    said += [f"added “{text}”" for text in new_texts if text not in old_texts]
    if old.mode != new.mode:
        said.append(f"{new.mode} instead of {old.mode}, up to {after.caps.rounds} rounds")
    if old.minutes != new.minutes:
        said.append(f"{time_words(new.minutes)} instead of {time_words(old.minutes)}")
    if old.language != new.language:
        said.append(f"report in {language_name(new.language)} instead of {language_name(old.language)}")
    if old.domains != new.domains:
        said.append("only " + ", ".join(new.domains) if new.domains else "all domains")
    if old.exclude_domains != new.exclude_domains:
        said.append("without " + ", ".join(new.exclude_domains) if new.exclude_domains else "no domain left out")
    before_files, after_files = (
        {file.card.url: file.name for file in old.files},
        {f.card.url: f.name for f in new.files},
    )
    said += [f"searched too: “{name}”" for url, name in after_files.items() if url not in before_files]
    said += [f"without the file “{name}”" for url, name in before_files.items() if url not in after_files]
    if old.places != new.places:
        said.append(places_words(new.places))
    if (old.date_from, old.date_to) != (new.date_from, new.date_to):
        said.append(f"dates {dates_words(new.date_from, new.date_to) or 'open'}")
    if not said and before.hash != after.hash:
        said.append("the plan was drafted anew")
    return tuple(said)


def places_words(places: tuple[Place, ...]) -> str:
    """Say where to search."""
    if set(places) == {"web"}:
        return "only the web is searched"
    return "only your documents are searched" if places else "everything set up here is searched"


def dates_words(date_from: str | None, date_to: str | None) -> str:
    """Write a range of dates; empty when it is open on both sides."""
    if date_from and date_to:
        return f"{date_from} to {date_to}"
    if date_from:
        return f"since {date_from}"
    return f"until {date_to}" if date_to else ""
