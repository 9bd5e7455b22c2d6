"""Words of a report that are true of a published dataset only are not in the report of a run on other data."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.studies.test_sense_induction import MINI as MINI_SENSES
from tests.studies.test_sense_induction import made_folder, sense_induction

from lexiscope.core.study import Question
from lexiscope.report.sections import asked_in
from lexiscope.studies.ambistory import study as ambistory
from lexiscope.studies.context_bias import study as context_bias
from lexiscope.studies.context_bias.settings import ContextBiasSettings

_OF_PAPERS = re.compile(r"\bthe paper\b|\bAsked in|five or six|in AmbiStory|small and old", re.IGNORECASE)


def _said(run: Path) -> list[str]:
    """Every passage of a page that is about a paper."""
    text = re.sub(r"base64,[^\"]*", "", (run / "report.html").read_text(encoding="utf-8"))
    return [text[max(0, hit.start() - 40) : hit.end() + 40] for hit in _OF_PAPERS.finditer(text)]


def test_stories_that_no_paper_has_seen(tmp_path: Path) -> None:
    """Mini stories: five or six raters, 38 distinct means and the places of questions are those of AmbiStory."""
    ambistory.run(ambistory.MINI, tmp_path / "run")
    assert _said(tmp_path / "run") == []


def test_senses_on_pairs_that_no_paper_has_seen(tmp_path: Path) -> None:
    """Mini pairs have no ratings: nothing is said of the age of ratings, nor of places in a paper."""
    folder = made_folder(tmp_path / "a")
    sense_induction.run(replace(MINI_SENSES, subjects=(f"gasi:{folder}",)), tmp_path / "run")
    assert _said(tmp_path / "run") == []


def test_biases_of_pairs_made_by_rule(tmp_path: Path) -> None:
    """Planted pairs are a dataset of the catalog, and no paper asks a question of them."""
    settings = ContextBiasSettings(dataset="planted_bias", encoders=("look_up",), n_bootstrap=0)
    context_bias.run(settings, tmp_path / "run")
    assert _said(tmp_path / "run") == []


@pytest.mark.parametrize(("place", "said"), [("§5.1", ("Asked in §5.1.",)), ("", ()), ("not in the paper", ())])
def test_a_question_names_its_place_if_it_has_one(place: str, said: tuple[str, ...]) -> None:
    """A question of other data has no place, and one of our own has none in a paper."""
    assert asked_in(Question("Q1", "Do people agree?", place)) == said
