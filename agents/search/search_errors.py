"""How a search can fail, sorted by what is worth trying, and without keys.

SearchError
├── SearchFailed     one provider failed, after its retries; `kind` says how
└── NoneAnswered     no provider answered; `attempts` says why, one by one
"""

import re
from collections.abc import Iterable, Mapping
from typing import Literal

from agents.contracts.frozen import Frozen, Text
from agents.core.errors import SearchError
from agents.llm.litellm_errors import redact, wait_asked

FailKind = Literal["auth", "quota", "rate", "timeout", "connection", "server", "nonsense", "query", "resting"]
"""What went wrong at a search provider. `resting`: it failed a while ago and is not asked for now."""

TRANSIENT = frozenset({"rate", "timeout", "connection", "server"})
"""Worth another request soon; a refused key, an empty account or a captcha page stay what they are."""

SAID = 300
"""Characters of a provider's own words that are kept for the log."""

_QUOTA = re.compile(
    r"insufficient[_ ](?:quota|credit|balance|fund)|(?:current|monthly|plan'?s?) (?:quota|(?:usage )?limit)"
    r"|quota (?:exceeded|exhausted|used)|(?:out of|no more|not enough) credit|payment required|credits? exhausted",
    re.IGNORECASE,
)
_STATUS: dict[int, FailKind] = {
    202: "rate",  # keyless services throttle with an empty "accepted"
    400: "query",
    401: "auth",
    402: "quota",
    403: "auth",
    408: "timeout",
    413: "query",
    414: "query",
    422: "query",
    425: "rate",
    429: "rate",
    432: "quota",  # Tavily: the plan's limit
    433: "quota",  # Tavily: the limit of paying as one goes
    504: "timeout",
}
_REASONS: dict[FailKind, str] = {
    "auth": "refused the key",
    "quota": "has no credit left, or the plan is used up",
    "rate": "is limiting the rate of searches",
    "timeout": "did not answer in time",
    "connection": "could not be reached",
    "server": "had an error on its side",
    "nonsense": "answered with something that is no search result",
    "query": "did not accept the query",
    "resting": "is not asked for a while after failing",
}


class Attempt(Frozen):
    """One provider that was asked and did not answer."""

    provider: Text
    kind: FailKind
    reason: Text
    """For people, without keys: `tavily refused the key`."""


class SearchFailed(SearchError):
    """One provider failed after every retry.

    Args:
        kind: what went wrong.
        provider: its name, as shown to the user.
        said: what the provider said; keys are taken out.
        retry_after_s: seconds that it asks to wait.
        secrets: configured values that must not be shown.
        key_variable: where its key is set.
    """

    def __init__(
        self,
        kind: FailKind,
        provider: str,
        said: str = "",
        *,
        retry_after_s: float | None = None,
        secrets: Iterable[str] = (),
        key_variable: str = "",
    ) -> None:
        words = redact(" ".join(said.split()), secrets)[:SAID]
        super().__init__(f"{provider}: {kind}" + (f": {words}" if words else ""), provider=provider)
        self.kind, self.retry_after_s = kind, retry_after_s
        self.retryable = kind in TRANSIENT
        self.reason = f"{provider} {_REASONS[kind]}"
        where = f" Check {key_variable} in `.env`." if kind == "auth" and key_variable else ""
        self.notice = f"The search provider {self.reason}.{where}"

    @property
    def attempt(self) -> Attempt:
        """What is kept of it."""
        return Attempt(provider=self.provider, kind=self.kind, reason=self.reason)


class NoneAnswered(SearchError):
    """No provider answered."""

    def __init__(self, attempts: tuple[Attempt, ...]) -> None:
        names = ", ".join(dict.fromkeys(attempt.provider for attempt in attempts)) or "none"
        said = "; ".join(attempt.reason for attempt in attempts) or "no search provider is set up"
        super().__init__(f"no search answered: {said}", provider=names)
        self.attempts = attempts
        self.notice = f"No search provider answered: {said}."


def kind_of(status: int, said: str = "", *, asks_to_wait: bool = False) -> FailKind:
    """Sort an HTTP answer that holds no results."""
    if status == 429 and _QUOTA.search(said) and not asks_to_wait:
        return "quota"  # with a wait asked for, the same words mean a rate limit
    if status >= 500:
        return _STATUS.get(status, "server")
    return _STATUS.get(status, "nonsense")


def refused(
    provider: str,
    status: int,
    headers: Mapping[str, str],
    said: str,
    *,
    secrets: Iterable[str] = (),
    key_variable: str = "",
) -> SearchFailed:
    """Make a failure of an HTTP answer: its status, how long it asks to wait, its words."""
    wait = wait_asked({name.lower(): value for name, value in headers.items()}, said)
    return SearchFailed(
        kind_of(status, said, asks_to_wait=wait is not None),
        provider,
        f"HTTP {status} {said}",
        retry_after_s=wait,
        secrets=secrets,
        key_variable=key_variable,
    )
