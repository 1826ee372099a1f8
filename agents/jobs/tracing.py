"""Traces of jobs for OpenTelemetry: job, node, call. Off unless DOSSIER_OTEL is set; the only home of its library.

Attributes follow the semantic conventions for generative AI (`gen_ai.*`); what is ours begins with `dossier.`. No words
of questions, sources or answers are in a trace. Where traces go is said by the library's own variables
(`OTEL_EXPORTER_OTLP_ENDPOINT` and kin).

Ids are made from the job's: a call finds its node and the node its job also where a worker took the job up after a
restart, and nothing has to be handed from task to task.
"""

import hashlib
import time
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from agents.contracts.report import OVER
from agents.core.errors import ConfigError
from agents.core.events import Charged, JobChanged, NodeChanged, Numbered, RoleAsked
from agents.jobs.live_job import Job
from agents.jobs.run import CallMade

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor
    from opentelemetry.sdk.trace.id_generator import IdGenerator
    from opentelemetry.trace import Span

NODE_OVER = frozenset({"done", "partial", "empty", "failed", "stopped"})
MISSING = "DOSSIER_OTEL needs the extra: pip install '.[otel]'."


class Tracing:
    """Makes spans of what happens in jobs.

    Args:
        processor: takes the finished spans; by default they are sent by OTLP over HTTP, in batches.

    Raises:
        ConfigError: the library is not installed.
    """

    def __init__(self, processor: "SpanProcessor | None" = None) -> None:
        try:
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider

            processor = processor or _otlp()
        except ImportError as error:
            raise ConfigError(MISSING) from error
        self.next_trace = self.next_span = 1
        # A provider of our own: what other libraries trace globally is the operator's affair.
        self._provider = TracerProvider(
            resource=Resource.create({"service.name": "dossier"}), id_generator=_ids(self), shutdown_on_exit=False
        )
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("dossier")

    def observe(self, job: Job) -> None:
        """Trace a job from here on; called before its first event."""
        spans = _JobSpans(self, job)
        job.run.listeners.append(spans.heard)
        job.run.watchers.append(spans.called)

    def close(self) -> None:
        """Send what is left. Takes as long as the receiver does: not for the event loop."""
        self._provider.shutdown()

    def span(
        self,
        name: str,
        trace: str,
        own: str,
        above: str,
        attributes: Mapping[str, str | int | float],
        seconds_ago: float,
    ) -> "Span":
        """Begin a span whose id and whose parent's are made of names."""
        from opentelemetry.context import Context
        from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

        trace_id = _number(trace, 16)
        self.next_trace, self.next_span = trace_id, _number(own, 8)
        parent = NonRecordingSpan(
            SpanContext(trace_id, _number(above, 8), is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))
        )
        began = time.time_ns() - int(seconds_ago * 1e9)
        context = set_span_in_context(parent, Context()) if above else Context()
        return self._tracer.start_span(name, context, attributes=attributes, start_time=began)


