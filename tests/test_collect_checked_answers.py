"""Answers are checked before they are kept: against the measures of the task, the scale and the options of the item."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from lexiscope.collect import collect
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import InputError, LexiscopeError, SubjectError
from lexiscope.core.item import Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.scale import Scale
from lexiscope.core.usage import Usage

USAGE = Usage("A bank lends money", 2, 6, language="en")
PAIR = Item("a", "test", (USAGE, USAGE))
PAIRS = [PAIR, Item("b", "test", (USAGE, USAGE), scale=Scale(0, 100, step=0))]
CHOICE_SET = Item("c", "test", (USAGE, Usage("A tank lends money", 2, 6)), ("bank", "tank"))
INTRUSION = Item("w", "test", (Usage("bank", 0, 4),), ("river", "lake", "lends"))
SENSES = Item("s", "test", (USAGE,), conditions={"group_1": "river|lake", "group_2": "money|loan"})


class Judge:
    """A plain function as a subject: what it says of every item is one row."""

    kind, facts = "function", SubjectFacts("function:mine")

    def __init__(self, name: str = "mine", kind: str = "function", **said: object) -> None:
        self.subject_id, self.kind, self.said, self.calls = f"function:{name}", kind, said, 0

    def judge(self, items: Sequence[Item], task: str) -> ResponseTable:
        self.calls += 1
        rows = {"subject_id": self.subject_id, "subject_kind": self.kind, "task": task, "measure": "rating"}
        return ResponseTable.from_columns({"item_id": [item.item_id for item in items], **rows, **self.said})


@pytest.mark.parametrize(
    ("items", "task", "said", "code", "told"),
    [
        (PAIRS[:1], "relatedness", {"value": 99.0}, "E301", r"the rating 99, which is not on the scale 1 to 5"),
        (PAIRS[1:], "relatedness", {"value": 101.0}, "E301", r"not on the scale 0 to 100, continuous"),
        (PAIRS[:1], "relatedness", {"value": float("inf")}, "E301", r"the rating inf"),
        (
            [CHOICE_SET],
            "minimal_pair",
            {"value": 3.0},
            "E310",
            r"'rating', which the task 'minimal_pair' does not have",
        ),
        ([INTRUSION], "word_intrusion", {"value": 3.0}, "E310", r"'rating', which the task 'word_intrusion'"),
        ([SENSES], "sense_choice", {"value": 3.0}, "E310", r"'rating', which the task 'sense_choice'"),
        ([INTRUSION], "word_intrusion", {"measure": "choice", "option": "cow"}, "E311", r"'cow'[\s\S]*offers: 'lake'"),
        (PAIRS[:1], "same_sense", {"measure": "choice", "option": "yes"}, "E311", r"'yes'[\s\S]*offers: 'f', 't'"),
        (PAIRS[:1], "relatedness", {"value": 3.0, "task": "plausibility"}, "E310", r"an answer to the task"),
    ],
)
def test_an_answer_that_the_task_does_not_take_is_refused(
    items: list[Item], task: str, said: dict[str, object], code: str, told: str, tmp_path: Path
) -> None:
    """The error names subject, item, measure and what is allowed, and nothing of that subject is stored."""
    with pytest.raises(InputError, match=told) as caught:
        collect(items, [Judge(**said)], task, out=tmp_path / "run")
    assert caught.value.code == code
    assert caught.value.place is not None
    assert caught.value.place.item_id == items[0].item_id
    assert "function:mine" in str(caught.value)
    assert not list((tmp_path / "run" / "parts").glob("*"))


def test_people_answer_with_points_and_models_between_them() -> None:
    """3.5 is no answer of a person on 1 to 5, and an expected value of a model; the scale is kept with the rating."""
    table = collect([PAIR], [Judge(value=3.5)], "relatedness")
    assert [(row.value, row.scale) for row in table.rows()] == [(3.5, "1 to 5")]
    with pytest.raises(InputError, match=r"3\.5, which is not on the scale 1 to 5"):
        collect([PAIR], [Judge(kind="participant", value=3.5)], "relatedness")
    table = collect(PAIRS, [Judge(kind="participant", value=3.0)], "relatedness")
    assert table.column("scale").tolist() == ["1 to 5", "0 to 100, continuous"]


def test_a_missing_value_is_an_answer() -> None:
    """A refusal or an unreadable reply has no value: it is kept, with what was said."""
    table = collect([PAIR], [Judge(value=None, raw="99")], "relatedness")
    assert [(row.value, row.raw) for row in table.rows()] == [(None, "99")]


def test_a_refused_answer_costs_no_other_subject_its_answers(tmp_path: Path) -> None:
    """The subject that was asked before keeps its part; with the answer mended the run goes on, asking it no more."""
    sound, wrong = Judge("sound", value=4.0), Judge("wrong", value=99.0)
    with pytest.raises(InputError, match="function:wrong"):
        collect([PAIR], [sound, wrong], "relatedness", out=tmp_path)
    assert len(list((tmp_path / "parts").glob("*.parquet"))) == 1
    wrong.said["value"] = 3.0
    table = collect([PAIR], [sound, wrong], "relatedness", out=tmp_path)
    assert sound.calls == 1
    assert table.column("value").tolist() == [4.0, 3.0]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_answers_on_record_are_checked_before_anybody_is_asked(suffix: str, tmp_path: Path) -> None:
    """File and line of the wrong answer are named, no other subject is asked, and no run folder is made.

    The row before it holds a line break, so that the third answer stands in line 5.
    """
    path = tmp_path / f"answers.{suffix}"
    rows = [
        Response("p1", "participant", "a", "relatedness", "rating", 4.0),
        Response("p2", "participant", "a", "relatedness", "rating", 5.0, raw="five,\nsurely"),
        Response("p3", "participant", "a", "relatedness", "rating", 99.0, view="full"),
    ]
    table = ResponseTable.from_rows(rows)
    table.write_csv(path) if suffix == "csv" else table.write_parquet(path)
    other = Judge(value=4.0)
    where = f"{path}:5" if suffix == "csv" else f"{path}, row 3"
    with pytest.raises(InputError, match=r"p3 \(recorded:.*99, which is not on the scale 1 to 5") as caught:
        collect([PAIR], [other, f"recorded:{path}"], "relatedness", out=tmp_path / "run")
    assert str(caught.value).startswith(f"{where}, item 'a'")
    assert (other.calls, (tmp_path / "run").exists()) == (0, False)


def test_what_nobody_answered_has_the_measure_of_its_task(tmp_path: Path) -> None:
    """An item without a recorded answer has a row of the task's own measure: a choice set is not rated."""
    row = Response("p1", "participant", "a", "same_sense", "choice", option="t")
    ResponseTable.from_rows([row]).write_csv(tmp_path / "answers.csv")
    asked = [PAIR, Item("d", "test", (USAGE, USAGE))]
    table = collect(asked, [f"recorded:{tmp_path / 'answers.csv'}"], "same_sense")
    assert table.column("measure").tolist() == ["choice", "choice"]


