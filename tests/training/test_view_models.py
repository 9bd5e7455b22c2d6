"""Models of partial input on items of one's own: a model for each view, and what it cannot see."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tests.training.tiny_views import pairs, save_bert

from lexiscope.collect import collect
from lexiscope.core import catalog
from lexiscope.core.item import Item
from lexiscope.core.response import ResponseTable
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.splits import ItemDivision
from lexiscope.training.budget import plan_for
from lexiscope.training.cues.word_removal import removal_plans
from lexiscope.training.settings import TrainingSettings
from lexiscope.training.view_models import (
    PROMPTED,
    counts_by_view,
    learner_answers,
    probe_by_view,
    regression_by_view,
    training_by_view,
)


def pair(number: int, word: str, gold: str) -> Item:
    """A pair of equal usages of a word."""
    usage = Usage(f"a {word}", 2, 2 + len(word))
    return Item(f"{word}/{number}", "d", (usage, usage), gold=gold)


def options(table: ResponseTable, view: str) -> list[str]:
    return [str(row.option) for row in table.where(view=view, measure="choice").rows()]


def test_what_counts_knows_what_a_view_shows() -> None:
    """*bank* is always t and *bat* always f, one as often as the other: the word tells all, the rest nothing."""
    made = [pair(n, word, gold) for n in range(8) for word, gold in (("bank", "t"), ("bat", "f"))]
    parts = ItemDivision(tuple(made[:10]), tuple(made[10:12]), tuple(made[12:]))
    found = counts_by_view(parts, ("full", "word", "label"), task="same_sense", subject="counts")
    assert options(found.responses, "word") == options(found.responses, "full") == ["t", "f", "t", "f"]
    assert len(set(options(found.responses, "label"))) == 1
    assert found.asked == parts.test
    assert found.responses.unique("measure") == ("choice",)
    # the context is the same in every item, and the answer to it is in training
    assert not found.blind


def test_a_regression_learns_each_view_by_itself() -> None:
    """A feature that is the label in the word, and none elsewhere: all is right there, and one answer elsewhere."""
    made = tuple(pair(n, f"w{n}", "tf"[n % 2]) for n in range(28))
    parts = ItemDivision(made[:20], made[20:24], made[24:])

    def features(items: Sequence[Item], further: Sequence[Item], view: str) -> Any:
        return np.array([[(1.0 if item.gold == "t" else -1.0) * (view == "word")] for item in (*items, *further)])

    found = regression_by_view(parts, ("word", "label"), features, task="same_sense", subject="mine")
    assert options(found.responses, "word") == [str(item.gold) for item in parts.test]
    assert len(set(options(found.responses, "label"))) == 1
    assert [(one.view, one.method, one.n_train) for one in found.trained] == [
        ("word", "logistic_regression", 20),
        ("label", "logistic_regression", 20),
    ]
    assert found.blind == {"word": parts.unseen_words()}


def test_an_encoder_is_probed_or_trained_with_plain_arguments(tmp_path: Path) -> None:
    """Without a study: a probe answers by itself; a trained model is asked by whoever calls, view by view."""
    encoder = str(save_bert(tmp_path / "tiny"))
    parts = ItemDivision(pairs(24), pairs(8, start=24), pairs(8, start=32))
    asked: list[str] = []

    def ask(model: Any, items: Sequence[Item], view: str, name: str) -> ResponseTable:
        asked.append(name)
        return collect(items, [model], "same_sense", views=(view,))

    task, views, settings = "same_sense", ("full", "word", "label"), TrainingSettings()
    plan = plan_for("linear", parts, task, settings=settings)
    probe = probe_by_view(parts, views, encoder, plan, task=task, subject="probe", store=tmp_path / "vectors")
    plan = plan_for("zero_shot", parts, task, settings=settings)
    trained = training_by_view(
        parts, views, encoder, plan, ask=ask, task=task, subject="m", out=tmp_path / "out", store=tmp_path / "vectors"
    )
    assert asked == list(views)
    assert [one.method for one in probe.trained] == ["logistic_regression"] * 3
    assert [one.method for one in trained.trained] == ["threshold", "threshold", "label"]
    for found, subject in ((probe, "probe"), (trained, "m")):
        assert found.responses.unique("subject_id") == (subject,)
        assert {view: len(options(found.responses, view)) for view in views} == dict.fromkeys(views, 8)
    assert "which words they are" in trained.blind["word"]


def test_a_subject_that_is_not_trained_is_asked_the_views_of_people(tmp_path: Path) -> None:
    """Three views, no LABEL; with leave-one-out, items without some words too: 4 texts of 4 words in 2 views."""
    made = tuple(pair(n, f"w{n}", "tf"[n % 2]) for n in range(12))
    parts, asked = ItemDivision(made[:6], made[6:8], made[8:]), dict[str, int]()
    model = catalog.subject("baseline:random")

    def ask(subject: Any, items: Sequence[Item], view: str, name: str) -> ResponseTable:
        asked[name] = len(items)
        return collect(items, [subject], "same_sense", views=(view,))

    removals = removal_plans(parts.test, "leave_one_out", seed=0)
    answers = learner_answers(
        parts, model, views=("full", "context", "word", "label"), task="same_sense", protocol="auto", budget="",
        share=1, settings=TrainingSettings(), out=tmp_path, name="m", ask=ask, removals=removals,
    )  # fmt: skip
    assert {view: len(options(answers.responses, view)) for view in ("full", "context", "word", "label")} == {
        **dict.fromkeys(("full", "context", "word"), 4),
        "label": 0,
    }
    sizes = {f"{plan.view}_without_words": len(plan.asked) for plan in removals}
    assert asked == {**dict.fromkeys(("full", "context", "word"), 4), **sizes}
    assert {view: len(given) for view, given in answers.without_words.items()} == {
        plan.view: len(plan.asked) for plan in removals
    }
    assert [(one.method, one.n_train) for one in answers.trained] == [(PROMPTED, 0)] * 3
    assert answers.on_whole_input is not None
