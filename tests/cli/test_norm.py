"""``lexiscope norm``: a dataset or a file, the numbers on the screen, the files of the run."""

from __future__ import annotations

from pathlib import Path

from lexiscope.core.result import read_records

from .conftest import Run

SIMULATED = Path(__file__).parents[1] / "simulated" / "relatedness.py"
FAST = ("--bootstrap", 0, "--draws", 10, "--rated-items", 12)


def test_a_dataset_with_a_named_model(run: Run, tmp_path: Path) -> None:
    """The screen has the number needed to beat, the test and the estimates; the folder the norms and the allocation."""
    result = run("norm", SIMULATED, "--model", "made/large", *FAST)
    assert result.exit_code == 0, result.output
    assert "Number needed to beat (" in result.stdout
    assert "Alternative annotator test: winning rate (.50 is needed)" in result.stdout
    assert "Report: relatedness_norm/report.html" in result.stdout
    assert "Stopping rule: Stop after the first wave" in result.stderr
    folder = tmp_path / "relatedness_norm"
    assert (folder / "tables" / "centaur_norms.csv").is_file()
    assert {path.name for path in (folder / "allocation").iterdir()} >= {"items.csv", "wave_1.csv", "stopping_rule.txt"}
    models = {record.subject for record in read_records(folder / "results.json") if record.subject}
    assert "made/large" in models
    assert "made/small" not in models


def test_a_file_that_is_not_there_and_a_wrong_condition(run: Run) -> None:
    """Both end with what is wrong and what there is."""
    result = run("norm", "nothing.csv")
    assert result.exit_code != 0
    assert "nothing.csv" in result.stderr
    result = run("norm", "rawc")
    assert result.exit_code == 1
    assert "there is no 'rawc' among the datasets" in result.stderr
    assert "did you mean 'raw_c'?" in result.stderr
    result = run("norm", SIMULATED, "--by", "colour", *FAST, "--model", "made/large")
    assert result.exit_code == 1
    assert "no condition 'colour'" in result.stderr
