"""Word-intrusion items from the vectors of induced senses: neighbours found, intruders drawn, what fails listed.

*Source:* GASI §4.1. The neighbours of a frequent word are mostly rarer than it: of the ten nearest neighbours of its
other senses few are about as frequent as the word, often none. The search therefore continues down the neighbours of
each other sense, to ``depth``, until it has ``pool`` words that fit; each item has the rank (``intruder_rank``).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from lexiscope.core.errors import InputError
from lexiscope.core.item import Condition, Item, check_unique_ids
from lexiscope.core.settings import option
from lexiscope.core.usage import Usage
from lexiscope.items.draws import generator_of
from lexiscope.items.tables.findings import ExcludedEntry
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
        3.0, "largest ratio of the frequencies of an intruder and of what --match names, either way", least=1
    )
    match: Match = option(
        "neighbours",
        "what an intruder is as frequent as: neighbours, the words of the page, among which a frequent word would be "
        "noticed; word, the word whose sense is tested, the paper's rule",
    )
    pool: int = option(10, "candidates of each other sense to draw from", least=1)
    depth: int = option(500, "neighbours of a sense that are searched", least=1)
    apart: int = option(50, "own neighbours that are no intruders", least=1)
    min_count: int = option(0, "neighbours occur so often at least in the text of the training", least=0)


@dataclass(frozen=True, slots=True)
class MadeTest:
    """The items of a test of senses, and the words and senses for which there are none, with the reason."""

    items: tuple[Item, ...]
    excluded: tuple[ExcludedEntry, ...]


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
) -> MadeTest:
    """Return the items of every sense of the *words*, in their order, as :func:`make_intrusion_items` makes them.

    Without *frequencies* (counts or shares by word) those of the vectors are taken. A word out of the vocabulary or
    with one sense, and a sense with too few possible intruders, is excluded with its reason. The same vectors, words,
    rules and seed give the same items; excluding words changes no others. *model* names the model in ids and
    conditions, *revision* its state.
    Errors: :class:`InputError` for a word given twice, rules that no word meets, and vectors without frequencies if
    none are given.

    >>> import numpy as np
    >>> vectors = np.array([[1, 0], [0, 1], [0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.2, 0.8]], dtype=np.float32)
    >>> words = ("bank", "shore", "river", "loan", "cash")
    >>> owners, numbers, counts = np.array([0, 0, 1, 2, 3, 4]), np.array([0, 1, 0, 0, 0, 0]), np.array([9, 8, 8, 8, 8])
    >>> senses = InducedSenses(words, vectors, np.arange(6), owners, numbers, 2, counts=counts)
    >>> rules = IntrusionRules(n_words=3, n_intruders=1, depth=3, apart=3)
    >>> found = build_intrusion(senses, ["bank", "toad"], dataset="d", seed=1, rules=rules)
    >>> [item.gold for item in found.items], found.excluded[-1].why  # each is the one word that is not near
    (['loan', 'shore'], 'out of the vocabulary of these vectors')
    """
    rules = rules or IntrusionRules()
    _check(words, rules)
    known = frequencies if frequencies is not None else word_counts_of(senses)
    near = neighbours_of_words(senses, words, rules.depth, min_count=rules.min_count)
    made: list[Item] = []
    excluded: list[ExcludedEntry] = []
    for word in words:
        of_word = near.get(word, ())
        if len(of_word) < 2:
            excluded.append(ExcludedEntry(word, ONE_SENSE if of_word else UNKNOWN))
            continue
        for sense in of_word:
            try:
                made += make_intrusion_items(
                    of_word,
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
                excluded.append(ExcludedEntry(word, error.what.partition(": ")[2], sense.sense))
    named = {"revision": revision} if revision else {}
    items = tuple(replace(item, conditions={**item.conditions, **named}) for item in made)
    return MadeTest(items, tuple(excluded))


def share_most_frequent(items: Sequence[Item], frequencies: Mapping[str, float]) -> float:
    """Return the share of pages on which the intruder is more frequent than every other word.

    An intruder is about as frequent as the word, its neighbours need not be: this is the accuracy of choosing the most
    frequent word without reading. *Unit:* share, 0 to 1; chance is one in the words of a page.

    >>> item = Item("i", "d", (), ("river", "shore", "loan"), "loan")
    >>> share_most_frequent([item], {"river": 3, "shore": 4, "loan": 9})
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
    nearest = near_words(senses, senses.vectors([row for _, row in rows]), n, without=owners, min_count=min_count)
    by_word: dict[str, tuple[SenseNeighbours, ...]] = {}
    for (word, row), near in zip(rows, nearest, strict=True):
        sense = SenseNeighbours(word, str(int(senses.numbers[row]) + 1), tuple(neighbour.word for neighbour in near))
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


