"""Answers to short wishes out of what is known without asking anybody: the draft, the server's setup, the glossary."""

from agents.api.about import asked_of
from agents.chat.commands import Wish, WishName
from agents.chat.limits import dates_words
from agents.chat.runs import explained
from agents.chat.state import Ask, Button, Effect, Refuse, Say, Stage, not_started, splits_of
from agents.chat.texts import ChatTexts
from agents.contracts.contract import Contract, ForecastLine
from agents.contracts.frozen import Frozen
from agents.contracts.sources import OwnFile
from agents.core.model import shown_name
from agents.nlp.tokens import content_words
from agents.report.escaping import escape_text
from agents.research.planning.forecast import PastRun
from agents.research.scoping.turn import ScopingState
from agents.search.searcher import FILES_NAME, LIBRARY_NAME, SAMPLE_NAME
from agents.search.uploads import UploadResult
from agents.team import Team


class Likely(Frozen):
    """What a run will probably take: one figure, and what it may take at most."""

    likely: str
    """Empty where it is not known."""
    bound: str
    """Empty where nothing bounds it."""


def likely_time(contract: Contract, words: ChatTexts) -> Likely:
    """Say how long a run probably takes."""
    line = _line(contract, "min")
    cap = contract.caps.minutes
    if line is None or line.likely is None:
        return Likely(likely="", bound=words.minutes(cap) if cap else "")
    said = spoken_minutes(line.likely, words)
    return Likely(likely=said, bound=words.minutes(cap) if cap else "")


def spoken_minutes(minutes: float, words: ChatTexts) -> str:
    """Write a time as people say it: half minutes are below what anybody plans with."""
    return words.minutes(round(minutes)) if minutes >= 0.75 else words("under_a_minute")


def takes(usual: PastRun, words: ChatTexts) -> str:
    """Say what a question of the usual size takes: `about 1 minute · free`."""
    time = spoken_minutes(usual.seconds / 60, words) if usual.seconds else words("unknown")
    time = words("about", figure=time) if time[:1].isdecimal() else time
    return f"{time} · {spoken_cost(usual.cost_usd, words)}"


def spoken_cost(cost_usd: float | None, words: ChatTexts) -> str:
    """Write what something costs; unknown is not zero."""
    if cost_usd is None:
        return words("price_unknown")
    return words("free") if cost_usd == 0 else words("about", figure=f"${max(cost_usd, 0.01):.2f}")


def likely_cost(contract: Contract) -> Likely:
    """Say what a run probably costs; unknown is not zero."""
    line, cap = _line(contract, "USD"), contract.caps.cost_usd
    bound = f"${cap:.2f}" if cap is not None else ""
    if line is None or line.likely is None:
        return Likely(likely="", bound=bound)
    return Likely(likely=f"${max(line.likely, 0.01):.2f}" if line.likely else "free", bound=bound)


def _line(contract: Contract, unit: str) -> ForecastLine | None:
    return next((line for line in contract.forecast.lines if line.unit == unit), None)


# ---- with a draft on the table


_PLAIN: dict[WishName, str] = {
    "agree": "agree_draft", "thanks": "thanks_draft", "hello": "hello_draft", "begin": "only_the_phrase",
    "continue": "only_the_phrase", "resume": "only_the_phrase", "finish": "only_the_phrase", "wait": "wait_draft",
    "cancel": "cancel_draft", "stop": "cancel_draft", "pause": "cancel_draft", "refresh": "nothing_runs",
    "progress": "nothing_runs", "restart": "nothing_runs", "rework": "nothing_runs", "release": "nothing_runs",
    "next": "next_draft",
    "help": "help", "summarise": "nothing_to_summarise", "new_question": "command_help", "change": "what_to_change",
    "draft_again": "what_to_change",
}  # fmt: skip
_DOORS: tuple[WishName, ...] = ("door_file", "door_folder", "door_key")


def on_draft(wish: Wish, contract: Contract, team: Team, words: ChatTexts) -> Effect:
    """Answer a short wish from the card."""
    if (name := _PLAIN.get(wish.name)) is not None:
        return Refuse(words(name)) if wish.name in {"begin", "finish", "resume", "continue"} else Say(words(name))
    match wish.name:
        case "how_long" | "shorter":
            return Say(_how_long(contract, words, shorter=wish.name == "shorter"))
        case "cost":
            return Say(_cost(contract, team, words))
        case "sources":
            return Say(_sources(contract, words))
        case _:
            return _of_the_server(wish, team, words) or Say(words("what_to_change"))


def searched(contract: Contract, words: ChatTexts) -> tuple[str, ...]:
    """Name what is searched as people call it: the web, their library, their files, the samples."""
    own = {FILES_NAME: "place_files", LIBRARY_NAME: "place_library", SAMPLE_NAME: "place_sample"}
    return tuple(dict.fromkeys(words(own.get(name, "place_web")) for name in contract.retrievers))


def _how_long(contract: Contract, words: ChatTexts, *, shorter: bool) -> str:
    time = likely_time(contract, words)
    bound = time.bound or words.minutes(None)
    if shorter:
        return words("shorter_draft", bound=bound)
    likely = time.likely or bound
    return words("how_long_draft", likely=likely, bound=bound) if time.bound else words("how_long_open", likely=likely)


def _cost(contract: Contract, team: Team, words: ChatTexts) -> str:
    if not team.engine.reasons:
        return words("cost_free")
    cost = likely_cost(contract)
    bound = words("cost_bound", bound=cost.bound) if cost.bound else words("cost_no_bound")
    if not cost.likely:
        return words("cost_unknown", models=", ".join(map(shown_name, contract.models)), bound=bound)
    return words("cost_draft", likely=cost.likely, bound=bound)


