"""Where the program's own files lie, and where a user's files go: in a checkout, or installed as a package."""

from pathlib import Path

import platformdirs

_PACKAGE = Path(__file__).resolve().parent.parent
_CHECKOUT = _PACKAGE.parent

INSTALLED = not (_CHECKOUT / "prompts").is_dir()
"""True where the package was installed from a wheel: prompts, page files and samples then lie inside it."""

RESOURCES = _PACKAGE / "resources" if INSTALLED else _CHECKOUT
"""Folder of `prompts/`, `public/`, `examples/`, `.chainlit/`, `chainlit.md` and `app.py`."""

DATA_DIR = Path(platformdirs.user_data_dir("dossier", appauthor=False)) if INSTALLED else _CHECKOUT / ".data"
"""Where jobs, reports, indexes and history go unless DOSSIER_DATA_DIR says otherwise."""

IMPORT_PATH = _PACKAGE.parent  # folder from which another Python process can import `agents`


def dotenv() -> Path:
    """Give the `.env` that is read: that of the checkout, or of the folder in which an installed program was started."""
    return (Path.cwd() if INSTALLED else _CHECKOUT) / ".env"


def public(path: str) -> str:
    """Give a path of ours as a browser asks for it: below DOSSIER_ROOT_PATH where a proxy serves us there."""
    return below + path


below = ""  # DOSSIER_ROOT_PATH, set once when the server starts
