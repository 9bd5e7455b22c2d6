"""Sense-selection items from the vectors of induced senses: a sentence, and a group of words for each sense.

*Source:* GASI §4.2. A word whose senses were pruned has fewer than a page shows: it is filled up with dummies, groups
of the words nearest to a vector that is drawn at random, marked ``dummy_<sense>`` and never the model's choice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice
from typing import Annotated

import numpy as np

from lexiscope.build.sense_tests.intrusion import UNKNOWN, MadeTest, neighbours_of_words
from lexiscope.build.sense_tests.polysemous_nouns import PolysemousNoun
from lexiscope.core.errors import InputError
from lexiscope.core.item import Condition, Item
from lexiscope.core.settings import Option, option
from lexiscope.core.subject import Floats
from lexiscope.core.usage import Usage
from lexiscope.items.draws import generator_of
from lexiscope.items.tables.findings import ExcludedEntry
from lexiscope.senses.induced_senses import InducedSenses
from lexiscope.senses.near_words import near_words

_GAP = "*"

Groups = Mapping[str, tuple[str, ...]]
"""The words of each sense of a word, by the sense's id."""


@dataclass(frozen=True, slots=True)
class SelectionRules:
    """How sense-selection items are made."""

    n_nouns: int = option(50, "how many nouns", flag="--nouns", least=1)
    n_sentences: int = option(5, "sentences of each noun", flag="--sentences", least=1)
    n_groups: int = option(3, "groups of a page", flag="--groups", least=2)
    n_words: int = option(10, "words of a group", flag="--group-words", least=1)
    min_count: int = option(0, "neighbours occur so often at least in the text of the training", least=0)


def build_selection(
    senses: InducedSenses,
    nouns: Sequence[PolysemousNoun],
    choose: Callable[[Sequence[Usage]], Floats],
    *,
    dataset: str,
    seed: Annotated[int, Option("seed of all draws", least=0)] = 0,
    rules: SelectionRules | None = None,
    model: str = "",
    revision: str = "",
) -> MadeTest:
    """Return the items of the first nouns for which they can be made, in the order of *nouns*.

    *choose* gives the model's distribution over its senses (a subject's ``sense_distribution``); what it says is in
    each item as ``model_choice`` and ``p_<sense>``, the ids of senses counting from 1. ``options`` have the senses in
    an order in which the model's choice is in each place equally often, plus or minus one. *model* names the model
    in ids and conditions, *revision* its state: a sense embedding answers with its own probabilities only items of the
    same revision. The same input and seed give the same items.
    Errors: :class:`InputError` for rules below 1 or fewer than two groups; those of *choose*.
    """
    rules = rules or SelectionRules()
    if min(rules.n_nouns, rules.n_sentences, rules.n_words) < 1 or rules.n_groups < 2:
        raise InputError(f"a page needs two groups of one word at least, and a test a noun with a sentence: {rules}")
    excluded: list[ExcludedEntry] = []
    groups: dict[str, Groups] = {}
    waiting = iter(nouns)
    # as many nouns at a time as are still missing: the search for neighbours is what takes long
    while batch := list(islice(waiting, rules.n_nouns - len(groups))):
        outcomes = _groups_of(batch, senses, rules)
        excluded += [outcome for outcome in outcomes.values() if isinstance(outcome, ExcludedEntry)]
        groups |= {word: outcome for word, outcome in outcomes.items() if not isinstance(outcome, ExcludedEntry)}
    questions = [
        (noun, sentence_id, usage)
        for noun in nouns
        if noun.word in groups
        for sentence_id, usage in _draw_sentences(noun, rules.n_sentences, seed)
    ]
    shares = choose([usage for _, _, usage in questions]) if questions else ()
    filled = _dummy_groups(groups, senses, rules, seed)
    named: dict[str, Condition] = {key: value for key, value in (("model", model), ("revision", revision)) if value}
    items = [
        _item(question, groups[question[0].word], filled[question[0].word], row, dataset, named)
        for question, row in zip(questions, shares, strict=True)
    ]
    return MadeTest(_order_options(items, seed), tuple(excluded))


