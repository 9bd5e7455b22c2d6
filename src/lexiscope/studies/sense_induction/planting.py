"""Planted senses: usages from a file of the user's own, or text made by rule with small vectors trained on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lexiscope.collect import CollectProgress
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.run import write_atomically
from lexiscope.core.subject import Floats
from lexiscope.core.usage import Usage
from lexiscope.items.induced_senses import InducedSenses
from lexiscope.items.made_up_text import made_up_text, planted_pairs
from lexiscope.items.planted_senses import plant, planted_usages
from lexiscope.items.tabular import read_items
from lexiscope.resources.sense_vectors import read_sense_vectors
from lexiscope.studies.sense_induction.material import MADE_UP, HasSenses, Planted
from lexiscope.subjects.gasi import Gasi
from lexiscope.training.gasi.settings import VARIANTS, GasiSettings, Variant
from lexiscope.training.gasi.shards import make_shards
from lexiscope.training.gasi.train import train_gasi
from lexiscope.training.gasi.vocabulary import Limits

USAGES, REFERENCE = "planted.csv", "reference"
"""What a folder of planted senses holds: the usages, and vectors of the text before planting."""

N_LINES, N_PLANTED, N_USAGES = 1000, 12, 30
"""Lines of made-up text, pseudo-words in it, and usages of each of their senses."""


@dataclass(frozen=True)
class SmallVectors:
    """Vectors of one variant, trained on made-up text: a subject whose name does not depend on where the run lies."""

    variant: str
    trained: Gasi
    kind: str = "gasi"

    @property
    def subject_id(self) -> str:
        """``made_up/`` and the variant."""
        return f"{MADE_UP}/{self.variant}"

    @property
    def facts(self) -> SubjectFacts:
        """What the record of its training says."""
        return self.trained.facts

    def knows(self, usage: Usage) -> bool:
        """Say whether the target is in the vocabulary."""
        return self.trained.knows(usage)

    def sense_count(self, usage: Usage) -> int:
        """Return the number of senses of the target."""
        return self.trained.sense_count(usage)

    def sense_distribution(self, usages: Sequence[Usage]) -> Floats:
        """Return the probability of each sense. *Shape: (usages, K)*."""
        return self.trained.sense_distribution(usages)

    @property
    def induced(self) -> InducedSenses:
        """Its senses, row after row, with their neighbours."""
        return self.trained.induced

    def senses_of(self, usages: Sequence[Usage]) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the vectors of all senses, and which of them are there."""
        return self.trained.senses_of(usages)


def planted_usages_of(path: Path) -> tuple[Item, ...]:
    """Read usages of pseudo-words from a table of items: the lemma is the pseudo-word, the sense what was planted.

    Errors: :class:`InputError` with the file and item for another table, or a usage without a sense.
    """
    items = read_items(path)
    for item in items:
        if len(item.usages) != 1 or not item.usages[0].sense or not item.usages[0].lemma:
            what = "a planted usage is one usage with the pseudo-word as lemma and what was planted as sense"
            raise InputError(what, place=Place(str(path), item_id=item.item_id))
    if not items:
        raise InputError("this table holds no planted usages", place=Place(str(path)))
    return items


def made_up(folder: Path, *, seed: int, progress: CollectProgress | None = None) -> Planted:
    """Write made-up text with pseudo-words, train every variant on it, and return usages whose senses are known.

    A finished training is not begun again. Errors: :class:`~lexiscope.core.errors.MissingExtraError` without what
    trainings need.
    """
    text = made_up_text(N_LINES, seed=seed)
    pairs = planted_pairs(text, N_PLANTED)
    corpus = folder / "text.txt"
    write_atomically(corpus, "".join(" ".join(line) + "\n" for line in plant(text.lines, pairs)))
    write_atomically(folder / "plain.txt", "".join(" ".join(line) + "\n" for line in text.lines))
    for variant in VARIANTS:
        _train(corpus, folder / variant, variant, seed=seed, progress=progress)
    subjects = tuple(SmallVectors(variant, Gasi(str(folder / variant))) for variant in VARIANTS)
    _train(folder / "plain.txt", folder / REFERENCE, "skip_gram", seed=seed, progress=progress)
    usages = planted_usages(text.lines, pairs, each=N_USAGES, seed=seed)
    items = tuple(Item(f"{MADE_UP}/{number:04d}", MADE_UP, (usage,)) for number, usage in enumerate(usages, start=1))
    reference = read_sense_vectors(folder / REFERENCE)
    return Planted("Made-up text", items, subjects, by_rule=True, reference=reference)


def given(path: Path, subjects: tuple[HasSenses, ...]) -> Planted:
    """Read planted usages from a file, or from a folder with ``planted.csv`` and, if need be, ``reference``.

    Errors: those of :func:`planted_usages_of`, of a damaged reference, and :class:`InputError` for a reference whose
    words have several senses.
    """
    folder = path if path.is_dir() else None
    items = planted_usages_of(path / USAGES if folder else path)
    reference = read_sense_vectors(path / REFERENCE) if folder and (path / REFERENCE).is_dir() else None
    if reference is not None and (reference.n_senses != 1).any():
        what = f"reference vectors have one sense for each word; {reference.senses.shape[1]} senses were learnt here"
        raise InputError(what, place=Place(str(path / REFERENCE)), hint="train them with --variant skip_gram")
    return Planted(path.name, items, subjects, reference=reference)


def _train(corpus: Path, out: Path, variant: Variant, *, seed: int, progress: CollectProgress | None) -> None:
    shards = out.parent / f"{corpus.stem}_shards"
    made = make_shards([corpus], shards, limits=Limits(min_count=1), tokenisation="given")
    settings = GasiSettings(
        variant=variant, dimensions=24, subsampling=0.0, epochs=6, learning_rate=0.05, chunk_tokens=2000
    )
    train_gasi(made, out=out, settings=settings, seed=seed, progress=progress)
