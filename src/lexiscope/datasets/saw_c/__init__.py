"""SAW-C: relatedness of Spanish ambiguous nouns in two contexts, rated by people, with distances of 13 encoders."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

from lexiscope.core.dataset import DataFile, Dataset, SubjectFacts
from lexiscope.core.errors import InputError, SpecError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.datasets.saw_c.card import CARD, PAIRS, RATING_SCALE, SENTENCES, TOKENS, TRIALS
from lexiscope.datasets.saw_c.distances import read_distances, read_tokens
from lexiscope.datasets.saw_c.models import FOLDERS, PAPER_MODELS, SUBJECTS, WITH_STOP, WITHOUT_STOP, model_file
from lexiscope.datasets.saw_c.people import read_items, read_trials, trial_responses
from lexiscope.datasets.saw_c.writing import export
from lexiscope.resources.fetch import FetchedFile, locate, locate_optional

__all__ = ["CARD", "PAPER_MODELS", "SUBJECTS", "export", "load"]


def load(
    folder: Path | None = None,
    *,
    models: Sequence[str] | None = None,
    views: Sequence[str] | None = None,
) -> Dataset:
    """Load the items, all trials, and the released distances and token counts.

    *folder* is a data folder to look in instead of ``LEXISCOPE_DATA`` and the cache. *models* are the encoders whose
    distances are read (``None`` = all 13, ``()`` = none). *views* are ``full+final_stop`` and ``full``; by default
    both, the latter only from files that are at hand (the publisher has them, their checksums are not known to us).
    Errors: :class:`DataError` for a file that is missing or not the published one; :class:`InputError` with file and
    line for a row that contradicts another; :class:`SpecError` for an unknown model or view.
    """
    subjects = _chosen(models)
    wanted = _checked_views(views)
    used: list[tuple[DataFile, FetchedFile]] = []
    trials = read_trials(_use(TRIALS, folder, used))
    items = read_items(_use(PAIRS, folder, used), _use(SENTENCES, folder, used), trials)
    tables = [trial_responses(trials, items, RATING_SCALE)]
    tables += [read_tokens(_use(TOKENS, folder, used), items, [facts.subject_id for facts in subjects])]
    for view in wanted:
        for facts in subjects:
            file = model_file(facts.subject_id, view)
            # without being asked for, the files without final stop are read only where they are at hand
            if views is None and file.optional and locate_optional(file, dataset="saw_c", folder=folder) is None:
                continue
            tables.append(_distances(_use(file, folder, used), items, facts, view))
    checksums = tuple((file.path, found.sha256) for file, found in used)
    return _counted(Dataset(CARD, items, ResponseTable.concat(tables), checksums, subjects))


def _chosen(models: Sequence[str] | None) -> tuple[SubjectFacts, ...]:
    known = {facts.subject_id: facts for facts in SUBJECTS}
    for name in models or ():
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(known)}"
            raise SpecError(f"saw_c has no released distances of a model {name!r}", hint=hint)
    return SUBJECTS if models is None else tuple(known[name] for name in models)


def _checked_views(views: Sequence[str] | None) -> tuple[str, ...]:
    for view in views or ():
        if view not in FOLDERS:
            raise SpecError(f"saw_c has no released distances in the view {view!r}", hint=f"use {' or '.join(FOLDERS)}")
    return (WITH_STOP, WITHOUT_STOP) if views is None else tuple(views)


def _use(file: DataFile, folder: Path | None, used: list[tuple[DataFile, FetchedFile]]) -> Path:
    found = locate(file, dataset="saw_c", folder=folder)
    used.append((file, found))
    return found.path


def _distances(path: Path, items: Sequence[Item], facts: SubjectFacts, view: str) -> ResponseTable:
    table = read_distances(path, items, facts=facts, view=view)
    # token_properties.csv already gave the counts without final stop, except for the model that it leaves out
    counted = view == WITHOUT_STOP and facts.subject_id in PAPER_MODELS
    return table.where(measure="cosine_distance") if counted else table


def _counted(dataset: Dataset) -> Dataset:
    trials = dataset.responses.where(subject_kind="participant")
    found = {
        "items": len(dataset.items),
        "words": len({item.word for item in dataset.items}),
        "sentences": len({usage.text for item in dataset.items for usage in item.usages}),
        "participants": len(trials.unique("subject_id")),
        "trials": len(trials),
        "lists": len(trials.unique("list_id")),
    }
    for name, number in found.items():
        if number != CARD.count(name):
            raise InputError(f"saw_c has {CARD.count(name)} {name}; these files hold {number}")
    return dataset