# -- items of given neighbours ----------------------------------------------------------------------------------------
# Nine neighbours of a sense, and an intruder from another sense of the same word.
#
# *Source:* GASI §4.1. Where the paper leaves something open, it is decided here and said so.


Match = Literal["word", "neighbours"]
"""What an intruder is about as frequent as: the word whose sense is tested, or the sense's neighbours on the page."""


@dataclass(frozen=True, slots=True)
class SenseNeighbours:
    """One induced sense of a word and its nearest neighbours, the nearest first, each word once."""

    word: str
    sense: str
    neighbours: tuple[str, ...]


def make_intrusion_items(
    senses: Sequence[SenseNeighbours],
    frequencies: Mapping[str, float],
    *,
    dataset: str,
    seed: int,
    model: str = "",
    n_words: int = 10,
    n_intruders: int = 3,
    band: float = 2.0,
    match: Match = "neighbours",
    pool: int | None = None,
    apart: int | None = None,
    of: Collection[str] | None = None,
    language: str = "und",
) -> tuple[Item, ...]:
    """Return *n_intruders* items for each sense of a word that has two senses or more, in the order of *senses*.

    An item has the *n_words* nearest neighbours of the sense, one of them, drawn at random, replaced by the intruder.
    An intruder is drawn, without replacement, from the given neighbours of the word's other senses. It is not one of
    the given neighbours of the sense (those beyond the ten included: they are too similar), nor the word, in any case,
    and at most *band* times as frequent or as rare as the geometric mean of the sense's *n_words* neighbours; with
    *match* ``word``, the paper's rule, as the word, which its neighbours seldom are: such an intruder is often the most
    frequent word of its page. With *pool*, only the *pool* nearest neighbours of each other sense that fit are
    possible. With *apart*, only the *apart* nearest neighbours of the sense are excluded, and those that are as near to
    it as to the other sense, by rank. *frequencies* are counts or shares, all of one corpus; a word without one
    is not an intruder. The draw of a sense depends on *seed* and the senses of its word alone. *of* names the senses
    that get items, by default all; the others still give intruders.

    ``options`` are in alphabetical order and tell nothing; ``gold`` is the intruder; conditions are ``word``,
    ``sense``, ``intruder_id`` (from 1), ``replaced`` (the replaced neighbour), ``intruder_from`` (the sense that the
    intruder is near), ``intruder_rank`` (its place among that sense's neighbours, from 1), and ``model`` if it is
    named.
    Errors: :class:`InputError` for a word with one sense only, without a frequency or among its own neighbours; a sense
    given twice, with too few neighbours or the same one twice, or with too few possible intruders.

    >>> river = SenseNeighbours("bank", "1", ("river", "shore", "stream"))
    >>> money = SenseNeighbours("bank", "2", ("loan", "credit", "cash"))
    >>> frequencies = {"bank": 10, "river": 9, "shore": 4, "stream": 12, "loan": 6, "credit": 90, "cash": 20}
    >>> items = make_intrusion_items(
    ...     [river, money], frequencies, dataset="d", seed=1, n_words=3, n_intruders=2, match="word"
    ... )
    >>> sorted(item.gold for item in items if item.condition("sense") == "1")  # from 5 to 20: not credit
    ['cash', 'loan']
    >>> sorted(item.gold for item in items if item.condition("sense") == "2")  # shore is rarer than 5
    ['river', 'stream']
    """
    if band < 1 or n_intruders < 1 or n_words < 3 or match not in get_args(Match):
        given = f"{band}, {n_intruders}, {n_words}, {match!r}"
        needed = f"a band of 1 or more, 1 intruder and 3 words at least are needed, and a match of {get_args(Match)}"
        raise InputError(f"{needed}, not {given}")
    by_word = _by_word(senses, n_words)
    items: list[Item] = []
    for sense in senses:
        if of is not None and sense.sense not in of:
            continue
        like = (_frequency_like(sense, frequencies, match, n_words), band)
        origins = _possible_intruders(sense, by_word[sense.word], frequencies, like, (pool, apart))
        possible = sorted(origins)
        if len(possible) < n_intruders:
            raise _sense_error(
                sense,
                f"only {len(possible)} words can be its intruder, {n_intruders} are wanted",
                "give more neighbours of the other senses, or a wider band of frequency",
            )
        generator = generator_of(seed, sense.word, sense.sense)
        # intruders of a sense differ; the neighbour that one replaces is drawn anew for each
        chosen = generator.choice(len(possible), size=n_intruders, replace=False).tolist()
        places = generator.integers(n_words, size=n_intruders).tolist()
        usage = Usage(sense.word, 0, len(sense.word), lemma=sense.word, language=language)
        for number, (drawn, place) in enumerate(zip(chosen, places, strict=True), start=1):
            words, intruder = list(sense.neighbours[:n_words]), possible[drawn]
            replaced, words[place] = words[place], intruder
            rank, origin = origins[intruder]
            named: dict[str, Condition] = {"model": model} if model else {}
            conditions = named | {
                "word": sense.word,
                "sense": sense.sense,
                "intruder_id": number,
                "replaced": replaced,
                "intruder_from": origin,
                "intruder_rank": rank,
            }
            item_id = "/".join([*([model] if model else []), sense.word, sense.sense, str(number)])
            items.append(Item(item_id, dataset, (usage,), tuple(sorted(words)), intruder, conditions=conditions))
    check_unique_ids(tuple(items))
    return tuple(items)


