"""How often each subject is right: chance, word frequency, contrasts, states of training (§4.1, Tables 5 to 13)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from lexiscope.analysis.accuracy import Accuracy, accuracy
from lexiscope.analysis.choice_design import CONTROLLED, Cell
from lexiscope.core.result import Estimate, Record, Undefined, statistic_name
from lexiscope.core.showing import counted
from lexiscope.report.accuracy_tables import PERCENT, by_condition, contrasts_table, intervals_table
from lexiscope.report.figure_accuracy import Dot, Series, SeriesPoint, accuracy_dots, series
from lexiscope.report.figures import Figure, Heading
from lexiscope.report.part import Remark, shown
from lexiscope.report.pivot import Col, Row, pivot
from lexiscope.report.tables import INTEGER, Column, Noted, Table
from lexiscope.report.tables import Cell as TableCell
from lexiscope.studies.synonymy.data import Answers, SynonymyData
from lexiscope.studies.synonymy.design import label_of, ordered, versus

CAPTION = "Bars: 95 % interval, sentences resampled. Dashed: chance."
ALPHA = 0.05
PER_NAMES = {"token": "per token", "text": "sum", "character": "per character", "byte": "per byte"}
SIDES = ("more_frequent", "less_frequent")

Scores = Mapping[tuple[str, str], Mapping[Cell, Accuracy]]
Results = Sequence[Estimate | Undefined]


def preferences(run: SynonymyData) -> object:
    """Answer whether subjects prefer the word that fits: accuracies, the word-frequency baseline, contrasts, states."""
    alone = {(each.subject, each.name, each.condition) for each in run.once(accuracies_alone)}
    above, splits = _above_baseline(run), _by_frequency(run)
    tables = (
        _table(run, run.design.main, "table_5_accuracy", "Accuracy, percent of items right, beside chance", "5"),
        _intervals(run),
        _other_cells(run),
        _denominators(run),
        _above_table(run, above),
        _split_table(run, splits),
    )
    right = [each for each in run.once(accuracies) if (each.subject, each.name, each.condition) not in alone]
    return right, above, splits, tables, _below(run, above), _contrasts(run), _figures(run), _checkpoints(run)


def without_context(run: SynonymyData) -> object:
    """Answer whether two words are known to be synonyms without context; intervals are in the tables before."""
    cells = [cell for cell in run.cells if cell.is_alone]
    told = (
        "The intervals of these accuracies are in the tables of the question above, their contrasts in its tables of "
        "contrasts. Compare them with the word-frequency baseline first: random nouns may be rarer."
    )
    title = "Accuracy without context, percent of items right"
    return run.once(accuracies_alone), _table(run, cells, "accuracy_no_context", title), told


def scores(run: SynonymyData) -> Scores:
    """Return the accuracies of every subject under every measure, by cell.

    Other denominators are shown for the main cells: that is where they are compared.
    """
    return {
        (answers.subject, measure): {
            cell: run.accuracy(cell, outcomes[cell])
            for cell in answers.outcomes
            if measure == answers.measure or cell in run.design.main
        }
        for answers in run.answers
        for measure, outcomes in answers.decided.items()
    }


def accuracies(run: SynonymyData) -> tuple[Estimate, ...]:
    """Return the accuracies as results, each with Wilson's bounds, chance, and the number of ties."""
    found = run.once(scores)
    return tuple(
        run.about(result, subject=answers.subject, condition=cell.name)
        for answers in run.answers
        for measure in answers.decided
        for cell, one in found[answers.subject, measure].items()
        for result in one.results(per=answers.per(measure))
    )


def accuracies_alone(run: SynonymyData) -> tuple[Estimate, ...]:
    """Return the accuracies without context, under the measure that decides."""
    names = {cell.name for cell in run.cells if cell.is_alone}
    deciding = {(answers.subject, _name(answers)) for answers in run.answers}
    return tuple(
        each for each in run.once(accuracies) if each.condition in names and (each.subject, each.name) in deciding
    )


def score(run: SynonymyData, answers: Answers, cell: Cell) -> Accuracy:
    """Return the accuracy of a subject in a cell, under the measure that decides."""
    return run.once(scores)[answers.subject, answers.measure][cell]


def _percent(found: Accuracy) -> tuple[float, float, float]:
    return 100 * found.value, 100 * found.clustered.low, 100 * found.clustered.high


def _name(answers: Answers) -> str:
    return statistic_name("percent_right", per=answers.per())


# -- tables of accuracies ---------------------------------------------------------------------------------------------


