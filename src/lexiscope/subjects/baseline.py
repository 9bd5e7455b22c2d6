"""Baselines: what is worth beating, from random answers to the most frequent sense of a word.

For ratings, ``baseline:random`` draws a rating for every item from a seed (``baseline:random?seed=7``; without one, the
seed of the run), ``baseline:constant`` gives the middle of the scale, ``baseline:word_overlap`` the Jaccard distance
between the words around the two targets.

``baseline:first_sense`` and ``baseline:most_frequent_sense`` answer sense disambiguation: the first sense of the
lexicon, and the one that SemCor (``?corpus=FOLDER``: another corpus of its layout) has most often, the first one for
words that it does not have (``?back_off=no``: no answer). ``baseline:most_linked`` answers entity linking: the
candidate page that most links lead to. ``baseline:random`` draws one of the options of either, and ``t`` or ``f`` where
two usages are compared or a definition is verified.

``baseline:frequency`` answers minimal pairs: the more frequent word is preferred, by WordNet's tag counts or by a table
of one's own (``baseline:frequency?table=counts.csv``, columns ``word`` and ``count``). ``baseline:random`` answers them
too, at chance.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

from lexiscope.build.minimal_pairs.word_counts import noun_count, read_frequencies
from lexiscope.core import catalog
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import DataError, InputError, Place, SpecError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import statistic_name
from lexiscope.core.run import sha256_of
from lexiscope.core.scale import Scale
from lexiscope.core.subject import SubjectSpec
from lexiscope.core.usage import Usage
from lexiscope.items.choice_sets.surface import is_english
from lexiscope.resources.lexicons import wordnet
from lexiscope.subjects._options import split_name
from lexiscope.subjects._sense_baseline import (
    MEASURE,
    TRUTHS,
    FirstOption,
    MostFrequentSense,
    chosen_options,
    options_of,
    sense_baseline,
)
from lexiscope.subjects._sense_baseline import (
    TASKS as SENSE_TASKS,
)

CAPABILITIES = ("Judges",)
TASKS = ("relatedness", "plausibility", "minimal_pair", *MEASURE)
"""The tasks that some baseline answers; each rule answers some of them (``tasks``)."""

_WORD = re.compile(r"\w+(?:['’]\w+)*")


def load(spec: SubjectSpec) -> Baseline | WordFrequency | FirstOption | MostFrequentSense:
    """Make the baseline that a spec names.

    Errors: :class:`SpecError` for an unknown name or option.
    """
    name, _, options = split_name(spec.name)
    if name == "frequency":
        if set(options) - {"table"}:
            raise SpecError(f"the baseline {spec.name!r} is not understood", hint="frequency takes ?table=FILE alone")
        return WordFrequency(options.get("table", ""))
    if name in SENSE_TASKS:
        return sense_baseline(name, options)
    if name not in _RULES:
        raise SpecError(
            f"there is no baseline {name!r}", hint=f"use one of {', '.join((*_RULES, *SENSE_TASKS))}, frequency"
        )
    if set(options) - {"seed"} or (options and name != "random") or not options.get("seed", "0").isdecimal():
        raise SpecError(f"the baseline {spec.name!r} is not understood", hint="only random takes an option: ?seed=N")
    return Baseline(name, seed=int(options["seed"]) if options else None)


class Baseline:
    """A rule that answers without understanding.

    *seed* is the one named in the spec, *run_seed* the one of the run; they matter to ``random`` only.
    """

    kind = "baseline"

    def __init__(self, name: str, *, seed: int | None = None, run_seed: int = 0) -> None:
        self.name = name
        self.seed = seed
        self.run_seed = run_seed

    def with_seed(self, seed: int) -> Baseline:
        """Return the same baseline in a run with this seed; a seed named in the spec goes first."""
        return Baseline(self.name, seed=self.seed, run_seed=seed)

    @property
    def subject_id(self) -> str:
        """Its spec; the seed is part of it where it was named."""
        return f"baseline:{self.name}" + (f"?seed={self.seed}" if self.seed is not None else "")

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that its rule answers."""
        if self.name == "random":
            return TASKS
        # a story is one text: there are no two whose words could overlap
        return ("relatedness",) if self.name == "word_overlap" else ("relatedness", "plausibility")

    @property
    def facts(self) -> SubjectFacts:
        """Its name, and as its revision the version of its rule with the seed in use."""
        revision = f"1 seed={self._used_seed}" if self.name == "random" else "1"
        return SubjectFacts(self.subject_id, title=self.name, kind=self.kind, n_parameters=0, revision=revision)

    def judge(self, items: Sequence[Item], task: str) -> ResponseTable:
        """Return one row per item: measure ``rating``, or ``jaccard_distance`` for ``word_overlap``.

        A rating lies on the scale of its item, or on that of the task. To minimal pairs ``random`` gives a number per
        option (measure ``random_number``, 0 to 1), to items of senses or candidate pages one of their options, to pairs
        and definitions ``t`` or ``f``.
        Errors: :class:`InputError` for a task that the rules do not fit.
        """
        self._check_task(task)
        if task == "minimal_pair":
            return self._random_preferences(items)
        if task in MEASURE:
            return chosen_options([self._random_option(item, task) for item in items], items, self.subject_id, task)
        measure, rule = _RULES[self.name]
        asked = catalog.task(task)
        return ResponseTable.from_columns(
            {
                "subject_id": self.subject_id,
                "subject_kind": self.kind,
                "item_id": [item.item_id for item in items],
                "task": task,
                "measure": measure,
                "value": [rule(item, asked.scale_of(item), self._used_seed) for item in items],
            }
        )

    @property
    def _used_seed(self) -> int:
        return self.run_seed if self.seed is None else self.seed

    def _check_task(self, task: str) -> None:
        if task not in self.tasks:
            able = "baseline:frequency or baseline:random" if task == "minimal_pair" else "another subject"
            hint = f"use {able}; `lexiscope list pairings` shows who answers what"
            raise InputError(f"baseline:{self.name} does not answer {task!r}", hint=hint)

    def _random_option(self, item: Item, task: str) -> str:
        options = options_of(item) if task in SENSE_TASKS.values() else TRUTHS
        return options[_hashed(self._used_seed, item.item_id) % len(options)]

    def _random_preferences(self, items: Sequence[Item]) -> ResponseTable:
        pairs = [(item.item_id, number) for item in items for number in range(len(item.options))]
        names = [f"incorrect_{number}" if number else "correct" for _, number in pairs]
        seeded = zip(pairs, names, strict=True)
        return ResponseTable.from_columns(
            {
                "subject_id": self.subject_id,
                "subject_kind": self.kind,
                "item_id": [item_id for item_id, _ in pairs],
                "task": "minimal_pair",
                "measure": "random_number",
                "value": [_hashed(self._used_seed, f"{item_id}\n{name}") / 2**64 for (item_id, _), name in seeded],
                "option": names,
            }
        )