def _by_word(senses: Sequence[SenseNeighbours], n_words: int) -> dict[str, list[SenseNeighbours]]:
    """The senses of each word, checked."""
    by_word: dict[str, list[SenseNeighbours]] = {}
    for sense in senses:
        plain = [word.casefold() for word in sense.neighbours]
        if len(plain) < n_words:
            raise _sense_error(sense, f"it has {len(plain)} neighbours, {n_words} are wanted", "give more")
        if len(set(plain)) < len(plain) or not all(map(str.strip, plain)):
            raise _sense_error(sense, "one of its neighbours is empty or comes twice", "give each word once")
        if sense.word.casefold() in plain:
            raise _sense_error(sense, "the word is among its own neighbours", "remove it, in any case")
        if any(other.sense == sense.sense for other in by_word.get(sense.word, ())):
            raise _sense_error(sense, "this sense is given twice", "give each sense once")
        by_word.setdefault(sense.word, []).append(sense)
    alone = [senses_of_word[0] for senses_of_word in by_word.values() if len(senses_of_word) == 1]
    if alone:
        raise _sense_error(alone[0], "its word has no other sense, which intruders come from", "leave the word out")
    return by_word


def _possible_intruders(
    sense: SenseNeighbours,
    senses: Sequence[SenseNeighbours],
    frequencies: Mapping[str, float],
    like: tuple[float, float],
    limits: tuple[int | None, int | None],
) -> dict[str, tuple[int, str]]:
    """The words that can be an intruder, each with its rank and the sense that it is nearest to."""
    (centre, band), (pool, apart) = like, limits
    here = {word.casefold(): rank for rank, word in enumerate(sense.neighbours, start=1)} | {sense.word.casefold(): 0}
    origins: dict[str, tuple[int, str, str]] = {}
    for other in senses:
        ranked = enumerate(other.neighbours, start=1) if other.sense != sense.sense else ()
        fits = []
        for rank, word in ranked:
            own, frequency = here.get(word.casefold()), frequencies.get(word)
            # without a limit all given neighbours count, beyond those shown too: people would not find such an intruder
            is_apart = own is None or (apart is not None and own > max(apart, rank))
            if is_apart and frequency is not None and centre <= frequency * band and frequency <= centre * band:
                fits.append((rank, other.sense, word))
        for origin in fits[:pool]:
            plain = origin[2].casefold()
            # a word that two other senses give, in two cases perhaps, is one word
            origins[plain] = min(origins.get(plain, origin), origin)
    return {word: (rank, other) for rank, other, word in origins.values()}


def _frequency_like(sense: SenseNeighbours, frequencies: Mapping[str, float], match: Match, n_words: int) -> float:
    """The frequency that an intruder is like: the word's, or the geometric mean of that of the words on the page."""
    shown, named = (
        ((sense.word,), "its word") if match == "word" else (sense.neighbours[:n_words], "one of its neighbours")
    )
    values = [frequencies.get(word, 0.0) for word in shown]
    if not all(value > 0 for value in values):
        named = "its word" if match == "word" else "one of its neighbours"
        raise _sense_error(sense, f"{named} has no frequency above 0", "add it to the frequencies")
    return values[0] if match == "word" else float(np.exp(np.log(np.array(values)).mean()))


def _sense_error(sense: SenseNeighbours, what: str, hint: str) -> InputError:
    return InputError(f"sense {sense.sense!r} of {sense.word!r}: {what}", hint=hint)
