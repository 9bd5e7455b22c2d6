"""Your own minimal pairs as a table: one row per choice set, the right text first, then one or more wrong ones.

Columns: ``item_id``, ``correct``, ``incorrect_1``, ``incorrect_2`` … They hold whole texts; with a further column
``template``, a text with ``{word}`` in it, they hold words. All other columns become conditions of the items. The
columns of BLiMP are taken as they are: ``sentence_good``, ``sentence_bad``, ``UID`` and ``pairID`` (or ``pair_id``).
Texts in any order are ``text_1``, ``text_2`` …, with the right one, or its number, in ``correct_option``. The table of
items of an export has the spans of its texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

from lexiscope.core import catalog
from lexiscope.core.errors import InputError, LexiscopeError, Place
from lexiscope.core.foreign import parse_json
from lexiscope.core.item import Condition, Item
from lexiscope.core.settings import ReadingOptions
from lexiscope.core.usage import Usage
from lexiscope.items.choice_sets.collection_file import check_no_column_twice, read_collection
from lexiscope.items.choice_sets.minimal_pairs import choice_sets
from lexiscope.items.choice_sets.surface import Placed, is_english
from lexiscope.items.choice_sets.templates import synonymy_templates
from lexiscope.items.tables.item_rows import table_rows
from lexiscope.items.tables.tabular import is_item_table, read_items
from lexiscope.resources.tables.rows import Row

COLUMN_TEMPLATE = "template"
_SLOT = "{word}"
_BLIMP = {"sentence_good": "correct", "sentence_bad": "incorrect_1"}
_COLLECTION = ("synonym", "distractor")
_IN_ANY_ORDER = ("text_1", "text_2", "correct_option")
_EXPORTED = ("item_id", "kind", "lists", "word", "options", "gold", "sentence_1", "start_1", "sentence_2", "start_2")
_BLIMP_ID = ("UID", "pairID", "pair_id")
_WRONG = re.compile(r"incorrect_(\d+)")
_TEXT = re.compile(r"text_(\d+)")
_OF_TEXT = re.compile(r"(sentence|target|start|end|sense)_\d+")
# dots between single letters: U.S., e.g.
_ABBREVIATION = re.compile(r"(?<!\w)(?:\w\.){2,}$")
_CLOSING = ".,;:!?…\"'”’»)]}"


def read_choice_sets(
    path: Path | str, *, dataset: str, language: str = "en", options: ReadingOptions | None = None
) -> tuple[Item, ...]:
    """Read choice sets, the items of the task ``minimal_pair``.

    Where texts are given, the word is what differs between them (:func:`differing_spans`). A row may leave the last
    columns of wrong options empty.
    Errors: :class:`InputError` with file and line: E006 and E007 (no such column, or twice), E403 (an id comes twice),
    E452 (no wrong option, an empty right one, or two the same), E453 (a template without one ``{word}``), and those
    of :class:`~lexiscope.resources.tables.rows.RowReader`.
    """
    rows = table_rows(path, options)
    header = next(rows)
    check_no_column_twice(header)
    if set(header.fields) >= set(_EXPORTED):
        return tuple(_exported(dict(zip(header.fields, row.fields, strict=True)), row, dataset) for row in rows)
    if set(header.fields) >= set(_IN_ANY_ORDER):
        header, rows = _right_one_first(header, rows)
    blimp = set(header.fields) >= set(_BLIMP)
    names = [_BLIMP.get(name, name) for name in header.fields] if blimp else header.fields
    wrong = _wrong_columns(replace(header, fields=[*names, *(["item_id"] if blimp else [])]))
    items: dict[str, Item] = {}
    for row in rows:
        cells = dict(zip(names, row.fields, strict=True))
        if blimp:
            # a pair is numbered within its paradigm (UID)
            cells = {"item_id": "/".join(cells[name] for name in _BLIMP_ID if cells.get(name))} | cells
        item = _item(cells, row, wrong, (dataset, language))
        if item.item_id in items:
            raise _row_error(row, item.item_id, "E403", "two items have the same id", "give each its own")
        items[item.item_id] = item
    return tuple(items.values())


def read_designed_sets(
    path: Path | str, *, language: str = "en", options: ReadingOptions | None = None
) -> tuple[Item, ...]:
    """Read choice sets with their place in a design, from a table of minimal pairs or of items.

    The place is what :func:`~lexiscope.items.choice_sets.minimal_pairs.choice_sets` says of its items: the conditions
    ``suite``, ``expression``, ``condition``, ``item`` and ``sentence``. Defaults for what a file does not say: all
    choice sets are one suite, each is a separate item with a separate sentence, and all are controlled if they have two
    options (of a file with numbers of items, in a column ``item``, those that have).
    Errors: :class:`InputError` for an item that is not a choice set, an invalid number of an item, and E455 for choice
    sets of one cell with different numbers of options (chance is one number for each); those of the readers.
    """
    path = Path(path)
    if is_item_table(path):
        read = read_items(path)
    else:
        read = read_choice_sets(path, dataset=path.stem, language=language, options=options)
    # without numbers of items every choice set is an item of its own, and all are in one condition
    numbered = any(item.conditions.get("item") for item in read)
    more = {item.item_id for item in read if len(item.options) > 2}
    items = tuple(
        _with_design(item, number, path, "random" if more & ({item.item_id} if numbered else more) else "controlled")
        for number, item in enumerate(read, start=1)
    )
    first: dict[str, Item] = {}
    for item in items:
        place = filter(None, (str(item.conditions[name]) for name in ("suite", "expression", "condition")))
        name = "/".join(place)
        known = first.setdefault(name, item)
        if len(item.options) != len(known.options):
            raise InputError(
                f"{name} has choice sets of {len(known.options)} and of {len(item.options)} options",
                code="E455",
                place=Place(str(path), item_id=item.item_id),
                why="chance is one number for all choice sets that are analysed together",
                hint="give all of them as many wrong options; or mark them in a column condition, and give every "
                "item (column item) one choice set of each condition",
            )
    return items


def is_collection(path: Path | str, options: ReadingOptions | None = None) -> bool:
    """Return whether a table holds synonym items (columns ``synonym`` and ``distractor``), not choice sets.

    Errors: those of :class:`~lexiscope.resources.tables.rows.RowReader`.
    """
    return set(_COLLECTION) <= set(next(table_rows(path, options)).fields)


def has_choice_sets(header: Sequence[str]) -> bool:
    """Return whether the columns are those of minimal pairs, of BLiMP's, or of synonyms with their distractors.

    >>> has_choice_sets(["sentence_good", "sentence_bad", "UID"]), has_choice_sets(["sentence_1", "rating"])
    (True, False)
    """
    kinds = (("correct", "incorrect_1"), tuple(_BLIMP), _IN_ANY_ORDER, _COLLECTION)
    return any(set(kind) <= set(header) for kind in kinds)


def read_minimal_pairs(
    path: Path | str, *, dataset: str, language: str = "en", options: ReadingOptions | None = None
) -> tuple[Item, ...]:
    """Read choice sets from either kind of table, as its header says.

    A table with columns ``synonym`` and ``distractor`` is a collection of synonym items
    (:func:`~lexiscope.items.choice_sets.collection_file.read_collection`) and gives the choice sets of the synonymy
    study in clean mode, the controlled ones alone where no item has random nouns, and those of the suite without words
    of any language alone where an item is not in English. Any other is read by :func:`read_choice_sets`.
    Errors: those of the two readers, and of :func:`~lexiscope.items.choice_sets.minimal_pairs.choice_sets`.
    """
    if not is_collection(path, options):
        return read_choice_sets(path, dataset=dataset, language=language, options=options)
    items = read_collection(path, language=language, options=options)
    conditions = None if any(item.random_nouns for item in items) else ("controlled",)
    english = all(is_english(item.language) for item in items)
    used = [template for template in synonymy_templates() if english or template.substitutes]
    return choice_sets(items, used, conditions=conditions, dataset=dataset)


def differing_spans(texts: Sequence[str]) -> tuple[Placed, ...]:
    """Return, for each of several texts, the part in which it differs from the others: whole words, never empty.

    A sign that closes all of these parts (a full stop) is dropped, but the last stop of "U.S." belongs to its word.

    >>> [each.word for each in differing_spans(["She saw the old gate.", "She saw the new gate."])]
    ['old', 'new']
    >>> [each.word for each in differing_spans(["The cats sleep.", "The cats sleeps."])]
    ['sleep', 'sleeps']
    >>> [each.word for each in differing_spans(["It is in the U.S.", "It is in the U.K."])]
    ['U.S.', 'U.K.']
    """
    words = [re.findall(r"\s*\S+", text) for text in texts]
    shortest = min(map(len, words))
    # one word is always left over, so that a text which only lacks a word still has a part of its own
    before = min(_n_shared_words(words), shortest - 1)
    after = min(_n_shared_words([parts[::-1] for parts in words]), shortest - 1 - before)
    spans = []
    for text, parts in zip(texts, words, strict=True):
        start = len("".join(parts[:before]))
        end = len("".join(parts[: len(parts) - after]))
        spans.append((text, start + len(text[start:end]) - len(text[start:end].lstrip()), end))
    while all(
        text[end - 1] in _CLOSING and end - start > 1 and not text[end - 2].isspace() for text, start, end in spans
    ):
        if len({text[end - 1] for text, _, end in spans}) > 1:
            break
        if any(_ABBREVIATION.search(text[start:end]) for text, start, end in spans):
            break
        spans = [(text, start, end - 1) for text, start, end in spans]
    return tuple(Placed(*span) for span in spans)


def _with_design(item: Item, number: int, path: Path, condition: str) -> Item:
    if not item.options or item.gold != item.options[0] or len(item.usages) != len(item.options):
        what = "this is not a choice set: it needs options with a text each, the correct one first"
        asked = " or ".join(catalog.tasks_where(lambda task: task.reads is not None))
        raise InputError(what, place=Place(str(path), item_id=item.item_id), hint=f"give items of the task {asked}")
    given: dict[str, Condition] = {
        "suite": "pairs",
        "expression": "",
        "condition": condition,
        "item": number,
        "sentence": item.item_id,
    }
    # an empty cell says nothing
    given |= {name: value for name, value in item.conditions.items() if value != ""}
    if not str(given["item"]).isdecimal():
        what = f"the item's number (column item) is a whole number, not {given['item']!r}"
        raise InputError(what, place=Place(str(path), item_id=item.item_id), hint="number the items from 1")
    return replace(item, conditions=given)


def _n_shared_words(words: Sequence[Sequence[str]]) -> int:
    """How many words at the beginning are the same in all texts."""
    columns = zip(*words, strict=False)
    return sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, columns))


def _wrong_columns(header: Row) -> tuple[str, ...]:
    names = sorted((name for name in header.fields if _WRONG.fullmatch(name)), key=lambda name: int(name[10:]))
    missing = [name for name in ("item_id", "correct") if name not in header.fields]
    missing += [] if names else ["incorrect_1"]
    if missing:
        hint = "the columns are item_id, correct, incorrect_1, incorrect_2 …, and template where they hold words"
        what = f"not a table of minimal pairs: no column {missing[0]!r}"
        raise InputError(what, code="E006", place=header.place(), hint=hint)
    return tuple(names)


def _item(cells: dict[str, str], row: Row, wrong: tuple[str, ...], about: tuple[str, str]) -> Item:
    dataset, language = about
    item_id = cells["item_id"]
    options = [cells["correct"], *(cells[name] for name in wrong if cells[name].strip())]
    if not options[0].strip() or len(options) < 2 or len(set(options)) < len(options):
        what = "a choice set needs a right option and at least one wrong one, all different"
        raise _row_error(row, item_id, "E452", what, "fill correct and incorrect_1")
    template = cells.get(COLUMN_TEMPLATE, "")
    if template and template.count(_SLOT) != 1:
        raise _row_error(
            row, item_id, "E453", f"the template {template!r} needs {_SLOT}, once", "mark the word's place"
        )
    before, _, after = template.partition(_SLOT)
    filled = tuple(Placed.between(before, word, after) for word in options)
    placed = filled if template else differing_spans(options)
    other = ("item_id", "correct", COLUMN_TEMPLATE, *wrong)
    conditions: dict[str, Condition] = {name: cell for name, cell in cells.items() if name not in other}
    try:
        usages = tuple(Usage(text.text, text.start, text.end, text.word, language=language) for text in placed)
        words = tuple(text.word for text in placed)
        return Item(item_id, dataset, usages, words, gold=words[0], conditions=conditions)
    except LexiscopeError as error:
        raise _row_error(row, item_id, error.code or "", error.what, error.hint) from error


def _right_one_first(header: Row, rows: Iterator[Row]) -> tuple[Row, Iterator[Row]]:
    """A table of texts in any order as one of ``correct``, ``incorrect_1`` …"""
    texts = sorted((name for name in header.fields if _TEXT.fullmatch(name)), key=lambda name: int(name[5:]))
    others = [name for name in header.fields if name not in (*texts, _IN_ANY_ORDER[-1])]
    names = ["correct", *(f"incorrect_{number}" for number in range(1, len(texts)))]

    def ordered() -> Iterator[Row]:
        for row in rows:
            cells = dict(zip(header.fields, row.fields, strict=True))
            said, given = cells[_IN_ANY_ORDER[-1]].strip(), [cells[name] for name in texts]
            right = [number for number, text in enumerate(given, start=1) if said in (text.strip(), str(number))]
            if len(right) != 1:
                what = (
                    f"correct_option is {said!r}, which is not one of the texts" if said else "correct_option is empty"
                )
                hint = "write the number of the correct text (1, 2 …), or the text itself"
                raise _row_error(row, cells.get("item_id", ""), "E452", what, hint)
            first = given.pop(right[0] - 1)
            yield replace(row, fields=[first, *given, *(cells[name] for name in others)])

    return replace(header, fields=[*names, *others]), ordered()


def _exported(cells: dict[str, str], row: Row, dataset: str) -> Item:
    """The choice set of a row of ``items.csv`` of an export, as it was asked."""
    conditions: dict[str, Condition] = {
        name.removeprefix("condition_"): cell
        for name, cell in cells.items()
        if name not in (*_EXPORTED, "language") and not _OF_TEXT.fullmatch(name)
    }
    try:
        options = tuple(map(str, parse_json(cells["options"])))
        usages = tuple(
            Usage(
                cells[f"sentence_{n}"], int(cells[f"start_{n}"]), int(cells[f"end_{n}"]), word,
                language=cells.get("language") or "und",
            )
            for n, word in enumerate(options, start=1)
        )  # fmt: skip
        return Item(cells["item_id"], dataset, usages, options, cells["gold"], conditions=conditions)
    except (ValueError, KeyError, TypeError, LexiscopeError) as error:
        what, hint = "this row is not a choice set of an export", "give items.csv of an export unchanged"
        raise _row_error(row, cells["item_id"], "E405", f"{what}: {error}", hint) from error


def _row_error(row: Row, item_id: str, code: str, what: str, hint: str) -> InputError:
    place = Place(row.path, row.line, item_id=item_id, text=row.place().text)
    return InputError(what, code=code, place=place, hint=hint)
