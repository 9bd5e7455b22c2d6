"""Planted bias through real training: a tiny BERT per view, its answers as responses, the bias measured from them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from lexiscope.analysis.bias import context_word_bias
from lexiscope.analysis.view_answers import scored_views
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.subject import SubjectSpec
from lexiscope.items.planted_bias import Dials, expected, planted_items
from lexiscope.items.views import view_item
from lexiscope.subjects.classifier import load
from lexiscope.training.label_baseline import fit_label_baseline
from lexiscope.training.pair_classifier import train_pair_classifier

from .tiny_views import QUICK, save_bert

# what can be learnt here is learnt within a few epochs; what cannot stops early
SETTINGS = replace(QUICK, learning_rate=1.5e-3, epochs=14, patience=5, batch=16)


def answered(parts: dict[str, list[Item]], encoder: Path, view: str, out: Path) -> ResponseTable:
    """The answers to the test items of a model that was trained on a view."""
    if view == "label":
        shard = fit_label_baseline(parts["train"], parts["dev"], out=out)
    else:
        shard = train_pair_classifier(
            parts["train"], parts["dev"], str(encoder), view=view, out=out, settings=SETTINGS, seed=0
        )
    shown = [view_item(item, view) for item in parts["test"]]
    table = load(SubjectSpec.parse(shard.spec)).judge(shown, "same_sense")
    return table.with_column("view", view).with_column("subject_id", "tiny")


@pytest.mark.parametrize("corner", [(1.0, 0.0), (0.0, 1.0)])
def test_trained_models_find_the_planted_part(corner: tuple[float, float], tmp_path: Path) -> None:
    """Where one part tells everything, a model trained on it reaches what FULL reaches; on the other part, LABEL."""
    dials = Dials(*corner, n_words=4, splits=(("train", 256), ("dev", 64), ("test", 128)))
    items = planted_items(dials)
    parts = {name: [item for item in items if item.conditions["split"] == name] for name, _ in dials.splits}
    words = sorted({word for item in items for u in item.usages for word in re.findall(r"\w+|\.", u.text.lower())})
    encoder = save_bert(tmp_path / "bert", words=words)
    tables = [answered(parts, encoder, view, tmp_path / view) for view in ("full", "context", "word", "label")]
    gold = {item.item_id: str(item.gold) for item in parts["test"]}
    word_of = {item.item_id: item.word for item in parts["test"]}
    found = context_word_bias(
        scored_views(ResponseTable.concat(tables), gold, word_of, subjects=["tiny"]), resamples=100
    )
    truth = expected(dials)
    assert found.context.value == pytest.approx(truth.context_bias, abs=0.15)
    assert found.word.value == pytest.approx(truth.word_bias, abs=0.15)
    full = found.view("full")
    assert full is not None
    assert full.value > 0.9
