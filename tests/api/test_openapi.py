"""The OpenAPI document: ours only, with examples, and true of every request that can be made up from it."""

import asyncio
import json

import pytest

# What a run costs is not what is tested here.
SLOW = {("POST", "/run"), ("POST", "/run-simple"), ("POST", "/research/jobs"), ("POST", "/v1/chat/completions")}


@pytest.fixture
def document(server_app):
    from agents.api.routes import described

    return described()


async def test_the_document_holds_our_routes_and_nobody_elses(site, http, document):
    told = (await http.get("/research/openapi.json")).json()
    assert told == json.loads(json.dumps(document))
    assert told["openapi"].startswith("3.")
    assert {"/run", "/run-simple", "/search", "/research/jobs", "/metrics", "/healthz", "/v1/chat/completions"} <= set(
        told["paths"]
    )
    assert not [path for path in told["paths"] if "project" in path or path.startswith(("/auth", "/user", "/ws"))]


def test_every_request_has_an_example(document):
    schemas = document["components"]["schemas"]
    for path, operations in document["paths"].items():
        for operation in operations.values():
            if "requestBody" in operation:
                name = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].rsplit("/", 1)[1]
                assert schemas[name]["examples"], path


def test_every_error_has_the_one_shape(document):
    for operations in document["paths"].values():
        for operation in operations.values():
            for status, answer in operation["responses"].items():
                if status >= "400":
                    assert answer["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/ErrorBody"}


def test_the_examples_are_accepted(document):
    from agents.api import payloads

    for name, schema in document["components"]["schemas"].items():
        model = getattr(payloads, name, None)
        for example in schema.get("examples", []) if model else []:
            model.model_validate(example)


def test_every_route_has_a_name_of_its_own(document):
    names = [operation["operationId"] for operations in document["paths"].values() for operation in operations.values()]
    assert len(names) == len(set(names))


def made_up(document):
    """Requests that the document allows, a handful per route, always the same ones."""
    import schemathesis
    from hypothesis import HealthCheck, Phase, given, seed, settings

    found = []
    for operation in schemathesis.openapi.from_dict(json.loads(json.dumps(document))).get_all_operations():
        route = operation.ok()
        few = 3 if (route.method.upper(), route.path) in SLOW else 5

        @seed(8)
        @settings(
            max_examples=few, database=None, deadline=None, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(case=route.as_strategy())
        def draw(case):
            found.append(case)

        draw()
    return found


async def test_no_request_made_up_from_the_document_meets_an_error_of_ours(site, http, over, document):
    found = await asyncio.to_thread(made_up, document)
    assert len(found) > 80
    job_id = await over(site)
    for number, case in enumerate(found):
        if number % 2 and "job_id" in (case.path_parameters or {}):
            case.path_parameters["job_id"] = job_id
        if case.method == "DELETE":
            case.query.pop("force", None)
            case.query["id"] = "nope"
        told = case.as_transport_kwargs(base_url="http://127.0.0.1:8000")
        body = {name: told[name] for name in ("json", "data", "content") if told.get(name) is not None}
        headers = {
            name: value for name, value in (told.get("headers") or {}).items() if name.lower() == "idempotency-key"
        }
        answer = await http.request(case.method, told["url"], params=told.get("params"), headers=headers, **body)
        route = document["paths"][case.path][case.method.lower()]
        where = f"{case.method} {case.path} {body} {answer.status_code}: {answer.text[:300]}"
        assert str(answer.status_code) in route["responses"], where
        assert answer.status_code != 500, where
        kinds = route["responses"][str(answer.status_code)].get("content", {})
        assert not kinds or answer.headers["content-type"].split(";")[0] in kinds, where
        if answer.status_code >= 400:
            assert {"type", "message", "retryable"} <= set(answer.json()["error"]), where


async def test_the_key_is_told_of(document):
    assert document["components"]["securitySchemes"]["key"]["scheme"] == "bearer"
