"""Time and pay of the participants who finished, what is still owed to them, and the table of both (A14)."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from lexiscope.annotation.export.study_data import StudyData, minutes_of, session_minutes_of
from lexiscope.annotation.store.export import FINISHED
from lexiscope.annotation.store.overview import ListedParticipant
from lexiscope.core.errors import StatisticError
from lexiscope.items.sheets.form import Sheet, SheetColumn, sheet_of
from lexiscope.items.tables.neutral import Cell

_COLUMNS = (
    SheetColumn("participant_id", "random id of the participant; `annotate reconcile` has the platform's id", "id"),
    SheetColumn("state", "where the participant stood at the export", "category"),
    SheetColumn("session_minutes", "from consent to the last answer, pauses too", "number", "minutes", 0),
    SheetColumn("paid", "what the study pays", "number", "currency", 0),
    SheetColumn("hourly", "what that is in an hour; empty where there is no time", "number", "currency per hour", 0),
    SheetColumn(
        "hourly_least", "the least that the study promises; 0: nothing is promised", "number", "currency per hour", 0
    ),
    SheetColumn("owed", "what is missing to it, rounded up to a hundredth", "number", "currency", 0),
    SheetColumn("currency", "the currency", "category"),
)


@dataclass(frozen=True, slots=True)
class Pay:
    """Time and pay of finished participants: *Unit:* minutes; currency per hour. Empty if no participant has finished.

    The minutes are those of the whole session, which is paid for: from consent to the last answer.
    ``median_trial_minutes`` begins with the first trial.
    """

    n: int
    n_without_time: int
    median_minutes: float | None
    least_minutes: float | None
    most_minutes: float | None
    hourly: float | None
    currency: str
    total: float
    median_trial_minutes: float | None = None


@dataclass(frozen=True, slots=True)
class PayTopUp:
    """A participant who earned below the minimum hourly pay: session, pay per hour, what is owed. *Unit:* currency."""

    participant_id: str
    minutes: float
    hourly: float
    owed: float


def hourly_pay(amount: float, seconds: float) -> float:
    """Return pay per hour. *Unit:* currency per hour.

    SAW-C §3.2 prints 11.64 for 2.40 in 12 min 23 s; that is 11.63. 11.64 needs 12 min 22 s (741.95 to 742.59 s).

    >>> round(hourly_pay(2.40, 12 * 60 + 23), 2), round(hourly_pay(2.40, 12 * 60 + 22), 2)
    (11.63, 11.64)

    Errors: :class:`StatisticError` for a time that is not above zero.
    """
    if not seconds > 0:
        raise StatisticError(f"{seconds:g} seconds have no pay per hour")
    return amount * 3600 / seconds


def pay_so_far(people: Iterable[ListedParticipant], *, amount: float, currency: str) -> Pay:
    """Return the median session of everybody who finished, excluded people too, and what it comes to in an hour."""
    finished = [person for person in people if person.state in FINISHED and person.finished_at is not None]
    times = [minutes for person in finished if (minutes := session_minutes_of(person)) is not None]
    trials = [minutes for person in finished if (minutes := minutes_of(person)) is not None]
    without, total = len(finished) - len(times), amount * len(finished)
    if not times:
        return Pay(len(finished), without, None, None, None, None, currency, total)
    median = statistics.median(times)
    hourly = hourly_pay(amount, median * 60) if median > 0 else None
    of_trials = statistics.median(trials) if trials else None
    return Pay(len(finished), without, median, min(times), max(times), hourly, currency, total, of_trials)


def pay_top_ups(people: Iterable[ListedParticipant], *, amount: float, hourly_least: float) -> tuple[PayTopUp, ...]:
    """Return the underpaid participants and what they are owed, rounded up to a hundredth.

    Paid is the session from consent on. Excluded participants are included: they worked, too. *Source:* AmbiStory A.1
    (retroactive top-up).
    """
    top_ups = []
    for person in people:
        minutes = session_minutes_of(person) if person.state in FINISHED else None
        if not minutes or not hourly_least:
            continue
        due = Decimal(repr(hourly_least)) * Decimal(repr(minutes)) / 60 - Decimal(repr(amount))
        # a billionth is rounding of the time, not money
        if due > Decimal("1e-9"):
            owed = float(due.quantize(Decimal("0.01"), rounding=ROUND_CEILING))
            top_ups.append(PayTopUp(person.participant_id, minutes, hourly_pay(amount, minutes * 60), owed))
    return tuple(sorted(top_ups, key=lambda entry: (-entry.owed, entry.participant_id)))


def pay_sheet(collected: StudyData) -> Sheet:
    """Return a row for everybody who finished, excluded people too: they worked; who is owed most comes first."""
    payment = collected.definition.payment
    due = pay_top_ups(collected.people, amount=payment.amount, hourly_least=payment.hourly_least)
    owed = {top_up.participant_id: top_up.owed for top_up in due}
    rows: list[dict[str, Cell]] = []
    for person in collected.people:
        if person.state in FINISHED and person.finished_at is not None:
            minutes = session_minutes_of(person)
            row: dict[str, Cell] = {
                "participant_id": person.participant_id,
                "state": str(person.state),
                "session_minutes": None if minutes is None else round(minutes, 3),
                "paid": payment.amount,
                "hourly": round(hourly_pay(payment.amount, minutes * 60), 4) if minutes else None,
                "hourly_least": payment.hourly_least,
                "owed": owed.get(person.participant_id, 0.0),
                "currency": payment.currency,
            }
            rows.append(row)
    rows.sort(key=lambda row: (-float(str(row["owed"])), str(row["participant_id"])))
    return sheet_of("pay.csv", "one participant who finished", _COLUMNS, rows)
