"""The participants' addresses of a study's server (:data:`ROUTES`), and the ASGI application."""

from __future__ import annotations

import asyncio
import mimetypes
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from lexiscope.annotation.web import participant
from lexiscope.annotation.web.app import App
from lexiscope.annotation.web.pages import STATIC
from lexiscope.annotation.web.replies import error_response
from lexiscope.annotation.web.security import HostGuard, Refused
from lexiscope.core.errors import LexiscopeError

Handler = Callable[[App, Request], Awaitable[Response]]


async def static(app: App, request: Request) -> Response:
    """Serve a style sheet or script of the package; its address changes with its content."""
    path = STATIC / request.path_params["name"]
    if path.name not in {file.name for file in STATIC.iterdir()}:
        raise Refused(404, "not_found", "not_found")
    media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    headers = {"cache-control": "public, max-age=31536000, immutable"}
    return Response(path.read_bytes(), media_type=media_type, headers=headers)


async def health(app: App, request: Request) -> Response:
    """Report whether answers are saved, to programs that watch the server. Nothing about participants.

    200: yes. 503: no (``saving`` is false), and the server must be looked at. 507: the disk is nearly full.
    """
    if app.store.trouble:
        # the reason names files: it is in the server's messages
        return JSONResponse({"status": "failing", "saving": False}, status_code=503)
    state = await asyncio.to_thread(app.store.health)
    not_kept = sorted(state.not_kept)
    body: dict[str, Any] = {"status": state.status, "saving": True, "disk_low": state.low}
    body |= {"version": state.version, "not_kept": not_kept}
    return JSONResponse(body, status_code=507 if state.low else 200)


@dataclass(frozen=True, slots=True)
class Address:
    """One address: path, methods, handler, and who may use it (``everyone`` or ``participant``)."""

    path: str
    methods: tuple[str, ...]
    handler: Handler
    role: str


ROUTES = (
    Address("/", ("GET",), participant.landing, "everyone"),
    Address("/id", ("POST",), participant.enter_id, "everyone"),
    Address("/t/{token}", ("GET",), participant.token, "everyone"),
    Address("/static/{name}", ("GET",), static, "everyone"),
    Address("/health", ("GET",), health, "everyone"),
    Address("/now", ("GET",), participant.now, "participant"),
    Address("/trial/{phase}/{position}", ("GET",), participant.trial, "participant"),
    Address("/feedback/{position}", ("GET",), participant.feedback, "participant"),
    Address("/search", ("GET",), participant.search, "participant"),
    Address("/consent", ("POST",), participant.consent, "participant"),
    Address("/about", ("POST",), participant.about, "participant"),
    Address("/begin", ("POST",), participant.begin, "participant"),
    Address("/trial/{phase}/{position}", ("POST",), participant.submit_trial, "participant"),
    Address("/instructions/{phase}/{position}", ("POST",), participant.instructions, "participant"),
    Address("/another/{position}", ("POST",), participant.another, "participant"),
    Address("/debrief", ("POST",), participant.debrief, "participant"),
)
"""Every address of the participants' side."""


def create_app(app: App, more: tuple[Route, ...] = ()) -> HostGuard:
    """Return the ASGI application; *more* are the researcher's routes."""
    # the address that is asked for most is looked at first
    ordered = sorted(ROUTES, key=lambda address: not address.path.startswith("/trial/"))
    routes = [Route(address.path, _Handler(app, address.handler), methods=list(address.methods)) for address in ordered]

    async def show_error(request: Request, error: Exception) -> Response:
        return error_response(app, request, error)

    handlers: dict[Any, Callable[[Request, Exception], Awaitable[Response]]]
    handlers = dict.fromkeys((404, 405, Exception), show_error)
    return HostGuard(Starlette(routes=[*routes, *more], exception_handlers=handlers), settings=app.settings)


class _Handler:
    """A handler as an ASGI application: Starlette wraps a function once more than these pages need."""

    def __init__(self, app: App, handler: Handler) -> None:
        self._app, self._handler = app, handler

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            response = await self._handler(self._app, request)
        except (Refused, LexiscopeError) as error:
            response = error_response(self._app, request, error)
        await response(scope, receive, send)
