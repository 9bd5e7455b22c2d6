"""Records of people by view: each number once, assumed ones with their source, missing ones with their reason."""

from __future__ import annotations

from lexiscope.analysis.bias.people_by_view import people_by_view
from lexiscope.analysis.bias.view_scores import FixedScore
from lexiscope.core.response import Response, ResponseTable
from lexiscope.report.parts.people_parts import people_records


def test_every_number_is_a_record() -> None:
    """Two people who share two items, a third who answered one: accuracy, counts, agreement; what cannot be computed
    says why, and an assumed score stands for no view that was asked."""
    given = {"ana": "tft", "leo": "ttt", "eva": "f"}
    table = ResponseTable.from_rows(
        Response(who, "participant", item, "same_sense", "choice", option=option, view="full")
        for who, options in given.items()
        for item, option in zip("xyz"[-len(options) :], options, strict=True)
    )
    gold, words = dict.fromkeys("xyz", "t"), {"x": "oak", "y": "elm", "z": "ash"}
    found = people_by_view(table, right=gold, words=words, resamples=50)
    assumed = {"full": FixedScore(0.1, "assumed: never used"), "label": FixedScore(0.5, "assumed: nobody was asked")}
    records = people_records(found, assumed, dataset="made")
    by = {(record.statistic, record.subject, record.view): record for record in records}
    assert len(by) == len(records)
    assert by["accuracy", "ana", "full"].value == 2 / 3
    assert by["accuracy", "ana", "full"].low is not None
    assert (by["accuracy", "eva", "full"].value, by["accuracy", "eva", "full"].n) == (None, 1)
    assert "fewer than two words" in by["accuracy", "eva", "full"].note
    assert by["percent_agreement(over=items)", "ana and leo", "full"].value == 2 / 3
    assert by["cohen_kappa(weights=none)", "ana and leo", "full"].value == 0.0
    assert "at least 2 items" in by["cohen_kappa(weights=none)", "ana and eva", "full"].note
    label = by["accuracy", "people", "label"]
    assert (label.value, label.source, label.low) == (0.5, "assumed", None)
    assert [record.view for record in records if record.source == "assumed"] == ["label"]
    assert {record.dataset for record in records} == {"made"}
