"""Making word-intrusion items: nine neighbours of a sense, and an intruder from another sense of the same word.

*Source:* GASI §4.1. Where the paper leaves something open, it is decided here and said so.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

import numpy as np

from lexiscope.core.errors import InputError
from lexiscope.core.item import Condition, Item, check_unique_ids
from lexiscope.core.usage import Usage
from lexiscope.items.draws import generator_of

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
    match: Match = "word",
    pool: int | None = None,
    apart: int | None = None,
    of: Collection[str] | None = None,
    language: str = "und",
) -> tuple[Item, ...]:
    """Return *n_intruders* items for each sense of a word that has two senses or more, in the order of *senses*.

    An item has the *n_words* nearest neighbours of the sense, one of them, drawn at random, replaced by the intruder.
    An intruder is drawn, without replacement, from the given neighbours of the word's other senses. It is none of the
    sense's own given neighbours (those beyond the ten included: they are too similar), nor the word, in whatever case,
    and at most *band* times as frequent or as rare as the word; with *match* ``neighbours``, as the geometric mean of
    the sense's *n_words* neighbours, among which a frequent intruder would stand out. With *pool*, only so many of each
    other sense's neighbours that fit are possible, its nearest ones. With *apart*, only so many of the sense's own
    nearest neighbours are ruled out, and those that stand as near to it as to the other sense, by rank. *frequencies*
    are counts or shares, all of one corpus; a word without one is no intruder. The draw of a sense depends on *seed*
    and the senses of its word alone. *of* names the senses that get items, by default all; the others still give
    intruders.

    ``options`` stand in alphabetical order and tell nothing; ``gold`` is the intruder; conditions are ``word``,
    ``sense``, ``intruder_id`` (from 1), ``replaced`` (the neighbour left out), ``intruder_from`` (the sense that the
    intruder is near), ``intruder_rank`` (its place among that sense's neighbours, from 1), and ``model`` where it is
    named.
    Errors: :class:`InputError` for a word with one sense only, without a frequency or among its own neighbours; a sense
    given twice, with too few neighbours or the same one twice, or with too few possible intruders.

    >>> river = SenseNeighbours("bank", "1", ("river", "shore", "stream"))
    >>> money = SenseNeighbours("bank", "2", ("loan", "credit", "cash"))
    >>> frequencies = {"bank": 10, "river": 9, "shore": 4, "stream": 12, "loan": 6, "credit": 90, "cash": 20}
    >>> items = make_intrusion_items([river, money], frequencies, dataset="d", seed=1, n_words=3, n_intruders=2)
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
    centre = _frequency_of_word if match == "word" else partial(_frequency_of_neighbours, n_words=n_words)
    items: list[Item] = []
    for sense in senses:
        if of is not None and sense.sense not in of:
            continue
        own = centre(sense, frequencies)
        origin = _possible(sense, by_word[sense.word], frequencies, (own, band), (pool, apart))
        possible = sorted(origin)
        if len(possible) < n_intruders:
            raise _refused(
                sense,
                f"only {len(possible)} words can be its intruder, {n_intruders} are wanted",
                "give more neighbours of the other senses, or a wider band of frequency",
            )
        generator = generator_of(seed, sense.word, sense.sense)
        # intruders of a sense differ; the neighbour that one replaces is drawn anew for each
        chosen = generator.choice(len(possible), size=n_intruders, replace=False).tolist()
        places = generator.integers(n_words, size=n_intruders).tolist()
        for number, (intruder, place) in enumerate(zip(chosen, places, strict=True), start=1):
            words = list(sense.neighbours[:n_words])
            replaced, words[place] = words[place], possible[intruder]
            name = possible[intruder]
            instance = _Instance(sense, number, tuple(sorted(words)), name, replaced, origin[name])
            items.append(_item(instance, dataset=dataset, model=model, language=language))
    check_unique_ids(tuple(items))
    return tuple(items)


@dataclass(frozen=True, slots=True)
class _Instance:
    sense: SenseNeighbours
    intruder_id: int
    words: tuple[str, ...]
    intruder: str
    replaced: str
    origin: tuple[int, str]


def _item(instance: _Instance, *, dataset: str, model: str, language: str) -> Item:
    word, sense = instance.sense.word, instance.sense.sense
    named: dict[str, Condition] = {"model": model} if model else {}
    conditions = named | {
        "word": word,
        "sense": sense,
        "intruder_id": instance.intruder_id,
        "replaced": instance.replaced,
        "intruder_from": instance.origin[1],
        "intruder_rank": instance.origin[0],
    }
    item_id = "/".join([*([model] if model else []), word, sense, str(instance.intruder_id)])
    usage = Usage(word, 0, len(word), lemma=word, language=language)
    return Item(item_id, dataset, (usage,), instance.words, instance.intruder, conditions=conditions)


def _by_word(senses: Sequence[SenseNeighbours], n_words: int) -> dict[str, list[SenseNeighbours]]:
    """The senses of each word, checked."""
    by_word: dict[str, list[SenseNeighbours]] = {}
    for sense in senses:
        plain = [word.casefold() for word in sense.neighbours]
        if len(plain) < n_words:
            raise _refused(sense, f"it has {len(plain)} neighbours, {n_words} are wanted", "give more")
        if len(set(plain)) < len(plain) or not all(map(str.strip, plain)):
            raise _refused(sense, "one of its neighbours is empty or comes twice", "give each word once")
        if sense.word.casefold() in plain:
            raise _refused(sense, "the word is among its own neighbours", "leave it out, in whatever case")
        if any(other.sense == sense.sense for other in by_word.get(sense.word, ())):
            raise _refused(sense, "this sense is given twice", "give each sense once")
        by_word.setdefault(sense.word, []).append(sense)
    alone = [found[0] for found in by_word.values() if len(found) == 1]
    if alone:
        raise _refused(alone[0], "its word has no other sense, which intruders come from", "leave the word out")
    return by_word


def _possible(
    sense: SenseNeighbours,
    senses: Sequence[SenseNeighbours],
    frequencies: Mapping[str, float],
    like: tuple[float, float],
    limits: tuple[int | None, int | None],
) -> dict[str, tuple[int, str]]:
    """The words that can be an intruder, each with its rank and the sense that it is nearest to."""
    pool, apart = limits
    here = {word.casefold(): rank for rank, word in enumerate(sense.neighbours, start=1)} | {sense.word.casefold(): 0}
    found: dict[str, tuple[int, str, str]] = {}
    for other in senses:
        ranked = enumerate(other.neighbours, start=1) if other.sense != sense.sense else ()
        fits = [
            (rank, other.sense, word)
            for rank, word in ranked
            if _is_apart(here.get(word.casefold()), rank, apart) and _in_band(frequencies.get(word), *like)
        ]
        for each in fits[:pool]:
            plain = each[2].casefold()
            # a word that two other senses give, in two cases perhaps, is one word
            found[plain] = min(found.get(plain, each), each)
    return {word: (rank, other) for rank, other, word in found.values()}


def _frequency_of_word(sense: SenseNeighbours, frequencies: Mapping[str, float]) -> float:
    own = frequencies.get(sense.word, 0.0)
    if not own > 0:
        raise _refused(sense, "its word has no frequency above 0", "add it to the frequencies")
    return own


def _frequency_of_neighbours(sense: SenseNeighbours, frequencies: Mapping[str, float], n_words: int) -> float:
    """The geometric mean of the frequencies of the words on the page."""
    found = np.array([frequencies.get(word, 0.0) for word in sense.neighbours[:n_words]])
    if not (found > 0).all():
        raise _refused(sense, "one of its neighbours has no frequency above 0", "add it to the frequencies")
    return float(np.exp(np.log(found).mean()))


def _is_apart(here: int | None, there: int, apart: int | None) -> bool:
    """Whether a word is no neighbour of the sense, by its rank among the sense's own neighbours and another's."""
    # without a limit all given neighbours count, beyond those shown too: people would not find such an intruder
    return here is None or (apart is not None and here > max(apart, there))


def _in_band(frequency: float | None, own: float, band: float) -> bool:
    return frequency is not None and own <= frequency * band and frequency <= own * band


def _refused(sense: SenseNeighbours, what: str, hint: str) -> InputError:
    return InputError(f"sense {sense.sense!r} of {sense.word!r}: {what}", hint=hint)
