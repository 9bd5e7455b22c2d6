"""How much is trained on a dataset: nothing, a little, all of the paper's grid, or what fits into a budget of time.

A plan made for a budget rests on a measured speed, so that it is kept in the run folder: a run that is continued, on
whatever machine, goes on with the same plan.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from lexiscope.core.errors import InputError
from lexiscope.core.sealed import read_sealed, unsealed, write_sealed
from lexiscope.studies.context_bias.material import PAIR_TASKS, RETRIEVAL_TASKS, VIEWS, AuditSet
from lexiscope.studies.context_bias.settings import ContextBiasSettings
from lexiscope.training.budget import BudgetPlan, plan_budget, read_duration
from lexiscope.training.selection import Grid
from lexiscope.training.settings import RATES, SEEDS, TrainingSettings
from lexiscope.training.shards import METHOD_OF_TASK

Name = Literal["linear", "zero_shot", "reduced", "full"]

LOOK_UP = "look_up"
"""The learner that counts: it needs no model, and sees what a view shows and nothing else."""

WORDS = "words"
"""The learner of words and characters: it needs no model, and is trained on each view in seconds."""

# of a protocol that is not the whole: so many items are enough for a first answer
_PROBE_ROWS, _PROBE_DEV, _PROBE_TEST = 1_000, 500, 2_000
_LINEAR_ROWS = 3_000
_REDUCED_ROWS, _REDUCED_EPOCHS = 2_000, 3
_MIDDLE = RATES[len(RATES) // 2]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is trained of one encoder on one dataset; 0 rows = all. ``left_out`` says in words what the paper has more.

    ``trained_label``: a model is trained on the view label too; else LABEL is the closed form that it would come to.
    """

    protocol: Name
    rates: tuple[float, ...]
    seeds: tuple[int, ...]
    epochs: int
    max_rows: int
    max_dev_rows: int
    test_rows: int
    trained_label: bool
    left_out: tuple[str, ...] = ()
    words: str = ""

    @property
    def grid(self) -> Grid:
        """Its learning rates and seeds."""
        return Grid(self.rates, self.seeds)

    def settings(self, run: ContextBiasSettings) -> TrainingSettings:
        """Return the settings of its trainings, on the device and threads of the run."""
        # the first token of a model that has not learnt the task stands for its sentence, not for the target in it
        return TrainingSettings(
            pooling="cls" if self.epochs else "target",
            epochs=self.epochs,
            max_rows=self.max_rows,
            max_dev_rows=self.max_dev_rows,
            threads=run.threads,
            device=run.device,
        )


def check_protocol(settings: ContextBiasSettings) -> None:
    """Refuse a budget that is none, or one beside a protocol: each of them decides.

    Errors: :class:`InputError`.
    """
    if settings.budget:
        read_duration(settings.budget)
    if settings.budget and settings.protocol != "auto":
        what = f"the budget {settings.budget} chooses the protocol, and {settings.protocol} is one"
        raise InputError(what, hint="give --budget or --protocol, not both")


def crosses(settings: ContextBiasSettings) -> bool:
    """Say whether a file without splits is learnt from and tested in folds: with learners that cost seconds."""
    return not settings.budget and settings.protocol in ("auto", "linear")


def protocol_of(task: str, settings: ContextBiasSettings) -> Name:
    """Return the protocol of a task without a budget: by default a linear probe if the task has one, else no training.

    Errors: :class:`InputError` for a linear probe of a task that has none.
    """
    if settings.protocol == "auto":
        return "linear" if task in PAIR_TASKS else "zero_shot"
    if settings.protocol == "linear" and task not in PAIR_TASKS:
        what = f"there is no linear probe of the task {task!r}"
        raise InputError(what, hint="use --protocol zero_shot, reduced or full")
    return settings.protocol


def plan_of(audit: AuditSet, encoder: str, settings: ContextBiasSettings, kept: Path, *, share: int) -> Plan:
    """Return the plan of an encoder on a dataset; one made for a budget is written to *kept*, and read from there.

    *share* is among how many (dataset, encoder) the budget is divided, in equal parts.
    Errors: those of the encoder, and of :func:`lexiscope.training.budget.plan_budget`.
    """
    if not settings.budget:
        return _told(named_plan(protocol_of(audit.task, settings)), audit)
    if kept.is_file():
        return _read(kept)
    plan = _budgeted(audit, encoder, settings, seconds=read_duration(settings.budget) / share)
    write_sealed(kept, asdict(plan))
    return plan


