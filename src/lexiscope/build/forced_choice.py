"""Forced choices as choice sets, and choice sets as forced choices: what people and chat models are asked of a pair.

If the items are words of a collection, people and chat models read a sentence and choose between two words (the task
``substitution``); models that score texts compare the two sentences (``minimal_pair``). Each page of the one is the
choice set ``substitution/controlled`` of the other. If the items are finished texts, a choice set is a page, too, and
people and chat models choose a text. A choice is right or wrong in both.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from lexiscope.build.gap_filling.gaps import COLUMN_CURATED, COLUMN_PROMPT, COLUMN_SYNSET, MEASURE
from lexiscope.build.gap_filling.gaps import SUITE as GAPS
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import AS_GIVEN, Condition, Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.settings import ReadingOptions
from lexiscope.core.simulated import COLLECTED, kind_of_person, refuse_mixture
from lexiscope.core.usage import Usage
from lexiscope.items.answers.chat_answers import CHAT_MEASURES
from lexiscope.items.choice_sets.minimal_pairs import SynonymItem
from lexiscope.items.choice_sets.surface import Mode, place_word
from lexiscope.items.read.importer import import_items, with_exported_options
from lexiscope.items.read.item_source import real_items
from lexiscope.items.sheets.choice_sheet import human_sheet
from lexiscope.items.sheets.given_answer import COMPLETE, is_complete_export
from lexiscope.items.tables.tabular import is_item_table, read_items
from lexiscope.resources.platforms.opened import open_file
from lexiscope.resources.tables.delimited import read_header

PAGE, PAIR = "substitution", "minimal_pair"
"""The task of a forced choice between words, and that of finished texts."""
PAGES = (PAGE, PAIR)
CHOICE_SET = "choice_set"
"""The condition of a page that names the choice set that it is; a page without it is a choice set itself."""
SHARE = "share_chosen"
"""The measure of an option of a choice set that was chosen on a page: the share of the answers that chose it."""
_CONTROLLED = {"suite": PAGE, "condition": "controlled"}
_COLUMNS = (
    ("participant_id", "rater", "participant"),
    ("item", "item_id"),
    ("response_text", "choice", "response", "answer"),
)
"""The names that the columns of a table of answers may have: person, item, answer."""
_OPTIONS = ("option_1", "option_2")
_RIGHT = "correct_option"


def pages_of(collection: Sequence[SynonymItem], sets: Sequence[Item], *, mode: Mode, dataset: str) -> tuple[Item, ...]:
    """Return the forced choice of each item of a collection that has a choice set ``substitution/controlled``.

    Their ids are those of :func:`~lexiscope.items.sheets.choice_sheet.human_sheet`.
    """
    asked = {
        str(item.condition("item")): item.item_id
        for item in sets
        if all(item.conditions.get(name) == value for name, value in _CONTROLLED.items())
    }
    pages = human_sheet(collection, mode=mode, dataset=dataset)
    return tuple(
        replace(page, conditions={**page.conditions, CHOICE_SET: asked[str(page.condition("item"))]})
        for page in pages
        if str(page.condition("item")) in asked
    )


def task_of(page: Item) -> str:
    """Return the task of a page: its options are words in one sentence, or each has a text."""
    return PAGE if len(page.usages) == 1 else PAIR


def set_of(page: Item) -> str:
    """Return the id of the choice set that a page is."""
    return str(page.conditions.get(CHOICE_SET, page.item_id))


def by_task(pages: Sequence[Item]) -> dict[str, tuple[Item, ...]]:
    """Return pages by their task."""
    return {task: own for task in PAGES if (own := tuple(page for page in pages if task_of(page) == task))}


def in_drawn_orders(pages: Sequence[Item], *, seed: int) -> tuple[Item, ...]:
    """Return pages with their options in an order that is drawn: the right one is as often at each place.

    Of two options it is first on half of the pages (one more, if their number is odd); the wrong ones keep their order.
    A chat model is asked in this order.
    """
    drawn = list(range(len(pages)))
    random.Random(seed).shuffle(drawn)
    made = []
    for page, number in zip(pages, drawn, strict=True):
        place, texts = number % len(page.options), dict(zip(page.options, page.usages, strict=False))
        right, *wrong = _words(page)
        options = (*wrong[:place], right, *wrong[place:])
        usages = page.usages if task_of(page) == PAGE else tuple(texts[word] for word in options)
        about = {**page.conditions, AS_GIVEN: True}
        made.append(replace(page, options=options, usages=usages, conditions=about))
    return tuple(made)


def pages_in(
    path: Path, *, language: str, options: ReadingOptions | None = None
) -> tuple[tuple[Item, ...], tuple[Item, ...]] | None:
    """Return the forced choices and the gaps of a file that people were asked: ``items.csv`` of an export, or a table.

    ``None`` for a file of neither. Errors: those of the readers.
    """
    if is_item_table(path):
        every = read_items(path)
    else:
        header = open_file(path, options).header
        gaps = {COLUMN_PROMPT, COLUMN_CURATED} <= {*header}
        chosen = {*_OPTIONS} <= {*header} or ({"options", "gold"} <= {*header} and "sentence_2" not in header)
        if not gaps and not chosen:
            return None
        task = GAPS if gaps else PAGE
        every = import_items(path, None, dataset=path.stem, task=task, language=language, options=options).items
        every = tuple(map(with_exported_options, every))
    items = real_items(every)
    if items and all(COLUMN_PROMPT in item.conditions and COLUMN_CURATED in item.conditions for item in items):
        empty: Mapping[str, Condition] = {COLUMN_SYNSET: ""}
        return (), tuple(replace(item, conditions={**empty, **item.conditions}) for item in items)
    if items and all(
        len(item.usages) == 1 and (len(item.options) == 2 or {*_OPTIONS} <= {*item.conditions}) for item in items
    ):
        return tuple(_page(item, path) for item in items), ()
    return None


def choice_sets_of(pages: Sequence[Item]) -> tuple[Item, ...]:
    """Return the two texts of each page, the right word first, as the choice sets ``substitution/controlled``."""
    return tuple(_choice_set(page, number) for number, page in enumerate(pages, start=1))


def read_people(paths: Sequence[str], pages: Sequence[Item], gaps: Sequence[Item]) -> ResponseTable:
    """Return people's answers to pages and gaps: choices (``option``) and written words (``raw``).

    A file is ``choices.csv`` or ``judgments.csv`` of an export, what ``lexiscope choices read`` writes, or a table with
    a row per answer (participant, item, answer). An answer to finished texts is the word or the whole text.
    Errors: :class:`InputError` E471 for an answer to another item, a choice that was not offered, a complete table of
    an export; E502 for a person who answered twice; E508 for people and simulated participants together.
    """
    offered, tasks = {page.item_id: page.options for page in pages}, {page.item_id: task_of(page) for page in pages}
    texts = {
        (page.item_id, usage.text.strip()): word
        for page in pages
        if task_of(page) == PAIR
        for word, usage in zip(page.options, page.usages, strict=True)
    }
    known = {**offered, **{item.item_id: () for item in gaps}}
    rows: dict[tuple[str, str], Response] = {}
    for path in paths:
        for row, place in _answers_in(Path(path)):
            if row.item_id not in known:
                what = f"{row.subject_id} answered an item that these items do not have"
                hint = "give the items that were asked: --items items.csv of the export"
                raise InputError(what, code="E471", place=place, hint=hint)
            if (row.subject_id, row.item_id) in rows:
                what, hint = f"{row.subject_id} answered this item twice", "keep the row that counts"
                raise InputError(what, code="E502", place=place, hint=hint)
            said = (row.option or row.raw or "").strip()
            said = texts.get((row.item_id, said), said)
            if said and row.item_id in offered and said not in offered[row.item_id]:
                hint = f"correct the answer: the item offers {' and '.join(offered[row.item_id])}"
                raise InputError(f"the answer {said!r} was not offered", code="E471", place=place, hint=hint)
            if row.item_id in offered:
                answer = replace(row, task=tasks[row.item_id], measure="choice", option=said or None, raw=None)
            else:
                answer = replace(row, task=GAPS, measure=MEASURE, option=None, raw=said or None)
            rows[row.subject_id, row.item_id] = answer
    table = ResponseTable.from_rows(rows.values())
    refuse_mixture(table.unique("subject_kind"), place=Place(", ".join(paths)))
    return table


def as_choice_sets(table: ResponseTable, pages: Sequence[Item]) -> ResponseTable:
    """Return choices on pages as values of the options of their choice sets: the share of answers that chose each.

    An answer that is none gives neither option a share: the choice set is then a tie, which counts as wrong.
    """
    by_id = {page.item_id: page for page in pages}
    answers: dict[tuple[str, str, str], list[str | None]] = {}
    for row in table.where(task=PAGES, measure="choice").rows():
        answers.setdefault((row.subject_id, row.subject_kind, row.item_id), []).append(row.option)
    rows = []
    for (subject, kind, item_id), chosen in answers.items():
        page = by_id[item_id]
        for number, word in enumerate(_words(page)):
            share = sum(option == word for option in chosen) / len(chosen)
            name = f"incorrect_{number}" if number else "correct"
            rows.append(Response(subject, kind, set_of(page), PAIR, SHARE, share, name, view="full"))
    return ResponseTable.from_rows(rows)


def decided(table: ResponseTable, sets: Sequence[Item]) -> ResponseTable:
    """Return answers to choice sets with the texts that were chosen as values of their options."""
    return ResponseTable.concat([without_choices(table), as_choice_sets(table, sets)])


def without_choices(table: ResponseTable) -> ResponseTable:
    """Return answers without the texts that were chosen, and without the other rows of a chat model's replies."""
    left_out = ("choice", "flag_weird", *(name for name, _ in CHAT_MEASURES))
    return table.filter(~np.isin(table.column("measure"), left_out))


