"""Tables of accuracies and decisions: both intervals, baselines, contrasts, token deltas, margins, both ways, gaps.

Gap filling has figures, too: how often an accepted answer was given, and what the others were.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from lexiscope.analysis.accuracy import Accuracy
from lexiscope.analysis.choices.choice_sets import ALL, DECIDED, EXPECTED, BothWays, n_random
from lexiscope.analysis.choices.design import Cell as DesignCell
from lexiscope.analysis.choices.design import ChoiceDesign
from lexiscope.analysis.choices.design_answers import (
    SIDES,
    TOKEN_SIDES,
    AnsweredDesign,
    SubjectAnswers,
    disagreeing_tests,
)
from lexiscope.analysis.choices.gap_answers import GapHits
from lexiscope.analysis.choices.tokenisation import DeltaEffect, DeltaLevel
from lexiscope.build.forced_choice import PAGES
from lexiscope.build.gap_filling.gaps import SUITE as GAPS
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.result import Estimate, Record, Result, Undefined, parse_statistic, statistic_name
from lexiscope.core.showing import counted
from lexiscope.report.figures import Figure, Heading, columns_of, first_names
from lexiscope.report.part import record_cell
from lexiscope.report.pivot import Col, PivotRow, pivot, records_of, rows_of
from lexiscope.report.plots.accuracy import (
    Dot,
    accuracy_dots,
    accuracy_over_training,
    stacked_shares,
    training_curve,
)
from lexiscope.report.plots.curves import DrawnCurve
from lexiscope.report.plots.style import short_names
from lexiscope.report.tables import (
    INTEGER,
    P_VALUE,
    TEXT,
    Cell,
    Column,
    Format,
    IntervalCell,
    Missing,
    Noted,
    Table,
    columns,
    format_number,
    interval_text,
    with_minus_signs,
)

PERCENT, STATISTIC = Format("number", 1), Format("number", 2)
_FINE, _FINEST = Format("number", 3), Format("number", 5)
_CLOSEST = "The margin of the closest decision."
_TOO_FEW = "Too few decisions, or none differs."
_NAMED = 6
_DECIDED_BY = {
    "recorded": "Recorded outcomes, on the published texts; mean log-probability per token, no BOS.",
    "baseline": "The more frequent word wins.",
}
_DRAWN = ("value", "low", "high")


def design_table(design: ChoiceDesign, labels: Mapping[DesignCell, str]) -> Table:
    """Return the labelled cells of a design of choice sets, each with its size and the first right option's text."""
    heads = columns("Cell", ("Choice sets", INTEGER), ("Options", INTEGER), "Example: the right option's text")
    rows: list[tuple[Cell, ...]] = [
        (label, len(items), design.n_options(cell), items[0].usages[0].text)
        for cell, label in labels.items()
        for items in (design.sets[cell],)
    ]
    return Table("design_cells", "", "Materials: the cells of the design", heads, tuple(rows))


def intervals_table(
    rows: Sequence[tuple[str, str, Accuracy]],
    *,
    name: str = "accuracy_intervals",
    title: str = "Accuracy with both intervals",
    no_ties: Sequence[str] = (),
) -> Table | None:
    """Return accuracies, each with its subject and condition: both intervals, p against chance, ties.

    *no_ties* are the subjects of which it is not known what was tied.
    """
    heads = columns(
        *("Subject", "Cell", ("Right, %", PERCENT)),
        Column("Over sentences", PERCENT, note="95 % interval; the one to use."),
        Column("Wilson", PERCENT, note="95 % interval that takes items as independent."),
        Column("p, chance", P_VALUE, note="Exact, one-sided: at least as many right by chance."),
        ("Ties", INTEGER),
    )
    cells: list[tuple[Cell, ...]] = []
    for subject, condition, accuracy in rows:
        tied = Missing("Not recorded.") if subject in no_ties else float(accuracy.n_tied)
        ends = (
            IntervalCell(100 * interval.low, 100 * interval.high) if interval.is_defined else Missing(interval.note)
            for interval in (accuracy.clustered, accuracy.wilson)
        )
        percent = 100 * accuracy.n_correct / accuracy.n
        cells.append((subject, condition, percent, *ends, accuracy.p_above_chance, tied))
    return Table(name, "", title, heads, tuple(cells)) if cells else None


RANK = statistic_name("rank", of="accuracy", among="subjects")


def accuracy_table(
    run: AnsweredDesign,
    cells: Sequence[DesignCell],
    results: Sequence[Record | Result],
    *,
    name: str,
    title: str,
    number: str = "",
) -> Table | None:
    """Return the accuracies of a run in some cells: a row for each, a column for each subject, chance first."""
    chance = tuple(answers.statistic("chance", of="percent_right") for answers in run.answers)
    cols = [Col("Chance", chance, PERCENT)]
    for answers in run.answers:
        note = f"Decided by {answers.measure}." if answers.kind == "live" else _DECIDED_BY[answers.kind]
        cols.append(Col(answers.title, answers.statistic(), PERCENT, note=note, where={"subject": answers.subject}))
    tied = [(a.title, sum(a.outcomes[cell].n_tied for cell in a.in_cells(cells))) for a in run.answers]
    ties = ", ".join(f"{title} {n}" for title, n in tied if n)
    notes = (
        "In brackets the 95 % interval, over sentences.",
        f"Ties count as wrong: {ties}." if ties else "No tie occurred where ties could be seen (live subjects).",
    )
    rows = [PivotRow((run.label_of(cell),), {"condition": cell.name}) for cell in cells]
    return pivot(name, title, results, cols, rows, labels=("Cell",), number=number, notes=notes) if rows else None


