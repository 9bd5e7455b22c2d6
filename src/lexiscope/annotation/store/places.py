"""Places on lists: taken for a time, renewed, given back, used up. Counting and taking are one transaction.

A list is as full as it has *valid* participants (finished, not excluded) and *active* ones (their lease has not run
out). A participant who comes back after the lease expired keeps a place while one is free; otherwise their
answers are recorded and count, and they are marked ``surplus``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime, timedelta
from typing import Literal

from lexiscope.annotation.store.engine import sa
from lexiscope.annotation.store.record import AnswerRefused, NoPlaceLeft, State, StateError
from lexiscope.annotation.store.schema import LEASES, LISTS

Status = Literal["held", "done", "excluded", "released"]


@dataclass(frozen=True, slots=True)
class ListLoad:
    """How full a list is: its places, its valid, active and excluded participants.

    ``surplus`` says how many of the valid and active ones came back after the list had filled.
    """

    list_id: str
    places: int
    valid: int = 0
    active: int = 0
    excluded: int = 0
    surplus: int = 0

    @property
    def free(self) -> int:
        """Places that no participant holds or has used validly."""
        return max(0, self.places - self.valid - self.active)


@dataclass(frozen=True, slots=True)
class Lease:
    """A participant's place.

    ``ordinal`` counts the participants of the study from 1, in the order in which they took places. ``number`` counts
    from 1 within the list and is ``None`` for a ``surplus`` participant: the list was full when they came back.
    """

    participant_id: str
    ordinal: int
    list_id: str
    number: int | None
    status: Status
    surplus: bool
    expires_at: str


Choose = Callable[[Mapping[str, ListLoad], int], str | None]
"""Picks a list with a free place for the participant of this ordinal, or ``None``.

It sees all lists in the study's order and runs inside the transaction: it must be quick.
"""


HasPlace = Callable[[Mapping[str, ListLoad], str], bool]
"""Returns whether a list has a place for a participant who comes back late, not counted in the loads."""


def has_free_place(loads: Mapping[str, ListLoad], list_id: str) -> bool:
    """Return whether a list has a place that no participant holds or has used validly.

    >>> has_free_place({"a": ListLoad("a", 3, 1, 1, excluded=1)}, "a")
    True
    """
    return loads[list_id].free > 0


def least_filled(loads: Mapping[str, ListLoad], ordinal: int) -> str | None:
    """Pick the list with a free place that has the fewest valid and active participants, the first among equals.

    >>> least_filled({"a": ListLoad("a", 3, 1, 1), "b": ListLoad("b", 3, 1, 0), "c": ListLoad("c", 0)}, 4)
    'b'
    """
    free = [load for load in loads.values() if load.free]
    return min(free, key=lambda load: load.valid + load.active).list_id if free else None


def stamp(moment: datetime) -> str:
    """Return a time as the store writes it: UTC, microseconds, offset; as text it sorts by time."""
    offset = moment.utcoffset()
    if offset is None:
        raise AnswerRefused("time", "a time without its offset from UTC could be any hour")
    return (moment.replace(tzinfo=None) - offset).isoformat(timespec="microseconds") + "+00:00"


def list_loads(connection: sa.Connection, now: datetime) -> dict[str, ListLoad]:
    """Return how full each list is, in the order in which the study names them."""
    done, active = LEASES.c.status == "done", (LEASES.c.status == "held") & (LEASES.c.expires_at > stamp(now))
    kinds = (done, active, LEASES.c.status == "excluded", LEASES.c.surplus & (done | active))
    query = (
        sa.select(
            LISTS.c.list_id,
            LISTS.c.places,
            *(sa.func.coalesce(sa.func.sum(sa.case((kind, 1), else_=0)), 0) for kind in kinds),
        )
        .select_from(LISTS.outerjoin(LEASES, LEASES.c.list_id == LISTS.c.list_id))
        .group_by(LISTS.c.list_id, LISTS.c.ordinal, LISTS.c.places)
        .order_by(LISTS.c.ordinal)
    )
    return {row[0]: ListLoad(row[0], row[1], *map(int, row[2:])) for row in connection.execute(query)}


def lease_of(connection: sa.Connection, participant_id: str) -> Lease | None:
    """Return a participant's place with any status."""
    columns = [LEASES.c[field.name] for field in fields(Lease)]
    row = connection.execute(sa.select(*columns).where(LEASES.c.participant_id == participant_id)).first()
    return None if row is None else Lease(*row)


