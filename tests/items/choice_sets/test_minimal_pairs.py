"""Choice sets and lines of made-up synonym items: texts, spans, ids, conditions, both modes, relations reversed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lexiscope.core.errors import InputError, SpanError, SpecError
from lexiscope.items.choice_sets.minimal_pairs import (
    SynonymItem,
    choice_sets,
    fitting_templates,
    realise_text,
    reversed_sets,
    suite_lines,
    token_span,
)
from lexiscope.items.choice_sets.surface import Mode
from lexiscope.items.choice_sets.templates import Template, choose_templates, synonymy_templates
from lexiscope.tasks.minimal_pair import check_choice_set

_BANK = "They pitched a tent on an islet near the bank ."


_TENT = "She put a tent up ; it held ."


BANK = replace(
    SynonymItem.from_tokens("7", _BANK.split(), 9, synonym="shore", distractor="lender"),
    number=7,
    sense_key="bank%1:17:01::",
    random_nouns=("apple", "words", "moon"),
    sentence_id="made/1",
)


TENT = replace(
    SynonymItem.from_tokens("8", _TENT.split(), 3, synonym="awning", distractor="tabernacle"),
    number=8,
    random_nouns=("oak", "gate"),
)


BY_NAME = {template.name: template for template in synonymy_templates()}


@pytest.mark.parametrize(
    ("name", "word", "text"),
    [
        ("T7", "shore", "Bank is a synonym of shore."),
        ("T8", "shore", "Bank means shore."),
        ("T9", "lender", "Bank is the same as lender."),
        ("T11", "shore", "They pitched a tent on an islet near the bank. Bank is a synonym of shore."),
        ("T12", "apple", "They pitched a tent on an islet near the apple."),
        ("T13", "shore", "They pitched a tent on an islet near the bank. This shore"),
        ("T13", "words", "They pitched a tent on an islet near the bank. These words"),
        ("T14", "shore", "They pitched a tent on an islet near the bank. Bank means shore."),
        ("T15", "shore", "They pitched a tent on an islet near the bank. Bank is the same as shore."),
    ],
)
def test_the_texts_of_the_eight_suites(name: str, word: str, text: str) -> None:
    """What one line of each suite looks like; the span is the inserted word's."""
    placed = realise_text(BANK, BY_NAME[name], word)
    assert (placed.text, placed.word) == (text, word)


def test_the_context_keeps_its_article_in_clean_mode_only() -> None:
    """Published: the article of an untouched context follows the inserted word, so a pair differs in two places."""
    relation = BY_NAME["T14"]
    assert realise_text(TENT, relation, "awning").text == "She put a tent up; it held. Tent means awning."
    assert (
        realise_text(TENT, relation, "awning", mode="published").text
        == "She put an tent up; it held. Tent means awning."
    )
    assert realise_text(TENT, relation, "gate", mode="published").text == "She put a tent up; it held. Tent means gate."


def test_published_errors_are_kept_in_their_templates() -> None:
    """Another distractor, and another word in the context of the named templates: in published mode only."""
    flawed = replace(TENT, published_distractor="tabernacle,", published_targets=(("T14", "[awning]"),))
    assert flawed.words("controlled") == ("awning", "tabernacle")
    assert flawed.words("controlled", mode="published") == ("awning", "tabernacle,")
    assert flawed.words("incorrect_vs_random", mode="published")[0] == "tabernacle,"
    assert "[awning]" in realise_text(flawed, BY_NAME["T14"], "gate", mode="published").text
    assert "[awning]" not in realise_text(flawed, BY_NAME["T15"], "gate", mode="published").text
    assert "[awning]" not in realise_text(flawed, BY_NAME["T14"], "gate").text


def test_lines() -> None:
    """Flag 2 the synonym, 1 the distractor, 0 the random nouns, item by item."""
    lines = suite_lines([BANK, TENT], BY_NAME["T8"])
    assert [(line.item, line.flag, line.word) for line in lines] == [
        (7, 2, "shore"),
        (7, 1, "lender"),
        (7, 0, "apple"),
        (7, 0, "words"),
        (7, 0, "moon"),
        (8, 2, "awning"),
        (8, 1, "tabernacle"),
        (8, 0, "oak"),
        (8, 0, "gate"),
    ]


def test_choice_sets() -> None:
    """16 sets an item: 3 expressions × 2 without context, 5 templates × 2 with; ids and conditions by convention."""
    items = choice_sets([BANK, TENT], dataset="made")
    assert len(items) == 2 * (3 * 2 + 5 * 2)
    by_id = {item.item_id: item for item in items}
    random = by_id["made/7/relation/is_a_synonym_of/random"]
    assert random.options == ("shore", "apple", "words", "moon")
    assert dict(random.conditions) == {
        "suite": "relation",
        "expression": "is a synonym of",
        "condition": "random",
        "mode": "clean",
        "item": 7,
        "target": "bank",
        "synonym": "shore",
        "distractor": "lender",
        "sentence": "made/1",
        "part_of_speech": "noun",
        "senses": "several",
    }
    assert by_id["made/8/relation_no_context/means/incorrect_vs_random"].options == ("tabernacle", "oak", "gate")
    for item in items:
        check_choice_set(item)
        assert [usage.target for usage in item.usages] == list(item.options)
        assert item.gold == item.options[0]


def test_choosing_suites_and_conditions() -> None:
    """Parts of the design can be asked for; what does not exist is refused."""
    chosen = choice_sets([BANK], suites=["substitution", "relation/means"], conditions=["controlled"])
    assert [item.item_id for item in chosen] == [
        "synonymy/7/substitution/controlled",
        "synonymy/7/relation/means/controlled",
    ]
    with pytest.raises(SpecError, match="unknown condition"):
        choice_sets([BANK], conditions=["control"])
    with pytest.raises(SpecError, match="unknown mode"):
        choice_sets([BANK], mode="dirty")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="no template has these conditions"):
        choice_sets([BANK], suites=["substitution"], conditions=["correct_vs_random"])


