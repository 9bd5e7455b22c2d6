"""Datasets as folders that other programs read: DURel folders, and folders of the Hugging Face Hub.

A DURel folder has pairs of usages and their ratings: ``uses.csv``, ``instances.csv`` and ``judgments.csv``. A folder of
the Hub has Parquet shards, a card with its YAML, and one row for each rater. Its configurations: ``ratings`` (one row
for each rating of a participant, with the texts of its item), ``items`` (one row for each item), ``responses`` (every
answer of people and models as the response table has it), ``set_aside`` (published rows that are no items, if there are
any). A folder of the Hub that was written here is read back without loss.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexiscope.core.dataset import Dataset, DatasetCard, SetAside
from lexiscope.core.errors import InputError, LexiscopeError, Place
from lexiscope.core.item import Condition, Item
from lexiscope.core.response import SCHEMA, ResponseTable
from lexiscope.core.run import atomic_folder, write_atomically
from lexiscope.core.simulated import COLLECTED, TOLD_SIMULATED
from lexiscope.core.usage import Usage
from lexiscope.items.tables.tabular import scale_of_text, scale_text
from lexiscope.resources.platforms.durel import (
    ABOUT,
    HIGHEST,
    INSTANCES,
    JUDGMENT_COLUMNS,
    JUDGMENTS,
    LOWEST,
    SWAPPED,
    USE_COLUMNS,
    USES,
    text_of,
)
from lexiscope.resources.tables.yaml_source import parse_yaml, yaml_value

if TYPE_CHECKING:
    import pyarrow as pa

_MEASURES = ("rating", "repeated_rating")
_UNDECIDED = "0"
Cells = Mapping[str, str]


def write_durel(
    items: Sequence[Item], responses: ResponseTable, folder: Path, *, unjudged: Sequence[SetAside] = ()
) -> tuple[Path, ...]:
    """Write pairs and their ratings as a new folder and return its files.

    ``lexiscope analyse FOLDER/judgments.csv`` gives the same ratings of the same pairs back. The identifier of a usage
    is that with which it was read (the condition ``identifier_1`` or ``identifier_2``); otherwise its lemma with a
    number. A rating without a value is written as 0 (cannot decide). A rater's repeated ratings of a pair are rows in
    their order, each with its comment, and with the usages in the order in which this rater judged them. Of *unjudged*
    rows, those that are usages of no pair are written after the others. Times and lists are not written.
    Errors: :class:`InputError` for an item that is no pair of usages, for a rating that is not on the scale of DURel,
    and for a rating of an item that is not there; those of :func:`~lexiscope.core.run.atomic_folder`.
    """
    identifiers = _identifiers(items)
    pairs = {item.item_id: _pair(item, identifiers) for item in items}
    used = set(identifiers.values())
    rest = [dict(row.cells) for row in unjudged if {"identifier", "context"} <= {name for name, _ in row.cells}]
    spare = [{**dict.fromkeys(USE_COLUMNS, ""), **cells} for cells in rest if cells["identifier"] not in used]
    judgments = list(_judgments(pairs, responses))
    with atomic_folder(folder) as new:
        write_atomically(new / USES, text_of(chain(_uses(items, identifiers), spare), USE_COLUMNS))
        write_atomically(new / INSTANCES, text_of(iter(pairs.values()), ("identifier1", "identifier2", "lemma")))
        write_atomically(new / JUDGMENTS, text_of(iter(judgments), JUDGMENT_COLUMNS))
    return folder / USES, folder / INSTANCES, folder / JUDGMENTS


def _about(item: Item, side: int) -> dict[str, str]:
    """What was read of a usage of a pair, by its names in DURel."""
    return {name: str(item.conditions.get(f"{name}_{side}", "")) for name in ABOUT}


def _identifiers(items: Sequence[Item]) -> dict[tuple[Usage, str], str]:
    """The identifier of each usage; usages that were read with different identifiers stay different."""
    identifiers: dict[tuple[Usage, str], str] = {}
    taken: dict[str, tuple[Usage, str]] = {}
    for item in items:
        if len(item.usages) != 2:
            what = f"the item has {len(item.usages)} usages; DURel has pairs of usages"
            raise InputError(what, place=Place(item_id=item.item_id), hint="write the items of a relatedness task")
        for side, usage in enumerate(item.usages, start=1):
            given = _about(item, side)["identifier"]
            key = (usage, given)
            if key in identifiers:
                continue
            name, number = given or f"{_lemma(item, usage)}-{len(identifiers) + 1}", 2
            while not given and name in taken:
                name, number = f"{_lemma(item, usage)}-{len(identifiers) + 1}-{number}", number + 1
            if name in taken:
                what = f"two usages have the identifier {name!r}"
                raise InputError(what, place=Place(item_id=item.item_id), hint="give each usage its own identifier")
            identifiers[key] = name
            taken[name] = key
    return identifiers


def _lemma(item: Item, usage: Usage) -> str:
    return usage.lemma or item.word


def _pair(item: Item, identifiers: Mapping[tuple[Usage, str], str]) -> Cells:
    names = (identifiers[usage, _about(item, n)["identifier"]] for n, usage in enumerate(item.usages, start=1))
    return dict(zip(("identifier1", "identifier2", "lemma"), (*names, _lemma(item, item.usages[0])), strict=True))


def _uses(items: Sequence[Item], identifiers: Mapping[tuple[Usage, str], str]) -> Iterator[Cells]:
    written: set[str] = set()
    for item in items:
        for side, usage in enumerate(item.usages, start=1):
            about = _about(item, side)
            identifier = identifiers[usage, about["identifier"]]
            if identifier in written:
                continue
            written.add(identifier)
            yield {
                **{name: about[name] for name in ("date", "grouping", "description")},
                "lemma": _lemma(item, usage),
                "pos": usage.pos or str(item.conditions.get(f"pos_{side}", "")),
                "identifier": identifier,
                "context": usage.text,
                "indexes_target_token": f"{usage.start}:{usage.end}",
                "indexes_target_sentence": about["target_sentence"] or f"0:{len(usage.text)}",
            }


def _judgments(pairs: Mapping[str, Cells], responses: ResponseTable) -> Iterator[Cells]:
    comments, sides = (
        {(row.subject_id, row.item_id, row.repeat): row.raw or "" for row in responses.where(measure=measure).rows()}
        for measure in ("comment", "side")
    )
    for row in responses.where(measure=_MEASURES).rows():
        place = Place(item_id=row.item_id)
        if row.item_id not in pairs:
            raise InputError("a rating of an item that is not written", place=place, hint="write all rated items")
        if row.value is not None and not LOWEST <= row.value <= HIGHEST:
            what = f"{row.subject_id} gave {row.value:g}; the scale of DURel is {LOWEST} to {HIGHEST}"
            hint = "choose another format, or recode the ratings before"
            raise InputError(what, code="E301", place=place, hint=hint)
        judgment = _UNDECIDED if row.value is None else f"{row.value:g}"
        key, pair = (row.subject_id, row.item_id, row.repeat), pairs[row.item_id]
        if sides.get(key) == SWAPPED:
            pair = {**pair, "identifier1": pair["identifier2"], "identifier2": pair["identifier1"]}
        yield {**pair, "annotator": row.subject_id, "judgment": judgment, "comment": comments.get(key, "")}


README = "README.md"
ITEMS, RATINGS, RESPONSES, ASIDE = "items", "ratings", "responses", "set_aside"
ROWS_OF_SHARD = 500_000
_FENCE = "---\n"
_ITEM = ("item_id", "dataset", "list_id", "gold", "options", "scale")
_USAGE = ("sentence", "start", "end", "target", "lemma", "pos", "language", "sense")
_RATED = ("rater", "rater_kind", "rating", "choice", "view", "repeat")
_OF_USAGE = re.compile(rf"({'|'.join(_USAGE)})_\d+")
_ESCAPED = "condition_"
_LICENCES = frozenset({
    *("apache-2.0", "mit", "cc0-1.0", "cc-by-3.0", "cc-by-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0", "cc-by-nc-3.0"),
    *("cc-by-nc-4.0", "cc-by-nc-sa-3.0", "cc-by-nc-sa-4.0", "cc-by-nd-4.0", "cc-by-nc-nd-4.0", "gpl-3.0", "lgpl-3.0"),
    *("odc-by", "odbl", "pddl", "bsd-3-clause"),
})  # fmt: skip
"""Licences by the names of the Hub."""
_SIZES = ((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"), (10**7, "1M<n<10M"))
_SPLIT = "train"
"""What the Hub calls the only part of data that are not divided."""


# -- writing ----------------------------------------------------------------------------------------------------------


def write_hub_folder(data: Dataset, folder: Path) -> tuple[Path, ...]:
    """Write a dataset as a new folder and return its files: ``datasets.load_dataset(FOLDER, "ratings")`` reads it.

    A configuration has a split for each value of the condition ``split`` of its items, or the split ``train``.
    Shards have at most :data:`ROWS_OF_SHARD` rows.
    Errors: :class:`InputError` for a dataset without items; those of :func:`~lexiscope.core.run.atomic_folder`.
    """
    import pyarrow as pa

    if not data.items:
        raise InputError("the dataset has no items", hint="write a dataset with at least one item")
    columns = _item_columns(data.items)
    items = pa.table({name: _typed(values) for name, values in columns.items()})
    # in memory names are dictionaries: in the file they are plain text
    responses = pa.table({field.name: data.responses.arrow.column(field.name).cast(field.type) for field in SCHEMA})
    aside = pa.table({
        "path": pa.array([row.path for row in data.set_aside], pa.string()),
        "line": pa.array([row.line for row in data.set_aside], pa.int64()),
        "reason": pa.array([row.reason for row in data.set_aside], pa.string()),
        # rows of several files have different columns
        "cells": pa.array([json.dumps(dict(row.cells), ensure_ascii=False) for row in data.set_aside], pa.string()),
    })  # fmt: skip
    tables = {RATINGS: _ratings(data, columns), ITEMS: items, RESPONSES: responses, ASIDE: aside}
    splits = {item.item_id: str(item.conditions.get("split", _SPLIT)) for item in data.items}
    with atomic_folder(folder) as new:
        configs: list[dict[str, Any]] = []
        infos: list[dict[str, Any]] = []
        for name, table in tables.items():
            if table.num_rows:
                parts = list(_write_config(table, name, splits, new))
                files = [{"split": split, "path": f"{name}/{split}-*.parquet"} for split, _, _ in parts]
                configs.append({"config_name": name, "data_files": files, **({} if configs else {"default": True})})
                infos.append({
                    "config_name": name,
                    "features": [_feature(field) for field in table.schema],
                    "splits": [{"name": split, "num_bytes": size, "num_examples": n} for split, n, size in parts],
                })  # fmt: skip
        largest = max(table.num_rows for table in tables.values())
        write_atomically(new / README, _card_text(data, configs, infos, largest))
        names = sorted(path.relative_to(new) for path in new.rglob("*") if path.is_file())
    return tuple(folder / name for name in names)


def _write_config(
    table: pa.Table, name: str, splits: Mapping[str, str], folder: Path
) -> Iterator[tuple[str, int, int]]:
    """Write the shards of a configuration; yield each split with its number of rows and of bytes."""
    import pyarrow.parquet as arrow_parquet

    (folder / name).mkdir()
    by_split: dict[str, list[int]] = {}
    item_ids = table.column("item_id").to_pylist() if "item_id" in table.column_names else [""] * table.num_rows
    for row, item_id in enumerate(item_ids):
        by_split.setdefault(splits.get(item_id, _SPLIT), []).append(row)
    for split, rows in by_split.items():
        n_shards = -(-len(rows) // ROWS_OF_SHARD)
        size = 0
        for shard in range(n_shards):
            path = folder.absolute() / name / f"{split}-{shard:05d}-of-{n_shards:05d}.parquet"
            arrow_parquet.write_table(table.take(rows[shard * ROWS_OF_SHARD : (shard + 1) * ROWS_OF_SHARD]), path)
            size += path.stat().st_size
        yield split, len(rows), size


def _item_columns(items: Sequence[Item]) -> dict[str, list[Any]]:
    """The cells of each column of items, ``None`` for what an item does not have."""
    n_usages = max(len(item.usages) for item in items)
    columns: dict[str, list[Any]] = {
        "item_id": [item.item_id for item in items],
        "dataset": [item.dataset for item in items],
        "list_id": [item.list_id for item in items],
        "gold": [item.gold for item in items],
        "options": [json.dumps(item.options, ensure_ascii=False) if item.options else None for item in items],
        "scale": [scale_text(item.scale) or None for item in items],
    }
    for n in range(n_usages):
        usages = [item.usages[n] if n < len(item.usages) else None for item in items]
        for part in _USAGE:
            name = "text" if part == "sentence" else part
            columns[f"{part}_{n + 1}"] = [None if usage is None else getattr(usage, name) for usage in usages]
    for name in dict.fromkeys(name for item in items for name in item.conditions):
        written = _ESCAPED + name if _is_own(name) or name.startswith(_ESCAPED) else name
        columns[written] = [item.conditions.get(name) for item in items]
    return columns


def _is_own(name: str) -> bool:
    """Whether a column is one of items and ratings, and no condition."""
    return name in _ITEM or name in _RATED or _OF_USAGE.fullmatch(name) is not None


def _typed(values: Sequence[Any]) -> pa.Array:
    """Values as an Arrow array: of their one type, else of text; a column without values is text."""
    import pyarrow as pa

    kinds = {type(value) for value in values if value is not None}
    types = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}
    if len(kinds) == 1:
        return pa.array(values, type=types[next(iter(kinds))])
    return pa.array([None if value is None else str(value) for value in values], type=pa.string())


def _ratings(data: Dataset, columns: Mapping[str, list[Any]]) -> pa.Table:
    """One row for each rating or choice of a participant: who, what, and the item's own columns."""
    import pyarrow as pa

    people = data.responses.where(subject_kind=COLLECTED, measure=("rating", "choice"))
    place = {item.item_id: number for number, item in enumerate(data.items)}
    numbers = [place[item_id] for item_id in people.column("item_id")]
    rows = people.arrow
    answers = {
        "rater": rows.column("subject_id").cast(pa.string()),
        "rater_kind": rows.column("subject_kind").cast(pa.string()),
        "rating": rows.column("value").cast(pa.float64()),
        "choice": rows.column("option").cast(pa.string()),
        "view": rows.column("view").cast(pa.string()),
        "repeat": rows.column("repeat").cast(pa.int64()),
    }
    return pa.table(answers | {name: _typed([cells[n] for n in numbers]) for name, cells in columns.items()})


