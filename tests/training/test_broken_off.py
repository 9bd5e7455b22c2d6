"""A training that was killed goes on and ends with the same bytes, as if nothing had happened."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from lexiscope.core.errors import RunError, SubjectError
from lexiscope.core.subject import SubjectSpec
from lexiscope.subjects.classifier import load
from lexiscope.training.pair_classifier import train_pair_classifier

from .tiny_views import QUICK, pairs

# dropout on: every source of chance is in play
SHORT = replace(QUICK, epochs=3, dropout=0.1, warmup=0.1, weight_decay=0.01, checkpoint_steps=2)
TRAIN, DEV = pairs(40), pairs(16, start=64)

CHILD = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from training.test_broken_off import DEV, SHORT, TRAIN
from lexiscope.training.pair_classifier import train_pair_classifier

def killed(part, done, total):
    if (part, done) == ("epoch 2", 3):
        os.kill(os.getpid(), signal.SIGKILL)

train_pair_classifier(
    TRAIN, DEV, sys.argv[2], view="full", out=Path(sys.argv[3]), settings=SHORT, progress=killed
)
"""


def files(folder: Path) -> dict[str, bytes]:
    own = (".lock", "machine.json")
    return {
        str(each.relative_to(folder)): each.read_bytes()
        for each in folder.rglob("*")
        if each.is_file() and each.name not in own
    }


def test_a_killed_training_ends_with_the_same_bytes(bert: Path, tmp_path: Path) -> None:
    """SIGKILL in the second epoch, between two checkpoints; the same call goes on from the last one."""
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    train_pair_classifier(TRAIN, DEV, str(bert), view="full", out=whole, settings=SHORT)
    arguments = [sys.executable, "-c", CHILD, str(Path(__file__).parents[1]), str(bert), str(broken)]
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
    assert files(broken) == files(whole)


def test_a_damaged_checkpoint_is_refused(bert: Path, tmp_path: Path) -> None:
    """A checkpoint that is cut off is named; nothing is trained over it."""
    out = tmp_path / "out"

    def stop(part: str, done: int, _: int) -> None:
        if (part, done) == ("epoch 1", 4):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_pair_classifier(TRAIN, DEV, str(bert), view="full", out=out, settings=SHORT, progress=stop)
    kept = out / "checkpoint" / "state.safetensors"
    kept.write_bytes(kept.read_bytes()[:-100])
    with pytest.raises(RunError, match="checkpoint cannot be read"):
        train_pair_classifier(TRAIN, DEV, str(bert), view="full", out=out, settings=SHORT)