def accuracy_overview(
    records: Sequence[Record], labels: Mapping[str, str], short: Callable[[str], str], *, longest: int = 18
) -> Table:
    """Return accuracies as they are on one screen: a row for each labelled condition, a column for each subject.

    Of several denominators the first counts: it decides. Where people answered, each question that they were asked has
    a row: people, and models on the items that people answered. *short* is what a subject is called, cut off where it
    is *longest*.
    """
    first: dict[tuple[str, str], float | None] = {}
    asked_people: dict[str, str] = {}
    for record in records:
        if record.statistic in _RIGHT_ON_SAME:
            label = f"{_ASKED.get(record.condition, record.condition)}, people's items"
            asked_people.setdefault(record.condition, label)
        elif not record.statistic.startswith("percent_right("):
            continue
        first.setdefault((record.subject, record.condition), record.value)
    labels = {**labels, **asked_people}
    asked = tuple(dict.fromkeys(subject for subject, condition in first if condition in labels))
    headers = short_names([short(subject) for subject in asked], longest)
    heads = (Column("Percent right"), *(Column(header, PERCENT) for header in headers))
    rows = [(label, *(first.get((subject, cell)) for subject in asked)) for cell, label in labels.items()]
    return Table("overview", "", "Accuracy, percent right", heads, tuple(rows))


def answerers_table(run: AnsweredDesign, facts: Mapping[str, SubjectFacts]) -> Table:
    """Return the subjects of a run with what is known of them, and in how many cells each has decisions."""
    rows: list[tuple[Cell, ...]] = []
    for answers in run.answers:
        fact = facts.get(answers.subject, SubjectFacts(answers.subject))
        known = (fact.n_parameters or None, fact.n_layers, fact.revision[:12])
        rows.append((answers.title, answers.kind, *known, len(answers.outcomes)))
    numbers = (("Parameters", INTEGER), ("Layers", INTEGER))
    heads = columns("Subject", "Kind", *numbers, "Revision", ("Cells answered", INTEGER))
    return Table("subjects", "", "Subjects", heads, tuple(rows))


def accuracy_ranks_table(
    run: AnsweredDesign, compared: Sequence[Sequence[SubjectAnswers]], results: Sequence[Record | Result]
) -> Table:
    """Return the ranks of subjects by accuracy, of each set of subjects that are *compared*, in the main cells."""
    cols = [
        Col(answers.title, RANK, TEXT, where={"subject": answers.subject})
        for subjects in compared
        for answers in subjects
    ]
    notes = [
        "By accuracy; ranks that the paired differences leave open, all intervals together, over sentences. 1 is the "
        "most accurate.",
        *(f"Ranks among: {', '.join(answers.title for answers in subjects)}." for subjects in compared),
    ]
    rows = [PivotRow((run.label_of(cell),), {"condition": cell.name}) for cell in run.main]
    title = "Ranks of subjects by accuracy"
    return pivot("accuracy_ranks", title, results, cols, rows, labels=("Cell",), notes=notes)


def accuracy_figure(
    run: AnsweredDesign, subjects: Sequence[SubjectAnswers], cells: Sequence[DesignCell], heading: Heading
) -> Figure | None:
    """Draw the accuracies of subjects in some cells as dots; ``None`` where there are none."""
    # on two lines, the names leave room for the drawing
    points = [
        Dot.of_accuracy(accuracy, label.replace(": ", ":\n"), subject)
        for subject, label, accuracy in run.shares(subjects, cells)
    ]
    return accuracy_dots(points, heading, order=[answers.title for answers in run.answers]) if points else None


def training_part(run: AnsweredDesign, seen: Mapping[str, float]) -> tuple[Table, Figure | None] | None:
    """Return accuracies over the states of a model in training, *seen* by subject, as a table and a figure."""
    asked = sorted(
        ((seen[answers.subject], answers) for answers in run.of_kind("live") if answers.subject in seen),
        key=lambda pair: pair[0],
    )
    if len(asked) < 2:
        return None
    cells = [cell for cell in run.main if all(cell in answers.outcomes for _, answers in asked)]
    states = [
        (answers.title, progress, {label: accuracy for _, label, accuracy in run.shares([answers], cells)})
        for progress, answers in asked
    ]
    lines = [training_curve(label, [(n, by_label[label]) for _, n, by_label in states]) for label in states[0][2]]
    heading = Heading("figure_checkpoints", "", "Accuracy over training", "Bands: 95 % interval, over sentences.")
    return training_table(states), accuracy_over_training(lines, heading) if lines else None


