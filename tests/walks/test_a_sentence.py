"""Second walk: a sentence, from the dataset to R² (docs/walks.md).

The ratings are made up by this test, by rule, and nobody's judgments: they only give the last hops numbers to work on.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from lexiscope.analysis.layers.layers import r_squared_by_layer
from lexiscope.collect import collect
from lexiscope.core import catalog
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Curve
from lexiscope.items.arrange.views import view_item
from lexiscope.report.figures import Heading, data_csv
from lexiscope.report.plots.curves import DrawnCurve
from lexiscope.report.plots.layers import trajectories
from lexiscope.subjects.local.encoder import Encoder

N_WORDS, PAIRS_OF_A_WORD = 5, 6
VIEW = "full+final_stop"


@dataclass(frozen=True)
class Walk:
    """What each hop hands to the next."""

    items: tuple[Item, ...]
    encoder: Encoder
    answers: ResponseTable
    distance: np.ndarray[Any, np.dtype[np.float64]]
    made_up_norms: np.ndarray[Any, np.dtype[np.float64]]
    curve: Curve


@pytest.fixture(scope="module")
def walk() -> Walk:
    """Walk once: items, answers, distances, a curve."""
    english = [item for item in catalog.dataset("mini_relatedness").items if item.usages[0].language == "en"]
    items = tuple(english[: N_WORDS * PAIRS_OF_A_WORD])
    encoder = Encoder("minilm")
    answers = collect(items, [encoder], "relatedness", views=[VIEW])
    rows = answers.where(measure="cosine_distance")
    distance = rows.column("value").reshape(len(items), len(encoder.layers))
    norms = np.array([4.0 + n % 2 if item.conditions["same_sense"] else 1.0 + n % 3 for n, item in enumerate(items)])
    curve = r_squared_by_layer(distance, norms, groups=[item.word for item in items], resamples=100, seed=1)
    return Walk(items, encoder, answers, distance, norms, curve)


def test_a_sentence_is_a_usage_with_a_verified_span(walk: Walk) -> None:
    """Hop 1: a usage knows where its target stands, in letters."""
    first = walk.items[0].usages[0]
    assert first.text[first.start : first.end] == first.target == walk.items[0].word


def test_the_view_adds_a_stop_and_leaves_the_span(walk: Walk) -> None:
    """Hop 4: participants saw no final stop, models do; the target stays where it is."""
    for item in walk.items:
        for before, after in zip(item.usages, view_item(item, VIEW).usages, strict=True):
            assert after.text == f"{before.text}."
            assert (after.start, after.end) == (before.start, before.end)


def test_every_item_is_answered_at_every_layer(walk: Walk) -> None:
    """Hops 2 and 3: a row per item and layer, in the order of the items, filed under subject, task and view."""
    rows = walk.answers.where(measure="cosine_distance")
    assert len(rows) == len(walk.items) * 7
    assert rows.column("item_id").tolist() == [item.item_id for item in walk.items for _ in range(7)]
    assert rows.column("layer").tolist() == list(range(7)) * len(walk.items)
    assert {rows.unique(name) for name in ("subject_id", "task", "view")} == {
        ("encoder:minilm",),
        ("relatedness",),
        (VIEW,),
    }


def test_a_vector_is_the_mean_of_the_subwords_that_overlap_the_span(walk: Walk) -> None:
    """Hops 5 and 6: against a pure forward pass of the one sentence, at every layer."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    usage = view_item(walk.items[0], VIEW).usages[0]
    place = str(walk.encoder.folder.path)
    tokenizer = transformers.AutoTokenizer.from_pretrained(place, local_files_only=True)
    model = transformers.AutoModel.from_pretrained(place, local_files_only=True).eval()
    read = tokenizer(usage.text, return_tensors="pt", return_offsets_mapping=True)
    inside = [first < usage.end and last > usage.start for first, last in read.pop("offset_mapping")[0].tolist()]
    with torch.inference_mode():
        states = model(**read, output_hidden_states=True).hidden_states
    expected = np.stack([state[0][torch.tensor(inside)].mean(dim=0).numpy() for state in states])
    np.testing.assert_allclose(walk.encoder.embed([usage])[0], expected, atol=1e-5)


def test_a_distance_is_one_minus_the_cosine_of_two_vectors(walk: Walk) -> None:
    """Hop 3: the row's value is what the two vectors say."""
    a, b = walk.encoder.embed(view_item(walk.items[3], VIEW).usages).astype(np.float64)
    cosine = (a * b).sum(axis=1) / (np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1))
    np.testing.assert_allclose(walk.distance[3], 1 - cosine, atol=1e-5)


def test_r_squared_is_the_squared_correlation_of_distances_and_norms(walk: Walk) -> None:
    """Hop 7: R² of a simple regression is r²; the words, not the pairs, are resampled."""
    for entry in walk.curve.values:
        expected = np.corrcoef(walk.distance[:, entry.layer], walk.made_up_norms)[0, 1] ** 2
        assert entry.value == pytest.approx(expected, abs=1e-12)
    assert (walk.curve.n, walk.curve.n_groups) == (len(walk.items), N_WORDS)


def test_the_figure_draws_the_curve_as_it_is(walk: Walk) -> None:
    """Hop 8: the data beside the figure are the curve's numbers, and the alternative text names the subject."""
    layers = np.array([entry.layer for entry in walk.curve.values])
    curve = DrawnCurve("encoder:minilm", layers, walk.curve.array())
    figure = trajectories([curve], Heading("r_squared", "1", "R² by layer, ratings made up by a test."), statistic="R²")
    rows = list(csv.DictReader(io.StringIO(data_csv(figure))))
    drawn = [float(value) for row in rows for name, value in row.items() if name in ("value", "R²", "r_squared")]
    assert drawn == pytest.approx(walk.curve.array().tolist(), abs=1e-12)
    assert figure.svg.lstrip().startswith("<")
    assert "encoder:minilm" in figure.alt
