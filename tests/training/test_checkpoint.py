"""A training that was killed goes on and ends with the same bytes, as if nothing had happened."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import transformers

from lexiscope.core.errors import RunError, SubjectError
from lexiscope.core.subject import SubjectSpec
from lexiscope.subjects.trained.classifier import load
from lexiscope.training import _checkpoint, _trainer, _training
from lexiscope.training._steps import Progress
from lexiscope.training._trainer import StepTrainer
from lexiscope.training._training import TrainedModel
from lexiscope.training.classifier import train_pair_classifier

from .tiny_views import QUICK, pairs

# dropout on: every source of chance is in play
SHORT = replace(QUICK, epochs=3, dropout=0.1, warmup=0.1, weight_decay=0.01, checkpoint_steps=2)
TRAIN, DEV = pairs(40), pairs(16, start=64)

_optimizer = transformers.Trainer._save_optimizer_and_scheduler

CHILD = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from training.test_checkpoint import DEV, SHORT, TRAIN
from lexiscope.training.classifier import train_pair_classifier

def told(part, done, total):
    BODY

train_pair_classifier(
    TRAIN, DEV, sys.argv[2], view="full", out=Path(sys.argv[3]), settings=SHORT, progress=told
)
"""


def child(body: str, bert: Path, out: Path) -> list[str]:
    """The command of a process that trains, and does something after every step."""
    return [sys.executable, "-c", CHILD.replace("BODY", body), str(Path(__file__).parents[1]), str(bert), str(out)]


def files(folder: Path) -> dict[str, bytes]:
    own = (".lock", "machine.json")
    return {
        str(each.relative_to(folder)): each.read_bytes()
        for each in folder.rglob("*")
        if each.is_file() and each.name not in own
    }


