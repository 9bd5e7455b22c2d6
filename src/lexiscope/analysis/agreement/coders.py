"""Two raters who gave each item one of some options or categories: how often the same one, and Cohen's kappa."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lexiscope.analysis.accuracy import Accuracy, accuracy
from lexiscope.analysis.agreement.choices import kappa_or_reason
from lexiscope.analysis.bootstrap import cluster_labels
from lexiscope.core.errors import StatisticError
from lexiscope.core.result import Estimate, Undefined


@dataclass(frozen=True, slots=True)
class CoderAgreement:
    """Two raters on the ``n`` items that both answered: the share of equal answers, undefined without such an item.

    The interval ``same.clustered`` resamples clusters of items, ``same.wilson`` takes items as independent.
    """

    first: str
    second: str
    n: int
    same: Accuracy | Undefined
    kappa: Estimate | Undefined


def coder_agreement(
    codes: Mapping[str, Mapping[str, str | None]],
    *,
    clusters: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> CoderAgreement:
    """Compare the answers of two raters: rater → item → option, or ``None`` for an item without an answer.

    *clusters* (item → group) are resampled whole for the interval of the share; that of kappa resamples items.
    *Higher means:* they agree more. Errors: :class:`InputError` E506 for an item without a cluster.

    >>> pair = coder_agreement({"a": {"x": "yes", "y": "no"}, "b": {"x": "yes", "y": "yes"}})
    >>> pair.same.value, pair.n
    (0.5, 2)
    """
    (first, given), (second, other) = codes.items()
    both = {
        item: (code, again)
        for item, code in given.items()
        if code is not None and (again := other.get(item)) is not None
    }
    same: Accuracy | Undefined = Undefined("percent_agreement(over=items)", "no item in common")
    if both:
        same = accuracy(
            [a == b for a, b in both.values()],
            clusters=cluster_labels(list(both), clusters),
            level=level,
            resamples=resamples,
            seed=seed,
        )
    columns = [a for a, _ in both.values()], [b for _, b in both.values()]
    kappa = kappa_or_reason(*columns, level=level, resamples=resamples, seed=seed)
    return CoderAgreement(first, second, len(both), same, kappa)


def agreement_of_codes(
    codes: Mapping[str, Mapping[str, str | None]],
    *,
    clusters: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Accuracy, Estimate | Undefined]:
    """Return the share of equal codes and Cohen's kappa of two coders, as :func:`coder_agreement`.

    Errors: :class:`StatisticError` with fewer than two items that both coded.
    """
    pair = coder_agreement(codes, clusters=clusters, level=level, resamples=resamples, seed=seed)
    if pair.n < 2 or isinstance(pair.same, Undefined):
        raise StatisticError(f"{pair.first} and {pair.second} coded {pair.n} answers in common; two are needed")
    return pair.same, pair.kappa
