"""Agree: hand-worked values, published values, and nothing but errors or remarks for bad tables."""

from __future__ import annotations

import csv
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import read_records

from .conftest import Run

# three raters, three items: a 1 2 3, b 1 3 2, c 2 3 4
SMALL = "rater,item,rating\n" + "".join(
    f"{rater},{item},{value}\n"
    for rater, values in {"a": (1, 2, 3), "b": (1, 3, 2), "c": (2, 3, 4)}.items()
    for item, value in zip("ijk", values, strict=True)
)


def _agree(run: Run, *arguments: object) -> dict[str, Any]:
    result = run("agree", *arguments, "--bootstrap", 100, "--json")
    assert result.exit_code == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def _value(found: dict[str, Any], statistic: str) -> float:
    return next(record["value"] for record in found["records"] if record["statistic"] == statistic)


def test_hand_worked_values(run: Run, tmp_path: Path) -> None:
    """Each statistic of a 3 × 3 table, as the calculation.

    Leave one out: a 1 2 3 against (1.5, 3, 3), ranks 1 2.5 2.5: rho = sqrt(3) / 2. b 1 3 2 against (1.5, 2.5, 3.5):
    1/2. c like a against (1, 2.5, 2.5): sqrt(3) / 2. Own rating included, means 4/3 8/3 3: a and c 1, b 1/2. Pairs: ab
    and bc 1/2, ac 1. Alpha (interval): observed disagreement over ordered pairs within items
    2 (0+1+1) + 2 (1+0+1) + 2 (1+1+4) = 20, over 2 per item pair: 20 / (9 · 2) = 10/9; expected: nine values
    1 1 2 2 2 3 3 3 4, sum of squared differences over ordered pairs = 2 (9 · 57 - 21²) = 144, / (9 · 8) = 2.
    """
    (tmp_path / "r.csv").write_text(SMALL)
    found = _agree(run, "r.csv", "--scale", 1, 5)
    half = math.sqrt(3) / 2
    assert _value(found, "leave_one_out_agreement(method=spearman)") == pytest.approx(
        (half + 0.5 + half) / 3, abs=1e-12
    )
    assert _value(found, "included_agreement(method=spearman)") == pytest.approx((1 + 0.5 + 1) / 3, abs=1e-12)
    assert _value(found, "pairwise_agreement(method=spearman)") == pytest.approx((0.5 + 1 + 0.5) / 3, abs=1e-12)
    assert _value(found, "krippendorff_alpha(level=interval)") == pytest.approx(1 - (10 / 9) / 2, abs=1e-12)
    squared = "squared_mean_rater_correlation(variant=leave_one_out,method=spearman)"
    assert _value(found, squared) == pytest.approx(((2 * half + 0.5) / 3) ** 2, abs=1e-12)
    mean_of_squares = "mean_squared_rater_correlation(variant=leave_one_out,method=spearman)"
    assert _value(found, mean_of_squares) == pytest.approx((0.75 + 0.25 + 0.75) / 3, abs=1e-12)
    assert [row["rater"] for row in found["raters"]] == ["b", "a", "c"]
    assert found["raters"][1]["mean"] == 2.0


def test_a_constant_rater_is_flagged_and_left_out(run: Run, tmp_path: Path) -> None:
    """Who gives the same rating everywhere has no correlation: the row says so, the mean is over the others."""
    (tmp_path / "r.csv").write_text(SMALL + "d,i,3\nd,j,3\nd,k,3\n")
    found = _agree(run, "r.csv")
    first = found["raters"][0]
    assert (first["rater"], first["leave_one_out"], first["flag"]) == ("d", None, "gave 3 to all 3 items")
    record = next(r for r in found["records"] if r["statistic"] == "leave_one_out_agreement(method=spearman)")
    assert record["n"] == 3


def test_missing_ratings_are_counted_per_rater(run: Run, tmp_path: Path) -> None:
    """A missing rating is no rating: it is counted in the summary and with the rater."""
    (tmp_path / "r.csv").write_text(SMALL + "a,l,NA\nb,l,\nc,l,4\n")
    found = _agree(run, "r.csv")
    assert found["counts"]["missing"] == 2
    assert {row["rater"]: row["n_missing"] for row in found["raters"]} == {"a": 1, "b": 1, "c": 0}


def test_one_rater_is_an_error(run: Run, tmp_path: Path) -> None:
    """Agreement of one rater is undefined: an error, no table."""
    (tmp_path / "r.csv").write_text("rater,item,rating\na,i,1\na,j,2\na,k,3\n")
    result = run("agree", "r.csv", "--out", "results")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("r.csv: Agreement needs 2 raters; this file has 1.")
    assert "what to do: Check --rater." in result.stderr
    assert not (tmp_path / "results").exists()


