"""How much of the published training is done: all of it, a little, none, or what fits into a budget of time.

A few steps are measured on the views, the encoder and the items of the run. The plan lists what it omits as text for
the report: a figure of a reduced protocol is not one of the published protocol. A
plan is kept in a file: a run that continues, on any machine, keeps its plan.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from lexiscope.core import catalog
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.sealed import read_sealed, without_seal, write_sealed
from lexiscope.items.answers.search_space import SearchSpace
from lexiscope.items.answers.sense_options import glosses_of
from lexiscope.items.arrange.splits import ItemDivision, sample_items
from lexiscope.items.arrange.views import view_item
from lexiscope.subjects.trained._encoder import LoadedClassifier, Shape
from lexiscope.subjects.trained._wording import TextsWithTargets, Wording
from lexiscope.training._base import base_of, isolated_torch
from lexiscope.training._labelled_items import Objective, steps_of
from lexiscope.training._steps import run_steps, step_settings_of
from lexiscope.training.selection import Grid
from lexiscope.training.settings import RATES, SEEDS, TrainingSettings

Protocol = Literal["linear", "zero_shot", "reduced", "full"]
AUTO: Literal["auto"] = "auto"
"""Names the protocol without training of the encoder: a linear probe of pairs, of other tasks ``zero_shot``."""
_Trained = Literal["full", "reduced", "zero_shot"]

_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s?)?")
_MEASURED_STEPS = 2
_FEW_EPOCHS = 3
_ROWS = (5_000, 2_000, 1_000, 500)
_DEV_ROWS = 500
# a plan that fits by a hair does not fit: lengths differ, other work runs at the same time
_MARGIN = 1.25


@dataclass(frozen=True, slots=True)
class Speed:
    """Seconds that a reading costs on one view: ``learnt`` (a step, by its share) and ``read``."""

    learnt: float
    read: float


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many items there are, and how many ``readings`` each is.

    ``entries`` of a search space are read once, ``epoch_entries`` of them (among which dev is searched) every epoch.
    """

    train: int
    dev: int
    test: int
    readings: float = 1.0
    entries: int = 0
    epoch_entries: int = 0


@dataclass(frozen=True, slots=True)
class BudgetPlan:
    """The plan of a run: a grid with its settings, or no training; ``left_out`` lists what is missing, as text.

    ``zero_shot``: fit a probe (method ``threshold``), or a bi-encoder with these settings, which have 0 epochs.

    ``seconds`` is what the plan is expected to cost, ``seconds_full`` what the whole protocol would.
    """

    protocol: _Trained
    grid: Grid
    settings: TrainingSettings
    seconds: float
    seconds_full: float
    left_out: tuple[str, ...]

    @property
    def words(self) -> str:
        """The plan in one sentence."""
        seconds = _duration_text(self.seconds)
        if self.protocol == "full":
            return f"the whole protocol is run: about {seconds}"
        how = "no model is trained" if self.protocol == "zero_shot" else "a reduced protocol is run"
        cost = f"about {seconds}; the whole protocol would take about {_duration_text(self.seconds_full)}"
        return f"{how} ({cost}); omitted: {'; '.join(self.left_out)}"


def read_duration(text: str) -> float:
    """Return the seconds of a duration: ``30m``, ``1h30m``, ``90s``.

    Errors: :class:`InputError` for anything else.

    >>> read_duration("30m"), read_duration("1h30m"), read_duration("90s")
    (1800.0, 5400.0, 90.0)
    """
    match = _DURATION.fullmatch(text.strip())
    seconds = (
        sum(int(part or 0) * size for part, size in zip(match.groups(), (3600, 60, 1), strict=True)) if match else 0
    )
    if not seconds:
        raise InputError(f"{text!r} is not a duration", hint="write 30m, 1h30m or 90s")
    return float(seconds)


