"""The cross-check with lme4: what it compares, and what it says where R is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lexiscope.analysis.mixed.r_script import ModelPair, cross_check, read_output, run_r
from lexiscope.core.errors import MissingExtraError, StatisticError

OUTPUT = """\
VERSIONS\tR version 4.2.2\tlme4 1.1.31

== norms ==
MODEL\tnorms\tfull\t-10.50000000\t4\t1\tboundary (singular) fit
EFFECT\tnorms\tfull\t(Intercept)\t2.5\t0.25
MODEL\tnorms\treduced\t-12.00000000\t3\t0\t
EFFECT\tnorms\treduced\t(Intercept)\t3\t0.5
TEST\tnorms\t3.00000000\t1\t0.0833
norms: chi2(1) = 3.000, p = 0.0833
"""


def trials(seed: int = 3) -> dict[str, Any]:
    """Ratings of twelve words by twenty participants, with a slope of sense by participant."""
    random = np.random.default_rng(seed)
    person, word, same = (grid.ravel() for grid in np.meshgrid(range(20), range(12), range(2), indexing="ij"))
    rating = 2 + 1.5 * same + random.normal(0, 0.5, 20)[person] + random.normal(0, 0.6, 20)[person] * same
    rating += random.normal(0, 0.5, 12)[word] + random.normal(0, 1, person.size)
    cue = np.array(["verb", "noun", "adjective"])[random.integers(0, 3, person.size)]
    return {"rating": rating, "same": np.where(same, "Same", "Different"), "cue": cue, "person": person, "word": word}


def test_the_output_is_read_back() -> None:
    """Tagged lines become models, tests and versions; the rest of what R prints is for people."""
    models, tests, versions = read_output(OUTPUT)
    assert models["norms", "full"].singular
    assert models["norms", "full"].effects == (("(Intercept)", 2.5, 0.25),)
    assert models["norms", "reduced"].messages == ""
    assert (tests, versions) == ({"norms": 3.0}, "R version 4.2.2 lme4 1.1.31")


def test_a_missing_r_is_a_clear_error() -> None:
    """Without R the error says what is missing, how to get it, and that nothing else depends on it."""
    pair = ModelPair("a", "rating ~ same + (1 | person)", "rating ~ 1 + (1 | person)")
    with pytest.raises(MissingExtraError, match="complete without it") as caught:
        cross_check([pair], trials(), rscript="no-such-Rscript")
    assert "'no-such-Rscript' was not found" in str(caught.value)


def fake_r(folder: Path, body: str) -> str:
    program = folder / "Rscript"
    program.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    program.chmod(0o755)
    return str(program)


@pytest.mark.parametrize(
    ("body", "error", "words"),
    [
        ("echo 'there is no package called lme4' >&2; exit 1", MissingExtraError, "no package lme4"),
        ("echo 'object not found' >&2; exit 1", StatisticError, "object not found"),
        ("sleep 5", StatisticError, "within 0.2 seconds"),
    ],
)
def test_a_failing_script_is_reported(tmp_path: Path, body: str, error: type[Exception], words: str) -> None:
    """A missing package, a failing script and one that does not end are three different errors."""
    with pytest.raises(error, match=words):
        run_r(tmp_path / "models.R", rscript=fake_r(tmp_path, body), timeout_s=0.2 if "sleep" in body else 10)


@pytest.mark.r
def test_a_cross_check_agrees_with_lme4() -> None:
    """Correlated and uncorrelated slopes and a factor of three levels: log-likelihoods within 1e-3 of lme4's."""
    pytest.importorskip("mixedlm")
    pairs = [
        ModelPair("slopes", *(f"rating ~ {x} + (1 + same | person) + (1 | word)" for x in ("same", "1"))),
        ModelPair("no_r", *(f"rating ~ {x} + (1 + same || person) + (1 | word)" for x in ("same + cue", "same"))),
    ]
    try:
        check = cross_check(pairs, trials())
    except MissingExtraError as error:
        pytest.skip(str(error))
    assert check.worst_log_likelihood < 1e-3
    assert check.worst_chi2 < 2e-3
    assert [pair.ours.df for pair in check.pairs] == [1, 2]
    for model in (part for pair in check.pairs for part in (pair.full, pair.reduced)):
        assert (model.estimate < 1e-3, model.se < 1e-3, model.lme4.singular) == (True, True, False)
    assert "lme4 1." in check.versions
