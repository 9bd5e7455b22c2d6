"""Pair classifiers: what the layer reads, what is learnt of which view, what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from lexiscope.core.errors import InputError, RunError, SubjectError
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.run import read_json
from lexiscope.core.subject import SubjectSpec
from lexiscope.items.arrange.views import view_item
from lexiscope.subjects.local._model_check import rounding
from lexiscope.subjects.local._model_folder import ModelFolder
from lexiscope.subjects.trained._encoder import LoadedClassifier, Shape
from lexiscope.subjects.trained._wording import Wording
from lexiscope.subjects.trained.classifier import load
from lexiscope.training._labelled_items import Objective, length_batches, train_reader
from lexiscope.training._training import TrainedModel, delete_weights
from lexiscope.training.classifier import train_pair_classifier
from lexiscope.training.methods import fit_label_baseline
from lexiscope.training.settings import RATES, SEEDS, TrainingSettings

from .tiny_views import QUICK, pairs, parameters_of, save_bert, weights_of


def answers_of(shard: TrainedModel, items: Sequence[Item], task: str = "same_sense") -> ResponseTable:
    return load(SubjectSpec.parse(shard.spec)).judge(items, task)


TRAIN, DEV = pairs(64), pairs(32, start=64)


def test_the_defaults_are_the_published_ones() -> None:
    """§2.4: learning rates 1e-5, 2e-5, 3e-5; three seeds; early stopping on dev."""
    assert RATES == (1e-5, 2e-5, 3e-5)
    assert len(SEEDS) == 3
    assert TrainingSettings().patience < TrainingSettings().epochs


@pytest.mark.parametrize("changed", [{"batch": 0}, {"dropout": 1.0}, {"miner": "best"}, {"learning_rate": 0.0}])
def test_settings_out_of_range_are_refused(changed: dict[str, object]) -> None:
    """A setting that means nothing is refused when it is made."""
    with pytest.raises(InputError):
        TrainingSettings(**changed)  # type: ignore[arg-type]


def test_the_features_are_cls_and_both_targets(bert: Path) -> None:
    """The layer's input, worked out plainly: [CLS], then the mean vector of each target, side by side."""
    reader = LoadedClassifier(ModelFolder(bert), Shape(2, 2, dropout=0.0), start=1)
    readings = [Wording("full", "[MASK]").pair(item) for item in TRAIN[:5]]
    encoded = reader.encode(readings)
    for reading, each, row in zip(readings, encoded, reader.outputs(encoded), strict=True):
        ids, types = torch.tensor([each.ids]), torch.tensor([each.types])
        hidden = reader.model(input_ids=ids, token_type_ids=types).last_hidden_state[0]
        parts = [hidden[0], *(hidden[list(places)].mean(dim=0) for places in each.targets)]
        assert torch.allclose(reader.head(torch.cat(parts)), row, rtol=0, atol=rounding(float(row.abs().max())))
        assert [len(places) for places in each.targets] == [1, 1]
        assert reading.texts()[0].startswith("the")


def test_the_gradient_reaches_the_encoder(bert: Path) -> None:
    """Every layer of the encoder and its embeddings have a gradient; the pooler, which is not read, is not there."""
    reader = LoadedClassifier(ModelFolder(bert), Shape(2, 2, dropout=0.0))
    for parameter in parameters_of(reader).values():
        parameter.requires_grad_(True)
    encoded = reader.encode([Wording("full", "[MASK]").pair(item) for item in TRAIN[:8]])
    reader.outputs(encoded).square().sum().backward()
    silent = [name for name, each in parameters_of(reader).items() if each.grad is None or not each.grad.any()]
    # a key's bias moves all scores of a query alike, which softmax does not see: its gradient is rounding
    assert [name for name in silent if "key.bias" not in name] == []
    assert not any("pooler" in name for name in parameters_of(reader))


@pytest.mark.parametrize(("view", "least", "most"), [("full", 1.0, 1.0), ("context", 1.0, 1.0), ("word", 0.5, 0.6)])
def test_a_separable_toy_is_learnt_from_what_tells_it(
    bert: Path, tmp_path: Path, view: str, least: float, most: float
) -> None:
    """The verb tells the answer: it is learnt whole from the full text and the context, not from the word."""
    found = train_pair_classifier(TRAIN, DEV, str(bert), view=view, out=tmp_path / view, settings=QUICK)
    assert least <= found.dev_accuracy <= most
    assert found.dev_accuracy == max(epoch.dev for epoch in found.history)
    assert found.view == view
    answers = answers_of(found, [view_item(item, view) for item in DEV]).where(measure="choice")
    right = [option == item.gold for option, item in zip(answers.column("option"), DEV, strict=True)]
    assert np.mean(right) == found.dev_accuracy


