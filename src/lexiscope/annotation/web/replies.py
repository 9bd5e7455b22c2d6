"""Responses of the server: pages or JSON, redirects, and the messages about errors."""

from __future__ import annotations

import logging
import secrets
import traceback
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from lexiscope.annotation.phrases import msg
from lexiscope.annotation.store.engine import StorageError
from lexiscope.annotation.store.record import AnswerConflict, AnswerRefused, NoPlaceLeft, StateError
from lexiscope.annotation.web.app import App
from lexiscope.annotation.web.security import Refused
from lexiscope.core.errors import InputError

LOG = logging.getLogger("lexiscope.annotation")


def error_response(app: App, request: Request, error: Exception) -> Response:
    """Return the page or the JSON of an error, without details of the program."""
    refused = refusal_of(error)
    language = app.definition.language
    message = app.pages.translate(MESSAGES[refused.message], language)
    reference = log_fault(request, error) if refused.status == 500 else ""
    headers = {"retry-after": str(refused.retry_after)} if refused.retry_after else {}
    if wants_json(request) or request.url.path == "/search":
        response = json_error(refused.status, refused.code, message, field=refused.field, reference=reference)
    else:
        html = app.pages.error_page(
            app.frame("no participant"), status=refused.status, what=message, reference=reference
        )
        response = HTMLResponse(html, status_code=refused.status)
    response.headers.update(headers)
    return response


def log_fault(request: Request, error: Exception) -> str:
    """Log a fault of the program and return the reference of its entry.

    The log has the route and the places in the code: an address and the text of an error may quote what a visitor
    wrote.
    """
    reference = secrets.token_hex(6)
    route = getattr(request.scope.get("route"), "path", "no route")
    LOG.error("error %s at %s %s: %s", reference, request.method, route, trace_of(error))
    return reference


def trace_of(error: BaseException) -> str:
    """Return the kind of an error and the places in the code that it came through, without its text."""
    return f"{type(error).__name__}\n{''.join(traceback.format_tb(error.__traceback__)).rstrip()}"


def place_of(error: BaseException) -> str:
    """Return the kind of an error and the place in the code where it began, in one line and without its text."""
    *_, last = traceback.extract_tb(error.__traceback__)
    return f"{type(error).__name__} in {last.name}, {last.filename}, line {last.lineno}"


def refusal_of(error: Exception, *, state_message: str = "answered_elsewhere") -> Refused:
    """Return the status, code and message of an error; *state_message* is that of a state that does not allow it."""
    if isinstance(error, Refused):
        return error
    if isinstance(error, AnswerConflict):
        return Refused(409, "conflict", "answered_elsewhere", field=error.field)
    if isinstance(error, AnswerRefused):
        return Refused(422, "refused", "answer_refused", field=error.field)
    if isinstance(error, StateError | NoPlaceLeft):
        return Refused(409, "state", state_message)
    if isinstance(error, StorageError):
        return Refused(503, "not_stored", "not_stored", retry_after=3)
    if isinstance(error, InputError):
        return Refused(422, "refused", "answer_refused")
    status = getattr(error, "status_code", 500)
    if status in (404, 405):
        return Refused(status, "not_found", "not_found")
    return Refused(500, "internal", "internal")


def json_error(status: int, code: str, message: str, *, field: str = "", reference: str = "") -> Response:
    """Return an error as JSON; after a conflict ``next`` is the address of the next page."""
    body: dict[str, Any] = {"error": {"code": code, "field": field, "message": message, "reference": reference}}
    if status == 409:
        body["next"] = "/now"
    return JSONResponse(body, status_code=status)


def next_page_response(request: Request, url: str) -> Response:
    """Return the next page's address: JSON for a script, a redirect for a browser."""
    return JSONResponse({"next": url}) if wants_json(request) else redirect(url)


def redirect(url: str) -> Response:
    """Redirect to another page of the app after a form."""
    return RedirectResponse(url, status_code=303)


def wants_json(request: Request) -> bool:
    """Return whether a script sent the request: a form that is sent without one gets a page."""
    return "application/json" in request.headers.get("accept", "")


# -- the messages to participants about errors, by the key that the code uses ---------------------------------------


MESSAGES: Mapping[str, str] = {
    "no_session": msg("You have not joined this study in this browser. Please open the link of the study again."),
    "no_link": msg("This link does not lead to a study. Please check that it is complete."),
    "bad_id": msg("This participant ID is not valid. Please open the link of the study again."),
    "form_expired": msg("This page is too old. Please reload it and answer again."),
    "too_fast": msg("That was very fast. Please wait a moment."),
    "too_large": msg("This text is too long for the page."),
    "not_a_form": msg("The page sent data that cannot be read."),
    "not_found": msg("Please check that the address is complete."),
    "answer_missing": msg("Please give an answer."),
    "answer_refused": msg("This answer cannot be accepted."),
    "answered_elsewhere": msg("This question has already been answered. The study continues with the next one."),
    "not_stored": msg("Your answer could not be stored just now. Please wait a moment and send it again."),
    "internal": msg("An error occurred on the server. Your saved answers are safe."),
}
"""The texts in English; :meth:`Pages.translate` translates them."""
