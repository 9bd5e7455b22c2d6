"""The sets of pairs of a run, as far as they are at hand, and the folders that a grid of trainings stands for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from lexiscope.core import catalog
from lexiscope.core.dataset import Dataset
from lexiscope.core.errors import DataError, InputError, SpecError
from lexiscope.core.item import Item
from lexiscope.core.run import sha256_of
from lexiscope.core.simulated import COLLECTED
from lexiscope.core.subject import SubjectSpec
from lexiscope.datasets.wordsim import NINE
from lexiscope.datasets.wordsim import SETS as WORD_SETS
from lexiscope.items.truth_choice import DIFFERENT, SAME
from lexiscope.resources.running_text import corpus_files
from lexiscope.resources.sense_vectors import SETTINGS as RECORD
from lexiscope.studies.sense_induction.material import LeftOut, PairSet
from lexiscope.studies.sense_induction.planting import REFERENCE, USAGES
from lexiscope.studies.sense_induction.settings import SenseInductionSettings

MINI_PAIRS = "mini_relatedness"
SETS: tuple[str, ...] = ("scws", *(f"wordsim?set={name}" for name in NINE), "wic", MINI_PAIRS)
"""The sets of the paper, and the embedded pairs, which are at hand on any machine."""


def open_sets(settings: SenseInductionSettings) -> tuple[tuple[PairSet, ...], tuple[LeftOut, ...]]:
    """Load the sets that were asked for; return them, and those that are not at hand with the reason.

    Errors: :class:`SpecError` for a set of another task, or without ratings; :class:`DataError` where sets were named
    and none of them is at hand; those of a set that is at hand and damaged.
    """
    named = settings.datasets or ((settings.dataset,) if settings.dataset else ())
    found: list[PairSet] = []
    missing: list[LeftOut] = []
    first: DataError | None = None
    for name in named or SETS:
        try:
            found.append(pair_set(name))
        except DataError as error:
            first = first or error
            hint = f" {error.hint[:1].upper()}{error.hint[1:].rstrip('.')}." if error.hint else ""
            missing.append(LeftOut(name, "", f"Not at hand: {error.what}.{hint}"))
    if named and not found and first is not None:
        raise first
    return tuple(found), tuple(missing)


def pair_set(name: str) -> PairSet:
    """Load one set of pairs by its name in the catalog, options included.

    Errors: those of the dataset; :class:`SpecError` for one that holds neither rated pairs nor pairs with a right
    answer to *same sense?*
    """
    loaded = catalog.dataset(name)
    if name == MINI_PAIRS:
        return _mini(loaded)
    if loaded.card.task == "same_sense":
        items = tuple(item for item in loaded.items if item.gold is not None and _tested(item))
        title = loaded.card.title.partition(":")[0]
        return PairSet(name, title, "same_sense", items, card=loaded.card, checksums=loaded.checksums)
    ratings = _mean_ratings(loaded) if loaded.card.task == "relatedness" else np.empty(0)
    if not len(ratings):
        hint = f"use one of {', '.join(SETS)}, or another set of rated pairs"
        raise SpecError(f"{name} has no pairs that people rated, and no right answers to 'same sense?'", hint=hint)
    title = WORD_SETS[name.partition("set=")[2]].title if name.startswith("wordsim?") else loaded.card.title
    in_context = any(usage.text != usage.target for usage in loaded.items[0].usages)
    return PairSet(
        name, title.partition(":")[0], "similarity", loaded.items, ratings, in_context, loaded.card, loaded.responses,
        loaded.checksums,
    )  # fmt: skip


def expanded(specs: Sequence[str]) -> tuple[str, ...]:
    """Return specs in which a folder of trained folders stands for all of them, in the order of their names.

    >>> expanded(["sense_embedding:muse:a.txt,b.tsv"])
    ('sense_embedding:muse:a.txt,b.tsv',)
    """
    found: list[str] = []
    for text in specs:
        spec = SubjectSpec.parse(text)
        folder = Path(spec.name).expanduser()
        inside = sorted(path.parent for path in folder.glob(f"*/{RECORD}")) if spec.kind == "gasi" else []
        several = inside if inside and not (folder / RECORD).is_file() else []
        found += [f"gasi:{path}" for path in several] or [text]
    return tuple(dict.fromkeys(found))


def given_files(settings: SenseInductionSettings, specs: Sequence[str]) -> dict[str, str]:
    """Return the checksums of the files that a run depends on: trainings, vectors, planted usages, answers, text.

    Errors: :class:`InputError` for a file of people, of planted usages or of a corpus that is not there.
    """
    paths = [*map(Path, settings.people), *corpus_files([Path(name) for name in settings.corpus])]
    if settings.planted and settings.planted != "made_up":
        path = Path(settings.planted)
        paths += [path / USAGES, *path.glob(f"{REFERENCE}/{RECORD}")] if path.is_dir() else [path]
    absent = next((path for path in paths if not path.is_file()), None)
    if absent is not None:
        raise InputError(f"there is no file {absent}")
    for text in specs:
        spec = SubjectSpec.parse(text)
        if spec.kind == "gasi":
            paths.append(Path(spec.name).expanduser() / RECORD)
        elif spec.kind == "sense_embedding":
            names = spec.name.partition(":")[2].partition("?")[0]
            paths += [Path(name).expanduser() for name in names.split(",")]
    return {str(path): sha256_of(path) for path in paths if path.is_file()}


def _tested(item: Item) -> bool:
    # nothing is trained here, but the training pairs of a set are its largest part by far, and not what is reported
    return item.conditions.get("split") != "train"


def _mini(loaded: Dataset) -> PairSet:
    """The embedded pairs with a right answer: the senses were written so, nobody judged them."""
    english = [item for item in loaded.items if item.usages[0].language == "en"]
    items = tuple(
        replace(item, gold=SAME if item.conditions["same_sense"] else DIFFERENT, options=()) for item in english
    )
    title = "Mini pairs (embedded)"
    return PairSet(MINI_PAIRS, title, "same_sense", items, card=loaded.card, checksums=loaded.checksums)


def _mean_ratings(loaded: Dataset) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The mean rating of each item, in their order; empty where there are none for every item."""
    rows = loaded.responses.where(measure=("rating", "norm"), subject_kind=(*COLLECTED, "norm"))
    sums: dict[str, list[float]] = {}
    for item_id, value in zip(rows.column("item_id").tolist(), rows.column("value").tolist(), strict=True):
        sums.setdefault(item_id, []).append(value)
    if not all(item.item_id in sums for item in loaded.items):
        return np.empty(0)
    return np.array([np.mean(sums[item.item_id]) for item in loaded.items], dtype=np.float64)
