"""Potato: one annotated instance of one annotator in each row or line, with a label or a point for each schema."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lexiscope.resources.platforms.layout import ProgramExport, are_numbers
from lexiscope.resources.tables.cells import CellTable, JsonObject, cells_of_objects
from lexiscope.resources.tables.spelling import Spelling

_USERS, _TEXT = ("user_id", "user"), "displayed_text"
_POINT = re.compile(r"scale_(\d+)")
# what a label is called where its value is what the annotator wrote or moved to
_VALUED = ("text_box", "slider", "number", "value", "")


def layout_of_objects(
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
    return _layout(cells_of_objects(path, spelling, text, rows), "user_id")


def layout_of(table: CellTable) -> ProgramExport | None:
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
    return _layout(table.moved(header, (*(table[name] for name in kept), *columns), every, at), user)


def _layout(table: CellTable, user: str) -> ProgramExport:
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
