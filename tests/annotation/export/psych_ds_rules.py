"""The rules of Psych-DS that an exported folder must follow."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lexiscope.annotation.export.package import DESCRIPTION
from lexiscope.core.errors import InputError, Place, RunError
from lexiscope.resources.tables.rows import RowReader

_FILE = re.compile(r"([a-z]+-[A-Za-z0-9]+)(_[a-z]+-[A-Za-z0-9]+)*_data\.csv")
_KEYWORDS = {"study", "site", "subject", "session", "task", "condition", "trial", "stimulus", "description"}


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
