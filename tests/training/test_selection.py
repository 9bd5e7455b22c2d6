"""The grid: shards in any order give one table; a grid that was killed ends with the same figures; the best is kept."""

from __future__ import annotations

import os
import signal
import statistics
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from lexiscope.core import catalog
from lexiscope.core.errors import InputError, RunError
from lexiscope.core.run import folder_lock
from lexiscope.core.subject import SubjectSpec
from lexiscope.subjects.trained.classifier import load
from lexiscope.training.methods import METHODS, train_method
from lexiscope.training.selection import Grid, Selection, run_selection, select_best, selection_table, training_folder
from lexiscope.training.settings import RATES, SEEDS

from .tiny_views import QUICK, SPACE, exit_of_child, pairs, retrievals, senses, verifications

TRAIN, DEV = pairs(32), pairs(32, start=64)
ONCE = replace(QUICK, epochs=2, dropout=0.1, checkpoint_steps=2)
GRID = Grid((1e-3, 3e-3), (0, 1))
SMALL = Grid((1e-3,), (0, 1))


def test_the_grid_is_the_published_one() -> None:
    """§2.4: three rates and three seeds are nine trainings; what takes no steps is fitted once."""
    assert Grid() == Grid(RATES, SEEDS)
    assert len(Grid().combinations("pair")) == 9
    assert len(Grid().combinations("threshold")) == 1
    with pytest.raises(InputError):
        Grid((1e-5, 1e-5))


@pytest.fixture(scope="module")
def whole_grid(bert: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Selection]:
    """A grid of two rates and two seeds on the view full, and its folder."""
    out = tmp_path_factory.mktemp("grid")
    return out, run_selection("pair", "full", TRAIN, DEV, str(bert), out=out, grid=GRID, settings=ONCE)


def test_shards_in_any_order_give_one_table(bert: Path, whole_grid: tuple[Path, Selection], tmp_path: Path) -> None:
    """One by one from the last to the first, or as a whole: the same table, the same best, the same SD."""
    as_a_whole, whole = whole_grid
    for rate, seed in reversed(GRID.combinations("pair")):
        folder = training_folder(tmp_path / "b", "full", rate, seed)
        train_method("pair", "full", TRAIN, DEV, str(bert), out=folder, seed=seed, learning_rate=rate, settings=ONCE)
    merged = select_best("pair", "full", out=tmp_path / "b", grid=GRID)
    assert selection_table(merged) == selection_table(whole)
    tables = [(folder / "full" / "selection.csv").read_text() for folder in (as_a_whole, tmp_path / "b")]
    assert tables[0] == tables[1] == selection_table(whole)
    assert len(tables[0].splitlines()) == 5
    figures = [shard.dev_accuracy for shard in whole.shards if shard.learning_rate == whole.best.learning_rate]
    assert whole.best.dev_accuracy == max(shard.dev_accuracy for shard in whole.shards)
    assert (whole.mean, whole.sd) == (statistics.fmean(figures), statistics.stdev(figures))


def test_only_the_best_keeps_its_weights(bert: Path, whole_grid: tuple[Path, Selection]) -> None:
    """The model that is tested is there; the others are figures, and the grid is not run again for them."""
    out, found = whole_grid
    kept = [shard.folder for shard in found.shards if (shard.folder / "encoder").is_dir()]
    assert kept == [found.best.folder]
    assert len(load(SubjectSpec.parse(found.best.spec)).judge(DEV, "same_sense")) == 2 * len(DEV)
    again = run_selection("pair", "full", TRAIN, DEV, str(bert), out=out, grid=GRID, settings=ONCE)
    assert (again.best, again.sd) == (found.best, found.sd)


def test_equal_figures_choose_the_lowest_rate_and_seed(bert: Path, tmp_path: Path) -> None:
    """On the view label every shard comes to the same: the first in the order of rate and seed is chosen."""
    grid = Grid((2e-3, 1e-3), (1, 0))
    found = run_selection("pair", "label", TRAIN, DEV, str(bert), out=tmp_path, grid=grid, settings=ONCE)
    assert len({shard.dev_accuracy for shard in found.shards}) == 1
    assert (found.best.learning_rate, found.best.seed, found.sd) == (1e-3, 0, 0.0)


