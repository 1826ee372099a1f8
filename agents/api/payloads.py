"""What callers send and are sent, with examples for the OpenAPI document; unknown fields are said, never ignored."""

from typing import Annotated, Literal

from fastapi import Header
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic.config import JsonDict

from agents.contracts.fact import Remembered
from agents.contracts.frozen import Mode, Tier
from agents.contracts.sources import Hit, SearchQuery
from agents.core.model_answers import whole_signs
from agents.research.scoping.turn import MAX_MESSAGE
from agents.run_research import RunBounds
from agents.team import Team

SEARCH_S = 30.0  # seconds that one bare search may take
MAX_LISTED = 50  # entries of a list in a request

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_MESSAGE)]
Sentences = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)]
Domain = Annotated[str, StringConstraints(pattern=r"^-?[A-Za-z0-9*]([A-Za-z0-9.*-]{0,251}[A-Za-z0-9])?$")]
IsoDate = Annotated[str, StringConstraints(pattern=r"^\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?$")]
Language = Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$")]
Key = Annotated[
    str | None,
    Header(alias="Idempotency-Key", min_length=1, max_length=255, description="The same key and body: the same run."),
]


def _examples(*examples: JsonDict) -> ConfigDict:
    # FastAPI looks at what a request holds as soon as it knows of it, and takes one that is not built yet for another thing.
    return ConfigDict(json_schema_extra={"examples": [*examples]}, defer_build=False)


SMALL = "In which year was the first weather satellite launched?"
LARGE = "What does it cost to insulate the roof of a terraced house in Ireland?"


class Payload(BaseModel):
    """Base of what callers send: exact types, no field that is not declared."""

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True, populate_by_name=True)


class SimpleRunRequest(Payload, RunBounds):
    """A task for one run, with the bounds of the simple tier unless they are given."""

    model_config = _examples({"task": SMALL})

    task: Words
    """What shall be found out."""
    stream: bool = False
    """Answer with server-sent events: progress, then the answer as the event `result`."""
    async_: bool = Field(default=False, alias="async")
    """Answer at once with 202, the job's id and the address of its status."""

    @model_validator(mode="after")
    def _one_way_of_waiting(self) -> "SimpleRunRequest":
        if self.stream and self.async_:
            raise ValueError("`stream` and `async` exclude each other")
        return self


class RunRequest(SimpleRunRequest):
    """A task for one run. A bound given here wins over the environment's, and that over the tier's."""

    model_config = _examples(
        {"task": LARGE, "complexity_tier": "simple"},
        {"task": "How well do heat pumps work below -10 °C?", "max_iters": 1, "stream": True},
    )

    complexity_tier: Tier | None = None
    """Bounds by name; detected while planning when it is not given."""


class SearchRequest(Payload):
    """One search, without any research."""

    model_config = _examples({"query": "heat pump efficiency in cold climates", "max_results": 3})

    query: Sentences
    """What is searched for."""
    max_results: int = Field(default=8, ge=1, le=50)
    """Hits, at most."""


class Dates(Payload):
    """When the sources were published."""

    from_: IsoDate | None = Field(default=None, alias="from")
    """Earliest date, as year, month or day."""
    to: IsoDate | None = None
    """Latest date, as year, month or day."""


class JobRequest(Payload):
    """A research job: the request is the authorization, its planners run inside the job."""

    model_config = _examples({"query": LARGE, "mode": "standard", "time": 5})

    query: Words | None = None
    """One question."""
    queries: list[Words] | None = Field(default=None, min_length=1, max_length=6)
    """Several questions for one report, side by side."""
    mode: Mode | None = None
    """`standard`: up to 3 rounds; `deep`: up to 7."""
    time: float | str | None = None
    """Minutes, more than 0 and at most 1440, or `unlimited`; 5 by default, a tier's own with a tier."""
    complexity_tier: Tier | None = None
    """Bounds of a tier instead of those of a mode."""
    language: Language | None = None
    """Language of the report, as a BCP 47 tag; by default that of the question."""
    domains: list[Domain] | None = Field(default=None, max_length=MAX_LISTED)
    """Sites to search; with a leading `-`, sites to leave out."""
    dates: Dates | None = None
    memory: bool = True
    """Ask the knowledge base before the web, and keep what is found there."""

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> "JobRequest":
        if (self.query is None) == (self.queries is None):
            raise ValueError("give either `query` or `queries`")
        if self.mode and self.complexity_tier:
            raise ValueError("`mode` and `complexity_tier` exclude each other: a tier has its own bounds")
        return self


