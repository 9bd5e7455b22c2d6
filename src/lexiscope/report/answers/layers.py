"""A statistic over the layers of each subject: the best layer, and what the last layer loses."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lexiscope.analysis.layers.layers import SEPARATED, WRONG_DIRECTION
from lexiscope.core.result import Record
from lexiscope.core.showing import enumerated
from lexiscope.report.answers.answer import NO, REVERSED, UNANSWERED, UNDECIDED, Answer, undefined_answer
from lexiscope.report.answers.numbers import Numbers, Pick, Quantity, of_all, pick
from lexiscope.report.answers.subjects import Against
from lexiscope.report.marks.drawing import Axis, ReferenceLine
from lexiscope.report.marks.multiples import LayerPanel, LayerPanels, LayerPoint
from lexiscope.report.tables import Cell, Column, Format, Table, drop_empty

_MOST_PANELS = 16
_WRONG = re.compile(rf"{WRONG_DIRECTION}: [^;]+")


@dataclass(frozen=True, slots=True)
class LayerCurves:
    """Curves of a statistic over layers, a panel per subject, in the order of their best values.

    With ``allowing``, the values at a layer chosen on other items, panels are in the order of those, as the figure of
    these values is.
    ``second`` are records whose ``layer`` a triangle marks in each panel (the layer that is best by something else),
    ``second_name`` what that is. ``what`` is what is closest or highest at the best layer, in a sentence.
    """

    title: str
    statistic: Pick
    quantity: Quantity
    what: str = "agreement with people"
    against: tuple[Against, ...] = ()
    second: Pick | None = None
    second_name: str = ""
    strong: tuple[str, ...] = ()
    allowing: Pick | None = None

    def answer(self, numbers: Numbers) -> Answer | None:
        """Return the answer, ``None`` where no subject has layers."""
        curves = self._curves(numbers)
        if not curves:
            return None
        best = {subject: max(own, key=self.quantity.value) for subject, own in curves.items()}
        order = sorted(curves, key=lambda subject: -self.quantity.value(best[subject]))
        last = {subject: max(own, key=lambda record: record.layer or 0) for subject, own in curves.items()}
        at_last = [subject for subject in order if best[subject].layer == last[subject].layer]
        if not order:
            return Answer(UNANSWERED, (f"{self.title} is not defined at any layer.",))
        sentences = self._sentences(order, best, last, at_last, numbers)
        return Answer(
            self._lead(order, best, last, at_last),
            sentences,
            caution="" if self.allowing else "Each best layer is chosen on the same items.",
            apa=" ".join(sentences),
            drawing=self._panels(order, curves, best, numbers, at_last),
        )

    def _curves(self, numbers: Numbers) -> dict[str, list[Record]]:
        curves: dict[str, list[Record]] = {}
        for record in numbers.known(self.statistic):
            if record.layer is not None:
                curves.setdefault(record.subject, []).append(record)
        return {subject: own for subject, own in curves.items() if len(own) > 1}

    @staticmethod
    def _lead(order: list[str], best: dict[str, Record], last: dict[str, Record], at_last: list[str]) -> str:
        if len(order) == 1:
            only = order[0]
            return f"At layer {best[only].layer} of {last[only].layer}."
        if len(at_last) == len(order):
            return "At the last layer."
        return "It depends on the model." if at_last else "Before the last layer."

    def _sentences(
        self,
        order: list[str],
        best: dict[str, Record],
        last: dict[str, Record],
        at_last: list[str],
        numbers: Numbers,
    ) -> tuple[str, ...]:
        quantity = self.quantity
        top = order[0]
        here = f"layer {best[top].layer} of {last[top].layer}"
        shown = quantity.equation(best[top], named=True)
        texts = []
        if len(order) > 1:
            texts.append(
                f"In {of_all(len(at_last), len(order), 'models')} {self.what} is highest at the last layer. The "
                f"highest value is that of {numbers.title(top)} at {here}, {shown}."
            )
        else:
            texts.append(f"In {numbers.title(top)}, {self.what} is highest at {here}, {shown}.")
        drops = {s: quantity.value(best[s]) - quantity.value(last[s]) for s in order}
        worst = max(order, key=lambda subject: drops[subject])
        if drops[worst] > 0.5 * 10**-quantity.digits:
            texts.append(
                f"In {numbers.title(worst)} it falls from {quantity.text(quantity.value(best[worst]))} "
                f"(layer {best[worst].layer}) to {quantity.text(quantity.value(last[worst]))} at the last layer"
            )
            other = self._allowed(numbers, best[worst])
            texts[-1] += f" (layer chosen on other items: {quantity.text(quantity.value(other))})." if other else "."
        allowed = self._allowed(numbers, best[top])
        if allowed is not None:
            texts.append(
                f"Best layers are chosen on the same items; with the layer chosen on other items, {numbers.title(top)} "
                f"has {quantity.equation(allowed)}."
            )
        return tuple(texts)

    def _allowed(self, numbers: Numbers, best: Record) -> Record | None:
        """The value with the layer chosen on other items, if it is known, of the subject with this highest value."""
        record = numbers.first(self.allowing, subject=best.subject, view=best.view) if self.allowing else None
        return None if record is None or record.value is None else record

    def _panels(
        self,
        order: list[str],
        curves: dict[str, list[Record]],
        best: dict[str, Record],
        numbers: Numbers,
        at_last: list[str],
    ) -> LayerPanels:
        allowed = {s: self._allowed(numbers, best[s]) for s in order}
        if all(allowed.values()):
            order = sorted(order, key=lambda s: -self.quantity.value(allowed[s] or best[s]))
        shown = order[:_MOST_PANELS]
        panels = []
        for subject in shown:
            second = numbers.first(self.second, subject=subject, view=best[subject].view) if self.second else None
            points = tuple(
                LayerPoint(
                    record.layer or 0, self.quantity.value(record), *(self.quantity.ends(record) or (None, None))
                )
                for record in sorted(curves[subject], key=lambda record: record.layer or 0)
            )
            place = f"best layer {best[subject].layer} of {points[-1].layer}"
            tip = f"{numbers.title(subject)}: {place}, {self.quantity.equation(best[subject])}"
            if other := allowed[subject]:
                tip += f"; with the layer chosen on other items: {self.quantity.equation(other)}"
            tip += f"; {self.second_name}: layer {second.layer}" if second is not None else ""
            panels.append(
                LayerPanel(
                    numbers.title(subject),
                    points,
                    best[subject].layer,
                    second.layer if second else None,
                    tip,
                    subject in self.strong,
                )
            )
        references = []
        for against in self.against:
            record = numbers.first(against.wanted)
            value = record.value if record is not None else against.value
            if value is not None:
                low, high = (record.low, record.high) if record is not None else (None, None)
                label = f"{against.name.removeprefix('the ')} {self.quantity.number(value)}"
                references.append(ReferenceLine(label, value, low, high, kind=against.kind))
        values = [v for panel in panels for p in panel.points for v in (p.value, p.low, p.high) if v is not None]
        axis = Axis.around([*values, *(r.value for r in references)], self.quantity.name, bounds=self.quantity.bounds)
        rows = f"{len(at_last)} of {len(order)} panels" if len(order) > 1 else f"layer {best[order[0]].layer}"
        see = (
            f"The dot is at the last layer in {rows}."
            if len(order) > 1
            else f"The highest value, {self.quantity.text(self.quantity.value(best[order[0]]))}, is at {rows}."
        )
        what = self.quantity.symbol or self.quantity.name
        note = f"Shared axes: {what} from {axis.text(axis.low)} to {axis.text(axis.high)}"
        if len(order) > _MOST_PANELS:
            note += f". {_MOST_PANELS} of {len(order)} models, the highest first"
        return LayerPanels(
            name="by_layer", title=self.title, see=see, note=note, panels=tuple(panels), axis=axis,
            references=tuple(references), best_name=f"best layer for {self.quantity.symbol}".removesuffix(" for "),
            second_name=self.second_name if any(panel.second is not None for panel in panels) else "",
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class BestLayers:
    """The layer of each subject that is best by a criterion whose lower values are better (AIC), as a table.

    ``lowest`` are the records of the lowest value, at their layers; ``baseline`` those of the model without a layer;
    ``saved`` what the layer saves on words held out, chosen on the other words, with its interval. ``compared`` are the
    records of another best layer, ``compared_name`` what that is best for. ``what`` is what a layer does best
    (``separates the senses``).
    """

    title: str
    lowest: Pick
    baseline: Pick
    saved: Pick
    what: str
    criterion: str = "AIC"
    compared: Pick | None = None
    compared_name: str = ""
    strong: tuple[str, ...] = ()
    rows: int = 4

    def answer(self, numbers: Numbers) -> Answer | None:
        """Return the answer, ``None`` where no subject has such a layer."""
        lowest = {record.subject: record for record in numbers.known(self.lowest) if record.layer is not None}
        perfect = [record for record in numbers.all(self.lowest) if record.value is None and SEPARATED in record.note]
        if perfect:
            return self._without_error(perfect, lowest, numbers)
        if not lowest:
            first = next(iter(numbers.all(self.lowest)), None)
            return undefined_answer(self.title, first.note) if first is not None else None
        gains = {subject: self._gain(subject, record, numbers) for subject, record in lowest.items()}
        order = sorted(lowest, key=lambda subject: -(gains[subject] or 0.0))
        main = next((subject for subject in self.strong if subject in lowest), order[0])
        table = self._table(order, lowest, gains, numbers)
        if not any(gain is not None and gain > 0 for gain in gains.values()):
            least = min(lowest.values(), key=lambda record: record.value or 0.0)
            alone = numbers.first(self.baseline, subject=least.subject)
            shown = f"lowest {self.criterion} {least.value:.1f}"
            text = f"No layer {self.what} better than no predictor at all ({shown}"
            text += (
                f"; without predictor {alone.value:.1f})." if alone is not None and alone.value is not None else ")."
            )
            return Answer(NO, (text,), apa=text, table=table)
        depth = numbers.first(pick("n_layers", subject=main))
        of = f" of {depth.value:.0f}" if depth is not None and depth.value is not None else ""
        place = f"layer {lowest[main].layer}{of} in {numbers.title(main)}"
        saved = [record for subject in order if (record := numbers.first(self.saved, subject=subject)) is not None]
        if saved and not any(record.low is not None and record.low > 0 for record in saved):
            text = f"The lowest {self.criterion} is at {place}."
            return Answer(UNDECIDED, (text, *self._against_no_predictor(order, numbers)), apa=text, table=table)
        wrong = [subject for subject in order if _WRONG.search(lowest[subject].note)]
        if main in wrong:
            (direction,) = _WRONG.findall(lowest[main].note)[:1]
            text = f"The lowest {self.criterion} is at {place}, in {direction}."
            return Answer(REVERSED, (text, *self._against_no_predictor(order, numbers)), apa=text, table=table)
        lead = f"At {place}."
        sentences = (*self._against_no_predictor(order, numbers), *self._against_other(main, lowest, numbers))
        own, alone = lowest[main].value or 0.0, numbers.first(self.baseline, subject=main)
        compared = f", compared with {alone.value:.2f} without predictor" if alone is not None and alone.value else ""
        best = f"layer {lowest[main].layer} ({self.criterion} = {own:.2f}{compared})"
        apa = f"{numbers.title(main)} {self.what} best at {best}."
        caution = f"The layer of the lowest {self.criterion} is chosen on the same items."
        if wrong:
            caution += f" In the wrong direction in {enumerated([numbers.title(subject) for subject in wrong])}."
        return Answer(lead, sentences, caution=caution, apa=apa, table=table)

    def _without_error(self, perfect: list[Record], lowest: dict[str, Record], numbers: Numbers) -> Answer:
        """Subjects with a layer that makes no error have no finite criterion: they come before all others."""
        texts = [f"{numbers.title(record.subject)}: {record.note.removeprefix('undefined: ')}." for record in perfect]
        if lowest:
            best = min(lowest.values(), key=lambda record: record.value or 0.0)
            shown = f"{best.value:.2f} ({numbers.title(best.subject)}, layer {best.layer})"
            texts.append(f"Of the others, the lowest {self.criterion} is {shown}.")
        return Answer("Without error.", tuple(texts), apa=" ".join(texts))

    def _gain(self, subject: str, record: Record, numbers: Numbers) -> float | None:
        alone = numbers.first(self.baseline, subject=subject)
        return None if alone is None or alone.value is None or record.value is None else alone.value - record.value

    def _against_no_predictor(self, order: list[str], numbers: Numbers) -> tuple[str, ...]:
        saved = [record for subject in order if (record := numbers.first(self.saved, subject=subject)) is not None]
        if not saved:
            return ()
        better = sum(record.low is not None and record.low > 0 for record in saved)
        lead = "On held-out words, the layer chosen on the other words"
        if len(saved) > 1:
            return (f"{lead} predicts better than no predictor in {of_all(better, len(saved), 'models')}.",)
        return (f"{lead} {'predicts' if better else 'is not shown to predict'} better than no predictor.",)

    def _against_other(self, main: str, lowest: dict[str, Record], numbers: Numbers) -> tuple[str, ...]:
        if self.compared is None:
            return ()
        every = {subject: numbers.first(self.compared, subject=subject) for subject in lowest}
        other = {subject: r for subject, r in every.items() if r is not None and r.layer is not None}
        if main not in other:
            return ()
        here, there = lowest[main].layer or 0, other[main].layer or 0
        word = "earlier than" if here < there else "later than" if here > there else "the same as"
        text = f"In {numbers.title(main)} this is {word} its best layer for {self.compared_name} ({there})"
        same = sum((lowest[s].layer or 0) < (other[s].layer or 0) for s in other)
        more = f"; it is earlier in {of_all(same, len(other), 'models')}." if len(other) > 1 else "."
        return (text + more,)

    def _table(
        self, order: list[str], lowest: dict[str, Record], gains: dict[str, float | None], numbers: Numbers
    ) -> Table:
        tenths = Format("number", 1)
        rows: list[tuple[Cell, ...]] = []
        for subject in order[: self.rows]:
            record, saved = lowest[subject], numbers.first(self.saved, subject=subject)
            depth = numbers.first(pick("n_layers", subject=subject))
            of = f" of {depth.value:.0f}" if depth is not None and depth.value is not None else ""
            held_out: Cell = None
            if saved is not None and saved.value is not None and saved.low is not None and saved.high is not None:
                held_out = f"{saved.value:.0f} [{saved.low:.0f}, {saved.high:.0f}]".replace("-", "−")
            rows.append((numbers.title(subject), f"{record.layer}{of}", record.value, gains[subject], held_out))
        heads = (
            Column(""),
            Column("Layer", align="right"),
            Column(self.criterion, tenths),
            Column("Gain", tenths),
            Column("Gain on held-out words [95% CI]", align="right"),
        )
        notes = [f"The first {len(rows)} of {len(order)} models."] if len(order) > len(rows) else []
        notes.append("Gain: compared with no predictor.")
        return drop_empty(Table("best_layers", "", self.title, heads, tuple(rows), tuple(notes)))
