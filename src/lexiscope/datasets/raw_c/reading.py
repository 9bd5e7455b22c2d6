"""Reading RAW-C's published files into items, trials and distances; every row is joined by word and version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lexiscope.core.dataset import SetAside
from lexiscope.core.item import Condition, Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.scale import Scale
from lexiscope.core.usage import Usage, locate, occurrences
from lexiscope.datasets.raw_c.cells import MODELS, NORM_COLUMNS, item_cells, norm_cells, stimulus_cells
from lexiscope.resources.tables.delimited import DelimitedTable

_POS = {"N": "NOUN", "V": "VERB"}
_STIMULUS_ONLY = ("ambiguity_type_mw", "ambiguity_type_oed", "different_frame")
_DOMINANCE = ("dominance_sentence2", "sd_dominance_sentence2")
_NUMBERS = ("mean_relatedness", "median_relatedness", "diff", "sd_relatedness", "se_relatedness")
# the publisher wrote that file through another program: its last digits differ
_NOISE = 1e-15
_DISTANCES = tuple(f"distance_{name}" for name in MODELS)


@dataclass(frozen=True, slots=True)
class Tables:
    """The four files that are read, as text."""

    trials: DelimitedTable
    norms: DelimitedTable
    dominance: DelimitedTable
    stimuli: DelimitedTable


def read_items(tables: Tables) -> tuple[Item, ...]:
    """Build the pairs from the norms, with dominance, stimulus and item numbers from the other files.

    Errors: :class:`InputError` with file and line where two files contradict each other; :class:`SpanError` where a
    wordform does not stand in its sentence exactly once.
    """
    tables.norms.distinct("word", "version")
    stimulus_rows = _index(tables.stimuli)
    stimuli = tables.norms.join(["word", "version"], stimulus_rows)
    numbers = dict(zip(tables.trials["word"], tables.trials["item"], strict=True))
    items = tuple(_item(tables, row, int(stimuli[row]), numbers) for row in range(len(tables.norms)))
    _check_dominance(tables, items)
    return items


def read_trials(trials: DelimitedTable, items: Sequence[Item], scale: Scale) -> ResponseTable:
    """Turn the trials into responses in the published order; ``raw`` says which sentence stood first.

    Errors: :class:`InputError` with file and line: an unknown pair, a cell that contradicts its pair, a rating that is
    missing or off the scale, a participant who rated a word twice.
    """
    rows = trials.join(["word", "version"], {_key(item): n for n, item in enumerate(items)})
    ratings = trials.floats("relatedness")
    for row in np.flatnonzero(~np.isin(ratings, scale.points)):
        trials.refuse(int(row), "relatedness", f"a rating from {scale.low:g} to {scale.high:g} is needed here")
    cells = [item_cells(item) for item in items]
    for name in ("same", "Class", "string", "ambiguity_type", "item"):
        trials.expect(name, [cells[n][name] for n in rows.tolist()])
    trials.expect("responses", [f'{{"Q0":{rating:g}}}' for rating in ratings.tolist()])
    # the version is the order of presentation with its two halves sorted
    halves = [sorted((order[:4], order[5:])) for order in trials["version_with_order"]]
    trials.expect("version", ["_".join(pair) for pair in halves])
    trials.distinct("subject", "word")
    ids = [item.item_id for item in items]
    return ResponseTable.from_columns(
        {
            "subject_id": list(trials["subject"]),
            "subject_kind": "participant",
            "item_id": [ids[n] for n in rows.tolist()],
            "task": "relatedness",
            "measure": "rating",
            "value": ratings,
            "view": "full",
            "raw": list(trials["version_with_order"]),
        }
    )


def read_distances(norms: DelimitedTable, items: Sequence[Item]) -> ResponseTable:
    """Read the one published distance of each model and pair (no layer is stated).

    *Unit:* cosine distance. *Higher means:* less related. Errors: :class:`InputError` with file and line.
    """
    return ResponseTable.concat(
        [
            ResponseTable.from_columns(
                {
                    "subject_id": name,
                    "subject_kind": "encoder",
                    "item_id": [item.item_id for item in items],
                    "task": "relatedness",
                    "measure": "cosine_distance",
                    "value": norms.floats(f"distance_{name}"),
                    "view": "full",
                }
            )
            for name in MODELS
        ]
    )


def check_norms(tables: Tables, items: Sequence[Item], trials: ResponseTable) -> None:
    """Check that the published norms are those of the trials, and every other cell that of its item.

    Errors: :class:`InputError` with file and line.
    """
    ratings: dict[str, list[float]] = {}
    for item_id, rating in zip(trials.column("item_id").tolist(), trials.column("value").tolist(), strict=True):
        ratings.setdefault(item_id, []).append(rating)
    for row, item in enumerate(items):
        if len(ratings.get(item.item_id, ())) < 2:
            tables.norms.refuse(row, "count", "at least two trials of this pair are needed in the file of trials")
    cells = [item_cells(item) | norm_cells(ratings[item.item_id]) for item in items]
    for name in NORM_COLUMNS:
        if name not in _DISTANCES:
            tables.norms.expect(name, [cell[name] for cell in cells])


def read_set_aside(
    stimuli: DelimitedTable, norms: DelimitedTable, items: Sequence[Item], *, path: str
) -> tuple[SetAside, ...]:
    """Check the list of stimuli against the items, and return its rows that are none (ambiguity type ``Unsure``).

    Errors: :class:`InputError` with file and line.
    """
    known = {_key(item): (row, stimulus_cells(item)) for row, item in enumerate(items)}
    aside = []
    for row, key in enumerate(zip(stimuli["word"], stimuli["version"], strict=True)):
        if key in known:
            number, cells = known[key]
            expected = cells | {name: norms[name][number] for name in _DISTANCES}
            for name in stimuli.columns:
                if stimuli[name][row] != expected[name]:
                    stimuli.refuse(row, name, f"{expected[name]!r} is needed here", hint="another file contradicts it")
            continue
        if stimuli["ambiguity_type"][row] != "Unsure":
            stimuli.refuse(row, "word", "a pair of the norms is needed here, or the ambiguity type 'Unsure'")
        cells_aside = tuple((name, column[row]) for name, column in stimuli.columns.items())
        aside.append(SetAside(path, stimuli.lines[row], "ambiguity type 'Unsure': no ratings", cells_aside))
    return tuple(aside)


def _item(tables: Tables, row: int, stimulus: int, numbers: Mapping[str, str]) -> Item:
    norms, stimuli = tables.norms, tables.stimuli
    word, version = norms["word"][row], norms["version"][row]
    if word not in numbers:
        norms.refuse(row, "word", "a word that was rated in some trial is needed here")
    usages = (_usage(norms, row, 1, version[:2]), _usage(norms, row, 2, version[5:7]))
    conditions: dict[str, Condition] = {
        "same_sense": usages[0].sense == usages[1].sense,
        "ambiguity_type": norms["ambiguity_type"][row],
        "class": norms["Class"][row],
        "disambiguating_word_1": norms["disambiguating_word1"][row],
        "disambiguating_word_2": norms["disambiguating_word2"][row],
        "version": version,
        "item_number": numbers[word],
        "stimulus": stimulus + 1,
    }
    conditions |= {name: stimuli[name][stimulus] for name in _STIMULUS_ONLY} | _dominance(tables.dominance, row)
    return Item(f"raw_c/{word}/{version}", "raw_c", usages, conditions=conditions)


def _usage(norms: DelimitedTable, row: int, number: int, sense: str) -> Usage:
    word, wordform, text = norms["word"][row], norms["string"][row], norms[f"sentence{number}"][row]
    # the place is made only for an error: looking it up reads the file again
    spans = occurrences(text, wordform)
    start, end = spans[0] if len(spans) == 1 else locate(text, wordform, place=norms.place(row, f"sentence{number}"))
    pos = _POS.get(norms["Class"][row])
    return Usage(text, start, end, lemma=word, pos=pos, language="en", sense=f"{word}.{sense}")


def _dominance(table: DelimitedTable, row: int) -> dict[str, Condition]:
    """Return the two numbers of a pair with different senses; a pair with one sense has none."""
    found: dict[str, Condition] = {}
    for name in _DOMINANCE:
        if table[name][row]:
            try:
                found[name] = float(table[name][row])
            except ValueError:
                table.refuse(row, name, "a number is needed here, or nothing")
    return found


def _check_dominance(tables: Tables, items: Sequence[Item]) -> None:
    """Check that the file of dominance repeats the norms row by row: texts exactly, numbers up to rounding noise."""
    table, norms = tables.dominance, tables.norms
    table.expect_length(len(norms), "as many as the norms")
    table.expect("Unnamed: 0", [str(row) for row in range(len(norms))])
    cells = [item_cells(item) for item in items]
    for name in _DOMINANCE:
        table.expect(name, [cell[name] for cell in cells])
    for name in norms.columns:
        if name not in _NUMBERS + _DISTANCES:
            table.expect(name, norms[name])
            continue
        for row in np.flatnonzero(~(np.abs(table.floats(name) - norms.floats(name)) <= _NOISE)):
            table.refuse(int(row), name, f"{norms[name][int(row)]} is needed here", hint="the norms contradict it")


def _index(table: DelimitedTable) -> dict[tuple[str, ...], int]:
    table.distinct("word", "version")
    return {key: row for row, key in enumerate(zip(table["word"], table["version"], strict=True))}


def _key(item: Item) -> tuple[str, ...]:
    return (item.word, str(item.conditions["version"]))
