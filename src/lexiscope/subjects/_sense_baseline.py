"""Baselines of sense disambiguation and entity linking: the first option, and the most frequent sense of a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import InputError, Place, SpecError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.run import sha256_of
from lexiscope.items.answers.prior import Prior
from lexiscope.items.answers.sense_options import SENSES, glosses_of
from lexiscope.resources.corpora import semcor
from lexiscope.resources.corpora.unified_wsd import POS_OF_TAG, UnifiedCorpus

FIRST, MOST_FREQUENT = "first_sense", "most_frequent_sense"
MOST_LINKED = "most_linked"
TASKS = {FIRST: "sense_disambiguation", MOST_FREQUENT: "sense_disambiguation", MOST_LINKED: "entity_link"}
"""The task that each rule answers."""

TRUTHS = ("f", "t")
"""The answers where a pair or a definition is judged."""

MEASURE = {
    "sense_disambiguation": "choice",
    "entity_link": "retrieved",
    "same_sense": "choice",
    "sense_verification": "choice",
}
"""The measure of the answers to each task in which one of several options is chosen."""


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
        return (TASKS[self.name],)

    @property
    def facts(self) -> SubjectFacts:
        """Its name, and as its revision the version of its rule."""
        return SubjectFacts(self.subject_id, title=self.name, kind=self.kind, n_parameters=0, revision="1")

    def judge(self, items: Sequence[Item], task: str) -> ResponseTable:
        """Return the first option of every item.

        Errors: :class:`InputError` for a task that the rule does not fit, or an item without options.
        """
        check_task(self.name, task)
        return chosen_options([options_of(item)[0] for item in items], items, self.subject_id, task)


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
        return (TASKS[MOST_FREQUENT],)

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
        check_task(MOST_FREQUENT, task)
        return chosen_options([self._sense(item) for item in items], items, self.subject_id, task)

    def _sense(self, item: Item) -> str | None:
        usage, options = item.usages[0], options_of(item)
        if not usage.lemma or not usage.pos:
            hint = "give the lemma and the part of speech as columns"
            raise InputError("a usage needs its lemma and part of speech", place=Place(item_id=item.item_id), hint=hint)
        word = _word(usage.lemma, usage.pos)
        return self._prior.best(word, among=options) or (options[0] if self.back_off else None)

    @cached_property
    def _texts(self) -> UnifiedCorpus:
        return semcor.load(Path(self.corpus) if self.corpus else None)

    @cached_property
    def _prior(self) -> Prior:
        tokens = (sentence.tokens[place] for sentence in self._texts.sentences() for place in sentence.instances)
        return Prior((_word(token.lemma, token.pos), token.sense_keys[0]) for token in tokens)


def sense_baseline(name: str, options: dict[str, str]) -> FirstOption | MostFrequentSense:
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


def options_of(item: Item) -> tuple[str, ...]:
    """Return the ids of an item's options, which may stand in the condition ``senses``.

    Errors: :class:`InputError` naming an item without options.
    """
    options = item.options or (tuple(glosses_of(item)) if SENSES in item.conditions else ())
    if not options:
        raise InputError("this item has no options to choose from", place=Place(item_id=item.item_id))
    return options


def check_task(name: str, task: str) -> None:
    """Check that a rule answers a task. Errors: :class:`InputError`."""
    if task != TASKS[name]:
        raise InputError(f"baseline:{name} answers {TASKS[name]}, not {task!r}")


def chosen_options(chosen: Sequence[str | None], items: Sequence[Item], subject_id: str, task: str) -> ResponseTable:
    """Return one row per item: the chosen option, nothing where there was no answer. An entry retrieved has value 1."""
    scored = MEASURE[task] == "retrieved"
    return ResponseTable.from_columns(
        {
            "subject_id": subject_id,
            "subject_kind": "baseline",
            "item_id": [item.item_id for item in items],
            "task": task,
            "measure": MEASURE[task],
            "value": [1.0 if scored and each is not None else None for each in chosen],
            "option": list(chosen),
        }
    )


def _word(lemma: str, tag: str) -> str:
    return f"{lemma.lower()}/{POS_OF_TAG.get(tag, tag)}"