def expressions_table(rows: Sequence[tuple[str, str, Estimate, float]]) -> Table | None:
    """Return the best expression of each subject and condition, with the accuracy of the worst one.

    The results are those of :func:`~lexiscope.analysis.choices.design_answers.best_expressions`.
    """
    spread = Column("Best minus worst, points", PERCENT, note="The contrasts between expressions test it.")
    heads = columns("Subject", "Condition", "Best expression", ("Right, %", PERCENT), spread)
    title = "The expression of the relation that works best"
    cells: list[tuple[Cell, ...]] = [
        (subject, label, best.note, best.value, best.value - lowest) for subject, label, best, lowest in rows
    ]
    return Table("preferred_expression", "", title, heads, tuple(cells)) if cells else None


def by_condition(
    results: Sequence[Record | Result],
    cols: Sequence[Col],
    *,
    names: Mapping[str, str],
    name: str,
    title: str,
    label: str = "Cell",
    notes: Sequence[str] = (),
) -> Table | None:
    """Return a table with a row for each subject and condition of the results; ``None`` where there are none.

    *names* are what subjects and conditions are called.
    """
    records = records_of(results)
    rows = rows_of(records, "subject", "condition", names=names)
    return pivot(name, title, records, cols, rows, labels=("Subject", label), notes=notes) if rows else None


def denominators_table(results: Sequence[Record | Result], *, names: Mapping[str, str]) -> Table | None:
    """Return the same accuracies when the sum of log-probabilities is divided by tokens, characters, bytes, nothing."""
    heads = {"token": "per token", "text": "sum", "character": "per character", "byte": "per byte"}
    cols = [
        Col(head, statistic_name("percent_right", per=per), PERCENT, "value", absent=None)
        for per, head in heads.items()
    ]
    note = (
        "A mean per token rewards rare words that are cut into pieces of which the later ones are easy to predict; the "
        "sum punishes them. Compare subjects under one denominator only."
    )
    title = "The same accuracies under other denominators, percent of items right"
    return by_condition(results, cols, names=names, name="accuracy_by_denominator", title=title, notes=(note,))


def frequency_split_table(results: Sequence[Record | Result], *, names: Mapping[str, str]) -> Table | None:
    """Return :func:`~lexiscope.analysis.choices.design_answers.accuracies_by_frequency` as a table."""
    cols = []
    for side in SIDES:
        statistic = statistic_name("accuracy_by_frequency", counts="baseline", synonym=side)
        cols += [Col(f"Synonym {side.replace('_', ' ')}", statistic, PERCENT), Col("n", statistic, INTEGER, "n")]
    title = "Controlled pairs, split by which of the two words is more frequent (percent right)"
    return by_condition(results, cols, names=names, name="accuracy_by_frequency", title=title)


def above_baseline_table(
    results: Sequence[Record | Result], baseline: Mapping[str, Accuracy], *, counts: str, names: Mapping[str, str]
) -> Table | None:
    """Return how much subjects exceed the word-frequency *baseline*, whose accuracies are by condition, in order.

    *results* are those of :func:`~lexiscope.analysis.choices.design_answers.above_baseline`, *counts* names what was
    counted, *names* what subjects and conditions are called. A number below 0 says in a note that the baseline does
    better.
    """
    records = records_of(results)
    cols = [
        Col(names[subject], "above_baseline", PERCENT, where={"subject": subject}, cell=_above)
        for subject in dict.fromkeys(record.subject for record in records)
    ]
    labels = ("Cell", Column("Word frequency", PERCENT, note="The more frequent word wins; no model."))
    rows = [PivotRow((names[cell], 100 * own.value), {"condition": cell}) for cell, own in baseline.items()]
    notes = (f"Counts: {counts}. Differences in points, their 95 % interval over sentences.",)
    title = "Accuracy of each subject above the word-frequency baseline, in points"
    return pivot("above_baseline", title, records, cols, rows, labels=labels, notes=notes) if cols else None


def below_baseline(
    results: Sequence[Record | Result], labels: Mapping[str, str], names: Mapping[str, str]
) -> list[str]:
    """Return a sentence for each subject that is below the word-frequency baseline in some of the labelled conditions.

    *results* are as in :func:`above_baseline_table`; *names* are what subjects are called.
    """
    below: dict[str, list[str]] = {}
    for record in records_of(results):
        points = record.value or 0.0
        if record.statistic == "above_baseline" and record.condition in labels and points < 0:
            below.setdefault(record.subject, []).append(f"{labels[record.condition]} ({-points:.1f} points)")
    return [
        f"{names[subject]} is below the word-frequency baseline in {'; '.join(texts)}."
        for subject, texts in below.items()
    ]


def _above(record: Record) -> Cell:
    cell = record_cell(record)
    if record.value is None or record.value >= 0:
        return cell
    if isinstance(cell, IntervalCell):
        return Noted(interval_text(cell, PERCENT), "Below what word frequency alone gives.")
    return Noted(format_number(record.value, PERCENT), "Below the baseline.")


def training_table(states: Sequence[tuple[str, float, Mapping[str, Accuracy]]]) -> Table:
    """Return accuracies over states of training: each with its title, its progress, and accuracies by condition."""
    conditions = list(states[0][2])
    heads = columns(
        "State",
        Column("Seen", INTEGER, note="Tokens, or steps, as given."),
        *((condition, PERCENT) for condition in conditions),
    )
    rows: list[tuple[Cell, ...]] = [
        (title, seen, *(100 * accuracies[condition].value for condition in conditions))
        for title, seen, accuracies in states
    ]
    return Table("checkpoints", "", "Accuracy over training, percent right", heads, tuple(rows))


