"""The card of AmbiStory: where it comes from, who wrote what, and what one must know before using it."""

from __future__ import annotations

from dataclasses import dataclass

from lexiscope.core.dataset import DataFile, DatasetCard
from lexiscope.core.scale import Scale

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
