"""Probes: the threshold with the most right answers, the layer by dev, the nearest gloss; all in seconds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lexiscope.core.errors import InputError
from lexiscope.core.item import Item
from lexiscope.core.run import read_json
from lexiscope.core.subject import SubjectSpec
from lexiscope.core.usage import Usage
from lexiscope.items.arrange.views import view_item
from lexiscope.subjects.local import encoder
from lexiscope.subjects.trained.classifier import load
from lexiscope.training.methods import fit_threshold

from .tiny_views import QUICK, pairs, senses, verifications


def test_a_probe_of_pairs(bert: Path, tmp_path: Path) -> None:
    """The figure on dev is what the folder answers; its layer is the best on dev, the lowest of several."""
    train, dev = pairs(64), pairs(32, start=64)
    found = fit_threshold(train, dev, str(bert), view="full", out=tmp_path / "p", store=tmp_path / "store")
    about = read_json(tmp_path / "p" / "run.json")["training"]
    assert found.dev_accuracy == max(about["dev_by_layer"])
    assert about["layer"] == about["dev_by_layer"].index(found.dev_accuracy)
    table = load(SubjectSpec.parse(found.spec)).judge(dev, "same_sense")
    right = [
        option == item.gold for option, item in zip(table.where(measure="choice").column("option"), dev, strict=True)
    ]
    assert np.mean(right) == found.dev_accuracy
    distances = table.where(measure="cosine_distance").column("value")
    same = table.where(measure="choice").column("option") == "t"
    assert ((1 - distances >= about["threshold"]) == same).all()


@pytest.mark.parametrize("view", ["word", "label"])
def test_equal_inputs_get_one_answer(bert: Path, tmp_path: Path, view: str) -> None:
    """Where both words are equal, or nothing is seen, every cosine is 1: the answer is the majority's."""
    train = [item for n, item in enumerate(pairs(64)) if item.gold == "f" or n % 4]
    found = fit_threshold(train, pairs(32), str(bert), view=view, out=tmp_path / "p")
    table = load(SubjectSpec.parse(found.spec)).judge([view_item(item, view) for item in pairs(32)], "same_sense")
    assert set(table.where(measure="choice").column("option")) == {"f"}
    assert found.dev_accuracy == 0.5


OVERLAP = [
    ("He put his money into the bank .", "bank", "an institution that keeps money", "the side of a river"),
    ("The river rose over its bank .", "bank", "the side of a river", "an institution that keeps money"),
    ("The bat flew out of its cave at night .", "bat", "an animal that flies at night", "a club used in ball games"),
    ("He hit the ball with a bat .", "bat", "a club used to hit a ball", "an animal that flies at night"),
    ("She spread jam on her bread .", "jam", "sweet fruit spread for bread", "a line of cars that cannot move"),
    ("The cars stood in a long jam .", "jam", "a line of cars that cannot move", "sweet fruit spread for bread"),
]


@pytest.mark.parametrize(("query", "least"), [("target", 4 / 6), ("sentence", 5 / 6)])
def test_the_nearest_gloss(tmp_path: Path, query: str, least: float) -> None:
    """With the embedded encoder, glosses that overlap with the sentence are found without training."""
    items = []
    for number, (text, word, right, wrong) in enumerate(OVERLAP):
        options = ("right", "wrong") if number % 2 else ("wrong", "right")
        glosses = f"{right}|{wrong}" if number % 2 else f"{wrong}|{right}"
        start = text.index(word)
        used = Usage(text, start, start + len(word), lemma=word)
        items.append(Item(f"o/{number}", "made", (used,), options, "right", conditions={"glosses": glosses}))
    settings = replace(QUICK, query=query)
    found = fit_threshold(
        items, items, "minilm", view="full", out=tmp_path / "p", task="sense_disambiguation", settings=settings
    )
    assert found.dev_accuracy >= least
    table = load(SubjectSpec.parse(found.spec)).judge(items, "sense_disambiguation").where(measure="choice")
    assert np.mean(table.column("option") == "right") == found.dev_accuracy


def test_definitions_are_compared(bert: Path, tmp_path: Path) -> None:
    """Sense verification: the cosine of the usage and of ``definition ; hypernyms``, with a threshold."""
    train, dev = verifications(32), verifications(32, start=32)
    found = fit_threshold(train, dev, str(bert), view="context", out=tmp_path / "p", task="sense_verification")
    shown = [view_item(item, "context") for item in dev]
    table = load(SubjectSpec.parse(found.spec)).judge(shown, "sense_verification").where(measure="choice")
    right = [option == item.gold for option, item in zip(table.column("option"), dev, strict=True)]
    assert np.mean(right) == found.dev_accuracy >= 0.5


def test_stored_vectors_are_not_computed_again(bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same store a second fit reads no weights, and comes to the same figures."""
    train, dev, store = senses(16), senses(16, start=16), tmp_path / "store"
    made = {"view": "full", "task": "sense_disambiguation", "store": store}
    first = fit_threshold(train, dev, str(bert), out=tmp_path / "a", **made)  # type: ignore[arg-type]
    monkeypatch.setattr(encoder, "ForwardPass", None)
    again = fit_threshold(train, dev, str(bert), out=tmp_path / "b", **made)  # type: ignore[arg-type]
    assert again.dev_accuracy == first.dev_accuracy
    subject = load(SubjectSpec.parse(f"{again.spec}?store={store}"))
    assert len(subject.judge(dev, "sense_disambiguation")) == 2 * len(dev)


def test_settings_that_it_does_not_use_do_not_matter(bert: Path, tmp_path: Path) -> None:
    """A probe knows neither epochs nor rates: planned within a budget or asked for by name, it is the same run."""
    made = {"view": "full", "out": tmp_path / "p"}
    first = fit_threshold(pairs(32), pairs(32), str(bert), settings=replace(QUICK, epochs=0), **made)  # type: ignore[arg-type]
    assert fit_threshold(pairs(32), pairs(32), str(bert), **made) == first  # type: ignore[arg-type]


def test_answers_other_than_t_and_f_are_refused(bert: Path, tmp_path: Path) -> None:
    """A threshold gives one of two answers; a task that it does not answer is named."""
    items = [replace(item, gold={"t": "yes", "f": "no"}[str(item.gold)]) for item in pairs(32)]
    with pytest.raises(InputError, match="the items have no, yes"):
        fit_threshold(items, items, str(bert), view="full", out=tmp_path / "p")
    with pytest.raises(InputError, match="'plausibility'"):
        fit_threshold(pairs(32), pairs(32), str(bert), view="full", out=tmp_path / "p", task="plausibility")
