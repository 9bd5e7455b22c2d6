"""The requests of participants, from the link to the completion code; their addresses (:data:`ROUTES`); the app."""

from __future__ import annotations

import asyncio
import mimetypes
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from lexiscope.annotation.store.accounts import participant_of_token
from lexiscope.annotation.store.checks import LONGEST_MS
from lexiscope.annotation.store.record import AnswerRefused, NoPlaceLeft, Phase, State, StateError
from lexiscope.annotation.web.app import COOKIE, HEALTH_SECONDS, SHOWN_COOKIE, App, new_client_key
from lexiscope.annotation.web.flow import AnswerMetadata, Step, TrialOnPage
from lexiscope.annotation.web.pages import STATIC, to_html
from lexiscope.annotation.web.replies import (
    error_response,
    json_error,
    next_page_response,
    place_of,
    redirect,
    wants_json,
)
from lexiscope.annotation.web.security import HostGuard, Refused, path_number, read_form
from lexiscope.annotation.web.showings import SHOWN_MARK, ShownTrial
from lexiscope.annotation.web.trial_page import (
    about_view,
    answer_texts,
    example_views,
    given_text,
    trial_view,
    trials_done,
)
from lexiscope.annotation.web.views import AboutView
from lexiscope.core.errors import LexiscopeError
from lexiscope.core.screen import AnswerInvalid, number_in

_ENDS = ("declined", "screened_out", "finished")
# the other phases have separate pages: their questions are not trials
_ON_PAGES = (Phase.QUALIFICATION, Phase.PRACTICE, Phase.TRIALS, Phase.REVEAL)


# -- arriving -----------------------------------------------------------------------------------------------------


async def landing(app: App, request: Request) -> Response:
    """Take the ids of the recruiting platform out of the address and put a cookie in their place."""
    platform = app.definition.platform
    ids = {platform_id.strip() for platform_id in request.query_params.getlist(platform.participant)}
    if len(ids) > 1:
        # two participants in one link: one would answer in place of the other
        raise Refused(422, "participant_id", "bad_id", field=platform.participant)
    given = next(iter(ids), "")
    if platform.kind == "lab" or not given:
        with suppress(Refused):
            who = app.participant_of(request)
            # several participants may use one computer: after an end the next request is that of another participant
            if platform.kind == "lab" or (await app.advance(who)).kind not in _ENDS:
                return redirect("/now")
        if platform.kind == "lab":
            raise Refused(404, "no_link", "no_link")
        return HTMLResponse(app.pages.enter_id_page(app.frame("arriving"), action="/id"))
    return await _arrive(app, request, given, request.query_params.get(platform.session or "-", "").strip() or None)


async def enter_id(app: App, request: Request) -> Response:
    """Take an id that was typed, where the link had none."""
    app.arrivals.take("typed")
    form = await read_form(request)
    app.keys.check_form(request, "arriving", form.get("csrf", ""), origin=app.settings.origin)
    return await _arrive(app, request, form.get("participant", "").strip(), None)


async def token(app: App, request: Request) -> Response:
    """Let a participant join by the token of a lab link."""
    app.arrivals.take("token")
    who = await asyncio.to_thread(app.store.read, participant_of_token, request.path_params["token"])
    if who is None:
        raise Refused(404, "no_link", "no_link")
    await asyncio.to_thread(app.flow.restore_state, who)
    return _with_cookie(app, who)


async def _arrive(app: App, request: Request, platform_id: str, session: str | None) -> Response:
    # by address, in memory only: one client with endless requests must not keep other participants out
    app.arrivals.take(request.client.host if request.client is not None else "")
    pattern = app.definition.platform.pattern
    # bytes that are not UTF-8 arrive as U+FFFD: two such ids could be one
    odd = not platform_id.isprintable() or "\ufffd" in platform_id
    if len(platform_id) > 200 or odd or not re.fullmatch(pattern or ".+", platform_id):
        raise Refused(422, "participant_id", "bad_id", field=app.definition.platform.participant)
    session = session if session and len(session) <= 200 and session.isprintable() else None
    who = await asyncio.to_thread(lambda: app.flow.arrive(platform_id, session=session))
    return _with_cookie(app, who)


