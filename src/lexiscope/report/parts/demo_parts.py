"""The two parts of the demo: does the model separate senses, and does it agree with people?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lexiscope.analysis.agreement.ceilings import counted_in, leave_one_out_rho, mean_squared_rho, squared_mean_rho
from lexiscope.analysis.agreement.raters import leave_one_out
from lexiscope.analysis.bootstrap import GroupLabels
from lexiscope.analysis.layers.layers import RHO as RHO_BY_LAYER
from lexiscope.analysis.layers.layers import r_squared_by_layer, rho_by_layer, separation_by_layer, values_by_layer
from lexiscope.analysis.layers.trajectory import ConditionLayers, distance_by_condition
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.item import SAME_SENSE, Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Curve, Estimate, Interval, Record, Result, parse_statistic, statistic_name
from lexiscope.report.answers.answer import QuestionRule
from lexiscope.report.answers.layers import LayerCurves
from lexiscope.report.answers.numbers import RHO, Numbers, Quantity, pick
from lexiscope.report.answers.one import Named, OneEstimate
from lexiscope.report.answers.results_page import AnsweredQuestion, ResultsPage, with_own_names
from lexiscope.report.answers.sentences import reader_name
from lexiscope.report.answers.subjects import AVERAGE_PERSON, Against, SubjectEstimates
from lexiscope.report.document import Section
from lexiscope.report.figures import Heading, apa
from lexiscope.report.part import record_cell, with_interval
from lexiscope.report.plots.curves import DrawnCurve
from lexiscope.report.plots.layers import distance_by_layer, trajectories
from lexiscope.report.presenting import trajectory_of
from lexiscope.report.tables import BOUNDED, INTEGER, Cell, Column, Format, Table, columns

RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class DemoPart:
    """One part of the demo: its section of the report, its records, and what to say about it in a line or two.

    ``raters`` are the agreements of single raters with the mean of the others.
    """

    section: Section
    records: tuple[Record, ...]
    words: tuple[str, ...]
    raters: tuple[float, ...] = ()

    @property
    def table(self) -> Table:
        """The part's table."""
        return self.section.tables[0]


def number_text(value: float | None, interval: Interval | None = None) -> str:
    """Return a bounded number as the report prints it, with its interval in brackets if it has one.

    >>> number_text(-0.6116), number_text(0.7306, Interval(0.7, 0.75, 0.95, "bootstrap")), number_text(None)
    ('−.61', '.73 [.70, .75]', 'undefined')
    """
    if value is None:
        return "undefined"
    has_ends = interval is not None and interval.is_defined
    return apa(value) + (f" [{apa(interval.low)}, {apa(interval.high)}]" if interval is not None and has_ends else "")


def _records(results: Sequence[Result]) -> list[Record]:
    return [replace(record, analysis="exploratory") for result in results for record in result.records()]


# -- pairs without ratings: does the model keep senses apart? -------------------------------------------------------

SAME, DIFFERENT = "same sense", "different senses"
_DISTANCE = Format("number", 3)


def separation_part(items: Sequence[Item], answers: ResponseTable, *, name: str, seed: int = 0) -> DemoPart:
    """Compare the mean distance of same-sense and different-sense pairs, layer by layer.

    *answers* hold the cosine distances of one subject in one view, *name* what it is called. Intervals resample words.
    Errors: :class:`StatisticError` where all pairs are of one kind.
    """
    subject, view = str(answers.column("subject_id")[0]), str(answers.column("view")[0])
    layers, distance = values_by_layer(answers.where(measure="cosine_distance"), [item.item_id for item in items])
    same = np.array([bool(item.condition(SAME_SENSE)) for item in items])
    words = GroupLabels((item.word for item in items), "words")
    kinds = np.where(same, SAME, DIFFERENT).tolist()
    means = distance_by_condition(distance, kinds, groups=words, resamples=RESAMPLES, seed=seed)
    means = tuple(sorted(means, key=lambda kind: kind.condition != SAME))
    where = {"subject": subject, "dataset": items[0].dataset, "view": view}
    curve = separation_by_layer(distance, same, layers=layers, groups=words, resamples=RESAMPLES, seed=seed)
    curve = curve.about(**where)
    separations = [estimate for layer in layers if isinstance(estimate := curve.estimate(layer), Estimate)]
    best = curve.best_value()
    summary = (
        f"{name} separates the senses best at layer {best.layer}: a pair of different senses is farther apart "
        f"than a pair of the same sense in {number_text(best.value, best.interval)} of the "
        f"comparisons (chance .50; {len(items)} pairs, {len(set(words))} nouns).{_corrected(curve)}",
    )
    text = (
        f"The model read {len(items)} pairs of sentences that share an ambiguous noun; one word of the sentence "
        "decides the sense. These pairs have no human ratings. The best layer is chosen on these pairs, so its "
        "value is somewhat too good; the corrected value is from words that had no part in the choice.",
        *summary,
    )
    records = []
    for column, separation in enumerate(separations):
        records += _records([separation])
        for kind in means:
            mean = Record(
                "mean_cosine_distance",
                float(kind.mean[column]),
                *(subject, items[0].dataset, separation.layer, kind.condition, view),
                n=kind.n,
                analysis="exploratory",
            )
            records.append(with_interval(mean, kind.intervals[column]))
    records += _records([curve.chosen] if curve.chosen else [])
    heading = Heading("distance_by_layer", "1", "Cosine distance of pairs by layer and sense relation.")
    curves = [DrawnCurve.of_condition(subject, layers, kind) for kind in means]
    figure = distance_by_layer(curves, heading, order=(SAME, DIFFERENT))
    table = _separation_table(name, means, separations)
    section = Section("senses", "Does the model separate senses?", text, (table,), (figure,))
    return DemoPart(section, tuple(records), summary)


