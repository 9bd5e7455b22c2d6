"""Subjects that rate as people do (chat models and others): their ratings beside people's norms (SAW-C A.4, Figure 12).

The paper gave a chat model the participants' instructions and compared its ratings with the norms: rank correlation,
regression of the norms on rating and sense, and the residuals by sense. The regression here is ordinary least squares
on the norms; a reply that could not be read is left out, counted, and never imputed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexiscope.analysis.agreement import RaterAgreement, model_place
from lexiscope.analysis.correlation import spearman
from lexiscope.analysis.decomposition import residuals_by_condition
from lexiscope.analysis.regression import coefficient_interval, ols
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import StatisticError
from lexiscope.core.reply import MEASURE_REPLY
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Record, statistic_name
from lexiscope.items.recorded_rows import check_ratings
from lexiscope.report.figure_density import Residuals, residual_ridge
from lexiscope.report.figures import Figure, Heading, apa
from lexiscope.report.part import Part, from_estimate, joined, pick, resampling, shown, with_interval
from lexiscope.report.tables import BOUNDED, Column, Format, Missing, Table
from lexiscope.report.tables import Cell as TableCell
from lexiscope.studies.saw_c.material import Flags, Floats, Material
from lexiscope.studies.saw_c.settings import SawCSettings
from lexiscope.studies.saw_c.trials import DIFFERENT, SAME
from lexiscope.tasks.relatedness import SCALE

PARTICIPANT, MEASURE = "participant", "rating"
VIEW = "full"
"""What the participants saw: the sentences as they are. A chat model is asked in this view alone."""

_RHO = "rating_spearman"
_MODEL = "norm~rating+same_sense"
_RESIDUALS = statistic_name("mean_residual", model="norm~rating")


@dataclass(frozen=True, slots=True, eq=False)
class Rated:
    """The ratings of one subject. *Shape:* ``value`` (items,), in the order of the items, NaN where none was read.

    Repetitions are averaged over those that could be read; ``kinds`` counts the replies that could not.
    """

    subject: str
    title: str
    value: Floats
    n_asked: int
    kinds: Mapping[str, int]
    n_pairs: int

    @property
    def n_read(self) -> int:
        """How many of the ``n_pairs`` that were asked have a readable rating."""
        return int((~np.isnan(self.value)).sum())


def raters(material: Material, agreements: Sequence[RaterAgreement], settings: SawCSettings) -> Part:
    """Return the ratings of every live subject that rates, beside people's norms and the agreement of single people."""
    found = [_rated(material, subject) for subject in _subjects(material)]
    if not found or not material.rated.any():
        return Part()
    parts = [_of_subject(material, one, agreements, settings) for one in found]
    records = [record for part in parts for record in part.records]
    tables = (_table(found, agreements, records), *_residual_table(found, records))
    return joined([*parts, Part(tables=tables, figures=_figures(material, found), paragraphs=(_NOTE,))])


_NOTE = (
    "Subjects that rate were asked what people were asked, in the participants' language where the prompt has it. "
    "Their ratings stand beside the norms; single people stand in a column of their own, each against the others."
)


def _subjects(material: Material) -> tuple[str, ...]:
    rows = material.responses.where(measure=MEASURE)
    return tuple(subject for subject in map(str, rows.unique("subject_id")) if subject in material.live)


def _rated(material: Material, subject: str) -> Rated:
    own = material.responses.where(subject_id=subject)
    rows = _in_view(own.where(measure=MEASURE))
    check_ratings(rows, SCALE)
    given: dict[str, list[float]] = {}
    for item, value in zip(rows.column("item_id").tolist(), rows.column("value").tolist(), strict=True):
        given.setdefault(item, []).append(value)
    means = {item: _mean([value for value in values if not np.isnan(value)]) for item, values in given.items()}
    value = np.array([means.get(item.item_id, np.nan) for item in material.items])
    replies = _in_view(own.where(measure=MEASURE_REPLY))
    kinds = Counter(str(kind) for kind in replies.column("option").tolist() if kind != "ok")
    lost = int(np.isnan(rows.column("value").astype(np.float64)).sum()) - sum(kinds.values())
    if lost > 0:
        kinds["without a value"] += lost
    facts = _facts(material, subject)
    return Rated(subject, facts.title or subject, value, len(rows), dict(sorted(kinds.items())), len(given))


