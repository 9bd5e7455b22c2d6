"""Access of researchers: the one-time set-up link, which makes the first account, login and logout."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime, timedelta

from starlette.responses import Response

from lexiscope.annotation.phrases import msg
from lexiscope.annotation.store.accounts import password_hash, sha256
from lexiscope.annotation.store.store import Store
from lexiscope.annotation.web.admin.passwords import ADVISED, LONGEST, SHORTEST, password_fault
from lexiscope.annotation.web.admin.texts import MESSAGES
from lexiscope.annotation.web.admin.visit import ROOT, Visit
from lexiscope.annotation.web.security import Refused, ServerSettings, new_token

SETUP_LASTS = timedelta(hours=24)
UNKNOWN = "unknown account"
"""The actor in the log for a name without an account: researchers may type a password as the name."""
_NAME = r"[0-9A-Za-z._-]{1,40}"
LOG_IN = msg("Log in")
"""The title of the login."""
_SET_UP = msg("Set your password")


def make_setup_link(store: Store, settings: ServerSettings, *, now: datetime | None = None) -> str:
    """Return a link with which one person sets a password, once, within 24 hours. An earlier link is void."""
    secret = new_token()
    store.set_setup_secret(sha256(secret), (now or datetime.now(UTC)) + SETUP_LASTS)
    store.log("set-up link made", actor="server")
    return f"{settings.public_url.rstrip('/')}{ROOT}/setup/{secret}"


def login_page(visit: Visit, *, status: int = 200, said: str = "", name: str = "") -> Response:
    """Show the login."""
    said = said or visit.request.query_params.get("said", "")
    title = visit.translate(LOG_IN)
    return visit.page("admin_login.html", here="", title=title, status=status, said=said, name=name[:40])


async def login(visit: Visit) -> Response:
    """Check name and password; a session begins under a new token.

    Errors: :class:`Refused` 429 after ten failures within a minute, 503 where many log in at once.
    """
    dashboard, name, password = visit.dashboard, visit.form.get("name", "").strip(), visit.form.get("password", "")
    key = f"{name.casefold()[:200]} {address_of(visit)}"
    try:
        attempt = await asyncio.to_thread(dashboard.failures.begin, key)
    except Refused as refused:
        response = login_page(visit, status=429, said="too_many_logins", name=name)
        response.headers["retry-after"] = str(refused.retry_after)
        return response
    stored = (
        await asyncio.to_thread(dashboard.app.store.read, password_hash, name) if re.fullmatch(_NAME, name) else None
    )
    try:
        fits = await dashboard.passwords.verify(password, stored)
    except Refused:
        await asyncio.to_thread(dashboard.failures.forget, attempt)
        raise
    if not fits:
        actor = name if stored is not None else UNKNOWN
        await asyncio.to_thread(lambda: dashboard.app.store.log("login failed", actor=actor))
        return login_page(visit, status=401, said="wrong_login", name=name)
    await asyncio.to_thread(dashboard.failures.forget, attempt)
    return await _enter(visit, name)


async def _enter(visit: Visit, name: str) -> Response:
    dashboard = visit.dashboard

    def begin() -> Response:
        response = visit.redirect("")
        # an earlier session of this browser ends: no session outlives the next login
        if visit.session is not None:
            dashboard.sessions.close(visit.session)
        dashboard.sessions.set_cookie(response, dashboard.sessions.open(name))
        dashboard.app.store.log("login", actor=name)
        return response

    return await asyncio.to_thread(begin)


async def logout(visit: Visit) -> Response:
    """End the session."""
    dashboard, session = visit.dashboard, visit.session
    assert session is not None

    def end() -> None:
        dashboard.sessions.close(session)
        dashboard.app.store.log("logout", actor=session.name)

    await asyncio.to_thread(end)
    response = visit.redirect("/login", said="logged_out")
    dashboard.sessions.delete_cookie(response)
    return response


def setup_page(visit: Visit, *, status: int = 200, fault: str = "", name: str = "") -> Response:
    """Show the page of a set-up link; looking at it does not use it up."""
    return visit.page(
        "admin_setup.html",
        here="",
        title=visit.translate(_SET_UP),
        status=status,
        secret=visit.request.path_params["secret"],
        fault=visit.translate(MESSAGES[fault]) if fault else "",
        faulty=fault,
        name=name[:40],
        shortest=SHORTEST,
        advised=ADVISED,
        longest=LONGEST,
    )


async def setup(visit: Visit) -> Response:
    """Set a password with a set-up link; the link is used up only when the password is taken."""
    store, form = visit.dashboard.app.store, visit.form
    name, password = form.get("name", "").strip(), form.get("password", "")
    fault = "" if re.fullmatch(_NAME, name) else "bad_name"
    fault = fault or password_fault(password, study=visit.dashboard.app.definition.name, name=name)
    fault = fault or ("" if password == form.get("again", "") else "passwords_differ")
    if fault:
        return setup_page(visit, status=422, fault=fault, name=name)
    attempt = await asyncio.to_thread(visit.dashboard.failures.begin, f"/setup {address_of(visit)}")
    # hashed first: a server that is too busy to hash must not use the link up
    hashed = await visit.dashboard.passwords.hash(password)
    if not await asyncio.to_thread(store.use_setup_secret, sha256(visit.request.path_params["secret"])):
        await asyncio.to_thread(lambda: store.log("set-up link refused", actor=UNKNOWN))
        return setup_page(visit, status=403, fault="no_setup", name=name)
    await asyncio.to_thread(visit.dashboard.failures.forget, attempt)
    await asyncio.to_thread(lambda: store.set_password(name, hashed, actor=name))
    return visit.redirect("/login", said="password_set")


def address_of(visit: Visit) -> str:
    """Return the network address of a request; it is compared, never stored."""
    client = visit.request.client
    return client.host if client is not None else ""
