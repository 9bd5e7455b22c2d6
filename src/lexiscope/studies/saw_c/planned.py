"""What SAW-C pre-registered: the five rows of its Table 1. On the published data these analyses are confirmatory.

The registration (https://osf.io/n5htp) covers people and one model, BETO. Analyses that a row does not name (other
models, Expected Layer, maximal random effects, the regressions and residuals of §4.5) are exploratory.
"""

from __future__ import annotations

from lexiscope.core.result import Record, parse_statistic
from lexiscope.core.study import PlannedAnalysis
from lexiscope.studies.saw_c.settings import SawCSettings

BETO = "bert-base-spanish-wwm-cased"
_DATASET, _VIEW = "saw_c", "full+final_stop"
_SENSE_LAYERS = frozenset(("aic", "min_aic_over_layers", "best_layer(by=aic)"))
_RELATED_LAYERS = frozenset(
    (
        "pearson",
        "spearman",
        "r_squared",
        "max_r_squared_over_layers",
        "min_spearman_over_layers",
        "best_layer(by=r_squared)",
        "best_layer(by=spearman)",
    )
)


def planned_analyses(settings: SawCSettings) -> tuple[PlannedAnalysis, ...]:
    """Return the planned analyses of a run: none on other data than SAW-C's, or after exclusions that were added.

    Those of BETO need distances of sentences with a final stop, as the paper has them. *Source: SAW-C Table 1.*
    """
    if settings.items or settings.dataset != _DATASET or settings.exclusions:
        return ()
    return PLANNED if settings.views[:1] == (_VIEW,) else PLANNED[:1]


def _people(record: Record) -> bool:
    name, given = parse_statistic(record.statistic)
    return name in ("condition_mean", "condition_sd") or given.get("test") == "sense"


def _of_beto(record: Record, statistics: frozenset[str]) -> bool:
    return record.subject == BETO and record.view == _VIEW and record.statistic in statistics


def _below_beto(record: Record) -> bool:
    return record.subject == BETO and parse_statistic(record.statistic)[0] == "raters_below_model"


def _beyond(record: Record) -> bool:
    test = parse_statistic(record.statistic)[1].get("test")
    return record.subject == BETO and test in ("sense_beyond_distance", "distance_beyond_sense")


PLANNED: tuple[PlannedAnalysis, ...] = (
    PlannedAnalysis(
        "Q1", "people's ratings by sense, and the test of sense", "SAW-C Table 1, §3.5; osf.io/n5htp", _people
    ),
    PlannedAnalysis(
        "Q2",
        "BETO's AIC by layer and its lowest",
        "SAW-C Table 1, §4.2; osf.io/n5htp",
        lambda record: _of_beto(record, _SENSE_LAYERS),
    ),
    PlannedAnalysis(
        "Q3",
        "BETO's r, ρ and R² by layer and the best of them",
        "SAW-C Table 1, §4.3; osf.io/n5htp",
        lambda record: _of_beto(record, _RELATED_LAYERS),
    ),
    PlannedAnalysis("Q3", "BETO's place among single raters", "SAW-C Table 1, §4.4; osf.io/n5htp", _below_beto),
    PlannedAnalysis(
        "Q4",
        "for BETO, the tests of sense beyond distance and of distance beyond sense",
        "SAW-C Table 1, §4.5; osf.io/n5htp",
        _beyond,
    ),
)
