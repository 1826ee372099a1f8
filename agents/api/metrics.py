"""Metrics and structured logs, both fed from the events of jobs: nothing in the research code knows of either."""

import json
import logging
from collections.abc import Mapping
from functools import partial

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from agents.contracts.report import OVER
from agents.core import events
from agents.core.budget import Usage
from agents.core.events import NodeChanged, Numbered, current_trace
from agents.jobs.job import Job

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
LOOP_BUCKETS = (1, 5, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 14_400, 86_400)
COST_BUCKETS = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25)
ROUND_BUCKETS = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20)
PHASES = {"planner": "plan", "synthesizer": "synthesize", "reflector": "reflect"}
"""Roles whose answers are boundaries, and what the log calls them."""
REPEATED = "Skipped "  # how a note on a topic that is not searched again begins

disable_created_metrics()  # type: ignore[no-untyped-call]
log_name = "agents.research"
log = structlog.wrap_logger(
    logging.getLogger(log_name),
    processors=[
        structlog.stdlib.filter_by_level,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.JSONRenderer(ensure_ascii=False, default=str),
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
        self.registry = CollectorRegistry()
        counter, gauge = partial(Counter, registry=self.registry), partial(Gauge, registry=self.registry)
        histogram = partial(Histogram, registry=self.registry)
        self.loop = histogram(
            "research_loop_duration_seconds", "Seconds of one run, queueing and writing included", ["outcome"],
            buckets=LOOP_BUCKETS,
        )  # fmt: skip
        self.iterations = histogram("iterations_per_request", "Rounds of a run's root loops", buckets=ROUND_BUCKETS)
        self.failures = counter("search_failures", "Searches that failed after every retry")
        self.searches = counter("research_searches", "Searches that answered", ["provider"])
        self.calls = counter("llm_calls", "Model calls", ["role", "model"])
        self.tokens = counter("llm_tokens", "Tokens", ["role", "model", "kind"])
        self.cost = counter("llm_cost_usd", "Dollars, where the price is known", ["role", "model"])
        self.taken = gauge("llm_tokens_taken", "Tokens since the start, those of talks without a run too", ["model"])
        self.unpriced = counter("llm_calls_unpriced", "Model calls of unknown price", ["role", "model"])
        self.jobs = gauge("research_jobs", "Jobs of this process", ["status"])
        self.job_cost = histogram("research_job_cost_usd", "Dollars of one job, all prices known", buckets=COST_BUCKETS)
        self.user_cost = counter("research_user_cost_usd", "Dollars of a user's jobs, where known", ["user"])
        self.reports = counter("research_reports", "Reports written", ["grade"])
        for status in ("queued", "running", "blocked"):
            self.jobs.labels(status)

    def observe(self, job: Job) -> None:
        """Count and log what happens in a job."""
        self.jobs.labels("queued").inc()
        job.run.listeners.append(_Watched(self, job).take)

    def asked(self, user: str, role: str, model: str, usage: Usage) -> None:
        """Count the calls behind one question to a role."""
        if not usage.calls:
            return
        self.user_cost.labels(user).inc(usage.cost_usd or 0.0)
        self.calls.labels(role, model).inc(usage.calls)
        self.tokens.labels(role, model, "input").inc(usage.tokens_in)
        self.tokens.labels(role, model, "output").inc(usage.tokens_out)
        if usage.cost_usd is None:
            self.unpriced.labels(role, model).inc(usage.calls)
        else:
            self.cost.labels(role, model).inc(usage.cost_usd)

    def text(self, taken: Mapping[str, Usage]) -> bytes:
        """Write all of it, with what each model took since the start."""
        for model, usage in taken.items():
            self.taken.labels(model).set(usage.tokens)
        return generate_latest(self.registry)


class _Watched:
    """One job: each event is counted, and logged where it is a boundary of its phases."""

    def __init__(self, meter: Meter, job: Job) -> None:
        self.meter, self.job, self.results, self.rounds, self.status = meter, job, 0, 0, "queued"
        self.log = log.bind(job_id=job.id)

    def take(self, numbered: Numbered) -> None:
        """Take an event in."""
        event, meter, budget = numbered.event, self.meter, self.job.run.budget

        def say(phase: str, node: str, iteration: int | None = None, **more: object) -> None:
            call, left = numbered.key.partition("#")[2], budget.tokens_left()
            facts: dict[str, object] = {"call": call, "results": self.results, "token_budget": left, **more}
            level = logging.WARNING if isinstance(event, NodeChanged) else logging.INFO
            self.log.log(level, phase, node=node, iteration=iteration, **facts)

        match event:
            case events.JobChanged():
                said: dict[str, object] = {"status": event.status, "stage": event.stage, "note": event.note}
                spent = {"user": self.job.owner, "cost_usd": budget.spent.cost_usd, "tokens": budget.spent.tokens}
                say("phase", "job", None, **said, **(spent if event.status in OVER else {}))
                self._moved(event.status, numbered.seconds)
            case events.RoleAsked():
                meter.asked(self.job.owner, event.role, event.model, event.usage)
                if phase := PHASES.get(event.role):
                    say(phase, event.node, model=event.model, repaired=event.repaired)
            case events.SearchDone():
                self.results += event.hits
                meter.failures.inc(1 if event.failed else len(event.failures))
                if not event.failed:
                    meter.searches.labels(event.provider or "none").inc()
                say("search", event.node, hits=event.hits, failed=event.failed)
            case events.RoundEnded(record=record):
                self.rounds = max(self.rounds, record.round * (event.node.count("/") == 1))
                for phase in ("round", *(["early_stop"] if record.tag == "#EARLY_STOP" else [])):
                    say(phase, event.node, record.round, reason=record.reason, delta=record.delta)
            case events.ReportWritten():
                meter.reports.labels(event.grade).inc()
            case events.Noted() if event.text.startswith(REPEATED):
                say("duplicate_topic", event.node, reason=event.text)
            case NodeChanged(state="failed" | "stopped"):
                say(event.state, event.node, reason=event.doing)

    def _moved(self, status: str, seconds: float) -> None:
        """Count the job where it is now."""
        if status == self.status:
            return
        if self.status not in OVER:
            self.meter.jobs.labels(self.status).dec()
        self.status = status
        if status not in OVER:
            self.meter.jobs.labels(status).inc()
            return
        self.meter.loop.labels(status).observe(seconds)
        self.meter.iterations.observe(self.rounds)
        if (cost := self.job.run.budget.spent.cost_usd) is not None:
            self.meter.job_cost.observe(cost)