def first_chosen(table: ResponseTable, pages: Sequence[Item]) -> dict[str, bool]:
    """Return whether the option that stood first was chosen on each page of two that a subject answered, by page."""
    first = {page.item_id: page.options[0] for page in pages if len(page.options) == 2}
    rows = table.where(task=PAGES, measure="choice").rows()
    return {
        row.item_id: row.option == first[row.item_id] for row in rows if row.option is not None and row.item_id in first
    }


def _answers_in(path: Path) -> Iterator[tuple[Response, Place]]:
    """The answers of a file, each with its place; the option or the text of the answer is not yet checked."""
    if "subject_id" in read_header(path):
        table = ResponseTable.read_csv(path)
        if is_complete_export(table):
            hint = "give choices.csv or judgments.csv of the same export"
            raise InputError(COMPLETE, code="E471", place=Place(str(path)), hint=hint)
        for row in table.where(subject_kind=COLLECTED, measure=("choice", MEASURE)).rows():
            yield row, Place(str(path), item_id=row.item_id)
        return
    opened = open_file(path).table
    columns = [next((name for name in names if name in opened.header), "") for names in _COLUMNS]
    if not all(columns):
        missing = next(names[-1] for name, names in zip(columns, _COLUMNS, strict=True) if not name)
        hint = "name the columns participant, item_id and answer"
        raise InputError(f"the file has no column {missing}", code="E006", place=Place(str(path), 1), hint=hint)
    person, item, answer = columns
    for number in range(len(opened)):
        who = opened[person][number].strip()
        said = opened[answer][number] or (opened["response"][number] if "response" in opened.header else "")
        row = Response(who, kind_of_person(who), opened[item][number].strip(), PAGE, "choice", option=said, view="full")
        yield row, opened.place(number, answer)


