"""The R script reads the export as it is and fits the planned model; lme4 and this library agree on it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lexiscope.analysis.mixed.models import likelihood_ratio
from lexiscope.analysis.mixed.r_script import run_r
from lexiscope.annotation.export.package import write_export
from lexiscope.annotation.export.r_script import analysis_formulas, analysis_script
from lexiscope.annotation.export.study_data import StudyData
from lexiscope.annotation.rehearsal.simulate import model_columns
from lexiscope.annotation.study_file.definition import DesignSection, Planned, StudyDefinition
from lexiscope.core.item import Item

from .made_export import Answered, collected, pair, rated

MODEL = Planned(model="rating ~ same_sense + (1 | participant) + (1 | item)", effect="same_sense", size=0.5)


def made(planned: Planned = MODEL) -> StudyData:
    """24 pairs on two lists, six people each; one person fails the catch trial and is excluded."""
    study = StudyDefinition(
        name="r",
        task="relatedness",
        language="en",
        design=DesignSection(lists=2),
        exclusions=("failed_catch(items=catch,expected=5)",),
        planned=planned,
    )

    def answers(number: int, item: Item, position: int) -> Answered:
        said = rated(number, item, position)
        comment = 'says "no",\nthen =1' if position == 3 else None
        return Answered(1.0 if number == 4 and item.gold else said.value, comment=comment)

    items = [pair(f"i{k}", f"w{k % 8}ñ", same_sense=k % 2 == 0, kind_of_cue=f"c{k % 3}") for k in range(24)]
    return collected(study, items, per_list=6, answers=answers)


@pytest.mark.r
def test_lme4_fits_the_planned_model(tmp_path: Path) -> None:
    """Rscript reads the folder; each step's counts and χ² are those that this library computes from the same study."""
    source = made()
    write_export(source, tmp_path / "e")
    rows = [line.split("\t") for line in run_r(tmp_path / "e" / "analysis.R").splitlines()]
    steps = [(int(row[2]), int(row[3])) for row in rows if row[0] == "ROWS"]
    # 12 people x (12 pairs + 1 catch); then the catch trials leave, then the one who failed them
    assert steps == [(156, 12), (144, 12), (144, 12), (132, 11), (132, 11), (132, 11)]
    data = model_columns(source.design, source.item_answers, "same_sense")
    assert len(data["rating"]) == 132
    full, reduced = analysis_formulas(source.definition)
    ours = likelihood_ratio(full, reduced, data, starts=3, seed=0, satterthwaite=False)
    (test,) = [row for row in rows if row[0] == "TEST"]
    assert float(test[2]) == pytest.approx(ours.chi2, abs=1e-3)
    (effect,) = [row for row in rows if row[0] == "EFFECT"]
    slope = next(one.estimate for one in ours.full.fixed if "same_sense" in one.name)
    assert float(effect[2]) == pytest.approx(slope, abs=1e-4)
    assert slope > 0
    assert np.mean(data["rating"]) > 1


def test_conditions_are_coded_in_the_open() -> None:
    """Two levels become 0 and 1 as in the definition's own test, more become a factor; both are said in the script."""
    script = analysis_script(made(Planned(model="rating ~ same_sense + kind_of_cue + (1 | word)", effect="same_sense")))
    assert "# same_sense: 0 = False, 1 = True" in script
    assert 'trials$kind_of_cue <- factor(items$kind_of_cue[at], levels = c("c0", "c1", "c2"))' in script
    assert "trials$word <- factor(trials$word)" in script
    assert "reduced <- fit(rating ~ kind_of_cue + (1 | word))" in script


def test_without_a_planned_model_nothing_is_fitted() -> None:
    """No model is made up: the script reads and counts."""
    script = analysis_script(made(Planned()))
    assert "NOMODEL" in script
    assert "fit(" not in script
