"""A study: one paper's questions, asked of recorded and live subjects, with the numbers that the paper prints."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from lexiscope.core.errors import InputError, Place
from lexiscope.core.result import compared

if TYPE_CHECKING:
    from lexiscope.core.result import Record

Analysis = Literal["confirmatory", "exploratory"]
Mark = Literal["confirmatory", "confirmatory in part", "exploratory"]


@dataclass(frozen=True, slots=True)
class Question:
    """A research question: its id, its text, where the paper asks it, and how its analysis is marked.

    A study's questions are exploratory. In a run, those that a plan names get another mark (:class:`PlannedAnalysis`).
    """

    question_id: str
    text: str
    section: str
    analysis: Mark = "exploratory"


@dataclass(frozen=True, slots=True)
class PlannedAnalysis:
    """An analysis that a plan named before the first answer: its results are confirmatory, all others exploratory.

    ``text`` says what was planned, ``place`` where that is documented; ``covers`` says which records of the question
    are its results.
    """

    question_id: str
    text: str
    place: str
    covers: Callable[[Record], bool]


@dataclass(frozen=True, slots=True)
class PublishedValue:
    """A number as a paper prints it, with its place. ``printed`` is text, so that its decimals are known.

    The fields from ``statistic`` to ``condition`` say which record it belongs to. ``remark`` is shown where
    the number does not reproduce; ``reproducible`` is false where the data for it were never published.
    """

    statistic: str
    printed: str
    place: str
    subject: str = ""
    dataset: str = ""
    layer: int | None = None
    condition: str = ""
    remark: str = ""
    reproducible: bool = True

    def status_of(self, value: float) -> str:
        """Compare a recomputed value with the printed one (see :func:`lexiscope.core.result.compared`)."""
        return compared(value, self.printed)


_PRINTED = ("place", "statistic", "subject", "condition", "printed", "remark", "unavailable")


def printed_values(path: Path, *, dataset: str) -> tuple[PublishedValue, ...]:
    """Read what a paper prints: ``printed.csv`` of a study, one number a row.

    Columns: ``place`` (table or section), ``statistic``, ``subject`` and ``condition`` of the record, ``printed`` (the
    text of the number), ``remark`` (shown where ours differs), ``unavailable`` (why no data exist, where none do).

    Errors: :class:`InputError` naming the line without a place, or whose number does not parse.
    """
    with path.open(encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream, strict=True)
        if tuple(rows.fieldnames or ()) != _PRINTED:
            raise InputError(f"the columns are not {', '.join(_PRINTED)}", place=Place(str(path), line=1))
        return tuple(_printed_value(row, dataset, Place(str(path), line=rows.line_num)) for row in rows)


def _printed_value(row: dict[str, str], dataset: str, place: Place) -> PublishedValue:
    try:
        float(row["printed"])
    except (TypeError, ValueError) as error:
        raise InputError(f"{row['printed']!r} is not a printed number", place=place) from error
    if not row["place"]:
        raise InputError("a printed number needs its place in the paper", place=place)
    return PublishedValue(
        row["statistic"],
        row["printed"],
        row["place"],
        subject=row["subject"],
        dataset=dataset,
        condition=row["condition"],
        remark=row["unavailable"] or row["remark"],
        reproducible=not row["unavailable"],
    )
