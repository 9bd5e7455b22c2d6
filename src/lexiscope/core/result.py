"""A printed number: one flat record per statistic, and the names that statistics are printed under.

``results.json`` of a run is a list of these records. Every number that a table, a figure or a sentence of the
report prints is in it.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from lexiscope.core.errors import InputError, LexiscopeError, Place, SpecError
from lexiscope.core.foreign import json_text, parse_json
from lexiscope.core.sealed import check_file
from lexiscope.core.simulated import SIMULATED

Status = Literal["reproduced", "within rounding", "not reproduced", "not reproducible", "not computed", "undefined", ""]

COMPARED: tuple[Status, ...] = ("reproduced", "within rounding", "not reproduced")
"""The statuses that are outcomes of a comparison with a printed number (:func:`compared`)."""

_NAME = re.compile(r"(?P<name>[A-Za-z_][\w.]*)(?:\((?P<params>.*)\))?\Z")


def statistic_name(name: str, **params: object) -> str:
    """Return the printed name of a statistic with the parameters on which tools differ.

    >>> statistic_name("krippendorff_alpha", level="interval")
    'krippendorff_alpha(level=interval)'
    """
    inner = ",".join(f"{key}={value}" for key, value in params.items())
    text = f"{name}({inner})" if inner else name
    parse_statistic(text)
    return text


def parse_statistic(text: str) -> tuple[str, dict[str, str]]:
    """Split a printed name into the statistic and its parameters.

    >>> parse_statistic("krippendorff_alpha(level=interval)")
    ('krippendorff_alpha', {'level': 'interval'})
    """
    match = _NAME.match(text)
    parts = [part.partition("=") for part in (match["params"] or "").split(",") if part] if match else []
    if match is None or any(not key or not value for key, _, value in parts):
        raise SpecError(f"{text!r} is not the name of a statistic", hint="write name or name(key=value,key=value)")
    return match["name"], {key.strip(): value.strip() for key, _, value in parts}


@dataclass(frozen=True, slots=True)
class Record:
    """One printed number.

    ``statistic`` is a name that :func:`parse_statistic` reads. ``value`` is ``None`` where the statistic is
    undefined; ``note`` then says why. ``low`` and ``high`` bound the interval named in ``interval``. ``published``
    is what a paper prints, ``source`` where, and ``status`` whether the number is reproduced. ``analysis`` marks
    the research question it belongs to as ``confirmatory`` or ``exploratory``. ``people`` is ``simulated`` where the
    judgments behind it are those of simulated participants; files leave it out elsewhere.
    """

    statistic: str
    value: float | None
    subject: str = ""
    dataset: str = ""
    layer: int | None = None
    condition: str = ""
    view: str = ""
    unit: str = ""
    low: float | None = None
    high: float | None = None
    interval: str = ""
    n: int | None = None
    p: float | None = None
    published: float | None = None
    source: str = ""
    status: Status = ""
    analysis: str = ""
    question: str = ""
    note: str = ""
    people: str = ""

    def __post_init__(self) -> None:
        parse_statistic(self.statistic)
        for name in ("value", "low", "high", "p", "published"):
            number = getattr(self, name)
            # numpy scalars and infinities do not survive JSON: store plain finite floats or nothing
            if number is not None:
                object.__setattr__(self, name, float(number) if math.isfinite(number) else None)
        if self.value is None and not self.note:
            raise InputError(f"{self.statistic}: a record without a value needs a note that says why")
        if self.status in COMPARED and (self.value is None or self.published is None):
            raise InputError(
                f"{self.statistic}: the status {self.status!r} without "
                f"{'a value' if self.value is None else 'a printed number'}",
                why="it is the outcome of a comparison of the two, and of nothing else",
            )

    def content(self) -> dict[str, Any]:
        """Return the record as plain values, as files hold it: ``people`` is in it where they are simulated."""
        found = asdict(self)
        return found if self.people else {name: value for name, value in found.items() if name != "people"}


def marked_records(records: Iterable[Record], *, keep_all: bool = False) -> tuple[Record, ...]:
    """Return records as those of a run whose judgments are of simulated participants.

    None is compared with a printed number: what a paper prints is of people. Records that only hold a printed number
    are left out, unless *keep_all*.
    """
    plain = (each for each in records if keep_all or each.status not in ("not reproducible", "not computed"))
    return tuple(
        replace(
            record,
            people=SIMULATED,
            published=None,
            source="" if record.published is not None else record.source,
            status=record.status if record.status == "undefined" else "",
        )
        for record in plain
    )


def compared(value: float, published: str) -> Status:
    """Compare a recomputed value with a printed one, digit for digit.

    *published* is the text as printed, so that its number of decimals is known. ``reproduced``: the value rounds
    to it; ``within rounding``: off by at most one unit of the last printed digit.

    >>> compared(39.5885, "39.59"), compared(0.99754, ".997"), compared(0.7306, ".77")
    ('reproduced', 'within rounding', 'not reproduced')
    >>> compared(3.135e-10, "3.1e-10"), compared(9e-10, "3.1e-10")
    ('reproduced', 'not reproduced')
    """
    printed = Decimal(published)
    unit, target = 10.0 ** int(printed.as_tuple().exponent), float(printed)
    # what rounding leaves of a half: a share of the last digit, or the last bits of the value
    slack = 1e-9 * unit + 4 * sys.float_info.epsilon * abs(target)
    if abs(value - target) <= unit / 2 + slack:
        return "reproduced"
    return "within rounding" if abs(value - target) <= unit + slack else "not reproduced"


def to_json(records: Iterable[Record]) -> str:
    """Render records as JSON, one record a line, keys in the order of the fields."""
    lines = [json.dumps(record.content(), ensure_ascii=False, allow_nan=False) for record in records]
    return json_text("[\n" + ",\n".join(lines) + "\n]\n")


def from_json(text: str, *, path: str = "results.json") -> tuple[Record, ...]:
    """Read records back.

    Errors: :class:`InputError` naming the record that is not one.
    """
    known = {field.name for field in fields(Record)}
    records = []
    try:
        content = parse_json(text)
    except ValueError as error:
        raise InputError("this file of results is no JSON", place=Place(path), why=str(error)) from error
    if not isinstance(content, list):
        raise InputError("this file of results is no list of records", place=Place(path))
    for number, raw in enumerate(content, start=1):
        try:
            if not isinstance(raw, dict) or not set(raw) <= known:
                raise InputError("it has other fields than a record")
            records.append(Record(**raw))
        except (LexiscopeError, TypeError, ValueError) as error:
            what = f"record {number} is not a result record"
            raise InputError(what, place=Place(path), why=str(error)) from error
    return tuple(records)


def read_records(path: Path) -> tuple[Record, ...]:
    """Read ``results.json``; in the folder of a run it is checked first.

    Errors: :class:`InputError` where it is no list of records, :class:`RunError` where it is not as the run wrote it.
    """
    check_file(path)
    try:
        text = path.read_text(encoding="utf-8")
    except ValueError as error:
        raise InputError("this file of results is no UTF-8 text", place=Place(str(path)), why=str(error)) from error
    return from_json(text, path=str(path))


def find(records: Sequence[Record], statistic: str, **where: object) -> Record:
    """Return the only record with this statistic and these field values.

    Errors: :class:`InputError` when there is none or more than one.
    """
    hits = [r for r in records if r.statistic == statistic and all(getattr(r, k) == v for k, v in where.items())]
    if len(hits) != 1:
        raise InputError(f"{len(hits)} records match {statistic!r} {where!r}, expected one")
    return hits[0]
