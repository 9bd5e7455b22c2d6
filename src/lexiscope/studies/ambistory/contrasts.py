"""What brings a model closer to people (§5.2, §5.3): training on ratings, worked examples in the prompt, size."""

from __future__ import annotations

from collections.abc import Sequence

from lexiscope.analysis.norms.label_distribution import label_shift
from lexiscope.analysis.norms.predictions import Predictor, rounded
from lexiscope.analysis.norms.story_effects import contrast_of_predictions, trend_with_size
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, Record, Undefined, statistic_name
from lexiscope.report.part import Part, part_of
from lexiscope.report.pivot import Col, PivotRow, pivot, rows_of
from lexiscope.report.presenting import adjusted_in_words
from lexiscope.report.tables import INTEGER, P_VALUE
from lexiscope.studies.ambistory.data import PERCENT, THREE, TWO, AmbistoryData

Pairs = Sequence[tuple[Predictor, Predictor]]
TRAINING, SHOTS = ("base", "tuned"), ("zero", "few")
SIZE_TREND = "spearman(of=n_parameters,with={of})"
_SIGNED_RANK = "signed_rank(of={of})"


def tuning(run: AmbistoryData) -> tuple[Part | None, ...]:
    """Return what training on ratings does to errors and to labels, for every pair of base and tuned subject (§5.3).

    Errors: :class:`SpecError` where a pair names a subject that gave no ratings.
    """
    title = "Before and after training"
    return _contrasts(run, run.trained_pairs, TRAINING, "tuning", title), _label_shifts(run)


def worked_examples(run: AmbistoryData) -> tuple[Part | None, ...]:
    """Return what worked examples do to the errors of every model that was asked without and with them (§5.2)."""
    title = "Without and with worked examples"
    contrasts = _contrasts(run, run.shot_pairs, SHOTS, "worked_examples", title)
    if contrasts is None:
        return (None,)
    differences = [record for record in contrasts.records if record.statistic == _difference(SHOTS)]
    counts = {
        "closer": sum((record.low or 0.0) > 0 for record in differences),
        "further": sum((record.high or 0.0) < 0 for record in differences),
    }
    records = [
        run.number(f"n_contrasts(of=few_minus_zero,outcome={outcome})", count, condition=run.split, n=len(differences))
        for outcome, count in counts.items()
    ]
    text = (
        f"Of {len(differences)} models {counts['closer']} are more accurate with examples, {counts['further']} less "
        "accurate (intervals without 0); the others do not differ."
    )
    return contrasts, part_of(records, text)


def size(run: AmbistoryData) -> Part | None:
    """Return whether larger models are closer to people, among those with the same worked examples (§5.2)."""
    ratings = run.asked_ratings
    if ratings is None:
        return None
    words = run.resampling_of(run.words, ratings.item_ids)
    results: list[Estimate | Undefined] = []
    for shots, subjects in run.sized.items():
        sizes = [run.described[subject.subject].parameters or 0.0 for subject in subjects]
        condition = f"{run.split}, {shots} shots"
        results += run.about_all(trend_with_size(subjects, sizes, ratings, **words), condition=condition)
    heads = {"accuracy_within_sd": "accuracy", "spearman": "ρ with people"}
    columns = [
        column
        for of, what in heads.items()
        for column in (
            Col(f"ρ of size and {what}", SIZE_TREND.format(of=of), TWO),
            Col(f"p, {what}", SIZE_TREND.format(of=of), P_VALUE, "p"),
        )
    ]
    columns.append(Col("Models", SIZE_TREND.format(of="accuracy_within_sd"), show="n"))
    note = (
        "Spearman's ρ over models; p of the permutation test over models (exact up to 8). 95 % interval: words "
        "resampled, so it says nothing about other models."
    )
    rows, title = rows_of(results, "condition"), "Are larger models closer to people?"
    table = pivot("size_trend", title, results, columns, rows, labels=("Samples of",), notes=(note,))
    return part_of(results, table)


def tuning_words(_run: AmbistoryData, records: tuple[Record, ...]) -> str:
    """Return the signed-rank test of every pair of base and tuned model, in words."""
    return _tests_in_words(records, TRAINING)


