"""Norms from people and models together: what a model is worth, valid estimates with it, which items people rate next.

``lexiscope norm`` runs it. It follows no paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lexiscope.core.response import holds_simulated
from lexiscope.core.result import Estimate, Record, Undefined
from lexiscope.core.showing import listed
from lexiscope.report.page.simulated import marked_table
from lexiscope.report.page.stored import write_table
from lexiscope.report.part import record_cell
from lexiscope.report.tables import INTEGER, Cell, Format, Missing, Table, columns
from lexiscope.studies.kit.study import Study
from lexiscope.studies.norm import answers, estimates, next_items
from lexiscope.studies.norm.contamination import contamination
from lexiscope.studies.norm.data import DISTRIBUTIONS, RATING_MODELS, NormRun, compared_answers, load_run
from lexiscope.studies.norm.settings import NormSettings

_TARGETS = {
    "list": "Target: the mean of the items of this list. The model's answers to all of them are known, so that their "
    "mean adds no variance (the regression estimator of survey statistics, Särndal et al., 1992).",
    "population": "Target: the mean of a population of which the words of this list are a sample. The model's mean is "
    "one of a sample, and its variance is added (PPI++), with words as the units.",
}


def methods(run: NormRun) -> list[str]:
    """Return how the results were computed."""
    left_out = (
        "words only (jackknife), because it is not published which ratings are of one person"
        if run.card.raters == "columns"
        else "raters, words, and their ratings (jackknife)"
    )
    return [
        "Number needed to beat: the mean of k raters of each item and the model are correlated (Spearman) with the "
        f"mean of the item's other raters, over random draws of the k; intervals leave out {left_out}. "
        "The interval of the number follows from those of the differences.",
        "Alternative annotator test (Calderon et al., 2025): each rater is excluded; the model and the rater are "
        "compared with the remaining raters by root mean squared difference; one-sided t tests with a margin of "
        f"{run.settings.epsilon:g}, Benjamini–Yekutieli at .05.",
        "Prediction-powered inference (Angelopoulos et al., 2023): the model's mean over all items is corrected by its "
        f"mean error on the rated items, with the weight λ of the model tuned. {_TARGETS[run.settings.target]} "
        "Errors of few rated items are corrected for their leverage; quantiles are of Student's t, of contrasts with "
        "Welch's degrees of freedom.",
        "Centaur norms: the mean of people and a prediction from the model, weighted by their errors; the line from "
        "answers to norms and both variances are learnt on the items of other words.",
        "Distributions: people are split into halves at random; the model and the other half are compared with one "
        "half. Divergence adds half a count to each point.",
        "Severity: a cumulative link mixed model (logit) of people's ratings with crossed raters and items; a model's "
        "severity maximises the probability of its ratings on that scale, with thresholds and SDs taken as known.",
        "Contamination: the log-probability of shards of the item file in its published order is compared with ten "
        "other orders of its words (Oren et al., 2023; permutation test over shards); a continuation is verbatim if it "
        "has the first text of the next word's items, compared with those of words half of the file away (McNemar).",
    ]


def _contamination_limit(run: NormRun) -> str:
    """What was tested of contamination, and what a test does not show."""
    tested = run.once(contamination)
    known = {result.subject for result in tested if not isinstance(result, Undefined)}
    others = sorted({result.subject for result in tested} - known)
    texts = []
    if known:
        texts.append(
            f"Contamination was tested for {listed(sorted(known), 5)}. The tests see whether the texts were read in "
            "their published order; a test that finds nothing does not show that they were not read."
        )
    if others:
        texts.append(f"Contamination was not checked for {listed(others, 5)}: that question has the reasons.")
    texts.append("Norms that a model has read in training make it look better than it is on new items.")
    return " ".join(texts)


def limits(run: NormRun) -> list[str]:
    """Return the limits of this run."""
    return [
        _contamination_limit(run),
        "The results hold for these items, these raters, and these answers of the models: another prompt, version or "
        "language is another model.",
        "A number needed to beat, or a passed test, does not make a model a replacement for annotators: it does "
        "not apply to items of another kind, to disagreement among people, or to groups of people.",
    ]


study = Study(
    "norm",
    title=lambda run: f"Norms from people and models: {run.card.title}",
    citation=(),
    headline="How many people is a model worth?",
    methods=methods,
    limits=limits,
    answer=answers.NEEDED,
    mini=NormSettings(dataset="mini_relatedness", subjects=("encoder:minilm", "baseline:word_overlap")),
)
study.run_data(load_run)
study.compared(compared_answers)

_OVERVIEW = {
    "number_needed_to_beat(": "Number needed to beat (people)",
    "winning_rate(": "Alternative annotator test: winning rate (.50 is needed)",
    "advantage_probability(": "Share of items on which it is as close as an annotator",
    "order_advantage(": "Contamination: advantage of the published order (nats per shard)",
    "verbatim_continuations(of=next_item": "Contamination: share of verbatim continuations",
    "ratings_worth": "Ratings per item that the model's prediction is worth",
    "spearman(with=norms)": "Correlation with the mean ratings, ρ",
    "mean_rating(source=people_and_model": "Mean rating, people and model",
    "mean_rating(source=people": "Mean rating, people alone",
    "mean_rating_difference(source=people_and_model": "Difference of means, people and model",
    "mean_rating_difference(source=people": "Difference of means, people alone",
    "width_ratio(of=mean_rating,": "Width of the interval, as a share of people alone",
    "coverage_of_interval(source=people_and_model": "Coverage of these intervals",
    "condition_effect_difference": "Effect of a condition, model minus people",
    "rater_severity(": "Severity on people's ordinal scale (logits; above 0: rates lower)",
    "n_allocated_items": "Items allocated to people",
}
"""What is on the screen, by the beginning of the statistic's name, in its order."""
_FREE, _MOST = Format("number", 2), 40


