"""The researchers' addresses (:data:`ADMIN_ROUTES`): path, methods, handler, role; sessions and errors."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lexiscope.annotation.phrases import msg
from lexiscope.annotation.web.admin import (
    accounts,
    export_pages,
    item_pages,
    overview_page,
    people_pages,
    results_page,
    review_pages,
    study_pages,
)
from lexiscope.annotation.web.admin.dashboard import Dashboard
from lexiscope.annotation.web.admin.visit import LOGIN_FORM, ROOT, Visit
from lexiscope.annotation.web.app import App
from lexiscope.annotation.web.replies import log_fault, refusal_of
from lexiscope.annotation.web.security import Refused, read_form
from lexiscope.core.errors import LexiscopeError

Handler = Callable[[Visit], Any]
"""A coroutine, or a function that reads and writes the store: it is called in a thread."""


@dataclass(frozen=True, slots=True)
class AdminAddress:
    """One address: path, methods, handler, and who may use it (``everyone`` or ``researcher``)."""

    path: str
    methods: tuple[str, ...]
    handler: Handler
    role: str = "researcher"


ADMIN_ROUTES = (
    AdminAddress(f"{ROOT}/login", ("GET",), accounts.login_page, "everyone"),
    AdminAddress(f"{ROOT}/login", ("POST",), accounts.login, "everyone"),
    AdminAddress(f"{ROOT}/setup/{{secret}}", ("GET",), accounts.setup_page, "everyone"),
    AdminAddress(f"{ROOT}/setup/{{secret}}", ("POST",), accounts.setup, "everyone"),
    AdminAddress(f"{ROOT}/logout", ("POST",), accounts.logout),
    AdminAddress(ROOT, ("GET",), overview_page.overview),
    AdminAddress(f"{ROOT}/places/{{list_id}}", ("GET",), study_pages.places_page),
    AdminAddress(f"{ROOT}/places/{{list_id}}", ("POST",), study_pages.set_places),
    AdminAddress(f"{ROOT}/items", ("GET",), item_pages.items),
    AdminAddress(f"{ROOT}/participants", ("GET",), people_pages.participants),
    AdminAddress(f"{ROOT}/away", ("POST",), people_pages.mark_away),
    AdminAddress(f"{ROOT}/participants/{{who}}", ("GET",), people_pages.participant),
    AdminAddress(f"{ROOT}/participants/{{who}}", ("POST",), people_pages.change_participant),
    AdminAddress(f"{ROOT}/participants/{{who}}/forget", ("GET",), people_pages.forget_page),
    AdminAddress(f"{ROOT}/participants/{{who}}/forget", ("POST",), people_pages.forget),
    AdminAddress(f"{ROOT}/exclusions", ("GET",), review_pages.exclusions),
    AdminAddress(f"{ROOT}/exclusions", ("POST",), review_pages.judge),
    AdminAddress(f"{ROOT}/results", ("GET",), results_page.results),
    AdminAddress(f"{ROOT}/results/data/{{name}}", ("GET",), results_page.fetch_data),
    AdminAddress(f"{ROOT}/comments", ("GET",), item_pages.comments),
    AdminAddress(f"{ROOT}/review", ("GET",), review_pages.review),
    AdminAddress(f"{ROOT}/review/table", ("GET",), review_pages.fetch_table),
    AdminAddress(f"{ROOT}/review/items", ("GET",), review_pages.fetch_items),
    AdminAddress(f"{ROOT}/review/{{number}}", ("GET",), review_pages.review_one),
    AdminAddress(f"{ROOT}/review/{{number}}", ("POST",), review_pages.decide_one),
    AdminAddress(f"{ROOT}/invitations", ("GET",), study_pages.invitations),
    AdminAddress(f"{ROOT}/invitations", ("POST",), study_pages.make_links),
    AdminAddress(f"{ROOT}/invitations/file", ("POST",), study_pages.fetch_links),
    AdminAddress(f"{ROOT}/export", ("GET",), export_pages.export_page),
    AdminAddress(f"{ROOT}/export", ("POST",), export_pages.export),
    AdminAddress(f"{ROOT}/log", ("GET",), study_pages.log),
    AdminAddress(f"{ROOT}/log", ("POST",), study_pages.verify),
    AdminAddress(f"{ROOT}/status", ("GET",), study_pages.status_page),
    AdminAddress(f"{ROOT}/status", ("POST",), study_pages.set_status),
)
"""Every address of the researchers' side."""


def admin_routes(app: App, dashboard: Dashboard | None = None) -> tuple[Route, ...]:
    """Return the researchers' routes for :func:`lexiscope.annotation.web.server.create_app`."""
    dashboard = dashboard or Dashboard.of(app)
    return tuple(
        Route(address.path, _endpoint(dashboard, address), methods=list(address.methods)) for address in ADMIN_ROUTES
    )


def _endpoint(dashboard: Dashboard, address: AdminAddress) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        visit = Visit(dashboard, request, await asyncio.to_thread(dashboard.sessions.of, request))
        if address.role != "everyone" and visit.session is None:
            return _login_response(visit)
        # the forms of the login and of a set-up link are those of a visitor without a session
        visit = visit if address.role != "everyone" else Visit(dashboard, request)
        try:
            if request.method == "POST":
                visit = Visit(dashboard, request, visit.session, await _read_form(visit))
            response = await _respond(address.handler, visit)
        except (Refused, LexiscopeError) as error:
            response = error_page(visit, error)
        # a session that is in use does not end: its cookie is renewed, unless the handler set another one
        session = visit.session
        if session is not None and dashboard.sessions.is_renewal_due(session) and "set-cookie" not in response.headers:
            dashboard.sessions.set_cookie(response, session)
        return response

    return endpoint


async def _respond(handler: Handler, visit: Visit) -> Response:
    pending = handler(visit) if inspect.iscoroutinefunction(handler) else asyncio.to_thread(handler, visit)
    response: Response = await pending
    return response


async def _read_form(visit: Visit) -> dict[str, str]:
    """Read the form of any request that may change something; no handler can forget to."""
    form = await read_form(visit.request)
    who = LOGIN_FORM if visit.session is None else f"researcher-form/{visit.session.token}"
    keys, origin = visit.dashboard.app.keys, visit.dashboard.app.settings.origin
    keys.check_form(visit.request, who, form.get("csrf", ""), origin=origin)
    return form


def _login_response(visit: Visit) -> Response:
    """Redirect a page to the login; refuse an action, so that it does not seem done."""
    if visit.request.method in ("GET", "HEAD"):
        return visit.redirect("/login")
    title = visit.translate(accounts.LOG_IN)
    return visit.page("admin_login.html", here="", title=title, status=401, name="")


# -- the page of an error, in the researcher's language and without details of the program --------------------------


_TITLES = {
    403: msg("Not allowed"),
    404: msg("Page not found"),
    429: msg("Too many requests"),
    503: msg("Not available at the moment"),
    500: msg("An error occurred"),
}
_REFUSED = msg("This was not done")


def error_page(visit: Visit, error: Exception) -> Response:
    """Return the page of an error; an unexpected error is logged under a reference that the page shows."""
    refused = refusal_of(error, state_message="not_possible")
    reference = log_fault(visit.request, error) if refused.status == 500 else ""
    title = visit.translate(_TITLES.get(refused.status, _REFUSED))
    what = visit.message(refused.message)
    response = visit.page(
        "admin_error.html", here="", title=title, status=refused.status, said="", what=what, reference=reference
    )
    if refused.retry_after:
        response.headers["retry-after"] = str(refused.retry_after)
    return response
