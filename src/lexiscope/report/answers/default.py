"""The answer to a question that no rule was declared for: by the type of what it returned."""

from __future__ import annotations

from collections.abc import Sequence

from lexiscope.analysis.accuracy import wilson_interval
from lexiscope.core.result import (
    Contrast,
    Counts,
    Curve,
    Curves,
    Estimate,
    Fit,
    Record,
    Result,
    Undefined,
    parse_statistic,
)
from lexiscope.core.showing import counted
from lexiscope.report.answers.answer import Answer, undefined_answer, verdict_of
from lexiscope.report.answers.layers import LayerCurves
from lexiscope.report.answers.numbers import Numbers, Quantity, capital, pick
from lexiscope.report.answers.sentences import named_sentence, words_of
from lexiscope.report.answers.subjects import SubjectEstimates
from lexiscope.report.marks.drawing import Axis, Drawing
from lexiscope.report.marks.forest import Forest, ForestRow

_SENTENCES = 3
_SYMBOLS = {
    "spearman": "ρ", "pearson": "r", "r_squared": "R²", "krippendorff_alpha": "α", "cohen_kappa": "κ",
    "fleiss_kappa": "κ", "max_r_squared_over_layers": "R²", "min_spearman_over_layers": "ρ",
}  # fmt: skip
_FROM_0 = ("r_squared", "accuracy", "share", "auc", "coverage")
"""Parts of the names of statistics that cannot be below 0."""


def quantity_of(statistic: str, unit: str = "") -> Quantity:
    """Return how a statistic is shown, from its name and its unit.

    >>> quantity_of("spearman(with=norms)", "correlation").symbol, quantity_of("percent_right", "percent").unit
    ('ρ', '%')
    """
    name, _ = parse_statistic(statistic)
    title = capital(words_of(statistic))
    if unit == "percent":
        return Quantity("", title, (0.0, 100.0), 0, unit="%")
    is_bounded = unit in ("correlation", "share") or name in _SYMBOLS or any(part in name for part in _FROM_0)
    if is_bounded and "difference" not in name:
        low = 0.0 if unit == "share" or any(part in name for part in _FROM_0) else -1.0
        return Quantity(_SYMBOLS.get(name, ""), title, (low, 1.0))
    if is_bounded:
        return Quantity(_SYMBOLS.get(name, ""), title, (-1.0, 1.0))
    return Quantity("", title, None, unit=f" {unit}" if unit else "")


def default_answer(results: Sequence[Result], records: Sequence[Record], numbers: Numbers) -> Answer | None:
    """Return the answer from what a question returned: its results by their types, otherwise its records.

    The first of these decides the verdict and the drawing: a comparison, curves over layers, several estimates, one
    estimate, a model's test, counts. The sentences are those of the first three results.
    """
    if not results:
        return _answer_of_records(records, numbers)

    sentences = tuple(named_sentence(result, numbers.title) for result in results[:_SENTENCES])
    if all(isinstance(result, Undefined) for result in results):
        first = results[0]
        assert isinstance(first, Undefined)
        return undefined_answer(capital(words_of(first.name)), first.reason)
    for kind in (Contrast, (Curves, Curve), Estimate, Fit, Counts):
        chosen = [result for result in results if isinstance(result, kind)]
        if chosen:
            verdict, drawing = _verdict_and_drawing(chosen, numbers)
            # the result that decides comes first
            deciding = named_sentence(chosen[0], numbers.title)
            said = (deciding, *(text for text in sentences if text != deciding))[:_SENTENCES]
            return Answer(verdict, said, apa=" ".join(said), drawing=drawing)
    return None


def _verdict_and_drawing(chosen: Sequence[Result], numbers: Numbers) -> tuple[str, Drawing | None]:
    first = chosen[0]
    if isinstance(first, Contrast):
        record = first.records()[0]
        return verdict_of(record, quantity_of(first.name, first.unit)), _pair_of(first, numbers)
    if isinstance(first, Curve | Curves):
        entries = first.entries if isinstance(first, Curves) else (first,)
        curves = [entry for entry in entries if isinstance(entry, Curve)]
        if not curves:
            return "", _estimates([entry for entry in entries if isinstance(entry, Estimate)], numbers)
        name = curves[0].statistic
        quantity = quantity_of(name, curves[0].unit)
        rule = LayerCurves(capital(f"{words_of(name)} by layer"), pick(name), quantity, what=f"the {words_of(name)}")
        answer = rule.answer(numbers)
        return "", answer.drawing if answer else None
    if isinstance(first, Estimate):
        return "", _estimates([result for result in chosen if isinstance(result, Estimate)], numbers)
    if isinstance(first, Counts):
        return "", _shares(first)
    return "", None