def _page(item: Item, path: Path) -> Item:
    """The page with its options, its right word, and the choice set that is made of it."""
    words = item.options or tuple(str(item.conditions[name]).strip() for name in _OPTIONS)
    right = item.gold or str(item.conditions.get(_RIGHT, "")).strip()
    if right not in words:
        what = f"the right word {right!r} is not one of the two words {' and '.join(words)}"
        what = what if right else "a forced choice has no right word"
        hint = f"give the right word in the column gold or {_RIGHT}"
        raise InputError(what, place=Place(str(path), item_id=item.item_id), hint=hint)
    return replace(item, options=words, gold=right, conditions={**item.conditions, CHOICE_SET: item.item_id})


def _words(page: Item) -> tuple[str, ...]:
    """The right word of a page and the other ones."""
    return str(page.gold), *(word for word in page.options if word != page.gold)


def _choice_set(page: Item, number: int) -> Item:
    usage, words = page.usages[0], _words(page)
    placed = [place_word(usage.text, (usage.start, usage.end), word, language=usage.language) for word in words]
    usages = tuple(Usage(own.text, own.start, own.end, usage.lemma, usage.pos, usage.language) for own in placed)
    sentence = str(page.conditions.get("sentence", usage.text))
    conditions: dict[str, Condition] = {**_CONTROLLED, "item": number, "sentence": sentence, "target": usage.target}
    return Item(page.item_id, page.dataset, usages, words, words[0], conditions=conditions)