def _sources(contract: Contract, words: ChatTexts) -> str:
    brief = contract.brief
    limits = [words("only", names=", ".join(brief.domains))] if brief.domains else []
    limits += [words("without", names=", ".join(brief.exclude_domains))] if brief.exclude_domains else []
    limits += [dates] if (dates := dates_words(brief.date_from, brief.date_to, words)) else []
    names = ", ".join(escape_text(file.name) for file in brief.files)
    files = words("sources_files", files=names) if names else ""
    plan = words("sources_plan", sources=contract.caps.sources, searches=contract.caps.searches)
    where = f" ({'; '.join(limits)})" if limits else ""
    return words("sources_draft", places=words.listed(searched(contract, words)), limits=where, files=files + plan)


def _leaves(team: Team, words: ChatTexts) -> str:
    """Say what leaves the computer, as the first page does."""
    hosts, receivers = tuple(getattr(team.searcher, "destinations", ())), asked_of(team)
    said = [words("leaves_search", hosts=words.listed(hosts))] if hosts else []
    said += [words("leaves_text", receivers=words.listed(receivers))] if receivers else []
    return " ".join([*said, words("leaves_else")]) if said else words("leaves_nothing")


def _of_the_server(wish: Wish, team: Team, words: ChatTexts) -> Effect | None:
    """Answer what does not depend on how the talk stands."""
    match wish.name:
        case "privacy":
            return Say(_leaves(team, words))
        case "model":
            name = "model_draft" if team.engine.reasons else "model_offline"
            return Say(words(name, models=", ".join(map(shown_name, team.engine.names)), leaves=_leaves(team, words)))
        case "term":
            return Say(explained(words, wish.topic))
        case "door_file" | "door_folder" | "door_key":
            return Say(words(f"{wish.name}_how"))
        case "help":
            return Say(words("help"))
        case _:
            return None


# ---- before there is one


_NOTHING_RUNS = frozenset(
    ("stop", "finish", "pause", "resume", "continue", "refresh", "progress", "restart", "rework", "release")
)


def while_scoping(wish: Wish, scope: ScopingState, team: Team, words: ChatTexts) -> Effect:
    """Answer a short wish while the question is not settled."""
    if (answer := _of_the_server(wish, team, words)) is not None:
        return answer
    match wish.name:
        case "begin":
            return Refuse(not_started(scope, words))
        case "next":
            return Say(words("next_scoping"))
        case "thanks":
            return Say(words("thanks"))
        case name if name in _NOTHING_RUNS or name == "cancel":
            return Say(words("nothing_runs_scoping"))
        case "summarise":
            return Say(words("nothing_to_summarise"))
        case _:
            return Say(words("pick_or_ask" if splits_of(scope) else "next_scoping"))


def before_a_question(wish: Wish, team: Team, words: ChatTexts) -> Effect | None:
    """Answer a short wish when nothing was asked yet; None for what is better taken as a question."""
    if (answer := _of_the_server(wish, team, words)) is not None:
        return answer
    match wish.name:
        case "hello":
            return Say(words("hello"))
        case "thanks":
            return Say(words("thanks"))
        case "summarise":
            return Say(words("nothing_to_summarise"))
        case "cancel" | "wait":
            return Say(words("cancel_empty"))
        case name if name in _NOTHING_RUNS:
            return Say(words("nothing_runs_empty"))
        case _:
            return Say(words("next_empty"))


FOREIGN = 0.25
"""Share of a question's telling words that the titles and themes of the samples hold, at most, if it is not about them."""


async def three_doors(question: str, scope: ScopingState, team: Team, words: ChatTexts) -> Effect | None:
    """Say that only the sample library is searched, where that is so and a question is about something else."""
    if not team.sample or scope.files:
        return None
    survey = await team.context(scope).survey("")
    asked = set(content_words(question))
    if survey.web or not survey.documents or not asked:
        return None
    about = {word for one in survey.documents for word in content_words(f"{one.title} {' '.join(one.themes)}")}
    place = set(content_words(survey.themes[0])[:1]) if survey.themes else set()
    if asked & place or len(asked & about) > FOREIGN * len(asked):
        return None
    buttons = tuple(Button(words(door), words(door)) for door in _DOORS)
    return Ask(words("sample_only", count=survey.total), buttons)


# ---- files


def note_of(file: OwnFile, words: ChatTexts) -> str:
    """Say how long a file is, and what of it could not be read."""
    pages = len(file.card.pages)
    return "; ".join([*([words.counted(pages, "page")] if pages else []), *map(words.said, file.gaps)])


def filed(taken: UploadResult, stage: Stage, words: ChatTexts, *, with_text: bool) -> str:
    """Name what was added, what was not and why, and what becomes of it, as Markdown."""
    lines = []
    if taken.files:
        notes = [(escape_text(file.name), escape_text(note_of(file, words))) for file in taken.files]
        names = ", ".join(f"**{name}**" + (f" ({note})" if note else "") for name, note in notes)
        them = words("it" if len(taken.files) == 1 else "them")
        what = "" if stage == "draft" else words("files_running" if stage == "running" else "files_next", them=them)
        what = "" if with_text and stage not in {"running", "draft"} else what
        lines.append(words("added_files", names=names, next=what).strip())
    refused = [escape_text(words.notice(one)) for one in taken.refused]
    lines += refused if len(refused) == 1 else ["\n".join(f"- {one}" for one in refused)] if refused else []
    return "\n\n".join(lines)
