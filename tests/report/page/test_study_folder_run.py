"""A study's run is made once; another file beside the items makes it another run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from lexiscope.core.errors import InputError, RunError
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Record
from lexiscope.core.sealed import possibly_paid, write_sealed
from lexiscope.core.settings import Settings
from lexiscope.core.study import PlannedAnalysis, Question
from lexiscope.report.answers.answer import Answer
from lexiscope.report.answers.results_page import ResultsPage
from lexiscope.report.document import Report
from lexiscope.report.page.html import render
from lexiscope.report.page.study_folder import (
    Computed,
    Summary,
    about_run,
    analyses_in_force,
    marked_questions,
    marked_records,
    planned_text,
    run_study,
    with_caution,
)
from lexiscope.report.part import Part
from lexiscope.report.sections import paid_caution
from lexiscope.report.tables import Column, Table
from lexiscope.studies.saw_c.settings import SawCSettings

SETTINGS = SawCSettings()
RECORD = Record("n", 3.0)


class Counted:
    """A study of one number that counts how often it is computed."""

    def __init__(self) -> None:
        self.times = 0

    def run(self, folder: Path, settings: Settings = SETTINGS, given: Mapping[str, str] | None = None) -> Summary:
        """Run it into a folder."""

        def compute(_folder: Path) -> Computed:
            self.times += 1
            stored = {"given": dict(given)} if given else {}
            run = about_run(settings, data={}, counts={}, **stored)
            parts = {"Q1": Part((RECORD,), remarks=("said once",)), "Q2": Part(remarks=("said once",))}
            return Computed(Report("One number", run=run, records=(RECORD,)), ResponseTable.from_rows([]), parts)

        return run_study(settings, folder, compute, overview, given=lambda _: given or {}, command="command")


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
        study.run(tmp_path, settings=SawCSettings(seed=1))
    assert study.times == 1


OTHER = Record("m", 1.0)
QUESTIONS = tuple(Question(name, "Is it?", "§1") for name in ("Q1", "Q2", "Q3"))
PLANNED = tuple(
    PlannedAnalysis(name, f"n of {name}", "Table 1", lambda record: record.statistic == "n") for name in ("Q1", "Q2")
)


def test_only_what_a_plan_covers_is_confirmatory() -> None:
    """By record, not by question; without a plan all is exploratory; a part that answers no question has no mark."""
    parts = {"Q1": Part((RECORD, OTHER)), "Q2": Part((RECORD,)), "Q3": Part((RECORD,)), "stories": Part((RECORD,))}
    records = marked_records(parts, QUESTIONS, SETTINGS, PLANNED)
    assert [record.analysis for record in records] == ["confirmatory", "exploratory", "confirmatory", "exploratory", ""]
    questions = marked_questions(QUESTIONS, records)
    assert [q.analysis for q in questions] == ["confirmatory in part", "confirmatory", "exploratory"]
    assert {record.analysis for record in marked_records(parts, QUESTIONS, SETTINGS)} == {"exploratory", ""}


def test_a_section_says_what_was_planned() -> None:
    """What is confirmatory is named with its plan; where only a part is, the rest is called exploratory."""
    part, whole, none = (
        replace(question, analysis=mark)
        for question, mark in zip(QUESTIONS, ("confirmatory in part", "confirmatory", "exploratory"), strict=True)
    )
    said = "Confirmatory, because planned before the data were collected: n of {} (Table 1)."
    assert planned_text(part, PLANNED) == (said.format("Q1") + " All other results of this section are exploratory.",)
    assert planned_text(whole, PLANNED) == (said.format("Q2"),)
    assert planned_text(none, PLANNED) == ()


def test_a_question_can_be_set_to_exploratory_only() -> None:
    """Settings take a mark away; they cannot give one, since no setting is written before the first answer."""
    settings = replace(SETTINGS, analyses=(("Q1", "exploratory"),))
    assert [each.question_id for each in analyses_in_force(PLANNED, settings)] == ["Q2"]
    with pytest.raises(InputError, match="Q2 cannot be set to confirmatory"):
        replace(SETTINGS, analyses=(("Q2", "confirmatory"),))  # type: ignore[arg-type]


def test_requests_that_may_have_been_paid_are_a_caution(tmp_path: Path) -> None:
    """The counts of all seals of a run are added up and are on the page once; an account is of one part."""
    for place, lost in (("a", 2), ("b", 1), ("b/c", 0)):
        about = {"facts": {"subject_id": "chat:m@http://h"}, "settings": {"account": {"possibly_paid": lost}}}
        write_sealed(tmp_path / place / "parts" / "one.json", {"about": about})
    for name, lost in (("one", 1), ("two", 4)):
        about = {"facts": {"subject_id": "completions:m@http://h"}, "settings": {"possibly_paid": lost}}
        write_sealed(tmp_path / "d" / "parts" / f"{name}.json", {"about": about})
    counts = {"chat:m@http://h": 3, "completions:m@http://h": 4}
    assert possibly_paid(tmp_path) == counts
    assert possibly_paid(tmp_path / "b" / "c") == {}
    Counted().run(tmp_path)
    text = "Caution: 3 requests to chat:m@http://h and 4 requests to completions:m@http://h may have been paid"
    assert (tmp_path / "report.html").read_text(encoding="utf-8").count(text) == 1


def test_a_caution_is_at_the_top_of_the_results_page() -> None:
    """After the caution that is there; a report without such a page begins with it; without a text nothing changes."""
    page = ResultsPage("t", "k", "b", Answer("Yes", ("It is.",), caution="Caution: few items."))
    report = Report("One number", results=page)
    marked = with_caution(report, paid_caution({"chat:m@http://h": 1}))
    assert marked.results is not None
    paid = "Caution: 1 request to chat:m@http://h may have been paid without a reply."
    assert marked.results.top.caution == f"Caution: few items. {paid}"
    assert render(marked).count(paid) == 1
    assert with_caution(Report("None"), "Caution.").sections[0].paragraphs == ("Caution.",)
    assert with_caution(report, paid_caution({})) is report
