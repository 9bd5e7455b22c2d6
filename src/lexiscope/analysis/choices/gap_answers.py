"""Accuracy of gap filling with one or several predictions, and the categories that two coders gave to the answers.

The table is one of ``answer_found`` rows (:func:`lexiscope.build.gap_filling.matching.mark_completions`): a row per
completion, 1 where an accepted answer was found in it. The criteria are nested, what is curated is in the synset too,
so that the paired t of 200 items with ``k`` more right is −√(199 k / (200 − k)).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from lexiscope.analysis.accuracy import Accuracy, PairedDecisions, accuracy, contrast
from lexiscope.analysis.agreement.choices import agreement_of_codes
from lexiscope.analysis.bootstrap import FloatArray, GroupLabels, IntArray, cluster_labels
from lexiscope.analysis.ratings import ResponseColumns
from lexiscope.core.errors import InputError, Place, StatisticError
from lexiscope.core.result import Estimate, Undefined, parse_statistic, statistic_name


@dataclass(frozen=True, slots=True, eq=False)
class GapHits:
    """Of each item whether any of its predictions is right, and how many are. *Shape:* hit, n_right (items,).

    ``n_predictions`` is how many each item has, ``n_missing`` how many items were left out because a prediction was not
    given.
    """

    subject: str
    measure: str
    item_ids: tuple[str, ...]
    hit: FloatArray
    n_right: IntArray
    n_predictions: int
    n_missing: int

    @property
    def share_of_predictions(self) -> float:
        """The share of single predictions that are right, of the items that have all of theirs."""
        return float(self.n_right.sum()) / (len(self.item_ids) * self.n_predictions)

    @property
    def criterion(self) -> str:
        """Which answers are accepted: ``curated`` or ``synset``."""
        return parse_statistic(self.measure)[1]["answers"]

    @property
    def decoding(self) -> str:
        """How tokens were chosen, in words."""
        return decoding_in_words(self.measure)


def decoding_in_words(measure: str) -> str:
    """Return how the tokens of completions were chosen, in words.

    >>> decoding_in_words("answer_found(answers=curated,method=greedy,max_tokens=10)")
    'greedy, 10 tokens'
    """
    given = parse_statistic(measure)[1]
    drawn = f", top-k {given['top_k']}, temperature {given['temperature']}" if "top_k" in given else ""
    return f"{given.get('method', 'written')}, {given.get('max_tokens', '?')} tokens{drawn}"


def gap_hits(table: ResponseColumns, measure: str, *, subject: str) -> GapHits:
    """Return which items a subject has right under one measure; any of its predictions of an item suffices.

    Errors: :class:`InputError` where the subject has no such row, items have different numbers of predictions (any of
    nine is easier to miss than any of ten), or a prediction comes twice (two views: choose one).
    """
    rows = table.where(measure=measure, subject_id=subject)
    if not len(rows):
        raise InputError(f"{subject} has no row of {measure!r}", code="E504", hint="mark its completions first")
    codes, item_ids = rows.codes("item_id")
    values, repeats = rows.column("value").astype(np.float64), np.nan_to_num(rows.column("repeat").astype(np.float64))
    counts = np.bincount(codes, minlength=len(item_ids))
    if counts.min() != counts.max():
        short = item_ids[int(counts.argmin())]
        what = f"items have from {counts.min()} to {counts.max()} predictions of {subject}; they need equally many"
        raise InputError(what, place=Place(item_id=short), hint="finish the collection, or choose one view")
    if len(np.unique(np.stack([codes.astype(np.float64), repeats]), axis=1).T) < len(codes):
        raise InputError(f"a prediction of {subject} comes twice", hint="choose one view: table.where(view=...)")
    missing = np.bincount(codes, weights=np.isnan(values), minlength=len(item_ids)) > 0
    right = np.bincount(codes, weights=np.nan_to_num(values), minlength=len(item_ids)).astype(np.int64)
    kept = tuple(item_id for item_id, without in zip(item_ids, missing.tolist(), strict=True) if not without)
    n_right = right[~missing]
    hit = (n_right > 0).astype(np.float64)
    return GapHits(subject, measure, kept, hit, n_right, int(counts.max()), int(missing.sum()))


def every_gap_hits(table: ResponseColumns) -> list[GapHits]:
    """Return :func:`gap_hits` of each subject and measure of a table, in order of first appearance."""
    return [
        gap_hits(table, measure, subject=subject)
        for subject in table.codes("subject_id")[1]
        for measure in table.where(subject_id=subject).codes("measure")[1]
    ]


def gap_accuracy(
    hits: GapHits,
    *,
    clusters: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Estimate:
    """Return the percentage of items with a right prediction, the best of all of an item.

    The note gives the share of single predictions that are right, where an item has several. Items without all
    predictions are excluded. The interval resamples *clusters* (item id → sentence). *Unit:* percent.

    *Higher means:* more items with an accepted answer. *Source:* Ivan et al. 2025, §3.6. Chance is not known.
    Errors: :class:`StatisticError` where no item has all its predictions; :class:`InputError` E506 for an item without
    a cluster.

    >>> hit, n_right = np.array([1.0, 0.0]), np.array([3, 0])
    >>> hits = GapHits("m", "answer_found(answers=curated)", ("a", "b"), hit, n_right, 10, 0)
    >>> share = gap_accuracy(hits, resamples=0)
    >>> share.name, share.value, share.note  # 1 of 2 items, 3 of 20 predictions
    ('gap_accuracy(answers=curated,n=10)', 50.0, '15.0 % of single predictions')
    """
    if not hits.item_ids:
        raise StatisticError(f"no item has all {hits.n_predictions} predictions of {hits.subject}")
    share = accuracy(
        hits.hit, clusters=cluster_labels(hits.item_ids, clusters), level=level, resamples=resamples, seed=seed
    )
    n = hits.n_predictions
    note = f"{100 * hits.share_of_predictions:.1f} % of single predictions" if n > 1 else ""
    percent = share.percent(statistic_name("gap_accuracy", answers=hits.criterion, n=n))
    return percent.about(subject=hits.subject, condition=hits.decoding, note=note)


def gap_contrast(
    first: GapHits,
    second: GapHits,
    *,
    clusters: Mapping[str, str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> PairedDecisions:
    """Compare two sets of hits on the same items: two criteria of one subject, one prediction and ten, two subjects.

    Paired t-test as in the study, exact McNemar test beside it, interval by *clusters*.
    Errors: :class:`InputError` where the items differ (an item that one of them lacks has to be left out of both);
    E506 for an item without a cluster.

    >>> ids = ("a", "b", "c")
    >>> curated = GapHits("m", "c", ids, np.array([1.0, 0.0, 0.0]), np.array([1, 0, 0]), 1, 0)
    >>> synset = GapHits("m", "s", ids, np.array([1.0, 1.0, 0.0]), np.array([1, 1, 0]), 1, 0)
    >>> pair = gap_contrast(curated, synset, resamples=0)
    >>> pair.only_first, pair.only_second, round(pair.t.statistic, 9)  # -sqrt(2 * 1 / (3 - 1))
    (0, 1, -1.0)
    """
    if set(first.item_ids) != set(second.item_ids):
        alone = sorted(set(first.item_ids) ^ set(second.item_ids))
        what = f"{first.measure} and {second.measure} are of different items ({len(alone)} in one of them only)"
        raise InputError(what, place=Place(item_id=alone[0]), hint="leave these items out of both")
    place = {item_id: row for row, item_id in enumerate(second.item_ids)}
    other = second.hit[[place[item_id] for item_id in first.item_ids]]
    labels = cluster_labels(first.item_ids, clusters)
    return contrast(first.hit, other, clusters=labels, level=level, resamples=resamples, seed=seed)


def gap_contrasts(
    hits: Sequence[GapHits], *, clusters: Mapping[str, str] | None = None, resamples: int = 2000, seed: int = 0
) -> list[Estimate | Undefined]:
    """Return the contrasts of a subject's two criteria, and of each two subjects under one criterion.

    Errors: those of :func:`gap_contrast`.

    >>> same = (("a", "b", "c"), np.array([1.0, 0.0, 0.0]), np.array([1, 0, 0]), 1, 0)
    >>> hits = [GapHits(who, f"found(answers={which})", *same) for who in "mk" for which in ("curated", "synset")]
    >>> results = gap_contrasts(hits, resamples=0)
    >>> [(result.subject, result.condition) for result in results if result.name == "percent_right_difference"][:2]
    [('m', 'gap filling, n=1, curated vs synset'), ('m vs k', 'gap filling, n=1, curated')]
    """
    made: list[Estimate | Undefined] = []
    for first, second in combinations(hits, 2):
        subject, condition = first.subject, f"gap filling, n={first.n_predictions}, {first.criterion}"
        if first.decoding != second.decoding:
            continue
        if first.subject == second.subject:
            condition += f" vs {second.criterion}"
        elif first.criterion == second.criterion:
            subject += f" vs {second.subject}"
        else:
            continue
        test = gap_contrast(first, second, clusters=clusters, resamples=resamples, seed=seed)
        made += [result.about(subject=subject, condition=condition) for result in test.results()]
    return made


# -- codes of gap answers: how often each category was given, and how far two coders agree --------------------------
# A coder may be a person or the pre-labeller. *Source:* Ivan et al. 2025, §4.2 and Figure 3.


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
    labels = cluster_labels(items, clusters) or GroupLabels(items, "items")
    results = []
    for category in categories:
        flags = [code == category for _, code in coded]
        share = accuracy(flags, clusters=labels, level=level, resamples=resamples, seed=seed)
        results.append(share.percent(statistic_name("gap_category", category=category)).about(subject=subject))
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