def _facts(material: Material, subject: str) -> SubjectFacts:
    return next((fact for fact in material.live_facts if fact.subject_id == subject), SubjectFacts(subject))


def _in_view(rows: ResponseTable) -> ResponseTable:
    """The rows of the view that people saw; those of the first view where that one was not asked."""
    views = rows.unique("view")
    return rows if len(views) < 2 else rows.where(view=VIEW if VIEW in views else views[0])


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


# -- numbers --------------------------------------------------------------------------------------------------


def _of_subject(material: Material, one: Rated, agreements: Sequence[RaterAgreement], settings: SawCSettings) -> Part:
    both = material.rated & ~np.isnan(one.value)
    base: dict[str, Any] = {"subject": one.subject, "dataset": material.name}
    records = [
        Record("n_asked", float(one.n_asked), **base),
        Record("n_unreadable", float(sum(one.kinds.values())), **base),
        Record("n_items_asked", float(one.n_pairs), **base),
        Record("n_items_read", float(one.n_read), **base),
    ]
    for kind, count in one.kinds.items():
        records.append(Record(statistic_name("n_unreadable", kind=kind.replace(" ", "_")), float(count), **base))
    try:
        records += list(_numbers(material, one, both, agreements, settings))
    except StatisticError as error:
        records.append(Record(_RHO, None, n=int(both.sum()), note=f"undefined: {error.what}", **base))
    return Part(tuple(records))


def _numbers(
    material: Material, one: Rated, both: Flags, agreements: Sequence[RaterAgreement], settings: SawCSettings
) -> Iterator[Record]:
    base: dict[str, Any] = {"subject": one.subject, "dataset": material.name}
    words = [word for word, usable in zip(material.words, both.tolist(), strict=True) if usable]
    boot = resampling(words, settings)
    found = spearman(one.value[both], material.norm[both], **boot)
    yield from_estimate(found, Record(_RHO, found.value, **base))
    for agreement in agreements:
        place = model_place(agreement, found.value)
        note = f"{place.n_below} of {place.n_raters} raters are below ρ = {found.value:.4f}"
        yield with_interval(Record(place.name, place.value, n=place.n_raters, note=note, **base), place.interval)
    if material.same is None or len(set(material.same[both].tolist())) < 2:
        return
    yield from _regression(one, material.norm[both], material.same[both], both, base)
    labels = _labels(material.same[both])
    report = residuals_by_condition(material.norm[both], one.value[both], ["rating"], labels, **boot)
    for entry in report.conditions:
        condition = f"same_sense={entry.condition == SAME}"
        yield from_estimate(entry.mean, Record(_RESIDUALS, 0.0, condition=condition, unit="rating", **base))


def _regression(one: Rated, norm: Floats, same: Flags, both: Flags, base: Mapping[str, Any]) -> Iterator[Record]:
    """The regression of norms on rating and sense, as A.4.2 reports one."""
    predictors = np.column_stack([one.value[both], same.astype(float)])
    fit = ols(norm, predictors, ["rating", "same_sense"])
    for term in ("rating", "same_sense"):
        coefficient = fit.coefficient(term)
        name = statistic_name("coefficient", term=term, model=_MODEL)
        record = Record(name, coefficient.estimate, n=len(norm), p=coefficient.p, note="ordinary least squares", **base)
        yield with_interval(record, coefficient_interval(fit, term))
        yield Record(
            statistic_name("standard_error", term=term, model=_MODEL), coefficient.standard_error, n=len(norm), **base
        )


def _labels(same: Flags) -> list[str]:
    return [SAME if each else DIFFERENT for each in same.tolist()]


# -- tables and figure ----------------------------------------------------------------------------------------


