"""The judgments as a Psych-DS folder: a described CSV file that archives of psychology can index.

*Source:* Psych-DS, the schema of the Society for the Improvement of Psychological Science (dataset_description.json in
schema.org terms, data files under ``data/`` named ``keyword-value_data.csv``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lexiscope.annotation.export.codebook import levels_of, range_of
from lexiscope.annotation.export.collected import Collected
from lexiscope.core.errors import InputError, Place, RunError
from lexiscope.core.simulated import TOLD_SIMULATED
from lexiscope.items.sheets.sheet import Sheet, SheetColumn
from lexiscope.resources.tables.rows import RowReader

FOLDER = "psych_ds"
DESCRIPTION = "dataset_description.json"
_KINDS = {"integer": "Integer", "number": "Float", "truth": "Boolean", "time": "DateTime"}
_FILE = re.compile(r"([a-z]+-[A-Za-z0-9]+)(_[a-z]+-[A-Za-z0-9]+)*_data\.csv")
_KEYWORDS = {"study", "site", "subject", "session", "task", "condition", "trial", "stimulus", "description"}


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


def check_psych_ds(folder: Path) -> tuple[str, ...]:
    """Return what is wrong with a Psych-DS folder: names, required fields, columns that are not described.

    Errors: :class:`RunError` where the description cannot be read.
    """
    try:
        description = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RunError("this is no Psych-DS folder", place=Place(str(folder / DESCRIPTION)), why=str(error)) from error
    required = ("@context", "@type", "name", "description", "variableMeasured")
    problems = [f"{DESCRIPTION} lacks {name}" for name in required if not description.get(name)]
    if not str(description.get("@context")).rstrip("/").endswith("schema.org") or description.get("@type") != "Dataset":
        problems.append(f"{DESCRIPTION} describes no Dataset of schema.org")
    files = sorted((folder / "data").rglob("*.csv"))
    problems += [] if files else ["there is no data file"]
    return tuple(problems + [fault for path in files for fault in _data_faults(path, description)])


def _data_faults(path: Path, description: Mapping[str, Any]) -> list[str]:
    faults = []
    keywords = {part.partition("-")[0] for part in path.name.split("_")[:-1]}
    if not _FILE.fullmatch(path.name) or not keywords <= _KEYWORDS:
        faults.append(f"{path.name} is not named keyword-value_data.csv")
    broken: list[InputError] = []
    reader = RowReader(path, broken.append, delimiter=",")
    for _ in reader.rows():
        pass
    header = reader.header
    measured = description.get("variableMeasured") or []
    known = {entry["name"] if isinstance(entry, dict) else entry for entry in measured}
    faults += [f"{path.name}: the column {name!r} is not described" for name in header if name not in known]
    faults += [f"{path.name}: {name!r} stands twice" for name in sorted({n for n in header if header.count(n) > 1})]
    return faults + [f"{path.name}:{error.place.line if error.place else ''}: {error.what}" for error in broken]


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
