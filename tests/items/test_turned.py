"""Relations turned round: target and word exchanged, everything else as it was."""

from __future__ import annotations

from lexiscope.items.minimal_pairs import SynonymItem, choice_sets
from lexiscope.items.turned import turned

OAK = SynonymItem.from_tokens("1", ["The", "old", "oak", "fell", "."], 2, synonym="tree", distractor="wood")


def test_the_word_stands_in_front_and_the_target_behind() -> None:
    """Context and final stop stay; the span is that of the word, now with a capital."""
    [item] = turned(choice_sets([OAK], suites=["T15"], conditions=["controlled"]))
    assert [usage.text for usage in item.usages] == [
        "The old oak fell. Tree is the same as oak.",
        "The old oak fell. Wood is the same as oak.",
    ]
    assert [usage.target for usage in item.usages] == ["Tree", "Wood"]
    assert item.options == ("tree", "wood")
    assert item.conditions["suite"] == "relation_turned"
    assert item.item_id == "synonymy/1/relation_turned/is_the_same_as/controlled"


def test_what_is_no_relation_is_left_out() -> None:
    """Substitution and reference have no direction."""
    assert turned(choice_sets([OAK], suites=["substitution", "reference"], conditions=["controlled"])) == ()


def test_a_template_of_another_form_is_left_out_not_guessed() -> None:
    """A text in which more than the expression stands between target and word is not turned."""
    [item] = choice_sets([OAK], suites=["T11"], conditions=["controlled"])
    other = {**item.conditions, "expression": "is a near synonym of"}
    assert turned([type(item)(item.item_id, item.dataset, item.usages, item.options, item.gold, None, other)]) == ()
