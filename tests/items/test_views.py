"""Views: what a subject is shown of an item; the target is carried along."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexiscope.core.errors import SpecError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.items.views import (
    VIEWS,
    target_alone,
    view_item,
    view_usage,
    with_final_stop,
    without_final_stop,
    without_target,
)


def test_a_final_stop_is_added_once() -> None:
    """The stop is added only where no sentence-final sign stands, and the span stays."""
    for text, stopped in [
        ("A bank", "A bank."),
        ("A bank.", "A bank."),
        ("A bank!", "A bank!"),
        ('A "bank."', 'A "bank."'),
    ]:
        usage = Usage(text, text.index("bank"), text.index("bank") + 4)
        found = with_final_stop(usage)
        assert (found.text, found.start, found.end) == (stopped, usage.start, usage.end)


@given(st.text(max_size=20))
def test_adding_and_removing_a_stop(rest: str) -> None:
    """Removing undoes adding; both are without effect the second time; the target never changes."""
    usage = Usage(f"bank{rest}", 0, 4)
    stopped = with_final_stop(usage)
    assert with_final_stop(stopped) == stopped
    assert stopped == usage or without_final_stop(stopped) == usage
    assert without_final_stop(usage).target == stopped.target == "bank"


def test_a_stop_that_belongs_to_the_target_stays() -> None:
    """Removing the final stop may not cut the target, nor an ellipsis."""
    assert without_final_stop(Usage("In the U.S.", 7, 11)).text == "In the U.S."
    assert without_final_stop(Usage("A bank...", 2, 6)).text == "A bank..."


@given(st.text(max_size=20), st.text(max_size=20), st.sampled_from(["bank", "X", "[X]", "niño", "銀行"]))
def test_hiding_the_target_is_exact(before: str, after: str, word: str) -> None:
    """In `context` the text around the span is untouched and the span covers the mask; in `word` it is all there is."""
    usage = Usage(f"{before}{word}{after}", len(before), len(before) + len(word), lemma="l", pos="n", sense="s")
    hidden, alone = without_target(usage), target_alone(usage)
    assert (hidden.text[: hidden.start], hidden.target, hidden.text[hidden.end :]) == (before, "[X]", after)
    assert (alone.text, alone.start, alone.target) == (word, 0, word)
    for seen in (hidden, alone):
        assert (seen.lemma, seen.pos, seen.language, seen.sense) == ("l", "n", "und", "s")


def test_only_the_marked_occurrence_is_hidden() -> None:
    """A span is one place: the same letters elsewhere in the sentence are not searched for."""
    usage = Usage("A bank is not a bank", 16, 20)
    assert without_target(usage).text == "A bank is not a [X]"


def test_views_by_name() -> None:
    """A view applies to all usages and keeps the item; an unknown view is an error that names the known ones."""
    item = Item("i", "d", (Usage("A bank", 2, 6), Usage("The bank.", 4, 8)), conditions={"same_sense": True})
    assert view_item(item, "full") == item
    shown = {view: [usage.text for usage in view_item(item, view).usages] for view in VIEWS}
    assert shown == {
        "full": ["A bank", "The bank."],
        "full+final_stop": ["A bank.", "The bank."],
        "context": ["A [X]", "The [X]."],
        "word": ["bank", "bank"],
    }
    with pytest.raises(SpecError, match=r"full\+final_stop"):
        view_usage(item.usages[0], "half")