def test_what_is_undefined_says_why(run: Run, tmp_path: Path) -> None:
    """Two constant raters: every statistic is a record without a value and with its reason, never a number."""
    (tmp_path / "r.csv").write_text("rater,item,rating\n" + "".join(f"{r},{i},3\n" for r in "ab" for i in "ijk"))
    found = _agree(run, "r.csv")
    undefined = [record for record in found["records"] if record["value"] is None]
    assert {record["statistic"].partition("(")[0] for record in undefined} >= {
        "leave_one_out_agreement",
        "included_agreement",
        "pairwise_agreement",
        "krippendorff_alpha",
    }
    assert all(record["note"] and record["status"] == "undefined" for record in undefined)


def test_disagreement_is_not_squared_into_a_ceiling(run: Run, tmp_path: Path) -> None:
    """Two raters up, two down: mean correlations are negative, so squares and split-half reliability have no value."""
    rows = [f"{rater},{item},{value}\n" for rater in "ab" for item, value in zip("ijkl", (1, 2, 3, 4), strict=True)]
    rows += [f"{rater},{item},{value}\n" for rater in "cd" for item, value in zip("ijkl", (4, 3, 2, 1), strict=True)]
    (tmp_path / "r.csv").write_text("rater,item,rating\n" + "".join(rows))
    found = _agree(run, "r.csv")
    by_name = {record["statistic"].partition("(")[0]: record for record in found["records"]}
    # each rater against (1 + 4 + 4) / 3 … (4 + 1 + 1) / 3: the other way round
    assert _value(found, "leave_one_out_agreement(method=spearman)") == -1
    for name in ("squared_mean_rater_correlation", "mean_squared_rater_correlation"):
        assert (by_name[name]["value"], by_name[name]["status"]) == (None, "undefined")
        assert "negative (-1.0000)" in by_name[name]["note"]
    assert by_name["split_half_reliability"]["value"] is None
    assert "would be below −1" in by_name["split_half_reliability"]["note"]