def test_another_relation() -> None:
    """A template of one's own makes choice sets like any other."""
    opposite = Template("A", "relation", "{context} {Target} is the opposite of {word}.", "is the opposite of")
    (pair, _) = choice_sets([BANK], [opposite])
    assert pair.item_id == "synonymy/7/relation/is_the_opposite_of/controlled"
    assert pair.usages[0].text.endswith("the bank. Bank is the opposite of shore.")


def test_an_item_without_random_nouns() -> None:
    """It serves the controlled condition, and the random one is refused with the way out."""
    bare = replace(BANK, random_nouns=())
    assert len(choice_sets([bare], conditions=["controlled"])) == 5
    with pytest.raises(InputError, match=r"\[E443\](?s:.*)draw them"):
        choice_sets([bare])


def test_a_control_has_one_sense_and_no_distractor() -> None:
    """It is in the random conditions alone, and says so; without the mark an empty distractor is an error."""
    tokens = ["He", "cut", "the", "aubergine", "into", "slices", "."]
    made = SynonymItem.from_tokens("1", tokens, 3, synonym="eggplant", distractor="marrow")
    control = replace(made, distractor="", n_senses=1, random_nouns=("bridge", "pencil"))
    sets = choice_sets([control])
    assert {item.conditions["condition"] for item in sets} == {"random", "correct_vs_random"}
    assert {item.conditions["senses"] for item in sets} == {"one"}
    assert [line.flag for line in suite_lines([control], synonymy_templates()[0])] == [2, 0, 0]
    with pytest.raises(InputError, match="is a control without"):
        control.words("controlled")
    with pytest.raises(InputError, match="three different words"):
        replace(made, distractor="")


def test_verbs_have_no_reference_suite() -> None:
    """*This* goes before a noun: with a verb among the items the suite is left out, with the reason."""
    verb = SynonymItem.from_tokens("1", ["They", "draw", "boats", "."], 1, synonym="sketch", distractor="attract")
    verb = replace(verb, pos="v", random_nouns=("boil",))
    sets = choice_sets([verb])
    assert {item.conditions["suite"] for item in sets} == {"substitution", "relation", "relation_no_context"}
    assert {item.usages[0].pos for item in sets} == {"VERB"}
    fitting, reasons = fitting_templates([verb, replace(verb, pos="n")], synonymy_templates())
    assert {template.name for template in synonymy_templates()} - {template.name for template in fitting} == {"T13"}
    assert list(reasons) == ["The suite reference"]


def test_plurals_of_an_item() -> None:
    """Words are plural by the lemmas of the item, by the list, or because the item says so."""
    reference = BY_NAME["T13"]
    shoes = replace(TENT, synset=("awning",), plurals=("gate",))
    assert realise_text(shoes, reference, "awnings").text.endswith("These awnings")
    assert realise_text(shoes, reference, "awning").text.endswith("This awning")
    assert realise_text(shoes, reference, "gate").text.endswith("These gate")
    assert realise_text(shoes, reference, "gate", mode="published").text.endswith("This gate")


def test_what_is_no_item_is_refused() -> None:
    """Two equal words, a span that does not cover the target, a position without a token."""
    with pytest.raises(InputError, match=r"item '7': \[E441\]"):
        replace(BANK, distractor="Shore")
    with pytest.raises(InputError, match="E441"):
        replace(BANK, synonym=" ")
    with pytest.raises(SpanError, match="E101"):
        replace(BANK, start=BANK.start + 1)
    with pytest.raises(InputError, match="E442"):
        token_span(["a", "b"], 2)


def test_tokens_and_position() -> None:
    """The span of a tokenised sentence and its tokens are the same place."""
    assert BANK.tokens[BANK.position] == "bank"
    assert token_span(BANK.tokens, BANK.position) == (BANK.start, BANK.end)


def test_templates_are_in_the_language_of_the_items() -> None:
    """English words around a Spanish one are refused; substitution has no words of its own."""
    spanish = replace(BANK, language="es")
    with pytest.raises(InputError, match=r"item '7': \[E454\](?s:.*)suite substitution alone"):
        choice_sets([spanish])
    assert len(choice_sets([spanish], suites=["substitution"])) == 2
    assert len(choice_sets([replace(BANK, language="en-GB")])) == 16
    own = Template("O", "relation", "{context} {Target} significa {word}.", "significa", language="es")
    assert len(choice_sets([spanish], [own])) == 2


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


def test_texts_that_were_made_before_are_those_of_the_same_item_template_and_mode_only() -> None:
    """Choice sets are made again from what was made: another mode, plural, article or pattern has texts of its own."""
    template = BY_NAME["T13"]

    def texts(item: SynonymItem, *, of: Template = template, mode: Mode = "clean") -> list[str]:
        (made,) = choice_sets([item], [of], conditions=["controlled"], mode=mode)
        return [usage.text for usage in made.usages]

    first = texts(TENT)
    assert first == ["She put a tent up; it held. This awning", "She put a tent up; it held. This tabernacle"]
    assert texts(TENT, mode="published")[0] == "She put an tent up; it held. This awning"
    assert texts(replace(TENT, plurals=("awning",)))[0] == "She put a tent up; it held. These awning"
    turned = replace(template, pattern="{context} Here: {word}")
    assert texts(TENT, of=turned)[0] == "She put a tent up; it held. Here: awning"
    assert texts(TENT) == first
