"""Sense-selection items from vectors: nouns and sentences chosen, groups, dummies, the model's choice, the order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from lexiscope.analysis.senses.sense_tests import ModelAnswers
from lexiscope.build.minimal_pairs.occurrences import TaggedOccurrence, corpus_occurrences
from lexiscope.build.sense_tests.intrusion import UNKNOWN
from lexiscope.build.sense_tests.polysemous_nouns import PolysemousNoun, polysemous_nouns
from lexiscope.build.sense_tests.selection_of_senses import SelectionRules, build_selection
from lexiscope.core.errors import InputError
from lexiscope.core.subject import Floats
from lexiscope.core.usage import Usage
from lexiscope.resources.corpora import semcor
from lexiscope.resources.lexicons import wordnet
from lexiscope.senses.near_words import near_words
from lexiscope.tasks.sense_choice import SCREEN, groups_of

from ...items.made_senses import TARGETS, made_senses


def choose(usages: Sequence[Usage]) -> Floats:
    """A model whose distribution depends on the sentence alone."""
    rows = np.array([np.random.default_rng(len(usage.text)).random(3) for usage in usages])
    return (rows / rows.sum(axis=1, keepdims=True)).astype(np.float32)


def nouns(*words: str, n_sentences: int = 8) -> list[PolysemousNoun]:
    return [
        PolysemousNoun(
            word,
            20 - number,
            tuple(
                (f"s{n}", Usage(f"{'so ' * n}the {word} .", 3 * n + 4, 3 * n + 4 + len(word), language="en"))
                for n in range(n_sentences)
            ),
        )
        for number, word in enumerate(words)
    ]


def test_each_question_has_the_groups_and_what_the_model_says() -> None:
    """G16: a group of the ten nearest distinct words for each sense; the model's choice is its most probable sense."""
    senses = made_senses()
    built = build_selection(senses, nouns(*TARGETS), choose, dataset="d", seed=1, model="m", revision="r")
    assert built.excluded == ()
    assert len(built.items) == 5 * len(TARGETS)
    for item in built.items:
        SCREEN.check(item)
        rows = senses.of(str(item.condition("word")))
        near = near_words(senses, senses.vectors(rows), 10, without=[str(item.condition("word"))] * 3)
        groups = groups_of(item)
        assert {str(k + 1): tuple(each.word for each in found) for k, found in enumerate(near)} == dict(groups)
        shares = choose(item.usages)[0].tolist()
        assert {str(k + 1): share for k, share in enumerate(shares)} == ModelAnswers.of([item]).probabilities[
            item.item_id
        ]
        assert item.condition("model_choice") == str(int(np.argmax(shares)) + 1)
        assert (item.condition("model"), item.condition("revision")) == ("m", "r")
    assert len({item.item_id for item in built.items}) == len(built.items)


def test_the_models_choice_stands_everywhere_equally_often() -> None:
    """The order of the options: the model's choice is in each place equally often, and the others in any order."""
    items = build_selection(made_senses(), nouns(*TARGETS), choose, dataset="d", seed=1).items
    places = Counter(item.options.index(str(item.condition("model_choice"))) for item in items)
    assert set(places.values()) == {10}
    assert len({item.options for item in items}) == 6


def test_dummies_fill_up_pruned_words_and_are_marked() -> None:
    """A word with one sense gets two dummies, one with two gets one: marked, of probability 0, never the choice."""
    senses = made_senses(pruned={"bank": 1, "bar": 2})
    items = build_selection(senses, nouns("bank", "bar", "bolt"), choose, dataset="d", seed=1).items
    dummies = {
        str(item.condition("word")): [name for name in item.conditions if name.startswith("dummy_")] for item in items
    }
    assert dummies == {"bank": ["dummy_2", "dummy_3"], "bar": ["dummy_3"], "bolt": []}
    for item in items:
        assert len(groups_of(item)) == 3
        for name in (each.removeprefix("dummy_") for each in item.conditions if each.startswith("dummy_")):
            assert item.condition(f"dummy_{name}") is True
            assert item.condition(f"p_{name}") == 0.0
            assert item.condition("model_choice") != name
    other = build_selection(senses, nouns("bank"), choose, dataset="d", seed=2).items
    assert groups_of(other[0])["2"] != groups_of(items[0])["2"], "dummies are drawn"


def test_the_first_nouns_that_can_be_made_are_taken() -> None:
    """Nouns for which it fails make room for later ones and are listed, in the order in which they were tried."""
    senses = made_senses()
    built = build_selection(
        senses,
        nouns("toad", "bank", "newt", "bar", "bolt"),
        choose,
        dataset="d",
        seed=1,
        rules=SelectionRules(n_nouns=2),
    )
    assert list(dict.fromkeys(item.condition("word") for item in built.items)) == ["bank", "bar"]
    assert [(each.word, each.why) for each in built.excluded] == [("toad", UNKNOWN), ("newt", UNKNOWN)]
    few = build_selection(senses, nouns("bank"), choose, dataset="d", seed=1, rules=SelectionRules(n_groups=2))
    assert few.excluded[0].why == "it has 3 senses, a page shows 2 groups"