def _feature(field: pa.Field) -> dict[str, str]:
    import pyarrow as pa

    kind = field.type
    if pa.types.is_timestamp(kind):
        text = f"timestamp[{kind.unit}, tz={kind.tz}]" if kind.tz else f"timestamp[{kind.unit}]"
    else:
        text = {"double": "float64", "float": "float32"}.get(str(kind), str(kind))
    return {"name": field.name, "dtype": text}


def _card_text(
    data: Dataset, configs: Sequence[Mapping[str, Any]], infos: Sequence[Mapping[str, Any]], largest: int
) -> str:
    card = data.card
    size = next((name for most, name in _SIZES if largest < most), "n>10M")
    languages = [language.strip() for language in card.language.split(",") if language.strip() not in ("", "und")]
    front = {
        "pretty_name": card.title,
        **({"language": languages} if languages else {}),
        **_licence(card.licence),
        "size_categories": [size],
        "tags": ["word meaning", card.task, "lexiscope"],
        "configs": list(configs),
        "dataset_info": list(infos),
    }
    simulated = bool(len(data.responses.where(subject_kind="simulated")))
    lines = [
        f"# {card.title}",
        "",
        *([f"**Simulated participants:** {TOLD_SIMULATED}.", ""] if simulated else []),
        card.summary,
        "",
        *(f"- {label}: {text}" for label, text in _facts(card) if text),
        "",
        "| configuration | one row |",
        "| --- | --- |",
        *(f"| `{config['config_name']}` | {_ROW_IS[config['config_name']]} |" for config in configs),
        "",
        "Targets are character offsets (`start_1`, `end_1`; the end is excluded). Written with Lexiscope.",
        "",
        "```python",
        "from datasets import load_dataset",
        "",
        f'table = load_dataset("PATH OR NAME OF THIS FOLDER", "{configs[0]["config_name"]}")',
        "```",
        "",
    ]
    return f"{_FENCE}{yaml_value(front, indent=-2).strip()}\n{_FENCE}\n" + "\n".join(lines)


