"""Errors of the routes, in the one shape that callers can rely on."""

import re

from fastapi import FastAPI, Request
from fastapi.exception_handlers import http_exception_handler, request_validation_exception_handler
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel
from pydantic_core import ErrorDetails
from starlette.exceptions import HTTPException

from agents.core import errors
from agents.core.errors import DossierError, TooMany
from agents.memory.knowledge import MemoryDown

OURS = ("/research", "/run", "/run-simple", "/search", "/files", "/healthz", "/metrics", "/v1", "/mcp", "/memory")
"""Paths that are ours."""

STATUSES: dict[type[DossierError], int] = {
    TooMany: 429, errors.BadRequest: 422, errors.ModelError: 502, errors.BadOutput: 502, errors.SearchError: 502,
    errors.StepFailed: 502, MemoryDown: 502, errors.ConfigError: 500,
}  # fmt: skip
"""Which answer stands for which error; all others are a 500."""


class ErrorInside(BaseModel):
    """What went wrong."""

    type: str
    message: str
    retryable: bool
    details: dict[str, object] | None = None


class ErrorBody(BaseModel):
    """Every error of every route has this shape."""

    error: ErrorInside


ERRORS = {
    400: "The body can't be read.",
    401: "Neither the key nor a session.",
    403: "A request from another site.",
    404: "There is no such thing, or it is somebody else's.",
    409: "The job is not in a state that allows this.",
    413: "The body is longer than 1,000,000 bytes.",
    422: "A field is wrong or unknown, or the question is not feasible (`details` holds reasons and narrower questions).",
    500: "An error of ours.",
    501: "This server can't do this yet.",
    429: "As much was asked as one may ask; `Retry-After` says for how many seconds.",
    502: "A provider failed, or gave nothing usable.",
}
"""Answers of every route beside its own, for the OpenAPI document."""


def kinds(*types: str) -> dict[int | str, dict[str, object]]:
    """Document which kinds of files a route answers with."""
    return {200: {"description": "The file.", "content": {kind: {"schema": {"type": "string"}} for kind in types}}}


class ApiError(Exception):
    """A route refuses; the message is for the caller."""

    def __init__(
        self, status: int, kind: str, message: str, *, retryable: bool = False, details: dict[str, object] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.inside = ErrorInside(type=kind, message=message, retryable=retryable, details=details)
        self.headers = {"WWW-Authenticate": "Bearer"} if status == 401 else {}

    @property
    def body(self) -> dict[str, object]:
        """The error as callers read it."""
        return ErrorBody(error=self.inside).model_dump(exclude_none=True)

    def response(self) -> JSONResponse:
        """Answer with it."""
        return JSONResponse(self.body, self.status, self.headers)


def not_found(what: str) -> ApiError:
    """Say that something is not there, or not the caller's: the two look alike on purpose."""
    return ApiError(404, "not_found", what)


def as_api_error(error: DossierError) -> ApiError:
    """Say over HTTP what went wrong inside; of an infeasible question, what would work instead."""
    status = next((status for kind, status in STATUSES.items() if isinstance(error, kind)), 500)
    name = error.type if isinstance(error, errors.StepFailed) else type(error).__name__
    if name == "Stopped":
        return ApiError(409, "stopped", error.notice)
    if isinstance(error, errors.NotFeasible):
        details: dict[str, object] = {"reasons": list(error.reasons), "suggested_splits": list(error.splits)}
        return ApiError(status, "not_feasible", str(error), details=details)
    said = ApiError(status, re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower(), error.notice, retryable=error.retryable)
    if isinstance(error, TooMany):
        said.headers["Retry-After"] = f"{error.retry_after_s:.0f}"
    return said


def is_ours(path: str) -> bool:
    """Tell whether a path lies below ours."""
    return any(path == prefix or path.startswith(prefix + "/") for prefix in OURS)


async def _answer(request: Request, error: Exception) -> Response:
    """Whatever goes wrong, in our shape below our paths; Chainlit's routes keep theirs."""
    ours = is_ours(request.url.path)
    match error:
        case ApiError():
            return error.response()
        case DossierError():
            return as_api_error(error).response()
        case HTTPException() if ours:
            types = {400: "bad_request", 401: "unauthorized", 404: "not_found", 405: "not_allowed", 413: "too_large"}
            return ApiError(error.status_code, types.get(error.status_code, "refused"), str(error.detail)).response()
        case HTTPException():
            return await http_exception_handler(request, error)
        case RequestValidationError() if ours:
            faults = [_fault(fault) for fault in error.errors()]
            said = "; ".join(f"{fault['field']}: {fault['problem']}" for fault in faults)
            return ApiError(422, "bad_request", said, details={"fields": faults}).response()
        case RequestValidationError():
            return await request_validation_exception_handler(request, error)
    raise error


def _fault(fault: ErrorDetails) -> dict[str, str]:
    loc = fault["loc"]
    place = loc[1:] if loc and loc[0] in {"body", "query", "path", "header"} else loc
    if fault["type"] == "json_invalid":
        return {"field": "body", "problem": "this is not JSON"}
    unknown = fault["type"] == "extra_forbidden"
    problem = "there is no such field" if unknown else fault["msg"].removeprefix("Value error, ")
    name = ".".join(str(part) for part in place) or "body"
    return {"field": name.encode("utf-8", "replace").decode(), "problem": problem.encode("utf-8", "replace").decode()}


def answer_errors(app: FastAPI) -> None:
    """Have errors of our own answered in our shape."""
    for kind in (ApiError, DossierError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, _answer)