def _pair_of(contrast: Contrast, numbers: Numbers) -> Forest:
    """Both sides of a comparison on the axis of their statistic."""
    quantity = quantity_of(contrast.first.name, contrast.first.unit)
    return _forest_of([record for side in contrast.pair for record in side.records()], quantity, numbers)


def _estimates(estimates: Sequence[Estimate], numbers: Numbers) -> Drawing | None:
    """The estimates of one statistic, one row each; none for a single one."""
    same = [estimate for estimate in estimates if estimate.name == estimates[0].name]
    records = [record for estimate in same for record in estimate.records()]
    return _forest_of(records, quantity_of(same[0].name, same[0].unit), numbers) if len(records) > 1 else None


def _forest_of(records: Sequence[Record], quantity: Quantity, numbers: Numbers) -> Forest:
    def label(record: Record) -> str:
        layer = f"layer {record.layer}" if record.layer is not None else ""
        parts = [numbers.title(record.subject) if record.subject else "", record.condition, record.view, layer]
        used = [part for index, part in enumerate(parts) if part and len({_parts(r)[index] for r in records}) > 1]
        return ", ".join(used) or next(filter(None, parts), "all")

    rows = []
    for record in records:
        low, high = quantity.ends(record) or (None, None)
        value = quantity.value(record) if record.value is not None else None
        shown = quantity.both(record) if record.value is not None else ""
        reason = record.note if record.value is None else ""
        rows.append(ForestRow(label(record), value, low, high, shown=shown, reason=reason, people=not record.subject))
    known = [v for row in rows for v in (row.value, row.low, row.high) if v is not None]
    axis = Axis.around(known, quantity.name, bounds=quantity.bounds)
    name = parse_statistic(records[0].statistic)[0]
    return Forest(
        name=name, title=quantity.name, rows=tuple(rows), axis=axis, value_head="value [95% CI]", note="Lines: 95% CI"
    )


def _parts(record: Record) -> tuple[str, str, str, int | None]:
    return (record.subject, record.condition, record.view, record.layer)


def _shares(counts: Counts) -> Forest | None:
    """Counts as shares of their total with Wilson's intervals."""
    if not counts.total:
        return None
    rows = []
    for label, n in counts.counts:
        interval = wilson_interval(n, counts.total).times(100)
        low, high = interval.low, interval.high
        shown = f"{100 * n / counts.total:.0f}% [{low:.0f}, {high:.0f}]"
        rows.append(ForestRow(label, 100 * n / counts.total, low, high, shown=shown, tip=f"{label}: {n:,}, {shown}"))
    return Forest(
        name=counts.name.partition("(")[0],
        title=f"{capital(words_of(counts.name))}: {counted(counts.total, 'case')}",
        rows=tuple(rows),
        axis=Axis("Percent", 0, 100, leading_zero=True),
        value_head="% [95% CI]",
    )


def _answer_of_records(records: Sequence[Record], numbers: Numbers) -> Answer | None:
    """The first statistic of a question that has values: of several subjects a forest, of one a sentence."""
    measured = [record for record in records if not record.statistic.startswith("n_")]
    known = [record for record in measured if record.value is not None]
    if not known:
        # counts alone are no answer
        return undefined_answer(capital(words_of(measured[0].statistic)), measured[0].note) if measured else None
    first = next((record for record in known if record.low is not None), known[0])
    quantity = quantity_of(first.statistic, first.unit)
    same = [r for r in known if r.statistic == first.statistic and r.question == first.question]
    if len({record.subject for record in same}) == len(same) > 1:
        title = capital(words_of(first.statistic))
        rule = SubjectEstimates(
            title,
            pick(first.statistic, question=first.question),
            quantity,
            "have a value above 0",
            "has a value above 0",
        )
        answer = rule.answer(numbers)
        if answer is not None:
            return Answer("", answer.sentences, apa=answer.apa, drawing=answer.drawing)
    of = f" of {numbers.title(first.subject)}" if first.subject else ""
    text = f"The {words_of(first.statistic)}{of} is {quantity.both(first, named=True)}."
    drawing = _forest_of(same[:40], quantity, numbers) if len(same) > 1 else None
    return Answer("", (text,), apa=text, drawing=drawing)
