"""Exports of programs for annotation: Label Studio, Potato.

Label Studio: tasks with their annotations as JSON, or an annotation in each row (JSON_MIN, CSV, TSV).

Potato: one annotated instance of one annotator in each row or line, with a label or a point for each schema.
"""

from __future__ import annotations

import re
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


def label_studio_layout_of_objects(
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
    return _label_studio_export(table, list(answers), notes)


def label_studio_layout(table: CellTable) -> ProgramExport | None:
    """Return the layout of a table of annotations; ``None`` for another table."""
    if not {"annotation_id", "annotator", "lead_time"} <= set(table.header):
        return None
    structured = [name for name in table.header if name not in _ABOUT and _is_structured(table[name])]
    columns = [
        [_plain_text(cell) for cell in table[name]] if name in structured else table[name] for name in table.header
    ]
    plain = table.moved(table.header, columns, range(len(table)), tuple(range(len(table.header))))
    numbers = [name for name in table.header if name not in _ABOUT and are_numbers(plain[name])]
    return _label_studio_export(plain, structured or numbers, ())


def _label_studio_export(table: CellTable, answers: Sequence[str], notes: tuple[str, ...]) -> ProgramExport:
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


def _plain_text(cell: str) -> str:
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


_USERS, _TEXT = ("user_id", "user"), "displayed_text"
_POINT = re.compile(r"scale_(\d+)")
# what a label is called where its value is what the annotator wrote or moved to
_VALUED = ("text_box", "slider", "number", "value", "")


def potato_layout_of_objects(
    path: Path | str, spelling: Spelling, text: str, objects: Sequence[tuple[int, JsonObject]]
) -> ProgramExport | None:
    """Return the layout of ``annotated_instances.jsonl``, of all annotators or of one; ``None`` for other objects."""
    if not all("label_annotations" in entry for _, entry in objects):
        return None
    rows: list[tuple[int, JsonObject]] = []
    for line, entry in objects:
        # the file of one annotator is in a folder of that name
        user = next((entry[name] for name in _USERS if name in entry), Path(path).parent.name)
        about = {"instance_id": entry.get("instance_id", entry.get("id", "")), _TEXT: entry.get(_TEXT, "")}
        labels = {schema: _label(values) for schema, values in entry["label_annotations"].items()}
        rows.append((line, {"user_id": user, **about, **labels}))
    return _potato_export(cells_of_objects(path, spelling, text, rows), "user_id")


def potato_layout(table: CellTable) -> ProgramExport | None:
    """Return the layout of annotations as CSV or TSV (``schema:::label``); ``None`` for another table."""
    user = next((name for name in _USERS if name in table.header), "")
    labelled = [name for name in table.header if ":::" in name]
    if not user or "instance_id" not in table.header or not labelled:
        return None
    schemas: dict[str, list[str]] = {}
    for name in labelled:
        schemas.setdefault(name.partition(":::")[0], []).append(name)
    columns = []
    for names in schemas.values():
        cells = zip(*(table[name] for name in names), strict=True)
        labels = [name.partition(":::")[2] for name in names]
        columns.append([_label({a: b for a, b in zip(labels, row, strict=True) if b.strip()}) for row in cells])
    kept = [name for name in table.header if ":::" not in name]
    header, every = (*kept, *schemas), range(len(table))
    at = (*(table.header.index(name) for name in kept), *(table.header.index(names[0]) for names in schemas.values()))
    return _potato_export(table.moved(header, (*(table[name] for name in kept), *columns), every, at), user)


def _potato_export(table: CellTable, user: str) -> ProgramExport:
    about = {user, "instance_id", _TEXT, "id"}
    schemas = [name for name in table.header if name not in about]
    numbers = [name for name in schemas if are_numbers(table[name])]
    rating = numbers if len(numbers) == 1 else schemas if len(schemas) == 1 else []
    fields = {"rater": (user,), "item": ("instance_id",), **({"rating": (rating[0],)} if rating else {})}
    return ProgramExport(table, "Potato", fields)


def _label(values: Any) -> str:
    """The label that an annotator chose, or the number on a scale; several labels are joined."""
    if not isinstance(values, Mapping):
        return "" if values is None else str(values)
    return "|".join(_answer(label, value) for label, value in values.items())


def _answer(label: str, value: Any) -> str:
    point = _POINT.fullmatch(label)
    if point:
        return point[1]
    return str(value) if label in _VALUED else label
