"""Gloss classifiers: the gloss with the highest score wins; the same model verifies definitions."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lexiscope.core.errors import InputError
from lexiscope.core.subject import SubjectSpec
from lexiscope.items.arrange.views import view_item
from lexiscope.subjects.trained.classifier import load
from lexiscope.training.classifier import train_gloss_classifier, train_verification
from lexiscope.training.methods import fit_label_baseline

from .tiny_views import QUICK, senses, verifications

TRAIN, DEV = senses(48), senses(32, start=48)
SHORT = replace(QUICK, epochs=4)


def test_the_highest_gloss_wins(bert: Path, tmp_path: Path) -> None:
    """A toy in which the gloss tells is solved, wherever the right one stands; the probability is the choice's."""
    found = train_gloss_classifier(TRAIN, DEV, str(bert), view="full", out=tmp_path / "g", settings=SHORT)
    assert found.dev_accuracy == 1.0
    table = load(SubjectSpec.parse(found.spec)).judge(DEV, "sense_disambiguation")
    assert table.where(measure="choice").column("option").tolist() == [item.gold for item in DEV]
    assert (table.where(measure="probability").column("value") > 0.5).all()
    assert len({item.options.index(str(item.gold)) for item in DEV}) == 2


def test_who_sees_nothing_draws(bert: Path, tmp_path: Path) -> None:
    """On the view label no candidate can be told from another: the first, most frequent sense is no more chosen."""
    items = [replace(item, options=("a", "b"), gold="a", conditions={"glosses": "an animal|a thing"}) for item in DEV]
    found = train_gloss_classifier(
        items, items, str(bert), view="label", out=tmp_path / "g", settings=replace(SHORT, epochs=1)
    )
    closed = fit_label_baseline(items, items, out=tmp_path / "c", task="sense_disambiguation")
    assert closed.dev_accuracy == 0.5
    shown = [view_item(item, "label") for item in items]
    chosen = []
    for shard in (found, closed):
        table = load(SubjectSpec.parse(shard.spec)).judge(shown, "sense_disambiguation").where(measure="choice")
        chosen.append(table.column("option").tolist())
        assert 6 <= Counter(chosen[-1])["a"] <= 26
    assert chosen[0] == chosen[1]
    assert found.dev_accuracy == np.mean([option == "a" for option in chosen[0]])


def test_several_senses_may_be_right(bert: Path, tmp_path: Path) -> None:
    """Each of the senses that ``|`` divides is right: a model that chooses either is never wrong on dev."""
    both = [replace(item, gold="|".join(item.options)) for item in DEV]
    found = train_gloss_classifier(
        TRAIN, both, str(bert), view="full", out=tmp_path / "g", settings=replace(SHORT, epochs=1)
    )
    assert found.dev_accuracy == 1.0


def test_definitions_are_verified(bert: Path, tmp_path: Path) -> None:
    """WiC-TSV: t or f, learnt from the second text; classes that are unequal may be balanced."""
    train, dev = verifications(32), verifications(32, start=32)
    settings = replace(SHORT, class_weights="balanced")
    found = train_verification(train, dev, str(bert), view="full", out=tmp_path / "v", settings=settings)
    assert (found.method, found.dev_accuracy) == ("verification", 1.0)
    table = load(SubjectSpec.parse(found.spec)).judge(dev, "sense_verification").where(measure="choice")
    assert table.column("option").tolist() == [item.gold for item in dev]


def test_rows_that_cannot_be_learnt_are_named(bert: Path, tmp_path: Path) -> None:
    """A right sense that is no option, no glosses, nothing to choose from, no definition: the row is named."""
    alone = [replace(item, options=item.options[:1], conditions={"glosses": "a thing"}) for item in TRAIN]
    alone = [replace(item, gold=item.options[0]) for item in alone]
    for train, said in (
        ([*TRAIN[:4], replace(TRAIN[4], gold="other%1")], "made/4.*not one of its senses"),
        ([replace(TRAIN[0], conditions={})], "made/0.*E617"),
        (alone, "has only one sense"),
    ):
        with pytest.raises(InputError, match=said):
            train_gloss_classifier(train, DEV, str(bert), view="full", out=tmp_path / "x", settings=SHORT)
    bare = [replace(item, conditions={}) for item in verifications(32)]
    with pytest.raises(InputError, match=r"made/0.*E402"):
        train_verification(bare, bare, str(bert), view="full", out=tmp_path / "y", settings=SHORT)
