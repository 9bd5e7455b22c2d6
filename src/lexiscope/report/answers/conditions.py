"""Two conditions: how much higher one is than the other, with the test and both distributions; or subject by subject.

:class:`PairedEstimates` compares two estimates of each subject: on which sides of zero they are, and their distance.
"""

from __future__ import annotations

from dataclasses import dataclass

from lexiscope.core.result import Record
from lexiscope.report.answers.answer import (
    NO,
    PARTLY,
    REVERSED,
    UNDECIDED,
    YES,
    Answer,
    Direction,
    side_of,
    undefined_answer,
    verdict_of,
)
from lexiscope.report.answers.numbers import (
    POINTS,
    Numbers,
    Pick,
    Quantity,
    capital,
    likelihood_ratio_text,
    text_of_tests,
)
from lexiscope.report.marks.distribution import Distributions, ValueGroup
from lexiscope.report.marks.drawing import Axis, Drawing
from lexiscope.report.marks.pairs import PairedDots, PairRow


@dataclass(frozen=True, slots=True)
class Condition:
    """One of two conditions: its name in a sentence, its mean, and the label of its values in the data of a figure."""

    name: str
    mean: Pick
    label: str = ""


@dataclass(frozen=True, slots=True)
class TwoConditions:
    """The difference between two conditions, *first* minus *second*, as a verdict, a sentence and distributions.

    ``verb`` is what happened to the items of both (``were rated``); ``predicted`` where the first was predicted to be;
    ``smallest`` is the smallest difference that matters, if one was declared. ``tests`` are the likelihood-ratio tests,
    the deciding one first, each with its name in a sentence. ``values`` is the end of the name of the figure whose data
    are the single values (columns *condition* and *value*), ``axis`` what they are.
    """

    first: Condition
    second: Condition
    difference: Pick
    quantity: Quantity = POINTS
    verb: str = "were rated"
    predicted: Direction = ""
    smallest: float | None = None
    tests: tuple[tuple[str, Pick], ...] = ()
    values: str = ""
    axis: str = "Mean rating"
    unit: str = "items"
    title: str = "Ratings by condition"

    def answer(self, numbers: Numbers) -> Answer | None:
        """Return the answer, ``None`` where the run has no such difference."""
        differences = numbers.all(self.difference)
        means = [numbers.first(condition.mean) for condition in (self.first, self.second)]
        if not differences:
            return None
        difference = differences[0]
        if difference.value is None:
            return undefined_answer(f"The difference between {self.first.name} and {self.second.name}", difference.note)
        verdict = verdict_of(difference, self.quantity, predicted=self.predicted, smallest=self.smallest)
        sentence = self._sentence(difference, verdict, means)
        tests = text_of_tests(numbers, self.tests)
        deciding = numbers.first(self.tests[0][1]) if self.tests else None
        apa = f"{capital(self._compared(difference))}{f', {likelihood_ratio_text(deciding)}' if deciding else ''}."
        return Answer(verdict, (sentence,), tests, "", apa, self._drawing(numbers, means))

    def _compared(self, difference: Record) -> str:
        value = self.quantity.value(difference)
        size = self.quantity.text(abs(value))
        interval = self.quantity.interval(difference, named=True)
        comma = f", {interval}," if interval else ""
        more = "higher" if value > 0 else "lower"
        return f"{self.first.name} {self.verb} {size} {more}{comma} than {self.second.name}"

    def _sentence(self, difference: Record, verdict: str, means: list[Record | None]) -> str:
        both = [record for record in means if record is not None]
        tail = ""
        if len(both) == 2:
            first, second = (self.quantity.number(record.value or 0.0) for record in both)
            tail = f": mean {first} compared with {second}"
        low_high = self.quantity.ends(difference)
        value = self.quantity.value(difference)
        if verdict in (UNDECIDED, NO) and low_high is not None:
            size = f"{self.quantity.text(value)} {self.quantity.interval(difference, named=True)}"
            lead = f"{capital(self.first.name)} and {self.second.name} differ by {size}{tail}"
            if verdict == NO and self.smallest is not None:
                return f"{lead}; differences beyond ±{self.quantity.text(self.smallest)} are excluded."
            return f"{lead}: these data allow both a higher and a lower mean of {self.first.name}."
        if verdict == REVERSED:
            predicted = "higher" if self.predicted == "above" else "lower"
            return f"Predicted was a {predicted} mean, but {self._compared(difference)}{tail}."
        return f"{capital(self._compared(difference))}{tail}."

    def _drawing(self, numbers: Numbers, means: list[Record | None]) -> Drawing | None:
        rows = list(numbers.drawn(self.values)) if self.values else []
        groups = []
        for condition, mean in zip((self.first, self.second), means, strict=True):
            values = tuple(float(row["value"]) for row in rows if row.get("condition") == condition.label)
            if values and mean is not None and mean.value is not None:
                shown = self.quantity.number(mean.value)
                groups.append(ValueGroup(condition.label.lower(), values, mean.value, shown))
        if len(groups) < 2:
            return None
        every = [value for group in groups for value in group.values]
        axis = Axis.around(every, self.axis, zero=False)
        middle = (axis.low + axis.high) / 2
        first, second = (100 * sum(v > middle for v in group.values) / len(group.values) for group in groups)
        see = (
            f"{first:.0f}% of the {self.unit} with {groups[0].name} and {second:.0f}% of those with {groups[1].name} "
            f"are above the middle of the axis ({axis.text(middle)})."
        )
        note = f"{'Dots' if max(len(g.values) for g in groups) <= 150 else 'Bars'}: {self.unit} of each group"
        return Distributions(
            name="values_by_condition",
            title=self.title,
            see=see,
            note=note,
            groups=tuple(groups),
            axis=axis,
            unit=self.unit,
        )


