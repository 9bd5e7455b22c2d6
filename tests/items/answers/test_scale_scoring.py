"""Ratings by scoring: the probability of each point behind the prompt, weighted; against a model read here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from lexiscope.collect import collect
from lexiscope.core import catalog
from lexiscope.core.dataset import SubjectFacts
from lexiscope.core.errors import CapabilityError, InputError
from lexiscope.core.item import Item
from lexiscope.core.prompt import ChatQuestion, Message
from lexiscope.core.scale import Scale
from lexiscope.core.scoring import PRESETS, ScoringPolicy, TokenScores
from lexiscope.items.answers.scale_scoring import prompt_of, scoring_function

LOGS = {"1": -4.0, "2": -3.0, "3": -2.5, "4": -1.0, "5": -2.0}


class Letters:
    """A scorer of letters: every one has −0.25, and the last one of a text what *logs* say."""

    subject_id, kind = "causal_lm:letters", "causal_lm"

    def __init__(self, policy: ScoringPolicy, logs: dict[str, float]) -> None:
        self.policy, self.logs, self.texts = policy, logs, list[str]()

    @property
    def facts(self) -> SubjectFacts:
        return SubjectFacts(
            subject_id=self.subject_id, title="letters", kind=self.kind, objective="", revision="1", source=""
        )

    def score(self, texts: Sequence[str], *, work: Path | None = None, progress: object = None) -> list[TokenScores]:
        self.texts += texts
        places = [np.arange(len(text)) for text in texts]
        return [
            TokenScores(np.array([-0.25] * (len(text) - 1) + [self.logs[text[-1]]]), place, place + 1)
            for text, place in zip(texts, places, strict=True)
        ]


def story() -> Item:
    return catalog.module("tasks", "plausibility").example_items("en")[0]  # type: ignore[attr-defined,no-any-return]


@pytest.mark.parametrize("preset", ["published", "continuation", "bos"])
def test_the_rating_is_the_mean_by_probability(preset: str) -> None:
    """Expected value, most probable point, mass, and a row per point, whatever the subject's own policy counts.

    The space before a point counts with it: −0.25 for each point alike, which changes the mass and nothing else.
    """
    subject = Letters(PRESETS[preset], LOGS)
    table = collect([story()], [subject], "plausibility")
    weights = {int(point): math.exp(log) for point, log in LOGS.items()}
    found = {measure: table.where(measure=measure).column("value").tolist() for measure in table.unique("measure")}
    assert found["rating"] == pytest.approx([sum(p * w for p, w in weights.items()) / sum(weights.values())])
    assert found["most_probable_rating"] == [4.0]
    assert found["scale_mass"] == pytest.approx([sum(weights.values()) * math.exp(-0.25)])
    (policy,) = [measure for measure in found if measure.startswith("log_probability(")]
    assert ScoringPolicy.parse(policy).tokens == "continuation"
    assert found[policy] == pytest.approx([log - 0.25 for log in LOGS.values()])
    assert table.where(measure=policy).column("option").tolist() == list(LOGS)


def test_what_is_scored_is_the_prompt_with_a_point() -> None:
    """The guidelines, the item, one space and the point, for each point once."""
    subject = Letters(PRESETS["continuation"], LOGS)
    collect([story()], [subject], "plausibility")
    asks = catalog.task("plausibility").asks
    assert asks is not None
    prompt = prompt_of(asks(story()))
    assert sorted(set(subject.texts)) == [f"{prompt} {point}" for point in LOGS]
    assert prompt.endswith("Plausibility of this meaning, from 1 to 5:")


def test_very_improbable_points_still_rate() -> None:
    """Log-probabilities of −900 have no float of their own; their ratio has."""
    logs = dict.fromkeys(LOGS, -900.0) | {"5": -900.0 + math.log(4)}
    table = collect([story()], [Letters(PRESETS["continuation"], logs)], "plausibility")
    assert table.where(measure="rating").column("value").tolist() == pytest.approx([(1 + 2 + 3 + 4 + 5 * 4) / 8])


def test_a_continuous_scale_cannot_be_scored() -> None:
    """Only numbers that can be listed can stand behind a prompt: 0 to 1 has no whole numbers between its ends."""

    def asks(item: Item, **_: object) -> ChatQuestion:
        return ChatQuestion((Message("user", "?"),), scale=Scale(0, 1, step=0))

    with pytest.raises(InputError, match="0 to 1, continuous has no list of numbers"):
        scoring_function("plausibility", "rating", asks)([story()], Letters(PRESETS["bos"], LOGS), view="full")


def test_relatedness_is_rated_the_same_way() -> None:
    """Both tasks with a scale share it; a task whose answers are texts of one's own is not answered by scoring."""
    pair = catalog.module("tasks", "relatedness").example_items("es")[0]  # type: ignore[attr-defined]
    table = collect([pair], [Letters(PRESETS["continuation"], LOGS)], "relatedness")
    assert table.where(measure="most_probable_rating").column("value").tolist() == [4.0]
    with pytest.raises(CapabilityError):
        collect([pair], [Letters(PRESETS["continuation"], LOGS)], "story_ending")


@pytest.mark.published
def test_a_real_model_scores_the_points(published: Path) -> None:
    """A tiny model: the mass is a probability, the rating lies on the scale, and is the same alone and in company."""
    items = catalog.module("tasks", "relatedness").example_items("en")  # type: ignore[attr-defined]
    spec = f"causal_lm:{published.parent / 'models' / 'tiny-causal-en'}?policy=continuation"
    table = collect(items, [spec], "relatedness")
    assert all(0 < mass < 1 for mass in table.where(measure="scale_mass").column("value"))
    ratings = table.where(measure="rating").column("value").tolist()
    assert all(1 < rating < 5 for rating in ratings)
    alone = collect(items[:1], [spec], "relatedness").where(measure="rating").column("value").tolist()
    assert alone == pytest.approx(ratings[:1], abs=1e-5)
