"""People in the study: a ceiling without a value keeps its place and says why."""

from __future__ import annotations

from lexiscope.analysis.agreement import included, leave_one_out
from lexiscope.analysis.ceilings import Ceiling
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.result import Undefined
from lexiscope.studies.saw_c.people import ceilings_of


def test_a_ceiling_without_a_value_keeps_its_name() -> None:
    """Two raters, 1 2 3 4 and 4 3 1 2: the mean leave-one-out correlation is negative, so its squares are undefined."""
    ratings = Ratings.from_arrays(list("aaaabbbb"), list("ijklijkl"), [1, 2, 3, 4, 4, 3, 1, 2])
    agreements = (leave_one_out(ratings, resamples=0), included(ratings, resamples=0))
    found = ceilings_of(agreements, resamples=0, seed=0)
    assert len(found) == len({entry.name for entry in found}) == 6
    assert isinstance(found[0], Ceiling)
    undefined = {entry.name: entry.reason for entry in found if isinstance(entry, Undefined)}
    squares = [f"{name}(variant=leave_one_out,method=spearman)" for name in SQUARES]
    assert set(squares) <= set(undefined)
    assert all("negative (-0.8000)" in undefined[name] for name in squares)


SQUARES = ("squared_mean_rater_correlation", "mean_squared_rater_correlation")
