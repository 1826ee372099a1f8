"""Traces of jobs for OpenTelemetry: job, node, call. Off unless DOSSIER_OTEL is set; the only home of its library.

Attributes follow the semantic conventions for generative AI (`gen_ai.*`); what is ours begins with `dossier.`. No words
of questions, sources or answers are in a trace. Where traces go is said by the library's own variables
(`OTEL_EXPORTER_OTLP_ENDPOINT` and kin). Each attempt in each process is a trace; `dossier.job` holds those of a job together.
"""

import time
from typing import TYPE_CHECKING

from agents.contracts.frozen import Spent
from agents.contracts.report import OVER
from agents.core.errors import ConfigError
from agents.core.events import JobChanged, NodeChanged, Numbered
from agents.jobs.attempt import ROOT, CallMade
from agents.jobs.job import Job

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor
    from opentelemetry.trace import Span, Tracer

    Attributes = dict[str, str | int | float]

NODE_OVER = frozenset({"done", "partial", "empty", "failed", "stopped"})


class Tracing:
    """Makes spans of what happens in jobs; by default they are sent by OTLP over HTTP, in batches."""

    def __init__(self, processor: "SpanProcessor | None" = None) -> None:
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        except ImportError as error:
            raise ConfigError("DOSSIER_OTEL needs the extra: pip install '.[otel]'.") from error
        processor = processor or BatchSpanProcessor(OTLPSpanExporter())
        # a provider of our own: what other libraries trace globally is the operator's affair.
        self._provider = TracerProvider(resource=Resource.create({"service.name": "dossier"}), shutdown_on_exit=False)
        self._provider.add_span_processor(processor)

    def observe(self, job: Job) -> None:
        """Trace a job from here on; called before its first event."""
        spans = _JobSpans(self._provider.get_tracer("dossier"), job)
        job.run.listeners.append(spans.heard)
        job.run.watchers.append(spans.called)

    def close(self) -> None:
        """Send what is left. Takes as long as the receiver does: not for the event loop."""
        self._provider.shutdown()


class _JobSpans:
    """One job's spans that are open, by path."""

    def __init__(self, tracer: "Tracer", job: Job) -> None:
        self.tracer, self.job = tracer, job
        self.open: dict[str, Span] = {}

    def heard(self, numbered: Numbered) -> None:
        match numbered.event:
            case JobChanged() as event if event.status in OVER or event.status == "blocked":
                for path in tuple(reversed(self.open)):  # the job's own was opened first
                    self._end(path, event.status)
            case JobChanged(status="running"):
                self._root()
            case NodeChanged() as event if event.node != ROOT and event.state not in NODE_OVER:
                if event.node not in self.open:
                    about: Attributes = {"gen_ai.agent.name": event.role, "dossier.node": event.node}
                    self.open[event.node] = self._span(event.node, "invoke_agent", event.role, about)
            case NodeChanged() as event:
                self._end(event.node, event.state)

    def called(self, made: CallMade) -> None:
        kind = made.place.call.partition(":")[0]
        about: Attributes = {"dossier.call": made.place.call}
        operation, what = "", kind
        if made.pool == "model":
            operation, what = "chat", ""
            # A reading holds the answer that it was made of.
            asked = made.value if isinstance(made.value, Spent) else getattr(made.value, "asked", None)
            if isinstance(asked, Spent):
                (provider, _, what), usage = asked.model.rpartition("/"), asked.usage
                about |= {"gen_ai.request.model": what, "gen_ai.provider.name": provider or what}
                about["gen_ai.agent.name"] = asked.role
                about |= {"gen_ai.usage.input_tokens": usage.tokens_in, "gen_ai.usage.output_tokens": usage.tokens_out}
                about |= {} if usage.cost_usd is None else {"dossier.cost_usd": usage.cost_usd}
        elif made.pool == "web":
            operation = "execute_tool"
            about["gen_ai.tool.name"] = kind
        about |= {"error.type": made.error} if made.error else {}
        _finish(self._span(f"{made.place.node}/", operation, what, about, made.seconds), failed=bool(made.error))

    def _root(self) -> "Span":
        """Give the job's own span; a job that another process began gets one with its first node or call here."""
        if ROOT not in self.open:
            about: Attributes = {"gen_ai.workflow.name": "research", "enduser.id": self.job.owner}
            self.open[ROOT] = self._span("", "invoke_workflow", "research", about)
        return self.open[ROOT]

    def _span(self, path: str, operation: str, what: str, about: "Attributes", seconds: float = 0.0) -> "Span":
        """Begin a span below the nearest one that is open above `path`; the job's own has no path."""
        from opentelemetry.context import Context
        from opentelemetry.trace import set_span_in_context

        above = path.rpartition("/")[0]
        while above and above not in self.open:
            above = above.rpartition("/")[0]
        context = set_span_in_context(self.open.get(above) or self._root(), Context()) if path else Context()
        job, attempt = self.job.id, self.job.run.attempt
        about |= {"dossier.job": job, "dossier.attempt": attempt, "gen_ai.conversation.id": job}
        about |= {"gen_ai.operation.name": operation} if operation else {}
        began = time.time_ns() - int(seconds * 1e9)
        return self.tracer.start_span(f"{operation} {what}".strip(), context, attributes=about, start_time=began)

    def _end(self, path: str, how: str) -> None:
        if (span := self.open.pop(path, None)) is not None:
            span.set_attribute("dossier.outcome", how)
            _finish(span, failed=how == "failed")


def _finish(span: "Span", *, failed: bool) -> None:
    from opentelemetry.trace import StatusCode

    if failed:
        span.set_status(StatusCode.ERROR)
    span.end()
