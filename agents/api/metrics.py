"""Metrics and structured logs, both fed from the events of jobs: nothing in the research code knows of either."""

import json
import logging
from collections.abc import Callable

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from agents.contracts.report import OVER
from agents.core.budget import Usage
from agents.core.events import (
    JobChanged,
    NodeChanged,
    Noted,
    Numbered,
    ReportWritten,
    RoleAsked,
    RoundEnded,
    SearchDone,
    SourceRead,
    SourceRejected,
    current_trace,
)
from agents.jobs.live_job import Job

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
LOOP_BUCKETS = (1, 5, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 14_400, 86_400)
COST_BUCKETS = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25)
ROUND_BUCKETS = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20)
REPEATED = "Skipped "
"""How a note on a topic that is not searched again begins."""

disable_created_metrics()  # type: ignore[no-untyped-call]
log_name = "agents.research"
log = structlog.wrap_logger(
    logging.getLogger(log_name),
    processors=[
        structlog.stdlib.filter_by_level,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.JSONRenderer(
            serializer=lambda line, **_: json.dumps(line, ensure_ascii=False, default=str)
        ),
    ],
    wrapper_class=structlog.stdlib.BoundLogger,
)
"""Phase boundaries as JSON lines, below the level that DOSSIER_LOG_LEVEL sets."""


class JsonLines(logging.Formatter):
    """Puts every record of ours on one line as JSON; ours are JSON already."""

    def format(self, record: logging.LogRecord) -> str:
        message = record.getMessage()
        if record.name == log_name and message.startswith("{"):
            return message
        said = {"event": message, "logger": record.name, "level": record.levelname.lower(), **current_trace().named()}
        if record.exc_info:
            # Frames without their local variables, which may hold keys.
            said["exception"] = self.formatException(record.exc_info)
        return json.dumps(said, ensure_ascii=False)


def log_to_stderr(level: str) -> None:
    """Have what our modules log written out from `level` on, where nobody has set up logging otherwise; once."""
    ours = logging.getLogger("agents")
    ours.setLevel(level)
    if not ours.handlers and not logging.getLogger().handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(JsonLines())
        ours.addHandler(handler)
        ours.propagate = False


