"""Exclusions by rule."""

from __future__ import annotations

from starlette.responses import Response

from lexiscope.annotation.store.record import State
from lexiscope.annotation.web.admin.people_pages import person_line
from lexiscope.annotation.web.admin.visit import Visit, list_page
from lexiscope.core.errors import LexiscopeError


def exclusions(visit: Visit) -> Response:
    """Show the rules in their order with the effect of each, and the excluded participants."""
    app, summary = visit.dashboard.app, visit.dashboard.summaries.latest()
    if summary is None:
        return visit.counting_page("exclusions")
    excluded = [person for person in visit.dashboard.people() if person.state is State.EXCLUDED]
    excluded.sort(key=lambda person: person.last_at, reverse=True)
    page = list_page(visit, excluded, where="/exclusions")
    applied_at = app.flow.exclusion_rules.applied_at
    return visit.page(
        "admin_exclusions.html",
        here="exclusions",
        rules=list(zip((*app.definition.exclusions, ""), summary.participants.rules, strict=False)),
        shown=page,
        lines=[person_line(visit, person) for person in page.rows],
        judged=applied_at.isoformat() if applied_at is not None else "",
        at=summary.at.isoformat(),
    )


def judge(visit: Visit) -> Response:
    """Apply the exclusion rules now."""
    app = visit.dashboard.app
    app.store.log("judge", actor=visit.name)
    try:
        app.flow.exclusion_rules.apply()
    except LexiscopeError:
        return visit.redirect("/exclusions", said="judging_failed")
    visit.dashboard.refresh()
    return visit.redirect("/exclusions", said="judged")
