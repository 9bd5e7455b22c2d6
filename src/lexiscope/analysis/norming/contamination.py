"""Whether a model has read an item file in training: it prefers the published order, or continues it word for word.

Both tests rest on one thought: if a model has not read the file, the published order of its rows is one of many that
are equally probable to it. The first test is that of Oren et al. (2023, "Proving test set contamination in black-box
language models"): the log-probability of pieces of the file (*shards*) in the published order, compared with that of
the same rows in other orders. The second counts how often a model that has seen some rows continues with the next one,
compared with how often it continues with the row at another place. A significant result shows that the file was read;
one that is not does not show that it was not.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lexiscope.analysis.accuracy import wilson_interval
from lexiscope.analysis.bootstrap import BoolArray, FloatArray
from lexiscope.analysis.correlation import average_ranks
from lexiscope.analysis.significance import mcnemar
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import AtMost, Contrast, Estimate, Interval, statistic_name

FEWEST_SHARDS, FEWEST_CONTINUATIONS = 3, 8
ORDER, CONTINUATIONS, CONTINUED = "order_advantage", "verbatim_continuations", "verbatim_continuation_difference"


def order_advantage(
    log_probabilities: ArrayLike, *, draws: int = 9_999, seed: int = 0, level: float = 0.95
) -> Estimate:
    """Return by how much a model finds the published order of a shard more probable than other orders of its rows.

    *Shape:* log_probabilities (shards, 1 + orders): of the published order first. *Unit:* nats per shard.
    *Higher means:* the published order is preferred. The interval is Student's over shards. p is one-sided: in each
    shard an order is drawn at random in place of the published one, and p is the share of draws with a sum as high.
    It is exact for any distribution of log-probabilities, if the order of rows is exchangeable.
    *Source:* Oren et al. 2023, whose p is that of the t test.

    Errors: :class:`StatisticError` with fewer than 3 shards, no other order, or a log-probability that is not finite.

    >>> advantage = order_advantage([[-10.0, -12, -14], [-20, -21, -23], [-8, -9, -13]], draws=999)
    >>> round(advantage.value, 9), bool(0.02 < advantage.p < 0.06)  # (3 + 2 + 3) / 3; the first of 3 ** 3 ways
    (2.666666667, True)
    """
    table = np.asarray(log_probabilities, dtype=np.float64)
    if table.ndim != 2 or len(table) < FEWEST_SHARDS or table.shape[1] < 2:
        raise StatisticError(f"the order test needs {FEWEST_SHARDS} shards, each in two orders: {table.shape}")
    if not np.isfinite(table).all():
        raise StatisticError("the order test is undefined: a log-probability is not finite")
    gains = table[:, 0] - table[:, 1:].mean(axis=1)
    n, n_orders = table.shape
    centred = table - table.mean(axis=1, keepdims=True)
    rng = np.random.default_rng(seed)
    sums = np.zeros(draws)
    for shard in centred:
        sums += shard[rng.integers(0, n_orders, draws)]
    observed = float(centred[:, 0].sum())
    # orders of equal probability must count as such, in whichever way their sum is rounded
    as_high = int((sums >= observed - 1e-9 * np.abs(centred).sum()).sum())
    p = (1 + as_high) / (1 + draws)
    from scipy.special import stdtrit

    half = float(stdtrit(n - 1, (1 + level) / 2) * gains.std(ddof=1) / np.sqrt(n))
    value = float(gains.mean())
    method = statistic_name("t", over="shards", level=f"{level:g}")
    return Estimate(
        statistic_name(ORDER, orders=n_orders - 1), value, Interval(value - half, value + half, level, method), n,
        p=p if as_high else AtMost(p), unit="nats", higher="the published order is more probable to the model",
    )  # fmt: skip


def verbatim_continuations(next_item: Sequence[bool], other_item: Sequence[bool]) -> tuple[Estimate | Contrast, ...]:
    """Return how often a model continues with the next item word for word, with another item, and the difference.

    *next_item* and *other_item* say of each continuation whether it holds the text of the next item, and that of an
    item at another place of the file. *Shape:* (continuations,) each. *Unit:* share. *Higher means:* the file is known
    by heart. Intervals of shares are Wilson's, that of the difference is Newcombe's (1998, method 10), too wide rather
    than too narrow for paired shares; p is that of McNemar's exact test.

    Errors: :class:`StatisticError` with fewer than 8 continuations, or two lists of different lengths.

    >>> shares = verbatim_continuations([True] * 6 + [False] * 4, [False] * 10)
    >>> [round(result.value, 2) for result in shares], shares[2].p == 2 / 2**6
    ([0.6, 0.0, 0.6], True)
    """
    hits, others = np.asarray(next_item, dtype=np.bool_), np.asarray(other_item, dtype=np.bool_)
    n = len(hits)
    if len(others) != n or n < FEWEST_CONTINUATIONS:
        raise StatisticError(f"verbatim continuation needs {FEWEST_CONTINUATIONS} continuations, not {n}")
    shares = []
    for of, own in (("next_item", hits), ("other_item", others)):
        interval = wilson_interval(int(own.sum()), n, over="continuations")
        shares.append(Estimate(statistic_name(CONTINUATIONS, of=of), float(own.mean()), interval, n, unit="share"))
    first, second = shares
    down = np.hypot(first.value - first.interval.low, second.interval.high - second.value)
    up = np.hypot(first.interval.high - first.value, second.value - second.interval.low)
    gap = first.value - second.value
    ends = Interval(gap - float(down), gap + float(up), 0.95, statistic_name("newcombe", level="0.95"))
    only = int((hits & ~others).sum()), int((others & ~hits).sum())
    p = mcnemar(*only).p if sum(only) else 1.0
    higher = "the next item is continued more often than another one"
    sides = first.about(subject="next item"), second.about(subject="item at another place")
    return first, second, Contrast(CONTINUED, *sides, ends, n, p=p, unit="share", higher=higher)


def follows_order(
    values: Sequence[Sequence[str | float]], shards: Sequence[int], *, draws: int = 1_999, seed: int = 0
) -> list[float]:
    """Return, for each property of the rows, a p for the published order having no structure in it.

    A sorted or a clustered file has neighbours that are alike: the sum of the differences in rank of neighbours within
    shards is compared with those of rows that are shuffled within shards. Such an order is not one of many that are
    equally probable, so that a model may prefer it without having read it. *Shape:* values (properties, rows); shards
    (rows,): the shard of each row, in ascending order. *Range:* 0 to 1. *Lower means:* more structure.

    >>> follows_order([list("abcdefgh"), list("hbdagcfe")], [0] * 8, draws=999)[0] < 0.01
    True
    """
    of = np.asarray(shards)
    within = of[1:] == of[:-1]
    rng = np.random.default_rng(seed)
    orders = [np.arange(len(of)), *(np.lexsort((rng.random(len(of)), of)) for _ in range(draws))]
    ranks = np.array([average_ranks(np.unique(list(own), return_inverse=True)[1].reshape(-1)) for own in values])
    apart = np.array([np.abs(np.diff(ranks[:, order], axis=1))[:, within].sum(axis=1) for order in orders])
    smaller: BoolArray = apart[1:] <= apart[0] + 1e-9
    shares: FloatArray = (1 + smaller.sum(axis=0)) / (1 + draws)
    return [float(share) for share in shares]
