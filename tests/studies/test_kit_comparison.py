"""The sides that a page of several runs compares: each subject at its best layer, in one view."""

from __future__ import annotations

import pytest

from lexiscope.core.result import Record
from lexiscope.report.marks.drawing import Axis
from lexiscope.report.marks.forest import Forest, ForestRow
from lexiscope.report.page.comparison_page import ComparedRun
from lexiscope.studies.kit.comparison import sides_of_run


def _run(best: list[tuple[str, float | None, str]], *, axis: str = "Spearman’s ρ") -> ComparedRun:
    rows = tuple(ForestRow(name, value, None, None, "") for name, value in (("n", 0.4), ("m", 0.6), ("words", 0.1)))
    forest = Forest(name="agreement", title="Agreement", rows=rows, axis=Axis(axis, 0, 1))
    records = tuple(
        Record("best_layer(by=spearman)", value, subject=name, view=view, note="" if value is not None else "no layers")
        for name, value, view in best
    )
    subjects = {"m": "encoder:m", "n": "encoder:n", "words": "baseline:words"}
    return ComparedRun(1, "d", forest, records, subjects)


@pytest.mark.parametrize(
    ("best", "sides"),
    [
        ([("encoder:m", 0.0, ""), ("encoder:n", 3.0, "")], ["encoder:m@0", "encoder:n@3", "baseline:words"]),
        # a model without layers
        ([("encoder:m", None, "")], ["encoder:m", "encoder:n", "baseline:words"]),
        (
            [("encoder:m", 2.0, "word"), ("encoder:n", 4.0, "word"), ("encoder:m", 1.0, "full")],
            ["encoder:m@2 view=word", "encoder:n@4 view=word", "baseline:words view=word"],
        ),
    ],
    ids=["layer 0", "no best layer", "two views"],
)
def test_each_subject_at_its_best_layer_in_one_view(
    best: list[tuple[str, float | None, str]], sides: list[str]
) -> None:
    """The highest subject is first; layers are those of the view that is compared, layer 0 among them."""
    assert list(sides_of_run(_run(best)).values()) == sides


def test_another_statistic_has_no_sides() -> None:
    """Differences are of Spearman's correlation; a run that shows something else has none."""
    assert sides_of_run(_run([], axis="Accuracy")) == {}
