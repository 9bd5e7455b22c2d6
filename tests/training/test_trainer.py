"""The Trainer's steps are those of a plain loop, and nothing of it is seen or left behind."""

from __future__ import annotations

import os
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from lexiscope.core.errors import SubjectError
from lexiscope.subjects.local._model_folder import ModelFolder
from lexiscope.subjects.trained._encoder import LoadedClassifier, Shape
from lexiscope.subjects.trained._wording import Wording
from lexiscope.training._labelled_items import Objective, length_batches, steps_of, train_reader
from lexiscope.training._steps import run_steps, seed_of, step_settings_of

from .tiny_views import QUICK, pairs, parameters_of, weights_of

ITEMS = pairs(40)
HOW = replace(QUICK, epochs=2, dropout=0.1, warmup=0.2, weight_decay=0.1, max_gradient_norm=0.5)


def lessons_of(reader: LoadedClassifier) -> Objective:
    """Lessons whose loss is a cross-entropy of made-up answers, and whose figure on dev is always the same."""
    encoded = reader.encode([Wording("full", "[MASK]").pair(item) for item in ITEMS])
    labels = torch.tensor([int(item.gold == "t") for item in ITEMS])

    def loss(batch: list[int]) -> torch.Tensor:
        return torch.nn.functional.cross_entropy(reader.outputs([encoded[n] for n in batch]), labels[batch])

    return Objective([len(each.ids) for each in encoded], loss, lambda: 0.5)  # type: ignore[arg-type]


def reader_of(bert: Path) -> LoadedClassifier:
    return LoadedClassifier(ModelFolder(bert), Shape(2, 2))


@pytest.mark.parametrize("schedule", ["linear", "constant"])
def test_the_steps_are_those_of_a_plain_loop(bert: Path, schedule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """AdamW (no decay of biases and norms), warm-up, schedule, clipping, batches by length: written out plainly.

    They are so whatever the environment asks accelerate for, here another library that is not installed.
    """
    monkeypatch.setenv("ACCELERATE_USE_DEEPSPEED", "true")
    how = replace(HOW, schedule=schedule)
    trained, plain = reader_of(bert), reader_of(bert)
    steps = steps_of(trained, lessons_of(trained), how, 7)
    steps.module.requires_grad_(True)
    run_steps(steps, step_settings_of(how), seed=7, folder=None, versions={})
    weights = {name: each.requires_grad_(True) for name, each in parameters_of(plain).items()}
    still = [name for name in weights if "bias" in name or "LayerNorm" in name]
    groups = [
        {"params": [each for name, each in weights.items() if name not in still], "weight_decay": 0.1},
        {"params": [weights[name] for name in still], "weight_decay": 0.0},
    ]
    optimizer, lessons = torch.optim.AdamW(groups, lr=how.learning_rate), lessons_of(plain)
    plain.model.train()
    # 5 batches of 8 in each of 2 epochs; a fifth of the 10 steps warms up
    for done in range(10):
        epoch, step = divmod(done, 5)
        batch = length_batches(lessons.lengths, 8, np.random.default_rng([7, epoch + 1]))[step]
        torch.manual_seed(seed_of(7, epoch + 1, step))
        rate = done / 2 if done < 2 else (10 - done) / 8 if schedule == "linear" else 1.0
        for group in optimizer.param_groups:
            group["lr"] = rate * how.learning_rate
        optimizer.zero_grad()
        lessons.loss(batch).backward()
        torch.nn.utils.clip_grad_norm_(weights.values(), 0.5)
        optimizer.step()
    assert os.environ["ACCELERATE_USE_DEEPSPEED"] == "true"
    for name, each in parameters_of(trained).items():
        # a key's bias moves all scores of a query alike: its gradient is rounding, which AdamW makes as large as others
        assert "key.bias" in name or torch.allclose(each, weights[name], atol=1e-5), name
    assert not torch.allclose(weights_of(trained)["head.weight"], weights_of(reader_of(bert))["head.weight"], atol=1e-2)


def test_a_batch_that_teaches_nothing_changes_nothing(bert: Path, tmp_path: Path) -> None:
    """Where there is no loss no weight changes, not by decay either; the epoch's mean loss counts the step as 0."""
    reader = reader_of(bert)
    before = weights_of(reader)
    silent = replace(lessons_of(reader), loss=lambda batch: None)
    course = train_reader(reader, silent, HOW, seed=0, folder=tmp_path, versions={})
    assert [epoch.training_loss for epoch in course.history] == [0.0, 0.0]
    assert all(torch.equal(each, before[name]) for name, each in weights_of(reader).items())


def test_a_loss_that_is_not_finite_ends_the_training(bert: Path, tmp_path: Path) -> None:
    """The step and the epoch are named."""
    reader = reader_of(bert)
    lessons, calls = lessons_of(reader), iter(range(100))
    broken = replace(lessons, loss=lambda batch: lessons.loss(batch) * (float("nan") if next(calls) == 6 else 1.0))
    with pytest.raises(SubjectError, match="step 2 of epoch 2"):
        train_reader(reader, broken, HOW, seed=0, folder=tmp_path, versions={})


def test_nothing_of_it_is_seen_or_left_behind(bert: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """No line is written; the random numbers of Python and numpy go on as if there had been no training."""
    random.seed(3)
    np.random.seed(3)  # noqa: NPY002
    expected = random.random(), np.random.rand()  # noqa: NPY002
    random.seed(3)
    np.random.seed(3)  # noqa: NPY002
    reader = reader_of(bert)
    capfd.readouterr()
    train_reader(reader, lessons_of(reader), HOW, seed=0, folder=tmp_path, versions={})
    assert tuple(capfd.readouterr()) == ("", "")
    assert (random.random(), np.random.rand()) == expected  # noqa: NPY002


def test_two_checkpoints_are_kept(bert: Path, tmp_path: Path) -> None:
    """The newest and the best; both are marked as whole."""
    reader = reader_of(bert)
    figures = iter([0.5, 0.7, 0.6, 0.65])
    lessons = replace(lessons_of(reader), measure=lambda: next(figures))
    train_reader(reader, lessons, replace(HOW, epochs=4, checkpoint_steps=2), seed=0, folder=tmp_path, versions={})
    kept = sorted(each.name for each in (tmp_path / "checkpoint").iterdir())
    # 5 steps an epoch: the ends of the second and of the fourth
    assert kept == ["checkpoint-10", "checkpoint-20"]
    assert all((tmp_path / "checkpoint" / name / "whole.json").is_file() for name in kept)
