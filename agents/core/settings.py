"""What an operator can set: environment over `.env` over defaults, read once, printed by `doctor` without secrets.

Provider keys (`OPENAI_API_KEY` and kin) are not listed here: the model library looks them up by their usual names.
"""

import os
import re
from collections.abc import Iterable
from difflib import get_close_matches
from io import StringIO
from json import detect_encoding
from pathlib import Path
from typing import Annotated, Literal

from dotenv import dotenv_values
from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from agents.contracts.frozen import Role
from agents.core import paths, transport
from agents.core.errors import ConfigError, faults_of
from agents.core.paths import DATA_DIR
from agents.core.port import Pace
from agents.core.transport import LOOPBACK

CHECKED_PREFIXES = ("DOSSIER_", "RESEARCH_", "JUDGE_RESEARCH_")
"""A variable that begins so and is not a setting is reported at start, not ignored."""

READ_ELSEWHERE = {"DOSSIER_SHARED"}  # names of ours that the tests read

KEY_NAMES = (
    ("OPENAI_API_KEY", "openai/gpt-5.2"),
    ("ANTHROPIC_API_KEY", "anthropic/claude-sonnet-4-5"),
    ("GEMINI_API_KEY", "gemini/gemini-2.5-pro"),
    ("MISTRAL_API_KEY", "mistral/mistral-large-latest"),
    ("DEEPSEEK_API_KEY", "deepseek/deepseek-chat"),
    ("OPENROUTER_API_KEY", "openrouter/openrouter/auto"),
)
"""Key variables in the order of preference, and the model that each stands for when none is named."""

OFFLINE = "offline"  # the embedded engine: no language model, no network
OFFLINE_ENGINE = "offline engine"  # as contracts and reports name it


