"""The overview of a study: progress, time and pay."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from starlette.responses import Response

from lexiscope.annotation.export.pay import Pay, PayTopUp, pay_so_far, pay_top_ups
from lexiscope.annotation.monitor import (
    Suggestion,
    has_left,
    is_active,
    list_progress,
    losses,
    top_up_suggestions,
)
from lexiscope.annotation.store.overview import ListedParticipant
from lexiscope.annotation.store.places import ListLoad
from lexiscope.annotation.store.record import State
from lexiscope.annotation.study_file.definition import Payment
from lexiscope.annotation.web.admin.texts import VIEWS
from lexiscope.annotation.web.admin.visit import Visit

_DONE = frozenset({State.FINISHED, State.ACCEPTED})


@dataclass(frozen=True, slots=True)
class KeyFigures:
    """The study in a few numbers.

    ``active`` participants are between consent and the last answer and within the time limit; ``dropped_out`` began the
    trials and are away; ``wanted`` is the number of valid participants that all lists need together. ``owed``: those
    who earned too little.
    """

    valid: int
    wanted: int
    active: int
    dropped_out: int
    excluded: int
    surplus: int
    pay: Pay
    hourly_least: float
    owed: tuple[PayTopUp, ...] = ()

    @property
    def is_underpaid(self) -> bool:
        """Return whether participants earn less per hour than the study's minimum pay."""
        return self.pay.hourly is not None and self.pay.hourly < self.hourly_least


def key_figures(people: Sequence[ListedParticipant], *, wanted: int, payment: Payment) -> KeyFigures:
    """Return the numbers of participants, with the median time and the pay per hour of those who finished."""
    done = [person for person in people if person.state in _DONE]
    return KeyFigures(
        valid=sum(not person.surplus for person in done),
        wanted=wanted,
        active=sum(map(is_active, people)),
        dropped_out=sum(map(has_left, people)),
        excluded=sum(person.state is State.EXCLUDED for person in people),
        surplus=sum(person.surplus for person in people if person.state in _DONE | {State.ACTIVE}),
        pay=pay_so_far(people, amount=payment.amount, currency=payment.currency),
        hourly_least=payment.hourly_least,
        owed=pay_top_ups(people, amount=payment.amount, hourly_least=payment.hourly_least),
    )


@dataclass(frozen=True, slots=True)
class ListLine:
    """One list: its view (if the study has several), the participants that it needs, has, and still misses."""

    list_id: str
    view: str
    need: int
    valid: int
    active: int
    excluded: int
    surplus: int

    @property
    def missing(self) -> int:
        """Valid participants still missing; active ones do not count."""
        return max(0, self.need - self.valid)

    @property
    def free(self) -> int:
        """Places for new participants."""
        return max(0, self.need - self.valid - self.active)


def list_lines(
    loads: Mapping[str, ListLoad], needs: Mapping[str, int], views: Mapping[str, str]
) -> tuple[ListLine, ...]:
    """Return the lists in their order; without the view if there is only one."""
    shown = views if len(set(views.values())) > 1 else {}
    return tuple(
        ListLine(name, shown.get(name, ""), needs[name], load.valid, load.active, load.excluded, load.surplus)
        for name, load in loads.items()
    )


@dataclass(frozen=True, slots=True)
class TopUpLine:
    """A suggestion for a list, and the number of places that would admit the suggested participants at once."""

    suggestion: Suggestion
    places: int


def top_up_lines(
    people: Sequence[ListedParticipant], loads: Mapping[str, ListLoad], *, need: int, planned: Mapping[str, int]
) -> tuple[TopUpLine, ...]:
    """Return how many more participants to recruit for each list that will not be filled."""
    suggestions = top_up_suggestions(list_progress(loads), losses(people), per_item=need)
    lines = []
    for suggestion in suggestions:
        load = loads[suggestion.list_id]
        more = max(0, load.valid + load.active + suggestion.ask - need)
        lines.append(TopUpLine(suggestion, max(load.places, planned[suggestion.list_id] + more)))
    return tuple(lines)


def needs_of(loads: Mapping[str, ListLoad], *, need: int, planned: Collection[tuple[str, int]]) -> dict[str, int]:
    """Return how many valid participants each list needs: the study's number, and the places that were added since."""
    return {name: need + max(0, loads[name].places - places) for name, places in planned}


def overview(visit: Visit) -> Response:
    """Show the overview."""
    app = visit.dashboard.app
    loads = app.store.loads()
    needs = needs_of(loads, need=app.study.quota.need, planned=app.study.record.places.items())
    people, need = visit.dashboard.people(), app.study.quota.need
    figures = key_figures(people, wanted=sum(needs.values()), payment=app.definition.payment)
    top_ups = top_up_lines(people, loads, need=need, planned=app.study.record.places)
    lists = list_lines(loads, needs, app.study.record.views)
    views = {name: visit.translate(text) for name, text in VIEWS.items()}
    return visit.page(
        "admin_overview.html", here="overview", figures=figures, lists=lists, top_ups=top_ups, views=views
    )
