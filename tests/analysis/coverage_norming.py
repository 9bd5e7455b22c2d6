"""Coverage of the intervals of norms: prediction-powered ones, centaur norms, the annotator test, distributions.

Prediction-powered: RAW-C with GPT-4, whose norms are all known, by condition and target. A list: n of its pairs are
drawn, with or without replacement; the truth is the mean of its norms. A population: its words are drawn, and n of the
pairs of the drawn words are rated; the truth is the mean over all words. The other three are of made ratings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import TypedDict

import numpy as np

from lexiscope.analysis.norming.alternative_annotator import alternative_annotator_test
from lexiscope.analysis.norming.centaur import centaur_norms
from lexiscope.analysis.norming.prediction_powered import (
    Drawn,
    PoweredEstimate,
    means_by_condition,
    powered_contrast,
    powered_mean,
)
from lexiscope.analysis.norming.rating_distributions import compare_distributions
from lexiscope.analysis.norming.severity import SEVERITY, severities
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, Interval
from lexiscope.datasets import raw_c

FloatArray = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Study = Callable[[np.random.Generator, int], tuple[float, float, float]]


class Case(TypedDict):
    """As the cases of coverage_agreement."""

    statistic: str
    design: str
    n: list[int]
    function: Study
    why: str


@cache
def published() -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Norms, answers of GPT-4, whether a pair has one sense, and the word of each pair. *Shape of each:* (672,)."""
    data = raw_c.load()
    ratings = Ratings.from_table(data.responses.where(measure="rating", subject_kind="participant"))
    answers = data.responses.where(measure="rating", subject_id="gpt-4").by_item()
    items = {item.item_id: item for item in data.items}
    own = [items[name] for name in ratings.item_ids]
    words = np.unique([item.word for item in own], return_inverse=True)[1].astype(float)
    same = np.array([float(str(item.conditions["same_sense"]) == "True") for item in own])
    return ratings.means(), np.array([answers[name] for name in ratings.item_ids]), same, words


def estimated(rng: np.random.Generator, n: int, *, of: str, drawn: Drawn) -> tuple[float, float, float]:
    """The interval of a mean, or of the contrast, from n rated pairs, and the truth.

    Fewer than 6 rated pairs of one sense (one draw in thousands) have no estimate, and are drawn again.
    """
    while True:
        try:
            return _estimated(rng, n, of=of, drawn=drawn)
        except StatisticError:
            continue


def _estimated(rng: np.random.Generator, n: int, *, of: str, drawn: Drawn) -> tuple[float, float, float]:
    norm, model, same, words = published()
    labels = np.where(same > 0, "same sense", "two senses")
    if drawn == "apart":
        chosen = rng.integers(0, int(words.max()) + 1, int(words.max()) + 1)
        rows = np.concatenate([np.flatnonzero(words == word) for word in chosen])
        # a word that was drawn twice counts as two
        names = np.repeat(np.arange(len(chosen)), [int((words == word).sum()) for word in chosen]).astype(str)
        is_rated = np.zeros(len(rows), dtype=bool)
        is_rated[rng.choice(len(rows), n, replace=False)] = True
    elif drawn == "without_replacement":
        rows, names = np.arange(len(norm)), words.astype(str)
        is_rated = np.isin(rows, rng.choice(len(norm), n, replace=False))
    else:
        return _with_replacement(rng, n, of)
    own = np.where(is_rated, norm[rows], np.nan)
    if of == "mean":
        rated, listed = is_rated, ~is_rated if drawn == "apart" else np.ones(len(rows), dtype=bool)
        groups, others = (names[rated], names[listed]) if drawn == "apart" else (None, None)
        made = powered_mean(
            own[rated], model[rows][rated], model[rows][listed], drawn=drawn, groups=groups, groups_of_all=others
        )
        return _ends(made.powered.interval, float(norm.mean()))
    means = means_by_condition(own, model[rows], labels[rows].tolist(), drawn=drawn, groups=names.tolist())
    return _of(means, of)


