"""Writing AmbiStory back as its publisher's files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from lexiscope.core.dataset import Dataset
from lexiscope.core.item import Item
from lexiscope.core.run import write_atomically
from lexiscope.datasets.ambistory.card import COUNTS, DEV, REDACTED_TEST, TEST, TRAIN
from lexiscope.datasets.ambistory.reading import MEASURE_NONSENSICAL
from lexiscope.datasets.ambistory.samples import StorySample, file_content

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
    for item_id, rater, value in zip(*columns, strict=True):
        found.setdefault(item_id, {})[int(rater.rpartition("-")[2])] = value
    return {item_id: [values[position] for position in sorted(values)] for item_id, values in found.items()}


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
