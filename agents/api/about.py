"""What this server is set up with, and what leaves this computer: said at start, on the first page, and by a route."""

from agents.contracts.frozen import Frozen
from agents.core.settings import OFFLINE
from agents.search.searcher import Probed
from agents.team import Team

OFFLINE_LINE = (
    "No language model is set up. The offline engine quotes sources and cites them. It does not reason or paraphrase."
)
SAMPLE_DOCUMENTS = (
    "Documents: the sample library, invented documents that ship with Dossier. Set DOSSIER_LIBRARY to search your own."
)
NOTHING_LEAVES = "Nothing leaves this computer."
PROVIDERS = {
    "openai": "OpenAI",
    "anthropic": "Anthropic",
    "gemini": "Google",
    "mistral": "Mistral",
    "deepseek": "DeepSeek",
    "openrouter": "OpenRouter",
}


class Cell(Frozen):
    """One fact about this server, as the first page shows it."""

    name: str
    value: str
    note: str
    count: int = 0
    """Documents of the user's library; 0 where they are none, or not counted."""


class About(Frozen):
    """Engine, documents, and where words go."""

    engine: str
    documents: str
    leaves: str
    lines: tuple[str, ...]
    """The same as sentences for the reader, most telling first."""
    cells: tuple[Cell, ...] = ()
    """The same in few words: writes with, searches in, leaves this computer."""
    sample: bool
    offline: bool


def about(team: Team, tried: Probed | None = None, own: int = 0) -> About:
    """Describe how a team is set up.

    Args:
        team: whose settings are described.
        tried: what trying web search came to; None when it was not tried, or none would be asked.
        own: documents in the user's library, once they were counted.
    """
    offline = not team.engine.reasons
    engine = OFFLINE_LINE if offline else f"Model: {team.engine.name}."
    hosts: tuple[str, ...] = tuple(getattr(team.searcher, "destinations", ()))
    cut_off = bool(hosts) and tried is not None and not tried.reachable
    searched = () if cut_off else hosts
    documents = _documents(team, hosts, cut_off=cut_off)
    leaves = _leaves(team, searched, offline=offline)
    return About(
        engine=team.engine.name,
        documents=documents,
        leaves=leaves,
        lines=(engine, documents, leaves),
        cells=_cells(team, searched, own, cut_off=cut_off, offline=offline),
        sample=team.sample,
        offline=offline,
    )


def _documents(team: Team, hosts: tuple[str, ...], *, cut_off: bool) -> str:
    if team.sample:
        own = SAMPLE_DOCUMENTS
    else:
        own = f"Documents: your library ({', '.join(str(folder) for folder in team.settings.library)})."
    if not hosts:
        return own
    if cut_off:
        return f"Web search can't be reached from here, so it is left out. {own}"
    beside = "" if team.sample else f" {own}"
    return f"Searched: the web.{beside}"


def _leaves(team: Team, hosts: tuple[str, ...], *, offline: bool) -> str:
    """Say who is sent questions and passages, and where search words go."""
    receivers = asked_of(team)
    said = []
    if hosts:
        said.append(f"Search words go to {_and(hosts)}, and pages that are found are fetched from their sites.")
    if receivers:
        said.append(f"Your questions and passages of the documents go to {_and(receivers)}.")
    if others := tuple(one for one in asked_of(team, team.engine.stand_ins) if one not in receivers):
        said.append(f"Where that fails, they go to {_and(others)}.")
    return " ".join([*said, "Nothing else leaves this computer."]) if said else NOTHING_LEAVES


def _cells(team: Team, hosts: tuple[str, ...], count: int, *, cut_off: bool, offline: bool) -> tuple[Cell, ...]:
    receivers = asked_of(team)
    writes = Cell(
        name="Writes with",
        value="Offline engine" if offline else ", ".join(name.partition("/")[2] or name for name in team.engine.names),
        note="Free, on this computer" if offline else f"Asked at {_and(receivers)}" if receivers else "",
    )
    own = "Sample documents" if team.sample else "Your library"
    if hosts:
        searches = Cell(name="Searches in", value="The web", note="" if team.sample else "and your library")
    else:
        note = "Web search is out of reach" if cut_off else "Invented: nothing in them is real" if team.sample else ""
        searches = Cell(name="Searches in", value=own, note=note, count=0 if team.sample else count)
    going = [*(["Search words"] if hosts else []), *(["questions and passages"] if receivers else [])]
    leaving = Cell(
        name="Leaves this computer",
        value=", ".join(going).capitalize() if going else "Nothing",
        note=f"to {_and((*hosts, *receivers))}" if going else "Questions and files stay here",
    )
    return (writes, searches, leaving)


def asked_of(team: Team, models: tuple[str, ...] | None = None) -> tuple[str, ...]:
    """Name the model providers that are asked: those of all roles where no models are given."""
    base = team.settings.api_base
    names: list[str] = []
    for model in team.engine.names if models is None else models:
        provider = model.partition("/")[0]
        if model == OFFLINE:
            continue
        names.append(base if base and provider == "openai" else PROVIDERS.get(provider, provider))
    return tuple(dict.fromkeys(names)) if team.engine.reasons else ()


def _and(names: tuple[str, ...]) -> str:
    return " and ".join(names) if len(names) < 3 else f"{', '.join(names[:-1])} and {names[-1]}"
