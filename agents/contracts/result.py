"""What a job's research comes to, before it is made into a report document."""

from agents.contracts.brief import Brief
from agents.contracts.change import Change
from agents.contracts.contract import Contract
from agents.contracts.finding import Finding, Frame, Problem
from agents.contracts.frozen import Frozen, Text
from agents.contracts.verification import Truth


class Request(Frozen):
    """What a caller asked for under a key of its own: asking again gives the same job and the same answer."""

    key: Text
    fingerprint: Text
    """Digest of the whole request; another request under the same key is refused."""
    answer: str = ""
    """What the answer holds beside the job, as JSON of whoever gave it."""


class Commission(Frozen):
    """What a job is given: the contract that the user authorized, or a brief whose planners run inside the job."""

    contract: Contract | None = None
    brief: Brief | None = None
    """Of a caller whose request is the authorization (command line, HTTP)."""
    challenge: bool = True
    request: Request | None = None
    """Only of jobs that were started under a key."""


class Outcome(Frozen):
    """Findings of all queries and the frame around them. Prose cites facts by `[#id]`."""

    contract: Contract
    findings: tuple[Finding, ...]
    """One per query, in the order of the contract."""
    frame: Frame | None
    """None when there was nothing to write about, or when it was written without a model."""
    problems: tuple[Problem, ...] = ()
    """Failures outside any node; each node holds its own."""
    reasons: tuple[Text, ...] = ()
    """Why the report is partial, in plain words in the language of the brief; empty when it is complete."""
    tags: tuple[str, ...] = ()
    """Response-awareness tags that apply, for example `#TIME_LIMIT`."""
    degraded: bool = False
    """Searching was limited: the report rests on partial information."""
    truth: Truth = Truth()
    """Claims, sentence checks and gates; empty where nothing was challenged or checked."""
    counter: tuple[Finding, ...] = ()
    """One per query: the facts that the search for counter-evidence brought."""
    changes: tuple[Change, ...] = ()
    """What the user changed after the authorization, in order."""
    seed_failures: tuple[str, ...] = ()
    """Addresses the user named that could not be read."""