class Meter:
    """The metrics of one server, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.loop = Histogram(
            "research_loop_duration_seconds", "Seconds of one run, queueing and writing included", ["outcome"],
            buckets=LOOP_BUCKETS, registry=registry,
        )  # fmt: skip
        self.iterations = Histogram(
            "iterations_per_request", "Rounds of a run's root loops", buckets=ROUND_BUCKETS, registry=registry
        )
        self.failures = Counter("search_failures", "Searches that failed after every retry", registry=registry)
        self.searches = Counter("research_searches", "Searches that answered", ["provider"], registry=registry)
        self.reads = Counter("research_sources", "Documents found", ["outcome"], registry=registry)
        self.calls = Counter("llm_calls", "Model calls", ["role", "model"], registry=registry)
        self.tokens = Counter("llm_tokens", "Tokens", ["role", "model", "kind"], registry=registry)
        self.cost = Counter("llm_cost_usd", "Dollars, where the price is known", ["role", "model"], registry=registry)
        self.unpriced = Counter(
            "llm_calls_unpriced", "Model calls of unknown price", ["role", "model"], registry=registry
        )
        self.repeats = Counter("research_topics_skipped", "Topics not searched again", registry=registry)
        self.jobs = Gauge("research_jobs", "Jobs of this process", ["status"], registry=registry)
        self.job_cost = Histogram(
            "research_job_cost_usd", "Dollars of one job, where all prices are known", buckets=COST_BUCKETS, registry=registry
        )  # fmt: skip
        self.user_cost = Counter(
            "research_user_cost_usd", "Dollars of a user's jobs, where the price is known", ["user"], registry=registry
        )
        self.user_tokens = Counter("research_user_tokens", "Tokens of a user's jobs", ["user"], registry=registry)
        self.reports = Counter("research_reports", "Reports written", ["grade"], registry=registry)
        self._failed, self._known = 0.0, {"queued": 0, "running": 0, "blocked": 0}
        for status in self._known:
            self.jobs.labels(status)

    def observe(self, job: Job) -> None:
        """Count and log what happens in a job."""
        told = PhaseLog(job)
        rounds = 0
        status = "queued"
        self.jobs.labels(status).inc()

        def heard(numbered: Numbered) -> None:
            nonlocal rounds, status
            event = numbered.event
            told.tell(numbered)
            if isinstance(event, RoundEnded):
                rounds = max(rounds, event.record.round) if event.node.count("/") == 1 else rounds
            elif isinstance(event, JobChanged) and event.status != status:
                if status not in OVER:
                    self.jobs.labels(status).dec()
                status = event.status
                if event.status not in OVER:
                    self.jobs.labels(status).inc()
                else:
                    self.loop.labels(event.status).observe(numbered.seconds)
                    self.iterations.observe(rounds)
                    spent = job.run.budget.spent
                    if spent.cost_usd is not None:
                        self.job_cost.observe(spent.cost_usd)
            if isinstance(event, RoleAsked):
                self._spent(job.owner, event.usage)
            self._count(event)

        job.run.listeners.append(heard)

    def _count(self, event: object) -> None:
        match event:
            case RoleAsked():
                self.asked(event.role, event.model, event.usage)
            case SearchDone(failed=""):
                self.searches.labels(event.provider or "none").inc()
                self.failures.inc(len(event.failures))
            case SearchDone():
                self.failures.inc()
            case SourceRead():
                self.reads.labels("read").inc()
            case SourceRejected():
                self.reads.labels("rejected").inc()
            case ReportWritten():
                self.reports.labels(event.grade).inc()
            case Noted() if event.text.startswith(REPEATED):
                self.repeats.inc()

    def planned(self, job: Job, queries: int, model: str, usage: Usage) -> None:
        """Count and log the planning of a run, which comes before its job."""
        self.asked("planner", model, usage)
        left = job.run.budget.tokens_left()
        facts = {"node": "job", "call": "plan", "iteration": 0, "queries": queries, "results": 0, "token_budget": left}
        log.info("plan", job_id=job.id, model=model, **facts)
        self._spent(job.owner, usage)

    def _spent(self, user: str, usage: Usage) -> None:
        self.user_tokens.labels(user).inc(usage.tokens)
        self.user_cost.labels(user).inc(usage.cost_usd or 0.0)

    def asked(self, role: str, model: str, usage: Usage) -> None:
        """Count the calls behind one question to a role."""
        if not usage.calls:
            return
        self.calls.labels(role, model).inc(usage.calls)
        self.tokens.labels(role, model, "input").inc(usage.tokens_in)
        self.tokens.labels(role, model, "output").inc(usage.tokens_out)
        if usage.cost_usd is None:
            self.unpriced.labels(role, model).inc(usage.calls)
        else:
            self.cost.labels(role, model).inc(usage.cost_usd)

    def text(self) -> bytes:
        return generate_latest(self.registry)


class PhaseLog:
    """Logs one job at its phase boundaries: which job, node and round, what is left to spend, what was found."""

    def __init__(self, job: Job) -> None:
        self.job, self.results, self.failed = job, 0, 0
        self.log = log.bind(job_id=job.id)

    def tell(self, numbered: Numbered) -> None:
        """Log an event that is a boundary; all others only count."""
        event, budget = numbered.event, self.job.run.budget
        call = numbered.key.partition("#")[2]
        facts: dict[str, object] = {"call": call, "results": self.results, "token_budget": budget.tokens_left()}
        say: Callable[..., object] = self.log.info
        match event:
            case JobChanged():
                if event.status in OVER:
                    facts |= {"user": self.job.owner, "cost_usd": budget.spent.cost_usd, "tokens": budget.spent.tokens}
                said = {"status": event.status, "stage": event.stage, "note": event.note}
                say("phase", node="job", iteration=None, **said, **facts)
            case RoleAsked(role="planner" | "synthesizer"):
                phase = "plan" if event.role == "planner" else "synthesize"
                say(phase, node=event.node, iteration=None, model=event.model, repaired=event.repaired, **facts)
            case RoleAsked(role="reflector"):
                say("reflect", node=event.node, iteration=None, model=event.model, **facts)
            case SearchDone():
                self.results += event.hits
                facts["results"] = self.results
                self.failed += bool(event.failed)
                say("search", node=event.node, iteration=None, hits=event.hits, failed=event.failed, **facts)
            case RoundEnded():
                record = event.record
                say("round", node=event.node, iteration=record.round, reason=record.reason, delta=record.delta, **facts)
                if record.tag == "#EARLY_STOP":
                    say("early_stop", node=event.node, iteration=record.round, reason=record.reason, **facts)
            case Noted() if event.text.startswith(REPEATED):
                say("duplicate_topic", node=event.node, iteration=None, reason=event.text, **facts)
            case NodeChanged(state="failed" | "stopped"):
                self.log.warning(event.state, node=event.node, iteration=None, reason=event.doing, **facts)
