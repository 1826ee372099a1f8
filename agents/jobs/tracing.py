"""Traces of jobs for OpenTelemetry: job, node, call. Off unless DOSSIER_OTEL is set; the only home of its library.

Attributes follow the semantic conventions for generative AI (`gen_ai.*`); what is ours begins with `dossier.`. No words
of questions, sources or answers are in a trace. Where traces go is said by the library's own variables
(`OTEL_EXPORTER_OTLP_ENDPOINT` and kin). Each attempt in each process is a trace; `dossier.job` holds those of a job together.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from agents.contracts.frozen import Frozen, Spent
from agents.core.errors import ConfigError
from agents.core.events import JobChanged, NodeChanged, TraceContext
from agents.jobs.attempt import ROOT, Attempt

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor
    from opentelemetry.trace import Span

Attributes = dict[str, str | int | float]
JOB = "research"  # name of the workflow


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
        self._tracer = self._provider.get_tracer("dossier")

    def close(self) -> None:
        """Send what is left. Takes as long as the receiver does: not for the event loop."""
        self._provider.shutdown()

    @contextmanager
    def span(self, run: Attempt, place: TraceContext, about: str) -> Iterator[Callable[[Frozen], object]]:
        """Trace the inside as a job, a node or a call, below the one that it runs in."""
        from opentelemetry.context import Context
        from opentelemetry.trace import StatusCode

        what, said = _named(place, about)
        said |= {"dossier.job": run.job_id, "dossier.attempt": run.attempt, "gen_ai.conversation.id": run.job_id}
        name = f"{said.get('gen_ai.operation.name', '')} {what}".strip()
        above = Context() if what == JOB else None
        # Of an error only its name: what it says may be words of a source.
        with self._tracer.start_as_current_span(
            name, above, attributes=said, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield partial(_describe, span) if about == "model" else lambda value: None
            except Exception as error:
                span.set_attribute("error.type", type(error).__name__)
                span.set_status(StatusCode.ERROR)
                raise
            finally:
                if not place.call and (outcome := _state(run, place.node)):
                    span.set_attribute("dossier.outcome", outcome)
                    if outcome == "failed":
                        span.set_status(StatusCode.ERROR)


def _named(place: TraceContext, about: str) -> tuple[str, Attributes]:
    """Name what is done at a place, and say what is known of it beforehand."""
    if not place.call and place.node == ROOT:
        return JOB, {"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": JOB, "enduser.id": about}
    if not place.call:
        return about, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": about, "dossier.node": place.node}
    kind, said = place.call.partition(":")[0], Attributes({"dossier.call": place.call})
    if about == "model":
        return "", said | {"gen_ai.operation.name": "chat"}
    return kind, said | ({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": kind} if about == "web" else {})


def _describe(span: "Span", value: Frozen) -> None:
    """Say which model was asked, and what it took; a reading holds the answer that it was made of."""
    asked = value if isinstance(value, Spent) else getattr(value, "asked", None)
    if isinstance(asked, Spent):
        provider, _, model = asked.model.rpartition("/")
        usage = asked.usage
        span.update_name(f"chat {model}")
        span.set_attributes({
            "gen_ai.request.model": model, "gen_ai.provider.name": provider or model, "gen_ai.agent.name": asked.role,
            "gen_ai.usage.input_tokens": usage.tokens_in, "gen_ai.usage.output_tokens": usage.tokens_out,
            **({} if usage.cost_usd is None else {"dossier.cost_usd": usage.cost_usd}),
        })  # fmt: skip


def _state(run: Attempt, node: str) -> str:
    """Give the state that a job or node was last said to be in."""
    for event in (numbered.event for numbered in reversed(run.events)):
        if isinstance(event, JobChanged) and node == ROOT:
            return event.status
        if isinstance(event, NodeChanged) and event.node == node:
            return event.state
    return ""
