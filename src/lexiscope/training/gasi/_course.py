"""The course of a training: chunks in their order, a row of figures now and then, a checkpoint to go on from.

Every chunk draws its own random numbers, from the seed, the epoch and its place: on one thread a training that was
broken off ends with the same bits as one that was not.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexiscope.core.errors import Place, RunError, SubjectError, require
from lexiscope.resources.vectors.training_log import LogRow
from lexiscope.training.gasi._engine import Engine, Floats, Stats
from lexiscope.training.gasi.settings import GasiSettings
from lexiscope.training.gasi.shards import Shards

Progress = Callable[[str, int, int], None]
STATE = "state.safetensors"
# rows of the log, about
_ROWS = 200
# chunks of each thread in a round, which waits for the slowest of them
_SHARE = 8
# so many times the loss of untrained vectors is no mere bad start
_DIVERGED = 10


@dataclass(slots=True)
class TrainingProgress:
    """Where a training stands: so many ``chunks`` over all epochs are learnt, on up to so many ``threads``."""

    chunks: int = 0
    log: list[LogRow] = field(default_factory=list)
    threads: int = 1


class Loop:
    """One training under way."""

    def __init__(
        self,
        shards: Shards,
        engine: Engine,
        settings: GasiSettings,
        *,
        seed: int,
        course: TrainingProgress,
        folder: Path,
    ) -> None:
        self.shards, self.engine, self.settings, self.seed = shards, engine, settings, seed
        self.course, self.folder = course, folder
        self.per_epoch = math.ceil(shards.n_tokens / settings.chunk_tokens)
        self.total = self.per_epoch * settings.epochs
        self.unsaved = 0
        #: how fast :meth:`run` learnt, in tokens of the corpus; those that are left out count
        self.tokens_per_second: float | None = None

    def run(self, claim: dict[str, Any], progress: Progress | None = None) -> TrainingProgress:
        """Train to the end from where it stands.

        Errors: :class:`SubjectError` where it diverges, or where no word has another one beside it.
        """
        begun, before, step = time.monotonic(), self.course.chunks, self._step()
        self.course.threads = max(self.course.threads, self.settings.threads)
        with ThreadPoolExecutor(self.settings.threads) as pool:
            while self.course.chunks < self.total:
                first = self.course.chunks
                last = min(first + step, self.total)
                self._round(pool, first, last)
                self.unsaved += (last - first) * self.settings.chunk_tokens
                if progress is not None:
                    progress(f"{self.settings.variant}, {self.settings.epochs} epochs", last, self.total)
                if self.unsaved >= self.settings.checkpoint_tokens and last < self.total:
                    write_state(self.folder, self.course, self.engine.vectors(), claim)
                    self.unsaved = 0
        tokens = self.shards.vocabulary.n_tokens * (self.total - before) / self.per_epoch
        self.tokens_per_second = tokens / (time.monotonic() - begun)
        # the loss of a pair is never 0: there was none
        if not any(row.loss for row in self.course.log):
            why = f"nearly every word was left out by the threshold {self.settings.subsampling:g}"
            hint = "use a larger --subsampling (0 leaves no word out), or give more text"
            raise SubjectError("nothing was learnt: no word had another one beside it", why=why, hint=hint)
        return self.course

    @property
    def _alone(self) -> bool:
        # the one thread of a repeatable training is this one; torch divides a batch among its own threads
        return self.settings.threads == 1 or self.settings.backend == "torch"

    def _step(self) -> int:
        """Return how many chunks a row of the log stands for."""
        return max(self.total // _ROWS, 1 if self._alone else _SHARE * self.settings.threads)

    def _round(self, pool: ThreadPoolExecutor, first: int, last: int) -> None:
        numbers = range(first, last)
        done = map(self._chunk, numbers) if self._alone else pool.map(self._chunk, numbers)
        stats = np.sum(list(done), axis=0)
        self._check(stats, first // self.per_epoch + 1)
        self.course.log.append(self._row(last, stats))
        self.course.chunks = last

    def _check(self, stats: Stats, epoch: int) -> None:
        """Refuse a loss that is no number, or far above that of vectors that know nothing."""
        loss, untrained = stats[2] / max(stats[1], 1.0), (1 + self.settings.negatives) * math.log(2)
        if not math.isfinite(loss) or loss > _DIVERGED * untrained:
            what, why = f"the training diverges in epoch {epoch}", f"loss {loss:.3g}; untrained {untrained:.3g}"
            raise SubjectError(what, why=why, hint="use a smaller learning rate")

    def _chunk(self, number: int) -> Stats:
        epoch, place = divmod(number, self.per_epoch)
        size = self.settings.chunk_tokens
        seed = np.random.SeedSequence([self.seed, epoch, place]).generate_state(1, np.uint64)[0]
        rates = self._rate(number), self._rate(number + 1)
        return self.engine.learn(self.shards.chunk(place * size, size), rates, int(seed))

    def _rate(self, number: int) -> float:
        return self.settings.learning_rate * (1.0 - number / self.total)

    def _row(self, last: int, stats: Stats) -> LogRow:
        # a chunk may have no window: its line ends and its rare words are all there is
        windows, pairs, signals = (max(float(stats[place]), 1.0) for place in (0, 1, 7))
        mean = float(stats[5]) / signals
        epochs, chunks = divmod(last, self.per_epoch)
        return LogRow(
            epoch=(last - 1) // self.per_epoch + 1,
            tokens=epochs * self.shards.n_tokens + chunks * self.settings.chunk_tokens,
            rate=self._rate(last),
            loss=float(stats[2]) / pairs,
            entropy=float(stats[3]) / windows,
            entropy_without_noise=float(stats[4]) / windows,
            signal_mean=mean,
            signal_sd=math.sqrt(max(float(stats[6]) / signals - mean**2, 0.0)),
            noise_sd=self.settings.noise_sd,
        )


def first_vectors(n_words: int, settings: GasiSettings, seed: int) -> tuple[Floats, Floats]:
    """Return the vectors before training: uniform between -.5/d and .5/d. *Source:* appendix B."""
    rng, d = np.random.default_rng([seed, 0]), settings.dimensions
    senses, contexts = (
        (rng.random(shape, dtype=np.float32) - np.float32(0.5)) / np.float32(d)
        for shape in ((n_words, settings.n_senses, d), (n_words, d))
    )
    return senses, contexts


def write_state(folder: Path, course: TrainingProgress, vectors: tuple[Floats, Floats], claim: dict[str, Any]) -> None:
    """Keep a checkpoint. Errors: :class:`RunError` where it cannot be written; the one before stays."""
    about = {"course": json.dumps(asdict(course)), "claim": json.dumps(claim, sort_keys=True)}
    save_tensors(folder / STATE, {"senses": vectors[0], "contexts": vectors[1]}, about)


def read_state(folder: Path, claim: dict[str, Any]) -> tuple[TrainingProgress, tuple[Floats, Floats]] | None:
    """Return the checkpoint, or ``None`` where there is none.

    Errors: :class:`RunError` for a damaged one, or one of another training.
    """
    path = folder / STATE
    if not path.is_file():
        return None
    safetensors = require("safetensors", "train")
    try:
        with safetensors.safe_open(str(path), framework="np") as stream:
            about = stream.metadata()
            vectors = stream.get_tensor("senses"), stream.get_tensor("contexts")
        course, before = json.loads(about["course"]), json.loads(about["claim"])
    except (OSError, ValueError, KeyError, TypeError, safetensors.SafetensorError) as error:
        hint = "delete it and begin again"
        raise RunError("this checkpoint cannot be read", place=Place(str(path)), why=str(error), hint=hint) from error
    if before != claim:
        hint = "delete it and begin again"
        raise RunError("this checkpoint is of another training", place=Place(str(path)), hint=hint)
    return TrainingProgress(course["chunks"], [LogRow(**row) for row in course["log"]], course["threads"]), vectors


def save_tensors(path: Path, tensors: dict[str, NDArray[Any]], about: dict[str, str]) -> None:
    """Write arrays as safetensors, whole or not at all, without a second copy of them in memory.

    Errors: :class:`RunError` where the place cannot be written to; the file that was there stays.
    """
    safetensors = require("safetensors.numpy", "train")
    temporary = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # the library makes its files private; a result is as readable as any other new file
        temporary.touch()
        mode = temporary.stat().st_mode
        safetensors.save_file({name: np.ascontiguousarray(each) for name, each in tensors.items()}, temporary, about)
        temporary.chmod(mode)
        with temporary.open("rb+") as stream:
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except (OSError, require("safetensors", "train").SafetensorError) as error:
        # on a disk that is only read, what is not there cannot be removed either
        with contextlib.suppress(OSError):
            temporary.unlink()
        hint = "make room or choose another place; the same command again continues what was begun"
        raise RunError("this file cannot be written", place=Place(str(path)), why=str(error), hint=hint) from error
