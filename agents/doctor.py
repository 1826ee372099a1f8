"""What `doctor` says: which engine, documents and folders are usable, and every setting without its secrets."""

import os
import tempfile
from pathlib import Path

from pydantic import SecretStr

from agents.settings import KEY_NAMES, OFFLINE, Settings, load, usable_key, variables


async def report() -> tuple[list[str], bool]:
    """Look around and say what is usable.

    Returns:
        Lines to print, and whether research can be done as things are set.

    Raises:
        ConfigError: the settings can't be used.
    """
    from agents.team import open_team

    settings = load()
    lines, usable = ["Engine"], True
    team = open_team(settings)
    try:
        for role, model in team.models.items():
            lines.append(f"  {role:12} {model.name}")
        if not team.engine.reasons:
            lines.append(
                "  No language model is set up. The offline engine quotes sources and cites them. It does not reason."
            )
        lines.append("Keys")
        for variable, model_name in KEY_NAMES:
            value = os.environ.get(variable, "")
            state = "usable" if usable_key(value) else ("a placeholder" if value.strip() else "not set")
            lines.append(f"  {variable:20} {state} (stands for {model_name})")
        lines.append("Documents")
        survey = await team.searcher.survey()
        lines.append(f"  {team.searcher.name}: {survey.total} documents")
        skipped = getattr(team.searcher, "skipped", ())
        lines += [f"  skipped {one.url}: {one.reason}" for one in skipped]
        if survey.total == 0:
            usable = False
            lines.append(
                "  Nothing can be searched: put PDF, Word, HTML, Markdown or text files into a folder of DOSSIER_LIBRARY."
            )
    finally:
        await team.close()
    lines.append("Data folder")
    lines.append(f"  {settings.data_dir}: {'writable' if _writable(settings.data_dir) else 'NOT writable'}")
    usable = usable and _writable(settings.data_dir)
    lines.append("Settings")
    lines += [f"  {name} = {_shown(settings, field)}" for name, field in sorted(variables().items())]
    return lines, usable


def _shown(settings: Settings, field: str) -> str:
    value = getattr(settings, field)
    if isinstance(value, SecretStr):
        return "set" if usable_key(value.get_secret_value()) else "not set"
    if field == "model" and not value:
        return f"(by the keys present: {settings.default_model() or OFFLINE})"
    if isinstance(value, tuple):
        return ", ".join(str(part) for part in value) or "(default)"
    return "(default)" if value is None or value == {} else str(value)


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