@study.overview
def overview(records: Sequence[Record], _settings: NormSettings) -> Table:
    """Return the main results of a run on one screen."""
    rows: list[tuple[Cell, ...]] = []
    taken: set[int] = set()
    for start, label in _OVERVIEW.items():
        for place, record in enumerate(records):
            if record.statistic.startswith(start) and place not in taken and len(rows) < _MOST:
                taken.add(place)
                rows.append((f"{label}{answers.details(record)}", record.subject, record_cell(record), record.n))
    heads = columns("Result", "Model", ("Value [95 % interval]", _FREE), ("n", INTEGER))
    return Table("overview", "", "Summary", heads, tuple(rows))


@study.section("The run", section_id="remarks")
def remarks(run: NormRun) -> object:
    """Yield what must be known of the run as a whole."""
    return list(run.main_remarks())


@study.question(
    "How many people is a model worth?", place="Worth", needs=("ratings", RATING_MODELS), answer=answers.NEEDED,
    short="Worth",
)  # fmt: skip
def number_needed(run: NormRun) -> object:
    """Compute the number needed to beat."""
    return estimates.people_and_model(run)


@study.question(
    "Is a model as close to annotators as they are to each other?", place="Worth", needs=("ratings", RATING_MODELS),
    answer=answers.ANNOTATORS, short="Annotators",
)  # fmt: skip
def annotators(run: NormRun) -> object:
    """Make the alternative annotator test."""
    return estimates.annotators(run)


@study.question(
    "Has a model read the items in training?", place="Worth", needs=(RATING_MODELS,), answer=answers.CONTAMINATION,
    short="Contamination",
)  # fmt: skip
def contaminated(run: NormRun) -> object:
    """Test whether models know the order of the items, or continue it word for word."""
    tests = run.once(contamination)
    models = {result.subject for result in tests}
    known = {result.subject for result in tests if not isinstance(result, Undefined)}
    return [run.about(Estimate("n_tested_for_contamination", float(len(known)), n=len(models))), *tests]


