"""Plans of training: the published protocol, smaller ones, and what they leave out of a dataset."""

from __future__ import annotations

from lexiscope.core.item import Item
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.splits import ItemDivision
from lexiscope.training.budget import named_plan, plan_for
from lexiscope.training.settings import TrainingSettings


def test_the_whole_protocol_is_the_papers() -> None:
    """Three learning rates, three seeds, LABEL trained, every item; without training there is one cell."""
    whole, none = named_plan("full"), named_plan("zero_shot")
    assert (whole.grid.learning_rates, whole.grid.seeds, whole.trained_label) == ((1e-5, 2e-5, 3e-5), (0, 1, 2), True)
    assert (whole.settings.max_rows, whole.test_rows) == (0, 0)
    assert (len(none.grid.combinations("bi_encoder")), none.settings.epochs) == (1, 0)


def test_a_search_without_training_goes_by_the_target() -> None:
    """[CLS] of a model that has not learnt the task stands for its sentence; trained models learn to use it (§2.4)."""
    run = TrainingSettings(threads=2)
    pooling = {name: named_plan(name, run).settings.pooling for name in ("zero_shot", "reduced", "full")}
    assert pooling == {"zero_shot": "target", "reduced": "cls", "full": "cls"}
    assert named_plan("reduced", run).settings.threads == 2


def test_a_plan_says_what_it_leaves_out() -> None:
    """A linear probe learns from 3,000 items at most and tests 2,000; folds are tested as they are."""
    usage = Usage("a bank", 2, 6)
    items = tuple(Item(f"i{n}", "d", (usage, usage), gold="t") for n in range(3_100))
    splits = plan_for("linear", ItemDivision(items, items[:9], items), "same_sense", settings=TrainingSettings())
    assert splits.left_out == (
        "all training of the encoder",
        "1,100 of 3,100 tested items",
        "100 of 3,100 training items",
    )
    folds = ItemDivision((), (), items, tuple(n % 5 for n in range(3_100)))
    assert plan_for("linear", folds, "same_sense", settings=TrainingSettings()).left_out == splits.left_out[:1]
    # a search without training chooses nothing: only what is not tested is left out
    search = plan_for("zero_shot", ItemDivision(items, items, items), "entity_link", settings=TrainingSettings())
    closed = "a model trained on nothing: LABEL is the most frequent answer of training"
    assert search.left_out == ("all training of the encoder", "1,100 of 3,100 tested items", closed)
    assert search.how.startswith("Without training: an encoder as it is reads the sentence and the entries")
