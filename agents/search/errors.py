"""How a search can fail, sorted by what is worth trying, and without keys."""

import re
from collections.abc import Iterable, Mapping

from agents.contracts.source import SearchFailure, SearchFault
from agents.core.errors import SearchError
from agents.llm.litellm_errors import redact, wait_asked

TRANSIENT = frozenset[SearchFault]({"rate", "timeout", "connection", "server"})
"""Worth another request soon; a refused key, an empty account or a captcha page stay what they are."""

SAID = 300
"""Characters of a provider's own words that are kept for the log."""

_QUOTA = re.compile(
    r"insufficient[_ ](?:quota|credit|balance|fund)|(?:current|monthly|plan'?s?) (?:quota|(?:usage )?limit)"
    r"|quota (?:exceeded|exhausted|used)|(?:out of|no more|not enough) credit|payment required|credits? exhausted",
    re.IGNORECASE,
)
_STATUS: dict[int, SearchFault] = {
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
_REASONS: dict[SearchFault, str] = {
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


class SearchFailed(SearchError):
    """One provider failed after every retry.

    Args:
        fault: what went wrong.
        provider: its name, as shown to the user.
        said: what the provider said; keys are taken out.
        retry_after_s: seconds that it asks to wait.
        secrets: configured values that must not be shown.
        key_variable: where its key is set; empty where it takes none.
        advice: what the operator can do, where the adapter knows it.
    """

    fault: SearchFault

    def __init__(
        self,
        fault: SearchFault,
        provider: str,
        said: str = "",
        *,
        retry_after_s: float | None = None,
        secrets: Iterable[str] = (),
        key_variable: str = "",
        advice: str = "",
    ) -> None:
        words = redact(" ".join(said.split()), secrets)[:SAID]
        self.reason = f"{provider} {_REASONS[fault]}"
        if fault == "auth" and not key_variable:
            self.reason = f"{provider} refused access"
        if advice:
            self.reason += f": {advice}"
        where = f" Check {key_variable} in `.env`." if fault == "auth" and key_variable else ""
        super().__init__(
            f"{provider}: {fault}" + (f": {words}" if words else ""),
            provider=provider,
            failures=(SearchFailure(provider=provider, fault=fault, reason=self.reason),),
        )
        self.fault, self.retry_after_s = fault, retry_after_s
        self.retryable = fault in TRANSIENT
        self.notice = f"The search provider {self.reason}.{where}"


def none_answered(failures: tuple[SearchFailure, ...]) -> SearchError:
    """Make the error of a search that no provider answered."""
    names = ", ".join(dict.fromkeys(failure.provider for failure in failures)) or "none"
    said = "; ".join(failure.reason for failure in failures) or "no search provider is set up"
    error = SearchError(f"no search answered: {said}", provider=names, failures=failures)
    error.notice = f"No search provider answered: {said}."
    return error


def fault_of(status: int, said: str = "", *, asks_to_wait: bool = False) -> SearchFault:
    """Sort an HTTP answer that holds no results."""
    if status == 429 and _QUOTA.search(said) and not asks_to_wait:
        return "quota"  # with a wait asked for, the same words mean a rate limit
    return _STATUS.get(status, "server" if status >= 500 else "nonsense")


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
        fault_of(status, said, asks_to_wait=wait is not None),
        provider,
        f"HTTP {status} {said}",
        retry_after_s=wait,
        secrets=secrets,
        key_variable=key_variable,
    )
