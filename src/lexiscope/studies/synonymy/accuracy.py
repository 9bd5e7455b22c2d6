"""How often each subject is right: chance, word frequency, contrasts, states of training (§4.1, Tables 5 to 13)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from lexiscope.analysis.choices.choice_sets import CORRECT, one_by_one
from lexiscope.analysis.choices.design import BOTH_ALONE, CONTROLLED, Cell
from lexiscope.analysis.choices.design_answers import (
    Results,
    SubjectAnswers,
    above_baseline,
    accuracies_by_frequency,
    accuracy_ranks,
    accuracy_results,
    contrast_results,
    one_by_one_results,
)
from lexiscope.build.forced_choice import SHARE
from lexiscope.core.result import Estimate
from lexiscope.report.figures import Figure, Heading
from lexiscope.report.part import Omission, Remark
from lexiscope.report.parts import accuracy_tables as parts
from lexiscope.report.tables import Table
from lexiscope.studies.synonymy.data import TEXTS, SynonymyData
from lexiscope.studies.synonymy.design import label_of

CAPTION = "Bars: 95 % interval, over sentences. Dashed: chance."


def preferences(run: SynonymyData) -> object:
    """Answer whether subjects prefer the word that fits: accuracies, the word-frequency baseline, contrasts, states."""
    alone = {(e.subject, e.name, e.condition) for e in run.once(accuracies_alone)}
    right = [e for e in run.once(accuracies) if (e.subject, e.name, e.condition) not in alone]
    others = [cell for cell in run.cells if cell not in run.design.main]
    tables = (
        _table(run, run.design.main, "table_5_accuracy", "Accuracy, percent of items right, and chance", "5"),
        _intervals(run, [cell for cell in run.design.main if not cell.is_alone]),
        _table(run, others, "accuracy_other_cells", "Accuracy in the other cells, percent of items right"),
        _denominators(run),
    )
    further = _frequency(run), _contrasts(run), _one_by_one(run)
    figures = _further_models(run), _figures(run), parts.training_part(run, run.states)
    return right, tables, _ranks(run), further, figures


def without_context(run: SynonymyData) -> object:
    """Answer whether two words are known to be synonyms without context; contrasts are in the tables before."""
    cells = [cell for cell in run.cells if cell.is_alone]
    title, told = "Accuracy without context, percent of items right", "Accuracy without context, with both intervals"
    intervals = _intervals(run, cells, name="accuracy_intervals_no_context", title=told)
    table = _table(run, cells, "accuracy_no_context", title)
    return run.once(accuracies_alone), table, intervals, TEXTS["remark on words without context"]


def _intervals(run: SynonymyData, cells: Sequence[Cell], **named: str) -> Table | None:
    """Both intervals of accuracies, subject by subject."""
    rows = [share for answers in run.answers for share in run.shares([answers], cells)]
    # recorded outcomes do not show which of them were ties
    unknown = [answers.title for answers in run.of_kind("recorded")]
    return parts.intervals_table(rows, no_ties=unknown, **named)


def accuracies(run: SynonymyData) -> tuple[Estimate, ...]:
    """Return the accuracies as results, each with Wilson's bounds, chance, and the number of ties.

    Other denominators decide the same scores again: their p values would test nothing new.
    """
    results = (accuracy_results(answers, run.scores[answers.subject]) for answers in run.answers)
    every = (estimate for estimates in results for estimate in run.about_all(estimates))
    return tuple(e if (e.subject, e.name) in run.deciding else replace(e, p=None) for e in every)


def accuracies_alone(run: SynonymyData) -> tuple[Estimate, ...]:
    """Return the accuracies without context, under the measure that decides."""
    names = {cell.name for cell in run.cells if cell.is_alone}
    return tuple(e for e in run.once(accuracies) if e.condition in names and (e.subject, e.name) in run.deciding)


def _table(run: SynonymyData, cells: Sequence[Cell], name: str, title: str, number: str = "") -> Table | None:
    """A column for each subject, chance first."""
    number = number if run.design.is_papers else ""
    return parts.accuracy_table(run, cells, run.once(accuracies), name=name, title=title, number=number)


def _denominators(run: SynonymyData) -> Table | None:
    several = {answers.subject for answers in run.of_kind("live") if len(answers.decided) > 1}
    main = {cell.name for cell in run.design.main}
    estimates = [e for e in run.once(accuracies) if e.subject in several and e.condition in main]
    return parts.denominators_table(estimates, names=run.result_labels(estimates))


def _ranks(run: SynonymyData) -> object:
    """The ranks of subjects that read the same texts, cell by cell; none where each is alone with its texts."""
    compared = [subjects for subjects in _alike(run) if len(subjects) > 1]
    results = [run.about(rank) for subjects in compared for rank in accuracy_ranks(run.sets, subjects, run.design.main)]
    if not results:
        return None
    return results, parts.accuracy_ranks_table(run, compared, results)


def _frequency(run: SynonymyData) -> object:
    """How much subjects are above the word-frequency baseline, and their accuracy by which word is more frequent."""
    base, main = run.baseline, run.design.main
    if base is None:
        return None
    above = [run.about(result) for answers in run.models for result in above_baseline(run.sets, answers, base)]
    by_frequency = (accuracies_by_frequency(run.sets, a, base, run.design.controlled) for a in run.models)
    splits = [result for results in by_frequency for result in run.about_all(results)]
    names = run.result_labels([*above, *splits, *run.once(accuracies)])
    right = {cell.name: run.score(base, cell) for cell in base.in_cells(main)}
    labels = {cell.name: label_of(cell) for cell in main if cell.condition != CONTROLLED}
    below = [Remark(text) for text in parts.below_baseline(above, labels, names)]
    table = parts.above_baseline_table(above, right, counts=base.measure, names=names)
    return above, splits, table, parts.frequency_split_table(splits, names=names), below


def _one_by_one(run: SynonymyData) -> Iterator[object]:
    """One wrong synonym against one random word: accuracies and token differences with each distractor alone."""
    scored = [answers for answers in run.of_kind("live", "baseline") if answers.measure not in (CORRECT, SHARE)]
    results = []
    for answers in scored:
        options = one_by_one(run.choices, subject=answers.subject, measure=answers.measure)
        results += run.about_all(one_by_one_results(run.sets, answers, options, run.design.main))
    shown = [*results, *run.once(accuracies)]
    yield results, parts.one_by_one_table(shown, names=run.result_labels(shown))
    why = "One outcome was recorded for a choice set, not the score of each word."
    yield [Omission("One distractor at a time", why, answers.title) for answers in run.of_kind("recorded")]


# -- contrasts (Tables 6 to 13) ---------------------------------------------------------------------------------------


def _contrasts(run: SynonymyData) -> object:
    """All contrasts within a subject, and those between subjects: paired t, McNemar's exact test."""
    plan, asked = run.design, []
    for family in plan.families:
        pairs = [((answers, first), (answers, second)) for first, second in family.pairs for answers in run.models]
        place = f" ({family.place})" if family.place and not run.own else ""
        asked.append((family.name, family.title + place, pairs))
    opponents = [pair for subjects in _alike(run) for pair in combinations(subjects, 2)]
    between = [((first, cell), (second, cell)) for cell in plan.main for first, second in opponents]
    place = " (Tables 7, 8)" if plan.is_papers and not run.own else ""
    asked.append(("contrasts_subjects", f"Between subjects{place}", between))
    all_results, tables = [], []
    for name, title, pairs in asked:
        results = [run.about(result) for pair in pairs for result in contrast_results(run.sets, *pair)]
        tables.append(contrast_table(run, name, title, results))
        all_results += results
    return all_results, tables, parts.comparison_of_tests(all_results, run.result_labels(all_results))


