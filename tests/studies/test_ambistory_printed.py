"""What the paper of AmbiStory prints: every number has a row, and the rows are those of the paper's tables."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from lexiscope.core.study import PublishedValue
from lexiscope.studies.ambistory import study

ALL: tuple[PublishedValue, ...] = study.PUBLISHED["ambistory"]
ROWS = [row for row in ALL if not row.statistic.startswith("setting(")]


def test_every_number_of_the_paper_has_a_row() -> None:
    """Counted by hand from the paper: Table 2 4, Table 3 33 (5 of baselines and people, 14 models × 2), 4 3 × 6, 5 8
    that Table 3 lacks, 6 9 × 5, 7 20 × 2. In the text 36: seven sizes, the pool, groups, samples of a group, ratings of
    a sample, eleven of §4.1, six of §4.2 and its bound, the last epoch, 5 and 7 points, four of A.1. A number that
    stands twice is one row. Settings are no results, and have rows: four of the collection, the label of a baseline,
    the temperature, seven of the training."""
    tables = {"2": 4, "3": 29, "4": 18, "5": 16, "6": 45 + 2, "7": 40}
    assert {t: sum(bool(re.search(rf"Table {t}\b", row.place)) for row in ROWS) for t in tables} == tables
    assert len(ROWS) == 4 + 33 + 18 + 8 + 45 + 40 + 36 == 184
    assert Counter(row.reproducible for row in ROWS) == {False: 128, True: 56}
    assert len(ALL) - len(ROWS) == 4 + 1 + 1 + 7
    assert all(row.remark for row in ALL if not row.reproducible)


def test_the_rows_are_those_of_the_papers_text(published: Path) -> None:
    """Each number of Tables 3, 5, 6 and 7 is in its table of the text, as often as there are rows of it."""
    paper = published.parent / "papers" / "ambistory.txt"
    if not paper.is_file():
        pytest.skip("the text of the paper is not at hand")
    text = paper.read_text(encoding="utf-8")
    accuracy = "\tSpearman\tAcc. w/in SD\nRandom"
    first, second = (match.start() for match in re.finditer(re.escape(accuracy), text))
    starts = {"3": first, "5": second, "6": text.index("All Stories\t1"), "7": text.index("\tOpen-Ended\tEnded")}
    n_lines = {"3": 18, "5": 12, "6": 12, "7": 21}
    # of tables 3 and 5 the rows of baselines and people belong to §5.1
    for table, start in starts.items():
        lines = text[start:].splitlines()[1 : n_lines[table]]
        cells = [cell for line in lines if "Human Upper" not in line for cell in line.split("\t")[1:]]
        numbers = Counter(cell for cell in cells if re.fullmatch(r"\d+\.\d+", cell))
        baselines = Counter({"0.000": int(table == "5"), "0.454": 1, "0.558": 1}) if table in "35" else Counter()
        own = [row for row in ROWS if re.search(rf"Table {table}\b", row.place) and "difference" not in row.statistic]
        assert Counter(float(row.printed) for row in own) == Counter(map(float, (numbers - baselines).elements())), (
            table
        )


def test_averages_of_table_7_are_those_of_its_rows() -> None:
    """The paper's own averages: of the nine models of a block, to a unit of the last digit (its rows are rounded)."""
    for shots in "04":
        for kind in ("open", "ended"):
            own = [row for row in ROWS if "Table 7" in row.place and row.condition == f"test, {kind}"]
            of_models = [float(row.printed) for row in own if row.subject.endswith(f"{shots}-shot")]
            (mean,) = [float(row.printed) for row in own if f"shots={shots}" in row.statistic]
            assert len(of_models) == 9
            assert sum(of_models) / 9 == pytest.approx(mean, abs=0.0015)
