"""AmbiStory: plausibility of a homonym's meaning in a short story, rated by people (SemEval-2026 Task 5).

633 setups of Gehring and Roth make 1,899 stories and 3,798 samples with 19,049 ratings.
"""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Any, Literal

from lexiscope.build.stories.stories import SAMPLES, TASK, StorySetup, story_samples
from lexiscope.core.dataset import DataFile, Dataset, DatasetCard
from lexiscope.core.errors import InputError, Place, SpanError
from lexiscope.core.foreign import parse_json, refuse_constant
from lexiscope.core.item import Condition, Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.run import write_atomically
from lexiscope.core.scale import Scale
from lexiscope.core.settings import Option
from lexiscope.core.simulated import KIND_COLUMN, PARTICIPANT, SIMULATED, SIMULATED_ID, refuse_mixture
from lexiscope.core.usage import Usage, locate, occurrences
from lexiscope.resources import fetch

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
        f"The files lie in {REPOSITORY} at commit {VERSION}. Your copy is found in the folder `ambistory` of "
        "the folder that LEXISCOPE_DATA names; its files must be identical to the published ones."
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
        "The form `base` is in train and in test, against the paper: 6 test samples with senses of the training "
        "set. 36 test samples and 9 of dev have a definition that also occurs in train.",
        "The redacted test file of the shared task has no ratings: load(redacted=True) gives its items unlabelled.",
        "Raters of a group up to number 3540 judged only first or only second meanings: a design to avoid in one's "
        "own study.",
        "Bias: the writers and raters were crowd workers who speak English as a first language, nine in ten of them "
        "in the United Kingdom; the words come from puns; precontexts show the style of one language model.",
    ),
    scale=RATING_SCALE,
    raters="columns",
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
    located = {split: fetch.locate(file, dataset=CARD.name, folder=folder) for split, file in files.items()}
    samples = {split: read_samples(place.path) for split, place in located.items()}
    items = tuple(
        item for split, place in located.items() for item in setup_items(split, samples[split], str(place.path))
    )
    responses = rating_rows(sample for several in samples.values() for sample in several)
    checksums = tuple((files[split].path, place.sha256) for split, place in located.items())
    _check_counts(samples, items)
    dataset = Dataset(CARD, items, responses, checksums)
    raters = len(responses.unique("subject_id"))
    if raters != CARD.count("participants"):
        raise InputError(f"ambistory has {CARD.count('participants')} raters; these files hold {raters}")
    return dataset


def split_samples(
    split: Annotated[str, Option("the split", choices=tuple(COUNTS))] = "test", folder: Path | None = None
) -> tuple[StorySample, ...]:
    """Return the samples of one split (``train``, ``dev``, ``test``) in the published order of rows.

    Errors: those of :func:`load`; :class:`InputError` for another split.
    """
    if split not in COUNTS:
        raise InputError(f"there is no split {split!r}", hint=f"use {', '.join(COUNTS)}")
    return read_samples(fetch.locate(_files(redacted=False)[split], dataset=CARD.name, folder=folder).path)


def split_counts(samples: Sequence[StorySample]) -> SplitCounts:
    """Return what a split holds."""
    setups = {(sample.precontext, sample.sentence) for sample in samples}
    return SplitCounts(
        samples=len(samples),
        stories=len({(sample.precontext, sample.sentence, sample.ending) for sample in samples}),
        setups=len(setups),
        ratings=sum(len(sample.choices or ()) for sample in samples),
        six_rated=sum(len(sample.choices or ()) == 6 for sample in samples),
        forms=len({sample.homonym for sample in samples}),
        ticks=sum(sum(sample.nonsensical or ()) for sample in samples),
    )


def _files(*, redacted: bool) -> dict[str, DataFile]:
    return {"train": TRAIN, "dev": DEV, "test": REDACTED_TEST if redacted else TEST}


def _check_counts(samples: Mapping[str, Sequence[StorySample]], items: Sequence[Item]) -> None:
    for split, of_split in samples.items():
        counts, published = split_counts(of_split), COUNTS[split]
        if all(sample.choices is None for sample in of_split):
            published = SplitCounts(published.samples, published.stories, published.setups, 0, 0, published.forms, 0)
        if counts != published:
            raise InputError(f"ambistory, {split}: {published} is published; this file holds {counts}")
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
    samples = _samples_by_split(dataset)
    contents: dict[str, bytes] = {}
    for split in COUNTS:
        file, final_newline = _FILES[split]
        if all(sample.choices is not None for sample in samples[split]):
            contents[file.path] = file_content(samples[split], final_newline=final_newline)
    contents[REDACTED_TEST.path] = file_content(samples["test"], redacted=True, final_newline=True)
    for path, content in contents.items():
        write_atomically(folder / path, content)
    return tuple(folder / path for path in contents)


