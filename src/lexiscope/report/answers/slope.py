"""An effect of a number, such as size, on an estimate of each subject: the slope, and a scatter."""

from __future__ import annotations

import math
from dataclasses import dataclass

from lexiscope.report.answers.answer import (
    NO,
    REVERSED,
    SOMEWHAT,
    UNDECIDED,
    YES,
    Answer,
    Direction,
    undefined_answer,
    verdict_of,
)
from lexiscope.report.answers.numbers import Numbers, Pick, Quantity, p_text
from lexiscope.report.marks.drawing import Axis
from lexiscope.report.marks.scatter import Scatter, ScatterPoint

_LINES = "Lines: 95% CI"
_CHOSEN = "Layers are chosen on the same items; tips also have the value with the layer chosen on other words"


@dataclass(frozen=True, slots=True)
class SlopeOf:
    """The slope of an estimate of each subject over a number of it.

    ``number`` are the records with that number (``n_parameters``), ``estimate`` those with the estimate; the slope is
    per tenfold number if *log*. ``what`` is what rises, ``per`` for how much more of the number. ``allowing`` are the
    estimates that allow for the choice of the best layer, which the tips of the figure give next to the others.
    """

    title: str
    slope: Pick
    estimate: Pick
    number: Pick
    quantity: Quantity
    what: str
    per: str
    x_label: str
    units: tuple[str, str] = ("model", "models")
    predicted: Direction = "above"
    log: bool = True
    strong: tuple[str, ...] = ()
    allowing: Pick | None = None

    def answer(self, numbers: Numbers) -> Answer | None:
        """Return the answer, ``None`` where the run has no such slope."""
        slopes = numbers.all(self.slope)
        if not slopes:
            return None
        slope = slopes[0]
        drawing = self._scatter(numbers)
        if slope.value is None:
            answer = undefined_answer(f"The change of {self.what} {self.per}", slope.note)
            return Answer(answer.verdict, answer.sentences, drawing=drawing)
        quantity = Quantity("b", bounds=None, digits=self.quantity.digits)
        own = Quantity(self.quantity.symbol, bounds=self.quantity.bounds, digits=self.quantity.digits)
        n = slope.n or 0
        verdict = verdict_of(slope, quantity, predicted=self.predicted, n_units=n)
        size = own.number(abs(slope.value))
        interval = own.interval(slope, named=True)
        p = p_text(slope)
        details = ", ".join(filter(None, (interval, p)))
        way = "rises" if slope.value > 0 else "falls"
        lead = f"{self.what[:1].upper()}{self.what[1:]} {way} by {size} {self.per}, {details}"
        few = f"; this rests on {n} {self.units[1]}" if verdict == SOMEWHAT else ""
        tail = {
            UNDECIDED: ": the interval includes 0, so both directions are possible",
            NO: "",
            REVERSED: "; the opposite was predicted",
            YES: "",
        }.get(verdict, few)
        apa = f"{lead}, N = {n} {self.units[1]}."
        return Answer(verdict, (f"{lead}{tail}.",), apa=apa, drawing=drawing)

    def _scatter(self, numbers: Numbers) -> Scatter | None:
        points, note = [], _LINES
        for record in numbers.known(self.estimate):
            number = numbers.first(self.number, subject=record.subject)
            if number is None or not number.value:
                continue
            title = numbers.title(record.subject)
            tip = f"{title}: {self.quantity.equation(record)}; {number.value:,.0f} {self.x_label.lower()}"
            allowed = numbers.first(self.allowing, subject=record.subject, view=record.view) if self.allowing else None
            if allowed is not None and allowed.value is not None:
                tip += f"; with the layer chosen on other words: {self.quantity.equation(allowed)}"
                note = f"{_CHOSEN}. {_LINES}"
            low, high = self.quantity.ends(record) or (None, None)
            hollow, strong = record.subject in numbers.other, record.subject in self.strong
            points.append(
                ScatterPoint(title, number.value, self.quantity.value(record), low, high, tip, hollow, strong)
            )
        if len(points) < 3:
            return None
        values = [v for p in points for v in (p.y, p.low, p.high) if v is not None]
        axis = Axis.around(values, f"{self.quantity.symbol} at the best layer", bounds=None)
        highest = max(points, key=lambda point: point.y)
        same = [p for p in points if p is not highest and abs(math.log10(p.x / highest.x)) < 0.05]
        see = f"The highest value is {self.quantity.text(highest.y)} ({highest.label})."
        if same:
            smallest = min(same, key=lambda point: point.y)
            see = (
                f"Models of one size differ: {highest.label} has {self.quantity.text(highest.y)}, {smallest.label} "
                f"{self.quantity.text(smallest.y)}."
            )
        kind = f". Hollow: {numbers.other_kind}" if any(point.hollow for point in points) else ""
        return Scatter(
            name="by_size", title=self.title, see=see, note=f"{note}{kind}", points=tuple(points), axis=axis,
            x_label=f"{self.x_label}{' (log scale)' if self.log else ''}", log=self.log,
        )  # fmt: skip
