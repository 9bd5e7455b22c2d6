"""Participants: who stands where, and what a researcher decides about one of them. Pseudonyms only."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass

from starlette.responses import Response

from lexiscope.annotation.export.collected import minutes_of
from lexiscope.annotation.reconciliation import LEFT_THERE
from lexiscope.annotation.store.overview import ListedParticipant
from lexiscope.annotation.store.record import TRANSITIONS, State, StateError
from lexiscope.annotation.study_file.exclusions import INCLUDED
from lexiscope.annotation.web.admin.paging import paged
from lexiscope.annotation.web.admin.texts import ONE, STATES
from lexiscope.annotation.web.admin.visit import Visit, bounded
from lexiscope.annotation.web.security import Refused
from lexiscope.core.simulated import short_id

APPROVED = "approved"
EXCLUDED = "excluded by hand: "
MOST_IDS = 2000
"""The most ids that are pasted at once."""
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
class Deed:
    """What can be done with a participant now: the new state, and whether a reason must be given."""

    to: str
    needs_reason: bool


def person_line(visit: Visit, person: ListedParticipant) -> PersonLine:
    """Return a participant as the tables show them; a reason is shown where it tells more than the state."""
    told = person.state is State.EXCLUDED or person.reason.startswith(INCLUDED)
    return PersonLine(
        who=person.participant_id,
        state=str(person.state),
        state_text=visit.say(STATES[str(person.state)]),
        list_id=person.list_id or "",
        surplus=person.surplus,
        n_answered=person.n_answered,
        minutes=minutes_of(person),
        reason=person.reason if told else "",
        last_at=person.last_at,
    )


async def participants(visit: Visit) -> Response:
    """Show the participants, newest sign of life first, by state if asked."""
    return await asyncio.to_thread(_participants, visit)


def _participants(visit: Visit) -> Response:
    people = visit.desk.people()
    state, query = visit.request.query_params.get("state", ""), visit.request.query_params.get("q", "").strip()[:64]
    counts = {name: sum(str(one.state) == name for one in people) for name in STATES}
    chosen = [one for one in people if (state not in STATES or str(one.state) == state)]
    chosen = [one for one in chosen if one.participant_id.startswith(query)]
    chosen.sort(key=lambda one: one.last_at, reverse=True)
    shown = paged(visit, chosen, where="/participants", state=state, q=query)
    return visit.page(
        "admin_participants.html",
        here="participants",
        shown=shown,
        lines=[person_line(visit, one) for one in shown.rows],
        states=[(name, visit.say(text), counts[name]) for name, text in STATES.items() if counts[name]],
        state=state if state in STATES else "",
        query=query,
        n_people=len(people),
        counted={name: visit.number(name, least=0, most=MOST_IDS, default=0) for name in ("marked", "kept", "unknown")},
        most=MOST_IDS,
    )


async def mark_away(visit: Visit) -> Response:
    """Mark people as returned or timed out by the platform's ids that were pasted; the ids are not shown again."""
    return await asyncio.to_thread(_mark_away, visit)


def _mark_away(visit: Visit) -> Response:
    to = {"returned": State.RETURNED, "timed_out": State.TIMED_OUT}.get(visit.form.get("to", ""))
    ids = set(re.split(r"[\s,;]+", bounded(visit.form.get("ids", ""), longest=_LONGEST_LIST))) - {""}
    if to is None or not 1 <= len(ids) <= MOST_IDS:
        raise Refused(422, "ids", "bad_ids")
    store = visit.desk.app.store
    known = store.who_came_with(ids)
    people = dict.fromkeys(known.values(), to)
    marked = store.mark_away(people, reason=LEFT_THERE, actor=visit.name)
    visit.desk.changed()
    counts = {"marked": len(marked), "kept": len(people) - len(marked), "unknown": len(ids) - len(known)}
    return visit.go("/participants", said="marked_away", **{name: str(n) for name, n in counts.items()})


async def participant(visit: Visit) -> Response:
    """Show one participant: what happened, and what can be done."""
    return await asyncio.to_thread(_participant, visit)


