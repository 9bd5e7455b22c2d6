"""``lexiscope senses planted``: the numbers of the study, for one subject, in the terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ..studies.test_sense_induction import GOLD, planted_folder, records_of
from .conftest import Run


def test_the_verb_has_the_numbers_of_the_study(run: Run, tmp_path: Path) -> None:
    """Statistics §7: P and calibration of planted senses, beside accuracy, by the verb as in the study."""
    settings = planted_folder(tmp_path, GOLD)
    subject = settings.subjects[0]
    command = ["senses", "planted", subject, "--planted", settings.planted, "--bootstrap", "20"]
    printed = json.loads(run(*command, "--json").output)
    found = {(each["statistic"], each.get("condition", "")): each["value"] for each in printed}
    in_study = [each for each in records_of(settings, tmp_path / "run") if each.statistic.startswith("planted_")]
    assert {(each.statistic, each.condition) for each in in_study} <= set(found)
    for each in in_study:
        assert found[each.statistic, each.condition] == pytest.approx(each.value)
    assert {"planted_probability", "planted_probability(senses=one_to_one)"} <= {name for name, _ in found}
    tables = run(*command).output
    assert "The probability of what was planted, and its calibration" in " ".join(tables.split())
    assert "Reliability of the probabilities" in " ".join(tables.split())


def test_the_verb_refuses_what_it_cannot_judge(run: Run, tmp_path: Path) -> None:
    """A table that is not there, and vectors that know fewer than two pseudo-words: one error each, with what to do."""
    settings = planted_folder(tmp_path, GOLD[:2])
    refused = run("senses", "planted", settings.subjects[0], "--planted", settings.planted)
    assert refused.exit_code != 0
    assert "fewer than two of the pseudo-words" in " ".join(refused.stderr.split())
    absent = run("senses", "planted", settings.subjects[0], "--planted", str(tmp_path / "none.csv"))
    assert absent.exit_code != 0
    assert "none.csv" in absent.stderr
