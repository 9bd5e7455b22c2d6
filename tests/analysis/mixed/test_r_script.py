"""The exported R script: its text, its data, and what it prints when R runs it."""

from __future__ import annotations

import csv
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lexiscope.analysis.mixed.r_script import ModelPair, csv_text, distinct_columns, pair_columns, r_script, run_r
from lexiscope.core.errors import InputError

RANDOM = "(1 + Same_sense | Participant) + (1 + Same_sense | List) + (1 | Word)"
NORMS = ModelPair("norms", f"Response ~ Same_sense + {RANDOM}", f"Response ~ 1 + {RANDOM}")


@pytest.fixture(scope="session")
def lme4() -> None:
    """R with lme4: a test that asks for it is skipped only where one of them is absent."""
    if shutil.which("Rscript") is None:
        pytest.skip("Rscript is not installed")
    if subprocess.run(["Rscript", "-e", "library(lme4)"], capture_output=True, check=False).returncode != 0:
        pytest.skip("R has no package lme4")


def trials() -> dict[str, Any]:
    """Twelve trials with awkward text: quotes, a comma, accents, the word NA."""
    return {
        "Response": np.array([1, 5, 2, 4, 1, 4, 3, 5, 2, 5, 1, 4]),
        "Same_sense": np.array(["Different Sense", "Same Sense"] * 6),
        "Distance": np.array([0.1, 1 / 3] * 6),
        "cue": np.array(['the "verb"', "noun, plain", "adjective"] * 4),
        "Word": np.repeat(["NA", "sueño", "rama"], 4),
        "Gender": np.array([True, False] * 6),
    }


def pair(name: str = "one", full: str = "Same_sense + Distance", random: str = "(1 | Word)") -> ModelPair:
    return ModelPair(name, f"Response ~ {full} + {random}", f"Response ~ Distance + {random}")


def test_the_text_is_deterministic_and_says_what_wrote_it() -> None:
    """The same input gives the same text, with versions and the formulas in it."""
    text = r_script([pair()], trials())
    assert text == r_script([pair()], trials())
    assert "mixedlm 1." in text.splitlines()[1]
    assert "checked against lme4 1.1-31" in text
    assert "Response ~ Same_sense + Distance + (1 | Word)," in text
    assert "REML = FALSE" in text


def test_the_reference_level_is_zero() -> None:
    """Different Sense is the reference level unless another is named."""
    assert 'trials$Same_sense <- as.numeric(trials$Same_sense == "Same Sense")' in r_script([pair()], trials())
    other = r_script([pair()], trials(), references={"Same_sense": "Same Sense"})
    assert 'as.numeric(trials$Same_sense == "Different Sense")' in other


def test_wide_factors_keep_their_levels_in_order() -> None:
    """A predictor with three levels becomes a factor, the reference first; quotes are escaped."""
    text = r_script([pair(full="cue + Distance")], trials(), references={"cue": "noun, plain"})
    assert 'factor(trials$cue, levels = c("noun, plain", "adjective", "the \\"verb\\""))' in text


def test_several_pairs_stand_in_one_script() -> None:
    """Each pair is tested under its own name, with its own optimiser."""
    text = r_script([pair("one"), ModelPair("two", pair().full, pair().reduced, "bobyqa")], trials())
    assert text.count("\ntest(") == 2
    assert 'test("two"' in text
    assert '"bobyqa")' in text


def test_pairs_need_names_of_their_own() -> None:
    """Two pairs of one name could not be told apart in the output; no pair is no script."""
    for pairs in ([pair(), pair()], []):
        with pytest.raises(InputError, match="unique names"):
            r_script(pairs, trials())


def test_the_csv_keeps_every_digit_and_every_letter() -> None:
    """Numbers are written to their last digit, text is quoted where needed, booleans become 1 and 0."""
    data = trials()
    names = ("Distance", "cue", "Word", "Gender")
    rows = list(csv.DictReader(csv_text(data, names).splitlines()))
    assert [float(row["Distance"]) for row in rows] == data["Distance"].tolist()
    assert [row["cue"] for row in rows] == data["cue"].tolist()
    assert [row["Gender"] for row in rows][:2] == ["1", "0"]


def test_the_csv_has_the_columns_of_the_models() -> None:
    """Only what the models use is exported; a missing column is named."""
    assert pair_columns([pair(), NORMS]) == ("Response", "Same_sense", "Distance", "Word", "Participant", "List")
    with pytest.raises(InputError, match="no column 'List'"):
        csv_text(trials(), ["List"])


@pytest.mark.r
@pytest.mark.published
@pytest.mark.usefixtures("lme4")
def test_the_script_prints_the_published_chi2(sawc_trials: dict[str, Any], tmp_path: Path) -> None:
    """Run on SAW-C's trials, the exported script prints χ²(1) = 39.589 (§3.5)."""
    (tmp_path / "trials.csv").write_text(csv_text(sawc_trials, pair_columns([NORMS])), encoding="utf-8")
    script = tmp_path / "models.R"
    script.write_text(r_script([NORMS], sawc_trials), encoding="utf-8")
    assert "norms: chi2(1) = 39.589, p = 3.135e-10" in run_r(script)


def test_every_test_has_its_own_distances() -> None:
    """Two subjects' distances do not share a column of the table that R reads; one subject's do."""
    one = pair("one")
    found, columns = distinct_columns([(one, {"Distance": ("m", 3)}), (one, {"Distance": ("m", 3)}),
                                       (one, {"Distance": ("other", None)})])  # fmt: skip
    assert found[0] == found[1] == one
    assert found[2].full == one.full.replace("Distance", "Distance_2")
    assert found[2].reduced == one.reduced.replace("Distance", "Distance_2")
    assert columns == {"Distance": ("m", 3), "Distance_2": ("other", None)}


def test_ordinal_models_are_written_for_clmm() -> None:
    """A pair with links ends the script with clmm of the same formulas; a pair without has the script of before."""
    random = np.random.default_rng(0)
    data = {"y": random.integers(1, 5, 60), "x": random.normal(size=60), "g": np.arange(60) % 6, "h": np.arange(60) % 5}
    pair = ModelPair("x", "y ~ x + (1 + x || g) + (1 | h)", "y ~ 1 + (1 + x || g) + (1 | h)")
    plain, both = r_script([pair], data), r_script([replace(pair, links=("logit",))], data)
    assert both.startswith(plain)
    assert "clmm" not in plain
    assert "ordered(y) ~ 1 + x + (1 | g) + (0 + x | g) + (1 | h)" in both
    assert both.count("{") == both.count("}")
    slider = data | {"y": random.permutation(60)}
    assert "clmm" not in r_script([replace(pair, links=("logit",))], slider), "60 values are no ordered categories"