def _with_replacement(rng: np.random.Generator, n: int, of: str) -> tuple[float, float, float]:
    norm, model, same, _ = published()
    rows = rng.integers(0, len(norm), n)
    if of == "mean":
        made = powered_mean(norm[rows], model[rows], model, drawn="with_replacement")
        return _ends(made.powered.interval, float(norm.mean()))
    means = {
        label: powered_mean(
            norm[rows[same[rows] == code]], model[rows[same[rows] == code]], model[same == code],
            drawn="with_replacement",
        )
        for label, code in (("same sense", 1.0), ("two senses", 0.0))
    }  # fmt: skip
    return _of(means, of)


def _of(means: Mapping[str, PoweredEstimate], of: str) -> tuple[float, float, float]:
    norm, _, same, _ = published()
    truth = {"same sense": float(norm[same == 1].mean()), "two senses": float(norm[same == 0].mean())}
    if of == "contrast":
        joint, _ = powered_contrast(means["same sense"], means["two senses"])
        return _ends(joint.interval, truth["same sense"] - truth["two senses"])
    return _ends(means[of].powered.interval, truth[of])


def _ends(interval: Interval, truth: float) -> tuple[float, float, float]:
    return interval.low, interval.high, truth


# -- made ratings ---------------------------------------------------------------------------------------------------


def centaur_norm(rng: np.random.Generator, n: int, *, raters: int) -> tuple[float, float, float]:
    """One item's centaur norm ± 1.96 errors: true norms are .6 off the line of the model, ratings 1 off the norm."""
    model = rng.normal(size=n)
    true = 3 + 0.8 * model + rng.normal(0, 0.6, n)
    values = true + rng.normal(size=(raters, n))
    made = centaur_norms(_as_ratings(values), model)
    norm, error = float(made.norms[0]), float(made.errors[0])
    return norm - 1.96 * error, norm + 1.96 * error, float(true[0])


_ITEMS, _OWN_ERROR = 60, 0.8


@cache
def _list_of_items() -> tuple[FloatArray, FloatArray]:
    """True norms of a list of items, and a model's answers, which are off by as much as a rating."""
    rng = np.random.default_rng(7)
    true = rng.normal(3, 1, _ITEMS)
    return true, true + rng.normal(0, _OWN_ERROR, _ITEMS)


def _people(rng: np.random.Generator, n: int) -> FloatArray:
    """Ratings of the list by n raters, some more careful than others. *Shape:* (raters, items)."""
    own = rng.uniform(0.4, 1.2, (n, 1))
    return np.asarray(_list_of_items()[0] + own * rng.normal(size=(n, _ITEMS)))


def _advantages(values: FloatArray) -> tuple[Estimate, ...]:
    return alternative_annotator_test(_as_ratings(values), _list_of_items()[1]).results()


@cache
def _true_advantage(n: int, of: str) -> float:
    """The mean over 3,000 draws of n raters of the same items."""
    rng = np.random.default_rng(11)
    draws = [_advantages(_people(rng, n)) for _ in range(3000)]
    return float(np.mean([next(own.value for own in draw if own.name.startswith(of)) for draw in draws]))


def advantage(rng: np.random.Generator, n: int, *, of: str) -> tuple[float, float, float]:
    """The share of items on which the model, or the annotator, is as close to the others; raters are drawn."""
    made = next(own for own in _advantages(_people(rng, n)) if own.name.startswith(of))
    return _ends(made.interval, _true_advantage(n, of))


_RATERS = 12


def _distributions(rng: np.random.Generator, n: int, splits: int) -> dict[str, float | tuple[float, float]]:
    """What is said of a model that knows each item's shares, mixed with those of no item."""
    shares = rng.dirichlet([0.6] * 5, n)
    counts = np.array([rng.multinomial(_RATERS, own) for own in shares])
    values = np.array([np.repeat(np.arange(5), own) for own in counts]).T
    # a rater's answers to different items are unrelated
    values = rng.permuted(values, axis=0)
    model = 0.7 * shares + 0.3 / 5
    made = compare_distributions(_as_ratings(values), model, range(5), splits=splits)
    return {
        own.name.partition("(")[0]: (own.interval.low, own.interval.high) if splits > 1 else own.value
        for own in made
        if not own.subject and isinstance(own, Estimate)
    }