def _hashed(seed: int, name: str) -> int:
    # a hash of seed and id, so that an item's answer does not depend on its neighbours
    return int.from_bytes(hashlib.sha256(f"{seed}\n{name}".encode()).digest()[:8], "big")


def _random(item: Item, scale: Scale | None, seed: int) -> float:
    assert scale is not None
    return scale.options[_hashed(seed, item.item_id) % len(scale.options)]


def _constant(_item: Item, scale: Scale | None, _seed: int) -> float:
    assert scale is not None
    return (scale.low + scale.high) / 2


def _word_overlap(item: Item, _scale: Scale | None, _seed: int) -> float:
    """Return 1 − |shared words| / |all words| of the two contexts without the targets; 0 where both are empty.

    *Unit:* 0 to 1. *Higher means:* less related.
    """
    if len(item.usages) != 2:
        raise InputError("word overlap needs two usages", place=Place(item_id=item.item_id))
    first, second = (_context_words(usage) for usage in item.usages)
    union = first | second
    return 1.0 - len(first & second) / len(union) if union else 0.0


def _context_words(usage: Usage) -> set[str]:
    context = f"{usage.text[: usage.start]} {usage.text[usage.end :]}"
    return {match.group().casefold() for match in _WORD.finditer(context)}


_RULES: dict[str, tuple[str, Callable[[Item, Scale | None, int], float]]] = {
    "random": ("rating", _random),
    "constant": ("rating", _constant),
    "word_overlap": ("jaccard_distance", _word_overlap),
}