def contrasts_table(
    results: Sequence[Record | Result], *, names: Mapping[str, str], name: str, title: str, source: str = ""
) -> Table | None:
    """Return differences of accuracies, with the paired t test and McNemar's test.

    *results* are those of :meth:`lexiscope.analysis.accuracy.PairedDecisions.results`; *source* is the paper that tests
    them alike.
    """
    difference = "First minus second, in points; in brackets the 95 % interval, sentences resampled."
    cols = (
        Col("Difference", "percent_right_difference", PERCENT, note=difference),
        Col("t", "paired_t", STATISTIC, note=f"Paired, two-sided{f', as in {source}' if source else ''}."),
        Col("p", "paired_t_p", P_VALUE),
        Col("Only first", "discordant(only=first)", INTEGER),
        Col("Only second", "discordant(only=second)", INTEGER),
        Col("p, exact", "mcnemar_p", P_VALUE, note="McNemar's test on the items that differ."),
    )
    note = "Both tests take items as independent; items that share a sentence are not (the intervals respect it)."
    return by_condition(results, cols, names=names, name=name, title=title, label="Contrast", notes=(note,))


def comparison_of_tests(results: Sequence[Estimate | Undefined], names: Mapping[str, str]) -> str:
    """Return how many contrasts were tested, and in which the t-test and the exact test come to other conclusions."""
    tested, apart = disagreeing_tests(results)
    text = f"{counted(tested, 'contrast')}."
    if tested > 1:
        text += " After each p is the one adjusted for the number of tests of its family."
    if apart:
        where = first_names([f"{names[subject]}, {names[condition]}" for subject, condition in apart], most=_NAMED)
        text += f" In {len(apart)} of them t and the exact test fall on different sides of p = .05: {where}."
    return text


def random_answers_table(
    name: str,
    title: str,
    results: Sequence[Record | Result],
    rows: Sequence[PivotRow],
    *,
    reasons: Sequence[str],
    labels: Sequence[str],
    number: str = "",
    further: Sequence[Col] = (),
    notes: Sequence[str] = (),
) -> Table:
    """Return accuracies of which some answers are random (:mod:`lexiscope.analysis.choices.choice_sets`).

    *reasons* are those for which answers can be random: how many are has a column for each. *further* columns are at
    the end.
    """
    cols = (
        Col("Right, %", ALL, PERCENT),
        Col("Expected, %", EXPECTED, PERCENT),
        Col("Decided right, %", DECIDED, PERCENT, note="Of the pairs that identity decides."),
        Col("Decided", DECIDED, INTEGER, cell=lambda record: record.n or 0),
        *(Col(reason.capitalize(), n_random(reason), INTEGER, show="value") for reason in reasons),
        Col("n", ALL, show="n"),
        *further,
    )
    every = "Expected: every random answer counted as half right; no seed changes it. Intervals resample words."
    return pivot(name, title, results, cols, rows, labels=labels, number=number, notes=(*notes, every))


def deltas_table(
    rows: Sequence[tuple[str, str, DeltaLevel]], *, name: str, number: str = "", notes: Sequence[str] = ()
) -> Table | None:
    """Return accuracy by token delta, each with its subject and what was counted, tested against delta 0."""
    heads = columns(
        *("Subject", "Tokens counted"),
        Column("Delta", INTEGER, note="Tokens of the synonym minus tokens of the distractor."),
        ("n", INTEGER),
        Column("Right, %", PERCENT, note="In brackets the 95 % interval, over sentences."),
        Column("t", STATISTIC, note="Independent samples against delta 0, pooled variances."),
        *(("p", P_VALUE), ("t, Welch", STATISTIC), ("p, Welch", P_VALUE)),
    )
    cells: list[tuple[Cell, ...]] = []
    for subject, said, level in rows:
        reason = Missing(_TOO_FEW if level.delta else "The reference.")
        tests: list[Cell] = []
        for test in (level.pooled, level.welch):
            tests += [reason, reason] if test is None else [test.statistic, test.p]
        delta = with_minus_signs(f"{level.delta:+g}") if level.delta else "0"
        share, bounds = 100 * level.accuracy, level.interval.times(100)
        right = share if math.isnan(bounds.low) else IntervalCell(bounds.low, bounds.high, share)
        cells.append((subject, said, delta, level.n, right, *tests))
    return (
        Table(name, number, "Accuracy by the difference of tokens", heads, tuple(cells), tuple(notes))
        if cells
        else None
    )


def delta_effects_table(rows: Sequence[tuple[str, str, DeltaEffect]]) -> Table | None:
    """Return whether decisions follow the token delta, each with its subject and condition."""
    heads = columns(
        *("Subject", "Cell"),
        *(("Right with fewer tokens, %", PERCENT), ("n", INTEGER)),
        *(("Right with more tokens, %", PERCENT), ("n", INTEGER)),
        *(("p, Welch", P_VALUE), "Follows the delta"),
    )
    cells: list[tuple[Cell, ...]] = []
    for subject, condition, effect in rows:
        sides: list[Cell] = []
        for share, n in ((effect.accuracy_fewer, effect.n_fewer), (effect.accuracy_more, effect.n_more)):
            sides += [100 * share if n else Missing("No such item."), n]
        p = effect.test.p if effect.test else Missing(_TOO_FEW)
        cells.append((subject, condition, *sides, p, "yes" if effect.follows else "no"))
    n_tests = max((effect.n_tests for _, _, effect in rows), default=1)
    adjusted = f" adjusted for {n_tests} tests (Holm)" if n_tests > 1 else ""
    note = f"It follows if the accuracies differ by 10 points or more with p < .05{adjusted}."
    note += " Several others: their mean count."
    return (
        Table("token_delta_effect", "", "Do decisions follow the token delta?", heads, tuple(cells), (note,))
        if cells
        else None
    )


