"""Tables in the terminal: one of a report, and words by their number of senses."""

from __future__ import annotations

from collections.abc import Sequence

from lexiscope.cli.output import print_table, say, say_folded
from lexiscope.report.tables import Table, layout
from lexiscope.senses.induced_senses import SensesByFrequency

_SHOWN = 6


def print_report_table(table: Table) -> None:
    """Print a table so that it fits a narrow terminal: cells are folded, notes follow below, by letter."""
    laid = layout(table)
    grid = [[f"{cell.text} ({cell.mark})" if cell.mark else cell.text for cell in row]
            for row in (laid.headers, *laid.rows)]  # fmt: skip
    right = [name for name, column in zip(grid[0], table.columns, strict=True) if column.right]
    title = f"Table {table.number}. {table.title}" if table.number else table.title
    print_table(_distinct_names(grid[0]), grid[1:], title=title, right=_distinct_names(right))
    for text in (*(f"({letter}) {note}" for letter, note in laid.lettered), *laid.notes):
        say_folded(text)
    say()


def print_senses_by_frequency(rows: Sequence[SensesByFrequency]) -> None:
    """Print how many senses words have by rank of frequency, on stdout; numbers of senses above six share a column."""
    names = number_columns(rows)
    few = len(names) <= _SHOWN
    columns = ["rank of frequency", *names[:_SHOWN], *([] if few else ["more"]), "mean"]
    shown = [
        (
            f"{row.first_rank}-{row.last_rank}",
            *row.n_words[:_SHOWN],
            *([] if few else [sum(row.n_words[_SHOWN:])]),
            row.mean,
        )
        for row in rows
    ]
    print_table(columns, shown, right=columns[1:], title="Words by their number of senses")


def number_columns(rows: Sequence[SensesByFrequency]) -> list[str]:
    """Return the headings of the numbers of senses: ``1 sense``, ``2 senses`` …."""
    return [f"{k} sense{'s' if k > 1 else ''}" for k in range(1, len(rows[0].n_words) + 1)]


def _distinct_names(names: Sequence[str]) -> list[str]:
    """Two columns may have one heading: the second one gets an invisible blank."""
    return [name + " " * list(names[:place]).count(name) for place, name in enumerate(names)]