def _table(run: SynonymyData, cells: Sequence[Cell], name: str, title: str, number: str = "") -> Table:
    """A column for each subject, chance first."""
    chance = tuple(statistic_name("chance", of="percent_right", per=answers.per()) for answers in run.answers)
    columns = [Col("Chance", chance, PERCENT)]
    columns += [
        Col(each.title, _name(each), PERCENT, note=_decided_by(each), where={"subject": each.subject})
        for each in run.answers
    ]
    tied = {
        each.title: sum(each.outcomes[cell].n_tied for cell in cells if cell in each.outcomes) for each in run.answers
    }
    ties = ", ".join(f"{title} {n}" for title, n in tied.items() if n)
    notes = (
        "In brackets the 95 % interval, sentences resampled.",
        f"Ties count as wrong: {ties}." if ties else "No tie occurred where ties could be seen (live subjects).",
    )
    rows = [Row((label_of(cell),), {"condition": cell.name}) for cell in cells]
    shown_number = number if run.design.is_papers else ""
    return pivot(name, title, run.once(accuracies), columns, rows, labels=("Cell",), number=shown_number, notes=notes)


def _decided_by(answers: Answers) -> str:
    if answers.kind == "recorded":
        return "Recorded outcomes, on the published texts; mean log-probability per token, no BOS."
    return f"Decided by {answers.measure}." if answers.kind == "live" else "The more frequent word wins."


def _intervals(run: SynonymyData) -> Table:
    """The same accuracies with both intervals; recorded outcomes do not show which of them were ties."""
    rows = [
        (answers.title, label_of(cell), score(run, answers, cell))
        for answers in run.answers
        for cell in run.design.main
        if cell in answers.outcomes
    ]
    return intervals_table(rows, no_ties=[answers.title for answers in run.of_kind("recorded")])


def _other_cells(run: SynonymyData) -> Table | None:
    cells = [cell for cell in run.cells if cell not in run.design.main]
    title = "Accuracy in the other cells, percent of items right"
    return _table(run, cells, "accuracy_other_cells", title) if cells else None


def _denominators(run: SynonymyData) -> Table | None:
    """The same accuracies when the sum of log-probabilities is divided by tokens, characters, bytes, or nothing."""
    several = {answers.subject for answers in run.of_kind("live") if len(answers.decided) > 1}
    main = {cell.name for cell in run.design.main}
    heads = {statistic_name("percent_right", per=per): header for per, header in PER_NAMES.items()}
    found = [each for each in run.once(accuracies) if each.subject in several and each.condition in main]
    cols = [Col(header, name, PERCENT, "value", absent=None) for name, header in heads.items()]
    note = (
        "A mean per token rewards rare words that are cut into pieces of which the later ones are easy to predict; the "
        "sum punishes them. Compare subjects under one denominator only."
    )
    title = "The same accuracies under other denominators, percent of items right"
    names = run.named(found)
    return by_condition(found, cols, names=names, name="accuracy_by_denominator", title=title, notes=(note,))


# -- word frequency ---------------------------------------------------------------------------------------------------


def _above_baseline(run: SynonymyData) -> Results:
    base = run.baseline
    found: list[Estimate | Undefined] = []
    for answers in run.models if base else ():
        for cell in (cell for cell in answers.outcomes if base and cell in base.outcomes):
            assert base is not None
            one = run.contrast(answers.outcomes[cell], base.outcomes[cell])
            difference, _, _, exact, *_ = one.results()
            p, about = one.exact.p if one.exact else None, {"subject": answers.subject, "condition": cell.name}
            found.append(run.about(difference, name="above_baseline", p=p, note=one.note, **about))
            found.append(run.about(exact, name="above_baseline_exact_p", **about))
    return found


def _above_table(run: SynonymyData, above: Results) -> Table | None:
    base = run.baseline
    if base is None or not above:
        return None
    columns = [
        Col(each.title, "above_baseline", PERCENT, where={"subject": each.subject}, cell=_flagged)
        for each in run.models
    ]
    rows = [
        Row((label_of(cell), 100 * score(run, base, cell).value), {"condition": cell.name})
        for cell in run.design.main
        if cell in base.outcomes
    ]
    labels = ("Cell", Column("Word frequency", PERCENT, note="The more frequent word wins; no model."))
    notes = (f"Counts: {base.measure}. Differences in points, their 95 % interval over sentences.",)
    title = "How far each subject lies above the word-frequency baseline, in points"
    return pivot("above_baseline", title, above, columns, rows, labels=labels, notes=notes)


