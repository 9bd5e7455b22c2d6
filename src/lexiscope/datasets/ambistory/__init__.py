"""AmbiStory: how plausible a meaning of a homonym is in a short story, rated by people; also SemEval-2026 Task 5.

633 setups of Gehring and Roth make 1,899 stories and 3,798 samples with 19,049 ratings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from lexiscope.core.dataset import DataFile, Dataset
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.run import write_atomically
from lexiscope.datasets.ambistory.card import CARD, COUNTS, DEV, REDACTED_TEST, TEST, TRAIN, SplitCounts
from lexiscope.datasets.ambistory.reading import MEASURE_NONSENSICAL, item_id, rating_rows, setup_items
from lexiscope.datasets.ambistory.samples import StorySample, file_content, read_samples
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


# -- writing AmbiStory back as its publisher's files ----------------------------------------------------------------


# only the two test files end their last line
_FILES = {"train": (TRAIN, False), "dev": (DEV, False), "test": (TEST, True)}


def export(dataset: Dataset, folder: Path) -> tuple[Path, ...]:
    """Write the published files below *folder*, in the layout of a data folder, and return their paths.

    All files equal the published ones byte for byte. Where the test split was loaded redacted, there is no
    ``test.json``: nothing is known to write into it.
    """
    samples = _samples(dataset)
    contents: dict[str, bytes] = {}
    for split in COUNTS:
        file, final_newline = _FILES[split]
        if all(one.choices is not None for one in samples[split]):
            contents[file.path] = file_content(samples[split], final_newline=final_newline)
    contents[REDACTED_TEST.path] = file_content(samples["test"], redacted=True, final_newline=True)
    for path, content in contents.items():
        write_atomically(folder / path, content)
    return tuple(folder / path for path in contents)


def _samples(dataset: Dataset) -> dict[str, list[StorySample]]:
    choices, ticks = (_by_item(dataset, measure) for measure in ("rating", MEASURE_NONSENSICAL))
    found: dict[str, list[StorySample]] = {split: [] for split in COUNTS}
    for item in dataset.items:
        found[str(item.conditions["split"])].append(_sample(item, choices.get(item.item_id), ticks.get(item.item_id)))
    return found


def _by_item(dataset: Dataset, measure: str) -> Mapping[str, Sequence[float]]:
    """Return the values of each item by the position of its raters."""
    table = dataset.responses.where(measure=measure)
    found: dict[str, dict[int, float]] = {}
    columns = (table.column(name).tolist() for name in ("item_id", "subject_id", "value"))
    for item, rater, value in zip(*columns, strict=True):
        found.setdefault(item, {})[int(rater.rpartition("-")[2])] = value
    return {item: [values[position] for position in sorted(values)] for item, values in found.items()}


def _sample(item: Item, choices: Sequence[float] | None, ticks: Sequence[float] | None) -> StorySample:
    said = {name: str(item.conditions[name]) for name in ("homonym", "sense", "example", "precontext", "ending")}
    return StorySample(
        homonym=said["homonym"],
        judged_meaning=said["sense"],
        precontext=str(item.conditions.get("published_precontext", said["precontext"])),
        sentence=item.usages[0].text,
        ending=said["ending"],
        sample_id=item.item_id.rpartition("/")[2],
        example_sentence=said["example"],
        choices=None if choices is None else tuple(int(value) for value in choices),
        nonsensical=None if ticks is None else tuple(bool(value) for value in ticks),
    )
