"""How a choice among induced senses is divided over usages of one meaning: mean probabilities by rank, mean entropy."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, statistic_name


def selection_share(rank: int) -> str:
    """Return the name of the mean probability of the sense that is probable in this rank, from 1."""
    return statistic_name("selection_share", rank=rank)


def choice_shares(probabilities: ArrayLike) -> tuple[Estimate, ...]:
    """Return the mean probability of the senses over usages, the most probable first, then the mean entropy of a usage.

    Senses of two models are not the same senses: they are in descending order of probability, each model by its own.
    *Shape:* probabilities (usages, senses). *Unit:* probability; nats. *Higher means:* of the entropy, a choice that is
    left more open. *Source:* GASI Figure 5.
    Errors: :class:`StatisticError` without usages or senses.

    >>> found = choice_shares([[1.0, 0.0], [0.5, 0.5]])
    >>> [(result.name, round(result.value, 3)) for result in found]  # (1 + .5) / 2, (0 + .5) / 2, (0 + ln 2) / 2
    [('selection_share(rank=1)', 0.75), ('selection_share(rank=2)', 0.25), ('sentence_entropy', 0.347)]
    """
    table = np.asarray(probabilities, np.float64)
    if table.ndim != 2 or not table.size:
        raise StatisticError(f"probabilities of senses are a table of usages and senses, not {table.shape}")
    logarithms = np.log(table, out=np.zeros_like(table), where=table > 0)
    entropy = float(-(table * logarithms).sum(axis=1).mean())
    means = np.sort(table.mean(axis=0))[::-1].tolist()
    shares = [Estimate(selection_share(rank), value, n=len(table)) for rank, value in enumerate(means, start=1)]
    return *shares, Estimate("sentence_entropy", entropy, n=len(table), unit="nats")
