"""Baselines: what is worth beating, from random answers to the most frequent sense of a word.

For ratings, ``baseline:random`` draws a rating for every item from a seed (``baseline:random?seed=7``; without one, the
seed of the run), ``baseline:constant`` gives the middle of the scale, ``baseline:word_overlap`` the Jaccard distance
between the words around the two targets.

``baseline:first_sense`` and ``baseline:most_frequent_sense`` answer sense disambiguation: the first sense of the
lexicon, and the one that SemCor (``?corpus=FOLDER``: another corpus of its layout) has most often, the first one for
words that it does not have (``?back_off=no``: no answer). ``baseline:most_linked`` answers entity linking: the
candidate page that most links lead to. ``baseline:random`` draws one of the options of either, and ``t`` or ``f`` where
two usages are compared or a definition is verified.

``baseline:frequency`` answers minimal pairs: the more frequent word is preferred, by WordNet's tag counts or by your
own table (``baseline:frequency?table=counts.csv``, columns ``word`` and ``count``). ``baseline:random`` answers them
too, at chance.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property
from pathlib import Path

from lexiscope.build.minimal_pairs.word_counts import read_frequencies, tagged_count
from lexiscope.core import catalog
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import DataError, InputError, Place, SpecError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import statistic_name
from lexiscope.core.run import sha256_of
from lexiscope.core.scale import Scale
from lexiscope.core.subject import SubjectSpec
from lexiscope.core.task import Task
from lexiscope.items.answers.sense_options import SENSES, glosses_of
from lexiscope.items.choice_sets.surface import is_english
from lexiscope.resources.corpora import semcor
from lexiscope.resources.corpora.unified_wsd import POS_OF_TAG, UnifiedCorpus
from lexiscope.resources.lexicons import wordnet
from lexiscope.subjects._options import split_name

CAPABILITIES = ("Judges",)
FIRST, MOST_FREQUENT, MOST_LINKED = "first_sense", "most_frequent_sense", "most_linked"
_OF_SENSES = (FIRST, MOST_FREQUENT, MOST_LINKED)
_RETRIEVED, _RANDOM_NUMBER = "retrieved", "random_number"

_WORDS = re.compile(r"\w+(?:['’]\w+)*")


def load(spec: SubjectSpec) -> BaselineSubject:
    """Make the baseline that a spec names.

    Errors: :class:`SpecError` for an unknown name or option.
    """
    name, _, options = split_name(spec.name)
    if name == "frequency":
        if set(options) - {"table"}:
            raise SpecError(f"the baseline {spec.name!r} is not understood", hint="frequency takes ?table=FILE alone")
        return WordFrequency(options.get("table", ""))
    if name in _OF_SENSES:
        allowed = {"corpus", "back_off"} if name == MOST_FREQUENT else set()
        if set(options) - allowed or options.get("back_off", "no") != "no":
            hint = f"{MOST_FREQUENT} takes ?corpus=FOLDER and ?back_off=no, {FIRST} and {MOST_LINKED} nothing"
            raise SpecError(f"the baseline {name!r} does not understand {options}", hint=hint)
        if name == MOST_FREQUENT:
            return MostFrequentSense(options.get("corpus", ""), back_off="back_off" not in options)
        return FirstOption(name)
    if name not in _RULES:
        raise SpecError(
            f"there is no baseline {name!r}", hint=f"use one of {', '.join((*_RULES, *_OF_SENSES))}, frequency"
        )
    if set(options) - {"seed"} or (options and name != "random") or not options.get("seed", "0").isdecimal():
        raise SpecError(f"the baseline {spec.name!r} is not understood", hint="only random takes an option: ?seed=N")
    return Baseline(name, seed=int(options["seed"]) if options else None)


def tasks_of(*rules: str) -> tuple[str, ...]:
    """Return the names of the tasks that a rule answers, of all rules where none is named: the tasks name them."""
    return catalog.tasks_where(lambda task: bool(set(task.baselines) & set(rules) if rules else task.baselines))


TASKS = tasks_of
"""The tasks that some baseline answers."""


class BaselineSubject:
    """A subject whose answers follow from a rule; *name* is that of the rule."""

    kind = "baseline"

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def subject_id(self) -> str:
        """Its spec."""
        return f"baseline:{self.name}"

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that its rule answers."""
        return tasks_of(self.name)

    @property
    def title(self) -> str:
        """Its name for readers."""
        return self.name

    @property
    def revision(self) -> str:
        """The version of its rule, and what else decides its answers."""
        return "1"

    @property
    def facts(self) -> SubjectFacts:
        """Its name, and as its revision what decides its answers."""
        return SubjectFacts(self.subject_id, title=self.title, kind=self.kind, n_parameters=0, revision=self.revision)

    def judge(self, items: Sequence[Item], task: str) -> ResponseTable:
        """Return the answers of the rule. Errors: :class:`InputError` for a task that the rule does not fit."""
        if task not in self.tasks:
            rules = sorted(catalog.task(task).baselines) if task in catalog.names("tasks") else ()
            able = " or ".join(f"baseline:{rule}" for rule in rules) or "another subject"
            hint = f"use {able}; `lexiscope list pairings` shows who answers what"
            raise InputError(f"baseline:{self.name} does not answer {task!r}", hint=hint)
        return self._answers(items, catalog.task(task))

    def _answers(self, items: Sequence[Item], task: Task) -> ResponseTable:
        raise NotImplementedError

    def _table(self, item_ids: Sequence[str], task: Task, measure: str, **columns: object) -> ResponseTable:
        names = {"subject_id": self.subject_id, "subject_kind": self.kind, "task": task.name, "measure": measure}
        return ResponseTable.from_columns({**names, "item_id": list(item_ids), **columns})

    def _choices(self, chosen: Sequence[str | None], items: Sequence[Item], task: Task) -> ResponseTable:
        """Return a row per item: the chosen option, nothing without an answer. A retrieved entry has the value 1."""
        scored = _RETRIEVED in dict(task.measures)
        values = [1.0 if scored and option is not None else None for option in chosen]
        ids = [item.item_id for item in items]
        return self._table(ids, task, _RETRIEVED if scored else "choice", value=values, option=list(chosen))


