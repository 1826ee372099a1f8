"""Prompt files: loaded strictly, rendered strictly, known by version and digest.

A file is a TOML header, a system part without inputs (byte-stable, so that providers can cache it) and a user part in
Jinja, each introduced by a line `+++`. The header holds `version`, `inputs` and `changed` (why this version differs
from the last).
Text from users, pages and files goes in by the filter `fence`, and by nothing else.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import StrictUndefined, Template, TemplateError, meta
from jinja2.sandbox import ImmutableSandboxedEnvironment

from agents.contracts.frozen import Frozen, digest
from agents.core.errors import PromptError
from agents.core.paths import RESOURCES

FENCE_DIGITS = 8
"""Hex digits of a text's own digest in its fence's name: a text can't hold its own digest, so can't close its fence."""

PROMPTS_FOLDER = RESOURCES / "prompts"


def fence(value: object, name: str = "data") -> str:
    """Put a text between tags that it cannot close, so that a model reads it as data.

    Equal texts give equal fences, so that equal inputs give equal prompts.
    """
    text = str(value)
    tag = f"{name}-{digest(text, FENCE_DIGITS)}"
    return f"<{tag}>\n{text}\n</{tag}>"


@cache
def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["fence"] = fence
    return environment


@cache
def _compiled(prompt: "Prompt") -> Template:
    """Check and compile a template once, when it is wanted first: a run renders the same few prompts hundreds of times."""
    environment, name = _environment(), prompt.name
    try:
        if used := meta.find_undeclared_variables(environment.parse(prompt.system)):
            raise PromptError(f"prompt {name!r}: the system part may use no inputs, but uses {sorted(used)}")
        used = meta.find_undeclared_variables(environment.parse(prompt.user))
        if used != prompt.inputs:
            raise PromptError(
                f"prompt {name!r} declares {sorted(prompt.inputs)} but uses {sorted(used)}; the two must be equal"
            )
        return environment.from_string(prompt.user)
    except TemplateError as error:
        raise PromptError(f"prompt {name!r} is not a template: {error}") from error


@dataclass(frozen=True)
class Prompt:
    """One prompt file, ready to render."""

    name: str
    version: int
    inputs: frozenset[str]
    system: str
    user: str
    sha: str

    @property
    def ref(self) -> str:
        """Reference for events and records: name, version, digest."""
        return f"{self.name}@{self.version}#{self.sha}"

    def render(self, given: Frozen) -> str:
        """Fill the user part from the fields of `given`; a `PromptError` where one is missing, or the template fails."""
        if missing := self.inputs - set(type(given).model_fields):
            holder = type(given).__name__
            raise PromptError(f"prompt {self.name!r} wants {sorted(missing)}, which {holder} does not hold")
        values: dict[str, object] = {name: getattr(given, name) for name in self.inputs}
        try:
            return _compiled(self).render(values).strip()
        except TemplateError as error:
            raise PromptError(f"prompt {self.name!r} does not render: {error}") from error


def parse(name: str, text: str) -> Prompt:
    """Read one prompt file; its template is checked when it is compiled."""
    parts = text.replace("\r\n", "\n").split("+++\n")
    if len(parts) != 4 or parts[0].strip():
        raise PromptError(f"prompt {name!r} needs a header, a system part and a user part, each after a line '+++'")
    _, header_text, system, user = parts
    try:
        header = tomllib.loads(header_text)
    except tomllib.TOMLDecodeError as error:
        raise PromptError(f"prompt {name!r}: the header is not TOML: {error}") from error
    if set(header) != {"version", "inputs", "changed"}:
        raise PromptError(f"prompt {name!r}: the header holds {sorted(header)}; it needs version, inputs and changed")
    sha, inputs = digest(system + user, 8), frozenset(header["inputs"])
    return Prompt(name, int(header["version"]), inputs, system.strip(), user, sha)


class PromptBook(dict[str, Prompt]):
    """All prompts of a folder, by file name without `.md`."""

    def __missing__(self, name: str) -> Prompt:
        raise PromptError(f"there is no prompt {name!r}; there are {sorted(self)}")

    def compile(self) -> None:
        """Have every prompt checked and ready to render: else the first to ask waits for it."""
        for prompt in self.values():
            _compiled(prompt)


@cache
def load(folder: Path = PROMPTS_FOLDER) -> PromptBook:
    """Load every prompt of `folder`; a `PromptError` where it holds none, or one that is malformed."""
    files = sorted(folder.glob("*.md"))
    if not files:
        raise PromptError(f"no prompts in {folder}")
    return PromptBook((path.stem, parse(path.stem, path.read_text("utf-8"))) for path in files)
