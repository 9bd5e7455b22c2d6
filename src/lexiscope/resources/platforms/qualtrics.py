"""Qualtrics: a row for each respondent, three header rows (names, texts, ImportIds), a column for each question."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from lexiscope.core.errors import InputError, Place
from lexiscope.core.foreign import parse_json
from lexiscope.core.showing import counted
from lexiscope.resources.platforms.layout import ProgramExport, are_numbers, first_named, off_scale
from lexiscope.resources.tables.cells import CellTable

_FEWEST = 3
_UNSEEN = "-99"
"""What Qualtrics writes for a question that was shown and not answered, if the export asks for it."""
_QUESTION = re.compile(r"QID\d+")
_PREVIEWS = frozenset({"survey preview", "survey test", "spam", "1", "2", "8", "16"})
# columns of a question that hold no answer: written texts, orders, and the clocks of a page
_NO_ANSWER = ("_TEXT", "_DO", "First Click", "Last Click", "Page Submit", "Click Count", "FIRST_CLICK", "LAST_CLICK",
              "PAGE_SUBMIT", "CLICK_COUNT")  # fmt: skip


def layout_of(table: CellTable) -> ProgramExport | None:
    """Return the layout of a Qualtrics export as CSV or TSV; ``None`` for another table."""
    if len(table) < 2 or not all(column[1].startswith("{") for column in table.columns if column[1]):
        return None
    ids = [_import_id(column[1]) for column in table.columns]
    if not any(ids):
        return None
    status = table["Status"] if "Status" in table.header else [""] * len(table)
    rows = [number for number in range(2, len(table)) if status[number].strip().casefold() not in _PREVIEWS]
    n_previews = len(table) - 2 - len(rows)
    answers = table.kept(rows)
    notes = [f"Excluded: {counted(n_previews, 'preview')} (column Status)."] if n_previews else []
    if "Finished" in answers.header:
        n_left = sum(cell.strip().casefold() in ("0", "false") for cell in answers["Finished"])
        if n_left:
            left = counted(n_left, "respondent who did not finish", "respondents who did not finish")
            finished = next(
                (cell for cell in answers["Finished"] if cell.strip().casefold() not in ("0", "false")), "1"
            )
            notes.append(f"Included: {left}. To exclude them: --where Finished={finished}.")
    rated, doubt, more = _rated_columns(answers, ids)
    fields = {"rater": (_rater_column(answers),), **({"item_columns": rated} if rated else {})}
    return ProgramExport(answers, "Qualtrics", fields, (*notes, *more), doubt=doubt)


def _import_id(cell: str) -> str:
    try:
        content = parse_json(cell)
    except ValueError:
        return ""
    return str(content.get("ImportId", "")) if isinstance(content, dict) else ""


def _rater_column(table: CellTable) -> str:
    """The id that a recruiting platform gave, where every respondent has their own; else that of the response."""
    given = first_named(table.header, ("PROLIFIC_PID", "participant_id", "workerId", "SONA_ID"))
    if given:
        ids = [cell.strip() for cell in table[given]]
        if all(ids) and len(set(ids)) == len(ids):
            return given
    return first_named(table.header, ("ResponseId", "ResponseID", "_recordId")) or table.header[0]


def _rated_columns(table: CellTable, ids: Sequence[str]) -> tuple[tuple[str, ...], InputError | None, tuple[str, ...]]:
    """The columns that hold ratings, a doubt about them, and what must be said of the choice.

    They are the parts of the questions that have several (a matrix, a loop), else all questions: those answered with
    numbers, and not always with the same one (as consent is). The doubt: several such questions on different scales.
    """
    ranges: dict[str, tuple[float, float]] = {}
    questions: dict[str, list[str]] = {}
    constant: list[str] = []
    for name, import_id, cells in zip(table.header, ids, table.columns, strict=True):
        question = _QUESTION.search(import_id)
        if question is None or any(mark in name or mark in import_id for mark in _NO_ANSWER) or not are_numbers(cells):
            continue
        numbers = [float(cell) for cell in cells if cell.strip() not in ("", _UNSEEN)]
        if len(numbers) >= _FEWEST and len(set(numbers)) == 1:
            constant.append(name)
        elif numbers:
            ranges[name] = (min(numbers), max(numbers))
            questions.setdefault(question[0], []).append(name)
    several = [names for names in questions.values() if len(names) > 1]
    doubt = _doubt(table, several, ranges)
    away = [] if several else off_scale(ranges)
    taken = [name for names in several for name in names] or [name for name in ranges if name not in away]
    others = [name for name in ranges if name not in taken]
    notes = [f"Not taken as items, because all answers are the same: {', '.join(constant)}."] if constant else []
    if others and not doubt:
        more = "--map item_columns=COLUMN, for each item"
        notes.append(f"Other questions with numbers, not taken as items: {', '.join(others)}. To take them: {more}.")
    return tuple(taken), doubt, tuple(notes)


def _doubt(
    table: CellTable, several: Sequence[Sequence[str]], ranges: Mapping[str, tuple[float, float]]
) -> InputError | None:
    ends = [(min(ranges[name][0] for name in names), max(ranges[name][1] for name in names)) for names in several]
    if len({high for _, high in ends}) < 2:
        return None
    shown = "; ".join(
        f"{names[0]} … {names[-1]} ({low:g} to {high:g})" for names, (low, high) in zip(several, ends, strict=True)
    )
    what = f"Several questions on different scales may hold the ratings: {shown}."
    hint = f"Name those that do: --map 'item_columns={several[0][0].rstrip('0123456789')}*'."
    return InputError(what, code="E006", place=Place(table.path, table.header_line), hint=hint)