@study.question(
    "Where do models differ from people?", place="Worth", needs=("norms", RATING_MODELS), answer=answers.DIFFERENCES,
    short="Differences",
)  # fmt: skip
def differences(run: NormRun) -> object:
    """Compare models with people at each point and in each condition."""
    return estimates.differences(run)


@study.question(
    "Are estimates narrower with a model?", place="Estimates", needs=("norms", RATING_MODELS), answer=answers.POWERED,
    short="Estimates",
)  # fmt: skip
def valid_estimates(run: NormRun) -> object:
    """Estimate means, contrasts and coefficients by prediction-powered inference."""
    return estimates.valid_estimates(run)


@study.question(
    "What are the best norms of single items?", place="Estimates", needs=("ratings", RATING_MODELS),
    answer=answers.CENTAURS, short="Items",
)  # fmt: skip
def centaurs(run: NormRun) -> object:
    """Combine people and models item by item."""
    return estimates.centaurs(run)


@study.question(
    "Do models have people's distribution of ratings?", place="Distributions",
    needs=("ratings", RATING_MODELS, DISTRIBUTIONS),
    answer=answers.DISTRIBUTIONS, short="Distributions",
)  # fmt: skip
def distributions(run: NormRun) -> object:
    """Compare distributions, not means."""
    return estimates.distributions(run)


@study.question(
    "Which items should people rate next?", place="Next", needs=(RATING_MODELS,), answer=answers.NEXT, short="Next"
)
def allocation(run: NormRun) -> object:
    """Allocate people to items, with the stopping rule."""
    return next_items.allocation(run)


@study.writes
def norms(run: NormRun, folder: Path, _records: Sequence[Record]) -> Sequence[str]:
    """Write the centaur norms of all items, and the test of each annotator, as separate tables."""
    written: list[str] = []
    for table in (_centaur_table(run), _annotator_table(run)):
        if table.rows:
            own = marked_table(table) if holds_simulated(run.responses) else table
            written += write_table(own, folder / "tables")
    return written


@study.writes
def allocated(run: NormRun, folder: Path, records: Sequence[Record]) -> Sequence[str]:
    """Write the allocation."""
    return next_items.write_allocation(run, folder, records)


_THREE = Format("number", 3)


def _centaur_table(run: NormRun) -> Table:
    """The norms of each item: of people, of the model's prediction, and of both, with their errors."""
    none = Missing("none")

    def cell(value: float) -> Cell:
        return none if not np.isfinite(value) else float(value)

    rows: list[tuple[Cell, ...]] = []
    for name, own in run.centaurs.items():
        parts = (own.people, own.errors_of_people, own.predicted, own.norms, own.errors)
        for row, item in enumerate(run.items):
            rows.append((item.item_id, item.word, name, int(own.n[row]), *(cell(float(part[row])) for part in parts)))
    heads = columns(
        *("Item", "Word", "Model"), ("Ratings", INTEGER),
        *((label, _THREE) for label in ("Mean of people", "SE of people", "Prediction", "Centaur norm", "SE")),
    )  # fmt: skip
    return Table("centaur_norms", "", "Norms of all items, from people and each model", heads, tuple(rows))


def _annotator_table(run: NormRun) -> Table:
    """The alternative annotator test of each annotator."""
    rows: list[tuple[Cell, ...]] = []
    tests = run.once(estimates.annotator_tests) if run.has("ratings") and run.rating else {}
    for name, test in tests.items():
        if not isinstance(test, Undefined):
            size = len(test.tests)
            rows += [(name, t.rater_id, t.model, t.annotator, t.n, t.p, t.p_adjusted, size) for t in test.tests]
    heads = columns(
        *("Model", "Annotator"), ("Model at least as close", _THREE), ("Annotator at least as close", _THREE),
        ("Items", INTEGER), ("p", _THREE), ("p, Benjamini–Yekutieli", _THREE),
        ("Tests of the model", INTEGER),
    )  # fmt: skip
    return Table("annotator_tests", "", "Alternative annotator test, by annotator", heads, tuple(rows))
