"""Errors of the routes, in the one shape that callers can rely on."""

from fastapi import FastAPI, Request
from fastapi.exception_handlers import request_validation_exception_handler
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response

from agents.errors import DossierError

OURS = ("/research", "/run", "/run-simple", "/search", "/files", "/healthz", "/metrics")
"""Paths that are ours."""


class ApiError(Exception):
    """A route refuses; the message is for the caller."""

    def __init__(self, status: int, type_: str, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.status, self.type, self.message, self.retryable = status, type_, message, retryable


def not_found(what: str) -> ApiError:
    """Say that something is not there, or not the caller's: the two look alike on purpose."""
    return ApiError(404, "not_found", what)


def body(type_: str, message: str, *, retryable: bool = False) -> dict[str, object]:
    """Write an error as callers read it."""
    return {"error": {"type": type_, "message": message, "retryable": retryable}}


async def _answer(request: Request, error: Exception) -> JSONResponse:
    if isinstance(error, ApiError):
        headers = {"WWW-Authenticate": "Bearer"} if error.status == 401 else None
        return JSONResponse(body(error.type, error.message, retryable=error.retryable), error.status, headers)
    notice = error.notice if isinstance(error, DossierError) else DossierError.notice
    retryable = isinstance(error, DossierError) and error.retryable
    return JSONResponse(body(type(error).__name__, notice, retryable=retryable), 500)


async def _misused(request: Request, error: Exception) -> Response:
    """A parameter that can't be read: in our shape below our paths, in Chainlit's elsewhere."""
    if not isinstance(error, RequestValidationError) or not request.url.path.startswith(OURS):
        return await request_validation_exception_handler(request, error)  # type: ignore[arg-type]
    faults = "; ".join(
        f"{'.'.join(str(part) for part in fault['loc'][1:])}: {fault['msg']}" for fault in error.errors()
    )
    return JSONResponse(body("bad_request", faults), 422)


def answer_errors(app: FastAPI) -> None:
    """Have errors of our own answered in our shape; Chainlit's routes keep theirs."""
    app.add_exception_handler(ApiError, _answer)
    app.add_exception_handler(RequestValidationError, _misused)
    app.add_exception_handler(DossierError, _answer)
