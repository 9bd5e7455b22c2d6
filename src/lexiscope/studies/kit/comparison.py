"""Several finished runs on one page: the differences between their subjects are computed on the same draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lexiscope.core.errors import LexiscopeError
from lexiscope.core.result import Contrast
from lexiscope.report.document import Report
from lexiscope.report.page.comparison_page import ComparedRun, compared_runs, comparison_page
from lexiscope.report.page.runs import loaded_reports, report_of_runs
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
    return replace(report, results=comparison_page(with_differences, others))


def _with_differences(run: ComparedRun, folder: Path, resamples: int, seed: int) -> ComparedRun:
    ranked = sorted(run.rows.values(), key=lambda row: -(row.value or 0.0))
    subjects = [run.subjects[row.label] for row in ranked if row.label in run.subjects]
    if len(subjects) < 2 or not run.forest.axis.label.startswith("Spearman"):
        return run
    layers = {r.subject: int(r.value) for r in run.records if r.statistic == "best_layer(by=spearman)" and r.value}
    sides = [f"{subject}@{layers[subject]}" if subject in layers else subject for subject in subjects]
    views = {record.view for record in run.records if record.statistic == "best_layer(by=spearman)" and record.view}
    view = f" view={sorted(views)[-1]}" if len(views) > 1 else ""
    differences: list[Contrast] = []
    try:
        answers = answers_of(folder)
        for other in sides[1:]:
            differences.append(answers.compare(sides[0] + view, other + view, resamples=resamples, seed=seed))
    except LexiscopeError as error:
        return replace(run, no_differences=f"no differences ({error.what}).")
    titles = [row.label for row in ranked if row.label in run.subjects]
    named = {title: side + view for title, side in zip(titles, sides, strict=True)}
    try:
        pairs = answers.pairs(named, resamples=resamples, seed=seed)
    except LexiscopeError as error:
        return replace(run, differences=tuple(differences), no_differences=f"no sets of ranks ({error.what}).")
    return replace(run, differences=tuple(differences), pairs=pairs)