def random_deltas_table(results: Sequence[Record | Result], *, names: Mapping[str, str]) -> Table | None:
    """Return :func:`~lexiscope.analysis.choices.design_answers.token_delta_results` as a table."""
    parsed = [parse_statistic(record.statistic) for record in records_of(results)]
    pers = dict.fromkeys(given["per"] for _, given in parsed)

    def named(statistic: str, **given: str) -> tuple[str, ...]:
        return tuple(statistic_name(statistic, **given, per=per) for per in pers)

    deltas = dict.fromkeys(int(given["delta"]) for _, given in parsed if "delta" in given)
    ends = {min(deltas, default=0): "{} or less", max(deltas, default=0): "{} or more"}
    cols = [
        Col(
            ends.get(delta, "{}").format(with_minus_signs(f"{delta:+d}") if delta else "0") + ", %",
            named("pairwise_accuracy", delta=str(delta)),
            PERCENT,
        )
        for delta in deltas
    ]
    effect = named("pairwise_token_effect")
    cols += [Col("More less fewer, points", effect, PERCENT), Col("p, bootstrap", effect, P_VALUE, "p")]
    notes = (
        "Tokens of the right word less those of the other, one other word at a time; chance 50.",
        "In brackets the 95 % interval, over sentences; p: sentences resampled.",
    )
    title = "The right word against one random word, by the difference of tokens"
    return by_condition(results, cols, names=names, name="token_delta_random", title=title, notes=notes)


def further_models_table(
    results: Sequence[Record | Result],
    cells: Mapping[str, str],
    statistics: Mapping[str, str],
    recorded: Sequence[str],
    *,
    names: Mapping[str, str],
) -> Table:
    """Return the accuracies of further models next to those of recorded ones, a row for each: what a paper draws only.

    *cells* are labels by condition, *statistics* the accuracy of each subject; *recorded* are the subjects that the
    others are compared with: in how many cells each is between the lowest and the highest of them.
    """
    records = records_of(results)
    value = {
        (record.subject, record.condition): record.value
        for record in records
        if statistics.get(record.subject) == record.statistic and record.value is not None
    }
    rows = []
    for subject, statistic in statistics.items():
        own = [(value[subject, cell], [value[who, cell] for who in recorded if (who, cell) in value])
               for cell in cells if (subject, cell) in value]  # fmt: skip
        inside = sum(bool(others) and min(others) <= given <= max(others) for given, others in own)
        shown: Cell = Missing("Its outcomes were recorded.") if subject in recorded else f"{inside} of {len(own)}"
        rows.append(PivotRow((names[subject], shown), {"subject": subject}, {"statistic": statistic}))
    labels = ("Subject", Column("In the range of the recorded", note="Cells between their lowest and highest value."))
    cols = [Col(label, "{statistic}", PERCENT, where={"condition": cell}) for cell, label in cells.items()]
    title = "Further models next to the recorded ones, percent of items right (Figures 4 and 5)"
    notes = (
        "Live models read the texts of this run; --mode published gives them those that the recorded ones read.",
        "In brackets the 95 % interval, over sentences.",
    )
    return pivot("further_models", title, records, cols, rows, labels=labels, notes=notes)


def token_warnings(rows: Sequence[tuple[str, str, DeltaEffect]], measures: Mapping[str, str]) -> list[str]:
    """Return a sentence for each subject whose decisions follow the token delta, with the cells in which they do.

    *rows* are as in :func:`delta_effects_table`; *measures* says under which measure each subject decided.
    """
    following: dict[str, list[str]] = {}
    for subject, condition, effect in rows:
        if effect.follows:
            more, fewer = 100 * effect.accuracy_more, 100 * effect.accuracy_fewer
            text = f"{condition} (accuracy {more:.0f} % with more tokens, {fewer:.0f} % with fewer)"
            following.setdefault(subject, []).append(text)
    return [
        f"Warning: decisions of {subject} under {measures[subject]} follow the token delta in "
        f"{counted(len(texts), 'cell')}: {'; '.join(texts)}."
        for subject, texts in following.items()
    ]


