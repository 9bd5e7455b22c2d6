"""Tags of errors and of comments: frequency of each, agreement of two coders on it, and its associations.

Rows are those of :class:`lexiscope.items.sheets.tag_sheet.TagSheet`: 1 or 0 for each case and tag, the coder as subject
and ``of`` the measure of the sheet. Several tags may apply to one case, so shares do not add up to 1.
*Source:* AmbiStory §5.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

from lexiscope.analysis.accuracy import accuracy
from lexiscope.analysis.agreement.choices import agreement_of_codes
from lexiscope.analysis.bootstrap import Bootstrap, GroupLabels, cluster_labels, resampled_units
from lexiscope.analysis.norms.predictions import predictions_of
from lexiscope.core.response import ResponseColumns
from lexiscope.core.result import Estimate, Undefined, statistic_name

ERROR_TAG = "error_tag"


def tag_shares(
    table: ResponseColumns,
    coder: str,
    tags: Sequence[str],
    *,
    of: str = ERROR_TAG,
    groups: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Estimate, ...]:
    """Return the share of a coder's errors that has each tag; *groups* (case id → word) are resampled whole.

    *Unit:* percent.

    Errors: :class:`InputError` E504 where the coder has no row of a tag, E506 for a case without a cluster;
    :class:`StatisticError` with fewer than two cases or clusters.

    >>> from lexiscope.core.response import Response, ResponseTable
    >>> rows = [Response("ana", "participant", case, "plausibility", "error_tag(tag=open_ended)", value)
    ...         for case, value in (("a", 1.0), ("b", 0.0))]
    >>> tag_shares(ResponseTable.from_rows(rows), "ana", ["open_ended"], resamples=0)[0].value
    50.0
    """
    shares = []
    for tag in tags:
        marks = _marks(table, coder, of, tag)
        labels = cluster_labels(list(marks), groups)
        share = accuracy(list(marks.values()), clusters=labels, level=level, resamples=resamples, seed=seed)
        shares.append(share.percent(statistic_name(f"{of}_share", tag=tag)))
    return tuple(shares)


def tag_agreement(
    table: ResponseColumns,
    first: str,
    second: str,
    tags: Sequence[str],
    *,
    of: str = ERROR_TAG,
    groups: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Estimate | Undefined, ...]:
    """Compare two coders tag by tag: the percentage of errors on which both say the same, and Cohen's kappa.

    They give the tag to an error or not. *Higher means:* they agree more. Kappa's interval resamples errors.

    Errors: as :func:`tag_shares`; :class:`StatisticError` with fewer than two errors that both coded.
    """
    results: list[Estimate | Undefined] = []
    for tag in tags:
        codes = {
            coder: {case: "yes" if given else "no" for case, given in _marks(table, coder, of, tag).items()}
            for coder in (first, second)
        }
        same, kappa = agreement_of_codes(codes, clusters=groups, level=level, resamples=resamples, seed=seed)
        results.append(same.percent(statistic_name(f"{of}_same", tag=tag)))
        results.append(replace(kappa, name=statistic_name(f"{of}_kappa", tag=tag)))
    return tuple(results)


def tag_agreements(
    table: ResponseColumns,
    tags: Sequence[str],
    *,
    of: str = ERROR_TAG,
    groups: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> dict[tuple[str, str], tuple[Estimate | Undefined, ...]]:
    """Compare every two coders, in the order of the table (:func:`tag_agreement`). Errors: as there."""
    compare = partial(tag_agreement, of=of, groups=groups, level=level, resamples=resamples, seed=seed)
    return {pair: compare(table, *pair, tags) for pair in combinations(coders_of(table), 2)}


def coders_of(table: ResponseColumns) -> tuple[str, ...]:
    """Return the coders, in the order of the table."""
    return tuple(dict.fromkeys(map(str, table.column("subject_id").tolist())))


def means_by_tag(
    table: ResponseColumns,
    tags: Sequence[str],
    values: Mapping[str, Mapping[str, float]],
    groups: Mapping[str, str],
    *,
    of: str = ERROR_TAG,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Estimate, ...]:
    """Return the means of the cases that have a tag, coder by coder (the condition); a tag of no case has none.

    *values* are what is averaged: the name of a quantity → case id → its value. The mean ``answer`` of the cases with
    the tag ``t`` is the statistic ``error_tag_answer(tag=t)``. *groups* (case id → word) are resampled whole.
    Errors: :class:`InputError` E504 where a coder has no row of a tag.

    >>> from lexiscope.core.response import Response, ResponseTable
    >>> rows = [Response("ana", "participant", case, "plausibility", "error_tag(tag=odd)", value)
    ...         for case, value in (("a", 1.0), ("b", 0.0), ("c", 1.0))]
    >>> answers, words = {"answer": {"a": 2.0, "b": 5.0, "c": 3.0}}, dict.fromkeys("abc", "bank")
    >>> found, = means_by_tag(ResponseTable.from_rows(rows), ["odd"], answers, words, resamples=0)
    >>> found.name, found.value, found.condition
    ('error_tag_answer(tag=odd)', 2.5, 'ana')
    """
    means = []
    for coder in coders_of(table):
        for tag in tags:
            own = [case for case, given in _marks(table, coder, of, tag).items() if given]
            labels = GroupLabels((groups[case] for case in own), resampled_units(groups))
            bootstrap = Bootstrap(labels, resamples, seed, level)
            for what, value_of in values.items() if own else ():
                name = statistic_name(f"{of}_{what}", tag=tag)
                means.append(bootstrap.mean(name, [value_of[case] for case in own]).about(condition=coder))
    return tuple(means)


def tag_results(
    table: ResponseColumns,
    coders: Sequence[str],
    cases: Mapping[str, str],
    tags: Sequence[str],
    *,
    of: str = ERROR_TAG,
    groups: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[Estimate, ...]:
    """Return the share of each tag by coder (the condition): of all errors, then of each subject's. *Unit:* percent.

    *cases*: case id → the subject that made the error. Errors: as :func:`tag_shares`.

    >>> from lexiscope.core.response import Response, ResponseTable
    >>> rows = [Response("ana", "participant", case, "plausibility", "error_tag(tag=open_ended)", value)
    ...         for case, value in (("a", 1.0), ("b", 0.0), ("c", 1.0))]
    >>> whose = {"a": "m", "b": "m", "c": "n"}
    >>> shares = tag_results(ResponseTable.from_rows(rows), ["ana"], whose, ["open_ended"], resamples=0)
    >>> [(share.subject, share.condition, round(share.value), share.n) for share in shares]
    [('', 'ana', 67, 3), ('m', 'ana', 50, 2), ('n', 'ana', 100, 1)]
    """
    results: list[Estimate] = []
    for coder in coders:
        for subject in ("", *dict.fromkeys(cases.values())):
            own = table.where(item_id=tuple(case for case, whose in cases.items() if subject in ("", whose)))
            shares = tag_shares(own, coder, tags, of=of, groups=groups, level=level, resamples=resamples, seed=seed)
            results += [share.about(subject=subject, condition=coder) for share in shares]
    return tuple(results)


def _marks(table: ResponseColumns, coder: str, of: str, tag: str) -> dict[str, bool]:
    values = predictions_of(table, coder, measure=statistic_name(of, tag=tag))
    return {case: value == 1 for case, value in values.items() if value is not None}
