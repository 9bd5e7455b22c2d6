"""Places on lists: taken for a time, renewed, given back, used up. Counting and taking are one transaction.

A list is as full as it has *valid* participants (finished, not excluded) and *active* ones (their lease has not run
out). Who comes back after the lease ran out keeps the place while it is free; otherwise their answers are recorded and
marked ``surplus``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from lexiscope.annotation.engine import sa
from lexiscope.annotation.record import AnswerRefused, NoPlaceLeft, State, StateError
from lexiscope.annotation.schema import LEASES, LISTS

Status = Literal["held", "done", "released", "surplus"]


@dataclass(frozen=True, slots=True)
class ListLoad:
    """How full a list is: its places, its valid and active participants, and surplus ones."""

    list_id: str
    places: int
    valid: int
    active: int
    surplus: int

    @property
    def free(self) -> int:
        """Places that nobody holds or has used."""
        return max(0, self.places - self.valid - self.active)


@dataclass(frozen=True, slots=True)
class Lease:
    """A participant's place. ``number`` counts from 1 within the list, ``None`` for a surplus participant."""

    participant_id: str
    list_id: str
    number: int | None
    status: Status
    expires_at: str


Choose = Callable[[Mapping[str, ListLoad]], str | None]
"""Picks a list among those with a free place, or ``None``. Runs inside the transaction: it must be quick."""


def least_filled(loads: Mapping[str, ListLoad]) -> str | None:
    """Pick the list with the fewest valid and active participants, the first among equals.

    >>> least_filled({"a": ListLoad("a", 3, 1, 1, 0), "b": ListLoad("b", 3, 1, 0, 0)})
    'b'
    """
    return min(loads.values(), key=lambda load: load.valid + load.active).list_id if loads else None


def stamp(moment: datetime) -> str:
    """Return a time as the store writes it: UTC, microseconds, offset; as text it sorts by time."""
    offset = moment.utcoffset()
    if offset is None:
        raise AnswerRefused("time", "a time without its offset from UTC could be any hour")
    return (moment.replace(tzinfo=None) - offset).isoformat(timespec="microseconds") + "+00:00"


def loads(connection: sa.Connection, now: datetime) -> dict[str, ListLoad]:
    """Return how full each list is, in the order in which the study names them."""
    live = (LEASES.c.status == "held") & (LEASES.c.expires_at > stamp(now))
    counts = [_count(LEASES.c.status == "done"), _count(live), _count(LEASES.c.status == "surplus")]
    query = (
        sa.select(LISTS.c.list_id, LISTS.c.places, *counts)
        .select_from(LISTS.outerjoin(LEASES, LEASES.c.list_id == LISTS.c.list_id))
        .group_by(LISTS.c.list_id, LISTS.c.ordinal, LISTS.c.places)
        .order_by(LISTS.c.ordinal)
    )
    return {
        row[0]: ListLoad(row[0], row[1], int(row[2]), int(row[3]), int(row[4])) for row in connection.execute(query)
    }


def lease_of(connection: sa.Connection, participant_id: str) -> Lease | None:
    """Return a participant's place, whatever its status."""
    row = connection.execute(sa.select(LEASES).where(LEASES.c.participant_id == participant_id)).first()
    return None if row is None else Lease(row.participant_id, row.list_id, row.number, row.status, row.expires_at)


def take(
    connection: sa.Connection, participant_id: str, state: State, *, now: datetime, hold: timedelta, choose: Choose
) -> Lease:
    """Take a place for a time.

    Errors: :class:`NoPlaceLeft`; :class:`StateError` for who has not qualified; :class:`AnswerRefused` where *choose*
    names a list without a free place.
    """
    if state is not State.QUALIFIED:
        raise StateError(f"a participant who is {state} cannot take a place")
    free = {name: load for name, load in loads(connection, now).items() if load.free}
    chosen = choose(free)
    if chosen is None:
        raise NoPlaceLeft("every list of the study is full", hint="raise the places of a list, or thank and send away")
    if chosen not in free:
        raise AnswerRefused("list_id", f"the list {chosen!r} has no free place")
    lease = Lease(participant_id, chosen, _lowest_number(connection, chosen, now), "held", stamp(now + hold))
    connection.execute(LEASES.insert(), {**_row(lease), "participant_id": participant_id, "taken_at": stamp(now)})
    return lease


