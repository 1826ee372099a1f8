"""The base of every contract, and the closed sets that several contracts share."""

import ast
import hashlib
import inspect
import re
import sys
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    StringConstraints,
    model_validator,
)  # fmt: skip
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

MAX_EXECUTOR_DEPTH = 3
"""Executors in a row, at most, in a feasible plan (specification, section 3). Settings may lower it, never raise it."""

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""Text with something in it; surrounding white space is dropped."""

Confidence = Annotated[float, Field(ge=0.0, le=1.0)]
"""0 to 1, both included."""


def to_unit(value: object) -> object:
    """Bring a model's 7 of 10 or 85 % to the scale that was asked for; anything else is left to validation."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 1 < value <= 100:
        return value / 10 if value <= 10 else value / 100
    return value


Judged = Annotated[float, BeforeValidator(to_unit), Field(ge=0.0, le=1.0)]
"""0 to 1, both included, as a model gives it: some count to 10 or 100 whatever they are told."""

QueryType = Literal[
    "academic", "news", "comparison", "technical", "person_or_organisation", "statistics", "medical_legal_financial", "other"
]  # fmt: skip
"""What kind of question it is; sets sources, recency and report form."""

Tier = Literal["simple", "standard", "deep"]
"""Bounds of one `/run` request; a mode uses those of the tier of its name."""
TierOrigin = Literal["request", "detected", "default"]

Mode = Literal["standard", "deep"]
"""Depth of a chat, command line or `/research/jobs` run: 3 or 7 rounds."""

Role = Literal[
    "manager", "planner", "executor", "scout", "extractor", "synthesizer", "reflector", "challenger", "judge", "verifier"
]  # fmt: skip
"""The nine roles of the specification, and the verifier of citations."""


class Frozen(BaseModel):
    """A value that never changes once made, and holds no field that it does not declare."""

    # Built when it is first used: a start needs a fifth of them, and most of those that a report needs come while a model writes.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Describe each field by the text beneath it, when a schema is asked for: to read it at each start takes long."""
        schema = handler(core)
        properties = handler.resolve_ref_schema(schema).get("properties", {})
        for name, words in field_texts(cls).items():
            if name in properties:
                properties[name].setdefault("description", words)
        return schema


def build_contracts(model: type[BaseModel] = Frozen) -> None:
    """Build a contract and all that are made from it, so that nobody waits for one later."""
    for one in model.__subclasses__():
        build_contracts(one)
    model.model_rebuild(raise_errors=False)


@cache
def field_texts(model: type[BaseModel]) -> Mapping[str, str]:
    """Read the texts beneath the fields of a model and those it is made from."""
    texts: dict[str, str] = {}
    for one in reversed(model.__mro__):
        texts |= _texts_of(one.__module__).get(one.__name__, {}) if one.__module__.startswith("agents.") else {}
    return texts


@cache
def _texts_of(module: str) -> Mapping[str, Mapping[str, str]]:
    """Read the texts of all classes of a module: `inspect` would read the whole of it anew for each."""
    found: dict[str, dict[str, str]] = {}
    statements = ast.walk(ast.parse(inspect.getsource(sys.modules[module])))
    for one in (statement for statement in statements if isinstance(statement, ast.ClassDef)):
        for field, text in pairwise(one.body):
            match field, text:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                    found.setdefault(one.name, {})[name] = inspect.cleandoc(words)
    return found


_FORMS = re.compile(r"\{(\w+):([^{}|]*)\|([^{}|]*)\}")


def filled(form: str, values: Mapping[str, object], language: str = "en") -> str:
    """Write a text with its values; `{n:fact|facts}` is the form of a word that goes with the number `n`."""

    def chosen(found: re.Match[str]) -> str:
        number = float(str(values[found[1]]))
        # "0 page" in French, but "0 pages".
        return found[2] if number == 1 or (number < 2 and language in {"fr", "pt"}) else found[3]

    return _FORMS.sub(chosen, form).format(**values)