def _flagged(record: Record) -> TableCell:
    """A difference; one below 0 says in a note that word frequency alone does better."""
    if record.value is None or record.value >= 0:
        return shown(record)
    if record.low is None or record.high is None:
        return Noted(f"{record.value:.1f}".replace("-", "−"), "Below the baseline.")
    bounds = f"{record.value:.1f} [{record.low:.1f}, {record.high:.1f}]".replace("-", "−")
    return Noted(bounds, "Below what word frequency alone gives.")


def _below(run: SynonymyData, above: Results) -> Iterator[Remark]:
    """Which random conditions lie below the baseline, subject by subject."""
    labels = {cell.name: label_of(cell) for cell in run.design.main if cell.condition != CONTROLLED}
    for answers in run.models:
        own = [each for each in above if each.subject == answers.subject and each.condition in labels]
        below = [
            f"{labels[each.condition]} ({abs(each.value):.1f} points)"
            for each in own
            if isinstance(each, Estimate) and each.name == "above_baseline" and each.value < 0
        ]
        if below:
            yield Remark(f"{answers.title} lies below the word-frequency baseline in {'; '.join(below)}.")


def _by_frequency(run: SynonymyData) -> Results:
    """Controlled accuracy where the synonym is more frequent than the distractor, and where it is not."""
    base, cells = run.baseline, run.design.controlled
    # the two words of an item are the same in all its controlled choice sets
    counted = [base.outcomes[cell].margin for cell in cells if cell in base.outcomes] if base else []
    found: list[Estimate | Undefined] = []
    for answers in run.models if counted else ():
        for cell in (cell for cell in cells if cell in answers.outcomes):
            for side, chosen in zip(SIDES, (counted[0] > 0, counted[0] < 0), strict=True):
                name = statistic_name("accuracy_by_frequency", counts="baseline", synonym=side)
                sentences, n = np.array(run.sets.sentences)[chosen], int(chosen.sum())
                about = {"subject": answers.subject, "condition": cell.name, "unit": "percent"}
                if len(set(sentences.tolist())) < 2:
                    found.append(run.about(Undefined(name, "fewer than two items", n), **about))
                    continue
                right = answers.outcomes[cell].correct[chosen]
                n_bootstrap, seed = run.settings.n_bootstrap, run.settings.seed
                one = accuracy(right, clusters=sentences, resamples=n_bootstrap, seed=seed)
                found.append(run.about(Estimate(name, 100 * one.value, one.clustered.times(100), n), **about))
    return found


def _split_table(run: SynonymyData, splits: Results) -> Table | None:
    columns = []
    for side in SIDES:
        name = statistic_name("accuracy_by_frequency", counts="baseline", synonym=side)
        columns += [Col(f"Synonym {side.replace('_', ' ')}", name, PERCENT), Col("n", name, INTEGER, "n")]
    title = "Controlled pairs, split by which of the two words is more frequent (percent right)"
    return by_condition(splits, columns, names=run.named(splits), name="accuracy_by_frequency", title=title)


# -- contrasts (Tables 6 to 13) ---------------------------------------------------------------------------------------


def _contrasts(run: SynonymyData) -> object:
    """All contrasts within a subject, and those between subjects: paired t, McNemar's exact test."""
    plan, found, tables = run.design, [], []
    for family in plan.families:
        within = [each for pair in family.pairs for each in _within(run, *pair)]
        place = f" ({family.place})" if family.place and not run.own else ""
        tables.append(contrast_table(run, family.name, family.title + place, within))
        found += within
    between = [each for cell in plan.main for each in _between(run, cell)]
    place = " (Tables 7, 8)" if plan.is_papers and not run.own else ""
    tables.append(contrast_table(run, "contrasts_subjects", f"Between subjects{place}", between))
    found += between
    return found, tables, _reading(run, found)


def _within(run: SynonymyData, first: Cell, second: Cell) -> Iterator[Estimate | Undefined]:
    for answers in run.models:
        if first in answers.outcomes and second in answers.outcomes:
            for each in run.contrast(answers.outcomes[first], answers.outcomes[second]).results():
                yield run.about(each, subject=answers.subject, condition=versus(first, second))