# -- the word-frequency baseline of choice sets: the more frequent word wins, whatever the sentence says ------------


TASK = "minimal_pair"
COLUMNS = ("word", "count")
_CORRECT = "correct"


class WordFrequency:
    """Prefers the option that occurs most often: in WordNet's tagged corpus, or in a table of the user's own.

    *table* is a table with the columns ``word`` and ``count``
    (:func:`~lexiscope.build.minimal_pairs.word_counts.read_frequencies`; a word that is not in it has 0). Without one,
    a word has the noun tag counts of WordNet 3.0 (:func:`~lexiscope.build.minimal_pairs.word_counts.noun_count`; 0
    where it is no noun there).
    """

    kind = "baseline"

    def __init__(self, table: str = "") -> None:
        self.table = table

    @property
    def subject_id(self) -> str:
        """Its spec."""
        return "baseline:frequency" + (f"?table={self.table}" if self.table else "")

    @property
    def tasks(self) -> tuple[str, ...]:
        """The task that it answers."""
        return (TASK,)

    @property
    def facts(self) -> SubjectFacts:
        """What counts it has; as its revision the sha256 of the table, or the lexicon's name."""
        title = f"word frequency ({Path(self.table).name if self.table else 'WordNet tag counts'})"
        revision = f"1 {sha256_of(Path(self.table))}" if self.table else "1 wordnet-3.0"
        return SubjectFacts(self.subject_id, title=title, kind=self.kind, n_parameters=0, revision=revision)

    @property
    def measure(self) -> str:
        """The measure of its rows: occurrences, and where they were counted."""
        source = "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in Path(self.table).name)
        return statistic_name("word_count", source=source if self.table else "wordnet-3.0")

    def judge(self, items: Sequence[Item], task: str) -> ResponseTable:
        """Return one row per option. *Unit:* occurrences. *Higher means:* more frequent.

        Errors: :class:`InputError` for another task than ``minimal_pair`` or a damaged table;
        :class:`~lexiscope.core.errors.DataError` without a table where WordNet is not at hand, or items not in English.
        """
        if task != TASK:
            raise InputError(f"word frequency answers {TASK}, not {task!r}")
        languages = {item.usages[0].language for item in items} - {"", "und"}
        if not self.table and not all(map(is_english, languages)):
            # every word would have the count 0 and every choice be a tie
            what = "WordNet's tag counts are of English words, and these items are in another language"
            raise DataError(
                what, hint="give a table of counts: baseline:frequency?table=FILE; in a study, --frequency FILE"
            )
        pairs = [(item.item_id, number, word) for item in items for number, word in enumerate(item.options)]
        return ResponseTable.from_columns(
            {
                "subject_id": self.subject_id,
                "subject_kind": self.kind,
                "item_id": [item_id for item_id, _, _ in pairs],
                "task": task,
                "measure": self.measure,
                "value": [float(self._count(word)) for _, _, word in pairs],
                "option": [f"incorrect_{number}" if number else _CORRECT for _, number, _ in pairs],
            }
        )

    @cached_property
    def _count(self) -> Callable[[str], float]:
        if self.table:
            counts = read_frequencies(self.table)
            return lambda word: counts.get(word.casefold(), 0.0)
        lexicon, known = wordnet.load(), dict[str, float]()

        def count(word: str) -> float:
            if word not in known:
                known[word] = float(noun_count(lexicon, word))
            return known[word]

        return count