def _with_cookie(app: App, who: str) -> Response:
    response = redirect("/now")
    app.set_cookie(response, COOKIE, app.keys.sign(who))
    return response


# -- pages --------------------------------------------------------------------------------------------------------


async def now(app: App, request: Request) -> Response:
    """Show what comes next: this is the address to come back to."""
    who = app.participant_of(request)
    return await _step_response(app, who, await app.advance(who))


async def _step_response(app: App, who: str, step: Step) -> Response:
    texts = app.definition.texts
    if step.kind == "trial":
        return redirect(f"/trial/{step.phase}/{step.position}")
    if step.kind == "consent":
        text = to_html(app.study.consent_text)
        return HTMLResponse(app.pages.consent_page(app.frame(who), text_html=text, action="/consent"))
    if step.kind == "debrief":
        html = to_html(texts.debrief)
        return HTMLResponse(app.pages.debrief_page(app.frame(who), html=html, action="/debrief", comment=True))
    if step.kind == "about_you":
        return HTMLResponse(
            app.pages.about_you_page(app.frame(who), questions=_about_views(app, {}, {}), action="/about")
        )
    if step.kind == "instructions":
        html = to_html(texts.instructions)
        return HTMLResponse(
            app.pages.instructions_page(
                app.frame(who), html=html, examples=example_views(app.study, app.pages), action="/begin"
            )
        )
    return await _end_response(app, who, step)


async def _end_response(app: App, who: str, step: Step) -> Response:
    code = await asyncio.to_thread(app.flow.completion_code, who, step)
    back = app.definition.platform.return_url
    url = back.replace("{code}", code) if back and code else ""
    # the debrief was read on the page before
    html = "" if step.kind == "finished" else to_html(str(getattr(app.definition.texts, step.kind)))
    return HTMLResponse(app.pages.end_page(app.frame(who), kind=step.kind, html=html, code=code, return_url=url))


async def trial(app: App, request: Request) -> Response:
    """Show one trial; a trial that is final or not reached yet leads to the one that is next."""
    who, (phase, position) = app.participant_of(request), _phase_and_position(request)
    try:
        asked = await app.read(app.flow.trial_to_show, who, phase, position)
    except AnswerRefused:
        return redirect("/now")
    may_skip = asked.screen.drawn and await app.read(app.flow.may_skip, who)
    mark, kept = app.first_showing(request, _shown_trial(who, asked, phase))
    response = HTMLResponse(_trial_html(app, who, asked, phase, position, mark=mark, may_skip=may_skip))
    if kept:
        app.set_cookie(response, SHOWN_COOKIE, kept)
    return response


def _shown_trial(who: str, asked: TrialOnPage, phase: Phase) -> ShownTrial:
    return ShownTrial(who, str(phase), asked.trial.item_id, int(str(asked.stored["id"])) if asked.stored else None)


def _trial_html(
    app: App,
    who: str,
    asked: TrialOnPage,
    phase: Phase,
    position: int,
    *,
    mark: str,
    given: Mapping[str, str] | None = None,
    faults: Mapping[str, str] | None = None,
    may_skip: bool = False,
) -> str:
    done, total = trials_done(app.study, asked, phase=phase)
    frame, key = app.frame(who, done=done, total=total), new_client_key()
    view = trial_view(
        app.study,
        app.pages,
        asked,
        phase=phase,
        position=position,
        client_key=key,
        shown_mark=mark,
        given=given,
        faults=faults,
    )
    # no participant skips themselves out of the study
    return app.pages.trial_page(frame, replace(view, another_url="") if view.another_url and not may_skip else view)


