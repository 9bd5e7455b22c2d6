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
    assert "Unknown dataset 'rawc'." in result.stderr
    assert "did you mean 'raw_c'?" in result.stderr
    result = run("norm", SIMULATED, "--by", "colour", *FAST, "--model", "made/large")
    assert result.exit_code == 1
    assert "no condition 'colour'" in result.stderr


def test_the_target_is_named_and_decides_the_width(run: Run, tmp_path: Path) -> None:
    """About a population, intervals from the same rated items are wider, and the page has the target."""
    widths = {}
    for target in ("list", "population"):
        out = tmp_path / target
        result = run("norm", SIMULATED, "--model", "made/large", "--target", target, "--out", out, *FAST)
        assert result.exit_code == 0, result.output
        means = [r for r in read_records(out / "results.json") if r.statistic == "mean_rating(source=people_and_model)"]
        (mean,) = (record for record in means if not record.condition)
        assert mean.low is not None
        assert mean.high is not None
        widths[target] = mean.high - mean.low
    assert widths["population"] > widths["list"]
    page = (tmp_path / "population" / "report.html").read_text(encoding="utf-8")
    assert "Target: a population of which the words of these items are a sample" in page
    assert "Target: the items of this list" in (tmp_path / "list" / "report.html").read_text(encoding="utf-8")
