"""``lexiscope senses distinct``: simulated people who confuse two senses of some words."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.usage import Usage
from lexiscope.items.tables.tabular import write_items
from lexiscope.resources.vectors.sense_vectors import SenseVectors, read_sense_vectors
from lexiscope.training.gasi.train import write_senses

from .conftest import Run

WORDS = [f"word{letter}" for letter in "abcdefghij"]
CONFUSED = WORDS[:5]


def test_confused_senses_are_dropped_and_the_gain_is_above_zero(run: Run, tmp_path: Path) -> None:
    """Of five words nobody tells sense 3 from sense 2: these go, all others stay; other vectors are refused."""
    rng = np.random.default_rng(1)
    senses = rng.normal(size=(10, 3, 4)).astype(np.float32)
    vectors = SenseVectors(tuple(WORDS), np.ones(10, np.int64), senses, senses[:, 0], np.ones((10, 3), np.bool_))
    write_senses(tmp_path / "v", vectors, {"settings": {"variant": "gasi_beta"}})
    items, rows = [], []
    for word in WORDS:
        for page in range(9):
            model = page % 3 + 1
            groups = {f"group_{k}": "|".join(f"{word}{k}x{n}" for n in range(4)) for k in (1, 2, 3)}
            usage = Usage(f"the {word} of {page}", 4, 4 + len(word), language="en")
            item = Item(f"m/{word}/{page}", "d", (usage,), ("1", "2", "3"),
                        conditions={**groups, "model": "m", "word": word, "model_choice": str(model)})  # fmt: skip
            items.append(item)
            for person in range(8):
                confused = word in CONFUSED and model > 1
                chosen = rng.choice([2, 3]) if confused else model if rng.random() < 0.95 else rng.choice([1, 2, 3])
                rows.append(
                    Response(f"p{person}", "simulated", item.item_id, "sense_choice", "choice", option=str(chosen))
                )
    write_items(items, tmp_path / "items.csv")
    ResponseTable.from_rows(rows).write_csv(tmp_path / "choices.csv")
    done = run("senses", "distinct", "gasi:v", "choices.csv", "--items", "items.csv", "--out", "kept", "--splits", 5)
    assert done.exit_code == 0, done.output
    assert "30 senses, 25 are left" in done.stdout
    assert "simulated participants" in done.stderr
    mask = read_sense_vectors(tmp_path / "kept").mask
    assert {WORDS[row] for row in np.flatnonzero(mask.sum(axis=1) == 2)} == set(CONFUSED)
    assert mask[:, 0].all()
    printed = run(
        "senses", "distinct", "gasi:v", "choices.csv", "--items", "items.csv", "--out", "again", "--json", "-q"
    )
    told = {row["statistic"]: row for row in json.loads(printed.stdout)}
    assert told["n_senses_dropped"]["value"] == 5
    assert told["selection_above_chance_difference(senses=told_apart)"]["value"] > 0
    write_items([Item(i.item_id, i.dataset, i.usages, i.options, conditions={**i.conditions, "revision": "other"})
                 for i in items], tmp_path / "other.csv")  # fmt: skip
    refused = run("senses", "distinct", "gasi:v", "choices.csv", "--items", "other.csv", "--out", "third")
    assert refused.exit_code == 1
    assert "made of other vectors" in refused.stderr
