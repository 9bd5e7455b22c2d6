"""Participants: their states, and what a researcher decides about each of them. Pseudonyms only."""

from __future__ import annotations

import re
from dataclasses import dataclass

from starlette.responses import Response

from lexiscope.annotation.export.study_data import minutes_of
from lexiscope.annotation.reconciliation import LEFT_THERE
from lexiscope.annotation.store.overview import ListedParticipant
from lexiscope.annotation.store.participants import state_changes
from lexiscope.annotation.store.record import TRANSITIONS, State, StateError
from lexiscope.annotation.study_file.exclusions import INCLUDED
from lexiscope.annotation.web.admin.texts import EXCLUDED_BY_HAND, ONE, STATES
from lexiscope.annotation.web.admin.visit import Visit, form_text, list_page
from lexiscope.annotation.web.security import Refused
from lexiscope.core.simulated import short_id

APPROVED = "approved"
MOST_IDS = 2000
"""The most IDs that are pasted at once."""
_LONGEST_LIST = 100_000


@dataclass(frozen=True, slots=True)
class PersonLine:
    """A participant in a table. *Unit:* ``minutes`` from the first trial to the last."""

    who: str
    state: str
    state_text: str
    list_id: str
    surplus: bool
    n_answered: int
    minutes: float | None
    reason: str
    last_at: str


@dataclass(frozen=True, slots=True)
class StateAction:
    """A change of state that the researcher can make now, and whether a reason must be given."""

    to: str
    needs_reason: bool


def person_line(visit: Visit, person: ListedParticipant) -> PersonLine:
    """Return a participant as the tables show them, with the reason of an exclusion or a renewed inclusion."""
    shows_reason = person.state is State.EXCLUDED or person.reason.startswith(INCLUDED)
    return PersonLine(
        who=person.participant_id,
        state=str(person.state),
        state_text=visit.translate(STATES[str(person.state)]),
        list_id=person.list_id or "",
        surplus=person.surplus,
        n_answered=person.n_answered,
        minutes=minutes_of(person),
        reason=visit.reason(person.reason) if shows_reason else "",
        last_at=person.last_at,
    )


def participants(visit: Visit) -> Response:
    """Show the participants, the most recently active first, by state if asked."""
    people = visit.dashboard.people()
    state, query = visit.request.query_params.get("state", ""), visit.request.query_params.get("q", "").strip()[:64]
    counts = {name: sum(str(person.state) == name for person in people) for name in STATES}
    chosen = [person for person in people if (state not in STATES or str(person.state) == state)]
    chosen = [person for person in chosen if person.participant_id.startswith(query)]
    chosen.sort(key=lambda person: person.last_at, reverse=True)
    page = list_page(visit, chosen, where="/participants", state=state, q=query)
    return visit.page(
        "admin_participants.html",
        here="participants",
        shown=page,
        lines=[person_line(visit, person) for person in page.rows],
        states=[(name, visit.translate(text), counts[name]) for name, text in STATES.items() if counts[name]],
        state=state if state in STATES else "",
        query=query,
        n_people=len(people),
        counted={name: visit.number(name, least=0, most=MOST_IDS, default=0) for name in ("marked", "kept", "unknown")},
        most=MOST_IDS,
    )


def mark_away(visit: Visit) -> Response:
    """Mark participants as returned or timed out by the platform IDs that were pasted; these are not shown again."""
    to = {"returned": State.RETURNED, "timed_out": State.TIMED_OUT}.get(visit.form.get("to", ""))
    ids = set(re.split(r"[\s,;]+", form_text(visit.form.get("ids", ""), longest=_LONGEST_LIST))) - {""}
    if to is None or not 1 <= len(ids) <= MOST_IDS:
        raise Refused(422, "ids", "bad_ids")
    store = visit.dashboard.app.store
    by_platform_id = store.participants_by_id(ids)
    people = dict.fromkeys(by_platform_id.values(), to)
    marked = store.mark_away(people, reason=LEFT_THERE, actor=visit.name)
    visit.dashboard.refresh()
    counts = {"marked": len(marked), "kept": len(people) - len(marked), "unknown": len(ids) - len(by_platform_id)}
    return visit.redirect("/participants", said="marked_away", **{name: str(n) for name, n in counts.items()})


