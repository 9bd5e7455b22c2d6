"""Effects as answers: of a condition, of a number such as size, and of the expressions and tokens of choice sets.

:class:`TwoConditions` says how much higher one condition is than the other, with the test and both distributions;
:class:`PairedEstimates` on which sides of zero two estimates of each subject are, and their distance; :class:`SlopeOf`
the slope of an estimate of each subject over a number, with a scatter.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from lexiscope.core.result import Record, parse_statistic
from lexiscope.report.answers.answer import (
    NO,
    PARTLY,
    REVERSED,
    SOMEWHAT,
    UNDECIDED,
    YES,
    Answer,
    Direction,
    side_of,
    undefined_answer,
    verdict_of,
)
from lexiscope.report.answers.numbers import (
    PERCENT,
    POINTS,
    Numbers,
    Pick,
    Quantity,
    adjusted_text,
    capital,
    likelihood_ratio_text,
    p_text,
    pick,
    text_of_tests,
)
from lexiscope.report.marks.distribution import Distributions, ValueGroup
from lexiscope.report.marks.drawing import Axis, Drawing
from lexiscope.report.marks.forest import Forest
from lexiscope.report.marks.pairs import PairedDots, PairRow
from lexiscope.report.marks.scatter import Scatter, ScatterPoint


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
            f"Above the middle of the axis ({axis.text(middle)}) are {first:.0f}% of the {self.unit} of "
            f"‘{groups[0].name}’ and {second:.0f}% of those of ‘{groups[1].name}’."
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


_LEVEL = 0.05
_LINES = "Lines: 95% CI"
_CHOSEN = (
    "Layers are chosen on the same items; pointing at a dot also shows the value with the layer chosen on other words"
)


@dataclass(frozen=True, slots=True)
class SlopeOf:
    """The slope of an estimate of each subject over a number of it.

    ``number`` are the records with that number (``n_parameters``), ``estimate`` those with the estimate; the slope is
    per tenfold number if *log*. ``what`` is what rises, ``per`` for how much more of the number. ``allowing`` are the
    estimates that allow for the choice of the best layer, which the tips of the figure give next to the others, and
    ``slope_allowing`` their slope, which has a separate sentence.
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
    slope_allowing: Pick | None = None

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
        adjusted, p = adjusted_text(slope), p_text(slope)
        details = ", ".join(filter(None, (interval, f"{p} ({adjusted})" if adjusted else p)))
        # one slope of several: the family decides, not its own interval
        many = slope.p_adjusted is not None and slope.p_adjusted >= _LEVEL and verdict not in (NO, UNDECIDED)
        verdict = UNDECIDED if many else verdict
        way = "rises" if slope.value > 0 else "falls"
        lead = f"{self.what[:1].upper()}{self.what[1:]} {way} by {size} {self.per}, {details}"
        few = f"; this rests on {n} {self.units[1]}" if verdict == SOMEWHAT else ""
        tail = {
            UNDECIDED: "; after the adjustment for several tests, both directions are possible"
            if many
            else ": the interval includes 0, so both directions are possible",
            NO: "",
            REVERSED: "; the opposite was predicted",
            YES: "",
        }.get(verdict, few)
        apa = f"{lead}, N = {n} {self.units[1]}."
        allowed = numbers.first(self.slope_allowing, view=slope.view) if self.slope_allowing else None
        others = [f"With each layer chosen on other words: b = {own.both(allowed)}."] if allowed else []
        return Answer(verdict, (f"{lead}{tail}.", *others), apa=apa, drawing=drawing)

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


def best_expression(numbers: Numbers, _run: object) -> Answer | None:
    """Return which expression of the relation has the highest accuracy most often, by model and kind of test."""
    named = [record for record in numbers.known(pick("best_expression")) if record.note]
    if not named:
        return None
    counts = Counter(record.note for record in named)
    name, most = counts.most_common(1)[0]
    values = sorted(PERCENT.value(record) for record in named if record.note == name)
    reached = " to ".join(map(PERCENT.text, dict.fromkeys((values[0], values[-1]))))
    lead = f"{name} has the highest accuracy in {most} of {len(named)} comparisons of expressions ({reached})"
    others = ", ".join(f"{other} in {n}" for other, n in counts.most_common()[1:])
    text = f"{lead}{f'; {others}' if others else ''}."
    return Answer("", (text,), apa=text)


def by_token_difference(numbers: Numbers, _run: object) -> Answer | None:
    """Say in how many tests accuracy differs where the words are cut into different numbers of tokens."""
    records = [r for r in numbers.known(pick("accuracy_by_delta(")) if _delta(r) not in ("", "all")]
    tests = numbers.known(pick("independent_t_p("))
    if not records:
        return None
    lowest, highest = min(records, key=PERCENT.value), max(records, key=PERCENT.value)
    decided = [(record.p_adjusted if record.p_adjusted is not None else record.value) for record in tests]
    differing = sum(p is not None and p < 0.05 for p in decided)
    shown = [f"{PERCENT.text(PERCENT.value(r))} ({numbers.title(r.subject)}, {_tokens(r)})" for r in (lowest, highest)]
    texts = [f"Accuracy ranges from {' to '.join(shown)}." if len(records) > 1 else f"Accuracy is {shown[0]}."]
    if tests:
        texts.insert(
            0, f"{differing or 'None'} of {len(tests)} differences from words of equal length have p < .05 (adjusted)."
        )
    verdict = "" if not tests else YES if differing == len(tests) else PARTLY if differing else UNDECIDED
    rows = []
    for record in sorted(records, key=lambda record: (record.subject, int(_delta(record)))):
        tip = f"{_tokens(record)}: {PERCENT.both(record)}, {f'{record.n:,} items' if record.n else ''}"
        rows.append(PERCENT.row(record, _tokens(record), tip=tip, group=numbers.title(record.subject)))
    rare = min(records, key=lambda record: record.n or 0)
    of = f"{numbers.title(rare.subject)}, {_tokens(rare)}"
    see = f"The fewest decisions are those of {of}: n = {rare.n}, {PERCENT.both(rare)}." if len(records) > 1 else ""
    drawing = Forest(
        name="by_tokens", see=see, title="Accuracy by how many tokens more the correct word has", rows=tuple(rows[:40]),
        axis=Axis("Percent correct", 0, 100, leading_zero=True), value_head=PERCENT.head(records),
    )  # fmt: skip
    return Answer(verdict, tuple(texts), apa=" ".join(texts), drawing=drawing)


def _delta(record: Record) -> str:
    return parse_statistic(record.statistic)[1].get("delta", "")


def _tokens(record: Record) -> str:
    delta = int(_delta(record))
    return "equally many tokens" if delta == 0 else f"{delta:+d} tokens".replace("-", "−")
