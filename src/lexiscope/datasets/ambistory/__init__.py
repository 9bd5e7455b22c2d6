"""AmbiStory: how plausible a meaning of a homonym is in a short story, rated by people; also SemEval-2026 Task 5.

633 setups of Gehring and Roth make 1,899 stories and 3,798 samples with 19,049 ratings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lexiscope.core.dataset import DataFile, Dataset, DatasetCard
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.run import write_atomically
from lexiscope.core.scale import Scale
from lexiscope.datasets.ambistory.reading import MEASURE_NONSENSICAL, item_id, rating_rows, setup_items
from lexiscope.datasets.ambistory.samples import StorySample, file_content, read_samples
from lexiscope.resources.fetch import locate

# -- the card of AmbiStory: where it comes from, who wrote what, and what one must know before using it -------------


REPOSITORY = "https://github.com/Janosch-Gehring/ambistory"
VERSION = "705f1a3784b62f1aa42435b9e107dba901547441"
_UPSTREAM = f"https://raw.githubusercontent.com/Janosch-Gehring/ambistory/{VERSION}"
TRAIN = DataFile(
    "ambistory/train.json",
    f"{_UPSTREAM}/train.json",
    "7b3207fa81513027d39193a9a601fba6f886323a893661eb3a94c14f432bbf60",
)
DEV = DataFile(
    "ambistory/dev.json", f"{_UPSTREAM}/dev.json", "a3110b61fd20a37caac2ed56fe0a7b0d17ce29d34b156ce65cc2396d5bda705a"
)
TEST = DataFile(
    "ambistory/test.json", f"{_UPSTREAM}/test.json", "37c0264c7ba0a5bcdce262d25cb6dba9b66bc06161f337e8f1a4742b54c30968"
)
REDACTED_TEST = DataFile(
    "ambistory/test_(redacted).json",
    f"{_UPSTREAM}/test_%28redacted%29.json",
    "2b37783071869c1320bd45473705fc9238956602764308d9611c94eb82ad7f5c",
    optional=True,
)
RATING_SCALE = Scale(1, 5)


@dataclass(frozen=True, slots=True)
class SplitCounts:
    """What one split holds; ``six_rated`` are the samples with six ratings, ``ticks`` those of "nonsensical"."""

    samples: int
    stories: int
    setups: int
    ratings: int
    six_rated: int
    forms: int
    ticks: int


COUNTS: dict[str, SplitCounts] = {
    "train": SplitCounts(2_280, 1_140, 380, 11_434, 34, 220, 268),
    "dev": SplitCounts(588, 294, 98, 2_952, 12, 55, 44),
    "test": SplitCounts(930, 465, 155, 4_663, 13, 87, 91),
}
"""The counts of each split, which are checked when the dataset is loaded."""
CARD = DatasetCard(
    name="ambistory",
    title="AmbiStory: lexically ambiguous short stories",
    task="plausibility",
    language="en",
    licence="none stated by the publisher; ask the authors before redistributing; not redistributed here",
    citation=(
        "J. Gehring, M. Roth (2025). AmbiStory: A Challenging Dataset of Lexically Ambiguous Short Stories. "
        "Also the data of SemEval-2026 Task 5."
    ),
    source=REPOSITORY,
    version=VERSION,
    availability="download",
    summary=(
        "English stories of four or five sentences, one of them ambiguous by a homonym; two meanings of the word rated "
        "from 1 to 5 for their plausibility, each by five or six people."
    ),
    files=(TRAIN, DEV, TEST, REDACTED_TEST),
    counts=(("items", 3_798), ("words", 361), ("sentences", 633), ("participants", 652)),
    how_to_obtain=(
        f"The files lie in {REPOSITORY} at commit {VERSION}. A copy of one's own is found in the folder `ambistory` of "
        "the folder that LEXISCOPE_DATA names; its bytes must be the published ones."
    ),
    first_item="ambistory/1843",
    last_item="ambistory/3528",
    remarks=(
        "An item is one meaning judged in one story. Its id and the conditions setup, story, story_kind, ending_of, "
        "meaning, intention, split and group belong to the design and are never shown: the place of a sample in its "
        "setup alone scores .622 on test, better than the majority baseline.",
        "Rater ids were not published. A rater here is a position in the ratings of a group, and the group is the "
        "sample's number modulo 130: inferred from the variance between positions, from the samples with six ratings "
        "and from the published human ceiling, which comes out to three digits.",
        'Every rating has a row of measure `rating`, every tick of "this text makes no sense" one of `nonsensical` '
        "(403 of 19,049 are ticked); as in the paper, nothing is filtered by them.",
        "An open story has the empty ending. White space around 14 precontexts is taken off (`published_precontext` "
        "keeps it); the text of a story joins its parts with one space.",
        "The homonym's span is the one whole word with its letters (631 setups), case ignored (one more). Setup "
        "`denominations` has `denotations` in its sentence: the span covers that word and `span_rule` says "
        "`nearest word`.",
        "The lemma of a usage is the published form, case kept (361 forms): the paper groups by it. Lemmas are a "
        "guess, made only when asked for (lexiscope.build.stories.inventory).",
        "The form `base` stands in train and in test, against the paper: 6 test samples with senses of the training "
        "set. 36 test samples and 9 of dev have a definition that also occurs in train.",
        "The redacted test file of the shared task has no ratings: load(redacted=True) gives its items unlabelled.",
        "Raters of a group up to number 3540 judged only first or only second meanings: a design to avoid in one's "
        "own study.",
        "Bias: the writers and raters were crowd workers who speak English as a first language, nine in ten of them "
        "in the United Kingdom; the words come from puns; precontexts show the style of one language model.",
    ),
    scale=RATING_SCALE,
    authorship=(
        ("homonym", "chosen by the authors from sense pairs of a collection of puns (SemEval-2017 Task 7)"),
        ("judged_meaning", "WordNet 3.0 glosses without their examples (WordNet licence)"),
        ("example_sentence", "written by a language model (GPT-4o), reviewed by the authors"),
        ("sentence", "written by crowd workers; spelling and grammar corrected by a language model (GPT-4o)"),
        ("precontext", "written by a language model (GPT-4o) for the sentence"),
        ("ending", "written by crowd workers, two for each setup; corrected like the sentences; empty in open stories"),
        ("choices, nonsensical", "crowd workers, five or six for each sample"),
        ("average, stdev", "computed by the authors from choices (standard deviation with n-1)"),
    ),
)


# ---------------------------------------------------------------------------------------------------------------------


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
