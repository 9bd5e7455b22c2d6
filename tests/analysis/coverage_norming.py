"""Coverage of prediction-powered intervals: RAW-C with GPT-4, whose norms are all known, by condition and target.

A list: n of its pairs are drawn, with or without replacement; the truth is the mean of its norms. A population: its
words are drawn, and n of the pairs of the drawn words are rated; the truth is the mean over all words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import TypedDict

import numpy as np

from lexiscope.analysis.norming.prediction_powered import (
    Drawn,
    PoweredEstimate,
    means_by_condition,
    powered_contrast,
    powered_mean,
)
from lexiscope.analysis.ratings import Ratings
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Interval
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
