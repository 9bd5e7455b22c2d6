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
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
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
from lexiscope.core.task import Task
from lexiscope.core.usage import Usage
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


def load(spec: SubjectSpec) -> Baseline | WordFrequency | FirstOption | MostFrequentSense:
    """Make the baseline that a spec names.

    Errors: :class:`SpecError` for an unknown name or option.
    """
    name, _, options = split_name(spec.name)
    if name == "frequency":
        if set(options) - {"table"}:
            raise SpecError(f"the baseline {spec.name!r} is not understood", hint="frequency takes ?table=FILE alone")
        return WordFrequency(options.get("table", ""))
    if name in _OF_SENSES:
        return _sense_baseline(name, options)
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
        return tasks_of(self.name)

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
        measure, rule = _RULES[self.name]
        asked = catalog.task(task)
        if _RANDOM_NUMBER in dict(asked.measures):
            return self._random_preferences(items, task)
        if asked.scale is None:
            return _chosen_options([self._random_option(item, asked) for item in items], items, self.subject_id, task)
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
            able = " or ".join(f"baseline:{rule}" for rule in _rules_of(task)) or "another subject"
            hint = f"use {able}; `lexiscope list pairings` shows who answers what"
            raise InputError(f"baseline:{self.name} does not answer {task!r}", hint=hint)

    def _random_option(self, item: Item, task: Task) -> str:
        if task.options is None or set(task.baselines) & set(_OF_SENSES):
            options: Sequence[str] = _options_of(item)
        else:
            # those of the task itself (t and f), in an order that no item changes
            options = sorted(task.options(item, "full"))
        return options[_hashed(self._used_seed, item.item_id) % len(options)]

    def _random_preferences(self, items: Sequence[Item], task: str) -> ResponseTable:
        pairs = [(item.item_id, number) for item in items for number in range(len(item.options))]
        names = [f"incorrect_{number}" if number else "correct" for _, number in pairs]
        seeded = zip(pairs, names, strict=True)
        return ResponseTable.from_columns(
            {
                "subject_id": self.subject_id,
                "subject_kind": self.kind,
                "item_id": [item_id for item_id, _ in pairs],
                "task": task,
                "measure": _RANDOM_NUMBER,
                "value": [_hashed(self._used_seed, f"{item_id}\n{name}") / 2**64 for (item_id, _), name in seeded],
                "option": names,
            }
        )


def _rules_of(task: str) -> tuple[str, ...]:
    return tuple(sorted(catalog.task(task).baselines)) if task in catalog.names("tasks") else ()


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
    return {match.group().casefold() for match in _WORDS.finditer(context)}


_RULES: dict[str, tuple[str, Callable[[Item, Scale | None, int], float]]] = {
    "random": ("rating", _random),
    "constant": ("rating", _constant),
    "word_overlap": ("jaccard_distance", _word_overlap),
}