def take(
    connection: sa.Connection, participant_id: str, state: State, *, now: datetime, hold: timedelta, choose: Choose
) -> Lease:
    """Take a place for a time.

    Errors: :class:`NoPlaceLeft`; :class:`StateError` for who has not qualified; :class:`AnswerRefused` where *choose*
    names a list without a free place.
    """
    if state is not State.QUALIFIED:
        raise StateError(f"a participant who is {state} cannot take a place")
    ordinal = int(connection.execute(sa.select(sa.func.count()).select_from(LEASES)).scalar_one()) + 1
    by_list = list_loads(connection, now)
    chosen = choose(by_list, ordinal)
    if chosen is None:
        raise NoPlaceLeft("every list of the study is full", hint="raise the places of a list, or thank and send away")
    if chosen not in by_list or not by_list[chosen].free:
        raise AnswerRefused("list_id", f"the list {chosen!r} has no free place")
    number = _free_number(connection, chosen, now)
    lease = Lease(participant_id, ordinal, chosen, number, "held", False, stamp(now + hold))
    connection.execute(LEASES.insert(), {**asdict(lease), "taken_at": stamp(now)})
    return lease


def renew(
    connection: sa.Connection, participant_id: str, *, now: datetime, hold: timedelta, has_place: HasPlace
) -> Lease:
    """Hold a place for longer; one who comes too late gets a free place of the same list, or is surplus.

    Errors: :class:`StateError` for who never had a place.
    """
    lease = _existing_lease(connection, participant_id)
    if lease.status in ("done", "excluded"):
        return lease
    return _occupy(connection, replace(lease, expires_at=stamp(now + hold)), "held", lease, now, has_place)


def hold_again(connection: sa.Connection, *, last: datetime, now: datetime, hold: timedelta) -> int:
    """Hold the places that were held at the moment *last* from *now* on; return how many.

    *last* is told by the clock of an earlier process, which may have been ahead: what had run out then stays so.
    """
    held, live = LEASES.c.status == "held", LEASES.c.expires_at > stamp(last)
    ended = held & ~live & (LEASES.c.expires_at > stamp(now))
    connection.execute(LEASES.update().where(ended).values(expires_at=stamp(now)))
    return connection.execute(LEASES.update().where(held & live).values(expires_at=stamp(now + hold))).rowcount


def use_up(connection: sa.Connection, participant_id: str, *, now: datetime, has_place: HasPlace) -> Lease:
    """Count a finished participant as valid on their list; as surplus where it became full while they were away.

    A participant who was excluded and is accepted after all gets the former place: rules compare raters, and a later
    answer may change the result.

    Errors: :class:`StateError` for who never had a place.
    """
    lease = _existing_lease(connection, participant_id)
    if lease.status == "excluded":
        number = None if lease.surplus else _free_number(connection, lease.list_id, now, wanted=lease.number)
        return _store(connection, replace(lease, status="done", number=number))
    return lease if lease.status == "done" else _occupy(connection, lease, "done", lease, now, has_place)


def release(connection: sa.Connection, participant_id: str, *, status: Literal["released", "excluded"]) -> Lease:
    """Give a place back, used or not: the list has one more free.

    Errors: :class:`StateError` for who never had a place.
    """
    return _store(connection, replace(_existing_lease(connection, participant_id), status=status))


def set_places(connection: sa.Connection, list_id: str, places: int) -> None:
    """Change the number of places of a list (top-up).

    Errors: :class:`AnswerRefused` for a list that the study does not have, or a negative number.
    """
    if isinstance(places, bool) or not 0 <= places < 2**31:
        raise AnswerRefused("places", "a whole number from 0 is expected")
    changed = connection.execute(LISTS.update().where(LISTS.c.list_id == list_id).values(places=places))
    if changed.rowcount != 1:
        raise AnswerRefused("list_id", f"the study has no list {list_id!r}")


def _existing_lease(connection: sa.Connection, participant_id: str) -> Lease:
    lease = lease_of(connection, participant_id)
    if lease is None:
        raise StateError("the participant never had a place")
    return lease


def _occupy(
    connection: sa.Connection, new: Lease, status: Status, old: Lease, now: datetime, has_place: HasPlace
) -> Lease:
    """Give a list's place to who had it before: at once while it is theirs, else if one is free, else as surplus."""
    new = replace(new, status=status)
    if old.surplus or (old.status == "held" and old.expires_at > stamp(now)):
        return _store(connection, new)
    if has_place(list_loads(connection, now), old.list_id):
        return _store(connection, replace(new, number=_free_number(connection, old.list_id, now)))
    return _store(connection, replace(new, number=None, surplus=True))


def _free_number(connection: sa.Connection, list_id: str, now: datetime, *, wanted: int | None = None) -> int:
    """The lowest number on the list that no valid or active participant has, or the wanted one where it is free."""
    live = (LEASES.c.status == "done") | ((LEASES.c.status == "held") & (LEASES.c.expires_at > stamp(now)))
    used = set(connection.execute(sa.select(LEASES.c.number).where(LEASES.c.list_id == list_id, live)).scalars())
    if wanted is not None and wanted not in used:
        return wanted
    return next(number for number in range(1, len(used) + 2) if number not in used)


def _store(connection: sa.Connection, lease: Lease) -> Lease:
    is_theirs = LEASES.c.participant_id == lease.participant_id
    connection.execute(LEASES.update().where(is_theirs).values(**asdict(lease)))
    return lease
