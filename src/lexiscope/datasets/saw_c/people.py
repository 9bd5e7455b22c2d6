"""Reading what people saw and answered: the sentence pairs and the trials."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lexiscope.core.item import Condition, Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.scale import Scale
from lexiscope.core.usage import Usage, locate, occurrences
from lexiscope.datasets.saw_c.columns import (
    PAIR_COLUMNS,
    SENTENCE_COLUMNS,
    TRIAL_COLUMNS,
    human_cells,
    item_cells,
    sentence_cells,
)
from lexiscope.resources.tables.delimited import DelimitedTable, Integers, read_csv

# the only misspelt gender among the published ones
_GENDERS = {"femael": "female"}


def read_items(pairs_path: Path, sentences_path: Path, trials: DelimitedTable) -> tuple[Item, ...]:
    """Read the sentence pairs, the number of each sentence in the list of sentences, and from the trials its list.

    Errors: :class:`InputError` with file and line where a row contradicts another; :class:`SpanError` where a word
    is not in its sentence exactly once.
    """
    pairs, sentences = read_csv(pairs_path, PAIR_COLUMNS), read_csv(sentences_path, SENTENCE_COLUMNS)
    for table, names in ((pairs, ("Sentence_1", "Sentence_2")), (sentences, ("Sentence",))):
        table.distinct(*names)
    lists = dict(zip(zip(trials["Sentence_1"], trials["Sentence_2"], strict=True), trials["List"], strict=True))
    listed: dict[tuple[str, ...], int] = {(sentence,): row for row, sentence in enumerate(sentences["Sentence"])}
    stimuli = [pairs.join([f"Sentence_{n}"], listed) for n in (1, 2)]
    running: dict[str, int] = {}
    items = []
    for row, word in enumerate(pairs["Word"]):
        running[word] = running.get(word, 0) + 1
        items.append(_item(pairs, row, f"saw_c/{word}/{running[word]}", lists, stimuli))
    _check_pairs(pairs, items, running)
    _check_sentences(sentences, items)
    return tuple(items)


def read_trials(path: Path) -> DelimitedTable:
    """Read the file of trials as text."""
    return read_csv(path, TRIAL_COLUMNS)


def trial_responses(trials: DelimitedTable, items: Sequence[Item], scale: Scale) -> ResponseTable:
    """Turn the trials into responses: one row per participant and pair, in the published order.

    Errors: :class:`InputError` with file and line: an unknown pair, a cell that contradicts its pair, a rating that is
    missing or off the scale, a participant who rated a pair twice.
    """
    keys = (tuple(usage.text for usage in item.usages) for item in items)
    rows = trials.join(["Sentence_1", "Sentence_2"], {key: row for row, key in enumerate(keys)})
    ratings = trials.floats("Response")
    for row in np.flatnonzero(~np.isin(ratings, scale.points)):
        trials.refuse(int(row), "Response", f"a rating from {scale.low:g} to {scale.high:g} is needed here")
    cells = [human_cells(item) for item in items]
    for name in TRIAL_COLUMNS[3:]:
        trials.expect(name, [cells[n][name] for n in rows.tolist()])
    trials.distinct("Participant", "Tag")
    ids = [item.item_id for item in items]
    return ResponseTable.from_columns(
        {
            "subject_id": list(trials["Participant"]),
            "subject_kind": "participant",
            "item_id": [ids[n] for n in rows.tolist()],
            "task": "relatedness",
            "measure": "rating",
            "value": ratings,
            "view": "full",
            "list_id": list(trials["List"]),
        }
    )


def _item(
    pairs: DelimitedTable, row: int, item_id: str, lists: dict[tuple[str, str], str], stimuli: Sequence[Integers]
) -> Item:
    key = (pairs["Sentence_1"][row], pairs["Sentence_2"][row])
    if key not in lists:
        pairs.refuse(row, "Sentence_1", "a pair that was rated in some trial is needed here")
    genders = [pairs[f"Gender_s{n}"][row] for n in (1, 2)]
    usages = (_usage(pairs, row, 1), _usage(pairs, row, 2))
    conditions: dict[str, Condition] = {
        "same_sense": usages[0].sense == usages[1].sense,
        "same_gender": _GENDERS.get(genders[0], genders[0]) == _GENDERS.get(genders[1], genders[1]),
        "same_gender_published": pairs["Same_gender"][row] == "True",
        "gender_1": genders[0],
        "gender_2": genders[1],
        "cue_1": pairs["context_cue1"][row],
        "cue_2": pairs["context_cue2"][row],
        "stimulus_1": int(stimuli[0][row]) + 1,
        "stimulus_2": int(stimuli[1][row]) + 1,
    }
    return Item(item_id, "saw_c", usages, list_id=lists[key], conditions=conditions)


def _usage(pairs: DelimitedTable, row: int, number: int) -> Usage:
    word, text = pairs["Word"][row], pairs[f"Sentence_{number}"][row]
    # the place is made only for an error: looking it up reads the file again
    spans = occurrences(text, word)
    start, end = spans[0] if len(spans) == 1 else locate(text, word, place=pairs.place(row, f"Sentence_{number}"))
    sense = f"{word}.{pairs[f'Sense_id_s{number}'][row]}"
    return Usage(text, start, end, lemma=word, pos="NOUN", language="es", sense=sense)


def _check_pairs(pairs: DelimitedTable, items: Sequence[Item], counts: dict[str, int]) -> None:
    cells = [item_cells(item) | {"counts": str(counts[item.word])} for item in items]
    for name in PAIR_COLUMNS:
        pairs.expect(name, [cell[name] for cell in cells])


def _check_sentences(sentences: DelimitedTable, items: Sequence[Item]) -> None:
    rows = list(zip(*sentences.columns.values(), strict=True))
    for item in items:
        for number in (1, 2):
            row = int(item.conditions[f"stimulus_{number}"]) - 1
            if rows[row] != sentence_cells(item, number):
                expected = ",".join(sentence_cells(item, number))
                sentences.refuse(row, "Sentence", f"the item file has {expected!r} for this sentence")
