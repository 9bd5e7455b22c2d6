"""Codes of gap answers: how often each category was given, and how far two coders agree.

A coder may be a person or the pre-labeller. *Source:* Ivan et al. 2025, §4.2 and Figure 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lexiscope.analysis.accuracy import Accuracy, accuracy
from lexiscope.analysis.agreement.coders import agreement_of_codes
from lexiscope.analysis.bootstrap import cluster_labels
from lexiscope.analysis.ratings import ResponseColumns
from lexiscope.core.errors import InputError, Place, StatisticError
from lexiscope.core.result import Estimate, Undefined, statistic_name

CATEGORY = "category"


def category_shares(
    table: ResponseColumns,
    measure: str,
    categories: Sequence[str],
    *,
    subject: str,
    clusters: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Estimate, ...]:
    """Return the share of each category among the coded answers of a subject; they add up to 100. *Unit:* percent.

    *measure* is that of :func:`lexiscope.build.gap_filling.coding_sheet.code_completions`. Intervals resample
    *clusters* (item id → sentence), or items, whose ten answers are not independent.
    Errors: :class:`InputError` E504 (no such row), a code that is no category, E506 (an item without a cluster);
    :class:`StatisticError` where no answer is coded.

    >>> from lexiscope.core.response import Response, ResponseTable
    >>> rows = [Response("m", "causal_lm", item, "gap_filling", "category(coder=ana)", option=code)
    ...         for item, code in (("i", "correct"), ("j", "unrelated"), ("k", "unrelated"))]
    >>> asked = ("correct", "unrelated")
    >>> shares = category_shares(ResponseTable.from_rows(rows), "category(coder=ana)", asked, subject="m", resamples=0)
    >>> [(share.name, round(share.value, 1)) for share in shares]
    [('gap_category(category=correct)', 33.3), ('gap_category(category=unrelated)', 66.7)]
    """
    rows = table.where(measure=measure, subject_id=subject)
    if not len(rows):
        raise InputError(f"{subject} has no row of {measure!r}", code="E504", hint="code its completions first")
    items, codes = rows.column("item_id").tolist(), rows.column("option").tolist()
    _check(items, codes, categories)
    coded = [(item, code) for item, code in zip(items, codes, strict=True) if code is not None]
    if not coded:
        raise StatisticError(f"no answer of {subject} is coded under {measure}")
    items = [item for item, _ in coded]
    labels = cluster_labels(items, clusters) or items
    results = []
    for category in categories:
        flags = [code == category for _, code in coded]
        share = accuracy(flags, clusters=labels, level=level, resamples=resamples, seed=seed)
        results.append(
            Estimate(
                statistic_name("gap_category", category=category),
                100 * share.value,
                share.clustered.times(100),
                share.n,
                share.n_clusters,
                subject=subject,
                unit="percent",
            )
        )
    return tuple(results)


def coder_agreement(
    table: ResponseColumns,
    first: str,
    second: str,
    categories: Sequence[str],
    *,
    clusters: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Accuracy, Estimate | Undefined]:
    """Return the share of equal codes of two coders (rows ``category``, the answer as their item), and Cohen's kappa.

    *clusters* (answer id → sentence) are resampled whole for the interval of the share; that of kappa resamples
    answers. *Higher means:* they agree more.
    Errors: :class:`InputError` E504 for a coder without codes, E502 for an answer coded twice, a code that is no
    category; :class:`StatisticError` with fewer than two answers that both coded.
    """
    codes = {coder: _codes_of(table, coder, categories) for coder in (first, second)}
    return agreement_of_codes(codes, clusters=clusters, level=level, resamples=resamples, seed=seed)


def _codes_of(table: ResponseColumns, coder: str, categories: Sequence[str]) -> dict[str, str | None]:
    rows = table.where(measure=CATEGORY, subject_id=coder)
    if not len(rows):
        raise InputError(f"{coder} has no codes", code="E504", hint="read the coded sheet first")
    answers, codes = rows.column("item_id").tolist(), rows.column("option").tolist()
    _check(answers, codes, categories)
    if len(set(answers)) < len(answers):
        twice = next(answer for answer in answers if answers.count(answer) > 1)
        raise InputError(f"{coder} coded an answer twice", code="E502", place=Place(item_id=twice), hint="keep one")
    return dict(zip(answers, codes, strict=True))


def _check(items: Sequence[str], codes: Sequence[str | None], categories: Sequence[str]) -> None:
    for item, code in zip(items, codes, strict=True):
        if code is not None and code not in categories:
            hint = f"the categories are {', '.join(categories)}"
            raise InputError(f"{code!r} is no category", place=Place(item_id=item), hint=hint)
