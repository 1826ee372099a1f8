"""What callers get wrong: always the one shape of an error, never a 5xx of ours."""

import json

import pytest

from tests.api.conftest import TASK

SHAPE = {"type", "message", "retryable"}
WRONG = [
    ({}, "task"),
    ({"task": ""}, "task"),
    ({"task": "  \n"}, "task"),
    ({"task": 7}, "task"),
    ({"task": None}, "task"),
    ({"task": ["x"]}, "task"),
    ({"task": "x" * 20_001}, "task"),
    ({"task": "x", "complexity_tier": "huge"}, "complexity_tier"),
    ({"task": "x", "complexity_tier": 2}, "complexity_tier"),
    ({"task": "x", "max_iters": 0}, "max_iters"),
    ({"task": "x", "max_iters": -1}, "max_iters"),
    ({"task": "x", "max_iters": 21}, "max_iters"),
    ({"task": "x", "max_iters": 1.5}, "max_iters"),
    ({"task": "x", "max_iters": "2"}, "max_iters"),
    ({"task": "x", "max_iters": True}, "max_iters"),
    ({"task": "x", "max_queries": -3}, "max_queries"),
    ({"task": "x", "max_sources": -3}, "max_sources"),
    ({"task": "x", "max_execution_time_s": -1}, "max_execution_time_s"),
    ({"task": "x", "max_execution_time_s": 0}, "max_execution_time_s"),
    ({"task": "x", "max_execution_time_s": 1e9}, "max_execution_time_s"),
    ({"task": "x", "stream": "yes"}, "stream"),
    ({"task": "x", "stream": True, "async": True}, "body"),
    ({"task": "x", "tier": "simple"}, "tier"),
]


@pytest.mark.parametrize(("body", "field"), WRONG)
async def test_a_wrong_field_of_a_run_is_named(site, http, body, field):
    answer = await http.post("/run", json=body)
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert error["type"] == "bad_request"
    assert field in {fault["field"] for fault in error["details"]["fields"]}
    assert not site.team.jobs.of("local")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"query": TASK, "queries": [TASK]},
        {"queries": []},
        {"queries": [TASK, TASK]},
        {"queries": ["x"] * 7},
        {"query": TASK, "mode": "fast"},
        {"query": TASK, "mode": "deep", "complexity_tier": "deep"},
        {"query": TASK, "time": 0},
        {"query": TASK, "time": -5},
        {"query": TASK, "time": 1441},
        {"query": TASK, "time": "soon"},
        {"query": TASK, "time": True},
        {"query": TASK, "time": []},
        {"query": TASK, "language": "English please"},
        {"query": TASK, "domains": "a.example"},
        {"query": TASK, "domains": ["not a domain"]},
        {"query": TASK, "dates": {"from": "yesterday"}},
        {"query": TASK, "dates": {"since": "2020"}},
        {"query": TASK, "tier": "deep"},
        {"query": TASK, "thread_id": "x"},
        [],
        "x",
        None,
    ],
)
async def test_a_wrong_job_is_refused_in_one_shape(site, http, body):
    answer = await http.post("/research/jobs", json=body)
    assert answer.status_code == 422
    assert set(answer.json()["error"]) >= SHAPE
    assert not site.team.jobs.of("local")


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        ({"dates": {"from": "2024", "to": "2020-05"}}, "That leaves no dates"),
        ({"domains": ["a.example", "-a.example"]}, "That leaves no domain to search"),
        ({"language": "tlh"}, "No report is written in “tlh” yet"),
    ],
)
async def test_what_could_only_find_nothing_or_would_be_written_otherwise_is_refused_at_once(site, http, limits, why):
    answer = await http.post("/research/jobs", json={"query": TASK, **limits})
    assert answer.status_code == 422
    assert why in answer.json()["error"]["message"]


async def test_a_year_may_end_what_a_month_of_it_begins(site, http):
    limits = {"dates": {"from": "2024-05", "to": "2024"}, "language": "fr-CA"}
    assert (await http.post("/research/jobs", json={"query": TASK, **limits})).status_code == 202


async def test_an_unknown_field_is_said_and_not_ignored(site, http):
    error = (await http.post("/run", json={"task": TASK, "max_rounds": 3})).json()["error"]
    assert error["message"] == "max_rounds: there is no such field"


