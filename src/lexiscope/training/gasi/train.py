"""Training sense vectors: from shards to a folder that ``gasi:FOLDER`` loads, or that pruning makes smaller.

The same call on the same folder does nothing if the training is finished and continues it if it was interrupted. On one
thread of a CPU the resulting files are identical.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from lexiscope.core.errors import InputError, Place, RunError, SubjectError, require
from lexiscope.core.run import folder_lock, manifest, versions, write_atomically, write_json
from lexiscope.core.sealed import write_machine
from lexiscope.core.settings import Option
from lexiscope.resources.vectors.sense_vectors import (
    KIND,
    LOG,
    SETTINGS,
    VECTORS,
    VOCABULARY,
    LogRow,
    SenseVectors,
    log_text,
    read_log,
    read_sense_vectors,
)
from lexiscope.subjects.local._adapter import CLAIM
from lexiscope.training._base import check_claim
from lexiscope.training.gasi._engine import Engine, Floats, Stats, engine_of
from lexiscope.training.gasi.settings import GasiSettings
from lexiscope.training.gasi.shards import Shards

CHECKPOINT, SHARDS = "checkpoint", "shards"


@dataclass(frozen=True, slots=True)
class TrainedSenses:
    """Finished sense vectors: their folder, the log of the training, and the senses of all words together.

    ``tokens_per_second``: how fast this call learnt, in tokens of the corpus, rare words and what sub-sampling leaves
    out among them; ``None`` where nothing was left to learn.
    """

    folder: Path
    log: tuple[LogRow, ...]
    n_words: int
    n_senses: int
    tokens_per_second: float | None = field(default=None, compare=False)


def train_gasi(
    shards: Shards,
    *,
    out: Path,
    settings: GasiSettings | None = None,
    seed: Annotated[int, Option("seed of the training", least=0)] = 0,
    mask: NDArray[np.bool_] | None = None,
    command: Sequence[str] = (),
    progress: Progress | None = None,
) -> TrainedSenses:
    """Train sense vectors on a corpus and write them to *out*.

    *mask* (words, K) says which senses a word has; without it each word has K. A sense that a word has not is never
    chosen, in training and after it. *command* is what the user typed.
    Errors: :class:`RunError` for a folder of another training, or a damaged checkpoint; :class:`InputError` E713 for a
    mask that does not fit, E710 for vectors larger than the memory; :class:`SubjectError` where the training diverges
    or learns nothing, which leaves the folder to another one; :class:`MissingExtraError`.
    """
    begun, asked, rate = time.monotonic(), settings or GasiSettings(), None
    there = _checked_mask(mask, shards, asked)
    claim = _claim(shards, asked, there, seed)
    with folder_lock(out):
        check_claim(out, claim, (SETTINGS, VECTORS, VOCABULARY))
        if not (out / SETTINGS).is_file():
            kept = read_state(out / CHECKPOINT, claim)
            course, vectors = kept or (TrainingProgress(), first_vectors(len(there), asked, seed))
            # before the folder is claimed: where this machine has no such device, it takes another training
            engine = engine_of(asked, shards.vocabulary, vectors, there)
            write_json(out / CLAIM, claim)
            loop = Loop(shards, engine, asked, seed=seed, course=course, folder=out / CHECKPOINT)
            with _release_on_failure(out):
                course = loop.run(claim, progress)
            rate = loop.tokens_per_second
            trained = SenseVectors(shards.vocabulary.words, shards.vocabulary.counts, *engine.vectors(), there)
            write_atomically(out / LOG, log_text(course.log))
            about = {**claim, "threads": course.threads, "command": list(command)}
            write_senses(out, trained, about, (LOG, CLAIM))
            write_machine(out, time.monotonic() - begun)
        shutil.rmtree(out / CHECKPOINT, ignore_errors=True)
    return replace(read_trained_senses(out), tokens_per_second=rate)


@contextmanager
def _release_on_failure(out: Path) -> Iterator[None]:
    """Free the folder of a training that cannot succeed, so that it takes one with other settings."""
    try:
        yield
    except SubjectError:
        shutil.rmtree(out / CHECKPOINT, ignore_errors=True)
        (out / CLAIM).unlink(missing_ok=True)
        raise


def read_trained_senses(folder: Path) -> TrainedSenses:
    """Return what a finished folder holds. Errors: :class:`SubjectError` for a damaged one."""
    vectors = read_sense_vectors(folder)
    return TrainedSenses(folder, read_log(folder), len(vectors.words), int(vectors.mask.sum()))


def write_senses(out: Path, vectors: SenseVectors, about: dict[str, Any], others: Sequence[str] = ()) -> None:
    """Write a folder of sense vectors, its record with checksums last. *others* are files in it that are sealed too.

    Errors: :class:`RunError` where it cannot be written to.
    """
    rows = zip(vectors.words, vectors.counts.tolist(), strict=True)
    write_atomically(out / VOCABULARY, "".join(f"{word}\t{count}\n" for word, count in rows))
    arrays = {"senses": vectors.senses, "contexts": vectors.contexts, "mask": vectors.mask}
    save_tensors(out / VECTORS, arrays, {"format": "np"})
    record = {
        **about,
        "kind": KIND,
        "shape": list(vectors.senses.shape),
        "n_senses": int(vectors.mask.sum()),
        "versions": versions() | _installed_version("numba"),
        "files": manifest(out, [VECTORS, VOCABULARY, *others]),
    }
    write_json(out / SETTINGS, record)


def check_out_folder(out: Path, corpus: Sequence[Path] = ()) -> None:
    """Check that a folder is new, empty, or was begun by a training of senses, before anything is written to it.

    Errors: :class:`RunError` for a file, for a folder that holds something else, naming it, and for one inside a folder
    of the *corpus*: a continued training would read its own files as text.
    """
    hint = "name another folder"
    if out.exists() and not out.is_dir():
        raise RunError("this is a file, not a folder", place=Place(str(out)), hint=hint)
    around = [folder for folder in corpus if folder.is_dir() and out.resolve().is_relative_to(folder.resolve())]
    if around:
        raise RunError(f"this folder lies in that of the corpus, {around[0]}", place=Place(str(out)), hint=hint)
    known = {SETTINGS, VECTORS, VOCABULARY, LOG, CLAIM, CHECKPOINT, SHARDS, "machine.json"}
    names = sorted(path.name for path in out.iterdir() if path.name[0] != ".") if out.is_dir() else []
    foreign = [name for name in names if name not in known]
    if foreign:
        what = f"this folder holds {', '.join(foreign[:3])} of something else"
        raise RunError(what, place=Place(str(out)), hint="name another folder, or delete this one")


def mask_of(folder: Path, shards: Shards) -> NDArray[np.bool_]:
    """Return which senses the words of *shards* have in a folder of vectors, pruned ones for instance.

    Errors: :class:`InputError` E713 where the two have other words; :class:`SubjectError` for a damaged folder.
    """
    vectors = read_sense_vectors(folder)
    if vectors.words != shards.vocabulary.words:
        what = "these vectors and this corpus have other words, or the same ones in another order"
        why = f"{len(vectors.words):,} words there, {len(shards.vocabulary.words):,} here"
        hint = "train on the corpus of those vectors, with the same limits of the vocabulary"
        raise InputError(what, code="E713", place=Place(str(folder)), why=why, hint=hint)
    return np.array(vectors.mask)


def _checked_mask(mask: NDArray[np.bool_] | None, shards: Shards, settings: GasiSettings) -> NDArray[np.bool_]:
    shape = len(shards.vocabulary.words), settings.n_senses
    _check_memory(shape, settings.dimensions)
    if mask is None:
        return np.ones(shape, np.bool_)
    if mask.shape != shape or not mask.any(axis=1).all():
        what = f"the senses that words have are given as {mask.shape}, needed is {shape} with a sense for each word"
        raise InputError(what, code="E713", hint="train with as many senses as the vectors that were pruned")
    return np.ascontiguousarray(mask, np.bool_)


def _check_memory(shape: tuple[int, int], width: int) -> None:
    """Refuse vectors that are larger than the memory of this machine, before it is asked for."""
    needed = shape[0] * (shape[1] + (shape[1] + 1) * width * 4)
    there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else math.inf
    if needed > there:
        words, senses = shape
        what = f"the vectors need {needed / 2**30:,.1f} GiB of memory; this machine has {there / 2**30:,.1f}"
        why = f"{words:,} words, {senses:,} senses of each, {width:,} dimensions"
        hint = "learn fewer words (--top, --min-count), fewer --senses, or fewer --dimensions"
        raise InputError(what, code="E710", why=why, hint=hint)


def _claim(shards: Shards, settings: GasiSettings, mask: NDArray[np.bool_], seed: int) -> dict[str, Any]:
    """Return everything that decides the result."""
    deciding = {name: version for name, version in versions().items() if name in ("lexiscope", "numpy")}
    # two masks may leave equally many senses
    own = hashlib.sha256(np.packbits(mask).tobytes()).hexdigest()
    return {
        "corpus": {"sha256": shards.about["files"], **shards.about["asked"]},
        "settings": settings.deciding_values(),
        "senses_at_start": int(mask.sum()),
        "mask": own,
        "seed": seed,
        "with": deciding | _installed_version(settings.backend),
    }


def _installed_version(name: str) -> dict[str, str]:
    """Return the version of a library; none where it is not installed, which the engine says."""
    with suppress(metadata.PackageNotFoundError):
        return {name: metadata.version(name)}
    return {}


# -- the training loop: chunks in their order, rows of the log, checkpoints ------------------------------------------
# Every chunk draws its own random numbers, from the seed, the epoch and its place: on one thread a training that was
# broken off ends with the same bits as one that was not.


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
    """Progress of a training: the number of ``chunks`` learnt over all epochs, on at most ``threads`` threads."""

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
        """Train from the last checkpoint to the end.

        Errors: :class:`SubjectError` where it diverges, or where no word has another one next to it.
        """
        begun, before, step = time.monotonic(), self.course.chunks, self._step()
        self.course.threads = max(self.course.threads, self.settings.threads)
        with ThreadPoolExecutor(self.settings.threads) as pool:
            while self.course.chunks < self.total:
                first = self.course.chunks
                last = min(first + step, self.total)
                self._learn_round(pool, first, last)
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
            why = f"nearly every word was dropped by the threshold {self.settings.subsampling:g}"
            hint = "use a larger --subsampling (0 leaves no word out), or give more text"
            raise SubjectError("nothing was learnt: no word had another one in its window", why=why, hint=hint)
        return self.course

    @property
    def _alone(self) -> bool:
        # the one thread of a repeatable training is this one; torch divides a batch among its own threads
        return self.settings.threads == 1 or self.settings.backend == "torch"

    def _step(self) -> int:
        """Return how many chunks a row of the log sums up."""
        return max(self.total // _ROWS, 1 if self._alone else _SHARE * self.settings.threads)

    def _learn_round(self, pool: ThreadPoolExecutor, first: int, last: int) -> None:
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
        safetensors.save_file({name: np.ascontiguousarray(array) for name, array in tensors.items()}, temporary, about)
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
