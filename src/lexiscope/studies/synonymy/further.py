"""What the paper recommends or leaves open: expressions, margins, the relation turned round, states of training."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from lexiscope.analysis.consistency_table import consistency_table
from lexiscope.core.result import Record
from lexiscope.items.templates import TURNED
from lexiscope.report.figure_accuracy import Series, SeriesPoint, series
from lexiscope.report.figures import Figure, Heading
from lexiscope.report.part import Part
from lexiscope.report.tables import INTEGER, Column, Format, Missing, Table
from lexiscope.report.tables import Cell as TableCell
from lexiscope.studies.synonymy.cells import Cell, ordered
from lexiscope.studies.synonymy.material import Answers, Material, Outcome
from lexiscope.studies.synonymy.numbers import PERCENT, scored
from lexiscope.studies.synonymy.settings import SynonymySettings

THREE = Format("number", 3)


def expressions(material: Material) -> Part:
    """Return which expression of the relation works best for each subject in each condition."""
    records: list[Record] = []
    rows: list[tuple[TableCell, ...]] = []
    related = material.design.related
    for answers in material.of_kind("recorded", "live"):
        for suite, condition in dict.fromkeys((c.suite, c.condition) for c in answers.cells if c in related):
            cells = [cell for cell in answers.cells if (cell.suite, cell.condition) == (suite, condition)]
            shares = {cell: 100 * float(answers.outcomes[cell].correct.mean()) for cell in cells}
            top = max(shares.values())
            best = [cell for cell in cells if shares[cell] == top]
            said = " and ".join(f"“{cell.expression}”" for cell in best)
            records.append(
                Record(
                    "best_expression",
                    top,
                    subject=answers.subject,
                    dataset=material.name,
                    condition=f"{suite}/{condition}",
                    unit="percent",
                    note=said,
                )
            )
            spread = top - min(shares.values())
            plain = cells[0].label.partition(" (")[0]
            rows.append((answers.title, f"{plain}: {cells[0].label.rpartition(': ')[2]}", said, top, spread))
    columns = (
        Column("Subject"),
        Column("Condition"),
        Column("Best expression"),
        Column("Right, %", PERCENT),
        Column("Best minus worst, points", PERCENT, note="The contrasts between expressions test it."),
    )
    table = Table("preferred_expression", "", "The expression of the relation that works best", columns, tuple(rows))
    return Part(tuple(records), (table,) if rows else ())


def margins(material: Material) -> Part:
    """Return by how much the right word wins or loses: the log-probability, and the perplexity, beside the best other.

    Recorded outcomes have no margins: their perplexities were not released.
    """
    records: list[Record] = []
    rows: list[tuple[TableCell, ...]] = []
    for answers in material.of_kind("live"):
        for cell in (cell for cell in material.main if cell in answers.outcomes and not cell.is_joint):
            margin = answers.outcomes[cell].margin
            if np.isnan(margin).any():
                continue
            found = _margin_records(material, answers, cell, margin)
            records += found
            values = {record.statistic: record.value for record in found}
            rows.append((answers.title, cell.label, *(values.get(name) for name in _MARGINS)))
    columns = (
        Column("Subject"),
        Column("Cell"),
        Column("Lower quartile", THREE, note="Of the margins over items, in the unit of the measure that decides."),
        Column("Median", THREE),
        Column("Upper quartile", THREE),
        Column("Smallest, absolute", Format("number", 5), note="How near the closest decision was."),
        Column("Perplexity ratio", THREE, note="Best other over right, geometric mean; above 1: right is likelier."),
    )
    note = "A margin is the right word's value minus the best other's: its sign is the decision."
    table = Table("margins", "", "Margins of the decisions", columns, tuple(rows), (note,))
    return Part(tuple(records), (table,) if rows else ())


_MARGINS = (
    "margin(summary=lower_quartile)",
    "margin(summary=median)",
    "margin(summary=upper_quartile)",
    "margin(summary=smallest_absolute)",
    "perplexity_ratio",
)


def _margin_records(
    material: Material, answers: Answers, cell: Cell, margin: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> list[Record]:
    low, median, high = (float(value) for value in np.quantile(margin, (0.25, 0.5, 0.75)))
    values = [low, median, high, float(np.abs(margin).min())]
    policy = answers.policy
    # perplexity is per token by definition: other denominators have none
    if policy is not None and policy.per == "token":
        values.append(math.exp(float(margin.mean())))
    return [
        Record(name, value, subject=answers.subject, dataset=material.name, condition=cell.name, n=len(margin))
        for name, value in zip(_MARGINS, values, strict=False)
    ]


def commutativity(material: Material) -> Part:
    """Return whether a subject decides alike when target and word change places."""
    records: list[Record] = []
    rows: list[tuple[TableCell, ...]] = []
    for answers in material.of_kind("live"):
        for cell, turned in _both_ways(answers):
            first, second = answers.outcomes[cell], answers.outcomes[turned]
            found = consistency_table(first.correct, second.correct)
            same = 100 * float(np.trace(found.counts)) / found.n
            apart = float(np.mean(np.abs(first.margin - second.margin)))
            about = {"subject": answers.subject, "dataset": material.name, "condition": cell.name}
            records.append(Record("same_both_ways", same, unit="percent", n=found.n, **about))  # type: ignore[arg-type]
            if not math.isnan(apart):
                records.append(Record("direction_difference", apart, n=found.n, **about))  # type: ignore[arg-type]
            forth, back = (100 * float(outcome.correct.mean()) for outcome in (first, second))
            expected = 100 * float(
                first.correct.mean() * second.correct.mean() + (1 - first.correct.mean()) * (1 - second.correct.mean())
            )
            difference = Missing("This measure has no margins.") if math.isnan(apart) else apart
            rows.append((answers.title, cell.label, forth, back, same, expected, difference))
    columns = (
        Column("Subject"),
        Column("Cell"),
        Column("Right, %", PERCENT),
        Column("Turned round, %", PERCENT),
        Column("Decided alike, %", PERCENT),
        Column("Alike by chance, %", PERCENT, note="If the two directions had nothing to do with each other."),
        Column("Difference of margins", THREE, note="Mean over items of the absolute difference of the two margins."),
    )
    title = "The relation turned round: “T … w” beside “W … t”"
    table = Table("commutativity", "", title, columns, tuple(rows))
    return Part(tuple(records), (table,) if rows else ())


def _both_ways(answers: Answers) -> Iterator[tuple[Cell, Cell]]:
    for cell in answers.cells:
        turned = Cell(cell.suite + TURNED, cell.expression, cell.condition)
        if turned in answers.outcomes:
            yield cell, turned


def checkpoints(material: Material, settings: SynonymySettings) -> Part:
    """Return accuracy over the states of a model in training, with a figure."""
    asked = _states(material)
    if len(asked) < 2:
        return Part()
    cells = [cell for cell in material.main if all(cell in answers.outcomes for _, answers in asked)]
    columns = (
        Column("State"),
        Column("Seen", INTEGER, note="Tokens, or steps, as given."),
        *(Column(cell.label, PERCENT) for cell in cells),
    )
    rows: list[tuple[TableCell, ...]] = [
        (answers.title, seen, *(100 * float(answers.outcomes[cell].correct.mean()) for cell in cells))
        for seen, answers in asked
    ]
    table = Table("checkpoints", "", "Accuracy over training, percent right", columns, tuple(rows))
    return Part(tables=(table,), figures=_series_figure(material, asked, cells, settings))


def _states(material: Material) -> list[tuple[float, Answers]]:
    seen = dict(material.states)
    asked = [(seen[answers.subject], answers) for answers in material.of_kind("live") if answers.subject in seen]
    return sorted(asked, key=lambda each: each[0])


def _series_figure(
    material: Material, asked: Sequence[tuple[float, Answers]], cells: Sequence[Cell], settings: SynonymySettings
) -> tuple[Figure, ...]:
    def point(seen: float, outcome: Outcome, cell: Cell) -> SeriesPoint:
        found = scored(material, cell, outcome, settings)
        low, high = (math.nan, math.nan) if found.clustered.note else (found.clustered.low, found.clustered.high)
        return SeriesPoint(seen, 100 * found.value, 100 * low, 100 * high)

    lines = [
        Series(
            cell.label,
            100 * cell.chance(asked[0][1].outcomes[cell].n_options),
            tuple(point(seen, answers.outcomes[cell], cell) for seen, answers in asked),
        )
        for cell in ordered(cells)
    ]
    heading = Heading("figure_checkpoints", "", "Accuracy over training", "Bands: 95 % interval, sentences resampled.")
    return (series(lines, heading),) if lines else ()