class Settings(BaseSettings):
    """All settings, each under the name of its variable."""

    model_config = SettingsConfigDict(
        frozen=True,
        extra="ignore",
        hide_input_in_errors=True,
        env_ignore_empty=True,
        populate_by_name=True,
    )

    model: str = Field("", alias="DOSSIER_MODEL")
    """Model for roles that DOSSIER_MODELS does not name: `provider/model`, the address of a model server of your own
    (http://127.0.0.1:11434/v1), or `offline`. Default: by the keys set."""
    models: dict[Role, str] = Field(default_factory=dict, alias="DOSSIER_MODELS")
    """Models per role, as JSON: {"judge": "anthropic/…"}."""
    fallbacks: Annotated[tuple[str, ...], NoDecode] = Field((), alias="DOSSIER_FALLBACKS")
    """Models that stand in when one fails, as a comma list; `none` for no other. Default: one for each key that is set.
    A model on your own machines is never followed by one elsewhere."""
    model_limits: dict[str, Pace] = Field(default_factory=dict, alias="DOSSIER_MODEL_LIMITS")
    """How fast a provider is asked, over all jobs of this process, as JSON; 0 is no limit. `doctor` shows what holds.
    {"anthropic": {"at_once": 8, "calls_per_minute": 50, "tokens_per_minute": 30000}}"""
    api_base: str = Field("", alias="OPENAI_API_BASE")
    """Address of an OpenAI-compatible server, for `openai/…` models."""
    retriever: Annotated[tuple[str, ...], NoDecode] = Field((), alias="RETRIEVER")
    """Where to search, as a comma list. Default: keyed web search, else keyless, else the documents alone."""
    library: Annotated[tuple[Path, ...], NoDecode] = Field((), alias="DOSSIER_LIBRARY")
    """Folders with your own documents, separated by the system's path separator. Default: the sample library."""
    tavily_api_key: SecretStr = Field(SecretStr(""), alias="TAVILY_API_KEY")
    """Key for web search; without one Tavily's keyless mode is tried."""
    tavily_api_base: str = Field("", alias="TAVILY_API_BASE")
    """Address of a Tavily-compatible server."""
    firecrawl_api_key: SecretStr = Field(SecretStr(""), alias="FIRECRAWL_API_KEY")
    """Key for Firecrawl: search, and the pages of a site."""
    allow_private_hosts: str = Field("", alias="DOSSIER_ALLOW_PRIVATE_HOSTS")
    """Hosts inside the network that pages may be read from: a comma list of `host:port`, or `pattern=host:port` to dial there."""
    data_dir: Path = Field(DATA_DIR, alias="DOSSIER_DATA_DIR")
    """Folder for indexes, texts, reports, history and the session secret."""
    database_url: SecretStr = Field(SecretStr(""), alias="DOSSIER_DATABASE_URL")
    """Database of the jobs: `postgresql://…` for several machines. Default: SQLite files in the data folder."""
    runs_jobs: bool = Field(True, alias="DOSSIER_RUNS_JOBS")
    """False for a chat server whose jobs are run by `python -m agents worker` elsewhere; needs PostgreSQL."""
    worker_name: str = Field("", alias="DOSSIER_WORKER_NAME")
    """Name of this process among those that run jobs, distinct and the same after a restart. Default: the host's."""
    worker_jobs: int = Field(4, ge=1, le=64, alias="DOSSIER_WORKER_JOBS")
    """Jobs that this process runs at once; workers on one database want the same number."""
    keep_days: float = Field(0.0, ge=0, alias="DOSSIER_KEEP_DAYS")
    """Days that jobs which are over are kept, with events, reports and texts, and facts that nobody has met with since; 0
    keeps them for ever. Facts go when the server starts."""
    memory: bool = Field(True, alias="DOSSIER_MEMORY")
    """Keep what research found out and ask it before the web, per user; false switches the knowledge base off."""
    embedder: str = Field("", alias="DOSSIER_EMBEDDER")
    """Embedding model of the knowledge base, as `provider/model`, or `onnx:FOLDER`. Default: a table that ships."""
    qdrant_url: str = Field("", alias="DOSSIER_QDRANT_URL")
    """Qdrant server for the knowledge base (the `qdrant` extra). Default: where the jobs are: data folder or database."""
    qdrant_key: SecretStr = Field(SecretStr(""), alias="DOSSIER_QDRANT_KEY")
    """Key of that server."""
    host: str = Field("127.0.0.1", alias="DOSSIER_HOST")
    """Address to listen on. Other than loopback needs DOSSIER_API_KEY."""
    port: int = Field(8000, ge=1, le=65535, alias="PORT")
    """Port to listen on."""
    root_path: str = Field("", alias="DOSSIER_ROOT_PATH")
    """Path below which a proxy in front serves it, such as `/dossier`; the proxy may take it off or leave it on."""
    api_key: SecretStr = Field(SecretStr(""), alias="DOSSIER_API_KEY")
    """Key that off-host access needs."""
    requests_per_minute: int | None = Field(None, ge=0, alias="DOSSIER_REQUESTS_PER_MINUTE")
    """What one user, and one address, may ask in a minute: a question or message counts ten, reading one; 0 is no limit.
    Default: none on loopback, elsewhere 600."""
    jobs_per_user: int | None = Field(None, ge=0, alias="DOSSIER_JOBS_PER_USER")
    """Runs of one user that may wait or be at work; 0 is no limit. Default: none on loopback, elsewhere 20."""
    max_cost_usd: float | None = Field(None, gt=0, allow_inf_nan=False, alias="DOSSIER_MAX_COST_USD")
    """Dollars that one run may cost; unset is no cap. What a model costs whose price is not known can't be held to it."""
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("WARNING", alias="DOSSIER_LOG_LEVEL")
    """How much is logged to standard error."""
    otel: bool = Field(False, alias="DOSSIER_OTEL")
    """Send traces of jobs by OpenTelemetry (the `otel` extra); where to is said by OTEL_EXPORTER_OTLP_ENDPOINT and kin."""
    litellm_callbacks: Annotated[tuple[str, ...], NoDecode] = Field((), alias="DOSSIER_LITELLM_CALLBACKS")
    """Callbacks of the model library by name, as a comma list: langfuse, otel, … They are told job, node and call."""

    max_depth: int = Field(3, ge=1, le=3, alias="RESEARCH_MAX_DEPTH")
    """Executors in a row, at most; may lower 3, never raise it."""
    max_leaves: int = Field(12, ge=1, le=40, alias="RESEARCH_MAX_LEAVES")
    """Leaves of one query's tree, at most; a query that needs more is too broad."""
    max_iters: int | None = Field(None, ge=1, le=20, alias="RESEARCH_MAX_ITERS")
    """Rounds per node; default by mode or tier."""
    max_queries: int | None = Field(None, ge=1, alias="RESEARCH_MAX_QUERIES")
    """Searches per run; default by mode or tier."""
    max_sources: int | None = Field(None, ge=1, alias="RESEARCH_MAX_SOURCES")
    """Sources per run; default by mode or tier."""
    max_execution_time_s: float | None = Field(
        None, gt=0, le=86_400, allow_inf_nan=False, alias="RESEARCH_MAX_EXECUTION_TIME_S"
    )
    """Seconds per run; default by mode or tier."""
    token_budget: int = Field(400_000, ge=1000, alias="RESEARCH_TOKEN_BUDGET")
    """Tokens per run."""
    context_results: int = Field(40, ge=1, le=400, alias="RESEARCH_CONTEXT_RESULTS")
    """Results that a writer is shown whole, the most useful ones; all others stay in the job's store."""
    min_evidence_per_claim: int = Field(3, ge=0, alias="RESEARCH_MIN_EVIDENCE_PER_CLAIM")
    """Gate: pieces of evidence per claim."""
    min_distinct_domains_per_claim: int = Field(2, ge=0, alias="RESEARCH_MIN_DISTINCT_DOMAINS_PER_CLAIM")
    """Gate: independent sources per claim."""
    require_counter_evidence: bool = Field(True, alias="RESEARCH_REQUIRE_COUNTER_EVIDENCE")
    """Gate: counter-evidence was searched for."""
    min_report_confidence: float = Field(70.0, ge=0, le=100, alias="RESEARCH_MIN_REPORT_CONFIDENCE")
    """Gate: confidence of the report, 0 to 100."""
    min_verifiable_ratio: float = Field(0.9, ge=0, le=1, alias="RESEARCH_MIN_VERIFIABLE_RATIO")
    """Gate: share of factual sentences that their quotes carry."""
    require_judge: bool = Field(False, alias="RESEARCH_REQUIRE_JUDGE")
    """Have a judge review every report; requested changes block the job until it is released or reworked."""
    judge_min_claims: int = Field(1, ge=0, alias="JUDGE_RESEARCH_MIN_CLAIMS")
    """Judge: claims settled, with the evidence that is named below."""
    judge_min_evidence_per_claim: int = Field(3, ge=0, alias="JUDGE_RESEARCH_MIN_EVIDENCE_PER_CLAIM")
    """Judge: pieces of evidence per claim."""
    judge_min_distinct_domains_per_claim: int = Field(2, ge=0, alias="JUDGE_RESEARCH_MIN_DISTINCT_DOMAINS_PER_CLAIM")
    """Judge: independent sources per claim."""
    judge_require_counter_evidence: bool = Field(True, alias="JUDGE_RESEARCH_REQUIRE_COUNTER_EVIDENCE")
    """Judge: counter-evidence was searched for."""
    judge_min_report_confidence: float = Field(70.0, ge=0, le=100, alias="JUDGE_RESEARCH_MIN_CONFIDENCE")
    """Judge: confidence of the report, 0 to 100."""
    judge_min_verifiable_ratio: float = Field(0.9, ge=0, le=1, alias="JUDGE_RESEARCH_MIN_VERIFIABLE_RATIO")
    """Judge: share of factual sentences that their quotes carry."""
    planner_pending_window_ms: int = Field(120_000, ge=0, alias="RESEARCH_PLANNER_PENDING_WINDOW_MS")
    """Milliseconds that a job's planner is waited for before the job plans by itself."""
    max_researcher_iterations: int | None = Field(None, ge=1, le=20, alias="MAX_RESEARCHER_ITERATIONS")
    """Rounds per node; the same as RESEARCH_MAX_ITERS, which wins."""
    max_react_tool_calls: int = Field(5, ge=1, le=5, alias="MAX_REACT_TOOL_CALLS")
    """Searches of one leaf, at most."""
    max_concurrent_research_units: int = Field(5, ge=1, le=40, alias="MAX_CONCURRENT_RESEARCH_UNITS")
    """Children of one round, at most."""
    enable_early_termination: bool = Field(True, alias="ENABLE_EARLY_TERMINATION")
    """Stop a phase whose rounds bring nothing new."""
    min_novelty_threshold: float = Field(0.15, ge=0, le=1, alias="MIN_NOVELTY_THRESHOLD")
    """Novelty below which a phase stops early, 0 to 1."""
    duplicate_topic_similarity_threshold: float = Field(0.75, ge=0, le=1, alias="DUPLICATE_TOPIC_SIMILARITY_THRESHOLD")
    """Likeness from which a topic repeats another, 0 to 1."""
    max_concurrency: int = Field(6, ge=1, le=64, alias="RESEARCH_MAX_CONCURRENCY")
    """Calls at once per job."""

    @field_validator("retriever", "fallbacks", "litellm_callbacks", mode="before")
    @classmethod
    def _comma_list(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value

    @field_validator("root_path")
    @classmethod
    def _path_alone(cls, value: str) -> str:
        path = "/" + value.strip("/") if value.strip("/") else ""
        if re.search(r"[^\w./~-]|//", path):
            raise ValueError("write it as a path, such as /dossier")
        return path

    @field_validator("library", mode="before")
    @classmethod
    def _path_list(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(Path(part).expanduser() for part in value.split(os.pathsep) if part.strip())
        return value

    @property
    def most_requests(self) -> int:
        """What one user may ask in a minute, as it holds: no limit, which is 0, where only the local user can come."""
        return self._bound(self.requests_per_minute, 600)

    @property
    def most_jobs(self) -> int:
        return self._bound(self.jobs_per_user, 20)

    def _bound(self, given: int | None, elsewhere: int) -> int:
        return given if given is not None else 0 if self.host.strip("[]") in LOOPBACK else elsewhere

    def model_for(self, role: str) -> str:
        own = next((model for name, model in self.models.items() if name == role), None)
        return self.model or self.default_model() if own is None else own

    @staticmethod
    def default_model() -> str:
        """Choose a model by the keys present; the offline engine when there is none."""
        return next(iter(usable_models()), OFFLINE)


def usable_models() -> tuple[str, ...]:
    """Name a model for each provider key that is there, in the order of preference."""
    return tuple(model for variable, model in KEY_NAMES if usable_key(os.environ.get(variable, "")))


def search_values(names: Iterable[str]) -> dict[str, str]:
    """Give those of these variables of search providers that are set to something usable."""
    found = {name: os.environ.get(name, "").strip() for name in names}
    aliases = {"SEARXNG_API_BASE": os.environ.get("SEARXNG_URL", "") or os.environ.get("SEARX_URL", "")}
    found = {name: value or aliases.get(name, "") for name, value in found.items()}
    return {name: value for name, value in found.items() if value and (name.endswith("_BASE") or usable_key(value))}


NO_FALLBACKS = "none"  # value of DOSSIER_FALLBACKS that leaves each role to its own model

PLACEHOLDERS = ("your", "xxx", "changeme", "replace", "todo", "<", "...")


def usable_key(value: str) -> bool:
    """Tell a key from an empty value or a placeholder that was never filled in."""
    value = value.strip().strip("\"'")
    return len(value) >= 8 and not any(mark in value.casefold() for mark in PLACEHOLDERS)


def key_of(variable: str) -> str:
    """Give what stands under the name of a key."""
    return os.environ.get(variable, "").strip()


def has_key(variable: str) -> bool:
    """Tell whether a key is set under this name that is no placeholder."""
    return usable_key(key_of(variable))


def key_state(variable: str) -> str:
    """Say in words what stands under the name of a key, without it."""
    return "usable" if has_key(variable) else "a placeholder" if key_of(variable) else "not set"


def own_address(provider: str) -> str:
    """Give the address that is set for a model provider in place of its usual one; empty when none is."""
    names = (f"{provider.upper()}_API_BASE", f"{provider.upper()}_BASE_URL")
    return next((value for name in names if (value := os.environ.get(name, "").strip())), "")


def variables() -> dict[str, str]:
    """Map the name of each variable to its field."""
    return {str(field.alias): name for name, field in Settings.model_fields.items()}


def misspelt(names: list[str]) -> list[str]:
    """Find names that look like settings of ours and are none; each with the nearest real name where there is one."""
    known, said = set(variables()) | READ_ELSEWHERE, []
    for name in sorted(names):
        if name.startswith(CHECKED_PREFIXES) and name not in known:
            near = get_close_matches(name, known, n=1)
            said.append(f"{name} is not a setting" + (f"; did you mean {near[0]}?" if near else "."))
    return said


def load(dotenv: Path | None = None) -> Settings:
    """Read `.env` into the environment (never over what is set there), and the settings from it.

    A `ConfigError` where a value is wrong or a name is misspelt; it names the variable, never the value.
    """
    path = dotenv or paths.dotenv()
    if path.is_file():
        for name, value in _written(path).items():
            if value is not None and name not in os.environ:
                os.environ[name] = value
                _FROM_FILE.add(name)
    transport.prepare()
    for name, value in list(os.environ.items()):
        if name.endswith(_PASTED) and value != (plain := _plain(name, value)):
            os.environ[name] = plain
    if wrong := misspelt(list(os.environ)):
        raise ConfigError(" ".join(wrong))
    try:
        return Settings()
    except ValidationError as error:
        raise ConfigError(f"Settings can't be used: {faults_of(error)}") from error


def _written(path: Path) -> dict[str, str | None]:
    """Read a `.env` in the encoding that its first bytes tell, as those of JSON do: PowerShell writes UTF-16."""
    data = path.read_bytes()
    try:
        if "\0" in (text := data.decode(detect_encoding(data))):
            raise ValueError("it holds zeros")
        return dotenv_values(stream=StringIO(text))
    except ValueError as error:
        raise ConfigError(f"{path} is not written in UTF-8. Save it as UTF-8.") from error


_PASTED = ("_API_KEY", "_TOKEN", "_ACCESS_KEY", "_KEY_ID", "_API_BASE", "_BASE_URL")
BESIDE = " \t\r\n\"'“”‘’\ufeff\u200b\u00a0"
"""What comes along with a key or an address that is read from a file, or copied from a page or a `.env`."""


def _plain(name: str, value: str) -> str:
    plain = value.strip(BESIDE)
    return address_of(plain) if plain and name.endswith(("_BASE", "_URL")) else plain.removeprefix("Bearer ")


def address_of(written: str) -> str:
    """Give the base address of a model server, as people write or copy it: with the path of a call, or without a scheme."""
    base = written.strip(BESIDE).rstrip("/")
    for path in ("/chat/completions", "/completions", "/responses", "/models"):
        base = base.removesuffix(path)
    here = re.match(r"localhost\b|[\d.]+(?=[:/]|$)|\[|[^/]*:\d", base)
    return base if "://" in base else f"http://{base}" if here else f"https://{base}"


_FROM_FILE: set[str] = set()
"""Names whose values came from `.env`: what the environment itself sets is never overwritten."""


def reread_keys(dotenv: Path | None = None) -> None:
    """Take keys from `.env` that were put there, or changed there, since the settings were read."""
    path = dotenv or paths.dotenv()
    for name, value in _written(path).items() if path.is_file() else ():
        if value and name.endswith(("_KEY", "_TOKEN")) and (name in _FROM_FILE or name not in os.environ):
            os.environ[name] = value
            _FROM_FILE.add(name)
