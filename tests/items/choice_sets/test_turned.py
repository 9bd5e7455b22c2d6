"""Relations turned round: target and word exchanged, everything else as it was."""

from __future__ import annotations

from dataclasses import replace

from lexiscope.items.choice_sets.minimal_pairs import SynonymItem, choice_sets, reversed_sets
from lexiscope.items.choice_sets.templates import Template, choose_templates, synonymy_templates

OAK = SynonymItem.from_tokens("1", ["The", "old", "oak", "fell", "."], 2, synonym="tree", distractor="wood")


def test_the_word_stands_in_front_and_the_target_behind() -> None:
    """Context and final stop stay; the span is that of the word, now with a capital; the options are as they were."""
    [item] = reversed_sets([OAK], choose_templates(synonymy_templates(), ["T15"]))
    assert [usage.text for usage in item.usages] == [
        "The old oak fell. Tree is the same as oak.",
        "The old oak fell. Wood is the same as oak.",
    ]
    assert [usage.target for usage in item.usages] == ["Tree", "Wood"]
    assert item.options == ("tree", "wood")
    assert item.conditions["suite"] == "relation_turned"
    assert item.item_id == "synonymy/1/relation_turned/is_the_same_as/controlled"


def test_only_the_place_of_the_two_words_differs() -> None:
    """Of the study's eight templates the three relations in context are turned; the conditions are those of the plain
    choice set but for the suite.
    """
    made = reversed_sets([OAK])
    plain = choice_sets([OAK], suites=["relation"], conditions=["controlled"])
    assert len(made) == 3
    for one, other in zip(made, plain, strict=True):
        assert {**one.conditions, "suite": "relation"} == dict(other.conditions)
        assert (one.options, one.gold) == (other.options, other.gold)


def test_what_does_not_hold_both_ways_is_left_out() -> None:
    """A template without a turned text, or without the controlled condition, has nothing to be turned."""
    kind = Template("K", "hyponymy", "{context} {Target} is a kind of {word}.", "is a kind of")
    assert reversed_sets([OAK], [kind]) == ()
    alone = Template("A", "alone", "{Target} means {word}.", "means", turned="{Word} means {target}.")
    assert len(reversed_sets([OAK], [alone])) == 1
    assert reversed_sets([OAK], [replace(alone, conditions=("random",))]) == ()


def test_a_language_says_what_its_turned_text_looks_like() -> None:
    """The expression need not stand between the two words; a capital is kept."""
    item = replace(OAK, language="de")
    both = Template("D", "gleich", "{Target} und {word} ist dasselbe.", language="de", turned="{Word} und {target}.")
    [made] = reversed_sets([item], [both])
    assert [usage.text for usage in made.usages] == ["Tree und oak.", "Wood und oak."]
