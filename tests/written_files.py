"""Files that are written from the code: `prompts/lock.toml` (run this module: `make prompts`) and `.env.example`."""

import tomllib

from agents.contracts.frozen import field_texts
from agents.core.prompts import PROMPTS_FOLDER, PromptBook, load
from agents.core.settings import KEY_NAMES, Settings


def lock_text(book: PromptBook) -> str:
    """Write the lock file: version and digest of each prompt."""
    lines = ["# Written by `make prompts`; a digest that moved needs a higher version.\n"]
    lines += [f'{name} = {{ version = {book[name].version}, sha = "{book[name].sha}" }}\n' for name in sorted(book)]
    return "".join(lines)


def main() -> None:
    """Rewrite the lock file; refuse when a text moved and its version did not."""
    book, path = load(), PROMPTS_FOLDER / "lock.toml"
    old = tomllib.loads(path.read_text("utf-8")) if path.exists() else {}
    for name, prompt in book.items():
        before = old.get(name)
        if before and before["sha"] != prompt.sha and before["version"] >= prompt.version:
            raise SystemExit(
                f"{name}: the text moved; raise its version above {before['version']} and say why in `changed`"
            )
    path.write_text(lock_text(book), "utf-8")


def example() -> str:
    """Write `.env.example`: every setting with its meaning, commented out."""
    lines = ["# Copy to .env and uncomment what you need. The environment wins over this file.", ""]
    lines += [f"# {variable}=" for variable, _ in KEY_NAMES]
    texts = field_texts(Settings)
    for name, field in Settings.model_fields.items():
        described = texts.get(name, "").splitlines()
        lines += ["", *(f"# {line.strip()}" for line in described), f"# {field.alias}="]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
