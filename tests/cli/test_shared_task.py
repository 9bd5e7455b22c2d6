"""``lexiscope shared-task``: from a redacted file to a score, on a made-up file of two setups."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from lexiscope.collect import RESPONSES
from lexiscope.core.response import Response, ResponseTable
from lexiscope.datasets.ambistory import item_id, read_samples
from lexiscope.items.tables.tabular import read_items

Run = Callable[..., Result]
CHOICES = ([5, 4, 5, 5, 4], [1, 2, 1, 1, 3], [1, 1, 1, 2, 1], [4, 5, 5, 5, 5], [3, 3, 3, 3, 3], [3, 4, 2, 3, 3, 1])


def samples(*, redacted: bool) -> dict[str, dict[str, Any]]:
    """Two made-up setups in the publisher's form."""
    found: dict[str, dict[str, Any]] = {}
    for row in range(12):
        choices = CHOICES[row % 6]
        judged: dict[str, Any] = {
            "choices": choices,
            "average": sum(choices) / len(choices),
            "stdev": statistics.stdev(choices),
            "nonsensical": [False] * len(choices),
        }
        found[str(row)] = {
            "homonym": ("horn", "bat")[row // 6],
            "judged_meaning": ("one meaning", "another meaning")[row % 2],
            "precontext": "One. Two. Three.",
            "sentence": f"The {('horn', 'bat')[row // 6]} was there.",
            "ending": ("So.", "So.", "But.", "But.", "", "")[row % 6],
            "sample_id": str(700 - row),
            "example_sentence": ("As here.", "As there.")[row % 2],
        } | (dict.fromkeys(judged, "(???)") if redacted else judged)
    return found


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with the made-up file, open and redacted, and a run in which ``model`` rated every item."""
    for name, redacted in (("gold", False), ("redacted", True)):
        (tmp_path / f"{name}.json").write_text(json.dumps(samples(redacted=redacted)), encoding="utf-8")
    values = [5, 1, 1.5, 5, 3.25, 3] * 2
    rows = [
        Response("model", "chat", item_id(one), "plausibility", "rating", value)
        for one, value in zip(read_samples(tmp_path / "gold.json"), values, strict=True)
    ]
    # the order of a run is its own
    ResponseTable.from_rows(rows[::-1]).write_parquet(tmp_path / "run" / RESPONSES)
    return tmp_path


def test_from_a_redacted_file_to_a_score(run: Run, files: Path) -> None:
    """Items without ratings; a submission in the published order; checked; scored where ratings are known."""
    assert run("shared-task", "items", "redacted.json", "--out", "items.csv").exit_code == 0
    items = read_items(files / "items.csv")
    assert [item.item_id for item in items] == [f"ambistory/{700 - row}" for row in range(12)]
    made = run("shared-task", "write", "run", "--subject", "model", "--samples", "redacted.json", "--out", "s.jsonl")
    assert "s.jsonl (12 predictions)" in made.output
    lines = [json.loads(line) for line in (files / "s.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["prediction"] for line in lines] == [5, 1, 1.5, 5, 3.25, 3] * 2
    assert [line["id"] for line in lines] == [str(row) for row in range(12)]
    checked = run("shared-task", "check", "s.jsonl", "--samples", "redacted.json")
    assert (checked.exit_code, checked.output) == (
        0,
        "s.jsonl: a submission of 12 predictions, 4 of them not whole numbers\n",
    )
    scored = run("shared-task", "score", "s.jsonl", "--samples", "gold.json", "--out", "scores.json", "--json")
    content = json.loads(scored.stdout)
    # all are within 1 of the means 4.6, 1.6, 1.2, 4.8, 3, 2.67
    assert (content["accuracy"], content["n"], content["n_non_integer"]) == (1.0, 12, 4)
    stored = json.loads((files / "scores.json").read_text(encoding="utf-8"))
    assert stored == {"accuracy": 1.0, "spearman": content["spearman"]}
    shown = run("shared-task", "score", "s.jsonl", "--samples", "gold.json").output
    assert "1.0000" in shown
    assert "4 predictions are not whole numbers" in shown


def test_rounding_is_asked_for(run: Run, files: Path) -> None:
    """1.5 becomes 2 by both rules (half up, half to even); 3.25 becomes 3; nothing is rounded unasked."""
    command = ("shared-task", "write", "run", "--subject", "model", "--samples", "gold.json", "--out", "s.jsonl")
    for rule in ("half_up", "half_even"):
        assert run(*command, "--rounding", rule).exit_code == 0
        lines = (files / "s.jsonl").read_text(encoding="utf-8").splitlines()
        assert [json.loads(line)["prediction"] for line in lines] == [5, 1, 2, 5, 3, 3] * 2


def test_faults_are_listed(run: Run, files: Path) -> None:
    """Every fault with its line, exit status 1; scoring stops at the first."""
    (files / "bad.jsonl").write_text('{"id": "0", "prediction": "4"}\n{"id": 1, "prediction": 4}\n', encoding="utf-8")
    checked = run("shared-task", "check", "bad.jsonl", "--samples", "gold.json")
    assert checked.exit_code == 1
    assert "bad.jsonl: line 1: the prediction must be a number without quotation marks" in checked.output
    assert "bad.jsonl: line 2: the id must be the text of a row" in checked.output
    assert "11 of 12 ids have no prediction: 1, 2, 3, 4, 5 …" in checked.output
    assert checked.output.endswith("3 faults\n")
    as_json = run("shared-task", "check", "bad.jsonl", "--samples", "gold.json", "--json")
    content = json.loads(as_json.stdout)
    assert (as_json.exit_code, content["n"], content["n_non_integer"]) == (1, 12, None)
    assert content["faults"][0].startswith("line 1: the prediction must be a number")
    assert len(content["faults"]) == 3
    scored = run("shared-task", "score", "bad.jsonl", "--samples", "gold.json")
    assert scored.exit_code == 1
    assert "bad.jsonl:1: the prediction must be" in scored.stderr


def test_a_constant_has_no_correlation(run: Run, files: Path) -> None:
    """n/a with the reason, and null in JSON, where the organisers' script writes NaN."""
    lines = [json.dumps({"id": str(row), "prediction": 4}) for row in range(12)]
    (files / "four.jsonl").write_text("\n".join(lines), encoding="utf-8")
    shown = run("shared-task", "score", "four.jsonl", "--samples", "gold.json")
    assert "n/a" in shown.output
    assert "all predictions are 4" in shown.output
    as_json = run("shared-task", "score", "four.jsonl", "--samples", "gold.json", "--json")
    assert json.loads(as_json.stdout)["spearman"] is None


def test_nothing_to_score_against(run: Run, files: Path) -> None:
    """A redacted file is refused by score, and so is a run that lacks a rating by write."""
    run("shared-task", "write", "run", "--subject", "model", "--samples", "gold.json", "--out", "s.jsonl")
    redacted = run("shared-task", "score", "s.jsonl", "--samples", "redacted.json")
    assert (redacted.exit_code, "these samples are redacted" in redacted.stderr) == (1, True)
    table = ResponseTable.read_parquet(files / "run" / RESPONSES)
    table.filter(table.column("item_id") != "ambistory/699").write_parquet(files / "run" / RESPONSES)
    lacking = run("shared-task", "write", "run", "--subject", "model", "--samples", "gold.json", "--out", "t.jsonl")
    assert (lacking.exit_code, "1 of 12 rows have no prediction: 1" in lacking.stderr) == (1, True)
    assert not (files / "t.jsonl").exists()


@pytest.mark.published
def test_the_published_test_split(run: Run, tmp_path: Path, published: Path) -> None:
    """Constant 4 on the test split: .5581 (519 of 930), as the organisers' script gives it."""
    lines = [json.dumps({"id": str(row), "prediction": 4}) for row in range(930)]
    (tmp_path / "four.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    scored = run("shared-task", "score", "four.jsonl")
    assert "0.5581" in scored.output
    assert "519 of 930" in scored.output
