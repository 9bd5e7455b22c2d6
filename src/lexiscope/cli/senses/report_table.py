"""A table of a report in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from lexiscope.cli.output import print_table, say, say_folded
from lexiscope.report.tables import Table, layout


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


def _distinct_names(names: Sequence[str]) -> list[str]:
    """Two columns may have one heading: the second one gets an invisible blank."""
    return [name + " " * list(names[:place]).count(name) for place, name in enumerate(names)]
