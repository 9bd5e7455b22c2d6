"""Open against ended stories, and a model before and after it was trained on ratings (§5.3, Table 7)."""

from __future__ import annotations

from collections.abc import Sequence

from lexiscope.analysis.story_effects import AccuracyByKind, accuracy_by_kind, open_against_ended
from lexiscope.analysis.tuning import TuningEffect, base_against_tuned
from lexiscope.analysis.within_sd import WithinSd
from lexiscope.core.errors import SpecError, StatisticError
from lexiscope.core.result import Record, statistic_name
from lexiscope.report.part import Part, pick, shown, with_interval
from lexiscope.report.tables import INTEGER, P_VALUE, Column, Table
from lexiscope.report.tables import Cell as TableCell
from lexiscope.studies.ambistory.data import ALL, AmbistoryData, Predictor
from lexiscope.studies.ambistory.models import (
    FEWEST_WORDS,
    INTEGER_FORM,
    ROUNDED_FORM,
    WRONG_FORMS,
    accuracy_record,
    few,
)
from lexiscope.studies.ambistory.numbers import THREE, record

KINDS = ("all", "open", "ended")


def open_or_ended(run: AmbistoryData) -> Part:
    """Return whether people disagree more about open stories, and how accurate subjects are on either (Table 7)."""
    if run.people is None:
        return Part()
    records, rows = [], []
    for condition in dict.fromkeys((ALL, *run.splits())):
        ratings = run.rated(run.in_split(condition))
        if ratings is None:
            continue
        try:
            found = open_against_ended(ratings, run.places)
        except StatisticError:
            continue
        for kind, mean in (("open", found.open_sd), ("ended", found.ended_sd)):
            records.append(record(run, "kind_mean_sd(ddof=1)", mean, condition=f"{condition}, {kind}"))
        name = "rank_sum(of=sd,between=open_and_ended)"
        test = found.test
        records.append(record(run, name, test.statistic, condition=condition, p=test.p, n=sum(test.n)))
        records.append(record(run, f"{name[:-1]},value=p)", test.p, condition=condition, n=sum(test.n)))
        plain = found.p_without_ties
        records.append(record(run, f"{name[:-1]},ties=ignored,value=p)", plain, condition=condition, n=sum(test.n)))
        rows.append((condition, found.open_sd, found.ended_sd, test.statistic, test.p, plain))
    columns = (
        Column("Samples of"),
        Column("Mean SD, open", THREE),
        Column("Mean SD, ended", THREE),
        Column("U", INTEGER),
        Column("p", P_VALUE, note="Wilcoxon's rank-sum test, two-sided, corrected for ties and continuity."),
        Column("p, ties ignored", P_VALUE, note="Without either correction, as some programs print it; too large."),
    )
    spread = Table("open_ended_sd", "", "Do people disagree more about open stories?", columns, tuple(rows))
    accuracies = _accuracies(run)
    return Part((*records, *accuracies.records), (spread, *accuracies.tables))


def _accuracies(run: AmbistoryData) -> Part:
    ratings = run.judged
    subjects = {each.subject: each.whole for each in run.predictors if _answers_both(run, each)}
    if ratings is None or not subjects:
        return Part()
    args = few(run, ratings)
    found = accuracy_by_kind(subjects, ratings, run.places, **args)
    wrong = accuracy_by_kind(subjects, ratings, run.places, unread="wrong", **args)
    forms = {each.subject: INTEGER_FORM if each.form == "integer" else ROUNDED_FORM for each in run.predictors}
    by_id = {each.subject: each for each in run.predictors}
    records: list[Record] = []
    rows = []
    for row, strict in zip(found, wrong, strict=True):
        own = _kind_records(run, row, forms[row.subject])
        other = _kind_records(run, strict, WRONG_FORMS[forms[row.subject]])
        # the first, over all stories, is a record of the results already
        records += own[1:] + other[1:]
        each = by_id[row.subject]
        rows.append((each.title, each.read_of_asked, *map(shown, own), *map(shown, other)))
    columns = (
        Column("Subject"),
        Column("Read / asked"),
        *(Column(kind, THREE) for kind in KINDS),
        *(Column(f"{kind}, unread as wrong", THREE) for kind in KINDS),
    )
    note = (
        "Whole predictions; others rounded, halves up. Over samples with a readable reply (read / asked); then with "
        "the others as wrong. 95 % interval, words resampled."
    )
    table = Table(
        "table_7_open_ended", "7", "Accuracy within SD on open and ended stories", columns, tuple(rows), (note,)
    )
    return Part(tuple(records), (table,))


