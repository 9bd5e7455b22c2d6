"""Several finished runs on one page: the differences between their subjects are computed on the same draws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lexiscope.core.errors import LexiscopeError
from lexiscope.core.result import Contrast, Estimate, Undefined
from lexiscope.core.sealed import possibly_paid
from lexiscope.report.document import Report
from lexiscope.report.page.comparison_page import ComparedRun, compared_runs, comparison_page
from lexiscope.report.page.runs import loaded_reports, report_of_runs
from lexiscope.report.page.study_folder import with_caution
from lexiscope.report.sections import paid_caution
from lexiscope.studies.kit.answers import ComparableAnswers
from lexiscope.studies.kit.front import answers_of


def comparison_report(
    folders: Sequence[Path], *, page: Path | None = None, resamples: int = 1000, seed: int = 0
) -> Report:
    """Return the report of one run, or the comparison of several.

    Subjects of runs that show one statistic are on one axis, with people. In each run, the highest subject is compared
    with every other on the same resampled words (ρ with people's means, at the layer where each is closest). All pairs
    of subjects, with intervals that hold together, are those of the table in which the reader chooses the reference.
    Where the answers of a run cannot be found again, the page has no differences of it, and the reason.
    *page* is where the report will be written, which links to the runs' own reports.
    Errors: those of :func:`~lexiscope.report.page.runs.report_of_runs`.
    """
    report = report_of_runs(folders, page=page)
    if len(folders) < 2:
        return report
    runs, others = compared_runs(loaded_reports(folders), [folder.name for folder in folders])
    with_differences = [_with_differences(run, folders[run.number - 1], resamples, seed) for run in runs]
    lost: Counter[str] = Counter()
    for folder in dict.fromkeys(folders):
        lost.update(possibly_paid(folder))
    return with_caution(replace(report, results=comparison_page(with_differences, others)), paid_caution(lost))


def _with_differences(run: ComparedRun, folder: Path, resamples: int, seed: int) -> ComparedRun:
    sides = sides_of_run(run)
    if not sides:
        return run
    first, *rest = sides.values()
    try:
        answers = answers_of(folder)
        differences = tuple(_difference(answers, first, other, resamples, seed) for other in rest)
    except LexiscopeError as error:
        return replace(run, no_differences=f"no differences ({error.what}).")
    try:
        pairs = answers.pairs(sides, resamples=resamples, seed=seed)
    except LexiscopeError as error:
        return replace(run, differences=differences, no_differences=f"no sets of ranks ({error.what}).")
    return replace(run, differences=differences, pairs=pairs)


def _difference(answers: ComparableAnswers, first: str, other: str, resamples: int, seed: int) -> Contrast:
    """The difference of two sides at their best layers, with the one that allows for these layers' choice."""
    contrast = answers.compare(first, other, resamples=resamples, seed=seed)
    if all(side.layer is None for side in contrast.pair):
        return contrast
    try:
        chosen: Estimate | Undefined = answers.at_chosen_layers(first, other, resamples=resamples, seed=seed)
    except LexiscopeError as error:
        chosen = Undefined("spearman_difference_at_chosen_layers(with=norms)", error.what)
    return contrast.about(chosen=chosen)


def sides_of_run(run: ComparedRun) -> dict[str, str]:
    """Return the subjects of a run by title as sides of comparisons, the highest first, each with its best layer.

    In a run of several views, layers and answers are those of one view. Empty with fewer than two subjects, and if the
    run shows another statistic than Spearman's correlation.
    """
    ranked = sorted(run.rows.values(), key=lambda row: -(row.value or 0.0))
    subjects = {row.label: run.subjects[row.label] for row in ranked if row.label in run.subjects}
    if len(subjects) < 2 or not run.forest.axis.label.startswith("Spearman"):
        return {}
    best = [record for record in run.records if record.statistic == "best_layer(by=spearman)"]
    views = sorted({record.view for record in best if record.view})
    # the same subject has another best layer in another view; a best layer may be layer 0
    layers = {
        record.subject: int(record.value)
        for record in best
        if record.value is not None and (not views or record.view == views[-1])
    }
    view = f" view={views[-1]}" if len(views) > 1 else ""
    return {
        title: f"{subject}@{layers[subject]}{view}" if subject in layers else subject + view
        for title, subject in subjects.items()
    }
