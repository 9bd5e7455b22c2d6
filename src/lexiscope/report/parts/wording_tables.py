"""Wordings of a prompt in a report: the statistic in each, its mean with intervals, and the paired differences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean, stdev

from lexiscope.analysis.jackknife import jackknife_interval
from lexiscope.analysis.wordings import WORDINGS, OverWordings
from lexiscope.core.result import (
    NO_INTERVAL,
    Contrast,
    Estimate,
    Interval,
    Record,
    Result,
    parse_statistic,
    statistic_name,
)
from lexiscope.report.answers.sentences import words_of
from lexiscope.report.part import Part, part_of, record_cell, with_adjusted_p
from lexiscope.report.tables import BOUNDED, INTEGER, P_VALUE, Cell, Format, Head, format_number, table_of

_FREE = Format("number", 2)
SHOTS = "shots"
"""The factor whose levels are numbers of worked examples before the item."""
ABOUT = (
    "Every item was asked in each of these wordings of the same prompt. The interval over wordings is that of the mean "
    "for other wordings of the same kind, on these items; the joint one is for other items, too. Few wordings give "
    "wide intervals: t on one degree of freedom less than there are wordings. The joint interval can be narrower than "
    "the one over wordings, if wordings differ no more than single answers do."
)


ABOUT_SHOTS = (
    "Every item was asked with each of these numbers of worked examples before it, in the same words. Differences are "
    "paired: both numbers are compared on the same items."
)


@dataclass(frozen=True, slots=True, eq=False)
class WordedStatistic:
    """A statistic (its printed name) of one model in several wordings.

    ``subjects`` are the ids of the model by wording, ``subject`` its id without one. ``contrasts`` are the paired
    differences of two wordings each; ``note`` counts items that not all wordings answered; ``units`` are what the
    intervals over items resample. ``factor``: what the levels are, wordings or numbers of worked examples
    (:data:`SHOTS`), which do not stand for others, so that they have no mean.
    """

    name: str
    subject: str
    subjects: Mapping[str, str]
    measured: OverWordings
    contrasts: Sequence[Contrast]
    dataset: str = ""
    view: str = ""
    note: str = ""
    units: str = "words"
    factor: str = "wording"

    def results(self) -> tuple[Result, ...]:
        """Return the value of each wording, the mean with its intervals, the standard deviation, the differences.

        Of numbers of worked examples the values and the differences.
        """
        plain, given = parse_statistic(self.name)
        said, about = {"of": plain, **given}, {"dataset": self.dataset, "view": self.view}
        unit, over = self._unit, self.measured

        def estimate(name: str, value: float, interval: Interval, subject: str, **params: str) -> Estimate:
            named = statistic_name(name, **said, **params)
            result = Estimate(named, value, interval, over.n, over.n_groups, note=self.note, unit=unit)
            return result.about(subject=subject, **about)

        values = [
            estimate(f"{self.factor}_value", value, interval, subject)
            for subject, value, interval in zip(self.subjects.values(), over.values, over.intervals, strict=True)
        ]
        if self.factor == SHOTS:
            return (*values, *(contrast.about(**about) for contrast in self._named_contrasts(said)))
        return (
            *values,
            estimate("wording_mean", over.mean, over.over_wordings, self.subject, over="wordings"),
            estimate("wording_mean", over.mean, over.over_items, self.subject, over="items"),
            estimate("wording_mean", over.mean, over.over_both, self.subject, over="wordings_and_items"),
            estimate("wording_sd", over.sd, NO_INTERVAL, self.subject),
            *(contrast.about(**about) for contrast in self._named_contrasts(said)),
        )

    @property
    def values(self) -> dict[str, float]:
        """The value in each wording, by the name of the wording."""
        return dict(zip(self.subjects, self.measured.values, strict=True))

    def rank_of(self, wording: str) -> str:
        """Return ``lowest`` or ``highest`` for a wording with that value, also if several have it; else nothing."""
        lowest, highest = _extremes(self.values)
        if not lowest or wording not in (*lowest, *highest):
            return ""
        return "lowest" if wording in lowest else "highest"

    def extremes(self) -> str:
        """Return the sentence that names the wordings with the lowest and the highest value."""
        form = BOUNDED if self._unit else _FREE
        where = f", view {self.view}" if self.view not in ("", "full") else ""
        lead = f"{words_of(self.name)} of {self.subject}{where}"
        lowest, highest = _extremes(self.values)
        if not lowest:
            return f"{lead}: the same in every wording ({format_number(self.measured.mean, form)})."
        low, high = (format_number(self.values[names[0]], form) for names in (lowest, highest))
        return f"{lead}: lowest in {' and '.join(lowest)} ({low}), highest in {' and '.join(highest)} ({high})."

    @property
    def _unit(self) -> str:
        plain, given = parse_statistic(self.name)
        return "correlation" if given.get("with") else "share" if plain in ("accuracy", "auc") else ""

    def _named_contrasts(self, said: Mapping[str, str]) -> Sequence[Contrast]:
        wording_of = {subject: wording for wording, subject in self.subjects.items()}
        named = []
        for contrast in self.contrasts:
            pair = [wording_of[side.subject] for side in contrast.pair]
            name = statistic_name(f"{self.factor}_difference", **said)
            named.append(contrast.about(name=name, subject=self.subject, condition=" − ".join(pair)))
        return named


def wordings_part(worded: Sequence[WordedStatistic]) -> Part:
    """Return what a report says of wordings: a table of values and means, one of differences with Holm's p."""
    if not worded:
        return Part()
    results = {id(entry): entry.results() for entry in worded}
    levels, differences = list[_WordingRow](), list[_WordingRow]()
    for entry in worded:
        records = [record for result in results[id(entry)] for record in result.records()]
        n = len(entry.subjects)
        means = [(f"mean of {n} wordings", over) for over in ("wordings", entry.units, f"wordings and {entry.units}")]
        labels = [*((wording, entry.units) for wording in entry.subjects), *means, ("SD between wordings", "")]
        levels += [
            _WordingRow(entry, label, over, record) for (label, over), record in zip(labels, records, strict=False)
        ]
        differences += [_WordingRow(entry, record.condition, entry.units, record) for record in records[len(labels) :]]
    shown = _shown_columns(levels, "Wording") | _columns_that_differ(worded, "Subject", "Dataset", "View")
    compared = {**shown, ("p", P_VALUE): lambda row: row.record.p}
    shown["Of the wordings"] = lambda row: row.entry.rank_of(row.label)
    models = ", ".join(dict.fromkeys(entry.subject for entry in worded))
    tables = [
        table_of("wordings", f"The statistic in each wording, and over wordings: {models}", levels, shown),
        table_of("wording_differences", f"Paired differences of wordings: {models}", differences, compared),
    ]
    return with_adjusted_p(part_of(ABOUT, [entry.extremes() for entry in worded], list(results.values()), tables))


