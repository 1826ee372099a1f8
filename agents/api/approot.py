"""The folder that Chainlit works in, laid out freshly. Imports no Chainlit, which reads it while it is imported."""

import importlib.util
import json
import shutil
from pathlib import Path
from typing import Any

from agents.core.paths import RESOURCES

WORDS: dict[str, Any] = {
    "chat": {
        "input": {"placeholder": "Ask a question, drop in a file, or type /research"},
        "commands": {"button": "Commands"},
        "settings": {"title": "Settings", "customize": "Where a new question begins. What you say in the talk wins."},
        "messages": {"status": {"using": "", "used": ""}},
        "watermark": "Every statement cites its source. Open the quote before you rely on it.",
    },
    "threadHistory": {
        "sidebar": {"title": "History", "empty": "Your research will be listed here. It stays on this computer."},
        "thread": {
            "actions": {
                "delete": {
                    "title": "Delete this chat?",
                    "description": (
                        "The chat and its files go, and a run that is going is stopped. Reports stay under "
                        "/research/jobs, with the words that they quote. This can't be undone."
                    ),
                },
                "rename": {"title": "Rename this chat", "description": "The name is for the history only."},
            }
        },
    },
    "navigation": {"header": {"readme": "Guide"}},
}
"""Words of the page that are ours, over Chainlit's English ones."""


def app_root(data_dir: Path, port: int, root: Path = RESOURCES) -> Path:
    """Lay out the folder, one per port.

    Chainlit writes translations and session files there and deletes them at its end: the checkout stays clean, and two
    servers do not delete each other's files.
    """
    folder = data_dir / "chainlit" / str(port)
    shutil.rmtree(folder, ignore_errors=True)
    translations = folder / ".chainlit" / "translations"
    translations.mkdir(parents=True)
    shutil.copy(root / ".chainlit" / "config.toml", folder / ".chainlit" / "config.toml")
    for name in ("chainlit.md", "chainlit_en-US.md"):  # under both names: else Chainlit warns on every page
        shutil.copy(root / "chainlit.md", folder / name)
    shutil.copytree(root / "public", folder / "public")
    if words := _words():
        (translations / "en-US.json").write_text(json.dumps(words, ensure_ascii=False), encoding="utf-8")
    return folder


def _words() -> dict[str, Any]:
    """Chainlit's English words with ours over them; empty when Chainlit keeps them elsewhere, which only costs ours."""
    spec = importlib.util.find_spec("chainlit")
    places = list(spec.submodule_search_locations or ()) if spec else []
    files = [path for place in places if (path := Path(place) / "translations" / "en-US.json").is_file()]
    return _over(json.loads(files[0].read_text(encoding="utf-8")), WORDS) if files else {}


def _over(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for name, value in above.items():
        deeper = isinstance(value, dict) and isinstance(merged.get(name), dict)
        merged[name] = _over(merged[name], value) if deeper else value
    return merged
