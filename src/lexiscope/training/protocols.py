"""How much of the published training is done: all of it, a little, none, or what fits into a budget of time.

A plan says what it leaves out, for the report: a number of a reduced protocol is not one of the published one. A plan
for a budget follows from a measured speed. It is kept in a file: a run that continues, on any machine, keeps its plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from lexiscope.core import catalog
from lexiscope.core.errors import InputError
from lexiscope.core.sealed import read_sealed, without_seal, write_sealed
from lexiscope.items.answers.search_space import SearchSpace
from lexiscope.items.arrange.splits import ItemDivision
from lexiscope.training.budget import plan_budget, read_duration
from lexiscope.training.selection import Grid
from lexiscope.training.settings import RATES, SEEDS, TrainingSettings

Protocol = Literal["linear", "zero_shot", "reduced", "full"]
AUTO: Literal["auto"] = "auto"
"""Names the protocol without training of the encoder: a linear probe of pairs, of other tasks ``zero_shot``."""

# a protocol other than the whole one reads at most this number of items: enough for a first answer
_PROBE_ROWS, _PROBE_DEV, _PROBE_TEST = 1_000, 500, 2_000
_LINEAR_ROWS = 3_000
_REDUCED_ROWS, _REDUCED_EPOCHS = 2_000, 3
_HOW = {
    "linear": "A linear probe: a logistic regression on the vectors of the encoder as it is, trained on each view.",
    "zero_shot": "Without training: of an encoder as it is, layer and threshold are chosen on train and dev.",
    "reduced": "A reduced protocol: one learning rate, one seed, few epochs.",
    "full": "The whole protocol: three learning rates, three seeds, the best on dev is tested.",
}
_SEARCHED = (
    "Without training: an encoder as it is reads the sentence and the entries; the mean vector of the target is "
    "compared with that of each entry."
)


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """What is trained of one encoder on one dataset. ``how`` and ``left_out`` say so, and what the paper has more.

    ``test_rows``: the maximum number of tested items, 0 = all. ``trained_label``: a model is trained on the view label
    too; otherwise LABEL is the closed form that such a model would reach.
    """

    protocol: Protocol
    grid: Grid
    settings: TrainingSettings
    test_rows: int = 0
    trained_label: bool = True
    left_out: tuple[str, ...] = ()
    how: str = ""


def named_plan(protocol: Protocol, settings: TrainingSettings | None = None) -> TrainingPlan:
    """Return the plan of a protocol, before it is known what of a dataset it leaves out.

    *settings* say on what device it runs.

    >>> named_plan("full").grid.learning_rates, named_plan("zero_shot").settings.epochs
    ((1e-05, 2e-05, 3e-05), 0)
    """
    whole = settings or TrainingSettings()
    if protocol == "full":
        return TrainingPlan("full", Grid(RATES, SEEDS), whole)
    single = Grid((RATES[len(RATES) // 2],), SEEDS[:1])
    few = replace(whole, max_dev_rows=_PROBE_DEV)
    if protocol == "reduced":
        few = replace(few, epochs=_REDUCED_EPOCHS, max_rows=_REDUCED_ROWS)
        return TrainingPlan("reduced", single, few, _PROBE_TEST, trained_label=False)
    # the first token of a model that has not learnt the task represents its sentence, not the target in it
    few = replace(few, epochs=0, pooling="target", max_rows=_LINEAR_ROWS if protocol == "linear" else _PROBE_ROWS)
    return TrainingPlan(protocol, single, few, _PROBE_TEST, trained_label=protocol == "linear")


def plan_for(
    asked: Protocol | Literal["auto"], parts: ItemDivision, task: str, *, settings: TrainingSettings
) -> TrainingPlan:
    """Return the plan of a protocol for a dataset, with what it leaves out of it.

    Errors: :class:`InputError` for a linear probe of a task that has none.
    """
    of_pairs = catalog.task(task).learnt in ("pair", "verification")
    if asked == "linear" and not of_pairs:
        what = f"there is no linear probe of the task {task!r}"
        raise InputError(what, hint="use --protocol zero_shot, reduced or full")
    protocol = ("linear" if of_pairs else "zero_shot") if asked == AUTO else asked
    plan = named_plan(protocol, settings)
    left_out: list[str] = []
    if not plan.settings.epochs:
        left_out.append("all training of the encoder")
    if protocol == "reduced":
        left_out += [f"{len(RATES) - 1} of {len(RATES)} learning rates", f"{len(SEEDS) - 1} of {len(SEEDS)} seeds"]
        left_out.append(f"epochs beyond {plan.settings.epochs} (of {TrainingSettings().epochs})")
    left_out += _rows_left_out(plan, parts, task)
    if not plan.trained_label:
        drawn = catalog.task(task).learnt == "gloss"
        closed = "a draw among the senses" if drawn else "the most frequent answer of training"
        left_out.append(f"a model trained on nothing: LABEL is {closed}")
    how = _SEARCHED if protocol == "zero_shot" and is_retrieval(task) else _HOW[protocol]
    return replace(plan, left_out=tuple(left_out), how=how)


def budget_plan(
    parts: ItemDivision,
    task: str,
    encoder: str,
    views: Sequence[str],
    *,
    budget: str,
    share: int,
    kept: Path,
    settings: TrainingSettings,
    space: SearchSpace | None = None,
) -> TrainingPlan:
    """Return what fits into one of *share* equal parts of a budget (``1h30m``). *kept* is the file of the plan.

    Errors: those of :func:`~lexiscope.training.budget.plan_budget`.
    """
    if kept.is_file():
        content = without_seal(read_sealed(kept))
        rates, seeds = content["grid"]["learning_rates"], content["grid"]["seeds"]
        grid, known = Grid(tuple(rates), tuple(seeds)), TrainingSettings(**content["settings"])
        return TrainingPlan(**content | {"grid": grid, "settings": known, "left_out": tuple(content["left_out"])})
    seconds = read_duration(budget) / share
    budgeted = plan_budget(catalog.task(task).learnt, views, parts.train, parts.dev, encoder, seconds=seconds,
                        n_test=len(parts.test), settings=settings, space=space)  # fmt: skip
    if budgeted.protocol == "zero_shot":
        plan = plan_for(AUTO, parts, task, settings=settings)
    else:
        plan = TrainingPlan(budgeted.protocol, budgeted.grid, budgeted.settings, left_out=budgeted.left_out)
    plan = replace(plan, how=f"Planned for {budget} in all: {budgeted.words}.")
    write_sealed(kept, asdict(plan))
    return plan


def _rows_left_out(plan: TrainingPlan, parts: ItemDivision, task: str) -> list[str]:
    if parts.folds:
        return []
    counts = [("tested", len(parts.test), plan.test_rows)]
    # a search without training learns nothing and chooses nothing
    if plan.settings.epochs or not is_retrieval(task):
        counts.append(("training", len(parts.train), plan.settings.max_rows))
        counts.append(("dev", len(parts.dev), plan.settings.max_dev_rows))
    return [f"{n - most:,} of {n:,} {name} items" for name, n, most in counts if most and n > most]


def is_retrieval(task: str) -> bool:
    """Return whether the items of a task are answered by a search among all entries.

    >>> is_retrieval("entity_link"), is_retrieval("same_sense")
    (True, False)
    """
    return catalog.task(task).learnt == "bi_encoder"