class _JobSpans:
    """One job's spans."""

    def __init__(self, tracing: Tracing, job: Job) -> None:
        self.tracing, self.job = tracing, job
        self.trace = job.id
        self.open: dict[str, Span] = {}
        self.begun = Counter[str]()
        self.made = 0

    @property
    def attempt(self) -> int:
        """The attempt at the job: each has a tree of spans of its own, in one trace."""
        return self.job.run.attempt

    def name(self, path: str) -> str:
        """Name a branch among all attempts at all jobs; one that is tried again has a span of its own each time."""
        again = self.begun[path]
        return f"{self.job.id}~{self.attempt}/{path}{f'+{again}' if again > 1 else ''}"

    def heard(self, numbered: Numbered) -> None:
        match numbered.event:
            case JobChanged() as event if event.status == "running" and "job" not in self.open:
                about = {"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": "research"}
                self._begin("job", "invoke_workflow research", about | {"enduser.id": self.job.owner})
            case JobChanged() as event if event.status in OVER or event.status == "blocked":
                for path in [*(path for path in self.open if path != "job"), "job"]:
                    self._end(path, event.status)
            case NodeChanged() as event if event.node != "job" and event.state not in NODE_OVER:
                if event.node not in self.open:
                    about = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": event.role}
                    self._begin(event.node, f"invoke_agent {event.role}", about | {"dossier.node": event.node})
            case NodeChanged() as event:
                self._end(event.node, event.state)

    def called(self, made: CallMade) -> None:
        """Make the span of a call that has just ended."""
        kind = made.place.call.partition(":")[0]
        attributes: dict[str, str | int | float] = {"dossier.call": made.place.call}
        name = kind
        asked = _asked(made)
        if made.pool == "model":
            attributes["gen_ai.operation.name"] = name = "chat"
            if asked is not None:
                provider, _, model = asked.model.rpartition("/")
                attributes |= {"gen_ai.request.model": model, "gen_ai.provider.name": provider or asked.model}
                attributes |= {"gen_ai.agent.name": asked.role}
                name = f"chat {model}"
        elif made.pool == "web":
            attributes |= {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": kind}
            name = f"execute_tool {kind}"
        if isinstance(made.value, Charged) and made.pool == "model":
            usage = made.value.usage
            attributes["gen_ai.usage.input_tokens"] = usage.tokens_in
            attributes["gen_ai.usage.output_tokens"] = usage.tokens_out
            if usage.cost_usd is not None:
                attributes["dossier.cost_usd"] = usage.cost_usd
        if made.error:
            attributes["error.type"] = made.error
        self.made += 1
        own = f"{self.name(made.place.node)}#{made.place.call}#{self.made}"
        above = self.name(made.place.node if made.place.node in self.open else "job")
        span = self.tracing.span(name, self.trace, own, above, self._common() | dict(attributes), made.seconds)
        _finish(span, failed=bool(made.error))

    def _common(self) -> dict[str, str | int | float]:
        return {"gen_ai.conversation.id": self.job.id, "dossier.job": self.job.id, "dossier.attempt": self.attempt}

    def _begin(self, path: str, name: str, attributes: Mapping[str, str | int | float]) -> None:
        above = path.rpartition("/")[0]
        while above and above not in self.open:
            above = above.rpartition("/")[0]
        self.begun[path] += 1
        self.open[path] = self.tracing.span(
            name, self.trace, self.name(path), self.name(above) if above else "", self._common() | dict(attributes), 0.0
        )

    def _end(self, path: str, how: str) -> None:
        span = self.open.pop(path, None)
        if span is not None:
            span.set_attribute("dossier.outcome", how)
            _finish(span, failed=how == "failed")


def _finish(span: "Span", *, failed: bool) -> None:
    from opentelemetry.trace import StatusCode

    if failed:
        span.set_status(StatusCode.ERROR)
    span.end()


def _asked(made: CallMade) -> RoleAsked | None:
    """Find out which role was asked, where the call was for one."""
    event = made.value.as_event(made.place.node) if isinstance(made.value, Charged) else None
    if isinstance(event, RoleAsked):
        return event
    # A reading holds the answer that it was made of.
    inside = getattr(made.value, "asked", None)
    event = inside.as_event(made.place.node) if isinstance(inside, Charged) else None
    return event if isinstance(event, RoleAsked) else None


def _number(name: str, size: int) -> int:
    """Make an id of a name, never zero."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:size], "big") or 1


def _ids(tracing: Tracing) -> "IdGenerator":
    """Make the generator that gives a span the id that was set for it."""
    from opentelemetry.sdk.trace.id_generator import IdGenerator

    class Named(IdGenerator):
        def generate_trace_id(self) -> int:
            return tracing.next_trace

        def generate_span_id(self) -> int:
            return tracing.next_span

    return Named()


def _otlp() -> "SpanProcessor":
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    return BatchSpanProcessor(OTLPSpanExporter())
