"""Names of statistics for readers: every statistic has one, and no two statistics share one."""

from __future__ import annotations

from collections import Counter

import pytest

from lexiscope.core.errors import SpecError
from lexiscope.core.result import parse_statistic
from lexiscope.report.answers.sentences import reader_name, statistics_by_topic
from lexiscope.studies.kit.study import statistics

NAMED = [statistic for topic in statistics_by_topic().values() for statistic in topic]
# the same value under two names in results.json
ALIASES = {"mean rating"}


def test_every_statistic_of_the_studies_has_a_name() -> None:
    """A statistic that a study of the package can write to results.json has a name for readers."""
    named = {parse_statistic(statistic)[0] for statistic in NAMED}
    assert set(statistics()) - named == set()


def test_a_name_means_one_statistic() -> None:
    """No two rows have one name, so that a table with names for readers has no two equal rows."""
    names = Counter(reader_name(statistic).text for statistic in NAMED)
    assert {name for name, n in names.items() if n > 1} - ALIASES == set()


@pytest.mark.parametrize(
    ("statistic", "text", "note"),
    [
        ("chi2(test=sense_beyond_distance,df=1)", "χ²(1): sense added to a model with distance", ""),
        ("aic(model=intercept_only)", "AIC without distance", ""),
        ("aic", "AIC", ""),
        (
            "mean_rater_correlation(variant=leave_one_out,method=spearman)",
            "mean agreement of one rater with the others",
            "method = spearman",
        ),
        ("best_layer(by=aic)", "layer with the lowest AIC", ""),
    ],
)
def test_the_row_with_the_most_parameters_decides(statistic: str, text: str, note: str) -> None:
    """A row needs all its parameters; those that the name does not show are in the note."""
    assert (reader_name(statistic).text, reader_name(statistic).note) == (text, note)


def test_a_text_that_is_no_statistic_is_an_error() -> None:
    """A name that does not parse is not shown as if it were one."""
    with pytest.raises(SpecError):
        reader_name("no statistic")
