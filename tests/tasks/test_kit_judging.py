"""The answers of a subject that judges: one view, the order of the items, no gaps (relatedness tests them too)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import SubjectError
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.usage import Usage
from lexiscope.tasks.kit.judging import ordered_judgments

ITEMS = tuple(Item(name, "test", (Usage("A bank", 2, 6),)) for name in ("a", "b", "c"))


class FakeJudge:
    subject_id, kind, facts = "recorded:fake", "recorded", SubjectFacts("recorded:fake")

    def __init__(self, *rows: Response) -> None:
        self.rows = rows

    def judge(self, items: Sequence[Item], task: str) -> ResponseTable:
        return ResponseTable.from_rows(self.rows)


def choice(item_id: str, option: str, view: str | None = None) -> Response:
    return Response("p1", "participant", item_id, "same_sense", "choice", option=option, view=view)


def test_choices_are_arranged_like_ratings() -> None:
    """Options are carried along; the gap of an item answered in another view is a row of the task's own measure."""
    subject = FakeJudge(
        choice("c", "f"), choice("b", "t", "context"), choice("b", "f", "full"), choice("a", "t", "word")
    )
    seen: list[tuple[int, int]] = []
    table = ordered_judgments(
        ITEMS, subject, task="same_sense", measure="choice", view="full", progress=lambda *at: seen.append(at)
    )
    assert [(row.item_id, row.option, row.view) for row in table.rows()] == [
        ("a", None, "full"),
        ("b", "f", "full"),
        ("c", "f", "full"),
    ]
    assert table.unique("measure") == ("choice",)
    assert table.column("subject_id").tolist() == ["recorded:fake", "p1", "p1"]
    assert seen == [(3, 3)]


def test_silence_is_refused() -> None:
    """Nothing at all about an item, or nothing in the view that is asked, is an error that says so."""
    with pytest.raises(SubjectError, match=r"item 'b': .* no row for 2 of 3"):
        ordered_judgments(ITEMS, FakeJudge(choice("a", "t")), task="same_sense", measure="choice", view="full")
    with pytest.raises(SubjectError, match=r"no answer in the view 'full'[\s\S]*views with answers: word"):
        ordered_judgments(
            ITEMS[:1], FakeJudge(choice("a", "t", "word")), task="same_sense", measure="choice", view="full"
        )
