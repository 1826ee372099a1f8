"""What this server is set up with, and what leaves this computer: said at start, on the first page, and by a route."""

from agents.contracts.base import Frozen
from agents.settings import OFFLINE
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


class About(Frozen):
    """Engine, documents, and where words go."""

    engine: str
    documents: str
    leaves: str
    lines: tuple[str, ...]
    """The same as sentences for the reader, most telling first."""
    sample: bool
    offline: bool


def about(team: Team) -> About:
    """Describe how a team is set up."""
    offline = not team.engine.reasons
    engine = OFFLINE_LINE if offline else f"Model: {team.engine.name}."
    if team.sample:
        documents = SAMPLE_DOCUMENTS
    else:
        folders = ", ".join(str(folder) for folder in team.settings.library)
        documents = f"Documents: your library ({folders})."
    leaves = NOTHING_LEAVES if offline else _receivers(team)
    return About(
        engine=team.engine.name,
        documents=documents,
        leaves=leaves,
        lines=(engine, documents, leaves),
        sample=team.sample,
        offline=offline,
    )


def _receivers(team: Team) -> str:
    """Say who is sent questions and passages."""
    base = team.settings.api_base
    names: list[str] = []
    for model in team.engine.names:
        provider = model.partition("/")[0]
        if model == OFFLINE:
            continue
        names.append(base if base and provider == "openai" else PROVIDERS.get(provider, provider))
    who = " and ".join(dict.fromkeys(names))
    return f"Your questions and passages of the documents go to {who}. Nothing else leaves this computer."