def test_a_seed_fixes_sentences_and_dummies_of_a_word() -> None:
    """The same seed gives the same items; the sentences of a word do not depend on the words beside it."""
    senses = made_senses(pruned={"bank": 2})
    whole = build_selection(senses, nouns(*TARGETS), choose, dataset="d", seed=1)
    assert build_selection(senses, nouns(*TARGETS), choose, dataset="d", seed=1) == whole
    alone = build_selection(senses, nouns("bank"), choose, dataset="d", seed=1).items
    assert [item.conditions for item in alone] == [i.conditions for i in whole.items if i.condition("word") == "bank"]
    assert build_selection(senses, nouns(*TARGETS), choose, dataset="d", seed=2) != whole


def test_a_noun_with_too_few_sentences_is_listed() -> None:
    """Each noun has as many sentences as were asked for, or is left out with its reason; never fewer."""
    given = [*nouns("bank", n_sentences=3), *nouns("bar"), *nouns("bolt", n_sentences=5)]
    built = build_selection(made_senses(), given, choose, dataset="d", seed=1)
    assert Counter(item.condition("word") for item in built.items) == {"bar": 5, "bolt": 5}
    assert [(each.word, each.why) for each in built.excluded] == [("bank", "it has 3 sentences, 5 are wanted")]


def test_sentences_with_a_lost_formula_come_last() -> None:
    """``**f`` stands in SemCor where Brown had a formula: nobody can read such a sentence, so others are drawn where
    there are enough of them."""
    (noun,) = nouns("bank", n_sentences=8)

    def damaged(n: int) -> PolysemousNoun:
        lost = [(name, replace(usage, text=f"{usage.text} **f")) for name, usage in noun.sentences[:n]]
        return replace(noun, sentences=(*lost, *noun.sentences[n:]))

    for n, fewest in ((3, 0), (4, 1)):
        items = build_selection(made_senses(), [damaged(n)], choose, dataset="d", seed=1).items
        assert len(items) == 5
        assert (sum("*" in item.usages[0].text for item in items) == 0) == (fewest == 0)


def test_rules_below_one_are_refused() -> None:
    """A page needs two groups, a test a noun."""
    for broken in (SelectionRules(n_groups=1), SelectionRules(n_nouns=0), SelectionRules(n_sentences=0)):
        with pytest.raises(InputError, match="two groups"):
            build_selection(made_senses(), nouns("bank"), choose, dataset="d", seed=1, rules=broken)


class Counted:
    """A lexicon that knows how many senses a noun has, and nothing else."""

    def senses(self, lemma: str, pos: str) -> list[int]:
        return list(range({"bank": 10, "bar": 12, "sun": 12, "oak": 1}[lemma]))


def test_nouns_come_by_polysemy() -> None:
    """Most senses first, then by alphabet; names, other forms, verbs, rare nouns and those of one sense are out; a
    sentence counts once, its punctuation joined and the span moved along."""

    def uses(word: str, n: int, *, form: str = "", pos: str = "n", is_name: bool = False) -> list[TaggedOccurrence]:
        form, kinds = form or word, {"pos": pos, "is_name": is_name, "senses": ("k",), "n_tokens": 5}
        texts = [(f"{word}{k}", f"s{k}", f"no {k} , {form} .") for k in range(n)]
        return [TaggedOccurrence(*names, 7, 7 + len(form), word, **kinds) for names in texts]  # type: ignore[arg-type]

    every = [*uses("bank", 3), *uses("sun", 3), *uses("bar", 3), *uses("bar", 3), *uses("oak", 9), *uses("tree", 2)]
    every += [*uses("group", 9, is_name=True), *uses("bank", 9, form="banks"), *uses("go", 9, pos="v")]
    found = polysemous_nouns(
        every,
        Counted(),  # type: ignore[arg-type]
        min_sentences=3,
    )
    assert [(each.word, each.n_senses, len(each.sentences)) for each in found] == [
        ("bar", 12, 3),
        ("sun", 12, 3),
        ("bank", 10, 3),
    ]
    usage = found[0].sentences[1][1]
    assert (usage.text, usage.target, usage.lemma) == ("no 1, bar.", "bar", "bar")


@pytest.mark.published
def test_the_fifty_nouns_of_semcor(published: object) -> None:
    """SemCor and WordNet give far more than fifty nouns; the first have as many senses as WordNet prints."""
    found = polysemous_nouns(corpus_occurrences(semcor.load(), "n"), wordnet.load())
    assert len(found) > 500
    assert [(each.word, each.n_senses) for each in found[:3]] == [("head", 33), ("line", 30), ("point", 26)]
    assert all(len(each.sentences) >= 10 for each in found)
    # the fiftieth of the list is one of many with twelve senses: the alphabet decides
    assert (found[49].n_senses, found[50].n_senses) == (12, 12)
    assert found[49].word < found[50].word
