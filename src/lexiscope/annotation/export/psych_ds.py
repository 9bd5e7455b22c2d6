"""The judgments as a Psych-DS folder: a described CSV file that archives of psychology can index.

*Source:* Psych-DS, the schema of the Society for the Improvement of Psychological Science (dataset_description.json in
schema.org terms, data files under ``data/`` named ``keyword-value_data.csv``).
"""

from __future__ import annotations

import json
import re
from typing import Any

from lexiscope.annotation.export.codebook import levels_of, range_of
from lexiscope.annotation.export.collected import Collected
from lexiscope.core.simulated import TOLD_SIMULATED
from lexiscope.items.sheets.sheet import Sheet, SheetColumn

FOLDER = "psych_ds"
DESCRIPTION = "dataset_description.json"
_KINDS = {"integer": "Integer", "number": "Float", "truth": "Boolean", "time": "DateTime"}


def psych_ds(collected: Collected, judgments: Sheet, text: str) -> dict[str, str]:
    """Return the files of the folder by their paths in it; *text* is the CSV of the judgments."""
    data = f"data/study-{plain_name(collected.definition.name)}_data.csv"
    description = json.dumps(describe(collected, judgments), ensure_ascii=False, indent=2, sort_keys=True) + "\n"
    return {DESCRIPTION: description, data: text, "README.md": _readme(collected, data)}


def plain_name(name: str) -> str:
    """Return a study's name in letters and digits, as a value in a file's name must be.

    >>> plain_name("saw-c_2"), plain_name("词")
    ('sawc2', 'unnamed')
    """
    return re.sub(r"[^A-Za-z0-9]", "", name) or "unnamed"


def describe(collected: Collected, judgments: Sheet) -> dict[str, Any]:
    """Return the description of the dataset in schema.org terms."""
    definition = collected.definition
    about = f"Judgments of the task {definition.task}, one row per judgment, with the participants' random ids."
    marks = []
    if collected.simulated:
        about, marks = f"SIMULATED PARTICIPANTS: {TOLD_SIMULATED}. {about}", ["simulated participants"]
    return {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": definition.texts.title or definition.name,
        "alternateName": definition.name,
        "description": f"{about} Collected with Lexiscope.",
        "inLanguage": definition.language,
        "keywords": ["word meaning", definition.task, *(marks or ["human judgments"])],
        "variableMeasured": [_variable(judgments, column) for column in judgments.columns],
    }


def _variable(sheet: Sheet, column: SheetColumn) -> dict[str, Any]:
    low, high = range_of(sheet, column)
    found: dict[str, Any] = {"@type": "PropertyValue", "name": column.name, "description": column.meaning}
    found |= {"valueReference": _KINDS.get(column.kind, "Text")}
    found |= {"unitText": column.unit} if column.unit else {}
    found |= {"minValue": low} if low is not None else {}
    found |= {"maxValue": high} if high is not None else {}
    levels = levels_of(sheet, column)
    return found | ({"levels": list(levels)} if levels else {})


def _readme(collected: Collected, data: str) -> str:
    lines = [
        f"# {collected.definition.texts.title or collected.definition.name}",
        "",
        *([f"**Simulated participants:** {TOLD_SIMULATED}.", ""] if collected.simulated else []),
        f"`{data}` has one row per judgment. Excluded participants are in it and marked (`excluded`,",
        "`exclusion_rule`); only rows of kind `item` in phase `trials` count in item statistics. A cell that a",
        "spreadsheet would run begins with an apostrophe; judgments.jsonl of the export has it unchanged.",
        "",
    ]
    return "\n".join(lines)
