"""The forced choice between two substitutes as a sheet: written as CSV, answered by hand, read back as responses.

A row of the sheet is an item of the task ``substitution``: the sentence with its target in brackets, and twice again
with a candidate in its place, A and B in the order of the item's options. People write A or B under ``answer``, may
leave it empty, and mark what is itself wrong under ``weird``. The key is not in the sheet.

What comes back is one row ``choice`` per item, the candidate as ``option`` and missing where none was chosen, and one
row ``flag_weird``, 1 or 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.items.choice_sets.surface import Mode, place_word
from lexiscope.items.tables.spreadsheet import SheetRow, read_sheet, write_sheet

TASK = "substitution"
MEASURE_CHOICE, MEASURE_WEIRD = "choice", "flag_weird"
COLUMNS = (
    "item_id",
    "target",
    "sentence",
    "option_a",
    "sentence_a",
    "option_b",
    "sentence_b",
    "answer",
    "weird",
    "comment",
)
LETTERS = ("A", "B")
_MARKS = frozenset({"x", "1", "yes", "y", "true", "weird"})
_NO_MARKS = frozenset({"", "0", "no", "n", "false"})


def write_choice_sheet(path: Path | str, items: Sequence[Item]) -> None:
    """Write the sheet of some items of the task ``substitution``, in their order and with their options as A and B.

    :func:`lexiscope.items.sheets.human_sheet.human_sheet` makes the items of the published sheet.
    Errors: :class:`InputError` E617 for an item without two options; :class:`~lexiscope.core.errors.RunError` where the
    file cannot be written.
    """
    write_sheet(path, COLUMNS, [(*_shown(item), "", "", "") for item in items])


def read_choice_sheet(path: Path | str, items: Sequence[Item], *, participant: str) -> ResponseTable:
    """Read an answered sheet; the rows are in the order of the sheet, which people may have sorted otherwise.

    An empty answer is a row without option. Letters may be small; a mark of weirdness is x, 1 or yes.
    Errors: :class:`InputError` E471 (a row of no item), E472 (an item stands twice), E473 (an item is missing), E474
    (what was shown has been changed), E475 (an answer that is neither A, B nor empty, a mark that is none), those of
    :func:`lexiscope.items.tables.spreadsheet.read_sheet`, and E505 for a participant without a name.
    """
    if not participant.strip():
        raise InputError("a sheet needs the name of its participant", code="E505", hint="use a code, not a full name")
    shown = {item.item_id: (item, _shown(item)) for item in items}
    rows: list[Response] = []
    for position, row in enumerate(checked_rows(path, COLUMNS, {key: cells for key, (_, cells) in shown.items()})):
        item, _ = shown[row.cells["item_id"]]
        rows.extend(_answers(row, item, participant, position))
    return ResponseTable.from_rows(rows)


def checked_rows(
    path: Path | str, columns: Sequence[str], shown: dict[str, tuple[str, ...]], *, what: str = "an answered sheet"
) -> Iterator[SheetRow]:
    """Yield the rows of a sheet that came back, each once and as it was shown; the first column is the id.

    *shown* has the cells of each id in the order of the columns; columns beyond them are for answers.
    Errors: :class:`InputError` E471 to E474 as in :func:`read_choice_sheet`.
    """
    seen: dict[str, int] = {}
    for row in read_sheet(path, columns, what=what):
        key = row.cells[columns[0]]
        if key not in shown:
            hint = "keep the ids as they were written, and read the sheet with the items that it was made of"
            raise InputError(f"the sheet has no row {key!r}", code="E471", place=row.place(columns[0]), hint=hint)
        if key in seen:
            hint = f"it stands in line {seen[key]} too: keep the one that counts"
            raise InputError(f"{key!r} stands twice", code="E472", place=row.place(columns[0]), hint=hint)
        seen[key] = row.row.line
        for column, cell in zip(columns, shown[key], strict=False):
            if _plain(row.cells[column]) != _plain(cell):
                what_changed = f"the cell {column!r} of {key!r} is not as it was shown"
                hint = f"put it back: {cell!r}; corrections belong in the comment"
                raise InputError(what_changed, code="E474", place=row.place(column), hint=hint)
        yield row
    missing = [key for key in shown if key not in seen]
    if missing:
        raise InputError(
            f"{len(missing)} of {len(shown)} rows are missing from the sheet",
            code="E473",
            place=Place(str(path), item_id=missing[0]),
            hint="a row without an answer stays in the sheet, its answer empty",
        )


def is_marked(row: SheetRow, column: str) -> bool:
    """Say whether a cell was marked, with x, 1 or yes.

    Errors: :class:`InputError` E475 for anything else in a cell that is not empty, 0 or no.
    """
    mark = row.cells[column].casefold()
    if mark not in _MARKS | _NO_MARKS:
        what, hint = f"{row.cells[column]!r} is no mark", "write x, or nothing; remarks belong in the comment"
        raise InputError(what, code="E475", place=row.place(column), hint=hint)
    return mark in _MARKS


def _shown(item: Item) -> tuple[str, ...]:
    """The cells of an item that people read."""
    if len(item.options) != len(LETTERS):
        what = f"a choice needs two options, not {item.options!r}"
        raise InputError(what, code="E617", place=Place(item_id=item.item_id), hint="give the candidates as options")
    usage = item.usages[0]
    cells = [item.item_id, usage.target, usage.bracketed]
    for word in item.options:
        cells += [word, _bracketed(item, word)]
    return tuple(cells)


def _bracketed(item: Item, word: str) -> str:
    usage, mode = item.usages[0], item.conditions.get("mode", "clean")
    published: Mode = "published" if mode == "published" else "clean"
    placed = place_word(usage.text, (usage.start, usage.end), word, language=usage.language, mode=published)
    return f"{placed.text[: placed.start]}[{placed.word}]{placed.text[placed.end :]}"


def _answers(row: SheetRow, item: Item, participant: str, position: int) -> Iterator[Response]:
    answer = row.cells["answer"].upper()
    if answer not in ("", *LETTERS):
        what, hint = f"{row.cells['answer']!r} is no answer", "write A, B, or nothing"
        raise InputError(what, code="E475", place=row.place("answer"), hint=hint)
    weird = is_marked(row, "weird")
    option = item.options[LETTERS.index(answer)] if answer else None
    given = Response(
        subject_id=participant,
        subject_kind="participant",
        item_id=item.item_id,
        task=TASK,
        measure=MEASURE_CHOICE,
        option=option,
        view="full",
        position=position,
        raw=answer or None,
    )
    yield given
    yield Response(
        subject_id=participant,
        subject_kind="participant",
        item_id=item.item_id,
        task=TASK,
        measure=MEASURE_WEIRD,
        value=float(weird),
        view="full",
        position=position,
        raw=row.cells["comment"] or None,
    )


def _plain(text: str) -> str:
    # a spreadsheet may fold white space and turn line ends
    return " ".join(text.split())