def shots_part(measured: Sequence[WordedStatistic]) -> Part:
    """Return what a report says of worked examples: the value with each number, and the paired differences."""
    if not measured:
        return Part()
    results = {id(entry): entry.results() for entry in measured}
    levels, differences = list[_WordingRow](), list[_WordingRow]()
    for entry in measured:
        records = [record for result in results[id(entry)] for record in result.records()]
        n = len(entry.subjects)
        named = zip(entry.subjects, records[:n], strict=True)
        levels += [_WordingRow(entry, label, entry.units, record) for label, record in named]
        differences += [_WordingRow(entry, record.condition, entry.units, record) for record in records[n:]]
    shown: dict[Head, Callable[[_WordingRow], Cell]] = {"Subject": lambda row: row.entry.subject}
    shown |= _shown_columns(levels, "Worked examples") | _columns_that_differ(measured, "Dataset", "View")
    compared = {**shown, ("p", P_VALUE): lambda row: row.record.p}
    tables = [
        table_of("shots", "The statistic with each number of worked examples", levels, shown),
        table_of("shots_differences", "Paired differences: more worked examples minus fewer", differences, compared),
    ]
    return with_adjusted_p(part_of(ABOUT_SHOTS, list(results.values()), tables))


def _shown_columns(levels: Sequence[_WordingRow], level: str) -> dict[Head, Callable[[_WordingRow], Cell]]:
    """The columns of a table of values, one row for each *level* of what was varied."""
    bounded = {row.record.unit for row in levels} <= {"correlation", "share"}
    return {
        "Statistic": lambda row: words_of(row.entry.name),
        level: lambda row: row.label,
        ("Value [95 % interval]", BOUNDED if bounded else _FREE): lambda row: record_cell(row.record),
        "Interval over": lambda row: row.over,
        ("n", INTEGER): lambda row: row.record.n,
    }


