"""Severity on people's ordinal scale: the scale is that of R's clmm, and a model of known severity is recovered."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from lexiscope.analysis.norming.severity import severities
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, Undefined

from ..mixed.clmm_oracle import has_clmm

THRESHOLDS = np.array([-1.5, -0.5, 0.5, 1.5])
N_RATERS, N_ITEMS = 20, 60
ITEMS = [f"i{number:02}" for number in range(N_ITEMS)]


def drawn(severity: float, effects: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Simulated ratings from 0 to 4 of a rater of known severity."""
    latent = effects - severity + rng.logistic(size=len(effects))
    return np.searchsorted(THRESHOLDS, latent).astype(np.float64)


@pytest.fixture(scope="module")
def people() -> tuple[Ratings, np.ndarray]:
    """Simulated raters with severities of SD 0.6, on items of SD 1.5; and the effects of the items."""
    rng = np.random.default_rng(11)
    effects = rng.normal(0, 1.5, N_ITEMS)
    values = [drawn(severity, effects, rng) for severity in rng.normal(0, 0.6, N_RATERS)]
    raters = [f"simulated-{number:02}" for number in range(N_RATERS) for _ in ITEMS]
    return Ratings.from_arrays(raters, ITEMS * N_RATERS, np.concatenate(values)), effects


def number(results: tuple[Estimate | Undefined, ...], name: str, subject: str = "") -> Estimate:
    """The one result of a name and a subject."""
    (own,) = [result for result in results if result.name.startswith(name) and result.subject == subject]
    assert isinstance(own, Estimate)
    return own


def test_a_model_of_known_severity_is_recovered(people: tuple[Ratings, np.ndarray]) -> None:
    """Of 40 simulated models with severity 1 the mean estimate is 1 and 95 % intervals hold it; three SDs are high."""
    ratings, effects = people
    rng = np.random.default_rng(5)
    models = {f"m{number:02}": (ITEMS, drawn(1.0, effects, rng)) for number in range(40)}
    results = severities(ratings, models)
    estimates = [number(results, "rater_severity(", name) for name in models]
    # people's own mean severity and the items' errors shift all of them alike, by up to two errors of .14
    shift = np.mean([estimate.value for estimate in estimates]) - 1.0
    assert abs(shift) < 0.3
    held = [e.interval.low - shift <= 1.0 <= e.interval.high - shift for e in estimates]
    assert np.mean(held) >= 0.875  # 40 · .95 = 38 are expected; 35 or more in 97 of 100 studies
    assert number(results, "latent_sd(of=raters").value == pytest.approx(0.6, abs=0.3)
    assert number(results, "latent_sd(of=items").value == pytest.approx(1.5, abs=0.4)
    severe = severities(ratings, {"severe": (ITEMS, drawn(4.0, effects, rng))})
    share = number(severe, "less_severe_raters(", "severe")
    assert (share.value, share.n) == (1.0, N_RATERS)


def test_a_rater_left_out_has_the_severity_that_the_joint_model_gives(people: tuple[Ratings, np.ndarray]) -> None:
    """Each of four raters, asked as a model of the others' scale, is where the fit with all raters has them."""
    from lexiscope.analysis.mixed.ordinal import fit_ordinal

    ratings, _ = people
    ids = np.array(ratings.rater_ids)[ratings.rater]
    items = np.array(ratings.item_ids)[ratings.item]
    rows = {"rating": ratings.value.tolist(), "rater": ids.tolist(), "item": items.tolist()}
    joint = fit_ordinal("rating ~ 1 + (1 | rater) + (1 | item)", rows, starts=1)
    expected = {level: (value, se) for level, value, se in joint.modes["rater"].severity()}
    for rater in ratings.rater_ids[:4]:
        others = ids != rater
        rest = Ratings.from_arrays(ids[others].tolist(), items[others].tolist(), ratings.value[others])
        alone = severities(rest, {rater: (items[~others].tolist(), ratings.value[~others])})
        value, se = expected[rater]
        # the joint mode is shrunk towards 0, by a tenth or so
        assert abs(number(alone, "rater_severity(", rater).value - value) < max(0.5 * se, 0.25 * abs(value))


@pytest.mark.r
def test_the_scale_is_that_of_clmm(people: tuple[Ratings, np.ndarray], tmp_path: Path) -> None:
    """Thresholds, both SDs and the log-likelihood agree with ordinal::clmm to 1e-3, where R has it."""
    if not has_clmm():
        pytest.skip("R's package ordinal is not installed")
    whole, _ = people
    # clmm takes half a minute for all of them
    kept = (whole.rater < 8) & (whole.item < 30)
    raters, items = (np.array(ids)[own[kept]].tolist() for ids, own in
                     ((whole.rater_ids, whole.rater), (whole.item_ids, whole.item)))  # fmt: skip
    ratings = Ratings.from_arrays(raters, items, whole.value[kept])
    lines = ["rating,rater,item"]
    for value, rater, item in zip(ratings.value, ratings.rater, ratings.item, strict=True):
        lines.append(f"{value:g},{ratings.rater_ids[rater]},{ratings.item_ids[item]}")
    (tmp_path / "ratings.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    script = (
        "suppressPackageStartupMessages(library(ordinal)); d <- read.csv(commandArgs(TRUE)[1]);"
        "m <- clmm(factor(rating, ordered=TRUE) ~ 1 + (1|rater) + (1|item), data=d);"
        "cat(sprintf('%.8f', c(logLik(m), m$alpha, sqrt(VarCorr(m)$rater[1]), sqrt(VarCorr(m)$item[1]))))"
    )
    command = ["Rscript", "--vanilla", "-e", script, str(tmp_path / "ratings.csv")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    theirs = [float(text) for text in printed.split()]
    results = severities(ratings, {})
    thresholds = [result.value for result in results if isinstance(result, Estimate) and "threshold" in result.name]
    names = ("log_likelihood(", "latent_sd(of=raters", "latent_sd(of=items")
    log_likelihood, *deviations = (number(results, name).value for name in names)
    assert [log_likelihood, *thresholds, *deviations] == pytest.approx(theirs, abs=1e-3)


def test_what_has_no_severity(people: tuple[Ratings, np.ndarray]) -> None:
    """Ratings between the points, all at one end, of other items, and two raters: undefined, each with its reason."""
    ratings, _ = people
    models = {
        "between": (ITEMS, np.full(N_ITEMS, 2.5)),
        "end": (ITEMS, np.full(N_ITEMS, 4.0)),
        "others": (["other"], np.array([1.0])),
    }
    reasons = {r.subject: r.reason for r in severities(ratings, models) if isinstance(r, Undefined)}
    assert reasons == {
        "between": "it gave 2.5, which no person gave",
        "end": "all of its ratings are at one end of the scale",
        "others": "it rated no item that people rated",
    }
    with pytest.raises(StatisticError, match="severity needs 3 raters, not 2"):
        severities(Ratings.from_arrays(list("aabb"), list("ijij"), [1, 2, 2, 1]), {})
