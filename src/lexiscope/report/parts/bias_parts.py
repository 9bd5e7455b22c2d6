"""Biases as records and as drawn: the same numbers for results.json, the plane, the bars and the gaps."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace

from lexiscope.analysis.bias.bias import Bias, ViewDifference
from lexiscope.analysis.bias.view_gaps import ViewGap
from lexiscope.analysis.bias.view_scores import ViewValue
from lexiscope.core.result import Interval, Record, statistic_name
from lexiscope.report.figures import Figure, Heading
from lexiscope.report.part import with_interval
from lexiscope.report.parts.bias_tables import BiasRow, GapRow
from lexiscope.report.plots.accuracy import Dot
from lexiscope.report.plots.bias import PlanePoint, ViewBar, bias_plane, minimum_gaps, view_bars

CAPTION = "Intervals: 95 %, words resampled, the same in all views."
_NOT_THERE = "one of its views is not there"
_DRAWN = ("full", "context", "word", "label")


def bias_records(row: BiasRow) -> tuple[Record, ...]:
    """Return every number of one subject on one dataset: scores by view, biases, differences, minimum gap.

    The metric is in the name of a bias: ``context_bias(metric=accuracy)``. *Unit:* share (0 to 1) or correlation.
    """
    biases, metric = row.biases, row.biases.metric
    empty = Record(metric, None, row.subject, row.dataset, n=None, note=_NOT_THERE)
    records = [_score_record(replace(empty, view=value.view), value) for value in biases.views]
    records += [
        _bias_record(empty, bias, metric) for bias in (biases.context, biases.word, biases.context_span) if bias
    ]
    differences = (
        ("context", "label", biases.context_over_label),
        ("word", "label", biases.word_over_label),
        ("full", "label", biases.full_over_label),
        ("full", "context", biases.context_gap),
        ("full", "word", biases.word_gap),
    )
    records += [_difference_record(empty, *names, metric) for names in differences]
    gap = replace(empty, statistic=statistic_name("minimum_gap", metric=metric))
    if biases.minimum_gap is not None:
        nearest = f"nearest to full: {biases.minimum_gap.nearest}"
        gap = with_interval(replace(gap, value=biases.minimum_gap.value, note=nearest), biases.minimum_gap.interval)
    return (*records, gap)


def gap_records(row: GapRow) -> tuple[Record, ...]:
    """Return people minus model in each view as records."""
    name = statistic_name("people_minus_model", metric="accuracy")
    return tuple(_gap_record(Record(name, gap.value, row.subject, row.dataset, view=gap.view), gap) for gap in row.gaps)


def plane_figures(rows: Sequence[BiasRow], *, people: Collection[str] = ()) -> tuple[Figure, ...]:
    """Return the plane of the first model of each dataset and of people (Figure 1), and that of others (Figure 4).

    Of one dataset there are few points: all of them are drawn together.
    """
    firsts = {row.dataset: row.subject for row in reversed(rows) if row.subject not in people}
    first = [len(firsts) == 1 or row.subject in {*people, firsts.get(row.dataset)} for row in rows]
    figures = []
    for wanted, name, number, title in (
        (True, "figure_1_plane", "1", "Context bias and word bias"),
        (False, "figure_4_plane", "4", "Context bias and word bias of further models"),
    ):
        points = plane_points([row for row, own in zip(rows, first, strict=True) if own is wanted], people=people)
        if any(point.is_defined for point in points):
            figures.append(bias_plane(points, Heading(name, number, title, CAPTION), order=_subjects(rows)))
    return tuple(figures)


def bar_figures(rows: Sequence[BiasRow]) -> tuple[Figure, ...]:
    """Return the scores by view as bars, with the score of a random answer (Figure 2); none without a score."""
    bars = [bar for bar in score_bars(rows) if bar.view in _DRAWN]
    random = {row.dataset: 100 * value.value for row in rows if (value := row.biases.view("random")) is not None}
    heading = Heading("figure_2_views", "2", "Right answers by what is shown", CAPTION)
    return (view_bars(bars, heading, random=tuple(random.items()), order=_subjects(rows)),) if bars else ()


def gap_figures(rows: Sequence[BiasRow], *, people: Collection[str] = ()) -> tuple[Figure, ...]:
    """Return the minimum gaps (Figure 3); none if no gap has a value."""
    dots = gap_dots(rows, people=people)
    if all(math.isnan(dot.value) for dot in dots):
        return ()
    title = "What word and context give together, beyond the better of the two"
    heading = Heading("figure_3_gaps", "3", title, f"{CAPTION} Points: accuracy times 100.")
    return (minimum_gaps(dots, heading, order=_subjects(rows)),)


def _subjects(rows: Sequence[BiasRow]) -> tuple[str, ...]:
    # all subjects of a report, so that one has the same mark in all its figures
    return tuple(dict.fromkeys(row.subject for row in rows))


def plane_points(rows: Sequence[BiasRow], *, people: Collection[str] = ()) -> tuple[PlanePoint, ...]:
    """Return the places of subjects in the bias plane; *people* are the subjects that are people."""
    points = []
    for row in rows:
        context, word = row.biases.context, row.biases.word
        ends = (context.interval.low, context.interval.high, word.interval.low, word.interval.high)
        points.append(PlanePoint(row.dataset, row.subject, context.value, word.value, row.subject in people, *ends))
    return tuple(points)


def score_bars(rows: Sequence[BiasRow]) -> tuple[ViewBar, ...]:
    """Return the scores by view as bars, times 100."""
    return tuple(
        ViewBar(row.dataset, value.view, row.subject, 100 * value.value, *_times_100(value.interval), value.fixed)
        for row in rows
        for value in row.biases.views
    )


def gap_dots(rows: Sequence[BiasRow], *, people: Collection[str] = ()) -> tuple[Dot, ...]:
    """Return the minimum gaps as dots, times 100; not-a-number where one of the views is not there."""
    dots = []
    for row in rows:
        gap = row.biases.minimum_gap
        value = math.nan if gap is None else 100 * gap.value
        ends = (math.nan, math.nan) if gap is None else _times_100(gap.interval)
        dots.append(Dot(row.dataset, row.subject, value, *ends, people=row.subject in people))
    return tuple(dots)


def _score_record(record: Record, value: ViewValue) -> Record:
    note = f"not measured here: {value.fixed}" if value.fixed else value.note
    known = replace(record, value=value.value, n=value.n or None, note=note)
    return known if value.fixed else with_interval(known, value.interval)


def _bias_record(empty: Record, bias: Bias, metric: str) -> Record:
    record = replace(empty, statistic=statistic_name(f"{bias.view}_bias", metric=metric))
    if not bias.is_defined:
        return replace(record, note=bias.reason, status="undefined")
    gone = bias.interval.undefined
    note = f"{gone} of {bias.interval.resamples} draws are undefined and left out" if gone else ""
    return with_interval(replace(record, value=bias.value, note=note), bias.interval)


def _difference_record(
    empty: Record, first: str, second: str, difference: ViewDifference | None, metric: str
) -> Record:
    record = replace(empty, statistic=statistic_name("view_difference", first=first, second=second, metric=metric))
    return (
        record
        if difference is None
        else with_interval(replace(record, value=difference.value, note=""), difference.interval)
    )


def _gap_record(record: Record, gap: ViewGap) -> Record:
    return with_interval(replace(record, n=gap.model.n or None, note=gap.note), gap.interval)


def _times_100(interval: Interval) -> tuple[float, float]:
    return 100 * interval.low, 100 * interval.high
