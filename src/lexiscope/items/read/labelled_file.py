"""A file of labelled items of the user's own: what a bias audit can be made of.

Pairs of sentences or sentences with a definition, each with a label; sentences with the senses that a word may have; or
sentences with a mention, which is looked up in a list of entries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lexiscope.core import catalog
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.settings import ReadingOptions
from lexiscope.items.answers.search_space import SearchSpace
from lexiscope.items.answers.sense_options import GLOSSES, correct_ids, glosses_of, join_ids
from lexiscope.items.arrange.pairs import SPLITS
from lexiscope.items.arrange.splits import ItemDivision, divide_by_item, divide_in_folds
from lexiscope.items.check.bias_fitness import bias_fitness
from lexiscope.items.read.importer import import_items, with_exported_options
from lexiscope.items.read.item_source import catch_remark, real_items
from lexiscope.items.tables.columns import ColumnMap, FieldMap
from lexiscope.items.tables.tabular import is_item_table, read_items
from lexiscope.items.tables.understood import reading_remark
from lexiscope.resources.corpora.entity_list import EntityList
from lexiscope.resources.platforms.opened import open_file

_LABELS = ("gold", "label")


@dataclass(frozen=True, slots=True)
class LabelledFile:
    """The items of a file, and the task that its columns ask.

    ``lines`` are the lines of the items (empty for a file that Lexiscope has written); ``remarks`` report how the file
    was read, and how many catch trials it has, which are not among the items. ``space`` is the list in which mentions
    are looked up.
    """

    path: Path
    task: str
    items: tuple[Item, ...]
    lines: Mapping[str, int]
    remarks: tuple[str, ...]
    space: SearchSpace | None = None

    @property
    def has_two_answers(self) -> bool:
        """Whether each item is answered by true or false."""
        return catalog.task(self.task).truth

    def require_each(self, least: int) -> None:
        """Check that each label has *least* items. Errors: :class:`InputError` E483 naming the rarest label."""
        counts = Counter(str(item.gold) for item in self.items)
        rarest = min(counts, key=lambda gold: (counts[gold], gold))
        if counts[rarest] < least:
            n = len(self.items)
            what = f"only {counts[rarest]} of {n} labels are {rarest}; at least {least} of each are needed"
            raise InputError(what, code="E483", place=Place(str(self.path)), hint="add items of this label")


def read_labelled(
    path: Path, *, language: str, options: ReadingOptions | None = None, entities: str = ""
) -> LabelledFile:
    """Read the items of a file with their labels; of mentions that are looked up in the list *entities*, their entries.

    The correct entry of a mention is an id of the list or names one (``gold``, ``page``).
    Errors: those of :func:`~lexiscope.items.read.importer.import_items` and of the list; :class:`InputError` E484 for a
    file without labels, E617 for items that cannot be audited, and a correct entry that is not in the
    list.
    """
    if entities:
        return _read_mentions(path, Path(entities), language, options)
    lines: Mapping[str, int] = {}
    remarks: tuple[str, ...] = ()
    if is_item_table(path):
        every = read_items(path)
    else:
        options = options or ReadingOptions()
        header = open_file(path, options).header
        columns = _label_column(header, options)
        # labels are read as the answers of a task with true and false, whichever task they turn out to be of
        task = next(name for name in catalog.names("tasks") if catalog.task(name).truth)
        task = _choice_among_senses() if GLOSSES in header else task
        read = import_items(path, columns, dataset=path.stem, task=task, language=language, options=options)
        every, lines, remarks = read.items, read.lines, reading_remark(read.opened)
        if GLOSSES in header:
            every = tuple(map(_with_senses, every))
        if all(item.gold is None for item in every):
            what = f"No labels found. Labels are read from the column {', '.join(_LABELS)} or same_sense."
            hint = "Add one with t or f, true or false, yes or no, 1 or 0, or name it: --map gold=COLUMN. "
            hint += f"Columns in the file: {', '.join(header)}"
            raise InputError(what, code="E484", place=Place(str(path), 1), hint=hint)
    items = real_items(every)
    remarks += catch_remark(len(every) - len(items))
    return LabelledFile(path, _task_of(items, path), items, lines, remarks)


def _read_mentions(path: Path, entities: Path, language: str, options: ReadingOptions | None) -> LabelledFile:
    screens = catalog.screens()
    task = next(name for name, screen in screens.items() if screen.widget == "search" and screen.on_sheet)
    lines: Mapping[str, int] = {}
    if is_item_table(path):
        every = read_items(path)
    else:
        read = import_items(path, None, dataset=path.stem, task=task, language=language, options=options)
        every, lines = read.items, read.lines
    listed = EntityList.read(entities)
    asked = real_items(every)
    items = tuple(with_entry_ids(item, listed, place=Place(str(path), item_id=item.item_id)) for item in asked)
    space = SearchSpace.read(entities)
    return LabelledFile(path, task, items, lines, catch_remark(len(every) - len(items)), space)


def with_entry_ids(item: Item, listed: EntityList, *, place: Place) -> Item:
    """Return an item with the ids of its correct entries, which its file may name by their titles (``gold``, ``page``).

    Errors: :class:`InputError` E484 for an item without a correct entry, and for one that is not in the list.
    """
    right = item.gold or str(item.conditions.get("page", "")).strip()
    if not right:
        hint = "add the column gold, or page: the id or the title of the correct entry"
        raise InputError("an item has no correct entry", code="E484", place=place, hint=hint)
    named = {name: listed.find_named(name) for name in sorted(correct_ids(replace(item, gold=right)))}
    missing = [name for name, entity in named.items() if entity is None]
    if missing:
        hint = "add it to the list, or correct its name"
        raise InputError(f"the correct entry {missing[0]!r} is not in the list of entries", place=place, hint=hint)
    return replace(item, gold=join_ids(entity.entity_id for entity in named.values() if entity is not None))


def _choice_among_senses() -> str:
    """The task whose items give the glosses of several senses."""
    return next(name for name, screen in catalog.screens().items() if GLOSSES in (*screen.requires, *screen.shows))


def _with_senses(item: Item) -> Item:
    """The item with the ids of its senses as options."""
    own = with_exported_options(item)
    return own if own.options else replace(own, options=tuple(glosses_of(own)))


def divide_file(file: LabelledFile, n_folds: int, seed: int) -> ItemDivision:
    """Divide the items of a file into what is learnt from, chosen by and tested, and check that each part can be.

    By its column ``split``; without one in *n_folds* folds, or, for 0 folds, into train, dev and test. What has more
    than two answers is divided in the same way, and its labels are not compared with each other.
    Errors: :class:`InputError` E481 to E485 with the row, for a part without items or with labels of one class only.
    """

    def check(items: Sequence[Item], needs: Sequence[str]) -> None:
        if file.has_two_answers:
            bias_fitness(items, needs=needs, path=str(file.path), lines=file.lines).require()

    if any("split" in item.conditions for item in file.items):
        check(file.items, SPLITS)
        train, dev, test = (tuple(item for item in file.items if item.conditions["split"] == split) for split in SPLITS)
        return ItemDivision(train, dev, test)
    # before the file is divided, all of it is looked at as one
    check(file.items, ())
    if n_folds:
        if file.has_two_answers:
            file.require_each(n_folds)
        return divide_in_folds(file.items, n_folds, seed)
    parts = divide_by_item(file.items, seed)
    check(parts.with_split_conditions(), SPLITS)
    return parts


def _label_column(header: Sequence[str], options: ReadingOptions) -> ColumnMap | None:
    """The column of labels if its name is ``label`` in any case, and none is called gold or same_sense."""
    known = FieldMap.parse(options.columns).of_items(header).with_usual_columns(header)
    named = [name for name in header if name.strip().casefold() == "label"]
    if known.gold is not None or known.same_sense is not None or len(named) != 1:
        return None
    return ColumnMap(gold=named[0])


def _task_of(items: Sequence[Item], path: Path) -> str:
    """Pairs of usages, usages with a definition or with senses: what each is asked follows from its columns."""
    if items and all(GLOSSES in item.conditions and item.gold is not None for item in items):
        return _choice_among_senses()
    screens = {name: screen for name, screen in catalog.screens().items() if catalog.task(name).truth}
    asked = {
        next((name for name, screen in screens.items() if screen.on_sheet and screen.on_sheet(item)), None)
        for item in items
    }
    task = asked.pop() if len(asked) == 1 else None
    if task is not None:
        return task
    what = "the items are neither pairs of sentences nor sentences with a definition"
    hint = "give columns sentence_1, target_1, sentence_2, target_2 and gold, or sentence, target, definition and gold"
    hint += "; of mentions that are looked up, name the list of entries: --entities FILE.tsv"
    raise InputError(f"{path.name}: {what}", code="E617", hint=hint)