def test_a_model_that_sees_nothing_learns_the_majority(bert: Path, tmp_path: Path) -> None:
    """On the view label a trained model answers as the closed form does: with the majority, at its share."""
    train = [item for item in TRAIN if item.gold == "t"] + [item for item in TRAIN if item.gold == "f"][:12]
    settings = replace(QUICK, batch=44, epochs=30)
    trained = train_pair_classifier(train, DEV, str(bert), view="label", out=tmp_path / "trained", settings=settings)
    closed = fit_label_baseline(train, DEV, out=tmp_path / "closed")
    shown = [view_item(item, "label") for item in DEV]
    tables = [answers_of(each, shown) for each in (trained, closed)]
    for table in tables:
        assert set(table.where(measure="choice").column("option")) == {"t"}
    assert tables[1].where(measure="probability").column("value").tolist() == [32 / 44] * 32
    assert tables[0].where(measure="probability").column("value").tolist() == pytest.approx([32 / 44] * 32, abs=0.05)
    assert trained.dev_accuracy == closed.dev_accuracy == np.mean([item.gold == "t" for item in DEV])


def test_numbers_are_learnt_as_numbers(bert: Path, tmp_path: Path) -> None:
    """With ``head=number`` the layer learns ratings; what sees nothing comes to their mean, as the closed form does."""
    ratings = {"t": (4.0, 5.0), "f": (1.0, 2.0)}
    train = [replace(item, gold=str(ratings[str(item.gold)][n % 2])) for n, item in enumerate(TRAIN[:40])]
    dev = train
    settings = replace(QUICK, head="number", batch=40, epochs=30)
    found = train_pair_classifier(
        train, dev, str(bert), view="label", out=tmp_path / "a", settings=settings, task="relatedness"
    )
    closed = fit_label_baseline(train, dev, out=tmp_path / "b", settings=settings, task="relatedness")
    assert found.monitor == "minus_mean_squared_error"
    mean = float(np.mean([float(str(item.gold)) for item in train]))
    for shard, near in ((found, 0.05), (closed, 1e-12)):
        table = answers_of(shard, [view_item(item, "label") for item in dev], "relatedness")
        assert table.unique("measure") == ("rating",)
        assert table.column("value").tolist() == pytest.approx([mean] * len(dev), abs=near)


def test_readings_that_were_cut_are_counted(bert: Path, tmp_path: Path) -> None:
    """The record counts items with a reading longer than ``longest``, by part; a view that hides the text has none."""
    # [CLS] the bat flew . [SEP] the bat ate . [SEP] are 11 tokens; "near the town , the old " are 5 more than "the "
    settings = replace(QUICK, epochs=1, longest=11)
    far = [sum("town" in item.usages[1].text for item in part) for part in (TRAIN, DEV)]
    for view, expected in (("full", far), ("context", far), ("word", [0, 0])):
        found = train_pair_classifier(TRAIN, DEV, str(bert), view=view, out=tmp_path / view, settings=settings)
        assert found.cut == {"train": expected[0], "dev": expected[1]}
        assert read_json(tmp_path / view / "run.json")["cut"] == found.cut
        shown = [view_item(item, view) for item in DEV]
        assert load(SubjectSpec.parse(found.spec)).n_cut(shown) == expected[1]


def test_classes_may_be_balanced(bert: Path, tmp_path: Path) -> None:
    """Where nothing is seen, balanced classes are equally probable, whatever their numbers."""
    train = [item for item in TRAIN if item.gold == "t"] + [item for item in TRAIN if item.gold == "f"][:8]
    settings = replace(QUICK, class_weights="balanced", batch=40, epochs=30)
    found = train_pair_classifier(train, DEV, str(bert), view="label", out=tmp_path / "a", settings=settings)
    table = answers_of(found, [view_item(item, "label") for item in DEV])
    assert table.where(measure="probability").column("value")[0] == pytest.approx(0.5, abs=0.05)


def test_rows_that_cannot_be_learnt_are_named(bert: Path, tmp_path: Path) -> None:
    """No right answer, one answer only, an answer that training lacks, the same id twice: the row is named."""
    hidden = [*TRAIN[:5], replace(TRAIN[5], gold=None)]
    same = [item for item in TRAIN if item.gold == "t"]
    strange = [*DEV[:3], replace(DEV[3], gold="maybe")]
    for train, dev, said in (
        (hidden, DEV, "made/5.*no correct answer"),
        (TRAIN, hidden, "made/5.*dev items have no correct answer"),
        (same, DEV, f"{same[0].item_id}.*all 32 training items have the answer 't'"),
        (TRAIN, strange, f"{DEV[3].item_id}.*'maybe'"),
        ([], DEV, "no train items"),
        ([TRAIN[0], TRAIN[0]], DEV, "E403"),
    ):
        with pytest.raises(InputError, match=said):
            train_pair_classifier(train, dev, str(bert), view="full", out=tmp_path / "x", settings=QUICK)
    with pytest.raises(InputError, match="not a number"):
        train_pair_classifier(
            TRAIN, DEV, str(bert), view="full", out=tmp_path / "x", settings=replace(QUICK, head="number")
        )
    assert not (tmp_path / "x").exists()