def named_plan(protocol: Name) -> Plan:
    """Return the plan of a protocol, before it is known what of a dataset it leaves out.

    >>> named_plan("full").rates, named_plan("zero_shot").epochs
    ((1e-05, 2e-05, 3e-05), 0)
    """
    whole = TrainingSettings()
    if protocol == "full":
        return Plan("full", RATES, SEEDS, whole.epochs, 0, 0, 0, trained_label=True)
    if protocol == "reduced":
        one = (_MIDDLE,), SEEDS[:1]
        return Plan("reduced", *one, _REDUCED_EPOCHS, _REDUCED_ROWS, _PROBE_DEV, _PROBE_TEST, trained_label=False)
    if protocol == "linear":
        return Plan("linear", (), (), 0, _LINEAR_ROWS, _PROBE_DEV, _PROBE_TEST, trained_label=True)
    return Plan("zero_shot", (_MIDDLE,), SEEDS[:1], 0, _PROBE_ROWS, _PROBE_DEV, _PROBE_TEST, trained_label=False)


def _told(plan: Plan, audit: AuditSet) -> Plan:
    """The plan with what it leaves out of this dataset."""
    left_out: list[str] = []
    if plan.protocol in ("linear", "zero_shot"):
        left_out.append("all training of the encoder")
    if plan.protocol == "reduced":
        left_out += [f"{len(RATES) - 1} of {len(RATES)} learning rates", f"{len(SEEDS) - 1} of {len(SEEDS)} seeds"]
        left_out.append(f"epochs beyond {plan.epochs} (of {TrainingSettings().epochs})")
    left_out += _rows_left_out(plan, audit)
    if not plan.trained_label:
        left_out.append(f"a model trained on nothing: LABEL is {_closed_form(audit)}")
    how = {
        "linear": "A linear probe: a logistic regression on the vectors of the encoder as it is, trained on each view.",
        "zero_shot": "Without training: of an encoder as it is, layer and threshold are chosen on train and dev."
        if audit.task not in RETRIEVAL_TASKS
        else "Without training: an encoder as it is reads the sentence and the entries; the mean vector of the target "
        "is compared with that of each entry.",
        "reduced": "A reduced protocol: one learning rate, one seed, few epochs.",
        "full": "The whole protocol: three learning rates, three seeds, the best on dev is tested.",
    }
    return replace(plan, left_out=tuple(left_out), words=how[plan.protocol])


def _closed_form(audit: AuditSet) -> str:
    if audit.task == "sense_disambiguation":
        return "a draw among the senses"
    return "the most frequent answer of training"


def _rows_left_out(plan: Plan, audit: AuditSet) -> list[str]:
    if audit.folds:
        return []
    parts: list[tuple[str, int, int]] = [("tested", len(audit.test), plan.test_rows)]
    # a search without training learns nothing and chooses nothing
    if plan.epochs or audit.task not in RETRIEVAL_TASKS:
        parts += [("training", len(audit.train), plan.max_rows), ("dev", len(audit.dev), plan.max_dev_rows)]
    return [f"{n - most:,} of {n:,} {name} items" for name, n, most in parts if most and n > most]


def _budgeted(audit: AuditSet, encoder: str, settings: ContextBiasSettings, *, seconds: float) -> Plan:
    run = TrainingSettings(threads=settings.threads, device=settings.device)
    method = METHOD_OF_TASK[audit.task]
    found = plan_budget(method, VIEWS, audit.train, audit.dev, encoder, seconds=seconds, n_test=len(audit.test),
                        settings=run, space=audit.space)  # fmt: skip
    untrained: Name = "linear" if audit.task in PAIR_TASKS else "zero_shot"
    plan = _told(named_plan(untrained), audit) if found.protocol == "zero_shot" else _of_budget(found)
    return replace(plan, words=f"Planned for {settings.budget} in all: {found.words}.")


def _of_budget(found: BudgetPlan) -> Plan:
    given = found.settings
    return Plan(
        found.protocol,
        found.grid.learning_rates,
        found.grid.seeds,
        given.epochs,
        given.max_rows,
        given.max_dev_rows,
        test_rows=0,
        trained_label=True,
        left_out=found.left_out,
    )


def _read(path: Path) -> Plan:
    content = unsealed(read_sealed(path))
    listed = {name: tuple(value) for name, value in content.items() if isinstance(value, list)}
    return Plan(**{**content, **listed})