_ROW_IS = {
    RATINGS: "one rating or choice of one participant, with the texts and conditions of its item",
    ITEMS: "one item",
    RESPONSES: "one answer of a person or model, as Lexiscope stores it",
    ASIDE: "one published row that is not an item: its file and line, the reason, its cells (JSON)",
}


def _facts(card: DatasetCard) -> Iterator[tuple[str, str]]:
    yield "Task", card.task
    yield "Licence", card.licence
    yield "Version", card.version
    yield "Source", card.source
    yield "Citation", card.citation
    yield "Remarks", " ".join(card.remarks)


def _licence(licence: str) -> dict[str, str]:
    """The licence as the Hub names it; another one is ``other``, with its own name."""
    name = licence.strip().casefold().replace(" ", "-")
    return {"license": name} if name in _LICENCES else {"license": "other", "license_name": licence or "not stated"}


# -- reading ----------------------------------------------------------------------------------------------------------


def is_hub_folder(folder: Path) -> bool:
    """Whether a folder has a card of the Hub and Parquet files."""
    return (folder / README).is_file() and any(folder.rglob("*.parquet"))


def config_files(folder: Path) -> dict[str, tuple[Path, ...]]:
    """Return the Parquet files of each configuration of a folder, in the order of splits and shards.

    A folder whose card names no configuration has one, ``default``, of all its Parquet files.
    Errors: :class:`InputError` for a card whose YAML cannot be read, and for a configuration without files.
    """
    path = folder / README
    text = path.read_text(encoding="utf-8")
    front = text.split(_FENCE, 2)[1] if text.startswith(_FENCE) else ""
    content = parse_yaml(front, path=str(path)).content if front.strip() else {}
    configs: dict[str, tuple[Path, ...]] = {}
    for config in content.get("configs") or []:
        given = config.get("data_files") or []
        entries = given if isinstance(given, list) else [given]
        patterns = [entry["path"] if isinstance(entry, dict) else entry for entry in entries]
        names = [name for pattern in patterns for name in (pattern if isinstance(pattern, list) else [pattern])]
        files = tuple(dict.fromkeys(file for name in names for file in sorted(folder.glob(name))))
        if not files:
            what = f"the configuration {config.get('config_name')!r} has no files"
            raise InputError(what, place=Place(str(path)), hint=f"its files must be at: {', '.join(map(str, names))}")
        configs[str(config.get("config_name", "default"))] = files
    return configs or {"default": tuple(sorted(folder.rglob("*.parquet")))}