# -- the word-frequency baseline of choice sets: the more frequent word wins, whatever the sentence says ------------


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
        """The tasks that its rule answers."""
        return tasks_of("frequency")

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

        Errors: :class:`InputError` for a task that the rule does not fit or a damaged table;
        :class:`~lexiscope.core.errors.DataError` without a table where WordNet is not at hand, or items not in English.
        """
        if task not in self.tasks:
            raise InputError(f"word frequency answers {', '.join(self.tasks)}, not {task!r}")
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


# -- senses and pages: the first option, and the most frequent sense of a corpus -------------------------------------


class FirstOption:
    """Takes the first option: the first sense of the lexicon, or the candidate page that most links lead to.

    The options of an item stand in that order in Lexiscope's datasets; elsewhere the rule means what the order means.
    """

    kind = "baseline"

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def subject_id(self) -> str:
        """Its spec."""
        return f"baseline:{self.name}"

    @property
    def tasks(self) -> tuple[str, ...]:
        """The task that its rule answers."""
        return tasks_of(self.name)

    @property
    def facts(self) -> SubjectFacts:
        """Its name, and as its revision the version of its rule."""
        return SubjectFacts(self.subject_id, title=self.name, kind=self.kind, n_parameters=0, revision="1")

    def judge(self, items: Sequence[Item], task: str) -> ResponseTable:
        """Return the first option of every item.

        Errors: :class:`InputError` for a task that the rule does not fit, or an item without options.
        """
        _check_answered(self.name, task)
        return _chosen_options([_options_of(item)[0] for item in items], items, self.subject_id, task)


class MostFrequentSense:
    """Takes the sense that a sense-tagged corpus has most often for the lemma and part of speech of the target.

    *corpus* is a folder with SemCor (another corpus of the same files may lie there), empty for SemCor where data are
    looked for. Of several keys of an instance the first counts, ties go to the sense that stands first in the lexicon.
    A word that the corpus does not have gets its first sense, or no answer where *back_off* is false.
    """

    kind = "baseline"

    def __init__(self, corpus: str = "", *, back_off: bool = True) -> None:
        self.corpus = corpus
        self.back_off = back_off

    @property
    def subject_id(self) -> str:
        """Its spec."""
        given = [f"corpus={self.corpus}"] if self.corpus else []
        given += [] if self.back_off else ["back_off=no"]
        return f"baseline:{MOST_FREQUENT}" + (f"?{'&'.join(given)}" if given else "")

    @property
    def tasks(self) -> tuple[str, ...]:
        """The task that its rule answers."""
        return tasks_of(MOST_FREQUENT)

    @property
    def facts(self) -> SubjectFacts:
        """Its name, and as its revision the sha256 of the gold keys that it counted."""
        title = f"most frequent sense ({Path(self.corpus).name if self.corpus else 'SemCor'})"
        revision = f"1 {sha256_of(self._texts.keys)}"
        return SubjectFacts(self.subject_id, title=title, kind=self.kind, n_parameters=0, revision=revision)

    def judge(self, items: Sequence[Item], task: str) -> ResponseTable:
        """Return the most frequent sense of every item; a row without value and option where there is no answer.

        Errors: :class:`InputError` for another task, an item without options, or a usage without lemma or part of
        speech; :class:`~lexiscope.core.errors.DataError` where SemCor is not at hand.
        """
        _check_answered(MOST_FREQUENT, task)
        return _chosen_options([self._sense(item) for item in items], items, self.subject_id, task)

    def _sense(self, item: Item) -> str | None:
        usage, options = item.usages[0], _options_of(item)
        if not usage.lemma or not usage.pos:
            hint = "give the lemma and the part of speech as columns"
            raise InputError("a usage needs its lemma and part of speech", place=Place(item_id=item.item_id), hint=hint)
        word = _word(usage.lemma, usage.pos)
        return self._sense_counts.most_frequent(word, among=options) or (options[0] if self.back_off else None)

    @cached_property
    def _texts(self) -> UnifiedCorpus:
        return semcor.load(Path(self.corpus) if self.corpus else None)

    @cached_property
    def _sense_counts(self) -> ClassCounts:
        tokens = (sentence.tokens[place] for sentence in self._texts.sentences() for place in sentence.instances)
        return ClassCounts((_word(token.lemma, token.pos), token.sense_keys[0]) for token in tokens)


def _sense_baseline(name: str, options: dict[str, str]) -> FirstOption | MostFrequentSense:
    """Make the baseline of a name and its options.

    Errors: :class:`SpecError` for an option that it does not have.
    """
    allowed = {"corpus", "back_off"} if name == MOST_FREQUENT else set()
    if set(options) - allowed or options.get("back_off", "no") != "no":
        hint = f"{MOST_FREQUENT} takes ?corpus=FOLDER and ?back_off=no, {FIRST} and {MOST_LINKED} nothing"
        raise SpecError(f"the baseline {name!r} does not understand {options}", hint=hint)
    if name != MOST_FREQUENT:
        return FirstOption(name)
    return MostFrequentSense(options.get("corpus", ""), back_off="back_off" not in options)


def _options_of(item: Item) -> tuple[str, ...]:
    """Return the ids of an item's options, which may stand in the condition ``senses``.

    Errors: :class:`InputError` naming an item without options.
    """
    options = item.options or (tuple(glosses_of(item)) if SENSES in item.conditions else ())
    if not options:
        raise InputError("this item has no options to choose from", place=Place(item_id=item.item_id))
    return options


def _check_answered(name: str, task: str) -> None:
    if task not in tasks_of(name):
        raise InputError(f"baseline:{name} answers {', '.join(tasks_of(name))}, not {task!r}")


def _chosen_options(chosen: Sequence[str | None], items: Sequence[Item], subject_id: str, task: str) -> ResponseTable:
    """Return one row per item: the chosen option, nothing where there was no answer. An entry retrieved has value 1."""
    scored = _RETRIEVED in dict(catalog.task(task).measures)
    return ResponseTable.from_columns(
        {
            "subject_id": subject_id,
            "subject_kind": "baseline",
            "item_id": [item.item_id for item in items],
            "task": task,
            "measure": _RETRIEVED if scored else "choice",
            "value": [1.0 if scored and each is not None else None for each in chosen],
            "option": list(chosen),
        }
    )


def _word(lemma: str, tag: str) -> str:
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

        With *among* only these classes count, and the first of them wins a tie; else the one that was seen first does.
        """
        counts = self._counts.get(word, Counter())
        # a counter keeps the order in which its keys came
        best = max(among or counts, key=lambda label: counts[label], default=None)
        return best if best is not None and counts[best] else None