@dataclass(frozen=True, slots=True)
class PairedEstimates:
    """Estimates of every subject in two conditions, of which the first is predicted above 0 and the second below.

    ``below`` and ``above`` say what the sides of zero mean. ``first_claim`` says what the predicted pattern means.
    ``tests`` are likelihood-ratio tests to print, each with its name.
    """

    title: str
    first: Pick
    second: Pick
    first_name: str
    second_name: str
    quantity: Quantity
    claim: str
    axis: str
    below: str = ""
    above: str = ""
    tests: tuple[tuple[str, Pick], ...] = ()
    rows_are: tuple[str, str] = ("model", "models")
    strong: tuple[str, ...] = ()

    def answer(self, numbers: Numbers) -> Answer | None:
        """Return the answer, ``None`` where no subject has both."""
        first = {record.subject: record for record in numbers.known(self.first)}
        second = {record.subject: record for record in numbers.known(self.second)}
        subjects = [subject for subject in first if subject in second]
        if not subjects:
            return None
        sides = [(side_of(first[s], self.quantity), side_of(second[s], self.quantity)) for s in subjects]
        as_predicted = sum(pair == (1, -1) for pair in sides)
        reverse = sum(pair == (-1, 1) for pair in sides)
        n = len(subjects)
        verdict = YES if as_predicted == n else REVERSED if reverse == n else PARTLY if as_predicted else NO
        gaps = {s: self.quantity.value(first[s]) - self.quantity.value(second[s]) for s in subjects}
        largest, smallest = max(subjects, key=gaps.__getitem__), min(subjects, key=gaps.__getitem__)
        who = (
            f"In all {n} {self.rows_are[1]}"
            if as_predicted == n and n > 1
            else f"In {as_predicted} of {n} {self.rows_are[1]}"
        )
        if n == 1:
            who = f"With {numbers.title(subjects[0])}"
            held = "" if as_predicted else "not "
            lead = f"{who} it is {held}shown that {self.claim}: {self._pair(first[subjects[0]], second[subjects[0]])}."
        else:
            widest = self._pair(first[largest], second[largest])
            lead = f"{who} {self.claim}; {numbers.title(largest)} has the widest gap ({widest})."
        tests = text_of_tests(numbers, self.tests)
        return Answer(
            verdict,
            (lead,),
            test=tests,
            apa=" ".join(filter(None, (lead, tests))),
            drawing=self._drawing(subjects, first, second, numbers, smallest, gaps),
        )

    def _pair(self, first: Record, second: Record) -> str:
        return f"{self.first_name} {self.quantity.both(first)}, {self.second_name} {self.quantity.both(second)}"

    def _drawing(
        self,
        subjects: list[str],
        first: dict[str, Record],
        second: dict[str, Record],
        numbers: Numbers,
        smallest: str,
        gaps: dict[str, float],
    ) -> PairedDots:
        def triple(record: Record) -> tuple[float, float | None, float | None]:
            return (self.quantity.value(record), *(self.quantity.ends(record) or (None, None)))

        order = sorted(subjects, key=gaps.__getitem__)
        rows = tuple(
            PairRow(
                numbers.title(s), triple(first[s]), triple(second[s]),
                f"{numbers.title(s)}: {self._pair(first[s], second[s])}", s in self.strong,
            )
            for s in order
        )  # fmt: skip
        values = [v for row in rows for part in (row.first, row.second) if part for v in part if v is not None]
        see = f"The gap is smallest in {numbers.title(smallest)}: {self.quantity.text(gaps[smallest])}."
        return PairedDots(
            name="by_condition", title=self.title, see=see, note="Lines: 95% CI", rows=rows,
            axis=Axis.around(values, self.axis), first_name=self.first_name, second_name=self.second_name,
            below=self.below, above=self.above,
        )  # fmt: skip
