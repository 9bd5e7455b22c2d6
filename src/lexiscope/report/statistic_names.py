"""Names of statistics for readers: tables, figures, sentences and pages show them; ``results.json`` keeps its own.

The names are in ``names.csv``, with how the interval is made and who defined the statistic. A row holds for every
statistic of that name whose parameters include those of the row; the row with the most parameters decides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lexiscope.core.errors import InputError
from lexiscope.core.result import parse_statistic
from lexiscope.resources.tables.delimited import read_csv

NAMES = Path(__file__).with_name("names.csv")
_COLUMNS = ("topic", "statistic", "name", "interval", "source")
_PARAMETER = re.compile(r"{(\w+)}")


@dataclass(frozen=True, slots=True)
class ReaderName:
    """A statistic as a reader meets it.

    ``text`` is the name, ``note`` the parameters that the name does not show (``key = value``, joined by commas),
    ``interval`` how its interval is made, ``source`` the literature of the method. All but the name may be empty.
    """

    text: str
    note: str = ""
    interval: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class _NameRow:
    parameters: Mapping[str, str]
    name: str
    interval: str
    source: str


def reader_name(statistic: str) -> ReaderName:
    """Return the name for readers of a statistic, given its name in ``results.json``.

    A statistic that has no row, such as one of a user's own study, keeps its own words.
    Errors: :class:`SpecError` if *statistic* is not the name of a statistic.

    >>> reader_name("leave_one_out_agreement(method=spearman)").text
    'agreement of one rater with the mean of the others (Spearman)'
    >>> reader_name("split_half_reliability(spearman_brown=of_mean,splits=200)").text
    'split-half reliability of the norms (Spearman–Brown, 200 splits)'
    >>> reader_name("krippendorff_alpha(level=interval,of=tags)").note
    'of = tags'
    >>> reader_name("high_ratings(least=4)")
    ReaderName(text='high ratings', note='least = 4', interval='', source='')
    """
    plain, given = parse_statistic(statistic)
    rows = [row for row in _rows().get(plain, ()) if row.parameters.items() <= given.items()]
    row = max(rows, key=lambda row: len(row.parameters), default=_NameRow({}, plain.replace("_", " "), "", ""))
    shown = {*row.parameters, *_PARAMETER.findall(row.name)}
    text = _PARAMETER.sub(lambda match: given.get(match[1], "…"), row.name)
    note = ", ".join(f"{key} = {value}" for key, value in given.items() if key not in shown)
    return ReaderName(text, note, row.interval, row.source)


def statistics_by_topic() -> Mapping[str, Sequence[str]]:
    """Return every statistic that has a row, as the table writes it and in its order, by topic.

    >>> "krippendorff_alpha(level=interval)" in statistics_by_topic()["agreement and ceilings"]
    True
    """
    topics = dict[str, list[str]]()
    for _, row in read_csv(NAMES, _COLUMNS).rows():
        topics.setdefault(row["topic"], []).append(row["statistic"])
    return topics


@cache
def _rows() -> Mapping[str, tuple[_NameRow, ...]]:
    rows = dict[str, list[_NameRow]]()
    for place, row in read_csv(NAMES, _COLUMNS).rows():
        plain, parameters = parse_statistic(row["statistic"])
        if not row["name"]:
            raise InputError(f"the statistic {row['statistic']!r} has no name", place=place)
        if any(other.parameters == parameters for other in rows.get(plain, ())):
            raise InputError(f"two rows for the statistic {row['statistic']!r}", place=place, hint="delete one")
        rows.setdefault(plain, []).append(_NameRow(parameters, row["name"], row["interval"], row["source"]))
    return {plain: tuple(entries) for plain, entries in rows.items()}
