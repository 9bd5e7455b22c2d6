"""Data that leave for other programs, and folders of theirs: DURel folders and folders of the Hugging Face Hub."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from lexiscope.core import catalog
from lexiscope.core.dataset import Dataset, DatasetCard
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import check_unique_ids
from lexiscope.core.response import ResponseTable
from lexiscope.core.run import sha256_of
from lexiscope.core.scale import Scale
from lexiscope.core.settings import ReadingOptions
from lexiscope.items.tables.dataset_folders import is_hub_folder, read_hub_folder, write_durel, write_hub_folder
from lexiscope.resources.platforms.durel import HIGHEST, JUDGMENTS, LOWEST, USES, unjudged_uses, word_folders
from lexiscope.studies.kit.data import own_dataset

FORMATS = ("durel", "hub")
"""The formats of folders that can be written and read."""


def read_source(source: str, *, task: str, language: str = "", options: ReadingOptions | None = None) -> Dataset:
    """Return a dataset by its name, or read it from a file of items with ratings, a DURel folder or a Hub folder.

    A DURel folder has ``uses.csv`` and ``judgments.csv``, or folders of words that have them (also in ``data``): the
    items of all words are read, and usages of no judged pair are set aside. *task* and *language* are those of a file
    or folder.
    Errors: those of the readers; :class:`InputError` for a folder of neither kind.
    """
    path = Path(source)
    if catalog.has("datasets", source):
        return catalog.dataset(source)
    if not path.is_dir():
        return own_dataset(path, task=task, language=language, options=options, any_scale=True)
    words = word_folders(path)
    if words:
        return _durel(path, words, task=task, language=language, options=options)
    if is_hub_folder(path):
        items, responses, aside = read_hub_folder(path)
        asked = responses.unique("task")
        checksums = tuple((str(file.relative_to(path)), sha256_of(file)) for file in sorted(path.rglob("*.parquet")))
        card = _card(path, str(asked[0]) if asked else task, items[0].usages[0].language if items else language)
        return Dataset(replace(card, scale=None), items, responses, checksums, set_aside=aside)
    hint = f"give a folder with {JUDGMENTS} and uses.csv, or a folder with README.md and Parquet files"
    raise InputError("this folder has no data that can be read", code="E001", place=Place(source), hint=hint)


def write_folder(data: Dataset, folder: Path, form: str) -> tuple[Path, ...]:
    """Write a dataset as a folder in one of :data:`FORMATS` and return its files.

    Errors: those of the writers; :class:`InputError` for a folder that is there and not empty.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        what = "this folder is not empty"
        raise InputError(what, place=Place(str(folder)), hint="name a new folder with --out; no file was written")
    writers: dict[str, Callable[[Dataset, Path], tuple[Path, ...]]] = {
        "durel": lambda dataset, out: write_durel(dataset.items, dataset.responses, out, unjudged=dataset.set_aside),
        "hub": write_hub_folder,
    }
    return writers[form](data, folder)


def _durel(path: Path, words: tuple[Path, ...], *, task: str, language: str, options: ReadingOptions | None) -> Dataset:
    scale = Scale(LOWEST, HIGHEST)
    parts = [
        own_dataset(folder / JUDGMENTS, task=task, language=language, scale=scale, options=options) for folder in words
    ]
    name = path.resolve().name
    items = tuple(replace(item, dataset=name) for part in parts for item in part.items)
    check_unique_ids(items)
    checksums = tuple(
        (str(file.relative_to(path)), sha256_of(file)) for folder in words for file in sorted(folder.glob("*.csv"))
    )
    card = _card(path, task, items[0].usages[0].language)
    responses = ResponseTable.concat([part.responses for part in parts])
    judged = {str(item.conditions[f"identifier_{side}"]) for item in items for side in (1, 2)}
    aside = tuple(row for folder in words for row in unjudged_uses(folder / USES, judged))
    return Dataset(replace(card, scale=scale), items, responses, checksums, set_aside=aside)


def _card(path: Path, task: str, language: str) -> DatasetCard:
    name = path.resolve().name
    return DatasetCard(
        name=name,
        title=name,
        task=task,
        language=language,
        licence="",
        citation="",
        source=name,
        version="",
        availability="obtain",
        summary=f"Items and responses, read from the folder {name}.",
    )
