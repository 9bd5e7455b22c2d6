"""RAW-C: relatedness of English ambiguous words in two contexts, rated by people, with distances of BERT and ELMo."""

from __future__ import annotations

from pathlib import Path

from lexiscope.core.dataset import DataFile, Dataset
from lexiscope.core.errors import InputError
from lexiscope.core.response import ResponseTable
from lexiscope.datasets.raw_c.card import CARD, DOMINANCE, NORMS, RATING_SCALE, STIMULI, SUBJECTS, TRIALS
from lexiscope.datasets.raw_c.cells import DOMINANCE_COLUMNS, NORM_COLUMNS, STIMULUS_COLUMNS, TRIAL_COLUMNS
from lexiscope.datasets.raw_c.reading import (
    Tables,
    check_norms,
    read_distances,
    read_items,
    read_set_aside,
    read_trials,
)
from lexiscope.datasets.raw_c.writing import export
from lexiscope.resources.fetch import locate
from lexiscope.resources.tables.delimited import read_csv

__all__ = ["CARD", "SUBJECTS", "export", "load"]


def load(folder: Path | None = None) -> Dataset:
    """Load the items, all trials, and the distances of BERT and ELMo.

    *folder* is a data folder to look in instead of ``LEXISCOPE_DATA`` and the cache.
    Errors: :class:`DataError` for a file that is missing or not the published one; :class:`InputError` with file and
    line for a row that contradicts another.
    """
    read = ((TRIALS, TRIAL_COLUMNS), (NORMS, NORM_COLUMNS), (DOMINANCE, DOMINANCE_COLUMNS), (STIMULI, STIMULUS_COLUMNS))
    found = {file: locate(file, dataset="raw_c", folder=folder) for file, _ in read}
    tables = Tables(*(read_csv(found[file].path, columns) for file, columns in read))
    items = read_items(tables)
    trials = read_trials(tables.trials, items, RATING_SCALE)
    check_norms(tables, items, trials)
    aside = read_set_aside(tables.stimuli, tables.norms, items, path=STIMULI.path)
    responses = ResponseTable.concat([trials, read_distances(tables.norms, items)])
    checksums = _checksums({file: place.sha256 for file, place in found.items()})
    return _counted(Dataset(CARD, items, responses, checksums, SUBJECTS, aside))


def _checksums(found: dict[DataFile, str]) -> tuple[tuple[str, str], ...]:
    return tuple((file.path, sha256) for file, sha256 in found.items())


def _counted(dataset: Dataset) -> Dataset:
    trials = dataset.responses.where(subject_kind="participant")
    found = {
        "items": len(dataset.items),
        "words": len({item.word for item in dataset.items}),
        "participants": len(trials.unique("subject_id")),
        "trials": len(trials),
        "set_aside": len(dataset.set_aside),
    }
    for name, number in found.items():
        if number != CARD.count(name):
            raise InputError(f"raw_c has {CARD.count(name)} {name}; these files hold {number}")
    return dataset
