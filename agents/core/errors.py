"""Every way a run can end badly.

DossierError                base; the chat, the routes and the command line catch this one
├── ConfigError             the operator must act; raised while starting up
│   └── PromptError         a prompt file is missing, malformed or misused
├── BadRequest              what the user asked for cannot be done as it was asked
│   └── NotFeasible         a query needs a tree that is too deep or too wide
├── ModelError              the provider failed after every retry
├── BadOutput               the model stayed outside its contract after the repair
├── SearchError             the search provider failed after every retry
│   └── ProviderFailed      one provider, with the kind of failure (agents.search.searcher)
├── SourceError             a document could not be read or may not be used
├── BudgetExceeded          calls, tokens, dollars or seconds ran out
└── StepFailed              a recorded step failed; carries what happened as data

Outside the tree, never leaving the engine: `Reject`, whose text the model is meant to read.

Two texts each: `notice` is for the user, `str(error)` is for the log.
"""

from typing import TYPE_CHECKING, Literal

from pydantic import ValidationError

from agents.contracts.finding import Problem
from agents.contracts.frozen import Frozen, Said
from agents.contracts.sources import SearchFailure

if TYPE_CHECKING:
    from agents.core.budget import Spent

ModelFault = Literal[
    "key", "quota", "rate", "timeout", "overflow", "refused", "unknown_model", "connection", "server", "request"
]
"""What went wrong at a model provider; decides what is worth trying next."""

SourceFault = Literal["document", "site", "given_up", "repeated", "ruled_out"]
"""Why a document was not used. `site`: its server fails, and would for the neighbours too; `given_up`: it failed too
often; `repeated`: another branch tried it; `ruled_out`: a limit that the user set; `document`: all else."""


class DossierError(Exception):
    """Base of all errors that the program raises on purpose."""

    notice: str = "Something went wrong on our side. Nothing that was gathered is lost; please try again."
    retryable: bool = False
    retry_after_s: float | None = None
    """Seconds for which the other side asked to be left alone."""
    fault: str = ""
    """What went wrong, for code: a word of the class's own list; empty where there is no such list."""
    spent: "Spent | None" = None
    """What a model took that gave no usable answer; None where none was asked."""


class ConfigError(DossierError):
    """The operator must act."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.notice = message


class PromptError(ConfigError):
    """A prompt file is missing, malformed or misused."""


class BadRequest(DossierError):
    """What the user asked for cannot be done as it was asked; the message, filled in with values, is for the user."""

    def __init__(self, form: str, **values: object) -> None:
        self.notice = Said(form, **values) if values else Said.read(form)
        super().__init__(self.notice)


class TooMany(BadRequest):
    """A user or an address has asked for as much as it may for now."""

    retryable = True

    def __init__(self, form: str, retry_after_s: float, **values: object) -> None:
        super().__init__(form, **values)
        self.retry_after_s = retry_after_s


class NotFeasible(BadRequest):
    """A query needs a tree deeper than 3 executors, or wider than the bound."""

    def __init__(self, reasons: tuple[str, ...], splits: tuple[str, ...] = ()) -> None:
        super().__init__("This can't be researched as one question yet. " + " ".join(reasons))
        self.reasons, self.splits = reasons, splits


class ModelError(DossierError):
    """The provider failed after every retry."""

    fault: ModelFault
    takes: int | None = None
    """Tokens of a question that the model has room for, where one was too long and that is known."""

    def __init__(self, message: str, *, fault: ModelFault, notice: str, model: str = "") -> None:
        super().__init__(message)
        self.fault, self.notice, self.model = fault, notice, model
        self.retryable = fault in {"rate", "timeout", "connection", "server"}


NOT_IN_TIME = "The model did not answer in time."


class BadOutput(DossierError):
    """The model kept answering outside its contract."""

    notice = "The model gave no usable answer, even when told what was wrong with it. Rephrasing may help."
    retryable = True

    def __init__(self, role: str, *, reason: str, attempts: int) -> None:
        super().__init__(f"{role!r} gave no usable output in {attempts} attempts: {reason}")
        self.role, self.reason, self.attempts = role, reason, attempts


class SearchError(DossierError):
    """The search provider failed after every retry."""

    retryable = True

    def __init__(self, message: str, *, provider: str, failures: tuple[SearchFailure, ...] = ()) -> None:
        super().__init__(message)
        self.provider, self.failures = provider, failures
        self.notice = f"The search ({provider}) did not answer."


class SourceError(DossierError):
    """A document could not be read, or may not be used as evidence."""

    fault: SourceFault = "document"

    def __init__(
        self,
        url: str,
        reason: str,
        fault: SourceFault = "document",
        *,
        retryable: bool = False,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(f"{url}: {reason}")
        self.url, self.reason, self.fault = url, Said.read(reason), fault
        self.retryable, self.retry_after_s = retryable, retry_after_s
        self.notice = f"{url} was not used: {reason}."


class BudgetExceeded(DossierError):
    """A limit was passed."""

    def __init__(self, what: str, *, spent: float, limit: float, of: str) -> None:
        super().__init__(f"{of}: {what} limit of {limit:g} passed ({spent:g} spent)")
        self.what, self.limit = what, limit
        self.notice = f"The {what} limit of this run is used up."


class Failure(Frozen):
    """How a step failed, as data."""

    type: str
    message: str
    notice: str
    retryable: bool = False
    fault: str = ""
    """The error's own word for what went wrong, where its class has a list of them."""
    reason: Said = Said()
    """Why a document was not used."""

    @classmethod
    def of(cls, error: Exception) -> "Failure":
        """Describe an error; of a fault of ours no more than its name is told."""
        if isinstance(error, StepFailed):
            return error.failure
        name = type(error).__name__
        if not isinstance(error, DossierError):
            return cls(type=name, message=f"{name} while researching", notice=DossierError.notice)
        return cls(
            type=name, message=str(error), notice=error.notice, retryable=error.retryable, fault=error.fault,
            reason=error.reason if isinstance(error, SourceError) else Said(),
        )  # fmt: skip


class StepFailed(DossierError):
    """A step of a job failed; the failure was recorded as data and is the same on replay."""

    def __init__(self, key: str, failure: Failure) -> None:
        super().__init__(f"{key}: {failure.type}: {failure.message}")
        self.key, self.failure, self.type, self.fault = key, failure, failure.type, failure.fault
        self.notice, self.retryable, self.reason = failure.notice, failure.retryable, failure.reason

    @property
    def is_unread(self) -> bool:
        """Whether it is a page that could not be read, and none that a limit left out."""
        return self.type == "SourceError" and self.fault != "ruled_out"

    def problem(self) -> Problem:
        """Write it as a failure that was survived."""
        return Problem(where=self.key, type=self.type, message=self.notice, retryable=self.retryable)


class Reject(Exception):
    """Refuse a model's answer; the text tells it what to mend."""


def faults_of(error: ValidationError) -> str:
    """Say in one line what does not fit a contract, and where."""
    faults = ((".".join(str(part) for part in fault["loc"]), fault["msg"]) for fault in error.errors()[:6])
    return "; ".join(f"{where or 'answer'}: {what}" for where, what in faults)
