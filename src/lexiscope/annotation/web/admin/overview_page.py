"""The overview: how far the study is, what it costs its participants in time, which lists still need people."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from starlette.responses import Response

from lexiscope.annotation.export.pay import Pay, PayTopUp, pay_so_far, pay_top_ups
from lexiscope.annotation.monitor import (
    Suggestion,
    has_left,
    is_at_it,
    list_progress,
    losses,
    top_up_suggestions,
)
from lexiscope.annotation.store.overview import ListedParticipant
from lexiscope.annotation.store.places import ListLoad
from lexiscope.annotation.store.record import State
from lexiscope.annotation.study_file.definition import Payment
from lexiscope.annotation.web.admin.visit import Visit

_DONE = frozenset({State.FINISHED, State.ACCEPTED})


@dataclass(frozen=True, slots=True)
class KeyFigures:
    """The study in a few numbers.

    ``at_it`` are people between consent and the last answer of whom there is a sign of life; ``left`` began the trials
    and are away; ``wanted`` are the valid people that all lists need together. ``owed`` is who earned too little.
    """

    valid: int
    wanted: int
    at_it: int
    left: int
    excluded: int
    surplus: int
    pay: Pay
    hourly_least: float
    owed: tuple[PayTopUp, ...] = ()

    @property
    def underpaid(self) -> bool:
        """Say whether people earn less per hour than the study promises at least."""
        return self.pay.hourly is not None and self.pay.hourly < self.hourly_least


def key_figures(people: Sequence[ListedParticipant], *, wanted: int, payment: Payment) -> KeyFigures:
    """Count people, with the median time and the pay per hour of those who finished."""
    done = [one for one in people if one.state in _DONE]
    return KeyFigures(
        valid=sum(not one.surplus for one in done),
        wanted=wanted,
        at_it=sum(map(is_at_it, people)),
        left=sum(map(has_left, people)),
        excluded=sum(one.state is State.EXCLUDED for one in people),
        surplus=sum(one.surplus for one in people if one.state in _DONE | {State.ACTIVE}),
        pay=pay_so_far(people, amount=payment.amount, currency=payment.currency),
        hourly_least=payment.hourly_least,
        owed=pay_top_ups(people, amount=payment.amount, hourly_least=payment.hourly_least),
    )


@dataclass(frozen=True, slots=True)
class ListLine:
    """One list: its view (where the study has several), how many people it needs and has, and what it still lacks."""

    list_id: str
    view: str
    need: int
    valid: int
    active: int
    excluded: int
    surplus: int

    @property
    def lacks(self) -> int:
        """Valid people that are missing, whoever is at it not counted."""
        return max(0, self.need - self.valid)

    @property
    def free(self) -> int:
        """Places for newcomers."""
        return max(0, self.need - self.valid - self.active)


def list_lines(
    loads: Mapping[str, ListLoad], needs: Mapping[str, int], views: Mapping[str, str]
) -> tuple[ListLine, ...]:
    """Return the lists in their order; the view is left out where there is only one."""
    shown = views if len(set(views.values())) > 1 else {}
    return tuple(ListLine(name, shown.get(name, ""), needs[name], *_counts(load)) for name, load in loads.items())


def _counts(load: ListLoad) -> tuple[int, int, int, int]:
    return load.valid, load.active, load.excluded, load.surplus


@dataclass(frozen=True, slots=True)
class TopUpLine:
    """What is suggested for a list, and the number of places that would let as many people in at once."""

    suggestion: Suggestion
    places: int


def top_up_lines(
    people: Sequence[ListedParticipant], loads: Mapping[str, ListLoad], *, need: int, planned: Mapping[str, int]
) -> tuple[TopUpLine, ...]:
    """Return how many more people to ask for on each list that will be short."""
    found = top_up_suggestions(list_progress(loads), losses(people), per_item=need)
    lines = []
    for one in found:
        load = loads[one.list_id]
        more = max(0, load.valid + load.active + one.ask - need)
        lines.append(TopUpLine(one, max(load.places, planned[one.list_id] + more)))
    return tuple(lines)


def needs_of(loads: Mapping[str, ListLoad], *, need: int, planned: Collection[tuple[str, int]]) -> dict[str, int]:
    """Return how many valid people each list needs: the study's number, and the places that were added since."""
    return {name: need + max(0, loads[name].places - places) for name, places in planned}


async def overview(visit: Visit) -> Response:
    """Show the overview."""
    return await asyncio.to_thread(_overview, visit)


def _overview(visit: Visit) -> Response:
    app = visit.desk.app
    loads = app.store.loads()
    needs = needs_of(loads, need=app.study.quota.need, planned=app.study.record.places.items())
    people, need = visit.desk.people(), app.study.quota.need
    figures = key_figures(people, wanted=sum(needs.values()), payment=app.definition.payment)
    top_ups = top_up_lines(people, loads, need=need, planned=app.study.record.places)
    lists = list_lines(loads, needs, app.study.record.views)
    return visit.page("admin_overview.html", here="overview", figures=figures, lists=lists, top_ups=top_ups)
