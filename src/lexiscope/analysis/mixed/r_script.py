"""An R script that refits the mixed models of a study with lme4, and the comparison of its fits with ours.

Anyone with R can check the numbers without this library: the script prints the same χ² and says which software wrote
it. It uses base R and lme4 only.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from itertools import count
from pathlib import Path
from typing import TypeVar

import numpy as np

from lexiscope.analysis.mixed.data import Coding, Column, prepare
from lexiscope.analysis.mixed.fit import MixedFit
from lexiscope.analysis.mixed.formula import MixedFormula, read_formula
from lexiscope.analysis.mixed.models import LikelihoodRatio, likelihood_ratio
from lexiscope.analysis.mixed.ordinal import MOST_CATEGORIES
from lexiscope.core.errors import InputError, MissingExtraError, StatisticError
from lexiscope.core.run import csv_lines

V = TypeVar("V")

LME4_CHECKED = "1.1-31"
"""The version of lme4 that this library's frozen values come from."""


@dataclass(frozen=True, slots=True)
class ModelPair:
    """Two nested models under one name; ``optimizer`` is lme4's (its default, or ``bobyqa``).

    ``links`` are those of the ordinal models (logit, probit) that are fitted next to the linear ones.
    """

    name: str
    full: str
    reduced: str
    optimizer: str = "nloptwrap"
    links: tuple[str, ...] = ()


def distinct_columns(
    pairs: Sequence[tuple[ModelPair, Mapping[str, V]]],
) -> tuple[tuple[ModelPair, ...], dict[str, V]]:
    """Return pairs that call different contents by different names, and the content of each name.

    *pairs* come with what is behind their columns (a subject and its layer): a name that stands for something else in
    an earlier pair gets a number, so that one table of trials serves all pairs.

    >>> one, two = (ModelPair(name, "y ~ x + (1 | g)", "y ~ 1 + (1 | g)") for name in ("one", "two"))
    >>> found, columns = distinct_columns([(one, {"x": "BERT"}), (two, {"x": "ELMo"})])
    >>> found[1].full, columns
    ('y ~ x_2 + (1 | g)', {'x': 'BERT', 'x_2': 'ELMo'})
    """
    taken: dict[str, V] = {}
    renamed = []
    for pair, columns in pairs:
        for name, content in columns.items():
            tries = (name if number == 1 else f"{name}_{number}" for number in count(1))
            new = next(name for name in tries if taken.setdefault(name, content) == content)
            full, reduced = (re.sub(rf"\b{name}\b", new, formula) for formula in (pair.full, pair.reduced))
            pair = replace(pair, full=full, reduced=reduced)
        renamed.append(pair)
    return tuple(renamed), taken


def pair_columns(pairs: Sequence[ModelPair]) -> tuple[str, ...]:
    """Return the columns that the models of all pairs use, each once, in order of appearance."""
    return tuple(dict.fromkeys(column for formula in _formulas(pairs) for column in formula.columns))


def csv_text(data: Mapping[str, Column], columns: Sequence[str]) -> str:
    """Return the named columns as CSV, as the R script reads them: numbers to their last digit, one row per trial.

    Errors: :class:`InputError` for a column that the data do not have.
    """
    unknown = [name for name in columns if name not in data]
    if unknown:
        raise InputError(f"the data have no column {unknown[0]!r}", hint=f"they have {', '.join(sorted(data))}")
    return csv_lines(columns, zip(*(_cells(data[name]) for name in columns), strict=True))


def _cells(column: Column) -> list[object]:
    # R would read True and False as a factor-like logical; the fits use them as 1 and 0.
    values = np.asarray(column)
    return list((values.astype(np.int64) if values.dtype.kind == "b" else values).tolist())