def consistency_of_tests(
    results: Sequence[Record | Result], *, names: Mapping[str, str], name: str, title: str, number: str = ""
) -> Table | None:
    """Return how often a second test is right, given a first one, of each subject; ``None`` without results.

    *results* are those of :func:`~lexiscope.analysis.choices.design_answers.consistency_results` of one pair of tests.
    """
    records, outcomes = records_of(results), ("wrong", "right")
    cols = [Col(f"Second {word}, n", f"n_consistent(a={{a}},b={b})", INTEGER) for b, word in enumerate(outcomes)]
    cols += [Col(f"P({word})", f"given(a={{a}},b={b})") for b, word in enumerate(outcomes)]
    rows = [
        PivotRow((names[subject], word), {"subject": subject}, {"a": a})
        for subject in dict.fromkeys(record.subject for record in records)
        for a, word in enumerate(outcomes)
    ]
    labels = ("Subject", "First test")
    notes = ("In brackets the 95 % interval, over sentences.",)
    return pivot(name, title, records, cols, rows, labels=labels, number=number, notes=notes) if rows else None


def margins_table(results: Sequence[Record | Result], *, names: Mapping[str, str]) -> Table | None:
    """Return margins of decisions (:meth:`lexiscope.analysis.choices.choice_sets.Decisions.margins`)."""
    of_items = "Of the margins over items, in the unit of the measure that decides."
    likelier = "Best other over right, geometric mean; above 1: right is likelier."
    cols = (
        Col("Lower quartile", "margin(summary=lower_quartile)", _FINE, note=of_items, absent=None),
        Col("Median", "margin(summary=median)", _FINE, absent=None),
        Col("Upper quartile", "margin(summary=upper_quartile)", _FINE, absent=None),
        Col("Smallest, absolute", "margin(summary=smallest_absolute)", _FINEST, note=_CLOSEST, absent=None),
        Col("Perplexity ratio", "perplexity_ratio", _FINE, note=likelier, absent=None),
    )
    note = "A margin is the right word's value minus the best other's: its sign is the decision."
    return by_condition(results, cols, names=names, name="margins", title="Margins of the decisions", notes=(note,))


def one_by_one_table(results: Sequence[Record | Result], *, names: Mapping[str, str]) -> Table | None:
    """Return how often the right word wins against one other alone, next to the accuracy against all of them together.

    *results* are accuracies and those of :func:`~lexiscope.analysis.choices.design_answers.one_by_one_results`.
    """
    records = records_of(results)
    alone = [record for record in records if record.statistic.startswith("pairwise_accuracy")]
    pers = list(dict.fromkeys(parse_statistic(record.statistic)[1]["per"] for record in alone))

    def col(header: str, statistic: str, note: str = "", **named: str) -> Col:
        return Col(
            header, tuple(statistic_name(statistic, **named, per=per) for per in pers), PERCENT, note=note, absent=None
        )

    cols = [
        col("Against all, %", "percent_right"),
        col("Against one, %", "pairwise_accuracy", "Chance 50. An item's value is its mean over the others."),
        col("Difference, points", "pairwise_accuracy_difference", "The first cell less the second, item by item."),
    ]
    heads = zip(TOKEN_SIDES, ("More tokens", "As many", "Fewer"), strict=True)
    cols += [col(f"{head}, %", "pairwise_accuracy", tokens=side) for side, head in heads]
    rows = rows_of(alone, "subject", "condition", names=names)
    notes = (
        "More tokens, as many, fewer: of the right word, compared with the one other; if there are several others, "
        "over all comparisons.",
        "In brackets the 95 % interval, over sentences.",
    )
    title = "The right word against one other word at a time"
    return (
        pivot("one_distractor", title, records, cols, rows, labels=("Subject", "Cell"), notes=notes) if rows else None
    )


def group_tables(
    results: Sequence[Record | Result], *, names: Mapping[str, str], name: str, title: str
) -> list[Table | None]:
    """Return accuracies in groups of items, and the differences of each two groups, as two tables.

    *results* are those of :func:`~lexiscope.analysis.choices.design_answers.group_results`; *name* and *title* say what
    the groups are.
    """
    parsed = [(record, *parse_statistic(record.statistic)) for record in records_of(results)]
    groups = dict.fromkeys(given["group"] for _, kind, given in parsed if kind == "accuracy_by_group")
    pers = dict.fromkeys(given["per"] for _, _, given in parsed)
    heads = {"accuracy": "", "pairwise_accuracy": ", against one"}

    def named(statistic: str, **given: str) -> tuple[str, ...]:
        return tuple(statistic_name(statistic, **given, per=per) for per in pers)

    cols = [
        Col(f"{_label(group)}{head}", named("accuracy_by_group", of=of, group=group), PERCENT, absent=None)
        for of, head in heads.items()
        for group in groups
    ]
    notes = (
        "Percent of items right; against one: percent of comparisons with one other word that the right word wins "
        "(chance 50, however many others an item has).",
        "In brackets the 95 % interval, over sentences.",
    )
    shown = by_condition(results, cols, names=names, name=name, title=title, notes=notes)
    cols = []
    for of, head in heads.items():
        statistic = named("group_difference", of=of, first="{first}", second="{second}")
        cols.append(Col(f"Difference{head}", statistic, PERCENT, absent=None))
        cols.append(Col(f"p{head}", statistic, P_VALUE, "p", absent=None))
    compared = dict.fromkeys(
        (record.subject, record.condition, given["first"], given["second"])
        for record, kind, given in parsed
        if kind == "group_difference"
    )
    rows = [
        PivotRow(
            (names[subject], names[cell], f"{_label(first)} − {_label(second).lower()}"),
            {"subject": subject, "condition": cell},
            {"first": first, "second": second},
        )
        for subject, cell, first, second in compared
    ]
    notes = ("In points. p: Welch's t, items taken as independent; the interval resamples sentences.", notes[1])
    told, labels = f"{title}: differences between groups", ["Subject", "Cell", "Groups"]
    return [shown, pivot(f"{name}_differences", told, results, cols, rows, labels=labels, notes=notes)] if rows else []


