"""A pool of homonyms with two meanings each, made of the meanings of puns: what people write ambiguous sentences for.

AmbiStory §3.1: of the puns of SemEval-2017 task 7, pairs of senses of different parts of speech and senses that belong
to a verb with its particle were dropped; 729 pairs were left. The paper names these two filters; those before and after
them are ours, and every filter counts what goes in and comes out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.items.text_rules import word_spans
from lexiscope.resources.lexicons.lexicon import LexicalSense, Lexicon
from lexiscope.resources.lexicons.pun_senses import PunSenses

CONDITIONS = ("sense_1", "example_1", "sense_2", "example_2")
"""What an item of the pool has: both meanings, and a sentence that shows each (empty where the lexicon has none)."""

KNOWN = "both meanings have a sense in the lexicon"
SAME_POS = "both meanings are of one part of speech"
NO_PARTICLE = "neither meaning is bound to a particle or another word"
DIFFERENT = "the two meanings are two synsets"
NOT_TWICE = "the word has not this pair of meanings already"
FILTERS = (KNOWN, SAME_POS, NO_PARTICLE, DIFFERENT, NOT_TWICE)
"""The filters in the order in which they are applied."""


@dataclass(frozen=True, slots=True)
class PoolStep:
    """How many pairs a filter was given, and how many it left."""

    rule: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class HomonymPool:
    """The items of the pool, and the filters that made it."""

    items: tuple[Item, ...]
    steps: tuple[PoolStep, ...]


@dataclass(frozen=True, slots=True)
class _Pair:
    form: str
    senses: tuple[LexicalSense | None, LexicalSense | None]

    @property
    def both(self) -> tuple[LexicalSense, LexicalSense]:
        first, second = self.senses
        assert first is not None
        assert second is not None
        return first, second


def homonym_pool(puns: Sequence[PunSenses], lexicon: Lexicon, *, dataset: str = "homonym_pool") -> HomonymPool:
    """Return the pool that puns make: items for ``ambiguous_sentence``, and the count of every filter.

    Of several senses of a meaning, the first that the lexicon has is taken.
    """
    pairs = [_pair(pun, lexicon) for pun in puns]
    steps = []
    for rule in FILTERS:
        kept = _distinct(pairs) if rule == NOT_TWICE else [pair for pair in pairs if _TESTS[rule](pair)]
        steps.append(PoolStep(rule, len(pairs), len(kept)))
        pairs = kept
    numbers: dict[str, int] = {}
    items = []
    for pair in pairs:
        numbers[pair.form] = numbers.get(pair.form, 0) + 1
        items.append(_item(pair, numbers[pair.form], lexicon, dataset))
    return HomonymPool(tuple(items), tuple(steps))


def _pair(pun: PunSenses, lexicon: Lexicon) -> _Pair:
    senses = (next(filter(None, map(lexicon.find_sense, keys)), None) for keys in pun.meanings)
    first, second = senses
    lemma = first.lemma if first is not None else pun.form
    # a word at the head of its pun is capitalised there, and nowhere else
    form = pun.form if lemma != lemma.lower() else pun.form.lower()
    return _Pair(form, (first, second))


def _is_free(pair: _Pair) -> bool:
    """Whether no meaning belongs to more words than the form has: *draw up* is not a meaning of *draw*."""
    words = len(pair.form.replace("_", " ").split())
    return all(len(sense.lemma.replace("_", " ").split()) <= words for sense in pair.both)


_TESTS: dict[str, Callable[[_Pair], bool]] = {
    KNOWN: lambda pair: None not in pair.senses,
    SAME_POS: lambda pair: pair.both[0].pos == pair.both[1].pos,
    NO_PARTICLE: _is_free,
    DIFFERENT: lambda pair: pair.both[0].synset_id != pair.both[1].synset_id,
}


def _distinct(pairs: Sequence[_Pair]) -> list[_Pair]:
    distinct: dict[tuple[str, frozenset[str]], _Pair] = {}
    for pair in pairs:
        distinct.setdefault((pair.form, frozenset(sense.synset_id for sense in pair.both)), pair)
    return list(distinct.values())


def _item(pair: _Pair, number: int, lexicon: Lexicon, dataset: str) -> Item:
    first, second = pair.both
    texts = [_meaning(sense, pair.form, lexicon) for sense in (first, second)]
    conditions = dict(zip(CONDITIONS, (*texts[0], *texts[1]), strict=True))
    usage = Usage(pair.form, 0, len(pair.form), lemma=first.lemma.replace("_", " "), language=lexicon.language)
    return Item(f"{pair.form.replace(' ', '_')}-{number}", dataset, (usage,), conditions=conditions)


def _meaning(sense: LexicalSense, form: str, lexicon: Lexicon) -> tuple[str, str]:
    """Return the definition of a sense, and the first example of its synset that has the form."""
    synset = lexicon.synset(sense.synset_id)
    return synset.gloss, next((example for example in synset.examples if word_spans(example, form)), "")


def with_examples(items: Sequence[Item], examples: Mapping[tuple[str, str], str]) -> tuple[Item, ...]:
    """Return items of the pool with these examples, by item id and meaning (``1``, ``2``), in the place of theirs."""
    made = []
    for item in items:
        own = {f"example_{which}": text for (item_id, which), text in examples.items() if item_id == item.item_id}
        made.append(replace(item, conditions=dict(item.conditions) | own))
    return tuple(made)