def participant(visit: Visit, *, status: int = 200, said: str = "") -> Response:
    """Show one participant: the history, and the possible actions."""
    store, person = visit.dashboard.app.store, _find_person(visit)
    changes = store.read(state_changes, person.participant_id)
    return visit.page(
        "admin_participant.html",
        here="participants",
        title=visit.translate(ONE["participant"], who=short_id(person.participant_id)),
        status=status,
        said=said or visit.request.query_params.get("said", ""),
        person=person_line(visit, person),
        past=[(c.at, visit.translate(STATES[str(c.to_state)]), visit.reason(c.reason)) for c in changes],
        actions=available_actions(person.state),
        keep_answers=store.study.keep_answers,
    )


def _find_person(visit: Visit) -> ListedParticipant:
    who = visit.request.path_params["who"]
    person = next((listed for listed in visit.dashboard.people() if listed.participant_id == who), None)
    if person is None:
        raise Refused(404, "not_found", "not_found")
    return person


def available_actions(state: State) -> tuple[StateAction, ...]:
    """Return the actions of a researcher for a participant in a state.

    >>> [action.to for action in available_actions(State.FINISHED)]
    ['accepted', 'excluded', 'returned', 'timed_out']
    """
    offered = (State.ACCEPTED, State.EXCLUDED, State.RETURNED, State.TIMED_OUT)
    reasoned = {State.EXCLUDED} | ({State.ACCEPTED} if state is State.EXCLUDED else set())
    return tuple(StateAction(str(to), to in reasoned) for to in offered if to in TRANSITIONS[state])


def change_participant(visit: Visit) -> Response:
    """Approve, exclude, include again, or mark as returned or timed out; a place that is left is free at once."""
    dashboard, person = visit.dashboard, _find_person(visit)
    action = next((offer for offer in available_actions(person.state) if offer.to == visit.form.get("to", "")), None)
    if action is None:
        return participant(visit, status=409, said="not_possible")
    why = form_text(visit.form.get("reason", ""))
    if action.needs_reason and not why:
        return participant(visit, status=422, said="reason_missing")
    to, reason = State(action.to), _reason(person.state, State(action.to), why)
    try:
        dashboard.app.store.change_state(person.participant_id, to, reason=reason)
    except StateError:
        return participant(visit, status=409, said="not_possible")
    details = {"participant_id": person.participant_id, "from": str(person.state), "to": action.to, "reason": reason}
    dashboard.app.store.log("change_state", actor=visit.name, details=details)
    dashboard.refresh()
    return visit.redirect(f"/participants/{person.participant_id}", said="state_changed")


def _reason(state: State, to: State, why: str) -> str:
    if to is State.EXCLUDED:
        return EXCLUDED_BY_HAND + why
    if to is State.ACCEPTED:
        return INCLUDED + why if state is State.EXCLUDED else APPROVED
    return why or "marked by a researcher"


def forget_page(visit: Visit, *, status: int = 200, said: str = "") -> Response:
    """Ask for the pseudonym to be typed before an identity is deleted."""
    person = _find_person(visit)
    return visit.page(
        "admin_forget.html",
        here="participants",
        title=visit.translate(ONE["forget"], who=short_id(person.participant_id)),
        status=status,
        said=said,
        person=person_line(visit, person),
        keep_answers=visit.dashboard.app.store.study.keep_answers,
    )


def forget(visit: Visit) -> Response:
    """Delete a participant's identity, backups included, once the pseudonym was typed."""
    person = _find_person(visit)
    if visit.form.get("typed", "").strip() != short_id(person.participant_id):
        return forget_page(visit, status=422, said="not_typed")
    erased = visit.dashboard.app.store.forget(person.participant_id, actor=visit.name)
    visit.dashboard.refresh()
    visit.dashboard.summaries.clear()
    said = "still_written" if erased.still_in else "forgotten"
    return visit.redirect(f"/participants/{person.participant_id}", said=said)
