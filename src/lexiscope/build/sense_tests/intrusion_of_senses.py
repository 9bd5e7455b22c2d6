"""Word-intrusion items from the vectors of induced senses: neighbours found, intruders drawn, what fails listed.

*Source:* GASI §4.1. The words beside a frequent word are mostly rarer than it: of the ten nearest neighbours of its
other senses few are about as frequent as the word, often none. The search therefore goes on down the neighbours of each
other sense, as far as ``depth``, until it has ``pool`` words that fit; each item says how far (``intruder_rank``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lexiscope.build.sense_tests.intrusion import Match, SenseNeighbours, make_intrusion_items
from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.settings import option
from lexiscope.items.tables.left_out import LeftOut
from lexiscope.senses.induced_senses import InducedSenses
from lexiscope.senses.near_words import near_words, word_counts_of

UNKNOWN = "out of the vocabulary of these vectors"
ONE_SENSE = "it has one sense, and intruders come from another one"


@dataclass(frozen=True, slots=True)
class IntrusionRules:
    """How word-intrusion items are made.

    One word of a page is the intruder. A word that is as near to the sense as to the other one, by rank, is none.
    """

    n_words: int = option(10, "words of a page", flag="--page-words", least=3)
    n_intruders: int = option(3, "pages of a sense", flag="--intruders", least=1)
    band: float = option(
        3.0, "an intruder is at most so many times as frequent, or as rare, as what --match names", least=1
    )
    match: Match = option(
        "word",
        "what an intruder is as frequent as: the word, as in the paper, or the neighbours, the words of the page, "
        "among which a frequent word would be noticed",
    )
    pool: int = option(10, "drawn among so many of each other sense", least=1)
    depth: int = option(500, "neighbours of a sense that are searched", least=1)
    apart: int = option(50, "own neighbours that are no intruders", least=1)
    min_count: int = option(0, "neighbours occur so often at least in the text of the training", least=0)


@dataclass(frozen=True, slots=True)
class BuiltIntrusion:
    """The items, and the words and senses for which there are none, with the reason."""

    items: tuple[Item, ...]
    left_out: tuple[LeftOut, ...]


def build_intrusion(
    senses: InducedSenses,
    words: Sequence[str],
    *,
    dataset: str,
    seed: int,
    rules: IntrusionRules | None = None,
    frequencies: Mapping[str, float] | None = None,
    model: str = "",
    revision: str = "",
    language: str = "und",
) -> BuiltIntrusion:
    """Return the items of every sense of the *words*, in their order, as :func:`make_intrusion_items` makes them.

    Without *frequencies* (counts or shares by word) those of the vectors are taken. A word out of the vocabulary or
    with one sense, and a sense with too few possible intruders, is left out with its reason. The same vectors, words,
    rules and seed give the same items; leaving words out changes no others. *model* names the model in ids and
    conditions, *revision* its state.
    Errors: :class:`InputError` for a word given twice, rules that fit together nowhere, and vectors that know no
    frequencies where none are given.

    >>> import numpy as np
    >>> vectors = np.array([[1, 0], [0, 1], [0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.2, 0.8]], dtype=np.float32)
    >>> words = ("bank", "shore", "river", "loan", "cash")
    >>> owners, numbers, counts = np.array([0, 0, 1, 2, 3, 4]), np.array([0, 1, 0, 0, 0, 0]), np.array([9, 8, 8, 8, 8])
    >>> senses = InducedSenses(words, vectors, np.arange(6), owners, numbers, 2, counts=counts)
    >>> rules = IntrusionRules(n_words=3, n_intruders=1, depth=3, apart=3)
    >>> found = build_intrusion(senses, ["bank", "toad"], dataset="d", seed=1, rules=rules)
    >>> [item.gold for item in found.items], found.left_out[-1].why  # each is the one word that is not near
    (['loan', 'shore'], 'out of the vocabulary of these vectors')
    """
    rules = rules or IntrusionRules()
    _check(words, rules)
    known = frequencies if frequencies is not None else word_counts_of(senses)
    near = neighbours_of_words(senses, words, rules.depth, min_count=rules.min_count)
    made: list[Item] = []
    left_out: list[LeftOut] = []
    for word in words:
        found = near.get(word, ())
        if len(found) < 2:
            left_out.append(LeftOut(word, ONE_SENSE if found else UNKNOWN))
            continue
        for sense in found:
            try:
                made += make_intrusion_items(
                    found,
                    known,
                    dataset=dataset,
                    seed=seed,
                    model=model,
                    n_words=rules.n_words,
                    n_intruders=rules.n_intruders,
                    band=rules.band,
                    match=rules.match,
                    pool=rules.pool,
                    apart=rules.apart,
                    of=[sense.sense],
                    language=language,
                )
            except InputError as error:
                left_out.append(LeftOut(word, error.what.partition(": ")[2], sense.sense))
    named = {"revision": revision} if revision else {}
    items = tuple(replace(item, conditions={**item.conditions, **named}) for item in made)
    return BuiltIntrusion(items, tuple(left_out))


def most_frequent_found(items: Sequence[Item], frequencies: Mapping[str, float]) -> float:
    """Return the share of pages on which the intruder is more frequent than every other word.

    An intruder is about as frequent as the word, its neighbours need not be: who looks for the most common word finds
    so many intruders without reading. *Unit:* share, 0 to 1; chance is one in the words of a page.

    >>> item = Item("i", "d", (), ("river", "shore", "loan"), "loan")
    >>> most_frequent_found([item], {"river": 3, "shore": 4, "loan": 9})
    1.0
    """
    hits = [
        all(
            frequencies.get(item.gold or "", 0.0) > frequencies.get(word, 0.0)
            for word in item.options
            if word != item.gold
        )
        for item in items
    ]
    return sum(hits) / len(hits)


def ranks_of_intruders(items: Sequence[Item]) -> tuple[float, int]:
    """Return the median and the largest rank of the intruders among the neighbours of the sense they come from.

    The deeper the search had to go for a word within the band of frequency, the less an intruder says of another
    sense. *Unit:* rank, 1 = nearest.

    >>> items = [Item(f"{rank}", "d", (), conditions={"intruder_rank": rank}) for rank in (2, 9, 400)]
    >>> ranks_of_intruders(items)
    (9.0, 400)
    """
    ranks = [int(item.condition("intruder_rank")) for item in items]
    return float(np.median(ranks)), max(ranks)


def neighbours_of_words(
    senses: InducedSenses, words: Sequence[str], n: int, *, min_count: int = 0
) -> dict[str, tuple[SenseNeighbours, ...]]:
    """Return the senses of each known word with their *n* nearest words, all found in one search.

    Ids of senses count from 1, as in the vectors that ``lexiscope train gasi_export`` writes.
    """
    rows = [(word, row) for word in words if word in senses.index for row in senses.of(word)]
    if not rows:
        return {}
    owners = [word for word, _ in rows]
    found = near_words(senses, senses.vectors([row for _, row in rows]), n, without=owners, min_count=min_count)
    by_word: dict[str, tuple[SenseNeighbours, ...]] = {}
    for (word, row), near in zip(rows, found, strict=True):
        sense = SenseNeighbours(word, str(int(senses.numbers[row]) + 1), tuple(each.word for each in near))
        by_word[word] = (*by_word.get(word, ()), sense)
    return by_word


def _check(words: Sequence[str], rules: IntrusionRules) -> None:
    twice = [word for number, word in enumerate(words) if word in words[:number]]
    if twice:
        raise InputError(f"the word {twice[0]!r} is given twice", hint="give each word once")
    # no band is a number that any ratio can be compared with
    in_range = 1 <= rules.band < math.inf
    if rules.n_words < 3 or rules.n_intruders < 1 or not in_range or rules.pool < rules.n_intruders:
        what = "a page needs 3 words or more, a sense 1 intruder or more, the pool as many, and the band is 1 or more"
        raise InputError(f"{what}: {rules}")
    if rules.depth < rules.n_words or rules.apart < rules.n_words:
        what = f"a page of {rules.n_words} words needs as many neighbours: depth {rules.depth}, apart {rules.apart}"
        raise InputError(what, hint="the words on the page are never intruders")