@pytest.mark.parametrize(
    "value", ["3", True, [True], b"3", 3 + 0j, 10**400, object()], ids=lambda value: type(value).__name__
)
def test_a_value_that_is_no_number_is_refused(value: object) -> None:
    """Text, True and other Python objects are no ratings: the error names the column, and nothing is turned into 1."""
    with pytest.raises(InputError, match="the response column 'value' needs numbers"):
        collect([PAIR], [Judge(value=value)], "relatedness")


def test_a_rating_with_parameters_lies_on_the_scale_too() -> None:
    """The name of a measure ends at its brackets: ``rating(x=1)`` is a rating."""
    with pytest.raises(InputError, match=r"the rating\(x=1\) 300, which is not on the scale 1 to 5"):
        collect([PAIR], [Judge(measure="rating(x=1)", value=300.0)], "relatedness")


def test_a_number_is_no_choice() -> None:
    """A choice names an option of its item; a row with neither option nor number is a missing answer."""
    with pytest.raises(InputError, match="the number 17 as a choice, and no option") as caught:
        collect([INTRUSION], [Judge(measure="choice", value=17.0)], "word_intrusion")
    assert caught.value.code == "E311"
    assert len(collect([INTRUSION], [Judge(measure="choice")], "word_intrusion")) == 1


@pytest.mark.parametrize("returned", [None, [3.0], {"value": 3.0}])
def test_a_subject_returns_a_response_table(returned: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plain function that returns anything else is told what to return."""
    monkeypatch.setattr(Judge, "judge", lambda _self, _items, _task: returned)
    with pytest.raises(LexiscopeError, match=r"function:mine answered with a .* not with a response table"):
        collect([PAIR], [Judge()], "relatedness")


@pytest.mark.parametrize(("low", "high", "step"), [(0, 1, 0.1), (1, 7, 0.1), (0, 10, 0.05), (1, 5, 0.5), (1, 5, 1)])
def test_every_point_of_a_scale_lies_on_it(low: float, high: float, step: float) -> None:
    """0.3 is a point of 0 to 1 by 0.1, which binary numbers do not hold exactly; 0.35 is none."""
    scale, digits = Scale(low, high, step=step), 6
    typed = tuple(round(low + n * step, digits) for n in range(round((high - low) / step) + 1))
    assert scale.points == typed
    assert all(scale.contains(point) for point in typed)
    assert not any(scale.contains(point + step / 2) or scale.contains(point + 1e-6) for point in typed)


class Table(Judge):
    """A subject that returns the rows it was made with."""

    def __init__(self, *rows: Response) -> None:
        super().__init__()
        self.rows = rows

    def judge(self, items: Sequence[Item], task: str) -> ResponseTable:
        return ResponseTable.from_rows(self.rows)


def rated(item_id: str, value: float, repeat: int | None = None, view: str | None = None) -> Response:
    return Response("function:mine", "function", item_id, "relatedness", "rating", value, repeat=repeat, view=view)


def test_a_second_row_for_one_question_is_refused(tmp_path: Path) -> None:
    """A mean would count the item twice; a numbered repetition of the question is another row."""
    for second in (rated("a", 4.0), rated("a", 3.0), rated("a", 4.0, view="full")):
        with pytest.raises(InputError, match=r"function:mine gave two answers of the measure 'rating'") as caught:
            collect([PAIR], [Table(rated("a", 3.0), second)], "relatedness", out=tmp_path / "run")
        assert (caught.value.code, caught.value.place and caught.value.place.item_id) == ("E502", "a")
        assert not list((tmp_path / "run" / "parts").glob("*"))
    table = collect([PAIR], [Table(rated("a", 3.0, repeat=0), rated("a", 4.0, repeat=1))], "relatedness")
    assert table.column("value").tolist() == [3.0, 4.0]


def test_a_row_of_an_item_that_was_not_asked_is_refused() -> None:
    """Such a row is an answer under a wrong id: to drop it without a remark would lose it."""
    with pytest.raises(SubjectError, match=r"item 'x': [\s\S]*answered 1 item that it was not asked"):
        collect([PAIR], [Table(rated("a", 3.0), rated("x", 3.0))], "relatedness")
