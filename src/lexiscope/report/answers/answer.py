"""An answer: a verdict, sentences with direction, size and interval, the test, and what is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from lexiscope.core.result import Record
from lexiscope.report.answers.numbers import Numbers, Quantity
from lexiscope.report.marks.drawing import Drawing
from lexiscope.report.tables import Table

YES, NO, PARTLY, SOMEWHAT = "Yes.", "No.", "Partly.", "Somewhat."
REVERSED, UNDECIDED, UNANSWERED = "The other way round.", "Not decided.", "Not answered."
UNASKED = "No model was asked."
Direction = Literal["above", "below", ""]
"""The predicted direction of a value: above or below what it is compared with; empty without a prediction."""

FEW_UNITS = 15
"""With fewer units (models, words) than this a clear result is reported as resting on few of them."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question: its verdict or lead, the sentences after it, and at most one drawing and one table.

    ``test`` is the test in small type, ``caution`` what a reader must know, ``apa`` the sentences for a manuscript.
    """

    verdict: str
    sentences: tuple[str, ...]
    test: str = ""
    caution: str = ""
    apa: str = ""
    drawing: Drawing | None = None
    table: Table | None = None


class QuestionRule(Protocol):
    """A rule that makes the answer to a question from the numbers of a run, regardless of their values."""

    def answer(self, numbers: Numbers) -> Answer | None:
        """Return the answer; ``None`` if the run has none of the numbers that the rule is about."""


def side_of(record: Record, quantity: Quantity, against: float = 0.0) -> Literal[-1, 0, 1, None]:
    """Return the side of *against* on which an interval is: 1 above, −1 below, 0 around it; ``None`` without one."""
    ends = quantity.ends(record)
    if ends is None:
        return None
    return 1 if ends[0] > against else -1 if ends[1] < against else 0


def verdict_of(
    record: Record,
    quantity: Quantity,
    *,
    predicted: Direction = "",
    against: float = 0.0,
    smallest: float | None = None,
    n_units: int | None = None,
) -> str:
    """Return the verdict of one estimate or difference, from its interval, the prediction and the smallest effect.

    An interval that excludes *against* on the predicted side is a yes, on the other side the reverse. One that
    includes it is a no if it is within the *smallest* difference that matters on both sides; otherwise nothing is
    decided. *n_units* below :data:`FEW_UNITS` makes a yes a *somewhat*.

    >>> slope = Record("slope", 0.1, low=0.01, high=0.2)
    >>> verdict_of(slope, Quantity("b"), predicted="above"), verdict_of(slope, Quantity("b"), n_units=9)
    ('Yes.', 'Somewhat.')
    >>> verdict_of(slope, Quantity("b"), predicted="below"), verdict_of(Record("slope", None, note="-"), Quantity("b"))
    ('The other way round.', 'Not answered.')
    """
    if record.value is None:
        return UNANSWERED
    side, ends = side_of(record, quantity, against), quantity.ends(record)
    if side is None or ends is None:
        return ""
    if side == 0:
        within = smallest is not None and max(abs(end - against) for end in ends) < smallest
        return NO if within else UNDECIDED
    if predicted and (side > 0) is not (predicted == "above"):
        return REVERSED
    return SOMEWHAT if n_units is not None and n_units < FEW_UNITS else YES


def undefined_answer(what: str, reason: str, remedy: str = "") -> Answer:
    """Return the answer to a question whose statistic has no value on these numbers."""
    plain = reason.removeprefix("undefined: ").rstrip(".")
    texts = (f"{what} is not defined here: {plain}.", *((remedy,) if remedy else ()))
    return Answer(UNANSWERED, texts)
