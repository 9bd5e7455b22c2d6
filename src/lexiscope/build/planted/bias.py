"""Planted bias: pairs of usages in which we decide what part of the input tells the answer.

The words are nonsense; every sentence says when and where (four contexts in all). What a word means depends on the
place (*place words*), on the time (*time words*), on nothing (*constant words*: always the same meaning), or it changes
each time (*shifting words*: never the same). Two contexts *tell* where place and time change together, or both stay;
where only one of them changes they are *mute*: then the word decides what the change means. So of an item

- with a telling context, the context alone gives the answer (the words used there agree with it);
- with a constant or shifting word, the word alone gives it;
- with neither, only both together do: place word and same place, or time word and same time, mean *t*. Given the word
  alone, or the context alone, *t* and *f* are equally frequent: an exclusive or.

A share of the items, the *context sufficiency*, has a telling context, and independently a share, the *word
sufficiency*, a telling word. An ideal learner then reaches 1 on the whole input, ½ + c/2 on the context, ½ + w/2 on the
word, and ½ on nothing: its context bias is c and its word bias is w. A measure of biases can be tried on it.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.items.answers.sense_options import DIFFERENT, SAME
from lexiscope.items.arrange.views import view_item

TIMES = ("noon", "midnight")
PLACES = ("kitchen", "harbour")

# the two usages have a frame each: where time and place stay, the sentences would else be one and the same
_FRAMES = (("At {time} the ", " was in the {place}."), ("The ", " was seen in the {place} at {time}."))

_ONSETS, _VOWELS, _ENDS = "bdfgklmnprstvz", "aeiou", ("lk", "sp", "lb", "zk")
_MOST_WORDS = 2000
# what a word does: the two telling kinds, then the two whose meaning hangs on the context
_CONSTANT, _SHIFTING, _PLACE, _TIME = "constant", "shifting", "place", "time"


@dataclass(frozen=True, slots=True)
class Dials:
    """How much each part of the input tells, and how many words and items there are.

    ``context_sufficiency`` and ``word_sufficiency`` are shares of items, 0 to 1. ``splits`` are names and sizes. The
    same words and contexts are in all splits: what a nonsense word does can only be learnt from that word.

    Errors: :class:`InputError` for a share outside 0 to 1, an odd number of words or fewer than 4 (or
    more than 2,000), and an empty split.
    """

    context_sufficiency: float = 0.6
    word_sufficiency: float = 0.3
    n_words: int = 48
    splits: tuple[tuple[str, int], ...] = (("train", 2400), ("dev", 400), ("test", 1000))
    seed: int = 1

    def __post_init__(self) -> None:
        for name in ("context_sufficiency", "word_sufficiency"):
            share = getattr(self, name)
            if not 0 <= share <= 1:
                raise InputError(f"{name} is a share of items from 0 to 1, not {share}")
        if not 4 <= self.n_words <= _MOST_WORDS or self.n_words % 2:
            raise InputError(f"the number of words is even, from 4 to {_MOST_WORDS}, not {self.n_words}")
        if not self.splits or any(size < 1 for _, size in self.splits):
            raise InputError("every split needs at least one item")


@dataclass(frozen=True, slots=True)
class PlantedScores:
    """What an ideal learner reaches in each view, and its biases. *Unit:* accuracy, 0 to 1."""

    full: float
    context: float
    word: float
    label: float
    context_bias: float
    word_bias: float


def expected_scores(dials: Dials) -> PlantedScores:
    """Return the closed form: with balanced answers, a part that tells a share s of the items reaches ½ + s/2.

    >>> expected_scores(Dials(context_sufficiency=0.5, word_sufficiency=0.0))
    PlantedScores(full=1.0, context=0.75, word=0.5, label=0.5, context_bias=0.5, word_bias=0.0)
    """
    c, w = dials.context_sufficiency, dials.word_sufficiency
    return PlantedScores(1.0, (1 + c) / 2, (1 + w) / 2, 0.5, c, w)


def planted_items(dials: Dials, *, dataset: str = "planted_bias") -> tuple[Item, ...]:
    """Return the items of all splits, tasks ``same_sense``: two usages, gold ``t`` or ``f``.

    Conditions: ``split``; ``context_tells`` and ``word_tells`` say which part gives the answer. Shares are exact up to
    one item, the answers of each split are balanced up to one item, and all combinations are used equally often.

    >>> item = planted_items(Dials(splits=(("test", 4),)))[0]
    >>> [usage.text for usage in item.usages], item.gold
    (['At midnight the mululb was in the harbour.', 'The mululb was seen in the kitchen at midnight.'], 'f')
    """
    rng = random.Random(dials.seed)
    roles = _roles(dials, _words(dials.n_words, rng))
    return tuple(item for split, size in dials.splits for item in _split(dataset, split, size, dials, roles, rng))


def count_answers(train: Sequence[Item], test: Sequence[Item], view: str) -> tuple[str, ...]:
    """Return the answers of a learner that counts: the most frequent gold of the same texts in *train*.

    It sees what the view shows and nothing else. What it did not see in training gets the most frequent gold of all;
    ties are *t*. On planted items it is the ideal learner, as far as training holds every combination.

    >>> def item(text, gold):
    ...     return Item(text, "d", (Usage(text, 0, 3), Usage(text, 0, 3)), gold=gold)
    >>> train = [item("ban here", "f"), item("ban there", "f"), item("dor here", "t")]
    >>> count_answers(train, [item("ban now", "t")], "word")
    ('f',)

    Errors: :class:`InputError` where an item of *train* has no gold, or there is none.
    """
    seen: dict[tuple[str, ...], Counter[str]] = {}
    overall: Counter[str] = Counter()
    for item in train:
        if item.gold is None:
            raise InputError(f"the item {item.item_id} has no gold answer, so a model cannot learn from it")
        seen.setdefault(texts_of(item, view), Counter())[item.gold] += 1
        overall[item.gold] += 1
    if not overall:
        raise InputError("a learner needs items to learn from")
    return tuple(_most_frequent(seen.get(texts_of(item, view), overall)) for item in test)


def texts_of(item: Item, view: str) -> tuple[str, ...]:
    """Return the texts that a view shows of an item: all that the learner that counts sees."""
    return tuple(usage.text for usage in view_item(item, view).usages)


def _most_frequent(counts: Counter[str]) -> str:
    # t sorts after f: of equals it is the larger one
    return max(counts, key=lambda answer: (counts[answer], answer))


def _words(count: int, rng: random.Random) -> list[str]:
    """Nonsense words of two syllables, no two alike; with these endings none of them is an entry of WordNet 3.0."""
    words: dict[str, None] = {}
    while len(words) < count:
        first, second = rng.choice(_ONSETS) + rng.choice(_VOWELS), rng.choice(_ONSETS) + rng.choice(_VOWELS)
        words[first + second + rng.choice(_ENDS)] = None
    return list(words)


def _roles(dials: Dials, words: Sequence[str]) -> dict[str, list[str]]:
    """Divide the words among the four roles, telling and other ones in the proportion of their items, at least two."""
    share, total = dials.word_sufficiency, len(words)
    telling = 2 * round(share * total / 2)
    if share > 0:
        telling = max(telling, 2)
    if share < 1:
        telling = min(telling, total - 2)
    return {
        _CONSTANT: list(words[: telling // 2]),
        _SHIFTING: list(words[telling // 2 : telling]),
        _PLACE: list(words[telling : (telling + total) // 2]),
        _TIME: list(words[(telling + total) // 2 :]),
    }


@dataclass(frozen=True, slots=True)
class _PlantedKind:
    """One kind of item: what tells, what the word does, whether the place stays, and the correct answer."""

    context_tells: bool
    role: str
    same_place: bool
    gold: str


def _item_kinds(context_tells: bool, word_tells: bool) -> list[_PlantedKind]:
    """The kinds of item of one cell, answers in turn, so that any number of them is balanced."""
    made = [
        _PlantedKind(context_tells, role, same_place, _gold_answer(role, same_place, context_tells))
        for role, same_place in itertools.product(
            (_CONSTANT, _SHIFTING) if word_tells else (_PLACE, _TIME), (True, False)
        )
    ]
    if context_tells and word_tells:
        # a telling context never contradicts a telling word
        made = [kind for kind in made if kind.same_place == (kind.gold == SAME)]
    yes, no = ([kind for kind in made if kind.gold == answer] for answer in (SAME, DIFFERENT))
    return [kind for pair in zip(yes, no, strict=True) for kind in pair]


def _gold_answer(role: str, same_place: bool, context_tells: bool) -> str:
    if role in (_CONSTANT, _SHIFTING):
        return SAME if role == _CONSTANT else DIFFERENT
    # where the context tells, time goes with place; where it is mute, time does the opposite
    same_time = same_place if context_tells else not same_place
    return SAME if (same_place if role == _PLACE else same_time) else DIFFERENT


def _sizes(size: int, dials: Dials) -> dict[tuple[bool, bool], int]:
    """How many items have (a telling context, a telling word): the two shares are independent."""
    context, word = round(size * dials.context_sufficiency), round(size * dials.word_sufficiency)
    both = round(size * dials.context_sufficiency * dials.word_sufficiency)
    both = min(max(both, context + word - size), context, word)
    neither = size - context - word + both
    return {(True, True): both, (True, False): context - both, (False, True): word - both, (False, False): neither}


def _split(
    dataset: str, split: str, size: int, dials: Dials, roles: dict[str, list[str]], rng: random.Random
) -> Iterator[Item]:
    made: list[tuple[_PlantedKind, str, int, int]] = []
    odd = 0
    for (context_tells, word_tells), count in _sizes(size, dials).items():
        kinds = _item_kinds(context_tells, word_tells)
        streams = {kind: _stream(roles[kind.role], rng) for kind in kinds}
        # where a cell has an odd number of items, the next such cell begins with the other answer
        for number in range(odd, odd + count):
            kind = kinds[number % len(kinds)]
            made.append((kind, *next(streams[kind])))
        odd = (odd + count) % 2
    rng.shuffle(made)
    for number, (kind, word, time, place) in enumerate(made, start=1):
        yield _item(f"{dataset}/{split}/{number}", dataset, split, kind, word, time, place)


def _stream(words: Sequence[str], rng: random.Random) -> Iterator[tuple[str, int, int]]:
    """Word, time and place of the first usage: all combinations in random order, again and again."""
    combinations = list(itertools.product(words, (0, 1), (0, 1)))
    while combinations:
        rng.shuffle(combinations)
        yield from combinations


def _item(item_id: str, dataset: str, split: str, kind: _PlantedKind, word: str, time: int, place: int) -> Item:
    same_time = kind.same_place if kind.context_tells else not kind.same_place
    second = (time if same_time else 1 - time, place if kind.same_place else 1 - place)
    usages = (_usage(_FRAMES[0], word, time, place), _usage(_FRAMES[1], word, *second))
    tells = {"context_tells": kind.context_tells, "word_tells": kind.role in (_CONSTANT, _SHIFTING)}
    return Item(item_id, dataset, usages, gold=kind.gold, conditions={"split": split, **tells})


def _usage(frame: tuple[str, str], word: str, time: int, place: int) -> Usage:
    head, tail = (part.format(time=TIMES[time], place=PLACES[place]) for part in frame)
    return Usage(f"{head}{word}{tail}", len(head), len(head) + len(word), lemma=word, pos="NOUN", language="en")