def _kind_records(run: AmbistoryData, row: AccuracyByKind, name: str) -> list[Record]:
    return [
        accuracy_record(run, name, part, subject=row.subject, condition=f"{run.split}, {kind}")
        for kind, part in _parts(row)
    ]


def _parts(row: AccuracyByKind) -> tuple[tuple[str, WithinSd], ...]:
    return ("all", row.everything), ("open", row.open), ("ended", row.ended)


def _answers_both(run: AmbistoryData, each: Predictor) -> bool:
    """Whether it answered open and ended stories of two words or more: of one there is nothing to resample."""
    words: dict[str, set[str]] = {"open": set(), "ended": set()}
    for item, value in each.predictions.items():
        if value is not None:
            words[run.kinds[item]].add(run.words[item])
    return all(len(own) >= FEWEST_WORDS for own in words.values())


# -- before and after training --------------------------------------------------------------------------------


def tuning(run: AmbistoryData) -> Part:
    """Return the signed-rank test of every pair of subjects that the settings name: base and tuned (§5.3.2).

    Errors: :class:`SpecError` where a pair names a subject that gave no ratings.
    """
    if not run.settings.compare or run.judged is None:
        return Part()
    ratings = run.judged
    records: list[Record] = []
    rows = []
    for pair in run.settings.compare:
        tuned, base = (_named(run, spec) for spec in pair)
        named = f"{tuned.subject} vs {base.subject}"
        try:
            found = base_against_tuned(base.whole, tuned.whole, ratings, **few(run, ratings))
        except StatisticError as error:
            note = f"undefined: {error.what}"
            records.append(record(run, "signed_rank", None, subject=named, condition=run.split, note=note))
            continue
        own = _tuning_records(run, found, named)
        records += own
        rows.append(_tuning_row(found, base, tuned, own))
    columns = (
        Column("Base"),
        Column("Tuned"),
        Column("Mean error, base", THREE),
        Column("Mean error, tuned", THREE),
        Column("V", INTEGER),
        Column("p", P_VALUE, note="Wilcoxon's signed-rank test of the absolute errors, two-sided."),
        Column("Accuracy, tuned − base", THREE),
        Column("n", INTEGER),
    )
    note = "Whole predictions; others rounded, halves up. Samples that both predicted; 95 % interval, words resampled."
    return Part(tuple(records), (Table("tuning", "", "Before and after training", columns, tuple(rows), (note,)),))


def _named(run: AmbistoryData, spec: str) -> Predictor:
    found = [each for each in run.predictors if spec in (each.subject, each.title)]
    # device and threads are added to a spec before it is asked
    found = found or [each for each in run.predictors if each.subject.startswith(spec.partition("?")[0])]
    if len(found) != 1:
        known = ", ".join(each.subject for each in run.predictors) or "none"
        raise SpecError(f"{spec!r} names no subject of this run to compare", hint=f"there are: {known}")
    return found[0]


def _tuning_records(run: AmbistoryData, found: TuningEffect, pair: str) -> list[Record]:
    about = {"subject": pair, "condition": run.split, "n": found.n}
    errors = (("base", found.base_error), ("tuned", found.tuned_error))
    difference = record(run, "accuracy_difference(of=tuned_minus_base)", found.within_sd.difference, **about)
    return [
        *(record(run, statistic_name("mean_absolute_error", of=name), value, **about) for name, value in errors),
        record(run, "signed_rank", found.test.statistic, p=found.test.p, **about),
        with_interval(difference, found.within_sd.interval),
    ]


def _tuning_row(found: TuningEffect, base: Predictor, tuned: Predictor, own: Sequence[Record]) -> tuple[TableCell, ...]:
    difference = shown(pick(own, "accuracy_difference(of=tuned_minus_base)"))
    errors = (found.base_error, found.tuned_error)
    return (base.title, tuned.title, *errors, found.test.statistic, found.test.p, difference, found.n)


def kind_words(records: Sequence[Record]) -> str:
    """Return the rank-sum test on everything that was rated, in words."""
    found = pick(records, "rank_sum(of=sd,between=open_and_ended)", condition=ALL)
    return "" if found is None or found.p is None else f"SDs of open against ended stories: p = {found.p:.3f}"


def tuning_words(records: Sequence[Record]) -> str:
    """Return the signed-rank test of every pair, in words."""
    found = [one for one in records if one.statistic == "signed_rank" and one.p is not None]
    return "; ".join(f"{one.subject}: V = {one.value:.0f}, p = {one.p:.2g}" for one in found)
