"""Accuracy if some answers are random, because a subject cannot decide: of all, of those it decides, and expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lexiscope.analysis.accuracy import accuracy
from lexiscope.analysis.agreement.votes import share
from lexiscope.core.response import ResponseTable
from lexiscope.core.result import Estimate, Undefined, statistic_name

ALL, DECIDED = statistic_name("percent_right", of="all"), statistic_name("percent_right", of="decided")
EXPECTED = "expected_accuracy"
UNDECIDED = "identity decides no pair: every answer is random"
"""The note of an expected accuracy that says nothing of the subject."""


def n_random(reason: str) -> str:
    """Return the name of the number of answers that are random for a reason.

    >>> n_random("one sense")
    'n_random(reason=one_sense)'
    """
    return statistic_name("n_random", reason=reason.replace(" ", "_"))


def accuracy_with_random(
    right: ArrayLike,
    reasons: Sequence[str | None],
    *,
    words: ArrayLike,
    counted: Sequence[str],
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Estimate | Undefined, ...]:
    """Return the accuracy over all answers, over decided ones, and expected, and how many are random for each reason.

    *right* says whether each answer is right, *reasons* why it is random (``None`` or empty: it is not), *counted* are
    the reasons there can be. Expected: every random answer counts as half right, so that no seed changes it. Intervals
    resample *words* whole; of one word the answers one by one, and the expected accuracy has none.
    *Shape:* right, words (answers,). *Unit:* percent. *Higher means:* more is right.

    >>> asked = {"words": ["bank", "bat", "bat"], "counted": ["one sense"], "resamples": 20}
    >>> found = accuracy_with_random([True, False, True], [None, "one sense", None], **asked)
    >>> [round(result.value, 1) for result in found]  # 2 of 3, 2 of 2, 2.5 of 3, one random answer
    [66.7, 100.0, 83.3, 1.0]
    """
    hits, labels = np.asarray(right, np.bool_), np.asarray(words)
    random = np.array([bool(reason) for reason in reasons])
    values = np.where(random, 0.5, hits.astype(np.float64))
    expected = Estimate(EXPECTED, float(values.mean()), n=len(values), note=UNDECIDED if random.all() else "")
    if not random.all() and len(set(labels.tolist())) > 1:
        expected = share(EXPECTED, values, np.ones(len(values)), groups=labels, resamples=resamples, seed=seed)

    def over(name: str, rows: NDArray[np.bool_]) -> Estimate:
        if rows.sum() < 2:
            return Estimate(name, float(hits[rows].mean()), n=int(rows.sum())).times(100, "percent")
        clusters = labels[rows] if len(set(labels[rows].tolist())) > 1 else None
        share = accuracy(hits[rows], clusters=clusters, resamples=resamples, seed=seed)
        return Estimate(name, share.value, share.clustered, share.n).times(100, "percent")

    return (
        over(ALL, np.ones(len(hits), np.bool_)),
        Undefined(DECIDED, "identity decides no pair") if random.all() else over(DECIDED, ~random),
        expected.times(100, "percent"),
        *(Estimate(n_random(reason), float(list(reasons).count(reason)), n=len(hits)) for reason in counted),
    )


def choices_with_random(
    answers: ResponseTable,
    right: Mapping[str, str],
    *,
    flag: str,
    words: ArrayLike,
    counted: Sequence[str],
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Estimate | Undefined, ...]:
    """Return :func:`accuracy_with_random` of one subject's choices.

    *answers* have a row ``choice`` for each item, and one of the measure *flag*, whose ``raw`` is the reason where the
    choice is random. *right* is the right option by item; *words* are in its order.
    """
    option, reason = answers.where(measure="choice").by_item("option"), answers.where(measure=flag).by_item("raw")
    return accuracy_with_random(
        [option[item_id] == gold for item_id, gold in right.items()],
        [reason[item_id] for item_id in right],
        words=words,
        counted=counted,
        resamples=resamples,
        seed=seed,
    )
