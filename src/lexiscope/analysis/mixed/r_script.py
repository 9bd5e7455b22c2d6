"""An R script that refits the mixed models of a study with lme4, from a CSV beside it.

Anyone with R can check the numbers without this library: the script prints the same χ² and says which software wrote
it. It uses base R and lme4 only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from itertools import count
from typing import TypeVar

import numpy as np

from lexiscope.analysis.mixed.data import Coding, Column, prepare
from lexiscope.analysis.mixed.formula import MixedFormula, read_formula
from lexiscope.core.errors import InputError
from lexiscope.core.run import csv_lines

V = TypeVar("V")

LME4_CHECKED = "1.1-31"
"""The version of lme4 that this library's frozen values come from."""


@dataclass(frozen=True, slots=True)
class ModelPair:
    """Two nested models under one name; ``optimizer`` is lme4's (its default, or ``bobyqa``)."""

    name: str
    full: str
    reduced: str
    optimizer: str = "nloptwrap"


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
    The same input gives the same text.

    Errors: :class:`InputError` for a pair without a name of its own, and those of :func:`prepare`.
    """
    names = [pair.name for pair in pairs]
    if not pairs or len(set(names)) != len(names):
        raise InputError("the model pairs of an R script need names of their own", hint=f"given: {names}")
    codings = _codings(pairs, data, references)
    blocks = [_header(csv_name), _read_lines(pairs, csv_name, codings), _FUNCTIONS, *(_pair(pair) for pair in pairs)]
    return "\n".join(blocks)


def _formulas(pairs: Sequence[ModelPair]) -> list[MixedFormula]:
    return [read_formula(text) for pair in pairs for text in (pair.full, pair.reduced)]


def _codings(
    pairs: Sequence[ModelPair], data: Mapping[str, Column], references: Mapping[str, str] | None
) -> list[Coding]:
    codings: dict[str, Coding] = {}
    for formula in _formulas(pairs):
        codings |= {coding.column: coding for coding in prepare(formula, data, references=references).codings}
    return list(codings.values())


def _header(csv_name: str) -> str:
    lines = [
        f"Refits the mixed models of this study from {csv_name}, which lies beside this script.",
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
