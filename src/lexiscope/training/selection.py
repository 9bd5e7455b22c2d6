"""Selection on dev: a grid of learning rates and seeds, of which the best on dev is the model that is tested.

Every cell of the grid is a shard (:mod:`lexiscope.training.methods`). They are run in any order, by one process or by
several; merging them gives the same table. An interrupted grid continues and ends with the same figures.
*Source:* the context–word bias study, §2.4 and Table 7 (SD over seeds on dev).
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lexiscope.core.errors import InputError, Place, RunError
from lexiscope.core.item import Item
from lexiscope.core.run import csv_lines, write_atomically
from lexiscope.items.answers.search_space import SearchSpace
from lexiscope.subjects.local._adapter import RECORD
from lexiscope.training._steps import Progress
from lexiscope.training._training import TrainedModel, delete_weights, read_training
from lexiscope.training.methods import train_method
from lexiscope.training.settings import RATES, SEEDS, TrainingSettings

TABLE = "selection.csv"
_COLUMNS = ("view", "method", "learning_rate", "seed", "monitor", "dev", "best_epoch", "n_train", "n_dev", "selected")
_SEEDLESS = ("threshold", "label")


@dataclass(frozen=True, slots=True)
class Grid:
    """The learning rates and the seeds of a selection. *Source:* §2.4: three rates, three seeds."""

    learning_rates: tuple[float, ...] = RATES
    seeds: tuple[int, ...] = SEEDS

    def __post_init__(self) -> None:
        for name, values in (("learning rate", self.learning_rates), ("seed", self.seeds)):
            if not values or len(set(values)) < len(values):
                raise InputError(f"a grid needs each {name} once, and at least one")

    def combinations(self, method: str) -> tuple[tuple[float, int], ...]:
        """The (rate, seed) of every shard; a method without steps has one."""
        if method in _SEEDLESS:
            return ((self.learning_rates[0], 0),)
        return tuple((rate, seed) for rate in self.learning_rates for seed in self.seeds)


@dataclass(frozen=True, slots=True)
class Selection:
    """A finished grid: its shards by rate and seed, and the one that was best on dev.

    ``sd``: the standard deviation (n − 1) over the seeds, on dev, at the rate of the best; ``None`` for one seed.
    ``mean``: the mean of the same figures.
    """

    view: str
    shards: tuple[TrainedModel, ...]
    best: TrainedModel
    mean: float
    sd: float | None

    @property
    def dev_by_seed(self) -> dict[int, float]:
        """The score on dev of each seed, at the rate of the best."""
        rate = self.best.learning_rate
        return {shard.seed: shard.dev_accuracy for shard in self.shards if shard.learning_rate == rate}


def training_folder(out: Path, view: str, rate: float, seed: int) -> Path:
    """Return the folder of one shard of a grid.

    >>> training_folder(Path("wic"), "word", 1e-5, 2).as_posix()
    'wic/word/rate-1e-05_seed-2'
    """
    return out / view / f"rate-{rate:g}_seed-{seed}"


def run_selection(
    method: str,
    view: str,
    train: Sequence[Item],
    dev: Sequence[Item],
    encoder: str,
    *,
    out: Path,
    grid: Grid | None = None,
    settings: TrainingSettings | None = None,
    task: str | None = None,
    space: SearchSpace | None = None,
    store: Path | None = None,
    keep_all: bool = False,
    command: Sequence[str] = (),
    progress: Progress | None = None,
) -> Selection:
    """Run what is missing of a grid in ``out/VIEW/``, choose the best on dev, write the table.

    The weights of the other shards are deleted unless *keep_all*: a grid of a large encoder would be nine times its
    size. *progress* is told ``rate 1e-05, seed 0, epoch 1``. Errors: those of
    :func:`~lexiscope.training.methods.train_method`.
    """
    asked = grid or Grid()
    for rate, seed in asked.combinations(method):
        train_method(
            method,
            view,
            train,
            dev,
            encoder,
            out=training_folder(out, view, rate, seed),
            seed=seed,
            learning_rate=rate,
            settings=settings,
            task=task,
            space=space,
            store=store,
            command=command,
            progress=_labelled_progress(progress, rate, seed),
        )
    selection = select_best(method, view, out=out, grid=asked)
    for shard in selection.shards:
        if shard.folder != selection.best.folder and not (keep_all or shard.pruned):
            delete_weights(shard.folder)
    return selection


def select_best(method: str, view: str, *, out: Path, grid: Grid | None = None) -> Selection:
    """Choose among the finished shards of a grid and write the table ``out/VIEW/selection.csv``.

    Of equal figures on dev the lowest rate counts, then the lowest seed: neither the order in which shards were run nor
    who ran them changes anything. Errors: :class:`RunError` naming shards that are missing.
    """
    asked = grid or Grid()
    folders = {cell: training_folder(out, view, *cell) for cell in sorted(asked.combinations(method))}
    missing = [str(folder) for folder in folders.values() if not (folder / RECORD).is_file()]
    if missing:
        what = f"{len(missing)} of {len(folders)} shards are not finished"
        place, why = Place(str(out)), f"the first is {missing[0]}"
        raise RunError(what, place=place, why=why, hint="run them; those that are finished are only read")
    shards = tuple(read_training(folder) for folder in folders.values())
    best = max(shards, key=lambda shard: shard.dev_accuracy)
    figures = [shard.dev_accuracy for shard in shards if shard.learning_rate == best.learning_rate]
    sd = statistics.stdev(figures) if len(figures) > 1 else None
    selection = Selection(view, shards, best, statistics.fmean(figures), sd)
    write_atomically(out / view / TABLE, selection_table(selection))
    return selection


def selection_table(selection: Selection) -> str:
    """Return the table of a selection as CSV: a row per shard, by rate and seed."""
    rows = []
    for shard in selection.shards:
        figures = (shard.dev_accuracy, shard.best_epoch, shard.n_train, shard.n_dev)
        named = (shard.view, shard.method, shard.learning_rate, shard.seed, shard.monitor)
        rows.append([*named, *figures, int(shard.folder == selection.best.folder)])
    return csv_lines(_COLUMNS, rows)


def _labelled_progress(progress: Progress | None, rate: float, seed: int) -> Progress | None:
    if progress is None:
        return None

    def tell(part: str, done: int, total: int) -> None:
        progress(f"rate {rate:g}, seed {seed}, {part}", done, total)

    return tell
