"""A study's run is made once; another file beside the items makes it another run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from lexiscope.core.errors import RunError
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Record
from lexiscope.core.study import Question, StudySettings
from lexiscope.report.document import Report
from lexiscope.report.part import Part
from lexiscope.report.study_folder import about_run
from lexiscope.report.study_run import Computed, Summary, marked_records, run_study
from lexiscope.report.tables import Column, Table

SETTINGS = StudySettings("saw_c")
RECORD = Record("n", 3.0)


class Counted:
    """A study of one number that counts how often it is computed."""

    def __init__(self) -> None:
        self.times = 0

    def run(self, folder: Path, settings: StudySettings = SETTINGS, given: Mapping[str, str] | None = None) -> Summary:
        """Run it into a folder."""

        def compute(_folder: Path) -> Computed:
            self.times += 1
            stored = {"given": dict(given)} if given else {}
            run = about_run(settings, data={}, counts={}, **stored)
            parts = {"Q1": Part((RECORD,), remarks=("said once",)), "Q2": Part(remarks=("said once",))}
            return Computed(Report("One number", run=run, records=(RECORD,)), ResponseTable.from_rows([]), parts)

        return run_study(settings, folder, compute, overview, given=given, command="command")


def overview(records: tuple[Record, ...]) -> Table:
    """The number."""
    return Table("overview", "", "", (Column("n"),), tuple((record.value,) for record in records))


def test_a_finished_run_is_only_read(tmp_path: Path) -> None:
    """The second call computes nothing, says so, and has the same numbers to show."""
    study = Counted()
    first, second = study.run(tmp_path), study.run(tmp_path)
    assert study.times == 1
    assert first.remarks == ("said once",)
    assert second.remarks == ("this run was finished before: nothing was computed again",)
    assert first.overview == second.overview
    assert (first.n_records, second.n_records) == (1, 1)


def test_another_file_beside_the_items_is_another_run(tmp_path: Path) -> None:
    """A word list with another checksum is computed anew, the same one is not."""
    study = Counted()
    for digest in ("a", "a", "b"):
        study.run(tmp_path, given={"words.txt": digest})
    assert study.times == 2


def test_a_folder_of_other_settings_is_refused(tmp_path: Path) -> None:
    """Nothing is computed into the run of another question."""
    study = Counted()
    study.run(tmp_path)
    with pytest.raises(RunError, match="another question"):
        study.run(tmp_path, settings=StudySettings("saw_c", seed=1))
    assert study.times == 1


def test_records_carry_their_question_and_its_flag() -> None:
    """Settings override the flag of a question; a part that answers no question leaves its records unmarked."""
    questions = (Question("Q1", "?", "", "confirmatory"), Question("Q2", "?", "", "confirmatory"))
    settings = StudySettings("saw_c", analyses=(("Q2", "exploratory"),))
    parts = {name: Part((RECORD,)) for name in ("Q1", "Q2", "stories")}
    marks = [(record.question, record.analysis) for record in marked_records(parts, questions, settings)]
    assert marks == [("Q1", "confirmatory"), ("Q2", "exploratory"), (RECORD.question, RECORD.analysis)]
