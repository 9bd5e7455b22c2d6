"""What researchers are told of an error: a page in their language, nothing of the inside."""

from __future__ import annotations

from starlette.responses import Response

from lexiscope.annotation.store.engine import StorageError
from lexiscope.annotation.store.record import AnswerRefused, StateError
from lexiscope.annotation.web.admin.visit import Visit
from lexiscope.annotation.web.pages import msg
from lexiscope.annotation.web.replies import logged
from lexiscope.annotation.web.security import Refused
from lexiscope.core.errors import InputError

_TITLES = {
    403: msg("This is not allowed"),
    404: msg("There is no such page"),
    429: msg("Too many requests"),
    503: msg("Not available at the moment"),
    500: msg("Something went wrong"),
}
_REFUSED = msg("This was not done")


def error_page(visit: Visit, error: Exception) -> Response:
    """Return the page of an error; an error that nobody foresaw gets a reference under which it is logged."""
    refused = _refusal(error)
    reference = logged(visit.request, error) if refused.status == 500 else ""
    title = visit.say(_TITLES.get(refused.status, _REFUSED))
    what = visit.message(refused.message)
    response = visit.page(
        "admin_error.html", here="", title=title, status=refused.status, said="", what=what, reference=reference
    )
    if refused.retry_after:
        response.headers["retry-after"] = str(refused.retry_after)
    return response


def _refusal(error: Exception) -> Refused:
    if isinstance(error, Refused):
        return error
    if isinstance(error, StateError):
        return Refused(409, "state", "not_possible")
    if isinstance(error, StorageError):
        return Refused(503, "not_stored", "not_stored", retry_after=3)
    if isinstance(error, AnswerRefused | InputError):
        return Refused(422, "refused", "answer_refused")
    return Refused(500, "internal", "internal")
