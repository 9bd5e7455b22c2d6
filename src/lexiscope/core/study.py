"""A study: one paper's questions, asked of recorded and live subjects, with the numbers that the paper prints."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from lexiscope.core.errors import InputError, Place
from lexiscope.core.result import compared, parse_statistic

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

    @classmethod
    def of_statistics(
        cls, question_id: str, text: str, place: str, names: Sequence[str], *, subject: str = "", view: str = ""
    ) -> PlannedAnalysis:
        """Return the plan of statistics of one subject (of people: none), in one view where they have one.

        A name covers the records of that statistic, of those whose name begins with it (``condition_mean(``), or of
        the test of that name (``test=sense``).

        >>> from lexiscope.core.result import Record
        >>> plan = PlannedAnalysis.of_statistics("Q1", "the test of sense", "§3.5", ["test=sense"])
        >>> plan.covers(Record("chi2(test=sense,df=1)", 39.6)), plan.covers(Record("chi2(test=sense_maximal,df=1)", 43))
        (True, False)
        """

        def covers(record: Record) -> bool:
            name, given = parse_statistic(record.statistic)
            keys = {record.statistic, f"{name}(" if given else name, f"test={given.get('test')}"}
            return record.subject == subject and record.view in ("", view) and not keys.isdisjoint(names)

        return cls(question_id, text, place, covers)


@dataclass(frozen=True, slots=True)
class PublishedValue:
    """A number as a paper prints it, with its place. ``printed`` is text, so that its decimals are known.

    The fields from ``statistic`` to ``condition`` and ``view`` say which record it belongs to. ``remark`` is shown
    where the number does not reproduce; ``reproducible`` is false where the data for it were never published.
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
    view: str = ""

    def status_of(self, value: float) -> str:
        """Compare a recomputed value with the printed one (see :func:`lexiscope.core.result.compared`)."""
        return compared(value, self.printed)


_PRINTED = ("dataset", "place", "statistic", "subject", "layer", "condition", "printed", "remark", "unavailable")


def printed_values(path: Path, *, dataset: str) -> dict[str, tuple[PublishedValue, ...]]:
    """Read what a paper prints, by dataset: ``printed.csv`` of a study, one number a row.

    Columns: ``dataset`` (empty: *dataset*, the study's own), ``place`` (table or section), ``statistic``, ``subject``,
    ``layer`` and ``condition`` of the record (empty where it has none), ``printed`` (the text of the number, in the
    unit of the record), ``remark`` (shown where ours differs), ``unavailable`` (why no data exist, where none do). A
    column ``view`` may follow ``condition``.

    Errors: :class:`InputError` naming the line that lacks its place, whose number does not parse, or that has too few
    or too many cells.
    """
    by_dataset: dict[str, list[PublishedValue]] = {}
    for place, row in read_rows(path, _PRINTED, optional=("view",)):
        value = _printed_value(row, dataset, place)
        by_dataset.setdefault(value.dataset, []).append(value)
    return {name: tuple(values) for name, values in by_dataset.items()}


def read_rows(
    path: Path, columns: Sequence[str], *, optional: Sequence[str] = ()
) -> Iterator[tuple[Place, dict[str, str]]]:
    """Read a table that comes with a study (``printed.csv``): each row with its place in the file.

    Errors: :class:`InputError` for other columns than *columns* and *optional* ones, and for a row with too few or too
    many cells.
    """
    with path.open(encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream, strict=True)
        header = tuple(rows.fieldnames or ())
        if tuple(name for name in header if name not in optional) != tuple(columns):
            raise InputError(f"the columns are not {','.join(columns)}", place=Place(str(path), line=1))
        for row in rows:
            place = Place(str(path), line=rows.line_num)
            if None in row or None in row.values():
                what = f"this row does not have the {len(header)} cells of the first line"
                raise InputError(what, place=place, hint="put a cell that holds a comma in double quotes")
            yield place, row


def _printed_value(row: dict[str, str], dataset: str, place: Place) -> PublishedValue:
    try:
        float(row["printed"])
    except ValueError as error:
        raise InputError(f"{row['printed']!r} is not a printed number", place=place) from error
    if not row["place"]:
        raise InputError("a printed number needs its place in the paper", place=place)
    if row["layer"] and not row["layer"].isdecimal():
        raise InputError(f"{row['layer']!r} is not the number of a layer", place=place)
    return PublishedValue(
        row["statistic"],
        row["printed"],
        row["place"],
        subject=row["subject"],
        dataset=row["dataset"] or dataset,
        layer=int(row["layer"]) if row["layer"] else None,
        condition=row["condition"],
        remark=row["unavailable"] or row["remark"],
        reproducible=not row["unavailable"],
        view=row.get("view", ""),
    )
