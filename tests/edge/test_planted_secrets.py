"""Secrets planted wherever an operator puts them, and providers that repeat them: none turns up in anything that is kept or shown."""

import asyncio
import io
import json
import logging
import sys
import zipfile

import pypdf
import pytest
from werkzeug import Response

from agents.api.metrics import JsonLines, Meter
from agents.cli.doctor import report
from agents.contracts.contract import Brief, Query
from agents.contracts.report import Commission
from agents.core.settings import load
from agents.jobs.tracing import Tracing
from agents.llm.litellm_model import close
from agents.report.formats import FORMS
from agents.team import open_team

export = pytest.importorskip("opentelemetry.sdk.trace.export", reason="the `otel` extra is not installed")

SECRETS = {
    "OPENAI_API_KEY": "sk-proj-Planted0OpenAi0Planted0OpenAi",
    "ANTHROPIC_API_KEY": "sk-ant-Planted0Anthropic0Planted0",
    "TAVILY_API_KEY": "tvly-Planted0Tavily0Planted0Tavily",
    "DOSSIER_API_KEY": "Planted0Dossier0Planted0Dossier0Key",
    "DOSSIER_QDRANT_KEY": "Planted0Qdrant0Planted0Qdrant0Key",
}
ASKED = "How well did the eelgrass shoots planted in Tolven Bay survive?"


def readable(form, data):
    """What a reader of a file can find in it."""
    if form == "pdf":
        return "".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(data)).pages).encode()
    if form == "docx":
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            return b"".join(packed.read(name) for name in packed.namelist())
    return data


@pytest.fixture
def planted(httpserver, monkeypatch, tmp_path):
    """An operator's settings, and a provider whose errors repeat the whole request with its headers."""

    def repeats(request):
        said = f"{dict(request.headers)} {request.get_data(as_text=True)} {' '.join(SECRETS.values())}"
        return Response(json.dumps({"error": {"message": said}, "detail": {"error": said}}), status=402)

    for path in ("/v1/chat/completions", "/search", "/extract"):
        httpserver.expect_request(path).respond_with_handler(repeats)
    here = httpserver.url_for("/").rstrip("/")
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "bay.md").write_text(
        "# Tolven Bay\n\nOf the eelgrass shoots planted in Tolven Bay, 62 % survived for 24 months.\n", "utf-8"
    )
    values = SECRETS | {
        "OPENAI_API_BASE": f"{here}/v1", "DOSSIER_MODEL": "openai/m-x", "DOSSIER_FALLBACKS": "none", "RETRIEVER": "tavily",
        "TAVILY_API_BASE": here, "DOSSIER_DATA_DIR": str(tmp_path / "data"), "DOSSIER_LIBRARY": str(tmp_path / "library"),
        "DOSSIER_LOG_LEVEL": "DEBUG",
    }  # fmt: skip
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    return load(tmp_path / "none")


async def test_a_planted_secret_is_in_no_log_event_error_export_trace_file_or_line_of_doctor(
    planted, httpserver, tmp_path, caplog
):
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    spans, shown, meter = InMemorySpanExporter(), {}, Meter()
    tracing = Tracing(export.SimpleSpanProcessor(spans))
    query = Query(text=ASKED, feasible=True, reason="small", depth_estimate=1)
    caplog.set_level(logging.INFO, "aiosqlite")  # what it says by the thousand stands in the files
    with caplog.at_level(logging.DEBUG):
        team = open_team(planted, durable=True)
        team.tracing = tracing
        team.observers.append(meter.observe)
        await team.open()
        job = await team.commission(
            Commission(brief=Brief(question=ASKED, queries=(query,), today="2026-11-28")), owner="ann"
        )
        await asyncio.wait_for(job.wait(), 60)
        assert job.report is not None, job.notice
        shown["events"] = "\n".join(one.model_dump_json() for one in job.run.events)
        shown |= {f"report.{form}": readable(form, how.write(job.report)) for form, how in FORMS.items()}
        shown["notice"], shown["metrics"] = job.notice, meter.text({})
        shown["rows"] = repr(await team.jobs.store.jobs())
        await team.close()
        shown["doctor"] = "\n".join((await report())[0])
        shown["doctor --try"] = "\n".join((await report(really=True))[0])
        await close()
    shown["traces"] = "\n".join(span.to_json() for span in spans.get_finished_spans())
    shown["log"] = caplog.text + "\n".join(JsonLines().format(record) for record in caplog.records)
    shown |= {str(path.relative_to(tmp_path)): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    assert any(SECRETS["OPENAI_API_KEY"] in str(request.headers) for request, _ in httpserver.log)
    assert len(spans.get_finished_spans()) > 3
    assert {"data/jobs.db", "data/engine.db"} <= shown.keys()
    as_bytes = {name: what if isinstance(what, bytes) else what.encode() for name, what in shown.items()}
    found = [
        (name, one) for name, what in as_bytes.items() for one, secret in SECRETS.items() if secret.encode() in what
    ]
    assert found == []
    assert "Planted0" not in "".join(map(repr, (planted, sys.exc_info())))
