"""Two estimates of each subject in two conditions: on which sides of zero they are, and their distance."""

from __future__ import annotations

from dataclasses import dataclass

from lexiscope.core.result import Record
from lexiscope.report.answers.answer import NO, PARTLY, REVERSED, YES, Answer, side_of
from lexiscope.report.answers.numbers import Numbers, Pick, Quantity, text_of_tests
from lexiscope.report.marks.drawing import Axis
from lexiscope.report.marks.pairs import PairedDots, PairRow


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
