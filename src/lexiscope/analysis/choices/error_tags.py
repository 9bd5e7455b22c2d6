"""Tags of errors: how often each was given, and how far two coders agree on it. *Source:* AmbiStory §5.2.

Rows are those of :func:`lexiscope.build.stories.error_tags.read_tags`: 1 or 0 for each error and tag, the coder as
subject. Several tags may apply to one error, so shares do not add up to 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lexiscope.analysis.accuracy import Accuracy, accuracy
from lexiscope.analysis.agreement.coders import CoderAgreement, agreement_of_codes
from lexiscope.analysis.bootstrap import cluster_labels
from lexiscope.analysis.norms.predictions import predictions_of
from lexiscope.analysis.ratings import ResponseColumns
from lexiscope.core.result import Estimate, Undefined, statistic_name

_GIVEN = ("yes", "no")


@dataclass(frozen=True, slots=True)
class TagShare:
    """How many errors have a tag; ``share`` holds its intervals, by cluster and with errors as independent."""

    tag: str
    n_tagged: int
    share: Accuracy

    def result(self) -> Estimate:
        """Return the share with its interval by cluster. *Unit:* percent."""
        name = statistic_name("error_tag_share", tag=self.tag)
        return Estimate(name, 100 * self.share.value, self.share.clustered.times(100), self.share.n, unit="percent")


@dataclass(frozen=True, slots=True)
class TagAgreement:
    """Two coders on one tag, over the errors that both coded: they gave it (``yes``) or not (``no``)."""

    tag: str
    codes: CoderAgreement

    def results(self) -> tuple[Estimate | Undefined, ...]:
        """Return the percentage of errors on which both say the same, and kappa."""
        same, kappa = self.codes.percent, self.codes.kappa
        n, name = same.n, statistic_name("error_tag_kappa", tag=self.tag)
        percent = statistic_name("error_tag_same", tag=self.tag)
        return (
            Estimate(percent, 100 * same.value, same.clustered.times(100), n, unit="percent"),
            Undefined(name, kappa.reason, n)
            if isinstance(kappa, Undefined)
            else Estimate(name, kappa.value, kappa.interval, n),
        )


def tag_shares(
    table: ResponseColumns,
    coder: str,
    tags: Sequence[str],
    *,
    groups: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[TagShare, ...]:
    """Return the share of a coder's errors that has each tag; *groups* (case id → word) are resampled whole.

    Errors: :class:`InputError` E504 where the coder has no row of a tag, E506 for a case without a cluster;
    :class:`StatisticError` with fewer than two cases or clusters.

    >>> from lexiscope.core.response import Response, ResponseTable
    >>> rows = [Response("ana", "participant", case, "plausibility", "error_tag(tag=open_ended)", value)
    ...         for case, value in (("a", 1.0), ("b", 0.0))]
    >>> tag_shares(ResponseTable.from_rows(rows), "ana", ["open_ended"], resamples=0)[0].share.value
    0.5
    """
    found = []
    for tag in tags:
        marks = _marks(table, coder, tag)
        labels = cluster_labels(list(marks), groups)
        share = accuracy(list(marks.values()), clusters=labels, level=level, resamples=resamples, seed=seed)
        found.append(TagShare(tag, share.n_correct, share))
    return tuple(found)


def tag_agreement(
    table: ResponseColumns,
    first: str,
    second: str,
    tags: Sequence[str],
    *,
    groups: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[TagAgreement, ...]:
    """Compare two coders tag by tag. *Higher means:* they agree more. Kappa's interval resamples errors.

    Errors: as :func:`tag_shares`; :class:`StatisticError` with fewer than two errors that both coded.
    """
    found = []
    for tag in tags:
        codes = {
            coder: {case: "yes" if given else "no" for case, given in _marks(table, coder, tag).items()}
            for coder in (first, second)
        }
        same = agreement_of_codes(codes, _GIVEN, clusters=groups, level=level, resamples=resamples, seed=seed)
        found.append(TagAgreement(tag, same))
    return tuple(found)


def tag_results(
    table: ResponseColumns,
    coders: Sequence[str],
    cases: Mapping[str, str],
    tags: Sequence[str],
    *,
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
    >>> found = tag_results(ResponseTable.from_rows(rows), ["ana"], whose, ["open_ended"], resamples=0)
    >>> [(one.subject, one.condition, round(one.value), one.n) for one in found]
    [('', 'ana', 67, 3), ('m', 'ana', 50, 2), ('n', 'ana', 100, 1)]
    """
    found: list[Estimate] = []
    for coder in coders:
        for subject in ("", *dict.fromkeys(cases.values())):
            own = table.where(item_id=tuple(case for case, whose in cases.items() if subject in ("", whose)))
            shares = tag_shares(own, coder, tags, groups=groups, level=level, resamples=resamples, seed=seed)
            found += [one.result().about(subject=subject, condition=coder) for one in shares]
    return tuple(found)


def _marks(table: ResponseColumns, coder: str, tag: str) -> dict[str, bool]:
    values = predictions_of(table, coder, measure=statistic_name("error_tag", tag=tag))
    return {case: value == 1 for case, value in values.items() if value is not None}