WITHOUT_EFFECT = frozenset(
    """temperature top_p frequency_penalty presence_penalty logit_bias logprobs top_logprobs max_tokens
    max_completion_tokens stop seed user metadata store service_tier reasoning_effort verbosity response_format tools
    tool_choice parallel_tool_calls functions function_call modalities prediction audio safety_identifier
    prompt_cache_key web_search_options top_k min_p repetition_penalty chat_id session_id id""".split()
)
"""Fields that chat clients send and that mean nothing to a research run. Others are refused by name."""


class _Open(BaseModel):
    model_config = ConfigDict(extra="allow")


class ContentPart(_Open):
    """A piece of a message's content."""

    type: str
    text: str | None = None


class ChatMessage(_Open):
    """One message of the talk."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[ContentPart] | None = None

    @property
    def words(self) -> str:
        """What it says, pictures and sounds left out."""
        parts = self.content if isinstance(self.content, list) else [ContentPart(type="text", text=self.content)]
        text = "\n".join(part.text for part in parts if part.type in {"text", "input_text"} and part.text)
        return str(whole_signs(text.strip()))


class StreamOptions(_Open):
    """What a stream holds beside its pieces."""

    include_usage: bool = False


class ChatRequest(_Open):
    """A chat completion. The last message of the user is the task, read with those before; how models sample means nothing here."""

    model_config = _examples({"model": "research-simple", "messages": [{"role": "user", "content": SMALL}]})

    model: Annotated[str, Field(max_length=200)]
    messages: list[ChatMessage] = Field(min_length=1, max_length=20 * MAX_LISTED)
    stream: bool = False
    stream_options: StreamOptions = StreamOptions()
    n: Annotated[int, Field(ge=1, le=1)] | None = None
    """One answer; there is no other."""

    @model_validator(mode="after")
    def _known(self) -> "ChatRequest":
        if unknown := sorted(set(self.model_extra or ()) - WITHOUT_EFFECT):
            raise ValueError(f"there is no such field: {', '.join(name[:80] for name in unknown)}")
        return self


class TaskRequest(Payload):
    """A task that an operator puts into a running job."""

    model_config = _examples({"stage": "collect", "note": "Look at the 2024 recount too."})

    stage: Literal["plan", "collect", "challenge", "write"]
    claim_id: Annotated[str, StringConstraints(min_length=1, max_length=80)] | None = None
    """The claim it is about."""
    note: Annotated[str, StringConstraints(strip_whitespace=True, max_length=2000)] | None = None
    """What to look at."""


class GuidanceRequest(Payload):
    """Words that the next rounds of a job follow."""

    model_config = _examples({"text": "Leave out press releases."})

    text: Sentences


class MemoryImport(Payload):
    """Lines of an export."""

    model_config = _examples({"lines": ['{"id": "…", "kind": "fact", "text": "…"}']})

    lines: list[str] = Field(max_length=5_000)


# ---- answers


class Accepted(BaseModel):
    """A run that goes on by itself."""

    job_id: str
    status_url: str


class PlannerStart(BaseModel):
    """Manager and planner work inside the job; what keeps them from answering is among its warnings."""

    started: bool = True
    error: str | None = None
    plannerPendingUntil: str  # noqa: N815 - the name of the specification
    """Until when they are waited for; afterwards the question is taken as it was asked."""


class Runtime(BaseModel):
    """What a job runs on."""

    engine: str
    models: list[str]
    retrievers: list[str]
    durable: bool
    """Whether a job outlives the process that runs it."""


class JobAccepted(Accepted):
    """A job that was started."""

    status: str
    stage: str
    planner: PlannerStart
    runtime: Runtime


class SearchAnswer(BaseModel):
    """The hits of a search, best first; none is an answer, too."""

    query: str
    provider: str
    results: list[Hit]


async def searched(team: Team, query: str, max_results: int) -> SearchAnswer:
    """Search once, without any research."""
    found = await team.searcher.search(SearchQuery(text=query, max_results=max_results), SEARCH_S)
    hits = [hit.model_copy(update={"provider": hit.provider or found.provider}) for hit in found.hits[:max_results]]
    return SearchAnswer(query=query, provider=found.provider, results=hits)


class MemoryFound(Payload):
    """What is known, best first."""

    items: list[Remembered]
