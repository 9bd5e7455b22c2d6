"""Plausibility ratings as AmbiStory released them: samples with the choices of all annotators, aligned by slot.

Place *i* of ``choices`` is the same participant in every sample of a list, so that annotators stay analysable.
"""

from __future__ import annotations

import json
import statistics
from typing import Any

from lexiscope.core.item import Item
from lexiscope.core.simulated import KIND_COLUMN, SIMULATED
from lexiscope.items.sheets.sheet import Sheet, SheetColumn, sheet_of
from lexiscope.tasks.kit.published import Judgments, Row, first_condition, judgment_cells

_JUDGMENTS = (
    SheetColumn("sample_id", "the sample: one meaning judged in one story", "id"),
    SheetColumn("group", "the group (list) of the participant", "category"),
    SheetColumn("slot", "the participant's place in the group; empty for a surplus one", "integer", low=1),
    SheetColumn("participant_id", "random id of the participant", "id"),
    SheetColumn("choice", "plausibility of the meaning; higher means more plausible", "text", "points", answer=True),
    SheetColumn("nonsensical", "the participant marked the text as nonsensical", "truth"),
    SheetColumn("comment", "the participant's comment", "text"),
)


def published(judgments: Judgments) -> tuple[Sheet, ...]:
    """Return a row per rating that counts."""
    rows = [
        judgment_cells(row) | {"sample_id": sample_id(judgments.items[row["item_id"]])} for row in judgments.valid_rows
    ]
    return (sheet_of("ambistory_judgments.csv", "one rating of one sample by one participant", _JUDGMENTS, rows),)


def release(judgments: Judgments) -> str:
    """Return the samples as the published JSON has them: keyed by row number, four spaces, ASCII."""
    given: dict[str, list[Row]] = {}
    for row in judgments.valid_rows:
        if row["response"] is not None:
            given.setdefault(row["item_id"], []).append(row)
    items = sorted(judgments.asked, key=_order)
    mark = {KIND_COLUMN: SIMULATED} if judgments.simulated else {}
    samples = {str(number): sample(item, given.get(item.item_id, [])) | mark for number, item in enumerate(items)}
    return json.dumps(samples, indent=4) + "\n"


def sample(item: Item, rows: list[Row]) -> dict[str, Any]:
    """Return one sample: what was shown and what was chosen. Average and SD (n − 1) are ``null`` where undefined."""
    choices = [_number(row["response"]) for row in rows]
    shown, first = item.conditions, item.usages[0]
    return {
        "homonym": first_condition(shown, "homonym") or first.target,
        "judged_meaning": first_condition(shown, "judged_meaning", "sense", "meaning"),
        "precontext": first_condition(shown, "precontext") or "",
        "sentence": first_condition(shown, "sentence") or first.text,
        "ending": first_condition(shown, "ending") or "",
        "choices": choices,
        "average": float(statistics.fmean(choices)) if choices else None,
        "stdev": float(statistics.stdev(choices)) if len(choices) > 1 else None,
        "nonsensical": [bool(row["flag_nonsensical"]) for row in rows],
        "sample_id": sample_id(item),
        "example_sentence": first_condition(shown, "example_sentence", "example") or "",
    }


def sample_id(item: Item) -> str:
    """Return the id of a sample: the condition of this name, else the item's id."""
    return str(first_condition(item.conditions, "sample_id") or item.item_id)


def _number(text: str) -> int | float:
    value = float(text)
    return int(value) if value.is_integer() else value


def _order(item: Item) -> tuple[object, ...]:
    name = sample_id(item)
    return (0, int(name), name) if name.isdecimal() else (1, 0, name)
