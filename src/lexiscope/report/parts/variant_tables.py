"""Tables of variants of a model: base and trained, without and with worked examples, small and large.

*results* are those of :mod:`lexiscope.analysis.norms.variants`; a pair on which a comparison is undefined has no row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lexiscope.analysis.norms.variants import Pair, name_of_pair
from lexiscope.core.result import Record, Result
from lexiscope.report.pivot import Col, PivotRow, pivot, records_of, rows_of
from lexiscope.report.tables import INTEGER, P_VALUE, Format, Table

_PERCENT, _TWO, _THREE = Format("number", 1), Format("number", 2), Format("number", 3, leading_zero=False)
_SIGNED_RANK = "signed_rank(of={of})"
_SIZE_TREND = "spearman(of=n_parameters,with={of})"


def contrasts_table(
    name: str, title: str, results: Iterable[Record | Result], pairs: Iterable[Pair], sides: tuple[str, str]
) -> Table:
    """Return the errors of both *sides* of every pair, with the test of their difference.

    The results are those of :func:`lexiscope.analysis.norms.variants.contrast_of_predictions`.
    """
    listed, (first, second) = records_of(results), sides
    of = f"{second}_minus_{first}"
    test = _SIGNED_RANK.format(of=of)
    columns = (
        *(Col(f"Mean error, {side}", f"mean_absolute_error(of={side})", _THREE) for side in sides),
        Col("V", test, INTEGER, "value"),
        Col("p", test, P_VALUE, "p", note="Wilcoxon's signed-rank test of the absolute errors, two-sided."),
        Col(f"Accuracy, {second} − {first}", f"accuracy_difference(of={of})", _THREE),
        Col(f"ρ, {second} − {first}", f"spearman_difference(of={of})", _THREE),
        Col("Samples", test, show="n"),
    )
    note = "Whole predictions; others rounded, halves up. Samples that both predicted; 95 % interval, over words."
    rows, labels = _rows_of_pairs(listed, pairs, test), [side.capitalize() for side in sides]
    return pivot(name, title, listed, columns, rows, labels=labels, notes=(note,))


def label_shifts_table(results: Iterable[Record | Result], pairs: Iterable[Pair]) -> Table | None:
    """Return how training moves labels (:func:`lexiscope.analysis.norms.label_distribution.label_shift`).

    ``None`` where it is undefined for every pair.
    """
    listed, sides, test = records_of(results), ("base", "tuned"), "marginal_homogeneity(of=tuned_minus_base)"
    columns = (
        *(Col(f"Distance, {side}", f"label_distance(of={side})", _PERCENT) for side in sides),
        Col("Tuned − base", "label_distance_difference(of=tuned_minus_base)", _PERCENT),
        Col("χ²", test, _TWO, "value"),
        Col("p, labels", test, P_VALUE, "p", note="Stuart–Maxwell test: do base and tuned give labels equally often?"),
        Col("Samples", test, show="n"),
    )
    note = (
        "Distance: the percent of labels that would have to change for the distribution to be that of people's rounded "
        "means (total variation). 95 % interval, over words; the test takes samples as independent."
    )
    title, labels = "Labels before and after training, and people's", [side.capitalize() for side in sides]
    rows = _rows_of_pairs(listed, pairs, test)
    return pivot("label_shift", title, listed, columns, rows, labels=labels, notes=(note,)) if rows else None


def size_trends_table(results: Iterable[Record | Result]) -> Table:
    """Return whether larger models are closer to people (:func:`lexiscope.analysis.norms.variants.trend_with_size`)."""
    listed, heads = records_of(results), {"accuracy_within_sd": "accuracy", "spearman": "ρ with people"}
    columns = [
        column
        for of, what in heads.items()
        for column in (
            Col(f"ρ of size and {what}", _SIZE_TREND.format(of=of), _TWO),
            Col(f"p, {what}", _SIZE_TREND.format(of=of), P_VALUE, "p"),
        )
    ]
    columns.append(Col("Models", _SIZE_TREND.format(of="accuracy_within_sd"), show="n"))
    note = (
        "Spearman's ρ over models; p of the permutation test over models (exact up to 8). 95 % interval: words "
        "resampled, so it does not generalise to other models."
    )
    title, rows = "Are larger models closer to people?", rows_of(listed, "condition")
    return pivot("size_trend", title, listed, columns, rows, labels=("Samples of",), notes=(note,))


def _rows_of_pairs(records: Sequence[Record], pairs: Iterable[Pair], test: str) -> list[PivotRow]:
    tested = {record.subject for record in records if record.statistic == test and record.value is not None}
    named = {name_of_pair(*pair): tuple(own.title for own in pair) for pair in pairs}
    return [PivotRow(titles, {"subject": subject}) for subject, titles in named.items() if subject in tested]
