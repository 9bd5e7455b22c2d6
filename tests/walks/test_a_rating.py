"""First walk, entered from a file: a rating becomes a row and goes to the report (docs/extend/code-tour.md).

The ratings are made up by this test and nobody's judgments. Rater r4 turns the scale around.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from lexiscope.analysis.agreement.raters import RaterAgreement, leave_one_out
from lexiscope.analysis.exclusion import ExclusionResult, apply, parse_rule
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import InputError
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Record, from_json, to_json
from lexiscope.core.scale import Scale
from lexiscope.items.read.importer import Imported, import_items
from lexiscope.report.tables import BOUNDED, Column, Table, to_csv, to_text

CUES = ("muddy", "grassy", "Swiss", "private", "steep", "central")
MADE_UP = {"r1": (1, 2, 4, 5, 2, 4), "r2": (1, 1, 5, 4, 2, 4), "r3": (2, 1, 5, 5, 3, 4), "r4": (5, 5, 2, 1, 4, 1)}


def _write(folder: Path, ratings: dict[str, tuple[int, ...]]) -> Path:
    lines = ["item_id,sentence_1,sentence_2,target,participant,rating"]
    for rater, values in ratings.items():
        for number, (cue, value) in enumerate(zip(CUES, values, strict=True)):
            lines.append(f"i{number},He saw the {cue} bank,He saw the old bank,bank,{rater},{value}")
    path = folder / "ratings_made_up_by_a_test.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def imported(tmp_path: Path) -> Imported:
    return import_items(_write(tmp_path, MADE_UP), dataset="made_up", scale=Scale(1, 5), language="en")


@pytest.fixture
def excluded(imported: Imported) -> ExclusionResult:
    return apply([parse_rule("low_agreement(r_squared=0.1)")], imported.responses)


@pytest.fixture
def agreement(excluded: ExclusionResult) -> RaterAgreement:
    return leave_one_out(Ratings.from_table(excluded.kept), resamples=100, seed=1)


def test_a_rating_becomes_a_row(imported: Imported) -> None:
    """From a file: rater, item, measure and value stand in columns; nothing is lost or added."""
    rows = imported.responses
    assert len(rows) == len(MADE_UP) * len(CUES)
    assert rows.where(subject_id="r2", item_id="i3").column("value").tolist() == [4.0]
    assert (rows.unique("measure"), rows.unique("subject_kind")) == (("rating",), ("participant",))
    assert {usage.target for item in imported.items for usage in item.usages} == {"bank"}


def test_a_rating_off_the_scale_stops_at_its_place(tmp_path: Path) -> None:
    """From a file: a 6 on a scale from 1 to 5 is an error with file and line, not a number."""
    path = _write(tmp_path, {"r1": (1, 2, 6, 5, 2, 4)})
    with pytest.raises(InputError, match="E301") as caught:
        import_items(path, dataset="made_up", scale=Scale(1, 5))
    assert caught.value.place is not None
    assert (caught.value.place.path, caught.value.place.line) == (str(path), 4)


def test_the_table_survives_its_file(imported: Imported, tmp_path: Path) -> None:
    """What is written is what is read."""
    imported.responses.write_parquet(tmp_path / "responses.parquet")
    assert ResponseTable.read_parquet(tmp_path / "responses.parquet") == imported.responses


def test_an_exclusion_accounts_for_everybody(excluded: ExclusionResult) -> None:
    """Step 5: the rater who turned the scale around is excluded, by that rule, with all trials."""
    assert excluded.log[0].excluded == ("r4",)
    assert (excluded.n_before, excluded.n_after) == (4, 3)
    assert (excluded.trials_before, excluded.trials_after) == (24, 18)


def test_agreement_is_each_rater_against_the_others(agreement: RaterAgreement) -> None:
    """Step 7: the mean over r1, r2, r3 of rho with the mean of the two others, without r4."""
    kept = np.array([MADE_UP[rater] for rater in ("r1", "r2", "r3")], dtype=float)
    expected = [spearmanr(kept[i], np.delete(kept, i, axis=0).mean(axis=0)).statistic for i in range(3)]
    assert agreement.values.tolist() == pytest.approx(expected, abs=1e-12)
    assert agreement.mean == pytest.approx(sum(expected) / 3, abs=1e-12)


def test_the_report_prints_the_recorded_number(agreement: RaterAgreement) -> None:
    """The record keeps every digit, the table rounds them once, the CSV beside it does not."""
    record = Record(agreement.name, agreement.mean, dataset="made_up", n=agreement.n_raters)
    assert from_json(to_json([record])) == (record,)
    rows = ((record.statistic, record.value),)
    table = Table("agreement", "1", "Agreement", (Column("Statistic"), Column("Value", BOUNDED)), rows)
    assert f"{agreement.mean:.2f}".lstrip("0") in to_text(table)
    assert repr(agreement.mean) in to_csv(table)
