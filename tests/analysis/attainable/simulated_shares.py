"""Studies with a known truth: words with items, persons who rate them, and a model with layers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lexiscope.analysis.attainable.people import RatedItems, rated_items
from lexiscope.analysis.attainable.reached import Reached, correlation_reached
from lexiscope.analysis.attainable.shares import Ceiling, Share, share_of
from lexiscope.analysis.ratings import Ratings

Floats = NDArray[np.float64]
ITEMS = 4
"""Items of a word."""
NOISE = (3.0, 1.6, 1.2, 1.1, 1.2, 1.6)
"""The noise of the layers of a model, in units of the SD of what people agree on: layer 3 is the best."""


def true_scores(generator: np.random.Generator, words: int) -> Floats:
    """What people agree on: half of the variance between words, half within. *Shape:* (words × items,)."""
    return generator.normal(size=words).repeat(ITEMS) + generator.normal(size=words * ITEMS)


def rated(generator: np.random.Generator, score: Floats, raters: int, *, resamples: int) -> RatedItems:
    """Persons differ in severity, in how far they spread, and in noise; each rates two thirds of the items, 1 to 7."""
    n = len(score)
    severity, slope = generator.normal(0, 0.5, raters), generator.lognormal(0, 0.2, raters)
    values = np.clip(
        np.rint(4 + severity[:, None] + slope[:, None] * score + generator.normal(0, 1, (raters, n))), 1, 7
    )
    asked = generator.random((raters, n)) < 2 / 3
    rater, item = np.nonzero(asked)
    words = {f"{k}": f"word {k // ITEMS}" for k in range(n)}
    table = Ratings.from_arrays(rater.astype(str), item.astype(str), values[asked])
    return rated_items(table, words, resamples=resamples)


def layers_of(generator: np.random.Generator, score: Floats) -> Floats:
    """The answers of a model with layers, a part of whose noise is common to the items of a word."""
    n = len(score)
    word = generator.normal(size=(n // ITEMS, len(NOISE))).repeat(ITEMS, axis=0)
    noise = np.sqrt(0.3) * word + np.sqrt(0.7) * generator.normal(size=(n, len(NOISE)))
    return np.asarray(score[:, None] + np.sqrt(2) * noise * np.array(NOISE))


def in_order(rated_items_: RatedItems, answers: Floats) -> Floats:
    """Answers in the order of the rated items."""
    return answers[np.array([int(item) for item in rated_items_.items])]


def share_in_study(seed: int, *, words: int = 60, raters: int = 12, resamples: int = 400) -> Share:
    """The share of a model in one study."""
    generator = np.random.default_rng(seed)
    score = true_scores(generator, words)
    people = rated(generator, score, raters, resamples=resamples)
    reached = correlation_reached(in_order(people, layers_of(generator, score)), people, layers=range(len(NOISE)))
    return share_of(reached, attainable(people))


def attainable(people: RatedItems) -> Ceiling:
    """The ceiling of a study."""
    name = "attainable"
    value = people.ceilings[name]
    return Ceiling(value.value, people.ceiling_draws(name), people.ceiling_without(name), people.raters)  # type: ignore[union-attr]


def equal_models(seed: int, *, models: int, words: int, resamples: int = 400) -> dict[str, Reached]:
    """Models of one truth, each with noise of its own, on the same rated items."""
    generator = np.random.default_rng(seed)
    score = true_scores(generator, words)
    people = rated(generator, score, 12, resamples=resamples)
    answers = (score + np.sqrt(2) * generator.normal(size=len(score)) for _ in range(models))
    return {f"m{k}": correlation_reached(in_order(people, own), people) for k, own in enumerate(answers)}
