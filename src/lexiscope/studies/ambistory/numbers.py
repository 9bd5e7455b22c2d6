"""Numbers of the study as records and as cells of tables."""

from __future__ import annotations

from typing import Any

from lexiscope.core.result import Estimate, Record, Undefined
from lexiscope.report.part import from_estimate
from lexiscope.report.tables import BOUNDED, Format
from lexiscope.studies.ambistory.data import AmbistoryData

PERCENT = Format("number", 1)
TWO = Format("number", 2)
THREE = Format("number", 3, leading_zero=False)
SHARE = BOUNDED
PEOPLE = "people"


def record(run: AmbistoryData, statistic: str, value: float | None, **more: Any) -> Record:
    """Return a record of this dataset; *more* are further fields of it."""
    return Record(statistic, value, dataset=run.name, **more)


def estimated(run: AmbistoryData, statistic: str, found: Estimate | Undefined, **more: Any) -> Record:
    """Return an estimate with its interval as a record, or the reason why it has no value."""
    return from_estimate(found, record(run, statistic, 0.0, **more))


def drawn(run: AmbistoryData, n_groups: int) -> dict[str, Any]:
    """Return the arguments of a bootstrap; none are drawn where there is one group."""
    return {"resamples": run.settings.n_bootstrap if n_groups > 1 else 0, "seed": run.settings.seed}
