"""What is known of model providers beforehand: `providers.toml`, which says what each list is."""

import tomllib
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import BeforeValidator

from agents.contracts.frozen import Frozen
from agents.core.port import Pace
from agents.core.transport import LOOPBACK

Names = Annotated[frozenset[str], BeforeValidator(str.split)]


class Providers(Frozen):
    """The lists of that file."""

    known: Names
    makers: Names
    local: Names
    ollama: Names
    signed_in: Names
    families: dict[str, str]
    keys: dict[str, str]
    names: dict[str, str]
    paces: dict[str, Pace]


PROVIDERS = Providers.model_validate(tomllib.loads(Path(__file__).with_name("providers.toml").read_text("utf-8")))


def at_home(provider: str, base: str) -> bool:
    """Tell a provider that runs on this computer."""
    return urlsplit(base).hostname in LOOPBACK if base else provider in PROVIDERS.local


def key_variable(model: str) -> str:
    """Name the environment variable that holds the key for `provider/model`."""
    provider = model.partition("/")[0] if "/" in model else "openai"
    return PROVIDERS.keys.get(provider, f"{provider.upper()}_API_KEY")
