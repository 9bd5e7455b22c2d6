"""The items of a study: from an item file, a table or a dataset, and its questions with a known answer."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lexiscope.annotation.study_file.definition import Answer, KnownQuestion, StudyDefinition
from lexiscope.core import catalog
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.scale import Scale
from lexiscope.core.screen import Screen
from lexiscope.core.settings import ReadingOptions
from lexiscope.core.usage import Usage, locate
from lexiscope.items.choice_sets.choice_set_file import differing_spans
from lexiscope.items.read.importer import import_items
from lexiscope.items.tables.columns import ColumnMap
from lexiscope.items.tables.tabular import is_item_table, read_items

SETUP = "setup"
"""The condition with the same value for stories that differ only in their ending or in the tested meaning."""


@dataclass(frozen=True, slots=True)
class StudyItems:
    """The items of a study, and a remark on rows that were merged into one item (:attr:`Imported.row_summary`)."""

    items: tuple[Item, ...]
    merged: str = ""


def study_items(definition: StudyDefinition) -> tuple[Item, ...]:
    """Return the items that participants will answer (:func:`read_study_items`)."""
    return read_study_items(definition).items


def read_study_items(definition: StudyDefinition) -> StudyItems:
    """Return the items that participants will answer; ratings in the same file or dataset are not used.

    Stories get their setup (:func:`with_setups`). A table of items that Lexiscope wrote (``lexiscope choices draw``) is
    taken as it is, without its lists.
    Errors: :class:`InputError` E620 where the definition names neither a file nor a dataset; those of
    :func:`lexiscope.items.read.importer.import_items`.
    """
    if definition.dataset:
        return StudyItems(with_setups(_without_lists(catalog.dataset(definition.dataset).items)))
    if not definition.items:
        raise InputError("The study has no items.", code="E620", hint="Set items (an item file) or dataset.")
    return table_items(definition.items) or file_items(
        definition.items,
        ColumnMap.from_mapping(definition.columns),
        task=definition.task,
        dataset=definition.name,
        language=definition.language,
        scale=definition.scale.scale() if catalog.screen(definition.task).scale is not None else None,
    )


def file_items(
    path: Path | str, columns: ColumnMap, *, task: str, dataset: str, language: str, scale: Scale | None = None
) -> StudyItems:
    """Read the items of a file for a task; columns that the task shows are conditions, under any name.

    Errors: those of :func:`lexiscope.items.read.importer.import_items`, or of what reads a task's own files
    (:attr:`Task.reads`); :class:`InputError` for names of columns of such a file.
    """
    screen, reads = catalog.screen(task), catalog.task(task).reads
    if reads is not None:
        if columns != ColumnMap():
            what = f"the columns of a file for the task {task} have fixed names"
            raise InputError(what, place=Place(str(path)), hint="leave out the names of columns (--map)")
        return StudyItems(reads(path, dataset=dataset, language=language, options=ReadingOptions()))
    imported = import_items(
        path,
        columns,
        dataset=dataset,
        task=task,
        scale=scale,
        language=language,
        conditions=shown_columns(screen),
        word_alone=screen.word_alone,
    )
    return StudyItems(with_setups(imported.items), imported.row_summary)


def table_items(path: Path | str) -> StudyItems | None:
    """Return the items of a table that Lexiscope wrote, ``None`` for any other file.

    The study's design decides on lists, not the table.
    Errors: those of :func:`lexiscope.items.tables.tabular.read_items`.
    """
    return StudyItems(with_setups(_without_lists(read_items(path)))) if is_item_table(path) else None


def shown_columns(screen: Screen) -> tuple[str, ...]:
    """Return the columns of an item file that a task's page shows, and by which its items differ."""
    return (*screen.requires, *screen.shows)


def with_setups(items: Sequence[Item]) -> tuple[Item, ...]:
    """Give stories without a condition ``setup`` one, so that variants of one story can be kept apart.

    Stories are items with a ``precontext``. Equal are the setups of equal precontexts and ambiguous sentences, but for
    white space; the setup is named after its word and its text. Other items are returned as they are.

    >>> from lexiscope.core.usage import Usage
    >>> shuts = Usage("The bank shuts.", 4, 8)
    >>> story = Item("i", "d", (shuts,), conditions={"precontext": "It is six."})
    >>> with_setups([story])[0].condition("setup")
    'bank-1a627b83e5'
    """
    return tuple(_with_setup(item) for item in items)


def _without_lists(items: Iterable[Item]) -> list[Item]:
    return [replace(item, list_id=None) for item in items]


def _with_setup(item: Item) -> Item:
    if SETUP in item.conditions or "precontext" not in item.conditions or not item.usages:
        return item
    text = " ".join(f"{item.conditions['precontext']} {item.usages[0].text}".split())
    name = f"{item.word}-{hashlib.sha256(text.encode()).hexdigest()[:10]}"
    return replace(item, conditions={**item.conditions, SETUP: name})


# -- questions with a known answer as items: qualification, attention, practice, worked examples --------------------


def question_item(question: KnownQuestion, dataset: str, language: str) -> Item:
    """Return the item that a question shows.

    ``sentence_1``, ``sentence_2`` … become usages of ``target`` (or of ``target_1`` …), ``correct`` and ``incorrect_1``
    … the texts of a choice set; all else that it shows becomes a condition.
    Errors: :class:`InputError` E628 where it shows no sentence or names no target; the errors of
    :func:`lexiscope.core.usage.locate`.
    """
    shows = question.shows
    if texts := [name for name in shows if name == "correct" or name.startswith("incorrect_")]:
        placed = differing_spans([shows[name] for name in texts])
        words = tuple(text.word for text in placed)
        own = tuple(Usage(text.text, text.start, text.end, text.word, language=language) for text in placed)
        conditions = {name: text for name, text in shows.items() if name not in texts}
        return Item(question.id, dataset, own, words, conditions=conditions)
    sentences = sorted(name for name in shows if name == "sentence" or name.startswith("sentence_"))
    if not sentences:
        raise InputError(
            f"The question {question.id!r} shows no sentence.", code="E628", hint="Add sentence_1 (and sentence_2)."
        )
    usages = []
    for name in sentences:
        target = _target(question, name)
        usages.append(Usage(shows[name], *locate(shows[name], target), lemma=target, language=language))
    used = {*sentences, *(name for name in shows if name == "target" or name.startswith("target_"))}
    rest = {name: text for name, text in shows.items() if name not in used}
    return Item(question.id, dataset, tuple(usages), conditions=rest)


def is_right(question: KnownQuestion, answer: Answer) -> bool:
    """Return whether an answer is among those that the question accepts; a number may be given as text.

    >>> is_right(KnownQuestion(id="q", shows={}, accept=(4, 5)), "5")
    True
    """
    number = _number(answer)
    return any(
        str(answer) == str(accepted) or (number is not None and number == _number(accepted))
        for accepted in question.accept
    )


def _target(question: KnownQuestion, sentence: str) -> str:
    name = sentence.replace("sentence", "target")
    target = question.shows.get(name, question.shows.get("target", ""))
    if not target:
        raise InputError(f"The question {question.id!r} has no target for {sentence}.", code="E628", hint="Add target.")
    return target


def _number(answer: Answer) -> float | None:
    try:
        return float(answer)
    except ValueError:
        return None