def _label(group: str) -> str:
    return group.replace("_", " ").capitalize()


def both_ways_table(rows: Sequence[tuple[str, str, BothWays]]) -> Table | None:
    """Return decisions on relations and on the same turned round, each with its subject and condition."""
    heads = columns(
        *("Subject", "Cell", ("Right, %", PERCENT), ("Turned round, %", PERCENT), ("Decided alike, %", PERCENT)),
        Column("Alike by chance, %", PERCENT, note="If the two directions had nothing to do with each other."),
        Column("Difference of margins", _FINE, note="Mean over items of the absolute difference of the two margins."),
    )
    cells: list[tuple[Cell, ...]] = []
    for subject, condition, ways in rows:
        shares = (100 * ways.forth, 100 * ways.back, 100 * ways.n_alike / ways.n, 100 * ways.expected)
        apart = Missing("This measure has no margins.") if math.isnan(ways.apart) else ways.apart
        cells.append((subject, condition, *shares, apart))
    return (
        Table("commutativity", "", "The relation turned round: “T … w” and “W … t”", heads, tuple(cells))
        if cells
        else None
    )


# -- gap filling ------------------------------------------------------------------------------------------------------


def criterion_in_words(statistic: str) -> tuple[str, str]:
    """Return which answers a ``gap_accuracy`` accepts, and of how many predictions one has to be right.

    >>> criterion_in_words("gap_accuracy(answers=synset,n=10)")
    ('synset', 'any of 10 predictions')
    """
    given = parse_statistic(statistic)[1]
    return given["answers"], "one prediction" if given["n"] == "1" else f"any of {given['n']} predictions"


def gap_accuracy_table(
    hits: Sequence[GapHits], results: Sequence[Record | Result], *, names: Mapping[str, str]
) -> Table:
    """Return a row for each subject and decoding of *hits*, with the accuracy under each criterion.

    *results* are those of :func:`~lexiscope.analysis.choices.gap_answers.gap_accuracy`; *names* are what subjects
    are called.
    """
    labels = columns(
        "Subject",
        "Decoding",
        ("Predictions", INTEGER),
        Column("Items excluded", INTEGER, note="A prediction was not given."),
    )
    criteria = list(dict.fromkeys(own.criterion for own in hits))
    rows = [
        PivotRow(
            (names[own.subject], own.decoding, own.n_predictions, own.n_missing),
            {"subject": own.subject, "condition": own.decoding},
            {"n": own.n_predictions},
        )
        for own in hits
        if own.criterion == criteria[0]
    ]
    cols = [
        Col(f"{answers.capitalize()}, %", f"gap_accuracy(answers={answers},n={{n}})", PERCENT) for answers in criteria
    ]
    title = "Gap filling: percent of items with an accepted answer"
    return pivot("gap_accuracy", title, results, cols, rows, labels=labels)


def gap_accuracy_figure(
    results: Sequence[Estimate], heading: Heading, *, names: Mapping[str, str], order: Sequence[str] = ()
) -> Figure:
    """Draw accuracies of gap filling, a row for each criterion; *order* as in :func:`accuracy_dots`."""
    dots = [
        Dot.of(record, ", ".join(criterion_in_words(record.statistic)[::-1]), names[record.subject])
        for record in records_of(results)
    ]
    return accuracy_dots(dots, heading, unit="Items with an accepted answer, %", order=order)


def top_k_table(results: Sequence[Record | Result], *, names: Mapping[str, str]) -> Table | None:
    """Return :func:`~lexiscope.analysis.choices.gap_answers.top_k_results` as a table, a row per subject and top-k."""
    swept = _swept(results)
    criteria = dict.fromkeys((given["answers"], given["n"]) for _, given in swept)
    rows = dict.fromkeys((record.subject, int(given["top_k"])) for record, given in swept)
    cols = [
        Col(f"{answers.capitalize()}, {head}", f"{name}(answers={answers},n={n},top_k={{k}})", PERCENT, absent=None)
        for answers, n in criteria
        for name, head in (("gap_accuracy", f"any of {n}"), ("gap_hit_rate", "one prediction"))
    ]
    shown = [PivotRow((names[subject], k), {"subject": subject}, {"k": k}) for subject, k in rows]
    labels = columns("Subject", ("Top-k", INTEGER))
    notes = (
        "Percent of items with an accepted answer among all predictions, and percent of single predictions.",
        "In brackets the 95 % interval, over sentences.",
    )
    title = "Gap filling over the number of tokens of which each is drawn"
    return pivot("gap_top_k", title, results, cols, shown, labels=labels, notes=notes) if shown else None


