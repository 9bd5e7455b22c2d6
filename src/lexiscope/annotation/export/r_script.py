"""Write an R script that fits the planned model to the exported judgments and counts the rows of every step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lexiscope.analysis.mixed.formula import MixedFormula, read_formula
from lexiscope.annotation.export.long_table import condition_column
from lexiscope.annotation.export.study_data import StudyData
from lexiscope.annotation.study_file.definition import StudyDefinition
from lexiscope.core.item import Item
from lexiscope.core.simulated import KIND_COLUMN, SIMULATED, TOLD_SIMULATED
from lexiscope.items.tables.neutral import cell_text

_OWN = {"rating", "participant", "item", "word", "list"}


def analysis_script(collected: StudyData) -> str:
    """Return the script: it reads judgments.csv and items.csv in its folder and reports every row that it excludes.

    Where the study plans a model, it fits it by maximum likelihood with and without the planned effect.
    Errors: :class:`InputError` where the planned model does not parse.
    """
    planned = collected.definition.planned
    blocks = [
        _HEAD,
        *([_SIMULATED] if collected.simulated else []),
        _READ.format(low=collected.definition.scale.low, high=collected.definition.scale.high),
    ]
    if not planned.model:
        return "\n".join([*blocks, _NO_MODEL])
    full, reduced = analysis_formulas(collected.definition)
    formula = read_formula(full)
    columns = [name for name in formula.columns if name not in _OWN]
    blocks += [_condition_lines(name, collected.design.items) for name in columns]
    blocks.append("\n".join(f"trials${name} <- factor(trials${name})" for name in formula.groups) + "\n")
    blocks.append(_FIT.format(full=full, size=planned.size))
    if reduced:
        blocks.append(_TEST.format(reduced=reduced, effect=planned.effect))
    return "\n".join(blocks)


def analysis_formulas(definition: StudyDefinition) -> tuple[str, str]:
    """Return the planned model and the model without the planned effect, empty where none is tested.

    Errors: :class:`InputError` where the planned model does not parse.
    """
    formula, effect = read_formula(definition.planned.model), definition.planned.effect
    return str(formula), str(without_effect(formula, effect)) if effect in formula.fixed else ""


def without_effect(formula: MixedFormula, effect: str) -> MixedFormula:
    """Return the model without one fixed effect; its random effects stay.

    >>> str(without_effect(read_formula("y ~ a + b + (1 + a | g)"), "a"))
    'y ~ b + (1 + a | g)'
    """
    return replace(formula, fixed=tuple(term for term in formula.fixed if term != effect))


def _condition_lines(name: str, items: Sequence[Item]) -> str:
    """A condition of the items as a column of the trials: two levels as 0 and 1, more numbers as they are."""
    levels = sorted({cell_text(item.conditions[name]) for item in items if name in item.conditions})
    source = f"items${condition_column(name)}[at]"
    if len(levels) != 2 and all(_is_number(level) for level in levels):
        return f"trials${name} <- as.numeric({source})"
    if len(levels) == 2:
        comment = f"# {name}: 0 = {_single_line(levels[0])}, 1 = {_single_line(levels[1])}"
        return f"{comment}\ntrials${name} <- as.numeric({source} == {_r_string(levels[1])})"
    listed = ", ".join(_r_string(level) for level in levels)
    comment = f"# {name}: treatment coding, the first level is the reference"
    return f"{comment}\ntrials${name} <- factor({source}, levels = c({listed}))"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text not in ("nan", "inf", "-inf")


def _r_string(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'


def _single_line(text: str) -> str:
    return " ".join(text.split())


_HEAD = """\
# The planned analysis of this study, from judgments.csv and items.csv in the folder of this script.
# Run: Rscript analysis.R    Needs R and lme4: install.packages("lme4")
suppressPackageStartupMessages(library(lme4))
here <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))
folder <- if (length(here)) dirname(here) else "."
read <- function(name) read.csv(file.path(folder, name), encoding = "UTF-8", colClasses = "character",
                                na.strings = "", check.names = FALSE)
judgments <- read("judgments.csv")
items <- read("items.csv")
say <- function(what, rows)
  cat(sprintf("ROWS\\t%s\\t%d\\t%d\\n", what, nrow(rows), length(unique(rows$participant_id))))
say("all judgments", judgments)
"""
_SIMULATED = f"""\
# Simulated participants: {TOLD_SIMULATED}.
stopifnot(all(judgments${KIND_COLUMN} == "{SIMULATED}"))
cat("PARTICIPANTS\\t{SIMULATED}\\n")
"""
_READ = """\
# Excluded rows, one line per step; the counts are rows and participants.
trials <- judgments[judgments$kind == "item", ]
say("answers to items, without catch trials, checks and questions about the participant", trials)
trials <- trials[trials$phase == "trials", ]
say("of the trials, without practice and reveal", trials)
trials <- trials[trials$excluded == "False", ]
say("of participants who are not excluded", trials)
finished <- read("participants.csv")
trials <- trials[trials$participant_id %in% finished$participant_id[finished$valid == "True"], ]
say("of participants who finished", trials)
trials <- trials[!is.na(trials$response), ]
say("with an answer", trials)

at <- match(trials$item_id, items$item_id)
stopifnot(!anyNA(at))
trials$rating <- suppressWarnings(as.numeric(trials$response)) # from {low:g} to {high:g} on the scale of the study
trials$participant <- trials$participant_id
trials$item <- trials$item_id
trials$word <- items$word[at]
trials$list <- trials$list_id
"""
_NO_MODEL = """\
# The study plans no model.
cat("NOMODEL\\n")
print(table(trials$response))
"""
_FIT = """\
stopifnot(!anyNA(trials$rating))
# Planned: {full}. The smallest effect of interest is {size:g} points.
fit <- function(formula) lmer(formula, data = trials, REML = FALSE)
full <- fit({full})
print(summary(full), correlation = FALSE)
cat(sprintf("MODEL\\tfull\\t%.8f\\t%d\\n", as.numeric(logLik(full)), as.integer(isSingular(full))))
"""
_TEST = """\
# The test of {effect}: likelihood ratio of the model with and without it.
reduced <- fit({reduced})
result <- anova(full, reduced)
print(result)
cat(sprintf("TEST\\t%s\\t%.8f\\t%d\\t%.10g\\n", "{effect}", result$Chisq[2], result$Df[2], result$`Pr(>Chisq)`[2]))
cat(sprintf("EFFECT\\t%s\\t%.8f\\n", "{effect}", fixef(full)["{effect}"]))
cat("VERSIONS\\t", R.version.string, "\\tlme4 ", as.character(packageVersion("lme4")), "\\n", sep = "")
"""