def _columns_that_differ(entries: Sequence[WordedStatistic], *heads: str) -> dict[Head, Callable[[_WordingRow], Cell]]:
    """The columns of what the statistics are of, those of *heads* in which they differ."""
    several = (head for head in heads if len({getattr(entry, head.lower()) for entry in entries}) > 1)
    return {head: partial(_about_entry, head.lower()) for head in several}


def own_statistics_part(
    records: Sequence[Record], wordings: Mapping[str, Mapping[str, str]], shown: Sequence[WordedStatistic]
) -> Part:
    """Return the mean over wordings, and the SD between them, of the statistics that a study itself has of each.

    *records* are the study's, *wordings* the ids of each model by wording. They are the statistics with an interval of
    all wordings of a model; those of *shown* are excluded. The interval is over wordings, by t, on these items.
    """
    known = {(entry.name, entry.subject) for entry in shown}
    results, rows = list[Estimate](), list[_OwnRow]()
    for subject, ids in wordings.items():
        by_place: dict[tuple[object, ...], dict[str, Record]] = {}
        for record in records:
            if record.subject in ids.values() and record.low is not None and (record.statistic, subject) not in known:
                place = (record.statistic, record.layer, record.condition, record.view, record.dataset)
                by_place.setdefault(place, {})[record.subject] = record
        for of_wording in by_place.values():
            kept = {wording: of_wording[name].value for wording, name in ids.items() if name in of_wording}
            values = {wording: value for wording, value in kept.items() if value is not None}
            if len(values) < len(ids):
                continue
            results += (pair := _own_estimates(next(iter(of_wording.values())), subject, list(values.values())))
            rows.append(_OwnRow(next(iter(of_wording.values())).statistic, pair[0], values, pair[1].value))
    if not rows:
        return Part()
    cells: dict[Head, Callable[[_OwnRow], Cell]] = {
        "Statistic": lambda row: words_of(row.statistic),
        "Condition": lambda row: row.mean.condition,
        ("Mean [95 % interval over wordings]", _FREE): lambda row: record_cell(row.mean.records()[0]),
        ("SD", _FREE): lambda row: row.sd,
        ("Lowest", _FREE): lambda row: min(row.values.values()),
        "Lowest in": lambda row: ", ".join(_extremes(row.values)[0]),
        ("Highest", _FREE): lambda row: max(row.values.values()),
        "Highest in": lambda row: ", ".join(_extremes(row.values)[1]),
    }
    if len(wordings) > 1:
        cells["Subject"] = lambda row: row.mean.subject
    title = "The study's own statistics over wordings: " + ", ".join(wordings)
    return part_of(results, table_of("wording_statistics", title, rows, cells))


def _own_estimates(record: Record, subject: str, values: Sequence[float]) -> tuple[Estimate, Estimate]:
    """Return the mean of a statistic over wordings, and its SD, about what the record of one wording is about."""
    name, inner = parse_statistic(record.statistic)
    # the statistic may be one of something itself
    given = {f"its_{key}" if key in ("of", "over") else key: value for key, value in inner.items()}
    mean, n = fmean(values), len(values)
    without = [(n * mean - value) / (n - 1) for value in values]
    interval = jackknife_interval(mean, without, resampled=WORDINGS)
    about = {"subject": subject, "layer": record.layer, "condition": record.condition, "view": record.view}
    about |= {"dataset": record.dataset, "unit": record.unit}
    return (
        Estimate(statistic_name("wording_mean", of=name, **given, over="wordings"), mean, interval, n).about(**about),
        Estimate(statistic_name("wording_sd", of=name, **given), stdev(values), NO_INTERVAL, n).about(**about),
    )


@dataclass(frozen=True, slots=True)
class _OwnRow:
    """A statistic of the study over wordings: its name, its mean, the value of each wording, their SD."""

    statistic: str
    mean: Estimate
    values: Mapping[str, float]
    sd: float


@dataclass(frozen=True, slots=True)
class _WordingRow:
    """A row of a table: of which statistic, which wording or mean, what its interval is over, and the number."""

    entry: WordedStatistic
    label: str
    over: str
    record: Record


def _extremes(values: Mapping[str, float]) -> tuple[list[str], list[str]]:
    """Return the wordings with the lowest value and those with the highest; none if all values are the same."""
    low, high = min(values.values()), max(values.values())
    if low == high:
        return [], []
    return [name for name, value in values.items() if value == low], [n for n, v in values.items() if v == high]


def _about_entry(name: str, row: _WordingRow) -> str:
    return str(getattr(row.entry, name))