def plan_budget(
    method: str,
    views: Sequence[str],
    train: Sequence[Item],
    dev: Sequence[Item],
    encoder: str,
    *,
    seconds: float,
    n_test: int = 0,
    grid: Grid | None = None,
    settings: TrainingSettings | None = None,
    space: SearchSpace | None = None,
) -> BudgetPlan:
    """Measure a few steps on every view and choose what fits into *seconds*, all views together.

    Errors: :class:`InputError` for an unknown method, or items of another shape; those of the encoder.
    """
    asked, asked_grid = settings or TrainingSettings(), grid or Grid()
    per_item = sum(len(glosses_of(item)) for item in train) / len(train) if method == "gloss" else 1.0
    held = 0 if space is None else len(space)
    searched = min(held, asked.dev_entries or held)
    sizes = Sizes(len(train), len(dev), n_test, per_item, held, searched)
    speeds = measure_speeds(method, views, train, encoder, asked)
    return choose_protocol(speeds, sizes, seconds=seconds, grid=asked_grid, settings=asked)


def choose_protocol(
    speeds: Mapping[str, Speed], sizes: Sizes, *, seconds: float, grid: Grid, settings: TrainingSettings
) -> BudgetPlan:
    """Return the first of the protocols, from whole to none, whose expected cost fits into *seconds*.

    It leaves out, in this order: learning rates, seeds, epochs, items of training and dev.
    """
    whole = cost_of(speeds, sizes, grid, settings)
    for smaller, changed in _protocols(grid, settings, sizes):
        cost = cost_of(speeds, sizes, smaller, changed)
        left_out = _omissions(grid, smaller, settings, changed, sizes)
        if cost * _MARGIN <= seconds:
            return BudgetPlan("reduced" if left_out else "full", smaller, changed, cost, whole, left_out)
    reading = sum((sizes.train + sizes.dev + sizes.test) * sizes.readings * speed.read for speed in speeds.values())
    # entries are read once for all views where nothing is trained
    reading += sizes.entries * max(speed.read for speed in speeds.values())
    left_out = ("all training: layer and threshold of an encoder as it is are chosen on train and dev",)
    single, still = Grid(grid.learning_rates[:1], grid.seeds[:1]), replace(settings, epochs=0)
    return BudgetPlan("zero_shot", single, still, reading, whole, left_out)


def cost_of(speeds: Mapping[str, Speed], sizes: Sizes, grid: Grid, settings: TrainingSettings) -> float:
    """Return the seconds that a grid is expected to take on all views, tests included; no training stops early."""
    trainings = len(grid.learning_rates) * len(grid.seeds)
    train = min(sizes.train, settings.max_rows or sizes.train) * sizes.readings
    dev = min(sizes.dev, settings.max_dev_rows or sizes.dev) * sizes.readings + sizes.epoch_entries
    total = 0.0
    for speed in speeds.values():
        epochs = settings.epochs * (train * speed.learnt + dev * speed.read)
        total += trainings * (epochs + sizes.entries * speed.read) + sizes.test * sizes.readings * speed.read
    return total


def measure_speeds(
    method: str, views: Sequence[str], train: Sequence[Item], encoder: str, settings: TrainingSettings
) -> dict[str, Speed]:
    """Return what a reading costs on each view, measured over a few steps after one that is not counted.

    Errors: :class:`InputError` for an unknown method or items of another shape; those of the encoder.
    """
    base = base_of(encoder)
    items = sample_items(train, settings.batch * (_MEASURED_STEPS + 1))
    shape = Shape(2, 2 if method == "pair" else 0, longest=settings.longest)
    with isolated_torch(settings.device, settings.threads):
        reader = LoadedClassifier(base.folder, shape, device=settings.device)
        speeds = {}
        for view in views:
            readings = _readings(method, Wording(view, reader.mask), [view_item(item, view) for item in items])
            speeds[view] = _measure_speed(reader, readings, settings)
    # a bi-encoder reads an entry with every query
    twice = 2 if method == "bi_encoder" else 1
    return {view: Speed(speed.learnt * twice, speed.read) for view, speed in speeds.items()}


