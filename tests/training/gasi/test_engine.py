"""Both ways to learn: a window learnt by torch moves the vectors as the kernel does, on every device there is."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from lexiscope.core.errors import LexiscopeError, SubjectError
from lexiscope.training.gasi import train as gasi_training
from lexiscope.training.gasi._engine import TorchEngine, Windows, _load_kernel, learn_batch, windows_of
from lexiscope.training.gasi.settings import VARIANTS, GasiSettings, Variant
from lexiscope.training.gasi.shards import make_shards
from lexiscope.training.gasi.train import CHECKPOINT, train_gasi
from lexiscope.training.gasi.vocabulary import Vocabulary, VocabularyLimits

from .corpus import write_corpus
from .test_kernel import SETTINGS, by_kernel, case, relative

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("variant", VARIANTS)
def test_torch_moves_vectors_as_the_kernel_does(variant: Variant, device: str) -> None:
    """A batch of one window of different words: the same steps to 1e-4 relative, a sense that is not there included."""
    how, rate = SETTINGS[variant], 1e-2
    given = case(how.n_senses, np.float32, masked=how.n_senses > 1)
    expected = by_kernel(given, how, rate, 1.0)
    vectors = tuple(torch.tensor(given[each], device=device) for each in ("senses", "contexts"))
    words = torch.tensor(given["words"], device=device)[None]
    noise = torch.tensor(how.noise_scale * given["noise"], device=device, dtype=torch.float32)[None]
    weight = torch.ones(1, device=device)
    windows = Windows(torch.tensor([5], device=device), words[:, :7], words[:, 7:], weight, noise)
    mask = torch.tensor(given["mask"], device=device)
    bounds = learn_batch(vectors, mask, windows, rate=rate, sharpness=how.sharpness)
    for found, name, steps in zip(vectors, ("senses", "contexts"), expected, strict=False):
        assert relative((found.cpu().numpy() - given[name]) / rate, steps) < 1e-4
    assert -float(bounds) == pytest.approx(expected[2][2], rel=1e-4)


def test_windows_of_torch_are_those_of_the_kernel() -> None:
    """The same centres and the same words beside them, line by line."""
    kernel = pytest.importorskip("lexiscope.training.gasi._kernel")
    rng = np.random.default_rng(0)
    tokens = rng.integers(-1, 9, size=200).astype(np.int32)
    centres, context = windows_of(tokens, 3)
    words = np.zeros(6, np.int64)
    expected = []
    for place in np.flatnonzero(tokens >= 0):
        m = kernel.window_of(tokens, len(tokens), place, 3, words)
        expected += [(tokens[place], sorted(words[:m]))] if m else []
    found = [(centre, sorted(row[row >= 0])) for centre, row in zip(centres, context, strict=True)]
    assert found == expected


def test_a_device_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing falls back to the processor silently."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    how = GasiSettings(backend="torch", device="cuda", dimensions=4)
    vocabulary = Vocabulary(("a", "b"), np.array([2, 1]), 3)
    vectors = gasi_training.first_vectors(2, how, 0)
    with pytest.raises(SubjectError, match="cuda"):
        TorchEngine(how, vocabulary, vectors, np.ones((2, 3), np.bool_))


@pytest.mark.parametrize(
    ("module", "fault", "told"),
    [
        ("numba", ModuleNotFoundError("No module named 'numba'", name="numba"), "lexiscope\\[train\\]"),
        ("lexiscope.training.gasi._kernel", RuntimeError("no locator available"), "NUMBA_CACHE_DIR"),
    ],
)
def test_without_a_compiler_the_error_says_what_to_do(
    module: str, fault: Exception, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """numba is not installed, or nowhere may it keep what it compiles."""
    plain = importlib.import_module

    def absent(name: str) -> object:
        if name == module:
            raise fault
        return plain(name)

    monkeypatch.setattr(importlib, "import_module", absent)
    with pytest.raises(LexiscopeError, match=told):
        _load_kernel()


CHILD = """
import sys
from pathlib import Path
from lexiscope.training.gasi.settings import GasiSettings
from lexiscope.training.gasi.shards import open_shards
from lexiscope.training.gasi.train import train_gasi
folder = Path(sys.argv[1])
how = GasiSettings(dimensions=64, subsampling=0.0, chunk_tokens=300, epochs=60, checkpoint_tokens=30_000)
train_gasi(open_shards(folder / "shards"), out=folder / "killed", settings=how)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is of POSIX")
def test_a_killed_training_ends_with_the_same_bytes(tmp_path: Path) -> None:
    """A process killed in the midst of its training: the next one goes on, and ends as if nothing had happened."""
    shards = make_shards([write_corpus(tmp_path)], tmp_path / "shards", limits=VocabularyLimits(min_count=1))
    how = GasiSettings(dimensions=64, subsampling=0.0, chunk_tokens=300, epochs=60, checkpoint_tokens=30_000)
    state = tmp_path / "killed" / CHECKPOINT / gasi_training.STATE
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(tmp_path)], env=os.environ | {"OMP_NUM_THREADS": "1"})
    try:
        deadline = time.monotonic() + 120
        while not state.is_file() and child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert state.is_file(), "the training ended before it could be killed"
    assert not (tmp_path / "killed" / "settings.json").exists()
    train_gasi(shards, out=tmp_path / "killed", settings=how)
    train_gasi(shards, out=tmp_path / "whole", settings=how)
    for name in ("vectors.safetensors", "training_log.csv", "settings.json"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
