"""One estimate as an answer: its value with its interval, compared with a number, and further ones after it."""

from __future__ import annotations

from dataclasses import dataclass

from lexiscope.core.result import Record
from lexiscope.report.answers.answer import Answer, Direction, QuestionRule, undefined_answer, verdict_of
from lexiscope.report.answers.numbers import Numbers, Pick, Quantity, capital
from lexiscope.report.marks.drawing import Axis, ReferenceLine
from lexiscope.report.marks.forest import Forest


@dataclass(frozen=True, slots=True)
class Named:
    """An estimate with its name in a sentence (``the share of setups in which …``), how it is shown, and a label."""

    name: str
    wanted: Pick
    quantity: Quantity
    label: str = ""


@dataclass(frozen=True, slots=True)
class OneEstimate:
    """One estimate that decides, compared with *against* (chance, zero), and further ones, each a sentence.

    Without *against* there is no verdict: the question asks how much. What is drawn is the drawing of *drawn*, or the
    estimates that are shown in the same unit, if there are several.
    """

    estimate: Named
    further: tuple[Named, ...] = ()
    against: float | None = None
    against_name: str = "chance"
    predicted: Direction = "above"
    title: str = ""
    drawn: QuestionRule | None = None

    def answer(self, numbers: Numbers) -> Answer | None:
        """Return the answer, ``None`` where the run has no such estimate."""
        records = numbers.all(self.estimate.wanted)
        if not records:
            return None
        first = records[0]
        if first.value is None:
            return undefined_answer(capital(self.estimate.name), first.note)
        known = [(self.estimate, first)]
        known += [(named, record) for named in self.further if (record := numbers.first(named.wanted)) is not None]
        verdict = ""
        beyond = ""
        if self.against is not None:
            own = self.estimate.quantity
            verdict = verdict_of(first, own, predicted=self.predicted, against=self.against)
            beyond = f"; {self.against_name} is {own.text(self.against)}"
        sentences = [f"{capital(named.name)} is {named.quantity.both(record, named=True)}" for named, record in known]
        sentences[0] += beyond
        texts = tuple(f"{text}." for text in sentences)
        other = self.drawn.answer(numbers) if self.drawn is not None else None
        drawing = other.drawing if other is not None else self._drawing(known)
        return Answer(verdict, texts, apa=" ".join(texts), drawing=drawing)

    def _drawing(self, known: list[tuple[Named, Record]]) -> Forest | None:
        quantity = self.estimate.quantity
        same = [(named, record) for named, record in known if named.quantity == quantity]
        if len(same) < 2:
            return None
        rows = [
            quantity.row(record, named.label or capital(named.name), people=not record.subject)
            for named, record in same
        ]
        references = []
        if self.against is not None:
            label = f"{self.against_name} {quantity.text(self.against)}"
            references.append(ReferenceLine(label, self.against, kind="chance"))
        values = [v for row in rows for v in (row.value, row.low, row.high) if v is not None]
        axis = Axis.around([*values, *(r.value for r in references)], quantity.name, bounds=quantity.bounds)
        title = self.title or capital(self.estimate.name)
        head = quantity.head([record for _, record in same])
        return Forest(
            name="estimates", title=title, rows=tuple(rows), axis=axis, references=tuple(references), value_head=head,
        )  # fmt: skip
