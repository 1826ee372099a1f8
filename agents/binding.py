"""The part of the composition root that says which model answers for which role."""

from collections.abc import Iterable

from agents.contracts.base import Frozen
from agents.llm.base import Model
from agents.llm.litellm_model import LiteLLMModel
from agents.llm.offline import OfflineModel
from agents.prompts import PromptBook
from agents.settings import OFFLINE, Settings, usable_models


class _SchemaNote(Frozen):
    text: str


def bound_models(
    settings: Settings, prompts: PromptBook, roles: Iterable[str]
) -> tuple[dict[str, Model], dict[str, Model]]:
    """Bind each role to its model; and make every model whose key is there, by its name."""
    made: dict[str, Model] = {}
    bound: dict[str, Model] = {}
    for role in roles:
        name = settings.model_for(role)
        if name not in made:
            made[name] = _model(name, settings, prompts)
        bound[role] = made[name]
    for name in usable_models():
        if name not in made:
            made[name] = _model(name, settings, prompts)
    return bound, made


def _model(name: str, settings: Settings, prompts: PromptBook) -> Model:
    if name == OFFLINE:
        return OfflineModel()
    form = prompts["answer_format"]

    def schema_note(schema: str) -> str:
        return f"{form.system}\n{form.render(_SchemaNote(text=schema))}"

    base = settings.api_base if name.startswith("openai/") and settings.api_base else None
    return LiteLLMModel(
        name, api_base=base, api_key=None, schema_note=schema_note, callbacks=settings.litellm_callbacks
    )
