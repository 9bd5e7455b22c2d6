"""Contextualized Sensorimotor Norms: single ratings by dimension, checked against the published means."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexiscope.analysis.agreement.alpha import krippendorff_alpha
from lexiscope.analysis.ratings import Ratings
from lexiscope.core import catalog
from lexiscope.core.errors import InputError, SpecError
from lexiscope.datasets import cs_norms
from lexiscope.resources.tables.delimited import read_csv


@pytest.mark.published
def test_single_ratings_give_the_published_means(published: Path) -> None:
    """Every rating of one dimension, by rater: the mean of an item is the one that the publisher printed."""
    data = catalog.dataset("cs_norms?dimension=vision")
    values: dict[str, list[float]] = {}
    for item_id, value in zip(*(data.responses.column(name).tolist() for name in ("item_id", "value")), strict=True):
        values.setdefault(item_id, []).append(value)
    # contextualized_sensorimotor_norms.csv, line 2: It was a comedic act.
    own = values["cs_norms/act/M2_b/vision"]
    assert (len(own), sum(own) / len(own)) == (13, pytest.approx(3.46153846153846))
    assert len(values) == len(data.items) == 448
    assert len(data.responses.unique("subject_id")) == 132
    assert {item.condition("way") for item in data.items} == {"seeing"}
    every = catalog.dataset("cs_norms")
    assert len(every.items) == 11 * 448
    assert len(every.responses) == 6 * 7137 + 5 * 8203


@pytest.mark.published
def test_agreement_is_of_single_ratings(published: Path) -> None:
    """α of vision is that of the publisher's file by itself: a row per participant and sentence."""
    data = catalog.dataset("cs_norms?dimension=vision")
    alpha = krippendorff_alpha(Ratings.from_table(data.responses), resamples=0)
    assert alpha.value == pytest.approx(0.1524, abs=5e-5)


@pytest.mark.published
@pytest.mark.parametrize(
    ("rating", "said"), [("5", "the ratings of single participants contradict it"), ("6", "a rating from 0 to 5")]
)
def test_a_rating_that_cannot_be_is_named(published: Path, tmp_path: Path, rating: str, said: str) -> None:
    """A rating off the scale, and one that changes a published mean, are errors with file and line."""
    ratings, norms = tmp_path / "ratings.csv", read_csv(published / cs_norms.NORMS.path)
    text = (published / cs_norms.PERCEPTION.path).read_text(encoding="utf-8")
    changed = text.replace(
        '"She liked the essay title.","title",0,', f'"She liked the essay title.","title",{rating},', 1
    )
    assert changed != text
    ratings.write_text(changed, encoding="utf-8")
    table = read_csv(ratings)
    with pytest.raises(InputError, match=said) as error:
        cs_norms.read_ratings(table, "Vision", norms, cs_norms.read_usages(table, norms))
    assert error.value.place is not None
    assert error.value.place.line


def test_a_dimension_that_is_not_there_is_named() -> None:
    """The error lists the eleven."""
    with pytest.raises(SpecError) as error:
        catalog.dataset("cs_norms?dimension=sight")
    assert "vision" in str(error.value.hint)
