"""Errors of the routes, in the one shape that callers can rely on."""

import re

from fastapi import FastAPI, Request
from fastapi.exception_handlers import http_exception_handler, request_validation_exception_handler
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic_core import ErrorDetails
from starlette.exceptions import HTTPException

from agents.core.errors import (
    BadOutput,
    BadRequest,
    ConfigError,
    DossierError,
    ModelError,
    NotFeasible,
    SearchError,
    StepFailed,
    TooMany,
)
from agents.memory.knowledge import MemoryDown

OURS = ("/research", "/run", "/run-simple", "/search", "/files", "/healthz", "/metrics", "/v1", "/mcp", "/memory")
"""Paths that are ours."""

STATUSES: tuple[tuple[type[DossierError], int], ...] = (
    (TooMany, 429),
    (BadRequest, 422),
    (ModelError, 502),
    (BadOutput, 502),
    (SearchError, 502),
    (StepFailed, 502),
    (MemoryDown, 502),
    (ConfigError, 500),
)
"""Which answer stands for which error; all others are a 500."""


class ApiError(Exception):
    """A route refuses; the message is for the caller."""

    def __init__(
        self,
        status: int,
        type_: str,
        message: str,
        *,
        retryable: bool = False,
        details: dict[str, object] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.type, self.message, self.retryable = status, type_, message, retryable
        self.details = details


def not_found(what: str) -> ApiError:
    """Say that something is not there, or not the caller's: the two look alike on purpose."""
    return ApiError(404, "not_found", what)


def body(
    type_: str, message: str, *, retryable: bool = False, details: dict[str, object] | None = None
) -> dict[str, object]:
    """Write an error as callers read it."""
    error: dict[str, object] = {"type": type_, "message": message, "retryable": retryable}
    return {"error": error | {"details": details} if details else error}


def as_api_error(error: DossierError) -> ApiError:
    """Say over HTTP what went wrong inside; of an infeasible question, what would work instead."""
    status = next((status for kind, status in STATUSES if isinstance(error, kind)), 500)
    name = error.type if isinstance(error, StepFailed) else type(error).__name__
    if name == "Stopped":
        return ApiError(409, "stopped", error.notice)
    if isinstance(error, NotFeasible):
        details: dict[str, object] = {"reasons": list(error.reasons), "suggested_splits": list(error.splits)}
        return ApiError(status, "not_feasible", str(error), details=details)
    return ApiError(status, snake(name), error.notice, retryable=error.retryable)


def snake(name: str) -> str:
    """Write the name of a class as the type of an error."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def is_ours(path: str) -> bool:
    """Tell whether a path lies below ours."""
    return any(path == prefix or path.startswith(prefix + "/") for prefix in OURS)


async def _answer(request: Request, error: Exception) -> JSONResponse:
    again_s = error.retry_after_s if isinstance(error, TooMany) else None
    if isinstance(error, DossierError):
        error = as_api_error(error)
    if not isinstance(error, ApiError):
        return JSONResponse(body("internal", DossierError.notice), 500)
    headers = {"WWW-Authenticate": "Bearer"} if error.status == 401 else {}
    if again_s is not None:
        headers["Retry-After"] = f"{again_s:.0f}"
    said = body(error.type, error.message, retryable=error.retryable, details=error.details)
    return JSONResponse(said, error.status, headers)


async def _refused(request: Request, error: Exception) -> Response:
    """What the framework refuses: in our shape below our paths, in Chainlit's elsewhere."""
    if not isinstance(error, HTTPException) or not is_ours(request.url.path):
        return await http_exception_handler(request, error)  # type: ignore[arg-type]
    types = {400: "bad_request", 401: "unauthorized", 404: "not_found", 405: "not_allowed", 413: "too_large"}
    return JSONResponse(body(types.get(error.status_code, "refused"), str(error.detail)), error.status_code)


async def _misused(request: Request, error: Exception) -> Response:
    """A parameter or body that can't be read: in our shape below our paths, in Chainlit's elsewhere."""
    if not isinstance(error, RequestValidationError) or not is_ours(request.url.path):
        return await request_validation_exception_handler(request, error)  # type: ignore[arg-type]
    faults = [_fault(fault) for fault in error.errors()]
    said = "; ".join(f"{fault['field']}: {fault['problem']}" for fault in faults)
    return JSONResponse(body("bad_request", said, details={"fields": faults}), 422)


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
    """Have errors of our own answered in our shape; Chainlit's routes keep theirs."""
    app.add_exception_handler(ApiError, _answer)
    app.add_exception_handler(RequestValidationError, _misused)
    app.add_exception_handler(DossierError, _answer)
    app.add_exception_handler(HTTPException, _refused)
