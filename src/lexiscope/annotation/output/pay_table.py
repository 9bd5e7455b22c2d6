"""What everybody who finished was paid for their session, and what is still owed to them (A14)."""

from __future__ import annotations

from lexiscope.annotation.monitor import COMPLETE, hourly_pay, pay_top_ups
from lexiscope.annotation.output.collected import Collected, session_minutes_of
from lexiscope.annotation.output.neutral import Cell
from lexiscope.annotation.output.sheet import Column, Sheet, sheet_of

_COLUMNS = (
    Column("participant_id", "random id of the participant; `annotate reconcile` has the platform's id", "id"),
    Column("state", "where the participant stood at the export", "category"),
    Column("session_minutes", "from consent to the last answer, pauses too", "number", "minutes", 0),
    Column("paid", "what the study pays", "number", "currency", 0),
    Column("hourly", "what that is in an hour; empty where there is no time", "number", "currency per hour", 0),
    Column(
        "hourly_least", "the least that the study promises; 0: nothing is promised", "number", "currency per hour", 0
    ),
    Column("owed", "what is missing to it, rounded up to a hundredth", "number", "currency", 0),
    Column("currency", "the currency", "category"),
)


def pay_sheet(collected: Collected) -> Sheet:
    """Return a row for everybody who finished, excluded people too: they worked; who is owed most comes first."""
    payment = collected.definition.payment
    due = pay_top_ups(collected.people, amount=payment.amount, hourly_least=payment.hourly_least)
    owed = {one.participant_id: one.owed for one in due}
    rows: list[dict[str, Cell]] = []
    for one in collected.people:
        if str(one.state) in COMPLETE and one.finished_at is not None:
            minutes = session_minutes_of(one)
            row: dict[str, Cell] = {
                "participant_id": one.participant_id,
                "state": str(one.state),
                "session_minutes": None if minutes is None else round(minutes, 3),
                "paid": payment.amount,
                "hourly": round(hourly_pay(payment.amount, minutes * 60), 4) if minutes else None,
                "hourly_least": payment.hourly_least,
                "owed": owed.get(one.participant_id, 0.0),
                "currency": payment.currency,
            }
            rows.append(row)
    rows.sort(key=lambda row: (-float(str(row["owed"])), str(row["participant_id"])))
    return sheet_of("pay.csv", "one participant who finished", _COLUMNS, rows)
