"""Values of ordinal::clmm, frozen from R 4.2.2 with ordinal 2022.11-16, and how to compute them again.

``Rscript clmm_oracle.R TRIALS.csv LINK NAME "FORMULA" …`` (next to this file) wrote them from the columns of the
models: ratings as Response, predictors as numbers (Same_sense 1 and 0), the rest as text.
"""

from __future__ import annotations

import csv
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lexiscope.analysis.mixed.ordinal import OrdinalFit

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Clmm:
    """One model as clmm fitted it: estimate and standard error of each term, SDs, modes of five participants."""

    log_likelihood: float
    effects: Mapping[str, tuple[float, float]]
    deviations: Mapping[str, float]
    modes: Mapping[str, tuple[float, float]]


def read(text: str) -> dict[tuple[str, str], Clmm]:
    """Read what the script printed, by the name of the model and the link."""
    rows = [line.split("\t") for line in text.splitlines() if not line.startswith("VERSIONS")]
    models = {}
    for key in dict.fromkeys((row[0], row[1]) for row in rows):
        own = [row[2:] for row in rows if (row[0], row[1]) == key]
        pairs = {what: {row[1]: (float(row[2]), float(row[-1])) for row in own if row[0] == what}
                 for what in ("log_likelihood", "effect", "sd", "severity")}  # fmt: skip
        models[key] = Clmm(
            pairs["log_likelihood"][""][0],
            pairs["effect"],
            {term: value for term, (value, _) in pairs["sd"].items()},
            pairs["severity"],
        )
    return models


@cache
def frozen(name: str) -> dict[tuple[str, str], Clmm]:
    """Return the frozen models of one set of trials: ``sawc``, ``rawc``, ``ambistory``, ``slice``."""
    return read((HERE / "clmm" / f"{name}.tsv").read_text(encoding="utf-8"))


def frozen_names() -> list[str]:
    """Return the names of the sets that have frozen values."""
    return sorted(path.stem for path in (HERE / "clmm").glob("*.tsv"))


@cache
def has_clmm() -> bool:
    """Whether R and its package ordinal are installed."""
    if shutil.which("Rscript") is None:
        return False
    asked = subprocess.run(["Rscript", "-e", "library(ordinal)"], capture_output=True, check=False)
    return asked.returncode == 0


def refit(trials: Mapping[str, list[object]], folder: Path, link: str, **formulas: str) -> dict[tuple[str, str], Clmm]:
    """Fit models again with clmm, by their names, to the given columns."""
    path = folder / "trials.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(trials)
        writer.writerows(zip(*trials.values(), strict=True))
    given = [part for pair in formulas.items() for part in pair]
    command = ["Rscript", "--vanilla", str(HERE / "clmm_oracle.R"), str(path), link, *given]
    return read(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def far(ours: OrdinalFit, theirs: Clmm) -> dict[str, float]:
    """Return the largest differences: log-likelihood, estimates in standard errors, standard errors, SDs, severity."""
    terms = [*ours.thresholds, *ours.fixed]
    pairs = list(zip(terms, theirs.effects.values(), strict=True))
    modes = {level: (value, se) for level, value, se in ours.modes["Participant"].of("(Intercept)")}
    deviations = {f"{part.group}.{part.term}": part.sd for part in ours.variances}
    return {
        "log_likelihood": abs(ours.log_likelihood - theirs.log_likelihood),
        "estimates": max(abs(mine.estimate - value) / se for mine, (value, se) in pairs),
        "errors": max(abs(mine.se / se - 1) for mine, (_, se) in pairs),
        "deviations": max(abs(deviations[term] - sd) for term, sd in theirs.deviations.items()),
        "modes": max(abs(modes[level][0] - value) / se for level, (value, se) in theirs.modes.items()),
        "mode_errors": max(abs(modes[level][1] / se - 1) for level, (_, se) in theirs.modes.items()),
    }
