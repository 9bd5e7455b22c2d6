"""Batteries: the package's own, a file of the user's own, and every fault with its place."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from lexiscope.core import catalog
from lexiscope.core.errors import InputError, SpecError
from lexiscope.studies.kit.profile.battery import (
    FAMILIES,
    FOLDER,
    battery_names,
    load_battery,
    parse_battery,
)

OWN = """\
battery: mine
version: "1"
title: My words
lines:
  - line: pairs
    title: Pairs
    family: same_sense
    asks: same meaning?
    task: same_sense
    data: mini_senses?task=same_sense
    statistic: accuracy
    ceiling: {value: 0.8, name: one person, source: a paper}
    least: 20
"""


@pytest.mark.parametrize("name", battery_names())
def test_the_packages_own_batteries(name: str) -> None:
    """Each is called as its file, every family has a line, and every line is asked by a task of its dataset."""
    battery = load_battery(name)
    assert battery.name == name
    assert battery.sha256 == hashlib.sha256((FOLDER / f"{name}.yaml").read_bytes()).hexdigest()
    assert [family for family, lines in battery.families() if lines] == list(FAMILIES)
    for line in battery.lines:
        assert line.has_people == (catalog.task(line.task).scale is not None and line.statistic != "auc")


def test_the_small_battery_needs_no_download() -> None:
    """All of its data are in the package."""
    assert {catalog.card(line.data).availability for line in load_battery("mini").lines} == {"embedded"}


def test_a_file_of_the_users_own(tmp_path: Path) -> None:
    """It is read as the package's own are; its sha256 is that of its bytes."""
    path = tmp_path / "mine.yaml"
    path.write_text(OWN, encoding="utf-8")
    battery = load_battery(path)
    assert battery.sha256 == hashlib.sha256(OWN.encode()).hexdigest()
    (line,) = battery.lines
    assert (line.view, line.least, line.wordings) == ("full", 20, ())
    assert parse_battery(OWN) == battery
    assert str(battery) == f"mine, version 1, sha256 {battery.sha256[:12]}"


FAULTS = {
    "unknown name": ("    least: 20", "    leest: 20", "E611", 13, "did you mean 'least'?"),
    "no such family": ("family: same_sense", "family: same_sence", "E612", 7, "did you mean 'same_sense'?"),
    "missing": ("    asks: same meaning?\n", "", "E613", 5, "what is asked"),
    "no such task": ("    task: same_sense", "    task: same_sens", "E614", 9, "same_sense"),
    "no such dataset": ("data: mini_senses", "data: mini_sense", "E614", 10, "mini_senses"),
    "no such view": ("    least: 20", "    view: whole", "E612", 13, "full"),
    "two of one name": (
        "    least: 20",
        "  - {line: pairs, title: T, family: structure, asks: a, task: same_sense, "
        "data: wic, statistic: auc, ceiling: all_right}",
        "E612",
        13,
        "unique name",
    ),
    "ceiling of people without people": (
        "ceiling: {value: 0.8, name: one person, source: a paper}",
        "ceiling: attainable",
        "E612",
        12,
        "all_right or a published figure",
    ),
    "ratings of a task without a scale": ("statistic: accuracy", "statistic: spearman", "E612", 11, "accuracy or auc"),
    "no such wording": ("    least: 20", "    wordings: [questoin]", "E612", 13, "question"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_has_its_place(fault: str) -> None:
    """Its code, its line in the file, and what to do."""
    before, after, code, number, hint = FAULTS[fault]
    text = OWN.replace(before, after)
    assert text != OWN
    with pytest.raises(InputError) as caught:
        parse_battery(text, path="mine.yaml")
    error = caught.value
    assert error.place is not None
    assert (error.code, error.place.path, error.place.line) == (code, "mine.yaml", number)
    assert hint in error.hint


def test_a_name_that_is_none() -> None:
    """Neither a name nor a file: the nearest name is offered."""
    with pytest.raises(SpecError, match="there is no battery 'mimi'") as caught:
        load_battery("mimi")
    assert caught.value.hint == "did you mean 'mini'?"
