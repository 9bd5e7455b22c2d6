"""``lexiscope annotate sign``: a plan signed before the first answer makes its questions confirmatory, no other does.

The answers are made by the test; none is anybody's judgment.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from lexiscope.annotation.store.record import BrowserAnswer, Phase, State
from lexiscope.annotation.store.store import Store
from lexiscope.annotation.study_file.definition import CatchSection, Planned, RatingsSection
from lexiscope.annotation.study_file.study_folder import read_study
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Record
from lexiscope.core.settings import Settings
from lexiscope.core.study import CollectionPlan, Deviation, Question, exported_plan
from lexiscope.studies.saw_c.settings import SawCSettings

from .test_annotate import complete, drafted, items_file

__all__ = ["drafted", "items_file"]

Run = Callable[..., Result]


def planned(path: Path, *questions: str) -> None:
    """Complete a draft with a plan: questions of SAW-C, two ratings an item, no rule."""
    plan = Planned(study="saw_c", questions=questions)
    once = RatingsSection(per_item=2)
    complete(path, planned=plan, ratings=once, catch=CatchSection(per_list=0), exclusions=())


def answer(file: Path, n: int = 2) -> None:
    """Let *n* people answer every item: 4 for the same sense, 2 for different senses, the second 1 more."""
    study = read_study(file).freeze()
    with Store.open(read_study(file).folder, study.record, has_place=study.has_place, unsafe_fast=True) as store:
        for number in range(n):
            who = store.invite(f"{number:024x}")
            store.record_consent(who, text="I agree.", version="1")
            store.change_state(who, State.QUALIFIED, reason="no test")
            lease = store.take_place(who, choose=study.choose)
            trials = study.trials(lease.list_id, number=lease.ordinal)
            store.lay_out(who, Phase.TRIALS, trials)
            store.change_state(who, State.ACTIVE, reason="begins")
            for position, trial in enumerate(trials):
                value = (4.0 if study.items[trial.item_id].conditions["same_sense"] else 2.0) + number % 2
                store.submit(
                    BrowserAnswer(who, trial.item_id, Phase.TRIALS, f"{who}-{position}", position, value=value)
                )
            store.change_state(who, State.FINISHED, reason="answered all")


def studied(run: Run, out: str, *options: str) -> tuple[str, list[dict[str, Any]], str]:
    """Study the export with SAW-C: what is printed, the records, the report."""
    files = ("--items", "exported/items.csv", "--ratings", "exported/ratings.csv")
    done = run("study", "saw_c", *files, "--bootstrap", 0, "--mixed", "none", *options, "--out", out)
    assert done.exit_code == 0, done.output
    records = json.loads(Path(out, "results.json").read_text(encoding="utf-8"))
    return " ".join(done.output.split()), records, Path(out, "report.html").read_text(encoding="utf-8")


def refused(settings: SawCSettings) -> str:
    """Why the plan behind the answers of these settings is not in force."""
    plan = exported_plan(settings)
    assert plan is not None
    return plan[0].refused


def confirmatory(records: list[dict[str, Any]]) -> set[tuple[str, str]]:
    """The questions and subjects of the confirmatory records."""
    return {(row["question"], row["subject"]) for row in records if row["analysis"] == "confirmatory"}


def test_a_signed_plan_reaches_the_study(run: Run, drafted: Path) -> None:
    """Q1 is signed before the first answer: its results are confirmatory, and no others.

    A rule that the plan does not have is a deviation, which the report lists. If a file of the export was changed, or
    other ratings are among the answers, nothing is confirmatory.
    """
    planned(drafted, "Q1")
    assert "annotate sign study.yaml --by NAME" in run("annotate", "check", "study.yaml").output
    signed = run("annotate", "sign", "study.yaml", "--by", "A. Researcher")
    assert signed.exit_code == 0, signed.output
    assert "Confirmatory: Q1 of the study saw_c" in signed.output
    again = run("annotate", "sign", "study.yaml", "--by", "B. Other")
    assert "a plan is signed once" in again.output
    answer(drafted)
    assert run("annotate", "export", "study", "--out", "exported").exit_code == 0
    plan = json.loads(Path("exported/plan.json").read_text(encoding="utf-8"))
    assert (plan["signed_by"], plan["refused"], plan["deviations"]) == ("A. Researcher", "", [])
    assert plan["signed_at"] < plan["first_answer_at"]
    said, records, page = studied(run, "run", "--exclude", "low_agreement(r_squared=0.1)")
    assert confirmatory(records) == {("Q1", "")}
    assert "Confirmatory: Q1 (plan signed by A. Researcher" in said
    assert "Deviations from the plan" in page
    assert "then in the analysis" in page[page.index("Deviations from the plan") :][:2000]

    shutil.copytree("exported", "other")
    given = SawCSettings(items="exported/items.csv", ratings=("exported/ratings.csv", "other/ratings.csv"))
    assert refused(given) == "it does not cover the answers in other/ratings.csv"
    given = SawCSettings(items="exported/items.csv", ratings=("exported/ratings.csv",))
    assert refused(given) == ""
    with Path("exported/ratings.csv").open("a", encoding="utf-8") as stream:
        stream.write("\n")
    assert refused(given) == "exported/ratings.csv is not as it was exported"
    Path("exported/plan.json").write_text(json.dumps(plan | {"models": ["encoder:minilm"]}), encoding="utf-8")
    assert refused(given) == "exported/plan.json is not as it was exported"


@pytest.mark.parametrize(("late", "reason"), [(True, "after the first answer"), (False, "no person signed the plan")])
def test_a_late_or_unsigned_plan_gives_nothing(late: bool, reason: str, run: Run, drafted: Path) -> None:
    """A plan that is signed after the first answer, or by nobody, is shown with the reason; one item has one answer."""
    planned(drafted, "Q1")
    answer(drafted, n=1)
    if late:
        signed = run("annotate", "sign", "study.yaml", "--by", "A. Researcher")
        assert "makes no question confirmatory" in " ".join(signed.output.split())
    assert run("annotate", "export", "study.yaml", "--out", "exported").exit_code == 0
    plan = json.loads(Path("exported/plan.json").read_text(encoding="utf-8"))
    done = "1 to 1; 36 of 36 have fewer than 2"
    assert plan["deviations"] == [{"about": "valid answers per item", "planned": "at least 2", "done": done}]
    said, records, page = studied(run, "run")
    assert confirmatory(records) == set()
    assert reason in said
    assert reason in page


def test_what_is_planned_must_exist(run: Run, drafted: Path) -> None:
    """Unknown studies, questions and models are errors of the check at their line; a plan without a question, too."""
    for plan, reason in (
        (Planned(study="saw_d", questions=("Q1",)), "did you mean 'saw_c'"),
        (Planned(study="saw_c", questions=("Q9",)), "the study saw_c has no question 'Q9'"),
        (Planned(study="saw_c"), "Q1: Do people rate two uses"),
        (Planned(questions=("Q1",)), "questions or models are planned without a study"),
        (Planned(study="saw_c", questions=("Q1",), models=("minilm",)), "E627"),
    ):
        complete(drafted, planned=plan)
        checked = run("annotate", "check", "study.yaml")
        assert checked.exit_code == 1
        assert reason.casefold() in " ".join(checked.output.split()).casefold()
    complete(drafted, planned=Planned())
    unplanned = run("annotate", "sign", "study.yaml", "--by", "A. Researcher")
    assert "The study has no planned question." in unplanned.output
    assert not Path("study").exists()


def test_a_plan_names_models_and_its_own_study() -> None:
    """Results that name another model are exploratory; a plan of another study is refused."""
    plan = CollectionPlan("saw_c", (("Q3", "Text?"),), ("encoder:a",), signed_by="A", signed_at="2026-03-01T00:00:00")
    (analysis,) = plan.analyses()
    subjects = ("", "people", "encoder:a − people", "encoder:a@7", "encoder:b", "encoder:a@7 − encoder:b@2")
    covered = [analysis.covers(Record("r", 1.0, subject=subject)) for subject in subjects]
    assert covered == [True, True, True, True, False, False]
    empty, settings = ResponseTable.empty(), Settings(analyses=(("Q4", "exploratory"),))
    here = plan.applied("saw_c", (Question("Q4", "Text?", ""),), empty, settings)
    assert here.questions == (("Q4", "Text?"),)
    assert here.deviations == (
        Deviation("models", "encoder:a", "none"),
        Deviation("Q4", "confirmatory", "set to exploratory in the settings"),
    )
    assert "plan for the study saw_c" in plan.applied("ambistory", (), empty, Settings()).refused
    assert "asks none" in plan.applied("saw_c", (), empty, Settings()).refused