def test_a_shard_that_is_missing_is_named(bert: Path, tmp_path: Path) -> None:
    """A table of a part of the grid is none: what is missing is said."""
    folder = training_folder(tmp_path, "full", 1e-3, 0)
    train_method("pair", "full", TRAIN, DEV, str(bert), out=folder, learning_rate=1e-3, settings=ONCE)
    with pytest.raises(RunError, match=r"3 of 4 shards(.|\n)*rate-0\.001_seed-1"):
        select_best("pair", "full", out=tmp_path, grid=GRID)
    with folder_lock(folder), pytest.raises(RunError, match="another process"):
        train_method("pair", "full", TRAIN, DEV, str(bert), out=folder, learning_rate=1e-3, settings=ONCE)


def select_until_killed(base: str, out: Path) -> None:
    """Train the grid on one thread until a step of the second shard, where the process ends without a word."""

    def killed(part: str, done: int, _total: int) -> None:
        if (part, done) == ("rate 0.001, seed 1, epoch 2", 3):
            os.kill(os.getpid(), signal.SIGKILL)

    torch.set_num_threads(1)
    run_selection("pair", "context", TRAIN, DEV, base, out=out, grid=SMALL, settings=ONCE, progress=killed)


def test_a_killed_grid_ends_with_the_same_figures(bert: Path, tmp_path: Path) -> None:
    """SIGKILL inside the second of two shards; the same call goes on, does nothing twice, ends with the same table."""
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    given = ("pair", "context", TRAIN, DEV, str(bert))
    expected = run_selection(*given, out=whole, grid=SMALL, settings=ONCE)
    assert exit_of_child(select_until_killed, str(bert), broken) == -signal.SIGKILL
    parts: list[str] = []
    found = run_selection(
        *given, out=broken, grid=SMALL, settings=ONCE, progress=lambda part, _n, _all: parts.append(part)
    )
    assert parts[0] == "rate 0.001, seed 1, epoch 2"
    assert not any(part.startswith("rate 0.001, seed 0") for part in parts)
    assert selection_table(found) == selection_table(expected)
    best = [each.best.folder / "encoder" / "model.safetensors" for each in (found, expected)]
    assert best[0].read_bytes() == best[1].read_bytes()


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_shards(bert: Path, tmp_path: Path, method: str) -> None:
    """One function trains any of them; the folder's spec names the subject that it is."""
    made = {"gloss": senses, "verification": verifications, "bi_encoder": retrievals}.get(method, pairs)
    view = "label" if method == "label" else "word"
    found = train_method(
        method, view, made(24), made(16, start=24), str(bert), out=tmp_path / "s", settings=ONCE, space=SPACE
    )
    kind = "bi_encoder" if method == "bi_encoder" else "classifier"
    assert found.spec == f"{kind}:{tmp_path / 's'}"
    assert (found.method, found.view) == (method, view)


def test_what_does_not_fit_is_refused(bert: Path, tmp_path: Path) -> None:
    """An unknown method, a bi-encoder without entries, a label baseline that sees, a task of another method."""
    for method, view, more, said in (
        ("forest", "full", {}, "no method 'forest'"),
        ("bi_encoder", "full", {}, "search space"),
        ("label", "full", {}, "sees nothing"),
        ("gloss", "full", {"task": "same_sense"}, "answers 'sense_disambiguation'"),
    ):
        with pytest.raises(InputError, match=said):
            train_method(method, view, TRAIN, DEV, str(bert), out=tmp_path / "x", settings=ONCE, **more)  # type: ignore[arg-type]
    learnt = {catalog.task(name).learnt for name in catalog.names("tasks")} - {""}
    assert learnt < set(METHODS)