class Baseline(BaselineSubject):
    """A rule that answers without understanding.

    *seed* is the one named in the spec, *run_seed* the one of the run; they matter to ``random`` only. For ratings it
    gives a row per item: measure ``rating``, or ``jaccard_distance`` for ``word_overlap``; a rating is on the scale of
    its item, or on that of the task. To minimal pairs ``random`` gives a number per option (measure ``random_number``,
    0 to 1), to items of senses or candidate pages one of their options, to pairs and definitions ``t`` or ``f``.
    """

    def __init__(self, name: str, *, seed: int | None = None, run_seed: int = 0) -> None:
        super().__init__(name)
        self.seed, self.run_seed = seed, run_seed
        self._used_seed = run_seed if seed is None else seed

    def with_seed(self, seed: int) -> Baseline:
        """Return the same baseline in a run with this seed; a seed named in the spec goes first."""
        return Baseline(self.name, seed=self.seed, run_seed=seed)

    @property
    def subject_id(self) -> str:
        """Its spec; the seed is part of it where it was named."""
        return f"baseline:{self.name}" + (f"?seed={self.seed}" if self.seed is not None else "")

    @property
    def revision(self) -> str:
        """The version of its rule, with the seed in use."""
        return f"1 seed={self._used_seed}" if self.name == "random" else "1"

    def _answers(self, items: Sequence[Item], task: Task) -> ResponseTable:
        measure, rule = _RULES[self.name]
        if _RANDOM_NUMBER in dict(task.measures):
            return self._random_preferences(items, task)
        if task.scale is None:
            return self._choices([self._random_option(item, task) for item in items], items, task)
        values = [rule(item, task.scale_of(item), self._used_seed) for item in items]
        return self._table([item.item_id for item in items], task, measure, value=values)

    def _random_option(self, item: Item, task: Task) -> str:
        if task.options is None or set(task.baselines) & set(_OF_SENSES):
            options: Sequence[str] = _options_of(item)
        else:
            # those of the task itself (t and f), in an order that no item changes
            options = sorted(task.options(item, "full"))
        return options[_hash_of(self._used_seed, item.item_id) % len(options)]

    def _random_preferences(self, items: Sequence[Item], task: Task) -> ResponseTable:
        pairs = [(item.item_id, name) for item in items for name in _option_names(item)]
        values = [_hash_of(self._used_seed, f"{item_id}\n{name}") / 2**64 for item_id, name in pairs]
        ids, names = [item_id for item_id, _ in pairs], [name for _, name in pairs]
        return self._table(ids, task, _RANDOM_NUMBER, value=values, option=names)


def _option_names(item: Item) -> list[str]:
    return [f"incorrect_{number}" if number else "correct" for number in range(len(item.options))]


def _hash_of(seed: int, name: str) -> int:
    # a hash of seed and id, so that an item's answer does not depend on its neighbours
    return int.from_bytes(hashlib.sha256(f"{seed}\n{name}".encode()).digest()[:8], "big")