async def feedback(app: App, request: Request) -> Response:
    """Show, after a practice trial, what the answer should have been and why."""
    who, position = app.participant_of(request), path_number(request, "position")
    try:
        asked = await app.read(app.flow.trial_at, who, Phase.PRACTICE, position)
        app.flow.check_open(asked, Phase.PRACTICE)
    except AnswerRefused:
        return redirect("/now")
    if position >= asked.progress.next_position:
        return redirect("/now")
    given = await asyncio.to_thread(app.flow.latest_answer, who, Phase.PRACTICE, asked.trial.item_id)
    return HTMLResponse(_feedback_html(app, who, asked, given or {}))


def _feedback_html(app: App, who: str, asked: TrialOnPage, given: Mapping[str, object]) -> str:
    question, language = app.study.known[asked.trial.item_id], app.definition.language
    return app.pages.feedback_page(
        app.frame(who, done=asked.progress.next_position, total=asked.progress.n_trials),
        stimulus=app.pages.stimulus(asked.screen, asked.item, asked.shown, language),
        question=asked.screen.question(asked.item, language, view=asked.shown.appears_as),
        given=given_text(app.study, asked, given),
        right=answer_texts(app.study, asked.screen, asked.item, question.accept),
        # no program can judge whether a written text is good
        is_right=app.flow.is_correct(given) if given and asked.screen.widget != "text" else None,
        explanation=question.explanation,
        action="/now",
    )


async def search(app: App, request: Request) -> Response:
    """Find entries of the study's list."""
    app.saves.take(app.participant_of(request))
    query = request.query_params.get("q", "")[:200]
    # some milliseconds in a list of a million titles: not in the loop that serves all requests
    entries = await asyncio.to_thread(app.entities.search, query) if app.entities is not None and query.strip() else ()
    return JSONResponse([{"id": entry.entity_id, "title": entry.title, "text": entry.description} for entry in entries])


# -- what participants send -----------------------------------------------------------------------------------------


async def consent(app: App, request: Request) -> Response:
    """Store the consent, or that there is none."""
    who = app.participant_of(request)
    form = await app.form(request, who)
    if form.get("consent") not in ("yes", "no"):
        raise Refused(422, "consent", "answer_missing", field="consent")
    # the last place went while the page was open, or another tab was quicker: the next page says which
    with suppress(StateError):
        await asyncio.to_thread(lambda: app.flow.record_consent(who, agreed=form["consent"] == "yes"))
    return redirect("/now")


async def about(app: App, request: Request) -> Response:
    """Store the answers about the participant."""
    who = app.participant_of(request)
    form = await app.form(request, who)
    key = _client_key(form)
    faults = await asyncio.to_thread(lambda: app.flow.record_about_you(who, form, client_key=key))
    if faults:
        html = app.pages.about_you_page(app.frame(who), questions=_about_views(app, form, faults), action="/about")
        return HTMLResponse(html, status_code=422)
    return redirect("/now")


async def begin(app: App, request: Request) -> Response:
    """Continue after the instructions."""
    who = app.participant_of(request)
    await app.form(request, who)
    with suppress(NoPlaceLeft):
        await asyncio.to_thread(app.flow.begin_trials, who)
    return redirect("/now")