@pytest.mark.parametrize(
    "content",
    [b"", b"not json", b"\xff\xfe", b'{"task": NaN}', b'{"task": "x", "max_execution_time_s": Infinity}',
     b'{"task": "\\ud800"}', b'{"\\ud800": 1}', b"[" * 100_000, b'{"task": "x", "max_iters": ' + b"9" * 5000 + b"}"],
    ids=["none", "text", "binary", "nan", "infinity", "surrogate", "surrogate-name", "nested", "huge-number"],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/run", "/research/jobs", "/search", "/v1/chat/completions"])
async def test_a_body_that_cannot_be_read_is_the_callers_fault(site, http, path, content):
    answer = await http.post(path, content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code in {400, 422}
    assert set(answer.json()["error"]) >= SHAPE


@pytest.mark.parametrize("path", ["/run", "/run-simple", "/search", "/research/jobs", "/v1/chat/completions"])
async def test_a_megabyte_is_refused_before_it_is_read(site, http, path):
    answer = await http.post(
        path, content=json.dumps({"task": "x" * 1_000_000}), headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 413
    assert answer.json()["error"]["type"] == "too_large"


async def test_a_megabyte_that_does_not_say_how_long_it_is_is_cut_off(site, http):
    async def pieces():
        for _ in range(30):
            yield b"x" * 50_000

    answer = await http.post("/run", content=pieces(), headers={"Content-Type": "application/json"})
    assert answer.status_code == 413


@pytest.mark.parametrize("key", ["", "k" * 256])
async def test_an_idempotency_key_has_a_sensible_length(site, http, key):
    answer = await http.post("/run", json={"task": TASK, "async": True}, headers={"Idempotency-Key": key})
    assert answer.status_code == 422


@pytest.mark.parametrize(
    ("verb", "path"),
    [
        ("GET", "/run"),
        ("PUT", "/run"),
        ("GET", "/run/x"),
        ("POST", "/research/nope"),
        ("POST", "/research/jobs/x/nope"),
        ("PATCH", "/research/jobs/x"),
        ("POST", "/metrics"),
        ("GET", "/v1"),
        ("GET", "/v1/completions"),
        ("GET", "/v1/models/gpt"),
        ("POST", "/v1/embeddings"),
        ("GET", "/mcp/x"),
        ("GET", "/research/jobs/x/report.exe"),
        ("GET", "/research/jobs/x/report.bib"),
    ],
)
async def test_an_unknown_path_is_a_json_404(site, http, verb, path):
    answer = await http.request(verb, path)
    assert answer.status_code == 404
    assert answer.json()["error"]["retryable"] is False


@pytest.mark.parametrize("query", ["limit=x", "offset=x", "status=happy"])
async def test_a_wrong_parameter_is_said(site, http, query):
    answer = await http.get(f"/research/jobs?{query}")
    assert answer.status_code == 422
    assert answer.json()["error"]["details"]["fields"][0]["field"].startswith(query.split("=")[0])


@pytest.mark.parametrize("query", ["limit=-5", "offset=-5", "limit=100000", "offset=99999999999999999999"])
async def test_numbers_beyond_sense_are_brought_into_range(site, http, query):
    assert (await http.get(f"/research/jobs?{query}")).status_code == 200


# ---- who may come in


@pytest.mark.parametrize(
    ("verb", "path", "body"),
    [
        ("POST", "/run", {"task": TASK}),
        ("POST", "/run-simple", {"task": TASK}),
        ("POST", "/search", {"query": "x"}),
        ("POST", "/research/jobs", {"query": TASK}),
        ("DELETE", "/research/jobs", None),
        ("GET", "/research/jobs", None),
        ("GET", "/metrics", None),
        ("GET", "/v1/models", None),
        ("POST", "/v1/chat/completions", {"model": "research", "messages": [{"role": "user", "content": "x"}]}),
        ("POST", "/mcp", {}),
    ],
)
async def test_from_elsewhere_every_route_wants_the_key(put, http, verb, path, body):
    site = put(host="0.0.0.0", api_key="k" * 20)
    for header in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic a2s="}):
        answer = await http.request(verb, path, json=body, headers=header)
        assert answer.status_code == 401
        assert answer.json()["error"]["type"] == "unauthorized"
    assert not site.team.jobs.of("user")
    if path == "/search":
        answer = await http.request(verb, path, json=body, headers={"Authorization": f"Bearer {'k' * 20}"})
        assert answer.status_code == 200
