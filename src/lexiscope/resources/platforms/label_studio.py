"""Label Studio: tasks with their annotations as JSON, or an annotation in each row (JSON_MIN, CSV, TSV)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lexiscope.core.foreign import parse_json
from lexiscope.core.showing import counted
from lexiscope.resources.platforms.layout import ProgramExport, are_numbers
from lexiscope.resources.tables.cells import CellTable, JsonObject, cells_of_objects
from lexiscope.resources.tables.spelling import Spelling

_PROGRAM, _ITEM, _RATER = "Label Studio", "id", "annotator"
_ABOUT = {
    "id",
    "annotator",
    "annotation_id",
    "created_at",
    "updated_at",
    "lead_time",
    "agreement",
    "agreement_selected",
}
_VALUES = ("rating", "number", "choices", "taxonomy", "text")
"""The keys of a result's value that hold an answer about a whole text."""


def layout_of_objects(
    path: Path | str, spelling: Spelling, text: str, objects: Sequence[tuple[int, JsonObject]]
) -> ProgramExport | None:
    """Return the layout of tasks with annotations; ``None`` for other objects."""
    if not all(isinstance(entry.get("annotations"), list) and "data" in entry for _, entry in objects):
        return None
    rows: list[tuple[int, JsonObject]] = []
    answers: dict[str, None] = {}
    n_skipped = 0
    for line, task in objects:
        for annotation in task["annotations"]:
            if annotation.get("was_cancelled"):
                n_skipped += 1
                continue
            given = {result["from_name"]: _value(result.get("value")) for result in annotation.get("result", ())}
            answers.update(dict.fromkeys(given))
            rows.append((line, {**task["data"], _ITEM: task.get("id", ""), _RATER: _person(annotation), **given}))
    table = cells_of_objects(path, spelling, text, rows)
    notes = (f"Excluded: {counted(n_skipped, 'skipped annotation')} (was_cancelled).",) if n_skipped else ()
    return _layout(table, list(answers), notes)


def layout_of(table: CellTable) -> ProgramExport | None:
    """Return the layout of a table of annotations; ``None`` for another table."""
    if not {"annotation_id", "annotator", "lead_time"} <= set(table.header):
        return None
    structured = [name for name in table.header if name not in _ABOUT and _is_structured(table[name])]
    columns = [[_text(cell) for cell in table[name]] if name in structured else table[name] for name in table.header]
    plain = table.moved(table.header, columns, range(len(table)), tuple(range(len(table.header))))
    numbers = [name for name in table.header if name not in _ABOUT and are_numbers(plain[name])]
    return _layout(plain, structured or numbers, ())


def _layout(table: CellTable, answers: Sequence[str], notes: tuple[str, ...]) -> ProgramExport:
    numbers = [name for name in answers if are_numbers(table[name])]
    rating = numbers if len(numbers) == 1 else answers if len(answers) == 1 else []
    fields = {"rater": (_RATER,), "item": (_ITEM,), **({"rating": (rating[0],)} if rating else {})}
    return ProgramExport(table, _PROGRAM, fields, notes, frozenset(_ABOUT))


def _person(annotation: Mapping[str, Any]) -> str:
    """Who annotated: a number, or an object with an address or a number."""
    person = annotation.get("completed_by", "")
    if isinstance(person, Mapping):
        return str(person.get("email") or person.get("id") or "")
    return str(person)


def _is_structured(cells: Sequence[str]) -> bool:
    """Whether a column holds the values of results as JSON: ``[{"rating": 4}]``, ``{"choices": [...]}``."""
    filled = [cell for cell in cells if cell.strip()]
    return bool(filled) and all(cell.lstrip().startswith(("[{", "{")) for cell in filled)


def _text(cell: str) -> str:
    try:
        content = parse_json(cell) if cell.strip() else ""
    except ValueError:
        return cell
    entries = content if isinstance(content, list) else [content]
    return "|".join(filter(None, map(_value, entries)))


def _value(value: Any) -> str:
    """The answer in the value of a result; several choices are joined."""
    if not isinstance(value, Mapping):
        return "" if value is None else str(value)
    answer = next((value[key] for key in _VALUES if key in value), "")
    return "|".join(map(str, answer)) if isinstance(answer, list) else str(answer)
