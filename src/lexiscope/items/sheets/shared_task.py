"""Submissions to the shared task on AmbiStory (SemEval-2026 Task 5): written, read, and checked before they are sent.

A submission has one JSON object on each line, ``{"id": "0", "prediction": 4}``. The id is the row of the sample in the
published file, as text; every row has exactly one prediction. Predictions between the points of the scale are allowed,
as the official scorer allows them, and counted: they gain three to five points of accuracy.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lexiscope.core.errors import InputError, Place
from lexiscope.core.foreign import parse_json, refuse_constant
from lexiscope.core.run import write_atomically

LOW, HIGH = 1, 5
ID, PREDICTION = "id", "prediction"
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with a submission; ``line`` is ``None`` where it concerns the whole file."""

    line: int | None
    message: str

    def __str__(self) -> str:
        return self.message if self.line is None else f"line {self.line}: {self.message}"


@dataclass(frozen=True, slots=True)
class Predictions:
    """A submission that passed the check: its predictions in the order of the published rows."""

    predictions: tuple[float, ...]

    @property
    def n_non_integer(self) -> int:
        """How many predictions are not at a point of the scale."""
        return sum(not float(value).is_integer() for value in self.predictions)


def check_submission(path: Path | str, n_samples: int) -> tuple[Fault, ...]:
    """Return everything that is wrong with a submission to a file of *n_samples* rows, in the order of its lines.

    Stricter than the official check in two places: a prediction above 5 is an error (there 5.9 is cut to 5), and so is
    an id that occurs twice.
    """
    return _read(Path(path), n_samples)[1]


def read_submission(path: Path | str, n_samples: int) -> Predictions:
    """Read a submission to a file of *n_samples* rows.

    Errors: :class:`InputError` with the line of the first fault, and how many there are.
    """
    predictions, faults = _read(Path(path), n_samples)
    if faults:
        more = f" ({len(faults)} faults in all)" if len(faults) > 1 else ""
        hint = "lexiscope shared-task check lists every fault"
        raise InputError(f"{faults[0].message}{more}", place=Place(str(path), faults[0].line), hint=hint)
    return Predictions(tuple(predictions[str(row)] for row in range(n_samples)))


def write_submission(path: Path | str, predictions: Sequence[float | None]) -> None:
    """Write a submission: *predictions* in the order of the published rows; the file appears whole or not at all.

    A whole number is written as one. Nothing is filled in for an answer that could not be read.
    Errors: :class:`InputError` where a row has no prediction, or one that is off the scale.
    """
    lacking = [str(row) for row, value in enumerate(predictions) if value is None or not math.isfinite(value)]
    if lacking or not predictions:
        what = f"{len(lacking)} of {len(predictions)} rows have no prediction: {_listed_rows(lacking)}"
        raise InputError(what, hint="a submission needs one for every row: ask for these again, nothing is filled in")
    off = [str(row) for row, value in enumerate(predictions) if value is not None and not LOW <= value <= HIGH]
    if off:
        what = f"{len(off)} predictions are not from {LOW} to {HIGH}: rows {_listed_rows(off)}"
        raise InputError(what, hint="clip them, and say so")
    lines = [
        json.dumps({ID: str(row), PREDICTION: int(value) if float(value).is_integer() else float(value)})
        for row, value in enumerate(predictions)
        if value is not None
    ]
    write_atomically(Path(path), "".join(f"{line}\n" for line in lines))


def _read(path: Path, n_samples: int) -> tuple[Mapping[str, float], tuple[Fault, ...]]:
    try:
        lines = path.read_bytes().decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        return {}, (Fault(None, f"this file is not UTF-8: {error.reason} at byte {error.start}"),)
    if lines[-1] == "":
        lines.pop()
    predictions: dict[str, float] = {}
    faults = []
    for line, text in enumerate(lines, start=1):
        message = _read_line(text, predictions, n_samples)
        faults += [Fault(line, message)] if message else []
    missing = [str(row) for row in range(n_samples) if str(row) not in predictions]
    if missing:
        faults.append(Fault(None, f"{len(missing)} of {n_samples} ids have no prediction: {_listed_rows(missing)}"))
    return predictions, tuple(faults)


def _read_line(text: str, predictions: dict[str, float], n_samples: int) -> str:
    """Read one line into *found*; return what is wrong with it, or nothing."""
    if not text.strip():
        return "this line is empty"
    try:
        row = parse_json(text, object_pairs_hook=_distinct, parse_constant=refuse_constant)
    except ValueError as error:
        return f"this line is not JSON: {error}"
    if not isinstance(row, dict) or not {ID, PREDICTION} <= set(row):
        return f'this line needs an object with "{ID}" and "{PREDICTION}"'
    return _read_row(row, predictions, n_samples)


def _read_row(row: Mapping[str, Any], predictions: dict[str, float], n_samples: int) -> str:
    number, value = row[ID], row[PREDICTION]
    if not isinstance(number, str) or number not in {str(n) for n in (_row(number),) if 0 <= n < n_samples}:
        return f'the id must be the text of a row from "0" to "{n_samples - 1}"; there is {json.dumps(number)}'
    if number in predictions:
        return f"the id {number!r} comes twice"
    # seen, though not yet usable: a bad prediction is not reported again as a missing one
    predictions[number] = math.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"the prediction must be a number without quotation marks; there is {json.dumps(value)}"
    if not LOW <= value <= HIGH:
        return f"the prediction must be from {LOW} to {HIGH}; there is {value}"
    predictions[number] = float(value)
    return ""


def _row(number: str) -> int:
    return int(number) if number.isascii() and number.isdecimal() else -1


def _distinct(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("it has a name twice")
    return dict(pairs)


def _listed_rows(rows: Sequence[str]) -> str:
    return ", ".join(rows[:_NAMED]) + (" …" if len(rows) > _NAMED else "")
