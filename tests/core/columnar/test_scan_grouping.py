"""Means by group: what pandas gives, however the rows are divided, with missing names as a group of their own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lexiscope.core.columnar import scan
from lexiscope.core.response import ResponseTable


@pytest.mark.parametrize("limits", [(2**18, 2**62), (3, 8)])
def test_means_are_those_of_pandas(monkeypatch: pytest.MonkeyPatch, limits: tuple[int, int]) -> None:
    """Three names and a number as keys, missing ones among them; the second limits merge and pack after few groups."""
    monkeypatch.setattr(scan, "_FEW_GROUPS", limits[0])
    monkeypatch.setattr(scan, "_WIDEST", limits[1])
    dice, n = np.random.default_rng(1), 500
    columns = {
        "subject_id": [f"s{k}" for k in dice.integers(0, 5, n)],
        "option": [None if k == 3 else f"o{k}" for k in dice.integers(0, 4, n)],
        "layer": np.where(dice.random(n) < 0.2, np.nan, dice.integers(0, 3, n)),
        "value": np.where(dice.random(n) < 0.3, np.nan, dice.integers(0, 100, n)),
    }
    table = ResponseTable.from_columns(
        {**columns, "subject_kind": "encoder", "item_id": "i", "task": "t", "measure": "m"}
    )
    pieces = [table.take(np.arange(start, start + 50)).arrow for start in range(0, n, 50)]
    keys = ("subject_id", "option", "layer")
    expected = pd.DataFrame(columns).groupby(list(keys), dropna=False)["value"].agg(["size", "count", "mean"])
    expected = expected.reset_index().sort_values(list(keys), na_position="last")
    for means in (table.group_means(*keys), scan.group_means(pieces, keys, "value")):
        assert means.rows.tolist() == expected["size"].tolist()
        assert means.n.tolist() == expected["count"].tolist()
        np.testing.assert_allclose(means.mean, expected["mean"])
        np.testing.assert_array_equal(means.keys["layer"], expected["layer"])
        assert [key or "" for key in means.keys["option"]] == expected["option"].fillna("").tolist()


def test_no_rows_and_no_keys() -> None:
    """Nothing gives no group; without keys all rows are one group."""
    assert len(scan.group_means([], ("subject_id",), "value")) == 0
    columns = {"subject_id": "s", "subject_kind": "k", "item_id": "i", "task": "t", "measure": "m", "value": [1, 2, 6]}
    whole = ResponseTable.from_columns(columns).group_means()
    assert (whole.rows.tolist(), whole.mean.tolist()) == ([3], [3.0])