def test_a_model_without_a_mask_token_learns_from_what_is_not_hidden(tmp_path: Path) -> None:
    """The views full and word need none; context and label are refused, naming the first row."""
    folder = str(save_bert(tmp_path / "maskless", mask=False))
    once = replace(QUICK, epochs=1)
    assert train_pair_classifier(TRAIN, DEV, folder, view="word", out=tmp_path / "w", settings=once).best_epoch == 1
    with pytest.raises(InputError, match=r"'made/0'.*no mask token"):
        train_pair_classifier(TRAIN, DEV, folder, view="context", out=tmp_path / "c", settings=once)


def test_a_finished_training_is_left_alone_and_another_one_refused(bert: Path, tmp_path: Path) -> None:
    """The same call changes no file; another seed, view or setting is refused, and what differs is said."""
    out, once = tmp_path / "out", replace(QUICK, epochs=1)
    found = train_pair_classifier(TRAIN, DEV, str(bert), view="full", out=out, settings=once)
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*") if path.is_file() and path.name != ".lock"}
    assert train_pair_classifier(TRAIN, DEV, str(bert), view="full", out=out, settings=once) == found
    assert {path: path.stat().st_mtime_ns for path in before} == before
    with pytest.raises(RunError, match="seed was 0 and is now 1"):
        train_pair_classifier(TRAIN, DEV, str(bert), view="full", out=out, settings=once, seed=1)
    with pytest.raises(RunError, match="view was full and is now word"):
        train_pair_classifier(TRAIN, DEV, str(bert), view="word", out=out, settings=once)
    delete_weights(out)
    assert train_pair_classifier(TRAIN, DEV, str(bert), view="full", out=out, settings=once) == replace(
        found, pruned=True
    )
    with pytest.raises(SubjectError, match="were deleted"):
        answers_of(found, DEV)


def test_the_seed_decides(bert: Path, tmp_path: Path) -> None:
    """The same seed gives the same bytes, another one others; the caller's random numbers are left as they were."""
    once = replace(QUICK, epochs=1, dropout=0.2)
    torch.manual_seed(11)
    expected = torch.rand(1)
    torch.manual_seed(11)
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        train_pair_classifier(TRAIN, DEV, str(bert), view="full", out=tmp_path / name, settings=once, seed=seed)
    assert torch.equal(torch.rand(1), expected)
    weights = [(tmp_path / name / "encoder" / "model.safetensors").read_bytes() for name in "abc"]
    assert weights[0] == weights[1] != weights[2]


def test_a_classifier_has_to_learn(tmp_path: Path) -> None:
    """0 epochs are refused before an encoder is looked for."""
    none = replace(QUICK, epochs=0)
    with pytest.raises(InputError, match="before it has learnt"):
        train_pair_classifier(TRAIN, DEV, "no/such/encoder", view="full", out=tmp_path / "x", settings=none)
    assert not (tmp_path / "x").exists()


def test_an_early_stop_keeps_the_best_epoch(bert: Path, tmp_path: Path) -> None:
    """Without a better figure for ``patience`` epochs it ends; the weights are those of the best one."""
    reader = LoadedClassifier(ModelFolder(bert), Shape(2, 2))
    figures = iter([0.5, 0.7, 0.6, 0.7, 0.9])
    kept = []

    def measure() -> float:
        kept.append(weights_of(reader))
        return next(figures)

    encoded = reader.encode([Wording("full", "[MASK]").pair(item) for item in TRAIN[:16]])
    lessons = Objective(
        [len(each.ids) for each in encoded], lambda batch: reader.outputs([encoded[n] for n in batch]).sum(), measure
    )
    course = train_reader(reader, lessons, replace(QUICK, patience=2), seed=0, folder=tmp_path, versions={})
    assert (course.best_epoch, len(course.history), course.stopped) == (2, 4, "no better on dev for 2 epochs")
    assert all(torch.equal(each, kept[1][name]) for name, each in weights_of(reader).items())


def test_batches_hold_similar_lengths() -> None:
    """Each reading once, batches of one size, hardly any padding, another order every time."""
    rng = np.random.default_rng(1)
    lengths = rng.integers(5, 120, 1000)
    batches = length_batches(lengths, 16, np.random.default_rng(0))
    assert sorted(n for batch in batches for n in batch) == list(range(1000))
    assert sorted({len(batch) for batch in batches}) == [8, 16]
    read = sum(len(batch) * lengths[batch].max() for batch in batches)
    by_chance = rng.permutation(1000)
    plain = sum(16 * lengths[by_chance[n : n + 16]].max() for n in range(0, 1000, 16))
    assert read < 1.03 * lengths.sum() < 1.5 * lengths.sum() < plain
    assert batches != length_batches(lengths, 16, np.random.default_rng(1))