@cache
def _true_distributions() -> dict[str, float]:
    rng = np.random.default_rng(13)
    draws = [_distributions(rng, 3000, 1) for _ in range(4)]
    return {name: float(np.mean([draw[name] for draw in draws])) for name in draws[0]}


def distribution(rng: np.random.Generator, n: int, *, of: str) -> tuple[float, float, float]:
    """How a model's shares go with the ratings of half of 12 raters; items are drawn."""
    low, high = _distributions(rng, n, 2)[of]
    return low, high, _true_distributions()[of]


_POINTS, _SEVERITY = np.array([-1.5, -0.5, 0.5, 1.5]), 1.0


def severity(rng: np.random.Generator, n: int) -> tuple[float, float, float]:
    """A model that is 1 logit more severe than the mean rater; n raters (SD .6) and 40 items (SD 1.5) are drawn."""
    effects = rng.normal(0, 1.5, 40)
    raters = np.append(rng.normal(0, 0.6, n), _SEVERITY)
    values = np.searchsorted(_POINTS, effects - raters[:, None] + rng.logistic(size=(n + 1, 40))).astype(float)
    people = _as_ratings(values[:-1])
    made = severities(people, {"model": (people.item_ids, values[-1])})
    own = next(result for result in made if result.name == SEVERITY and isinstance(result, Estimate))
    return _ends(own.interval, _SEVERITY)


def _as_ratings(values: FloatArray) -> Ratings:
    n_raters, n_items = values.shape
    items = [f"i{i:04}" for i in range(n_items)]
    raters = np.repeat([f"r{r:02}" for r in range(n_raters)], n_items).tolist()
    return Ratings.from_arrays(raters, items * n_raters, values.ravel())


_WAYS: dict[Drawn, str] = {
    "with_replacement": "list, n pairs with replacement",
    "without_replacement": "list, n pairs without replacement",
    "apart": "population, words drawn, n pairs rated",
}

_WIDE = "known to be wide: errors of a word in both conditions are taken as independent"

CASES: list[Case] = [
    {
        "statistic": f"people and GPT-4: {'mean of ' if of in ('same sense', 'two senses') else ''}{of}",
        "design": f"RAW-C; {way}",
        "n": [50, 100, 200],
        "function": partial(estimated, of=of, drawn=drawn),
        "why": _WIDE if (of, drawn) == ("contrast", "apart") else "",
    }
    for drawn, way in _WAYS.items()
    for of in ("mean", "same sense", "two senses", "contrast")
]
CASES += [
    {
        "statistic": "centaur norm",
        "design": f"of one item, {raters} ratings per item",
        "n": [60, 200],
        "function": partial(centaur_norm, raters=raters),
        "why": "",
    }
    for raters in (2, 6)
]
CASES += [
    {
        "statistic": f"{of.replace('_', ' ')} (annotator test)",
        "design": "raters drawn, 60 items",
        "n": [8, 20],
        "function": partial(advantage, of=of),
        "why": "known to be wide: who is closer changes in steps, which the jackknife overstates",
    }
    for of in ("advantage_probability", "annotator_advantage")
]
CASES += [
    {
        "statistic": f"{of.replace('_', ' ').replace('earth movers', 'earth mover’s')} of a model and people",
        "design": "items drawn, 12 raters",
        "n": [60],
        "function": partial(distribution, of=of),
        "why": "",
    }
    for of in ("earth_movers_distance", "entropy_correlation", "disagreement_correlation")
]
CASES.append(
    {
        "statistic": "severity of a model on people’s ordinal scale",
        "design": "n raters and 40 items drawn",
        "n": [10, 30],
        "function": severity,
        "why": "",
    }
)