def read_hub_folder(folder: Path) -> tuple[tuple[Item, ...], ResponseTable, tuple[SetAside, ...]]:
    """Return the items, the responses and the rows set aside of a folder that :func:`write_hub_folder` wrote.

    Errors: :class:`InputError` for a folder of another layout, naming its configurations and files; for a row that is
    no item, with its file and number.
    """
    configs = config_files(folder)
    items_files = configs.get(ITEMS, ())
    table = _read(items_files) if items_files else None
    if table is None or not {*_ITEM[:2], "sentence_1", "start_1", "end_1"} <= set(table.column_names):
        files = ", ".join(str(file.relative_to(folder)) for own in configs.values() for file in own[:2])
        what = "this folder of the Hub has no items that Lexiscope wrote"
        hint = f"analyse one of its files: lexiscope analyse {folder}/FILE ({files})"
        raise InputError(what, code="E006", place=Place(str(folder / README)), hint=hint)
    rows = table.to_pylist()
    items = tuple(_item(row, number, items_files[0]) for number, row in enumerate(rows, start=1))
    responses = [ResponseTable.read_parquet(file) for file in configs.get(RESPONSES, ())]
    kept = _read(configs[ASIDE]).to_pylist() if ASIDE in configs else []
    aside = (SetAside(row["path"], row["line"], row["reason"], tuple(json.loads(row["cells"]).items())) for row in kept)
    return items, ResponseTable.concat(responses) if responses else ResponseTable.empty(), tuple(aside)


