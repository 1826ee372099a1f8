"""A Qdrant server on loopback: its HTTP protocol, as far as the knowledge base speaks it, over the client's in-memory mode.

It can be told to want a key, to answer late, and to fail from now on.
"""

import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import BaseModel
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response


class QdrantServer:
    """Keeps collections for as long as it runs."""

    def __init__(self, http: HTTPServer) -> None:
        from qdrant_client import QdrantClient  # takes a second to load, which all tests would wait for

        self.client, self.url = QdrantClient(":memory:"), http.url_for("").rstrip("/")
        self.key, self.late_s, self.fails = "", 0.0, 0
        self.asked: list[str] = []
        http.expect_request(re.compile("/.*")).respond_with_handler(self._answered)

    def _answered(self, request: Request) -> Response:
        self.asked.append(f"{request.method} {request.path}")
        time.sleep(self.late_s)
        if self.key and request.headers.get("api-key") != self.key:
            return Response("Must provide an API key or an Authorization bearer token", 401)
        if self.fails:
            return _json({"status": {"error": "Service internal error: disk I/O"}, "time": 0}, self.fails)
        _, name, what = [*request.path.strip("/").split("/", 2), "", ""][:3]
        if name and what not in {"exists", ""} and not self.client.collection_exists(name):
            return _json({"status": {"error": f"Not found: Collection `{name}` doesn't exist!"}, "time": 0}, 404)
        return _json({"result": self._result(request, name, what), "status": "ok", "time": 0})

    def _result(self, request: Request, name: str, what: str) -> object:
        from qdrant_client import models

        given, client = json.loads(request.data or b"{}"), self.client
        match request.method, what:
            case "GET", "exists":
                return {"exists": client.collection_exists(name)}
            case "GET", "":
                return client.get_collection(name) if name else client.get_collections()
            case "PUT", "":
                made = models.CreateCollection.model_validate(given)
                return client.create_collection(
                    name, vectors_config=made.vectors, sparse_vectors_config=made.sparse_vectors
                )
            case "PUT", "points":
                return client.upsert(name, models.PointsList.model_validate(given).points)
            case "POST", "points":
                return client.retrieve(name, given["ids"], with_payload=False)
            case "POST", "points/scroll":
                sent = models.ScrollRequest.model_validate(given)
                points, further = client.scroll(name, sent.filter, limit=sent.limit or 10, offset=sent.offset)
                return {"points": points, "next_page_offset": further}
            case "POST", "points/count":
                return client.count(name, models.CountRequest.model_validate(given).filter)
            case "POST", "points/delete":
                return client.delete(name, models.FilterSelector.model_validate(given))
            case "POST", "points/query":
                sent = models.QueryRequest.model_validate(given)
                return client.query_batch_points(name, [sent])[0]
            case "POST", "facet":
                sent = models.FacetRequest.model_validate(given)
                return client.facet(name, sent.key, sent.filter, limit=sent.limit or 10)
            case "PUT", "index":
                return {"operation_id": 1, "status": "completed"}
        raise AssertionError(f"the server does not know {request.method} {request.path}")


def _json(value: object, status: int = 200) -> Response:
    def plain(one: object) -> object:
        assert isinstance(one, BaseModel)
        return one.model_dump(mode="json")

    return Response(json.dumps(value, default=plain), status, content_type="application/json")


@contextmanager
def qdrant_server() -> Iterator[QdrantServer]:
    """Run one on a port of its own."""
    http = HTTPServer()
    http.start()
    try:
        yield QdrantServer(http)
    finally:
        http.stop()
