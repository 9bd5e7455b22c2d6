"""A file of labelled items of the user's own: pairs of sentences, or sentences with a definition, each with a label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lexiscope.core import catalog
from lexiscope.core.errors import InputError, Place
from lexiscope.core.item import Item
from lexiscope.core.settings import ReadingOptions
from lexiscope.items.arrange.pairs import SPLITS
from lexiscope.items.arrange.splits import ItemDivision, divide_by_item, divide_in_folds
from lexiscope.items.check.bias_fitness import bias_fitness
from lexiscope.items.read.importer import import_items
from lexiscope.items.read.item_source import catch_remark, real_items
from lexiscope.items.tables.columns import ColumnMap, FieldMap
from lexiscope.items.tables.tabular import is_item_table, read_items
from lexiscope.items.tables.understood import reading_remark
from lexiscope.resources.platforms.opened import open_file

_LABELS = ("gold", "label")


@dataclass(frozen=True, slots=True)
class LabelledFile:
    """The items of a file, and the task that its columns ask.

    ``lines`` are the lines of the items (empty for a file that Lexiscope has written); ``remarks`` report how the file
    was read, and how many catch trials it has, which are not among the items.
    """

    path: Path
    task: str
    items: tuple[Item, ...]
    lines: Mapping[str, int]
    remarks: tuple[str, ...]

    def require_each(self, least: int) -> None:
        """Check that each label has *least* items. Errors: :class:`InputError` E483 naming the rarest label."""
        counts = Counter(str(item.gold) for item in self.items)
        rarest = min(counts, key=lambda gold: (counts[gold], gold))
        if counts[rarest] < least:
            n = len(self.items)
            what = f"only {counts[rarest]} of {n} labels are {rarest}; at least {least} of each are needed"
            raise InputError(what, code="E483", place=Place(str(self.path)), hint="add items of this label")


def read_labelled(path: Path, *, language: str, options: ReadingOptions | None = None) -> LabelledFile:
    """Read the items of a file with their labels.

    Errors: those of :func:`~lexiscope.items.read.importer.import_items`; :class:`InputError` E484 for a file without
    labels, and E617 for items that are neither pairs nor usages with a definition.
    """
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
        read = import_items(path, columns, dataset=path.stem, task=task, language=language, options=options)
        every, lines, remarks = read.items, read.lines, reading_remark(read.opened)
        if all(item.gold is None for item in every):
            what = f"No labels found. Labels are read from the column {', '.join(_LABELS)} or same_sense."
            hint = "Add one with t or f, true or false, yes or no, 1 or 0, or name it: --map gold=COLUMN. "
            hint += f"Columns in the file: {', '.join(header)}"
            raise InputError(what, code="E484", place=Place(str(path), 1), hint=hint)
    items = real_items(every)
    remarks += catch_remark(len(every) - len(items))
    return LabelledFile(path, _task_of(items, path), items, lines, remarks)


def divide_file(file: LabelledFile, n_folds: int, seed: int) -> ItemDivision:
    """Divide the items of a file into what is learnt from, chosen by and tested, and check that each part can be.

    By its column ``split``; without one in *n_folds* folds, or, for 0 folds, into train, dev and test.
    Errors: :class:`InputError` E481 to E485 with the row, for a part without items or with labels of one class only.
    """

    def check(items: Sequence[Item], needs: Sequence[str]) -> None:
        bias_fitness(items, needs=needs, path=str(file.path), lines=file.lines).require()

    if any("split" in item.conditions for item in file.items):
        check(file.items, SPLITS)
        train, dev, test = (tuple(item for item in file.items if item.conditions["split"] == split) for split in SPLITS)
        return ItemDivision(train, dev, test)
    # before the file is divided, all of it is looked at as one
    check(file.items, ())
    if n_folds:
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
    """Pairs of usages, or usages with a definition: what each is asked follows from its columns."""
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
    raise InputError(f"{path.name}: {what}", code="E617", hint=hint)
