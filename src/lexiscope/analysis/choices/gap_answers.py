"""Accuracy of gap filling with one or several predictions, and the categories that two coders gave to the answers.

The table is one of ``answer_found`` rows (:func:`lexiscope.build.gap_filling.matching.mark_completions`): a row per
completion, 1 where an accepted answer was found in it. The criteria are nested, what is curated is in the synset too,
so that the paired t of 200 items with ``k`` more right is −√(199 k / (200 − k)).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from lexiscope.analysis.accuracy import Accuracy, PairedDecisions, accuracy, contrast
from lexiscope.analysis.agreement.alpha import krippendorff_alpha
from lexiscope.analysis.agreement.choices import agreement_of_codes, choices_from_arrays, share
from lexiscope.analysis.bootstrap import FloatArray, GroupLabels, GroupOf, IntArray, cluster_labels
from lexiscope.core.errors import InputError, Place, StatisticError
from lexiscope.core.response import ResponseColumns
from lexiscope.core.result import Estimate, Undefined, parse_statistic, statistic_name


@dataclass(frozen=True, slots=True, eq=False)
class GapHits:
    """Whether any prediction of each item is right, and how many are. *Shape:* hit, n_right (items,).

    ``n_predictions`` is how many each item has, ``n_missing`` how many items were excluded because a prediction was not
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
    def top_k(self) -> int:
        """Of how many of the most probable tokens each was drawn; 0 where none was drawn, or of all."""
        return int(parse_statistic(self.measure)[1].get("top_k", 0))

    @property
    def decoding(self) -> str:
        """How tokens were chosen, as text."""
        return decoding_in_words(self.measure)


def decoding_in_words(measure: str) -> str:
    """Return how the tokens of completions were chosen, as text.

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

    The note gives the share of single predictions that are right, if an item has several. Items without all
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
    right = accuracy(
        hits.hit, clusters=cluster_labels(hits.item_ids, clusters), level=level, resamples=resamples, seed=seed
    )
    n = hits.n_predictions
    note = f"{100 * hits.share_of_predictions:.1f} % of single predictions" if n > 1 else ""
    percent = right.percent(statistic_name("gap_accuracy", answers=hits.criterion, n=n))
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

    Paired t-test as in the study, and exact McNemar test, interval by *clusters*.
    Errors: :class:`InputError` where the items differ (exclude an item that one of them does not have from both);
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


def top_k_results(
    hits: Sequence[GapHits], *, clusters: Mapping[str, str] | None = None, resamples: int = 2000, seed: int = 0
) -> list[Estimate | Undefined]:
    """Return what sampled answers gain or lose with the number of tokens of which each is drawn (*top_k*).

    For each subject and criterion that has several: the percentage of items with an accepted answer among all
    predictions (``gap_accuracy``), that of single predictions that are right (``gap_hit_rate``), and the contrast of
    each *top_k* with the next larger one. Intervals are over *clusters* (item id → sentence).
    *Higher means:* more accepted answers. *Source:* Ivan et al. 2025, §6, who leave it open.
    Errors: those of :func:`gap_contrast`.

    >>> ids, none = ("a", "b"), np.array([0, 0])
    >>> measure = "found(answers=curated,temperature=1,top_k={})".format
    >>> hits = [GapHits("m", measure(k), ids, np.array([k == 5, 0.0]), none + (k == 5), 2, 0) for k in (5, 1)]
    >>> [(result.name, result.value) for result in top_k_results(hits, resamples=0)][2]
    ('gap_accuracy(answers=curated,n=2,top_k=5)', 50.0)
    """
    made: list[Estimate | Undefined] = []
    series: dict[tuple[str, str], list[GapHits]] = {}
    for own in sorted((hit for hit in hits if hit.top_k), key=lambda hit: hit.top_k):
        series.setdefault((own.subject, own.criterion), []).append(own)
    for (subject, criterion), by_k in series.items():
        for own in by_k if len(by_k) > 1 else ():
            given = {"answers": criterion, "n": own.n_predictions, "top_k": own.top_k}
            right = gap_accuracy(own, clusters=clusters, resamples=resamples, seed=seed)
            labels = cluster_labels(own.item_ids, clusters)
            asked = np.full(len(own.item_ids), float(own.n_predictions))
            name = statistic_name("gap_hit_rate", **given)
            rate = share(name, own.n_right, asked, groups=labels, resamples=resamples, seed=seed).times(100, "percent")
            made += [right.about(name=statistic_name("gap_accuracy", **given), note="")]
            made += [rate.about(subject=subject, condition=own.decoding)]
        for first, second in pairwise(by_k):
            test = gap_contrast(second, first, clusters=clusters, resamples=resamples, seed=seed)
            condition = (
                f"gap filling, n={first.n_predictions}, {criterion}, top-k {second.top_k} vs top-k {first.top_k}"
            )
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
    Errors: :class:`InputError` E504 (no such row), a code that is not a category, E506 (an item without a cluster);
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
        given = accuracy(flags, clusters=labels, level=level, resamples=resamples, seed=seed)
        results.append(given.percent(statistic_name("gap_category", category=category)).about(subject=subject))
    return tuple(results)


def every_category_shares(
    table: ResponseColumns,
    categories: Sequence[str],
    *,
    clusters: Mapping[str, str] | None = None,
    resamples: int = 2000,
    seed: int = 0,
) -> list[Estimate]:
    """Return :func:`category_shares` of each subject and measure of a table, in order of first appearance."""
    return [
        result
        for subject in table.codes("subject_id")[1]
        for measure in table.where(subject_id=subject).codes("measure")[1]
        for result in category_shares(
            table, measure, categories, subject=subject, clusters=clusters, resamples=resamples, seed=seed
        )
    ]


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
    Errors: :class:`InputError` E504 for a coder without codes, E502 for an answer coded twice, a code that is not a
    category; :class:`StatisticError` with fewer than two answers that both coded.
    """
    codes = {coder: _codes_of(table, coder, categories) for coder in (first, second)}
    return agreement_of_codes(codes, clusters=clusters, level=level, resamples=resamples, seed=seed)