def _read(files: Sequence[Path]) -> pa.Table:
    import pyarrow as pa
    import pyarrow.parquet as arrow_parquet

    try:
        return pa.concat_tables([arrow_parquet.ParquetFile(file.absolute()).read() for file in files])
    except (pa.ArrowException, OSError) as error:
        place = Place(str(files[0]))
        raise InputError("this Parquet file cannot be read", code="E003", place=place, why=str(error)) from error


def _item(row: Mapping[str, Any], number: int, path: Path) -> Item:
    usages, n = [], 1
    while row.get(f"sentence_{n}") is not None:
        about: dict[str, Any] = {part: row.get(f"{part}_{n}") for part in ("lemma", "pos", "sense")}
        span = row[f"start_{n}"], row[f"end_{n}"]
        usages.append(Usage(row[f"sentence_{n}"], *span, language=row.get(f"language_{n}") or "", **about))
        n += 1
    conditions: dict[str, Condition] = {
        name.removeprefix(_ESCAPED): value for name, value in row.items() if not _is_own(name) and value is not None
    }
    try:
        return Item(
            row["item_id"],
            row["dataset"] or "",
            tuple(usages),
            options=tuple(json.loads(row["options"] or "[]")),
            gold=row["gold"],
            list_id=row["list_id"],
            conditions=conditions,
            scale=scale_of_text(row["scale"] or ""),
        )
    except (ValueError, TypeError, LexiscopeError) as error:
        place = Place(str(path), number, item_id=str(row["item_id"]))
        raise InputError("this row is not an item", code="E405", place=place, why=str(error)) from error
