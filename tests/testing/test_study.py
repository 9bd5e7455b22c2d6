"""The kit on a study of another distribution: the one of ``tests/sixth``, sound and with faults."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexiscope.core import catalog
from lexiscope.core.errors import SpecError
from lexiscope.testing import STUDY_CONTRACTS, ContractError, check_study

from .made_site import installed

SETTINGS = {"subjects": ("baseline:random", "baseline:word_overlap"), "n_bootstrap": 20}


def test_a_sound_study_keeps_every_contract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its entry point; the settings name two subjects, so that every question has an answer."""
    meant = ("survey", 'licence="CC0",', 'licence="CC0",\n    meanings={"near_others": "share of near ratings"},')
    defined = ("survey", "np.ones(15)", "np.arange(15.0)")
    name = installed(tmp_path, monkeypatch, "sound_study", [meant, defined])
    settings = catalog.study(f"{name}_survey").settings_for(**SETTINGS)  # type: ignore[attr-defined]
    assert check_study(f"{name}_survey", settings=settings) == tuple(STUDY_CONTRACTS)


def test_faults_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question without a value, a statistic without a meaning and a question that does not ask are all told."""
    name = installed(tmp_path, monkeypatch, "odd_study", [("survey", "people agree?", "they agree.")])
    settings = catalog.study(f"{name}_survey").settings_for(**SETTINGS)  # type: ignore[attr-defined]
    with pytest.raises(ContractError) as caught:
        check_study(f"{name}_survey", settings=settings)
    assert dict(caught.value.broken) == {
        "questions_are_asked": ("Q1 does not end with a question mark: 'Do they agree.'",),
        "every_question_has_an_answer": ("Q3 has no record with a value: Is anything undefined here said to be so?",),
        "records_have_their_own_names": (
            "the statistic constant has no meaning: give it in Study(meanings={…})",
            "the statistic near_others has no meaning: give it in Study(meanings={…})",
        ),
    }


def test_a_module_that_runs_itself_is_not_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kit holds the object ``Study`` to its contracts; of a bare function ``run`` nothing is known."""
    (tmp_path / "own.py").write_text('"""Made up."""\n\n\ndef run(settings, out):\n    pass\n', encoding="utf-8")
    with pytest.raises(SpecError, match="is a module that runs itself"):
        check_study(str(tmp_path / "own.py"))
