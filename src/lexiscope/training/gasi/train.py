"""Training sense vectors: from shards to a folder that ``gasi:FOLDER`` loads, or that pruning makes smaller.

The same call on the same folder does nothing where the training is finished and goes on where it was broken off. On one
thread of a CPU both end with the same bytes.
"""

from __future__ import annotations

import hashlib
import math
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from lexiscope.core.errors import InputError, Place, RunError, SubjectError
from lexiscope.core.lock import folder_lock
from lexiscope.core.run import manifest, versions, write_atomically, write_json
from lexiscope.core.sealed import write_machine
from lexiscope.core.settings import Option
from lexiscope.resources.vectors.sense_vectors import (
    KIND,
    SETTINGS,
    VECTORS,
    VOCABULARY,
    SenseVectors,
    read_sense_vectors,
)
from lexiscope.resources.vectors.training_log import LOG, LogRow, log_text, read_log
from lexiscope.subjects.local._adapter import CLAIM
from lexiscope.training._claim import check_claim
from lexiscope.training.gasi._course import Loop, Progress, TrainingProgress, first_vectors, read_state, save_tensors
from lexiscope.training.gasi._engine import engine_of
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
    there = _checked(mask, shards, asked)
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
            with _given_up(out):
                course = loop.run(claim, progress)
            rate = loop.tokens_per_second
            found = SenseVectors(shards.vocabulary.words, shards.vocabulary.counts, *engine.vectors(), there)
            write_atomically(out / LOG, log_text(course.log))
            about = {**claim, "threads": course.threads, "command": list(command)}
            write_senses(out, found, about, (LOG, CLAIM))
            write_machine(out, time.monotonic() - begun)
        shutil.rmtree(out / CHECKPOINT, ignore_errors=True)
    return replace(finished(out), tokens_per_second=rate)


@contextmanager
def _given_up(out: Path) -> Iterator[None]:
    """Free the folder of a training that cannot succeed, so that it takes one with other settings."""
    try:
        yield
    except SubjectError:
        shutil.rmtree(out / CHECKPOINT, ignore_errors=True)
        (out / CLAIM).unlink(missing_ok=True)
        raise


def finished(folder: Path) -> TrainedSenses:
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
        "versions": versions() | _installed("numba"),
        "files": manifest(out, [VECTORS, VOCABULARY, *others]),
    }
    write_json(out / SETTINGS, record)


def check_place(out: Path, corpus: Sequence[Path] = ()) -> None:
    """Check that a folder is new, empty, or was begun by a training of senses, before anything is written to it.

    Errors: :class:`RunError` for a file, for a folder that holds something else, naming it, and for one inside a folder
    of the *corpus*: a training that goes on would read its own files as text.
    """
    hint = "name another folder"
    if out.exists() and not out.is_dir():
        raise RunError("this is a file, not a folder", place=Place(str(out)), hint=hint)
    around = [each for each in corpus if each.is_dir() and out.resolve().is_relative_to(each.resolve())]
    if around:
        raise RunError(f"this folder lies in that of the corpus, {around[0]}", place=Place(str(out)), hint=hint)
    known = {SETTINGS, VECTORS, VOCABULARY, LOG, CLAIM, CHECKPOINT, SHARDS, "machine.json"}
    found = sorted(each.name for each in out.iterdir() if each.name[0] != ".") if out.is_dir() else []
    foreign = [name for name in found if name not in known]
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


def _checked(mask: NDArray[np.bool_] | None, shards: Shards, settings: GasiSettings) -> NDArray[np.bool_]:
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
        "settings": settings.deciding(),
        "senses_at_start": int(mask.sum()),
        "mask": own,
        "seed": seed,
        "with": deciding | _installed(settings.backend),
    }


def _installed(name: str) -> dict[str, str]:
    """Return the version of a library; none where it is not installed, which the engine says."""
    with suppress(metadata.PackageNotFoundError):
        return {name: metadata.version(name)}
    return {}