class Said(str):
    """A sentence in English that knows its form and values, by which it is said in other languages.

    Without values it is written as a string, else as `{"text", "form", "values"}`; each is read back.
    """

    form: str
    values: Mapping[str, object]

    def __new__(cls, form: str = "", /, **values: object) -> Self:
        text = filled(form, values) if values else form
        if more := str(values.get("more", "")).rstrip("."):  # follows the sentence
            text = f"{text.rstrip('.')}: {more}{'' if more.endswith('?') else '.'}"
        said = super().__new__(cls, text)
        said.form, said.values = form, values
        return said

    @classmethod
    def read(cls, written: object) -> Self:
        """Read what was written; what was never more than a text has no values."""
        match written:
            case Said():
                return cls(written.form, **written.values)
            case str():
                return cls(written)
            case {"form": str(form), "values": dict(values)}:
                return cls(
                    form, **{name: cls.read(one) if isinstance(one, dict) else one for name, one in values.items()}
                )
        raise ValueError("neither a sentence nor its form with values")

    @classmethod
    def row(cls, *parts: str) -> Self:
        """Put sentences in a row."""
        named = {f"part{n}": part for n, part in enumerate(parts)}
        return cls("; ".join(f"{{{name}}}" for name in named), **named)

    def written(self) -> str | dict[str, object]:
        """Write it for a store."""
        if not self.values:
            return str(self)
        values = {name: one.written() if isinstance(one, Said) else one for name, one in self.values.items()}
        return {"text": str(self), "form": self.form, "values": values}

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> CoreSchema:
        writes = core_schema.plain_serializer_function_ser_schema(lambda one: cls.read(one).written())
        return core_schema.no_info_plain_validator_function(cls.read, serialization=writes)

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [{"type": "string"}, {"type": "object"}]}


class Told(Frozen):
    """What a role that reads and writes for the user is told beside its own input."""

    language: Text = "en"
    """Language of the report."""
    today: str = ""
    """ISO date that 'latest' refers to."""


class Guided(Told):
    """The same, with the user's wishes."""

    guidance: tuple[str, ...] = ()
    """What the user asked to heed, also while this was under way."""


class Reasoned(Frozen):
    """Something with a reason: readable, and as other languages say it."""

    reason: Text
    said: Said | None = None
    """The reason with its values; None where it has none."""

    @model_validator(mode="before")
    @classmethod
    def _keep_values(cls, given: object) -> object:
        if isinstance(given, dict) and isinstance(reason := given.get("reason"), Said) and reason.values:
            return {"said": reason, **given}
        return given

    @property
    def why(self) -> Said:
        return self.said or Said(self.reason)


class Usage(Frozen):
    """What was spent. Adds up; an unknown cost makes the sum unknown."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = 0.0
    """None is unknown, not zero."""
    partly_usd: float = 0.0
    """What is known, or estimated, of a cost that is unknown as a whole."""
    searches: int = 0

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out

    @property
    def counted_usd(self) -> float:
        """What counts against a limit."""
        return self.partly_usd if self.cost_usd is None else self.cost_usd

    def __add__(self, other: "Usage") -> "Usage":
        unknown, counted = self.cost_usd is None or other.cost_usd is None, self.counted_usd + other.counted_usd
        return Usage(
            calls=self.calls + other.calls, searches=self.searches + other.searches,
            tokens_in=self.tokens_in + other.tokens_in, tokens_out=self.tokens_out + other.tokens_out,
            cost_usd=None if unknown else counted, partly_usd=counted if unknown else 0.0,
        )  # fmt: skip


NOTHING = Usage()


class Spent(Frozen):
    """What a role took, and which model was asked: without a usable answer, or before there was a job to book it on."""

    role: Text
    model: str
    usage: Usage = Usage()
    stood_in: str = ""
    """Why `model` answered in the place of the one bound; empty when it is the one."""
    stood_in_for: str = ""
    """The model that was bound, where another answered."""

    def more(self, usage: Usage) -> "Spent":
        return self.model_copy(update={"usage": usage + self.usage})


def booked(*spent: Spent) -> tuple[Spent, ...]:
    """Put together what the same model took in the same role; what took no call, and stood in for nobody, is left out."""
    found: dict[tuple[str, str, str], Spent] = {}
    for one in spent:
        key = (one.role, one.model, one.stood_in_for)
        found[key] = one.more(found[key].usage) if key in found else one
    return tuple(one for one in found.values() if one.usage.calls or one.stood_in_for)


def digest(text: str, length: int = 16) -> str:
    """Name a text by its content: the first `length` hex digits of its SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]
