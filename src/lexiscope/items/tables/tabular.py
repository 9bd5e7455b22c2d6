"""Items as a table: a CSV file that keeps every field of every item exactly, for people and for programs.

Texts are unchanged; ``conditions`` each have a column ``condition.<name>``. An empty field means "none"; an empty text,
or a text that could be mistaken, is written with a backslash or in JSON (see :func:`write_items`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lexiscope.core.errors import InputError, LexiscopeError, Place
from lexiscope.core.foreign import parse_json
from lexiscope.core.item import Condition, Item
from lexiscope.core.run import csv_field, write_atomically
from lexiscope.core.scale import Scale
from lexiscope.core.usage import Usage
from lexiscope.resources.tables.delimited import read_header
from lexiscope.resources.tables.rows import Row, RowReader

_ITEM = ("item_id", "dataset", "list_id", "gold", "options")
_USAGE = ("text", "start", "end", "lemma", "pos", "language", "sense")
_CONDITION = "condition."
_SCALE = "scale"


def write_items(items: Sequence[Item], path: Path | str) -> None:
    """Write items as UTF-8 CSV; :func:`read_items` gives the same items back.

    Columns: item_id, dataset, list_id, gold, options (a JSON list), then text_1, start_1, end_1, lemma_1, pos_1,
    language_1, sense_1 for each usage, then ``condition.<name>``. A condition is written bare where it reads back as
    the same text, else as JSON (true, 3, 0.5, "3"). If items have individual rating scales, a column ``scale`` follows
    options: ``1 to 5``, or with words at its points a JSON list of the scale and [point, words].
    """
    n_usages = max((len(item.usages) for item in items), default=0)
    names = list(dict.fromkeys(name for item in items for name in item.conditions))
    usage_columns = [f"{part}_{i + 1}" for i in range(n_usages) for part in _USAGE]
    own = [_SCALE] if any(item.scale is not None for item in items) else []
    lines = [[*_ITEM, *own, *usage_columns, *(_CONDITION + name for name in names)]]
    for item in items:
        options = json.dumps(item.options, ensure_ascii=False) if item.options else ""
        fields = [item.item_id, *map(_escape_text, (item.dataset, item.list_id, item.gold)), options]
        scale = [scale_text(item.scale)] if own else []
        conditions = [_condition_text(item.conditions[name]) if name in item.conditions else "" for name in names]
        lines.append([*fields, *scale, *_usage_fields(item, n_usages), *conditions])
    write_atomically(Path(path), "".join(",".join(map(csv_field, line)) + "\n" for line in lines))


def read_items(path: Path | str) -> tuple[Item, ...]:
    """Read items that :func:`write_items` wrote.

    Errors: :class:`InputError` with file and line where the table is not one of items, or an item breaks a rule.
    """
    reader = RowReader(path, delimiter=",")
    rows = reader.rows()
    header = next(rows)
    missing = [name for name in _ITEM if name not in header.fields]
    if missing:
        hint = "import other tables with column names: lexiscope.items.read.importer"
        raise InputError(
            f"not a table of items: no column {missing[0]!r}", code="E006", place=header.place(), hint=hint
        )
    return tuple(_item(dict(zip(header.fields, row.fields, strict=True)), row) for row in rows)


def is_item_table(path: Path | str) -> bool:
    """Return whether a file begins like a table that :func:`write_items` wrote; the rows are not read."""
    try:
        return read_header(Path(path))[: len(_ITEM)] == list(_ITEM)
    except (OSError, InputError):
        return False


def _usage_fields(item: Item, n_usages: int) -> list[str]:
    cells: list[str] = []
    for usage in item.usages:
        rest = [usage.lemma, usage.pos, usage.language, usage.sense]
        cells += [usage.text, str(usage.start), str(usage.end), *map(_escape_text, rest)]
    return cells + [""] * (len(_USAGE) * (n_usages - len(item.usages)))


def _item(values: dict[str, str], row: Row) -> Item:
    numbers = [int(name[5:]) for name in values if re.fullmatch(r"text_\d+", name)]
    try:
        return Item(
            item_id=values["item_id"],
            dataset=_unescape_text(values["dataset"]) or "",
            usages=tuple(_usage(values, i) for i in sorted(numbers) if values[f"text_{i}"]),
            options=tuple(parse_json(values["options"] or "[]")),
            gold=_unescape_text(values["gold"]),
            list_id=_unescape_text(values["list_id"]),
            conditions={
                name.removeprefix(_CONDITION): _condition(text)
                for name, text in values.items()
                if name.startswith(_CONDITION) and text
            },
            scale=scale_of_text(values.get(_SCALE, "")),
        )
    except (ValueError, KeyError, LexiscopeError) as error:
        place = Place(row.path, row.line, item_id=values["item_id"])
        raise InputError("this row is not an item", code="E405", place=place, why=str(error)) from error


def scale_text(scale: Scale | None) -> str:
    """Return a scale as the text of a cell, with the words at its points; empty for none."""
    if scale is None:
        return ""
    return json.dumps([str(scale), *scale.anchors], ensure_ascii=False) if scale.anchors else str(scale)


def scale_of_text(text: str) -> Scale | None:
    """Return the scale of a cell that :func:`scale_text` wrote. Errors: those of :meth:`Scale.parse`."""
    if not text.startswith("["):
        return Scale.parse(text) if text else None
    printed, *anchors = json.loads(text)
    return replace(Scale.parse(printed), anchors=tuple((float(point), str(words)) for point, words in anchors))


def _usage(values: dict[str, str], i: int) -> Usage:
    return Usage(
        text=values[f"text_{i}"],
        start=int(values[f"start_{i}"]),
        end=int(values[f"end_{i}"]),
        lemma=_unescape_text(values[f"lemma_{i}"]),
        pos=_unescape_text(values[f"pos_{i}"]),
        language=_unescape_text(values[f"language_{i}"]) or "",
        sense=_unescape_text(values[f"sense_{i}"]),
    )


def _escape_text(text: str | None) -> str:
    # a bare empty field is None; the empty text and texts that begin like an escape get a backslash
    if text is None:
        return ""
    return f"\\{text}" if not text or text.startswith("\\") else text


def _unescape_text(text: str) -> str | None:
    return text.removeprefix("\\") if text else None


def _condition_text(value: Condition) -> str:
    if isinstance(value, str) and value and _condition(value) == value and isinstance(_condition(value), str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _condition(text: str) -> Condition:
    try:
        value = parse_json(text)
    except ValueError:
        return text
    return value if isinstance(value, str | int | float | bool) else text
