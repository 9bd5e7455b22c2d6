"""What brings a model closer to people (§5.2, §5.3): training on ratings, worked examples in the prompt, size."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from lexiscope.analysis.norms.label_distribution import label_shift
from lexiscope.analysis.norms.predictions import rounded
from lexiscope.analysis.norms.variants import Pair, contrast_of_predictions, contrasts_of_pairs, trend_with_size
from lexiscope.report.part import Part, part_of
from lexiscope.report.parts.variant_tables import (
    contrasts_table,
    label_shifts_table,
    size_trends_table,
)
from lexiscope.studies.ambistory.data import AmbistoryData

TRAINING, SHOTS = ("base", "tuned"), ("zero", "few")


def tuning(run: AmbistoryData) -> tuple[Part | None, ...]:
    """Return what training on ratings does to errors and to labels, for every pair of base and tuned subject (§5.3).

    Errors: :class:`SpecError` where a pair names a subject that gave no ratings.
    """
    title = "Before and after training"
    return _contrasts(run, run.trained_pairs, TRAINING, "tuning", title), _label_shifts(run)


def worked_examples(run: AmbistoryData) -> tuple[Part | None, ...]:
    """Return what worked examples do to the errors of every model that was asked without and with them (§5.2)."""
    title = "Without and with worked examples"
    contrasts = _contrasts(run, run.variants.shot_pairs, SHOTS, "worked_examples", title)
    if contrasts is None:
        return (None,)
    differences = [
        record for record in contrasts.records if record.statistic == "accuracy_difference(of=few_minus_zero)"
    ]
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
    ratings, variants = run.asked_ratings, run.variants
    if ratings is None:
        return None
    results = []
    for shots, subjects in variants.sized.items():
        sizes = [variants.described[subject.subject].parameters or 0.0 for subject in subjects]
        trends = trend_with_size(subjects, sizes, ratings, **run.asked_words)
        results += run.about_all(trends, condition=f"{run.split}, {shots} shots")
    return part_of(results, size_trends_table(results))


def _contrasts(run: AmbistoryData, pairs: Sequence[Pair], sides: tuple[str, str], name: str, title: str) -> Part | None:
    """Return the errors of both sides of every pair, with the test of their difference (§5.3.2)."""
    ratings = run.asked_ratings
    if ratings is None or not pairs:
        return None
    compare = partial(contrast_of_predictions, ratings=ratings, sides=sides, **run.asked_words)
    compared = contrasts_of_pairs(pairs, compare, f"signed_rank(of={sides[1]}_minus_{sides[0]})")
    results = run.about_all(compared, condition=run.split)
    return part_of(results, contrasts_table(name, title, results, pairs, sides))


def _label_shifts(run: AmbistoryData) -> Part | None:
    """Return how training moves the labels of a subject towards those of people (Table 6)."""
    ratings = run.asked_ratings
    if ratings is None:
        return None
    people = dict(zip(ratings.item_ids, rounded(ratings.means()).tolist(), strict=True))
    compare = partial(label_shift, people=people, **run.asked_words)
    compared = contrasts_of_pairs(run.trained_pairs, compare, "marginal_homogeneity(of=tuned_minus_base)")
    results = run.about_all(compared, condition=run.split)
    return part_of(results, label_shifts_table(results, run.trained_pairs))