async def submit_trial(app: App, request: Request) -> Response:
    """Store one answer; the response is sent after the commit."""
    who, (phase, position) = app.participant_of(request), _phase_and_position(request)
    form = await app.form(request, who)
    asked = await app.read(app.flow.trial_at, who, phase, position)
    try:
        metadata = _answer_metadata(app, who, asked, phase, form)
        answer = app.flow.read_answer(who, asked, phase=phase, position=position, form=form, metadata=metadata)
    except AnswerInvalid as error:
        # a participant who timed out has returned, and reads what is missing
        if asked.progress.state is not State.TIMED_OUT:
            app.flow.check_open(asked, phase)
        return await _invalid_response(app, request, who, asked, phase, position, form, error)
    try:
        receipt = await asyncio.wrap_future(app.store.submit_later(answer))
    except AnswerRefused:
        if not await asyncio.to_thread(app.flow.resume_if_timed_out, who):
            raise
        receipt = await asyncio.wrap_future(app.store.submit_later(answer))
    if app.flow.is_renewal_due(asked.progress, now=app.store.held_now()):
        asked = await asyncio.to_thread(app.flow.renew_place, who, asked)
    after = app.flow.next_position_after(who, asked, receipt)
    if phase is Phase.PRACTICE and app.study.known[answer.item_id].explanation:
        return next_page_response(request, f"/feedback/{position}")
    if after is not None:
        # a participant who went back continues from there
        return next_page_response(request, f"/trial/{phase}/{position + 1 if answer.supersedes is not None else after}")
    return await _next_response(app, request, who)


async def instructions(app: App, request: Request) -> Response:
    """Log that a participant opened the instructions during a trial; the answer on the page is not sent."""
    who, (phase, position) = app.participant_of(request), _phase_and_position(request)
    await app.form(request, who)
    asked = await app.read(app.flow.trial_at, who, phase, position)
    app.flow.check_open(asked, phase)
    details = {"participant_id": who, "phase": str(phase), "position": position}
    await asyncio.to_thread(lambda: app.store.log("instructions opened", actor="participant", details=details))
    return Response(status_code=204)


async def another(app: App, request: Request) -> Response:
    """Store that the drawn item is skipped, and draw another one."""
    who, position = app.participant_of(request), path_number(request, "position")
    form = await app.form(request, who)
    asked = await app.read(app.flow.trial_at, who, Phase.TRIALS, position)
    metadata = _answer_metadata(app, who, asked, Phase.TRIALS, form)
    await asyncio.to_thread(app.flow.skip_item, who, position, metadata)
    return await _next_response(app, request, who)


async def debrief(app: App, request: Request) -> Response:
    """Store what a participant says at the end."""
    who = app.participant_of(request)
    form = await app.form(request, who)
    key, comment = _client_key(form), form.get("comment", "")
    await asyncio.to_thread(lambda: app.flow.record_debrief(who, comment, client_key=key))
    return redirect("/now")


async def _next_response(app: App, request: Request, who: str) -> Response:
    step = await app.advance(who)
    return next_page_response(request, f"/trial/{step.phase}/{step.position}" if step.kind == "trial" else "/now")


async def _invalid_response(
    app: App,
    request: Request,
    who: str,
    asked: TrialOnPage,
    phase: Phase,
    position: int,
    form: Mapping[str, str],
    error: AnswerInvalid,
) -> Response:
    words = asked.screen.words(app.definition.language)
    message = app.pages.fault(error.key, app.definition.language, words)
    if wants_json(request):
        return json_error(422, error.key, message, field=error.field)
    # who changes an answer still changes that one
    with suppress(AnswerRefused):
        asked = await app.read(app.flow.trial_to_show, who, phase, position)
    faults, may_skip = {error.field: message}, await app.read(app.flow.may_skip, who)
    # the page is the one that was sent, with a message in it
    trial, mark = _shown_trial(who, asked, phase), form.get(SHOWN_MARK, "")
    if app.keys.showings.read(mark, trial) is None:
        mark = app.keys.showings.mark(trial, app.clock())
    html = _trial_html(app, who, asked, phase, position, mark=mark, given=form, faults=faults, may_skip=may_skip)
    return HTMLResponse(html, status_code=422)