def test_a_killed_training_ends_with_the_same_bytes(bert: Path, tmp_path: Path, whole: dict[str, bytes]) -> None:
    """SIGKILL in the second epoch, between two checkpoints; the same call goes on from the last one."""
    broken = tmp_path / "broken"
    arguments = child('if (part, done) == ("epoch 2", 3): os.kill(os.getpid(), signal.SIGKILL)', bert, broken)
    done = subprocess.run(arguments, check=False, capture_output=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    with pytest.raises(SubjectError, match="not finished"):
        load(SubjectSpec.parse(f"classifier:{broken}")).judge(DEV, "same_sense")
    steps: list[tuple[str, int]] = []
    train_pair_classifier(
        TRAIN,
        DEV,
        str(bert),
        view="full",
        out=broken,
        settings=SHORT,
        progress=lambda part, n, _: steps.append((part, n)),
    )
    # 5 steps an epoch: the checkpoint after step 2 of epoch 2 is gone on from
    assert steps[0] == ("epoch 2", 3)
    assert files(broken) == whole


@pytest.mark.soak
def test_a_training_killed_at_any_moment_ends_with_the_same_bytes(
    bert: Path, tmp_path: Path, whole: dict[str, bytes]
) -> None:
    """SIGKILL at random moments, again and again, with a checkpoint after every second step; then it is let end."""
    arguments = child("print(part, flush=True)", bert, tmp_path / "out")
    rng, killed = np.random.default_rng(5), []
    for _ in range(12):
        with subprocess.Popen(arguments, env={**os.environ, "OMP_NUM_THREADS": "1"}, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            # from the first step on: what comes before it is the import of libraries
            process.stdout.readline()
            time.sleep(rng.uniform(0, 0.2))
            process.kill()
        killed.append(process.returncode == -signal.SIGKILL)
    train(bert, tmp_path / "out")
    assert any(killed)
    assert files(tmp_path / "out") == whole


class Killed(BaseException):
    """Stands for SIGKILL: nothing catches it."""


def train(bert: Path, out: Path, **more: Any) -> TrainedModel:
    return train_pair_classifier(TRAIN, DEV, str(bert), view="full", out=out, **({"settings": SHORT} | more))


def stop_at(part: str, done: int) -> Progress:
    """A progress that breaks the training off after a step."""

    def stop(now: str, n: int, _: int) -> None:
        if (now, n) == (part, done):
            raise Killed

    return stop


@pytest.fixture(scope="module")
def whole(bert: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of the training that nothing broke off."""
    out = tmp_path_factory.mktemp("whole") / "out"
    train(bert, out)
    return files(out)


def broken_off(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Break off while the third checkpoint is made, of which one was best before: at one place of its making."""
    made = iter(range(10))

    def dies(plain: Any) -> Any:
        def call(*given: Any, **more: Any) -> Any:
            if next(made) == 2:
                raise Killed
            return plain(*given, **more)

        return call

    if place == "with the weights alone":
        monkeypatch.setattr(StepTrainer, "_save_optimizer_and_scheduler", dies(_optimizer))
    elif place == "without a mark":
        monkeypatch.setattr(_trainer, "mark_checkpoint", dies(_checkpoint.mark_checkpoint))
    else:
        monkeypatch.setattr(_checkpoint.shutil, "rmtree", dies(_checkpoint.shutil.rmtree))


@pytest.mark.parametrize("place", ["with the weights alone", "without a mark", "while an older one is deleted"])
def test_half_a_checkpoint_is_none(
    bert: Path, tmp_path: Path, whole: dict[str, bytes], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the making of a checkpoint is broken off, the same call goes on from the newest whole one."""
    with monkeypatch.context() as broken:
        broken_off(place, broken)
        with pytest.raises(Killed):
            train(bert, tmp_path)
    train(bert, tmp_path)
    assert files(tmp_path) == whole


def test_a_stopped_training_makes_no_step_more(bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Broken off after it had stopped early, before its record: the best epoch is read, and nothing is learnt."""
    soon = replace(SHORT, epochs=6, patience=1, learning_rate=1e-9)
    expected = train(bert, tmp_path / "a", settings=soon)
    assert (len(expected.history), expected.best_epoch) == (2, 1)

    def dies(*_: Any) -> None:
        raise Killed

    with monkeypatch.context() as broken:
        broken.setattr(_training, "_write_weights", dies)
        with pytest.raises(Killed):
            train(bert, tmp_path / "b", settings=soon)
    steps: list[Any] = []
    train(bert, tmp_path / "b", settings=soon, progress=lambda *each: steps.append(each))
    assert steps == []
    assert files(tmp_path / "a") == files(tmp_path / "b")


def test_patience_goes_on(bert: Path, tmp_path: Path) -> None:
    """The epochs without a better figure that were waited before it was broken off count after it, too."""
    soon = replace(SHORT, epochs=6, patience=2, learning_rate=1e-9)
    with pytest.raises(Killed):
        train(bert, tmp_path, settings=soon, progress=stop_at("epoch 3", 1))
    found = train(bert, tmp_path, settings=soon)
    assert (len(found.history), found.stopped) == (3, "no better on dev for 2 epochs")


def test_a_moved_folder_is_gone_on_with(
    bert: Path, tmp_path: Path, whole: dict[str, bytes], capfd: pytest.CaptureFixture[str]
) -> None:
    """The best epoch is found where it lies now, without a word: nothing depends on where it was written."""
    with pytest.raises(Killed):
        train(bert, tmp_path / "old", progress=stop_at("epoch 3", 1))
    (tmp_path / "old").rename(tmp_path / "new")
    capfd.readouterr()
    train(bert, tmp_path / "new")
    assert tuple(capfd.readouterr()) == ("", "")
    assert files(tmp_path / "new") == whole


def test_a_damaged_checkpoint_is_refused(bert: Path, tmp_path: Path) -> None:
    """A checkpoint that is cut off, or of other versions, is named; nothing is trained over it."""
    with pytest.raises(Killed):
        train(bert, tmp_path, progress=stop_at("epoch 1", 4))
    kept = tmp_path / "checkpoint" / "checkpoint-2"
    about = (kept / "whole.json").read_text()
    (kept / "whole.json").write_text(about.replace('"transformers"', '"transformerz"'))
    with pytest.raises(RunError, match="other versions"):
        train(bert, tmp_path)
    (kept / "whole.json").write_text(about)
    content = (kept / "optimizer.pt").read_bytes()
    (kept / "optimizer.pt").write_bytes(content[:-100])
    with pytest.raises(RunError, match=r"(?s)checkpoint cannot be read.*optimizer\.pt"):
        train(bert, tmp_path)


def test_a_full_disk_is_said(bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkpoint that cannot be written is an error that says so; the training goes on later."""

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_trainer, "save_file", full)
    with pytest.raises(RunError, match=r"(?s)checkpoint cannot be written.*No space left"):
        train(bert, tmp_path)
