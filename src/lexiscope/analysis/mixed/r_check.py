"""Refit mixed models with lme4, where R is installed, and compare with this library's fits."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lexiscope.analysis.mixed.data import Column
from lexiscope.analysis.mixed.fit import MixedFit
from lexiscope.analysis.mixed.models import LikelihoodRatio, likelihood_ratio
from lexiscope.analysis.mixed.r_script import ModelPair, csv_text, pair_columns, r_script
from lexiscope.core.errors import MissingExtraError, StatisticError


@dataclass(frozen=True, slots=True)
class Lme4Model:
    """One model as lme4 fitted it. ``messages`` are lme4's own warnings, empty where it had none."""

    log_likelihood: float
    n_parameters: int
    singular: bool
    messages: str
    effects: tuple[tuple[str, float, float], ...]


@dataclass(frozen=True, slots=True)
class ModelDifference:
    """How far two fits of one model are apart.

    ``log_likelihood`` is ours minus lme4's (positive: ours fits better); ``estimate`` and ``se`` are the largest
    relative differences over the fixed effects. *Unit:* nats for ``log_likelihood``, none for the others.
    """

    log_likelihood: float
    estimate: float
    se: float
    lme4: Lme4Model


@dataclass(frozen=True, slots=True)
class PairCheck:
    """One likelihood-ratio test computed twice: here and by lme4. ``chi2_difference`` is ours minus lme4's."""

    name: str
    ours: LikelihoodRatio
    lme4_chi2: float
    chi2_difference: float
    full: ModelDifference
    reduced: ModelDifference


@dataclass(frozen=True, slots=True)
class CrossCheck:
    """The comparison of several tests with lme4, and the versions of R and lme4 that ran."""

    versions: str
    pairs: tuple[PairCheck, ...]

    @property
    def worst_log_likelihood(self) -> float:
        """The largest absolute difference in log-likelihood over all models. *Unit:* nats."""
        return max(abs(model.log_likelihood) for pair in self.pairs for model in (pair.full, pair.reduced))

    @property
    def worst_chi2(self) -> float:
        """The largest absolute difference in χ² over all pairs."""
        return max(abs(pair.chi2_difference) for pair in self.pairs)


def cross_check(
    pairs: Sequence[ModelPair],
    data: Mapping[str, Column],
    *,
    references: Mapping[str, str] | None = None,
    starts: int = 5,
    seed: int = 0,
    rscript: str = "Rscript",
    timeout_s: float = 600.0,
) -> CrossCheck:
    """Run the exported R script in a temporary folder and compare every model with the fit made here.

    A difference is not an error: lme4 can stop at a poorer optimum without a message. The sign of
    ``log_likelihood`` tells whose optimum is better.

    Errors: :class:`MissingExtraError` where R or its package lme4 is not installed; :class:`StatisticError` where the
    script fails or does not end in ``timeout_s`` seconds.
    """
    script = r_script(pairs, data, references=references)
    with tempfile.TemporaryDirectory(prefix="lexiscope-r-") as folder:
        Path(folder, "trials.csv").write_text(csv_text(data, pair_columns(pairs)), encoding="utf-8")
        Path(folder, "models.R").write_text(script, encoding="utf-8")
        output = run_r(Path(folder, "models.R"), rscript=rscript, timeout_s=timeout_s)
    models, tests, versions = read_output(output)
    checks = []
    for pair in pairs:
        ours = likelihood_ratio(
            pair.full, pair.reduced, data, starts=starts, seed=seed, references=references, satterthwaite=False
        )
        checks.append(_check(pair.name, ours, models, tests[pair.name]))
    return CrossCheck(versions, tuple(checks))


def run_r(script: Path, *, rscript: str = "Rscript", timeout_s: float = 600.0) -> str:
    """Run an R script and return what it printed.

    Errors: :class:`MissingExtraError` where R or lme4 is missing; :class:`StatisticError` where the script fails.
    """
    program = shutil.which(rscript)
    if program is None:
        raise MissingExtraError(
            f"{rscript!r} was not found, so lme4 cannot be asked",
            hint="install R, then in R: install.packages('lme4'); every other result is complete without it",
        )
    command = [program, "--vanilla", str(script)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired as error:
        raise StatisticError(f"the R script did not end within {timeout_s:g} seconds") from error
    if done.returncode != 0 and "there is no package called" in done.stderr:
        raise MissingExtraError("R has no package lme4", hint="in R: install.packages('lme4')", why=done.stderr.strip())
    if done.returncode != 0:
        raise StatisticError(f"the R script failed with status {done.returncode}", why=done.stderr.strip()[-2000:])
    return done.stdout


def read_output(output: str) -> tuple[dict[tuple[str, str], Lme4Model], dict[str, float], str]:
    """Read the tagged lines of the script's output: the models, the χ² of each pair, and the versions."""
    rows = [line.split("\t") for line in output.splitlines() if "\t" in line]
    effects: dict[tuple[str, str], list[tuple[str, float, float]]] = {}
    for row in rows:
        if row[0] == "EFFECT":
            effects.setdefault((row[1], row[2]), []).append((row[3], float(row[4]), float(row[5])))
    models = {
        (row[1], row[2]): Lme4Model(float(row[3]), int(row[4]), row[5] == "1", row[6], tuple(effects[row[1], row[2]]))
        for row in rows
        if row[0] == "MODEL"
    }
    tests = {row[1]: float(row[2]) for row in rows if row[0] == "TEST"}
    versions = next(" ".join(row[1:]) for row in rows if row[0] == "VERSIONS")
    return models, tests, versions


def _check(name: str, ours: LikelihoodRatio, models: Mapping[tuple[str, str], Lme4Model], chi2: float) -> PairCheck:
    full = _difference(ours.full, models[name, "full"])
    reduced = _difference(ours.reduced, models[name, "reduced"])
    return PairCheck(name, ours, chi2, ours.chi2 - chi2, full, reduced)


def _difference(ours: MixedFit, theirs: Lme4Model) -> ModelDifference:
    # By position: lme4 and this library order the fixed effects alike but name factor levels differently.
    both = list(zip(ours.fixed, theirs.effects, strict=True))
    return ModelDifference(
        log_likelihood=ours.log_likelihood - theirs.log_likelihood,
        estimate=max((_relative(mine.estimate, estimate) for mine, (_, estimate, _) in both), default=0.0),
        se=max((_relative(mine.se, se) for mine, (_, _, se) in both), default=0.0),
        lme4=theirs,
    )


def _relative(a: float, b: float) -> float:
    # a coefficient has a unit: relative to its own size, whatever that is
    return 0.0 if a == b else abs(a - b) / max(abs(a), abs(b))
