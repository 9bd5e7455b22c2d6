"""Numbers of the study as records and as cells of tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lexiscope.analysis.bootstrap import Estimate, Interval, Undefined
from lexiscope.core.result import Record
from lexiscope.core.study import StudySettings
from lexiscope.report.part import from_estimate, with_interval
from lexiscope.report.tables import BOUNDED, Format, Missing
from lexiscope.report.tables import Cell as TableCell
from lexiscope.report.tables import Interval as Bounds
from lexiscope.studies.ambistory.material import Material

PERCENT = Format("number", 1)
TWO = Format("number", 2)
THREE = Format("number", 3, leading_zero=False)
SHARE = BOUNDED
PEOPLE = "people"


def record(material: Material, statistic: str, value: float | None, **more: Any) -> Record:
    """Return a record of this dataset; *more* are further fields of it."""
    return Record(statistic, value, dataset=material.name, **more)


def estimated(material: Material, statistic: str, found: Estimate | Undefined, **more: Any) -> Record:
    """Return an estimate with its interval as a record, or the reason why it has no value."""
    if isinstance(found, Undefined):
        return record(material, statistic, None, n=found.n, note=f"undefined: {found.reason}", **more)
    return from_estimate(found, record(material, statistic, found.value, **more))


def bounded(base: Record, interval: Interval | None) -> Record:
    """Return the record with the ends of its interval."""
    return with_interval(base, interval)


def shown(found: Record | None) -> TableCell:
    """Return a record as a table cell: value with interval, value, or why there is none."""
    if found is None:
        return Missing("not computed for this subject")
    if found.value is None:
        return Missing(found.note)
    if found.low is not None and found.high is not None:
        return Bounds(found.low, found.high, found.value)
    return found.value


def pick(records: Sequence[Record], statistic: str, **where: object) -> Record | None:
    """Return the first record with this statistic and these fields, or ``None``."""
    for each in records:
        if each.statistic == statistic and all(getattr(each, key) == value for key, value in where.items()):
            return each
    return None


def drawn(settings: StudySettings, n_groups: int) -> dict[str, Any]:
    """Return the arguments of a bootstrap; none are drawn where there is one group."""
    return {"resamples": settings.n_bootstrap if n_groups > 1 else 0, "seed": settings.seed}
