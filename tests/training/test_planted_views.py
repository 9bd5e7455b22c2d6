"""Planted bias through real training: a tiny BERT per view, its answers as responses, the bias measured from them."""

from __future__ import annotations

import logging
import re
from dataclasses import replace
from pathlib import Path

import pytest

from lexiscope.analysis.bias.bias import Biases, context_word_bias
from lexiscope.analysis.bias.verdict import verdict
from lexiscope.analysis.bias.view_scores import scored_views
from lexiscope.build.planted.bias import Dials, expected_scores, planted_items
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.subject import SubjectSpec
from lexiscope.items.arrange.views import view_item
from lexiscope.subjects.trained.classifier import load
from lexiscope.training.classifier import train_pair_classifier
from lexiscope.training.methods import fit_label_baseline
from lexiscope.training.settings import TrainingSettings

from .tiny_views import QUICK, save_bert

VIEWS = ("full", "context", "word", "label")

# what can be learnt here is learnt within a few epochs; what cannot stops early
SETTINGS = replace(QUICK, learning_rate=1.5e-3, epochs=14, patience=5, batch=16)
SPLITS = (("train", 256), ("dev", 64), ("test", 128))

# an exclusive or lies on a plateau for twenty epochs before it is learnt: nothing may stop early there
LONG = replace(SETTINGS, epochs=60, patience=60)
MORE_TESTED = (*SPLITS[:2], ("test", 512))


def answered(
    parts: dict[str, list[Item]], encoder: Path, view: str, out: Path, settings: TrainingSettings
) -> ResponseTable:
    """The answers to the test items of a model that was trained on a view."""
    if view == "label":
        shard = fit_label_baseline(parts["train"], parts["dev"], out=out)
    else:
        shard = train_pair_classifier(
            parts["train"], parts["dev"], str(encoder), view=view, out=out, settings=settings, seed=0
        )
    shown = [view_item(item, view) for item in parts["test"]]
    table = load(SubjectSpec.parse(shard.spec)).judge(shown, "same_sense")
    return table.with_column("view", view).with_column("subject_id", "tiny")


def measured(dials: Dials, settings: TrainingSettings, folder: Path) -> Biases:
    """The biases of a tiny BERT that was trained on each view of planted items."""
    items = planted_items(dials)
    parts = {name: [item for item in items if item.conditions["split"] == name] for name, _ in dials.splits}
    words = sorted({word for item in items for u in item.usages for word in re.findall(r"\w+|\.", u.text.lower())})
    encoder = save_bert(folder / "bert", words=words)
    tables = [answered(parts, encoder, view, folder / view, settings) for view in VIEWS]
    gold = {item.item_id: str(item.gold) for item in parts["test"]}
    word_of = {item.item_id: item.word for item in parts["test"]}
    return context_word_bias(
        scored_views(ResponseTable.concat(tables), gold, word_of, subjects=["tiny"]), resamples=500
    )


def full_of(found: Biases) -> float:
    """The score of the whole input."""
    full = found.view("full")
    assert full is not None
    return full.value


@pytest.mark.parametrize("corner", [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0)])
def test_trained_models_find_the_planted_part(corner: tuple[float, float], tmp_path: Path) -> None:
    """Where one part tells everything, a model trained on it reaches what FULL reaches; on the other part, LABEL."""
    dials = Dials(*corner, n_words=4, splits=SPLITS)
    found, truth = measured(dials, SETTINGS, tmp_path), expected_scores(dials)
    _told(corner, found)
    assert found.context.value == pytest.approx(truth.context_bias, abs=0.15)
    assert found.word.value == pytest.approx(truth.word_bias, abs=0.15)
    assert full_of(found) > 0.9


def test_no_bias_is_told_of_a_model_that_learnt_nothing(tmp_path: Path) -> None:
    """Where both parts are needed, two epochs teach nothing: FULL is not shown above LABEL, and the verdict says so."""
    found = measured(Dials(0.0, 0.0, n_words=4, splits=SPLITS), replace(SETTINGS, epochs=2), tmp_path)
    told = verdict(found)
    assert told.kind == "cannot be said"
    assert found.full_over_label is not None
    assert not (found.full_over_label.excludes_zero and found.full_over_label.value > 0)
    assert any("It is not shown that anything was learnt" in sentence for sentence in told.on_model)


@pytest.mark.soak
def test_a_trained_model_learns_what_only_both_parts_tell(tmp_path: Path) -> None:
    """At (0, 0), an exclusive or of word and context, FULL learns all, and each part nothing: both biases are 0."""
    found = measured(Dials(0.0, 0.0, n_words=4, splits=MORE_TESTED), LONG, tmp_path)
    _told((0.0, 0.0), found)
    assert full_of(found) > 0.9
    for bias in (found.context, found.word):
        assert bias.value == pytest.approx(0, abs=0.15)
        assert bias.interval.is_defined


def _told(corner: tuple[float, float], found: Biases) -> None:
    """Write a line of the table in docs/datasets/audit.md (pytest --log-cli-level=INFO shows it)."""
    scores = " | ".join(f"{100 * view.value:.1f}" for view in found.views)
    biases = " | ".join(
        f"{bias.value:.2f} [{bias.interval.low:.2f}, {bias.interval.high:.2f}]" for bias in (found.context, found.word)
    )
    logging.getLogger(__name__).info("| %g | %g | %s | %s |", *corner, scores, biases)