def _random_rating(item: Item, scale: Scale | None, seed: int) -> float:
    assert scale is not None
    return scale.options[_hash_of(seed, item.item_id) % len(scale.options)]


def _middle_of_scale(_item: Item, scale: Scale | None, _seed: int) -> float:
    assert scale is not None
    return (scale.low + scale.high) / 2


def _word_overlap(item: Item, _scale: Scale | None, _seed: int) -> float:
    """Return 1 − |shared words| / |all words| of the two contexts without the targets; 0 where both are empty.

    *Unit:* 0 to 1. *Higher means:* less related.
    """
    if len(item.usages) != 2:
        raise InputError("word overlap needs two usages", place=Place(item_id=item.item_id))
    contexts = [f"{usage.text[: usage.start]} {usage.text[usage.end :]}" for usage in item.usages]
    first, second = ({match.group().casefold() for match in _WORDS.finditer(context)} for context in contexts)
    union = first | second
    return 1.0 - len(first & second) / len(union) if union else 0.0


_RULES: dict[str, tuple[str, Callable[[Item, Scale | None, int], float]]] = {
    "random": ("rating", _random_rating),
    "constant": ("rating", _middle_of_scale),
    "word_overlap": ("jaccard_distance", _word_overlap),
}


# -- the word-frequency baseline of choice sets: the more frequent word is preferred in any sentence ------------


COLUMNS = ("word", "count")


class WordFrequency(BaselineSubject):
    """Prefers the option that occurs most often: in WordNet's tagged corpus, or in a table of the user's own.

    *table* is a table with the columns ``word`` and ``count``
    (:func:`~lexiscope.build.minimal_pairs.word_counts.read_frequencies`; a word that is not in it has 0). Without one,
    a word has the tag counts of WordNet 3.0 in its usage's part of speech, by default the noun
    (:func:`~lexiscope.build.minimal_pairs.word_counts.tagged_count`; 0 where WordNet has no such word). It gives a row
    per option. *Unit:* occurrences. *Higher means:* more frequent.
    Errors of its use: :class:`InputError` for a damaged table; :class:`~lexiscope.core.errors.DataError` without a
    table if WordNet is not available, or the items are not in English.
    """

    def __init__(self, table: str = "") -> None:
        super().__init__("frequency")
        self.table = table

    @property
    def subject_id(self) -> str:
        """Its spec."""
        return "baseline:frequency" + (f"?table={self.table}" if self.table else "")

    @property
    def title(self) -> str:
        """What counts it has."""
        return f"word frequency ({Path(self.table).name if self.table else 'WordNet tag counts'})"

    @property
    def revision(self) -> str:
        """The sha256 of the table, or the lexicon's name."""
        return f"1 {sha256_of(Path(self.table))}" if self.table else "1 wordnet-3.0"

    @property
    def measure(self) -> str:
        """The measure of its rows: occurrences, and where they were counted."""
        source = "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in Path(self.table).name)
        return statistic_name("word_count", source=source if self.table else "wordnet-3.0")

    def _answers(self, items: Sequence[Item], task: Task) -> ResponseTable:
        languages = {item.usages[0].language for item in items} - {"", "und"}
        if not self.table and not all(map(is_english, languages)):
            # every word would have the count 0 and every choice be a tie
            what = "WordNet's tag counts are of English words, and these items are in another language"
            raise DataError(
                what, hint="give a table of counts: baseline:frequency?table=FILE; in a study, --frequency FILE"
            )
        ids = [item.item_id for item in items for _ in item.options]
        values = [self._count(word, item.usages[0].pos) for item in items for word in item.options]
        names = [name for item in items for name in _option_names(item)]
        return self._table(ids, task, self.measure, value=values, option=names)

    @cached_property
    def _count(self) -> Callable[[str, str | None], float]:
        if self.table:
            counts = read_frequencies(self.table)
            return lambda word, _tag: counts.get(word.casefold(), 0.0)
        lexicon = wordnet.load()
        return cache(lambda word, tag: float(tagged_count(lexicon, word, POS_OF_TAG.get(tag or "", "n"))))


# -- senses and pages: the first option, and the most frequent sense of a corpus -------------------------------------


class FirstOption(BaselineSubject):
    """Takes the first option: the first sense of the lexicon, or the candidate page that most links lead to.

    Lexiscope's datasets have the options of an item in that order; elsewhere the rule means what the order means.
    Errors of its use: :class:`InputError` for an item without options.
    """

    def _answers(self, items: Sequence[Item], task: Task) -> ResponseTable:
        return self._choices([_options_of(item)[0] for item in items], items, task)


