"""People's tests of senses in a report: what tables and figure say, and what they say where nothing is known."""

from __future__ import annotations

import numpy as np
import pytest

from lexiscope.core.errors import InputError
from lexiscope.core.item import Condition, Item
from lexiscope.core.response import Response, ResponseTable
from lexiscope.core.result import Estimate, Interval
from lexiscope.core.usage import Usage
from lexiscope.report.figures import Heading
from lexiscope.report.part import find_record
from lexiscope.report.parts.sense_test_parts import (
    Reference,
    SenseTest,
    SenseTestAnswers,
    agreement_part,
    duplicates_part,
    models_part,
    sense_tests,
)
from lexiscope.report.plots.senses import LikenessDot, likeness_dots
from lexiscope.report.tables import to_text

HEADING = Heading("likeness", "6", "Likeness of senses")
ALIKE = {"group_1": "a|b|c", "group_2": "a|b|x"}
APART = {"group_1": "a|b|c", "group_2": "p|q|r"}


def estimate(value: float, n: int = 9) -> Estimate:
    return Estimate("some", value, Interval(value - 0.1, value + 0.1, 0.95, "made up"), n, 3)


def choice(name: str, word: str, groups: dict[str, str], chosen: str) -> tuple[Item, list[Response]]:
    """A question whose model chooses sense 1, and what two people choose."""
    conditions: dict[str, Condition] = {**groups, "word": word, "model": "gasi:x", "model_choice": "1"}
    item = Item(name, "d", (Usage(word, 0, len(word)),), conditions=conditions)
    rows = [
        Response(f"p{n}", "participant", name, "sense_choice", "choice", option=one) for n, one in enumerate(chosen)
    ]
    return item, rows


def asked(*pairs: tuple[Item, list[Response]]) -> list[SenseTest]:
    items = {item.item_id: item for item, _ in pairs}
    return sense_tests(
        SenseTestAnswers(ResponseTable.from_rows([row for _, rows in pairs for row in rows]), items), resamples=50
    )


def questions() -> list[SenseTest]:
    """Four questions in which people agree with the model, four in which they do not, and two that are left out."""
    pairs = [choice(f"i{n}", f"w{n}", ALIKE if n % 2 else APART, "22" if n % 2 else "11") for n in range(8)]
    dummy = {**APART, "group_3": "d|e|f", "dummy_3": "true"}
    return asked(*pairs, choice("u", "w9", APART, "12"), choice("d", "w9", dummy, "33"))


def test_agreement_says_what_is_unknown() -> None:
    """Without trust the column is empty; an undefined alpha is a dash with its reason; models have short names."""
    same = asked(*(choice(f"i{n}", f"w{n}", APART, "11") for n in range(3)))
    part = agreement_part(same, {"gasi:x": "x"})
    text = to_text(part.tables[0])
    assert "sense choice  x " in text
    assert "undefined: " in text
    assert [record.statistic for record in part.records] == [
        "chance(of=agreement)",
        "krippendorff_alpha(level=nominal)",
    ]
    assert {record.subject for record in part.records} == {"gasi:x"}
    assert agreement_part([], {}).tables == ()
    # of one judgment each no agreement is known, nor what chance would give
    single = agreement_part(asked(*(choice(f"i{n}", f"w{n}", APART, "1") for n in range(3))), {})
    chance = find_record(single.records, "chance(of=agreement)")
    assert chance is not None
    assert (chance.value, chance.note) == (None, "no item has two judgments")


def test_duplicates_say_who_is_compared_and_who_is_not() -> None:
    """Both kinds of pairs in the table, one in the figure; questions left out and words without vectors counted."""
    vectors = {word: np.eye(6)[n] for n, word in enumerate("abcpqx")}
    part = duplicates_part(questions(), {"gasi:x": "model"}, Reference(vectors, "made up"))
    text = to_text(part.tables[0])
    assert len(part.tables[0].rows) == 4
    assert "model: excluded: questions 1 without a majority, 1 with a dummy chosen; 6 of 7 words" in text
    assert "Reference vectors: made up." in text
    (figure,) = part.figures
    assert sorted(set(figure.data["side"])) == ["agree", "disagree"]
    assert len(figure.data["value"]) == 4
    gap = find_record(part.records, "sense_overlap(pairs=rivals,of=difference)", subject="gasi:x")
    assert gap is not None
    assert gap.value == pytest.approx(2 / 3)
    assert gap.p is not None
    assert duplicates_part([], {}, Reference()).tables == ()


def test_nothing_to_compare_leaves_no_figure() -> None:
    """Where people and model never disagree the table says so, and there is nothing to draw."""
    agreed = asked(*(choice(f"i{n}", f"w{n}", APART, "11") for n in range(3)))
    part = duplicates_part(agreed, {}, Reference())
    assert part.figures == ()
    assert "no question in which people and model disagree" in to_text(part.tables[0])
    assert "Without reference vectors there is no cosine." in to_text(part.tables[0])


def test_models_show_their_best_layer_and_say_so() -> None:
    """Of several layers the best is shown, all are recorded; a subject without layers has an empty cell; pages of two
    models' senses are counted apart."""
    own = [(estimate(value).about(subject="encoder:e", layer=k), 0) for k, value in enumerate((0.3, 0.6, 0.5))]
    others = [("a", estimate(0.9).about(subject="gasi:g"), 2), ("b", estimate(0.1).about(subject="gasi:g"), 0)]
    part = models_part([("word_intrusion", *share) for share in (*(("a", *share) for share in own), *others)])
    assert [row[1:4] for row in part.tables[0].rows] == [
        ("a", "encoder:e", "1 of 3"), ("a", "gasi:g", ""), ("b", "gasi:g", ""),
    ]  # fmt: skip
    assert [record.value for record in part.records] == pytest.approx([30, 60, 50, 90, 10])
    assert [record.condition for record in part.records] == ["a", "a", "a", "a", "b"]
    assert "Chance: one in the words, or groups, of a page" in to_text(part.tables[0])
    assert models_part([]).tables == ()


def test_a_figure_needs_dots_of_two_sides() -> None:
    """Dots of another side, or none, are refused."""
    with pytest.raises(InputError, match="agree, disagree"):
        likeness_dots([], HEADING)
    with pytest.raises(InputError, match="agree, disagree"):
        likeness_dots([LikenessDot("m", "overlap", "neither", 0.5, 0.4, 0.6, 3)], HEADING)
    one = likeness_dots([LikenessDot("m", "overlap", "agree", 0.5, float("nan"), float("nan"), 3)], HEADING)
    assert "overlap of m, agree: .50 (n = 3)" in one.alt