def renew(connection: sa.Connection, participant_id: str, *, now: datetime, hold: timedelta) -> Lease:
    """Hold a place for longer; who comes too late gets a free place of the same list, or goes on as surplus.

    Errors: :class:`StateError` for who never had a place.
    """
    lease = _known(connection, participant_id)
    if lease.status in ("done", "surplus"):
        return lease
    if _is_live(lease, now):
        return _store(connection, lease, lease.number, "held", now + hold)
    if loads(connection, now)[lease.list_id].free:
        return _store(connection, lease, _lowest_number(connection, lease.list_id, now), "held", now + hold)
    return _store(connection, lease, None, "surplus", now + hold)


def release(connection: sa.Connection, participant_id: str) -> Lease:
    """Give a place back, used or not: the list has one more free.

    Errors: :class:`StateError` for who never had a place.
    """
    lease = _known(connection, participant_id)
    # a surplus participant holds nothing that could be given back
    return lease if lease.status == "surplus" else _store(connection, lease, lease.number, "released", None)


def use_up(connection: sa.Connection, participant_id: str, *, now: datetime) -> Lease:
    """Count a finished participant as valid on their list, or as surplus where it has become full.

    Errors: :class:`StateError` for who never had a place.
    """
    lease = _known(connection, participant_id)
    if lease.status in ("done", "surplus"):
        return lease
    if _is_live(lease, now):
        return _store(connection, lease, lease.number, "done", None)
    if loads(connection, now)[lease.list_id].free:
        return _store(connection, lease, _lowest_number(connection, lease.list_id, now), "done", None)
    return _store(connection, lease, None, "surplus", None)


def set_places(connection: sa.Connection, list_id: str, places: int) -> None:
    """Change the number of places of a list (top-up).

    Errors: :class:`AnswerRefused` for a list that the study does not have, or a negative number.
    """
    if isinstance(places, bool) or not 0 <= places < 2**31:
        raise AnswerRefused("places", "a whole number from 0 is expected")
    changed = connection.execute(LISTS.update().where(LISTS.c.list_id == list_id).values(places=places))
    if changed.rowcount != 1:
        raise AnswerRefused("list_id", f"the study has no list {list_id!r}")


def _count(condition: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
    return sa.func.coalesce(sa.func.sum(sa.case((condition, 1), else_=0)), 0)


def _known(connection: sa.Connection, participant_id: str) -> Lease:
    lease = lease_of(connection, participant_id)
    if lease is None:
        raise StateError("the participant never had a place")
    return lease


def _is_live(lease: Lease, now: datetime) -> bool:
    return lease.status == "held" and lease.expires_at > stamp(now)


def _lowest_number(connection: sa.Connection, list_id: str, now: datetime) -> int:
    """The lowest number on the list that no valid or active participant has."""
    live = (LEASES.c.status == "done") | ((LEASES.c.status == "held") & (LEASES.c.expires_at > stamp(now)))
    used = set(connection.execute(sa.select(LEASES.c.number).where(LEASES.c.list_id == list_id, live)).scalars())
    return next(number for number in range(1, len(used) + 2) if number not in used)


def _store(
    connection: sa.Connection, lease: Lease, number: int | None, status: Status, until: datetime | None
) -> Lease:
    expires_at = lease.expires_at if until is None else stamp(until)
    new = Lease(lease.participant_id, lease.list_id, number, status, expires_at)
    mine = LEASES.c.participant_id == lease.participant_id
    connection.execute(LEASES.update().where(mine).values(**_row(new)))
    return new


def _row(lease: Lease) -> dict[str, object]:
    return {
        "list_id": lease.list_id,
        "number": lease.number,
        "status": lease.status,
        "expires_at": lease.expires_at,
    }