def _separation_table(name: str, means: Sequence[ConditionLayers], separations: Sequence[Estimate]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for column, separation in enumerate(separations):
        distances = [float(kind.mean[column]) for kind in means]
        rows.append((separation.layer, *distances, *map(record_cell, separation.records())))
    heads = columns(
        ("Layer", INTEGER),
        *((kind.condition.capitalize(), _DISTANCE) for kind in means),
        Column("Separation [95 % CI]", BOUNDED, "right"),
    )
    pairs = " and ".join(f"{kind.n} pairs of {kind.condition}" for kind in means)
    notes = (
        f"Mean cosine distance of {pairs}.",
        "Separation: how often different senses are farther apart (chance .50).",
    )
    title = f"Distance between the vectors of a noun, {name}"
    return Table("senses_by_layer", "1", title, heads, tuple(rows), notes)


# -- the answers of both parts --------------------------------------------------------------------------------------


_SEPARATION = Quantity("", "Separation of senses", (0.0, 1.0))
_CHANCE = Against("chance", value=0.5, kind="chance")
_SENSES = OneEstimate(
    Named(
        "with the layer chosen on other words, the share of comparisons in which different senses are farther apart",
        pick("sense_separation(measure=auc,layer=chosen)"),
        _SEPARATION,
    ),
    against=0.5,
    drawn=LayerCurves(
        "Separation of senses by layer", pick("sense_separation(measure=auc)"), _SEPARATION, against=(_CHANCE,)
    ),
)
_PEOPLE = SubjectEstimates(
    "Agreement of the model and of people with the mean ratings",
    pick(statistic_name(parse_statistic(RHO_BY_LAYER)[0], **parse_statistic(RHO_BY_LAYER)[1], layer="chosen")),
    replace(RHO, sign=-1.0),
    claim="follow people’s ratings",
    against=(AVERAGE_PERSON,),
    raters="raters",
    name="agreement",
)


def demo_page(parts: Sequence[DemoPart], names: Mapping[str, str]) -> ResultsPage | None:
    """Return the Results page of the demo: the senses first, then people where the demo has their ratings."""
    single = {"raters": tuple(value for part in parts for value in part.raters)}
    numbers = Numbers(tuple(record for part in parts for record in part.records), names, single=single)
    rules: tuple[QuestionRule, ...] = (_SENSES, _PEOPLE)
    answers = [(part.section, rule.answer(numbers)) for part, rule in zip(parts, rules, strict=False)]
    (section, top), *others = answers
    if top is None:
        return None
    questions = tuple(
        AnsweredQuestion(f"Q{n}", of.title, of.id.capitalize(), answer, "exploratory")
        for n, (of, answer) in enumerate(others, start=2)
        if answer is not None
    )
    return with_own_names(ResultsPage(section.title, "A first result", "Lexiscope", top, questions))


# -- rated pairs: does the model agree with people? -----------------------------------------------------------------


def agreement_part(
    items: Sequence[Item], answers: ResponseTable, people: ResponseTable, *, name: str, title: str, seed: int = 0
) -> DemoPart:
    """Correlate the model's distances with people's mean ratings, layer by layer, with the ceilings by name.

    *answers* hold the cosine distances of one subject in one view, *name* what it is called, *people* the trials of the
    participants, *title* what the items are called. Intervals over items resample words, those over
    raters resample raters.
    Errors: :class:`StatisticError` where the ratings do not vary.
    """
    subject, view = str(answers.column("subject_id")[0]), str(answers.column("view")[0])
    ratings = Ratings.from_table(people)
    mean_of = dict(zip(ratings.item_ids, ratings.means().tolist(), strict=True))
    rated = [item for item in items if np.isfinite(mean_of.get(item.item_id, np.nan))]
    layers, distance = values_by_layer(answers.where(measure="cosine_distance"), [item.item_id for item in rated])
    norms = [mean_of[item.item_id] for item in rated]
    words = GroupLabels((item.word for item in rated), "words")
    rho, fit = (
        by_layer(distance, norms, layers=layers, groups=words, resamples=RESAMPLES, seed=seed, choice=True).about(
            subject=subject, dataset=items[0].dataset, view=view
        )
        for by_layer in (rho_by_layer, r_squared_by_layer)
    )
    agreement = leave_one_out(ratings, resamples=RESAMPLES, seed=seed)
    squares = mean_squared_rho(agreement)
    ceilings = (leave_one_out_rho(agreement), squared_mean_rho(agreement), squares)
    summary = _agreement_text(name, rho, fit, ceilings[0], len(rated))
    records = _records([curve.estimate(layer) for curve in (rho, fit) for layer in layers])
    records += _records([curve.chosen for curve in (rho, fit) if curve.chosen])
    for ceiling in ceilings:
        of_people = {"subject": "people", "dataset": items[0].dataset, "condition": counted_in(ceiling.name)}
        records += _records([ceiling.about(**of_people)])
    heading = Heading("r_squared_by_layer", "2", "Share of the variance of people's mean ratings, by layer.")
    figure = trajectories([trajectory_of(fit)], heading, statistic="R²", interval="95 % CI, words resampled")
    table = _agreement_table(f"Distances and people's mean ratings, {name} on {title}", rho, fit, ceilings)
    section = Section("people", "Does the model agree with people?", summary, (table,), (figure,))
    single = tuple(float(value) for value in agreement.values if np.isfinite(value))
    return DemoPart(section, tuple(records), summary, single)


def _agreement_text(name: str, rho: Curve, fit: Curve, person: Estimate, n: int) -> tuple[str, ...]:
    best, explained = rho.best_value(), fit.best_value()
    return (
        f"The distances of {name} follow people's mean ratings best at layer {best.layer}: "
        f"ρ = {number_text(best.value, best.interval)} ({n} pairs, {rho.n_groups} words). R² is highest at layer "
        f"{explained.layer}: {number_text(explained.value, explained.interval)}.{_corrected(rho, fit)}",
        f"One person agrees with the mean of the others at ρ = {number_text(person.value, person.interval)} "
        f"({person.n} people). This human ceiling is the value to compare the model with.",
    )


def _corrected(*curves: Curve) -> str:
    """Return a sentence with the values at the best layer, corrected for its having been chosen on the same items."""
    symbols = {"spearman": "ρ = ", "r_squared": "R² = "}
    values = [
        f"{symbols.get(parse_statistic(chosen.name)[0], '')}{number_text(chosen.value, chosen.interval)}"
        for curve in curves
        if isinstance(chosen := curve.chosen, Estimate)
    ]
    layers = "The layer was" if len(curves) == 1 else "Both layers were"
    return f" {layers} chosen on the same pairs; corrected for this choice: {', '.join(values)}." if values else ""


def _agreement_table(title: str, rho: Curve, fit: Curve, ceilings: Sequence[Estimate]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (point.layer, *(record_cell(*curve.estimate(point.layer).records()) for curve in (rho, fit)))
        for point in rho.values
    ]
    heads = columns(
        ("Layer", INTEGER), Column("Spearman's ρ [95 % CI]", BOUNDED, "right"), Column("R² [95 % CI]", BOUNDED, "right")
    )
    notes = ["A negative ρ: a larger distance is associated with less relatedness. R² is the share of variance."]
    people = [
        f"{reader_name(c.name).text} {number_text(c.value, c.interval)} ({c.n} {counted_in(c.name)})" for c in ceilings
    ]
    notes += [f"Human ceilings (Spearman): {'; '.join(people)}."]
    return Table("ratings_by_layer", "2", title, heads, tuple(rows), tuple(notes))
