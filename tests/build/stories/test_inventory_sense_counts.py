"""Counts of senses known by their gloss: found under base forms, changed marks forgiven, absence kept apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexiscope.build.stories.inventory import gloss_key, sense_counts
from lexiscope.core import catalog
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.resources.lexicons import wordnet


def sample(form: str, sense: str) -> Item:
    return Item(f"{form}: {sense}", "d", (Usage(form, 0, len(form)),), conditions={"homonym": form, "sense": sense})


def test_two_spellings_of_a_gloss_are_one() -> None:
    """Quotation marks, what is left of removed examples, case and white space make no difference."""
    assert gloss_key("the `top' of it; ; ; --Somebody") == gloss_key('The "top"  of it')
    assert gloss_key("pull, draw") != gloss_key("pull")


@pytest.mark.published
def test_the_senses_of_ambistory_are_found(published: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 777 (form, definition) pairs, 765 stand under a lemma of the form; the other 12 have no count, not 0."""
    monkeypatch.setenv("LEXISCOPE_DATA", str(published))
    items = {
        (str(item.condition("homonym")), str(item.condition("sense"))): item
        for item in catalog.dataset("ambistory").items
    }
    found = sense_counts(items.values(), wordnet.load())
    assert len(items) == 777
    assert sum(count is None for count in found.values()) == 12
    # the index counts one sense more than the list of counts does (493): up, in the sense of being awake
    assert sum(bool(count) for count in found.values()) == 494
    invented = sample("banks", "an invented meaning")
    assert sense_counts([invented], wordnet.load()) == {invented.item_id: None}
