"""How often each subject is right, beside chance and beside word frequency (Table 5, Figures 1, 4 and 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from lexiscope.analysis.accuracy import Accuracy, accuracy
from lexiscope.core.result import Record, parse_statistic, statistic_name
from lexiscope.report.part import Part, pick, shown
from lexiscope.report.tables import INTEGER, P_VALUE, Column, Missing, Noted, Table
from lexiscope.report.tables import Cell as TableCell
from lexiscope.report.tables import Interval as Bounds
from lexiscope.studies.synonymy.cells import Cell
from lexiscope.studies.synonymy.material import Answers, Material, Outcome
from lexiscope.studies.synonymy.numbers import PERCENT, accuracy_records, compared_outcomes, scored
from lexiscope.studies.synonymy.settings import SynonymySettings

PER_NAMES = ("token", "text", "character", "byte")


def per_of(answers: Answers, measure: str | None = None) -> str:
    """Return what log-probabilities were divided by under a measure; recorded outcomes: by tokens, as published."""
    given = parse_statistic(measure or answers.measure)[1]
    return given.get("per", "token" if answers.kind == "recorded" else "option")


def accuracies(material: Material, settings: SynonymySettings) -> Part:
    """Return the accuracy of every subject in every cell, under every denominator, and the tables of them."""
    records: list[Record] = []
    main = material.main
    for answers in material.answers:
        for measure, outcomes in ((answers.measure, answers.outcomes), *answers.others.items()):
            for cell in answers.cells:
                # other denominators are shown for the main accuracies: that is where they are compared
                if measure == answers.measure or cell in main:
                    found = scored(material, cell, outcomes[cell], settings)
                    per = per_of(answers, measure)
                    records += accuracy_records(material, found, subject=answers.subject, condition=cell.name, per=per)
    above = _above_baseline(material, settings)
    splits = _by_frequency(material, settings)
    tables = (
        _table_5(material, records),
        _intervals(material, records),
        *_whole(material, records),
        *_denominators(material, records),
        *_above_table(material, above),
        *_split_table(material, splits),
    )
    return Part((*records, *above, *splits), tables, remarks=_remarks(material, above))


def apart(material: Material, right: Part) -> tuple[Part, Part]:
    """Divide the accuracies: all of them but those without a context, and these, in a table of their own.

    Those of other denominators, the intervals and the contrasts stay in the first.
    """
    cells = [cell for cell in material.cells if cell.is_alone]
    deciding = {(each.subject, statistic_name("accuracy", per=per_of(each))) for each in material.answers}
    names = {cell.name for cell in cells}
    own = tuple(r for r in right.records if r.condition in names and (r.subject, r.statistic) in deciding)
    if not own:
        return right, Part()
    title = "Accuracy without context, percent of items right"
    table = _accuracy_table(material, right.records, cells, "accuracy_no_context", "", title)
    rest = replace(right, records=tuple(record for record in right.records if record not in own))
    return rest, Part(own, (table,))


def _accuracy(records: Sequence[Record], answers: Answers, cell: Cell) -> Record | None:
    name = statistic_name("accuracy", per=per_of(answers))
    return pick(records, name, subject=answers.subject, condition=cell.name)


def _table_5(material: Material, records: Sequence[Record]) -> Table:
    """The main accuracies (the paper's eight), a column for each subject, chance beside them."""
    number, title = ("5" if material.design.is_papers else ""), "Accuracy, percent of items right, beside chance"
    return _accuracy_table(material, records, material.main, "table_5_accuracy", number, title)


def _intervals(material: Material, records: Sequence[Record]) -> Table:
    """The same accuracies with both intervals, p against chance, and ties."""
    columns = (
        Column("Subject"),
        Column("Cell"),
        Column("Right, %", PERCENT),
        Column("Sentences resampled", PERCENT, note="95 % interval; the one to use."),
        Column("Wilson", PERCENT, note="95 % interval that takes items as independent."),
        Column("p, chance", P_VALUE, note="Exact, one-sided: at least as many right by chance."),
        Column("Ties", INTEGER),
    )
    rows = []
    for answers in material.answers:
        for cell in (cell for cell in material.main if cell in answers.outcomes):
            rows.append((answers.title, cell.label, *_interval_cells(records, answers, cell)))
    title = "Accuracy with both intervals"
    return Table("accuracy_intervals", "", title, columns, tuple(rows))


def _interval_cells(records: Sequence[Record], answers: Answers, cell: Cell) -> tuple[TableCell, ...]:
    per = per_of(answers)

    def found(name: str, **more: str) -> Record | None:
        statistic = statistic_name(name, **more, per=per)
        return pick(records, statistic, subject=answers.subject, condition=cell.name)

    main, low, high, ties = (
        found("accuracy"),
        found("wilson", bound="low"),
        found("wilson", bound="high"),
        found("n_tied"),
    )
    assert main is not None
    assert low is not None
    assert high is not None
    assert ties is not None
    clustered: TableCell = Missing(main.note)
    if main.low is not None and main.high is not None:
        clustered = Bounds(main.low, main.high)
    # recorded outcomes do not show which of them were ties
    tied: TableCell = Missing("Not recorded.") if answers.kind == "recorded" else ties.value
    return main.value, clustered, Bounds(low.value or 0.0, high.value or 0.0), main.p, tied


def _whole(material: Material, records: Sequence[Record]) -> tuple[Table, ...]:
    main = material.main
    cells = [cell for cell in material.cells if cell not in main]
    if not cells:
        return ()
    title = "Accuracy in the other cells, percent of items right"
    return (_accuracy_table(material, records, cells, "accuracy_other_cells", "", title),)


def _accuracy_table(
    material: Material, records: Sequence[Record], cells: Sequence[Cell], name: str, number: str, title: str
) -> Table:
    columns = [Column("Cell"), Column("Chance", PERCENT)]
    columns += [Column(answers.title, PERCENT, note=_column_note(answers)) for answers in material.answers]
    rows: list[tuple[TableCell, ...]] = []
    for cell in cells:
        found = [_accuracy(records, answers, cell) for answers in material.answers]
        rows.append((cell.label, _chance(records, cell), *map(shown, found)))
    ties = _ties(material, cells)
    notes = (
        "In brackets the 95 % interval, sentences resampled.",
        f"Ties count as wrong: {ties}." if ties else "No tie occurred where ties could be seen (live subjects).",
    )
    return Table(name, number, title, tuple(columns), tuple(rows), notes)


def _column_note(answers: Answers) -> str:
    if answers.kind == "recorded":
        return "Recorded outcomes, on the published texts; mean log-probability per token, no BOS."
    return f"Decided by {answers.measure}." if answers.kind == "live" else "The more frequent word wins."


def _chance(records: Sequence[Record], cell: Cell) -> TableCell:
    found = next((r for r in records if r.condition == cell.name and r.statistic.startswith("chance(")), None)
    return None if found is None else found.value


def _ties(material: Material, cells: Sequence[Cell]) -> str:
    counts = [
        (answers.title, sum(int(answers.outcomes[cell].tied.sum()) for cell in cells if cell in answers.outcomes))
        for answers in material.answers
    ]
    return ", ".join(f"{title} {n}" for title, n in counts if n)


def _denominators(material: Material, records: Sequence[Record]) -> tuple[Table, ...]:
    """The same accuracies when the sum of log-probabilities is divided by tokens, characters, bytes, or nothing."""
    live = [answers for answers in material.of_kind("live") if answers.others]
    if not live:
        return ()
    columns = [Column("Subject"), Column("Cell")]
    columns += [Column("per " + per if per != "text" else "sum", PERCENT) for per in PER_NAMES]
    rows = []
    for answers in live:
        for cell in (cell for cell in material.main if cell in answers.outcomes):
            found = [
                pick(records, statistic_name("accuracy", per=per), subject=answers.subject, condition=cell.name)
                for per in PER_NAMES
            ]
            rows.append((answers.title, cell.label, *(None if r is None else r.value for r in found)))
    note = (
        "A mean per token rewards rare words that are cut into pieces of which the later ones are easy to predict; the "
        "sum punishes them. Compare subjects under one denominator only."
    )
    title = "The same accuracies under other denominators, percent of items right"
    return (Table("accuracy_by_denominator", "", title, tuple(columns), tuple(rows), (note,)),)


# -- beside word frequency ------------------------------------------------------------------------------------


def _above_baseline(material: Material, settings: SynonymySettings) -> list[Record]:
    base = material.baseline
    records: list[Record] = []
    for answers in material.of_kind("recorded", "live") if base is not None else ():
        assert base is not None
        for cell in answers.cells:
            if cell in base.outcomes:
                found = compared_outcomes(material, answers.outcomes[cell], base.outcomes[cell], settings)
                about = {"subject": answers.subject, "dataset": material.name, "condition": cell.name, "n": found.n}
                p = found.exact.p if found.exact else None
                low, high = (None, None) if found.interval.note else (found.interval.low, found.interval.high)
                records.append(
                    Record(
                        "above_baseline",
                        100 * found.difference,
                        unit="points",
                        low=None if low is None else 100 * low,
                        high=None if high is None else 100 * high,
                        interval="" if low is None else found.interval.method,
                        p=p,
                        note=found.note,
                        **about,  # type: ignore[arg-type]
                    )
                )
                records.append(Record("above_baseline_exact_p", p, note=found.note, **about))  # type: ignore[arg-type]
    return records


def _above_table(material: Material, records: Sequence[Record]) -> tuple[Table, ...]:
    base = material.baseline
    if base is None or not records:
        return ()
    columns = [Column("Cell"), Column("Word frequency", PERCENT, note="The more frequent word wins; no model.")]
    subjects = material.of_kind("recorded", "live")
    columns += [Column(answers.title, PERCENT) for answers in subjects]
    rows = []
    for cell in (cell for cell in material.main if cell in base.outcomes):
        differences = [
            _flagged(pick(records, "above_baseline", subject=answers.subject, condition=cell.name))
            for answers in subjects
        ]
        rows.append((cell.label, 100 * float(base.outcomes[cell].correct.mean()), *differences))
    notes = (f"Counts: {base.measure}. Differences in points, their 95 % interval over sentences.",)
    title = "How far each subject lies above the word-frequency baseline, in points"
    return (Table("above_baseline", "", title, tuple(columns), tuple(rows), notes),)


def _flagged(record: Record | None) -> TableCell:
    """A difference; one below 0 says in a note that word frequency alone does better."""
    if record is None or record.value is None or record.value >= 0:
        return shown(record)
    if record.low is None or record.high is None:
        return Noted(f"{record.value:.1f}".replace("-", "−"), "Below the baseline.")
    bounds = f"{record.value:.1f} [{record.low:.1f}, {record.high:.1f}]".replace("-", "−")
    return Noted(bounds, "Below what word frequency alone gives.")


def _remarks(material: Material, above: Sequence[Record]) -> tuple[str, ...]:
    """Which random conditions lie below the baseline, subject by subject."""
    labels = {cell.name: cell.label for cell in material.main if cell.is_random}
    texts = []
    for answers in material.of_kind("recorded", "live"):
        below = [
            f"{labels[r.condition]} ({abs(r.value):.1f} points)"
            for r in above
            if r.statistic == "above_baseline" and r.subject == answers.subject and (r.value or 0) < 0 and r.value
            if r.condition in labels
        ]
        if below:
            texts.append(f"{answers.title} lies below the word-frequency baseline in {'; '.join(below)}.")
    return tuple(texts)


def _by_frequency(material: Material, settings: SynonymySettings) -> list[Record]:
    """Controlled accuracy where the synonym is more frequent than the distractor, and where it is not."""
    base = material.baseline
    cells = material.design.controlled
    # the two words of an item are the same in all its controlled choice sets
    counted = [base.outcomes[cell].margin for cell in cells if cell in base.outcomes] if base is not None else []
    if not counted:
        return []
    more, less = counted[0] > 0, counted[0] < 0
    records = []
    for answers in material.of_kind("recorded", "live"):
        for cell in (cell for cell in cells if cell in answers.outcomes):
            for side, chosen in (("more_frequent", more), ("less_frequent", less)):
                records.append(_split(material, answers, cell, side, answers.outcomes[cell], chosen, settings))
    return records


def _split(
    material: Material,
    answers: Answers,
    cell: Cell,
    side: str,
    outcome: Outcome,
    chosen: np.ndarray[tuple[int], np.dtype[np.bool_]],
    settings: SynonymySettings,
) -> Record:
    about = {"subject": answers.subject, "dataset": material.name, "condition": cell.name, "unit": "percent"}
    name = statistic_name("accuracy_by_frequency", counts="baseline", synonym=side)
    n = int(chosen.sum())
    if n < 2 or len(set(np.array(material.sentences)[chosen].tolist())) < 2:
        return Record(name, None, n=n, note="fewer than two items", **about)  # type: ignore[arg-type]
    found: Accuracy = accuracy(
        outcome.correct[chosen],
        clusters=np.array(material.sentences)[chosen],
        resamples=settings.n_bootstrap,
        seed=settings.seed,
    )
    bounds: Mapping[str, float | None] = (
        {} if found.clustered.note else {"low": 100 * found.clustered.low, "high": 100 * found.clustered.high}
    )
    method = "" if found.clustered.note else found.clustered.method
    return Record(name, 100 * found.value, n=n, interval=method, **about, **bounds)  # type: ignore[arg-type]


def _split_table(material: Material, records: Sequence[Record]) -> tuple[Table, ...]:
    if not records:
        return ()
    sides = ("more_frequent", "less_frequent")
    names = [statistic_name("accuracy_by_frequency", counts="baseline", synonym=side) for side in sides]
    columns = (
        Column("Subject"),
        Column("Cell"),
        Column("Synonym more frequent", PERCENT),
        Column("n", INTEGER),
        Column("Synonym less frequent", PERCENT),
        Column("n", INTEGER),
    )
    rows = []
    for answers in material.of_kind("recorded", "live"):
        for cell in (cell for cell in material.design.controlled if cell in answers.outcomes):
            found = [pick(records, name, subject=answers.subject, condition=cell.name) for name in names]
            cells: list[TableCell] = []
            for record in found:
                cells += [shown(record), None if record is None else record.n]
            rows.append((answers.title, cell.label, *cells))
    title = "Controlled pairs, split by which of the two words is more frequent (percent right)"
    return (Table("accuracy_by_frequency", "", title, columns, tuple(rows)),)