def _samples_by_split(dataset: Dataset) -> dict[str, list[StorySample]]:
    choices, ticks = (_values_by_item(dataset, measure) for measure in ("rating", MEASURE_NONSENSICAL))
    by_split: dict[str, list[StorySample]] = {split: [] for split in COUNTS}
    for item in dataset.items:
        by_split[str(item.conditions["split"])].append(
            _sample_of(item, choices.get(item.item_id), ticks.get(item.item_id))
        )
    return by_split


def _values_by_item(dataset: Dataset, measure: str) -> Mapping[str, Sequence[float]]:
    """Return the values of each item by the position of its raters."""
    table = dataset.responses.where(measure=measure)
    ratings: dict[str, dict[int, float]] = {}
    columns = (table.column(name).tolist() for name in ("item_id", "subject_id", "value"))
    for item, rater, value in zip(*columns, strict=True):
        ratings.setdefault(item, {})[int(rater.rpartition("-")[2])] = value
    return {item: [values[position] for position in sorted(values)] for item, values in ratings.items()}


def _sample_of(item: Item, choices: Sequence[float] | None, ticks: Sequence[float] | None) -> StorySample:
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


# -- reading --------------------------------------------------------------------------------------------------------
# Samples as items and responses: six samples make a setup, every rating is one row of a recorded rater.


NAME = "ambistory"
MEASURE_NONSENSICAL = "nonsensical"
SpanRule = Literal["exact", "other case", "nearest word"]
_SHARED_LETTERS = 3
_SHOWN = ("homonym", "precontext", "sentence")


