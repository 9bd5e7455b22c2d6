"""The building blocks of a study's report: records of results, and the parts that it is put together from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from pathlib import Path

import numpy as np

from lexiscope.analysis.families import AdjustedFamily, TestFamily, with_families
from lexiscope.analysis.ranks import RankSet
from lexiscope.core.errors import SpecError
from lexiscope.core.result import Interval, Record, Result
from lexiscope.core.spec import plain_name
from lexiscope.core.study import PublishedValue
from lexiscope.report.figures import Figure
from lexiscope.report.tables import Cell, Column, IntervalCell, Missing, Table


class Remark(str):
    """A sentence that the screen shows too: what the user must know of a run before its numbers."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Omission:
    """An analysis that is not in a run, why, and of which subject: its short name, empty for all of them."""

    analysis: str
    reason: str
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """What one analysis yields: numbers, tables, figures, sentences, remarks, and what is not in it."""

    records: tuple[Record, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    paragraphs: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    omissions: tuple[Omission, ...] = ()


def join_parts(parts: Iterable[Part]) -> Part:
    """Return one part with everything of several, in order."""
    listed = list(parts)
    return Part(*(tuple(x for part in listed for x in getattr(part, field.name)) for field in fields(Part)))


def with_adjusted_p(
    part: Part, families: Sequence[TestFamily] = (), *, planned: Callable[[Record], bool] | None = None
) -> Part:
    """Return the part with the p values adjusted for how many they are: in its records, and in its tables.

    Families are those of :func:`~lexiscope.analysis.families.with_families`. A column of p values gets a second one
    after it, whose head says the method and the number of tests, or, if its tests are of several families, whose note
    names them; a single test stays as it is.
    """
    records, adjusted = with_families(part.records, families, planned=planned)
    tables = tuple(with_adjusted_columns(table, adjusted) for table in part.tables)
    return replace(part, records=records, tables=tables)


def with_adjusted_columns(table: Table, families: Sequence[AdjustedFamily]) -> Table:
    """Return the table with a column of adjusted p values after each column of p values that families have."""
    columns: list[Column] = []
    cells: list[list[Cell]] = []
    for index, column in enumerate(table.columns):
        own = [row[index] for row in table.rows]
        columns.append(column)
        cells.append(own)
        p = [cell for cell in own if isinstance(cell, float | int)] if column.format.kind == "p" else []
        family = next((family for family in families if p and family.is_shown_in(column.header, p)), None)
        if family is not None:
            columns.append(Column(family.header(column.header), column.format))
            cells.append([family.of[cell] if isinstance(cell, float | int) else cell for cell in own])
            continue
        several = [other for other in families if any(other.is_shown_in(column.header, [value]) for value in p)]
        if several:
            # a column of tests of several families, each adjusted in its own; a test that is alone stays as it is
            note = f"Each within its family: {', '.join(f'{other.name} ({other.n} tests)' for other in several)}."
            columns.append(Column(f"{column.header}, adjusted", column.format, note=note))
            cells.append([_adjusted_cell(cell, several) for cell in own])
    if len(columns) == len(table.columns):
        return table
    return replace(table, columns=tuple(columns), rows=tuple(zip(*cells, strict=True)))


def _adjusted_cell(cell: Cell, families: Sequence[AdjustedFamily]) -> Cell:
    if not isinstance(cell, float | int):
        return cell
    # two families may have one p: the larger adjusted one is never too small
    return max((family.of[cell] for family in families if cell in family.of), default=cell)


def flat_list(given: object) -> list[object]:
    """Return nested sequences as one list; ``None`` is nothing.

    >>> flat_list(["a", None, ("b", ["c"])])
    ['a', 'b', 'c']
    """
    if given is None:
        return []
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        return [given]
    return [leaf for part in given for leaf in flat_list(part)]


def part_of(*given: object, origin: str = "an analysis") -> Part:
    """Return results, records, tables, figures, sentences, remarks, omissions and parts, nested as they come, as one.

    The records of results and those given as records keep their order; ``None`` is nothing.
    Errors: :class:`SpecError` naming *origin* for anything else: it would be lost.
    """
    return join_parts(_part_of_leaf(leaf, origin) for leaf in flat_list(given))


def _part_of_leaf(leaf: object, origin: str) -> Part:
    match leaf:
        case Part():
            return leaf
        case Result():
            return Part(records=leaf.records())
        case Record():
            return Part(records=(leaf,))
        case Table():
            return Part(tables=(leaf,))
        case Figure():
            return Part(figures=(leaf,))
        case Omission():
            return Part(omissions=(leaf,))
        case Remark():
            return Part(remarks=(str(leaf),))
        case str():
            return Part(paragraphs=(leaf,))
    what = f"{origin} returns {type(leaf).__name__}"
    raise SpecError(what, hint="return results, figures, tables or sentences, or sequences of them")


def with_interval(record: Record, interval: Interval | None) -> Record:
    """Return the record with an interval's ends and name; one without ends leaves its reason in the note."""
    if interval is None:
        return record
    if not interval.is_defined:
        return replace(record, note="; ".join(filter(None, (record.note, interval.note))))
    return replace(record, low=interval.low, high=interval.high, interval=interval.method)


def record_cell(record: Record) -> Cell:
    """Return a record as a table cell: value with interval, value, or the reason why there is none.

    For a rank it is the set of ranks alone: ``1–3``, or ``2`` if the set is one rank.
    """
    if record.value is None:
        return Missing(record.note)
    if record.low is not None and record.high is not None:
        if record.unit == "rank":
            return str(RankSet(int(record.low), int(record.high)))
        return IntervalCell(record.low, record.high, record.value)
    return record.value


def find_record(records: Iterable[Record], statistic: str, **where: object) -> Record | None:
    """Return the first record with this statistic and these fields, or ``None``."""
    for record in records:
        if record.statistic == statistic and all(getattr(record, key) == value for key, value in where.items()):
            return record
    return None


def value_of(records: Iterable[Record], statistic: str, **where: object) -> float | None:
    """Return the value of the first record with this statistic and these fields; ``None`` where there is none."""
    record = find_record(records, statistic, **where)
    return None if record is None else record.value


def ends_of(record: Record) -> tuple[float, float]:
    """Return the ends of a record's interval for a figure, not-a-number if it has none."""
    return np.nan if record.low is None else record.low, np.nan if record.high is None else record.high


def short_titles(ids: Iterable[str]) -> dict[str, str]:
    """Return a short name of each subject by its id: the last part of its path, more of it where two end alike.

    Of several files the first gives the name. Of one path with two options each is called by its id.

    >>> list(short_titles(["gasi:one/a", "gasi:two/a", "sense_embedding:muse:x/v.txt,i.tsv", "made_up/sasi"]).values())
    ['one/a', 'two/a', 'v.txt', 'made_up/sasi']
    """
    titles = {spec: spec for spec in ids}
    # what is not a spec has a name already
    names = {spec: plain_name(spec.partition(":")[2]) for spec in titles if ":" in spec}
    names |= {spec: name.partition(",")[0] for spec, name in names.items() if ":" in name}
    parts = {spec: Path(name).parts for spec, name in names.items()}
    for spec, own in parts.items():
        others = [other for name, other in parts.items() if name != spec]
        length = next((n for n in range(1, len(own)) if all(own[-n:] != other[-n:] for other in others)), len(own))
        titles[spec] = "/".join(own[-length:])
    return dict(zip(titles, distinct_titles(list(titles.values()), list(titles)), strict=True))


def distinct_titles(titles: Sequence[str], ids: Sequence[str]) -> list[str]:
    """Return titles of subjects; those of one title (a model asked in two ways) are called by their ids.

    >>> distinct_titles(["gpt2", "gpt2", "minilm"], ["causal_lm:gpt2", "causal_lm:gpt2?policy=end", "encoder:minilm"])
    ['causal_lm:gpt2', 'causal_lm:gpt2?policy=end', 'minilm']
    """
    return [title if titles.count(title) == 1 else own for title, own in zip(titles, ids, strict=True)]


def with_published(records: Sequence[Record], published: Sequence[PublishedValue]) -> tuple[Record, ...]:
    """Return records with the paper's printed numbers of them.

    A printed number that no record matches is added as a separate record: ``not reproducible``, with the reason.
    """
    open_values = dict(enumerate(published))
    at_place: dict[tuple[object, ...], list[int]] = {}
    for number, value in open_values.items():
        at_place.setdefault(_place_of(value), []).append(number)
    out = []
    for record in records:
        open_here = (number for number in at_place.get(_place_of(record), ()) if number in open_values)
        # a printed number without a view is that of the only view of its record
        match = next((number for number in open_here if open_values[number].view in ("", record.view)), None)
        out.append(record if match is None else _record_with_printed(record, open_values.pop(match)))
    return (*out, *map(_record_of_printed, open_values.values()))


_PLACE = ("statistic", "subject", "dataset", "layer", "condition")
_place_of = attrgetter(*_PLACE)


def _record_with_printed(record: Record, value: PublishedValue) -> Record:
    status = value.status_of(record.value) if record.value is not None else "undefined"
    note = "; ".join(text for text in (record.note, value.remark if status != "reproduced" else "") if text)
    printed = {"published": value.number, "bound": value.bound, "source": value.place}
    return replace(record, **printed, status=status, note=note)  # type: ignore[arg-type]


def _record_of_printed(value: PublishedValue) -> Record:
    reason = value.remark if not value.reproducible else "this run did not compute it: see its settings"
    return Record(
        value=None,
        **{name: getattr(value, name) for name in (*_PLACE, "view")},
        published=value.number,
        bound=value.bound,
        source=value.place,
        status="not computed" if value.reproducible else "not reproducible",
        note=reason,
    )