def _table(found: Sequence[Rated], agreements: Sequence[RaterAgreement], records: Sequence[Record]) -> Table:
    columns = (
        Column("Subject"),
        Column("ρ with the norms", BOUNDED, note="95 % interval, words resampled."),
        *(Column(f"Raters below, {_words(each)}", BOUNDED, note=_BELOW) for each in agreements),
        Column("b of rating (SE)", note="Ordinary least squares of the norms on rating and same sense."),
        Column("b of same sense (SE)"),
        Column("Read / asked", note="Pairs with a readable rating, of those asked: all numbers are over the former."),
        Column("Replies not read"),
    )
    rows = [_row(one, agreements, records) for one in found]
    notes = tuple(f"Single people, {_words(each)}: mean ρ with the norms {apa(each.mean)}." for each in agreements)
    title = "Ratings of subjects beside people's norms"
    return Table("figure_12_ratings", "", title, columns, tuple(rows), notes)


_BELOW = "Share of single people whose ρ with the norms is below the subject's; 95 % interval (Wilson)."


def _words(agreement: RaterAgreement) -> str:
    return {"leave_one_out": "true leave-one-out", "included": "own rating included"}[agreement.variant]


def _row(one: Rated, agreements: Sequence[RaterAgreement], records: Sequence[Record]) -> tuple[TableCell, ...]:
    own = [record for record in records if record.subject == one.subject]
    rho = pick(own, _RHO)
    places = [
        shown(pick(own, statistic_name("raters_below_model", among=each.variant, method=each.method)))
        for each in agreements
    ]
    terms = [_estimate(own, term) for term in ("rating", "same_sense")]
    lost = "; ".join(f"{kind.replace('_', ' ')} {count}" for kind, count in one.kinds.items()) or "0"
    return (one.title, shown(rho), *places, *terms, f"{one.n_read} / {one.n_pairs}", lost)


def _estimate(own: Sequence[Record], term: str) -> TableCell:
    estimate = pick(own, statistic_name("coefficient", term=term, model=_MODEL))
    se = pick(own, statistic_name("standard_error", term=term, model=_MODEL))
    if estimate is None or se is None or estimate.value is None or se.value is None:
        return Missing("No sense of the pairs is known, or no regression could be fitted.")
    return f"{estimate.value:.2f} ({se.value:.2f})".replace("-", "−")


def _residual_table(found: Sequence[Rated], records: Sequence[Record]) -> tuple[Table, ...]:
    conditions = ((SAME, "same_sense=True"), (DIFFERENT, "same_sense=False"))
    rows = []
    for one in found:
        cells = [pick(records, _RESIDUALS, subject=one.subject, condition=name) for _, name in conditions]
        if all(cell is not None for cell in cells):
            rows.append((one.title, *map(shown, cells)))
    columns = (Column("Subject"), *(Column(label, Format("number", 2)) for label, _ in conditions))
    note = "Observed − fitted norm of the regression on the subject's rating; 95 % interval, words resampled."
    title = "What people see beyond a subject's ratings"
    return (Table("rating_residuals", "", title, columns, tuple(rows), (note,)),) if rows else ()


def _figures(material: Material, found: Sequence[Rated]) -> tuple[Figure, ...]:
    ridges = [ridge for one in found if (ridge := _ridge(material, one)) is not None]
    if not ridges:
        return ()
    heading = Heading(
        "figure_12_rating_residuals",
        "12",
        "What people see beyond a subject's ratings: residuals by sense",
        "Residuals of the regression of the norms on the subject's ratings.",
    )
    return (residual_ridge(ridges, heading, order=(SAME, DIFFERENT)),)


def _ridge(material: Material, one: Rated) -> Residuals | None:
    both = material.rated & ~np.isnan(one.value)
    if material.same is None or len(set(material.same[both].tolist())) < 2:
        return None
    labels = _labels(material.same[both])
    try:
        report = residuals_by_condition(material.norm[both], one.value[both], ["rating"], labels, resamples=0)
    except StatisticError:
        return None
    return Residuals(one.title, report.fit.residuals, np.array(labels))
