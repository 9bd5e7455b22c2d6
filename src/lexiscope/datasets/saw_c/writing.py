"""Writing SAW-C back as its publisher's files: what was imported comes out again, byte for byte."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from lexiscope.core.dataset import Dataset
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.run import write_atomically
from lexiscope.datasets.saw_c.card import NORMS, PAIRS, SENTENCES, TOKENS, TRIALS
from lexiscope.datasets.saw_c.cells import (
    LEADING_SPACE,
    MODEL_COLUMNS,
    NORM_COLUMNS,
    PAIR_COLUMNS,
    SENTENCE_COLUMNS,
    TOKEN_COLUMNS,
    TRIAL_COLUMNS,
    human_cells,
    item_cells,
    sentence_cells,
)
from lexiscope.datasets.saw_c.models import FOLDERS, WITH_STOP, WITHOUT_STOP, model_file
from lexiscope.resources.tables.delimited import write_rows

# the columns that R wrote without quotation marks: numbers and truth values
_BARE = ("Participant", "Response", "List", "Sense_id_s1", "Sense_id_s2", "Same_gender", "count")
_BARE_NORMS = ("mean_relatedness", "sd_relatedness", "median_relatedness")


def export(dataset: Dataset, folder: Path) -> tuple[Path, ...]:
    """Write the published files below *folder*, in the layout of a data folder, and return their paths.

    Only what the dataset holds is written: a model that was not loaded has no file. All cells and line ends equal the
    published ones; standard deviations print 15 digits, of which the last needs a platform with extended precision.
    """
    contents = {PAIRS.path: _pairs(dataset), SENTENCES.path: _sentences(dataset)}
    contents |= {TRIALS.path: _trials(dataset), NORMS.path: _norms(dataset)}
    if len(tokens := dataset.responses.where(measure="target_tokens")):
        contents[TOKENS.path] = _tokens(dataset, tokens)
    for view in FOLDERS:
        distances = dataset.responses.where(measure="cosine_distance", view=view)
        for name in distances.unique("subject_id"):
            contents[model_file(name, view).path] = _model(dataset, name, view)
    for path, content in contents.items():
        write_atomically(folder / path, content)
    return tuple(folder / path for path in contents)


def _pairs(dataset: Dataset) -> bytes:
    words = [item.word for item in dataset.items]
    counts = {word: str(words.count(word)) for word in set(words)}
    cells = [item_cells(item) | {"counts": counts[item.word]} for item in dataset.items]
    return b"\xef\xbb\xbf" + write_rows(PAIR_COLUMNS, [[cell[name] for name in PAIR_COLUMNS] for cell in cells])


def _sentences(dataset: Dataset) -> bytes:
    rows = {item.conditions[f"stimulus_{n}"]: sentence_cells(item, n) for item in dataset.items for n in (1, 2)}
    content = write_rows(SENTENCE_COLUMNS, [row for _, row in sorted(rows.items())], newline="\r\n")
    return content.removesuffix(b"\r\n")  # the published file ends without a line end


def _trials(dataset: Dataset) -> bytes:
    trials = dataset.responses.where(measure="rating")
    cells = {item.item_id: human_cells(item) for item in dataset.items}
    people, ratings = trials.column("subject_id").tolist(), trials.column("value").tolist()
    rows = [
        cells[item_id] | {"": str(row), "Participant": person, "Response": f"{rating:g}"}
        for row, (item_id, person, rating) in enumerate(
            zip(trials.column("item_id").tolist(), people, ratings, strict=True), start=1
        )
    ]
    return _as_r_writes(TRIAL_COLUMNS, rows)


def _norms(dataset: Dataset) -> bytes:
    trials = dataset.responses.where(measure="rating")
    ratings: dict[str, list[float]] = {}
    for item_id, rating in zip(trials.column("item_id").tolist(), trials.column("value").tolist(), strict=True):
        ratings.setdefault(item_id, []).append(rating)
    ordered = sorted((item for item in dataset.items if item.item_id in ratings), key=_norm_order)
    rows = [
        human_cells(item) | _norm_cells(ratings[item.item_id]) | {"": str(row)}
        for row, item in enumerate(ordered, start=1)
    ]
    return _as_r_writes(NORM_COLUMNS, rows)


def _norm_cells(ratings: Sequence[float]) -> dict[str, str]:
    # R sums in extended precision, but takes the root in double: otherwise the 15th digit can differ
    wide = np.array(ratings, dtype=np.longdouble)
    numbers = (float(wide.mean()), math.sqrt(float(wide.var(ddof=1))), float(np.median(wide)))
    cells = {name: f"{number:.15g}" for name, number in zip(_BARE_NORMS, numbers, strict=True)}
    return cells | {"count": str(len(ratings))}


def _norm_order(item: Item) -> tuple[object, ...]:
    cells = human_cells(item)
    texts = [_collated(cells[name]) for name in ("Word", "Same_sense", "Sentence_1", "Sentence_2")]
    return (int(cells["List"]), *texts)


def _collated(text: str) -> tuple[str, str]:
    letters = "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))
    return letters.casefold(), text


def _model(dataset: Dataset, name: str, view: str) -> bytes:
    answers = dataset.responses.where(subject_id=name, view=view)
    distances = answers.where(measure="cosine_distance")
    parameters = next(str(facts.n_parameters) for facts in dataset.subjects if facts.subject_id == name)
    # the published files without final stop give the count of the first sentence for both
    counted = (1, 2) if view == WITH_STOP else (1, 1)
    counts = [_by_item(answers.where(measure=f"n_tokens_{n}")) for n in counted]
    items = {item.item_id: item for item in dataset.items}
    stop = "." if view == WITH_STOP else ""
    values, layers = distances.column("value").tolist(), distances.column("layer").astype(int).tolist()
    rows = []
    for item_id, value, layer in zip(distances.column("item_id").tolist(), values, layers, strict=True):
        item, (first, second) = items[item_id], (int(count[item_id]) for count in counts)
        texts = [usage.text + stop for usage in item.usages]
        answer = [item.word, str(item.conditions["same_sense"]), repr(value), str(layer)]
        rows.append([*texts, *answer, str(first), str(second), str(abs(first - second)), parameters])
    return write_rows(MODEL_COLUMNS, rows)


def _tokens(dataset: Dataset, tokens: ResponseTable) -> bytes:
    counts = {
        (name, n): _by_item(dataset.responses.where(subject_id=name, view=WITHOUT_STOP, measure=f"n_tokens_{n}"))
        for name in tokens.unique("subject_id")
        for n in (1, 2)
    }
    words = {item.item_id: item.word for item in dataset.items}
    columns = (tokens.column(name).tolist() for name in ("item_id", "subject_id", "raw"))
    rows = [
        ["0", (" " if name in LEADING_SPACE else "") + words[item_id], name, raw]
        + [f"{counts[name, n][item_id]:g}" for n in (1, 2)]
        for item_id, name, raw in zip(*columns, strict=True)
    ]
    return write_rows(TOKEN_COLUMNS, rows)


def _by_item(table: ResponseTable) -> dict[str, float]:
    return dict(zip(table.column("item_id").tolist(), table.column("value").tolist(), strict=True))


def _as_r_writes(columns: Sequence[str], rows: Iterable[Mapping[str, str]]) -> bytes:
    bare = {*_BARE, *_BARE_NORMS}
    lines = [",".join(_quoted(name) for name in columns)]
    lines += [",".join(row[name] if name in bare else _quoted(row[name]) for name in columns) for row in rows]
    return ("\n".join(lines) + "\n").encode("utf-8")


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"'