def _answer_metadata(app: App, who: str, asked: TrialOnPage, phase: Phase, form: Mapping[str, str]) -> AnswerMetadata:
    supersedes, rt_ms = _whole_number(form, "supersedes"), number_in(form.get("rt_ms", ""))
    shown = ShownTrial(who, str(phase), asked.trial.item_id, supersedes)
    showing = app.keys.showings.read(form.get(SHOWN_MARK, ""), shown)
    return AnswerMetadata(
        client_key=_client_key(form),
        supersedes=supersedes,
        # as for a browser's own measure: one that makes no sense is not a measure, and no reason to lose an answer
        shown_at=showing.at if showing is not None else None,
        rt_ms=rt_ms if rt_ms is not None and 0 <= rt_ms <= LONGEST_MS else None,
        rt_server_ms=showing.milliseconds(app.clock()) if showing is not None else None,
        page_version=form.get("page_version", "")[:40],
    )


# -- reading requests ------------------------------------------------------------------------------------------------


def _phase_and_position(request: Request) -> tuple[Phase, int]:
    name, position = request.path_params["phase"], path_number(request, "position")
    if name not in _ON_PAGES:
        raise Refused(404, "not_found", "not_found")
    return Phase(name), position


def _client_key(form: Mapping[str, str]) -> str:
    key = form.get("client_key", "")
    if not re.fullmatch(r"[0-9A-Za-z_-]{8,64}", key):
        raise Refused(422, "client_key", "form_expired", field="client_key")
    return key


def _whole_number(form: Mapping[str, str], name: str) -> int | None:
    text = form.get(name, "").strip()
    if not text:
        return None
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise Refused(422, "refused", "answer_refused", field=name)
    return int(text)


def _about_views(app: App, given: Mapping[str, str], faults: Mapping[str, str]) -> tuple[AboutView, ...]:
    views = []
    for question in app.definition.about_you:
        key, fault = faults.get(question.measure, ""), ""
        if key:
            taken = question.numbers()
            limits = {"low": f"{taken.low:.10g}", "high": f"{taken.high:.10g}"} if key.endswith("in_limits") else {}
            fault = app.pages.fault(key, app.definition.language, {}, **limits)
        views.append(about_view(question, given=given.get(question.measure, ""), fault=fault))
    return tuple(views)


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
    """Report within five seconds whether answers are saved, to programs that watch the server.

    The reply has no data of participants.
    200: yes. 503: no (``saving`` is false), and the server must be looked at. 507: the disk is nearly full.
    """
    # the reason names files and servers: it is in the server's messages
    failing = JSONResponse({"status": "failing", "saving": False}, status_code=503, headers={"retry-after": "3"})
    if app.store.trouble:
        return failing
    try:
        state = await app.health()
    except TimeoutError:
        app.store.outage.record_failure(f"the database did not answer within {HEALTH_SECONDS:g} seconds")
        return failing
    except Exception as error:  # noqa: BLE001 - a program that watches is told of any failure in the same form
        # the store has recorded its own errors
        if not isinstance(error, LexiscopeError):
            app.store.outage.record_failure(place_of(error))
        return failing
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
    Address("/", ("GET",), landing, "everyone"),
    Address("/id", ("POST",), enter_id, "everyone"),
    Address("/t/{token}", ("GET",), token, "everyone"),
    Address("/static/{name}", ("GET",), static, "everyone"),
    Address("/health", ("GET",), health, "everyone"),
    Address("/now", ("GET",), now, "participant"),
    Address("/trial/{phase}/{position}", ("GET",), trial, "participant"),
    Address("/feedback/{position}", ("GET",), feedback, "participant"),
    Address("/search", ("GET",), search, "participant"),
    Address("/consent", ("POST",), consent, "participant"),
    Address("/about", ("POST",), about, "participant"),
    Address("/begin", ("POST",), begin, "participant"),
    Address("/trial/{phase}/{position}", ("POST",), submit_trial, "participant"),
    Address("/instructions/{phase}/{position}", ("POST",), instructions, "participant"),
    Address("/another/{position}", ("POST",), another, "participant"),
    Address("/debrief", ("POST",), debrief, "participant"),
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
