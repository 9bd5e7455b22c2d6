"""The study as a whole: running, paused or closed; more places; lab links; the log."""

from __future__ import annotations

import json
from typing import cast, get_args

from starlette.responses import Response

from lexiscope.annotation.store.audit import AuditEntry
from lexiscope.annotation.store.record import Status
from lexiscope.annotation.study_file.definition import Platform
from lexiscope.annotation.web.admin.texts import KEEPING, ONE, action_text, detail_phrases
from lexiscope.annotation.web.admin.visit import Visit, page_with_rows, requested_page
from lexiscope.annotation.web.pages import to_html
from lexiscope.annotation.web.security import Refused, remember

_MOST_LINKS = 1000
_KEPT_LINKS = 10
_LOGGED = 100


def status_page(visit: Visit, *, code: int = 200, said: str = "") -> Response:
    """Show whether the study is running, and the text for participants if it is not."""
    app = visit.dashboard.app
    health, due = app.store.health(), app.store.due_purge()
    asked = visit.request.query_params.get("to", "")
    return visit.page(
        "admin_status.html",
        here="status",
        status=code,
        said=said or visit.request.query_params.get("said", ""),
        now=health.status,
        asked=asked if asked in get_args(Status) and asked != health.status else "",
        closed_html=to_html(app.definition.texts.closed),
        health=health,
        not_kept=[(visit.translate(KEEPING[name]), why) for name, why in sorted(health.not_kept.items())],
        due=due.date().isoformat() if due is not None else "",
        shared=app.store.is_shared,
        link=app.settings.public_url,
    )


def set_status(visit: Visit) -> Response:
    """Run, pause or close the study, once it was confirmed."""
    to = visit.form.get("to", "")
    if to not in get_args(Status) or visit.form.get("confirmed") != "yes":
        return status_page(visit, code=422, said="not_confirmed")
    visit.dashboard.app.store.set_status(cast(Status, to), actor=visit.name)
    return visit.redirect("/status", said=to)


def places_page(visit: Visit, *, code: int = 200, said: str = "") -> Response:
    """Ask before the places of a list are changed."""
    list_id = visit.request.path_params["list_id"]
    load = visit.dashboard.app.store.loads().get(list_id)
    if load is None:
        raise Refused(404, "not_found", "not_found")
    return visit.page(
        "admin_places.html",
        here="overview",
        title=visit.translate(ONE["places"], list=list_id),
        status=code,
        said=said,
        load=load,
        places=visit.number("places", least=0, most=100_000, default=load.places),
    )


def set_places(visit: Visit) -> Response:
    """Change the number of places of a list."""
    text, list_id = visit.form.get("places", "").strip(), visit.request.path_params["list_id"]
    if not (text.isascii() and text.isdecimal() and len(text) <= 6):
        return places_page(visit, code=422, said="bad_number")
    if visit.form.get("confirmed") != "yes":
        return places_page(visit, code=422, said="not_confirmed")
    visit.dashboard.app.store.set_places(list_id, int(text), actor=visit.name)
    return visit.redirect("", said="places_set")


def invitations(visit: Visit, *, code: int = 200, said: str = "", links: tuple[str, ...] = ()) -> Response:
    """Show how participants come in; links for the lab are made here."""
    app = visit.dashboard.app
    key = ""
    if links:
        key = app.keys.form_token(f"researcher-links/{links[0]}")[:32]
        remember(visit.dashboard.links, key, "".join(f"{link}\n" for link in links), most=_KEPT_LINKS)
    return visit.page(
        "admin_invitations.html",
        here="invitations",
        status=code,
        said=said,
        links=links,
        key=key,
        platform=app.definition.platform,
        address=study_link(app.definition.platform, app.settings.public_url),
        most=_MOST_LINKS,
    )


def study_link(platform: Platform, public_url: str) -> str:
    """Return the link to give to the recruiting platform; empty for a lab, where each participant has a separate link.

    Prolific fills in its placeholders in double braces; other panels add their own id of each participant.

    >>> study_link(Platform(participant="pid", study="", session=""), "https://study.example.org")
    'https://study.example.org/?pid={{%PROLIFIC_PID%}}'
    >>> study_link(Platform(kind="panel", participant="pid"), "https://study.example.org")
    'https://study.example.org/?pid='
    """
    url = public_url.rstrip("/")
    if platform.kind == "lab":
        return ""
    if platform.kind == "panel":
        return f"{url}/?{platform.participant}="
    names = (platform.participant, platform.study, platform.session)
    placeholders = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
    given = [f"{name}={{{{%{text}%}}}}" for name, text in zip(names, placeholders, strict=True) if name]
    return f"{url}/?{'&'.join(given)}"


def make_links(visit: Visit) -> Response:
    """Make links for the lab. They are shown in the answer to this request and nowhere else."""
    text, app = visit.form.get("n", "").strip(), visit.dashboard.app
    if not (text.isascii() and text.isdecimal() and len(text) <= 4 and 1 <= int(text) <= _MOST_LINKS):
        return invitations(visit, code=422, said="many_tokens")
    base = app.settings.public_url.rstrip("/")
    links = tuple(f"{base}/t/{token}" for token in app.store.make_tokens(int(text), actor=visit.name))
    return invitations(visit, links=links)


async def fetch_links(visit: Visit) -> Response:
    """Send the links that were just made as a text file, once."""
    text = visit.dashboard.links.pop(visit.form.get("key", ""), None)
    if text is None:
        raise Refused(404, "not_found", "not_found")
    headers = {"content-disposition": 'attachment; filename="links.txt"'}
    return Response(text, media_type="text/plain", headers=headers)


def log(visit: Visit, *, problems: tuple[str, ...] = (), said: str = "", counted: int = 0) -> Response:
    """Show the audit log, newest first."""
    store = visit.dashboard.app.store
    n, _ = store.audit_entries(limit=1)
    number = requested_page(visit, n, per_page=_LOGGED)
    n, entries = store.audit_entries(limit=_LOGGED, offset=(number - 1) * _LOGGED)
    page = page_with_rows(entries, number, n_rows=n, where="/log", per_page=_LOGGED)
    return visit.page(
        "admin_log.html",
        here="log",
        said=said,
        shown=page,
        lines=[(entry, _details(visit, entry)) for entry in page.rows],
        action=lambda action: visit.translate(action_text(action)),
        problems=problems,
        counted=counted,
    )


def _details(visit: Visit, entry: AuditEntry) -> list[tuple[str, str]]:
    phrases = detail_phrases(json.loads(entry.details), visit.dashboard.rules)
    return [(visit.translate(name), visit.say(value)) for name, value in phrases]


def verify(visit: Visit) -> Response:
    """Check the database, the chain of the log and every answer."""
    store = visit.dashboard.app.store
    check = store.verify()
    store.log("verify", actor=visit.name, details={"answers": check.answers, "problems": len(check.problems)})
    said = "damaged" if check.problems else "verified"
    return log(visit, problems=check.problems[:50], said=said, counted=check.answers)