def _participant(visit: Visit, *, status: int = 200, said: str = "") -> Response:
    store, person = visit.desk.app.store, _person(visit)
    past = [
        (each.at, visit.say(STATES[str(each.to_state)]), each.reason) for each in store.history(person.participant_id)
    ]
    return visit.page(
        "admin_participant.html",
        here="participants",
        title=visit.say(ONE["participant"], who=short_id(person.participant_id)),
        status=status,
        said=said or visit.request.query_params.get("said", ""),
        person=person_line(visit, person),
        past=past,
        deeds=deeds_of(person.state),
        keep_answers=store.study.keep_answers,
    )


def _person(visit: Visit) -> ListedParticipant:
    who = visit.request.path_params["who"]
    found = next((one for one in visit.desk.people() if one.participant_id == who), None)
    if found is None:
        raise Refused(404, "not_found", "not_found")
    return found


def deeds_of(state: State) -> tuple[Deed, ...]:
    """Return what a researcher can do with somebody in a state.

    >>> [deed.to for deed in deeds_of(State.FINISHED)]
    ['accepted', 'excluded', 'returned', 'timed_out']
    """
    offered = (State.ACCEPTED, State.EXCLUDED, State.RETURNED, State.TIMED_OUT)
    reasoned = {State.EXCLUDED} | ({State.ACCEPTED} if state is State.EXCLUDED else set())
    return tuple(Deed(str(to), to in reasoned) for to in offered if to in TRANSITIONS[state])


async def change_participant(visit: Visit) -> Response:
    """Approve, exclude, take back in, or mark as returned or timed out; a place that is left is free at once."""
    return await asyncio.to_thread(_change, visit)


def _change(visit: Visit) -> Response:
    desk, person = visit.desk, _person(visit)
    deed = next((one for one in deeds_of(person.state) if one.to == visit.form.get("to", "")), None)
    if deed is None:
        return _participant(visit, status=409, said="not_possible")
    why = bounded(visit.form.get("reason", ""))
    if deed.needs_reason and not why:
        return _participant(visit, status=422, said="reason_missing")
    to, reason = State(deed.to), _reason(person.state, State(deed.to), why)
    try:
        desk.app.store.change_state(person.participant_id, to, reason=reason)
    except StateError:
        return _participant(visit, status=409, said="not_possible")
    details = {"participant_id": person.participant_id, "from": str(person.state), "to": deed.to, "reason": reason}
    desk.app.store.log("change_state", actor=visit.name, details=details)
    desk.changed()
    return visit.go(f"/participants/{person.participant_id}", said="state_changed")


def _reason(state: State, to: State, why: str) -> str:
    if to is State.EXCLUDED:
        return EXCLUDED + why
    if to is State.ACCEPTED:
        return INCLUDED + why if state is State.EXCLUDED else APPROVED
    return why or "marked by a researcher"


async def forget_page(visit: Visit) -> Response:
    """Ask for the pseudonym to be typed before an identity is deleted."""
    return await asyncio.to_thread(_forget_page, visit)


def _forget_page(visit: Visit, *, status: int = 200, said: str = "") -> Response:
    person = _person(visit)
    return visit.page(
        "admin_forget.html",
        here="participants",
        title=visit.say(ONE["forget"], who=short_id(person.participant_id)),
        status=status,
        said=said,
        person=person_line(visit, person),
        keep_answers=visit.desk.app.store.study.keep_answers,
    )


async def forget(visit: Visit) -> Response:
    """Delete a participant's identity, backups included, once the pseudonym was typed."""
    return await asyncio.to_thread(_forget, visit)


def _forget(visit: Visit) -> Response:
    person = _person(visit)
    if visit.form.get("typed", "").strip() != short_id(person.participant_id):
        return _forget_page(visit, status=422, said="not_typed")
    erased = visit.desk.app.store.forget(person.participant_id, actor=visit.name)
    visit.desk.changed()
    visit.desk.looks.drop()
    said = "still_written" if erased.still_in else "forgotten"
    return visit.go(f"/participants/{person.participant_id}", said=said)