def _groups_of(
    nouns: Sequence[PolysemousNoun], senses: InducedSenses, rules: SelectionRules
) -> dict[str, Groups | ExcludedEntry]:
    """The groups of words of each noun's senses, or why it has none."""
    sizes = {noun.word: len(senses.of(noun.word)) for noun in nouns if noun.word in senses.index}
    searched = [word for word, size in sizes.items() if size <= rules.n_groups]
    near = neighbours_of_words(senses, searched, rules.n_words, min_count=rules.min_count)
    outcomes: dict[str, Groups | ExcludedEntry] = {}
    for word, n_sentences in ((noun.word, len(noun.sentences)) for noun in nouns):
        groups = {sense.sense: sense.neighbours for sense in near.get(word, ())}
        if word not in sizes:
            outcomes[word] = ExcludedEntry(word, UNKNOWN)
        elif n_sentences < rules.n_sentences:
            outcomes[word] = ExcludedEntry(word, f"it has {n_sentences} sentences, {rules.n_sentences} are wanted")
        elif sizes[word] > rules.n_groups:
            outcomes[word] = ExcludedEntry(word, f"it has {sizes[word]} senses, a page shows {rules.n_groups} groups")
        elif any(len(words_of) < rules.n_words for words_of in groups.values()):
            outcomes[word] = ExcludedEntry(word, f"a sense has fewer than {rules.n_words} neighbours")
        elif len({frozenset(words_of) for words_of in groups.values()}) < len(groups):
            outcomes[word] = ExcludedEntry(word, "two of its senses have the same neighbours: prune the vectors")
        else:
            outcomes[word] = groups
    return outcomes


def _draw_sentences(noun: PolysemousNoun, n: int, seed: int) -> list[tuple[str, Usage]]:
    """Sentences of a noun, in the order of the corpus; who draws does not depend on the other nouns.

    A sentence with an asterisk, which in Brown and SemCor is where a formula was, is drawn only where the others
    do not suffice.
    """
    generator = generator_of(seed, noun.word, "sentences")
    whole = [place for place, (_, usage) in enumerate(noun.sentences) if _GAP not in usage.text]
    possible = whole if len(whole) >= n else range(len(noun.sentences))
    chosen = generator.choice(np.asarray(possible), size=n, replace=False)
    return [noun.sentences[place] for place in sorted(chosen.tolist())]


def _dummy_groups(
    groups: Mapping[str, Groups], senses: InducedSenses, rules: SelectionRules, seed: int
) -> dict[str, dict[str, tuple[str, ...]]]:
    """The dummies that fill up the groups of each word: the nearest words of vectors drawn at random."""
    missing = [(word, rules.n_groups - len(of_word)) for word, of_word in groups.items()]
    words = [word for word, n in missing for _ in range(n)]
    filled: dict[str, dict[str, tuple[str, ...]]] = {word: {} for word in groups}
    if not words:
        return filled
    width = senses.matrix.shape[1]
    drawn = [generator_of(seed, word, "dummies").standard_normal((n, width)) for word, n in missing]
    vectors = np.concatenate(drawn).astype(np.float32)
    # all of them in one search, which is what takes long
    nearest = near_words(senses, vectors, rules.n_words, without=words, min_count=rules.min_count)
    for word, near in zip(words, nearest, strict=True):
        free = next(str(number) for number in count(1) if str(number) not in {*groups[word], *filled[word]})
        filled[word][free] = tuple(neighbour.word for neighbour in near)
    return filled


def _item(
    question: tuple[PolysemousNoun, str, Usage],
    groups: Groups,
    dummies: Groups,
    shares: Floats,
    dataset: str,
    named: Mapping[str, Condition],
) -> Item:
    noun, sentence_id, usage = question
    probable = {sense: float(shares[int(sense) - 1]) for sense in groups} | dict.fromkeys(dummies, 0.0)
    # a dummy is no choice of the model's, even where its word's senses are all improbable
    chosen = max(groups, key=lambda sense: (probable[sense], -int(sense)))
    known: dict[str, Condition] = {
        "word": noun.word,
        "sentence_id": sentence_id,
        "lexicon_senses": noun.n_senses,
        "model_choice": chosen,
    }
    shown: dict[str, Condition] = {}
    every = {**groups, **dummies}
    for sense in sorted(every, key=int):
        shown |= {f"group_{sense}": "|".join(every[sense]), f"p_{sense}": probable[sense]}
        shown |= {f"dummy_{sense}": True} if sense in dummies else {}
    item_id = "/".join([*([str(named["model"])] if "model" in named else []), noun.word, sentence_id])
    return Item(item_id, dataset, (usage,), tuple(sorted(every, key=int)), conditions={**named, **known, **shown})


def _order_options(items: Sequence[Item], seed: int) -> tuple[Item, ...]:
    """The same items, the model's choice in each place equally often; the other groups are in an order drawn."""
    generator = generator_of(seed, "", "order")
    n_groups = len(items[0].options) if items else 1
    places = generator.permutation(np.resize(np.arange(n_groups), len(items))).tolist()
    ordered = []
    for item, place in zip(items, places, strict=True):
        chosen = str(item.condition("model_choice"))
        others = [sense for sense in item.options if sense != chosen]
        order = [others[number] for number in generator.permutation(len(others)).tolist()]
        options = (*order[:place], chosen, *order[place:])
        ordered.append(replace(item, options=options))
    return tuple(ordered)
