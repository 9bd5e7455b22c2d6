"""Second walk: a sentence, from the user's file to R² (docs/extend/code-tour.md).

The ratings are made up by this test, by rule, and nobody's judgments: they only give the last steps numbers to work on.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lexiscope
from lexiscope.core import catalog
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Curve
from lexiscope.report.figures import Figure, data_csv
from lexiscope.subjects.local.encoder import Encoder

from .steps import calls, not_reached, resolve, steps

WALK = "A sentence, from the user's file to R²"
N_WORDS, PAIRS_OF_A_WORD = 5, 6
ENCODER = Encoder("minilm")
COLUMNS = ("item_id", "word", "sentence_1", "sentence_2", "target_1", "target_2", "same_sense", "participant", "rating")


@dataclass(frozen=True)
class Walk:
    """What each step hands to the next, and the calls made."""

    items: tuple[Item, ...]
    answers: ResponseTable
    distance: np.ndarray[Any, np.dtype[np.float64]]
    made_up_norms: np.ndarray[Any, np.dtype[np.float64]]
    curve: Curve
    figure: Figure
    calls: list[str]


def _made_up(item: Item, number: int) -> tuple[int, int]:
    """Return two ratings, by rule."""
    return (4, 4 + number % 2) if item.conditions["same_sense"] else (1, 1 + number % 3)


def _write(items: tuple[Item, ...], path: Path) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for number, item in enumerate(items):
            first, second = item.usages
            sense = str(bool(item.conditions["same_sense"])).lower()
            shown = (item.item_id, item.word, first.text, second.text, first.target, second.target, sense)
            for rater, value in zip(("r1", "r2"), _made_up(item, number), strict=True):
                writer.writerow((*shown, rater, value))
    return path


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Walk:
    """A user's file of pairs and ratings, an encoder, R² by layer, and its figure."""
    english = [item for item in catalog.dataset("mini_relatedness").items if item.usages[0].language == "en"]
    made_up = tuple(english[: N_WORDS * PAIRS_OF_A_WORD])
    path = _write(made_up, tmp_path_factory.mktemp("walk") / "pairs_rated_by_a_test.csv")
    with calls() as made:
        run = lexiscope.analyse(path, subjects=["encoder:minilm"], n_bootstrap=100, seed=1)
        curve = run.fit("r_squared").of("encoder:minilm")
        assert isinstance(curve, Curve)
        figure = curve.plot()
    rows = run.answers.where(measure="cosine_distance")
    distance = rows.column("value").reshape(len(run.items), -1)
    norms = np.array([np.mean(_made_up(item, number)) for number, item in enumerate(made_up)])
    return Walk(tuple(run.items), run.answers, distance, norms, curve, figure, made)


def test_the_steps_are_those_of_the_page(walk: Walk) -> None:
    """Every step of the code tour is a function of the package; a sentence passes at most eight, in this order."""
    named = steps(WALK)
    assert 5 <= len(named) <= 8
    assert all(callable(resolve(step)) for step in named)
    assert not_reached(walk.calls, named) == []


def test_a_sentence_is_a_usage_with_a_verified_span(walk: Walk) -> None:
    """Step 1: a usage has the character offsets of its target."""
    first = walk.items[0].usages[0]
    assert first.text[first.start : first.end] == first.target == walk.items[0].word


def test_every_item_is_answered_at_every_layer(walk: Walk) -> None:
    """Steps 2 and 3: a row per item and layer, in the order of the items, filed under subject, task and view."""
    rows = walk.answers.where(measure="cosine_distance")
    assert len(rows) == len(walk.items) * 7
    assert rows.column("item_id").tolist() == [item.item_id for item in walk.items for _ in range(7)]
    assert rows.column("layer").tolist() == list(range(7)) * len(walk.items)
    assert {rows.unique(name) for name in ("subject_id", "task", "view")} == {
        ("encoder:minilm",),
        ("relatedness",),
        ("full",),
    }


def test_a_vector_is_the_mean_of_the_subwords_that_overlap_the_span(walk: Walk) -> None:
    """Steps 4 to 6: against a pure forward pass of the one sentence, at every layer."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    usage = walk.items[0].usages[0]
    place = str(ENCODER.folder.path)
    tokenizer = transformers.AutoTokenizer.from_pretrained(place, local_files_only=True)
    model = transformers.AutoModel.from_pretrained(place, local_files_only=True).eval()
    read = tokenizer(usage.text, return_tensors="pt", return_offsets_mapping=True)
    inside = [first < usage.end and last > usage.start for first, last in read.pop("offset_mapping")[0].tolist()]
    with torch.inference_mode():
        states = model(**read, output_hidden_states=True).hidden_states
    expected = np.stack([state[0][torch.tensor(inside)].mean(dim=0).numpy() for state in states])
    np.testing.assert_allclose(ENCODER.embed([usage])[0], expected, atol=1e-5)


def test_a_distance_is_one_minus_the_cosine_of_two_vectors(walk: Walk) -> None:
    """Step 3: the row's value is what the two vectors say."""
    a, b = ENCODER.embed(walk.items[3].usages).astype(np.float64)
    cosine = (a * b).sum(axis=1) / (np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1))
    np.testing.assert_allclose(walk.distance[3], 1 - cosine, atol=1e-5)


def test_r_squared_is_the_squared_correlation_of_distances_and_norms(walk: Walk) -> None:
    """Step 7: R² of a simple regression is r²; the words, not the pairs, are resampled."""
    for entry in walk.curve.values:
        expected = np.corrcoef(walk.distance[:, entry.layer], walk.made_up_norms)[0, 1] ** 2
        assert entry.value == pytest.approx(expected, abs=1e-12)
    assert (walk.curve.n, walk.curve.n_groups) == (len(walk.items), N_WORDS)


def test_the_figure_draws_the_curve_as_it_is(walk: Walk) -> None:
    """Step 8: the figure's data are the curve's numbers, and the alternative text names the subject."""
    rows = list(csv.DictReader(io.StringIO(data_csv(walk.figure))))
    drawn = [float(value) for row in rows for name, value in row.items() if name in ("value", "R²", "r_squared")]
    assert drawn == pytest.approx(walk.curve.array().tolist(), abs=1e-12)
    assert walk.figure.svg.lstrip().startswith("<")
    assert "encoder:minilm" in walk.figure.alt
