"""Items by the name of a dataset or from a file: what ``--items`` and the front door in Python accept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from lexiscope.core import catalog
from lexiscope.core.code_file import existing_file, is_path
from lexiscope.core.errors import InputError, Place, SpecError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.run import sha256_of
from lexiscope.core.scale import Scale
from lexiscope.core.settings import Option, ReadingOptions
from lexiscope.core.showing import counted
from lexiscope.core.spec import plain_name, with_options
from lexiscope.items.read.importer import Imported, import_items
from lexiscope.items.tables.columns import ColumnMap
from lexiscope.items.tables.tabular import is_item_table, read_items


@dataclass(frozen=True, slots=True)
class ItemSource:
    """Items, the sha256 of the files that they came from, and the answers of people and models that the files hold.

    ``imported`` is how a table of the user's own was read.
    """

    name: str
    items: tuple[Item, ...]
    checksums: Mapping[str, str]
    responses: ResponseTable = field(default_factory=ResponseTable.empty)
    imported: Imported | None = None


def task_of_items(name: str, asked: str | None) -> str:
    """Return the task that was asked for; without one, the task of the dataset, or for a file the default task.

    >>> task_of_items("mini_synonymy", None), task_of_items("mini_synonymy", "same_sense"), task_of_items("a.csv", None)
    ('minimal_pair', 'same_sense', 'relatedness')
    """
    dataset = plain_name(name)
    if asked:
        # a task that is loaded by path has its own name from here on
        return catalog.task(asked).name if is_path(asked) else asked
    if not catalog.has("datasets", dataset):
        return catalog.default_task()
    return catalog.card(dataset).task


def load_items(
    name: str,
    columns: ColumnMap | None = None,
    *,
    task: str,
    language: Annotated[str, Option("only items in this language; for a file: its language")] = "",
    scale: Scale | None = None,
    options: ReadingOptions | None = None,
    any_scale: bool = False,
) -> ItemSource:
    """Return the items of a dataset of the catalog, or of a file; *language* keeps the items in one language.

    A path to a Python file (``my_norms.py``) is a dataset; any other name with a path separator or a suffix is a file
    of items, and all other names are datasets. A dataset's options may follow its name
    (``am2ico?language=zh``), with points in them (``planted_bias?word_sufficiency=0.5``). A table of items that
    Lexiscope wrote is used unchanged. For the task ``minimal_pair`` a file holds minimal pairs, or synonym items to
    make them of (:func:`~lexiscope.items.choice_sets.choice_set_file.read_minimal_pairs`). *scale* is the one on which
    people rated the items of a file, and on which models are asked; without it, that of the task, and ratings in the
    file must be on it, unless they may have *any_scale*. *options* are what a user said of how a file is written.

    Errors: :class:`InputError` for a file that does not pass ``lexiscope check``, whose ratings are off the scale, or
    where no item is left, and for a scale of what has its own; :class:`SpecError` for an unknown dataset.
    """
    is_dataset = catalog.has("datasets", name)
    if not is_dataset and (Path(name).suffix or Path(name).name != name):
        path = existing_file(name)
        if is_item_table(path):
            _refuse_columns(columns, f"{name} is a table of items that Lexiscope wrote", options)
            items = read_items(path)
            if scale is not None:
                rated_otherwise = [
                    item for item in items if item.scale is not None and not item.scale.has_ends_of(scale)
                ]
                if rated_otherwise:
                    place = Place(name, item_id=rated_otherwise[0].item_id)
                    what = f"this item is rated on the scale {rated_otherwise[0].scale}, not {scale}"
                    raise InputError(what, code="E301", place=place, hint="leave --scale out")
                items = tuple(replace(item, scale=item.scale or scale) for item in items)
            return ItemSource(name, in_language(items, name, language), {path.name: sha256_of(path)})
        reads = catalog.task(task).reads
        if reads is not None:
            _refuse_columns(columns, f"{name} holds minimal pairs", options)
            pairs = reads(path, dataset=path.stem, language=language or "en", options=options or ReadingOptions())
            return ItemSource(name, in_language(pairs, name, language), {path.name: sha256_of(path)})
        imported = _import_file(path, columns, task=task, language=language, scale=scale, options=options)
        if not any_scale:
            _check_rated(imported, name, task)
        return ItemSource(name, imported.items, {path.name: sha256_of(path)}, imported.responses, imported)
    if scale is not None:
        hint = "leave --scale out: models are asked on the scale that people had"
        raise InputError(f"{name} is a dataset, whose items have a scale already", hint=hint)
    _refuse_columns(columns, f"{name} is a dataset", options)
    # a set that is read in one language, or as items of one task, at a time is read in the one that was asked for
    own = () if "?" in name else catalog.dataset_options(name)
    asked = {option: value for option, value in (("language", language), ("task", task)) if value and option in own}
    data = catalog.dataset(with_options(name, asked))
    checksums = dict(data.checksums) | catalog.code_checksums([name])
    return ItemSource(name, in_language(data.items, name, language), checksums, data.responses)


def _refuse_columns(columns: ColumnMap | None, what: str, options: ReadingOptions | None = None) -> None:
    if (columns is not None and columns != ColumnMap()) or (options is not None and options.columns):
        raise InputError(f"{what}, whose columns are known", hint="leave out the names of columns (--map)")


@contextmanager
def lines_named(names: Sequence[str], columns: ColumnMap | None, *, task: str, language: str) -> Iterator[None]:
    """Add file and line to an error that names an item alone, where the item is of one of these files.

    Errors: the :class:`InputError` of what is done, with its place.
    """
    try:
        yield
    except InputError as error:
        if error.place is None or error.place.item_id is None or error.place.path is not None:
            raise
        place = _place_of(error.place.item_id, names, columns, task=task, language=language)
        if place is None:
            raise
        raise type(error)(error.what, code=error.code, place=place, why=error.why, hint=error.hint) from error


def _place_of(
    item_id: str, names: Sequence[str], columns: ColumnMap | None, *, task: str, language: str
) -> Place | None:
    """The file and line of an item. Files are read again for it: this is asked once, after an error."""
    for path in (Path(name) for name in names if Path(name).is_file()):
        if is_item_table(path):
            if item_id in {item.item_id for item in read_items(path)}:
                return Place(str(path), item_id=item_id)
            continue
        lines = _import_file(path, columns, task=task, language=language).lines
        if item_id in lines:
            return Place(str(path), lines[item_id], item_id=item_id)
    return None


def _check_rated(imported: Imported, name: str, task: str) -> None:
    """Check that ratings without a stated scale are on the scale of the task, on which models would be asked."""
    scale = catalog.task(task).scale
    rated = imported.responses.where(measure=("rating", "norm"))
    values = rated.column("value").astype(float)
    if scale is None or imported.items[0].scale is not None or not len(values) or np.isnan(values).all():
        return
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if not scale.low <= low <= high <= scale.high:
        raise InputError(
            f"the ratings in this file run from {low:g} to {high:g}; {task} asks from {scale.low:g} to {scale.high:g}",
            code="E301",
            place=Place(name),
            why="models would be asked on another scale than people were",
            hint="name the scale that people had: --scale LOW HIGH",
        )


def _import_file(
    path: Path,
    columns: ColumnMap | None,
    *,
    task: str,
    language: str,
    scale: Scale | None = None,
    options: ReadingOptions | None = None,
) -> Imported:
    """The items of a file as the web app reads them: models and people are asked the same ones."""
    try:
        screen = catalog.screen(task)
    except SpecError:
        # a task that people are not asked has no page whose columns would count
        page: dict[str, Any] = {}
    else:
        page = {"conditions": (*screen.requires, *screen.shows), "word_alone": screen.word_alone}
    return import_items(
        path, columns, dataset=path.stem, task=task, scale=scale, language=language or "und",
        options=options or ReadingOptions(), **page,
    )  # fmt: skip


def column_map(columns: Mapping[str, str] | None) -> ColumnMap | None:
    """Return the columns of an item file by part, as a user gave them; ``None`` if none were given.

    Errors: :class:`InputError` for a part that items do not have.
    """
    return ColumnMap.from_mapping(columns) if columns else None


def in_language(items: tuple[Item, ...], name: str, language: str) -> tuple[Item, ...]:
    """Return the items in one language; all of them if none is named. Errors: :class:`InputError` if there are none."""
    kept = tuple(item for item in items if not language or item.usages[0].language == language)
    if not kept:
        known = ", ".join(sorted({item.usages[0].language for item in items})) or "none"
        raise InputError(f"{name} has no items in {language!r}", hint=f"languages of its items: {known}")
    return kept


def unrated_remark(items: Sequence[Item], responses: ResponseTable) -> tuple[str, ...]:
    """Return the sentence that counts and names the items without a rating where others have one; none otherwise."""
    rated = responses.where(measure=("rating", "norm"))
    known = {name for name, value in zip(rated.column("item_id"), rated.column("value"), strict=True) if value == value}
    unrated = [item.item_id for item in items if item.item_id not in known]
    if not known or not unrated:
        return ()
    named = ", ".join(unrated[:_NAMED]) + (" …" if len(unrated) > _NAMED else "")
    of = f"{len(unrated)} of {counted(len(items), 'item')}"
    return (f"{of} {'has' if len(unrated) == 1 else 'have'} no rating and no part in what needs ratings: {named}.",)


_NAMED = 10
"""How many items without a rating are named."""

# -- catch trials: they check participants, and no statistic over items counts them -----------------------------------


def real_items(items: Sequence[Item]) -> tuple[Item, ...]:
    """Return the items without catch trials (those whose condition ``catch`` is true)."""
    return tuple(item for item in items if item.conditions.get("catch") is not True)


def catch_remark(n: int) -> tuple[str, ...]:
    """Return the sentence that reports how many catch trials a file holds; none if there are none.

    >>> catch_remark(2), catch_remark(0)
    (('2 items of the file are catch trials (column catch): no analysis uses them.',), ())
    """
    if not n:
        return ()
    begin = "1 item of the file is a catch trial" if n == 1 else f"{n} items of the file are catch trials"
    return (f"{begin} (column catch): no analysis uses {'it' if n == 1 else 'them'}.",)
