"""AmbiStory: how plausible a meaning of a homonym is in a short story, rated by people; also SemEval-2026 Task 5.

633 setups of Gehring and Roth make 1,899 stories and 3,798 samples with 19,049 ratings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from lexiscope.core.dataset import DataFile, Dataset
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.datasets.ambistory.card import CARD, COUNTS, DEV, REDACTED_TEST, TEST, TRAIN, SplitCounts
from lexiscope.datasets.ambistory.reading import item_id, rating_rows, setup_items
from lexiscope.datasets.ambistory.samples import StorySample, read_samples
from lexiscope.datasets.ambistory.writing import export
from lexiscope.resources.fetch import locate

__all__ = [
    "CARD",
    "COUNTS",
    "SplitCounts",
    "StorySample",
    "export",
    "item_id",
    "load",
    "read_samples",
    "setup_items",
    "split_counts",
    "split_samples",
]


def load(folder: Path | None = None, *, redacted: bool = False) -> Dataset:
    """Load all samples with every rating and every tick of "nonsensical".

    *folder* is a data folder to look in instead of ``LEXISCOPE_DATA`` and the cache. With *redacted*, the test split
    is read from the file that participants of the shared task were given: its items have no ratings.
    Errors: :class:`DataError` for a file that is missing or not the published one; :class:`InputError` with file and
    sample for one that breaks a rule, or where the counts are not the published ones.
    """
    files = _files(redacted=redacted)
    found = {split: locate(file, dataset=CARD.name, folder=folder) for split, file in files.items()}
    samples = {split: read_samples(place.path) for split, place in found.items()}
    items = tuple(
        item for split, place in found.items() for item in setup_items(split, samples[split], str(place.path))
    )
    responses = rating_rows(one for several in samples.values() for one in several)
    checksums = tuple((files[split].path, place.sha256) for split, place in found.items())
    _check_counts(samples, items)
    dataset = Dataset(CARD, items, responses, checksums)
    raters = len(responses.unique("subject_id"))
    if raters != CARD.count("participants"):
        raise InputError(f"ambistory has {CARD.count('participants')} raters; these files hold {raters}")
    return dataset


def split_samples(split: str, folder: Path | None = None) -> tuple[StorySample, ...]:
    """Return the samples of one split (``train``, ``dev``, ``test``) in the published order of rows.

    Errors: those of :func:`load`; :class:`InputError` for another split.
    """
    if split not in COUNTS:
        raise InputError(f"there is no split {split!r}", hint=f"use {', '.join(COUNTS)}")
    return read_samples(locate(_files(redacted=False)[split], dataset=CARD.name, folder=folder).path)


def split_counts(samples: Sequence[StorySample]) -> SplitCounts:
    """Return what a split holds."""
    setups = {(one.precontext, one.sentence) for one in samples}
    return SplitCounts(
        samples=len(samples),
        stories=len({(one.precontext, one.sentence, one.ending) for one in samples}),
        setups=len(setups),
        ratings=sum(len(one.choices or ()) for one in samples),
        six_rated=sum(len(one.choices or ()) == 6 for one in samples),
        forms=len({one.homonym for one in samples}),
        ticks=sum(sum(one.nonsensical or ()) for one in samples),
    )


def _files(*, redacted: bool) -> dict[str, DataFile]:
    return {"train": TRAIN, "dev": DEV, "test": REDACTED_TEST if redacted else TEST}


def _check_counts(samples: Mapping[str, Sequence[StorySample]], items: Sequence[Item]) -> None:
    for split, several in samples.items():
        found, published = split_counts(several), COUNTS[split]
        if all(one.choices is None for one in several):
            published = SplitCounts(published.samples, published.stories, published.setups, 0, 0, published.forms, 0)
        if found != published:
            raise InputError(f"ambistory, {split}: {published} is published; this file holds {found}")
    number = len({item.word for item in items})
    if number != CARD.count("words"):
        raise InputError(f"ambistory has {CARD.count('words')} forms; these files hold {number}")
