"""The search protocol: queries to hits, addresses to sources, a corpus to a survey. Knows no provider.

How a search can fail, sorted by what is worth trying, and without keys; and the circuit breaker: whoever keeps failing is
left alone for a while, then tried once (specification, section 11).
"""

import re
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Protocol, runtime_checkable

from agents.contracts.frozen import Frozen, Text
from agents.contracts.sources import CorpusSurvey, Hit, SearchFailure, SearchFault, SearchQuery, SearchResult, Source
from agents.core import transport
from agents.core.errors import SearchError
from agents.llm.litellm_errors import A_PAGE, cue, redact, spoken

TRANSIENT = frozenset[SearchFault]({"rate", "timeout", "connection", "server"})
"""Worth another request soon; a refused key, an empty account or a captcha page stay what they are."""

SAID = 300  # characters of a provider's own words that are kept for the log
_QUOTA = re.compile(
    r"insufficient[_ ](?:quota|credit|balance|fund)|(?:current|monthly|plan'?s?) (?:quota|(?:usage )?limit)"
    r"|quota (?:was )?(?:exceeded|exhausted|used)|(?:out of|no more|not enough) credit|payment required|credits? exhausted",
    re.IGNORECASE,
)
# 202: keyless services throttle with an empty "accepted"; 432 and 433 are Tavily's own, for the limits of a plan.
_STATUS: dict[int, SearchFault] = {
    202: "rate", 400: "query", 401: "auth", 402: "quota", 403: "auth", 407: "connection", 408: "timeout", 413: "query",
    414: "query", 422: "query", 425: "rate", 429: "rate", 432: "quota", 433: "quota", 504: "timeout",
}  # fmt: skip
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
    """One provider failed after every retry: what it `said`, without keys, and of its `answer` the words for people."""

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
        answer: str = "",
    ) -> None:
        words = redact(" ".join(said.split()), secrets)[:SAID]
        is_open = fault == "auth" and not key_variable
        self.reason = f"{provider} {'refused access' if is_open else _REASONS[fault]}"
        advice = advice or (transport.advice(said) if fault == "connection" else "")
        if advice:
            self.reason += f": {advice}"
        elif own := redact(spoken(answer), secrets):
            self.reason += f" (it said: “{own}”)"
        where = f" Check {key_variable} in `.env`." if fault == "auth" and key_variable else ""
        super().__init__(
            f"{provider}: {fault}" + (f": {words}" if words else ""),
            provider=provider,
            failures=(SearchFailure(provider=provider, fault=fault, reason=self.reason),),
        )
        self.fault, self.retry_after_s = fault, retry_after_s
        self.retryable = fault in TRANSIENT and not (fault == "connection" and advice)
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
    if status in (400, 403, 422, 429) and _QUOTA.search(said) and not asks_to_wait:
        return "quota"  # with a wait asked for, the same words mean a rate limit
    if status in (400, 422) and cue("bad_key").search(said):
        return "auth"
    if status == 403 and A_PAGE.search(said):
        return "connection"  # whoever speaks there, it is no search service
    return _STATUS.get(status, "server" if status >= 500 else "nonsense")


LIBRARY_NAME = "library"
SAMPLE_NAME = "sample library"
FILES_NAME = "your files"
"""What the user's folders, the invented sample and the files of one chat are called, wherever they are named."""


class Probed(Frozen):
    """Whether a search provider can be reached."""

    provider: Text
    host: Text
    """Where queries go."""
    reachable: bool
    reason: str = ""
    """Why not, for people."""


class Searcher(Protocol):
    """Somewhere to look for documents, and to read them."""

    @property
    def name(self) -> str:
        """As shown to the user and kept with each search, for example `library`."""

    async def search(self, query: SearchQuery, deadline_s: float | None = None) -> SearchResult:
        """Look for documents; no hits is an answer, a `SearchError` that the provider failed after every retry."""

    async def read(self, url: str, deadline_s: float | None = None, known: Source | None = None) -> Source:
        """Read the whole document at an address that a search gave, or that the user named.

        What is `known` of it need not be sent again where its server says that it has not changed. A `SourceError` says for
        the reader of the report why it cannot be read or may not be used.
        """

    async def survey(self, question: str = "", limit: int = 24) -> CorpusSurvey:
        """Tell what the documents that match `question` (all of them when empty) talk about."""


@runtime_checkable
class Crawler(Protocol):
    """A searcher that can go on from a page to others of its site."""

    async def crawl(self, url: str, limit: int, deadline_s: float | None = None) -> tuple[Hit, ...]:
        """Give pages of the same site that the page at `url` leads to, one step away; none is an answer.

        A `SourceError` where the page cannot be read or may not be used.
        """


class Texts(Protocol):
    """Texts kept by their digest, so that steps and events carry only the digest."""

    async def put(self, text: str) -> str:
        """Keep `text` and return its digest (`agents.contracts.frozen.digest`)."""

    async def get(self, text_hash: str) -> str:
        """Return the text of a digest; a `SourceError` where none is kept."""


IN_A_ROW = 3  # failures in a row that open it
MIN_CALLS = 4  # calls from which the share of failures counts
SHARE = 0.5
REMEMBERED = 20  # calls of which the share is taken
REST_S = 30.0
TRIAL_S = 60.0  # seconds for which one call that tries a provider after its rest keeps others from trying


class CircuitBreaker:
    """Counts how calls end, of one provider or of one run. A search that finds nothing has not failed."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, rest_s: float = REST_S) -> None:
        self._clock, self._rest_s = clock, rest_s
        self._ends: deque[bool] = deque(maxlen=REMEMBERED)
        self._open_until: float | None = None
        self.reason = ""
        """Why it opened, for people; empty while it is closed."""

    @property
    def is_open(self) -> bool:
        """True from the failure that opened it to the next success."""
        return self._open_until is not None

    def admit(self) -> bool:
        """Tell whether a call may be made: of an open breaker one at a time, after the time of rest."""
        if self._open_until is None:
            return True
        if rested := self._clock() >= self._open_until:
            self._open_until = self._clock() + TRIAL_S
        return rested

    def succeeded(self) -> None:
        """Count a success, which closes it and begins the count anew."""
        if self.is_open:
            self._ends.clear()
            self._open_until, self.reason = None, ""
        self._ends.append(True)

    def failed(self, reason: str, *, rest_s: float = 0.0, at_once: bool = False) -> None:
        """Count a failure."""
        self._ends.append(False)
        row = list(self._ends)[-IN_A_ROW:]
        many = len(row) == IN_A_ROW and not any(row)
        half = len(self._ends) >= MIN_CALLS and self._ends.count(False) >= SHARE * len(self._ends)
        if many or half or at_once or self.is_open:
            self.rest(reason, max(self._rest_s, rest_s))

    def abandoned(self) -> None:
        """Note that a call ended without telling anything of the provider."""
        if self.is_open:
            self._open_until = self._clock()

    def rest(self, reason: str, seconds: float) -> None:
        """Open it for so many seconds."""
        self._open_until, self.reason = self._clock() + seconds, reason