def setup_items(split: str, samples: Sequence[StorySample], path: str) -> tuple[Item, ...]:
    """Return the items of a split in the published order: six samples are one setup (spec: 633 of 633).

    Errors: :class:`InputError` with file and row where six rows are not one setup; :class:`SpanError` where a
    homonym cannot be found in its sentence.
    """
    if len(samples) % len(SAMPLES):
        what = f"this file has {len(samples)} samples: a setup has {len(SAMPLES)}"
        raise InputError(what, place=Place(path), hint="it is cut off: fetch it again")
    items: list[Item] = []
    for first in range(0, len(samples), len(SAMPLES)):
        six = samples[first : first + len(SAMPLES)]
        _check_setup(six, first, path)
        items += _setup_samples(split, first // len(SAMPLES) + 1, six, Place(path, item_id=str(first)))
    return tuple(items)


def rating_rows(samples: Iterable[StorySample]) -> ResponseTable:
    """Return every rating as a row of measure ``rating``, then every tick as one of ``nonsensical`` (0 or 1).

    The subject is the rater: the group of the sample and the position in its ``choices``, from 0. It was not
    published who rated what; the groups are recovered (the card says from what). An unlabelled sample has no rows.
    """
    labelled = [sample for sample in samples if sample.choices is not None]
    rated = [(sample, position, value) for sample in labelled for position, value in enumerate(sample.choices or ())]
    ticked = [
        (sample, position, value) for sample in labelled for position, value in enumerate(sample.nonsensical or ())
    ]
    return ResponseTable.concat([_response_rows("rating", rated), _response_rows(MEASURE_NONSENSICAL, ticked)])


def rater_id(group: int, position: int) -> str:
    """Return the id of a recorded rater.

    >>> rater_id(109, 5)
    'rater/109-5'
    """
    return f"rater/{group}-{position}"


def find_homonym(sentence: str, form: str) -> tuple[int, int, SpanRule]:
    """Return the span of the homonym in its sentence, and the rule by which it was found.

    It is the only whole word with these letters, case ignored where the exact case is absent. Where the sentence has
    another word instead (one setup of 633), it is the word that begins with the most letters of the form, three at
    least: marked, so that an analysis can leave it out.
    Errors: :class:`SpanError` where no rule finds one word.

    >>> find_homonym("Spring is a short word.", "spring")
    (0, 6, 'other case')
    >>> find_homonym("She gave many notations.", "notes")
    (14, 23, 'nearest word')
    """
    if spans := occurrences(sentence, form):
        start, end = spans[0] if len(spans) == 1 else locate(sentence, form)
        return start, end, "exact" if sentence[start:end] == form else "other case"
    words = [match.span() for match in re.finditer(r"\w+", sentence)]
    shared = [_n_shared_letters(sentence[start:end], form) for start, end in words]
    most = max(shared, default=0)
    if most < _SHARED_LETTERS or shared.count(most) > 1:
        raise SpanError(f"no word of the sentence is {form!r} or begins like it", place=Place(text=sentence))
    start, end = words[shared.index(most)]
    return start, end, "nearest word"


def _n_shared_letters(word: str, form: str) -> int:
    pairs = zip(word.casefold(), form.casefold(), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _check_setup(six: Sequence[StorySample], first: int, path: str) -> None:
    setups = {tuple(getattr(sample, name) for name in _SHOWN) for sample in six}
    senses = [(sample.judged_meaning, sample.example_sentence) for sample in six]
    endings = [sample.ending for sample in six]
    whole = (
        len(setups) == 1
        and senses == senses[:2] * 3
        and senses[0] != senses[1]
        and endings == [endings[0], endings[0], endings[2], endings[2], "", ""]
        and "" not in endings[:4]
    )
    if not whole:
        what = "six rows from here on are not one setup: two endings and none, two meanings each"
        raise InputError(what, place=Place(path, item_id=str(first)), hint="is this the published order of rows?")


def _setup_samples(split: str, number: int, six: Sequence[StorySample], place: Place) -> tuple[Item, ...]:
    first = six[0]
    try:
        start, end, rule = find_homonym(first.sentence, first.homonym)
    except SpanError as error:
        raise SpanError(
            error.what, code=error.code, place=replace(place, text=first.sentence), why=error.why
        ) from error
    extra: dict[str, Condition] = {"split": split, "span_rule": rule}
    if first.precontext != first.precontext.strip():
        # white space around 14 published precontexts: no part of the story, kept for the export
        extra["published_precontext"] = first.precontext
    setup = StorySetup(
        setup_id=f"{split}-{number:03d}",
        # the publisher states no lemma: the form takes its place, and groups the items as the paper does
        usage=Usage(first.sentence, start, end, lemma=first.homonym, language="en"),
        precontext=first.precontext.strip(),
        senses=(six[0].judged_meaning, six[1].judged_meaning),
        examples=(six[0].example_sentence, six[1].example_sentence),
        endings=(six[0].ending, six[2].ending),
        homonym=first.homonym,
        extra=extra,
    )
    groups: list[Mapping[str, Condition]] = [{"group": sample.group} for sample in six]
    return story_samples(setup, dataset=NAME, item_ids=[item_id(sample) for sample in six], extra=groups)


def item_id(sample: StorySample) -> str:
    """Return the id of a sample's item."""
    return f"{NAME}/{sample.sample_id}"


def _response_rows(measure: str, cells: Sequence[tuple[StorySample, int, int | bool]]) -> ResponseTable:
    return ResponseTable.from_columns(
        {
            "subject_id": [
                (SIMULATED_ID if sample.simulated else "") + rater_id(sample.group, position)
                for sample, position, _ in cells
            ],
            "subject_kind": PARTICIPANT,
            "item_id": [item_id(sample) for sample, _, _ in cells],
            "task": TASK,
            "measure": measure,
            "value": [float(value) for _, _, value in cells],
            "view": "full",
        }
    )


# -- one published file of AmbiStory as samples: every field checked, nothing interpreted yet -----------------------


TEXTS = ("homonym", "judged_meaning", "precontext", "sentence", "ending", "sample_id", "example_sentence")
JUDGED = ("choices", "average", "stdev", "nonsensical")
FIELDS = ("homonym", "judged_meaning", "precontext", "sentence", "ending", *JUDGED, "sample_id", "example_sentence")
"""The fields of a sample, in the published order."""
REDACTED = "(???)"
"""The content of the four judged fields of the test file that was given to participants of the shared task."""
RATINGS_PER_SAMPLE = (5, 6)


@dataclass(frozen=True, slots=True)
class StorySample:
    """One meaning judged in one story, as published.

    ``choices`` are the ratings in the order of the raters of its group, ``nonsensical`` their ticks; both are
    ``None`` where the publisher redacted them: such a sample is unlabelled, and nothing is averaged for it.
    ``simulated``: the ratings are those of simulated participants, as the export of a rehearsal says.
    """

    homonym: str
    judged_meaning: str
    precontext: str
    sentence: str
    ending: str
    sample_id: str
    example_sentence: str
    choices: tuple[int, ...] | None
    nonsensical: tuple[bool, ...] | None
    simulated: bool = False

    @property
    def group(self) -> int:
        """The group of raters that judged the sample, recovered from its number (130 groups)."""
        return int(self.sample_id) % 130


def read_samples(path: Path) -> tuple[StorySample, ...]:
    """Read a file of samples, in its order.

    Errors: :class:`InputError` with file and sample if the text is not JSON, a field is missing, of another kind or
    off its scale, an average or a standard deviation is not that of the ratings, or rows are not numbered from 0.
    """
    rows = _read_rows(path)
    expected = [str(row) for row in range(len(rows))]
    if list(rows) != expected:
        raise InputError("the samples of this file are not numbered 0, 1, 2 …", place=Place(str(path)))
    samples = tuple(_read_sample(fields, Place(str(path), item_id=row)) for row, fields in rows.items())
    refuse_mixture({SIMULATED if sample.simulated else PARTICIPANT for sample in samples}, place=Place(str(path)))
    return samples


def file_content(samples: Sequence[StorySample], *, redacted: bool = False, final_newline: bool = False) -> bytes:
    """Return samples as the publisher writes them: JSON, indented by four, letters beyond ASCII escaped.

    With *redacted*, or for a sample without ratings, the judged fields hold the publisher's mark.
    """
    rows = {str(row): _sample_fields(sample, redacted=redacted) for row, sample in enumerate(samples)}
    return (json.dumps(rows, indent=4) + "\n" * final_newline).encode("ascii")


def _sample_fields(sample: StorySample, *, redacted: bool) -> dict[str, object]:
    cells: dict[str, object] = {name: getattr(sample, name) for name in TEXTS}
    if redacted or sample.choices is None or sample.nonsensical is None:
        cells |= dict.fromkeys(JUDGED, REDACTED)
    else:
        cells |= {"choices": list(sample.choices), "nonsensical": list(sample.nonsensical)} | _mean_and_sd(
            sample.choices
        )
    return {name: cells[name] for name in FIELDS} | ({KIND_COLUMN: SIMULATED} if sample.simulated else {})


def _mean_and_sd(choices: Sequence[int]) -> dict[str, float]:
    """Return the published mean and standard deviation (that with n-1) of ratings."""
    return {"average": sum(choices) / len(choices), "stdev": _sd(tuple(sorted(choices)))}


@cache
def _sd(ratings: tuple[int, ...]) -> float:
    # exact fractions are slow, and thousands of samples have the same few hundred sets of ratings
    return statistics.stdev(ratings)


def _read_rows(path: Path) -> dict[str, Any]:
    try:
        rows = parse_json(
            path.read_bytes().decode("utf-8"), object_pairs_hook=_object_of_pairs, parse_constant=refuse_constant
        )
    except (UnicodeDecodeError, ValueError) as error:
        hint = "is it cut off, or not the published file? fetch it again"
        raise InputError("this file is not JSON", place=Place(str(path)), why=str(error), hint=hint) from error
    if not isinstance(rows, dict) or not rows:
        raise InputError("this file holds no object with one sample a row", place=Place(str(path)))
    return rows


def _object_of_pairs(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the name {next(n for n in names if names.count(n) > 1)!r} occurs twice in one object")
    return values


def _read_sample(fields: object, place: Place) -> StorySample:
    marked = isinstance(fields, dict) and KIND_COLUMN in fields
    if not isinstance(fields, dict) or set(fields) - {KIND_COLUMN} != set(FIELDS):
        raise InputError(f"a sample has the fields {', '.join(FIELDS)}", place=place)
    for name in TEXTS:
        text = fields[name]
        # the ending of an open story is empty: that is data
        if not isinstance(text, str) or not (text.strip() or name == "ending"):
            raise InputError(f"{name} must be a text; there is {text!r}", place=place)
    if not fields["sample_id"].isdecimal():
        raise InputError(f"sample_id must be a number; there is {fields['sample_id']!r}", place=place)
    choices, nonsensical = _read_judgments(fields, place)
    texts, simulated = {name: fields[name] for name in TEXTS}, marked and fields[KIND_COLUMN] == SIMULATED
    return StorySample(**texts, choices=choices, nonsensical=nonsensical, simulated=simulated)


def _read_judgments(fields: Mapping[str, Any], place: Place) -> tuple[tuple[int, ...] | None, tuple[bool, ...] | None]:
    redacted = [name for name in JUDGED if fields[name] == REDACTED]
    if len(redacted) == len(JUDGED):
        return None, None
    if redacted:
        raise InputError(f"{', '.join(redacted)} are redacted, the other judged fields are not", place=place)
    choices, ticks = fields["choices"], fields["nonsensical"]
    if not _is_list_of(choices, int) or not set(choices) <= {1, 2, 3, 4, 5} or len(choices) not in RATINGS_PER_SAMPLE:
        raise InputError(f"choices must be 5 or 6 ratings from 1 to 5; there is {choices!r}", place=place)
    if not _is_list_of(ticks, bool) or len(ticks) != len(choices):
        raise InputError(f"nonsensical must be one true or false for each rating; there is {ticks!r}", place=place)
    for name, value in _mean_and_sd(choices).items():
        if fields[name] != value:
            raise InputError(f"{name} of these ratings is {value}; there is {fields[name]!r}", place=place)
    return tuple(choices), tuple(ticks)


def _is_list_of(values: object, kind: type) -> bool:
    """Whether this is a list of one kind (``true`` is not a number here)."""
    return isinstance(values, list) and all(type(value) is kind for value in values)
