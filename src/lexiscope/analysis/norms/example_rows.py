"""Single items with people's ratings and models' predictions: the numbers of a qualitative table.

*Source:* AmbiStory Table 4. Which items are shown is chosen by a stated rule, or by hand: the choice is named, since an
example alone is not evidence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lexiscope.analysis.norms.norms import item_sd
from lexiscope.analysis.norms.predictions import Predictions
from lexiscope.analysis.norms.within_sd import is_within_sd
from lexiscope.analysis.ratings import Ratings, settle
from lexiscope.core.errors import InputError, Place, StatisticError

Rule = Literal["largest_error", "subjects_disagree", "people_disagree"]


@dataclass(frozen=True, slots=True)
class SubjectAnswer:
    """One subject's prediction of an item, missing where unreadable, and whether it is within SD of people's mean."""

    subject: str
    predicted: float | None
    within_sd: bool


@dataclass(frozen=True, slots=True)
class RatedExample:
    """One item: people's mean, SD (n − 1) and single ratings in ascending order, and each subject's answer."""

    item_id: str
    mean: float
    sd: float
    ratings: tuple[float, ...]
    answers: tuple[SubjectAnswer, ...]


def example_rows(
    item_ids: Sequence[str], ratings: Ratings, subjects: Mapping[str, Predictions]
) -> tuple[RatedExample, ...]:
    """Return the rows of a qualitative table, items and subjects in the order given.

    Errors: :class:`InputError` for an item without two ratings.

    >>> people = Ratings.from_arrays(list("abc"), list("iii"), [3, 1, 2])
    >>> row, = example_rows(["i"], people, {"m": {"i": 5}})
    >>> row.mean, row.ratings, row.answers[0].within_sd
    (2.0, (1.0, 2.0, 3.0), False)
    """
    sds, means = item_sd(ratings), ratings.means()
    code = {item: number for number, item in enumerate(ratings.item_ids)}
    rows = []
    for item in item_ids:
        if item not in code or np.isnan(sds[code[item]]):
            raise InputError("an example needs two ratings", place=Place(item_id=item))
        k = code[item]
        own = tuple(sorted(ratings.value[ratings.item == k].tolist()))
        mean, sd = float(means[k]), float(sds[k])
        answers = tuple(_answer(name, given.get(item), mean, sd) for name, given in subjects.items())
        rows.append(RatedExample(item, mean, sd, own, answers))
    return tuple(rows)


def largest_errors(ratings: Ratings, predictions: Predictions, *, count: int) -> tuple[RatedExample, ...]:
    """Return the items of which a prediction is farthest from people's mean, the largest error first; ties go by id.

    A prediction within SD of the mean is not an error; predictions that could not be read and items without ratings are
    passed over. Errors: as :func:`example_rows`.

    >>> people = Ratings.from_arrays(list("abababab"), list("iijjkkll"), [1, 2, 3, 3, 5, 5, 1, 1])
    >>> [row.item_id for row in largest_errors(people, {"i": 4, "j": 3, "k": 1, "l": None}, count=5)]
    ['k', 'i']
    """
    rated = set(ratings.item_ids)
    given = {item: value for item, value in predictions.items() if item in rated and value is not None}
    rows = example_rows(list(given), ratings, {"": given})
    wrong = [row for row in rows if not row.answers[0].within_sd]
    return tuple(sorted(wrong, key=lambda row: (-abs(given[row.item_id] - row.mean), row.item_id))[:count])


def choose_examples(
    ratings: Ratings, subjects: Mapping[str, Predictions], *, rule: Rule, count: int
) -> tuple[str, ...]:
    """Return the ids of the items that a rule puts first; ties go by id.

    ``largest_error``: the mean absolute error of the subjects; ``subjects_disagree``: the range of their predictions;
    ``people_disagree``: the SD of the ratings. Items that a subject did not answer are passed over.
    Errors: :class:`StatisticError` where fewer than *count* items have all predictions and two ratings.
    """
    sds, means = item_sd(ratings), ratings.means()
    scores: dict[str, float] = {}
    for k, item in enumerate(ratings.item_ids):
        given = [values.get(item) for values in subjects.values()]
        values = np.array([value for value in given if value is not None], dtype=np.float64)
        if len(values) == len(given) and not np.isnan(sds[k]) and (len(values) or rule == "people_disagree"):
            scores[item] = _score(rule, values, float(means[k]), float(sds[k]))
    if len(scores) < count:
        raise StatisticError(f"{len(scores)} items have every subject's prediction; {count} examples were asked for")
    # equal scores are ties, whatever their last bit
    settled = dict(zip(scores, settle(np.array(list(scores.values())), ratings.value).tolist(), strict=True))
    return tuple(sorted(settled, key=lambda item: (-settled[item], item))[:count])


def _score(rule: Rule, values: np.ndarray[tuple[int], np.dtype[np.float64]], mean: float, sd: float) -> float:
    if rule == "largest_error":
        return float(np.abs(values - mean).mean())
    return float(np.ptp(values)) if rule == "subjects_disagree" else sd


def _answer(subject: str, predicted: float | None, mean: float, sd: float) -> SubjectAnswer:
    if predicted is None:
        return SubjectAnswer(subject, None, within_sd=False)
    right = is_within_sd(np.array([predicted]), np.array([mean]), np.array([sd]))
    return SubjectAnswer(subject, predicted, bool(right[0]))