def r_script(
    pairs: Sequence[ModelPair],
    data: Mapping[str, Column],
    *,
    csv_name: str = "trials.csv",
    references: Mapping[str, str] | None = None,
) -> str:
    """Return the text of an R script that refits ``pairs`` by maximum likelihood and prints every χ².

    The script reads ``csv_name`` from its own folder. Text predictors with two levels become 0 and 1 (the reference
    level, from ``references`` or the first by code point, is 0); those with more become factors with treatment coding.
    A response with more values than an ordinal model takes is fitted by linear models only. The same input gives the
    same text.

    Errors: :class:`InputError` for a pair without a unique name, and those of :func:`prepare`.
    """
    names = [pair.name for pair in pairs]
    if not pairs or len(set(names)) != len(names):
        raise InputError("the model pairs of an R script need unique names", hint=f"given: {names}")
    by_column: dict[str, Coding] = {}
    for formula in _formulas(pairs):
        by_column |= {coding.column: coding for coding in prepare(formula, data, references=references).codings}
    codings = list(by_column.values())
    blocks = [_header(csv_name), _read_lines(pairs, csv_name, codings), _FUNCTIONS, *(_pair(pair) for pair in pairs)]
    ordinal = [
        _ordinal_pair(pair, link)
        for pair in pairs
        if len(np.unique(np.asarray(data[read_formula(pair.full).response]))) <= MOST_CATEGORIES
        for link in pair.links
    ]
    if ordinal:
        blocks += [_ORDINAL_FUNCTIONS, *ordinal, "}\n"]
    return "\n".join(blocks)


def _formulas(pairs: Sequence[ModelPair]) -> list[MixedFormula]:
    return [read_formula(text) for pair in pairs for text in (pair.full, pair.reduced)]


def _header(csv_name: str) -> str:
    lines = [
        f"Refits the mixed models of this study from {csv_name}, which is next to this script.",
        f"Written by {_version('lexiscope')} with {_version('mixedlm')}; checked against lme4 {LME4_CHECKED}.",
        "Run: Rscript <this file>. Needs R and lme4: install.packages('lme4')",
    ]
    return "".join(f"# {line}\n" for line in lines)


def _version(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} (version unknown)"


def _read_lines(pairs: Sequence[ModelPair], csv_name: str, codings: Sequence[Coding]) -> str:
    groups = dict.fromkeys(column for formula in _formulas(pairs) for column in formula.groups)
    coded = {coding.column for coding in codings}
    lines = [
        "suppressPackageStartupMessages(library(lme4))",
        'here <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))',
        f'path <- file.path(if (length(here)) dirname(here) else ".", {_quote(csv_name)})',
        'trials <- read.csv(path, fileEncoding = "UTF-8", stringsAsFactors = FALSE, na.strings = "")',
        *(_coding_line(coding) for coding in codings),
        *(f"trials${name} <- factor(trials${name})" for name in groups if name not in coded),
    ]
    return "\n".join(lines) + "\n"


def _coding_line(coding: Coding) -> str:
    if len(coding.levels) == 2:
        comment = f"# {coding}"
        return f"{comment}\ntrials${coding.column} <- as.numeric(trials${coding.column} == {_quote(coding.levels[1])})"
    levels = ", ".join(_quote(level) for level in coding.levels)
    return f"# {coding}\ntrials${coding.column} <- factor(trials${coding.column}, levels = c({levels}))"


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _pair(pair: ModelPair) -> str:
    full, reduced = read_formula(pair.full), read_formula(pair.reduced)
    return f"test({_quote(pair.name)},\n     {full},\n     {reduced},\n     {_quote(pair.optimizer)})\n"


def _ordinal_pair(pair: ModelPair, link: str) -> str:
    full, reduced = (_clmm_formula(read_formula(text)) for text in (pair.full, pair.reduced))
    return f"test_ordinal({_quote(pair.name)},\n     {full},\n     {reduced},\n     {_quote(link)})\n"