def test_files_hold_what_was_printed(run: Run, tmp_path: Path) -> None:
    """--out writes the records and the raters; a second run writes the same bytes."""
    (tmp_path / "r.csv").write_text(SMALL)
    found = _agree(run, "r.csv", "--out", "results")
    records = read_records(tmp_path / "results" / "results.json")
    assert [record.value for record in records] == [record["value"] for record in found["records"]]
    with (tmp_path / "results" / "raters.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["rater"] for row in rows] == ["b", "a", "c"]
    before = (tmp_path / "results" / "results.json").read_bytes()
    _agree(run, "r.csv", "--out", "results")
    assert (tmp_path / "results" / "results.json").read_bytes() == before


def _resampled(printed: str) -> str:
    return re.findall(r"Resampled: (.*?)[.](?= )", " ".join(printed.split()))[0]


def test_the_table_fits_80_columns_and_quiet_is_quiet(run: Run, tmp_path: Path) -> None:
    """Results go to stdout in at most 80 columns, remarks to stderr; --quiet leaves the remarks out."""
    (tmp_path / "r.csv").write_text(SMALL)
    result = run("agree", "r.csv", "--bootstrap", 100)
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "Columns: rater = rater" in result.stderr
    # machine names stay in results.json
    assert "agreement of one rater with the mean of the others (Spearman)" in " ".join(result.stdout.split())
    assert re.findall(r"\w+_\w+|\w+=\w+", result.stdout) == []
    units = {part.split(" in ")[0] for part in _resampled(result.stdout).split("; ")}
    records = json.loads(run("agree", "r.csv", "--bootstrap", 100, "--json").stdout)["records"]
    given = [re.findall(r"resampled=(\w+)", record["interval"]) for record in records if record["low"] is not None]
    assert units == {unit.replace("_", " ") for units in given for unit in units} != set()
    quiet = run("agree", "r.csv", "--bootstrap", 100, "--quiet")
    assert (quiet.stdout, quiet.stderr) == (result.stdout, "")


@pytest.mark.published
def test_saw_c_trials(run: Run, published: Path) -> None:
    """SAW-C's trials: true leave-one-out .7306 (.2975 to .8587), own rating included .7725 (.3946 to .8834)."""
    path = published / "sawc" / "sawc_relatedness_full_critical_data.csv"
    found = _agree(run, path, "--scale", 1, 5, "--group", "Word")
    expected = {"leave_one_out": (0.7306, 0.2975, 0.8587), "included": (0.7725, 0.3946, 0.8834)}
    for variant, values in expected.items():
        name = f"{variant}_agreement(method=spearman"
        got = [
            _value(found, f"{name})"),
            _value(found, f"{name},over_raters=minimum)"),
            _value(found, f"{name},over_raters=maximum)"),
        ]
        assert [round(value, 4) for value in got] == list(values)
    assert found["counts"] == {
        "ratings": 10639,
        "missing": 0,
        "raters": 131,
        "items": 812,
        "fewest ratings per item": 10,
        "most ratings per item": 17,
    }


@pytest.mark.published
def test_raw_c_needs_its_items_named(run: Run, published: Path) -> None:
    """RAW-C's column 'item' is not what identifies a pair: refused; with word and version .7933 as computed in R."""
    path = published / "rawc" / "normed_critical.csv"
    assert "E006" in run("agree", path).stderr
    found = _agree(run, path, "--item", "word", "--item", "version", "--scale", 0, 4)
    assert round(_value(found, "leave_one_out_agreement(method=spearman)"), 4) == 0.7933
    assert round(_value(found, "included_agreement(method=spearman)"), 4) == 0.8254


def test_models_are_raters_where_their_kind_is_named(tmp_path: Path, run: Run) -> None:
    """Of a response table the raters are participants; --kind adds models by name, and a plain table has no kinds."""
    rows = [
        Response(who, kind, item, "relatedness", "rating", float(value))
        for who, kind, values in (
            ("ana", "participant", (1, 4, 2, 5)),
            ("eva", "participant", (1, 5, 3, 4)),
            ("m", "causal_lm", (5, 1, 4, 2)),
        )
        for item, value in zip("ijkl", values, strict=True)
    ]
    ResponseTable.from_rows(rows).write_csv(tmp_path / "answers.csv")
    people = json.loads(run("agree", "answers.csv", "--bootstrap", "100", "--json").stdout)
    both = json.loads(run("agree", "answers.csv", "--kind", "causal_lm", "--bootstrap", "100", "--json").stdout)
    assert [row["rater"] for row in people["raters"]] != [row["rater"] for row in both["raters"]]
    assert {row["rater"] for row in people["raters"]} == {"ana", "eva"}
    assert {row["rater"] for row in both["raters"]} == {"ana", "eva", "m"}
    (tmp_path / "plain.csv").write_text("rater,item,rating\nana,i,1\neva,i,2\n")
    refused = run("agree", "plain.csv", "--kind", "chat")
    assert refused.exit_code == 1
    assert "--kind needs a response table" in refused.stderr


def test_ratings_on_two_scales_are_refused(tmp_path: Path, run: Run) -> None:
    """The command refuses what Python refuses: agreement over items of 0 to 4 and of 1 to 100."""
    scales = {"i": "0 to 4", "j": "1 to 100, continuous"}
    rows = [
        Response(who, "participant", item, "relatedness", "rating", 2.0, scale=scale)
        for who in ("ana", "eva")
        for item, scale in scales.items()
    ]
    ResponseTable.from_rows(rows).write_csv(tmp_path / "answers.csv")
    result = run("agree", "answers.csv")
    assert result.exit_code == 1
    assert "on two scales: 2 from 0 to 4 (item 'i') and 2 from 1 to 100 (item 'j')" in result.stderr


def test_catch_trials_are_no_items(run: Run, tmp_path: Path) -> None:
    """Rows whose column catch is true are left out, with a remark, as in studies; another word there is E303."""
    lines = SMALL.splitlines()
    with_column = "\n".join([lines[0] + ",is_catch", *(line + ",no" for line in lines[1:])])
    caught = "\n".join(f"{rater},check,5,TRUE" for rater in "abc")
    (tmp_path / "plain.csv").write_text(SMALL)
    (tmp_path / "catch.csv").write_text(f"{with_column}\n{caught}\n")
    plain, found = _agree(run, "plain.csv"), _agree(run, "catch.csv")
    assert (found["records"], found["counts"]) == (plain["records"], plain["counts"])
    assert "1 item of the file is a catch trial (column catch): no analysis uses it." in found["remarks"]
    (tmp_path / "odd.csv").write_text(f"{with_column}\na,z,5,perhaps\n")
    result = run("agree", "odd.csv")
    assert result.exit_code == 1
    assert "E303" in result.stderr
    assert "'perhaps' is neither true nor false" in result.stderr