def example_words(_run: AmbistoryData, records: tuple[Record, ...]) -> str:
    """Return the signed-rank test of every model without and with worked examples, in words."""
    return _tests_in_words(records, SHOTS)


def _tests_in_words(records: Sequence[Record], sides: tuple[str, str]) -> str:
    name = _SIGNED_RANK.format(of=f"{sides[1]}_minus_{sides[0]}")
    texts = []
    for test in records:
        if test.statistic == name and test.p is not None:
            adjusted = adjusted_in_words(test.p_adjusted, test.family)
            texts.append(", ".join(filter(None, (f"{test.subject}: V = {test.value:.0f}, p = {test.p:.2g}", adjusted))))
    return "; ".join(texts)


def _difference(sides: tuple[str, str]) -> str:
    return statistic_name("accuracy_difference", of=f"{sides[1]}_minus_{sides[0]}")


def _contrasts(run: AmbistoryData, pairs: Pairs, sides: tuple[str, str], name: str, title: str) -> Part | None:
    """Return the errors of both sides of every pair, with the test of their difference (§5.3.2)."""
    ratings = run.asked_ratings
    if ratings is None or not pairs:
        return None
    words, (first, second) = run.resampling_of(run.words, ratings.item_ids), sides
    of = f"{second}_minus_{first}"
    test, results, rows = _SIGNED_RANK.format(of=of), list[Estimate | Undefined](), []
    for pair in pairs:
        about = {"subject": f"{pair[1].subject} vs {pair[0].subject}", "condition": run.split}
        try:
            effects = contrast_of_predictions(pair[0].whole, pair[1].whole, ratings, sides=sides, **words)
        except StatisticError as error:
            results.append(run.about(Undefined(test, error.what), **about))
            continue
        results += run.about_all(effects, **about)
        rows.append(PivotRow((pair[0].title, pair[1].title), about))
    columns = (
        *(Col(f"Mean error, {side}", f"mean_absolute_error(of={side})", THREE) for side in sides),
        Col("V", test, INTEGER, "value"),
        Col("p", test, P_VALUE, "p", note="Wilcoxon's signed-rank test of the absolute errors, two-sided."),
        Col(f"Accuracy, {second} − {first}", _difference(sides), THREE),
        Col(f"ρ, {second} − {first}", f"spearman_difference(of={of})", THREE),
        Col("Samples", test, show="n"),
    )
    note = "Whole predictions; others rounded, halves up. Samples that both predicted; 95 % interval, over words."
    labels = (first.capitalize(), second.capitalize())
    return part_of(results, pivot(name, title, results, columns, rows, labels=labels, notes=(note,)))


def _label_shifts(run: AmbistoryData) -> Part | None:
    """Return how training moves the labels of a subject towards those of people (Table 6)."""
    ratings = run.asked_ratings
    if ratings is None:
        return None
    words = run.resampling_of(run.words, ratings.item_ids)
    people = dict(zip(ratings.item_ids, rounded(ratings.means()).tolist(), strict=True))
    test, results, rows = "marginal_homogeneity(of=tuned_minus_base)", list[Estimate | Undefined](), []
    for base, tuned in run.trained_pairs:
        about = {"subject": f"{tuned.subject} vs {base.subject}", "condition": run.split}
        try:
            shift = label_shift(base.whole, tuned.whole, people, **words)
        except StatisticError as error:
            results.append(run.about(Undefined(test, error.what), **about))
            continue
        results += run.about_all(shift, **about)
        rows.append(PivotRow((base.title, tuned.title), about))
    columns = (
        *(Col(f"Distance, {side}", f"label_distance(of={side})", PERCENT) for side in TRAINING),
        Col("Tuned − base", "label_distance_difference(of=tuned_minus_base)", PERCENT),
        Col("χ²", test, TWO, "value"),
        Col("p, labels", test, P_VALUE, "p", note="Stuart–Maxwell test: do base and tuned give labels equally often?"),
        Col("Samples", test, show="n"),
    )
    note = (
        "Distance: the percent of labels that would have to change for the distribution to be that of people's rounded "
        "means (total variation). 95 % interval, over words; the test takes samples as independent."
    )
    title, labels = "Labels before and after training, and people's", ("Base", "Tuned")
    table = pivot("label_shift", title, results, columns, rows, labels=labels, notes=(note,)) if rows else None
    return part_of(results, table)