def _between(run: SynonymyData, cell: Cell) -> Iterator[Estimate | Undefined]:
    """Every two recorded subjects and every two live ones; a live one on published texts also with recorded ones.

    On repaired texts a live subject has read other texts than the recorded ones: that is no paired contrast.
    """
    recorded, live = run.of_kind("recorded"), run.of_kind("live")
    together = run.settings.mode == "published"
    pairs = combinations((*recorded, *live), 2) if together else (*combinations(recorded, 2), *combinations(live, 2))
    for one, other in pairs:
        if cell in one.outcomes and cell in other.outcomes:
            for each in run.contrast(one.outcomes[cell], other.outcomes[cell]).results():
                yield run.about(each, subject=f"{one.subject} vs {other.subject}", condition=cell.name)


def contrast_table(run: SynonymyData, name: str, title: str, results: Results) -> Table | None:
    """Return contrasts as a table."""
    return contrasts_table(results, names=run.named(results), name=name, title=title, source="Ivan et al. (2025)")


def _reading(run: SynonymyData, results: Results) -> str:
    p = {(r.name, r.subject, r.condition): r.value for r in results if isinstance(r, Estimate)}
    tested = [key for key in p if key[0] == "paired_t_p"]
    apart = [key[1:] for key in tested if (p[key] < ALPHA) != (p["mcnemar_p", key[1], key[2]] < ALPHA)]
    text = f"{counted(len(tested), 'contrast')}, none corrected for their number."
    if apart:
        named = run.named(results)
        where = "; ".join(f"{named[subject]}, {named[condition]}" for subject, condition in apart[:6])
        more = f"; and {len(apart) - 6} more" if len(apart) > 6 else ""
        text += f" In {len(apart)} of them t and the exact test fall on different sides of p = .05: {where}{more}."
    return text


# -- figures and states of training -----------------------------------------------------------------------------------


def _figures(run: SynonymyData) -> list[Figure]:
    """Figure 1, and Figures 4 and 5 where there are live subjects and recorded ones."""
    title = "Accuracy of every subject, beside chance and word frequency"
    found = dots(run, run.answers, run.design.main, "figure_1_accuracy", title)
    if run.of_kind("live") and run.of_kind("recorded"):
        plain = [c for c in run.cells if c.suite in ("substitution", "reference", "relation") and not c.is_joint]
        alone = [cell for cell in run.cells if cell.suite == "relation_no_context"]
        live = run.of_kind("live", "baseline")
        further = "Further models: the {}"
        found += dots(run, live, plain, "figure_4_live_with_context", further.format("suites with context"))
        found += dots(run, live, alone, "figure_5_live_without_context", further.format("relation without context"))
    return found


def dots(run: SynonymyData, subjects: Sequence[Answers], cells: Sequence[Cell], name: str, title: str) -> list[Figure]:
    """Return the figure of these accuracies, with the number that its name has, if there are any."""
    made = []
    for cell in cells:
        for answers in (each for each in subjects if cell in each.outcomes):
            # on two lines, the names leave room for the drawing
            label, found = label_of(cell).replace(": ", ":\n"), score(run, answers, cell)
            value, low, high = _percent(found)
            made.append(Dot(label, answers.title, value, low, high, 100 * found.chance))
    number = name.split("_")[1] if run.design.is_papers else ""
    order = [answers.title for answers in run.answers]
    return [accuracy_dots(made, Heading(name, number, title, CAPTION), order=order)] if made else []


def _checkpoints(run: SynonymyData) -> tuple[Table | Figure, ...]:
    """Accuracy over the states of a model in training."""
    asked = [(run.states[each.subject], each) for each in run.of_kind("live") if each.subject in run.states]
    asked.sort(key=lambda each: each[0])
    if len(asked) < 2:
        return ()
    cells = [cell for cell in run.design.main if all(cell in answers.outcomes for _, answers in asked)]
    columns = [Column("State"), Column("Seen", INTEGER, note="Tokens, or steps, as given.")]
    columns += [Column(label_of(cell), PERCENT) for cell in cells]
    rows: list[tuple[TableCell, ...]] = [
        (answers.title, seen, *(100 * score(run, answers, cell).value for cell in cells)) for seen, answers in asked
    ]
    table = Table("checkpoints", "", "Accuracy over training, percent right", tuple(columns), tuple(rows))
    lines = []
    for cell in ordered(cells):
        points = [SeriesPoint(seen, *_percent(score(run, answers, cell))) for seen, answers in asked]
        lines.append(Series(label_of(cell), 100 * score(run, asked[0][1], cell).chance, tuple(points)))
    heading = Heading("figure_checkpoints", "", "Accuracy over training", "Bands: 95 % interval, sentences resampled.")
    return (table, series(lines, heading)) if lines else (table,)
