"""Exclusions by rule, agreement so far, and what participants said about themselves."""

from __future__ import annotations

import asyncio

from starlette.responses import Response

from lexiscope.annotation.store.record import State
from lexiscope.annotation.web.admin.paging import paged
from lexiscope.annotation.web.admin.people_pages import person_line
from lexiscope.annotation.web.admin.visit import Visit
from lexiscope.core.errors import LexiscopeError


async def exclusions(visit: Visit) -> Response:
    """Show the rules in their order with what each did, and who is excluded."""
    return await asyncio.to_thread(_exclusions, visit)


def _exclusions(visit: Visit) -> Response:
    app, look = visit.desk.app, visit.desk.looks.now()
    if look is None:
        return visit.counting("exclusions")
    excluded = [one for one in visit.desk.people() if one.state is State.EXCLUDED]
    excluded.sort(key=lambda one: one.last_at, reverse=True)
    shown = paged(visit, excluded, where="/exclusions")
    judged = app.flow.judged_at
    return visit.page(
        "admin_exclusions.html",
        here="exclusions",
        rules=list(zip((*app.definition.exclusions, ""), look.standing.rules, strict=False)),
        shown=shown,
        lines=[person_line(visit, one) for one in shown.rows],
        judged=judged.isoformat() if judged is not None else "",
        at=look.at.isoformat(),
    )


async def judge(visit: Visit) -> Response:
    """Apply the exclusion rules now."""
    return await asyncio.to_thread(_judge, visit)


def _judge(visit: Visit) -> Response:
    app = visit.desk.app
    app.store.log("judge", actor=visit.name)
    try:
        app.flow.judge()
    except LexiscopeError:
        return visit.go("/exclusions", said="judging_failed")
    visit.desk.changed()
    return visit.go("/exclusions", said="judged")


async def agreement(visit: Visit) -> Response:
    """Show how far the valid participants agree so far, and who they are."""
    return await asyncio.to_thread(_agreement, visit)


def _agreement(visit: Visit) -> Response:
    look = visit.desk.looks.now()
    if look is None:
        return visit.counting("agreement")
    texts = {question.measure: question for question in visit.desk.app.definition.about_you}
    return visit.page(
        "admin_agreement.html",
        here="agreement",
        figures=look.agreement,
        about=look.about,
        questions=texts,
        option_texts={name: {one.value: one.text for one in question.options} for name, question in texts.items()},
        n_valid=len(look.standing.valid),
        at=look.at.isoformat(),
    )
