"""What a run exports for R: the file that reads it, and the tables that it reads."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import Record
from lexiscope.report.page.exports import StudyExports, export


def exported(folder: Path, scale: str = "1 to 5") -> tuple[str, ...]:
    """Export two raters' ratings, one of them missing, a model's distance, and two results."""
    rows = [
        Response("p2", "participant", "b", "relatedness", "rating", 5.0, list_id="L1", position=0, scale=scale),
        Response("p1", "participant", "a", "relatedness", "rating", 2.0, list_id="L1", position=1, scale=scale),
        Response("p1", "participant", "b", "relatedness", "rating", raw='word, "é"', scale=scale),
        Response("encoder:m", "encoder", "a", "relatedness", "cosine_distance", 0.25, layer=3),
    ]
    records = (
        Record("n_words", 6.0, n=6, question="Q1"),
        Record("spearman", 0.5, "encoder:m", layer=3, low=0.1, high=0.8, question="Q2", note='a, "b"'),
    )
    table = ResponseTable.from_rows(rows)
    table.write_parquet(folder / "responses.parquet")
    return export(folder, StudyExports("made", table, None, (), {}, records), ("csv", "r_data"))


def test_the_files_are_written_once(tmp_path: Path) -> None:
    """The file for R comes with the responses and results as CSV; none is named twice."""
    assert exported(tmp_path) == ("responses.csv", "read_run.R", "results.csv")
    assert (tmp_path / "results.csv").read_text(encoding="utf-8").startswith("statistic,value,subject,")


CHECK = """
source("read_run.R")
run <- read_run(".")
stopifnot(
  nrow(run$responses) == 4, nrow(run$ratings) == 3, nrow(run$results) == 2,
  is.integer(run$responses$layer), is.numeric(run$responses$value), is.na(run$responses$value[3]),
  identical(levels(run$responses$subject_id), c("p2", "p1", "encoder:m")),
  identical(levels(run$ratings$subject_id), c("p2", "p1")),
  identical(as.character(run$responses$raw[3]), "word, \\"\\u00e9\\""),
  identical(levels(run$results$statistic), c("n_words", "spearman")),
  isTRUE(all.equal(run$results$high[2], 0.8)), identical(run$results$note[2], "a, \\"b\\"")
)
print(run)
cat(class(run$ratings$rating), levels(run$ratings$rating), as.integer(run$ratings$rating), "\\n")
"""


@pytest.mark.r
@pytest.mark.parametrize(
    ("scale", "printed"),
    [
        ("1 to 5", "ordered factor 1 2 3 4 5 5 2 NA"),
        ("0 to 10 by 2.5", "ordered factor 0 2.5 5 7.5 10 3 NA NA"),
        ("0 to 100, continuous", "NULL"),
    ],
)
def test_r_reads_a_run(tmp_path: Path, scale: str, printed: str) -> None:
    """Factors have their levels in the order of the file, ratings the points of their scale; a missing one is NA."""
    if shutil.which("Rscript") is None:
        pytest.skip("Rscript is not installed")
    exported(tmp_path, scale)
    (tmp_path / "check.R").write_text(CHECK, encoding="utf-8")
    done = subprocess.run(
        ["Rscript", "--vanilla", "check.R"], cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    assert lines == [
        "4 responses, 3 ratings by 2 raters, 2 results",
        printed,
    ]