def top_k_figure(results: Sequence[Record | Result], heading: Heading, *, names: Mapping[str, str]) -> Figure | None:
    """Draw the accuracies of :func:`top_k_table` over top-k, a panel for each subject and criterion."""
    points: dict[str, list[tuple[float, Record]]] = {}
    for record, given in _swept(results):
        label = f"{names[record.subject]}, {given['answers']}"
        points.setdefault(label, []).append((float(given["top_k"]), record))
    curves = []
    for label, series in points.items():
        value, low, high = columns_of([Dot.of(record, label, "") for _, record in series], *_DRAWN).values()
        curves.append(DrawnCurve(label, np.array([k for k, _ in series]), value, low, high))
    axes = {"place": "top_k", "vertical": "Items with an accepted answer, %", "horizontal": "Top-k"}
    return accuracy_over_training(curves, heading, **axes) if curves else None


def _swept(results: Sequence[Record | Result]) -> list[tuple[Record, dict[str, str]]]:
    parsed = [(record, *parse_statistic(record.statistic)) for record in records_of(results)]
    return [(record, dict(given)) for record, name, given in parsed if name == "gap_accuracy" and "top_k" in given]


def coding_tables(results: Sequence[Record | Result], *, names: Mapping[str, str]) -> list[Table | None]:
    """Return :func:`~lexiscope.analysis.choices.gap_answers.coding_results` as tables: accuracies, and agreement."""
    records = records_of(results)
    right = [record for record in records if record.statistic.startswith("gap_coded_accuracy")]
    cols = [
        Col("Correct, %", "gap_coded_accuracy(accepted=synset)", PERCENT),
        Col("Correct, in the synset or not, %", "gap_coded_accuracy(accepted=any)", PERCENT, absent=None),
        Col("Predictions", "gap_coded_accuracy(accepted=synset)", INTEGER, "n"),
    ]
    called = {record.condition: record.condition.removeprefix("coder ") for record in right} | dict(names)
    notes = ("prelabel: what the lexicon proposes. In brackets the 95 % interval, over sentences.",)
    title = "Gap filling under the codes of each coder"
    tables = [by_condition(right, cols, names=called, name="gap_coded", title=title, label="Coder", notes=notes)]
    cols = [
        Col("Same, %", "gap_coding_same", PERCENT),
        Col("κ", "gap_coding_kappa", STATISTIC),
        Col("α", "gap_coding_alpha", STATISTIC),
        Col("Answers", "gap_coding_same", INTEGER, "n"),
    ]
    pairs = rows_of([record for record in records if record not in right], "condition")
    notes = ("Cohen's κ, its interval over answers; Krippendorff's nominal α; other intervals over sentences.",)
    title = "Agreement of the coders of gap answers"
    agreement = pivot("gap_coding_agreement", title, records, cols, pairs, labels=("Coders",), notes=notes)
    return [*tables, agreement if pairs else None]


def gap_categories(
    results: Sequence[Result], categories: Sequence[str], heading: Heading, *, names: Mapping[str, str]
) -> tuple[Table, Figure]:
    """Return the shares of proposed error categories as a table and a figure.

    *results* are those of :func:`~lexiscope.analysis.choices.gap_answers.category_shares`.
    The caption of the figure is a note of the table.
    """
    records = records_of(results)
    wanted = {statistic_name("gap_category", category=category): category for category in categories}
    cols = [Col(category.replace("_", " "), statistic, PERCENT, "value") for statistic, category in wanted.items()]
    n = {record.subject: record.n for record in records}
    rows = [PivotRow((names[subject], total), {"subject": subject}) for subject, total in n.items()]
    labels = columns("Subject", ("Predictions", INTEGER))
    title = "Error categories as proposed, percent"
    table = pivot("gap_categories", title, records, cols, rows, labels=labels, notes=(heading.caption,))
    shares = [
        (names[record.subject], wanted[record.statistic], record.value)
        for record in records
        if record.value is not None
    ]
    return table, stacked_shares(shares, heading, order=categories)


# -- people beside models ---------------------------------------------------------------------------------------------


def beside_people_table(results: Sequence[Result], *, names: Mapping[str, str]) -> Table:
    """Return people's accuracy on the items that they answered, with each model on the same items.

    *names* are the titles of subjects by their ids.
    """
    columns_shown = (
        Col("Right, %", _RIGHT_ON_SAME, PERCENT, note="Over people's single answers."),
        Col("Majority right, %", "people_right(of=items)", PERCENT, absent=None, note="More than half are right."),
        Col("As people, %", ("people_same", "same_as_people"), PERCENT, absent=None,
            note="The same answer as a person's; in the row of people, two people the same."),
        Col("Above people, points", "above_people", PERCENT, absent=None),
        Col("First word, %", "first_chosen", PERCENT, absent=None,
            note="The first word was chosen; the right word is first in half of the items."),
    )  # fmt: skip
    records = records_of(results)
    rows = [
        PivotRow((_ASKED.get(condition, condition), names.get(subject, subject)),
                 {"condition": condition, "subject": subject})
        for condition, subject in dict.fromkeys((record.condition, record.subject) for record in records)
    ]  # fmt: skip
    return pivot("people_and_models", "People, and models on the same items", records, columns_shown, rows,
                 labels=("Question", "Subject"), notes=("Intervals resample sentences.",))  # fmt: skip


_RIGHT_ON_SAME = ("people_right(of=answers)", "right_on_same")
"""How often people are right, and a model on the items that they answered."""
_ASKED = {**dict.fromkeys(PAGES, "forced choice"), GAPS: "gap filling"}