class MostFrequentSense(BaselineSubject):
    """Takes the sense that a sense-tagged corpus has most often for the lemma and part of speech of the target.

    *corpus* is a folder with SemCor (another corpus of the same files may lie there), empty for SemCor in the data
    folders. Of several keys of an instance the first counts, ties go to the sense that is first in the lexicon.
    A word that the corpus does not have gets its first sense, or no answer where *back_off* is false: a row without
    value and option. Errors of its use: :class:`InputError` for an item without options, or a usage without lemma or
    part of speech; :class:`~lexiscope.core.errors.DataError` if SemCor is not available.
    """

    def __init__(self, corpus: str = "", *, back_off: bool = True) -> None:
        super().__init__(MOST_FREQUENT)
        self.corpus, self.back_off = corpus, back_off

    @property
    def subject_id(self) -> str:
        """Its spec."""
        given = [f"corpus={self.corpus}"] if self.corpus else []
        given += [] if self.back_off else ["back_off=no"]
        return f"baseline:{MOST_FREQUENT}" + (f"?{'&'.join(given)}" if given else "")

    @property
    def title(self) -> str:
        """Its name, with the corpus."""
        return f"most frequent sense ({Path(self.corpus).name if self.corpus else 'SemCor'})"

    @property
    def revision(self) -> str:
        """The sha256 of the gold keys that it counted."""
        return f"1 {sha256_of(self._texts.keys)}"

    def _answers(self, items: Sequence[Item], task: Task) -> ResponseTable:
        return self._choices([self._sense(item) for item in items], items, task)

    def _sense(self, item: Item) -> str | None:
        usage, options = item.usages[0], _options_of(item)
        if not usage.lemma or not usage.pos:
            hint = "give the lemma and the part of speech as columns"
            raise InputError("a usage needs its lemma and part of speech", place=Place(item_id=item.item_id), hint=hint)
        word = _lemma_with_pos(usage.lemma, usage.pos)
        return self._sense_counts.most_frequent(word, among=options) or (options[0] if self.back_off else None)

    @cached_property
    def _texts(self) -> UnifiedCorpus:
        return semcor.load(Path(self.corpus) if self.corpus else None)

    @cached_property
    def _sense_counts(self) -> ClassCounts:
        tokens = (sentence.tokens[place] for sentence in self._texts.sentences() for place in sentence.instances)
        return ClassCounts((_lemma_with_pos(token.lemma, token.pos), token.sense_keys[0]) for token in tokens)


def _options_of(item: Item) -> tuple[str, ...]:
    """Return the ids of an item's options, which may be in the condition ``senses``.

    Errors: :class:`InputError` naming an item without options.
    """
    options = item.options or (tuple(glosses_of(item)) if SENSES in item.conditions else ())
    if not options:
        raise InputError("this item has no options to choose from", place=Place(item_id=item.item_id))
    return options


def _lemma_with_pos(lemma: str, tag: str) -> str:
    return f"{lemma.lower()}/{POS_OF_TAG.get(tag, tag)}"


# -- how often each class was seen with a word ------------------------------------------------------------------------
# The answer of a subject that knows the training data and looks at nothing else.


class ClassCounts:
    """How often each class (a sense key, a page) was seen with each word (a lemma, a mention as it is written).

    >>> counts = ClassCounts([("bank", "bank%1"), ("bank", "bank%2"), ("bank", "bank%2"), ("bat", "bat%1")])
    >>> counts.most_frequent("bank"), counts.most_frequent("bow")
    ('bank%2', None)
    >>> counts.most_frequent("bank", among=("bank%1", "bank%3"))
    'bank%1'
    """

    __slots__ = ("_counts",)

    def __init__(self, seen: Iterable[tuple[str, str]]) -> None:
        self._counts: dict[str, Counter[str]] = {}
        for word, label in seen:
            self._counts.setdefault(word, Counter())[label] += 1

    def most_frequent(self, word: str, *, among: Sequence[str] = ()) -> str | None:
        """Return the class that was seen most often with a word, or ``None`` for a word that was never seen.

        With *among* only these classes count, and the first of them wins a tie; without it, the class that was seen
        first wins a tie.
        """
        counts = self._counts.get(word, Counter())
        # a counter keeps the order in which its keys came
        best = max(among or counts, key=lambda label: counts[label], default=None)
        return best if best is not None and counts[best] else None
