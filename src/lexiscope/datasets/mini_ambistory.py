"""Mini ambiguous stories: 24 English setups after the design of AmbiStory, written for Lexiscope (CC0).

Each setup has three sentences that leave both meanings of a homonym open, the ambiguous sentence, and an ending for
either meaning: three stories, each judged for two meanings. They have not been rated: there are no human answers.
"""

from __future__ import annotations

from lexiscope.build.stories.stories import StorySetup, story_samples
from lexiscope.core.dataset import DataFile, Dataset, DatasetCard
from lexiscope.core.response import ResponseTable
from lexiscope.core.usage import Usage, locate
from lexiscope.resources import fetch
from lexiscope.resources.tables.delimited import DelimitedTable, read_csv

STORIES = DataFile("mini/stories_en.csv", sha256="166b9c81f49b48ec18b2922cb4bced884c6f6bb7c91d3733abe7d08bf319a37f")
COLUMNS = (
    *("lemma", "homonym", "pos", "precontext", "sentence", "sense_1", "example_1", "sense_2", "example_2"),
    *("ending_1", "ending_2"),
)

CARD = DatasetCard(
    name="mini_ambistory",
    title="Mini ambiguous stories (English)",
    task="plausibility",
    language="en",
    licence="CC0-1.0",
    citation="Lexiscope contributors. Mini ambiguous stories, version 1.",
    source="written for Lexiscope, after the design of AmbiStory §3",
    version="1",
    availability="embedded",
    summary="24 short stories around an ambiguous sentence × 3 endings × 2 meanings of its homonym; no ratings.",
    files=(STORIES,),
    counts=(("items", 144), ("words", 24), ("sentences", 24)),
    first_item="mini_ambistory/pitcher/A-1",
    last_item="mini_ambistory/dry/open-2",
    remarks=(
        "No one has rated these stories: they show how the tools work and are not norms.",
        "13 nouns, 6 verbs, 5 adjectives; the two meanings of a word have one part of speech.",
        "Definitions and examples are our own, not those of a dictionary. An item's id and its conditions setup, "
        "story, story_kind, ending_of, meaning and intention are never shown.",
    ),
    authorship=(
        ("all fields", "written by a language model that worked on Lexiscope, checked by rule; no crowd workers"),
    ),
)


def load() -> Dataset:
    """Return the 144 samples: six of each of the 24 setups.

    Errors: :class:`DataError` where the embedded file was changed.
    """
    items = tuple(item for setup in setups() for item in story_samples(setup, dataset=CARD.name))
    return Dataset(CARD, items, ResponseTable.empty(), ((STORIES.path, STORIES.sha256 or ""),))


def setups() -> tuple[StorySetup, ...]:
    """Return the 24 setups, from which a user makes stories of another design.

    Errors: :class:`DataError` where the embedded file was changed.
    """
    table = read_csv(fetch.locate_embedded(STORIES, "stories"), COLUMNS)
    return tuple(_setup(table, row) for row in range(len(table)))


def _setup(table: DelimitedTable, row: int) -> StorySetup:
    cells = {name: table[name][row] for name in COLUMNS}
    start, end = locate(cells["sentence"], cells["homonym"])
    usage = Usage(cells["sentence"], start, end, lemma=cells["lemma"], pos=cells["pos"], language="en")
    return StorySetup(
        setup_id=f"{CARD.name}/{cells['lemma']}",
        usage=usage,
        precontext=cells["precontext"],
        senses=(cells["sense_1"], cells["sense_2"]),
        examples=(cells["example_1"], cells["example_2"]),
        endings=(cells["ending_1"], cells["ending_2"]),
    )