def coding_results(
    table: ResponseColumns,
    completions: Mapping[str, ResponseColumns],
    categories: Sequence[str],
    sentences: Mapping[str, str],
    *,
    accepted: Mapping[str, Sequence[str]],
    resamples: int = 2000,
    seed: int = 0,
) -> list[Estimate | Undefined]:
    """Return how right the answers are by the codes of each of several coders, and the agreement of each two coders.

    *table* are their codes, *completions* by coder those of every completion
    (:func:`lexiscope.build.gap_filling.coding_sheet.code_completions`). *accepted* are sets of categories by the name
    under which a completion counts as right (``gap_coded_accuracy``, condition ``coder NAME``). Agreement is over
    answers that both coded: percent the same, Cohen's kappa, Krippendorff's nominal alpha (condition ``ANA and BEN``).
    Intervals are over *sentences* (item id → sentence; an answer's id begins with its item's), that of kappa over
    answers.
    *Higher means:* more is right; they agree more. Errors: those of :func:`coder_agreement`.
    """
    made: list[Estimate | Undefined] = []
    items = GroupOf(sentences, "sentences")
    named = table.where(measure=CATEGORY).codes("item_id")[1]
    answers = GroupOf({answer: sentences[answer.rpartition("#")[0]] for answer in named}, "sentences")
    for coder, own in completions.items():
        for subject in own.codes("subject_id")[1]:
            rows = own.where(subject_id=subject)
            given = zip(rows.column("item_id").tolist(), rows.column("option").tolist(), strict=True)
            coded = [(item, code) for item, code in given if code is not None]
            labels = cluster_labels([item for item, _ in coded], items)
            for name, right in accepted.items() if coded else ():
                flags = [code in right for _, code in coded]
                by_code = accuracy(flags, clusters=labels, resamples=resamples, seed=seed)
                percent = by_code.percent(statistic_name("gap_coded_accuracy", accepted=name))
                made.append(percent.about(subject=subject, condition=f"coder {coder}"))
    for first, second in combinations(completions, 2):
        same, kappa = coder_agreement(
            table, first, second, categories, clusters=answers, resamples=resamples, seed=seed
        )
        codes = {coder: _codes_of(table, coder, categories) for coder in (first, second)}
        both = [answer for answer, code in codes[first].items() if code and codes[second].get(answer)]
        listed = [(coder, answer, codes[coder][answer]) for coder in codes for answer in both]
        ratings, _ = choices_from_arrays(*zip(*listed, strict=True))
        alpha: Estimate | Undefined
        try:
            groups = {answer: answers[answer] for answer in both}
            alpha = krippendorff_alpha(
                ratings, level="nominal", resampled="items", groups=groups, resamples=resamples, seed=seed
            )
        except StatisticError as error:
            alpha = Undefined("alpha", error.what, len(both))
        pair = f"{first} and {second}"
        made += [
            same.percent("gap_coding_same").about(condition=pair),
            kappa.about(name="gap_coding_kappa", condition=pair),
            alpha.about(name="gap_coding_alpha", condition=pair),
        ]
    return made


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
            raise InputError(f"{code!r} is not a category", place=Place(item_id=item), hint=hint)