def _measure_speed(reader: LoadedClassifier, readings: Sequence[TextsWithTargets], settings: TrainingSettings) -> Speed:
    size = settings.batch
    encoded = reader.encode(readings[: size * (_MEASURED_STEPS + 1)])

    def loss(batch: Sequence[int]) -> object:
        return reader.outputs([encoded[place] for place in batch]).square().mean()

    lessons = Objective([len(reading.ids) for reading in encoded], loss, lambda: 0.0)
    batches = [list(range(n, min(n + size, len(encoded)))) for n in range(0, len(encoded), size)]
    # one batch alone is learnt twice: the first step is not counted
    pace = replace(step_settings_of(settings), epochs=1 if batches[1:] else 2)
    steps = replace(steps_of(reader, lessons, settings, 0), batches=lambda epoch: batches)
    steps.module.requires_grad_(True)
    ends: list[float] = []
    run_steps(steps, pace, seed=0, folder=None, versions={}, progress=lambda *_: ends.append(time.perf_counter()))
    learnt = (ends[-1] - ends[0]) / sum(map(len, batches[1:] or batches))
    begun = time.perf_counter()
    reader.predict_encoded(encoded[:size])
    return Speed(learnt, (time.perf_counter() - begun) / len(encoded[:size]))


def _readings(method: str, wording: Wording, items: Sequence[Item]) -> list[TextsWithTargets]:
    if method == "gloss":
        return [reading for item in items for reading in wording.senses(item)]
    made = {"pair": wording.pair, "verification": wording.verification, "bi_encoder": wording.query}
    if method not in made:
        raise InputError(f"the method {method!r} is not trained in steps", hint=f"use one of {', '.join(made)}, gloss")
    return [made[method](item) for item in items]


def _protocols(grid: Grid, settings: TrainingSettings, sizes: Sizes) -> Iterator[tuple[Grid, TrainingSettings]]:
    """Yield protocols from whole to small."""
    yield grid, settings
    # the middle rate of the published three
    one_rate = Grid((grid.learning_rates[len(grid.learning_rates) // 2],), grid.seeds)
    yield one_rate, settings
    single = Grid(one_rate.learning_rates, grid.seeds[:1])
    yield single, settings
    few = replace(settings, epochs=min(settings.epochs, _FEW_EPOCHS))
    yield single, few
    for rows in _ROWS:
        if rows < min(sizes.train, settings.max_rows or sizes.train):
            yield single, replace(few, max_rows=rows, max_dev_rows=min(rows, settings.max_dev_rows or _DEV_ROWS))


def _omissions(
    grid: Grid, smaller: Grid, settings: TrainingSettings, changed: TrainingSettings, sizes: Sizes
) -> tuple[str, ...]:
    parts = []
    if smaller.learning_rates != grid.learning_rates:
        parts.append(f"{len(grid.learning_rates) - 1} of {len(grid.learning_rates)} learning rates")
    if smaller.seeds != grid.seeds:
        parts.append(f"{len(grid.seeds) - 1} of {len(grid.seeds)} seeds, and with them the SD over seeds")
    if changed.epochs != settings.epochs:
        parts.append(f"epochs beyond {changed.epochs} (of {settings.epochs})")
    if changed.max_rows != settings.max_rows:
        parts.append(f"{sizes.train - changed.max_rows:,} of {sizes.train:,} training items")
    if changed.max_dev_rows != settings.max_dev_rows and changed.max_dev_rows < sizes.dev:
        parts.append(f"{sizes.dev - changed.max_dev_rows:,} of {sizes.dev:,} dev items")
    return tuple(parts)


def _duration_text(seconds: float) -> str:
    return f"{seconds / 60:,.0f} minutes" if seconds >= 120 else f"{seconds:.0f} seconds"


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
