"""The word-frequency baseline of choice sets: the more frequent word wins, whatever the sentence says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

from lexiscope.build.minimal_pairs.word_counts import noun_count, read_frequencies
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import DataError, InputError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import statistic_name
from lexiscope.core.run import sha256_of
from lexiscope.items.choice_sets.surface import is_english
from lexiscope.resources.lexicons import wordnet

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
            raise DataError(what, hint="name counts of words: baseline:frequency?table=FILE")
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
