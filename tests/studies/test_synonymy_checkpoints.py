"""A toy language model saved at five steps of its training: the same suite over its states."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from lexiscope.core.result import find_record, read_records
from lexiscope.datasets import mini_synonymy
from lexiscope.items.choice_sets.collection_file import write_collection
from lexiscope.items.choice_sets.minimal_pairs import SynonymItem, choice_sets, reversed_sets
from lexiscope.studies.synonymy import study
from lexiscope.studies.synonymy.settings import SynonymySettings

STEPS = (0, 10, 20, 40, 80)
CELL = "substitution/controlled"


@pytest.fixture(scope="module")
def collection() -> tuple[SynonymItem, ...]:
    return mini_synonymy.collection()[:8]


def test_a_toy_model_over_five_states_of_training(
    collection: tuple[SynonymItem, ...], learn_by_heart: Callable[..., list[Path]], tmp_path: Path
) -> None:
    """It learns the right texts by heart: at its last state it has all of them right, at its first it does not.

    The states stand in the table and the figure in the order of what they had seen.
    """
    write_collection(collection, tmp_path / "own.csv")
    counts = tmp_path / "counts.csv"
    counts.write_text("word,count\nbill,3\n", encoding="utf-8")
    asked = choice_sets(collection)
    right = choice_sets(collection, suites=["substitution"], conditions=["controlled"])
    states = learn_by_heart(right, (*asked, *reversed_sets(collection)), tmp_path / "toy", steps=STEPS)
    given = tuple((f"causal_lm:{state}?self_test=no", float(step)) for state, step in zip(states, STEPS, strict=True))
    settings = SynonymySettings(
        items=str(tmp_path / "own.csv"),
        frequency=str(counts),
        checkpoints=given[::-1],
        n_bootstrap=10,
        gap_filling="no",
    )
    study.run(settings, tmp_path / "run")
    with (tmp_path / "run" / "tables" / "checkpoints.csv").open(encoding="utf-8") as stream:
        header, *rows = csv.reader(stream)
    assert [float(row[1]) for row in rows] == list(STEPS)
    records = read_records(tmp_path / "run" / "results.json")
    first, last = (
        find_record(records, "percent_right(per=token)", subject=f"causal_lm:{states[n]}", condition=CELL).value
        for n in (0, -1)
    )
    assert first is not None
    assert first < 100.0 == last
    assert float(rows[-1][header.index("substitution: controlled")]) == last
    assert (tmp_path / "run" / "figures" / "figure_checkpoints.svg").is_file()