def _alike(run: SynonymyData) -> list[Sequence[SubjectAnswers]]:
    """The subjects that read the same texts: recorded ones, live ones; on published texts all of them.

    On repaired texts a live subject has read other texts than the recorded ones: that is no paired contrast.
    """
    recorded, live = run.of_kind("recorded"), run.of_kind("live")
    return [(*recorded, *live)] if run.settings.mode == "published" else [recorded, live]


def contrast_table(run: SynonymyData, name: str, title: str, results: Results) -> Table | None:
    """Return contrasts as a table."""
    labels = run.result_labels(results)
    return parts.contrasts_table(results, names=labels, name=name, title=title, source="Ivan et al. (2025)")


# -- figures and states of training -----------------------------------------------------------------------------------


def _further_models(run: SynonymyData) -> Table | None:
    """What Figures 4 and 5 draw: live models next to the recorded ones of which the paper prints the numbers."""
    live, recorded = run.of_kind("live"), run.of_kind("recorded")
    if not live or not recorded:
        return None
    cells = {cell.name: label_of(cell) for cell in run.main if cell.condition in (CONTROLLED, BOTH_ALONE)}
    statistics = {answers.subject: answers.statistic() for answers in (*recorded, *live)}
    results, known = run.once(accuracies), [answers.subject for answers in recorded]
    return parts.further_models_table(results, cells, statistics, known, names=run.result_labels(results))


def _figures(run: SynonymyData) -> list[Figure]:
    """Figure 1, and Figures 4 and 5 where there are live subjects and recorded ones."""
    title = "Accuracy of every subject, chance and word frequency"
    figures = dots(run, run.answers, run.design.main, "figure_1_accuracy", title)
    if run.of_kind("live") and run.of_kind("recorded"):
        # the paper draws all models here, the three of its tables too, and of its cells only these
        for condition, name, what in (
            (CONTROLLED, "figure_4_with_context", "controlled, with context"),
            (BOTH_ALONE, "figure_5_without_context", "both synonyms against random words, without context"),
        ):
            cells = [cell for cell in run.main if cell.condition == condition]
            figures += dots(run, run.answers, cells, name, f"Models of other families: {what}")
    return figures


def dots(
    run: SynonymyData, subjects: Sequence[SubjectAnswers], cells: Sequence[Cell], name: str, title: str
) -> list[Figure]:
    """Return the figure of these accuracies, with the number that its name has, if there are any."""
    heading = Heading(name, name.split("_")[1] if run.design.is_papers else "", title, CAPTION)
    drawn = parts.accuracy_figure(run, subjects, cells, heading)
    return [drawn] if drawn else []