def _clmm_formula(formula: MixedFormula) -> str:
    """Return a formula as clmm reads it: the rating is a factor, and ``||`` is written as separate brackets.

    >>> _clmm_formula(read_formula("y ~ a + (1 + a || g) + (1 | h)"))
    'ordered(y) ~ 1 + a + (1 | g) + (0 + a | g) + (1 | h)'
    """
    brackets: list[str] = []
    for part in formula.random:
        if part.correlated:
            brackets.append(str(part))
        else:
            brackets += [f"(1 | {part.group})"] * part.intercept
            brackets += [f"(0 + {slope} | {part.group})" for slope in part.slopes]
    return " + ".join([f"ordered({formula.response}) ~ 1", *formula.fixed, *brackets])


# Lines that begin with a tag are read back by a cross-check; the rest is for people.
_FUNCTIONS = """\
refit <- function(name, which, formula, optimizer) {
  model <- lmer(formula, data = trials, REML = FALSE, control = lmerControl(optimizer = optimizer))
  said <- paste(unlist(model@optinfo$conv$lme4$messages), collapse = "; ")
  cat(sprintf("MODEL\\t%s\\t%s\\t%.8f\\t%d\\t%d\\t%s\\n", name, which, as.numeric(logLik(model)),
              attr(logLik(model), "df"), as.integer(isSingular(model)), said))
  table <- summary(model)$coefficients
  for (effect in rownames(table))
    cat(sprintf("EFFECT\\t%s\\t%s\\t%s\\t%.10g\\t%.10g\\n", name, which, effect, table[effect, 1], table[effect, 2]))
  model
}
test <- function(name, full, reduced, optimizer) {
  cat("\\n==", name, "==\\n")
  full <- refit(name, "full", full, optimizer)
  reduced <- refit(name, "reduced", reduced, optimizer)
  result <- anova(full, reduced)
  print(result)
  cat(sprintf("TEST\\t%s\\t%.8f\\t%d\\t%.10g\\n", name, result$Chisq[2], result$Df[2], result$`Pr(>Chisq)`[2]))
  cat(sprintf("%s: chi2(%d) = %.3f, p = %.4g\\n", name, result$Df[2], result$Chisq[2], result$`Pr(>Chisq)`[2]))
}
cat("VERSIONS\\t", R.version.string, "\\tlme4 ", as.character(packageVersion("lme4")), "\\n", sep = "")
"""

_ORDINAL_FUNCTIONS = """\
# The same tests with cumulative link mixed models, which take minutes. Needs: install.packages('ordinal')
if (requireNamespace("ordinal", quietly = TRUE)) {
refit_ordinal <- function(name, which, formula, link) {
  model <- ordinal::clmm(formula, data = trials, link = link)
  cat(sprintf("ORDINAL\\t%s\\t%s\\t%s\\t%.8f\\t%d\\n", name, which, link, as.numeric(logLik(model)),
              attr(logLik(model), "df")))
  print(summary(model))
  model
}
test_ordinal <- function(name, full, reduced, link) {
  cat("\\n==", name, link, "==\\n")
  full <- refit_ordinal(name, "full", full, link)
  reduced <- refit_ordinal(name, "reduced", reduced, link)
  chi2 <- 2 * as.numeric(logLik(full) - logLik(reduced))
  df <- attr(logLik(full), "df") - attr(logLik(reduced), "df")
  cat(sprintf("%s (%s): chi2(%d) = %.3f, p = %.4g\\n", name, link, df, chi2, pchisq(chi2, df, lower.tail = FALSE)))
}
"""


# -- refit mixed models with lme4, where R is installed, and compare with this library's fits -----------------------


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
    """The distance between two fits of one model.

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
        full = _difference(ours.full, models[pair.name, "full"])
        reduced = _difference(ours.reduced, models[pair.name, "reduced"])
        checks.append(PairCheck(pair.name, ours, tests[pair.name], ours.chi2 - tests[pair.name], full, reduced))
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
