"""Stories: one setup makes three stories and six samples."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lexiscope.build.stories.stories import SAMPLES, WRITTEN_FOR, StorySetup, intention, story_samples
from lexiscope.core.errors import InputError
from lexiscope.core.usage import Usage
from lexiscope.tasks import plausibility

SETUP = StorySetup(
    "s1",
    Usage("The match was short.", 4, 9, lemma="match", language="en"),
    "Ana sat down. It was cold. She looked at Tim.",
    ("a game", "a stick that burns"),
    ("We won the match.", "He lit a match."),
    ("The teams went home.", "The flame burnt her finger."),
)


def test_six_samples_of_three_stories() -> None:
    """Two endings and none, both meanings of each: six items that share sentence and precontext, with distinct ids."""
    items = story_samples(SETUP, dataset="d")
    assert [item.item_id for item in items] == ["s1/A-1", "s1/A-2", "s1/B-1", "s1/B-2", "s1/open-1", "s1/open-2"]
    assert {item.usages for item in items} == {(SETUP.usage,)}
    assert len({item.conditions["story"] for item in items}) == 3
    assert [item.conditions["ending"] for item in items] == [*[SETUP.endings[0]] * 2, *[SETUP.endings[1]] * 2, "", ""]
    assert [item.conditions["sense"] for item in items] == list(SETUP.senses) * 3
    assert [item.conditions["example"] for item in items] == list(SETUP.examples) * 3
    assert {item.conditions["homonym"] for item in items} == {"match"}
    for item in items:
        assert set(plausibility.PARTS) <= set(item.conditions)


def test_intention() -> None:
    """A meaning is intended where the ending was written for it; an open story intends none; each twice in a setup."""
    said = [intention(ending_of, meaning) for ending_of, meaning in SAMPLES]
    assert {one: said.count(one) for one in said} == {"intended": 2, "unintended": 2, "open": 2}
    assert [WRITTEN_FOR[ending_of] == meaning for ending_of, meaning in SAMPLES[:4]] == [
        one == "intended" for one in said[:4]
    ]


def test_ids_and_conditions_of_ones_own() -> None:
    """Ids can be given, and conditions added to all samples or to each."""
    setup = replace(SETUP, homonym="matches", extra={"split": "dev"})
    items = story_samples(setup, dataset="d", item_ids=list("abcdef"), extra=[{"group": n} for n in range(6)])
    assert [item.item_id for item in items] == list("abcdef")
    assert [item.conditions["group"] for item in items] == list(range(6))
    assert {(item.conditions["split"], item.conditions["homonym"]) for item in items} == {("dev", "matches")}


@pytest.mark.parametrize("changed", [{"endings": ("", "b")}, {"endings": ("a", " ")}, {"precontext": " One."}])
def test_a_setup_is_whole(changed: dict[str, object]) -> None:
    """A setup without one of its endings, or with white space around the precontext, is refused."""
    with pytest.raises(InputError, match="a setup needs two endings"):
        replace(SETUP, **changed)  # type: ignore[arg-type]
