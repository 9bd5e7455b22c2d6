"""Right in one view and wrong in another: which items, and which context word may have misled."""

from __future__ import annotations

import pytest

from lexiscope.analysis.bias.view_errors import distractor_by_occlusion, distractor_by_overlap, is_right, view_errors
from lexiscope.core.errors import StatisticError

GOLD = {"a": "q1", "b": "q2", "c": "q3", "d": "q4|q5", "e": "q6"}
ANSWERS: dict[str, dict[str, str | None]] = {
    "full": {"a": "q9", "b": "q2", "c": "q9", "d": "q9", "e": None},
    "word": {"a": "q1", "b": "q9", "c": "q8", "d": "q5", "e": "q6"},
}


def test_errors_are_the_cells_of_the_two_by_two_table() -> None:
    """FULL wrong and WORD right: a, and d with the second of its gold answers; the reverse: b; e has no answer."""
    misled = view_errors(GOLD, ANSWERS, words={"a": "jaguar"}, distractors={"a": "factory"})
    assert [(error.item_id, error.answer, error.word, error.distractor) for error in misled.errors] == [
        ("a", "q9", "jaguar", "factory"),
        ("d", "q9", "", ""),
    ]
    assert (misled.n, misled.n_unanswered) == (4, 1)
    helped = view_errors(GOLD, ANSWERS, wrong="word", right="full")
    assert [error.item_id for error in helped.errors] == ["b"]


def test_errors_can_be_filtered() -> None:
    """By word, by what was answered, by whether a distracting word is known; the counts stay."""
    found = view_errors(GOLD, ANSWERS, words={"a": "jaguar", "d": "bank"}, distractors={"a": "factory"})
    assert [error.item_id for error in found.of(word="bank").errors] == ["d"]
    assert [error.item_id for error in found.of(answer="q9", distracted=True).errors] == ["a"]
    assert [error.item_id for error in found.of(distracted=False).errors] == ["d"]
    assert found.of(word="none").n == 4


def test_a_view_without_answers_is_refused() -> None:
    """The error names it and those there are."""
    with pytest.raises(StatisticError, match="no answers in the view context; valid names: full, word"):
        view_errors(GOLD, ANSWERS, right="context")


def test_only_one_of_the_gold_answers_is_right() -> None:
    """Not their whole list cut elsewhere, and not an empty answer."""
    assert is_right("q4", "q4|q5")
    assert not is_right("4|q5", "q4|q5")
    assert not is_right("", "q4|q5")


def test_occlusion_takes_the_largest_loss_outside_the_target() -> None:
    """Where every loss is 0 or a gain, no word is named; of equal losses the first is."""
    words = ["on", "the", "bank", "river", "boat"]
    assert distractor_by_occlusion(words, [0, 0, 5, 0.2, 0.2], target=[2]) == "river"
    assert distractor_by_occlusion(words, [0, -1, 5, 0, -0.2], target=[2]) == ""
    assert distractor_by_occlusion([], []) == ""
    with pytest.raises(StatisticError, match="5 words need as many drops"):
        distractor_by_occlusion(words, [1.0])


def test_overlap_names_a_word_of_the_wrong_entry_only() -> None:
    """Not the target, not a word of the right entry, no function word, no short one; case does not matter."""
    context = "Mercury climbed over the pond while their band, with its drums, tuned the ENGINE."
    wrong, right = (
        "Mercury: a maker of boats, with an engine and drums for a pond",
        "Mercury: a planet seen over a pond",
    )
    assert distractor_by_overlap(context, wrong, right=right, target="Mercury") == "engine"
    assert distractor_by_overlap(context, "with their over", right=right) == ""
    rare = {"drums": 3, "engine": 900, "pond": 1}
    assert distractor_by_overlap(context, wrong, right=right, target="Mercury", frequency=rare) == "drums"
    assert distractor_by_overlap("Мы видели ягуара у завода", "Jaguar: завода", target="ягуара") == "завода"
